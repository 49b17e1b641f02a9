"""Results, sample logs, Inspect logs: what a run adds to a task, judged on the run."""

import json
import zipfile
from pathlib import Path

import pytest

from vqaudit.lint import lint_paths

SHARED = Path(__file__).parents[3] / "shared" / "data"
PROMPT = "Which pier is longest?\nA. north\nB. south\nAnswer:"


def results(tmp_path: Path, **run: object) -> Path:
    config = {"task": "pier", "output_type": "multiple_choice", "doc_to_text": "{{q}}", "doc_to_choice": ["A", "B"]}
    generated = {"task": "jetty", "output_type": "generate_until", "doc_to_text": "{{q}} Think step by step."}
    generated["generation_kwargs"] = {"max_gen_toks": 2000}
    system = run.pop("system_instruction", None)
    data = {"results": {}, "configs": {"pier": config, "jetty": generated}, "config": run, "system_instruction": system}
    path = tmp_path / "results.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def found(path: Path) -> dict[str, tuple[str, str]]:
    return {f.rule: (f.severity, f.place.key or "") for f in lint_paths([path]).findings}


def test_a_plain_run_has_no_mismatch(tmp_path: Path) -> None:
    assert found(results(tmp_path, model_args="pretrained=x,enable_thinking=False")) == {}


def test_a_reasoning_system_instruction_over_likelihoods(tmp_path: Path) -> None:
    path = results(tmp_path, system_instruction="You reason step by step before every answer.")
    assert found(path) == {"reasoning-cue-with-likelihood": ("error", "system_instruction")}


def test_a_thinking_mode_over_likelihoods(tmp_path: Path) -> None:
    path = results(tmp_path, model_args="pretrained=x,enable_thinking=True")
    assert found(path) == {"thinking-with-likelihood": ("error", "config.model_args")}


def test_generation_settings_of_the_run_replace_those_of_the_task(tmp_path: Path) -> None:
    path = results(tmp_path, gen_kwargs="temperature=0,max_gen_toks=32")
    assert found(path) == {"reasoning-cut-short": ("warning", "config.gen_kwargs")}


def samples(tmp_path: Path, rows: list[dict]) -> Path:
    path = tmp_path / "samples_pier_2026-01-21T03-44-18.000001.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def likelihood_row(prompt: str, choices: tuple[str, ...] = (" A", " B")) -> dict:
    arguments = {f"gen_args_{n}": {"arg_0": prompt, "arg_1": choice} for n, choice in enumerate(choices)}
    return {"doc_id": 0, "arguments": arguments, "resps": [[["-1.0", "False"]]], "filtered_resps": [["-1.0", "False"]]}


def generated_row(prompt: str, **settings: object) -> dict:
    return {"doc_id": 0, "arguments": [[prompt, settings]], "resps": [["B"]], "filtered_resps": ["B"]}


def test_a_cue_in_the_rows_of_a_likelihood_log_is_counted(tmp_path: Path) -> None:
    rows = [likelihood_row(PROMPT.replace("Answer:", "Reasoning:"))] * 3 + [likelihood_row(PROMPT)]
    findings = lint_paths([samples(tmp_path, rows)]).findings
    assert [(f.rule, f.task, f.rows, f.rows_read, f.place.line) for f in findings] == [
        ("reasoning-cue-with-likelihood", "pier", 3, 4, 1)
    ]


def test_texts_scored_under_letters_in_a_log(tmp_path: Path) -> None:
    rows = [likelihood_row(PROMPT, choices=(" north", " south"))]
    assert set(found(samples(tmp_path, rows))) == {"ids-shown-texts-scored"}


def test_questions_that_speak_of_reasoning_and_examples_do_not_fire(tmp_path: Path) -> None:
    spoken = "Question: Why should you explain your reasoning step by step?\nA. to learn\nB. to rest\nAnswer:"
    example = "Pick one.\nQuestion: 1?\nA. Step by step.\nB. No\nAnswer: A\n\n" + spoken
    assert found(samples(tmp_path, [likelihood_row(spoken), likelihood_row(example)])) == {}


