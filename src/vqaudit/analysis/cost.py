"""What a run cost: trials, seconds, tokens, and money where prices are known.

Knows the columns that engines report and the prices that the manifest keeps. Knows no price list.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from vqaudit.analysis.figures import Row
from vqaudit.records import RunOutline

__all__ = ["Cost", "InterfaceCost", "cost"]


class InterfaceCost(Row):
    """The cost of one interface; None where the engine did not report it."""

    trials: int
    """Visible records that did not fail."""
    seconds: float | None
    """Engine seconds of these trials, each trial's share of its batch."""
    seconds_per_trial: float | None
    tokens_computed: int | None
    """Tokens that went through the model."""
    tokens_reused: int | None
    """Tokens taken from a shared prefix instead, or from a server's cache."""
    tokens_written: int | None = None
    """Tokens that the model wrote, thinking included; a part of those computed. Where a server tells."""
    tries: int | None = None
    """Requests that were sent, repeated ones included; where a server was asked."""
    money: float | None = None
    """Price of these tokens; None where prices or token counts are not known."""
    reused_share: float | None
    """Reused over reused and computed, in [0, 1]."""


class Cost(InterfaceCost):
    """The cost of the run."""

    attempts: int
    """Records on disk: superseded and failed attempts included, which the other counts leave out."""
    currency: str | None = None
    """Of `money`; None where no price is known."""
    wall_seconds: float | None
    """Wall-clock time of all sessions, loading included."""
    by_interface: dict[str, InterfaceCost]


def cost(tables: RunOutline, frame: pl.DataFrame) -> Cost:
    """Returns the cost of the visible trials, in all and by interface."""
    done = frame.filter(~pl.col("failed"))
    groups = {str(key[0]): part for key, part in done.group_by("interface", maintain_order=True)}
    prices = _Prices.of(tables.manifest.engine.get("prices"))
    return Cost(
        **_cost(done, prices).model_dump(),
        currency=None if prices is None else prices.currency,
        attempts=tables.attempts,
        wall_seconds=tables.manifest.seconds,
        by_interface={name: _cost(groups[name], prices) for name in sorted(groups)},
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Prices:
    """Prices of one token."""

    currency: str
    prompt: float
    cached: float
    written: float

    @classmethod
    def of(cls, told: object) -> _Prices | None:
        """Reads `engine.prices` of the manifest; None where prompt and written tokens have no price."""
        if not isinstance(told, Mapping) or told.get("in") is None or told.get("out") is None:
            return None
        unit = float(told.get("per") or 1)
        cached = told["in"] if told.get("cached") is None else told["cached"]
        prompt, cached, written = (float(price) / unit for price in (told["in"], cached, told["out"]))
        return cls(currency=str(told.get("currency") or ""), prompt=prompt, cached=cached, written=written)

    def money(self, trials: pl.DataFrame) -> float | None:
        """Price of trials: what was computed of their prompts, what the cache had, and what was written."""
        computed, reused, written = (_total(trials[f"tokens_{kind}"]) for kind in ("computed", "reused", "written"))
        if computed is None or written is None or trials["tokens_written"].null_count():
            return None
        return (computed - written) * self.prompt + (reused or 0) * self.cached + written * self.written


def _cost(trials: pl.DataFrame, prices: _Prices | None = None) -> InterfaceCost:
    timed = trials["seconds"].drop_nulls()
    # numpy sums in a fixed order; the threads of a data frame do not
    seconds = float(timed.to_numpy().sum()) if timed.len() else None
    computed, reused = _total(trials["tokens_computed"]), _total(trials["tokens_reused"])
    both = (computed or 0) + (reused or 0)
    return InterfaceCost(
        trials=trials.height,
        seconds=seconds,
        seconds_per_trial=None if seconds is None else seconds / timed.len(),
        tokens_computed=computed,
        tokens_reused=reused,
        tokens_written=_total(trials["tokens_written"]),
        tries=_total(trials["tries"]),
        money=None if prices is None else prices.money(trials),
        reused_share=reused / both if reused is not None and both else None,
    )


def _total(counts: pl.Series) -> int | None:
    known = counts.drop_nulls()
    return int(known.cast(pl.Int64).sum()) if known.len() else None
