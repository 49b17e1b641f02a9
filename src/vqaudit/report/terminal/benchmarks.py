"""Named benchmarks in a terminal: the list, one entry with its traps, and what was counted in its data.

Knows the keys of an entry and of statistics as JSON values. Computes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType

from vqaudit.report.digits import UNKNOWN, count
from vqaudit.report.terminal.layout import View, columns, dim, plain, rows, section

__all__ = ["benchmark_view", "benchmarks_view", "statistics_view"]

_NOT_STATED = "not stated where it was read; see the data card"


def benchmarks_view(entries: Sequence[Mapping[str, Any]]) -> View:
    """Returns the list of benchmarks.

    Args:
        entries: Entries as JSON values, of which `name`, `published`, `format`, `hub` and `licence` are shown.
    """
    table = columns("name", "questions", "standard format", "hub data set", "licence", right=(1,), folding=(3, 4))
    for entry in entries:
        licence = entry["licence"]
        table.add_row(
            plain(entry["name"], "bold"),
            count(_published(entry, "questions")),
            plain(entry["format"]),
            plain(entry["hub"]),
            dim(UNKNOWN) if licence is None else plain(licence),
        )
    notes = (
        "Questions as published; `vqaudit data NAME --stats` counts them in the data.",
        "`vqaudit data NAME` tells source, licence and traps; `--data NAME` or `--data NAME=LOCAL_COPY` asks them.",
    )
    return View((table, "", *(dim(note) for note in notes)))


def benchmark_view(entry: Mapping[str, Any]) -> View:
    """Returns one entry: where its data is, how it is asked, and what makes a careless score wrong."""
    note = f" ({entry['licence_note']})" if entry["licence_note"] else ""
    licence = (entry["licence"] or _NOT_STATED) + note
    parts = ", ".join(entry["configs"]) or "–"
    facts: list[tuple[RenderableType, ...]] = [
        ("data set", plain(f"huggingface.co/datasets/{entry['hub']}")),
        ("parts", plain(parts)),
        ("split", plain(f"{entry['split']} (also: {', '.join(entry['splits'][1:]) or 'none with right answers'})")),
        ("revision", plain(entry["revision"] or "newest")),
        ("licence", plain(licence)),
        ("standard format", plain(f"{entry['format']} ({entry['format_source']})")),
        ("local copy", plain(entry["local"])),
        *(("published", plain(_published_line(figures))) for figures in entry["published"]),
    ]
    traps = [Group(plain(trap["what"]), dim(f"→ {trap['handled']}"), "") for trap in entry["traps"]]
    asked = (
        f"vqaudit run --model MODEL --data {entry['name']} --out RUN",
        f"vqaudit run --model MODEL --data {entry['name']}=LOCAL_COPY --reference {entry['format']} --out RUN",
    )
    return View(
        (
            plain(entry["title"], "bold"),
            rows(facts, folding=(1,)),
            section("Traps, and what is done about them", *traps),
            section("Asking it", *(plain(line) for line in asked)),
        )
    )


def statistics_view(
    found: Mapping[str, Any], *, name: str, published: Sequence[Mapping[str, Any]] = (), warnings: Sequence[str] = ()
) -> View:
    """Returns what was counted in the data, beside what others printed.

    Args:
        found: Statistics as JSON values.
        name: Name of the dataset.
        published: Figures that others printed.
        warnings: Sentences about the data as a whole.
    """
    heads = [f"printed ({number})" for number in range(1, len(published) + 1)]
    table = columns("", "in the data", *heads, right=range(1, 2 + len(heads)))
    for label, key, printed in _LINES:
        cells = [_number(figures.get(printed)) if printed else "" for figures in published]
        table.add_row(plain(label), _number(found[key]), *cells)
    sources = [dim(f"({number}) {figures['where']}") for number, figures in enumerate(published, start=1)]
    if any(figures.get("first_size") is not None for figures in published):
        sources.append(dim("Sizes as printed under H and W; counted ones are of the upright pictures."))
    more = [f"{key} options: {number}" for key, number in found["options"].items()]
    places = [f"place {int(key) + 1}: {number}" for key, number in found["answer_places"].items()]
    left = [f"{number} ({reason})" for reason, number in found["left_out"].items()]
    lines: list[tuple[RenderableType, ...]] = [
        ("by number of options", plain(", ".join(more))),
        ("right options at", plain(", ".join(places))),
        ("left out", plain("; ".join(left) or "nothing")),
    ]
    parts: list[RenderableType] = [plain(name, "bold"), table, *sources, "", rows(lines, folding=(1,))]
    if warnings:
        parts.append(section("Warnings", *(plain(sentence, "yellow") for sentence in warnings)))
    return View(parts)


_LINES = (
    ("questions", "questions", "questions"),
    ("circular rows, all questions", "all_rotations", "rotations"),
    ("circular rows, as permitted", "rotations", None),
    ("mean picture height, px", "mean_height", "first_size"),
    ("mean picture width, px", "mean_width", "second_size"),
    ("pictures shown", "images", None),
    ("different pictures", "distinct_images", None),
    ("pictures of unknown size", "unreadable_images", None),
    ("questions without a picture", "without_image", None),
    ("questions with several pictures", "several_images", None),
    ("questions that are not permuted", "not_permutable", None),
    ("clusters for intervals", "groups", None),
    ("bad rows left out", "skipped", None),
)
"""Label, key of the statistics, key of the printed figures."""


def _published(entry: Mapping[str, Any], key: str) -> int | None:
    return next((figures[key] for figures in entry["published"] if figures[key] is not None), None)


def _published_line(figures: Mapping[str, Any]) -> str:
    parts = [
        f"{count(figures[key])} {word}"
        for key, word in (("questions", "questions"), ("rotations", "circular rows"))
        if figures[key] is not None
    ]
    if figures["first_size"] is not None:
        parts.append(f"mean picture {figures['first_size']:,.0f} x {figures['second_size']:,.0f} px as printed")
    return f"{', '.join(parts)} ({figures['where']})"


def _number(value: float | None) -> str:
    if value is None:
        return UNKNOWN
    return count(value) if isinstance(value, int) else f"{value:,.0f}"
