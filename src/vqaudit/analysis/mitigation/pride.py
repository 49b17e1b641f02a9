"""PriDe: a prior over IDs from rotated questions, divided out of what the model says (Zheng et al. 2024).

Knows arrays of log-probabilities. Knows no trial. Source: paper 1, Eq. 8; Zheng et al., "Large Language Models Are
Not Robust Multiple Choice Selectors", ICLR 2024, Eq. 1 to 8.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vqaudit.analysis.intervals import Floats
from vqaudit.errors import AnalysisError

__all__ = ["debias", "id_prior"]


def id_prior(logprobs: Floats, items: NDArray[np.intp]) -> Floats:
    """Returns the prior over IDs: per item the softmax of the mean log-probability over its rotations, averaged.

    Where a score is content plus a bias of the ID, every ID meets every option once in a full cycle, content
    cancels, and the prior is the softmax of the biases exactly.

    Args:
        logprobs: Rotations x IDs, each item's rotations complete; log-probabilities up to a constant per row.
        items: Number of the item of each row.

    Returns:
        One share per ID, positive, adding to 1.

    Raises:
        AnalysisError: There is no rotation to calibrate on.

    Example:
        >>> bias, content = np.log([0.7, 0.2, 0.1]), np.array([0.0, -1.0, 2.0])
        >>> rows = np.stack([bias + np.roll(content, shift) for shift in range(3)])
        >>> id_prior(rows, np.zeros(3, dtype=np.intp)).round(6).tolist()
        [0.7, 0.2, 0.1]
    """
    if not logprobs.size:
        raise AnalysisError("a prior over IDs needs at least one item with scores in all rotations")
    names, codes = np.unique(items, return_inverse=True)
    sums = np.zeros((names.size, logprobs.shape[1]))
    np.add.at(sums, codes.reshape(-1), logprobs)
    means = sums / np.bincount(codes.reshape(-1))[:, None]
    shares = np.exp(means - means.max(axis=1, keepdims=True))
    return (shares / shares.sum(axis=1, keepdims=True)).mean(axis=0)


def debias(logprobs: Floats, prior: Floats) -> NDArray[np.int64]:
    """Returns the ID that each row chooses once the prior is divided out, -1 at a tie (paper 1, Eq. 8).

    Args:
        logprobs: Trials x IDs.
        prior: From `id_prior`.

    Example:
        >>> debias(np.log([[0.6, 0.4]]), np.array([0.7, 0.3])).tolist()
        [1]
    """
    scores = logprobs - np.log(prior)
    best = scores.max(axis=1, keepdims=True)
    # a tie up to rounding is no choice: readings never guess
    ties = (np.abs(scores - best) < 1e-12).sum(axis=1)
    return np.where(ties == 1, scores.argmax(axis=1), -1)
