"""How many replies are exactly an ID, and where too few are because of how it was measured.

Knows the columns `covered` and `longer` of the analysis frame, which reading decided. Knows no reply parser.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import polars as pl

from vqaudit.analysis.accuracy import chance
from vqaudit.analysis.estimates import Estimate
from vqaudit.analysis.figures import Figure, Row
from vqaudit.analysis.frame import FACTORS
from vqaudit.analysis.grouped import item_mean, trial_mean, trial_means_by

__all__ = ["NO_REPLY", "Coverage", "Fault", "coverage", "coverage_by", "measurement_faults"]

NO_REPLY = "no trial has a reply that could be exactly an ID: scores and free generations have no coverage"

LOW_COVERAGE = 0.5
"""Share of replies that are an ID below which most trials of a format tell nothing of its accuracy."""
MOSTLY_LONGER = 0.8
"""Share of the replies that are no ID from which on, where they need more tokens, the limit is the likely cause."""
ALMOST_NEVER = 0.1
"""Share of replies that are an ID below which the scheme itself was not understood."""
READ_WELL = 0.1
"""How far above chance the lower bound of scored accuracy must be for IDs to count as read well by scores."""
FEWEST_TRIALS = 5
"""Below this many trials a format is not judged on its own."""

Level = Literal["id_set", "id_set/delimiter", "format"]
_LEVELS: tuple[Level, ...] = ("id_set", "id_set/delimiter", "format")


class Coverage(Row):
    """Three shares of the replies that add to 1; every trial counts once.

    Trials that failed, or whose input the model could not take, have no reply and are in none of them.
    """

    exact: Figure
    """Exactly a shown ID: the coverage of paper 1, Eq. 6."""
    needs_more_tokens: Figure
    """Cut: would have been exactly a shown ID with more tokens."""
    out_of_scheme: Figure
    """Anything else, empty replies and refusals included."""


class Fault(Row):
    """Formats whose low accuracy tells of the measurement, not of the model."""

    kind: Literal["needs_more_tokens", "never_emitted"]
    level: Level
    """The coarsest level that explains it: all formats of an ID set, of an ID set and delimiter, or one."""
    name: str
    """`number`, `lower/double_brackets` or `upper/dot/comma`."""
    formats: tuple[str, ...]
    coverage: Figure
    scored_accuracy: Figure | None = None
    """For `never_emitted`: how often the right ID has the highest score in the same formats."""
    sentence: str
    """What was seen and what to do."""


def coverage(trials: pl.DataFrame) -> Coverage:
    """Returns the three coverages of trials; unknown, with the reason, where no trial has one."""
    marked = _marked(trials)
    if not marked.height:
        nothing = Estimate.unknown(NO_REPLY)
        return Coverage(exact=nothing, needs_more_tokens=nothing, out_of_scheme=nothing)
    return Coverage(
        exact=trial_mean(marked, "covered"),
        needs_more_tokens=trial_mean(marked, "longer"),
        out_of_scheme=trial_mean(marked, "outside"),
    )


def coverage_by(trials: pl.DataFrame, by: Sequence[str]) -> dict[tuple[Any, ...], Coverage]:
    """Returns the three coverages of every group that has one."""
    found = trial_means_by(_marked(trials), ["covered", "longer", "outside"], by)
    return {
        key: Coverage(exact=parts[0], needs_more_tokens=parts[1], out_of_scheme=parts[2])
        for key, parts in found.items()
    }


def measurement_faults(replies: pl.DataFrame, scores: pl.DataFrame) -> list[Fault]:
    """Returns the measurement faults of formats, each at the coarsest level that explains it.

    *Needs more tokens*: exact coverage below 0.5, and at least 80 % of the other replies would be an ID with more
    tokens. *Never emitted*: coverage below 0.1 although the right ID's score is highest 10 points above chance
    (lower bound of the 95 % interval). A level explains a fault where it holds for all its trials together and
    for each of its formats that has at least five.

    Args:
        replies: Trials whose reply could be exactly an ID.
        scores: Trials whose `scored_right` is known; they may be the same.
    """
    marked = _marked(replies).filter(pl.col("format").is_not_null())
    counts = _counts(marked)
    faults: list[Fault] = []
    explained: set[str] = set()
    for level in range(1, len(FACTORS) + 1):
        for group in _groups(counts, level):
            formats = tuple(group["format"])
            if explained.issuperset(formats) or (kind := _kind(group)) is None:
                continue
            seen = marked.filter(pl.col("format").cast(pl.String).is_in(formats))
            place = _Place(formats=formats, level=level if len(formats) > 1 else len(FACTORS))
            fault = _cut_fault(seen, place) if kind == "needs_more_tokens" else _silent_fault(seen, scores, place)
            if fault is not None:
                faults.append(fault)
                explained.update(formats)
    return faults


class _Place(NamedTuple):
    """Formats that share a fault, and the coarsest level that they are."""

    formats: tuple[str, ...]
    level: int

    @property
    def name(self) -> str:
        return "/".join(self.formats[0].split("/")[: self.level])

    @property
    def kind(self) -> Level:
        return _LEVELS[self.level - 1]

    def __str__(self) -> str:
        return ("ID set {}", "formats {}", "format {}")[self.level - 1].format(self.name)


def _marked(trials: pl.DataFrame) -> pl.DataFrame:
    marked = trials.filter(pl.col("covered").is_not_null())
    return marked.with_columns(outside=~pl.col("covered") & ~pl.col("longer"))


def _counts(marked: pl.DataFrame) -> pl.DataFrame:
    """One row per format, by name: its replies, how many are exactly an ID, how many would be one."""
    sums = [pl.len().alias("replies"), pl.col("covered").sum(), pl.col("longer").sum()]
    counts = marked.group_by("format", *FACTORS).agg(sums)
    return counts.with_columns(pl.col("format", *FACTORS).cast(pl.String)).sort("format")


def _groups(counts: pl.DataFrame, level: int) -> Iterator[pl.DataFrame]:
    for _, group in counts.group_by(FACTORS[:level], maintain_order=True):
        yield group


def _kind(counts: pl.DataFrame) -> Literal["needs_more_tokens", "never_emitted"] | None:
    """What holds of a group of formats as a whole and of each of them that has trials enough."""
    whole = counts.select(pl.col("replies", "covered", "longer").sum())
    rows = pl.concat([whole, counts.select(whole.columns).filter(pl.col("replies") >= FEWEST_TRIALS)])
    if whole["replies"][0] < FEWEST_TRIALS:
        return None
    others = pl.col("replies") - pl.col("covered")
    rare = pl.col("covered") < LOW_COVERAGE * pl.col("replies")
    if rows.select((rare & (pl.col("longer") >= MOSTLY_LONGER * others)).all()).item():
        return "needs_more_tokens"
    if rows.select((pl.col("covered") < ALMOST_NEVER * pl.col("replies")).all()).item():
        return "never_emitted"
    return None


def _cut_fault(seen: pl.DataFrame, place: _Place) -> Fault:
    exact, cut = trial_mean(seen, "covered"), seen.filter("longer")
    reply, longer_id = cut.group_by("reply", "longer_id").len().sort("len", "reply", "longer_id").row(-1)[:2]
    share = cut.height / (seen.height - int(seen["covered"].sum()))
    budget = seen["budget"].drop_nulls().mode().sort()
    allowed = f" within {budget[0]} new token{'s' if budget[0] != 1 else ''}" if budget.len() else ""
    return Fault(
        kind="needs_more_tokens",
        level=place.kind,
        name=place.name,
        formats=place.formats,
        coverage=exact,
        sentence=(
            f"{place}: {_percent(exact)} of {seen.height} replies are exactly an ID{allowed}, and {100 * share:.0f} % "
            f"of the others would be one with more tokens (the most frequent: {reply!r} where {longer_id!r} was under "
            "way); the accuracy there is a measurement fault: raise the token budget and run these formats again"
        ),
    )


def _silent_fault(seen: pl.DataFrame, scores: pl.DataFrame, place: _Place) -> Fault | None:
    scored = scores.filter(pl.col("format").cast(pl.String).is_in(place.formats), pl.col("scored_right").is_not_null())
    accuracy, by_chance = item_mean(scored, "scored_right"), chance(scored)
    if accuracy.low is None or by_chance is None or accuracy.low <= by_chance + READ_WELL:
        return None
    exact = trial_mean(seen, "covered")
    reply = seen["reply"].drop_nulls().mode().sort()
    instead = f" (the most frequent instead: {reply[0]!r})" if reply.len() else ""
    return Fault(
        kind="never_emitted",
        level=place.kind,
        name=place.name,
        formats=place.formats,
        coverage=exact,
        scored_accuracy=accuracy,
        sentence=(
            f"{place}: {_percent(exact)} of {seen.height} replies are exactly an ID{instead}, although the right ID "
            f"has the highest score in {accuracy} (chance {100 * by_chance:.1f} %); the model knows more than its "
            "replies show: read these formats by ID scores, or give another instruction"
        ),
    )


def _percent(estimate: Estimate) -> str:
    return f"{100 * (estimate.value or 0.0):.1f} %"
