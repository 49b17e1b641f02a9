"""Trials to look at: the exact prompt, and nothing but what a test put there."""

import polars as pl

from vqaudit.asking.formats import find_format
from vqaudit.asking.interfaces import find_interface
from vqaudit.asking.prompts import make_variant, render
from vqaudit.report.examples import pick_examples


def test_a_prompt_is_byte_for_byte_what_was_asked(grid, asked_items) -> None:
    items = {item.id: item for item in asked_items(40)}
    orders = dict(grid.trials.select("trial", "order").iter_rows())
    shown = pick_examples(grid, interface="direct")
    examples = [*shown.unread, *(side for flip in shown.flips for side in (flip.right, flip.wrong))]
    assert len(examples) >= 6
    for example in examples:
        variant = make_variant(
            find_interface(example.interface), find_format(example.format), tuple(orders[example.trial])
        )
        assert example.prompt == render(items[example.item], variant).text


def test_a_flip_differs_in_the_format_alone(grid) -> None:
    flips = pick_examples(grid, interface="direct").flips
    orders = dict(grid.trials.select("trial", "order").iter_rows())
    assert len(flips) == 3
    assert len({flip.right.item for flip in flips}) == 3
    for flip in flips:
        assert (flip.by, flip.right.right, flip.wrong.right) == ("format", True, False)
        assert flip.right.item == flip.wrong.item
        assert list(orders[flip.right.trial]) == list(orders[flip.wrong.trial])
        assert flip.right.format != flip.wrong.format
        assert flip.right.chosen == flip.right.answer
        assert flip.wrong.chosen != flip.wrong.answer


def test_where_no_format_can_flip_orders_are_shown(folder, written_run, asked_items) -> None:
    run = written_run(folder("first"), items=asked_items(8), arms=[("direct", "reference")], mind=lambda asked: 0)
    flips = pick_examples(run, interface="direct").flips
    assert [flip.by for flip in flips] == ["order"] * 3
    assert all(flip.right.format == flip.wrong.format for flip in flips)


def test_unread_trials_are_of_different_kinds_and_keep_what_was_not_read(grid) -> None:
    unread = pick_examples(grid, interface="direct").unread
    kinds = {(example.interface, example.outcome, (example.format or "").split("/")[0]) for example in unread}
    assert len(kinds) == len(unread) == 2
    cut = next(example for example in unread if example.outcome == "empty")
    assert (cut.reply, cut.further, cut.chosen, cut.right) == ("", cut.answer, None, False)
    chatter = next(example for example in unread if example.outcome == "unreadable")
    assert chatter.reply == "It is hard to say."


def test_failed_trials_are_no_examples(folder, written_run, asked_items, pretended) -> None:
    knows = pretended(0.5)
    run = written_run(
        folder("failing"),
        items=asked_items(8),
        arms=[("direct", "grid")],
        mind=lambda asked: None if asked.item.id == "item-3" else knows(asked),
    )
    shown = pick_examples(run, interface="direct")
    assert shown.unread == ()
    assert "item-3" not in {flip.right.item for flip in shown.flips}


def test_the_same_records_always_show_the_same(grid) -> None:
    shuffled = grid.trials.sample(fraction=1.0, shuffle=True, seed=7)
    assert pick_examples(type(grid)(**_fields(grid) | {"trials": shuffled}), interface="direct") == pick_examples(
        grid, interface="direct"
    )


def _fields(tables) -> dict:
    return {name: getattr(tables, name) for name in ("path", "manifest", "items", "plan", "trials", "attempts")}


def test_a_log_without_prompts_says_so(grid) -> None:
    silent = grid.trials.with_columns(segments=pl.lit(None, dtype=pl.List(pl.String)))
    shown = pick_examples(type(grid)(**_fields(grid) | {"trials": silent}), interface="direct")
    assert {flip.right.prompt for flip in shown.flips} == {None}


def test_scores_are_probabilities_of_ids(scores_only) -> None:
    shown = pick_examples(scores_only, interface="direct-scores", flips=5)
    assert shown.unread == ()
    for flip in shown.flips:
        assert sum(probability for _, probability in flip.right.scores) == 1.0
