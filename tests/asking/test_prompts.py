"""Golden bytes: what the model sees, for every format and interface."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vqaudit.asking.formats import FORMATS, find_format
from vqaudit.asking.interfaces import INTERFACES, find_interface
from vqaudit.asking.orders import circular_orders, natural
from vqaudit.asking.prompts import instruction, make_variant, render
from vqaudit.errors import DatasetError, VariantError
from vqaudit.items.item import ImageSource, Item

GOLDEN = Path(__file__).parent.parent / "golden" / "prompts.json"
PICTURE = ImageSource(data=b"not decoded here")
REFERENCE = find_format("upper/dot/line_break")


def item(**changes) -> Item:
    fields = {
        "id": "1",
        "question": "Which animal is asleep?",
        "options": ("the cat", "the dog", "the hen"),
        "answer": 1,
        "images": (PICTURE,),
    }
    return Item(**(fields | changes))


def shown(question: Item, name: str = "direct", format=REFERENCE, order=None) -> str:
    order = order or natural(question.n_options)
    return render(question, make_variant(find_interface(name), format, order)).text


# Paper 1, Table 3, word for word.
PAPER_INSTRUCTIONS = {
    ("letter", "ABCD"): "Select the best answer to the above multiple-choice question based on the image. Respond with "
    "only the letter (e.g., A, B, C or D) of the correct option and no bracket, colon, or dot.",
    ("letter", "AB"): "Select the best answer to the above multiple-choice question based on the image. Respond with "
    "only the letter (e.g., A, or B) of the correct option and no bracket, colon, or dot.",
    ("number", "1234"): "Select the best answer to the above multiple-choice question based on the image. Respond with "
    "only the number (e.g., 1, 2, 3 or 4) of the correct option and no bracket, colon, or dot.",
}


@pytest.mark.parametrize(("key", "text"), PAPER_INSTRUCTIONS.items())
def test_instruction_is_papers_word_for_word(key: tuple[str, str], text: str) -> None:
    kind, ids = key
    assert instruction(kind, list(ids), images=1) == text


def test_roman_instruction_is_papers() -> None:
    text = instruction("roman number", ["I", "II", "III", "IV"], images=1)
    assert "only the roman number (e.g., I, II, III or IV) of the correct option" in text


def test_instruction_follows_the_number_of_images() -> None:
    texts = [instruction("letter", ["A", "B", "C"], images=n) for n in range(3)]
    assert "image" not in texts[0]
    assert "based on the image." in texts[1]
    assert "based on the images." in texts[2]
    assert all("(e.g., A, B or C)" in text for text in texts)


def test_reference_prompt_byte_for_byte() -> None:
    assert shown(item()) == (
        "Which animal is asleep?\nA. the cat\nB. the dog\nC. the hen\n"
        "Select the best answer to the above multiple-choice question based on the image. Respond with only the "
        "letter (e.g., A, B or C) of the correct option and no bracket, colon, or dot."
    )


def test_bare_ending_adds_no_line_break() -> None:
    assert shown(item(), "bare-scores") == "Which animal is asleep?\nA. the cat\nB. the dog\nC. the hen"


def test_cue_stands_alone_on_the_last_line() -> None:
    assert shown(item(), "cot-prefix").endswith("C. the hen\nLet me think step by step.")


def test_cue_of_the_assistant_leaves_the_users_turn_bare() -> None:
    prompt = render(item(), make_variant(find_interface("cot-prefill"), REFERENCE, natural(3)))
    assert prompt.prefill == "Let me think step by step."
    assert prompt.text.endswith("C. the hen")


def test_cloze_hides_options_and_ids() -> None:
    prompt = render(item(), make_variant(find_interface("cloze"), REFERENCE, (2, 0, 1)))
    assert prompt.text == "Which animal is asleep?"
    assert prompt.option_ids == ()
    assert prompt.continuations == ("the cat", "the dog", "the hen")


def test_lead_in_joins_its_continuations_with_one_blank() -> None:
    prompt = render(item(), make_variant(find_interface("cloze-lead-in"), REFERENCE, natural(3)))
    assert prompt.prefill == "The answer is"
    assert prompt.continuations[0] == " the cat"


def test_hint_stands_before_the_question() -> None:
    assert shown(item(hint="At night."), "bare-scores").startswith("At night.\nWhich animal")


def test_order_moves_options_and_not_ids() -> None:
    text = shown(item(), "bare-scores", order=(2, 0, 1))
    assert text.endswith("A. the hen\nB. the cat\nC. the dog")


def test_id_order_moves_ids_and_not_options() -> None:
    variant = make_variant(find_interface("direct"), REFERENCE, natural(3), id_order=(1, 2, 0))
    prompt = render(item(), variant)
    assert "B. the cat\nC. the dog\nA. the hen\n" in prompt.text
    assert prompt.option_ids == ("B", "C", "A")
    assert "(e.g., A, B or C)" in prompt.text


def test_images_come_first_unless_the_dataset_places_them() -> None:
    prompt = render(item(), make_variant(find_interface("direct"), REFERENCE, natural(3)))
    assert prompt.parts == (0, prompt.text)


def test_image_places_inside_options_move_with_their_option() -> None:
    question = item(
        question="Which one is upside down?",
        options=("<image 1>", "<image 2>"),
        answer=0,
        images=(PICTURE, PICTURE),
        has_image_places=True,
    )
    prompt = render(question, make_variant(find_interface("bare-scores"), REFERENCE, (1, 0)))
    assert prompt.parts == ("Which one is upside down?\nA. ", 1, "\nB. ", 0)
    assert prompt.text == "Which one is upside down?\nA. <image 2>\nB. <image 1>"


def test_image_place_written_by_a_user_stays_text_where_images_are_not_numbered() -> None:
    question = item(question="How would you write <image 1> or an <image> tag for this?")
    prompt = render(question, make_variant(find_interface("bare-scores"), REFERENCE, natural(3)))
    assert prompt.parts[0] == 0
    assert len(prompt.parts) == 2
    assert "<image 1> or an <image> tag" in str(prompt.parts[1])


def test_unplaced_image_of_a_placing_dataset_comes_first_and_repeats_are_kept() -> None:
    question = item(question="<image 2> and again <image 2>", images=(PICTURE, PICTURE), has_image_places=True)
    prompt = render(question, make_variant(find_interface("bare-scores"), REFERENCE, natural(3)))
    assert [part for part in prompt.parts if isinstance(part, int)] == [0, 1, 1]


def test_place_without_its_image_is_an_error_that_names_the_item() -> None:
    question = item(question="See <image 3>.", has_image_places=True)
    with pytest.raises(DatasetError, match=r"item .1.*image 3"):
        shown(question)


def test_line_inside_an_option_never_reads_as_the_next_option() -> None:
    question = item(options=("one\nB. two", "x\n  y", "z"))
    assert "A. one\n    B. two\nB. x\n  y\nC. z" in shown(question)


def test_order_that_does_not_fit_the_item_is_refused() -> None:
    with pytest.raises(VariantError, match="order of 2 options"):
        shown(item(), order=(0, 1))


texts = st.text(min_size=1, max_size=30).filter(lambda text: text.strip() != "")


@settings(max_examples=60)
@given(
    question=texts,
    options=st.lists(texts, min_size=2, max_size=6),
    format=st.sampled_from(FORMATS),
    name=st.sampled_from(sorted(INTERFACES)),
    rotation=st.integers(min_value=0, max_value=5),
)
def test_render_is_pure_and_segments_concatenate_to_the_whole_prompt(question, options, format, name, rotation) -> None:
    made = item(question=question, options=tuple(options), answer=0)
    order = circular_orders(len(options))[rotation % len(options)]
    variant = make_variant(find_interface(name), format, order)
    first, second = render(made, variant), render(made, variant)
    assert first == second
    assert "".join(first.segments) == first.text == "".join(p for p in first.parts if isinstance(p, str))
    assert len(first.option_ids) in (0, len(options))


def test_golden_prompts_of_every_format_and_interface() -> None:
    made = {
        f"{name} {format.name}": shown(item(), name, format, (1, 2, 0))
        for format in FORMATS
        for name in ("direct", "cot-prefix")
    }
    assert made == json.loads(GOLDEN.read_text(encoding="utf-8"))
