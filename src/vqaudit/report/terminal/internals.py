"""What a study of internals found, in a terminal.

Knows the findings and rich. Computes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType

from vqaudit.analysis.estimates import Estimate
from vqaudit.analysis.internals import (
    Fitting,
    Internals,
    LayersFindings,
    ProbeFindings,
    ReadoutFindings,
    Shuffled,
    VocabularyFindings,
)
from vqaudit.report.digits import UNKNOWN, count, difference, interval, pct, signed_points
from vqaudit.report.terminal.layout import View, bar, bullets, columns, dim, plain, section

__all__ = ["internals_view"]

_SMALL = 0.0005
_PARTS = {"probe": "probes", "layers": "layers", "readout": "retrained readout", "vocabulary": "vocabulary"}


def internals_view(found: Internals) -> View:
    """Returns what `rich` prints of a study of internals.

    Args:
        found: From `vqaudit.internals.study_internals` or `vqaudit.analysis.internals.read_internals`.

    Example:
        >>> from rich.console import Console
        >>> Console().print(internals_view(Internals()))
        nothing is known of the internals of this run
    """
    return View(_parts(found))


def _parts(found: Internals) -> Iterator[RenderableType]:
    if not found.known and not found.reasons:
        yield plain("nothing is known of the internals of this run")
    if found.probe is not None:
        yield _probe(found.probe)
    if found.layers is not None:
        yield _layers(found.layers)
    if found.readout is not None:
        yield _readout(found.readout)
    if found.vocabulary is not None:
        yield _vocabulary(found.vocabulary)
    if found.reasons:
        lacking = [f"{_PARTS.get(part, part)}: {reason}" for part, reason in found.reasons.items()]
        yield section("What this run cannot tell", bullets(lacking, style="dim"))


def _how(fitting: Fitting) -> RenderableType:
    return dim(f"{fitting.sentence}; {fitting.seeds} seeds, {fitting.epochs} epochs")


def _probe(found: ProbeFindings) -> Group:
    table = columns("", "ID scores", "linear probe", "probe - scores", right=(1, 2, 3), folding=(0,))
    for name, row in found.conditions.items():
        table.add_row(
            plain(name), plain(interval(row.native)), plain(interval(row.probe)), plain(difference(row.delta))
        )
    for name, gamma in found.gammas.items():
        sd = UNKNOWN if gamma.seed_sd is None else signed_points(gamma.seed_sd).lstrip("+")
        table.add_row(
            dim("  Gamma" if len(found.gammas) == 1 else f"  Gamma, {name}"),
            "",
            dim(f"seed sd {sd}"),
            plain(difference(gamma.gamma)),
        )
    return section(
        "Can the answer be read from the state?",
        table,
        plain(" "),
        _controls(found),
        bullets(found.sentences),
        _how(found.fitting),
    )


def _controls(found: ProbeFindings) -> RenderableType:
    table = columns("states exchanged", "ID scores", "probe", "first chosen", "", right=(1, 2, 3, 4), folding=(0,))
    for name, row in found.conditions.items():
        table.add_row(
            plain(name),
            plain(_shuffled(row.shuffled_native)),
            plain(_shuffled(row.shuffled_probe)),
            plain(pct(row.native_first.value)),
            plain(pct(row.probe_first.value)),
        )
    table.add_row(
        dim("random choice"), dim(pct(found.chance)), "", dim("right there"), dim(pct(found.answer_first.value))
    )
    return table


def _shuffled(row: Shuffled | None) -> str:
    if row is None:
        return UNKNOWN
    return f"{pct(row.accuracy)} [{100 * row.low:.1f}, {100 * row.high:.1f}]"


def _mass(figure: Estimate | None) -> str:
    """A probability that may be very small: what rounds to nothing is not nothing."""
    value = None if figure is None else figure.value
    return f"{100 * value:.1e} %" if value is not None and 0 < value < _SMALL else pct(value)


def _layers(found: LayersFindings) -> Group:
    names = list(found.layers[0].accuracy) if found.layers else []
    table = columns("layer", *(head for name in names for head in (name, "")), *(f"G: {name}" for name in found.gaps))
    for place, row in enumerate(found.layers):
        cells: list[RenderableType] = [plain(str(row.layer))]
        for name in names:
            cells += [plain(interval(row.accuracy[name])), bar(row.accuracy[name], 10)]
        cells += [plain(difference(gaps[place].gap)) for gaps in found.gaps.values()]
        table.add_row(*cells)
    legend = f"accuracy of a probe of each layer; a random choice has {pct(found.chance)}; G is Direct minus the other"
    return section("Where it can be read", table, dim(legend), bullets(found.sentences), _how(found.fitting))


def _readout(found: ReadoutFindings) -> Group:
    table = columns("retrained on", "scored", "before", "after", "change", right=(2, 3, 4), folding=(0, 1))
    for trained, rows in found.retrained.items():
        for place, (name, row) in enumerate(rows.items()):
            table.add_row(
                plain(trained if place == 0 else ""),
                plain(name),
                plain(pct(row.before.value)),
                plain(interval(row.after)),
                plain(difference(row.change)),
            )
    rows = f"rank {found.rank}, {count(found.tokens)} rows of the output embedding; nothing is selected"
    return section("A retrained readout", table, dim(rows), _how(found.fitting))


def _vocabulary(found: VocabularyFindings) -> Group:
    table = columns("", "layer", "IDs", "continuation", "P(right ID)", "its rank", right=(1, 2, 3, 4, 5), folding=(0,))
    for name, rows in found.conditions.items():
        for place, row in enumerate(rows):
            rank = UNKNOWN if row.right_rank.value is None else f"{row.right_rank.value:,.1f}"
            table.add_row(
                plain(name if place == 0 else ""),
                plain(str(row.layer)),
                plain(_mass(row.id_mass)),
                plain(_mass(row.watch_mass)),
                plain(pct(row.right_probability.value)),
                plain(rank),
            )
    legend = f"read through the model's own final norm and output embedding; {count(found.trials)} trials per condition"
    return section("How the vocabulary competes", table, dim(legend), bullets(found.sentences))
