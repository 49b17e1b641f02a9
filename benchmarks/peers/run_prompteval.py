"""Runs beside a copy of PromptEval's repository: `python run_prompteval.py OUT CHECKOUT QUESTIONS`.

QUESTIONS (npz) holds `tables` (matrices x formats x items: right or wrong), `seen` (repeats x formats x items: which
cells an estimate may use). The estimator is the repository's own, without covariates, as in its demo notebook.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import sklearn
from clock import Clock

PASSES = 4
"""Cells of its own sample, in items: with 48 formats 8 % of the table, of the order that its authors spend."""


def without_utils() -> None:
    """Stands in for `prompteval.utils`, which loads torch and transformers for the paper's other scripts.

    `methods.py` takes one name from it: a check of covariates, of which there are none here.
    """
    empty = ModuleType("prompteval.utils")
    empty.check_multicolinearity = None  # type: ignore[attr-defined]
    sys.modules["prompteval.utils"] = empty


def main() -> None:
    out, checkout, questions = sys.argv[1:]
    sys.path.insert(0, checkout)
    without_utils()
    from prompteval.methods import ExtendedRaschModel, StratSample

    with np.load(questions) as given:
        tables, seen = given["tables"].astype(float), given["seen"]
    clock, drawing, found, own = Clock(), Clock(), [], []
    with drawing:
        cells = PASSES * tables.shape[2]
        drawn = [StratSample(np.zeros(tables.shape[1:], dtype=bool), cells, seed) for seed in range(len(seen))]
    for table in tables:
        for mask, sample in zip(seen, drawn, strict=True):
            model = ExtendedRaschModel()
            with clock:
                model.fit(mask, np.where(mask, table, -99.0))
            found.append(model.get_Y_hat().mean(axis=1).tolist())
            model = ExtendedRaschModel()
            model.fit(sample, np.where(sample, table, -99.0))
            own.append(model.get_Y_hat().mean(axis=1).tolist())
    report = {
        "versions": {"scikit-learn": sklearn.__version__, "numpy": np.__version__},
        "seconds": clock.seconds,
        "seconds_of_drawing": drawing.seconds,
        "formats": found,
        "own_sample": own,
        "passes": PASSES,
    }
    Path(out).write_text(json.dumps(report), encoding="utf-8")


if __name__ == "__main__":
    main()
