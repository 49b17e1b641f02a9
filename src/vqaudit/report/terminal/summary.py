"""The summary of a run in a terminal.

Knows the summary and the words of `story`. Computes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from vqaudit.analysis.breakdown import Group as Part
from vqaudit.analysis.schema import Summary
from vqaudit.report import story
from vqaudit.report.digits import UNKNOWN, count, difference, duration, interval, pct
from vqaudit.report.labels import factor_label
from vqaudit.report.terminal.imported import as_logged_view, circular_view
from vqaudit.report.terminal.layout import (
    View,
    alarm,
    bar,
    bullets,
    columns,
    dim,
    plain,
    rows,
    section,
    share_bar,
    shares,
)
from vqaudit.report.terminal.wide import head
from vqaudit.report.untrusted import bare_name

__all__ = ["summary_view"]

_BAR_LEGEND = "bars: 0 to 100 %, ▒ is the 95 % interval"


def summary_view(summary: Summary) -> View:
    """Returns what `rich` prints of a run: measurement faults first, then the headline and what moves it.

    Args:
        summary: From `vqaudit.analysis.summarise`.

    Example:
        >>> from rich.console import Console
        >>> from vqaudit.analysis import summarise
        >>> from vqaudit.records import RunTables
        >>> Console().print(summary_view(summarise(RunTables.load("runs/demo"))))  # doctest: +SKIP
    """
    return View(_parts(summary))


def _parts(summary: Summary) -> Iterator[RenderableType]:
    yield _title(summary)
    if summary.measurement_faults:
        yield alarm("measurement faults", [fault.sentence for fault in summary.measurement_faults])
    yield _headline(summary)
    if cautions := story.cautions(summary):
        yield section("Beware", bullets(cautions, style="yellow"))
    if summary.findings:
        yield section("Findings", bullets(summary.findings))
    for part in (
        _accuracies,
        as_logged_view,
        circular_view,
        _coverage,
        _formats,
        _factors,
        _interfaces,
        _positions,
        _groups,
        _outcomes,
        _noise,
        _screening,
        _cost,
    ):
        if (shown := part(summary)) is not None:
            yield shown
    if unknown := story.unknowns(summary):
        reasons = (f"{entry.names}: {entry.reason}" for entry in unknown)
        yield section("What this run cannot tell", bullets(reasons, style="dim"))


def _title(summary: Summary) -> RenderableType:
    name = bare_name(summary.model)
    data = "" if summary.dataset is None else f" on {bare_name(summary.dataset)}"
    how = f"{summary.main_design} · {summary.main_interface} · {summary.status}"
    return Group(plain(name + data, "bold"), dim(how))


def _headline(summary: Summary) -> RenderableType:
    said = story.headline(summary)
    known = summary.grid_accuracy is not None
    first = Text.assemble((f"{said.name} ", "bold"), (said.figure, "bold green" if known else "bold yellow"))
    beside = "   ".join(f"{label} {figure}" for label, figure in story.baselines(summary))
    own = [dim(line)] if (line := story.this_dataset_line(summary)) else []
    return Group("", first, *own, plain(said.conditions), *([dim(beside)] if beside else []))


def _accuracies(summary: Summary) -> RenderableType | None:
    figures = story.accuracies(summary)
    return section("Accuracy", _figures(figures)) if figures else None


def _coverage(summary: Summary) -> RenderableType | None:
    parts = story.coverage_parts(summary.coverage_parts) or story.coverage_alone(summary.coverage)
    return section("Coverage of replies", _figures(parts)) if parts else None


def _figures(figures: Sequence[story.KeyFigure]) -> Table:
    lines = [(plain(figure.label), plain(interval(figure.estimate)), dim(figure.note)) for figure in figures]
    return rows(lines, right=(1,), folding=(2,))


def _formats(summary: Summary) -> RenderableType | None:
    best, worst = summary.best_format, summary.worst_format
    if best is None or worst is None:
        return None
    lines: list[tuple[RenderableType, ...]] = [
        (name, plain(row.format), plain(interval(row.accuracy)), bar(row.accuracy, 12))
        for name, row in (("best", best), ("worst", worst))
    ]
    if summary.worst_case is not None and summary.two_stage is None:
        lines.append(("", dim("the worst, whichever it is"), plain(interval(summary.worst_case))))
    lines.append(("spread", dim("best minus worst"), plain(story.spread_text(summary.spread))))
    if summary.spread_without_faults is not None:
        lines.append(("", dim("without faulty formats"), plain(story.spread_text(summary.spread_without_faults))))
    if summary.recommended is None:
        return section("Formats", rows(lines, right=(2,), folding=(1,)))
    # of its own, since the notes would leave no room for the names above
    advice = [(name, plain(format), dim(note)) for name, format, note in story.recommendations(summary.recommended)]
    return section("Formats", rows(lines, right=(2,), folding=(1,)), rows(advice, folding=(2,)))


def _factors(summary: Summary) -> RenderableType | None:
    if not any(summary.factors.values()):
        return None
    table = columns("factor", "level", "accuracy", "", "coverage", right=(2, 4), folding=(1,))
    for factor in summary.factors:
        for place, part in enumerate(story.factor_parts(summary, factor)):
            table.add_row(dim(factor_label(factor) if place == 0 else ""), *_part(part))
    return section("Accuracy by factor level", table, dim(_BAR_LEGEND))


def _part(part: Part) -> tuple[RenderableType, ...]:
    exact = UNKNOWN if part.coverage is None else pct(part.coverage.exact.value)
    name = "(none)" if part.name is None else part.name
    return plain(name), plain(interval(part.accuracy)), bar(part.accuracy), plain(exact)


def _groups(summary: Summary) -> RenderableType | None:
    if summary.groups is None or summary.by is None:
        return None
    table = columns(summary.by, "accuracy", "", "coverage", right=(1, 3), folding=(0,))
    for part in summary.groups:
        table.add_row(*_part(part))
    return section(f"Accuracy by {summary.by}", table, dim(_BAR_LEGEND))


def _interfaces(summary: Summary) -> RenderableType | None:
    if not summary.interfaces:
        return None
    # heads of two lines leave room for names such as scores:explanation-cue
    heads = map(head, ("chose first", "answers first", "no answer"))
    table = columns("", "accuracy", *heads, right=(1, 2, 3, 4), folding=(0,))
    for name, row in summary.interfaces.items():
        rates = shares(row.first_position_rate.value, row.answer_first_rate.value, row.unanswered.value)
        table.add_row(plain(name), plain(interval(row.accuracy)), *rates)
    legend = dim("chose first: took the first position; answers first: right option there")
    ground = dim(f"on {summary.common_ground.sentence}")
    compared = [body for body in (_gaps(summary),) if body is not None]
    return section("Interfaces", table, legend, *compared, ground)


def _gaps(summary: Summary) -> RenderableType | None:
    compared = [(name, row) for name, row in summary.interfaces.items() if row.gap is not None]
    if not compared:
        return None
    best = compared[0][1].best_aligned
    table = columns("", f"below {best}", "ID mass", "verdict", right=(1, 2), folding=(0,))
    for name, row in compared:
        mass = UNKNOWN if row.id_mass is None else pct(row.id_mass.value)
        verdict = plain(row.verdict or UNKNOWN, "bold red" if row.verdict == "mismatched" else "")
        table.add_row(plain(name), plain(difference(row.gap)), plain(mass), verdict)
    return Group("", table)


def _positions(summary: Summary) -> RenderableType | None:
    positions = story.position_shares(summary.selection.positions)
    if not positions:
        return None
    table = columns("position", "shown", "chosen", "", "answers there", "accuracy", right=(1, 2, 4, 5))
    for row in positions:
        chosen, answers, right = shares(row.chosen, row.answers, row.right)
        table.add_row(plain(row.name), plain(count(row.shown)), chosen, share_bar(row.chosen), answers, right)
    return section("Positions", table)


def _outcomes(summary: Summary) -> RenderableType | None:
    if not summary.outcomes:
        return None
    lines = [(plain(name), plain(story.outcome_counts(outcomes))) for name, outcomes in summary.outcomes.items()]
    return section("How trials ended", rows(lines, folding=(1,)))


def _noise(summary: Summary) -> RenderableType | None:
    floor = summary.noise_floor
    if floor is None:
        return None
    table = columns("", "asked twice", "other answer", "other text", "right or not", right=(1, 2, 3, 4), folding=(0,))
    for name, row in (("all", floor), *floor.by_interface.items()):
        figures = (row.changed, row.changed_text, row.changed_right)
        shown = [plain(interval(figure)) if figure is not None else dim(UNKNOWN) for figure in figures]
        table.add_row(plain(name), plain(count(row.trials)), *shown)
    return section("Noise floor", table, dim("the same question in the same way; what differs is the server's doing"))


def _screening(summary: Summary) -> RenderableType | None:
    screening = summary.screening
    if not screening.notes and not screening.not_permuted:
        return None
    notes = [f"{number}: {note}" for number, note in story.screening_rows(summary)]
    kept = f"{screening.not_permuted} of {screening.items} items were asked in one order only"
    return section("Screening of items", bullets([kept, *notes]))


def _cost(summary: Summary) -> RenderableType:
    cost = summary.cost
    parts = [f"{count(cost.trials)} trials"]
    if cost.wall_seconds is not None:
        parts.append(f"{duration(cost.wall_seconds)} in all")
    if cost.seconds_per_trial is not None:
        parts.append(f"{duration(cost.seconds_per_trial)} per trial")
    if cost.tokens_computed is not None:
        parts.append(f"{count(cost.tokens_computed)} tokens computed")
    if cost.tokens_reused is not None:
        parts.append(f"{count(cost.tokens_reused)} reused ({pct(cost.reused_share)})")
    if cost.tries is not None and cost.tries > cost.trials:
        parts.append(f"{count(cost.tries)} requests")
    if cost.money is not None:
        parts.append(f"{cost.money:,.4g} {cost.currency}")
    return section("Cost", plain(", ".join(parts)))
