"""Which way rows are computed, and why.

Knows the plain path, the shared one and what they found out about each other. Knows no event.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import torch

from vqaudit.engines.local.batching import Shared
from vqaudit.engines.local.branches import Strategy
from vqaudit.engines.local.plain import PlainPath
from vqaudit.engines.local.sessions import Row, Session
from vqaudit.engines.local.shared import SharedPath

__all__ = ["Agreement", "Paths", "choose_paths"]

_TOLERANCE = 1e-3
"""Largest difference of log-probabilities that float32 may show; a wrong mask or position shows 0.02 and more."""
_HALF_TOLERANCE = 0.05
"""The same in half precision, whose numbers have 8 to 11 binary digits."""
_NOISE_FACTOR = 4.0
"""In half precision, how much more than what batching alone changes is still taken for rounding."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Agreement:
    """How one way to share a beginning compared with the plain path on a few prompts."""

    strategy: str
    max_abs_diff: float | None = None
    """Largest difference of log-probabilities over the whole vocabulary; None where it could not be computed."""
    tolerance: float | None = None
    error: str | None = None

    @property
    def holds(self) -> bool:
        """Whether the strategy may be used."""
        return self.max_abs_diff is not None and self.tolerance is not None and self.max_abs_diff <= self.tolerance


@dataclass(frozen=True, kw_only=True, slots=True)
class Paths:
    """The ways to compute rows that one engine has."""

    plain: PlainPath
    shared: SharedPath | None = None
    """None where every row is computed whole."""
    tried: tuple[Agreement, ...] = field(default=())

    def begin(self, rows: Sequence[Row], shared: Shared) -> Session:
        """Returns a session over at least one row, behind what the rows share if they do."""
        if self.shared is None or not shared.chain or not _share(rows, shared.chain[-1]):
            return self.plain.begin(rows)
        return self.shared.begin(rows, shared)

    def describe(self) -> dict[str, Any]:
        """Returns what the manifest keeps."""
        return {
            "strategy": "plain" if self.shared is None else self.shared.strategy,
            "checked": [asdict(agreement) for agreement in self.tried],
        }


def _share(rows: Sequence[Row], length: int) -> bool:
    beginning = rows[0].token_ids[:length]
    return all(len(row.token_ids) > length and row.token_ids[:length] == beginning for row in rows)


def choose_paths(
    plain: PlainPath, groups: Sequence[tuple[Sequence[Row], Shared]], *, ends: Sequence[int], sharing: str
) -> Paths:
    """Returns the first way to share beginnings that agrees with the plain path, or the plain path alone.

    Every model is checked, known or not: a family's next version may place its positions or masks elsewhere.

    Args:
        plain: The plain path.
        groups: A few rows with what they share, with and without pictures.
        ends: Any of these token IDs ends a reply.
        sharing: `auto`, or `cascade`, `expanded` or `off`.
    """
    tried: list[Agreement] = []
    for strategy in _strategies(plain, sharing):
        shared = SharedPath(plain, ends=ends, strategy=strategy)
        tried.append(_compare(plain, shared, groups))
        if tried[-1].holds:
            return Paths(plain=plain, shared=shared, tried=tuple(tried))
    return Paths(plain=plain, tried=tuple(tried))


def _strategies(plain: PlainPath, sharing: str) -> Sequence[Strategy]:
    if sharing == "off":
        return ()
    if sharing == "cascade":
        return ("cascade",)
    # On a device the fused kernels of plain attention win; on processors, not copying what is shared does.
    on_cpu = plain.model.device.type == "cpu"
    return ("cascade", "expanded") if sharing == "auto" and on_cpu else ("expanded",)


def _largest(difference: torch.Tensor) -> float:
    """A difference that is not a number is the largest there is."""
    return float(difference.abs().nan_to_num(nan=torch.inf).max())


def _compare(plain: PlainPath, shared: SharedPath, groups: Sequence[tuple[Sequence[Row], Shared]]) -> Agreement:
    network = shared.network
    if not groups:
        return Agreement(
            strategy=shared.strategy, error="no sample prompt could be put to the model, so nothing is checked"
        )
    if network.unknown_layers:
        return Agreement(strategy=shared.strategy, error=f"layers of kind {', '.join(network.unknown_layers)}")
    if network.attention not in ("sdpa", "eager") or (shared.strategy == "cascade" and network.attention == "eager"):
        return Agreement(strategy=shared.strategy, error=f"attention {network.attention!r} takes no mask of ours")
    worst, noise = 0.0, 0.0
    try:
        for rows, beginning in groups:
            together = plain.begin(rows).first()
            alone = torch.cat([plain.begin([row]).first() for row in rows])
            noise = max(noise, _largest(together - alone))
            worst = max(worst, _largest(shared.begin(rows, beginning).first() - alone))
    except (RuntimeError, ValueError, TypeError, AttributeError, IndexError, AssertionError) as error:
        return Agreement(strategy=shared.strategy, error=f"{type(error).__name__}: {error}")
    rounding = _TOLERANCE if plain.model.dtype == torch.float32 else _HALF_TOLERANCE
    tolerance = max(rounding, _NOISE_FACTOR * noise)
    return Agreement(strategy=shared.strategy, max_abs_diff=worst, tolerance=tolerance)
