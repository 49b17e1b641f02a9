"""The surface of the option list: ID set x delimiter x separator.

Knows strings. Knows no item: the same 48 formats are put to every question (paper 1, Table 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from vqaudit.errors import VariantError

__all__ = [
    "DELIMITERS",
    "FORMATS",
    "ID_SETS",
    "SEPARATORS",
    "Delimiter",
    "Format",
    "IDSet",
    "Separator",
    "find_format",
    "roman_numeral",
]

_ROMAN = ((10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))


def roman_numeral(number: int) -> str:
    """Returns a number from 1 to 39 in Roman numerals.

    Example:
        >>> [roman_numeral(n) for n in (1, 4, 9, 26)]
        ['I', 'IV', 'IX', 'XXVI']
    """
    if not 1 <= number <= 39:
        raise VariantError(f"no Roman numeral for {number}: 1 to 39 are supported")
    text = ""
    for value, symbol in _ROMAN:
        count, number = divmod(number, value)
        text += symbol * count
    return text


@dataclass(frozen=True, kw_only=True, slots=True)
class IDSet:
    """A sequence of option IDs.

    Raises:
        VariantError: IDs that are empty, repeated, or padded with white space.
    """

    name: str
    ids: tuple[str, ...]
    kind: str
    """What the instruction calls one of them: `letter`, `number`, `roman number`."""

    def __post_init__(self) -> None:
        if len(set(self.ids)) != len(self.ids):
            raise VariantError(f"ID set {self.name!r} repeats an ID; every ID must be different")
        for option_id in self.ids:
            if not option_id or option_id != option_id.strip():
                raise VariantError(f"ID set {self.name!r} has the ID {option_id!r}; an ID has no outer white space")

    def first(self, count: int) -> tuple[str, ...]:
        """Returns the IDs for a question with `count` options.

        Raises:
            VariantError: The set is too short.

        Example:
            >>> ID_SETS["roman"].first(4)
            ('I', 'II', 'III', 'IV')
        """
        if count > len(self.ids):
            raise VariantError(f"ID set {self.name!r} has {len(self.ids)} IDs, but a question has {count} options")
        return self.ids[:count]

    def index(self, option_id: str) -> int:
        """Returns the place of an ID in the set, the inverse of `ids[i]`.

        Raises:
            VariantError: The set has no such ID.
        """
        try:
            return self.ids.index(option_id)
        except ValueError:
            raise VariantError(f"ID set {self.name!r} has no ID {option_id!r}") from None


@dataclass(frozen=True, kw_only=True, slots=True)
class Delimiter:
    """What binds an ID to its option, followed by one space."""

    name: str
    template: str
    """Holds `{}` once, where the ID goes."""

    def __post_init__(self) -> None:
        if self.template.count("{}") != 1:
            raise VariantError(f"delimiter {self.name!r} must hold {{}} once, not {self.template!r}")

    def bind(self, option_id: str, option: str) -> str:
        """Returns one option with its ID.

        Example:
            >>> DELIMITERS["double_brackets"].bind("A", "a cat")
            '(A) a cat'
        """
        return f"{self.template.replace('{}', option_id)} {option}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Separator:
    """What stands between two options."""

    name: str
    text: str


ID_SETS: dict[str, IDSet] = {
    ids.name: ids
    for ids in (
        IDSet(name="upper", ids=tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), kind="letter"),
        IDSet(name="lower", ids=tuple("abcdefghijklmnopqrstuvwxyz"), kind="letter"),
        IDSet(name="number", ids=tuple(str(n) for n in range(1, 27)), kind="number"),
        IDSet(name="roman", ids=tuple(roman_numeral(n) for n in range(1, 27)), kind="roman number"),
    )
}
DELIMITERS: dict[str, Delimiter] = {
    delimiter.name: delimiter
    for delimiter in (
        Delimiter(name="colon", template="{}:"),
        Delimiter(name="dot", template="{}."),
        Delimiter(name="bracket", template="{})"),
        Delimiter(name="double_brackets", template="({})"),
    )
}
SEPARATORS: dict[str, Separator] = {
    separator.name: separator
    for separator in (
        Separator(name="line_break", text="\n"),
        Separator(name="comma", text=", "),
        Separator(name="semicolon", text="; "),
    )
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Format:
    """One cell of the grid.

    Example:
        >>> print(find_format("lower/double_brackets/comma").list_options(("a cat", "a dog"), ("a", "b")))
        (a) a cat, (b) a dog
    """

    id_set: IDSet
    delimiter: Delimiter
    separator: Separator

    @property
    def name(self) -> str:
        """`upper/dot/line_break`."""
        return f"{self.id_set.name}/{self.delimiter.name}/{self.separator.name}"

    def list_options(self, options: Sequence[str], option_ids: Sequence[str]) -> str:
        """Returns the options as shown, in the order given, each bound to the ID at its place."""
        bound = (self.delimiter.bind(i, option) for i, option in zip(option_ids, options, strict=True))
        return self.separator.text.join(bound)


FORMATS: tuple[Format, ...] = tuple(
    Format(id_set=ids, delimiter=delimiter, separator=separator)
    for ids, delimiter, separator in product(ID_SETS.values(), DELIMITERS.values(), SEPARATORS.values())
)
"""The standard grid of paper 1: 4 ID sets x 4 delimiters x 3 separators."""


def find_format(name: str, formats: Sequence[Format] = FORMATS) -> Format:
    """Returns the format of that name.

    Raises:
        VariantError: There is none; the message lists what there is.

    Example:
        >>> find_format("upper/dot/line_break").delimiter.template
        '{}.'
    """
    for candidate in formats:
        if candidate.name == name:
            return candidate
    axes = [sorted({part.name for part in axis}) for axis in _axes(formats)]
    raise VariantError(
        f"no format {name!r}: a format is ID set/delimiter/separator, from "
        + "; ".join(", ".join(names) for names in axes)
    )


def _axes(formats: Sequence[Format]) -> tuple[list[IDSet], list[Delimiter], list[Separator]]:
    return [f.id_set for f in formats], [f.delimiter for f in formats], [f.separator for f in formats]
