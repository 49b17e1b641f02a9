"""The user's turn through the model's own template, against transformers' rendering."""

from __future__ import annotations

import pytest
import transformers as hf

from vqaudit.engines.base import IDScores, ImagePart, Request, TextPart
from vqaudit.engines.local.chat import Chat, TemplateWarning, check_chat_kwargs
from vqaudit.engines.local.control import ControlTokens
from vqaudit.engines.local.outcomes import BadInput
from vqaudit.engines.local.spec import LocalSpec
from vqaudit.errors import EngineError


def chat_for(tokenizer, template, *, image_token=None, **options):
    control = ControlTokens(tokenizer, template=template or "")
    return Chat(tokenizer, template=template, control=control, image_token=image_token, spec=LocalSpec(**options))


@pytest.fixture(scope="module")
def plain_tokenizer(families):
    return families.byte_level_tokenizer(["<s>", "</s>", "<image>"], bos_token="<s>", eos_token="</s>")


def asked(text="Which one?", **fields):
    return Request(trial="t", parts=(TextPart(text=text),), event=IDScores(), **fields)


def test_the_text_is_what_transformers_renders(vision_family, engine_of, checkpoint, ask):
    chat = engine_of(vision_family)._chat
    request = ask(IDScores(), "Which of the two?", images=2)
    messages = [{"role": "user", "content": [{"type": "image"}] * 2 + [{"type": "text", "text": "Which of the two?"}]}]
    expected = chat._tokenizer.apply_chat_template(
        messages, chat_template=chat.template, add_generation_prompt=True, tokenize=False
    )
    rendered = chat.render(request)
    assert rendered.text == expected
    assert rendered.order == (0, 1)


def test_a_prefill_stands_where_continuing_a_message_puts_it(vision_family, engine_of, ask):
    chat = engine_of(vision_family)._chat
    prefill = "Let me think step by step."
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "Which?"}]},
        {"role": "assistant", "content": [{"type": "text", "text": prefill}]},
    ]
    expected = chat._tokenizer.apply_chat_template(
        messages, chat_template=chat.template, continue_final_message=True, tokenize=False
    )
    assert chat.render(ask(IDScores(), "Which?", prefill=prefill)).text == expected


def test_the_words_of_a_reply_are_led_as_the_template_leads_them(engine_of):
    assert engine_of("llava")._chat.reply_lead == " "  # `ASSISTANT:`, then a blank
    assert engine_of("idefics3")._chat.reply_lead == " "
    assert engine_of("qwen2_vl")._chat.reply_lead == ""
    assert engine_of("gemma3")._chat.reply_lead == ""


@pytest.mark.parametrize(("prefill", "lead"), [("Answer:", " "), ("Answer: ", ""), ("Answer: (", ""), ("so\n", "")])
def test_an_id_after_a_prefill_is_led_by_a_blank_where_a_word_would_be(engine_of, ask, prefill, lead):
    assert engine_of("qwen2_vl")._chat.render(ask(IDScores(), prefill=prefill)).lead == lead


def test_a_system_prompt_has_its_turn(engine_of, ask):
    chat = engine_of("qwen2_vl")._chat
    text = chat.render(ask(IDScores(), "Which?", system="Be brief.")).text
    assert text.startswith("<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nWhich?<|im_end|>")


def test_a_template_without_a_system_turn_refuses_or_merges(engine_of, ask):
    request = ask(IDScores(), "Which?", images=1, system="Be brief.")
    refused = engine_of("gemma3").answer([request])[0]
    assert refused.bad_input
    assert "no system turn" in refused.error
    merging = engine_of("gemma3", system_turn="merge")
    assert "<start_of_image>Be brief.\n\nWhich?" in merging._chat.render(request).text
    assert merging.answer([request])[0].error is None


def test_a_model_without_a_template_gets_the_text_and_a_line_break(plain_tokenizer):
    chat = chat_for(plain_tokenizer, None)
    assert chat.render(asked("Which?")).text == "Which?\n"
    assert chat.render(asked("Which?", prefill="Answer:", system="Be brief.")).text == "Be brief.\n\nWhich?\nAnswer:"


def test_texts_that_touch_are_one(plain_tokenizer):
    chat = chat_for(plain_tokenizer, None)
    request = Request(trial="t", parts=(TextPart(text="a "), TextPart(text="b")), event=IDScores())
    assert chat.render(request).text == "a b\n"


def test_an_empty_text_leaves_no_trace(engine_of, ask):
    chat = engine_of("llava")._chat  # whose template puts a blank after every text
    parts = (TextPart(text=""), ImagePart(index=0), TextPart(text="Which?"))
    assert chat.render(ask(IDScores(), images=1, parts=parts)) == chat.render(ask(IDScores(), "Which?", images=1))


