"""A model without memory, and a model that has come apart."""

from pathlib import Path

import polars as pl
import pytest

import vqaudit as va
from vqaudit.items import demo_items
from vqaudit.records import RunTables

torch = pytest.importorskip("torch", reason="the extra local is not installed")


def audit(engine, out: Path, *interfaces: str) -> RunTables:
    data = demo_items(limit=6)
    return va.audit(engine, data, out=out, design="reference", interface=interfaces, progress=False).tables()


def test_where_memory_runs_out_batches_are_halved_and_every_trial_is_answered(tmp_path: Path) -> None:
    engine = va.load_model("demo", device="cpu")
    whole = audit(engine, tmp_path / "whole", "direct", "direct-scores")
    sizes: list[int] = []

    def too_many(module, arguments, named) -> None:
        rows = (named.get("input_ids") if named.get("input_ids") is not None else named["inputs_embeds"]).shape[0]
        sizes.append(rows)
        if rows > 3:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")

    engine._loaded.model.register_forward_pre_hook(too_many, with_kwargs=True)
    found = audit(engine, tmp_path / "tight", "direct", "direct-scores")
    assert max(sizes) > 3
    assert found.trials.filter(pl.col("outcome") == "failed").height == 0
    columns = ["trial", "outcome", "chosen", "reply"]
    assert found.trials.select(columns).rows() == whole.trials.select(columns).rows()


def test_a_model_that_returns_no_numbers_is_never_right(tmp_path: Path) -> None:
    engine = va.load_model("demo", device="cpu")

    def no_numbers(module, arguments, output):
        output.logits.fill_(float("nan"))
        return output

    engine._loaded.model.register_forward_hook(no_numbers)
    found = audit(engine, tmp_path, "direct", "direct-scores", "cloze")
    assert found.trials.height == found.plan["trial"].n_unique()
    assert found.trials.filter(pl.col("outcome") == "chosen").height == 0
    summary = va.open_run(tmp_path).summary(details=False)
    assert "NaN" not in summary.to_json()
