"""What a summary tells of its interfaces on request, in a terminal: paper 2's tables, one below the other.

Knows the summary. Computes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table

from vqaudit.analysis.estimates import Estimate
from vqaudit.analysis.interfaces.across import AcrossRuns
from vqaudit.analysis.interfaces.comparison import InterfaceRow
from vqaudit.analysis.interfaces.details import InterfaceDetails
from vqaudit.analysis.interfaces.endings import EndingRow
from vqaudit.analysis.interfaces.permutations import PermutationRow
from vqaudit.analysis.interfaces.probabilities import RightProbability
from vqaudit.analysis.interfaces.slices import SliceRow
from vqaudit.analysis.interfaces.vocabulary import MeanRank, VocabularyRow
from vqaudit.analysis.schema import Summary
from vqaudit.analysis.whose_a import WhoseA
from vqaudit.report.digits import UNKNOWN, count, difference, interval, pct
from vqaudit.report.terminal.layout import View, bullets, columns, dim, plain, section
from vqaudit.report.terminal.wide import blocks, head
from vqaudit.report.untrusted import bare_name

__all__ = ["across_view", "interface_parts"]

_SPARKS = "▁▂▃▄▅▆▇█"
_SLICED = ("bare-scores", "cot-prefix", "free-cot", "cot-then-scores")
"""Paper 2's conditions: those that slices are printed for, where a run has them."""


def interface_parts(summary: Summary) -> Iterator[RenderableType]:
    """Yields the sections of a summary's interfaces; none for a run that holds nothing of them.

    Args:
        summary: From `vqaudit.analysis.summarise` with details.
    """
    found = summary.interface_details
    advised = [(name, row) for name, row in summary.interfaces.items() if row.advice]
    if advised:
        yield section("What to do about mismatched interfaces", bullets(_advice(advised)))
    if found is not None:
        yield from _sections(found)
    if summary.whose_a is not None:
        yield _whose_a(summary.whose_a)


def across_view(found: AcrossRuns) -> View:
    """Returns what `rich` prints of several runs' drop from one interface to another.

    Args:
        found: From `vqaudit.analysis.interfaces.across.across_runs`.
    """
    table = columns(
        *("model", "data", "items", found.direct, found.prefix, "drop", "first", "lost to first", "verdict"),
        right=(2, 3, 4, 5, 6, 7),
        folding=(0, 1),
    )
    for row in found.rows:
        figures = (pct(_value(row.direct)), pct(_value(row.prefix)), difference(row.drop))
        rates = (pct(_value(row.prefix_first_rate)), pct(_value(row.lost_to_first)))
        cells = (bare_name(row.model), bare_name(row.dataset or UNKNOWN), count(row.items), *figures, *rates)
        table.add_row(*(plain(cell) for cell in cells), plain(row.verdict or row.reason or UNKNOWN))
    legend = (
        f"drop: {found.direct} minus {found.prefix}, paired by item; first: share of {found.prefix} that chose the "
        "first position; lost to first: of the answers lost that could land there, those that do"
    )
    title = plain(f"{found.direct} and {found.prefix} over {len(found.rows)} runs", "bold")
    return View((title, bullets(found.sentences), table, dim(legend)))


def _advice(advised: list[tuple[str, InterfaceRow]]) -> list[str]:
    """Each piece of advice once, with the interfaces that it is for."""
    names: dict[str, list[str]] = {}
    for name, row in advised:
        for sentence in row.advice:
            names.setdefault(sentence, []).append(name)
    return [f"{', '.join(whose)}: {sentence}" for sentence, whose in names.items()]


def _sections(found: InterfaceDetails) -> Iterator[RenderableType]:
    if found.endings:
        yield _endings(found.endings)
    if found.permutations:
        yield _permutations(found.permutations)
    if found.flips:
        yield _flips(found)
    if found.probabilities:
        yield _probabilities(found.probabilities, found.baseline)
    if found.vocabulary:
        yield _vocabulary(found.vocabulary)
    if found.agreement:
        yield _agreement(found)
    if found.slices:
        yield _slices(found.slices)
    lacking = [f"{key}: {why}" for key, why in found.reasons.items()]
    if lacking:
        yield section("Of interfaces, this run cannot tell", bullets(lacking, style="dim"))


