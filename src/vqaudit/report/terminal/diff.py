"""Why two scores differ, in a terminal: the two scores, the parts that add up, and items that flipped.

Knows the difference. Computes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from vqaudit.analysis.diff import Difference, Part
from vqaudit.analysis.diff_flips import Flip, FlipSide
from vqaudit.report.digits import count, difference, interval, signed_points
from vqaudit.report.terminal.layout import View, bullets, columns, dim, plain, section

__all__ = ["diff_view"]

_WORDS = {
    "items": "items that only one of them holds",
    "prompts": "other prompt for the same item",
    "readings": "same reply, read differently",
    "replies": "same prompt, other reply",
    "untold": "a log is silent about its prompts",
}
_WIDTH = 12
_LONGEST = 400


def diff_view(found: Difference, *, flips: int = 5) -> View:
    """Returns what `rich` prints of a difference.

    Args:
        found: From `vqaudit.analysis.diff.diff_runs`.
        flips: How many flipped pairs of each cause are shown.
    """
    return View(_parts(found, flips))


def _parts(found: Difference, flips: int) -> Iterator[RenderableType]:
    yield plain(f"{found.b.name} minus {found.a.name}: {difference(found.difference)}", "bold")
    yield dim(f"{count(found.matched['both'])} items in both ({_how(found)}); 95 % intervals for items like these")
    if found.warnings:
        yield section("Beware", bullets(found.warnings, style="yellow"))
    yield _scores(found)
    yield _split(found)
    if found.settings:
        yield _settings(found)
    yield from _flips(found, flips)


def _how(found: Difference) -> str:
    told = {"by ID": "by_id", "by question and options": "by_text"}
    parts = [f"{count(found.matched[key])} matched {words}" for words, key in told.items() if found.matched[key]]
    only = [
        f"{count(found.matched[key])} only in {key[-1].upper()}" for key in ("only_a", "only_b") if found.matched[key]
    ]
    return ", ".join([*parts, *only]) or "none"


def _scores(found: Difference) -> Group:
    table = columns("", "run", "accuracy", "items", "trials", "right by", "interface", right=(2, 3, 4), folding=(6,))
    for letter, side in (("A", found.a), ("B", found.b)):
        table.add_row(
            letter,
            plain(side.name),
            plain(interval(side.accuracy)),
            count(side.items),
            count(side.trials),
            side.score,
            plain(side.interface),
        )
    return section("The two scores", table)


def _split(found: Difference) -> Group:
    largest = max((abs(part.difference.value or 0.0) for part in found.parts), default=0.0)
    table = columns("cause", "difference", "", "gained", "lost", "what it is", right=(1, 3, 4), folding=(5,))
    for part in found.parts:
        table.add_row(
            part.cause,
            plain(difference(part.difference)),
            _signed_bar(part, largest),
            count(part.gained),
            count(part.lost),
            plain(_WORDS[part.cause]),
        )
    table.add_row("in all", plain(signed_points(found.difference.value), "bold"), "", "", "", "")
    pairs = found.pairs
    told = (
        f"{count(pairs['pairs'])} pairs of trials: {count(pairs['same_prompt'])} with the same prompt, "
        f"{count(pairs['other_prompt'])} with another, {count(pairs['prompt_unknown'])} not told; "
        f"{count(pairs['same_reply'])} with the same reply"
    )
    return section("Why they differ", table, dim(told), dim(found.common_reading))


def _signed_bar(part: Part, largest: float) -> Text:
    value = part.difference.value or 0.0
    width = round(_WIDTH * abs(value) / largest) if largest else 0
    return Text("█" * width, "green" if value > 0 else "red")


def _settings(found: Difference) -> Group:
    table = columns("setting", "A", "B", folding=(0, 1, 2))
    for row in found.settings:
        table.add_row(plain(row["name"]), plain(row["a"]), plain(row["b"]))
    return section("What the runs say of themselves", table)


def _flips(found: Difference, flips: int) -> Iterator[RenderableType]:
    for cause in dict.fromkeys(flip.cause for flip in found.flips):
        same = [flip for flip in found.flips if flip.cause == cause]
        shown = same[:flips]
        if not shown:
            continue
        more = f", {count(len(shown))} of them here; --json lists all" if len(shown) < len(same) else ""
        entries = [_flip(flip) for flip in shown]
        yield section(f"Flipped by {cause}: {count(len(same))} pairs{more}", *entries)


def _flip(flip: Flip) -> Group:
    head = f"{flip.item}: {_short(flip.question)}" if flip.question else flip.item
    answer = "" if flip.answer is None else f" (right: {_short(flip.answer)})"
    lines: list[RenderableType] = [plain(head + answer)]
    if flip.a.prompt == flip.b.prompt and flip.a.prompt is not None:
        lines.append(Padding.indent(dim(f"prompt: {_short(flip.a.prompt)}"), 2))
    for letter, side in (("A", flip.a), ("B", flip.b)):
        lines.append(Padding.indent(_side(letter, side, shared=flip.a.prompt == flip.b.prompt), 2))
    return Group(*lines)


def _side(letter: str, side: FlipSide, *, shared: bool) -> Group:
    verdict = plain(f"{letter} {'right' if side.right else 'wrong'}: ", "green" if side.right else "red")
    reply = "no reply kept" if side.reply is None else repr(_short(side.reply))
    lines: list[RenderableType] = [Text.assemble(verdict, plain(f"{reply}, read as {_short(side.read_as)}"))]
    if not shared:
        lines.append(Padding.indent(dim(f"prompt: {_short(side.prompt)}"), 2))
    return Group(*lines)


def _short(text: str | None) -> str:
    if text is None:
        return "not kept"
    flat = " ⏎ ".join(line.strip() for line in text.strip().splitlines() if line.strip())
    return flat if len(flat) <= _LONGEST else f"{flat[: _LONGEST // 2]} … {flat[-_LONGEST // 2 :]}"
