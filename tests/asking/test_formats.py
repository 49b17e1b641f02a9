"""The 48 formats, and formats of your own."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vqaudit.asking.custom import load_formats
from vqaudit.asking.formats import DELIMITERS, FORMATS, ID_SETS, Delimiter, IDSet, find_format, roman_numeral
from vqaudit.errors import VariantError

# Paper 1, Table 1, as printed there.
PAPER_IDS = {"upper": "A/B/C/D", "lower": "a/b/c/d", "number": "1/2/3/4", "roman": "I/II/III/IV"}
PAPER_DELIMITERS = {"colon": "A: x", "dot": "A. x", "bracket": "A) x", "double_brackets": "(A) x"}


def test_the_grid_is_papers_48() -> None:
    assert len({f.name for f in FORMATS}) == len(FORMATS) == 48


@pytest.mark.parametrize(("name", "ids"), PAPER_IDS.items())
def test_id_sets_are_the_papers(name: str, ids: str) -> None:
    assert "/".join(ID_SETS[name].first(4)) == ids


@pytest.mark.parametrize(("name", "shown"), PAPER_DELIMITERS.items())
def test_delimiters_are_the_papers(name: str, shown: str) -> None:
    assert DELIMITERS[name].bind("A", "x") == shown


def test_separators_are_the_papers() -> None:
    shown = {
        f.separator.name: f.list_options(("x", "y"), ("A", "B")) for f in FORMATS if f.name.startswith("upper/dot/")
    }
    assert shown == {"line_break": "A. x\nB. y", "comma": "A. x, B. y", "semicolon": "A. x; B. y"}


@pytest.mark.parametrize("number", range(1, 40))
def test_roman_numerals_add_up(number: int) -> None:
    value = {"I": 1, "V": 5, "X": 10}
    digits = [value[c] for c in roman_numeral(number)]
    total = sum(-d if d < max(digits[i:]) else d for i, d in enumerate(digits))
    assert total == number


@pytest.mark.parametrize("name", ID_SETS)
def test_every_id_goes_there_and_back_for_26_options(name: str) -> None:
    ids = ID_SETS[name]
    assert len(set(ids.first(26))) == 26
    assert [ids.index(i) for i in ids.first(26)] == list(range(26))


@pytest.mark.parametrize("unknown", ["0", "AA", "", "ä"])
def test_an_unknown_id_is_an_error_and_never_another_one(unknown: str) -> None:
    with pytest.raises(VariantError, match="no ID"):
        ID_SETS["upper"].index(unknown)


def test_too_many_options_for_a_set_says_how_many_it_has() -> None:
    with pytest.raises(VariantError, match="has 26 IDs, but a question has 27"):
        ID_SETS["upper"].first(27)


@pytest.mark.parametrize("ids", [("A", "A"), ("A", " B"), ("A", "")])
def test_bad_id_sets_are_refused(ids: tuple[str, ...]) -> None:
    with pytest.raises(VariantError):
        IDSet(name="bad", ids=ids, kind="letter")


@given(st.text(alphabet="{}AB.() ", max_size=6))
def test_a_delimiter_holds_its_place_exactly_once(template: str) -> None:
    if template.count("{}") == 1:
        assert Delimiter(name="d", template=template).bind("Z", "x").count("Z") == 1
    else:
        with pytest.raises(VariantError):
            Delimiter(name="d", template=template)


def test_option_text_with_braces_is_text() -> None:
    assert DELIMITERS["dot"].bind("A", "{}") == "A. {}"


def test_an_unknown_format_lists_what_there_is() -> None:
    with pytest.raises(VariantError, match="line_break"):
        find_format("upper/dot/tab")


def test_formats_of_your_own(tmp_path) -> None:
    path = tmp_path / "formats.json"
    axes = {
        "id_sets": [{"name": "greek", "ids": ["α", "β", "γ"], "kind": "letter"}],
        "delimiters": [{"name": "dash", "template": "{} -"}],
    }
    path.write_text(json.dumps(axes), encoding="utf-8")
    formats = load_formats(path)
    assert [f.name for f in formats] == ["greek/dash/line_break", "greek/dash/comma", "greek/dash/semicolon"]
    assert formats[1].list_options(("x", "y"), formats[1].id_set.first(2)) == "α - x, β - y"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"id_sets": [{"name": "x"}]}', "id_sets.0.ids"),
        ('{"colours": []}', "colours"),
        ("{", "the file"),
        ('{"separators": [{"name": "a/b", "text": " "}]}', "without '/'"),
    ],
)
def test_a_wrong_file_of_formats_names_the_place(tmp_path, text: str, place: str) -> None:
    path = tmp_path / "formats.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(VariantError, match=place):
        load_formats(path)
