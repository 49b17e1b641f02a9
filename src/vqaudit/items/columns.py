"""Which column holds what: declared by the user, or found by its name.

Knows names and whether a column holds anything. Knows no cell's meaning; it never chooses between two columns that
could both be right, except by the order that `Columns` documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from string import ascii_uppercase
from typing import Any

from vqaudit.errors import DatasetError
from vqaudit.items.cells import describe, is_empty, looks_like_list
from vqaudit.items.tables import Table
from vqaudit.numerals import whole_number

__all__ = ["Columns", "resolve_columns"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Columns:
    """Which column holds what. A field that is None is found by name; the empty text says that there is none.

    Names are compared without regard to case, blanks, `-` and `_`, except that a single letter is an option column
    only in upper case. Columns without any content do not count. For each field the names are tried in this order;
    names joined by `=` rank alike, and two of them in one file are an error:

    * `id`: index, id, idx, question id, qid, pid, uid, sample id, item id; else the key of a keyed JSON file, else
      `row-1`, `row-2`, ...
    * `question`: question; question text = query = problem = text = prompt = input = stem
    * `options`: options = choices = multi-choice options = answer choices = answer options = candidates =
      option = choice = columns `A`, `B`, ... = columns `option_a`, `option_b`, ... or `option 1`, `option 2`, ...
    * `answer`: answer = label = correct choice idx = gold = ground truth = target = answer key = key =
      correct answer = correct option = correct idx = answer idx = gold idx = answer index = correct index =
      gold index = correct = gt
    * `images`: image = images = image list = img = picture = bytes = columns `image_1`, `image_2`, ...; image path =
      image paths = img path = image file = image files = image bytes = image base64
    * `hint`: hint = context = passage
    * `category`: category, l2-category, subject, topic, subfield
    * `group`: g_index, group
    * `labels`: labels = option labels = choice labels, where it holds lists
    """

    id: str | None = None
    question: str | None = None
    options: str | tuple[str, ...] | None = None
    """A column with a list (or its text), or one column per option; the question's own column where the options stand
    in the question's text, from which they are then taken out."""
    answer: str | None = None
    images: str | tuple[str, ...] | None = None
    """A column with one image or a list of them, or one column per image; several columns number the images."""
    hint: str | None = None
    category: str | None = None
    group: str | None = None
    labels: str | None = None
    """Each row's own names for its options, to which the answer then refers."""


_NAMES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "id": tuple((name,) for name in ("index", "id", "idx", "questionid", "qid", "pid", "uid", "sampleid", "itemid")),
    "question": (("question",), ("questiontext", "query", "problem", "text", "prompt", "input", "stem")),
    "answer": (
        (
            *("answer", "label", "correctchoiceidx", "gold", "groundtruth", "target", "answerkey", "key"),
            *("correctanswer", "correctoption", "correctidx", "answeridx", "goldidx"),
            *("answerindex", "correctindex", "goldindex", "correct", "gt"),
        ),
    ),
    "hint": (("hint", "context", "passage"),),
    "category": tuple((name,) for name in ("category", "l2category", "subject", "topic", "subfield")),
    "group": (("gindex",), ("group",)),
    "labels": (("labels", "optionlabels", "choicelabels"),),
}
_OPTION_LISTS = (
    *("options", "choices", "multichoiceoptions", "answerchoices", "answeroptions"),
    *("candidates", "option", "choice"),
)
_IMAGES = ("image", "images", "imagelist", "img", "picture", "bytes")
_IMAGE_FILES = (
    *("imagepath", "imagepaths", "imgpath", "imagefile", "imagefiles"),
    *("imagebytes", "imagebase64"),
)
_REQUIRED = ("question", "options", "answer")
_OPTION_COLUMN = re.compile(r"(?:option|choice|opt)([a-z]|\d{1,2})")
_IMAGE_COLUMN = re.compile(r"(?:image|img)(\d{1,2})")
_LISTED_OPTIONS = re.compile(r"(?:^|[\s:,])\(?A[).:]\s.*[\s,]\(?B[).:]\s", re.DOTALL)


def resolve_columns(declared: Columns, table: Table) -> Columns:
    """Returns the columns as they are named in the file, declared ones first.

    Raises:
        DatasetError: A declared column does not exist; question, options or answer cannot be found; or two columns
            could both be right.
    """
    found: dict[str, Any] = {
        field.name: _resolve(field.name, getattr(declared, field.name), table) for field in fields(Columns)
    }
    for role in _REQUIRED:
        if not found[role]:
            raise _missing(role, table, found["question"])
    return Columns(**found)


def _resolve(role: str, name: str | tuple[str, ...] | None, table: Table) -> str | tuple[str, ...] | None:
    if name == "":
        return name
    if isinstance(name, str):
        return _existing(name, role, table)
    if name is not None:
        return tuple(_existing(part, role, table) for part in name)
    if role == "options":
        return _single(
            role, [*_matching(table, _OPTION_LISTS), *_letter_columns(table), *_option_columns(table)], table
        )
    if role == "images":
        numbered = _numbered(table, _IMAGE_COLUMN, role)
        first = _single(role, [*_matching(table, _IMAGES), *numbered], table)
        return first or _single(role, _matching(table, _IMAGE_FILES), table)
    if role == "id" and table.is_keyed:
        return None
    return _by_name(role, table)


