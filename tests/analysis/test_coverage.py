from __future__ import annotations

import pytest

from vqaudit.analysis.coverage import NO_REPLY, coverage, coverage_by, measurement_faults
from vqaudit.analysis.frame import analysis_frame


def _cut(run, item, fmt, order):
    run.add_trial(item, fmt=fmt, order=order, reply=" ", longer_id="1", budget=1)


def _run(builder, formats, orders, speak, *, n_items=3):
    """`speak(run, item, format, order)` adds one trial for every item, format and order."""
    run = builder()
    for number in range(n_items):
        item = run.add_item(f"q{number}", answer=number % 4)
        for fmt in formats:
            for order in orders(4):
                speak(run, item, fmt, order)
    return analysis_frame(run.write())


def _scores(order, answer):
    """The right ID has the highest score."""
    return [
        {"option_id": name, "logprob": -0.1 if option == answer else -3.0}
        for name, option in zip("ABCD", order, strict=True)
    ]


def test_three_shares_add_to_one(builder):
    run = builder()
    run.add_item("q")
    kinds = [
        *[{"chosen": 0}] * 5,
        *[{"reply": " ", "longer_id": "A"}] * 2,
        *[{"outcome": "empty", "reply": ""}, {"outcome": "refused"}, {"reply": "A dog"}],
        *[{"outcome": "bad_input"}, {"outcome": "failed"}],
    ]
    run.add_item("r")
    for number, kind in enumerate(kinds):
        run.add_trial("qr"[number % 2], **kind)
    parts = coverage(analysis_frame(run.write()))
    assert [part.value for part in (parts.exact, parts.needs_more_tokens, parts.out_of_scheme)] == [0.5, 0.2, 0.3]
    assert {part.trials for part in (parts.exact, parts.needs_more_tokens, parts.out_of_scheme)} == {10}


def test_blank_replies_stay_in_the_denominator(builder):
    run = builder()
    for number in range(10):
        run.add_item(f"q{number}", answer=0)
        chosen = None if number < 2 else int(number >= 8)
        run.add_trial(f"q{number}", **({"outcome": "empty"} if chosen is None else {"chosen": chosen}))
    frame = analysis_frame(run.write())
    assert coverage(frame).exact.value == pytest.approx(0.8)
    assert frame["right"].mean() == pytest.approx(0.6)


def test_scores_have_no_coverage(builder):
    run = builder()
    run.add_item("q")
    run.add_trial("q", event="id-scores", interface="direct-scores", chosen=0)
    parts = coverage(analysis_frame(run.write()))
    assert {part.value for part in (parts.exact, parts.needs_more_tokens, parts.out_of_scheme)} == {None}
    assert parts.exact.reason == NO_REPLY


def test_coverage_by_factor_is_that_of_its_trials(builder, formats, orders):
    def speak(run, item, fmt, order):
        if fmt[0] == "number":
            _cut(run, item, fmt, order)
        elif fmt[0] == "roman" and order[0] == 0:
            run.add_trial(item, fmt=fmt, order=order, reply="I think")
        else:
            run.add_trial(item, fmt=fmt, order=order, chosen=0)

    found = coverage_by(_run(builder, formats, orders, speak), ["id_set"])
    table = {
        key[0]: (parts.exact.value, parts.needs_more_tokens.value, parts.out_of_scheme.value)
        for key, parts in found.items()
    }
    assert table == {
        "upper": (1.0, 0.0, 0.0),
        "lower": (1.0, 0.0, 0.0),
        "number": (0.0, 1.0, 0.0),
        "roman": (0.75, 0.0, 0.25),
    }


def test_a_whole_id_set_that_is_cut_is_one_fault(builder, formats, orders):
    def speak(run, item, fmt, order):
        if fmt[0] == "number":
            _cut(run, item, fmt, order)
        else:
            run.add_trial(item, fmt=fmt, order=order, chosen=0)

    frame = _run(builder, formats, orders, speak)
    (fault,) = measurement_faults(frame, frame)
    assert (fault.kind, fault.level, fault.name, len(fault.formats)) == ("needs_more_tokens", "id_set", "number", 12)
    assert fault.coverage.value == 0.0
    for words in (
        "ID set number",
        "0.0 % of 144 replies",
        "within 1 new token,",
        "100 %",
        "' ' where '1'",
        "raise the token",
    ):
        assert words in fault.sentence


