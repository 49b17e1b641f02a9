"""What moves the score, and the top of the page: said where it can be told, and not where it cannot."""

from types import SimpleNamespace

import pytest

from vqaudit.analysis import summarise
from vqaudit.analysis.estimates import Estimate
from vqaudit.report.brief import brief
from vqaudit.report.movers import Mover, movers


def mover(p_value: float | None) -> Mover:
    return Mover(
        factor="separator",
        low="comma",
        low_deviation=Estimate(value=-0.1, low=-0.12, high=-0.08),
        high="line_break",
        high_deviation=Estimate(value=0.2, low=0.18, high=0.22),
        p_value=p_value,
    )


def test_a_difference_that_chance_explains_is_no_mover() -> None:
    assert mover(0.001).sentence == "The separator moves the score by 30.0 pp, comma to line_break"
    for p_value in (0.2, None):
        assert "no difference that these items can tell" in mover(p_value).sentence


def test_the_widest_factor_comes_first_with_the_levels_at_its_ends(grid_summary) -> None:
    found = movers(grid_summary.effects)
    assert [m.distance for m in found] == sorted((m.distance for m in found), reverse=True)
    for factor in found:
        assert factor.low_deviation.value <= 0 <= factor.high_deviation.value
    separator = next(m for m in found if m.factor == "separator")
    by_level = {level.level: level.deviation.value for level in grid_summary.effects.factors["separator"].levels}
    assert separator.low == min(by_level, key=by_level.get) == "comma"
    assert separator.distance == pytest.approx(max(by_level.values()) - min(by_level.values()))


def test_no_effects_are_no_movers() -> None:
    assert movers(None) == []


def test_the_top_names_what_moves_and_the_mismatched_interface(grid_summary) -> None:
    found = brief(grid_summary)
    assert any(sentence.startswith("The separator moves the score") for sentence in found.moves)
    assert any("of replies are no option ID" in sentence for sentence in found.moves)
    words = {verdict.sentence.split(" ")[0]: verdict.word for verdict in found.verdicts}
    assert words["cot-prefix"] == "mismatched"
    assert "36.6 %" not in " ".join(found.score)


def test_one_interface_has_no_verdict_and_the_top_says_why(randomised) -> None:
    verdicts = brief(summarise(randomised)).verdicts
    assert [verdict.word for verdict in verdicts] == ["not compared"]
    assert "(direct)" in verdicts[0].sentence


def test_full_coverage_is_no_mover(randomised) -> None:
    summary = summarise(randomised)
    assert summary.coverage.value == 1
    assert not [sentence for sentence in brief(summary).moves if "replies are no option ID" in sentence]


def test_a_gap_that_cannot_be_told_is_said_as_such(grid_summary) -> None:
    from vqaudit.report.brief import _plain

    row = SimpleNamespace(gap=Estimate.unknown("no data"), accuracy=Estimate(value=0.5, n=1), best_aligned="direct")
    assert _plain("other", row) == "other reads 50.0 %; it cannot be compared with another interface."
