"""Whatever stands where a value is expected, lint ends with findings and not with a traceback."""

import json
import random
from pathlib import Path

import pytest

from vqaudit.lint import lint_paths

ODD = [None, True, 0, -3, 2.5, "", "Think step by step.", "{{", [], [None], [[1]], {}, {"a": None}, {"template": 3}]
TASK = {
    "task": "t",
    "output_type": "generate_until",
    "description": "d",
    "doc_to_text": "{{q}}\nA. {{a}}",
    "doc_to_choice": ["A", "B"],
    "gen_prefix": "x",
    "num_fewshot": 0,
    "generation_kwargs": {"until": ["\n\n"], "max_gen_toks": 8},
    "metric_list": [{"metric": "exact_match"}],
    "filter_list": [{"name": "n", "filter": [{"function": "regex", "regex_pattern": "([A-D])"}]}],
    "lmms_eval_specific_kwargs": {"default": {"post_prompt": "Explain your answer."}, "other": {"post_prompt": "b c"}},
}
RESULTS = {
    "results": {},
    "configs": {"t": TASK},
    "config": {"model_args": "enable_thinking=True", "gen_kwargs": {}},
    "n-shot": {"t": 0},
    "system_instruction": "s",
}
SAMPLE = {
    "doc_id": 0,
    "input": "q",
    "arguments": {"gen_args_0": {"arg_0": "q", "arg_1": {"until": ["x"], "max_gen_toks": 3}}},
    "resps": [["A"]],
    "filtered_resps": ["A"],
}
INSPECT = {
    "eval": {
        "task": "t",
        "scorers": [{"name": "match", "options": {"location": "exact"}}],
        "model_generate_config": {},
    },
    "plan": {"steps": [{"solver": "generate", "params": {"max_tokens": 5}}], "config": {"stop_seqs": ["x"]}},
    "samples": [{"id": 1, "messages": [{"role": "user", "content": [{"text": "q"}]}], "attachments": {"x": "y"}}],
}
MANIFEST = {
    "schema_version": 1,
    "system": "s",
    "interfaces": {"i": {"ending_text": "Think step by step.", "event": "id-scores", "place": "user"}},
    "identity": {"generation limit": 3},
}
KINDS = {"t.yaml": TASK, "r.json": RESULTS, "samples_t.jsonl": SAMPLE, "i.json": INSPECT, "manifest.json": MANIFEST}


def places(value: object, path: tuple = ()) -> list[tuple]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [(*path, key) for key, _ in children] + [
        found for key, child in children for found in places(child, (*path, key))
    ]


def changed(value: object, path: tuple, odd: object) -> object:
    copy = json.loads(json.dumps(value))
    spot = copy
    for key in path[:-1]:
        spot = spot[key]
    spot[path[-1]] = odd
    return copy


@pytest.mark.parametrize("name", sorted(KINDS))
def test_odd_values_never_break_it(tmp_path: Path, name: str) -> None:
    rng = random.Random(5)
    base = KINDS[name]
    for path in places(base):
        for odd in rng.sample(ODD, 6):
            file = tmp_path / name
            file.write_text(json.dumps(changed(base, path, odd)) + "\n", encoding="utf-8")
            report = lint_paths([file])
            assert report.to_dict()["counts"], (path, odd)
