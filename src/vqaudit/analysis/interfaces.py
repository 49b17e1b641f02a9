"""Ways of asking and scoring, compared on the trials that all of them share.

Knows interface names and the analysis frame. Knows no prompt and no engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import polars as pl

from vqaudit.analysis.accuracy import chance, grid_accuracy
from vqaudit.analysis.coverage import coverage
from vqaudit.analysis.estimates import Estimate, mean_estimate
from vqaudit.analysis.figures import Figure, Row, known
from vqaudit.analysis.grouped import paired_means, trial_mean
from vqaudit.analysis.selection import FirstPosition, Preference, first_position, preference

__all__ = ["CommonGround", "InterfaceRow", "Interfaces", "compare_interfaces"]

MISALIGNED = frozenset({"cot-prefix", "cot-prefill"})
"""Interfaces whose ending asks for another event than the one that is scored, where the manifest does not say."""
_ORDER = ("direct", "direct-scores", "cot-prefix", "free-cot")
MISMATCH_GAP = 0.02
FEW_IDS = 0.5


class CommonGround(Row):
    """What the compared interfaces have in common: their figures are taken over nothing else."""

    unit: Literal["variant", "item", "none"]
    """`variant`: the same item under the same format and order; `item`: the same item; `none`: nothing."""
    interfaces: tuple[str, ...]
    items: int
    trials: dict[str, int]
    """By interface, how many of its trials lie on it."""
    sentence: str


class InterfaceRow(Row):
    """One interface on the common ground."""

    accuracy: Figure
    """Mean over items."""
    chance: float | None
    versus_chance: Literal["above", "at", "below"] | None
    """Where chance lies to the interval of the accuracy."""
    first_position_rate: Figure
    """Share of trials that chose position 0, of items that may be permuted."""
    answer_first_rate: Figure
    """Share of the same trials whose right option stands there."""
    first_position_excess: Figure
    """The difference of the two, paired by trial, in [-1, 1]."""
    preference: Preference | None
    """How often the favourite position of each format is chosen; None where it cannot be told."""
    coverage: Figure | None
    """Share of replies that are exactly an ID; None for score events and free generations."""
    unanswered: Figure
    """Share of trials that chose no option: parse failures, ties, refusals, empty replies."""
    id_mass: Figure | None
    """Mean probability that the next token is any shown ID; None where it is not known."""
    aligned: bool
    """Whether the ending asks for the event that is scored."""
    gap: Figure | None
    """Best aligned interface minus this one, paired by item, in [-1, 1]; None for that one itself."""
    best_aligned: str | None
    """Which one the gap is to."""
    verdict: Literal["aligned", "mismatched", "undecided"] | None
    """*Mismatched*: lower bound of the gap > 2 pp, and the first position is preferred (lower bound of its excess
    > 0) or ID mass < 0.5. *Aligned*: upper bound < 2 pp. None for the best aligned one."""


class Interfaces(NamedTuple):
    """All interfaces of a run, and what they were compared on."""

    rows: dict[str, InterfaceRow]
    ground: CommonGround


def compare_interfaces(
    trials: pl.DataFrame, *, interfaces: Mapping[str, Any] | None = None, seed: int = 0
) -> Interfaces:
    """Compares all interfaces of these trials on their common ground, paired by item.

    The common ground is every (item, format, order) that all of them answered; one without formats (a cloze) is
    compared on the items of that ground. Where no such triple exists, it is the common items.

    Args:
        trials: Rows of the analysis frame, any mixture of interfaces.
        interfaces: The manifest's description of them: `{name: {"aligned": ...}}`.
        seed: Of the halving that finds favourite positions.
    """
    parts, ground = _common_ground(trials)
    aligned = {name: _is_aligned(name, interfaces or {}) for name in parts}
    accuracy = {name: grid_accuracy(part) for name, part in parts.items()}
    candidates = [name for name in parts if aligned[name] and accuracy[name].value is not None]
    best = max(candidates, key=lambda name: accuracy[name].value or 0.0, default=None)
    rows = {}
    for name, part in parts.items():
        gap = None if best in (None, name) else paired_means(parts[best], part, "right")
        rows[name] = _row(part, accuracy[name], seed).model_copy(
            update={"aligned": aligned[name], "gap": gap, "best_aligned": None if gap is None else best}
        )
        rows[name] = rows[name].model_copy(update={"verdict": _verdict(rows[name])})
    return Interfaces(rows, ground)


def _row(part: pl.DataFrame, accuracy: Estimate, seed: int) -> InterfaceRow:
    first: FirstPosition = first_position(part)
    by_chance = chance(part)
    return InterfaceRow(
        accuracy=accuracy,
        chance=by_chance,
        versus_chance=_versus(accuracy, by_chance),
        first_position_rate=first.rate,
        answer_first_rate=first.answer_rate,
        first_position_excess=first.excess,
        preference=preference(part, seed=seed),
        coverage=known(coverage(part).exact),
        unanswered=trial_mean(part.with_columns(_none=~pl.col("answered")), "_none"),
        id_mass=_id_mass(part),
        aligned=False,
        gap=None,
        best_aligned=None,
        verdict=None,
    )


def _id_mass(part: pl.DataFrame) -> Estimate | None:
    told = part.filter(pl.col("id_mass").is_finite())
    if not told.height:
        return None
    # rounding in float32 can bring a sum of probabilities a hair above 1
    return mean_estimate(told["id_mass"].clip(0, 1).to_numpy(), clusters=told["cluster_code"].to_numpy())


def _versus(accuracy: Estimate, by_chance: float | None) -> Literal["above", "at", "below"] | None:
    if accuracy.low is None or accuracy.high is None or by_chance is None:
        return None
    if accuracy.low > by_chance:
        return "above"
    return "below" if accuracy.high < by_chance else "at"


def _verdict(row: InterfaceRow) -> Literal["aligned", "mismatched", "undecided"] | None:
    gap = row.gap
    if gap is None or gap.low is None or gap.high is None:
        return None
    prefers_first = (row.first_position_excess.low or 0.0) > 0
    misses_ids = row.id_mass is not None and (row.id_mass.value or 0.0) < FEW_IDS
    if gap.low > MISMATCH_GAP and (prefers_first or misses_ids):
        return "mismatched"
    return "aligned" if gap.high < MISMATCH_GAP else "undecided"


def _is_aligned(name: str, described: Mapping[str, Any]) -> bool:
    said = described.get(name)
    if isinstance(said, Mapping) and isinstance(said.get("aligned"), bool):
        return bool(said["aligned"])
    return name not in MISALIGNED


def _common_ground(trials: pl.DataFrame) -> tuple[dict[str, pl.DataFrame], CommonGround]:
    done = trials.filter(~pl.col("failed"))
    names = sorted(done["interface"].unique(), key=lambda name: (_rank(name), name))
    with_format = done.filter(pl.col("format").is_not_null())["interface"].unique()
    variants = _shared(done.filter(pl.col("interface").is_in(with_format)), ["item_code", "variant_code"])
    items = _shared(done, ["item_code"])
    triples = variants.join(items, on="item_code", how="semi")
    unit = _unit(len(names), with_format.len(), triples.height, items.height)
    parts = {}
    for name in names:
        part = done.filter(pl.col("interface") == name, pl.col("item_code").is_in(items["item_code"]))
        if unit == "variant" and name in with_format:
            part = part.join(triples, on=["item_code", "variant_code"], how="semi", maintain_order="left")
        elif unit == "variant":
            part = part.filter(pl.col("item_code").is_in(triples["item_code"].unique()))
        elif unit == "none":
            part = done.filter(pl.col("interface") == name)
        parts[name] = part.sort("trial_code")
    return parts, _describe(unit, parts)


def _unit(interfaces: int, with_format: int, triples: int, items: int) -> Literal["variant", "item", "none"]:
    if interfaces > 1 and not items:
        return "none"
    return "variant" if with_format and triples else "item"


def _shared(trials: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """The keys under which every interface of these trials has an answer."""
    interfaces = trials["interface"].n_unique()
    counts = trials.select("interface", *keys).unique().group_by(keys).len()
    return counts.filter(pl.col("len") == interfaces).select(keys)


def _describe(unit: Literal["variant", "item", "none"], parts: dict[str, pl.DataFrame]) -> CommonGround:
    trials = {name: part.height for name, part in parts.items()}
    items = max((part["item_code"].n_unique() for part in parts.values()), default=0) if unit != "none" else 0
    what = {
        "variant": f"the same {items} items under the same formats and orders",
        "item": f"the same {items} items, but not the same formats and orders",
        "none": "nothing: the interfaces were asked different items, and are not compared",
    }[unit]
    sentence = f"{', '.join(parts)} on {what}" if len(parts) > 1 else f"one interface, {items} items"
    blind = [name for name, part in parts.items() if part["format"].null_count() == part.height]
    if unit == "variant" and blind:
        sentence += f" ({', '.join(blind)}: no format, by item)"
    return CommonGround(unit=unit, interfaces=tuple(parts), items=items, trials=trials, sentence=sentence)


def _rank(name: str) -> int:
    return _ORDER.index(name) if name in _ORDER else len(_ORDER)
