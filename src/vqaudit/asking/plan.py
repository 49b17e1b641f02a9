"""Trials: the union of designs, duplicates merged, in the order in which they are asked.

Knows items, designs and interfaces. Asks nobody.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from vqaudit.asking.designs import Design, Reference, draws
from vqaudit.asking.formats import FORMATS, Format
from vqaudit.asking.interfaces import Interface
from vqaudit.asking.prompts import Variant, make_variant
from vqaudit.errors import PlanError
from vqaudit.items.item import Item

__all__ = ["Arm", "Plan", "Reason", "Trial", "grid_size", "make_plan"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Arm:
    """One interface under one design."""

    interface: Interface
    design: Design


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a trial is run: one row of `plan.parquet`."""

    trial: str
    item: str
    design: str
    draw: int
    interface: str


@dataclass(frozen=True, slots=True)
class Trial:
    """One item under one variant."""

    id: str
    """Opaque to engines: says nothing of the answer."""
    item: int
    """Index into the plan's items."""
    variant: Variant


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What will be asked. Trials of one item stand together, so that engines can share their prefix."""

    items: tuple[Item, ...]
    arms: tuple[Arm, ...]
    trials: tuple[Trial, ...] = field(repr=False)
    reasons: tuple[Reason, ...] = field(repr=False)
    most_options: int = 0
    """Options of the longest list; also of the whole plan that this one is a part of. 0 = count the items'."""

    def __post_init__(self) -> None:
        if not self.most_options:
            object.__setattr__(self, "most_options", max((item.n_options for item in self.items), default=0))

    def __len__(self) -> int:
        return len(self.trials)

    @property
    def interfaces(self) -> tuple[Interface, ...]:
        """Interfaces in the order of the arms, each once."""
        return tuple({arm.interface.name: arm.interface for arm in self.arms}.values())

    @property
    def formats(self) -> tuple[Format, ...]:
        """Formats that any trial uses, each once."""
        found = {t.variant.format.name: t.variant.format for t in self.trials if t.variant.format is not None}
        return tuple(found.values())

    def vocabulary(self, format: Format) -> tuple[str, ...]:
        """Returns the IDs of a format's set that this plan's items use: as many as the longest option list has."""
        return format.id_set.first(self.most_options)

    def part(self, trials: Sequence[Trial]) -> Plan:
        """Returns some trials as a plan of their own, with their items alone, that is asked word for word alike."""
        places = {item: place for place, item in enumerate(dict.fromkeys(trial.item for trial in trials))}
        return Plan(
            items=tuple(self.items[item] for item in places),
            arms=(),
            trials=tuple(Trial(trial.id, places[trial.item], trial.variant) for trial in trials),
            reasons=(),
            most_options=self.most_options,
        )

    def windows(self, *, trials: int = 1024, images: int = 32) -> Iterator[tuple[Trial, ...]]:
        """Cuts the trials into runs of whole items: a pure function of the plan, so that resuming finds the same.

        Args:
            trials: No window but a single item's has more trials.
            images: No window but a single item's needs more pictures in memory.
        """
        window: list[Trial] = []
        pictures = 0
        for block in self._by_item():
            needed = len(self.items[block[0].item].images)
            if window and (len(window) + len(block) > trials or pictures + needed > images):
                yield tuple(window)
                window, pictures = [], 0
            window += block
            pictures += needed
        if window:
            yield tuple(window)

    def _by_item(self) -> Iterator[list[Trial]]:
        block: list[Trial] = []
        for trial in self.trials:
            if block and trial.item != block[0].item:
                yield block
                block = []
            block.append(trial)
        if block:
            yield block


def grid_size(items: Iterable[Item], formats: Sequence[Format] = FORMATS) -> int:
    """Returns how many trials the whole grid of one interface has: every format in every admissible order.

    Example:
        >>> grid_size([Item(id="7", question="What is shown?", options=("a cat", "a dog"), answer=1)])
        96
    """
    return len(formats) * sum(item.n_orders for item in items)


def _trial_id(item: Item, variant: Variant) -> str:
    """The name of a trial: 16 hexadecimal digits, equal for equal item IDs and variants in any run."""
    return hashlib.sha256(f"{item.id}\x1f{variant.key}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _check_ids(items: Sequence[Item], arms: Sequence[Arm]) -> None:
    longest = max(item.n_options for item in items)
    for arm in arms:
        formats = (arm.design.format,) if isinstance(arm.design, Reference) else arm.design.formats
        for format in formats:
            format.id_set.first(longest)


def make_plan(items: Sequence[Item], arms: Sequence[Arm]) -> Plan:
    """Returns the union of the arms over the items.

    A trial that two arms ask for is asked once and has two reasons. Items that must not be permuted are asked in
    the dataset's order alone.

    Raises:
        PlanError: No items or no arms.
        VariantError: An ID set is too short for an item.
    """
    if not items:
        raise PlanError("there are no items to ask; check the data file and --limit")
    if not arms:
        raise PlanError("no interface was chosen; name at least one")
    _check_ids(items, arms)
    counts = [item.n_options for item in items]
    free = [item.permutable for item in items]
    trials: list[dict[str, Trial]] = [{} for _ in items]
    reasons: dict[Reason, None] = {}
    for arm in arms:
        if not arm.interface.options_shown:
            # Nothing of a format or an order is visible, so there is one trial per item.
            arm = Arm(interface=arm.interface, design=_once(arm.design))
        for cell in draws(arm.design, counts, free):
            item = items[cell.item]
            variant = make_variant(arm.interface, cell.format, cell.order, cell.id_order)
            name = _trial_id(item, variant)
            trials[cell.item].setdefault(name, Trial(name, cell.item, variant))
            reasons[Reason(name, item.id, arm.design.name, cell.draw, arm.interface.name)] = None
    return Plan(
        items=tuple(items),
        arms=tuple(arms),
        trials=tuple(trial for group in trials for trial in group.values()),
        reasons=tuple(reasons),
    )


def _once(design: Design) -> Design:
    format = design.format if isinstance(design, Reference) else design.formats[0]
    return Reference(format=format, orders="dataset")
