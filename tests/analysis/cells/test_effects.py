"""Effects: the mixed model against closed forms and statsmodels' formulas, clustered effects against scipy."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy.stats import norm, ttest_1samp

from vqaudit.analysis.cells.effects import (
    clustered_effects,
    leave_one_model_out,
    mixed_model,
    without_models,
    without_zero_coverage,
    zero_coverage_models,
)
from vqaudit.analysis.cells.regression import baseline_of, regression_of
from vqaudit.errors import AnalysisError

NAN = np.nan
THREE = {"delimiter": ("dot", "colon", "bracket"), "separator": ("comma", "line_break")}


@pytest.fixture
def crossed(make_table):
    """Two data sets, four models, 3 x 2 formats: groups differ by much, levels by a few points, noise is small."""
    rng = np.random.default_rng(3)
    groups = rng.normal(0.5, 0.12, (2, 4, 1))
    levels = np.repeat([0.0, 0.04, -0.06], 2) + np.tile([0.0, 0.03], 3)
    return make_table(groups + levels + rng.normal(0, 0.02, (2, 4, 6)), factors=THREE)


def frame(table) -> pd.DataFrame:
    d, m, f = np.nonzero(table.present)
    rows = {name: [table.formats[i][place] for i in f] for place, name in enumerate(table.factors)}
    return pd.DataFrame(
        {**rows, "y": 100 * table.accuracy[d, m, f], "group": [f"{i}:{j}" for i, j in zip(d, m, strict=True)]}
    )


def test_a_complete_tables_mixed_model_has_its_closed_form(crossed) -> None:
    """Balanced one-way random effects (Searle, Casella & McCulloch 1992, ch. 4): REML is the ANOVA estimate."""
    found = mixed_model(crossed, baseline_of(crossed))
    y = 100 * crossed.accuracy.reshape(8, 6)
    groups, formats = y.shape
    within = y - y.mean(axis=1, keepdims=True)
    grid = within.reshape(groups, 3, 2)
    fitted = grid.mean(axis=(0, 2))[None, :, None] + grid.mean(axis=(0, 1))[None, None, :]
    residual = ((grid - fitted) ** 2).sum() / (groups * formats - groups - 3)
    between = formats * ((y.mean(axis=1) - y.mean()) ** 2).sum() / (groups - 1)
    assert found.residual_variance == pytest.approx(residual, rel=1e-4)
    assert found.group_variance == pytest.approx((between - residual) / formats, rel=1e-3)
    means = grid.mean(axis=(0, 2))
    error = np.sqrt(2 * residual / (groups * 2))
    for level, place in (("dot", 0), ("colon", 1)):
        effect = found.effects[level]
        difference = means[place] - means[2]
        half = norm.ppf(0.975) * error
        assert effect.coef_pp == pytest.approx(difference, abs=1e-6)
        assert effect.ci95 == pytest.approx((difference - half, difference + half), abs=1e-3)
        assert effect.p == pytest.approx(2 * norm.sf(abs(difference) / error), rel=1e-2)
    assert (found.fit.cells, found.fit.groups, found.fit.models) == (48, 8, 4)
    assert found.fit.converged
    assert not found.fit.singular


def test_with_missing_cells_it_is_what_statsmodels_formula_gives(crossed) -> None:
    keep = np.random.default_rng(1).uniform(size=crossed.accuracy.shape) > 0.25
    table = crossed.only(keep)
    found = mixed_model(table, {"delimiter": "dot", "separator": "comma"})
    formula = "y ~ C(delimiter, Treatment('dot')) + C(separator, Treatment('comma'))"
    rows = frame(table)
    expected = smf.mixedlm(formula, rows, groups=rows["group"]).fit(reml=True)
    by_name = {name.rpartition("[T.")[2].rstrip("]"): value for name, value in expected.fe_params.items()}
    assert {name: effect.coef_pp for name, effect in found.effects.items()} == pytest.approx(by_name, abs=1e-3)
    assert found.residual_variance == pytest.approx(expected.scale, rel=1e-3)


def test_effects_change_sign_with_the_baseline_and_nothing_else(crossed) -> None:
    one = mixed_model(crossed, {"delimiter": "dot", "separator": "comma"}).effects
    two = mixed_model(crossed, {"delimiter": "colon", "separator": "comma"}).effects
    assert one["colon"].coef_pp == pytest.approx(-two["dot"].coef_pp, abs=1e-6)


def test_a_singular_fit_is_said(make_table) -> None:
    """Groups whose means do not differ at all have no variance of their own."""
    noise = np.random.default_rng(0).normal(0, 0.05, (2, 4, 6))
    noise -= noise.mean(axis=2, keepdims=True)
    table = make_table(0.5 + noise, factors=THREE)
    found = mixed_model(table, {"delimiter": "dot", "separator": "comma"})
    assert found.fit.singular
    assert "singular" in found.fit.notes[0]
    # without variance between groups, REML is least squares
    levels = smf.ols("y ~ delimiter + separator", frame(table)).fit()
    assert found.residual_variance == pytest.approx(levels.scale, rel=1e-4)


@pytest.mark.parametrize("between", [0.002, 0.01, 0.02])
def test_near_the_boundary_the_fit_is_the_closed_form(make_table, between: float) -> None:
    """Where statsmodels' own optimisers give up, the second one must find the maximum."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        noise = rng.normal(0, 0.05, (2, 4, 6))
        values = 0.5 + noise - noise.mean(axis=2, keepdims=True) + rng.normal(0, between, (2, 4, 1))
        found = mixed_model(make_table(values, factors=THREE), {"delimiter": "dot", "separator": "comma"})
        y = 100 * values.reshape(8, 6)
        grid = (y - y.mean(axis=1, keepdims=True)).reshape(8, 3, 2)
        fitted = grid.mean(axis=(0, 2))[None, :, None] + grid.mean(axis=(0, 1))[None, None, :]
        residual = ((grid - fitted) ** 2).sum() / (48 - 8 - 3)
        group = max(0.0, y.mean(axis=1).var(ddof=1) - residual / 6)
        assert found.group_variance == pytest.approx(group, abs=2e-3)
        assert found.fit.singular == (group == 0)


