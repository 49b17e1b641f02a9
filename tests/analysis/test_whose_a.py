"""Position, symbol and word, told apart on models whose pulls are known."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from vqaudit.analysis.designs import main_trials, planned_trials
from vqaudit.analysis.frame import analysis_frame
from vqaudit.analysis.mitigation.material import Material
from vqaudit.analysis.whose_a import whose_a
from vqaudit.errors import AnalysisError

SETS = {"upper": "ABCD", "lower": "abcd", "consonants": "BCDF"}


@pytest.fixture
def ask(builder, orders):
    """Returns a maker of a run of the design, from a rule: (id set, symbols shown, order, answer) -> position."""

    def make(choose, *, n_items=30, sets=("upper", "consonants"), tokens=None, interface="cot-prefix", n_options=4):
        run = builder()
        for number in range(n_items):
            item = run.add_item(f"q{number}", n_options=n_options, answer=number % n_options)
            for name in sets:
                for order, ids in product(orders(n_options), orders(n_options)):
                    shown = [SETS[name][index] for index in ids]
                    place = choose(name, shown, order, number % n_options)
                    run.add_trial(
                        item, fmt=(name, "dot", "line_break"), order=order, interface=interface, event="id-scores",
                        chosen=order[place], designs=[("whose-a", 0)], id_order=ids, option_ids=shown,
                        top_tokens=[] if tokens is None else tokens(name),
                    )  # fmt: skip
        return _material(run.write())

    return make


def _material(tables):
    frame = analysis_frame(tables)
    plan = planned_trials(tables, frame)
    return Material(tables=tables, frame=frame, plan=plan, main=main_trials(frame, plan))


def _row(found, name):
    return next(row for row in found.sets if row.id_set == name)


def test_a_model_that_takes_the_first_position_has_a_position_effect_alone(ask):
    found = whose_a(ask(lambda name, shown, order, answer: 0))
    row = _row(found, "upper")
    assert row.natural_first_rate.value == 1.0
    assert row.position_effect.value == pytest.approx(0.75)
    assert row.symbol_effect.value == pytest.approx(0.0)
    assert row.interaction.value == pytest.approx(0.0)
    assert row.interaction.low < 0 < row.interaction.high
    (word,) = found.words
    assert word.effect.value == pytest.approx(0.0)
    assert (word.symbol, word.word, word.control_set) == ("A", "article", "consonants")
    assert word.share == pytest.approx(0.0)


def test_a_model_that_takes_the_article_has_a_symbol_effect_where_it_is_a_word(ask):
    def choose(name, shown, order, answer):
        return shown.index("A") if "A" in shown else order.index(answer)

    found = whose_a(ask(choose))
    upper, other = _row(found, "upper"), _row(found, "consonants")
    assert upper.symbol_effect.value == pytest.approx(0.75)
    assert upper.position_effect.value == pytest.approx(0.0)
    assert other.symbol_effect.value == pytest.approx(0.0)
    assert upper.natural_first_rate.value == 1.0  # natural IDs alone would say: the first position
    assert found.words[0].effect.value == pytest.approx(0.75)
    assert found.words[0].share == pytest.approx(1.0)
    assert (upper.word, other.word, other.first_symbol) == ("article", None, "B")
    assert "the article's part is +75.0 pp" in found.sentences[0]


def test_a_model_that_takes_what_is_first_in_its_alphabet_has_no_word_effect(ask):
    found = whose_a(ask(lambda name, shown, order, answer: shown.index(SETS[name][0])))
    assert _row(found, "consonants").symbol_effect.value == pytest.approx(0.75)
    assert found.words[0].effect.value == pytest.approx(0.0)


def test_pulls_are_found_again_with_intervals_that_hold_them(ask):
    generator = np.random.default_rng(11)
    truth = {"position": 0.3, "symbol": 0.1, "article": 0.2}

    def choose(name, shown, order, answer):
        drawn = generator.random()
        if drawn < truth["position"]:
            return 0
        pull = truth["symbol"] + (truth["article"] if name == "upper" else 0.0)
        if drawn < truth["position"] + pull:
            return shown.index(SETS[name][0])
        return order.index(answer)

    found = whose_a(ask(choose, n_items=150))
    upper = _row(found, "upper")
    # the rest goes to the content, which is even over positions and symbols
    for figure, expected in (
        (upper.position_effect, 0.3 * 0.75),
        (upper.symbol_effect, 0.3 * 0.75),
        (_row(found, "consonants").symbol_effect, 0.1 * 0.75),
        (found.words[0].effect, 0.2 * 0.75),
        (upper.interaction, 0.0),
    ):
        assert figure.low <= expected <= figure.high
        assert figure.high - figure.low < 0.12
    share = found.words[0]
    assert share.share_low <= (0.2 * 0.75) / (0.6 * 0.75) <= share.share_high


def test_the_article_has_mass_where_no_option_is_called_a(ask):
    def tokens(name):
        listed = [{"token_id": 5, "text": " A", "logprob": float(np.log(0.2))}]
        return [*listed, {"token_id": 6, "text": "A", "logprob": float(np.log(0.1))}] if name == "lower" else listed

    found = whose_a(ask(lambda *_: 0, sets=("upper", "lower", "consonants"), tokens=tokens, n_items=5))
    assert _row(found, "lower").word_mass.value == pytest.approx(0.3)
    assert _row(found, "consonants").word_mass.value == pytest.approx(0.2)
    assert _row(found, "upper").word_mass is None
    assert {word.control_set for word in found.words} == {"lower", "consonants"}


def test_options_of_several_numbers_are_each_held_against_their_own_chance(ask):
    found = whose_a(ask(lambda *_: 0, n_options=2, n_items=10))
    assert _row(found, "upper").position_effect.value == pytest.approx(0.5)


def test_a_run_without_the_design_says_how_to_ask(builder):
    run = builder()
    run.add_item("q0")
    run.add_trial("q0", chosen=0)
    with pytest.raises(AnalysisError, match="-i cot-prefix@whose-a"):
        whose_a(_material(run.write()))
