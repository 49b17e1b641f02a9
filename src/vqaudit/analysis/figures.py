"""How figures stand in a summary and its JSON: frozen rows of names, numbers and estimates, never NaN.

Knows pydantic. Knows no formula.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, PlainSerializer

from vqaudit.analysis.estimates import Estimate

__all__ = ["Figure", "Row", "known", "known_or_why"]


def _to_dict(estimate: Estimate) -> dict[str, Any]:
    return estimate.to_dict()


Figure = Annotated[Estimate, PlainSerializer(_to_dict, return_type=dict[str, Any])]
"""An estimate that is written as `{value, low, high, n, trials}`, with `reason` where something is null."""


class Row(BaseModel):
    """A frozen row of a summary; NaN and infinity are refused, since JSON has neither."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def known(estimate: Estimate) -> Estimate | None:
    """Returns the estimate, or None where it has no value."""
    return None if estimate.value is None else estimate


def known_or_why(figures: Mapping[str, Estimate], reasons: dict[str, str]) -> dict[str, Estimate | None]:
    """Returns estimates without a value as None, and adds why to `reasons` under their names."""
    for key, estimate in figures.items():
        if estimate.value is None:
            reasons[key] = estimate.reason or "no data"
    return {key: known(estimate) for key, estimate in figures.items()}
