"""What must hold for every supported family, against transformers itself and against asking one by one."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
import transformers as hf

from vqaudit.engines.base import ForcedToken, Generation, IDScores, ImagePart, OptionLikelihood, Reply, TextPart
from vqaudit.engines.local.processors import without_video_processors

LETTERS = tuple("ABCD")
TEXTS = [
    "What color is the car?\nA. red\nB. blue\nC. green\nD. yellow\nAnswer: A, B, C, or D.",
    "Is it a cat?\n(A) yes, (B) no\nAnswer with the option's letter from the given choices directly, please.",
    "Options: 1) one; 2) two; 3) three",
    "The quick brown fox jumps over the lazy dog.\nA: fox\nB: dog\n" * 3 + "Which?",
]


def logprobs(outcome):
    assert outcome.error is None, outcome.error
    return [score.logprob for score in outcome.id_scores]


def largest_gap(one, other):
    return max(abs(a - b) for a, b in zip(logprobs(one), logprobs(other), strict=True))


def margin(outcome):
    first, second, *_ = outcome.top_tokens
    return first.logprob - second.logprob


class Reference:
    """The same model, asked through transformers' own processor and `generate`, one request at a time."""

    def __init__(self, folder, *, sees):
        self.sees = sees
        if sees:
            with without_video_processors():
                self.processor = hf.AutoProcessor.from_pretrained(folder)
            if self.processor.chat_template is None:  # Phi-4-multimodal's class drops it; its tokenizer has it
                self.processor.chat_template = self.processor.tokenizer.chat_template
            self.model = hf.AutoModelForMultimodalLM.from_pretrained(folder).eval()
        else:
            self.processor = hf.AutoTokenizer.from_pretrained(folder)
            self.model = hf.AutoModelForCausalLM.from_pretrained(folder).eval()

    def inputs(self, request):
        content = [{"type": "image"} for _ in request.images] + [{"type": "text", "text": request.text_alone}]
        if not self.sees and self.processor.chat_template is None:
            return self.processor(request.text_alone + "\n", return_tensors="pt")
        rendered = self.processor.apply_chat_template(
            [{"role": "user", "content": content if self.sees else request.text_alone}],
            add_generation_prompt=True,
            tokenize=False,
        )
        if not self.sees:
            return self.processor(rendered, add_special_tokens=False, return_tensors="pt")
        bos = self.processor.tokenizer.bos_token
        return self.processor(
            text=[rendered],
            images=[[image.pixels for image in request.images]] if request.images else None,
            add_special_tokens=not (bos and rendered.startswith(bos)),
            return_tensors="pt",
        )


class Plain:
    """A request's text and pictures, as the reference takes them."""

    def __init__(self, request):
        self.text_alone = "".join(part.text for part in request.parts if isinstance(part, TextPart))
        self.images = request.images


@pytest.fixture(scope="session")
def reference_of(checkpoint, families):
    made = {}

    def make(name):
        if name not in made:
            made[name] = Reference(checkpoint(name), sees=name in families.VISION_FAMILIES)
        return made[name]

    return make


def test_prompts_are_the_tokens_that_transformers_makes(family, shown, engine_of, reference_of, ask):
    engine, reference = engine_of(family), reference_of(family)
    for images in sorted({0, shown, 3 * shown}):
        for text in TEXTS:
            request = ask(IDScores(), text, images=images)
            expected = reference.inputs(Plain(request))["input_ids"][0].tolist()
            prompt = engine._tools.encoder.encode([request])[0]
            assert list(prompt.token_ids) == expected
            assert engine.count_tokens(request) == len(expected)


def test_scores_are_those_of_a_plain_forward_pass(family, shown, engine_of, reference_of, ask):
    engine, reference = engine_of(family), reference_of(family)
    requests = [ask(IDScores(), text, images=shown) for text in TEXTS]
    for request, outcome in zip(requests, engine.answer(requests), strict=True):
        with torch.inference_mode():
            logits = reference.model(**reference.inputs(Plain(request))).logits[0, -1]
        expected = logits.float().log_softmax(-1)
        for score in outcome.id_scores:
            if score.rank is not None:  # the best spelling is one token
                assert score.rank == int((expected > expected[score.token_ids[0]]).sum()) + 1
        top = expected.topk(5)
        assert [t.logprob for t in outcome.top_tokens] == pytest.approx(top.values.tolist(), abs=1e-4)


def test_greedy_replies_are_those_of_generate(family, shown, engine_of, reference_of, ask):
    engine, reference = engine_of(family), reference_of(family)
    requests = [ask(Generation(max_tokens=6), text, images=shown) for text in TEXTS]
    for request, outcome in zip(requests, engine.answer(requests), strict=True):
        inputs = reference.inputs(Plain(request))
        with torch.inference_mode():
            new = reference.model.generate(**inputs, max_new_tokens=6, do_sample=False)[
                0, inputs["input_ids"].shape[1] :
            ]
        if margin(outcome) > 1e-3:
            assert outcome.reply == engine._tools.vocabulary.decode(new.tolist())


@pytest.mark.parametrize("option_ids", [LETTERS, ("1", "2", "3", "4"), ("I", "II", "III", "IV")])
def test_scores_do_not_depend_on_the_batch(family, shown, engine_of, ask, option_ids):
    engine = engine_of(family)
    requests = [ask(IDScores(), text, images=shown, option_ids=option_ids) for text in TEXTS]
    together = engine.answer(requests)
    alone = [engine.answer([request])[0] for request in requests]
    for one, other in zip(together, alone, strict=True):
        assert largest_gap(one, other) < 1e-4
        assert one.id_mass == pytest.approx(other.id_mass, abs=1e-5)