def test_a_system_turn_against_a_sentence_inside_the_data(tmp_path: Path) -> None:
    embedded = "Is the lamp on?\nA. yes\nB. no\nAnswer with the option's letter from the given choices directly."
    chat = json.dumps(
        [
            {"role": "system", "content": "Reason inside <analysis> tags, then answer inside <answer> tags."},
            {"role": "user", "content": embedded},
        ]
    )
    marked = f"<|im_start|>system\nThink step by step.<|im_end|>\n<|im_start|>user\n{embedded}<|im_end|>\n"
    rows = [generated_row(chat, max_gen_toks=4000), generated_row(marked, max_gen_toks=4000)]
    findings = lint_paths([samples(tmp_path, rows)]).findings
    assert [(f.rule, f.severity, f.rows) for f in findings] == [("contradictory-instructions", "warning", 2)]


def test_limits_and_stops_of_requests(tmp_path: Path) -> None:
    row = generated_row(PROMPT.replace("Answer:", "Let's think step by step."), max_gen_toks=100, until=["\n\n"])
    assert set(found(samples(tmp_path, [row]))) == {"reasoning-cut-short", "stop-before-answer"}


@pytest.mark.parametrize("text", ['{"doc_id": 1, "resps": [["a"]]}\n{"doc_id"', "no json\n", '{"a": 1}\n'])
def test_a_log_that_is_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "samples_x.jsonl"
    path.write_text(text, encoding="utf-8")
    assert found(path)["unreadable"][0] == "error"


def inspect_log(**plan: object) -> dict:
    scorer = {"name": "match", "options": {"location": "exact"}} if plan.pop("exact", False) else {"name": "choice"}
    user = plan.pop("user", PROMPT)
    return {
        "version": 2,
        "eval": {"task": "pier", "scorers": [scorer]},
        "plan": {"steps": [{"solver": "system_message", "params": {"template": "t"}}], "config": plan},
        "samples": [
            {
                "id": 1,
                "messages": [
                    {"role": "system", "content": "attachment://a1"},
                    {"role": "user", "content": [{"type": "text", "text": user}, {"type": "image", "image": "x"}]},
                    {"role": "assistant", "content": "Let me think step by step."},
                ],
                "attachments": {"a1": "Explain your reasoning step by step."},
            }
        ],
    }


def archive(tmp_path: Path, log: dict) -> Path:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr("header.json", json.dumps({k: v for k, v in log.items() if k != "samples"}))
        target.writestr("samples/1_epoch_1.json", json.dumps(log["samples"][0]))
    return path


def test_inspect_archives_and_json_say_the_same(tmp_path: Path) -> None:
    log = inspect_log(max_tokens=64, stop_seqs=["\n\n"], exact=True)
    (tmp_path / "log.json").write_text(json.dumps(log), encoding="utf-8")
    expected = {"reasoning-cut-short", "stop-before-answer", "whole-reply-must-equal-answer"}
    assert set(found(archive(tmp_path, log))) == set(found(tmp_path / "log.json")) == expected


def test_inspect_contradiction_between_solver_and_template(tmp_path: Path) -> None:
    log = inspect_log(user=PROMPT + "\nThe entire content of your response should be 'ANSWER: $LETTER'.")
    assert set(found(archive(tmp_path, log))) == {"contradictory-instructions"}


def test_an_archive_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.eval").write_bytes(b"PK not a zip")
    with zipfile.ZipFile(tmp_path / "b.eval", "w") as target:
        target.writestr("other.txt", "x")
    assert found(tmp_path / "a.eval")["unreadable"][0] == found(tmp_path / "b.eval")["unreadable"][0] == "error"


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the public logs in ../shared")
@pytest.mark.parametrize(("folder", "kinds"), [
    ("lm_eval", {"results": 1, "samples": 1}),
    ("lmms_eval", {"results": 1, "samples": 1}),
    ("inspect_ai", {"Inspect log": 2}),
])  # fmt: skip
def test_public_logs_are_read_without_alarm(folder: str, kinds: dict[str, int]) -> None:
    report = lint_paths([SHARED / folder])
    assert {kind: report.files.get(kind, 0) >= number for kind, number in kinds.items()} == dict.fromkeys(kinds, True)
    assert not report.failed
    assert report.described > 1
