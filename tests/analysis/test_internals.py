"""What `vqaudit internals` found is read back without torch, and what is damaged is named."""

import subprocess
import sys
from pathlib import Path

import pytest

from vqaudit.analysis.estimates import Estimate
from vqaudit.analysis.internals import (
    Fitting,
    Internals,
    LayerGap,
    LayerRow,
    LayersFindings,
    read_internals,
    write_part,
)
from vqaudit.errors import RecordError

SHARE = Estimate(value=0.5, low=0.4, high=0.6, n=90, trials=100)
FITTING = Fitting(
    sentence="one run",
    train=300,
    validation=100,
    test=100,
    test_groups=90,
    seeds=5,
    epochs=50,
    rate=1e-3,
    decay=0.01,
    batch=64,
    seed=0,
)
LAYERS = LayersFindings(
    fitting=FITTING,
    direct="bare-scores",
    chance=0.25,
    layers=[LayerRow(layer=0, accuracy={"bare-scores": SHARE}, seed_sd={"bare-scores": None})],
    gaps={"cot-prefix": [LayerGap(layer=0, gap=Estimate.unknown("no data"))]},
)


def test_findings_come_back_as_they_were(tmp_path: Path) -> None:
    path = write_part(tmp_path, "layers", LAYERS)
    assert path == tmp_path / "internals" / "layers.json"
    found = read_internals(tmp_path)
    assert found.layers == LAYERS
    assert found.known
    assert found.probe is None
    assert not read_internals(tmp_path / "none").known
    assert Internals.model_validate_json(found.model_dump_json()) == found


@pytest.mark.parametrize("text", ["{", '{"version": 1}', "[]"])
def test_a_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "internals").mkdir()
    (tmp_path / "internals" / "probe.json").write_text(text, encoding="utf-8")
    with pytest.raises(RecordError, match=r"internals/probe\.json cannot be read"):
        read_internals(tmp_path)


def test_reading_needs_no_torch(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from vqaudit.analysis.internals import read_internals; "
        "read_internals(Path('.')); import vqaudit.internals; print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.strip() == "False"