def test_what_has_no_mixed_model_says_why(make_table) -> None:
    def refused(table, said: str, baseline=None) -> None:
        with pytest.raises(AnalysisError, match=said):
            mixed_model(table, baseline_of(table) if baseline is None else baseline)

    rng = np.random.default_rng(0)
    refused(make_table(rng.uniform(size=(3, 1, 2))), "two models or more")
    refused(make_table([[[0.2, 0.4], [0.5, 0.7], [0.1, 0.3]]]), "no residual variance")
    refused(make_table(rng.uniform(size=(2, 3, 1))), "no factor has two levels")
    refused(make_table([[[0.2, NAN], [NAN, 0.7]]]), "one cell per data set")
    refused(make_table([[[NAN, 0.4], [NAN, 0.7]]]), "baseline 'l0' of delimiter")
    aliased = make_table(
        rng.uniform(size=(2, 3, 2)),
        factors={"delimiter": ("a", "b"), "separator": ("x", "y")},
        formats=[("a", "x"), ("b", "y")],
    )
    refused(aliased, "cannot be told apart")


def test_clustered_effects_are_a_t_test_over_models(crossed) -> None:
    found = clustered_effects(crossed, {"delimiter": "dot", "separator": "comma"})
    levels = 100 * crossed.accuracy.reshape(2, 4, 3, 2).mean(axis=(0, 3))
    test = ttest_1samp(levels[:, 1] - levels[:, 0], 0)
    interval = test.confidence_interval(0.95)
    assert found["colon"].coef_pp == pytest.approx((levels[:, 1] - levels[:, 0]).mean(), abs=1e-9)
    assert found["colon"].ci95 == pytest.approx((interval.low, interval.high), abs=1e-9)
    assert found["colon"].p == pytest.approx(test.pvalue, abs=1e-9)
    assert "Intercept" not in found


def test_a_model_that_lacks_a_level_leaves_this_levels_mean_only(make_table) -> None:
    table = make_table([[[0.5, 0.7, 0.6], [0.2, 0.3, NAN], [0.4, 0.7, 0.3]]])
    found = clustered_effects(table, {"delimiter": "l0"})
    assert found["l1"].coef_pp == pytest.approx((20 + 10 + 30) / 3)
    assert found["l2"].coef_pp == pytest.approx((10 - 10) / 2)


