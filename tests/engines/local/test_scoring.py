"""Scores of IDs and continuations, against distributions whose answers are known in closed form."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from vqaudit.engines.local.ids import IDPlan
from vqaudit.engines.local.scoring import mass, option_score, read_ids, top_tokens


class Texts:
    """A vocabulary as a list of texts."""

    def __init__(self, *texts):
        self._texts = texts

    def text(self, token):
        return self._texts[token]

    def decode(self, tokens):
        return "".join(self._texts[token] for token in tokens)


def plan_for(texts, option_ids):
    """A plan over single tokens of a small vocabulary, as `IDTokens` makes it."""
    singles = tuple(tuple(t for t, text in enumerate(texts) if text.strip() == i) for i in option_ids)
    return IDPlan(
        option_ids=tuple(option_ids),
        singles=singles,
        in_place=tuple(ways[:1] for ways in singles),
        sequences=tuple(tuple((t,) for t in ways) for ways in singles),
        extending=tuple(frozenset() for _ in option_ids),
    )


def logs(*probabilities):
    return torch.tensor(probabilities).log()


def test_spellings_are_added_up():
    """Bare letters alone would say B; the blank-led spelling decides for A (0.45 against 0.42)."""
    texts = ["A", " A", "B", " B", "other"]
    first = logs(0.10, 0.35, 0.40, 0.02, 0.13)
    reading = read_ids(plan_for(texts, "AB"), {(): first}.__getitem__, Texts(*texts))
    assert [math.exp(score.logprob) for score in reading.scores] == pytest.approx([0.45, 0.42], abs=1e-6)
    assert reading.mass == pytest.approx(0.87, abs=1e-6)
    assert [score.token_ids for score in reading.scores] == [(1,), (2,)]
    assert [score.spelling for score in reading.scores] == [" A", "B"]
    assert [score.rank for score in reading.scores] == [2, 1]
    assert math.exp(reading.scores[0].in_place_logprob) == pytest.approx(0.10, abs=1e-6)


def test_look_alikes_are_other_tokens():
    texts = ["A", " A", "a", "А", "B"]
    first = torch.tensor([-0.01, -16.0, -18.4, -19.7, -5.0])
    scores = read_ids(plan_for(texts, "AB"), {(): first}.__getitem__, Texts(*texts)).scores
    assert scores[0].logprob == pytest.approx(-0.01, abs=1e-5)
    assert scores[1].logprob == pytest.approx(-5.0)


def test_a_distribution_that_is_none_stays_visible():
    first = torch.tensor([math.nan, -1.0, -2.0])
    reading = read_ids(plan_for(["A", "B", "C"], "AB"), {(): first}.__getitem__, Texts("A", "B", "C"))
    assert math.isnan(reading.scores[0].logprob)
    assert reading.scores[0].rank is None
    assert math.isnan(reading.mass)
    assert top_tokens(first, Texts("A", "B", "C")) == ()


def test_a_score_is_never_positive():
    first = torch.tensor([2e-7, -40.0])
    assert read_ids(plan_for(["A", "B"], "AB"), {(): first}.__getitem__, Texts("A", "B")).scores[0].logprob == 0.0


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_numerals_are_scored_as_by_counting_all_replies(seed):
    """Against brute force: the probability that a reply is exactly this ID, over all replies of a toy model."""
    texts = ["I", "V", " ", "."]
    one, five = 0, 1
    written = {"I": ((one,),), "II": ((one, one),), "III": ((one, one, one),), "IV": ((one, five),)}
    generator = torch.Generator().manual_seed(seed)
    table: dict[tuple[int, ...], torch.Tensor] = {}

    def after(context):
        if context not in table:
            table[context] = torch.randn(4, generator=generator).mul(2).log_softmax(-1)
        return table[context]

    plan = IDPlan(
        option_ids=tuple(written),
        singles=((one,), (), (), ()),
        in_place=tuple(ways[0] for ways in written.values()),
        sequences=tuple(written.values()),
        extending=(frozenset({one, five}), frozenset({one}), frozenset(), frozenset()),
    )
    reading = read_ids(plan, after, Texts(*texts))
    counted = dict.fromkeys(written, 0.0)
    for reply in itertools.product(range(4), repeat=4):
        probability = math.exp(sum(float(after(reply[:n])[token]) for n, token in enumerate(reply)))
        text = "".join(texts[token] for token in reply)
        beginnings = [i for i in written if text.startswith(i)]
        if beginnings:
            counted[max(beginnings, key=len)] += probability
    for score in reading.scores:
        assert math.exp(score.logprob) == pytest.approx(counted[score.option_id], abs=1e-5)
    assert reading.mass == pytest.approx(sum(counted.values()), abs=1e-5)


def test_an_id_that_is_almost_surely_extended_keeps_its_digits():
    first, second = logs(1.0, 1e-30), torch.tensor([0.0, -60.0])
    plan = IDPlan(
        option_ids=("I", "II"),
        singles=((0,), ()),
        in_place=((0,), (0, 0)),
        sequences=(((0,),), ((0, 0),)),
        extending=(frozenset({0}), frozenset()),
    )
    scores = read_ids(plan, {(): first, (0,): second}.__getitem__, Texts("I", "x")).scores
    assert scores[0].logprob == pytest.approx(-60.0)
    assert scores[1].logprob == pytest.approx(0.0)


def test_mass_counts_a_token_once():
    assert mass([0, 0, 1], logs(0.5, 0.25, 0.25)) == pytest.approx(0.75)
    assert mass([], logs(0.5, 0.5)) == 0.0


def test_a_continuation_is_the_sum_of_its_tokens():
    rows = torch.stack([logs(0.5, 0.5), logs(0.9, 0.1), logs(0.25, 0.75)])
    score = option_score(" cat", (0, 1, 1), rows)
    assert score.logprob == pytest.approx(math.log(0.5 * 0.1 * 0.75))
    assert (score.tokens, score.characters) == (3, 4)
    with pytest.raises(ValueError, match="3 tokens, but 2"):
        option_score(" cat", (0, 1, 1), rows[:2])


def test_length_decides_between_sum_and_mean():
    """The sum prefers the short option, the mean per token the long one: both can be read from the score."""
    short = option_score("x", (0,), torch.tensor([[-1.2, -9.0]]))
    long = option_score("xyz", (0, 0, 0), torch.tensor([[-3.0, -9.0], [-0.1, -9.0], [-0.1, -9.0]]))
    assert short.logprob > long.logprob
    assert long.logprob / long.tokens == pytest.approx(-1.066667, abs=1e-5)
    assert short.logprob / short.tokens < long.logprob / long.tokens


def test_the_five_most_probable_tokens_come_in_order():
    first = logs(0.05, 0.30, 0.10, 0.20, 0.04, 0.31)
    top = top_tokens(first, Texts(*"abcdef"))
    assert [token.text for token in top] == ["f", "b", "d", "c", "a"]
    assert [token.logprob for token in top] == sorted((t.logprob for t in top), reverse=True)
