r"""Formats of your own, from a JSON file.

Knows the file's shape. The grid is the cross product of the three axes; an axis that the file leaves out is the
standard one::

    {"id_sets": [{"name": "greek", "ids": ["α", "β", "γ", "δ"], "kind": "letter"}],
     "delimiters": [{"name": "dash", "template": "{} -"}],
     "separators": [{"name": "blank_line", "text": "\n\n"}]}
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from vqaudit.asking.formats import DELIMITERS, ID_SETS, SEPARATORS, Delimiter, Format, IDSet, Separator
from vqaudit.errors import VariantError

__all__ = ["load_formats"]


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


def load_formats(path: str | Path) -> tuple[Format, ...]:
    """Reads the axes of a grid and returns their cross product.

    Raises:
        VariantError: The file cannot be read or an axis is wrong; the message names the place.
    """
    try:
        file = _File.model_validate_json(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise VariantError(f"{path} cannot be read ({error.strerror})") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise VariantError(f"{path}: {place}: {first['msg']}") from error
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
