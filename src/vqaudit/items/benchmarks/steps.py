"""Rows of benchmarks into rows of the loader: what is left out and why, and what a row says in another way.

Knows the layouts of named benchmarks. Knows no file and no hub.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from string import ascii_uppercase
from typing import Any

from vqaudit.errors import DatasetError
from vqaudit.items.benchmarks.entry import LeftOut
from vqaudit.items.cells import is_empty, item_id, looks_like_list, parse_list, says_nan
from vqaudit.items.copies import COPY_STEP
from vqaudit.items.embedded import split_options
from vqaudit.items.references import lists_options
from vqaudit.numerals import whole_number

__all__ = [
    "by_content",
    "by_index",
    "leave_out_open",
    "leave_out_without_image",
    "leave_out_without_options",
    "name_subject",
    "state_vision_question",
]

_OPEN = LeftOut("open questions without options")
_SINGLE = LeftOut("questions with fewer than two options")
_MINGLED = LeftOut("questions whose text lists options that cannot be told apart in only one way")
_NO_IMAGE = LeftOut("questions without a picture")
_OPTIONS = re.compile(r"\b(?:options|choices)\s*[:：]", re.IGNORECASE)
_IMAGE_NAMES = ("image", "image_1")
_VISION_QUESTION = "Answer the question in the image."


def leave_out_open(row: Mapping[str, Any]) -> Mapping[str, Any] | LeftOut:
    """MMMU and MMMU-Pro: leaves out open questions, and the one question with a single option.

    Example:
        >>> leave_out_open({"question_type": "open", "options": "[]"})
        LeftOut(reason='open questions without options')
        >>> leave_out_open({"options": "['one', 'two']"})["options"]
        ['one', 'two']
    """
    options = row.get("options")
    if isinstance(options, str) and looks_like_list(options):
        try:
            options = parse_list(options)
        except DatasetError:
            return row  # the loader says what is wrong with it, and where
    if is_empty(options) or not options:
        return _OPEN
    if isinstance(options, (list, tuple)) and len(options) < 2:
        return _SINGLE
    kind = row.get("question_type")
    if isinstance(kind, str) and kind != "multiple-choice":
        return _OPEN
    return {**row, "options": options}


def leave_out_without_options(row: Mapping[str, Any]) -> Mapping[str, Any] | LeftOut:
    """RealWorldQA, MMStar, V*Bench: leaves out questions whose text holds no options.

    Example:
        >>> leave_out_without_options({"question": "How many lanes? Answer with a single number."})
        LeftOut(reason='open questions without options')
    """
    text = next((row[name] for name in ("question", "text") if isinstance(row.get(name), str)), "")
    has_columns = all(not is_empty(row.get(letter)) for letter in "AB") or not is_empty(row.get("options"))
    if has_columns or split_options(text) is not None:
        return row
    return _MINGLED if lists_options(text) or _OPTIONS.search(text) else _OPEN


def leave_out_without_image(row: Mapping[str, Any]) -> Mapping[str, Any] | LeftOut:
    """ScienceQA's image subset: leaves out questions without a picture."""
    return _NO_IMAGE if all(is_empty(row.get(name)) for name in _IMAGE_NAMES) else row


def name_subject(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """MMMU: adds the subject, which only the ID says.

    Example:
        >>> name_subject({"id": "validation_Art_Theory_12"})["subject"]
        'Art_Theory'
    """
    if not is_empty(row.get("subject")):
        return row
    name = str(row.get("id", ""))
    return {**row, "subject": "_".join(name.split("_")[1:-1]) or None}


def state_vision_question(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """MMMU-Pro vision: the question stands in the picture, so that the text can only point there."""
    return row if not is_empty(row.get("question")) else {**row, "question": _VISION_QUESTION}


def by_index(row: Mapping[str, Any]) -> object:
    """MMBench: copy k of question i has the index i + k * 1,000,000, the same texts and the same right option.

    Example:
        >>> one = {"index": 7, "question": "Which?", "A": "left", "B": "right", "answer": "A"}
        >>> two = {"index": 1000007, "question": "Which?", "A": "right", "B": "left", "answer": "B"}
        >>> by_index(one) == by_index(two)
        True
    """
    number = item_id(row.get("index"))
    place = None if number is None else whole_number(number)
    base = number if place is None else place % COPY_STEP
    return base, *_content(row)


def by_content(row: Mapping[str, Any]) -> object:
    """HR-Bench: copies are rows with the same texts in some order, the same right option and the same picture."""
    return (*_content(row), _digest(row.get("image")))


def _content(row: Mapping[str, Any]) -> tuple[object, ...]:
    options = {
        letter: str(row[letter]).strip()
        for letter in ascii_uppercase
        if not is_empty(row.get(letter)) and not says_nan(row[letter])
    }
    right = options.get(str(row.get("answer")).strip())
    return row.get("question"), tuple(sorted(options.values())), right


def _digest(image: Any) -> str:
    if isinstance(image, dict):
        image = image.get("bytes") or image.get("path")
    if isinstance(image, str):
        image = image.encode("utf-8", "surrogatepass")
    return hashlib.sha256(image).hexdigest() if isinstance(image, (bytes, bytearray)) else repr(image)