def test_replies_do_not_depend_on_the_batch(family, shown, engine_of, ask):
    engine = engine_of(family)
    requests = [ask(Reply(vocabulary=LETTERS), text, images=shown) for text in TEXTS]
    alone = [engine.answer([request])[0] for request in requests]
    for one, other in zip(engine.answer(requests), alone, strict=True):
        assert one.budget == other.budget
        if margin(other) > 1e-3:
            assert one.reply == other.reply


def test_a_reply_and_the_scores_read_the_same_first_token(family, shown, engine_of, ask):
    reply, scores = engine_of(family).answer(
        [ask(Reply(vocabulary=LETTERS), images=shown), ask(IDScores(), images=shown)]
    )
    if reply.id_scores:  # there where one position tells the IDs apart
        assert largest_gap(reply, scores) < 1e-4
    assert [t.token_id for t in reply.top_tokens] == [t.token_id for t in scores.top_tokens]


def test_a_forced_token_is_the_first_of_a_reply(family, shown, engine_of, ask):
    forced, long = engine_of(family).answer(
        [ask(ForcedToken(), images=shown), ask(Generation(max_tokens=4), images=shown)]
    )
    assert forced.budget == 1
    assert forced.tokens_computed == long.tokens_computed - 3
    assert forced.top_tokens[0].text == forced.reply
    assert forced.top_tokens[0].token_id == long.top_tokens[0].token_id


def test_pictures_of_unequal_numbers_of_tiles_share_a_batch(vision_family, engine_of, ask, pictures):
    engine = engine_of(vision_family)
    requests = [replace(ask(IDScores()), images=shown) for shown in ((p,) for p in pictures)]
    requests.append(replace(requests[0], images=pictures[:2]))
    alone = [engine.answer([request])[0] for request in requests]
    for one, other in zip(engine.answer(requests), alone, strict=True):
        assert largest_gap(one, other) < 1e-4


def test_the_picture_changes_the_answer(vision_family, engine_of, ask, pictures):
    request = ask(IDScores(), images=1)
    one, other = engine_of(vision_family).answer([request, replace(request, images=(pictures[1],))])
    assert largest_gap(one, other) > 1e-3


def test_the_order_of_pictures_changes_the_answer(vision_family, engine_of, ask, pictures):
    request = ask(IDScores(), images=2)
    one, other = engine_of(vision_family).answer([request, replace(request, images=pictures[1::-1])])
    assert largest_gap(one, other) > 1e-3


def test_pictures_stand_first_where_the_prompt_gives_them_no_place(vision_family, engine_of, ask):
    places = (ImagePart(index=0), ImagePart(index=1), TextPart(text=TEXTS[0]))
    implied, stated = engine_of(vision_family).answer(
        [ask(IDScores(), TEXTS[0], images=2), ask(IDScores(), images=2, parts=places)]
    )
    assert logprobs(implied) == logprobs(stated)


def test_a_question_without_a_picture_is_answered(vision_family, engine_of, ask):
    with_picture, without = engine_of(vision_family).answer([ask(IDScores(), images=1), ask(IDScores())])
    assert without.tokens_computed < with_picture.tokens_computed
    assert largest_gap(with_picture, without) > 1e-3


def test_a_prefill_continues_the_assistants_turn(family, shown, engine_of, ask):
    engine = engine_of(family)
    plain, filled = (ask(IDScores(), images=shown, prefill=prefill) for prefill in ("", "Answer: the letter is"))
    prompts = engine._tools.encoder.encode([plain, filled])
    assert prompts[1].text == prompts[0].text + engine._chat.reply_lead + "Answer: the letter is"
    assert largest_gap(*engine.answer([plain, filled])) > 1e-3


def test_continuations_are_scored_as_by_teacher_forcing(family, shown, engine_of, reference_of, ask):
    engine, reference = engine_of(family), reference_of(family)
    continuations = (" red", " dark blue", "green car", " yellow")
    request = ask(OptionLikelihood(continuations=continuations), images=shown)
    outcome = engine.answer([request])[0]
    inputs = dict(reference.inputs(Plain(request)))
    before = inputs["input_ids"][0].tolist()
    prompt = engine._tools.encoder.encode([request])[0]
    joint = engine._tools.encoder.encode_with(prompt, continuations)
    for text, ids, score in zip(continuations, joint, outcome.option_scores, strict=True):
        assert ids[: len(before)] == tuple(before)  # nothing merges here: every template ends in a mark of its own
        new = torch.tensor([ids[len(before) :]])
        longer = dict(inputs, input_ids=torch.tensor([ids]))
        for name in {"attention_mask", "token_type_ids", "mm_token_type_ids"} & set(inputs):
            fill = torch.full_like(new, int(name == "attention_mask"))
            longer[name] = torch.cat([inputs[name], fill], dim=-1)
        with torch.inference_mode():
            table = reference.model(**longer).logits[0].float().log_softmax(-1)[len(before) - 1 : -1]
        assert score.logprob == pytest.approx(float(table.gather(-1, new.T).sum()), abs=1e-4)
        assert (score.tokens, score.characters) == (new.numel(), len(text))


def test_control_tokens_in_a_question_are_text(family, shown, engine_of, ask):
    engine = engine_of(family)
    control = engine._tools.encoder._control
    quoted = " and ".join(control.contents[:12])
    text = f"How would you write an {quoted} tag?"
    plain, quoting = (ask(IDScores(), text, images=2 * shown) for text in ("How?", text))
    one, other = engine._tools.encoder.encode([plain, quoting])
    assert count(one, control.ids) == count(other, control.ids)
    assert text in engine._tools.vocabulary.decode(other.token_ids)
    assert engine.answer([quoting])[0].error is None


def count(prompt, token_ids):
    return sum(token in token_ids for token in prompt.token_ids)
