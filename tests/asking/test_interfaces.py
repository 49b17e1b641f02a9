"""Interfaces as data: shipped ones, combinations by name, and which endings ask for what is scored."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vqaudit.asking.endings import ENDINGS, Ending
from vqaudit.asking.formats import find_format
from vqaudit.asking.interfaces import DEFAULT_WATCH, EVENTS, INTERFACES, find_interface, misalignments
from vqaudit.asking.orders import natural
from vqaudit.asking.prompts import make_variant, render
from vqaudit.errors import VariantError
from vqaudit.items.item import Item

REFERENCE = find_format("upper/dot/line_break")
ITEM = Item(id="q", question="Which?", options=("a cat", "a dog"), answer=0)


def test_paper_2_needs_eleven_endings_of_every_strength() -> None:
    assert len(ENDINGS) >= 11
    assert {ending.strength for ending in ENDINGS.values()} == {"none", "answer", "minimal", "explicit"}
    assert sum(ending.strength == "explicit" for ending in ENDINGS.values()) >= 4  # Table 2 has four
    assert ENDINGS["answer-cue"].text == "Answer:"
    assert ENDINGS["reasoning-cue"].text == "Reasoning:"
    assert ENDINGS["cot"].text == "Let me think step by step."
    texts = [ending.text for ending in ENDINGS.values()]
    assert len(set(texts)) == len(texts)


@given(event=st.sampled_from(sorted(EVENTS)), ending=st.sampled_from(sorted(ENDINGS)), in_reply=st.booleans())
def test_every_combination_has_one_name_and_can_be_rendered(event: str, ending: str, in_reply: bool) -> None:
    name = f"{event}:{ending}{'/assistant' if in_reply else ''}"
    if event == "cloze" and "{" in ENDINGS[ending].text:
        with pytest.raises(VariantError, match="hides the options"):
            find_interface(name)
        return
    found = find_interface(name)
    assert (found.event, found.options_shown) == EVENTS[event]
    assert found.ending is ENDINGS[ending]
    assert found.place == ("assistant" if in_reply and ENDINGS[ending].text else "user")
    assert (found.cue is not None) == (event == "rationale")
    assert find_interface(found.name) == found  # its name leads back to it
    prompt = render(ITEM, make_variant(found, REFERENCE, natural(2)))
    assert "{" not in prompt.text + prompt.prefill
    assert bool(prompt.continuations) == (found.event == "option-likelihood")


def test_a_combination_that_is_shipped_has_its_shipped_name() -> None:
    named = {"scores:cot": "cot-prefix", "scores:cot/assistant": "cot-prefill", "free:cot": "free-cot"}
    named |= {"rationale:cot": "cot-then-scores", "full-string:bare": "full-string", "scores:bare": "bare-scores"}
    named |= {
        "reply:instruction": "direct",
        "forced:instruction": "forced-token",
        "scores:bare/assistant": "bare-scores",
    }
    assert {name: find_interface(name).name for name in named} == named


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("cot_prefix", "no interface 'cot_prefix'"),
        ("score:cot", "no event 'score'"),
        ("scores:think", "no ending 'think'"),
        ("scores:cot/system", "no place 'system'"),
    ],
)
def test_a_wrong_name_says_what_there_is(name: str, said: str) -> None:
    with pytest.raises(VariantError, match=said) as caught:
        find_interface(name)
    assert "choose" in str(caught.value)


def test_what_is_asked_for_and_what_is_scored() -> None:
    aligned = {
        "direct": True,
        "scores:answer-cue": True,
        "scores:reasoning-cue": False,
        "forced:cot": False,
        "full-string": True,
        "full-string:cot": False,
        "full-string:answer-cue": False,  # IDs shown and asked for, texts scored
        "cloze:answer-cue": True,  # without options, an answer can only be a text
        "free:answer-cue": True,  # whatever is written is read to its end
        "free:cot": True,
        "cot-then-scores": True,
        "rationale:answer-cue": False,
    }
    assert {name: find_interface(name).aligned for name in aligned} == aligned
    sentences = misalignments([INTERFACES["direct"], INTERFACES["cot-prefix"]])
    assert len(sentences) == 1
    assert "'Let me think step by step.' asks for a rationale" in sentences[0]
    assert "very next token" in sentences[0]


def test_after_a_rationale_or_not() -> None:
    assert INTERFACES["free-cot"].after_rationale
    assert INTERFACES["cot-then-scores"].after_rationale
    assert not INTERFACES["cot-prefix"].after_rationale


def test_the_kind_of_id_is_named_where_an_ending_says_so() -> None:
    found = find_interface("scores:id-only")
    text = render(ITEM, make_variant(found, find_format("number/dot/line_break"), natural(2))).text
    assert text.endswith("Answer with the option's number from the given choices directly.")


def test_no_watched_word_can_be_an_option_id() -> None:
    assert len(set(DEFAULT_WATCH)) == len(DEFAULT_WATCH)
    assert {"First", "Let", "The"} <= set(DEFAULT_WATCH)  # those that the paper names
    assert not {"A", "I"} & set(DEFAULT_WATCH)
    assert all(len(word) > 1 for word in DEFAULT_WATCH)


@pytest.mark.parametrize("name", ["", "a b", "a:b", "a/b", "a@b"])
def test_a_name_that_the_command_line_could_not_take_is_refused(name: str) -> None:
    with pytest.raises(VariantError, match="must not"):
        Ending(name=name, text="Why?", asks="reasoning")
