"""One row per trial, with all that any figure asks of it: the only place where right and wrong are decided.

Knows the tables of a run directory. Knows no formula. Names are kept as enumerations and numbers, since a run can have
half a million trials.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from vqaudit.errors import AnalysisError
from vqaudit.records import RunTables, trial_columns

__all__ = ["FACTORS", "FRAME_SCHEMA", "GENERATED_EVENTS", "analysis_frame", "hidden_interfaces"]

FACTORS = ("id_set", "delimiter", "separator")
"""What a format is made of, in the order in which its name is written."""
GENERATED_EVENTS = ("reply", "forced-token")
"""Events whose reply can be exactly an ID: those that have a coverage."""

_TRIAL_COLUMNS = (
    *("trial", "item", "interface", "event", *FACTORS, "order", "id_order", "option_ids"),
    *("outcome", "position", "chosen", "reply", "longer_id", "lenient_outcome", "lenient_chosen"),
    *("id_scores", "id_mass", "watch_mass", "budget", "seconds", "tokens_computed", "tokens_reused"),
    *("id_bound", "tokens_written", "tries"),
)
FRAME_SCHEMA = trial_columns((*_TRIAL_COLUMNS, "attempt"), inner={"id_scores": ("logprob",)})
"""What `analysis_frame` needs of the records: `RunTables.load(run, schema=FRAME_SCHEMA)` reads no more."""
_WORKING_COLUMNS = (
    *("order", "id_order", "option_ids", "id_scores", "id_bound"),
    *("item", "lenient_outcome", "lenient_chosen"),
)
_NAMES = ("interface", "event", *FACTORS, "format", "outcome", "cluster", "category")
_DIGITS = 13
"""Places of an order that fit into one 64-bit number, at 27 values a place."""


def analysis_frame(tables: RunTables) -> pl.DataFrame:
    """Returns one row per visible trial, sorted by item (in dataset order) and trial.

    Columns besides those of the record: `trial_code` (row number), `format` (name; null where there is none),
    `order_code` and `variant_code` (equal for equal orders; for equal format, order and ID order), `answer`,
    `answer_position` (null where order or answer is not known), `n_options`, `n_orders`, `permutable` (false for
    items that must be asked in one order), `options_shown` (false for a cloze), `ordered` (the order is known),
    `item_code`, `cluster`, `cluster_code`, `category`, `failed`; and, null for failed trials:

    - `right`: the strict reading chose the answer; null where the answer is not known;
    - `lenient_right`: the same by the lenient reader; null for events that it does not read;
    - `scored_right`: the answer's ID alone has the highest score; null where scores are not known;
    - `answered`: the strict reading chose an option;
    - `covered`: the reply is exactly a shown ID; null for score events, free generations and bad input;
    - `longer`: the reply is none, but would have been one with more tokens; null where `covered` is.

    Raises:
        AnalysisError: A trial names an item that the run's items do not hold.
    """
    items = _items(tables.items)
    trials = tables.trials.select(_TRIAL_COLUMNS).with_columns(pl.col("interface").fill_null("unknown"))
    _check_items(trials, items)
    shown = ~pl.col("interface").is_in(sorted(hidden_interfaces(tables)))
    frame = trials.join(items, on="item", how="left", maintain_order="left")
    frame = frame.with_columns(_n_options(), _format(), options_shown=shown, ordered=pl.col("order").is_not_null())
    frame = _with_codes(_with_best_scores(frame.with_columns(_answer_position(frame))))
    frame = frame.with_columns(_right_columns()).drop(*_WORKING_COLUMNS, "_scored", "_options")
    frame = frame.with_columns(_enumerated(frame)).sort("item_code", maintain_order=True)
    return frame.with_row_index("trial_code")


def hidden_interfaces(tables: RunTables) -> frozenset[str]:
    """Returns the interfaces that show no options (a cloze), by the manifest.

    Of one that the manifest does not describe, the records tell: they hold likelihoods of options without IDs.
    """
    described = tables.manifest.interfaces.items()
    told = {name: spec.get("options_shown") for name, spec in described if isinstance(spec, Mapping)}
    bare = pl.col("id_set").is_null() & (pl.col("event") == "option-likelihood")
    silent = tables.trials.filter(bare)["interface"].drop_nulls().unique()
    said = {name for name, shown in told.items() if shown is False}
    return frozenset(said | {name for name in silent if told.get(name) is None})


def _items(items: pl.DataFrame) -> pl.DataFrame:
    return items.select(
        "item",
        "answer",
        "cluster",
        "category",
        "n_orders",
        permutable=(pl.col("n_orders") != 1).fill_null(True),
        _options=pl.col("options").list.len(),
        item_code=pl.int_range(pl.len(), dtype=pl.UInt32),
        cluster_code=pl.col("cluster").rank("dense").cast(pl.UInt32),
    )


def _check_items(trials: pl.DataFrame, items: pl.DataFrame) -> None:
    if items["item"].is_duplicated().any():
        twice = items.filter(pl.col("item").is_duplicated())["item"][0]
        raise AnalysisError(f"items.parquet holds item {twice!r} twice; each item needs one row")
    orphans = trials.select("trial", "item").join(items, on="item", how="anti")
    if orphans.height:
        trial, item = orphans.row(0)
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


def _with_codes(frame: pl.DataFrame) -> pl.DataFrame:
    """Numbers the orders and the variants, so that they can be grouped and joined quickly."""
    orders = _packed(frame, "order")
    frame = _numbered(frame.with_columns(orders.values()), list(orders), "order_code")
    id_orders = _packed(frame, "id_order")
    keys = ["format", "order_code", *id_orders]
    frame = _numbered(frame.with_columns(id_orders.values()), keys, "variant_code")
    return frame.drop(*orders, *id_orders)


def _packed(frame: pl.DataFrame, column: str) -> dict[str, pl.Expr]:
    """Writes each list as one or two numbers to base 27; 0 stands for no such place."""
    places = range(_longest(frame[column]))
    packed = {}
    for start in range(0, len(places) or 1, _DIGITS):
        digits = [
            (_at(column, place).cast(pl.Int64) + 1).fill_null(0) * 27 ** (place - start)
            for place in places[start : start + _DIGITS]
        ]
        name = f"_{column}_{start}"
        packed[name] = pl.sum_horizontal([pl.lit(0, dtype=pl.Int64), *digits]).alias(name)
    return packed


def _numbered(frame: pl.DataFrame, keys: list[str], name: str) -> pl.DataFrame:
    kinds = frame.select(keys).unique().sort(keys).with_row_index(name)
    return frame.join(kinds, on=keys, how="left", nulls_equal=True, maintain_order="left")


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


def _enumerated(frame: pl.DataFrame) -> list[pl.Expr]:
    return [pl.col(name).cast(pl.Enum(frame[name].drop_nulls().unique().sort())) for name in _NAMES]
