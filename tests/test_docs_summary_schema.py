"""`docs/summary-schema.md` is written by hand; this keeps it whole."""

import re
from pathlib import Path
from typing import Any, get_args

import pytest

from vqaudit.analysis.figures import Row
from vqaudit.analysis.schema import Summary

PAGE = Path(__file__).parent.parent / "docs" / "summary-schema.md"


def models(annotation: Any) -> set[type[Row]]:
    """Every row that a field of this type may hold, directly or within a list, a mapping or another row."""
    if isinstance(annotation, type) and issubclass(annotation, Row):
        return {annotation}.union(*(models(field.annotation) for field in annotation.model_fields.values()))
    return set().union(*(models(part) for part in get_args(annotation)))


@pytest.mark.parametrize("model", sorted(models(Summary), key=lambda model: model.__name__), ids=lambda m: m.__name__)
def test_every_field_of_the_summary_is_documented(model) -> None:
    named = set(re.findall(r"`(\w+)`", PAGE.read_text(encoding="utf-8")))
    assert sorted(set(model.model_fields) - named) == []