def test_one_model_with_a_level_has_an_effect_without_interval(make_table) -> None:
    found = clustered_effects(make_table([[[0.5, 0.7], [0.2, NAN]]]), {"delimiter": "l0"})
    assert found["l1"].coef_pp == pytest.approx(20)
    assert (found["l1"].ci95, found["l1"].p) == (None, None)
    with pytest.raises(AnalysisError, match="two models"):
        clustered_effects(make_table([[[0.5, 0.7]]]), {"delimiter": "l0"})


def test_intervals_over_models_cover_the_mean_effect_of_a_population_of_models(make_table) -> None:
    """Each model has its own effect, drawn around +3 pp: intervals over models cover it, those over cells do not."""
    rng, repeats, truth = np.random.default_rng(11), 400, 3.0
    over_models = over_cells = 0
    for repeat in range(repeats):
        effects = rng.normal(truth, 5.0, 6) / 100
        values = 0.5 + rng.normal(0, 0.1, (3, 6, 1)) + np.stack([0 * effects, effects], axis=1)[None]
        table = make_table(values + rng.normal(0, 0.005, values.shape))
        low, high = clustered_effects(table, {"delimiter": "l0"})["l1"].ci95
        over_models += low <= truth <= high
        if repeat < 40:
            low, high = mixed_model(table, {"delimiter": "l0"}).effects["l1"].ci95
            over_cells += low <= truth <= high
    assert abs(over_models / repeats - 0.95) < 3 * np.sqrt(0.95 * 0.05 / repeats)
    assert over_cells / 40 < 0.95 - 3 * np.sqrt(0.95 * 0.05 / 40)


def test_leaving_a_model_out_is_a_table_without_it(crossed, make_table) -> None:
    baseline = baseline_of(crossed)
    found = leave_one_model_out(crossed, baseline)
    assert list(found) == list(crossed.models)
    smaller = make_table(crossed.accuracy[:, 1:], factors=THREE, models=crossed.models[1:])
    expected = mixed_model(smaller, baseline).effects
    for level, effect in expected.items():
        assert found["m0"][level].coef_pp == pytest.approx(effect.coef_pp, abs=1e-6)
    with pytest.raises(AnalysisError, match="three models"):
        leave_one_model_out(make_table([[[0.5, 0.7], [0.2, 0.5]]]), {"delimiter": "l0"})


def test_cells_of_zero_coverage_can_be_left_out(make_table) -> None:
    table = make_table([[[0.5, 0.0], [0.2, 0.3]]], coverage=[[[1.0, 0.0], [1.0, 0.01]]])
    assert without_zero_coverage(table).present.tolist() == [[[True, False], [True, True]]]
    assert zero_coverage_models(table) == ["m0"]
    assert without_models(table, ["m0"]).cells == 2
    with pytest.raises(AnalysisError, match="no cell has zero coverage"):
        without_zero_coverage(make_table([[[0.5]]], coverage=[[[1.0]]]))


def test_baselines_are_declared_or_the_papers_or_first(make_table, random_table) -> None:
    assert baseline_of(random_table) == {"option_ids": "lower", "delimiter": "bracket", "separator": "comma"}
    assert baseline_of(random_table, {"delimiter": "dot"})["delimiter"] == "dot"
    assert baseline_of(make_table([[[0.1, 0.2]]])) == {"delimiter": "l0"}
    with pytest.raises(AnalysisError, match=r"'ending' is no factor of own\.csv"):
        baseline_of(random_table, {"ending": "bare"})
    with pytest.raises(AnalysisError, match="'comma' is no level of delimiter"):
        baseline_of(random_table, {"delimiter": "comma"})


def test_levels_of_one_name_in_two_factors_are_told_apart(make_table) -> None:
    table = make_table(
        np.random.default_rng(0).uniform(size=(1, 2, 4)),
        factors={"delimiter": ("none", "dot"), "separator": ("comma", "none")},
    )
    data = regression_of(table, {"delimiter": "dot", "separator": "comma"})
    assert data.names == ("Intercept", "delimiter:none", "separator:none")
