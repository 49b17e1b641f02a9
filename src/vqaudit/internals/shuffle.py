"""The shuffle control: what is left of an accuracy when states are exchanged among examples (paper 2, section 4).

Knows logits and permutations. Knows no fit. A readout that reads content falls to chance; one that reads how often
positions are right does not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vqaudit.analysis.internals import Shuffled
from vqaudit.internals.probe import masked_choice

__all__ = ["shuffled_accuracy"]

PERMUTATIONS = 200

Ints = NDArray[np.int64]


def shuffled_accuracy(
    logits_of: Callable[[Ints], NDArray[Any]],
    *,
    n_options: Ints,
    target: Ints,
    seed: int,
    permutations: int = PERMUTATIONS,
) -> Shuffled:
    """Returns the accuracy over permutations of the states; positions and answers stay where they are.

    Args:
        logits_of: From the number of the example whose state each example gets, the logits by position: (seeds x)
            examples x positions.
        n_options: Options of each example.
        target: Position of the right option.
        seed: Of the permutations.
        permutations: How many.
    """
    rng = np.random.default_rng([seed, 3])
    found = [
        float((masked_choice(logits_of(rng.permutation(target.size)), n_options) == target).mean())
        for _ in range(permutations)
    ]
    low, high = np.quantile(found, [0.025, 0.975])
    return Shuffled(accuracy=float(np.mean(found)), low=float(low), high=float(high), permutations=permutations)
