from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from vqaudit.analysis.breakdown import factor_levels
from vqaudit.analysis.effects import trial_effects
from vqaudit.analysis.effects.coding import POSITION, code_trials
from vqaudit.analysis.effects.linear import fit_linear
from vqaudit.analysis.effects.logit import LogitFit
from vqaudit.analysis.frame import FACTORS, analysis_frame
from vqaudit.analysis.grouped import item_mean
from vqaudit.errors import AnalysisError


def noisy(seed: int = 3):
    """Chooses the right option more often with upper-case IDs and at the first position."""
    generator = np.random.default_rng(seed)
    ease = generator.uniform(-0.2, 0.2, 100)

    def choose(number, fmt, order):
        answer = number % len(order)
        chance = 0.5 + ease[number] + 0.2 * (fmt[0] == "upper") - 0.15 * (fmt[2] == "comma")
        chance += 0.1 * (order.index(answer) == 0)
        return answer if generator.random() < chance else (answer + 1) % len(order)

    return choose


@pytest.fixture
def frame(grid_run):
    return analysis_frame(grid_run(noisy(), n_items=12).write())


def test_deviations_of_a_grid_are_level_accuracies_minus_the_grid_accuracy(frame):
    found = trial_effects(frame, grid=True)
    whole = item_mean(frame, "right").value
    for factor, groups in factor_levels(frame).items():
        levels = {row.level: row for row in found.factors[factor].levels}
        assert {group.name: group.accuracy.value - whole for group in groups} == pytest.approx(
            {name: row.deviation.value for name, row in levels.items()}
        )
        baseline = next(g.accuracy.value for g in groups if g.name == found.factors[factor].baseline)
        for group in groups:
            effect = levels[group.name].effect
            assert (effect is None) == (group.name == found.factors[factor].baseline)
            if effect is not None:
                assert effect.value == pytest.approx(group.accuracy.value - baseline)


def test_coefficients_and_robust_errors_are_those_of_statsmodels(frame):
    import statsmodels.api as sm

    coded = code_trials(frame, within_items=True)
    fit = fit_linear(coded)
    items = pl.DataFrame({"item": coded.items.astype(str)}).to_dummies().to_numpy().astype(float)
    result = sm.WLS(coded.right, np.hstack([coded.dummies(), items]), weights=coded.weights).fit(
        cov_type="cluster", cov_kwds={"groups": coded.clusters, "use_correction": False}
    )
    columns = coded.dummies().shape[1]
    assert fit.coefficients == pytest.approx(result.params[:columns])
    moved = np.stack([np.bincount(coded.clusters, column) for column in fit.influences.T])
    assert np.sqrt((moved**2).sum(axis=1)) == pytest.approx(result.bse[:columns])


def test_the_logit_agrees_where_it_exists(frame):
    found = trial_effects(frame, grid=True)
    assert found.logit.largest_gap < 0.02
    assert "estimating equations" in found.logit.sentence
    upper = next(row for row in found.factors["id_set"].levels if row.level == "upper")
    assert upper.logit_effect.value == pytest.approx(upper.effect.value, abs=0.02)
    assert upper.logit_effect.low < upper.effect.value < upper.logit_effect.high


def test_a_grid_is_exact_for_this_dataset(frame):
    row = trial_effects(frame, grid=True).factors["id_set"].levels[0]
    assert row.deviation_this_dataset.value == pytest.approx(row.deviation.value)
    assert row.deviation_this_dataset.low is None
    assert "exact" in row.deviation_this_dataset.reason


def test_a_level_that_is_never_right_has_an_effect_and_no_logit(grid_run):
    choose = noisy()
    run = grid_run(lambda n, fmt, order: None if fmt[0] == "number" else choose(n, fmt, order), n_items=20)
    found = trial_effects(analysis_frame(run.write()), grid=True)
    number = next(row for row in found.factors["id_set"].levels if row.level == "number")
    assert number.effect.value < -0.3
    assert number.effect.low < number.effect.value < number.effect.high
    assert number.logit_effect is None
    assert "id_set number is never right" in found.logit.sentence
    assert found.logit.largest_gap < 0.03


@pytest.mark.parametrize("always", [True, False])
def test_no_variation_is_said_and_never_certainty(grid_run, always):
    run = grid_run(lambda n, fmt, order: n % 4 if always else None, n_items=8)
    found = trial_effects(analysis_frame(run.write()), grid=True)
    row = found.factors["delimiter"].levels[1]
    assert row.effect.value == 0
    assert row.effect.low < 0 < row.effect.high
    assert found.factors["delimiter"].p_value is None
    assert row.logit_effect is None
    assert "no logit" in found.logit.sentence


