"""The words around a question: ID sets, delimiters, separators, instruction, reasoning cue.

They are those of `vqaudit.asking`, spelt out here so that the chain needs nothing but torch and transformers.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

ID_SETS: dict[str, tuple[str, ...]] = {
    "upper": ("A", "B", "C", "D", "E"),
    "lower": ("a", "b", "c", "d", "e"),
    "number": ("1", "2", "3", "4", "5"),
    "roman": ("I", "II", "III", "IV", "V"),
}
KINDS = {"upper": "letter", "lower": "letter", "number": "number", "roman": "roman number"}
DELIMITERS = {"colon": "{}:", "dot": "{}.", "bracket": "{})", "double_brackets": "({})"}
SEPARATORS = {"line_break": "\n", "comma": ", ", "semicolon": "; "}
CUE = "Let me think step by step."
"""The reasoning cue; it stands as the last line of the user's turn, in place of the instruction."""


class Format(NamedTuple):
    """One of the 48 ways to list options."""

    id_set: str
    delimiter: str
    separator: str

    @property
    def name(self) -> str:
        """`upper/dot/line_break`."""
        return "/".join(self)

    def ids(self, count: int) -> tuple[str, ...]:
        """Returns the IDs of a question with `count` options."""
        return ID_SETS[self.id_set][:count]

    def bind(self, option_id: str, option: str) -> str:
        """Returns `A. red`."""
        return f"{DELIMITERS[self.delimiter].format(option_id)} {option}"

    def list_options(self, options: Sequence[str]) -> str:
        """Returns all options as shown."""
        bound = (self.bind(i, option) for i, option in zip(self.ids(len(options)), options, strict=True))
        return SEPARATORS[self.separator].join(bound)


FORMATS = tuple(Format(*axes) for axes in product(ID_SETS, DELIMITERS, SEPARATORS))
FAVOURITE = Format("upper", "dot", "line_break")
"""The format that most training rows use."""


def instruction(form: Format, count: int) -> str:
    """Returns the instruction to reply with the ID alone, naming the IDs of a question with `count` options."""
    ids = form.ids(count)
    shown = ", or ".join(ids) if count == 2 else ", ".join(ids[:-1]) + " or " + ids[-1]
    return (
        "Select the best answer to the above multiple-choice question based on the image. Respond with only the "
        f"{KINDS[form.id_set]} (e.g., {shown}) of the correct option and no bracket, colon, or dot."
    )


def prompt(question: str, options: Sequence[str], form: Format, ending: str = "") -> str:
    """Returns question, options and ending; an empty ending adds no line break."""
    return f"{question}\n{form.list_options(options)}" + (f"\n{ending}" if ending else "")
