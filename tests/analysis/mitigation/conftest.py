"""Runs whose replies and ID scores follow from a content by option and a bias by ID."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

REFERENCE = ("upper", "dot", "line_break")


def id_scores(logprobs: np.ndarray) -> list[dict[str, Any]]:
    return [
        {"option_id": "ABCDEFGH"[place], "logprob": float(value), "rank": 1, "token_ids": [], "spelling": ""}
        for place, value in enumerate(logprobs)
    ]


@pytest.fixture
def scored_run(builder, orders) -> Callable[..., Any]:
    """Returns a maker of runs in which a model chooses the ID with the highest content + bias, and says so."""

    def make(
        content: np.ndarray,
        bias: np.ndarray,
        *,
        formats=(REFERENCE,),
        design: str = "reference",
        scores: bool = True,
        model: str = "pretended",
        **item: Any,
    ):
        run = builder(model)
        count = content.shape[1]
        for number, row in enumerate(content):
            name = run.add_item(f"q{number:03d}", n_options=count, answer=number % count, **item)
            for fmt, order in product(formats, orders(count)):
                told = row[order] + bias
                told = told - np.log(np.exp(told).sum())
                kept = {"id_scores": id_scores(told)} if scores else {}
                chosen = order[int(told.argmax())]
                run.add_trial(name, fmt=fmt, order=order, chosen=chosen, designs=[(design, 0)], **kept)
        return run

    return make
