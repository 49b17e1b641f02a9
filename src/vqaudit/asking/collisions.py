"""Whose A is it: formats whose IDs are English words, and formats whose IDs are none.

Knows ID sets. Knows no item. Paper 2 cannot tell the first position from the symbol `A`, and `A` is also the article
with which a rationale may begin ("A red circle is ..."), as `I` is the pronoun ("I see ..."). IDs that begin no
sentence of English, asked in the same counterbalanced ID orders, tell the three apart.
"""

from __future__ import annotations

from vqaudit.asking.formats import ID_SETS, Format, IDSet

__all__ = ["CONSONANTS", "collision_formats"]

CONSONANTS = IDSet(name="consonants", ids=tuple("BCDFGHJKLMNPQRSTVWXZ"), kind="letter")
"""Upper-case letters none of which is a word: neither `A` nor `I`, no other vowel, no `Y`."""


def collision_formats(reference: Format) -> tuple[Format, ...]:
    """Returns formats alike but for their IDs: two sets that begin sentences of English, three that do not.

    `upper` holds the article `A`, `roman` the pronoun `I`. `lower` is the article in a case in which it begins no
    sentence, `number` has the same order without letters, `consonants` are capitals that are no words.

    Example:
        >>> from vqaudit.asking.formats import find_format
        >>> [format.id_set.name for format in collision_formats(find_format("upper/dot/line_break"))]
        ['upper', 'roman', 'lower', 'number', 'consonants']
    """
    sets = (*(ID_SETS[name] for name in ("upper", "roman", "lower", "number")), CONSONANTS)
    return tuple(Format(id_set=ids, delimiter=reference.delimiter, separator=reference.separator) for ids in sets)
