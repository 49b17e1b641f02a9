"""Details in a terminal: every figure is there, in 80 columns."""

import pytest

from vqaudit.analysis.comparison_details import ComparisonDetails
from vqaudit.analysis.details import DETAILS
from vqaudit.analysis.estimates import Estimate, PairedEstimate
from vqaudit.analysis.position_and_id import PositionAndID, PreferenceOf, PreferenceTable
from vqaudit.report.terminal import comparison_view, details_view, summary_view

GAP = PairedEstimate(value=-0.123, low=-0.2, high=-0.05, n=10, trials=40, p_value=0.001)


@pytest.fixture
def preferences() -> PositionAndID:
    rows = [PreferenceOf(name=name, preference=GAP) for name in "AB"]
    table = PreferenceTable(
        options=2,
        items=10,
        trials=40,
        positions=rows,
        ids=rows,
        position_p_value=0.03,
        id_p_value=None,
        additivity_p_value=None,
    )
    share = Estimate(value=0.5, low=0.4, high=0.6, n=10, trials=40)
    return PositionAndID(
        interface="direct",
        formats=["upper/dot/line_break"],
        tables=[table],
        natural_accuracy=share,
        scrambled_accuracy=share,
        natural_minus_scrambled=GAP,
        sentence="They add up.",
    )


def test_details_are_not_part_of_the_summary(grid_summary, terminal) -> None:
    shown = terminal(summary_view(grid_summary))
    for title in ("Effects on accuracy", "Remedies", "Accuracy by confidence", "Computation"):
        assert title not in shown
    assert not any(grid_summary.reasons[key] in shown for key in DETAILS if key in grid_summary.reasons)


def test_every_effect_and_remedy_is_there(grid_summary, terminal) -> None:
    shown = terminal(details_view(grid_summary), width=200)
    for factor in grid_summary.effects.factors.values():
        for row in factor.levels:
            value, low = row.deviation.value, row.deviation.low
            assert f"{100 * value:+.1f} pp [{100 * low:+.1f}".replace("-", "−") in shown or abs(value) < 0.0005
    for row in grid_summary.mitigations.methods.values():
        assert f"{100 * row.accuracy.value:.1f} % [{100 * row.accuracy.low:.1f}" in shown
        assert row.note in shown
    for reason in grid_summary.mitigations.not_applicable.values():
        assert reason in shown


def test_answer_frequencies_are_there(grid_summary, terminal) -> None:
    shown = terminal(details_view(grid_summary))
    for positions in grid_summary.selection.by_factor["id_set"].values():
        line = " ".join("–" if row.frequency is None else f"{100 * row.frequency:.1f} %" for row in positions)
        assert line in " ".join(shown.split())


def test_what_cannot_be_told_has_its_reason(grid_summary, terminal) -> None:
    shown = terminal(details_view(grid_summary), width=300)
    for key in DETAILS:
        assert (key in grid_summary.reasons) == (getattr(grid_summary, key) is None)
        if key in grid_summary.reasons:
            assert grid_summary.reasons[key] in shown


def test_preferences_stand_side_by_side(grid_summary, preferences, terminal) -> None:
    shown = terminal(details_view(grid_summary.model_copy(update={"position_and_id": preferences})))
    assert "Position apart from ID" in shown
    assert "position A" in shown
    assert "ID B" in shown
    assert "−12.3 pp [−20.0, −5.0]" in shown
    assert "p = 0.030" in shown
    assert "They add up." in shown


def test_details_fit_eighty_columns(grid_summary, preferences, terminal) -> None:
    shown = terminal(details_view(grid_summary.model_copy(update={"position_and_id": preferences})), width=80)
    assert max(len(line) for line in shown.splitlines()) <= 80
    assert "nan" not in shown.split()
    assert "None" not in shown.split()


def test_a_comparison_shows_the_reasons_of_its_details(rivalry, terminal) -> None:
    lacking = ComparisonDetails(
        format_leaders=None,
        most_different_formats=None,
        mitigations=None,
        effects=None,
        reasons={"mitigations": "no grid here"},
    )
    shown = terminal(comparison_view(rivalry.model_copy(update={"details": lacking})))
    assert "no grid here" in shown
    assert "no grid here" not in terminal(comparison_view(rivalry))


def test_tiny_p_values_are_not_written_out(rivalry) -> None:
    assert all(pair.p_adjusted < 1e-6 for pair in rivalry.pairs)
    assert rivalry.statements
    assert all("(adjusted p < 0.001)" in text for text in rivalry.statements)
    assert not any("e-" in text for text in rivalry.statements)
