"""Every error that vqaudit raises on purpose.

A message says in one sentence what is wrong (with the value), where, and what to do. The tree goes by what the
caller can do about it::

    VqauditError
    ├── DatasetError            mend the data: names file, row, column, item
    │   └── ImageError          one picture cannot be decoded
    ├── VariantError            an unknown or impossible format, order, ending or interface
    ├── PlanError               the plan cannot be made from these items and designs
    ├── EngineError             whoever answers
    │   ├── EngineUnavailable   a package is missing; carries the exact pip line
    │   ├── EngineReplyError    the engine returned something that cannot be true
    │   └── UnsupportedEvent    this engine cannot score this event; refused before anything is spent
    ├── RecordError             the run directory
    │   ├── SchemaMismatch      written by another version of the record schema
    │   └── RunConflict         the same directory, but another model, dataset, seed or plan
    └── AnalysisError           the records do not allow this figure
"""

from __future__ import annotations

from pathlib import Path

__all__ = [
    "AnalysisError",
    "DatasetError",
    "EngineError",
    "EngineReplyError",
    "EngineUnavailable",
    "ImageError",
    "PlanError",
    "RecordError",
    "RunConflict",
    "SchemaMismatch",
    "UnsupportedEvent",
    "VariantError",
    "VqauditError",
]


class VqauditError(Exception):
    """Base of every error that vqaudit raises on purpose."""


class DatasetError(VqauditError):
    """The data is wrong at a place that the message names.

    Args:
        message: What is wrong and what to do, as one sentence without its place.
        file: The file that was read.
        row: The row, counted from 1 as a person counts data rows (a header is not one).
        column: The column or field.
        item: The item's ID, where it is known.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | Path | None = None,
        row: int | None = None,
        column: str | None = None,
        item: str | None = None,
    ) -> None:
        self.message = message
        self.file = None if file is None else str(file)
        self.row = row
        self.column = column
        self.item = item
        place = [
            None if self.file is None else self.file,
            None if row is None else f"row {row}",
            None if column is None else f"column {column!r}",
            None if item is None else f"item {item!r}",
        ]
        where = ", ".join(part for part in place if part is not None)
        super().__init__(f"{where}: {message}" if where else message)


class ImageError(DatasetError):
    """A picture cannot be decoded safely; its item becomes a `bad_input` record."""


class VariantError(VqauditError):
    """An unknown or impossible format, order, ending or interface."""


class PlanError(VqauditError):
    """No plan can be made from these items, designs and interfaces."""


class EngineError(VqauditError):
    """Whoever answers could not."""


class EngineUnavailable(EngineError):
    """A package that an engine needs is not installed.

    Args:
        feature: What was asked for, in words that the user used.
        extra: The extra of vqaudit that brings the package.
    """

    def __init__(self, feature: str, *, extra: str) -> None:
        self.extra = extra
        super().__init__(f"{feature} needs packages that are not installed: pip install 'vqaudit[{extra}]'")


class EngineReplyError(EngineError):
    """The engine returned something that cannot be true, such as a positive log-probability."""


class UnsupportedEvent(EngineError):
    """This engine cannot score this event; refused before anything is spent."""


class RecordError(VqauditError):
    """The run directory cannot be read or written."""


class SchemaMismatch(RecordError):
    """The records were written under another version of the schema."""


class RunConflict(RecordError):
    """The run directory belongs to another model, dataset, seed or plan."""


class AnalysisError(VqauditError):
    """The records do not allow this figure; the message says why."""
