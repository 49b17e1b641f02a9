import pytest
from hypothesis import given
from hypothesis import strategies as st

from vqaudit.asking.formats import FORMATS
from vqaudit.logs.prompts import find_options, format_of

WORDS = st.text(alphabet="bcdfghjklmnpqrstvwxz", min_size=2, max_size=9)


@pytest.mark.parametrize("format", FORMATS, ids=lambda f: f.name)
@pytest.mark.parametrize("count", [2, 5, 10])
def test_options_and_format_come_back_from_all_48_formats(format, count: int) -> None:
    options = tuple(f"heron {place}" for place in range(count))
    ids = format.id_set.first(count)
    prompt = f"Which bird?\n{format.list_options(options, ids)}\nAnswer with one of the IDs."
    shown = find_options(prompt)
    assert shown is not None
    assert (shown.question, shown.options, shown.option_ids) == ("Which bird?", options, ids)
    assert format_of(prompt, options, ids) == (format.id_set.name, format.delimiter.name, format.separator.name)


@given(st.lists(WORDS, min_size=2, max_size=8))
def test_whatever_the_options_say_they_come_back(options) -> None:
    listed = "\n".join(f"{letter}. {option}" for letter, option in zip("ABCDEFGH", options, strict=False))
    shown = find_options(f"What is shown?\n{listed}\nAnswer with the option's letter.")
    assert shown is not None
    assert shown.options == tuple(options)


def test_examples_before_the_question_are_not_taken_for_it() -> None:
    prompt = (
        "Questions about rivers.\n\nWhich is long?\nA. Oder\nB. Ruhr\nAnswer: A\n\n"
        "Which is short?\nA. Nile\nB. Pader\nC. Lena\nAnswer:"
    )
    shown = find_options(prompt)
    assert shown is not None
    assert (shown.question, shown.options) == ("Which is short?", ("Nile", "Pader", "Lena"))


def test_an_instruction_below_is_no_part_of_the_last_option_and_a_statement_list_is_none() -> None:
    prompt = "Consider:\n1. Ice floats.\n2. Lead sinks.\nWhat holds?\n(A) only 1\n(B) both\nReply with a letter."
    shown = find_options(prompt)
    assert shown is not None
    assert (shown.options, shown.option_ids) == (("only 1", "both"), ("A", "B"))


def test_an_option_of_several_lines_is_kept_whole() -> None:
    shown = find_options("Pick.\nA. first line\nsecond line\nB. other")
    assert shown is not None
    assert shown.options == ("first line\nsecond line", "other")


@pytest.mark.parametrize("prompt", ["", "How many?", "A. alone", "B. one\nC. two", "See fig. A. It shows B."])
def test_no_options_are_made_up(prompt: str) -> None:
    assert find_options(prompt) is None


def test_a_prompt_that_shows_something_else_has_no_format_names() -> None:
    assert format_of("Pick: red / blue", ["red", "blue"], ["A", "B"]) == ("upper", None, None)
    assert format_of(None, ["red", "blue"], ["A", "B"]) == (None, None, None)
    assert format_of("Pick", ["red", "blue"], []) == (None, None, None)
