from __future__ import annotations

import numpy as np
import pytest

from vqaudit.analysis.frame import analysis_frame
from vqaudit.analysis.interfaces import compare_interfaces

EVENTS = {"direct": "reply", "direct-scores": "id-scores", "cot-prefix": "id-scores", "free-cot": "generation"}


@pytest.fixture
def ask(builder, formats, orders):
    """Returns a maker of a run in which every interface is asked the same items in one format and four orders."""

    def make(behaviour, *, n_items=40, **more):
        run = builder()
        for number in range(n_items):
            item = run.add_item(f"q{number}", answer=number % 4)
            for order in orders(4):
                for interface, choose in behaviour.items():
                    event = EVENTS.get(interface, "id-scores")
                    extra = {name: value(interface) for name, value in more.items()}
                    run.add_trial(
                        item,
                        fmt=formats[0],
                        order=order,
                        interface=interface,
                        event=event,
                        chosen=choose(number, order),
                        designs=[("reference", 0)],
                        **extra,
                    )
        return run

    return make


def _right_first(share):
    """Right in the first `share` of a hundred items, else the first position."""
    return lambda number, order: number % 4 if number < share else order[0]


def test_the_cue_that_is_not_scored_is_mismatched(ask):
    run = ask(
        {
            "direct": _right_first(32),
            "direct-scores": _right_first(32),
            "cot-prefix": _right_first(4),
            "free-cot": _right_first(28),
        }
    )
    rows, ground = compare_interfaces(analysis_frame(run.write()))[:2]
    assert list(rows) == ["direct", "direct-scores", "cot-prefix", "free-cot"]
    assert (ground.unit, ground.items, set(ground.trials.values())) == ("variant", 40, {160})
    assert [row.aligned for row in rows.values()] == [True, True, False, True]
    assert rows["direct"].verdict is None
    assert rows["direct"].gap is None
    cot = rows["cot-prefix"]
    assert (cot.best_aligned, cot.verdict) == ("direct", "mismatched")
    assert cot.gap.value == pytest.approx(rows["direct"].accuracy.value - cot.accuracy.value)
    assert cot.gap.low > 0.3
    assert cot.first_position_rate.value == pytest.approx((4 * 0.25 + 36) / 40)
    assert cot.answer_first_rate.value == pytest.approx(0.25)
    assert cot.first_position_excess.low > 0
    assert rows["direct-scores"].gap.value == 0
    assert cot.coverage is None
    assert rows["direct"].coverage.value == 1.0


def test_only_what_all_interfaces_answered_is_compared(ask):
    run = ask({"direct": _right_first(10), "direct-scores": _right_first(10)}, n_items=10)
    # scores failed on everything but the first item, which direct got right
    for trial in run.trials:
        if trial["interface"] == "direct-scores" and trial["item"] != "q0":
            trial.update(outcome="failed", chosen=None, position=None)
    run.trials = [trial for trial in run.trials if (trial["item"], trial["interface"]) != ("q1", "direct-scores")]
    rows, ground = compare_interfaces(analysis_frame(run.write()))[:2]
    assert (ground.items, ground.trials) == (1, {"direct": 4, "direct-scores": 4})
    assert rows["direct"].accuracy.n == 1


def test_another_format_or_order_is_not_common(ask, formats, orders):
    run = ask({"direct": _right_first(5)}, n_items=5)
    for number in range(5):
        for order in orders(4)[:2]:
            run.add_trial(
                f"q{number}", fmt=formats[0], order=order, interface="direct-scores", event="id-scores", chosen=0
            )
        run.add_trial(f"q{number}", fmt=formats[1], interface="direct-scores", event="id-scores", chosen=0)
    _, ground = compare_interfaces(analysis_frame(run.write()))[:2]
    assert (ground.unit, ground.trials) == ("variant", {"direct": 10, "direct-scores": 10})


