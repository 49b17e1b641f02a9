"""What one cell says."""

import ast
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vqaudit.errors import DatasetError
from vqaudit.items.cells import describe, is_empty, item_id, looks_like_list, parse_list, says_nan, shorten, text_of

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@pytest.mark.parametrize("value", [None, float("nan"), "", "  ", "\n"])
def test_empty_cells(value):
    assert is_empty(value)
    assert text_of(value) is None
    assert item_id(value) is None


@pytest.mark.parametrize("value", ["None", "NA", "null", "n/a", "nan", "NaN", "0", 0, False])
def test_words_that_other_readers_drop_are_texts(value):
    assert not is_empty(value)
    assert text_of(value)


def test_the_word_nan_is_known_in_any_case_and_other_words_are_not_it():
    assert says_nan("nan")
    assert says_nan(" NaN ")
    assert not says_nan("banana")
    assert not says_nan(math.nan)


@given(st.integers(-(10**12), 10**12))
def test_an_id_is_one_however_the_number_was_stored(number):
    assert {item_id(value) for value in (number, float(number), str(number), f"{number}.0", f" {number} ")} == {
        str(number)
    }


def test_ids_keep_leading_zeros_and_fractions():
    assert [item_id(value) for value in ("008", "8.5", "a.0")] == ["008", "8.5", "a.0"]


def test_a_cell_that_is_no_text_is_refused():
    for value in (["a"], {"a": 1}, b"a"):
        with pytest.raises(DatasetError, match="text or a number"):
            text_of(value)


@given(st.lists(TEXTS, min_size=1))
def test_the_text_of_a_list_reads_back(texts):
    assert list(parse_list(json.dumps(texts))) == texts
    assert list(parse_list(repr(texts))) == texts
    assert looks_like_list(repr(texts))


def test_a_python_list_keeps_commas_quotes_and_line_breaks_apart():
    field = "['Red, then blue', \"It's grey\", 'Line one\\nLine two']"
    assert parse_list(field) == ["Red, then blue", "It's grey", "Line one\nLine two"]


@pytest.mark.parametrize(
    "text",
    ["['a', nan]", "[a, b]", "['a'", "{'a', 'b'}", "[__import__('os').getcwd()]", "[" * 500 + "]" * 500 + "x", "(1)"],
)
def test_what_is_no_list_is_refused(text):
    with pytest.raises(DatasetError, match="list"):
        parse_list(text)


def test_two_texts_without_a_comma_are_not_glued():
    assert ast.literal_eval("['a' 'b', 'c']") == ["ab", "c"]
    with pytest.raises(DatasetError, match="comma is missing"):
        parse_list("['a' 'b', 'c']")


@given(TEXTS)
def test_shortened_values_are_short(text):
    assert len(shorten(text)) <= 60


def test_names_are_joined_for_a_sentence():
    assert [describe(names) for names in (["A"], ["A", "B"])] == ["'A'", "'A' and 'B'"]
