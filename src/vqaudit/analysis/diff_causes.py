"""Where two trials of one item part: prompt, reply or reading; and what each of these adds to the difference.

Knows pairs of trials. Knows no run and no interval.

**The split.** A score is made in a chain: item, prompt, reply, reading. A pair of trials differs in rightness by
`d = own_B - own_A`. Let `R` be what one common reader makes of a reply. Then

    d = (R_B - R_A) + ((own_B - R_B) - (own_A - R_A))

holds whatever `R` is. The second bracket is *readings*: what each run's own reading adds to the common one. The first
belongs to the first link at which the two part: *prompts* where the prompts differ, *replies* where they are the same;
a pair with the same prompt and the same reply differs by its reading alone. So the split is exact for every pair and
needs no order of replacement. An item's trials without a counterpart were asked in another way: what they add is
`(b - mean of the paired b) - (a - mean of the paired a)`, and it counts as *prompts*. Where a log is silent about its
prompts, the first bracket is *untold*. Over items everything is a mean, so the parts add up to the difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from vqaudit.analysis.diff_matching import Pair
from vqaudit.analysis.diff_sides import Asked, ItemRow, Side
from vqaudit.reading import read_reply

__all__ = ["Cause", "CommonReader", "ItemSplit", "PairSplit", "same_prompt", "split_item"]

Cause = Literal["prompts", "replies", "readings", "untold"]
CAUSES: tuple[Cause, ...] = ("prompts", "replies", "readings", "untold")
_TEXT_EVENTS = ("reply", "generation")


class CommonReader:
    """Reads the replies of both runs by one rule; where a reply is no text, the run's own reading stands.

    Args:
        rereads: Whether replies are read anew by `reading.read_reply`; else every run's own reading stands.
    """

    def __init__(self, *, rereads: bool) -> None:
        self.rereads = rereads
        self._known: dict[object, int | None] = {}

    def can_read(self, asked: Asked, item: ItemRow) -> bool:
        """Returns whether a reply's text can be read anew."""
        order = asked.variant.order
        known = asked.reply is not None and asked.option_ids and item.answer is not None and item.options is not None
        places = order is not None and len(order) == len(asked.option_ids)
        return bool(self.rereads and known and places and asked.event in _TEXT_EVENTS)

    def right(self, asked: Asked, item: ItemRow) -> float:
        """Returns whether the common reading of a reply is right, as 1.0 or 0.0."""
        order, options = asked.variant.order or (), item.options or ()
        shown = tuple(options[index] for index in order)
        key = (asked.reply, asked.option_ids, shown, asked.finish_reason)
        if key not in self._known:
            self._known[key] = _position(asked, shown)
        position = self._known[key]
        return float(position is not None and order[position] == item.answer)


def _position(asked: Asked, shown: Sequence[str]) -> int | None:
    read = read_reply(
        asked.reply,
        option_ids=asked.option_ids,
        options=shown,
        finish_reason=asked.finish_reason,
        reasoning=asked.reasoning,
    )
    return None if read.option_id is None else asked.option_ids.index(read.option_id)


@dataclass(frozen=True, kw_only=True, slots=True)
class PairSplit:
    """What one pair adds, in rights: -1, 0 or 1 in all."""

    pair: Pair
    link: Cause
    """The first link at which the two part."""
    content: float
    """Added at that link, before readings."""
    readings: float
    prompts_equal: bool | None
    replies_equal: bool | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemSplit:
    """What one item adds: `sum(parts.values())` is its mean in B minus its mean in A."""

    a: ItemRow
    b: ItemRow
    parts: dict[Cause, float]
    pairs: tuple[PairSplit, ...]
    unpaired_a: int
    unpaired_b: int
    rest: float = field(default=0.0)
    """Added by trials without a counterpart."""


