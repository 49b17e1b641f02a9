"""Pictures as files: SVG, PNG and PDF.

Knows pictures and vl-convert. Knows no finding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from vqaudit.errors import AnalysisError
from vqaudit.records import write_text
from vqaudit.records.files import write_whole
from vqaudit.report.charts.drawing import Picture, load_altair

__all__ = ["KINDS", "save_picture", "save_pictures"]

KINDS = ("svg", "png", "pdf")
"""Endings of the files that can be written."""
_SCALE = 3.0
"""Pixels of a PNG per pixel on a page: about 290 dots per inch where it is printed at its size on a page."""
_ON_WHITE = '<rect width="100%" height="100%" fill="white"/>'


def save_picture(picture: Picture, path: str | Path) -> Path:
    """Writes a picture to a file whose ending says its kind, and returns its path.

    Args:
        picture: From a chart function, `run_figures` or `Run.figure`.
        path: Ends in `.svg`, `.png` or `.pdf`.

    Raises:
        AnalysisError: Another ending.
        EngineUnavailable: The packages of the extra `report` are not installed.
        RecordError: The file cannot be written.
    """
    target = Path(path)
    kind = target.suffix.removeprefix(".").lower()
    if kind not in KINDS:
        raise AnalysisError(f"{target.name!r} names no kind of picture; end it in .{', .'.join(KINDS)}")
    if kind == "svg":
        write_text(target, picture.standalone() + "\n")
        return target
    converted = _converted(picture, kind)
    write_whole(target, lambda handle: handle.write(converted), lasting=False)
    return target


def save_pictures(
    pictures: Mapping[str, Picture], folder: str | Path, *, kinds: Sequence[str] = ("svg",)
) -> list[Path]:
    """Writes every picture as `folder/NAME.KIND` and returns the paths; errors as for `save_picture`."""
    base = Path(folder)
    return [save_picture(picture, base / f"{name}.{kind}") for name, picture in pictures.items() for kind in kinds]


def _converted(picture: Picture, kind: str) -> bytes:
    load_altair()
    import vl_convert

    svg = picture.standalone()
    if kind == "pdf":
        return vl_convert.svg_to_pdf(svg)
    start = svg.index(">") + 1
    return vl_convert.svg_to_png(svg[:start] + _ON_WHITE + svg[start:], scale=_SCALE)
