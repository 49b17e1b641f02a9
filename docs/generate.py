"""Writes the pages of docs/ that follow from the code: cli.md, records.md, formats.md, benchmarks.md, models.md.

python docs/generate.py            writes them
python docs/generate.py --check    exits 1 where a page is stale
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import typer
from named import benchmarks_page, models_page

from vqaudit.asking.endings import ENDINGS
from vqaudit.asking.formats import FORMATS
from vqaudit.asking.interfaces import DEFAULT_WATCH, EVENTS, INTERFACES
from vqaudit.cli import app
from vqaudit.records import ITEM_SCHEMA, PLAN_SCHEMA, SEGMENT_SCHEMA, TRIAL_SCHEMA, Manifest, describe_columns

HERE = Path(__file__).parent
NOTE = "<!-- written by docs/generate.py; do not edit -->\n"
COMPLETION = (
    "`vqaudit --install-completion` makes your shell (bash, zsh, fish or PowerShell) complete commands and options "
    "from its next start on;\n`vqaudit --show-completion` prints the script instead, for a place of your own."
)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _plain(text: str) -> str:
    return text.replace("[bold]", "").replace("[/]", "")


def _option_row(parameter: Any) -> str:
    names = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
    if parameter.param_type_name == "argument":
        names = f"`{parameter.metavar or parameter.name}`"
    wording = _plain(getattr(parameter, "help", None) or "")
    default = "" if parameter.required or parameter.default in (None, False) else f"`{parameter.default}`"
    need = "yes" if parameter.required else ""
    return f"| {names} | {_cell(wording)} | {need} | {default} |"


def cli_page() -> str:
    group: Any = typer.main.get_command(app)
    lines = [NOTE, "# Command line", "", "`python -m vqaudit` is the same as `vqaudit`.", "", COMPLETION, ""]
    for name, command in sorted(group.commands.items()):
        lines += [f"## vqaudit {name}", "", (command.help or "").strip(), ""]
        lines += ["| option | meaning | required | default |", "|---|---|---|---|"]
        lines += [_option_row(p) for p in command.params if p.name != "help"]
        lines.append("")
    lines += [
        "## Exit codes",
        "",
        "| code | meaning |",
        "|---|---|",
        "| 0 | done |",
        "| 1 | an error that one line on standard error explains, or no trial could be answered |",
        "| 2 | wrong usage |",
        "| 130 | stopped by Ctrl-C; what was answered is kept, and the same command goes on |",
        "| 143 | stopped by SIGTERM; the batch in hand was finished and written first, and the same command goes on |",
    ]
    return "\n".join(lines) + "\n"


def _table(schema: pa.Schema) -> list[str]:
    rows = [f"| `{name}` | {_cell(kind)} | {_cell(meaning)} |" for name, kind, meaning in describe_columns(schema)]
    return ["| column | type | meaning |", "|---|---|---|", *rows, ""]


def records_page() -> str:
    lines = [NOTE, "# Records", "", "What a run directory holds. Null means not known or not applicable.", ""]
    for title, schema in (
        ("trials/*.parquet", TRIAL_SCHEMA),
        ("items.parquet", ITEM_SCHEMA),
        ("plan.parquet", PLAN_SCHEMA),
        ("segments.parquet", SEGMENT_SCHEMA),
    ):
        lines += [f"## {title}", "", *_table(schema)]
    lines += ["## manifest.json", "", "| field | type |", "|---|---|"]
    for name, field in Manifest.model_fields.items():
        kind = str(field.annotation).replace("typing.", "").replace("<class '", "").replace("'>", "")
        lines.append(f"| `{name}` | {_cell(kind)} |")
    return "\n".join(lines) + "\n"


def formats_page() -> str:
    lines = [NOTE, "# Formats and interfaces", "", f"The standard grid has {len(FORMATS)} formats.", ""]
    lines += ["| format | two options, as shown |", "|---|---|"]
    for format in FORMATS:
        shown = format.list_options(("a cat", "a dog"), format.id_set.first(2)).replace("\n", "⏎")
        lines.append(f"| `{format.name}` | `{shown}` |")
    lines += ["", "## Interfaces", "", "| name | ending | place | scored event | aligned |", "|---|---|---|---|---|"]
    for i in INTERFACES.values():
        ending = i.ending.text or "(nothing)"
        lines.append(f"| `{i.name}` | {ending} | {i.place} | {i.event} | {'yes' if i.aligned else '**no**'} |")
    return "\n".join([*lines, *_endings_part()]) + "\n"


def _endings_part() -> list[str]:
    lines = [
        "",
        "*Aligned*: the ending asks for the event that is scored, or for nothing. `vqaudit run` and `vqaudit plan` say",
        "beforehand which do not. What they find: [interfaces](interfaces.md).",
        *("", "## Endings", "", "| name | text | asks for | invites a rationale |", "|---|---|---|---|"),
    ]
    lines += [f"| `{e.name}` | {e.text or '(nothing)'} | {e.asks} | {e.strength} |" for e in ENDINGS.values()]
    events = ", ".join(f"`{name}` ({event})" for name, (event, _) in EVENTS.items())
    return [
        *lines,
        "",
        "`{instruction}` is paper 1's: it names the kind of ID and the IDs shown. `{kind}` is letter, number or roman",
        "number.",
        "",
        "Any ending combines with any event, in the user's turn or at the beginning of the assistant's:",
        "`EVENT:ENDING[/PLACE]`, as in `scores:answer-cue` or `free:lets-think/assistant`. Events:",
        f"{events}.",
        "`cloze` hides the options; `rationale` writes a rationale and scores the IDs behind `The answer is`",
        "(`--answer-cue`).",
        "",
        "Endings of your own: `--endings FILE`, a JSON file as in `vqaudit.asking.custom`; formats of your own:",
        "`--formats FILE`.",
        "",
        "Watched words, whose probability is recorded beside the IDs' (`--watch`):",
        f"{', '.join(DEFAULT_WATCH)}.",
        "A word of several tokens counts by its first; tokens that are a shown ID never count.",
    ]


PAGES = {
    "cli.md": cli_page,
    "records.md": records_page,
    "formats.md": formats_page,
    "benchmarks.md": lambda: NOTE + benchmarks_page(),
    "models.md": lambda: NOTE + models_page(),
}


def main() -> int:
    stale = [name for name, page in PAGES.items() if _read(HERE / name) != page()]
    if "--check" in sys.argv:
        print(f"stale: {', '.join(stale)}" if stale else "fresh")
        return 1 if stale else 0
    for name in stale:
        (HERE / name).write_text(PAGES[name](), encoding="utf-8")
        print(f"wrote docs/{name}")
    return 0


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


if __name__ == "__main__":
    raise SystemExit(main())
