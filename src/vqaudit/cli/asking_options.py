"""Options that say how it is asked, and the fields of `AuditSpec` that they name. Knows no command."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from vqaudit.cli.model_options import ChatKwargs
from vqaudit.numerals import whole_number

__all__ = [
    "ConfirmOrders",
    "DesignNames",
    "Draws",
    "EndingsFile",
    "FormatsFile",
    "HalfWidth",
    "InterfaceNames",
    "KeepStates",
    "MaxDraws",
    "PromptOptions",
    "Seed",
    "System",
    "Until",
    "VariantOptions",
    "settings_of",
]

DesignNames = Annotated[
    list[str] | None,
    typer.Option(
        "--design",
        help="reference, grid, two-stage, permuted, scrambled-ids, whose-a or randomised (default); repeat to unite.",
        metavar="NAME",
    ),
]
InterfaceNames = Annotated[
    list[str] | None,
    typer.Option(
        "--interface",
        "-i",
        help="Interface, direct by default, or EVENT:ENDING/PLACE as in scores:answer-cue; NAME@DESIGN gives it a "
        "design of its own. Repeat for several.",
        metavar="NAME[@DESIGN]",
    ),
]
Draws = Annotated[int, typer.Option("--draws", help="Randomised variants per item.", min=1)]
Until = Annotated[
    str | None,
    typer.Option(
        "--until",
        help="Draw on until half-width=0.01 (this dataset) or items-half-width=0.05 (items like these) is reached.",
        metavar="TARGET",
    ),
]
MaxDraws = Annotated[int, typer.Option("--max-draws", help="Most draws per item with a target.", min=1)]
HalfWidth = Annotated[
    float | None,
    typer.Option("--half-width", help="Say how many draws a half-width takes, as in 0.01.", metavar="SHARE"),
]
ConfirmOrders = Annotated[
    int, typer.Option("--confirm-orders", help="Orders per item and format in the second of two stages.", min=1)
]
Seed = Annotated[int, typer.Option("--seed", help="Seed of every draw.", min=0)]
KeepStates = Annotated[
    str | None,
    typer.Option(
        "--keep-states",
        help="Keep hidden states beside ID scores, for vqaudit internals: those of the last layer, or of all.",
        metavar="last|all",
    ),
]
FormatsFile = Annotated[
    Path | None, typer.Option("--formats", help="JSON file with ID sets, delimiters, separators of your own.")
]
EndingsFile = Annotated[
    Path | None, typer.Option("--endings", help="JSON file with endings of your own, for EVENT:ENDING.")
]
System = Annotated[str | None, typer.Option("--system", help="System prompt.", metavar="TEXT")]


@dataclass(frozen=True, kw_only=True, slots=True)
class VariantOptions:
    """What variants are made of: formats, endings, words."""

    reference: Annotated[
        str | None, typer.Option("--reference", help="Reference format, as in upper/dot/line_break.", metavar="FORMAT")
    ] = None
    formats: FormatsFile = None
    endings: EndingsFile = None
    preset: Annotated[
        str | None,
        typer.Option("--preset", help="interfaces: everything that paper 2 measures, in one run.", metavar="NAME"),
    ] = None
    watch: Annotated[
        list[str] | None,
        typer.Option(
            "--watch",
            help="Word whose probability is recorded beside the IDs', instead of the default set; repeat, or none.",
            metavar="WORD",
        ),
    ] = None
    answer_cue: Annotated[
        str | None,
        typer.Option(
            "--answer-cue",
            help="What follows a rationale before IDs are scored; The answer is by default.",
            metavar="TEXT",
        ),
    ] = None
    permutations: Annotated[
        int, typer.Option("--permutations", help="Seeded permutations of the contents in the design permuted.", min=1)
    ] = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class PromptOptions:
    """How prompts are shown, and how long replies may be."""

    orders: Annotated[str, typer.Option("--orders", help="circular, or dataset: the dataset's order alone.")] = (
        "circular"
    )
    system: System = None
    chat_kwargs: ChatKwargs = None
    image_max_pixels: Annotated[
        int | None, typer.Option("--image-max-pixels", help="Scale larger pictures down to N pixels.", min=1)
    ] = None
    budget: Annotated[
        str,
        typer.Option("--budget", help="Tokens of an exact reply: emitted (as the model emits IDs), paper, or N."),
    ] = "emitted"
    max_tokens: Annotated[int, typer.Option("--max-tokens", help="Limit of a free generation.", min=1)] = 512


def settings_of(
    designs: list[str] | None,
    interfaces: list[str] | None,
    *,
    variants: VariantOptions,
    prompts: PromptOptions,
    **others: Any,
) -> dict[str, Any]:
    """Returns the fields of `AuditSpec` that a command's options name.

    Args:
        designs: Names of designs; None = none was typed.
        interfaces: Names of interfaces; None = none was typed.
        variants: What variants are made of.
        prompts: How prompts are shown.
        **others: Fields whose options have their names and values: `draws`, `seed`, `until`, ...
    """
    of_variants = ("reference", "formats", "endings", "answer_cue", "permutations")
    of_prompts = ("orders", "system", "image_max_pixels", "max_tokens")
    settings = {name: getattr(variants, name) for name in of_variants}
    settings |= {name: getattr(prompts, name) for name in of_prompts}
    tokens = whole_number(prompts.budget)
    settings["budget"] = prompts.budget if tokens is None else tokens
    if variants.watch:
        settings["watch"] = [word for word in variants.watch if word != "none"]
    return settings | others | _asked(designs, interfaces, preset=variants.preset, orders=prompts.orders)


def _asked(
    designs: list[str] | None, interfaces: list[str] | None, *, preset: str | None, orders: str
) -> dict[str, Any]:
    """Designs and interfaces, or the preset that names them; with a preset, only what was typed beside it."""
    if preset is None:
        return {"design": designs or ["randomised"], "interface": interfaces or ["direct"]}
    from vqaudit.run.presets import PRESETS

    typed = {"design": tuple(designs)} if designs else {}
    orders = PRESETS.get(preset, {}).get("orders", orders)
    return typed | {"preset": preset, "interface": interfaces or [], "orders": orders}