def test_the_coarsest_level_that_explains_it(builder, formats, orders):
    cut = {("lower", "double_brackets", "comma"), ("roman", "dot", "line_break")}
    cut |= {("lower", "double_brackets", separator) for separator in ("line_break", "semicolon")}

    def speak(run, item, fmt, order):
        if fmt in cut:
            _cut(run, item, fmt, order)
        else:
            run.add_trial(item, fmt=fmt, order=order, chosen=0)

    frame = _run(builder, formats, orders, speak)
    faults = measurement_faults(frame, frame)
    assert [(fault.level, fault.name) for fault in faults] == [
        ("id_set/delimiter", "lower/double_brackets"),
        ("format", "roman/dot/line_break"),
    ]


def test_one_format_of_an_id_set_is_named_as_one_format(builder, formats, orders):
    frame = _run(builder, formats[:1], orders, _cut)
    (fault,) = measurement_faults(frame, frame)
    assert (fault.level, fault.name) == ("format", "/".join(formats[0]))


def test_few_trials_are_judged_together_and_not_alone(builder, formats, orders):
    # a randomised run: one trial per format, the ID set's twelve together
    run = builder()
    for number, fmt in enumerate(formats):
        run.add_item(f"q{number}")
        if fmt[0] == "number":
            _cut(run, f"q{number}", fmt, (0, 1, 2, 3))
        else:
            run.add_trial(f"q{number}", fmt=fmt, chosen=0)
    frame = analysis_frame(run.write())
    assert [(fault.level, fault.name) for fault in measurement_faults(frame, frame)] == [("id_set", "number")]
    few = frame.filter(frame["format"].cast(str) == "number/dot/comma")
    assert measurement_faults(few, few) == []


@pytest.mark.parametrize(("cut", "other", "kind"), [(79, 21, None), (80, 20, "needs_more_tokens")])
def test_most_of_the_other_replies_must_be_cut_ids(builder, cut, other, kind):
    run = builder()
    run.add_item("q")
    run.add_item("r")
    for number in range(cut + other):
        more = {"longer_id": "A"} if number < cut else {}
        run.add_trial("qr"[number % 2], reply="x", **more)
    for number in range(99):
        run.add_trial("qr"[number % 2], chosen=0)
    frame = analysis_frame(run.write())
    assert [fault.kind for fault in measurement_faults(frame, frame)] == ([kind] if kind else [])


def test_half_covered_is_no_fault(builder):
    run = builder()
    run.add_item("q")
    for number in range(20):
        if number % 2:
            run.add_trial("q", chosen=0)
        else:
            run.add_trial("q", reply=" ", longer_id="A")
    frame = analysis_frame(run.write())
    assert measurement_faults(frame, frame) == []


def test_ids_that_score_well_and_are_never_said(builder, formats, orders):
    def speak(run, item, fmt, order):
        answer = int(item[1:]) % 4
        if fmt[0] == "roman":
            run.add_trial(item, fmt=fmt, order=order, reply="The", id_scores=_scores(order, answer))
        else:
            run.add_trial(item, fmt=fmt, order=order, chosen=0, id_scores=_scores(order, answer))

    frame = _run(builder, formats, orders, speak, n_items=8)
    (fault,) = measurement_faults(frame, frame)
    assert (fault.kind, fault.level, fault.name) == ("never_emitted", "id_set", "roman")
    assert fault.scored_accuracy is not None
    assert fault.scored_accuracy.value == 1.0
    assert "'The'" in fault.sentence
    assert "ID scores" in fault.sentence


def test_silence_of_a_model_that_scores_at_chance_is_no_fault_of_the_measurement(builder, formats, orders):
    def speak(run, item, fmt, order):
        run.add_trial(item, fmt=fmt, order=order, reply="The", id_scores=_scores(order, order[0]))

    frame = _run(builder, formats, orders, speak, n_items=8)
    assert measurement_faults(frame, frame) == []


def test_silence_without_scores_is_no_fault(builder, formats, orders):
    frame = _run(builder, formats, orders, lambda run, item, fmt, order: run.add_trial(item, fmt=fmt, order=order))
    assert measurement_faults(frame, frame) == []
