r"""Formats and endings of your own, from JSON files.

Knows the files' shapes. The grid is the cross product of the three axes; an axis that the file leaves out is the
standard one::

    {"id_sets": [{"name": "greek", "ids": ["α", "β", "γ", "δ"], "kind": "letter"}],
     "delimiters": [{"name": "dash", "template": "{} -"}],
     "separators": [{"name": "blank_line", "text": "\n\n"}]}

Endings are added to the shipped ones and may use `{instruction}` and `{kind}`; `asks` is what they ask the model to
write next, `strength` how strongly they invite a rationale (see `asking.endings`)::

    {"endings": [{"name": "solve", "text": "Solve it step by step.", "asks": "reasoning", "strength": "explicit"}]}
"""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from vqaudit.asking.endings import ENDINGS, Asks, Ending, Strength
from vqaudit.asking.formats import DELIMITERS, ID_SETS, SEPARATORS, Delimiter, Format, IDSet, Separator
from vqaudit.errors import VariantError

__all__ = ["load_endings", "load_formats"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _IDSet(_Strict):
    name: str
    ids: tuple[str, ...]
    kind: str = "letter"


class _Delimiter(_Strict):
    name: str
    template: str


class _Separator(_Strict):
    name: str
    text: str


class _File(_Strict):
    id_sets: tuple[_IDSet, ...] | None = None
    delimiters: tuple[_Delimiter, ...] | None = None
    separators: tuple[_Separator, ...] | None = None


class _Ending(_Strict):
    name: str = Field(min_length=1)
    text: str
    asks: Asks
    strength: Strength = "none"


class _Endings(_Strict):
    endings: tuple[_Ending, ...] = Field(min_length=1)


_Parsed = TypeVar("_Parsed", bound=_Strict)


def _parse(path: str | Path, kind: type[_Parsed]) -> _Parsed:
    try:
        return kind.model_validate_json(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise VariantError(f"{path} cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise VariantError(f"{path} is no UTF-8 text; save it as UTF-8") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise VariantError(f"{path}: {place}: {first['msg']}") from error


def load_endings(path: str | Path) -> dict[str, Ending]:
    """Reads endings and returns them beside the shipped ones, by name.

    Raises:
        VariantError: The file cannot be read, an ending is wrong, or a name is taken; the message names the place.

    Example:
        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "endings.json"
        >>> _ = file.write_text('{"endings": [{"name": "why", "text": "Why?", "asks": "reasoning"}]}')
        >>> load_endings(file)["why"].text
        'Why?'
    """
    found = dict(ENDINGS)
    for place, given in enumerate(_parse(path, _Endings).endings):
        where = f"{path}: endings.{place}"
        if given.name in found:
            raise VariantError(f"{where}: the name {given.name!r} is taken; choose another")
        if unknown := _placeholders(given.text) - {"instruction", "kind"}:
            raise VariantError(
                f"{where}: no placeholder {sorted(unknown)[0]!r}; there are {{instruction}} and {{kind}}"
            )
        try:
            found[given.name] = Ending(**given.model_dump())
        except VariantError as error:
            raise VariantError(f"{where}: {error}") from None
    return found


def _placeholders(text: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", text))


def load_formats(path: str | Path) -> tuple[Format, ...]:
    """Reads the axes of a grid and returns their cross product.

    Raises:
        VariantError: The file cannot be read or an axis is wrong; the message names the place.
    """
    file = _parse(path, _File)
    sets = list(ID_SETS.values())
    delimiters = list(DELIMITERS.values())
    separators = list(SEPARATORS.values())
    if file.id_sets is not None:
        sets = [IDSet(name=s.name, ids=s.ids, kind=s.kind) for s in file.id_sets]
    if file.delimiters is not None:
        delimiters = [Delimiter(name=d.name, template=d.template) for d in file.delimiters]
    if file.separators is not None:
        separators = [Separator(name=s.name, text=s.text) for s in file.separators]
    for axis in (sets, delimiters, separators):
        names = [part.name for part in axis]
        if len(set(names)) != len(names) or any("/" in name or not name for name in names):
            raise VariantError(f"{path}: names must be unique, not empty and without '/': {', '.join(names)}")
    return tuple(
        Format(id_set=ids, delimiter=delimiter, separator=separator)
        for ids, delimiter, separator in product(sets, delimiters, separators)
    )