def same_prompt(a: Side, b: Side) -> Callable[[Pair, ItemRow, ItemRow], bool | None]:
    """Returns the test whether a pair was asked the same; None is: a log is silent."""
    settings_differ = _settings_differ(a, b)

    def test(pair: Pair, item_a: ItemRow, item_b: ItemRow) -> bool | None:
        first, second = pair
        if settings_differ or _event_class(first) != _event_class(second):
            return False
        if item_a.images is not None and item_b.images is not None and item_a.images != item_b.images:
            return False
        if first.prompt is not None and second.prompt is not None:
            return first.prompt == second.prompt
        known = [(x, y) for x, y in zip(first.variant, second.variant, strict=True) if x is not None and y is not None]
        return False if any(x != y for x, y in known) else None

    return test


def _settings_differ(a: Side, b: Side) -> bool:
    """Whether system prompt or picture size differ; of an imported log, silence is no difference."""
    first, second = a.tables.manifest, b.tables.manifest
    silent = "imported" in (first.status, second.status)
    for x, y in ((first.system, second.system), (first.image_max_pixels, second.image_max_pixels)):
        if x != y and not (silent and (x is None or y is None)):
            return True
    return False


def _event_class(asked: Asked) -> str | None:
    return "text" if asked.event in _TEXT_EVENTS else asked.event


def split_item(
    items: tuple[ItemRow, ItemRow],
    sides: tuple[Sequence[Asked], Sequence[Asked]],
    pairs: Sequence[Pair],
    *,
    reader: CommonReader,
    same: Callable[[Pair, ItemRow, ItemRow], bool | None],
) -> ItemSplit:
    """Returns what one item adds to the difference, by cause.

    Args:
        items: The item as A and as B hold it.
        sides: Its trials in A and in B.
        pairs: From `pair_trials`.
        reader: The common reader.
        same: From `same_prompt`.
    """
    split = tuple(_split_pair(pair, items, reader, same) for pair in pairs)
    parts: dict[Cause, float] = dict.fromkeys(CAUSES, 0.0)
    for each in split:
        parts[each.link] += each.content / len(split)
        parts["readings"] += each.readings / len(split)
    rest = _mean(sides[1]) - _mean(sides[0]) - sum(p.b.right - p.a.right for p in pairs) / max(1, len(pairs))
    silent = not pairs and any(asked.prompt is None and asked.variant.order is None for asked in _all(sides))
    parts["untold" if silent else "prompts"] += rest
    return ItemSplit(
        a=items[0],
        b=items[1],
        parts=parts,
        pairs=split,
        unpaired_a=len(sides[0]) - len(pairs),
        unpaired_b=len(sides[1]) - len(pairs),
        rest=rest,
    )


def _all(sides: tuple[Sequence[Asked], Sequence[Asked]]) -> Iterator[Asked]:
    yield from sides[0]
    yield from sides[1]


def _mean(asked: Sequence[Asked]) -> float:
    return sum(trial.right for trial in asked) / len(asked)


def _split_pair(
    pair: Pair,
    items: tuple[ItemRow, ItemRow],
    reader: CommonReader,
    same: Callable[[Pair, ItemRow, ItemRow], bool | None],
) -> PairSplit:
    whole = pair.b.right - pair.a.right
    prompts = same(pair, *items)
    texts = pair.a.reply is not None and pair.b.reply is not None
    replies = pair.a.reply == pair.b.reply if texts else None
    if replies and prompts is not False:
        return PairSplit(
            pair=pair, link="readings", content=0.0, readings=whole, prompts_equal=prompts, replies_equal=True
        )
    content = whole
    if reader.can_read(pair.a, items[0]) and reader.can_read(pair.b, items[1]):
        content = reader.right(pair.b, items[1]) - reader.right(pair.a, items[0])
    link: Cause = "untold" if prompts is None else "replies" if prompts else "prompts"
    return PairSplit(
        pair=pair,
        link=link,
        content=content,
        readings=whole - content,
        prompts_equal=prompts,
        replies_equal=replies,
    )
