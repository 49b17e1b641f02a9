"""The results file that lm-eval and lmms-eval write beside a log of samples: who answered, and how.

Knows names of files. What does not lie there is not told.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["results_beside"]

_LM_EVAL = re.compile(r"samples_.+_(?P<time>\d{4}-\d{2}-\d{2}T[\d.:-]+)$")
_LMMS_EVAL = re.compile(r"(?P<time>\d{8}_\d{6})_samples_.+$")
_LONGEST = 64 << 20
_KEPT = ("model_name", "date", "git_hash", "lm_eval_version", "transformers_version", "system_instruction", "n-shot")
_KEPT_CONFIG = ("model", "model_args", "batch_size", "gen_kwargs", "limit", "random_seed")


def results_beside(samples: Path) -> dict[str, Any]:
    """Returns what a log's results file tells of the run; empty where there is none of the same time."""
    found = _LM_EVAL.match(samples.stem), _LMMS_EVAL.match(samples.stem)
    names = (
        [f"results_{found[0]['time']}.json"] if found[0] else [f"{found[1]['time']}_results.json"] if found[1] else []
    )
    for name in names:
        path = samples.with_name(name)
        if path.is_file() and path.stat().st_size <= _LONGEST:
            return _told(path)
    return {}


def _told(path: Path) -> dict[str, Any]:
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(results, Mapping):
        return {}
    config = results.get("config")
    told = {name: results[name] for name in _KEPT if results.get(name) is not None}
    if isinstance(config, Mapping):
        told |= {name: config[name] for name in _KEPT_CONFIG if config.get(name) not in (None, "")}
    name = told.get("model_name")
    return told if isinstance(name, str) or name is None else told | {"model_name": str(name)}
