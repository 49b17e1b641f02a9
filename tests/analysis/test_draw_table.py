"""The figures of a summary are those of the array functions, on the trials of the real design."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from vqaudit.analysis import compare, summarise
from vqaudit.analysis.designs import main_trials, planned_trials
from vqaudit.analysis.draw_table import draw_table, drawn_mean
from vqaudit.analysis.drawn import (
    Drawn,
    items_variance,
    mean_interval,
    weigh,
    within_item_variance,
    within_stratum_variance,
)
from vqaudit.analysis.frame import analysis_frame
from vqaudit.asking.designs import Randomised, draws


@pytest.fixture
def randomised(builder):
    """Returns a maker of randomised runs as `asking.designs` draws them; a model is right as `knows` says."""

    def make(knows, *, n_items=192, k=1, model="pretended", cluster=None):
        run = builder(model)
        names = [
            run.add_item(f"q{i:04d}", answer=i % 4, **({} if cluster is None else {"cluster": cluster(i)}))
            for i in range(n_items)
        ]
        seen = {}
        for cell in draws(Randomised(draws=k, seed=3), [4] * n_items, [True] * n_items):
            fmt = (cell.format.id_set.name, cell.format.delimiter.name, cell.format.separator.name)
            key = (cell.item, fmt, cell.order)
            if key in seen:
                row = next(row for row in run.plan if row["trial"] == seen[key])
                run.plan.append(row | {"draw": cell.draw})
                continue
            answer = cell.item % 4
            chosen = answer if knows(cell.item, fmt, cell.order) else (answer + 1) % 4
            seen[key] = run.add_trial(
                names[cell.item], fmt=fmt, order=cell.order, designs=[("randomised", cell.draw)], chosen=chosen
            )
        return run

    return make


def _knows(seed=0, base=0.5):
    generator = np.random.default_rng(seed)
    ability = generator.normal(base, 1, 1000)
    return lambda item, fmt, order: ability[item] + (fmt[0] == "roman") * -2 + generator.normal() > 0


def _table(tables, value="right"):
    frame = analysis_frame(tables)
    return draw_table(main_trials(frame, planned_trials(tables, frame)), value)


@pytest.mark.parametrize(("k", "conservative"), [(1, True), (2, False), (4, False)])
def test_a_summary_has_the_figures_of_the_arrays(randomised, k, conservative):
    tables = randomised(_knows(), k=k).write()
    table, found = _table(tables), summarise(tables)
    drawn = Drawn(table.values, table.formats, 48, np.arange(192))
    weights = weigh(table.values, by_item=True)
    like_these = mean_interval(items_variance(drawn, weights))
    within = within_stratum_variance if k == 1 else within_item_variance
    here = mean_interval(within(drawn, weights))
    assert found.grid_accuracy.value == pytest.approx(table.values.mean())
    assert (found.grid_accuracy.low, found.grid_accuracy.high) == pytest.approx(
        (float(like_these.low), float(like_these.high))
    )
    own = found.this_dataset.grid_accuracy
    assert (own.low, own.high) == pytest.approx((float(here.low), float(here.high)))
    assert found.this_dataset.conservative is conservative
    assert ("conservative" in found.this_dataset.sentence) is conservative
    if k == 4:
        assert own.high - own.low < found.grid_accuracy.high - found.grid_accuracy.low


def test_levels_count_every_draw_once_and_have_both_intervals(randomised):
    tables = randomised(_knows(), k=2).write()
    table = _table(tables)
    roman = table.levels[table.formats, 0] == table.names[0].index("roman")
    row = next(row for row in summarise(tables).factors["id_set"] if row.name == "roman")
    assert row.accuracy.value == pytest.approx(table.values[roman].mean())
    assert row.accuracy_this_dataset.value == row.accuracy.value
    assert row.accuracy.trials == int(roman.sum()) == 2 * 192 / 4
    assert row.coverage_this_dataset.value == 1.0
    assert row.coverage_this_dataset.low < 1.0


def test_a_grid_has_no_interval_for_this_dataset(grid_run, formats):
    found = summarise(grid_run(lambda n, fmt, order: n % 4, n_items=4, formats=formats[:3]).write())
    assert found.this_dataset is None
    assert "exact" in found.reasons["this_dataset"]


def test_duplicates_in_groups_widen_the_interval_for_items_like_these_alone(randomised):
    generator = np.random.default_rng(5)
    ability = np.repeat(generator.normal(0, 3, 48), 4)

    def knows(item, fmt, order):
        return ability[item] > 0

    apart = summarise(randomised(knows).write())
    groups = summarise(randomised(knows, cluster=lambda i: f"g{i // 4}").write())
    assert groups.grid_accuracy.n == 48
    width = [s.grid_accuracy.high - s.grid_accuracy.low for s in (apart, groups)]
    assert width[1] > 1.7 * width[0]
    assert groups.this_dataset.grid_accuracy.low == pytest.approx(apart.this_dataset.grid_accuracy.low)


def test_few_items_collapse_strata(randomised):
    found = drawn_mean(_table(randomised(_knows(), n_items=8).write()))
    assert found.conservative
    assert found.this_dataset.low < found.this_dataset.value < found.this_dataset.high


def test_failed_trials_leave_their_draw(randomised):
    run = randomised(_knows(), k=2)
    run.trials[0] |= {"outcome": "failed", "chosen": None, "position": None}
    table = _table(run.write())
    assert np.isnan(table.values).sum() == 1
    assert drawn_mean(table).items_like_these.trials == 2 * 192 - 1


def test_models_are_paired_draw_by_draw(randomised):
    one = randomised(_knows(1, 1.0), k=2, model="one").write()
    two = randomised(_knows(2, 0.2), k=2, model="two").write()
    found = compare([one, two])
    pair = found.pairs[0]
    a, b = _table(one), _table(two)
    assert a.same_draws(b)
    assert pair.difference.value == pytest.approx((a.values - b.values).mean())
    assert pair.difference_this_dataset.value == pair.difference.value
    assert pair.better == pair.better_this_dataset == "one"
    assert found.statements_this_dataset[0].startswith("one is better than two")
    assert found.runs[0].accuracy_this_dataset.low < found.runs[0].accuracy.value


def test_other_draws_are_not_paired_by_draw(randomised, builder):
    one = randomised(_knows(1), model="one").write()
    two = randomised(_knows(2), model="two")
    for row in two.trials:
        row["delimiter"] = "dot" if row["delimiter"] == "colon" else "colon"
    found = compare([one, two.write()])
    assert found.pairs[0].difference_this_dataset is None
    assert found.statements_this_dataset == []
    assert "same draws" in found.reasons["statements_this_dataset"]


def test_the_first_draws_are_what_was_known_before(randomised):
    two = _table(randomised(_knows(), k=2).write())
    assert two.first(1).values.shape == (192, 1)
    assert (two.first(1).formats[:, 0] == two.formats[:, 0]).all()
    assert pl.Series(two.of_items([3, 1]).items).to_list() == [3, 1]
