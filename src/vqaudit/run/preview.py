"""Exactly what a model sees of one trial.

Knows datasets, prompts and engines. Asks nobody.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from vqaudit.asking.custom import load_endings, load_formats
from vqaudit.asking.designs import DEFAULT_REFERENCE, Reference
from vqaudit.asking.formats import FORMATS, Format, find_format
from vqaudit.asking.interfaces import Interface, find_interface
from vqaudit.asking.orders import circular_orders
from vqaudit.asking.plan import Arm, Trial, make_plan
from vqaudit.asking.prompts import make_variant, render
from vqaudit.engines.base import Engine, Request
from vqaudit.errors import VariantError
from vqaudit.items import Dataset
from vqaudit.items.item import Item
from vqaudit.run.requests import AskSpec, Pictures, make_request

__all__ = ["Asked", "Preview", "preview"]


@runtime_checkable
class _Templated(Protocol):
    def prompt_text(self, request: Request) -> str: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Preview:
    """One trial, rendered."""

    item: str
    format: str | None
    order: tuple[int, ...]
    interface: str
    option_ids: tuple[str, ...]
    images: int
    text: str
    """The user's turn; the whole prompt where a model was named."""
    prefill: str
    continuations: tuple[str, ...]

    @property
    def headline(self) -> str:
        """One line about the trial."""
        shape = self.format or "options hidden"
        order = ",".join(map(str, self.order))
        extra = f", the assistant begins with {self.prefill!r}" if self.prefill else ""
        return f"item {self.item}, {shape}, order {order}, {self.interface}, {self.images} image(s) first{extra}"

    def to_dict(self) -> dict[str, Any]:
        """Returns the same as JSON values."""
        return {
            "item": self.item,
            "format": self.format,
            "order": list(self.order),
            "interface": self.interface,
            "option_ids": list(self.option_ids),
            "images": self.images,
            "text": self.text,
            "prefill": self.prefill,
            "continuations": list(self.continuations),
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A variant by names, as a person types it."""

    format: str | None = None
    """The standard reference format by default, or the first of `formats`."""
    formats: Path | None = None
    """A file of formats; see `asking.custom`."""
    rotation: int = 0
    interface: str = "direct"
    endings: Path | None = None
    """A file of endings; see `asking.custom`."""

    def find_format(self) -> Format:
        """Returns the format of that name."""
        grid = FORMATS if self.formats is None else load_formats(self.formats)
        names = [candidate.name for candidate in grid]
        return find_format(self.format or (DEFAULT_REFERENCE if DEFAULT_REFERENCE in names else names[0]), grid)

    def find_interface(self) -> Interface:
        """Returns the interface of that name."""
        if self.endings is None:
            return find_interface(self.interface)
        return find_interface(self.interface, endings=load_endings(self.endings))


def _find_item(data: Dataset, item: str) -> Item:
    for candidate in data.items:
        if candidate.id == item:
            return candidate
    some = ", ".join(candidate.id for candidate in data.items[:5])
    raise VariantError(f"{data.name} has no item {item!r}; its items begin with {some}")


def preview(
    data: Dataset,
    item: str,
    *,
    asked: Asked,
    engine: Engine | None = None,
    spec: AskSpec,
) -> Preview:
    """Renders one item under one variant.

    Args:
        data: The dataset.
        item: The item's ID.
        asked: The variant, by names.
        engine: Shows the whole prompt through this engine's chat template, where it has one.
        spec: What is the same in every request.

    Raises:
        VariantError: No such item, format, rotation or interface.
    """
    found = _find_item(data, item)
    plan = make_plan([found], [Arm(interface=asked.find_interface(), design=Reference(format=asked.find_format()))])
    rotations = circular_orders(found.n_options)
    if asked.rotation >= len(rotations):
        raise VariantError(f"item {item!r} has rotations 0 to {len(rotations) - 1}, not {asked.rotation}")
    variant = make_variant(asked.find_interface(), asked.find_format(), rotations[asked.rotation])
    prompt = render(found, variant)
    text = prompt.text
    if isinstance(engine, _Templated):
        trial = Trial("preview", 0, variant)
        pictures = Pictures(max_pixels=spec.image_max_pixels)
        text = engine.prompt_text(make_request(plan, trial, prompt, pictures.of(found), spec))
    return Preview(
        item=found.id,
        format=None if variant.format is None else variant.format.name,
        order=variant.order,
        interface=variant.interface.name,
        option_ids=prompt.option_ids,
        images=len(found.images),
        text=text,
        prefill=prompt.prefill,
        continuations=prompt.continuations,
    )
