"""Records bit by bit, each with what it was worth: the only place where right and wrong are decided.

Knows the columns of trials and of items. Knows no formula and no run. Lists become numbers and names enumerations here,
so that millions of trials fit into memory.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from vqaudit.errors import AnalysisError
from vqaudit.records import trial_columns

__all__ = ["FACTORS", "GENERATED_EVENTS", "JUDGED_SCHEMA", "NAMES", "ORDER_CODES", "joined", "judged", "numbered_items"]

FACTORS = ("id_set", "delimiter", "separator")
"""What a format is made of, in the order in which its name is written."""
GENERATED_EVENTS = ("reply", "forced-token")
"""Events whose reply can be exactly an ID: those that have a coverage."""
NAMES = ("interface", "event", *FACTORS, "format", "outcome")
"""Columns that hold few different names."""
ORDER_CODES = {"order": ("_order_0", "_order_13"), "id_order": ("_id_order_0", "_id_order_13")}
"""Column of lists -> the two numbers that stand for it: equal lists have equal numbers."""

_TRIAL_COLUMNS = (
    *("trial", "item", "interface", "event", *FACTORS, "order", "id_order", "option_ids"),
    *("outcome", "position", "chosen", "reply", "longer_id", "lenient_outcome", "lenient_chosen"),
    *("id_scores", "id_mass", "watch_mass", "budget", "seconds", "tokens_computed", "tokens_reused"),
    *("id_bound", "tokens_written", "tries", "attempt"),
)
JUDGED_SCHEMA = trial_columns(_TRIAL_COLUMNS, inner={"id_scores": ("logprob",)})
"""What `judged` needs of the records; a reader that is given it reads no more."""
_WORKING_COLUMNS = (
    *("order", "id_order", "option_ids", "id_scores", "id_bound", "item", "lenient_outcome", "lenient_chosen"),
    *("_scored", "_options"),
)
_DIGITS = 13
"""Places of an order that fit into one 64-bit number, at 27 values a place."""


def numbered_items(items: pl.DataFrame) -> pl.DataFrame:
    """Returns what `judged` needs of a run's items: `item`, `answer`, number of options, and `item_code` (row number).

    Raises:
        AnalysisError: An item stands there twice.
    """
    if items["item"].is_duplicated().any():
        twice = items.filter(pl.col("item").is_duplicated())["item"][0]
        raise AnalysisError(f"items.parquet holds item {twice!r} twice; each item needs one row")
    code = pl.int_range(pl.len(), dtype=pl.UInt32)
    return items.select("item", "answer", _options=pl.col("options").list.len(), item_code=code)


def judged(trials: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    """Returns the records with their verdicts, one row each, in the same sequence; columns as in `analysis_frame`.

    Args:
        trials: Records with at least the columns of `JUDGED_SCHEMA`.
        items: From `numbered_items`.

    Raises:
        AnalysisError: A trial names an item that the run's items do not hold.
    """
    trials = trials.select(_TRIAL_COLUMNS).with_columns(pl.col("interface").fill_null("unknown"))
    frame = trials.join(items, on="item", how="left", maintain_order="left")
    _check_items(frame)
    frame = frame.with_columns(_n_options(), _format(), ordered=pl.col("order").is_not_null())
    frame = _with_best_scores(frame.with_columns(_answer_position(frame), *_codes(frame)))
    frame = frame.with_columns(_right_columns()).with_columns(_enumerated(frame, NAMES))
    return frame.drop(*_WORKING_COLUMNS)


def joined(bits: list[pl.DataFrame]) -> pl.DataFrame:
    """Returns what `judged` made of the records as one table."""
    names = {name: sorted({value for bit in bits for value in _categories(bit[name])}) for name in NAMES}
    kinds = [pl.col(name).cast(pl.String).cast(pl.Enum(values)) for name, values in names.items()]
    return pl.concat([bit.with_columns(kinds) for bit in bits])


def _categories(names: pl.Series) -> list[str]:
    assert isinstance(names.dtype, pl.Enum)
    return names.dtype.categories.to_list()


def _check_items(frame: pl.DataFrame) -> None:
    orphans = frame.filter(pl.col("item_code").is_null())
    if orphans.height:
        trial, item = orphans.select("trial", "item").row(0)
        raise AnalysisError(
            f"{orphans.height} trials have no item in items.parquet, first trial {trial!r} with item {item!r}; "
            "the run directory is incomplete"
        )


def _n_options() -> pl.Expr:
    known = pl.coalesce("_options", pl.col("order").list.len(), pl.col("option_ids").list.len())
    return known.cast(pl.Int16).alias("n_options")


def _format() -> pl.Expr:
    return pl.concat_str(FACTORS, separator="/").alias("format")


def _longest(lists: pl.Series) -> int:
    longest = lists.list.len().max()
    return longest if isinstance(longest, int) else 0


def _answer_position(frame: pl.DataFrame) -> pl.Expr:
    # one comparison per place is quicker than opening half a million lists, and no list is longer than 26
    places = range(_longest(frame["order"]))
    found = [pl.when(_at("order", place) == pl.col("answer")).then(place) for place in places]
    position = pl.coalesce(found) if found else pl.lit(None)
    return position.cast(pl.Int16).alias("answer_position")


def _at(column: str, place: int) -> pl.Expr:
    return pl.col(column).list.get(place, null_on_oob=True)


def _codes(frame: pl.DataFrame) -> list[pl.Expr]:
    return [
        _packed(column, range(start, min(start + _DIGITS, _longest(frame[column])))).alias(name)
        for column, names in ORDER_CODES.items()
        for start, name in zip((0, _DIGITS), names, strict=True)
    ]


def _packed(column: str, places: range) -> pl.Expr:
    """Writes these places of a list as one number to base 27; 0 stands for no such place."""
    digits = [(_at(column, place).cast(pl.Int64) + 1).fill_null(0) * 27**power for power, place in enumerate(places)]
    return pl.sum_horizontal([pl.lit(0, dtype=pl.Int64), *digits])


def _with_best_scores(frame: pl.DataFrame) -> pl.DataFrame:
    """Adds `_scored`: the position whose ID alone has the highest score, -1 at a tie, null where none is known."""
    places = range(_longest(frame["id_scores"]))
    if not places:
        return frame.with_columns(_scored=pl.lit(None, dtype=pl.Int16))
    scores = frame.select(scores=pl.col("id_scores").list.eval(pl.element().struct.field("logprob")))
    wide = scores.select([_at("scores", place).alias(str(place)) for place in places])
    best = pl.max_horizontal([pl.col(name).fill_nan(None) for name in wide.columns])
    ties = pl.sum_horizontal([(pl.col(name) == best).fill_null(False) for name in wide.columns])
    finite = pl.all_horizontal([pl.col(name).is_finite().fill_null(True) for name in wide.columns])
    first = pl.coalesce([pl.when(pl.col(name) == best).then(int(name)) for name in wide.columns])
    known = pl.any_horizontal([pl.col(name).is_not_null() for name in wide.columns])
    # an ID without a score, as in a server's list of likely tokens, may have all that is left, and be the likeliest
    missing = scores["scores"].list.eval(pl.element().is_null()).list.any().fill_null(False)
    rest = 1 - pl.sum_horizontal([pl.col(name).fill_nan(None).exp() for name in wide.columns])
    known &= ~missing | (best > frame["id_bound"]).fill_null(False) | (best.exp() > rest)
    scored = pl.when(known).then(pl.when(finite & (ties == 1)).then(first).otherwise(-1))
    return frame.with_columns(wide.select(scored.cast(pl.Int16).alias("_scored")).to_series())


def _right_columns() -> list[pl.Expr]:
    failed = pl.col("outcome") == "failed"
    done = ~failed
    judged = done & pl.col("answer").is_not_null()
    answered = pl.col("outcome") == "chosen"
    lenient = pl.col("lenient_outcome").is_not_null()
    generated = done & pl.col("event").is_in(GENERATED_EVENTS) & (pl.col("outcome") != "bad_input")
    placed = judged & pl.col("_scored").is_not_null() & pl.col("answer_position").is_not_null()
    lenient_right = (pl.col("lenient_outcome") == "chosen") & (pl.col("lenient_chosen") == pl.col("answer"))
    longer = ~answered & pl.col("longer_id").is_not_null()
    return [
        failed.alias("failed"),
        pl.when(done).then(answered).alias("answered"),
        pl.when(judged).then((answered & (pl.col("chosen") == pl.col("answer"))).fill_null(False)).alias("right"),
        pl.when(judged & lenient).then(lenient_right.fill_null(False)).alias("lenient_right"),
        pl.when(placed).then(pl.col("_scored") == pl.col("answer_position")).alias("scored_right"),
        pl.when(generated).then(answered).alias("covered"),
        pl.when(generated).then(longer).alias("longer"),
        pl.when(generated & ~answered).then("reply").alias("reply"),
    ]


def _enumerated(frame: pl.DataFrame, names: Iterable[str]) -> list[pl.Expr]:
    return [pl.col(name).cast(pl.Enum(frame[name].drop_nulls().unique().sort())) for name in names]
