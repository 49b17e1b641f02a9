"""A picture of the headline: the robust score between chance and the formats' extremes.

Knows figures of a summary. Computes none.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from vqaudit.analysis.schema import Summary
from vqaudit.report.charts.drawing import BLUE, GREY, INK, ORANGE, Picture, data, draw, load_altair, percent_axis
from vqaudit.report.digits import interval, pct

__all__ = ["score_scale"]

_WIDTH = 300
_HEIGHT = 44


class _Mark(NamedTuple):
    what: str
    low: float | None
    value: float | None
    high: float | None
    text: str


def score_scale(summary: Summary) -> Picture | None:
    """Returns the score on a scale from 0 to 100 %, with chance, the range over formats and the reference format."""
    accuracy = summary.grid_accuracy
    if accuracy is None or accuracy.value is None:
        return None
    marks = _marks(summary)
    title = f"Robust score {interval(accuracy)}"
    return Picture(
        title=title,
        caption=_caption(marks),
        svg=draw(_chart(marks), title=f"{title}. " + ". ".join(f"{mark.what}: {mark.text}" for mark in marks)),
        header=("", "accuracy"),
        rows=tuple((mark.what, mark.text) for mark in marks),
    )


def _marks(summary: Summary) -> list[_Mark]:
    accuracy, reference = summary.grid_accuracy, summary.reference_accuracy
    found = []
    best, worst, chance = summary.best_format, summary.worst_format, summary.baselines.chance
    if best is not None and worst is not None:
        low, high = worst.accuracy.value, best.accuracy.value
        found.append(_Mark("formats, worst to best", low, None, high, f"{pct(low)} to {pct(high)}"))
    if chance is not None:
        found.append(_Mark("chance", None, chance, None, pct(chance)))
    if reference is not None:
        found.append(_Mark("reference format", None, reference.value, None, interval(reference)))
    if accuracy is not None:
        found.append(_Mark("robust score", accuracy.low, accuracy.value, accuracy.high, interval(accuracy)))
    return found


_DRAWN = {
    "formats, worst to best": "grey band: formats from worst to best",
    "chance": "dashed: chance",
    "reference format": "orange: the reference format alone",
    "robust score": "blue: robust score with its 95 % interval",
}


def _caption(marks: list[_Mark]) -> str:
    said = "; ".join(_DRAWN[mark.what] for mark in reversed(marks))
    return said[0].upper() + said[1:] + "."


def _chart(marks: list[_Mark]) -> Any:
    alt = load_altair()
    by_name = {mark.what: mark for mark in marks}
    x = percent_axis("value", "accuracy, %")
    layers = [
        alt.Chart(data([{"low": 0, "high": 100}]))
        .mark_bar(color=GREY, opacity=0.15, height=12)
        .encode(x="low:Q", x2="high:Q")
    ]
    if (band := by_name.get("formats, worst to best")) is not None:
        layers.append(
            alt.Chart(_rows(band)).mark_bar(color=GREY, opacity=0.6, height=12).encode(x="low:Q", x2="high:Q")
        )
    if (chance := by_name.get("chance")) is not None:
        layers.append(alt.Chart(_rows(chance)).mark_rule(color=INK, strokeDash=[4, 3]).encode(x="value:Q"))
    if (reference := by_name.get("reference format")) is not None:
        layers.append(alt.Chart(_rows(reference)).mark_tick(color=ORANGE, thickness=4, size=24).encode(x="value:Q"))
    score = alt.Chart(_rows(by_name["robust score"]))
    layers.append(score.mark_rule(color=BLUE, strokeWidth=5, opacity=0.55).encode(x="low:Q", x2="high:Q"))
    layers.append(score.mark_point(color=BLUE, filled=True, size=110, opacity=1).encode(x=x))
    return alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT)


def _rows(mark: _Mark) -> Any:
    values = {"low": mark.low, "value": mark.value, "high": mark.high}
    return data([{name: None if value is None else 100 * value for name, value in values.items()}])
