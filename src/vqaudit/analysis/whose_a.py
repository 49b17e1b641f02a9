"""Whose A is it: the pull of a position, of a symbol, and of an English word that looks like an option ID.

Knows trials of the design `whose-a`: several ID sets, each with all rotations of contents crossed with all rotations of
IDs, so that position, symbol and content are orthogonal. Paper 2 (section 5) cannot tell the first position from the
symbol `A`; and `A` may be the article of a rationale ("A red circle ..."), `I` its pronoun.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from vqaudit.analysis.designs import completeness, trials_of
from vqaudit.analysis.estimates import Estimate, PairedEstimate
from vqaudit.analysis.figures import Figure, Row, known
from vqaudit.analysis.grouped import estimate_pairs, item_mean, item_means, paired_means
from vqaudit.analysis.linearised import linearised_difference
from vqaudit.analysis.mitigation.material import Material
from vqaudit.errors import AnalysisError

__all__ = ["WORDS", "SymbolSet", "WhoseA", "WordEffect", "whose_a"]

DESIGN = "whose-a"
WORDS: Mapping[str, str] = {"A": "article", "I": "pronoun"}
"""Option IDs with which a sentence of English can begin, each as a word of its own."""
NOT_ASKED = "position, symbol and article are told apart by the design whose-a: -i cot-prefix@whose-a"


class SymbolSet(Row):
    """One ID set after one ending. Effects are shares of trials beyond 1 / number of options, in [-1, 1]."""

    interface: str
    id_set: str
    first_symbol: str
    """The ID that is first in the set."""
    word: str | None
    """What that ID is in English, at the beginning of a sentence: article, pronoun; None: no word."""
    items: int
    trials: int
    accuracy: Figure
    natural_first_rate: Figure
    """Share that chose position 0 where IDs stand in natural order: what paper 2 calls the A/first rate."""
    position_effect: Figure
    """How much more often position 0 is chosen than by chance, over all symbols."""
    symbol_effect: Figure
    """How much more often the first symbol is chosen than by chance, over all positions."""
    interaction: Figure
    """What natural order adds: natural excess of position 0 minus the two effects, in [-2, 2]; 0 if they add up."""
    id_mass: Figure | None
    """Mean probability that the next token is any shown ID."""
    word_mass: Figure | None
    """Mean probability of the token `A` at the same place in trials where **no** option is called A: the article, or
    the habit of answering A, but no choice among those shown. At least this much: it is known where `A` is among the
    five most probable tokens, and counted as 0 elsewhere. None for sets with an `A`, and where top tokens are not
    known."""


class WordEffect(Row):
    """A set whose first symbol is an English word, beside one whose first symbol is none."""

    interface: str
    word_set: str
    control_set: str
    symbol: str
    word: str
    effect: Figure
    """Symbol effect in the one set minus that in the other, paired by item, in [-1, 1]."""
    share: float | None
    """The same as a share of the natural excess of position 0 in the word's set, beyond 1 where the control's symbol
    repels; None where that excess may be 0."""
    share_low: float | None
    share_high: float | None
    """95 % percentile interval over resampled clusters."""


class WhoseA(Row):
    """Position, symbol and word, apart."""

    formats: list[str]
    sets: list[SymbolSet]
    words: list[WordEffect]
    sentences: list[str]
    identified: str
    """What these figures rest on."""


IDENTIFIED = (
    "position and symbol are told apart by design (all rotations of contents x all rotations of IDs). That a symbol's "
    "pull is due to the word is not: it is the difference to a set whose first symbol is no word, and rests on both "
    "symbols pulling alike but for the word; the controls differ in case (lower), kind (number) and in being first in "
    "their alphabet (consonants), so read them together. The mass of A where no option is called A is no choice among "
    "those shown: it is the article or the habit of answering A, and where no rationale is asked for the habit alone"
)
_LEAST_TRIALS = 4
RESAMPLES = 2000
"""A bound at 2.5 % then rests on 50 resamples."""


def whose_a(material: Material, *, seed: int = 0) -> WhoseA:
    """Returns position effects, symbol effects and the word's part, for every interface asked under the design.

    Effects are those of a balanced two-way layout: mean over items of the share of trials that chose position 0 (the
    first symbol), less 1 / number of options. Word effect = symbol effect where the symbol is a word minus symbol
    effect of a control set. Items that must not be permuted are left out.

    Args:
        material: A run with trials of the design `whose-a`.
        seed: Of the resampling behind the share's interval.

    Raises:
        AnalysisError: The design was not asked, or too much of it is lost.
    """
    rows = material.plan.filter(pl.col("design") == DESIGN)
    if not rows.height:
        raise AnalysisError(NOT_ASKED)
    if (complaint := completeness(material.frame, rows).complaint) is not None:
        raise AnalysisError(complaint)
    trials = _marked(material, trials_of(material.frame, rows).filter("permutable", ~pl.col("failed")))
    if not trials.height:
        raise AnalysisError("no item of the design whose-a may be permuted")
    cells = {
        (str(key[0]), str(key[1])): part
        for key, part in trials.group_by("_interface", "_set", maintain_order=True)
        if part.height >= _LEAST_TRIALS
    }
    sets = [_symbol_set(interface, name, part) for (interface, name), part in sorted(cells.items())]
    words = _words(sets, cells, seed)
    return WhoseA(
        formats=sorted(trials["format"].cast(pl.String).unique()),
        sets=sets,
        words=words,
        sentences=[_sentence(row, words) for row in sets if row.word is not None],
        identified=IDENTIFIED,
    )


def _marked(material: Material, trials: pl.DataFrame) -> pl.DataFrame:
    """Adds what was chosen: `_place` and `_symbol` (0 or 1: position 0, the set's first symbol), `_chance`."""
    lists = material.tables.trials.select("trial", "id_order", "option_ids", "top_tokens")
    joined = trials.join(lists, on="trial", how="left", maintain_order="left")
    index = pl.col("id_order").list.get(pl.col("position"), null_on_oob=True)
    answered = pl.col("answered") & pl.col("position").is_not_null()
    tokens = pl.col("top_tokens").list.eval(
        pl.when(pl.element().struct.field("text").str.strip_chars() == "A")
        .then(pl.element().struct.field("logprob").exp())
        .otherwise(0.0)
    )
    known_tokens = pl.col("top_tokens").list.len() > 0
    holds_a = pl.col("option_ids").list.contains("A")
    return joined.select(
        *("trial", "item_code", "cluster_code", "right", "id_mass", "format", "n_options"),
        _interface=pl.col("interface").cast(pl.String),
        _set=pl.col("id_set").cast(pl.String),
        _first=pl.col("option_ids").list.get(pl.col("id_order").list.arg_min(), null_on_oob=True),
        _place=(answered & (pl.col("position") == 0)).fill_null(False),
        _symbol=(answered & (index == 0)).fill_null(False),
        _natural=pl.col("id_order").list.get(0, null_on_oob=True) == 0,
        _chance=1 / pl.col("n_options").cast(pl.Float64),
        _word_mass=pl.when(known_tokens & ~holds_a).then(tokens.list.sum().clip(0, 1)),
    )


def _symbol_set(interface: str, name: str, part: pl.DataFrame) -> SymbolSet:
    natural = part.filter("_natural")
    symbol = str(part["_first"].drop_nulls()[0])
    return SymbolSet(
        interface=interface,
        id_set=name,
        first_symbol=symbol,
        word=WORDS.get(symbol),
        items=part["item_code"].n_unique(),
        trials=part.height,
        accuracy=item_mean(part, "right"),
        natural_first_rate=item_mean(natural, "_place"),
        position_effect=_beyond_chance(part, "_place"),
        symbol_effect=_beyond_chance(part, "_symbol"),
        interaction=_interaction(part, natural),
        id_mass=known(item_mean(part.with_columns(pl.col("id_mass").clip(0, 1)), "id_mass")),
        word_mass=known(item_mean(part, "_word_mass")),
    )


def _beyond_chance(part: pl.DataFrame, column: str) -> PairedEstimate:
    chances = item_means(part, "_chance")
    return estimate_pairs(item_means(part, column).join(chances, on="item_code", suffix="_b", maintain_order="left"))


def _per_item(part: pl.DataFrame) -> pl.DataFrame:
    """By item: shares of position 0 and of the first symbol beyond chance, and of position 0 in natural order."""
    chance = pl.col("_chance").first()
    natural = pl.col("_place").filter(pl.col("_natural")).cast(pl.Float64).mean()
    table = part.group_by("item_code").agg(
        pl.col("cluster_code").first(),
        place=pl.col("_place").cast(pl.Float64).mean() - chance,
        symbol=pl.col("_symbol").cast(pl.Float64).mean() - chance,
        natural=natural - chance,
    )
    return table.sort("item_code")


def _interaction(part: pl.DataFrame, natural: pl.DataFrame) -> Estimate:
    if not natural.height:
        return PairedEstimate(value=None, reason="no trial has IDs in natural order")
    table = _per_item(part).drop_nulls()
    codes = np.unique(table["cluster_code"].to_numpy(), return_inverse=True)[1]
    # halved, since the interval is made for differences in [-1, 1] and two effects add up to at most 2
    halves = (table["natural"] - table["place"] - table["symbol"]).to_numpy() / 2
    sizes = np.bincount(codes).astype(np.float64)
    moved = np.bincount(codes, halves - halves.mean()) / halves.size
    half = linearised_difference(float(halves.mean()), moved, sizes, trials=part.height)
    value, low, high = (None if bound is None else 2 * bound for bound in (half.value, half.low, half.high))
    return PairedEstimate(value=value, low=low, high=high, n=half.n, trials=half.trials, reason=half.reason)


def _words(sets: list[SymbolSet], cells: Mapping[tuple[str, str], pl.DataFrame], seed: int) -> list[WordEffect]:
    found = []
    for one in sets:
        for other in sets:
            if one.word is not None and other.word is None and one.interface == other.interface:
                pair = (cells[one.interface, one.id_set], cells[other.interface, other.id_set])
                found.append(_word_effect(one, other, pair, seed))
    return found


def _word_effect(one: SymbolSet, other: SymbolSet, parts: tuple[pl.DataFrame, pl.DataFrame], seed: int) -> WordEffect:
    share, low, high = _share(parts, seed)
    return WordEffect(
        interface=one.interface,
        word_set=one.id_set,
        control_set=other.id_set,
        symbol=one.first_symbol,
        word=one.word or "",
        effect=paired_means(*parts, "_symbol"),
        share=share,
        share_low=low,
        share_high=high,
    )


def _share(parts: tuple[pl.DataFrame, pl.DataFrame], seed: int) -> tuple[float | None, float | None, float | None]:
    """The word effect over the natural excess of position 0, with both resampled together."""
    own, control = (_per_item(part) for part in parts)
    both = own.join(control.select("item_code", control="symbol"), on="item_code", maintain_order="left").drop_nulls()
    if both.height < 2:
        return None, None, None
    codes = np.unique(both["cluster_code"].to_numpy(), return_inverse=True)[1]
    count = int(codes.max()) + 1
    top = np.bincount(codes, (both["symbol"] - both["control"]).to_numpy(), count)
    bottom = np.bincount(codes, both["natural"].to_numpy(), count)
    drawn = np.random.default_rng([seed, count]).integers(count, size=(RESAMPLES, count))
    bottoms = bottom[drawn].sum(axis=1)
    if count < 2 or np.quantile(bottoms, 0.025) <= 0:
        return None, None, None
    low, high = np.quantile(top[drawn].sum(axis=1) / bottoms, [0.025, 0.975])
    return float(top.sum() / bottom.sum()), float(low), float(high)


def _sentence(row: SymbolSet, words: list[WordEffect]) -> str:
    own = [word for word in words if (word.interface, word.word_set) == (row.interface, row.id_set)]
    said = (
        f"{row.interface}, {row.id_set}: position 0 is chosen in {_pct(row.natural_first_rate)} under natural IDs; the "
        f"position pulls {_pp(row.position_effect)}, the symbol {row.first_symbol} {_pp(row.symbol_effect)}"
    )
    if own:
        parts = ", ".join(f"{_pp(word.effect)} beyond {word.control_set}" for word in own)
        said += f"; the {row.word}'s part is {parts}"
    return said


def _pct(estimate: Estimate) -> str:
    return "an unknown share" if estimate.value is None else f"{100 * estimate.value:.1f} %"


def _pp(estimate: Estimate) -> str:
    if estimate.value is None:
        return "an unknown amount"
    known_bounds = estimate.low is not None and estimate.high is not None
    bounds = f" [{100 * (estimate.low or 0):+.1f}, {100 * (estimate.high or 0):+.1f}]" if known_bounds else ""
    return f"{100 * estimate.value:+.1f} pp{bounds}"
