"""Why two scores of one model differ: items, prompts, replies, readings, each with its part of the difference.

Knows two run directories. How a difference is split is told in `diff_causes`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from pydantic import Field

from vqaudit.analysis.diff_causes import Cause, CommonReader, ItemSplit, same_prompt, split_item
from vqaudit.analysis.diff_flips import Flip, flips_of
from vqaudit.analysis.diff_intervals import part_figure, score_difference
from vqaudit.analysis.diff_matching import Matching, match_items, pair_trials
from vqaudit.analysis.diff_sides import ScoreKind, Side, side_of
from vqaudit.analysis.diff_words import said, settings_apart, warnings_of
from vqaudit.analysis.estimates import Estimate, mean_estimate
from vqaudit.analysis.figures import Figure, Row
from vqaudit.reading import READER_VERSION
from vqaudit.records import RunTables

__all__ = ["Difference", "Part", "Scored", "diff_runs"]

DIFF_VERSION = 1
SPLIT_RULE = (
    "each pair of trials of one item counts where the two first part: prompts, else replies; what a run's own reading "
    "adds to a common reading counts as readings; items that only one run holds count as items"
)


class Scored(Row):
    """One of the two scores."""

    name: str
    model: str
    interface: str
    design: str
    score: ScoreKind
    """What counted as right: the strict `reading`, the `lenient` one, or the `logged` verdict."""
    accuracy: Figure
    """Mean over items of the item's mean over its trials."""
    items: int
    trials: int


class Part(Row):
    """One cause's part of the difference, B minus A; the parts add up to it."""

    cause: str
    difference: Figure
    """In [-1, 1], that of `readings` in [-2, 2]; `n` counts items (clusters). No interval for `items`: which items a
    run holds is no chance."""
    gained: int
    """Pairs of trials that are wrong in A and right in B by this cause."""
    lost: int