def test_pictures_keep_their_places_in_the_text(engine_of, ask):
    parts = (TextPart(text="Is "), ImagePart(index=1), TextPart(text=" or "), ImagePart(index=0), TextPart(text="?"))
    rendered = engine_of("qwen2_vl")._chat.render(ask(IDScores(), images=2, parts=parts))
    place = "<|vision_start|><|image_pad|><|vision_end|>"
    assert f"Is {place} or {place}?" in rendered.text
    assert rendered.order == (1, 0)


def test_a_template_that_moves_pictures_is_noted_once(checkpoint, ask):
    from vqaudit.engines.local import load_local

    chat = load_local(checkpoint("llava"))._chat
    parts = (TextPart(text="Is it "), ImagePart(index=0), TextPart(text="?"))
    with pytest.warns(TemplateWarning, match="another order"):
        chat.render(ask(IDScores(), images=1, parts=parts))
    chat.render(ask(IDScores(), images=1, parts=parts))  # no second warning: warnings are errors here
    assert len(chat.notes) == 1


def test_a_template_that_trims_is_noted(checkpoint, ask):
    from vqaudit.engines.local import load_local

    engine = load_local(checkpoint("gemma3"))
    with pytest.warns(TemplateWarning, match="white space"):
        outcome = engine.answer([ask(IDScores(), "  Which?\n", images=1)])[0]
    assert outcome.error is None
    assert engine.describe()["template_notes"] == ["the chat template drops outer white space of the user's text"]


def test_a_template_that_changes_the_text_is_refused(plain_tokenizer):
    chat = chat_for(plain_tokenizer, "{% for m in messages %}{{ m['content'] | upper }}{% endfor %}")
    with pytest.raises(BadInput, match="changes the user's text"):
        chat.render(asked("Which?"))


def test_a_template_that_loses_pictures_is_refused(plain_tokenizer):
    chat = chat_for(
        plain_tokenizer,
        "{% for m in messages %}{% for c in m['content'] %}{{ c['text'] }}{% endfor %}{% endfor %}",
        image_token="<image>",
    )
    request = Request(trial="t", parts=(TextPart(text="Which?"),), images=("picture",), event=IDScores())
    with pytest.raises(BadInput, match="0 image places for 1"):
        chat.render(request)


def test_a_template_of_strings_gets_the_picture_in_the_string(plain_tokenizer):
    chat = chat_for(
        plain_tokenizer,
        "{% for m in messages %}{{ m['role'] + ': ' + m['content'] }}{% endfor %}",
        image_token="<image>",
    )
    parts = (ImagePart(index=0), TextPart(text="\nWhich?"))
    request = Request(trial="t", parts=parts, images=("picture",), event=IDScores())
    assert chat.render(request).text == "user: <image>\nWhich?"


@pytest.mark.parametrize(
    ("parts", "images"),
    [
        ((ImagePart(index=0), TextPart(text="?")), 2),
        ((ImagePart(index=0), ImagePart(index=0), TextPart(text="?")), 1),
        ((ImagePart(index=3), TextPart(text="?")), 1),
    ],
)
def test_every_picture_needs_one_place(engine_of, ask, parts, images):
    outcome = engine_of("qwen2_vl").answer([ask(IDScores(), parts=parts, images=images)])[0]
    assert outcome.bad_input
    assert "exactly one place" in outcome.error


def test_a_text_model_takes_no_pictures(engine_of, ask):
    outcome = engine_of("qwen2_text").answer([ask(IDScores(), images=1)])[0]
    assert outcome.bad_input
    assert outcome.error == "this model takes no images"


def test_template_variables_reach_the_template(plain_tokenizer):
    template = "{% for m in messages %}{{ m['content'] }}{% endfor %}{% if thinking is false %}<no>{% endif %}"
    assert chat_for(plain_tokenizer, template, chat_kwargs={"thinking": False}).render(asked("x")).text == "x<no>"
    assert chat_for(plain_tokenizer, template).render(asked("x")).text == "x"


def test_a_variable_that_the_template_never_reads_is_refused():
    with pytest.raises(EngineError, match=r"enable_thinking.*reads: messages"):
        check_chat_kwargs("{% for m in messages %}{{ m }}{% endfor %}", {"enable_thinking": False})
    with pytest.raises(EngineError, match="reads: none"):
        check_chat_kwargs(None, {"x": 1})
    check_chat_kwargs("{% generation %}{{ x }}{% endgeneration %}", {"x": 1})


def test_a_broken_template_is_named():
    with pytest.raises(EngineError, match="cannot be parsed"):
        check_chat_kwargs("{% for %}", {"x": 1})


def test_jinja_in_a_question_is_text(engine_of, ask):
    text = "What does {{ messages }} or {% raw %} print?"
    assert text in engine_of("qwen2_vl")._chat.render(ask(IDScores(), text)).text


def test_transformers_is_recent_enough_for_these_tests():
    assert tuple(map(int, hf.__version__.split(".")[:2])) >= (5, 20)
