import math

import pytest

from vqaudit.logs.answers import column_options, is_missing, list_options, reading_of, right_position, text_of, verdict

SHOWN = {"options": ("red", "blue", "green"), "option_ids": ("A", "B", "C")}


@pytest.mark.parametrize(
    ("target", "place"),
    [
        ("B", 1),
        ("(B)", 1),
        ("B.", 1),
        ("B. blue", 1),
        ("blue", 1),
        (" Blue ", 1),
        (["C"], 2),
        (["A", "B"], None),
        ("D", None),
        ("", None),
        (None, None),
        (float("nan"), None),
        (True, None),
        ("1", None),
    ],
)
def test_right_answers_in_every_writing(target, place) -> None:
    assert right_position(target, **SHOWN) == place


@pytest.mark.parametrize(("target", "place"), [("0", 0), (2, 2), (2.0, 2), ("3", None), ("B", 1)])
def test_positions_count_from_zero_where_the_harness_says_so(target, place) -> None:
    assert right_position(target, **SHOWN, from_zero=True) == place


def test_an_id_goes_before_an_options_text_since_options_can_be_letters() -> None:
    letters = {"options": ("c", "D", "b", "a"), "option_ids": ("A", "B", "C", "D")}
    assert right_position("D", **letters) == 3
    assert right_position("c", **letters) == 0


def test_options_that_read_alike_name_none() -> None:
    assert right_position("red", options=("red", "red"), option_ids=("A", "B")) is None


def test_missing_cells_and_words_that_look_missing() -> None:
    assert [is_missing(cell) for cell in (None, "", "  ", math.nan)] == [True] * 4
    assert [is_missing(cell) for cell in ("nan", "None", "NA", "null", 0, False)] == [False] * 6
    assert column_options({"A": "None", "B": "NA", "C": "null"}) == ("None", "NA", "null")
    assert column_options({"A": "x", "B": "y", "C": "nan", "D": "nan"}) == ("x", "y")
    assert column_options({"A": "x", "B": None, "C": "z"}) == ("x",)
    assert text_of(3.0) == "3"


@pytest.mark.parametrize(
    "cell",
    [
        ["left", "right"],
        "['left', 'right']",
        '["left", "right"]',
        ["(A) left", "(B) right"],
        ["A. left", "B. right"],
        {"text": ["left", "right"], "label": ["A", "B"]},
        {"B": "right", "A": "left"},
    ],
)
def test_lists_of_options_in_every_writing(cell) -> None:
    assert list_options(cell) == ("left", "right")


@pytest.mark.parametrize("cell", ["left or right", "[broken", "__import__('os').getcwd()", "", None, 3, "[" * 5000])
def test_what_is_no_list_gives_no_options_and_is_not_evaluated(cell) -> None:
    assert list_options(cell) == ()


def test_labels_stay_where_not_all_options_carry_them() -> None:
    assert list_options(["A. M. Turing", "Grace Hopper"]) == ("A. M. Turing", "Grace Hopper")


def test_logged_readings_and_verdicts() -> None:
    assert [reading_of(cell, ["A", "B"]) for cell in ("B", "(B)", "b", "E", "FAILED", None, "B. x")] == [
        *("B", "B", "B", "", "", "", ""),
    ]
    # `C` is Inspect's word for correct, not the option C
    assert [verdict(cell) for cell in ("C", "I", 1, 0.0, True, "P", 0.25, None)] == [
        *(True, False, True, False, True, None, None, None),
    ]
