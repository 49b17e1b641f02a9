from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from vqaudit.analysis import Summary, summarise
from vqaudit.errors import AnalysisError

DOCUMENTED = Path(__file__).resolve().parents[2] / "docs" / "summary-schema.md"


def _right(n, fmt, order):
    return n % 4


def _add_interfaces(run, orders, formats, behaviour):
    """Adds a reference design in one format: interface -> what it chooses."""
    events = {"direct": "reply", "free-cot": "generation"}
    for number, item in enumerate(run.items):
        for order in orders(4):
            for interface, choose in behaviour.items():
                run.add_trial(
                    item["item"],
                    fmt=formats[0],
                    order=order,
                    interface=interface,
                    event=events.get(interface, "id-scores"),
                    chosen=choose(number, order),
                    designs=[("reference", 0)],
                )


def _leaves(value, path=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{place}]")
    else:
        yield path, value


def test_a_grid_tells_accuracy_spread_best_and_worst(grid_run):
    run = grid_run(lambda n, fmt, order: n % 4 if n < 15 and fmt[0] != "roman" else (n + 1) % 4, n_items=20)
    for trial in run.trials:
        if (trial["id_set"], trial["delimiter"], trial["separator"]) == ("upper", "dot", "comma"):
            number = int(trial["item"][1:])
            trial.update(chosen=number % 4)
    found = summarise(run.write()).to_dict()
    assert set(found["grid_accuracy"]) == {"value", "low", "high", "n", "trials"}
    assert found["grid_accuracy"]["value"] == pytest.approx((35 * 15 + 20) / (48 * 20))
    assert found["grid_accuracy"]["n"] == 20
    assert found["best_format"]["format"] == "upper/dot/comma"
    assert found["best_format"]["accuracy"]["value"] == 1.0
    assert found["worst_format"]["id_set"] == "roman"
    assert found["spread"]["value"] == 1.0
    assert found["spread"]["low"] > 0.5
    assert found["coverage"]["value"] == 1.0
    assert found["row_accuracy"]["value"] == pytest.approx(found["grid_accuracy"]["value"])
    assert found["strict_circular"]["value"] == pytest.approx(found["grid_accuracy"]["value"])
    assert found["baselines"] == {"chance": 0.25, "always_first": 0.25}
    assert len(found["formats"]) == 48
    assert found["spread_without_faults"] is None
    assert found["designs"]["grid"]["grid_accuracy"] == found["grid_accuracy"]


def test_interfaces_stand_under_their_names(grid_run, orders, formats):
    run = grid_run(_right, n_items=30, formats=formats[:4])
    _add_interfaces(
        run,
        orders,
        formats,
        {
            "direct": lambda n, order: n % 4,
            "direct-scores": lambda n, order: n % 4,
            "cot-prefix": lambda n, order: order[0],
            "free-cot": lambda n, order: n % 4 if n < 24 else None,
        },
    )
    found = summarise(run.write()).to_dict()
    assert list(found["interfaces"]) == ["direct", "direct-scores", "cot-prefix", "free-cot"]
    for row in found["interfaces"].values():
        for key in ("accuracy", "first_position_rate"):
            assert set(row[key]) == {"value", "low", "high", "n", "trials"}
    assert found["common_ground"]["trials"] == dict.fromkeys(found["interfaces"], 120)
    assert found["interfaces"]["cot-prefix"]["first_position_rate"]["value"] == 1.0
    assert found["interfaces"]["cot-prefix"]["verdict"] == "mismatched"
    assert found["reference_accuracy"]["value"] == 1.0
    assert any(
        sentence.startswith("cot-prefix is mismatched") and "accuracy 25.0 %" in sentence and "100.0 %" in sentence
        for sentence in found["findings"]
    )


