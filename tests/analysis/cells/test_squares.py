"""Shares of the sum of squares, against statsmodels' analysis of variance."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from statsmodels.stats.anova import anova_lm

from vqaudit.analysis.cells.squares import crossed_terms, sum_of_squares
from vqaudit.errors import AnalysisError


def test_terms_are_those_of_an_analysis_of_variance() -> None:
    values = np.random.default_rng(5).normal(size=(3, 4, 2))
    rows = pd.DataFrame(list(product("abc", "wxyz", "pq")), columns=["a", "b", "c"]).assign(y=values.ravel())
    table = anova_lm(smf.ols("y ~ (a + b + c)**2", rows).fit())
    expected = {name.replace(":", " x "): share for name, share in (table["sum_sq"] / table["sum_sq"].sum()).items()}
    expected["higher order"] = expected.pop("Residual")
    found = {term.term: term.share for term in crossed_terms(values, ("a", "b", "c"))}
    assert found == pytest.approx(expected, abs=1e-12)
    degrees = {term.term: term.df for term in crossed_terms(values, ("a", "b", "c"))}
    assert degrees["a x b"] == 6
    assert degrees["higher order"] == table["df"]["Residual"]


def test_shares_sum_to_one_and_degrees_to_cells_minus_one(random_table) -> None:
    terms = sum_of_squares(random_table)
    assert sum(term.share for term in terms) == pytest.approx(1.0)
    assert sum(term.df for term in terms) == random_table.cells - 1


def test_the_order_of_formats_does_not_matter(random_table, make_table) -> None:
    order = np.random.default_rng(0).permutation(48)
    shuffled = make_table(
        random_table.accuracy[:, :, order],
        factors=random_table.factors,
        formats=[random_table.formats[place] for place in order],
    )
    for a, b in zip(sum_of_squares(random_table), sum_of_squares(shuffled), strict=True):
        assert (a.term, a.df) == (b.term, b.df)
        assert a.share == pytest.approx(b.share, abs=1e-12)


def test_missing_or_equal_cells_have_no_shares(make_table) -> None:
    with pytest.raises(AnalysisError, match="1 of 4 cells are missing"):
        sum_of_squares(make_table([[[0.1, np.nan], [0.3, 0.4]]]))
    with pytest.raises(AnalysisError, match="same accuracy"):
        sum_of_squares(make_table([[[0.3, 0.3], [0.3, 0.3]]]))