def test_a_cloze_is_compared_by_item(ask):
    run = ask({"direct-scores": lambda number, order: order[0]}, n_items=20)
    for number in range(15):
        chosen = number % 4 if number < 14 else (number + 1) % 4
        run.add_trial(
            f"q{number}",
            interface="cloze",
            event="option-likelihood",
            fmt=None,
            chosen=chosen,
            designs=[("reference", 0)],
        )
    rows, ground = compare_interfaces(analysis_frame(run.write()))[:2]
    assert (ground.unit, ground.items) == ("variant", 15)
    assert ground.trials == {"direct-scores": 60, "cloze": 15}
    assert ground.sentence.endswith("(cloze: no format, by item)")
    assert rows["direct-scores"].accuracy.value == pytest.approx(0.25)
    assert (rows["direct-scores"].versus_chance, rows["cloze"].versus_chance) == ("at", "above")
    assert rows["direct-scores"].best_aligned == "cloze"
    assert rows["direct-scores"].gap.value == pytest.approx(14 / 15 - 0.25)
    assert rows["direct-scores"].verdict == "mismatched"
    assert rows["cloze"].first_position_rate.value is None
    assert rows["cloze"].preference is None


def test_interfaces_in_different_formats_share_their_items(builder, formats):
    run = builder()
    for number in range(4):
        run.add_item(f"q{number}", answer=0)
        run.add_trial(f"q{number}", fmt=formats[0], chosen=0)
        if number < 3:
            run.add_trial(f"q{number}", fmt=formats[9], interface="direct-scores", event="id-scores", chosen=1)
    rows, ground = compare_interfaces(analysis_frame(run.write()))[:2]
    assert (ground.unit, ground.items) == ("item", 3)
    assert "not the same formats and orders" in ground.sentence
    assert rows["direct-scores"].gap.value == 1.0


def test_interfaces_without_a_common_item_are_not_compared(builder):
    run = builder()
    for number, interface in enumerate(("direct", "direct-scores")):
        run.add_item(f"q{number}", answer=0)
        run.add_trial(f"q{number}", interface=interface, event=EVENTS[interface], chosen=0)
    rows, ground = compare_interfaces(analysis_frame(run.write()))[:2]
    assert ground.unit == "none"
    assert rows["direct-scores"].gap.value is None
    assert rows["direct-scores"].verdict is None


def test_the_manifest_says_which_ending_asks_for_its_event(ask):
    run = ask({"direct": _right_first(2), "mine": _right_first(9)}, n_items=10)
    frame = analysis_frame(run.write())
    assert compare_interfaces(frame).rows["mine"].aligned
    told = compare_interfaces(frame, interfaces={"mine": {"aligned": False}}).rows
    assert not told["mine"].aligned
    assert told["mine"].best_aligned == "direct"


def test_little_mass_on_the_ids_is_a_mismatch_without_a_preferred_position(ask):
    rng = np.random.default_rng(0)
    run = ask(
        {"direct": _right_first(40), "cot-prefix": lambda number, order: order[int(rng.integers(4))]},
        id_mass=lambda interface: 0.98 if interface == "direct" else 0.04,
    )
    rows = compare_interfaces(analysis_frame(run.write())).rows
    assert rows["cot-prefix"].id_mass.value == pytest.approx(0.04)
    assert rows["direct"].id_mass.value == pytest.approx(0.98)
    assert not rows["cot-prefix"].first_position_excess.low > 0
    assert rows["cot-prefix"].verdict == "mismatched"


def test_few_items_leave_the_verdict_open_and_many_equal_ones_settle_it(ask):
    few = ask({"direct": _right_first(9), "direct-scores": _right_first(8)}, n_items=10)
    many = ask({"direct": _right_first(300), "direct-scores": _right_first(300)}, n_items=400)
    assert compare_interfaces(analysis_frame(few.write())).rows["direct-scores"].verdict == "undecided"
    assert compare_interfaces(analysis_frame(many.write())).rows["direct-scores"].verdict == "aligned"


def test_what_could_not_be_read_is_counted(ask):
    run = ask({"direct": _right_first(9), "free-cot": lambda number, order: None if number < 5 else 0}, n_items=10)
    rows = compare_interfaces(analysis_frame(run.write())).rows
    assert rows["free-cot"].unanswered.value == pytest.approx(0.5)
    assert rows["direct"].unanswered.value == 0.0


def test_one_interface_has_itself_as_ground(ask):
    rows, ground = compare_interfaces(analysis_frame(ask({"cot-prefix": _right_first(5)}, n_items=6).write()))[:2]
    assert ground.sentence == "one interface, 6 items"
    assert (rows["cot-prefix"].gap, rows["cot-prefix"].best_aligned, rows["cot-prefix"].verdict) == (None, None, None)
