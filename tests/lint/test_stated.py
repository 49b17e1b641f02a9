"""Interfaces that a person states, runs of vqaudit, and the command."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from vqaudit.cli import app
from vqaudit.lint import RULES, lint_paths
from vqaudit.records import Manifest, write_manifest

DOCS = Path(__file__).parents[2] / "docs" / "lint.md"


def command(*args: object, code: int) -> str:
    done = CliRunner().invoke(app, ["lint", *map(str, args)])
    assert done.exit_code == code, done.output
    return done.output


MISMATCHED = """
interfaces:
  cue:
    ending: Let me think step by step.
    event: id-scores
  text:
    ids_shown: [A, B]
    scored: [north, south]
    event: option-likelihood
  strict:
    ending: "Think step by step. End with 'Answer: $LETTER'."
    event: generation
    max_new_tokens: 16
    stop: ["\\n\\n"]
    whole_reply: true
    reads: "([A-D])"
  on:
    event: forced-token
    thinking: true
  fine:
    ending: Answer with the letter.
    event: reply
"""


def test_every_field_of_a_stated_interface_is_judged(tasks) -> None:
    tasks.write("mine.yaml", MISMATCHED)
    by_task: dict[str, set[str]] = {}
    for found in tasks.findings("mine.yaml"):
        by_task.setdefault(found.task, set()).add(found.rule)
        assert found.place.line is not None
    assert by_task == {
        "cue": {"reasoning-cue-with-likelihood"},
        "text": {"ids-shown-texts-scored"},
        "strict": {
            "whole-reply-must-equal-answer",
            "reasoning-cut-short",
            "stop-before-answer",
            "reader-takes-letters-from-prose",
        },
        "on": {"thinking-with-likelihood"},
    }


@pytest.mark.parametrize("fields", ["{event: guess}", "{ending: x}", "{event: reply, endings: x}"])
def test_unknown_fields_are_told(tasks, fields: str) -> None:
    tasks.write("mine.yaml", f"interfaces: {{mine: {fields}}}")
    found = tasks.findings("mine.yaml")
    assert [(f.rule, (f.place.key or "").startswith("interfaces.mine")) for f in found] == [("unreadable", True)]


def test_json_states_the_same(tasks) -> None:
    tasks.write(
        "mine.json", json.dumps({"interfaces": {"cue": {"ending": "Think step by step.", "event": "id-scores"}}})
    )
    assert tasks.rules("mine.json") == {"reasoning-cue-with-likelihood": "error"}


def test_a_run_of_vqaudit_is_judged_by_its_manifest(tmp_path: Path) -> None:
    spec = {"ending_text": "Let me think step by step.", "event": "id-scores", "place": "assistant"}
    free = {"ending_text": "Let me think step by step.", "event": "generation", "place": "user"}
    manifest = Manifest(
        vqaudit_version="0",
        reader_version="0",
        model="m",
        interfaces={"cot": spec, "free": free, "plain": {"ending_text": "{instruction}", "event": "reply"}},
        identity={"generation limit": 80},
    )
    write_manifest(tmp_path, manifest)
    found = {(f.task, f.rule) for f in lint_paths([tmp_path]).findings}
    assert found == {("cot", "reasoning-cue-with-likelihood"), ("free", "reasoning-cut-short")}


def test_files_of_another_kind_are_told_only_when_named(tasks) -> None:
    tasks.write("package.json", '{"name": "x"}')
    assert tasks.rules() == {}
    assert tasks.rules("package.json") == {"unreadable": "error"}
    assert tasks.rules("nowhere.yaml") == {"unreadable": "error"}


def test_the_command_exits_with_1_on_an_error_alone(tasks) -> None:
    bad = tasks.write("bad.yaml", "interfaces: {a: {ending: Think step by step., event: id-scores}}\n")
    soft = tasks.write("soft.yaml", "interfaces: {a: {ending: Examine the picture., event: id-scores}}\n")
    told = command(bad, code=1)
    assert "reasoning-cue-with-likelihood" in told
    assert "1 error" in told
    report = json.loads(command("--json", soft, code=0))
    assert report["counts"] == {"error": 0, "warning": 1, "info": 0}
    assert set(report["findings"][0]) == {"rule", "severity", "task", "place", "evidence", "advice"}
    assert "name at least one" in command(code=2)


def test_rules_are_listed_and_documented() -> None:
    listed = json.loads(command("--rules", "--json", code=0))
    assert [rule["name"] for rule in listed] == [rule.name for rule in RULES]
    assert len({rule.name for rule in RULES}) == len(RULES)
    told = command("--rules", code=0)
    page = DOCS.read_text(encoding="utf-8")
    for rule in RULES:
        assert rule.name in told
        assert f"`{rule.name}`" in page


def test_one_entry_for_what_many_tasks_share(tasks) -> None:
    for number in range(12):
        tasks.write(f"t{number}.yaml", "include: _base\ntask: t\n")
    tasks.write("_base", "output_type: multiple_choice\ndoc_to_text: '{{q}} Think step by step.'\n")
    told = command(tasks.folder, code=1)
    assert "× 12" in told
    assert "and 11 more" in told
    assert "more" not in command("--all", tasks.folder, code=1).split("In all")[0].replace("--all", "")
