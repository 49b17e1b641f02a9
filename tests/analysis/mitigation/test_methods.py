from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from vqaudit.analysis.mitigation import Calibration, material_of, mitigations, mitigations_across
from vqaudit.errors import AnalysisError
from vqaudit.records import RunTables

NAME = "upper/dot/line_break"


def knows(n_items=12, options=4, seed=0, by=3.0):
    """Items x options of content: the right option leads in most items."""
    content = np.random.default_rng(seed).normal(0, 1, (n_items, options))
    content[np.arange(n_items), np.arange(n_items) % options] += by
    return content


def test_pride_undoes_a_constant_id_bias(scored_run):
    content, bias = knows(40), np.array([4.0, 0.0, -1.0, 0.5])
    tables = scored_run(content, bias).write(reference_format=NAME)
    found = mitigations(material_of(tables), calibration=Calibration(share=0.25, seed=1))
    taught = sum(prior.calibration_items for prior in found.pride_priors)
    assert taught == 10
    assert found.methods["pride"].items == 30
    assert found.pride_priors[0].prior == pytest.approx(np.exp(bias) / np.exp(bias).sum())
    right = content.argmax(axis=1) == np.arange(40) % 4
    judged = found.methods["pride"].accuracy.value * 30
    assert judged == pytest.approx(round(judged))
    assert right.sum() - 10 <= judged <= right.sum()
    assert found.methods["vanilla"].accuracy.value < found.methods["pride"].accuracy.value
    # 30 items once and 10 in four rotations
    assert found.methods["pride"].passes == 30 + 40


def test_pride_calibrates_on_another_run(scored_run):
    bias = np.array([3.0, 0.0, -1.0, 0.5])
    other = scored_run(knows(8, seed=5), bias).write(reference_format=NAME)
    content = knows(20)
    tables = scored_run(content, bias).write(reference_format=NAME)
    found = mitigations(material_of(tables), calibration=Calibration(run=other)).methods["pride"]
    assert found.items == 20
    assert found.accuracy.value == pytest.approx((content.argmax(axis=1) == np.arange(20) % 4).mean())
    assert "another run" in found.note


@pytest.mark.parametrize(
    ("changed", "message"),
    [({"model": "other"}, "one model"), ({"reference_format": "lower/dot/comma"}, "one format")],
)
def test_a_prior_of_another_model_or_format_is_refused(scored_run, changed, message):
    content, bias = knows(8), np.zeros(4)
    other = scored_run(content, bias).write(**({"reference_format": NAME} | changed))
    tables = scored_run(content, bias).write(reference_format=NAME)
    found = mitigations(material_of(tables), calibration=Calibration(run=other))
    assert message in found.not_applicable["pride"]


def test_pride_says_what_it_would_need(scored_run):
    tables = scored_run(knows(8), np.zeros(4), scores=False).write(reference_format=NAME)
    found = mitigations(material_of(tables))
    assert "kept replies only" in found.not_applicable["pride"]
    assert "cloze" in found.not_applicable["cp_ln"]
    assert "randomised" in found.not_applicable["randomised"]
    assert found.gold is None
    assert found.methods["vanilla"].difference is None


def test_methods_of_the_reference_format_by_hand(builder, orders):
    # four options; chosen option by rotation: all right, three right, a tie of two, a majority of wrong ones
    run = builder()
    choices = [(0, 0, 0, 0), (0, 0, 0, 1), (0, 0, 1, 1), (2, 2, 0, None)]
    for number, picked in enumerate(choices):
        name = run.add_item(f"q{number}", answer=0)
        for order, chosen in zip(orders(4), picked, strict=True):
            run.add_trial(
                name, fmt=("upper", "dot", "line_break"), order=order, chosen=chosen, designs=[("reference", 0)]
            )
    found = mitigations(material_of(run.write(reference_format=NAME))).methods
    assert found["vanilla"].accuracy.value == 3 / 4
    assert found["circular"].accuracy.value == (4 + 3 + 2 + 1) / 16
    assert found["circular_majority"].accuracy.value == 2 / 4
    assert found["circular_strict"].accuracy.value == 1 / 4
    assert [found[name].passes for name in ("vanilla", "circular", "pia")] == [4, 16, 16]


def test_differences_are_paired_with_the_grid(grid_run):
    # right in the reference format alone
    run = grid_run(lambda n, fmt, order: n % 4 if "/".join(fmt) == NAME else None, n_items=8)
    found = mitigations(material_of(run.write(reference_format=NAME)))
    assert found.gold.value == pytest.approx(1 / 48)
    assert found.gold_passes == 8 * 48 * 4
    for name in ("vanilla", "circular", "circular_majority", "circular_strict", "pia"):
        assert found.methods[name].accuracy.value == pytest.approx(1)
        assert found.methods[name].difference.value == pytest.approx(47 / 48)
        assert found.methods[name].difference.low > 0.3
    assert found.methods["randomised"].passes == 8
    assert found.pia_by_all == pytest.approx(1 / 4)


def test_pia_of_an_always_first_model_on_records(grid_run):
    run = grid_run(lambda n, fmt, order: order[0], n_items=8, formats=[("upper", "dot", "line_break")])
    found = mitigations(material_of(run.write(reference_format=NAME))).methods
    assert found["circular"].accuracy.value == pytest.approx(1 / 4)
    assert found["pia"].accuracy.value == pytest.approx(1 / 16)
    assert "position 1, 2, 3" in found["pia"].note


