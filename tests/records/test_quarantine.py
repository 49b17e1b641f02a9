"""Damaged parts are found, taken out with a note, and what they held is missing again."""

import contextlib
import hashlib
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vqaudit.errors import RecordError, SchemaMismatch
from vqaudit.records import PartWriter, compact, read_sound_trials, read_trials
from vqaudit.records.schemas import TRIAL_SCHEMA


def write(run: Path, *trials: str) -> list[Path]:
    writer = PartWriter(run, worker="w0")
    for trial in trials:
        writer.write([{"trial": trial, "item": "i", "outcome": "chosen", "attempt": 0, "reply": trial * 50}])
    return sorted((run / "trials").glob("*.parquet"))


def trials(run: Path) -> list[str]:
    return sorted(read_sound_trials(run)[0]["trial"].to_list())


@pytest.mark.parametrize("damage", ["empty", "half", "no end", "other bytes"])
def test_a_damaged_part_is_taken_out_with_a_note(tmp_path: Path, damage: str) -> None:
    part = write(tmp_path, "a", "b", "c")[1]
    whole = part.read_bytes()
    content = {"empty": b"", "half": whole[: len(whole) // 2], "no end": whole[:-1], "other bytes": b"x" * 99}[damage]
    part.write_bytes(content)
    with pytest.raises(RecordError, match=r"w0-000001\.parquet"):
        read_trials(tmp_path)
    records, taken = read_sound_trials(tmp_path)
    assert records["trial"].to_list() == ["a", "c"]
    assert [note.part for note in taken] == ["w0-000001.parquet"]
    kept, note = sorted((tmp_path / "quarantine").iterdir())
    assert kept.read_bytes() == content
    told = json.loads(note.read_text(encoding="utf-8"))
    assert (told["bytes"], told["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
    assert "asked again" in taken[0].sentence
    assert read_trials(tmp_path)["trial"].to_list() == ["a", "c"]


def test_no_record_changes_unnoticed_whichever_byte_does(tmp_path_factory) -> None:
    run = tmp_path_factory.mktemp("run")
    part = write(run, "a")[0]
    whole = part.read_bytes()
    original = read_trials(run).rows()

    @settings(max_examples=120, deadline=None)
    @given(st.integers(0, len(whole) - 1), st.integers(1, 255))
    def flip(place: int, change: int) -> None:
        broken = bytearray(whole)
        broken[place] ^= change
        part.write_bytes(bytes(broken))
        with contextlib.suppress(RecordError):
            assert read_trials(run).rows() == original

    flip()


def test_a_compacted_part_without_its_list_is_taken_out_and_the_old_parts_count_again(tmp_path: Path, monkeypatch):
    write(tmp_path, "a", "b")
    monkeypatch.setattr("vqaudit.records.compaction._delete_replaced", lambda run: None)
    compact(tmp_path)
    part = tmp_path / "trials" / "compact-000000.parquet"
    part.write_bytes(part.read_bytes()[:100])
    assert trials(tmp_path) == ["a", "b"]
    assert not part.exists()


def test_a_part_of_a_newer_schema_is_refused_and_stays(tmp_path: Path) -> None:
    part = write(tmp_path, "a")[0]
    table = pq.read_table(part)
    pq.write_table(table.replace_schema_metadata({b"vqaudit_schema_version": b"99"}), part)
    with pytest.raises(SchemaMismatch, match="99"):
        read_sound_trials(tmp_path)
    assert part.exists()
    pq.write_table(pa.table({"trial": ["a"], "colour": ["red"]}), part)
    with pytest.raises(SchemaMismatch, match="'colour'"):
        read_sound_trials(tmp_path)
    assert part.exists()


def test_a_sound_run_is_left_as_it_is(tmp_path: Path) -> None:
    write(tmp_path, "a", "b")
    records, taken = read_sound_trials(tmp_path)
    assert (records.height, taken) == (2, [])
    assert records.columns == TRIAL_SCHEMA.names
    assert not (tmp_path / "quarantine").exists()
