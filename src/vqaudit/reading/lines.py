"""Lines that begin with an ID: an answer of its own, or an item of a list.

Knows lines. The same rule holds for every ID, wherever it stands in the list, so that no position is favoured.
"""

from __future__ import annotations

import re

from vqaudit.reading.context import Reply, after_label_word
from vqaudit.reading.labels import Label
from vqaudit.reading.normalise import fold
from vqaudit.reading.reading import Reading
from vqaudit.reading.sentences import denied_after
from vqaudit.reading.tails import chosen, several

__all__ = ["label_lines", "listed_in"]

_AFTER_LABEL = re.compile(r"\s*[.):,|\]]+\s*|\s+-+\s+|\s*-+\s+|\s*$")
_REASON = re.compile(r"\s+(?:because|since|rather|instead|not|over|due)\b")
_LEAD = " .):,-"
_REACH = 1000
"""Characters of a line in which further IDs are looked for: longer lines are no list of IDs."""


def label_lines(reply: Reply) -> list[Reading]:
    """Reads the first and the last line, and lines that are an ID and nothing else, where they are no list."""
    lines = [line for line in reply.text.split("\n") if line.strip()]
    listed = [option_id for line in lines for option_id in listed_in(reply, line)]
    single = len(lines) == 1
    found: list[Reading] = []
    for place in (0,) if reply.cut or single else (0, -1):
        reading = _line(reply, lines[place], single=single, first=place == 0)
        if reading and (not reading.option_id or _stands_for_itself(reply, lines[place], reading.option_id, listed)):
            found.append(reading)
    return found + _bare_lines(reply, lines[1:-1])


def listed_in(reply: Reply, line: str) -> list[str]:
    """Gives the IDs that a line sets out as a list does: at its start with a delimiter, or before their own text."""
    ids: list[str] = []
    place = after_label_word(line)
    head = reply.labels.head(line, place)
    if head and (head.closed or _AFTER_LABEL.match(line, head.end)):
        ids.append(head.option_id)
        place = head.end
        own = reply.texts.at_start(line[place:])
        place += own.end if own and head.option_id in own.ids else 0
    for label in reply.labels.tokens(line[:_REACH]):
        if label.start < place:
            continue
        own = reply.texts.at_start(line[label.end :].lstrip(_LEAD))
        if own and label.option_id in own.ids and (label.closed or _AFTER_LABEL.match(line, label.end)):
            ids.append(label.option_id)
    return ids


def _stands_for_itself(reply: Reply, line: str, option_id: str, listed: list[str]) -> bool:
    """True where a line with an ID is no item of a list: nothing else is listed, or it is listed once more."""
    own, others = listed_in(reply, line), list(listed)
    for item in own:
        others.remove(item)
    if len(set(own)) > 1:
        return False
    return not others or (option_id in others and (len(set(others)) > 1 or set(others) == {option_id}))


def _line(reply: Reply, line: str, *, single: bool, first: bool) -> Reading | None:
    """Reads a line that begins with an ID."""
    text = line[after_label_word(line) :]
    if option_id := reply.labels.whole(text):
        return _bare_line(reply, text, option_id, first=first)
    label = reply.labels.head(text)
    if label is None or denied_after(text, label.end) or not _is_label(reply, text, label, single=single):
        return None
    others = reply.options.joined(text, label)
    if others is None:
        return None
    if others:
        return several([label.option_id, *others])
    where = "leading label" if first else "last line"
    return reply.options.contradiction(text, label) or chosen(label.option_id, where)


def _is_label(reply: Reply, text: str, label: Label, *, single: bool) -> bool:
    """True where an ID at the start of a line is one, and no article, pronoun, quantity, step or heading."""
    own = _before_own_text(reply, text, label)
    if label.exact and own:
        return True
    delimited = label.closed or _AFTER_LABEL.match(text, label.end) is not None
    if not delimited and not (label.exact and _REASON.match(text, label.end)):
        return False
    if own:
        return True
    heading = label.option_id in {"I", "i"} and "\nII" in reply.text.upper()
    step = reply.labels.numeric or heading or not label.exact
    if reply.cut or (step and not single):
        return False
    return label.exact or label.enclosed or text[label.end : label.end + 1] in {")", ".", ":"}


def _before_own_text(reply: Reply, text: str, label: Label) -> bool:
    """True where the text of the ID follows it; where the reply was cut, the beginning of it will do."""
    rest = text[label.end :].lstrip(_LEAD)
    begins = reply.texts.at_start(rest)
    if begins and label.option_id in begins.ids:
        return True
    return reply.cut and bool(rest) and fold(reply.texts.own(label.option_id)).startswith(fold(rest))


def _bare_lines(reply: Reply, lines: list[str]) -> list[Reading]:
    """Reads the lines within a reply that are a letter and nothing else."""
    if reply.cut or reply.labels.numeric:
        return []
    ids = [option_id for line in lines if (option_id := reply.labels.whole(line))]
    return [chosen(option_id, "a line of its own") for option_id in ids]


def _bare_line(reply: Reply, text: str, option_id: str, *, first: bool) -> Reading | None:
    if reply.labels.numeric and not first:
        meant = reply.texts.whole(text)
        if meant and option_id not in meant:
            return Reading(outcome="ambiguous", reason=f"label {option_id} or the text of {meant[0]}")
    return chosen(option_id, "leading label" if first else "last line")