def test_a_randomised_run_says_what_it_cannot_tell(builder, formats, orders):
    run = builder()
    for number in range(96):
        item = run.add_item(f"q{number:03d}", answer=number % 4)
        for draw in range(2):
            order = orders(4)[(number + draw) % 4]
            fmt = formats[(number + 7 * draw) % 48]
            run.add_trial(
                item, fmt=fmt, order=order, chosen=number % 4 if number < 60 else 0, designs=[("randomised", draw)]
            )
    found = summarise(run.write())
    # of the last 36 items a quarter has option 0 for its answer
    assert found.grid_accuracy.value == pytest.approx((60 + 9) / 96)
    assert found.designs["randomised"].draws == 2
    for key in ("spread", "best_format", "worst_format", "formats", "spread_without_faults"):
        assert getattr(found, key) is None
        assert (
            found.reasons[key]
            == "the worst format and the spread need about 10 passes (--design two-stage) or the grid; this run drew 2 formats per item"
        )
    assert found.strict_circular is None
    assert "strict_circular" in found.reasons
    assert {row.name for row in found.factors["id_set"]} == {"upper", "lower", "number", "roman"}


def test_one_draw_is_one_format(builder):
    run = builder()
    for number in range(4):
        run.add_item(f"q{number}")
        run.add_trial(f"q{number}", chosen=0, designs=[("randomised", 0)])
    assert summarise(run.write()).reasons["spread"].endswith("this run drew one format per item")


def test_grid_and_randomised_stand_side_by_side(grid_run, formats):
    run = grid_run(lambda n, fmt, order: n % 4 if fmt == formats[0] else None, n_items=8, formats=formats[:4])
    for row in list(run.plan)[::16]:
        run.plan.append(row | {"design": "randomised"})
    found = summarise(run.write())
    assert found.main_design == "grid"
    assert found.designs["grid"].grid_accuracy.value == pytest.approx(0.25)
    assert found.designs["randomised"].grid_accuracy.value == pytest.approx(1.0)
    assert (found.designs["randomised"].trials, found.designs["grid"].trials) == (8, 128)


def test_a_reference_run_has_an_accuracy_and_no_headline(builder, orders, formats):
    run = builder()
    for number in range(6):
        run.add_item(f"q{number}", answer=number % 4)
    _add_interfaces(run, orders, formats, {"direct": lambda n, order: n % 4})
    found = summarise(run.write())
    assert found.grid_accuracy is None
    assert "needs the design grid or randomised" in found.reasons["grid_accuracy"]
    assert found.reference_accuracy.value == 1.0
    assert found.designs["reference"].grid_accuracy is None
    assert found.strict_circular.value == 1.0
    assert (
        found.reasons["spread"] == "the worst format and the spread need the grid; this run holds reference trials only"
    )


def test_another_interface_is_no_reference(grid_run, orders, formats):
    run = grid_run(_right, n_items=4, formats=formats[:2])
    _add_interfaces(run, orders, formats, {"cot-prefix": lambda n, order: order[0]})
    found = summarise(run.write())
    assert found.reference_accuracy is None
    assert found.reasons["reference_accuracy"].startswith("direct was not asked in the reference format")


def test_the_grid_holds_the_reference_format(grid_run, formats):
    run = grid_run(lambda n, fmt, order: n % 4 if fmt == formats[1] else None, n_items=4, formats=formats[:4])
    found = summarise(run.write(reference_format="/".join(formats[1])))
    assert found.reference_accuracy.value == 1.0
    assert summarise(run.write()).reference_accuracy is None


@pytest.mark.parametrize(("lost", "has_headline"), [(1, True), (2, False)])
@pytest.mark.parametrize("how", ["failed", "missing"])
def test_above_one_per_cent_lost_there_is_no_headline(grid_run, formats, lost, has_headline, how):
    run = grid_run(_right, n_items=10, formats=formats[:4])
    if how == "failed":
        for trial in run.trials[:lost]:
            trial.update(outcome="failed", chosen=None)
    else:
        del run.trials[:lost]
    found = summarise(run.write(status="interrupted" if how == "missing" else "complete"))
    assert (found.counts.planned, found.counts.done) == (160, 160 - lost)
    assert getattr(found.counts, how) == lost
    if has_headline:
        assert found.grid_accuracy.value == 1.0
        assert found.spread is not None
    else:
        for key in ("grid_accuracy", "row_accuracy", "spread", "best_format", "worst_format"):
            assert getattr(found, key) is None
            assert "resume" in found.reasons[key]
        assert found.designs["grid"].grid_accuracy is None
    assert any(f"{lost} " in warning and how in warning for warning in found.warnings)


