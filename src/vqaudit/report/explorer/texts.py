"""Many texts as one: each distinct one once, in the order of first use, so that neighbours compress each other.

Knows strings. Knows no record.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from vqaudit.report.untrusted import printable

__all__ = ["TextTable", "code_texts", "text_table"]

_BEYOND_16_BITS = re.compile("[\U00010000-\U0010ffff]")
_CUT = "…"


@dataclass(frozen=True, slots=True)
class TextTable:
    """Texts that a page decodes as one string and slices by their lengths."""

    utf8: bytes
    lengths: np.ndarray
    """In UTF-16 code units, as JavaScript counts; uint32."""

    def __len__(self) -> int:
        return self.lengths.size


def text_table(texts: Sequence[str], *, longest: int | None = None) -> TextTable:
    r"""Returns the texts, made fit to show, as one.

    Args:
        texts: In the order of their codes.
        longest: Longer ones are cut to so many characters and end in an ellipsis; None cuts none.

    Example:
        >>> table = text_table(["yes", "\x1bno", "🦜!"])
        >>> table.utf8.decode(), table.lengths.tolist()
        ('yes␛no🦜!', [3, 3, 3])
    """
    kept = texts if longest is None else [t if len(t) <= longest else t[:longest] + _CUT for t in texts]
    # every replacement of `printable` is one code unit for another, so that lengths may be taken before or after
    joined = printable("".join(kept))
    sizes = [len(text) for text in kept]
    if _BEYOND_16_BITS.search(joined):
        sizes = [len(text) + len(_BEYOND_16_BITS.findall(text)) for text in kept]
    return TextTable(joined.encode("utf-8"), np.array(sizes, np.uint32))


def code_texts(columns: pl.DataFrame) -> tuple[dict[str, np.ndarray], list[str]]:
    """Numbers the texts of several columns by first use, row by row.

    Returns:
        Column -> codes by row, 0 where there is no text and else 1 + the place in the list; the distinct texts.

    Example:
        >>> codes, texts = code_texts(pl.DataFrame({"reply": ["B", None, "A"], "further": ["!", "B", None]}))
        >>> codes["reply"].tolist(), codes["further"].tolist(), texts
        ([1, 0, 3], [2, 1, 0], ['B', '!', 'A'])
    """
    rows = columns.select(text=pl.concat_list(columns.columns)).explode("text")
    distinct = rows["text"].drop_nulls().unique(maintain_order=True)
    numbers = pl.DataFrame({"text": distinct}).with_row_index("code", offset=1)
    coded = rows.join(numbers, on="text", how="left", maintain_order="left")["code"].fill_null(0)
    grid = coded.to_numpy().astype(np.uint32).reshape(columns.height, len(columns.columns))
    return {name: grid[:, place].copy() for place, name in enumerate(columns.columns)}, distinct.to_list()
