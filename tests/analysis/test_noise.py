"""The noise floor: shares of pairs that changed, with the intervals of shares."""

from __future__ import annotations

import pytest

from vqaudit.analysis.intervals import wilson_bounds
from vqaudit.analysis.noise import noise_floor
from vqaudit.records import PartWriter, RunTables


def repeated(run, changes):
    """Writes the run and, for the first trials, a second record each with some columns changed."""
    tables = run.write()
    second = [row | change for row, change in zip(run.trials, changes, strict=False)]
    PartWriter(tables.path / "repeats", worker="w0").write(second)
    return RunTables.load(tables.path)


def test_shares_are_counted_over_pairs_with_wilsons_interval(builder) -> None:
    run = builder()
    for number in range(20):
        run.add_item(f"q{number}")
        run.add_trial(f"q{number}", chosen=0, reply="A")
    other = {"position": 1, "chosen": 1, "reply": "B"}
    changes = [other, other, {"reply": "A."}, *[{}] * 13]
    floor = noise_floor(repeated(run, changes))
    assert (floor.trials, floor.changed.n) == (16, 16)
    assert floor.changed.value == pytest.approx(2 / 16)
    assert (floor.changed.low, floor.changed.high) == pytest.approx(wilson_bounds(2 / 16, 16))
    assert floor.changed_text.value == pytest.approx(3 / 16)
    assert floor.changed_right.value == pytest.approx(2 / 16)
    assert floor.sentence.startswith("2 of 16 trials that were asked twice in the same way were answered otherwise")


def test_nothing_changed_has_an_upper_bound_all_the_same(builder) -> None:
    run = builder()
    for number in range(100):
        run.add_item(f"q{number}")
        run.add_trial(f"q{number}", chosen=0, reply="A")
    floor = noise_floor(repeated(run, [{}] * 100))
    assert floor.changed.value == 0.0
    assert floor.changed.high == pytest.approx(0.037, abs=5e-4)


def test_a_change_of_outcome_alone_is_a_change(builder) -> None:
    run = builder()
    for number in range(4):
        run.add_item(f"q{number}", answer=1)
        run.add_trial(f"q{number}", chosen=0, reply="A")
    lost = {"outcome": "unreadable", "position": None, "chosen": None, "reply": "Hm"}
    floor = noise_floor(repeated(run, [lost, {}, {}, {}]))
    assert floor.changed.value == 0.25
    assert floor.changed_right.value == 0.0  # wrong both times


def test_score_events_have_no_text_and_tell_the_largest_change_of_a_score(builder) -> None:
    run = builder()
    run.add_item("q")

    def scores(*values):
        return [{"option_id": i, "logprob": v, "rank": None, "token_ids": [], "spelling": i, "in_place_logprob": None}
                for i, v in zip("AB", values, strict=True)]  # fmt: skip

    run.add_trial("q", interface="direct-scores", event="id-scores", chosen=0, id_scores=scores(-0.1, -3.0))
    run.add_item("p")
    run.add_trial("p", interface="direct-scores", event="id-scores", chosen=0, id_scores=scores(-0.1, None))
    floor = noise_floor(repeated(run, [{"id_scores": scores(-0.1, -3.5)}, {"id_scores": scores(-0.2, -1.0)}]))
    assert floor.changed_text is None
    assert floor.largest_score_change == pytest.approx(0.5)
    assert floor.by_interface.keys() == {"direct-scores"}


def test_failures_leave_the_shares_and_are_counted(builder) -> None:
    run = builder()
    for number in range(4):
        run.add_item(f"q{number}")
        run.add_trial(f"q{number}", chosen=0, reply="A")
    floor = noise_floor(repeated(run, [{"outcome": "failed", "position": None, "chosen": None}, {}, {}, {}]))
    assert (floor.trials, floor.failed, floor.changed.value) == (3, 1, 0.0)


def test_unknown_answers_leave_right_or_wrong_untold(builder) -> None:
    run = builder()
    run.add_item("q", answer=None)
    run.add_trial("q", chosen=0, reply="A")
    floor = noise_floor(repeated(run, [{}]))
    assert floor.changed_right is None
    assert floor.changed.value == 0.0


def test_no_repeats_no_floor(builder) -> None:
    run = builder()
    run.add_item("q")
    run.add_trial("q", chosen=0)
    assert noise_floor(run.write()) is None
