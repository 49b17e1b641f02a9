"""Rows into items, orders and repetitions."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vqaudit.asking.orders import apply_order, circular_orders
from vqaudit.errors import DatasetError
from vqaudit.logs import KnownItem, Log, LogRow, known_items, merge_logs, with_items
from vqaudit.logs.arrange import arrange
from vqaudit.logs.copies import STRIDE, grouped_by_index
from vqaudit.logs.orders import order_of

WORDS = st.lists(st.sampled_from(["heron", "stork", "crane", "ibis", "egret"]), min_size=2, max_size=6)


def row(number: int, item: str, options, answer: int | None = None, **more) -> LogRow:
    return LogRow(row=number, item=item, question="which?", options=tuple(options), answer=answer, reply="A", **more)


def rotations(options, answer: int, base: int = 7) -> list[LogRow]:
    rows = []
    for shift, order in enumerate(circular_orders(len(options))):
        shown = apply_order(order, options)
        rows.append(row(shift + 1, str(base + shift * STRIDE), shown, order.index(answer)))
    return rows


@given(WORDS, st.data())
def test_every_rotation_is_found_again_also_where_options_read_alike(options, data) -> None:
    answer = data.draw(st.integers(0, len(options) - 1))
    for order in circular_orders(len(options)):
        found = order_of(apply_order(order, options), options, position=order.index(answer), answer=answer)
        assert found is not None
        assert apply_order(found, options) == apply_order(order, options)
        assert found[order.index(answer)] == answer


@given(WORDS, st.randoms(use_true_random=False))
def test_any_order_is_found_again(options, random) -> None:
    order = list(range(len(options)))
    random.shuffle(order)
    found = order_of(apply_order(order, options), options)
    assert found is not None
    assert sorted(found) == list(range(len(options)))
    assert apply_order(found, options) == apply_order(order, options)


def test_rotated_copies_are_one_item_in_several_orders() -> None:
    arranged = arrange(grouped_by_index(rotations(["a", "b", "c"], answer=1)))
    assert [(q.name, q.orders, q.base.answer) for q in arranged.questions] == [("7", 3, 1)]
    assert [placed.order for placed in arranged.trials] == list(circular_orders(3))


def test_the_first_rotation_that_is_there_gives_the_order_of_the_options() -> None:
    arranged = arrange(grouped_by_index(rotations(["a", "b", "c"], answer=1)[1:]))
    assert arranged.questions[0].base.options == ("c", "a", "b")
    assert [placed.order for placed in arranged.trials] == [(0, 1, 2), (2, 0, 1)]


def test_numbers_below_a_million_are_no_copies() -> None:
    rows = [row(1, "7", "ab"), row(2, "8", "ba")]
    assert all(found.group is None for found in grouped_by_index(rows))


def test_one_number_with_two_sets_of_options_is_two_groups() -> None:
    rows = [*rotations(["a", "b"], answer=0), row(9, str(7 + 5 * STRIDE), ("x", "y"), 0)]
    arranged = arrange(grouped_by_index(rows))
    assert [(q.name, q.orders) for q in arranged.questions] == [("7", 2), (str(7 + 5 * STRIDE), 1)]


def test_a_copy_with_another_right_option_stands_alone_in_the_groups_cluster() -> None:
    first, second = rotations(["a", "b"], answer=0)
    arranged = arrange(grouped_by_index([first, replace(second, answer=0)]))
    assert [(q.name, q.cluster, q.note) for q in arranged.questions] == [
        ("7", "7", None),
        ("1000007 (row 2)", "7", "does not fit its group: rows of its group name another right option"),
    ]


def test_named_groups_with_other_options_are_kept_together_but_not_merged() -> None:
    rows = [row(1, "a", "xy", group="g"), row(2, "b", "xz", group="g")]
    arranged = arrange(rows)
    assert [(q.name, q.cluster) for q in arranged.questions] == [("g", "g"), ("b (row 2)", "g")]


def test_epochs_are_repetitions_and_numbered_where_the_log_does_not() -> None:
    told = arrange([row(1, "a", "xy", repeat=0), row(2, "a", "xy", repeat=1)])
    untold = arrange([row(1, "a", "xy"), row(2, "a", "xy"), row(3, "a", "xy")])
    assert [placed.repeat for placed in told.trials] == [0, 1]
    assert [placed.repeat for placed in untold.trials] == [0, 1, 2]
    assert len(untold.questions) == 1


def test_one_id_for_two_questions_is_refused() -> None:
    with pytest.raises(DatasetError, match="row 2: has the ID 'a' of row 1, but asks something else"):
        arrange([row(1, "a", "xy"), row(2, "a", "xz")])


def test_right_answers_come_from_the_data_set_in_whatever_order_the_log_shows() -> None:
    log = Log(format="llava", rows=(row(1, "7", "yx"), row(2, "9", "yx")))
    filled = with_items(log, {"7": KnownItem(options=("x", "y"), answer=0, category="birds", cluster="page 3")})
    assert [(found.answer, found.category, found.cluster) for found in filled.rows] == [
        (1, "birds", "page 3"),
        (None,) * 3,
    ]
    assert known_items(filled)["7"] == KnownItem(options=("y", "x"), answer=1, question="which?", category="birds")


def test_a_data_set_that_contradicts_the_log_is_refused() -> None:
    log = Log(format="llava", rows=(row(1, "7", "yx", 0),))
    with pytest.raises(DatasetError, match="item '7' shows other options"):
        with_items(log, {"7": KnownItem(options=("x", "z"), answer=0)})
    with pytest.raises(DatasetError, match="has the right option 'y' in the log, 'x' in the data set"):
        with_items(log, {"7": KnownItem(options=("x", "y"), answer=0)})
    with pytest.raises(DatasetError, match=r"none of the log's 1 IDs \(such as '7'\)"):
        with_items(log, {"8": KnownItem(options=("x", "y"), answer=0)})


def test_logs_of_one_model_are_merged_and_of_two_are_not() -> None:
    part = Log(format="lm-eval", model="m", dataset="art", rows=(row(1, "0", "xy"),))
    whole = merge_logs({"art": part, "law": replace(part, dataset="law", model=None)})
    assert [(found.item, found.category) for found in whole.rows] == [("art/0", "art"), ("law/0", "law")]
    assert (whole.model, whole.dataset) == ("m", "art and 1 more")
    with pytest.raises(DatasetError, match=r"of 2 models \(m, n\)"):
        merge_logs({"art": part, "law": replace(part, model="n")})