def _endings(rows: list[EndingRow]) -> Group:
    probed = any(row.probe is not None for row in rows)
    head = ["", "scores", "first", "below bare", "free", "unread"]
    table = columns(*head, *(["probe", "first"] if probed else []), right=range(1, 8), folding=(0,))
    last = ""
    for row in rows:
        scores, free = row.events.get("id-scores"), row.events.get("generation")
        if scores is None and free is None:
            continue
        if (asked := _asked(row)) != last:
            table.add_row(dim(asked), *([""] * (len(table.columns) - 1)))
            last = asked
        cells = [
            *(pct(_value(scores and scores.accuracy)), pct(_value(scores and scores.first_position_rate))),
            difference(row.scores_below_bare),
            *(pct(_value(free and free.accuracy)), pct(_value(free and free.unanswered))),
        ]
        if probed:
            cells += [pct(_value(row.probe)), pct(_value(row.probe_first_rate))]
        name = row.ending if row.place != "assistant" else f"{row.ending} (prefilled)"
        table.add_row(plain(f"  {name}"), *(plain(cell) for cell in cells))
    legend = (
        "scores: accuracy of the IDs at the next token; first: share that chose the first position; free: accuracy of "
        "what is written freely, and the share of it that cannot be read"
    )
    return section("Endings", table, dim(legend))


def _asked(row: EndingRow) -> str:
    """What an ending asks for, as a heading."""
    what = {"id": "an ID", "text": "a text", "nothing": "nothing", "reasoning": "a rationale"}.get(row.asks or "", "?")
    how = {"minimal": ", by a cue", "explicit": ", by a request"}.get(row.strength or "", "")
    return f"asks for {what}{how}"


def _permutations(rows: list[PermutationRow]) -> Group:
    names = ("", "accuracy", "sd", "chose first", "sd", head("answers first"))
    table = columns(*names, right=range(1, len(names)), folding=(0,))
    for row in rows:
        table.add_row(
            plain(row.interface),
            plain(interval(row.accuracy)),
            plain(_sd(row.accuracy_sd)),
            plain(interval(row.first_rate)),
            plain(_sd(row.first_rate_sd)),
            plain(pct(row.answer_first_rate.value)),
        )
    seeds = max(len(row.accuracies) for row in rows)
    return section(
        "Contents permuted", table, dim(f"{seeds} seeded permutations of the contents; sd: over seeds, in pp")
    )


def _sd(value: float | None) -> str:
    return UNKNOWN if value is None else f"{100 * value:.2f}"


def _flips(found: InterfaceDetails) -> Group:
    names = ("", "lost", "gained", "of", "lost to first", head("lost, no answer"))
    table = columns(*names, right=range(1, len(names)), folding=(0,))
    for row in found.flips:
        told = (interval(row.lost_to_first), pct(_value(row.lost_unanswered)))
        table.add_row(plain(row.after), count(row.lost), count(row.gained), count(row.trials), *map(plain, told))
    legend = (
        f"lost: right under {found.baseline} and wrong here; to first: of these, where the right option stands "
        "elsewhere, those that chose the first position"
    )
    return section(f"Answers lost from {found.baseline}", table, dim(legend))


def _probabilities(rows: dict[str, RightProbability], baseline: str | None) -> Group:
    table = columns("", "P(right)", "0 to 1", right=(1,), folding=(0,))
    for name, row in rows.items():
        table.add_row(plain(name), plain(pct(row.mean.value)), plain(_spark(row.histogram)))
    bodies = [body for shifts in _shifts(rows) for body in (plain(" "), shifts)]
    legend = (
        "P(right): mean probability of the right ID among the shown ones, with its distribution; δj: its change from "
        f"{baseline} where the right option stands at position j, from 0; the intervals are in summary.json"
    )
    return section("Probability of the right ID", table, *bodies, dim(legend))


def _shifts(rows: dict[str, RightProbability]) -> Iterator[Table]:
    """Yields tables of delta by position, as many positions in each as fit beside the names."""
    shifted = {name: row for name, row in rows.items() if any(shift.shift is not None for shift in row.by_position)}
    for places in blocks(sorted({shift.position for row in shifted.values() for shift in row.by_position})):
        table = columns("", *(f"δ{place}" for place in places), right=range(1, len(places) + 1), folding=(0,))
        for name, row in shifted.items():
            shifts = {shift.position: shift.shift for shift in row.by_position}
            table.add_row(plain(name), *(plain(_points(shifts.get(place))) for place in places))
        yield table


def _spark(histogram: tuple[int, ...]) -> str:
    most = max(histogram) or 1
    return "".join(_SPARKS[round(number / most * (len(_SPARKS) - 1))] for number in histogram)


def _points(estimate: Estimate | None) -> str:
    return UNKNOWN if estimate is None or estimate.value is None else difference(Estimate(value=estimate.value))


