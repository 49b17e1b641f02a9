"""What a run says of itself, without telling where its author's files lie."""

import pytest

from vqaudit.records import Manifest
from vqaudit.report.facts import run_facts, shown_command, token_rows


def manifest(**fields) -> Manifest:
    return Manifest(**{"vqaudit_version": "0.1.0", "reader_version": "1", "model": "/home/ada/models/tiny"} | fields)


def test_everything_that_identifies_a_run_is_told() -> None:
    facts = dict(
        run_facts(
            manifest(
                engine={
                    "class": "LlavaForConditionalGeneration",
                    "parameters": 1380000,
                    "dtype": "float32",
                    "device": "cpu",
                    "commit": "a" * 40,
                    "weights": {"model.safetensors": {"bytes": 3, "sha256": "ab" * 32}},
                    "unheard": object,
                },
                dataset={"name": "blocks", "digest": "e3" * 32, "items": 1145, "skipped": [{"row": 1}]},
                designs=[{"interface": "direct", "design": "randomised", "draws": 2, "seed": 7}],
                interfaces={
                    "cot-prefix": {
                        "ending_text": "Let me think.",
                        "place": "user",
                        "event": "id-scores",
                        "aligned": False,
                    }
                },
                system="Be brief.",
                seed=7,
                packages={"torch": "2.13"},
                started="2026-01-01T00:00:00+00:00",
            )
        )
    )
    assert facts["model"] == "tiny"
    assert facts["parameters"] == "1,380,000"
    assert facts["model commit"] == "a" * 16 + "…"
    assert facts["weights model.safetensors"].startswith("SHA-256 abab")
    assert facts["content (SHA-256)"] == "e3" * 8 + "…"
    assert facts["items"] == "1,145"
    assert facts["rows left out"] == "1"
    assert facts["design (direct)"] == "randomised, draws 2, seed 7"
    assert facts["interface cot-prefix"] == (
        "“Let me think.” in the user's turn; scored: id-scores; does not ask for what is scored"
    )
    assert facts["system prompt"] == "Be brief."
    assert facts["seed"] == "7"
    assert "torch 2.13" in facts["versions"]
    assert all(facts.values())


def test_no_folder_is_told() -> None:
    facts = run_facts(
        manifest(
            engine={"engine": "/home/ada/engine", "tokenizer": "/home/ada/tokenizer"},
            dataset={"name": "/home/ada/blocks", "file": "/home/ada/blocks.jsonl"},
            command=["/home/ada/bin/vqaudit", "run", "--data=/home/ada/blocks.jsonl", "--out", "/home/ada/runs/x"],
        )
    )
    assert not [text for _, text in facts if "ada" in text]
    assert ("command", "vqaudit run --data=blocks.jsonl --out x") in facts


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ([], ""),
        (["/x/vqaudit/__main__.py", "run"], "vqaudit run"),
        (["vqaudit", "run", "--system", "it's <b>"], "vqaudit run --system 'it'\"'\"'s <b>'"),
        (["vqaudit", "--columns", '{"question": "q"}'], 'vqaudit --columns \'{"question": "q"}\''),
    ],
)
def test_commands(command: list[str], shown: str) -> None:
    assert shown_command(command) == shown


def test_tokens_of_ids_are_told_where_the_engine_told_them() -> None:
    told = manifest(
        id_tokens={
            "upper": {"A": {"in_place": ["▁A"]}, "B": {"in_place": None, "bare": ["B"]}},
            "number": {"1": {"in_place": ["▁", "1"]}},
            "simulated": {},
            "odd": "nothing",
        }
    )
    assert token_rows(told) == [("upper", "A: “▁A”, B: “B”"), ("number", "1: “▁” + “1” (2 tokens)")]
