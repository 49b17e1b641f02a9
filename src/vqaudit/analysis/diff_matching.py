"""Which items of two runs are the same, and which of their trials belong together.

Knows items and trials of two sides. Knows no score.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from vqaudit.analysis.diff_sides import Asked, ItemRow, Side

__all__ = ["Matching", "Pair", "match_items", "pair_trials"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Matching:
    """Items that both runs hold, by their IDs in A and in B."""

    pairs: tuple[tuple[str, str], ...]
    by_id: int
    """Matched by ID; where both runs know them, question, options and right answer agree too."""
    by_text: int
    """Matched by question and options, since their IDs differ."""
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    other_content: int
    """Items with one ID whose question, options or right answer differ: two items, not one."""


class Pair(NamedTuple):
    """A trial of A and the trial of B that it is compared with."""

    a: Asked
    b: Asked


def match_items(a: Side, b: Side) -> Matching:
    """Matches items by ID where their content does not speak against it, the rest by question and options.

    Text is compared after Unicode normalisation (NFKC), case folding and joining of white space; the options as a
    set, so that a dataset that lists them in another order is the same. A text that one run holds twice matches none.
    """
    common = [name for name in a.items if name in b.items]
    by_id = [(name, name) for name in common if _agree(a.items[name], b.items[name])]
    taken = {name for name, _ in by_id}
    rest_a, rest_b = [n for n in a.items if n not in taken], [n for n in b.items if n not in taken]
    keys_a, keys_b = _unique_texts(a, rest_a), _unique_texts(b, rest_b)
    by_text = [(name, keys_b[key]) for key, name in keys_a.items() if key in keys_b]
    found_a, found_b = {name for name, _ in by_text}, {name for _, name in by_text}
    place = {name: index for index, name in enumerate(a.items)}
    return Matching(
        pairs=tuple(sorted([*by_id, *by_text], key=lambda pair: place[pair[0]])),
        by_id=len(by_id),
        by_text=len(by_text),
        only_a=tuple(name for name in rest_a if name not in found_a),
        only_b=tuple(name for name in rest_b if name not in found_b),
        other_content=len(common) - len(by_id),
    )


def _agree(a: ItemRow, b: ItemRow) -> bool:
    """Whether nothing that both runs know of an item differs."""
    if a.question is not None and b.question is not None and _plain(a.question) != _plain(b.question):
        return False
    if a.options is None or b.options is None:
        return True
    if sorted(map(_plain, a.options)) != sorted(map(_plain, b.options)):
        return False
    answers = [_answer(each) for each in (a, b)]
    return None in answers or answers[0] == answers[1]


def _answer(item: ItemRow) -> str | None:
    known = item.answer is not None and item.options is not None and 0 <= item.answer < len(item.options)
    return _plain(item.options[item.answer]) if known and item.options and item.answer is not None else None


def _unique_texts(side: Side, names: Sequence[str]) -> dict[Hashable, str]:
    keys = {name: _text_key(side.items[name]) for name in names}
    counts = Counter(keys.values())
    return {key: name for name, key in keys.items() if key is not None and counts[key] == 1}


def _text_key(item: ItemRow) -> Hashable | None:
    if item.question is None or item.options is None:
        return None
    return _plain(item.question), tuple(sorted(map(_plain, item.options))), _answer(item), item.images is None


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def pair_trials(a: Sequence[Asked], b: Sequence[Asked]) -> list[Pair]:
    """Pairs the trials of one item.

    Those with equal prompts first, then equal format and order, then equal order where a format is not known, then the
    last one left on each side. What is left over has no counterpart in the other run: it was asked in a way in which
    the other was not.
    """
    pairs: list[Pair] = []
    left_a, left_b = list(a), list(b)
    for key in (_by_prompt, _by_variant, _by_order):
        found, left_a, left_b = _paired(left_a, left_b, key)
        pairs += found
    if len(left_a) == len(left_b) == 1:
        pairs.append(Pair(left_a[0], left_b[0]))
    return pairs


def _by_prompt(asked: Asked) -> Hashable | None:
    return None if asked.prompt is None else (asked.prompt, asked.variant.order)


def _by_variant(asked: Asked) -> Hashable | None:
    variant = asked.variant
    return None if variant.format is None or variant.order is None else variant


def _by_order(asked: Asked) -> Hashable | None:
    return asked.variant.order


def _paired(
    a: list[Asked], b: list[Asked], key: Callable[[Asked], Hashable | None]
) -> tuple[list[Pair], list[Asked], list[Asked]]:
    waiting: defaultdict[Hashable, list[Asked]] = defaultdict(list)
    for asked in b:
        waiting[key(asked)].append(asked)
    blocked = _formats_differ if key is _by_order else _never
    pairs = list(_meet(a, waiting, key, blocked))
    done_a, done_b = {id(pair.a) for pair in pairs}, {id(pair.b) for pair in pairs}
    return pairs, [each for each in a if id(each) not in done_a], [each for each in b if id(each) not in done_b]


def _meet(
    a: Sequence[Asked],
    waiting: dict[Hashable, list[Asked]],
    key: Callable[[Asked], Hashable | None],
    blocked: Callable[[Asked, Asked], bool],
) -> Iterator[Pair]:
    for asked in a:
        name = key(asked)
        queue = waiting.get(name, []) if name is not None else []
        found = next((other for other in queue if not blocked(asked, other)), None)
        if found is not None:
            queue.remove(found)
            yield Pair(asked, found)


def _formats_differ(a: Asked, b: Asked) -> bool:
    return a.variant.format is not None and b.variant.format is not None


def _never(a: Asked, b: Asked) -> bool:
    return False