class Difference(Row):
    """Two scores and why they differ. `sum(part.difference.value)` is `difference.value`."""

    version: int = DIFF_VERSION
    a: Scored
    b: Scored
    difference: Figure
    """Score of B minus score of A."""
    parts: list[Part]
    """items, prompts, readings, replies, and untold where a log is silent about prompts."""
    rule: str = SPLIT_RULE
    common_reading: str
    """By which rule the replies of both runs were read for the split."""
    matched: dict[str, int]
    """Items: `both`, `by_id`, `by_text`, `only_a`, `only_b`, `same_id_other_content`."""
    pairs: dict[str, int]
    """Trials of common items: `pairs`, and of them `same_prompt`, `other_prompt`, `prompt_unknown`, `same_reply`;
    `unpaired_a` and `unpaired_b` have no counterpart."""
    settings: list[dict[str, str]]
    """What the manifests say differently: `name`, `a`, `b`."""
    flips: list[Flip]
    """Every pair of trials of which one is right and one wrong."""
    statements: list[str]
    warnings: list[str] = Field(default_factory=list)

    def part(self, cause: str) -> Part:
        """Returns the part of a cause."""
        return next(part for part in self.parts if part.cause == cause)

    def to_dict(self) -> dict[str, Any]:
        """Returns plain JSON values."""
        return self.model_dump(mode="json")

    def to_json(self) -> str:
        """Returns JSON without NaN."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def diff_runs(
    a: RunTables,
    b: RunTables,
    *,
    scores: tuple[ScoreKind, ScoreKind] = ("auto", "auto"),
    interfaces: tuple[str | None, str | None] = (None, None),
) -> Difference:
    """Splits the difference of two scores exactly into items, prompts, readings and replies.

    Items are matched by ID, else by question and options; trials by prompt, else by format and order. The split is
    told in `analysis.diff_causes`; `items` is `(S_B - M_B) - (S_A - M_A)` with S the score and M the mean over the
    common items, so that all parts add up.

    Args:
        a: A run directory, read; imported ones too.
        b: Another.
        scores: What counts as right in each.
        interfaces: Whose trials; the headline's where None.

    Raises:
        AnalysisError: A run has no judged trial, no such interface, or no verdicts of a log.
    """
    first = side_of(a, score=scores[0], interface=interfaces[0])
    second = side_of(b, score=scores[1], interface=interfaces[1])
    matching = match_items(first, second)
    reader = CommonReader(rereads=_rereads(first, second))
    splits = _splits(first, second, matching, reader)
    parts = [_items_part(first, second, matching), *_parts(splits)]
    scored = _scored(first), _scored(second)
    return Difference(
        a=scored[0],
        b=scored[1],
        difference=score_difference(first, second, matching),
        parts=parts,
        common_reading=_common_reading(reader),
        matched=_matched(matching),
        pairs=_pairs(splits),
        settings=settings_apart(first, second),
        flips=flips_of(splits, first, second),
        statements=said(scored[0].name, scored[1].name, {p.cause: p.difference.value for p in parts}),
        warnings=warnings_of(first, second, matching),
    )


def _rereads(a: Side, b: Side) -> bool:
    """Whether the two read differently at all: only then must their replies be read anew by one rule."""
    versions = {side.tables.manifest.reader_version for side in (a, b)}
    events = {asked.event for side in (a, b) for trials in side.trials.values() for asked in trials}
    return len(versions) > 1 or a.score != b.score or "logged" in (a.score, b.score) or len(events) > 1


def _common_reading(reader: CommonReader) -> str:
    if reader.rereads:
        return f"replies of both runs read anew by vqaudit's reader {READER_VERSION}; scores keep their own reading"
    return "both runs read by the same rule, so that only equal replies can differ in their reading"


def _splits(a: Side, b: Side, matching: Matching, reader: CommonReader) -> list[ItemSplit]:
    same = same_prompt(a, b)
    splits = []
    for name_a, name_b in matching.pairs:
        items = a.items[name_a], b.items[name_b]
        sides = a.trials[name_a], b.trials[name_b]
        splits.append(split_item(items, sides, pair_trials(*sides), reader=reader, same=same))
    return splits


def _scored(side: Side) -> Scored:
    means = [side.mean(name) for name in side.items]
    trials = sum(len(side.trials[name]) for name in side.items)
    clusters = [row.cluster for row in side.items.values()]
    return Scored(
        name=side.name,
        model=side.tables.manifest.model,
        interface=side.interface,
        design=side.design,
        score=side.score,
        accuracy=mean_estimate(means, clusters=clusters, trials=trials),
        items=len(means),
        trials=trials,
    )


def _items_part(a: Side, b: Side, matching: Matching) -> Part:
    apart = 0.0
    for side, common, sign in ((a, [n for n, _ in matching.pairs], -1.0), (b, [n for _, n in matching.pairs], 1.0)):
        score = float(np.mean([side.mean(name) for name in side.items]))
        apart += sign * (score - float(np.mean([side.mean(name) for name in common])) if common else score)
    only = len(matching.only_a) + len(matching.only_b)
    reason = "which items a run holds is no chance" if only else "both runs hold the same items"
    return Part(cause="items", difference=Estimate(value=apart, n=only, reason=reason), gained=0, lost=0)


def _parts(splits: Sequence[ItemSplit]) -> list[Part]:
    parts = []
    for cause in ("prompts", "readings", "replies", "untold"):
        values = [split.parts[cause] for split in splits]
        figure = part_figure(values, clusters=[split.a.cluster for split in splits])
        gained, lost = _turned(splits, cause)
        if cause != "untold" or any(values) or gained or lost:
            parts.append(Part(cause=cause, difference=figure, gained=gained, lost=lost))
    return parts


def _turned(splits: Sequence[ItemSplit], cause: Cause) -> tuple[int, int]:
    amounts = []
    for pair in (pair for split in splits for pair in split.pairs):
        amount = pair.readings if cause == "readings" else 0.0
        amounts.append(amount + (pair.content if pair.link == cause else 0.0))
    return sum(amount > 0 for amount in amounts), sum(amount < 0 for amount in amounts)


def _matched(matching: Matching) -> dict[str, int]:
    return {
        "both": len(matching.pairs),
        "by_id": matching.by_id,
        "by_text": matching.by_text,
        "only_a": len(matching.only_a),
        "only_b": len(matching.only_b),
        "same_id_other_content": matching.other_content,
    }


def _pairs(splits: Sequence[ItemSplit]) -> dict[str, int]:
    pairs = [pair for split in splits for pair in split.pairs]
    return {
        "pairs": len(pairs),
        "same_prompt": sum(pair.prompts_equal is True for pair in pairs),
        "other_prompt": sum(pair.prompts_equal is False for pair in pairs),
        "prompt_unknown": sum(pair.prompts_equal is None for pair in pairs),
        "same_reply": sum(pair.replies_equal is True for pair in pairs),
        "unpaired_a": sum(split.unpaired_a for split in splits),
        "unpaired_b": sum(split.unpaired_b for split in splits),
    }
