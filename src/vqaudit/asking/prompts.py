"""The only maker of prompt text.

Knows items, formats, orders and interfaces. Knows no model: chat templates and tokens are the engine's.
Rendering is pure: the same item and variant give the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vqaudit.asking.formats import Format
from vqaudit.asking.interfaces import Interface
from vqaudit.asking.orders import Order, apply_order, natural
from vqaudit.errors import DatasetError, VariantError
from vqaudit.items.item import IMAGE_PLACE, Item

__all__ = ["Prompt", "Variant", "instruction", "make_variant", "render"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Variant:
    """One complete way to ask: format x order x interface."""

    interface: Interface
    format: Format | None
    """None where the options are hidden."""
    order: Order
    """`order[position]` = option index."""
    id_order: Order
    """`id_order[position]` = index into the ID set; natural unless a design says otherwise."""

    @property
    def key(self) -> str:
        """What tells this variant from every other of the same run."""
        shape = "hidden" if self.format is None else self.format.name
        orders = f"{','.join(map(str, self.order))}|{','.join(map(str, self.id_order))}"
        return f"{self.interface.name}|{shape}|{orders}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """A rendered prompt. `"".join(segments)` is the whole text of the user's turn."""

    segments: tuple[str, ...]
    """Question, options, ending: what trials share is the same segment."""
    parts: tuple[str | int, ...]
    """The user's turn in order: text, and the index of an image where it stands; images first unless placed."""
    prefill: str
    """What the assistant's turn begins with."""
    option_ids: tuple[str, ...]
    """By position; empty where the options are hidden."""
    continuations: tuple[str, ...]
    """For option likelihoods: the text of each option as it would follow, by position."""

    @property
    def text(self) -> str:
        """The text of the user's turn, with `<image k>` where the dataset places image k."""
        return "".join(self.segments)


def _example_ids(option_ids: Sequence[str]) -> str:
    if len(option_ids) == 2:
        return f"{option_ids[0]}, or {option_ids[1]}"
    return f"{', '.join(option_ids[:-1])} or {option_ids[-1]}"


def instruction(kind: str, option_ids: Sequence[str], *, images: int) -> str:
    """Returns paper 1's instruction (appendix A.1, Table 3).

    Args:
        kind: `letter`, `number` or `roman number`.
        option_ids: The IDs of this question in natural order, two or more.
        images: How many images the question has.

    Example:
        >>> instruction("letter", ["A", "B"], images=0)
        'Select the best answer to the above multiple-choice question. Respond with only the letter (e.g., A, or B) of the correct option and no bracket, colon, or dot.'
    """  # noqa: E501
    basis = ("", " based on the image", " based on the images")[min(images, 2)]
    return (
        f"Select the best answer to the above multiple-choice question{basis}. Respond with only the {kind} "
        f"(e.g., {_example_ids(option_ids)}) of the correct option and no bracket, colon, or dot."
    )


def _guard_lines(option: str, format: Format, option_ids: Sequence[str]) -> str:
    """Indents a line inside an option that would read as the next option; other lines stay as they are."""
    if "\n" not in option:
        return option
    starts = tuple(format.delimiter.template.replace("{}", option_id) for option_id in option_ids)
    first, *rest = option.split("\n")
    return "\n".join([first, *(f"    {line}" if line.startswith(starts) else line for line in rest)])


def _question_block(item: Item) -> str:
    return item.question if item.hint is None else f"{item.hint}\n{item.question}"


def _ending_text(item: Item, variant: Variant) -> str:
    text = variant.interface.ending.text
    if "{instruction}" not in text and "{kind}" not in text:
        return text
    if variant.format is None:
        raise VariantError(f"interface {variant.interface.name!r} hides the options, so no instruction can name IDs")
    ids = variant.format.id_set.first(item.n_options)
    wording = instruction(variant.format.id_set.kind, ids, images=len(item.images))
    return text.replace("{instruction}", wording).replace("{kind}", variant.format.id_set.kind)


def _parts(segments: Sequence[str], item: Item) -> tuple[str | int, ...]:
    text = "".join(segments)
    if not item.has_image_places:
        return (*range(len(item.images)), text)
    parts: list[str | int] = []
    end = 0
    placed: set[int] = set()
    for match in IMAGE_PLACE.finditer(text):
        index = int(match[1]) - 1
        if index >= len(item.images):
            raise DatasetError(f"the text places image {index + 1}, but there are {len(item.images)}", item=item.id)
        if match.start() > end:
            parts.append(text[end : match.start()])
        parts.append(index)
        placed.add(index)
        end = match.end()
    if end < len(text):
        parts.append(text[end:])
    unplaced = [i for i in range(len(item.images)) if i not in placed]
    return (*unplaced, *parts)


def render(item: Item, variant: Variant) -> Prompt:
    r"""Renders one item under one variant: `{question}\n{options joined by the separator}\n{ending}`.

    A hint stands before the question; an empty ending adds no line break; images come first unless the dataset
    places them in the text.

    Raises:
        VariantError: The format has too few IDs, or the variant's orders do not fit the item.
        DatasetError: The text places an image that the item does not have.
    """
    if len(variant.order) != item.n_options:
        raise VariantError(f"an order of {len(variant.order)} options for item {item.id!r}, which has {item.n_options}")
    ending = _ending_text(item, variant)
    in_user = ending if variant.interface.place == "user" else ""
    segments = [_question_block(item)]
    shown = apply_order(variant.order, item.options)
    option_ids: tuple[str, ...] = ()
    if variant.format is not None:
        ids = variant.format.id_set.first(item.n_options)
        option_ids = apply_order(variant.id_order, ids)
        guarded = [_guard_lines(option, variant.format, ids) for option in shown]
        segments[0] += "\n"
        segments.append(variant.format.list_options(guarded, option_ids))
    if in_user:
        segments[-1] += "\n"
        segments.append(in_user)
    prefill = ending if variant.interface.place == "assistant" else ""
    joint = " " if prefill and not prefill[-1].isspace() else ""
    return Prompt(
        segments=tuple(segments),
        parts=_parts(segments, item),
        prefill=prefill,
        option_ids=option_ids,
        continuations=tuple(joint + option for option in shown)
        if variant.interface.event == "option-likelihood"
        else (),
    )


def make_variant(interface: Interface, format: Format, order: Order, id_order: Order | None = None) -> Variant:
    """Returns the variant; an interface that hides the options has neither format nor order."""
    if not interface.options_shown:
        return Variant(interface=interface, format=None, order=natural(len(order)), id_order=natural(len(order)))
    return Variant(interface=interface, format=format, order=order, id_order=id_order or natural(len(order)))