def test_an_outage_ends_in_null_and_not_in_a_tidy_number(builder):
    run = builder()
    for number, answer in enumerate((0, 3, 1, 2, 1, 3, 0, 2)):
        run.add_item(f"q{number}", answer=answer)
        run.add_trial(f"q{number}", outcome="failed", error="HTTP 503")
    found = summarise(run.write()).to_dict()
    assert found["grid_accuracy"] is None
    assert found["coverage"] is None
    assert found["counts"]["failed"] == 8
    assert found["outcomes"] == {"direct": {"failed": 8}}
    assert found["interfaces"] == {}


def test_a_run_that_was_just_started_has_a_summary(builder):
    run = builder()
    for number in range(3):
        run.add_item(f"q{number}")
        run.add_trial(f"q{number}", record=False)
    found = summarise(run.write(status="started"))
    assert (found.counts.missing, found.grid_accuracy, found.coverage) == (3, None, None)
    assert found.warnings[0].startswith("the run is started, not complete: 0 of 3")
    json.loads(found.to_json())


def test_faults_come_first_and_the_spread_is_told_without_them(grid_run):
    run = grid_run(lambda n, fmt, order: None if fmt[0] == "number" else n % 4, n_items=10)
    for trial in run.trials:
        if trial["id_set"] == "number":
            trial.update(reply=" ", longer_id="1", budget=1)
    found = summarise(run.write())
    assert [fault.name for fault in found.measurement_faults] == ["number"]
    assert found.warnings[0].startswith("measurement fault: ID set number")
    assert found.spread.value == 1.0
    assert found.spread_without_faults.value == 0.0
    assert found.coverage.value == pytest.approx(0.75)
    assert [part.value for part in (found.coverage_parts.needs_more_tokens, found.coverage_parts.out_of_scheme)] == [
        pytest.approx(0.25),
        0.0,
    ]


def test_a_level_that_is_rarely_answered_is_said_even_where_the_run_as_a_whole_is_covered(grid_run):
    run = grid_run(lambda n, fmt, order: None if fmt[0] == "roman" else n % 4, n_items=10)
    found = summarise(run.write())
    assert found.coverage.value == pytest.approx(0.75)
    assert found.measurement_faults == []
    (warning,) = [warning for warning in found.warnings if warning.startswith("coverage")]
    assert "with ID set roman" in warning


def test_scores_of_another_interface_show_what_replies_hide(builder, orders, formats):
    run = builder()
    for number in range(20):
        item = run.add_item(f"q{number}", answer=number % 4)
        for order in orders(4):
            run.add_trial(item, fmt=formats[0], order=order, reply="The")
            scores = [
                {"option_id": i, "logprob": -0.1 if o == number % 4 else -4.0}
                for i, o in zip("ABCD", order, strict=True)
            ]
            run.add_trial(
                item,
                fmt=formats[0],
                order=order,
                interface="direct-scores",
                event="id-scores",
                chosen=number % 4,
                id_scores=scores,
            )
    assert [fault.kind for fault in summarise(run.write()).measurement_faults] == ["never_emitted"]


