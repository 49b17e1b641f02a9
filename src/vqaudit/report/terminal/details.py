"""What a summary tells on request, in a terminal: effects, remedies, confidence, position apart from ID, computation.

Knows the summary. Computes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType

from vqaudit.analysis.computation import ComputationRow
from vqaudit.analysis.confidence import ConfidenceGroups, ConfidenceRanking
from vqaudit.analysis.effects import Effects
from vqaudit.analysis.mitigation import Mitigations
from vqaudit.analysis.position_and_id import PositionAndID, PreferenceOf, PreferenceTable
from vqaudit.analysis.schema import Summary
from vqaudit.report.digits import UNKNOWN, count, difference, duration, interval, pct, probability, signed_points
from vqaudit.report.labels import factor_label, method_label
from vqaudit.report.terminal.interfaces import interface_parts
from vqaudit.report.terminal.layout import View, bullets, columns, dim, plain, rows, section

__all__ = ["details_view", "effects_part"]

_LABELS = {
    "effects": "effects",
    "mitigations": "remedies",
    "confidence_groups": "confidence groups",
    "position_and_id": "position and ID",
    "whose_a": "whose A it is",
}
_SHORT = {"answer_position": "answer at"}
"""Factors whose name is too long for a column."""


def details_view(summary: Summary) -> View:
    """Returns what `rich` prints below a summary where details were asked for.

    Args:
        summary: From `vqaudit.analysis.summarise` with details.

    Example:
        >>> from rich.console import Console
        >>> from vqaudit.analysis import summarise
        >>> from vqaudit.records import RunTables
        >>> Console().print(details_view(summarise(RunTables.load("runs/demo"))))  # doctest: +SKIP
    """
    return View(_parts(summary))


def _parts(summary: Summary) -> Iterator[RenderableType]:
    if summary.effects is not None:
        yield effects_part(summary.effects)
    if (shown := _frequencies(summary)) is not None:
        yield shown
    if summary.mitigations is not None:
        yield _mitigations(summary.mitigations)
    if summary.confidence_groups is not None:
        yield _confidence(summary.confidence_groups)
    if summary.position_and_id is not None:
        yield _position_and_id(summary.position_and_id)
    yield from interface_parts(summary)
    yield _computation(summary.computation)
    lacking = [f"{label}: {summary.reasons[key]}" for key, label in _LABELS.items() if key in summary.reasons]
    if lacking:
        yield section("Details that this run cannot tell", bullets(lacking, style="dim"))


def effects_part(effects: Effects) -> Group:
    """Returns the effects of factor levels as a section."""
    table = columns("factor", "level", "from the mean", "from the first", right=(2, 3), folding=(1,))
    for name, factor in effects.factors.items():
        heads = (_SHORT.get(name, factor_label(name)), f"p {_p(factor.p_value)}")
        for place, row in enumerate(factor.levels):
            first = dim(heads[place] if place < len(heads) else "")
            table.add_row(first, plain(row.level), plain(difference(row.deviation)), plain(difference(row.effect)))
    gap = effects.logit.largest_gap
    check = effects.logit.sentence if gap is None else f"{effects.logit.sentence}; at most {100 * gap:.1f} pp apart"
    legend = dim("p: of no difference between the levels; answer at: position of the right option, from 0")
    return section("Effects on accuracy", table, legend, dim(effects.model), dim(f"check: {check}"))


def _frequencies(summary: Summary) -> Group | None:
    """How often each position is chosen by ID set: paper 1, Figs. 10 to 14."""
    levels = summary.selection.by_factor.get("id_set", {})
    places = max((len(positions) for positions in levels.values()), default=0)
    if not places:
        return None
    table = columns("ID set", *(str(place) for place in range(places)), right=range(1, places + 1), folding=(0,))
    for level, positions in levels.items():
        cells = [pct(row.frequency) for row in positions]
        table.add_row(plain(level), *(plain(cell) for cell in cells + [UNKNOWN] * (places - len(cells))))
    legend = "chosen / shown by position, scaled to add to 100 %; without a preference all are alike"
    return section("Answer frequency", table, dim(legend))


def _p(value: float | None) -> str:
    written = probability(value)
    return written if written.startswith(("<", UNKNOWN)) else f"= {written}"


def _mitigations(found: Mitigations) -> Group:
    table = columns("", "accuracy", "minus the grid", "passes", right=(1, 2, 3), folding=(0,))
    for name, row in found.methods.items():
        table.add_row(
            plain(method_label(name)),
            plain(interval(row.accuracy)),
            plain(difference(row.difference)),
            count(row.passes),
        )
    if found.gold is not None:
        label = "grid" if found.gold_design == "grid" else "grid, from draws"
        table.add_row(plain(label, "bold"), plain(interval(found.gold)), "", count(found.gold_passes))
    notes = [f"{method_label(name)}: {row.note}" for name, row in found.methods.items() if row.note]
    lacking = [f"{method_label(name)}: {reason}" for name, reason in found.not_applicable.items()]
    return section("Remedies against the grid", table, bullets([*notes, *lacking], style="dim"))


def _confidence(found: ConfidenceGroups) -> Group:
    bodies: list[RenderableType] = [_ranking(found.reference)]
    if found.held_out is not None:
        bodies += [plain(" "), _ranking(found.held_out)]
    legend = "items by the probability of the right ID: top 20 %, middle 60 %, bottom 20 %; pp from the group's mean"
    return section("Accuracy by confidence", *bodies, dim(legend))


def _ranking(ranking: ConfidenceRanking) -> Group:
    table = columns("", "level", "top", "middle", "bottom", right=(2, 3, 4), folding=(1,))
    table.add_row(dim("accuracy"), "", *(plain(pct(group.accuracy.value)) for group in ranking.groups))
    for factor in ranking.groups[0].levels:
        levels = {row.level for group in ranking.groups for row in group.levels[factor]}
        for place, level in enumerate(sorted(levels)):
            cells = [
                next(
                    (signed_points(row.deviation.value) for row in group.levels[factor] if row.level == level), UNKNOWN
                )
                for group in ranking.groups
            ]
            table.add_row(dim(factor_label(factor) if place == 0 else ""), plain(level), *map(plain, cells))
    without = ", which is left out of the accuracies" if ranking.left_out else ""
    return Group(dim(f"ranked by {ranking.format}{without}"), table)


def _position_and_id(found: PositionAndID) -> Group:
    bodies = [body for table in found.tables for body in (_preferences(table), plain(" "))]
    natural = rows(
        [
            (plain("natural IDs"), plain(interval(found.natural_accuracy))),
            (plain("scrambled IDs"), plain(interval(found.scrambled_accuracy))),
            (plain("natural minus scrambled"), plain(difference(found.natural_minus_scrambled))),
        ],
        right=(1,),
    )
    return section("Position apart from ID", *bodies, natural, dim(found.sentence))


def _preferences(found: PreferenceTable) -> RenderableType:
    table = columns(
        f"{found.options} options", "chosen more often", "", "chosen more often", right=(1, 3), folding=(0, 2)
    )
    for position, own in zip(found.positions, found.ids, strict=True):
        table.add_row(plain(f"position {position.name}"), _figure(position), plain(f"ID {own.name}"), _figure(own))
    p_values = [f"p {_p(found.position_p_value)}", f"p {_p(found.id_p_value)}"]
    table.add_row(dim("no preference"), dim(p_values[0]), dim(f"{found.items} items"), dim(p_values[1]))
    return table


def _figure(row: PreferenceOf) -> RenderableType:
    return plain(difference(row.preference))


def _computation(found: list[ComputationRow]) -> Group:
    table = columns(
        "design", "interface", "prompts", "per format", "per prompt", "tokens", right=(2, 3, 4, 5), folding=(0, 1)
    )
    for row in found:
        per_format = UNKNOWN if row.prompts_per_format is None else f"{row.prompts_per_format:,.0f}"
        table.add_row(
            plain(row.design),
            plain(row.interface),
            count(row.prompts),
            per_format,
            duration(row.seconds_per_prompt),
            count(row.tokens_computed),
        )
    return section("Computation", table, dim("trials that two designs share count in both"))
