"""What an answer means is declared or proved."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vqaudit.errors import DatasetError
from vqaudit.items.answers import Answer, answer_index, prove_kind
from vqaudit.items.options import OptionList, read_options

FOUR = ("cat", "dog", "cow", "hen")


def option_list(*texts, labels=None):
    return OptionList(texts=texts, raw=texts, labels=labels)


def answers(values, texts=FOUR):
    return [Answer(value=value, options=option_list(*texts)) for value in values]


COUNTS_AND_INDICES = st.lists(
    st.integers(2, 26).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n - 1))), min_size=1, max_size=8
)


@given(COUNTS_AND_INDICES, st.sampled_from(["{}", "({})", "{}.", "{})", " {} ", "（{}）", "{}:"]), st.booleans())
def test_letters_round_trip(pairs, shape, small):
    alphabet = string.ascii_lowercase if small else string.ascii_uppercase
    given_answers = [
        Answer(value=shape.format(alphabet[index]), options=option_list(*(f"option {i}" for i in range(n))))
        for n, index in pairs
    ]
    assert prove_kind(given_answers) == "letter"
    assert [answer_index(answer, "letter") for answer in given_answers] == [index for _, index in pairs]


@given(COUNTS_AND_INDICES, st.sampled_from([int, str, float]), st.sampled_from([0, 1]))
def test_numbers_are_proved_or_refused(pairs, kind, first):
    given_answers = [
        Answer(value=kind(index + first), options=option_list(*(f"option {i}" for i in range(n)))) for n, index in pairs
    ]
    has_zero = any(index + first == 0 for _, index in pairs)
    has_count = any(index + first == n for n, index in pairs)
    if has_zero or has_count:
        assert prove_kind(given_answers) == f"index{first}"
        assert [answer_index(answer, f"index{first}") for answer in given_answers] == [index for _, index in pairs]
    else:
        with pytest.raises(DatasetError, match="cannot tell whether answers count from 0 or from 1"):
            prove_kind(given_answers)


@given(COUNTS_AND_INDICES)
def test_texts_round_trip(pairs):
    given_answers = [
        Answer(value=f"option {index}", options=option_list(*(f"option {i}" for i in range(n)))) for n, index in pairs
    ]
    assert prove_kind(given_answers) == "text"
    assert [answer_index(answer, "text") for answer in given_answers] == [index for _, index in pairs]


def test_a_text_with_its_label_is_found():
    options = read_options({"o": ["(A) left", "(B) right"]}, "o")
    for value in ("(B) right", "right"):
        assert answer_index(Answer(value=value, options=options), "text") == 1


def test_a_letter_is_a_position_where_options_are_letters():
    rows = answers(["D", "A"], ("c", "D", "b", "a"))
    assert prove_kind(rows) == "letter"
    assert [answer_index(row, "letter") for row in rows] == [3, 0]
    assert [answer_index(row, "text") for row in rows[:1]] == [1]


def test_letters_beyond_the_options_are_texts_where_every_answer_is_one():
    assert prove_kind(answers(["x", "z"], ("x", "y", "z"))) == "text"


def test_a_gold_letter_beyond_the_options_is_an_error_that_says_so():
    rows = answers(["J"], tuple(f"a{n}" for n in range(1, 10)))
    assert prove_kind(rows) == "letter"
    with pytest.raises(DatasetError, match="answer 'J' is not among A to I"):
        answer_index(rows[0], "letter")


@pytest.mark.parametrize(
    ("values", "texts", "expected"),
    [
        (["7", "3"], ("3", "5", "7"), "text"),
        ([10, 12], (10, 11, 12), "text"),
        (["0", "2"], ("5", "6", "7"), "index0"),
        (["0", "2"], ("0", "1", "2"), None),
        (["1", "2"], ("1", "2", "3"), None),
        (["3", "3"], ("1", "2", "3"), None),
    ],
)
def test_numbers_among_numbers_are_proved_or_refused(values, texts, expected):
    rows = answers(values, tuple(map(str, texts)))
    if expected is None:
        with pytest.raises(DatasetError, match="cannot tell"):
            prove_kind(rows)
    else:
        assert prove_kind(rows) == expected


def test_both_0_and_the_number_of_options_prove_nothing():
    with pytest.raises(DatasetError, match="both 0 and"):
        prove_kind(answers([0, 4]))


def test_several_kinds_are_an_error_that_shows_them():
    with pytest.raises(DatasetError, match=r"several kinds \(letter 'C', number '3'\)"):
        prove_kind(answers(["C", "3"]))


def test_a_rows_own_labels_decide():
    rows = [
        Answer(value="3", options=option_list(*FOUR, labels=("1", "2", "3", "4"))),
        Answer(value="C", options=option_list(*FOUR, labels=("A", "B", "C", "D"))),
    ]
    assert prove_kind(rows) == "label"
    assert [answer_index(row, "label") for row in rows] == [2, 2]
    with pytest.raises(DatasetError, match="not one of the row's labels"):
        answer_index(Answer(value="5", options=rows[0].options), "label")


def test_labels_of_the_file_decide_also_where_one_answer_is_wrong():
    turned = option_list(*FOUR, labels=("4", "3", "2", "1"))
    rows = [Answer(value=value, options=turned) for value in ("4", "1", "9")]
    assert prove_kind(rows) == "label"
    assert [answer_index(row, "label") for row in rows[:2]] == [0, 3]
    with pytest.raises(DatasetError, match="only some rows have labels"):
        prove_kind([*rows[:2], *answers(["2"])])


def test_labels_in_front_of_the_options_decide_only_where_every_answer_is_one():
    options = read_options({"o": ["1. cat", "2. dog", "3. cow"]}, "o")
    assert prove_kind([Answer(value=value, options=options) for value in (1, 2)]) == "label"
    assert prove_kind([Answer(value=value, options=options) for value in (0, 2)]) == "index0"
    assert prove_kind([Answer(value=value, options=options) for value in ("A", "C")]) == "letter"


def test_one_unreadable_answer_does_not_unprove_the_others():
    rows = answers(["A", "B", "AC", None, "", ["A", "B"]])
    assert prove_kind(rows) == "letter"
    for row, words in ((rows[2], "not a letter"), (rows[3], "missing"), (rows[4], "missing"), (rows[5], "2 right")):
        with pytest.raises(DatasetError, match=words):
            answer_index(row, "letter")


@pytest.mark.parametrize(
    ("value", "kind", "words"),
    [
        (4, "index0", "not among 0 to 3"),
        (-1, "index0", "not among 0 to 3"),
        (0, "index1", "not among 1 to 4"),
        ("two", "index1", "not a whole number"),
        (1.5, "index0", "not a whole number"),
        ("pig", "text", "none of the options"),
        ("nan", "text", "missing"),
        ("9" * 5000, "index0", "not a whole number"),
        ("E", "letter", "not among A to D"),
    ],
)
def test_answers_that_cannot_be_right(value, kind, words):
    with pytest.raises(DatasetError, match=words):
        answer_index(answers([value])[0], kind)


def test_a_text_that_two_options_have_is_undecidable():
    with pytest.raises(DatasetError, match="text of 2 options"):
        answer_index(answers(["cat"], ("cat", "dog", "cat"))[0], "text")


def test_a_list_with_one_answer_is_that_answer_and_truth_values_are_texts():
    assert answer_index(answers([["B"]])[0], "letter") == 1
    rows = answers([True, False], ("true", "false"))
    assert prove_kind(rows) == "text"
    assert [answer_index(row, "text") for row in rows] == [0, 1]


def test_an_option_that_reads_nan_can_be_right():
    assert answer_index(answers(["nan"], ("nan", "Five"))[0], "text") == 0
