"""The waist: what is written is read, and exactly one record of a trial is visible."""

import itertools
import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vqaudit.errors import RecordError, SchemaMismatch
from vqaudit.records import (
    TRIAL_SCHEMA,
    Manifest,
    PartWriter,
    RunTables,
    missing_trials,
    read_manifest,
    read_trials,
    records_digest,
    visible,
    write_manifest,
)


def record(trial: str, outcome: str = "chosen", attempt: int = 0, **columns) -> dict:
    return {"trial": trial, "item": "i", "outcome": outcome, "attempt": attempt} | columns


def manifest() -> Manifest:
    return Manifest(vqaudit_version="0", reader_version="1", model="m")


def frame(records: list[dict], tmp_path: Path) -> pl.DataFrame:
    PartWriter(tmp_path, worker="w0").write(records)
    return read_trials(tmp_path)


def test_a_record_with_every_column_goes_there_and_back(tmp_path: Path) -> None:
    row = record(
        "t",
        order=[1, 0],
        option_ids=["A", "B"],
        segments=["s1", "s2"],
        reply="A ",
        id_scores=[
            {
                "option_id": "A",
                "logprob": -0.5,
                "rank": 1,
                "token_ids": [4, 5],
                "spelling": " A",
                "in_place_logprob": float("nan"),
            }
        ],
        option_scores=[{"logprob": -3.0, "tokens": 2, "characters": 5}],
        top_tokens=[{"token_id": 9, "text": "\u2028", "logprob": -0.1}],
        position=0,
        chosen=1,
    )
    back = frame([row], tmp_path).row(0, named=True)
    assert list(back) == TRIAL_SCHEMA.names
    assert {key: back[key] for key in row if key != "id_scores"} == {k: v for k, v in row.items() if k != "id_scores"}
    assert back["id_scores"][0]["token_ids"] == [4, 5]
    assert back["lenient_outcome"] is None


def test_newest_attempt_that_did_not_fail_is_visible(tmp_path: Path) -> None:
    rows = [record("a", "failed", 0), record("a", "chosen", 1), record("b", "chosen", 0), record("b", "failed", 1)]
    rows += [record("c", "failed", 0, error="first"), record("c", "failed", 1, error="second")]
    for row in rows:
        PartWriter(tmp_path, worker="w0").write([row])
    seen = visible(read_trials(tmp_path))
    assert seen.select("trial", "outcome", "attempt").rows() == [
        ("a", "chosen", 1),
        ("b", "chosen", 0),
        ("c", "failed", 1),
    ]
    assert missing_trials(["a", "b", "c", "d"], seen) == {"c", "d"}


def test_an_error_and_its_rerun_count_once(tmp_path: Path) -> None:
    # The shape of a real bug: placeholders of failed requests were averaged with their re-runs.
    rows = [record("1", "failed", 0), record("2", chosen=0), record("1", attempt=1, chosen=0)]
    seen = visible(frame(rows, tmp_path))
    assert seen.height == 2
    assert seen["chosen"].to_list() == [0, 0]


@settings(max_examples=30, deadline=None)
@given(st.permutations(list(itertools.product("abc", range(3), ["failed", "chosen"]))))
def test_what_is_visible_does_not_depend_on_the_order_of_the_parts(tmp_path_factory, rows) -> None:
    records = [record(trial, outcome, attempt) for trial, attempt, outcome in rows]
    seen = visible(frame(records, tmp_path_factory.mktemp("run")))
    assert seen.select("trial", "outcome", "attempt").rows() == [(t, "chosen", 2) for t in "abc"]


def test_digest_ignores_what_may_differ_and_nothing_else(tmp_path: Path) -> None:
    one = frame([record("a", seconds=1.0, worker="w0"), record("b", reply="x")], tmp_path / "1")
    two = frame([record("b", attempt=3, reply="x"), record("a", seconds=2.0, worker="w1")], tmp_path / "2")
    three = frame([record("b", reply="y"), record("a")], tmp_path / "3")
    assert records_digest(one) == records_digest(two) != records_digest(three)


def test_a_part_that_was_being_written_is_not_read_and_is_cleared(tmp_path: Path) -> None:
    PartWriter(tmp_path, worker="w0").write([record("a")])
    half = tmp_path / "trials" / ".w0-000001.parquet.17.tmp"
    half.write_bytes(b"PAR1 and then the machine died")
    assert read_trials(tmp_path).height == 1
    PartWriter(tmp_path, worker="w0").write([record("b")])
    assert not half.exists()
    assert read_trials(tmp_path)["trial"].to_list() == ["a", "b"]


def test_parts_of_a_second_session_do_not_overwrite_the_first(tmp_path: Path) -> None:
    for trial in "abc":
        PartWriter(tmp_path, worker="w0").write([record(trial)])
    names = sorted(path.name for path in (tmp_path / "trials").iterdir())
    assert names == ["w0-000000.parquet", "w0-000001.parquet", "w0-000002.parquet"]


def test_a_damaged_part_is_named(tmp_path: Path) -> None:
    PartWriter(tmp_path, worker="w0").write([record("a")])
    (tmp_path / "trials" / "w0-000000.parquet").write_bytes(b"PAR1")
    with pytest.raises(RecordError, match=r"w0-000000\.parquet"):
        read_trials(tmp_path)


def test_manifest_goes_there_and_back(tmp_path: Path) -> None:
    written = manifest().model_copy(update={"counts": {"planned": 3}, "system": "é\n"})
    write_manifest(tmp_path, written)
    assert read_manifest(tmp_path) == written
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


def test_no_manifest_and_another_schema_are_said(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="no run directory"):
        read_manifest(tmp_path)
    (tmp_path / "manifest.json").write_text(json.dumps({"schema_version": 99}), encoding="utf-8")
    with pytest.raises(SchemaMismatch, match="99"):
        read_manifest(tmp_path)
    (tmp_path / "manifest.json").write_text("{", encoding="utf-8")
    with pytest.raises(RecordError, match="cannot be read"):
        read_manifest(tmp_path)


def test_a_run_without_records_has_none(tmp_path: Path) -> None:
    write_manifest(tmp_path, manifest())
    tables = RunTables.load(tmp_path)
    assert tables.trials.height == tables.items.height == tables.plan.height == tables.attempts == 0
    assert tables.segments() == {}


def test_a_full_disk_is_one_sentence_and_leaves_no_part(tmp_path: Path, monkeypatch) -> None:
    def full(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("vqaudit.records.files.pq.write_table", full)
    with pytest.raises(RecordError, match="No space left"):
        PartWriter(tmp_path, worker="w0").write([record("a")])
    assert list((tmp_path / "trials").iterdir()) == []
