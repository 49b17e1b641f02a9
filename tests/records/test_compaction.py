"""Few large parts instead of many small ones: no record is lost, doubled or changed, whatever is killed when."""

import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vqaudit.errors import RecordError, RunConflict
from vqaudit.records import PartWriter, compact, own_run, read_trials, records_digest, visible
from vqaudit.records import compaction as module
from vqaudit.records.parts import list_parts, trial_parts


def record(trial: str, attempt: int = 0, outcome: str = "chosen", **columns) -> dict:
    return {"trial": trial, "item": "i", "outcome": outcome, "attempt": attempt} | columns


def write(run: Path, *parts: list[dict], worker: str = "w0") -> None:
    writer = PartWriter(run, worker=worker)
    for rows in parts:
        writer.write(rows)


def names(run: Path) -> list[str]:
    return [path.name for path in trial_parts(run)]


def every(run: Path) -> list[tuple]:
    return sorted(read_trials(run).select("trial", "attempt", "outcome", "reply").rows())


def test_every_attempt_is_kept_and_few_parts_are_left(tmp_path: Path) -> None:
    write(tmp_path, [record("a", reply="x")], [record("a", 1, "failed"), record("b")], [record("c")])
    before, digest = every(tmp_path), records_digest(read_trials(tmp_path))
    done = compact(tmp_path)
    assert (done.parts_before, done.parts_after, done.records) == (3, 1, 4)
    assert names(tmp_path) == ["compact-000000.parquet"]
    assert every(tmp_path) == before
    assert records_digest(read_trials(tmp_path)) == digest


def test_a_name_is_never_given_twice(tmp_path: Path) -> None:
    # A part under a replaced name would be invisible, and hidden states go by that name.
    write(tmp_path, [record("a")], [record("b")])
    compact(tmp_path)
    write(tmp_path, [record("c")], [record("d")])
    assert names(tmp_path) == ["compact-000000.parquet", "w0-000002.parquet", "w0-000003.parquet"]
    compact(tmp_path)
    write(tmp_path, [record("e")])
    assert names(tmp_path) == ["compact-000001.parquet", "w0-000004.parquet"]
    assert visible(read_trials(tmp_path))["trial"].to_list() == list("abcde")


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=8), st.integers(1, 9))
def test_any_parts_of_any_size_become_what_they_were(tmp_path_factory, sizes, part_records) -> None:
    run = tmp_path_factory.mktemp("run")
    write(run, *([record(f"t{part}-{k}") for k in range(size)] for part, size in enumerate(sizes)))
    before = every(run)
    for _ in range(2):
        compact(run, part_records=part_records)
        assert every(run) == before


def test_a_kill_between_the_new_part_and_the_deletion_of_the_old_doubles_nothing(tmp_path: Path, monkeypatch) -> None:
    write(tmp_path, [record("a")], [record("b")])
    before = every(tmp_path)
    monkeypatch.setattr(module, "_delete_replaced", lambda run: None)
    compact(tmp_path)
    assert names(tmp_path) == ["compact-000000.parquet", "w0-000000.parquet", "w0-000001.parquet"]
    assert every(tmp_path) == before
    monkeypatch.undo()
    compact(tmp_path)
    assert names(tmp_path) == ["compact-000000.parquet"]
    assert every(tmp_path) == before


def test_a_reader_whose_part_is_taken_away_starts_anew(tmp_path: Path, monkeypatch) -> None:
    write(tmp_path, [record("a")], [record("b")])
    stale = list_parts(tmp_path)
    compact(tmp_path)
    lists = iter([stale, list_parts(tmp_path)])
    monkeypatch.setattr("vqaudit.records.parts.list_parts", lambda run: next(lists))
    assert read_trials(tmp_path).height == 2


def test_a_run_that_is_written_is_not_compacted(tmp_path: Path) -> None:
    write(tmp_path, [record("a")], [record("b")])
    with own_run(tmp_path), pytest.raises(RunConflict, match="being written by another process"):
        compact(tmp_path)
    assert len(names(tmp_path)) == 2


def test_a_damaged_part_stops_it_and_nothing_is_changed(tmp_path: Path) -> None:
    write(tmp_path, [record("a")], [record("b")])
    broken = tmp_path / "trials" / "w0-000001.parquet"
    broken.write_bytes(broken.read_bytes()[:-8])
    with pytest.raises(RecordError, match="w0-000001"):
        compact(tmp_path)
    assert names(tmp_path) == ["w0-000000.parquet", "w0-000001.parquet"]
    shutil.rmtree(tmp_path)
