"""A reader that needs few columns reads few, and finds in them what it would find in all."""

import shutil
from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa
import pytest

import vqaudit as va
from vqaudit.analysis.frame import analysis_frame, read_frame
from vqaudit.analysis.summary import summarise
from vqaudit.engines.simulated import Law, SimulatedEngine
from vqaudit.errors import SchemaMismatch
from vqaudit.items import demo_items
from vqaudit.records import PartWriter, RunTables, read_trials, trial_columns, write_table


class World(Mapping):
    """The law of every trial there can be."""

    def __getitem__(self, trial):
        first = 0.3 + int(trial[:4], 16) / 2**18
        return Law(positions=(first, *[(1.0 - first) / 3] * 3), coverage=0.9)

    def __iter__(self):
        return iter(())

    def __len__(self):
        return 0


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    whole = demo_items()
    items = tuple(item for item in whole.items if item.n_options == 4)[:3]
    data = replace(whole, items=items)
    out = tmp_path_factory.mktemp("narrow") / "run"
    return va.audit(SimulatedEngine(World()), data, out=out, progress=False, design=["grid"], noise_floor=0)


def test_a_summary_of_few_columns_is_that_of_all(run):
    whole = run.tables()
    assert run.summary(details=False).to_json() == summarise(whole, details=False).to_json()
    outline, frame = read_frame(run.path)
    assert outline.attempts == whole.attempts
    assert frame.equals(analysis_frame(whole))
    assert frame.estimated_size() < whole.trials.estimated_size() / 2


def test_bits_of_a_run_make_the_frame_of_the_whole(run, tmp_path, monkeypatch):
    """Retries lie in other parts than what they replace, and each bit has names and orders of its own."""
    whole = run.tables()
    for name in ("manifest.json", "items.parquet", "plan.parquet", "segments.parquet"):
        shutil.copy(run.path / name, tmp_path / name)
    rows = whole.trials.to_dicts()
    failed = [row | {"outcome": "failed", "reply": None, "attempt": 0, "interface": "lost"} for row in rows[::7]]
    writer = PartWriter(tmp_path, worker="w0")
    for start in range(0, len(failed), 50):
        writer.write(failed[start : start + 50])
    for start in range(0, len(rows), 100):
        writer.write([row | {"attempt": 1} for row in rows[start : start + 100]])
    monkeypatch.setattr("vqaudit.records.parts._ROWS", 130)
    monkeypatch.setattr("vqaudit.analysis.frame._ROWS", 170)
    outline, frame = read_frame(tmp_path)
    assert outline.attempts == len(rows) + len(failed)
    assert frame.equals(analysis_frame(RunTables.load(tmp_path)))
    assert frame.equals(analysis_frame(whole))
    assert frame.schema == analysis_frame(whole).schema


def test_fields_within_lists_are_left_out_and_older_parts_have_nulls(tmp_path):
    score = {"option_id": "A", "logprob": -0.5, "rank": 1, "token_ids": [3], "spelling": "A", "in_place_logprob": -0.5}
    rows = [{"trial": "a", "item": "1", "outcome": "chosen", "attempt": 0, "id_scores": [score], "reply": "A"}]
    PartWriter(tmp_path, worker="w0").write(rows)
    older = pa.schema(
        [pa.field(name, pa.string()) for name in ("trial", "item", "outcome")] + [("attempt", pa.int32())]
    )
    write_table(tmp_path / "trials" / "old-000000.parquet", [rows[0] | {"trial": "b"}], older)
    names = ("trial", "outcome", "attempt", "id_scores")
    found = read_trials(tmp_path, schema=trial_columns(names, inner={"id_scores": ["logprob"]}))
    assert set(found.columns) == set(names)
    assert dict(found.select("trial", "id_scores").iter_rows()) == {"a": [{"logprob": -0.5}], "b": None}


def test_a_column_of_another_kind_is_refused_also_where_few_are_read(tmp_path):
    schema = pa.schema([("trial", pa.string()), ("attempt", pa.string())])
    write_table(tmp_path / "trials" / "w0-000000.parquet", [{"trial": "a", "attempt": "x"}], schema)
    with pytest.raises(SchemaMismatch, match="attempt"):
        read_trials(tmp_path, schema=trial_columns(["trial", "attempt"]))
