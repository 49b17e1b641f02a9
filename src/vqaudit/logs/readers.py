"""Which reader reads a log: named by the user, or found out from the log's fields.

Knows all readers. Each knows its own harness alone.
"""

from __future__ import annotations

from pathlib import Path

from vqaudit.errors import DatasetError
from vqaudit.logs.evalscope import EVALSCOPE
from vqaudit.logs.files import LogFile, open_log
from vqaudit.logs.helm import HELM
from vqaudit.logs.inspect_ai import INSPECT
from vqaudit.logs.llava import LLAVA, LLAVA_SCIENCEQA
from vqaudit.logs.lm_eval import LM_EVAL
from vqaudit.logs.lmms_eval import LMMS_EVAL
from vqaudit.logs.mmmu import MMMU, MMMU_PRO
from vqaudit.logs.reader import Reader
from vqaudit.logs.rows import Log, LogSpec
from vqaudit.logs.table import TABLE
from vqaudit.logs.vlmevalkit import VLMEVALKIT

__all__ = ["READERS", "read_log"]

READERS: tuple[Reader, ...] = (
    *(LM_EVAL, LMMS_EVAL, INSPECT, HELM, EVALSCOPE, LLAVA, LLAVA_SCIENCEQA, MMMU_PRO, MMMU, VLMEVALKIT),
    TABLE,
)
"""In the order in which they are asked; the plain table comes last."""


def read_log(path: str | Path, spec: LogSpec | None = None) -> Log:
    """Reads a log of another harness.

    Args:
        path: The file.
        spec: What the user says of it.

    Raises:
        DatasetError: No reader knows the log, it is broken at a place that the message names, or it holds no
            multiple-choice sample.
        EngineUnavailable: An XLSX file, and the packages of the extra `logs` are not installed.
    """
    wanted = spec or LogSpec()
    file = open_log(path)
    return _reader(file, wanted).read(file, wanted)


def _reader(file: LogFile, spec: LogSpec) -> Reader:
    names = {reader.name: reader for reader in READERS}
    if spec.format is not None:
        if spec.format not in names:
            raise DatasetError(f"no format {spec.format!r}: choose one of {', '.join(names)}")
        return names[spec.format]
    if spec.columns:
        return TABLE
    for reader in READERS:
        if reader.recognises(file):
            return reader
    there = ", ".join(sorted(file.columns or file.document)[:20])
    raise DatasetError(
        f"is in no format that is known by its fields ({there}); name its columns with --map reply=COLUMN ..., or its "
        f"format with --format {'|'.join(names)}",
        file=file.path,
    )
