"""Endings of one's own, from a JSON file."""

import json
from pathlib import Path

import pytest

from vqaudit.asking.custom import load_endings
from vqaudit.asking.endings import ENDINGS
from vqaudit.asking.interfaces import find_interface
from vqaudit.errors import VariantError

SOLVE = {"name": "solve", "text": "Solve it; end with the {kind}.", "asks": "reasoning", "strength": "explicit"}


def _file(folder: Path, content: object) -> Path:
    path = folder / "endings.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_they_stand_beside_the_shipped_ones(tmp_path: Path) -> None:
    endings = load_endings(_file(tmp_path, {"endings": [SOLVE]}))
    assert endings.keys() - ENDINGS.keys() == {"solve"}
    found = find_interface("scores:solve", endings=endings)
    assert (found.name, found.aligned, found.ending.strength) == ("scores:solve", False, "explicit")
    with pytest.raises(VariantError, match="no ending 'solve'"):
        find_interface("scores:solve")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"endings": [SOLVE | {"name": "cot"}]}, r"endings\.0: the name 'cot' is taken"),
        ({"endings": [SOLVE, SOLVE]}, r"endings\.1: the name 'solve' is taken"),
        ({"endings": [SOLVE | {"asks": "poetry"}]}, r"endings\.0\.asks"),
        ({"endings": [SOLVE | {"name": "so lve"}]}, r"endings\.0: ending name 'so lve'"),
        ({"endings": [SOLVE | {"text": "Pick {options}."}]}, r"endings\.0: no placeholder 'options'"),
        ({"endings": [SOLVE | {"colour": "red"}]}, r"endings\.0\.colour"),
        ({"endings": []}, "endings"),
        ("{", "the file|JSON"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(tmp_path: Path, content: object, said: str) -> None:
    path = _file(tmp_path, content)
    with pytest.raises(VariantError, match=said) as caught:
        load_endings(path)
    assert str(path) in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(VariantError, match="cannot be read"):
        load_endings(tmp_path / "none.json")
