"""What screening says about an item."""

import pytest

from vqaudit.items.item import Item
from vqaudit.items.screening import carries_instruction, screen


def make(*options, question="What is shown?", answer=0, **more):
    return Item(id="1", question=question, options=options, answer=answer, **more)


def test_an_ordinary_item_is_left_as_it_is():
    item = make("a cat", "a dog", "None")
    assert screen(item) == item


def test_only_the_flag_and_the_notes_change():
    item = make("rain", "snow", "Both A and B", hint="h", category="c", group="g")
    screened = screen(item)
    assert not screened.permutable
    assert screened.notes == ("option 3 speaks of other options ('Both A and B'): not permuted",)
    assert (screened.options, screened.hint, screened.category, screened.group) == (item.options, "h", "c", "g")


def test_screening_twice_changes_nothing_more():
    for item in (make("rain", "snow", "All of the above"), make("A", "A", "b"), make("x", "nan")):
        assert screen(screen(item)) == screen(item)


def test_an_item_that_was_pinned_stays_pinned():
    assert not screen(make("a", "b", permutable=False)).permutable


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("c", "D", "b", "a"), "4 of 4 options are single letters"),
        (("3", "5", "6", "4"), "small numbers"),
        (("II", "I", "IV"), "Roman numerals"),
        (("(A) left", "right"), "option 1 holds an ID of its own"),
        (("one\nB. two", "three"), "option 1 holds an ID of its own"),
        (("nan", "Five"), "option 1 reads 'nan'"),
        (("a  cat", "a dog", "a cat"), "options 1 and 3 have the same text, one of them the right one"),
    ],
)
def test_oddities_are_noted_and_may_be_permuted(options, words):
    screened = screen(make(*options))
    assert screened.permutable
    assert words in screened.notes[0]


@pytest.mark.parametrize("options", [("30", "500"), ("12 m", "1"), ("IIII", "I"), ("Apple", "I"), ("A.M.", "P.M.")])
def test_what_is_no_id_is_not_called_one(options):
    assert all("IDs" not in note or "single letters" in note for note in screen(make(*options)).notes)


def test_wrong_options_of_the_same_text_are_noted_without_alarm():
    (note,) = screen(make("a cat", "a dog", "a dog")).notes
    assert note == "options 2 and 3 have the same text"


@pytest.mark.parametrize(
    "question", ["Is option B right?", "What?\n(A) rubber\n(B) cotton", "Choose the last option where unsure."]
)
def test_questions_that_speak_of_options_pin_them(question):
    screened = screen(make("yes", "no", question=question))
    assert not screened.permutable
    assert screened.notes[0].endswith("not permuted")


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What?\nAnswer with the option's letter from the given choices directly.", "Answer with the option's letter"),
        (
            "Where? Please answer directly with only the letter of the correct option and nothing else.",
            "answer directly",
        ),
        ("Which? letter only and nothing else", "letter only"),
        ("How many? Answer the question using a single word or phrase.", "single word or phrase"),
        ("Please select the correct answer from the options above.", "select the correct answer"),
        ("Think step by step.", "Think step by step"),
        ("这是什么？请直接回答选项字母", "请直接回答选项字母"),
        ("What letter is shown?", None),
        ("What does the answer key say?", None),
        ("Select the best answer.", None),
        ("What is the first letter of the word?", None),
    ],
)
def test_instructions_in_the_question(question, words):
    found = carries_instruction(question)
    assert (found is None) == (words is None)
    assert words is None or (found or "").startswith(words)
    assert any("instruction" in note for note in screen(make("yes", "no", question=question)).notes) == bool(words)
