"""What an older vqaudit wrote is read; what a newer one wrote is refused by name."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vqaudit.errors import RecordError, SchemaMismatch
from vqaudit.records import SCHEMA_VERSION, Manifest, PartWriter, read_manifest, read_trials, write_manifest
from vqaudit.records import migration as module
from vqaudit.records.schemas import TRIAL_SCHEMA

PATH = Path("trials/w0-000000.parquet")


def table(**columns) -> pa.Table:
    return pa.table({"trial": ["a"], "item": ["i"], "outcome": ["chosen"], "attempt": [0]} | columns)


def test_parts_say_their_version(tmp_path: Path) -> None:
    PartWriter(tmp_path, worker="w0").write([{"trial": "a", "item": "i", "outcome": "chosen", "attempt": 0}])
    metadata = pq.read_schema(tmp_path / PATH).metadata
    assert metadata[b"vqaudit_schema_version"] == str(SCHEMA_VERSION).encode()


def test_a_column_that_came_later_is_null_in_older_parts(tmp_path: Path) -> None:
    (tmp_path / "trials").mkdir()
    pq.write_table(table(reply=["A"]), tmp_path / PATH)
    row = read_trials(tmp_path).row(0, named=True)
    assert list(row) == TRIAL_SCHEMA.names
    assert (row["reply"], row["further"], row["attempt"]) == ("A", None, 0)


def test_a_chain_of_steps_is_walked_from_the_version_of_the_file(monkeypatch) -> None:
    def rename(old: pa.Table) -> pa.Table:
        names = ["reply" if name == "answer_text" else name for name in old.column_names]
        return old.rename_columns(names)

    def from_percent(old: pa.Table) -> pa.Table:
        if "id_mass" not in old.column_names:
            return old
        place = old.column_names.index("id_mass")
        return old.set_column(place, "id_mass", pa.array([v.as_py() / 100 for v in old["id_mass"]]))

    monkeypatch.setattr(module, "SCHEMA_VERSION", 3)
    monkeypatch.setattr(module, "STEPS", {1: rename, 2: from_percent})
    first = module.upgrade(table(answer_text=["A"], id_mass=[50.0]), TRIAL_SCHEMA, path=PATH).to_pylist()[0]
    second = table(reply=["A"], id_mass=[50.0]).replace_schema_metadata({b"vqaudit_schema_version": b"2"})
    third = table(reply=["A"], id_mass=[0.5]).replace_schema_metadata({b"vqaudit_schema_version": b"3"})
    assert (first["reply"], first["id_mass"]) == ("A", 0.5)
    assert module.upgrade(second, TRIAL_SCHEMA, path=PATH).to_pylist()[0] == first
    assert module.upgrade(third, TRIAL_SCHEMA, path=PATH).to_pylist()[0] == first


@pytest.mark.parametrize("version", ["99", "0", "one", ""])
def test_an_unknown_version_is_refused(version: str) -> None:
    stamped = table().replace_schema_metadata({b"vqaudit_schema_version": version.encode()})
    with pytest.raises(SchemaMismatch, match="schema version"):
        module.upgrade(stamped, TRIAL_SCHEMA, path=PATH)


def test_other_columns_are_refused_by_name() -> None:
    with pytest.raises(SchemaMismatch, match="'colour'"):
        module.upgrade(table(colour=["red"]), TRIAL_SCHEMA, path=PATH)
    with pytest.raises(SchemaMismatch, match="no column 'attempt'"):
        module.upgrade(table().drop_columns(["attempt"]), TRIAL_SCHEMA, path=PATH)
    with pytest.raises(SchemaMismatch, match=r"'position'.*int16"):
        module.upgrade(table(position=["left"]), TRIAL_SCHEMA, path=PATH)


def test_every_older_version_has_a_step() -> None:
    assert set(module.STEPS) == set(range(1, SCHEMA_VERSION))


def test_a_manifest_with_a_wrong_field_is_one_sentence(tmp_path: Path) -> None:
    write_manifest(tmp_path, Manifest(vqaudit_version="0", reader_version="1", model="m"))
    path = tmp_path / "manifest.json"
    raw = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(raw | {"status": "sleeping"}), encoding="utf-8")
    with pytest.raises(RecordError, match="'status'"):
        read_manifest(tmp_path)