def _vocabulary(rows: dict[str, VocabularyRow]) -> Group:
    masses = columns("", "ID mass", "watched", right=(1, 2), folding=(0,))
    ranks = columns("", "rank of right ID", "median", right=(1, 2), folding=(0,))
    for name, row in rows.items():
        masses.add_row(plain(name), plain(interval(row.id_mass)), plain(interval(row.watch_mass)))
        median = UNKNOWN if row.rank is None else f"{row.rank.median:g}"
        ranks.add_row(plain(name), plain(_rank(row.rank)), plain(median))
    legend = dim("watched: mass of the watched words; rank: from 1, mean with its 95 % interval")
    return section("Next token, over the whole vocabulary", masses, plain(" "), ranks, legend)


def _rank(rank: MeanRank | None) -> str:
    if rank is None:
        return UNKNOWN
    bounds = "" if rank.low is None or rank.high is None else f" [{rank.low:,.1f}, {rank.high:,.1f}]"
    return f"{rank.mean:,.1f}{bounds}"


def _agreement(found: InterfaceDetails) -> Group:
    table = columns("", "scores", "agree", "no ID", "else", "of", right=(2, 3, 4, 5), folding=(0, 1))
    for row in found.agreement:
        numbers = (row.agree, row.no_id, row.differ, row.trials)
        table.add_row(plain(row.forced), plain(row.scores), *(count(number) for number in numbers))
    return section("One forced token beside the scores", table, dim("no ID: the forced token is no shown ID"))


def _slices(rows: list[SliceRow]) -> Group:
    named = {row.interface for row in rows}
    wanted = [name for name in _SLICED if name in named] or sorted(named)
    table = columns("", "accuracy", "below", "first", "none", right=(1, 2, 3, 4), folding=(0,))
    last = ""
    for row in rows:
        if row.interface not in wanted:
            continue
        level = f"{row.level} options" if row.by == "options" else row.level
        if level != last:
            items, few = f"{count(row.items)} items", "too few" if row.too_small else ""
            table.add_row(plain(level, "bold"), dim(items), dim(few), "", "")
            last = level
        figures = (interval(row.accuracy), difference(row.below_baseline), pct(_value(row.first_position_rate)))
        table.add_row(plain(row.interface), *_cells((*figures, count(row.no_answer)), few=row.too_small))
    legend = (
        "below: accuracy of the baseline minus this one; first: share that chose the first position; none: trials that "
        "chose no option; other interfaces are in summary.json"
    )
    return section("By number of options and picture", table, dim(legend))


def _cells(cells: tuple[str, ...], *, few: bool) -> list[RenderableType]:
    return [dim(cell) if few else plain(cell) for cell in cells]


def _whose_a(found: WhoseA) -> Group:
    bodies: list[RenderableType] = [bullets(found.sentences)]
    for interface in dict.fromkeys(row.interface for row in found.sets):
        rows = [row for row in found.sets if row.interface == interface]
        pulls = columns(interface, "natural first", "position 0", "first ID", right=(1, 2, 3), folding=(0,))
        masses = columns(interface, "accuracy", "ID mass", "A, no option", right=(1, 2, 3), folding=(0,))
        for row in rows:
            name = plain(f"{row.id_set} ({row.first_symbol}{f', {row.word}' if row.word else ''})")
            effects = (difference(row.position_effect), difference(row.symbol_effect))
            pulls.add_row(name, *map(plain, (pct(row.natural_first_rate.value), *effects)))
            told = (interval(row.accuracy), pct(_value(row.id_mass)), pct(_value(row.word_mass)))
            masses.add_row(name, *map(plain, told))
        bodies += [plain(" "), pulls, plain(" "), masses]
    legend = (
        "position 0, first ID: share beyond chance, over all IDs and over all positions; A, no option: probability of "
        "the token A where no option is called A, at least"
    )
    words = [plain(" "), _words(found)] if found.words else []
    return section("Whose A is it", *bodies, *words, dim(legend), dim(found.identified))


def _words(found: WhoseA) -> Table:
    table = columns("", "word", "beside", "its part", "of the excess", right=(3, 4), folding=(0, 1, 2))
    for row in found.words:
        share = UNKNOWN if row.share is None else f"{100 * row.share:.0f} %"
        if row.share is not None and row.share_low is not None and row.share_high is not None:
            share += f" [{100 * row.share_low:.0f}, {100 * row.share_high:.0f}]"
        name = f"{row.symbol} ({row.word})"
        table.add_row(*map(plain, (row.interface, name, row.control_set, difference(row.effect), share)))
    return table


def _value(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.value
