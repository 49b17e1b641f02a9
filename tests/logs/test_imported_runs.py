"""Imported runs in `vqaudit summary`: what they tell, and the reasons for what they do not."""

import csv
import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from vqaudit.analysis import summarise
from vqaudit.analysis.as_logged import changes
from vqaudit.analysis.frame import analysis_frame
from vqaudit.cli import app
from vqaudit.errors import RunConflict
from vqaudit.logs import read_log, write_run
from vqaudit.records import RunTables

BIRDS = ["heron", "stork", "crane"]


def sample(item: int, reply: str, answer: str = "B", **more) -> dict:
    return {"item": str(item), "options": BIRDS, "answer": answer, "reply": reply} | more


SCORED = [
    sample(1, "B. stork", logged_reading="A", logged_right=0),  # misread: to the character
    sample(2, "I cannot tell.", logged_reading="B", logged_right=1),  # drawn by lot
    sample(3, "B", logged_reading="B", logged_right=1),
    sample(4, "It must be the crane.", logged_reading="", logged_right=0),  # read by text, and wrong
    sample(5, "A or B", logged_reading="", logged_right=0),
    sample(6, "stork", logged_reading="", logged_right=0),  # read by text, and right
]


def test_the_logs_scoring_stands_beside_ours(lines, imported) -> None:
    tables = imported(lines(SCORED))
    found = summarise(tables).as_logged
    assert found is not None
    assert found.accuracy.value == pytest.approx(2 / 6)
    assert found.reread.value == pytest.approx(3 / 6)
    assert found.difference.value == pytest.approx(1 / 6)
    assert found.agreement.value == pytest.approx(2 / 6)
    assert (found.trials, found.changed, found.gained, found.lost) == (6, 4, 2, 1)
    assert (found.hits_without_reading, found.misses_read_right, found.misread_verbatim) == (1, 1, 1)
    assert found.corrected.value == pytest.approx(3 / 6)
    assert [(change.item, change.logged, change.read) for change in found.changes] == [
        *(("1", "A", "B"), ("2", "B", None), ("4", "", "C"), ("6", "", "B")),
    ]
    assert sum(kind.trials for kind in found.kinds) == 4
    assert found.changes == changes(tables, analysis_frame(tables))


def test_figures_that_a_log_does_not_allow_have_reasons(lines, imported) -> None:
    summary = summarise(imported(lines([sample(i, "B") for i in range(3)])))
    assert summary.status == "imported"
    assert summary.plain_accuracy is not None
    assert summary.plain_accuracy.value == 1.0
    for key in ("grid_accuracy", "circular_accuracy", "strict_circular_accuracy", "circular", "as_logged", "spread"):
        assert getattr(summary, key) is None, key
        assert summary.reasons[key], key
    assert "neither readings nor verdicts" in summary.reasons["as_logged"]
    assert summary.coverage is not None
    assert summary.coverage.value == 1.0
    assert "coverage" not in summary.reasons


def test_runs_of_ours_have_no_keys_of_logs_and_do_not_speak_of_them(lines, imported) -> None:
    from vqaudit.analysis.imported import IMPORTED_KEYS
    from vqaudit.report import story

    summary = summarise(imported(lines([sample(i, "B") for i in range(3)])))
    ours = summary.model_copy(update={"main_design": "grid", "reasons": dict.fromkeys(IMPORTED_KEYS, "of logs only")})
    assert story.unknowns(ours) == []
    assert len(story.unknowns(summary)) > 3


def test_coverage_counts_replies_that_are_exactly_an_id_and_low_coverage_is_no_fault(lines, imported) -> None:
    rows = [sample(i, "The answer is B.") for i in range(39)] + [sample(39, " B\n")]
    summary = summarise(imported(lines(rows)))
    assert summary.coverage is not None
    assert summary.coverage.value == pytest.approx(1 / 40)
    assert summary.plain_accuracy is not None
    assert summary.plain_accuracy.value == 1.0
    assert not [warning for warning in summary.warnings if "coverage" in warning]


def test_failed_samples_leave_n_and_above_one_per_cent_the_headline(lines, imported) -> None:
    rows = [sample(i, "B") for i in range(40)] + [sample(40, "", error="rate limit")]
    summary = summarise(imported(lines(rows)))
    assert summary.counts.failed == 1
    assert summary.plain_accuracy is None
    assert "1 of 41 logged samples failed" in summary.reasons["plain_accuracy"]
    assert not [warning for warning in summary.warnings if "same command" in warning]


