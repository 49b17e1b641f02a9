"""Look-alikes of control tokens are text; what the template writes is control; nothing else changes."""

from __future__ import annotations

import pytest
import transformers as hf
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models

from vqaudit.engines.local.control import ControlTokens
from vqaudit.engines.local.outcomes import BadInput

TOKENIZERS = ["gemma3", "llava", "qwen2_vl", "idefics3"]


@pytest.fixture(scope="module", params=TOKENIZERS)
def tokenizer(request, families):
    return families.FAMILIES[request.param]().processor.tokenizer


@pytest.fixture(scope="module")
def control(tokenizer):
    return ControlTokens(tokenizer)


def test_text_without_look_alikes_is_left_alone(control, tokenizer):
    text = "Is 1 < 2 and 3 > 2? <b>bold</b> <|nothing|>"
    assert control.mark(text) == text
    assert control.encode([text]) == [tokenizer.encode(text, add_special_tokens=False)]


def test_every_control_token_can_be_quoted(control, tokenizer):
    for token in control.contents:
        (ids,) = control.encode([control.mark(f"say {token} twice")])
        assert not control.ids & set(ids)
        assert tokenizer.decode(ids, skip_special_tokens=False) == f"say {token} twice"
    assert control.ids


def test_what_the_template_writes_stays_control(control, tokenizer):
    token = control.contents[0]
    text = f"{token}what is {control.mark(token)}?{token}"
    (ids,) = control.encode([text])
    assert [place for place, one in enumerate(ids) if one in control.ids] == [0, len(ids) - 1]
    assert tokenizer.decode(ids, skip_special_tokens=False) == f"{token}what is {token}?{token}"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pieces=st.lists(st.one_of(st.text(max_size=12), st.integers(0, 3)), max_size=6))
def test_a_quotation_elsewhere_changes_no_other_token(control, tokenizer, pieces):
    """A prompt that quotes a control token goes through the fenced copy; the rest must come out as ever."""
    written = "".join(p if isinstance(p, str) else control.contents[p % len(control.contents)] for p in pieces)
    written = "".join(c for c in written if not 0xFDD0 <= ord(c) <= 0xFDD3 and not 0xD800 <= ord(c) < 0xE000)
    token = control.contents[0]
    (ids,) = control.encode([written + token + control.mark(token)])
    expected = tokenizer.encode(written + token, add_special_tokens=False)
    assert ids[: len(expected)] == expected


def test_marks_come_off_again(control):
    text = f"a {control.contents[0]} b"
    assert control.mark(text) != text
    assert control.unmark(control.mark(text)) == text


def test_a_reserved_code_point_is_refused_by_name(control):
    with pytest.raises(BadInput, match=r"U\+FDD1"):
        control.mark("x\ufdd1y")


def test_places_are_replaced_but_quotations_are_not(control):
    token, other = control.contents[0], control.contents[1]
    text = f"{token}{control.mark(token)}{other}{token}"
    assert control.replace(text, token, ["<1>", "<2>"]) == f"<1>{control.mark(token)}{other}<2>"


def test_several_texts_keep_their_order(control):
    token = control.contents[0]
    texts = ["a", control.mark(f"b {token}"), "c", control.mark(token), "d"]
    assert control.encode(texts) == [control.encode([text])[0] for text in texts]


def test_the_tail_begins_at_the_last_control_token(control):
    token = control.contents[0]
    assert control.tail(f"question {token}assistant\n") == f"{token}assistant\n"
    assert control.tail("no control token at all, only a long sentence ASSISTANT:").endswith(" sentence ASSISTANT:")
    assert len(control.tail("word " * 100)) <= 32
    quoted = control.mark(f"it says {token}")
    assert control.tail(quoted) == quoted


def test_a_tokenizer_that_reads_commands_out_of_plain_text_is_found_out():
    """A unigram vocabulary can hold the control token as a piece of text; no fence keeps that out."""
    pieces = [("<unk>", 0.0), ("<image>", -1.0), *((c, -3.0) for c in "<>imageshow ")]
    backend = Tokenizer(models.Unigram(list({text: (text, score) for text, score in pieces}.values()), unk_id=0))
    tokenizer = hf.PreTrainedTokenizerFast(tokenizer_object=backend, extra_special_tokens={"image_token": "<image>"})
    control = ControlTokens(tokenizer)
    with pytest.raises(BadInput, match="cannot write as plain text"):
        control.encode([control.mark("show <image>")])
