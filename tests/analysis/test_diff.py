"""Two scores of one model, their difference split: every part placed where it was planted, and the sum exact."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vqaudit.analysis.diff import diff_runs
from vqaudit.analysis.diff_intervals import part_figure
from vqaudit.errors import AnalysisError
from vqaudit.records import RunTables, segment_hash, write_table
from vqaudit.records.schemas import SEGMENT_SCHEMA

OPTIONS = ("red", "green", "blue", "grey")
IDS = list("ABCD")
Trial = dict[str, object]


class Maker:
    """Writes runs out of (item, prompt, reply, chosen) rows; the answer is option 0."""

    def __init__(self, builder: Callable[..., object]) -> None:
        self._builder = builder

    def run(self, rows: Sequence[Trial], *, items: dict[str, Trial] | None = None, **manifest: object) -> RunTables:
        run = self._builder()
        texts: dict[str, str] = {}
        numbers = count()
        for row in rows:
            row = dict(row)
            name = str(row.pop("item"))
            if name not in {each["item"] for each in run.items}:
                known = {"question": f"Question {name}?", "options": list(OPTIONS), "n_orders": 4}
                run.add_item(name, **known | {"answer": 0} | (items or {}).get(name, {}))
            prompt = row.pop("prompt", None)
            if prompt is not None:
                texts[segment_hash(str(prompt))] = str(prompt)
                row["segments"] = [segment_hash(str(prompt))]
            known = {"event": "generation", "option_ids": IDS, "name": f"{name}-{next(numbers)}", "fmt": None}
            run.add_trial(name, designs=[("reference", 0)], **known | row)
        tables = run.write(**manifest)
        rows_out = [{"segment": key, "text": text} for key, text in texts.items()]
        write_table(tables.path / "segments.parquet", rows_out, SEGMENT_SCHEMA)
        return tables


@pytest.fixture
def maker(builder) -> Maker:
    return Maker(builder)


def row(item: str, prompt: str | None, reply: str | None, chosen: int | None, **more: object) -> Trial:
    return {"item": item, "prompt": prompt, "reply": reply, "chosen": chosen, **more}


def parts(found) -> dict[str, float]:
    return {part.cause: part.difference.value for part in found.parts}


def test_every_cause_is_found_where_it_was_planted(maker: Maker) -> None:
    a = maker.run(
        [
            row("p", "Pick p.", "B", 1),
            row("r", "Pick r.", "A", 0),
            row("q", "Pick q.", "The answer is A, I think", None),
            row("same", "Pick s.", "A", 0),
            row("gone", "Pick g.", "B", 1),
        ]
    )
    b = maker.run(
        [
            row("p", "Please pick p.", "A", 0),
            row("r", "Pick r.", "C", 2),
            row("q", "Pick q.", "The answer is A, I think", 0),
            row("same", "Pick s.", "A", 0),
            row("new", "Pick n.", "A", 0),
        ]
    )
    found = diff_runs(a, b)
    assert (found.a.accuracy.value, found.b.accuracy.value) == (0.4, 0.8)
    assert found.difference.value == pytest.approx(0.4)
    # over the four common items: one gained by its prompt, one lost by its reply, one gained by its reading
    assert parts(found) == pytest.approx({"items": 0.15, "prompts": 0.25, "readings": 0.25, "replies": -0.25})
    assert {flip.item: flip.cause for flip in found.flips} == {"p": "prompts", "r": "replies", "q": "readings"}
    assert found.matched["both"] == found.matched["by_id"] == 4
    assert (found.matched["only_a"], found.matched["only_b"]) == (1, 1)
    assert found.part("replies").lost == found.part("readings").gained == 1


def test_a_flip_shows_both_prompts_replies_and_readings(maker: Maker) -> None:
    a = maker.run([row("p", "Old?", "B", 1)])
    b = maker.run([row("p", "New?", "A", 0, prefill="So ")])
    flip = diff_runs(a, b).flips[0]
    assert (flip.a.prompt, flip.b.prompt) == ("Old?", "New?So ")
    assert (flip.a.reply, flip.a.chosen, flip.a.right) == ("B", "green", False)
    assert (flip.b.chosen, flip.b.right, flip.answer) == ("red", True, "red")


def test_other_readers_are_measured_against_one_common_reading(maker: Maker) -> None:
    """A's reader took no sentence at all; B's did. The replies differ too, so both parts must show."""
    a = maker.run(
        [row("x", "P", "The answer is A.", None), row("y", "P2", "The answer is B.", None)], reader_version="1"
    )
    b = maker.run([row("x", "P", "The answer is: A", 0), row("y", "P2", "The answer is A.", 0)], reader_version="2")
    found = diff_runs(a, b)
    assert parts(found) == pytest.approx({"items": 0, "prompts": 0, "readings": 0.5, "replies": 0.5})
    assert "read anew" in found.common_reading


def test_the_verdict_of_a_log_against_our_reading(maker: Maker) -> None:
    rows = [row(f"i{n}", f"P{n}", "A", 0, logged_right=n > 2) for n in range(8)]
    run = maker.run(rows)
    logged = diff_runs(run, run, scores=("logged", "reading"))
    assert parts(logged) == pytest.approx({"items": 0, "prompts": 0, "readings": 3 / 8, "replies": 0})
    assert diff_runs(run, run).a.score == "logged"
    assert diff_runs(run, run, scores=("reading", "lenient")).difference.value == 0.0


def test_items_are_matched_by_text_where_ids_differ(maker: Maker) -> None:
    texts = {"7": {"question": "Which  LAMP is on?"}, "8": {"question": "Which cup?"}}
    a = maker.run([row("7", "P", "A", 0), row("8", "Q", "A", 0)], items=texts)
    shuffled = {
        "x": {"question": "which lamp is on?", "options": ["blue", "red", "grey", "green"], "answer": 1},
        "y": {"question": "Which cup?", "answer": 2},
    }
    b = maker.run([row("x", "P", "A", 0), row("y", "Q", "A", 0)], items=shuffled)
    found = diff_runs(a, b)
    assert (found.matched["by_text"], found.matched["only_a"], found.matched["only_b"]) == (1, 1, 1)


def test_one_id_with_other_content_is_two_items(maker: Maker) -> None:
    a = maker.run([row("1", "P", "A", 0), row("2", "Q", "A", 0)])
    b = maker.run([row("1", "P", "A", 0), row("2", "Q", "A", 0)], items={"2": {"answer": 3}})
    found = diff_runs(a, b)
    assert found.matched["same_id_other_content"] == 1
    assert any("one ID" in warning for warning in found.warnings)
    assert parts(found)["items"] == pytest.approx(found.difference.value) == pytest.approx(-0.5)


def test_orders_without_a_counterpart_count_as_prompts(maker: Maker) -> None:
    orders = [[0, 1, 2, 3], [1, 2, 3, 0]]
    full = [row("1", f"P{n}", "A", n, order=order) for n, order in enumerate(orders)]
    found = diff_runs(maker.run(full), maker.run(full[:1]))
    assert (found.pairs["pairs"], found.pairs["unpaired_a"], found.pairs["same_prompt"]) == (1, 1, 1)
    assert parts(found) == pytest.approx({"items": 0, "prompts": 0.5, "readings": 0, "replies": 0})


def test_a_silent_log_is_called_silent(maker: Maker) -> None:
    a = maker.run([row("1", None, "B", 1, order=None)], status="imported")
    b = maker.run([row("1", "P", "A", 0)])
    assert parts(diff_runs(a, b)) == pytest.approx({"items": 0, "prompts": 0, "readings": 0, "replies": 0, "untold": 1})


@pytest.mark.parametrize(
    ("more", "manifest"),
    [
        ({"event": "id-scores"}, {}),
        ({}, {"system": "Be brief."}),
        ({}, {"image_max_pixels": 100}),
        ({"prefill": "The answer is"}, {}),
    ],
)
def test_interfaces_system_turns_and_prefills_are_prompts(maker: Maker, more: Trial, manifest: Trial) -> None:
    a = maker.run([row("1", "P", "B", 1)])
    b = maker.run([row("1", "P", "A", 0, **more)], **manifest)
    assert parts(diff_runs(a, b))["prompts"] == 1


def test_no_common_item_makes_all_of_it_items(maker: Maker) -> None:
    found = diff_runs(maker.run([row("1", "P", "A", 0)]), maker.run([row("2", "P", "B", 1)]))
    assert parts(found) == {"items": -1.0, "prompts": 0.0, "readings": 0.0, "replies": 0.0}
    assert any("no item in common" in warning for warning in found.warnings)


def test_what_cannot_be_explained_is_refused(maker: Maker) -> None:
    run = maker.run([row("1", "P", "A", 0)])
    blind = maker.run([row("1", "P", "A", 0)], items={"1": {"answer": None}})
    with pytest.raises(AnalysisError, match="no interface 'cloze'"):
        diff_runs(run, run, interfaces=("cloze", None))
    with pytest.raises(AnalysisError, match="no verdicts"):
        diff_runs(run, run, scores=("logged", "auto"))
    with pytest.raises(AnalysisError, match="no score 'best'"):
        diff_runs(run, run, scores=("best", "auto"))  # type: ignore[arg-type]
    with pytest.raises(AnalysisError, match="right answer is known"):
        diff_runs(blind, run)


TRIALS = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.sampled_from([None, "P", "Q"]),
        st.sampled_from([None, "A", "B", "It is C", "D or A", ""]),
        st.sampled_from([None, 0, 1]),
        st.sampled_from([[0, 1, 2, 3], [1, 2, 3, 0], None]),
        st.sampled_from(["generation", "reply", "id-scores"]),
    ),
    min_size=1,
    max_size=14,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(a=TRIALS, b=TRIALS, versions=st.sampled_from([("1", "1"), ("1", "2")]))
def test_the_parts_always_add_up(maker: Maker, a, b, versions) -> None:
    runs = [
        maker.run(
            [row(f"i{n}", p, r, c, order=o, event=e, interface="x") for n, p, r, c, o, e in rows],
            reader_version=version,
        )
        for rows, version in zip((a, b), versions, strict=True)
    ]
    found = diff_runs(*runs)
    assert sum(parts(found).values()) == pytest.approx(found.difference.value, abs=1e-12)
    assert found.difference.value == pytest.approx(found.b.accuracy.value - found.a.accuracy.value, abs=1e-12)
    back = diff_runs(*reversed(runs))
    mirrored = {cause: -value for cause, value in parts(back).items()}
    assert parts(found) == pytest.approx(mirrored, abs=1e-12)
    for part in found.parts:
        figure = part.difference
        widest = 2 if part.cause == "readings" else 1
        assert figure.low is None or -widest <= figure.low <= figure.value <= figure.high <= widest


def test_intervals_cover_a_known_part() -> None:
    """Of 120 items, a share p gains and a share q loses by a cause; the truth is p - q."""
    rng = np.random.default_rng(11)
    gain, loss, covered = 0.12, 0.05, 0
    for _ in range(400):
        drawn = rng.random(120)
        values = np.where(drawn < gain, 1.0, np.where(drawn < gain + loss, -1.0, 0.0))
        figure = part_figure(values, clusters=[str(n) for n in range(120)])
        assert figure.low is not None
        covered += figure.low <= gain - loss <= figure.high
    assert 0.92 <= covered / 400 <= 0.985


def test_the_interval_of_scores_on_partly_common_items(maker: Maker) -> None:
    """Compared with a bootstrap of the items that we did not write into the formula."""
    rng = np.random.default_rng(3)
    right = rng.random(150) < 0.6
    turned = np.where(rng.random(150) < 0.2, ~right, right)
    a = maker.run([row(f"i{n}", "P", "A", 0 if right[n] else 1) for n in range(100)])
    b = maker.run([row(f"i{n}", "P", "B", 0 if turned[n] else 1) for n in range(50, 150)])
    found = diff_runs(a, b).difference
    draws = []
    for _ in range(2000):
        items = rng.integers(0, 150, 150)
        in_a, in_b = items[items < 100], items[items >= 50]
        draws.append(turned[in_b].mean() - right[in_a].mean())
    assert found.low == pytest.approx(found.value - 1.96 * np.std(draws), abs=0.012)
    assert found.high == pytest.approx(found.value + 1.96 * np.std(draws), abs=0.012)


def test_a_part_that_readings_turn_twice_lies_in_its_interval() -> None:
    figure = part_figure([2.0] * 60, clusters=[str(n) for n in range(60)])
    assert figure.value == 2.0
    # half of the interval of 60 pairs that all differ by 1 (Bonett & Price 2012), doubled
    centre, units = 60 / 62, 62
    error = np.sqrt((units - 60**2 / units) / units**2)
    assert figure.low == pytest.approx(2 * (centre - 1.959964 * error), abs=1e-5)
    assert figure.low < figure.value <= figure.high


def test_items_of_one_cluster_count_once_where_runs_share_a_part_of_it(maker: Maker) -> None:
    """Clusters of two items: A holds the first of each, B both; drawn again cluster by cluster."""
    rng = np.random.default_rng(5)
    right = np.repeat(rng.random(80) < 0.5, 2)
    items = {f"i{n}": {"cluster": f"c{n // 2}"} for n in range(160)}
    a = maker.run([row(f"i{n}", "P", "A", 0 if right[n] else 1) for n in range(0, 160, 2)], items=items)
    b = maker.run([row(f"i{n}", "P", "B", 0 if right[n] else 1) for n in range(20, 160)], items=items)
    found = diff_runs(a, b).difference
    draws = []
    for _ in range(2000):
        clusters = rng.integers(0, 80, 80)
        draws.append(right[2 * clusters[clusters >= 10]].mean() - right[2 * clusters].mean())
    assert found.n == 80
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * np.std(draws), rel=0.15)


def test_runs_that_are_all_right_on_other_items_have_no_interval_of_no_width(maker: Maker) -> None:
    a = maker.run([row(f"i{n}", "P", "A", 0) for n in range(5)])
    b = maker.run([row(f"i{n}", "P", "A", 0) for n in range(3, 9)])
    found = diff_runs(a, b).difference
    assert (found.value, found.low, found.high) == (0.0, None, None)
    assert "score alike" in (found.reason or "")


def test_settings_are_named_and_models_told_apart(maker: Maker) -> None:
    a = maker.run([row("1", "P", "A", 0)], engine={"dtype": "float32"})
    b = replace(a, manifest=a.manifest.model_copy(update={"model": "other", "engine": {"dtype": "bfloat16"}}))
    found = diff_runs(a, b)
    assert {(each["name"], each["a"], each["b"]) for each in found.settings} >= {("dtype", "float32", "bfloat16")}
    assert any("two models" in warning for warning in found.warnings)
    assert found.to_dict()["difference"]["value"] == 0.0
