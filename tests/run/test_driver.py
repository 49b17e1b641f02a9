"""Every planned trial ends in exactly one visible record, whatever happens in between."""

import io
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from PIL import Image as Pillow

import vqaudit as va
from vqaudit.asking.designs import Grid, Randomised, Reference
from vqaudit.asking.formats import find_format
from vqaudit.asking.interfaces import find_interface
from vqaudit.asking.plan import Arm, Plan, make_plan
from vqaudit.engines.base import IDScore, IDScores, Outcome, Request
from vqaudit.engines.scripted import ScriptedEngine
from vqaudit.engines.simulated import SimulatedEngine
from vqaudit.errors import EngineError, EngineReplyError, RunConflict
from vqaudit.items.item import ImageSource, Item
from vqaudit.records import read_trials, records_digest, visible
from vqaudit.run import AskSpec, run_plan
from vqaudit.simulate import WorldSpec, make_world

REFERENCE = find_format("upper/dot/line_break")
SPEC = AskSpec()


def png(colour: str) -> bytes:
    buffer = io.BytesIO()
    Pillow.new("RGB", (4, 4), colour).save(buffer, "PNG")
    return buffer.getvalue()


def items(number: int, **changes) -> list[Item]:
    return [
        Item(
            id=f"i{k}",
            question=f"Question {k}?",
            options=("red", "green", "blue", "grey"),
            answer=k % 4,
            images=(ImageSource(data=png("red")),),
            **changes,
        )
        for k in range(number)
    ]


def plan(number: int = 6, interface: str = "direct", design=None) -> Plan:
    return make_plan(
        items(number), [Arm(interface=find_interface(interface), design=design or Reference(format=REFERENCE))]
    )


def records(out: Path) -> pl.DataFrame:
    return visible(read_trials(out))


class Flaky:
    """Wraps an engine; raises at given calls."""

    def __init__(self, inner, errors: dict[int, BaseException]) -> None:
        self.inner, self.errors, self.calls = inner, errors, 0
        self.asked: list[str] = []

    def __getattr__(self, name: str):
        return getattr(self.inner, name)

    def answer(self, batch: Sequence[Request]) -> Sequence[Outcome]:
        self.calls += 1
        self.asked += [request.trial for request in batch]
        if self.calls in self.errors:
            raise self.errors[self.calls]
        return self.inner.answer(batch)


def first(batch: int = 4) -> ScriptedEngine:
    return ScriptedEngine(lambda request: request.option_ids[0], batch=batch)


def test_every_planned_trial_has_exactly_one_record(tmp_path: Path) -> None:
    asked = plan(design=Grid())
    session = run_plan(asked, first(64), out=tmp_path, spec=SPEC)
    seen = records(tmp_path)
    assert session.asked == seen.height == len(asked) == 6 * 192
    assert seen["trial"].to_list() == sorted(trial.id for trial in asked.trials)
    assert seen["position"].unique().to_list() == [0]


def test_chosen_is_the_option_index_and_not_the_position(tmp_path: Path) -> None:
    run_plan(plan(), first(), out=tmp_path, spec=SPEC)
    for row in records(tmp_path).iter_rows(named=True):
        assert row["chosen"] == row["order"][0]
        assert row["reply"] == "A"


def test_segments_of_a_record_concatenate_to_its_prompt(tmp_path: Path) -> None:
    run = va.audit(first(), dataset(items(3)), out=tmp_path / "run", design="reference", progress=False)
    tables = run.tables()
    texts = tables.segments()
    row = tables.trials.filter(pl.col("order") == [0, 1, 2, 3]).row(0, named=True)
    whole = "".join(texts[segment] for segment in row["segments"])
    assert whole.startswith(f"Question {row['item'][1:]}?\nA. red\nB. green\nC. blue\nD. grey\nSelect the best answer")


def dataset(made: list[Item]):
    from vqaudit.items import Columns, Dataset

    return Dataset(
        name="test",
        path=Path("test.jsonl"),
        items=tuple(made),
        skipped=(),
        columns=Columns(),
        answers="index0",
        warnings=(),
        digest="d",
    )


