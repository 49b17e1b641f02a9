from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from vqaudit.analysis.confidence import confidence_groups
from vqaudit.analysis.mitigation import material_of
from vqaudit.errors import AnalysisError

REFERENCE = ("upper", "dot", "line_break")
NAME = "/".join(REFERENCE)
FORMATS = (REFERENCE, ("lower", "dot", "line_break"), ("lower", "bracket", "comma"))


@pytest.fixture
def scored_grid(builder, orders):
    def make(score, chance, *, n_items=20, scored=FORMATS):
        """`score(item, format)` is the right ID's log-probability; `chance(item, format)` whether it is chosen."""
        run = builder()
        for number in range(n_items):
            item = run.add_item(f"q{number:03d}", answer=0)
            for fmt, order in product(FORMATS, orders(4)):
                told = np.full(4, np.log((1 - np.exp(score(number, fmt))) / 3))
                told[order.index(0)] = score(number, fmt)
                kept = [
                    {"option_id": "ABCD"[k], "logprob": float(v), "rank": 1, "token_ids": [], "spelling": ""}
                    for k, v in enumerate(told)
                ]
                more = {"id_scores": kept} if fmt in scored else {}
                run.add_trial(item, fmt=fmt, order=order, chosen=0 if chance(number, fmt) else 1, **more)
        return material_of(run.write(reference_format=NAME))

    return make


def surest_first(number, fmt):
    return -0.01 * (number + 1)


def test_groups_are_the_top_and_bottom_fifth_by_the_score_of_the_right_id(scored_grid):
    # right where confident, and in the reference format anyway
    found = confidence_groups(scored_grid(surest_first, lambda n, fmt: n < 4 or fmt == REFERENCE))
    groups = found.reference.groups
    assert [(group.group, group.items) for group in groups] == [("top", 4), ("middle", 12), ("bottom", 4)]
    assert [group.accuracy.value for group in groups] == pytest.approx([1, 1 / 3, 1 / 3])
    assert (groups[0].most, groups[0].least) == pytest.approx((-0.01, -0.04))
    lower, upper = groups[1].levels["id_set"]
    assert (lower.level, lower.accuracy.value, upper.accuracy.value) == ("lower", 0.0, 1.0)
    assert (lower.deviation.value, upper.deviation.value) == pytest.approx((-0.5, 0.5))
    assert lower.quartiles == (0.0, 0.0, 0.0)


def test_a_held_out_format_shares_no_trial_with_the_outcome(scored_grid):
    def reversed_elsewhere(number, fmt):
        return surest_first(number if fmt == REFERENCE else 19 - number, fmt)

    found = confidence_groups(scored_grid(reversed_elsewhere, lambda n, fmt: fmt == FORMATS[2] or n < 4)).held_out
    assert (found.format, found.left_out) == ("lower/bracket/comma", True)
    # ranked the other way round, and without the trials of the ranking format, in which all are right
    assert [group.accuracy.value for group in found.groups] == pytest.approx([0, 0, 1])
    assert {row.level for row in found.groups[0].levels["separator"]} == {"line_break"}


def test_scores_of_the_reference_format_alone_have_no_held_out_ranking(scored_grid):
    found = confidence_groups(scored_grid(surest_first, lambda n, fmt: True, scored=(REFERENCE,)))
    assert found.held_out is None


@pytest.mark.parametrize(
    ("change", "message"),
    [({"scored": ()}, "kept replies only"), ({"n_items": 4}, "at least 5 items")],
)
def test_what_cannot_be_ranked_is_said(scored_grid, change, message):
    with pytest.raises(AnalysisError, match=message):
        confidence_groups(scored_grid(surest_first, lambda n, fmt: True, **change))


def test_other_designs_have_no_groups(builder):
    run = builder()
    run.add_trial(run.add_item("q"), chosen=0, designs=[("randomised", 0)])
    with pytest.raises(AnalysisError, match="design grid"):
        confidence_groups(material_of(run.write(reference_format=NAME)))
