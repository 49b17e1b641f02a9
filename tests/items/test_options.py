"""Cells into options."""

import json
import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from vqaudit.errors import DatasetError
from vqaudit.items.options import read_labels, read_options

LETTERS = tuple(string.ascii_uppercase)
WORDS = st.text(string.ascii_letters + " '\",;äé中", min_size=1, max_size=12).map(str.strip).filter(bool)


def from_list(*values):
    return read_options({"options": list(values)}, "options")


def from_columns(*values):
    return read_options(dict(zip(LETTERS, values, strict=False)), LETTERS[: len(values)])


@given(st.lists(WORDS, min_size=1, max_size=26))
def test_options_read_back_from_every_shape(texts):
    assume(all(text.lower() != "nan" for text in texts))
    cells = (texts, tuple(texts), json.dumps(texts), repr(texts), repr(tuple(texts)))
    assert all(read_options({"o": cell}, "o").texts == tuple(texts) for cell in cells)
    assert from_columns(*texts).texts == tuple(texts)
    keyed = dict(zip(LETTERS, texts, strict=False))
    assert read_options({"o": keyed}, "o").texts == tuple(texts)
    assert read_options({"o": json.dumps(keyed)}, "o").labels == LETTERS[: len(texts)]


@pytest.mark.parametrize("word", ["None", "NA", "null", "n/a", "NULL", "none"])
@pytest.mark.parametrize("place", [0, 2])
def test_real_words_stay_options(word, place):
    values = ["Two", "Three", "One"]
    values[place] = word
    assert from_columns(*values, "").texts == tuple(values)
    assert from_list(*values).texts == tuple(values)


@pytest.mark.parametrize("empty", ["", None, float("nan"), " "])
def test_empty_cells_at_the_end_are_missing_and_one_in_between_is_an_error(empty):
    assert from_columns("Yes", "No", empty, empty).texts == ("Yes", "No")
    assert from_list("Yes", "No", empty).texts == ("Yes", "No")
    with pytest.raises(DatasetError, match="B is empty, but C is not"):
        from_columns("Yes", empty, "No", empty)
    with pytest.raises(DatasetError, match="option 2 is empty, but option 3 is not"):
        from_list("Yes", empty, "No")


@pytest.mark.parametrize("word", ["nan", "NaN"])
def test_the_word_nan_at_the_end_of_columns_is_missing_unless_it_is_right(word):
    options = from_columns("Yes", "No", word, word)
    assert options.settle(1).texts == ("Yes", "No")
    assert options.settle(2).texts == ("Yes", "No", word)
    assert options.settle(3).texts == ("Yes", "No", word, word)


def test_the_word_nan_elsewhere_is_kept():
    assert from_columns("nan", "Five", "Four").settle(1).texts == ("nan", "Five", "Four")
    assert from_list("nan", "Five", "nan").settle(1).texts == ("nan", "Five", "nan")


def test_the_word_nan_beyond_an_empty_cell_is_missing():
    assert from_columns("Yes", "No", "", "nan").texts == ("Yes", "No")


@pytest.mark.parametrize("value", [None, "", [], "[]", [None, None]])
def test_no_options(value):
    with pytest.raises(DatasetError, match="no options"):
        read_options({"o": value}, "o")
    with pytest.raises(DatasetError, match="no options"):
        from_columns("nan", "", None)


@pytest.mark.parametrize("value", ["a, b", 3, {"B": "x", "A": "y"}, {"A": "x", "C": "y"}, [["a", "b"]], [{"x": "a"}]])
def test_what_is_no_list_of_texts_is_an_error(value):
    with pytest.raises(DatasetError):
        read_options({"o": value}, "o")


@pytest.mark.parametrize(
    ("raw", "texts"),
    [
        (["(A)Left lane", "(B) Right lane", "（C） Shoulder"], ["Left lane", "Right lane", "Shoulder"]),
        (["A. one", "B. two"], ["one", "two"]),
        (["A) one", "B)two"], ["one", "two"]),
        (["A: one", "B: two"], ["one", "two"]),
        (["A.北京", "B.上海"], ["北京", "上海"]),
        (["A、北京", "B、上海"], ["北京", "上海"]),
        (["A．北京", "B．上海"], ["北京", "上海"]),
        (["a) one", "b) two"], ["one", "two"]),
        (["1. one", "2. two"], ["one", "two"]),
        (["(i) one", "(ii) two", "(iii) three"], ["one", "two", "three"]),
        (["(A) line one\nline two", "(B) x"], ["line one\nline two", "x"]),
        (["(A) (A) twice", "(B) x"], ["(A) twice", "x"]),
    ],
)
def test_labels_that_all_options_carry_are_stripped(raw, texts):
    options = from_list(*raw)
    assert options.texts == tuple(texts)
    assert options.raw == tuple(raw)


@pytest.mark.parametrize(
    "raw",
    [
        ["(A) left", "right"],
        ["(B) left", "(A) right"],
        ["(A) left", "(C) right"],
        ["A.M.", "B.C."],
        ["1:2", "2:3"],
        ["1.5 m", "2.5 m"],
        ["A man", "B flat"],
        ["(A)", "(B)"],
        ["A", "B"],
        ["Apple", "Banana"],
        ["I. Newton", "J. Kepler"],
    ],
)
def test_what_is_no_series_of_labels_is_kept(raw):
    assert from_list(*raw).texts == tuple(raw)


def test_labels_beside_missing_columns_are_stripped():
    assert from_columns("A. one", "B. two", "", None).texts == ("one", "two")
    assert from_columns("A. one", "B. two", "nan").settle(0).texts == ("one", "two")


@pytest.mark.parametrize(
    "cell",
    [
        {"text": ["x", "y", "z"], "label": ["1", "2", "3"]},
        [{"label": "1", "text": "x"}, {"label": "2", "text": "y"}, {"label": "3", "text": "z"}],
        ["1. x", "2. y", "3. z"],
    ],
)
def test_a_rows_own_labels_are_kept(cell):
    options = read_options({"o": cell}, "o")
    assert options.texts == ("x", "y", "z")
    assert options.labels == ("1", "2", "3")
    assert not options.natural_labels


def test_labels_that_do_not_match_the_options_are_an_error():
    with pytest.raises(DatasetError, match="2 options, but 1 labels"):
        read_options({"o": {"text": ["x", "y"], "label": ["1"]}}, "o")
    with pytest.raises(DatasetError, match="must be a list"):
        read_labels("A")
    assert read_labels("['1', 2]") == ("1", "2")


def test_numbers_and_truth_values_are_texts():
    assert from_list(3, 2.5, True).texts == ("3", "2.5", "true")