def test_letters_at_chance_with_a_preferred_position_while_cloze_reads_well(builder, orders, formats):
    # a small language model: which position it likes changes with the format
    run = builder()
    places = {"upper": 1, "lower": 0, "number": 2, "roman": 3}
    for number in range(60):
        item = run.add_item(f"q{number:02d}", answer=number % 4)
        for draw in range(2):
            fmt, order = formats[(17 * number + 11 * draw) % 48], orders(4)[(number // 4 + draw) % 4]
            run.add_trial(
                item,
                fmt=fmt,
                order=order,
                interface="direct-scores",
                event="id-scores",
                chosen=order[places[fmt[0]]],
                designs=[("randomised", draw)],
            )
        run.add_trial(
            item,
            fmt=None,
            interface="cloze",
            event="option-likelihood",
            chosen=number % 4 if number % 6 else (number + 1) % 4,
            designs=[("reference", 0)],
        )
    found = summarise(run.write())
    assert (found.main_design, found.main_interface) == ("randomised", "direct-scores")
    assert list(found.designs) == ["randomised"]
    assert found.reference_accuracy is None
    letters, cloze = (
        next(s for s in found.findings if s.startswith(f"{name}:")) for name in ("direct-scores", "cloze")
    )
    assert "not to be told from chance" in letters
    assert "favourite position is chosen in" in letters
    assert "pp below cloze" in letters
    assert ", above chance" in cloze
    assert "position" not in cloze
    assert found.interfaces["direct-scores"].preference.rate.value > 0.9
    assert found.interfaces["cloze"].versus_chance == "above"


def test_a_breakdown_by_category_and_by_anything_else(grid_run, formats):
    run = grid_run(lambda n, fmt, order: n % 4 if n % 2 else None, n_items=6, formats=formats[:2])
    tables = run.write()
    assert summarise(tables).categories is None
    assert "categories" in summarise(tables).reasons
    for number, item in enumerate(run.items):
        item["category"] = "odd" if number % 2 else "even"
    found = summarise(run.write(), by="category")
    assert found.by == "category"
    assert [(row.name, row.accuracy.value) for row in found.groups] == [("even", 0.0), ("odd", 1.0)]
    assert found.groups == found.categories
    with pytest.raises(AnalysisError, match="cannot break down by 'mood'"):
        summarise(tables, by="mood")


def test_what_is_pinned_or_without_an_answer_is_said(grid_run, formats):
    run = grid_run(_right, n_items=40, formats=formats[:2])
    run.items[3].update(n_orders=1, notes=["options speak of positions", "two options are equal"])
    run.items[4].update(notes=["two options are equal"])
    run.items[5].update(answer=None)
    run.trials = [trial for trial in run.trials if trial["item"] != "q0003" or trial["order"][0] == 0]
    kept = {trial["trial"] for trial in run.trials}
    run.plan = [row for row in run.plan if row["trial"] in kept]
    found = summarise(run.write())
    assert found.screening.not_permuted == 1
    assert found.screening.notes == {"options speak of positions": 1, "two options are equal": 2}
    assert found.counts.items_without_answer == 1
    assert (found.grid_accuracy.n, found.selection.first_position.rate.n) == (39, 39)
    assert any("1 of 40 items were asked in one order only" in warning for warning in found.warnings)
    assert any("1 of 40 items have no known answer" in warning for warning in found.warnings)


def test_bad_input_counts_as_wrong_and_is_said(grid_run, formats):
    run = grid_run(_right, n_items=4, formats=formats[:1])
    for trial in run.trials[:4]:
        trial.update(outcome="bad_input", chosen=None, position=None)
    found = summarise(run.write())
    assert found.grid_accuracy.value == pytest.approx(0.75)
    assert found.coverage.trials == 12
    assert found.counts.bad_input == 4
    assert any("bad input" in warning for warning in found.warnings)


def test_an_imported_log_without_formats_and_orders_has_a_summary(builder):
    run = builder()
    for number in range(10):
        run.add_item(f"q{number}", answer=number % 4, n_orders=None, options=None, question=None)
        run.add_trial(f"q{number}", fmt=None, order=None, interface=None, chosen=number % 4 if number < 7 else 1)
    run.plan.clear()
    found = summarise(run.write(status="imported"))
    assert (found.main_design, found.main_interface) == ("imported", "unknown")
    assert found.grid_accuracy is None
    assert found.designs["imported"].accuracy.value == pytest.approx(0.8)
    assert found.baselines.chance is None
    json.loads(found.to_json())


def test_a_directory_without_trials_or_plan_is_an_error(builder):
    run = builder()
    run.add_item("q")
    with pytest.raises(AnalysisError, match="nothing to sum up"):
        summarise(run.write())


def test_the_json_holds_no_nan_and_reads_back(grid_run, orders, formats):
    run = grid_run(lambda n, fmt, order: n % 4 if fmt[1] == "dot" else None, n_items=5, formats=formats[:6])
    _add_interfaces(run, orders, formats, {"direct-scores": lambda n, order: None})
    found = summarise(run.write(), by="delimiter")
    text = found.to_json()
    values = dict(_leaves(json.loads(text)))
    assert not [path for path, value in values.items() if isinstance(value, float) and not math.isfinite(value)]
    assert Summary.model_validate_json(text).to_dict() == found.to_dict()


def test_every_key_that_is_null_has_its_reason(builder, grid_run, orders, formats):
    run = grid_run(_right, n_items=3, formats=formats[:2])
    reference = builder()
    reference.add_item("q")
    reference.add_trial("q", interface="direct-scores", event="id-scores", designs=[("reference", 0)])
    for tables in (run.write(), reference.write()):
        found = summarise(tables)
        told_elsewhere = {"dataset", "by"}
        blank = {key for key, value in found.to_dict().items() if value is None} - told_elsewhere
        assert blank == set(found.reasons)


def test_the_same_records_and_seed_give_the_same_json(grid_run, rng, formats):
    run = grid_run(lambda n, fmt, order: int(rng.integers(4)), n_items=12, formats=formats[:12])
    tables = run.write()
    first = summarise(tables, seed=1).to_json()
    # the same records, written in another order and other parts
    run.trials.reverse()
    run.path = run.path.with_name("again")
    assert summarise(run.write(), seed=1).to_json() == first
    assert summarise(tables, seed=2).to_json() != first


def test_every_key_is_documented(grid_run, orders, formats):
    run = grid_run(_right, n_items=3, formats=formats[:2])
    _add_interfaces(run, orders, formats, {"direct-scores": lambda n, order: n % 4})
    text = DOCUMENTED.read_text(encoding="utf-8")
    names = set()

    def collect(schema):
        for value in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
            collect(value)
        if isinstance(schema, dict) and isinstance(schema.get("properties"), dict):
            names.update(schema["properties"])

    collect(Summary.model_json_schema(mode="serialization"))
    missing = sorted(name for name in names if f"`{name}`" not in text)
    assert not missing


def test_fifty_thousand_trials_take_seconds(builder, formats, orders):
    run = builder()
    generator = np.random.default_rng(0)
    right = generator.random((260, 48, 4)) < 0.6
    for number in range(260):
        item = run.add_item(f"q{number:04d}", answer=number % 4, category=f"c{number % 5}")
        for f, fmt in enumerate(formats):
            for o, order in enumerate(orders(4)):
                run.add_trial(item, fmt=fmt, order=order, chosen=(number + int(not right[number, f, o])) % 4)
    tables = run.write()
    started = time.process_time()
    found = summarise(tables)
    assert time.process_time() - started < 8
    assert found.grid_accuracy.value == pytest.approx(right.mean())
    assert found.row_accuracy.trials == 49_920


def test_importing_the_analysis_loads_no_model_library():
    code = "import sys, vqaudit.analysis; print([m for m in ('torch', 'transformers', 'altair', 'statsmodels') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_only_interface_is_told_once(grid_run, formats):
    run = grid_run(lambda n, fmt, order: order[0], n_items=40, formats=formats[:4])
    found = summarise(run.write(), details=False).findings
    assert sum("accuracy" in sentence for sentence in found) == 1
    assert any(sentence.startswith("through direct, the first position is chosen in 100.0 %") for sentence in found)


def test_levels_are_warned_of_where_they_differ(grid_run, formats):
    roman = grid_run(lambda n, fmt, order: None if fmt[0] == "roman" else n % 4, n_items=12, formats=formats)
    assert sum("most replies there" in text for text in summarise(roman.write(), details=False).warnings) == 1
    silent = grid_run(lambda n, fmt, order: None, n_items=12, formats=formats)
    warnings = summarise(silent.write(), details=False).warnings
    assert any(text.startswith("coverage is 0.0 %") for text in warnings)
    assert not any("most replies there" in text for text in warnings)