def test_a_combination_that_separates_is_said(grid_run):
    # no single level separates: upper with comma is always right, lower with line breaks never, the others by half
    def choose(number, fmt, order):
        score = (fmt[0] == "upper") + (fmt[2] == "comma")
        return number % 4 if score == 2 or (score == 1 and number % 2) else None

    formats = [(ids, "dot", separator) for ids in ("lower", "upper") for separator in ("comma", "line_break")]
    run = grid_run(choose, n_items=8, formats=formats)
    found = trial_effects(analysis_frame(run.write()), grid=True)
    assert "infinity" in found.logit.sentence or "converge" in found.logit.sentence
    assert found.logit.largest_gap is None
    assert [row.effect.value for row in found.factors["id_set"].levels[1:]] == pytest.approx([0.5])


def test_factors_that_never_vary_apart_are_refused(grid_run):
    formats = [("upper", "dot", "comma"), ("lower", "colon", "comma")]
    run = grid_run(noisy(), n_items=6, formats=formats)
    with pytest.raises(AnalysisError, match="never vary apart"):
        trial_effects(analysis_frame(run.write()), grid=True)


def test_one_format_in_one_order_has_nothing_to_tell(builder):
    run = builder()
    for number in range(3):
        run.add_trial(run.add_item(f"q{number}"), chosen=0)
    with pytest.raises(AnalysisError, match="same format"):
        trial_effects(analysis_frame(run.write()), grid=True)


def test_an_order_that_never_changes_is_no_factor(builder, formats):
    run = builder()
    for number in range(6):
        item = run.add_item(f"q{number}", answer=number % 4)
        for place, fmt in enumerate(formats):
            run.add_trial(item, fmt=fmt, chosen=(number + place) % 4)
    found = trial_effects(analysis_frame(run.write()), grid=True)
    assert set(found.factors) == set(FACTORS)


def test_positions_of_unequal_items_are_held_against_their_own_items(grid_run):
    # always the first position: whatever the number of options, the right option there is right and elsewhere wrong
    run = grid_run(lambda n, fmt, order: order[0], n_items=8)
    found = trial_effects(analysis_frame(run.write()), grid=True).factors[POSITION]
    assert [row.effect.value for row in found.levels[1:]] == pytest.approx([-1, -1, -1])
    assert found.levels[0].deviation.value == pytest.approx(0.75)


def randomised(generator, n_items=96, draws=1):
    """Columns of an analysis frame of a randomised design, with an effect of 20 pp of upper-case IDs."""
    items = np.repeat(np.arange(n_items), draws)
    ids = generator.permuted(np.tile(np.arange(4), (draws, -(-n_items // 4))), axis=1)[:, :n_items].T.reshape(-1)
    places = generator.integers(0, 4, items.size)
    ease = np.linspace(0.2, 0.6, n_items)[items]
    right = generator.random(items.size) < ease + 0.2 * (ids == 3)
    names = np.array(["lower", "number", "roman", "upper"])[ids]
    return pl.DataFrame(
        {
            "right": right,
            "item_code": items.astype(np.uint32),
            "cluster_code": items.astype(np.uint32),
            "n_options": np.full(items.size, 4, dtype=np.int16),
            "permutable": np.full(items.size, True),
            "answer_position": places.astype(np.int16),
            "id_set": names,
            "delimiter": "dot",
            "separator": "comma",
            "format": names,
        }
    )


@pytest.mark.parametrize("draws", [1, 2])
def test_intervals_of_a_randomised_design_cover(draws, monkeypatch):
    # the check by a logit is not what is tested here, and takes most of the time
    nothing = LogitFit({}, "left out")
    monkeypatch.setattr("vqaudit.analysis.effects.findings.fit_logit", lambda coded: nothing)
    generator = np.random.default_rng(11)
    here, like, widths, values = 0, 0, [], []
    repeats = 120
    for _ in range(repeats):
        found = trial_effects(randomised(generator, draws=draws), grid=False)
        row = next(row for row in found.factors["id_set"].levels if row.level == "upper")
        like += row.effect.low <= 0.2 <= row.effect.high
        here += row.effect_this_dataset.low <= 0.2 <= row.effect_this_dataset.high
        widths.append((row.effect.high - row.effect.low) / 2)
        values.append(row.effect.value)
    least = 0.95 - 3 * np.sqrt(0.95 * 0.05 / repeats)
    assert like / repeats >= least
    assert here / repeats >= least
    assert abs(np.mean(values) - 0.2) < 3 * np.std(values) / np.sqrt(repeats)
    assert np.mean(widths) < 1.4 * 1.96 * np.std(values)


def test_a_logit_without_a_robust_error_has_no_interval(frame, monkeypatch):
    certain = LogitFit({("id_set", "upper"): (0.2, 0.0)}, "fitted")
    monkeypatch.setattr("vqaudit.analysis.effects.findings.fit_logit", lambda coded: certain)
    monkeypatch.setattr("vqaudit.analysis.effects.findings._largest_gap", lambda coded, logit: 0.0)
    levels = {row.level: row for row in trial_effects(frame, grid=True).factors["id_set"].levels}
    assert (levels["upper"].logit_effect.value, levels["upper"].logit_effect.low) == (0.2, None)
    assert "too few items" in levels["upper"].logit_effect.reason