def test_rows_left_out_are_told(document, tmp_path) -> None:
    row = {
        "id": "validation_Art_1",
        "question_type": "multiple-choice",
        "answer": "B",
        "all_choices": ["A", "B"],
        "index2ans": {"A": "x", "B": "y"},
        "response": "B",
    }
    path = document([row, {"id": "validation_Art_2", "question_type": "open", "answer": "7", "response": "7"}])
    assert write_run(read_log(path), tmp_path / "run", source="log.json").left_out == 1
    tables = RunTables.load(tmp_path / "run")
    assert "1 rows were left out: each is an open question" in summarise(tables).warnings
    assert tables.manifest.dataset["skipped"] == [{"row": 2, "item": None, "why": "is an open question"}]


def test_prompts_are_kept_and_concatenate_to_what_was_logged(lines, imported) -> None:
    prompt = "Which?\nA. heron\nB. stork\nC. crane"
    tables = imported(lines([sample(1, "B", prompt=prompt), sample(2, "B")]))
    segments = tables.segments()
    kept = dict(tables.trials.select("item", "segments").iter_rows())
    assert "".join(segments[name] for name in kept["1"]) == prompt
    assert kept["2"] is None
    named = tables.trials.filter(pl.col("item") == "1").select("id_set", "delimiter", "separator").row(0)
    assert named == ("upper", "dot", "line_break")


def test_a_run_that_is_there_is_not_overwritten_and_two_imports_are_alike(lines, tmp_path) -> None:
    log = read_log(lines(SCORED))
    write_run(log, tmp_path / "a", source="log.jsonl")
    write_run(log, tmp_path / "b", source="log.jsonl")
    first, second = RunTables.load(tmp_path / "a"), RunTables.load(tmp_path / "b")
    assert first.trials.equals(second.trials)
    assert first.items.equals(second.items)
    with pytest.raises(RunConflict, match="holds a run already; choose another --out"):
        write_run(log, tmp_path / "a", source="log.jsonl")


def test_the_command_imports_maps_joins_and_writes_what_changed(lines, tmp_path) -> None:
    rows = [{"key": row["item"], "out": row["reply"], "their": row["logged_reading"]} for row in SCORED]
    data = lines(
        [{"id": row["item"], "question": "q", "options": BIRDS, "answer": "B"} for row in SCORED], "data.jsonl"
    )
    out, table = tmp_path / "run", tmp_path / "changes.csv"
    options = ["--map", "item=key", "--map", '{"reply": "out"}', "--map", "logged_reading=their", "--items", str(data)]
    args = [
        "import",
        str(lines(rows, "mine.jsonl")),
        "--out",
        str(out),
        *options,
        "--changes",
        str(table),
        "--model",
        "m1",
    ]
    done = CliRunner().invoke(app, args)
    assert done.exit_code == 0, done.output
    assert "The log's scoring and ours" in done.output
    with table.open(encoding="utf-8", newline="") as handle:
        assert [(row["item"], row["logged"], row["read"]) for row in csv.DictReader(handle)] == [
            *(("1", "A", "B"), ("2", "B", ""), ("4", "", "C"), ("6", "", "B")),
        ]
    shown = json.loads(CliRunner().invoke(app, ["summary", str(out), "--json"]).stdout)
    assert (shown["model"], shown["plain_accuracy"]["value"]) == ("m1", 0.5)
    assert shown["plain_accuracy"].keys() >= {"value", "low", "high", "n"}
    wrong = CliRunner().invoke(app, ["import", "x.jsonl", "--out", str(out), "--map", "reply"])
    assert wrong.exit_code == 2


def test_a_page_of_an_imported_run(lines, imported, tmp_path: Path) -> None:
    pytest.importorskip("altair")
    from vqaudit.report.page import write_page

    path = write_page([imported(lines(SCORED))], tmp_path / "page.html")
    assert "imported" in path.read_text(encoding="utf-8")


def test_the_page_on_logs_names_every_format_and_field() -> None:
    from vqaudit.cli.logs import _FORMATS
    from vqaudit.logs import FIELDS, READERS

    page = (Path(__file__).parents[2] / "docs" / "logs.md").read_text(encoding="utf-8")
    for name in (*FIELDS, *(reader.name for reader in READERS)):
        assert f"`{name}`" in page, name
    assert all(reader.name in _FORMATS for reader in READERS)
