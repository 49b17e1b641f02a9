"""What the two packaged models are there to show, on few of the packaged items."""

import pytest

import vqaudit as va
from vqaudit.items import DEMO_MODELS, demo_items


@pytest.fixture(scope="module")
def summary(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo-1") / "run"
    run = va.audit("demo-1", demo_items(limit=96), out=out, progress=False, noise_floor=0, seed=3)
    return run.summary(details=False)


def test_the_second_model_reads_ids_that_it_never_replies(summary):
    """Trained on `A.` and `1.` and never on `a.`: asked for a, b, c, d it replies 1, 2, 3, 4."""
    found = {name for fault in summary.measurement_faults for name in fault.formats}
    assert found
    assert all(name.startswith(("lower/dot", "number/")) for name in found)
    assert summary.scored_accuracy.value > summary.grid_accuracy.value + 0.1


def test_models_of_other_names_are_not_taken_for_packaged_ones():
    assert set(DEMO_MODELS) == {"demo", "demo-1"}
    with pytest.raises(va.VqauditError):
        va.load_model("demo-2")