def test_engine_sees_no_answer_no_item_and_no_format(tmp_path: Path) -> None:
    fields = set(Request.__dataclass_fields__)
    assert fields == {"trial", "parts", "images", "option_ids", "event", "system", "prefill"}
    seen: list[Request] = []
    run_plan(plan(2), ScriptedEngine(lambda r: seen.append(r) or "A"), out=tmp_path, spec=SPEC)
    assert {request.trial for request in seen}.isdisjoint({"i0", "i1"})


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), EngineError("gone"), MemoryError()])
def test_a_session_that_is_stopped_keeps_what_was_answered_and_goes_on(tmp_path: Path, stop: BaseException) -> None:
    asked = plan(12, design=Randomised(draws=3))
    whole = tmp_path / "whole"
    run_plan(asked, first(), out=whole, spec=SPEC)
    broken = tmp_path / "broken"
    if isinstance(stop, MemoryError):
        run_plan(asked, Flaky(first(), {3: stop}), out=broken, spec=SPEC)
        assert records(broken).filter(pl.col("outcome") == "failed").height == 4
    else:
        with pytest.raises(type(stop)):
            run_plan(asked, Flaky(first(), {3: stop}), out=broken, spec=SPEC)
        assert records(broken).height == 8
    again = Flaky(first(), {})
    session = run_plan(asked, again, out=broken, spec=SPEC)
    assert session.failed == 0
    assert len(again.asked) == session.asked < len(asked)
    assert records_digest(read_trials(broken)) == records_digest(read_trials(whole))


def test_a_finished_run_asks_nothing_more(tmp_path: Path) -> None:
    run_plan(plan(), first(), out=tmp_path, spec=SPEC)
    again = Flaky(first(), {})
    assert run_plan(plan(), again, out=tmp_path, spec=SPEC).asked == 0
    assert again.calls == 0


def test_a_hole_in_the_middle_is_filled_and_nothing_else(tmp_path: Path) -> None:
    # The shape of a real bug: resuming by counting lines re-ran the last one and never the hole.
    asked = plan(7, interface="cloze", design=Grid())
    world = make_world(asked, WorldSpec())
    holes = {asked.trials[2].id, asked.trials[6].id}
    partial = {trial: law for trial, law in world.items() if trial not in holes}
    run_plan(asked, SimulatedEngine(partial), out=tmp_path, spec=SPEC)
    again = Flaky(SimulatedEngine(world), {})
    run_plan(asked, again, out=tmp_path, spec=SPEC)
    assert set(again.asked) == holes
    assert records(tmp_path).filter(pl.col("outcome") == "failed").height == 0


def test_batch_sensitive_engines_rerun_a_batch_whole_and_write_only_what_is_missing(tmp_path: Path) -> None:
    asked = plan(4)
    world = make_world(asked, WorldSpec())
    hole = asked.trials[5].id
    run_plan(asked, SimulatedEngine({t: w for t, w in world.items() if t != hole}, batch=4), out=tmp_path, spec=SPEC)
    again = Flaky(SimulatedEngine(world, batch=4), {})
    again.batch_sensitive = True
    assert run_plan(asked, again, out=tmp_path, spec=SPEC).asked == 1
    assert again.asked == [trial.id for trial in asked.trials[4:8]]
    assert read_trials(tmp_path).height == len(asked) + 1


def test_a_broken_engine_stops_the_run_and_says_why(tmp_path: Path) -> None:
    broken = Flaky(first(), dict.fromkeys(range(1, 100), RuntimeError("no such device")))
    with pytest.raises(EngineError, match="no such device"):
        run_plan(plan(20), broken, out=tmp_path, spec=SPEC)
    assert broken.calls == 3


def test_missing_outcomes_fail_and_strangers_are_refused(tmp_path: Path) -> None:
    class Silent(Flaky):
        def answer(self, batch):
            return list(super().answer(batch))[1:]

    class Stranger(Flaky):
        def answer(self, batch):
            return [replace(outcome, trial="nobody") for outcome in super().answer(batch)]

    run_plan(plan(1), Silent(first(), {}), out=tmp_path / "1", spec=SPEC)
    failed = records(tmp_path / "1").filter(pl.col("outcome") == "failed")
    assert failed["error"].to_list() == ["the engine returned no outcome"]
    with pytest.raises(EngineReplyError):
        run_plan(plan(1), Stranger(first(), {}), out=tmp_path / "2", spec=SPEC)


def test_a_picture_that_cannot_be_decoded_is_a_record_and_not_asked_without_it(tmp_path: Path) -> None:
    good = items(9)
    bad = replace(good[7], images=(ImageSource(data=b"\x89PNG broken"),))
    gone = replace(good[8], images=(ImageSource(path=tmp_path / "gone.png"),))
    asked = make_plan(
        [*good[:7], bad, gone], [Arm(interface=find_interface("direct"), design=Reference(format=REFERENCE))]
    )
    engine = Flaky(first(), {})
    run_plan(asked, engine, out=tmp_path / "run", spec=SPEC)
    seen = records(tmp_path / "run")
    assert seen.height == 9 * 4
    assert seen.filter(pl.col("outcome") == "bad_input")["item"].unique().sort().to_list() == ["i7", "i8"]
    assert len(engine.asked) == 7 * 4
    assert run_plan(asked, engine, out=tmp_path / "run", spec=SPEC).asked == 0


