"""One way to write a figure, for the terminal and the page."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vqaudit.analysis import Estimate
from vqaudit.report import digits

shares = st.floats(0, 1)


@given(shares)
def test_a_share_reads_back_to_half_a_unit_of_its_last_digit(value: float) -> None:
    assert float(digits.pct(value).removesuffix(" %")) / 100 == pytest.approx(value, abs=0.00051)


@given(st.floats(-1, 1))
def test_a_difference_keeps_its_sign_and_has_no_negative_zero(value: float) -> None:
    text = digits.signed_points(value)
    assert re.fullmatch(r"0\.0 pp|[+−]\d+\.\d pp", text)
    assert float(text.removesuffix(" pp").replace("−", "-")) / 100 == pytest.approx(value, abs=0.00051)


@given(st.builds(Estimate, value=st.none() | shares, low=st.none() | shares, high=st.none() | shares))
def test_no_figure_is_written_as_none_or_nan(estimate: Estimate) -> None:
    for text in (digits.interval(estimate), digits.difference(estimate), digits.bounds(estimate)):
        assert "None" not in text
        assert "nan" not in text


def test_what_is_not_known_is_a_dash_and_never_zero() -> None:
    unknown = Estimate.unknown("no data")
    assert {digits.interval(unknown), digits.difference(unknown), digits.interval(None), digits.pct(None)} == {"–"}
    assert {digits.count(None), digits.duration(None), digits.probability(None), digits.points(None)} == {"–"}


def test_an_interval_needs_both_bounds() -> None:
    assert digits.interval(Estimate(value=0.5, n=1)) == "50.0 %"
    assert digits.interval(Estimate(value=0.5, low=0.25, high=0.75)) == "50.0 % [25.0, 75.0]"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 s"),
        (0.5, "0.5 s"),
        (59.94, "59.9 s"),
        (60.0, "1 min"),
        (3599.0, "59 min 59 s"),
        (3600.0, "1 h"),
        (3661.0, "1 h 1 min"),
        (86400.0, "1 d"),
    ],
)
def test_times_use_two_units_at_most(seconds: float, text: str) -> None:
    assert digits.duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "< 0.001"), (0.0009, "< 0.001"), (0.001, "0.001"), (0.05, "0.050"), (1.0, "1.000")]
)
def test_probabilities(value: float, text: str) -> None:
    assert digits.probability(value) == text
