"""Draws docs/images/formats-of-the-demo.svg from a run that holds the whole grid: a dot and its interval per format.

python docs/figures.py RUN
"""

from __future__ import annotations

import sys
from pathlib import Path

from vqaudit.analysis.schema import FormatRow, Summary
from vqaudit.auditing import open_run

OUT = Path(__file__).parent / "images" / "formats-of-the-demo.svg"
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 330, 46, 150, 34, 40
COLOURS = {"line_break": "#0072b2", "semicolon": "#d55e00", "comma": "#8a5a83"}
ID_SETS = ("upper", "lower", "number", "roman")


def _y(share: float) -> float:
    return TOP + (1 - share) * (HEIGHT - TOP - BOTTOM)


def _text(x: float, y: float, text: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{text}</text>'


def _axis() -> list[str]:
    lines = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        lines.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{_y(share):.1f}" y2="{_y(share):.1f}" stroke="#ddd"/>'
        )
        lines.append(_text(LEFT - 6, _y(share) + 4, f"{share:.0%}", 'text-anchor="end"'))
    return lines


def _level(share: float, words: str, dashes: str) -> list[str]:
    y = _y(share)
    stroke = f'stroke="#222" stroke-width="1.3" stroke-dasharray="{dashes}"'
    return [
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" {stroke}/>',
        _text(WIDTH - RIGHT + 6, y + 4, words),
    ]


def _dot(row: FormatRow, x: float) -> list[str]:
    figure, colour = row.accuracy, COLOURS[row.separator]
    if figure.value is None or figure.low is None or figure.high is None:
        raise SystemExit(f"{row.format} has no interval: the run does not hold the whole grid")
    whisker = (
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_y(figure.low):.1f}" y2="{_y(figure.high):.1f}" stroke="{colour}"/>'
    )
    label = f"{row.format}: {figure.value:.1%} [{figure.low:.1%}, {figure.high:.1%}]"
    dot = f'<circle cx="{x:.1f}" cy="{_y(figure.value):.1f}" r="3.6" fill="{colour}"><title>{label}</title></circle>'
    return [whisker, dot]


def _legend() -> list[str]:
    lines = []
    for place, (name, colour) in enumerate(COLOURS.items()):
        x = LEFT + 130 * place
        lines += [f'<circle cx="{x + 5}" cy="14" r="4" fill="{colour}"/>', _text(x + 14, 18, name.replace("_", " "))]
    return lines


def draw(summary: Summary) -> str:
    """Returns the figure; formats stand by ID set, within it from the lowest accuracy to the highest."""
    if summary.grid_accuracy is None or summary.grid_accuracy.value is None or not summary.formats:
        raise SystemExit("the run does not hold the whole grid")
    step = (WIDTH - LEFT - RIGHT) / (len(summary.formats) + len(ID_SETS))
    x, lines = LEFT + step / 2, [*_axis(), *_legend()]
    for id_set in ID_SETS:
        rows = sorted((r for r in summary.formats if r.id_set == id_set), key=lambda r: r.accuracy.value or 0.0)
        lines.append(_text(x + step * (len(rows) - 1) / 2, HEIGHT - 16, f"{id_set} IDs", 'text-anchor="middle"'))
        for row in rows:
            lines += _dot(row, x)
            x += step
        x += step
    value = summary.grid_accuracy.value
    lines += _level(value, f"grid accuracy {value:.1%}", "none")
    if summary.baselines.chance is not None:
        lines += _level(summary.baselines.chance, f"chance {summary.baselines.chance:.1%}", "4 3")
    title = f"Accuracy of {summary.model} in {len(summary.formats)} formats"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}"'
    style = 'font-family="system-ui, sans-serif" font-size="12" fill="#222"'
    page = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>'
    return "\n".join([f"{head} {style}>", page, *lines, "</svg>"]) + "\n"


if __name__ == "__main__":
    OUT.write_text(draw(open_run(sys.argv[1]).summary()), encoding="utf-8")
