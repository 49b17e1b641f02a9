"""Columns are found by name, or declared; what could be two things is neither."""

import dataclasses

import pytest

from vqaudit.errors import DatasetError
from vqaudit.items.columns import Columns, resolve_columns
from vqaudit.items.tables import read_table

VLMEVALKIT = {"index": "1", "image": "x", "question": "?", "hint": "h", "A": "a", "B": "b", "answer": "A"}


@pytest.fixture
def resolve(save):
    def run(row, **declared):
        return resolve_columns(Columns(**declared), read_table(save([row])))

    return run


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (
            {**VLMEVALKIT, "C": "", "category": "c", "l2-category": "l", "g_index": "7"},
            {"id": "index", "options": ("A", "B", "C"), "images": "image", "hint": "hint", "category": "category"}
            | {"group": "g_index"},
        ),
        (
            {"Question_id": "9", "Image": "i", "Text": "t", "Answer choices": ["(A) a", "(B) b"], "Ground truth": "A"},
            {"id": "Question_id", "question": "Text", "options": "Answer choices", "answer": "Ground truth"}
            | {"images": "Image"},
        ),
        (
            {"index": 1, "bytes": "b", "question": "q", "multi-choice options": ["x", "y"], "answer": "A"},
            {"options": "multi-choice options", "images": "bytes"},
        ),
        (
            {"question_id": "q1", "question": "q", "choices": ["x", "y"], "correct_choice_idx": 0, "image_id": 7},
            {"id": "question_id", "options": "choices", "answer": "correct_choice_idx", "images": None},
        ),
        (
            {"id": "v_1", "question": "q", "options": "['x', 'y']", "image_1": "a", "image_2": "b", "answer": "A"},
            {"options": "options", "images": ("image_1", "image_2")},
        ),
        ({"input": "q", "choices": ["x", "y"], "target": "A"}, {"id": None, "question": "input", "answer": "target"}),
        (
            {"id": 1, "question": "q", "choices": {"text": ["x", "y"], "label": ["1", "2"]}, "answerKey": "1"},
            {"options": "choices", "answer": "answerKey"},
        ),
        ({"question": "q", "option_a": "x", "option_b": "y", "answer": "a"}, {"options": ("option_a", "option_b")}),
        ({"question": "q", "Option 1": "x", "Option 2": "y", "answer": 1}, {"options": ("Option 1", "Option 2")}),
        ({"question": "q", "options": ["x", "y"], "labels": ["1", "2"], "key": "1"}, {"labels": "labels"}),
        ({"question": "q", "prompt": "p", "options": ["x", "y"], "answer": "A"}, {"question": "question"}),
        ({"question": "q", "options": ["x", "y"], "A": "", "B": "", "answer": "A"}, {"options": "options"}),
    ],
)
def test_known_layouts_are_found(resolve, row, expected):
    found = dataclasses.asdict(resolve(row))
    assert {role: found[role] for role in expected} == expected


@pytest.mark.parametrize(
    ("extra", "names"),
    [
        ({"label": "A"}, ["answer", "label"]),
        ({"options": ["a", "b"]}, ["options", "A to B"]),
        ({"Question": "?"}, ["question", "Question"]),
        ({"images": ["x"]}, ["image", "images"]),
        ({"image_1": "x"}, ["image", "image_1"]),
        ({"context": "c"}, ["hint", "context"]),
    ],
)
def test_two_candidates_are_an_error_that_names_both(resolve, extra, names):
    with pytest.raises(DatasetError, match=r"columns=Columns\(") as caught:
        resolve({**VLMEVALKIT, **extra})
    assert all(repr(name)[:-1] in str(caught.value) for name in names)


def test_a_declared_column_settles_it(resolve):
    found = resolve({**VLMEVALKIT, "label": "A", "context": "c"}, answer="label", hint="context")
    assert (found.answer, found.hint) == ("label", "context")


def test_the_empty_text_says_that_there_is_none(resolve):
    found = resolve(VLMEVALKIT, hint="", id="")
    assert not found.hint
    assert not found.id


def test_declared_names_may_differ_in_case_but_letters_may_not(resolve):
    assert resolve({**VLMEVALKIT, "a": "x"}, question="QUESTION", options=("A", "B")).question == "question"
    with pytest.raises(DatasetError, match="no column 'b'"):
        resolve(VLMEVALKIT, options=("A", "b"))


def test_small_letters_are_no_option_columns(resolve):
    with pytest.raises(DatasetError, match="looks like the options"):
        resolve({"question": "q", "a": "x", "b": "y", "answer": "A"})


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"question": "q", "A": "x", "B": "y", "D": "z", "answer": "A"}, "no 'C'"),
        ({"question": "q", "option_a": "x", "option_c": "y", "answer": "A"}, "no 'b'"),
        ({"question": "q", "options": ["x", "y"], "image_1": "a", "image_3": "b", "answer": "A"}, "without a gap"),
        ({"question": "q", "options": ["x", "y"]}, "looks like the answer"),
        ({"options": ["x", "y"], "answer": "A"}, "looks like the question; .* 'options' and 'answer'"),
        ({"question": "What?\n(A) x\n(B) y", "answer": "A"}, "inside the question's text"),
        ({"question": "Which?\nOptions: A: x, B: y", "answer": "A"}, "inside the question's text"),
    ],
)
def test_what_cannot_be_found_is_an_error(resolve, row, words):
    with pytest.raises(DatasetError, match=words):
        resolve(row)


def test_resolving_again_gives_the_same(resolve):
    found = resolve(VLMEVALKIT)
    assert resolve(VLMEVALKIT, **dataclasses.asdict(found)) == found
