"""How a view is laid out: headings, tables without lines, bars, and plain characters where no others can be printed.

Knows rich. Knows no finding.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from rich.box import HEAVY
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.panel import Panel
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from vqaudit.analysis.estimates import Estimate
from vqaudit.report.digits import pct
from vqaudit.report.untrusted import printable

__all__ = [
    "View",
    "alarm",
    "bar",
    "bullets",
    "columns",
    "dim",
    "plain",
    "rows",
    "section",
    "share_bar",
    "shares",
]

BAR_WIDTH = 20
_INDENT = 2
_ASCII = str.maketrans(
    {
        "█": "#",
        "▒": "=",
        "·": "-",
        "−": "-",
        "–": "-",
        "•": "*",
        "…": "...",
        "│": "|",
        "┃": "|",
        "━": "-",
        "┏": "+",
        "┓": "+",
        "┗": "+",
        "┛": "+",
        "�": "?",
        "δ": "d",
        "▁": ".",
        "▂": ":",
        "▃": "-",
        "▄": "=",
        "▅": "+",
        "▆": "*",
        "▇": "%",
    }
)


class View:
    """What a console prints; in an encoding that is no Unicode, with characters that it has.

    Args:
        parts: Renderables, printed one below the other.
    """

    def __init__(self, parts: Iterable[RenderableType]) -> None:
        self._body = Group(*parts)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yields the segments of the body."""
        segments = console.render(self._body, options)
        if not options.ascii_only:
            yield from segments
            return
        for text, style, control in segments:
            yield Segment(_in_encoding(text, options.encoding), style, control)


def _in_encoding(text: str, encoding: str) -> str:
    """Writes the text without what the encoding lacks; a terminal of 1987 must not break a summary."""
    return text.translate(_ASCII).encode(encoding, "replace").decode(encoding)


def plain(text: str, style: str = "") -> Text:
    """Returns text that is never read as markup and cannot act on the terminal."""
    return Text(printable(text), style=style, overflow="fold")


def dim(text: str) -> Text:
    """Returns text that may be skipped."""
    return plain(text, style="dim")


def section(title: str, *bodies: RenderableType) -> Group:
    """Returns a titled, indented part of a view."""
    return Group("", plain(title, "bold"), *(Padding.indent(body, _INDENT) for body in bodies))


def alarm(title: str, sentences: Sequence[str]) -> Panel:
    """Returns what must be read before anything else."""
    return Panel(
        Group(*(plain(sentence) for sentence in sentences)),
        title=plain(title, "bold"),
        title_align="left",
        border_style="red",
        box=HEAVY,
    )


def bullets(sentences: Iterable[str], *, style: str = "") -> Table:
    """Returns sentences, each after a bullet."""
    return rows([(plain("•", style), plain(sentence, style)) for sentence in sentences], folding=(1,))


def columns(*names: str, right: Collection[int] = (), folding: Collection[int] = ()) -> Table:
    """Returns a table without lines, to which rows are added.

    Args:
        *names: Headers.
        right: Columns with numbers, which stand to the right.
        folding: Columns that may be broken into several lines; figures never are.
    """
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for place, name in enumerate(names):
        table.add_column(
            plain(name),
            justify="right" if place in right else "left",
            no_wrap=place not in folding,
            overflow="fold",
        )
    return table


def rows(
    cells: Iterable[Sequence[RenderableType]], *, right: Collection[int] = (), folding: Collection[int] = ()
) -> Table:
    """Returns a table without a head; `right` and `folding` as for `columns`."""
    lines = list(cells)
    table = columns(*("" for _ in max(lines, key=len, default=())), right=right, folding=folding)
    table.show_header = False
    for line in lines:
        table.add_row(*line)
    return table


def bar(estimate: Estimate | None, width: int = BAR_WIDTH) -> Text:
    """Returns a share as a bar of 0 to 100 %: solid up to the lower bound, shaded within the interval.

    Example:
        >>> bar(Estimate(value=0.5, low=0.4, high=0.6), width=10).plain
        '████▒▒'
    """
    if estimate is None or estimate.value is None:
        return Text("")
    if estimate.low is None or estimate.high is None:
        return share_bar(estimate.value, width)
    low, high = round(estimate.low * width), round(estimate.high * width)
    return Text.assemble(("█" * low, "cyan"), ("▒" * (high - low), "cyan"))


def share_bar(share: float | None, width: int = BAR_WIDTH) -> Text:
    """Returns a share as a bar without an interval.

    Example:
        >>> share_bar(0.5, width=4).plain, share_bar(None).plain
        ('██', '')
    """
    return Text("" if share is None else "█" * round(share * width), "cyan")


def shares(*values: float | None) -> list[Text]:
    """Returns shares as table cells."""
    return [plain(pct(value)) for value in values]
