"""Outcomes that are no answer, and why.

Knows requests and reasons. Knows no model.
"""

from __future__ import annotations

from vqaudit.engines.base import Outcome, Request
from vqaudit.errors import EngineError

__all__ = ["NOT_FINITE", "BadInput", "bad_input", "failed"]

NOT_FINITE = "the model's logits are not finite"
"""Why there is no reply where half precision overflowed, or the weights are broken."""


class BadInput(EngineError):
    """One request cannot be put to this model; asking again would not help."""


def bad_input(request: Request, reason: str) -> Outcome:
    """Returns the outcome of a request that cannot be put to this model."""
    return Outcome(trial=request.trial, error=reason, bad_input=True)


def failed(request: Request, reason: str) -> Outcome:
    """Returns the outcome of a request that could not be answered this time."""
    return Outcome(trial=request.trial, error=reason)
