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
from vqaudit.analysis.grouped import estimate_pairs, item_means, paired_means, trial_mean
from vqaudit.analysis.interfaces.described import Described, describe
from vqaudit.analysis.interfaces.verdict import Evidence, Verdict, advise, decide, verdict_sentence
from vqaudit.analysis.selection import FirstPosition, Preference, first_position, preference

__all__ = ["CommonGround", "InterfaceRow", "Interfaces", "compare_interfaces"]

_ORDER = ("direct", "direct-scores", "cot-prefix", "free-cot")


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
    minus_always_first: Figure | None = None
    """Accuracy minus that of always choosing the first position, paired by item, in [-1, 1] (paper 2, section 3); None
    where options are hidden."""
    watch_mass: Figure | None = None
    """Mean probability of the watched words' first tokens (paper 2, Eq. 8); None where it is not known."""
    verdict: Verdict | None
    """*Mismatched*: lower bound of the gap > 2 pp, and the first position is preferred (lower bound of its excess
    > 0) or ID mass < 0.5. *Aligned*: upper bound < 2 pp. None for the best aligned one."""
    sentence: str | None = None
    """The verdict with its evidence; None where there is no verdict."""
    advice: tuple[str, ...] = ()
    """What to do, where it is mismatched."""


class Interfaces(NamedTuple):
    """All interfaces of a run, and what they were compared on."""

    rows: dict[str, InterfaceRow]
    ground: CommonGround
    parts: dict[str, pl.DataFrame]
    """The trials of each on the common ground."""
    described: dict[str, Described]


def compare_interfaces(
    trials: pl.DataFrame,
    *,
    interfaces: Mapping[str, Any] | None = None,
    probes: Mapping[str, Estimate] | None = None,
    seed: int = 0,
) -> Interfaces:
    """Compares all interfaces of these trials on their common ground, paired by item.

    The common ground is every (item, format, order) that all of them answered; one without formats (a cloze) is
    compared on the items of that ground. Where no such triple exists, it is the common items.

    Args:
        trials: Rows of the analysis frame, any mixture of interfaces.
        interfaces: The manifest's description of them: `{name: {"aligned": ...}}`.
        probes: Accuracy of a probe of the hidden state that each interface scores, where one was fitted.
        seed: Of the halving that finds favourite positions.
    """
    parts, ground = _common_ground(trials)
    described = describe(list(parts), interfaces or {})
    accuracy = {name: grid_accuracy(part) for name, part in parts.items()}
    candidates = [name for name in parts if described[name].aligned and accuracy[name].value is not None]
    best = max(candidates, key=lambda name: accuracy[name].value or 0.0, default=None)
    rows = {}
    for name, part in parts.items():
        gap = None if best in (None, name) else paired_means(parts[best], part, "right")
        row = _row(part, accuracy[name], seed).model_copy(
            update={"aligned": described[name].aligned, "gap": gap, "best_aligned": None if gap is None else best}
        )
        recovered = _recovered(described[name], described, accuracy, probes or {})
        rows[name] = _judged(name, row, described[name], recovered)
    return Interfaces(rows, ground, parts, described)


def _judged(
    name: str, row: InterfaceRow, described: Described, recovered: tuple[tuple[str, Estimate], ...]
) -> InterfaceRow:
    evidence = Evidence(
        accuracy=row.accuracy,
        gap=row.gap,
        best_aligned=row.best_aligned,
        first_position_rate=row.first_position_rate,
        answer_first_rate=row.answer_first_rate,
        first_position_excess=row.first_position_excess,
        id_mass=row.id_mass,
        recovered=recovered,
    )
    verdict = decide(evidence)
    sentence = verdict_sentence(name, verdict, evidence)
    return row.model_copy(update={"verdict": verdict, "sentence": sentence, "advice": advise(described, verdict)})


def _recovered(
    one: Described,
    described: Mapping[str, Described],
    accuracy: Mapping[str, Estimate],
    probes: Mapping[str, Estimate],
) -> tuple[tuple[str, Estimate], ...]:
    """What is found after the same ending by reading the generated answer, or from the same hidden state by a probe."""
    same = [
        (other.name, accuracy[other.name])
        for other in described.values()
        if other.name != one.name
        and one.ending is not None
        and (other.ending, other.place) == (one.ending, one.place)
        and other.event in ("generation", "rationale-scores")
    ]
    probe = [("a probe of the same hidden state", probes[one.name])] if one.name in probes else []
    return tuple(pair for pair in (*same, *probe) if pair[1].value is not None)


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
        id_mass=_mass(part, "id_mass"),
        minus_always_first=_minus_always_first(part),
        watch_mass=_mass(part, "watch_mass"),
        aligned=False,
        gap=None,
        best_aligned=None,
        verdict=None,
    )


def _mass(part: pl.DataFrame, column: str) -> Estimate | None:
    told = part.filter(pl.col(column).is_finite())
    if not told.height:
        return None
    # rounding in float32 can bring a sum of probabilities a hair above 1
    return mean_estimate(told[column].clip(0, 1).to_numpy(), clusters=told["cluster_code"].to_numpy())


def _minus_always_first(part: pl.DataFrame) -> Estimate | None:
    """Accuracy less what the first position alone would get, over trials that say where the right option stands."""
    placed = part.filter("options_shown", pl.col("answer_position").is_not_null(), pl.col("right").is_not_null())
    first = placed.with_columns(_first=pl.col("answer_position") == 0)
    pairs = item_means(placed, "right").join(
        item_means(first, "_first"), on="item_code", suffix="_b", maintain_order="left"
    )
    return known(estimate_pairs(pairs))


def _versus(accuracy: Estimate, by_chance: float | None) -> Literal["above", "at", "below"] | None:
    if accuracy.low is None or accuracy.high is None or by_chance is None:
        return None
    if accuracy.low > by_chance:
        return "above"
    return "below" if accuracy.high < by_chance else "at"


def _common_ground(trials: pl.DataFrame) -> tuple[dict[str, pl.DataFrame], CommonGround]:
    done = trials.filter(~pl.col("failed"))
    names = sorted(done["interface"].unique(), key=lambda name: (_rank(name), name))
    with_format = done.filter(pl.col("format").is_not_null())["interface"].unique()
    if len(names) == 1:  # what is common to one needs no joins of what can be millions of trials
        alone = {names[0]: done}
        return alone, _describe(_unit(1, with_format.len(), done.height, done.height), alone)
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