def test_two_writers_in_one_run_are_refused(tmp_path: Path) -> None:
    inside, go = threading.Event(), threading.Event()

    def slow(request: Request) -> str:
        inside.set()
        go.wait(20)
        return "A"

    worker = threading.Thread(target=lambda: run_plan(plan(1), ScriptedEngine(slow), out=tmp_path, spec=SPEC))
    worker.start()
    assert inside.wait(20)
    with pytest.raises(RunConflict, match="written by another process"):
        run_plan(plan(1), first(), out=tmp_path, spec=SPEC)
    go.set()
    worker.join(20)


def test_a_tie_and_a_score_that_is_no_number_choose_nothing(tmp_path: Path) -> None:
    class Scores(Flaky):
        def check(self, events):
            pass

        def answer(self, batch):
            values = {0: [-1.0, -1.0, -2.0, -3.0], 1: [float("nan"), -1.0, -1.5, -2.0], 2: [-1.0, -0.5, -2.0, None]}
            return [
                Outcome(
                    trial=r.trial,
                    id_scores=tuple(
                        IDScore(option_id=i, logprob=v)
                        for i, v in zip(r.option_ids, values.get(k, [-0.1, -2.0, -3.0, -4.0]), strict=True)
                    ),
                )
                for k, r in enumerate(batch)
            ]

    asked = plan(1, interface="direct-scores")
    run_plan(asked, Scores(first(), {}), out=tmp_path, spec=SPEC)
    seen = {row["trial"]: row for row in records(tmp_path).iter_rows(named=True)}
    outcomes = [seen[trial.id]["outcome"] for trial in asked.trials]
    assert outcomes == ["ambiguous", "ambiguous", "ambiguous", "chosen"]
    assert seen[asked.trials[3].id]["margin"] == pytest.approx(1.9)
    assert isinstance(IDScores(), IDScores)


@pytest.mark.parametrize(
    ("prefixes", "outcome", "longer"),
    [
        (("A",), "chosen", None),
        (("", "A"), "empty", "A"),
        (("Option", "Option A"), "unreadable", None),
        (("(", "(B", "(B)"), "unreadable", None),
    ],
)
def test_the_three_coverages_are_told_apart(tmp_path: Path, prefixes, outcome, longer) -> None:
    class Budgeted(Flaky):
        def answer(self, batch):
            return [
                Outcome(trial=r.trial, reply=prefixes[0], prefixes=prefixes, finish_reason="stop", budget=1)
                for r in batch
            ]

    run_plan(plan(1), Budgeted(first(), {}), out=tmp_path, spec=SPEC)
    row = records(tmp_path).row(0, named=True)
    assert (row["outcome"], row["longer_id"]) == (outcome, longer)
    assert (row["reply"] + (row["further"] or "")) == prefixes[-1]


def test_another_model_or_dataset_under_the_same_name_is_refused_by_name(tmp_path: Path) -> None:
    made = dataset(items(2))
    va.audit(first(), made, out=tmp_path / "run", design="reference", progress=False)
    other = ScriptedEngine(lambda request: "A", name="another")
    with pytest.raises(RunConflict, match="model is 'scripted', now it is 'another'"):
        va.audit(other, made, out=tmp_path / "run", design="reference", progress=False)
    with pytest.raises(RunConflict, match="dataset"):
        va.audit(first(), replace(made, digest="e"), out=tmp_path / "run", design="reference", progress=False)


def test_a_run_can_grow_by_another_design(tmp_path: Path) -> None:
    made = dataset(items(4))
    va.audit(first(), made, out=tmp_path / "run", design="randomised", progress=False)
    run = va.audit(first(), made, out=tmp_path / "run", design="randomised", draws=3, progress=False)
    tables = run.tables()
    assert tables.manifest.status == "complete"
    assert tables.plan.filter(pl.col("draw") == 2).height == 4
    assert set(tables.plan["trial"]) == set(tables.trials["trial"])


def test_unknown_settings_are_refused_before_anything_is_loaded(tmp_path: Path) -> None:
    with pytest.raises(va.VqauditError, match="'desing'"):
        va.audit(first(), dataset(items(1)), out=tmp_path / "run", desing="grid", progress=False)
    with pytest.raises(va.VqauditError, match="no interface 'cott'"):
        va.audit(first(), dataset(items(1)), out=tmp_path / "run", interface="cott", progress=False)
    with pytest.raises(va.VqauditError, match="scripted engine has no probabilities"):
        va.audit(first(), dataset(items(1)), out=tmp_path / "run", interface="cot-prefix", progress=False)
    assert not (tmp_path / "run").exists()
