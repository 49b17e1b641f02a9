"""One hash over all that a run measured.

Knows columns of any kind. Knows none by name but those that may differ between equal runs.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from vqaudit.records.schemas import TRIAL_SCHEMA, VOLATILE_COLUMNS
from vqaudit.records.trials import visible

if TYPE_CHECKING:
    from hashlib import _Hash

__all__ = ["records_digest"]

_ROWS = 100_000
"""So many records are looked at together; part of what the hash is."""


def records_digest(trials: pl.DataFrame) -> str:
    """Returns the SHA-256 over visible records, sorted by trial, without the columns that may differ.

    Two runs with the same digest measured the same, whatever was killed and resumed in between. Nulls, numbers that are
    none, infinities and empty lists all differ from each other. It is compared within one version of vqaudit.
    """
    digest = hashlib.sha256()
    kept = [name for name in TRIAL_SCHEMA.names if name not in VOLATILE_COLUMNS]
    for rows in visible(trials).select(kept).iter_slices(_ROWS):
        for column in rows.iter_columns():
            _feed(digest, column)
    return digest.hexdigest()


def _feed(digest: _Hash, column: pl.Series) -> None:
    """Hashes which values are null, and then the others: numbers by bytes, lists and texts by lengths too."""
    digest.update(np.packbits(column.is_null().to_numpy()).tobytes())
    known = column.drop_nulls()
    if isinstance(known.dtype, pl.List):
        digest.update(known.list.len().to_numpy().tobytes())
        _feed(digest, known.filter(known.list.len() > 0).explode())
    elif isinstance(known.dtype, pl.Struct):
        for name in known.struct.fields:
            _feed(digest, known.struct.field(name))
    elif known.dtype == pl.String:
        digest.update(known.str.len_bytes().to_numpy().tobytes())
        digest.update("".join(known.to_list()).encode())
    else:
        # not every number that is none has the same bits
        numbers = known.fill_nan(np.nan) if known.dtype.is_float() else known
        digest.update(numbers.to_numpy().tobytes())
