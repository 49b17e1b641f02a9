"""What is read from the tokens of a reply, without a model."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from vqaudit.engines.base import Generation, Reply, Request, TextPart
from vqaudit.engines.local.asked import Asked, Tools
from vqaudit.engines.local.encoding import Prompt
from vqaudit.engines.local.ids import IDPlan
from vqaudit.engines.local.reply_answers import reply_to
from vqaudit.engines.local.sessions import Cost, Generated

PIECES = ["A", "I", "\n", " dog", " "]
A, ONE, BREAK, DOG, BLANK = range(len(PIECES))
FIRST = torch.tensor([0.5, 0.2, 0.1, 0.1, 0.1]).log()


class Vocabulary:
    def text(self, token):
        return PIECES[token]

    def decode(self, tokens):
        return "".join(PIECES[token] for token in tokens)

    def decode_each(self, sequences):
        return [self.decode(tokens) for tokens in sequences]


def outcome_of(tokens, *, ended, option_ids=("A", "I", "II"), event=None, ends=None):
    ends = tuple(0.1 * n for n in range(len(tokens) + ended)) if ends is None else ends
    generated = Generated(tokens=tuple(tokens), ended=ended, first=FIRST, end_probabilities=ends, finite=True)
    plan = IDPlan(
        option_ids=option_ids,
        singles=((A,), (ONE,), ()),
        in_place=((A,), (ONE,), (ONE, ONE)),
        sequences=(((A,),), ((ONE,),), ((ONE, ONE),)),
        extending=(frozenset(), frozenset({ONE}), frozenset()),
    )
    ids = SimpleNamespace(emitted=lambda vocabulary, prompt: 2, paper=lambda vocabulary: 1, plan=lambda *_: plan)
    session = SimpleNamespace(generate=lambda max_tokens: [generated], costs=lambda: [Cost(8, 0)])
    tools = Tools(ids=ids, vocabulary=Vocabulary(), encoder=None)
    event = event or Reply(vocabulary=("A", "I", "II"))
    request = Request(trial="t", parts=(TextPart(text="?"),), option_ids=option_ids, event=event)
    prompt = Prompt(token_ids=(9, 9, 9), text="?", tail="?", lead="")
    return reply_to([Asked(request=request, prompt=prompt)], lambda rows: session, tools)[0]


def test_the_reply_is_cut_at_its_budget_and_what_followed_is_kept():
    outcome = outcome_of([A, DOG, DOG, BREAK], ended=True)
    assert outcome.reply == "A dog"
    assert outcome.prefixes == ("A dog dog", "A dog dog\n")
    assert (outcome.budget, outcome.finish_reason) == (2, "stop")
    assert (outcome.tokens_computed, outcome.tokens_reused) == (8, 0)


def test_a_reply_within_its_budget_has_no_further_text():
    outcome = outcome_of([A], ended=True)
    assert (outcome.reply, outcome.prefixes) == ("A", ())


def test_white_space_is_kept():
    assert outcome_of([BLANK, A], ended=True).reply == " A"


def test_an_end_token_at_once_is_an_empty_reply():
    outcome = outcome_of([], ended=True, ends=(0.9,))
    assert (outcome.reply, outcome.prefixes, outcome.finish_reason) == ("", (), "stop")
    assert outcome.end_given_id is None


@pytest.mark.parametrize(
    ("tokens", "step"),
    [
        ([A, DOG, DOG], 1),  # right after `A`
        ([A, BREAK, DOG], 1),  # the line break is not yet part of the ID
        ([BLANK, A, DOG], 2),
        ([ONE, ONE, DOG], 2),  # `II`, not `I`
        ([DOG, A], None),
    ],
)
def test_the_probability_of_an_end_is_read_right_after_the_id(tokens, step):
    outcome = outcome_of(tokens, ended=False)
    assert outcome.end_given_id == (None if step is None else pytest.approx(0.1 * step))


def test_an_id_at_the_very_end_has_no_next_step_to_read():
    assert outcome_of([A], ended=False).end_given_id is None


def test_ids_of_several_tokens_are_not_read_off_the_first():
    outcome = outcome_of([A], ended=True)
    assert outcome.id_scores == ()
    assert outcome.id_mass is None
    assert outcome.top_tokens[0].text == "A"


def test_a_free_generation_is_kept_whole():
    outcome = outcome_of([A, DOG, DOG], ended=False, event=Generation(max_tokens=3))
    assert (outcome.reply, outcome.prefixes, outcome.finish_reason) == ("A dog dog", (), "length")
    assert outcome.budget is None