def test_mixed_option_counts_have_a_prior_each_and_no_pia(scored_run, builder):
    run = scored_run(knows(10), np.array([2.0, 0, 0, 0]))
    two = scored_run(knows(10, options=2), np.array([1.0, -1.0]))
    for item in two.items:
        run.items.append(item | {"item": f"two-{item['item']}", "cluster": f"two-{item['item']}"})
    for rows, own in ((two.plan, run.plan), (two.trials, run.trials)):
        own.extend(row | {"item": f"two-{row['item']}", "trial": f"two-{row['trial']}"} for row in rows)
    found = mitigations(material_of(run.write(reference_format=NAME)))
    assert [prior.options for prior in found.pride_priors] == [2, 4]
    assert found.pride_priors[0].prior == pytest.approx(np.exp([1, -1]) / np.exp([1, -1]).sum())
    assert "2, 4" in found.not_applicable["pia"]


def test_cloze_counts_a_pass_per_option(builder):
    run = builder()
    for number in range(4):
        name = run.add_item(f"q{number}", n_options=3, answer=0)
        run.add_trial(name, order=(0, 1, 2), fmt=("upper", "dot", "line_break"), chosen=0, designs=[("reference", 0)])
        run.add_trial(
            name, fmt=None, order=(0, 1, 2), interface="cloze", event="option-likelihood",
            chosen=number % 2, designs=[("reference", 0)],
        )  # fmt: skip
    tables = run.write(reference_format=NAME, interfaces={"cloze": {"options_shown": False}})
    found = mitigations(material_of(tables)).methods["cp_ln"]
    assert (found.accuracy.value, found.passes, found.interface) == (0.5, 12, "cloze")


@pytest.mark.parametrize("share", [0, 1, -0.5])
def test_a_share_outside_its_range_is_refused(share):
    with pytest.raises(AnalysisError, match="between 0 and 1"):
        Calibration(share=share)


def ranked(grid_run, level, model):
    """A model that is right in the share `level` of the formats, the reference one not among them."""

    def choose(number, fmt, order):
        place = sum(map(ord, "".join(fmt))) % 48
        return number % 4 if place < level * 48 and "/".join(fmt) != NAME else None

    return material_of(grid_run(choose, n_items=12, model=model).write(reference_format=NAME))


def test_methods_across_models_rank_as_they_should(grid_run):
    runs = {name: ranked(grid_run, level, name) for name, level in (("a", 0.9), ("b", 0.5), ("c", 0.2))}
    items = pl.Series([f"q{n:04d}" for n in range(12)])
    found = mitigations_across(runs, items)
    assert found.gold_rank == {"a": 1, "b": 2, "c": 3}
    assert found.methods["vanilla"].spearman is None
    assert found.methods["vanilla"].correctly_ranked == 1
    assert found.redraws.draws == 500
    assert found.redraws.spearman > 0.8
    assert found.redraws.mean_error_pp < found.methods["vanilla"].mean_error_pp
    assert found.gold_passes == 12 * 48 * 4


def test_methods_across_models_need_two_runs_with_a_grid(grid_run, scored_run):
    one = ranked(grid_run, 0.5, "a")
    items = pl.Series([f"q{n:04d}" for n in range(12)])
    with pytest.raises(AnalysisError, match="at least two"):
        mitigations_across({"a": one}, items)
    other = material_of(scored_run(knows(12), np.zeros(4)).write(reference_format=NAME))
    with pytest.raises(AnalysisError, match="grid accuracy"):
        mitigations_across({"a": one, "b": other}, pl.Series(["q000"]))


def test_a_random_pass_drawn_again_is_unbiased_for_the_grid(grid_run, rng):
    from vqaudit.analysis.mitigation.redraw import draw_again, grid_values

    run = grid_run(lambda n, fmt, order: n % 4 if (n + len(fmt[1]) + order[0]) % 3 else None, n_items=50)
    material = material_of(run.write(reference_format=NAME))
    grid = grid_values(material.main.done)
    formats, orders = draw_again(grid, draws=2000, generator=rng)
    means = grid.values[np.arange(50), formats, orders].mean(axis=1)
    truth = grid.values.mean()
    assert abs(means.mean() - truth) < 4 * means.std() / np.sqrt(means.size)
    # the first block holds every format once
    assert all(sorted(row) == list(range(48)) for row in formats[:20, :48])


def test_tables_are_read_once(scored_run, tmp_path):
    tables = scored_run(knows(8), np.zeros(4)).write(reference_format=NAME)
    again = mitigations(material_of(RunTables.load(tables.path)))
    assert again.model_dump() == mitigations(material_of(tables)).model_dump()


def test_a_grid_with_holes_is_drawn_again_from_what_is_there(grid_run):
    def holed(model):
        run = grid_run(lambda n, fmt, order: n % 4 if n % 2 else None, n_items=2, model=model)
        run.trials = [row for place, row in enumerate(run.trials) if place % 3]
        return material_of(run.write(reference_format=NAME))

    found = mitigations_across({"a": holed("a"), "b": holed("b")}, pl.Series(["q0000", "q0001"])).redraws
    # both models tie in every draw, so that no draw ranks them
    assert 0 < found.draws < 500
    assert found.spearman is None
