"""One sample of a log, in words that no harness owns: what was asked, what came back, what the log made of it.

Knows fields. Knows no file and no harness. A field that a log does not tell is None.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vqaudit.errors import DatasetError

__all__ = ["LETTERS", "NOTHING_READ", "KnownItem", "Left", "Log", "LogRow", "LogSpec", "OptionScore"]

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""The IDs of options where a log names none: every harness that we read shows capital letters."""
NOTHING_READ = ""
"""The logged reading of a reply in which the log's own scorer found no option."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OptionScore:
    """What a likelihood scorer logged for the continuation at one position."""

    logprob: float
    """Summed natural log-probability."""
    characters: int | None = None
    tokens: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LogRow:
    """One sample of a log.

    Raises:
        DatasetError: More options than there are letters, IDs that are not as many as the options, or an answer
            beyond them.

    Example:
        >>> LogRow(row=1, item="7", options=("a cat", "a dog"), reply="B").option_ids
        ('A', 'B')
    """

    row: int
    """Counted from 1."""
    item: str
    """ID of the sample; rotated copies of one question have IDs of their own."""
    options: tuple[str, ...]
    """Option texts by position as shown."""
    question: str | None = None
    option_ids: tuple[str, ...] = ()
    """By position as shown; letters where the log names none."""
    answer: int | None = None
    """Position of the right option as shown, from 0."""
    target: str | None = None
    """The right answer as the log writes it, where that is none of the shown options."""
    reply: str | None = None
    reasoning: str | None = None
    finish_reason: str | None = None
    error: str | None = None
    """Why there is no reply, where the log says that the request failed."""
    prompt: str | None = None
    """The user's turn as the log has it, without pictures."""
    options_shown: bool = True
    """False where options were scored as continuations of a prompt that does not list them (a cloze)."""
    category: str | None = None
    hint: str | None = None
    pictures: tuple[str | None, ...] | None = None
    """SHA-256 hashes (first 32 digits) of pictures that lie in the log; None for one that is only pointed to."""
    group: str | None = None
    """Rows of one group are one question with its options in several orders."""
    cluster: str | None = None
    """What intervals keep together with this row; its group or itself where None."""
    rotation: int = 0
    """Place within the group; the lowest is the question as the data set has it."""
    repeat: int = 0
    """Number of the epoch, from 0, where the same prompt was put several times."""
    scores: tuple[OptionScore, ...] = ()
    """By position, where options were scored and nothing was written."""
    scores_are_ids: bool = False
    """The scored continuations are the option IDs, not the option texts."""
    logged_reading: str | None = None
    """The option ID that the log's own scorer read; `NOTHING_READ` where it read none; None where it does not say."""
    logged_right: bool | None = None
    """The log's own verdict."""

    def __post_init__(self) -> None:
        if len(self.options) > len(LETTERS):
            raise DatasetError(f"{len(self.options)} options; at most {len(LETTERS)} can be told apart", row=self.row)
        if not self.option_ids:
            object.__setattr__(self, "option_ids", tuple(LETTERS[: len(self.options)]))
        if len(self.option_ids) != len(self.options):
            raise DatasetError(f"{len(self.option_ids)} IDs for {len(self.options)} options", row=self.row)
        if self.answer is not None and not 0 <= self.answer < len(self.options):
            raise DatasetError(f"the right option is number {self.answer} of {len(self.options)}", row=self.row)


@dataclass(frozen=True, kw_only=True, slots=True)
class Left:
    """A row that is no multiple-choice sample and was left out."""

    row: int
    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Log:
    """A log, read."""

    format: str
    """Name of the reader, such as `lm-eval`."""
    rows: tuple[LogRow, ...]
    left_out: tuple[Left, ...] = ()
    model: str | None = None
    """Who answered, where the log says so."""
    dataset: str | None = None
    """Task or data set, where the log says so."""
    notes: tuple[str, ...] = ()
    """What a reader of the figures must know of the log, in sentences."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What the log tells of how it was made: versions, decoding, dates."""


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownItem:
    """What the data set, brought beside the log, says of one sample."""

    options: tuple[str, ...]
    """In the data set's order."""
    answer: int | None
    """Index of the right one."""
    question: str | None = None
    category: str | None = None
    cluster: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LogSpec:
    """What the user says of a log.

    Example:
        >>> LogSpec(columns={"reply": "model_output"}).columns["reply"]
        'model_output'
    """

    format: str | None = None
    """Name of the reader; found out where None."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Field of a plain table -> its column; see `table.FIELDS`."""
    items: Mapping[str, KnownItem] = field(default_factory=dict)
    """What the data set says of samples, by their ID: for logs that hold no options or no right answers."""
