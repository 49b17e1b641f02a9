"""Options taken out of a question's text: what is found, what is refused, and that nothing is lost."""

from string import ascii_uppercase

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vqaudit.errors import DatasetError
from vqaudit.items import Columns, load_items
from vqaudit.items.embedded import split_options

WORDS = st.text("abcdefg hij", min_size=1, max_size=12).map(str.strip).filter(bool)
LISTS = st.lists(WORDS, min_size=2, max_size=8)
STYLES = ["({}) ", "{}) ", "{}. ", "{}: ", "（{}） "]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("instruction", [None, "Answer with the option's letter from the given choices directly."])
@given(options=LISTS)
@settings(max_examples=20, deadline=None)
def test_options_on_lines_of_their_own_come_back(style, instruction, options):
    lines = [style.format(letter) + text for letter, text in zip(ascii_uppercase, options, strict=False)]
    found = split_options("\n".join(["What is it?", *lines, *([instruction] if instruction else [])]))
    assert found is not None
    assert (found.question, found.options, found.instruction) == ("What is it?", tuple(options), instruction)
    assert found.labels == tuple(ascii_uppercase[: len(options)])


@pytest.mark.parametrize("head", ["Options:", "Choices:", "The options are:"])
@given(options=LISTS)
@settings(max_examples=20, deadline=None)
def test_options_in_one_line_come_back(head, options):
    listed = ", ".join(f"{letter}: {text}" for letter, text in zip(ascii_uppercase, options, strict=False))
    found = split_options(f"Which one?\n{head} {listed}")
    assert found is not None
    assert (found.question, found.options) == ("Which one?", tuple(options))


@pytest.mark.parametrize(
    "text",
    [
        "How many?",
        "Is it raining? Answer with a single word.",
        "Which vitamin is it, A. or B.?",
        "Which?\nOptions: A: x, B: y, B: z",
        "Which?\n(A) x\n(B) y\n(B) z",
        "Which?\nOptions: A: x",
        "Options: A: x, B: y",
        "Which?\n(B) x\n(C) y",
        "Compare (A) the left and (B) the right.",
        "Which?\n(A) x\n(B) \nAnswer with a letter only.",
    ],
)
def test_what_cannot_be_told_apart_is_refused(text):
    assert split_options(text) is None


def test_an_option_of_several_lines_and_an_instruction_before_the_options():
    found = split_options("What runs? Choose one answer from the options.\nA. x = 1\ny = 2\nB. x = 3")
    assert found is not None
    assert found.options == ("x = 1\ny = 2", "x = 3")
    assert found.question == "What runs?"
    assert found.instruction == "Choose one answer from the options."


def test_columns_say_where_the_options_are(save):
    rows = [
        {"id": 1, "question": "What?\n(A) one\n(B) two\nAnswer with the letter only.", "answer": "B"},
        {"id": 2, "question": "Where?\n(A) here\n(B) there\n(C) nowhere", "answer": "A"},
    ]
    with pytest.raises(DatasetError, match=r"columns=Columns\(options='question'\) takes them out"):
        load_items(save(rows))
    dataset = load_items(save(rows), columns=Columns(options="question"))
    assert [(item.question, item.options, item.answer) for item in dataset] == [
        ("What?", ("one", "two"), 1),
        ("Where?", ("here", "there", "nowhere"), 0),
    ]
    assert "left out ('Answer with the letter only.')" in dataset.items[0].notes[0]
    assert dataset.items[1].notes == ()
    assert all(item.permutable for item in dataset)
    with pytest.raises(DatasetError, match=r"row 3, column 'question', item '3': .*open question\?"):
        load_items(
            save([*rows, {"id": 3, "question": "How many?", "answer": "A"}]), columns=Columns(options="question")
        )