def _normal(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name).casefold()


def _existing(name: str, role: str, table: Table) -> str:
    if name in table.columns:
        return name
    alike = [column for column in table.columns if len(name) > 1 and _normal(column) == _normal(name)]
    if len(alike) == 1:
        return alike[0]
    raise DatasetError(
        f"there is no column {name!r} for {role}; the columns are {describe(table.columns)}", file=table.path
    )


def _matching(table: Table, names: Iterable[str]) -> list[str]:
    wanted = set(names)
    return [column for column in table.columns if _normal(column) in wanted]


def _by_name(role: str, table: Table) -> str | None:
    for names in _NAMES[role]:
        candidates = _matching(table, names)
        if role == "labels":
            candidates = [column for column in candidates if _holds_lists(table, column)]
        found = _single(role, candidates, table)
        if found:
            assert isinstance(found, str)
            return found
    empty = [column for names in _NAMES[role] for column in _matching(table, names)]
    return empty[0] if empty and role in _REQUIRED else None


def _holds_lists(table: Table, column: str) -> bool:
    filled = [value for value in table.values(column) if not is_empty(value)]
    return bool(filled) and all(
        isinstance(value, (list, tuple)) or (isinstance(value, str) and looks_like_list(value)) for value in filled
    )


def _single(role: str, candidates: Sequence[str | tuple[str, ...]], table: Table) -> str | tuple[str, ...] | None:
    """Returns the only candidate that holds anything."""
    filled = [
        candidate
        for candidate in candidates
        if any(table.is_filled(name) for name in ((candidate,) if isinstance(candidate, str) else candidate))
    ]
    if len(filled) > 1:
        names = [name if isinstance(name, str) else f"{name[0]} to {name[-1]}" for name in filled]
        raise DatasetError(
            f"{describe(names)} could each be the {role}; say which with columns=Columns({role}=...)",
            file=table.path,
        )
    return filled[0] if filled else None


def _letter_columns(table: Table) -> list[tuple[str, ...]]:
    letters = sorted(column for column in table.columns if len(column) == 1 and column in ascii_uppercase)
    if "A" not in letters or "B" not in letters:
        return []
    _refuse_gap(letters, list(ascii_uppercase[: len(letters)]), table)
    return [tuple(letters)]


def _option_columns(table: Table) -> list[tuple[str, ...]]:
    named = {
        match[1]: column
        for column in table.columns
        if _normal(column) not in _OPTION_LISTS and (match := _OPTION_COLUMN.fullmatch(_normal(column)))
    }
    lettered = {suffix: column for suffix, column in named.items() if suffix.isalpha() and "a" in named}
    numbered = {number: column for suffix, column in named.items() if (number := whole_number(suffix)) is not None}
    groups: list[tuple[str, ...]] = []
    if "a" in lettered:
        _refuse_gap(sorted(lettered), [chr(ord("a") + i) for i in range(len(lettered))], table)
        groups.append(tuple(lettered[suffix] for suffix in sorted(lettered)))
    if numbered:
        first = min(numbered)
        _refuse_gap(sorted(numbered), list(range(first, first + len(numbered))), table)
        groups.append(tuple(numbered[number] for number in sorted(numbered)))
    return groups


def _numbered(table: Table, pattern: re.Pattern[str], role: str) -> list[tuple[str, ...]]:
    numbers = {int(match[1]): c for c in table.columns if (match := pattern.fullmatch(_normal(c)))}
    if not numbers:
        return []
    if sorted(numbers) != list(range(1, len(numbers) + 1)):
        names = describe([numbers[number] for number in sorted(numbers)])
        raise DatasetError(f"the columns {names} must number the {role} from 1 without a gap", file=table.path)
    return [tuple(numbers[number] for number in sorted(numbers))]


def _refuse_gap(found: Sequence[str | int], expected: Sequence[str | int], table: Table) -> None:
    for have, want in zip(found, expected, strict=True):
        if have != want:
            raise DatasetError(
                f"there are option columns {describe([str(name) for name in found])} but no {str(want)!r}; declare "
                "the right ones with columns=Columns(options=(...))",
                file=table.path,
            )


def _missing(role: str, table: Table, question: str | tuple[str, ...] | None) -> DatasetError:
    message = f"no column looks like the {role}; say which one it is with columns=Columns({role}=...)"
    if role == "options" and isinstance(question, str) and question:
        first = next((str(value) for value in table.values(question) if not is_empty(value)), "")
        if _LISTED_OPTIONS.search(first):
            name = repr(question)
            message = f"the options stand inside the question's text; columns=Columns(options={name}) takes them out"
    return DatasetError(f"{message}; the columns are {describe(table.columns)}", file=table.path)
