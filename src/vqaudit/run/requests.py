"""From a trial to what an engine sees.

Knows plans, prompts, pictures and events. Passes on neither item nor format nor answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from vqaudit.asking.interfaces import ANSWER_CUE, Interface
from vqaudit.asking.plan import Plan, Trial
from vqaudit.asking.prompts import Prompt
from vqaudit.engines.base import (
    DEFAULT_MAX_TOKENS,
    Depth,
    Event,
    ForcedToken,
    Generation,
    IDScores,
    Image,
    ImagePart,
    OptionLikelihood,
    RationaleScores,
    Reply,
    Request,
    TextPart,
)
from vqaudit.errors import DatasetError
from vqaudit.items.images import open_image
from vqaudit.items.item import ImageSource, Item

__all__ = ["AskSpec", "Pictures", "event_of", "make_request"]


@dataclass(frozen=True, kw_only=True, slots=True)
class AskSpec:
    """What is the same in every request of a run."""

    system: str | None = None
    """The system turn."""
    image_max_pixels: int | None = None
    """Larger pictures are scaled down to this many pixels."""
    budget: Literal["emitted", "paper"] | int = "emitted"
    """Tokens of an exact reply; see `engines.base.Reply`."""
    max_tokens: int = DEFAULT_MAX_TOKENS
    """Limit of a free generation, and of a rationale before its scores."""
    watch: tuple[str, ...] = ()
    """Words whose next-token mass is recorded beside ID scores."""
    states: Depth | None = None
    """Whose hidden states are kept beside ID scores; None = nobody's."""


def event_of(interface: Interface, prompt: Prompt, vocabulary: tuple[str, ...], spec: AskSpec) -> Event:
    """Returns the event that an engine is asked to score."""
    if interface.event == "reply":
        return Reply(vocabulary=vocabulary, budget=spec.budget)
    if interface.event == "id-scores":
        return IDScores(watch=spec.watch, states=spec.states)
    if interface.event == "forced-token":
        return ForcedToken()
    if interface.event == "option-likelihood":
        return OptionLikelihood(continuations=prompt.continuations)
    if interface.event == "rationale-scores":
        cue = interface.cue or ANSWER_CUE
        return RationaleScores(cue=cue, max_tokens=spec.max_tokens, watch=spec.watch)
    return Generation(max_tokens=spec.max_tokens)


def make_request(plan: Plan, trial: Trial, prompt: Prompt, images: Sequence[Image], spec: AskSpec) -> Request:
    """Returns the trial as an engine sees it: without its item, its format and its answer."""
    format = trial.variant.format
    vocabulary = () if format is None else plan.vocabulary(format)
    return Request(
        trial=trial.id,
        parts=tuple(ImagePart(index=p) if isinstance(p, int) else TextPart(text=p) for p in prompt.parts),
        images=tuple(images),
        option_ids=prompt.option_ids,
        event=event_of(trial.variant.interface, prompt, vocabulary, spec),
        system=spec.system,
        prefill=prompt.prefill,
    )


class Pictures:
    """The decoded pictures of one window, each once; a picture that cannot be decoded is its error."""

    def __init__(self, *, max_pixels: int | None) -> None:
        self._max_pixels = max_pixels
        self._known: dict[ImageSource, Image | DatasetError] = {}

    def of(self, item: Item) -> tuple[Image, ...]:
        """Returns the item's pictures.

        Raises:
            DatasetError: One of them cannot be read or decoded.
        """
        return tuple(self._one(source) for source in item.images)

    def _one(self, source: ImageSource) -> Image:
        if source not in self._known:
            try:
                pixels = open_image(source, max_pixels=self._max_pixels).pixels
                self._known[source] = Image(digest=self._key(source), pixels=pixels)
            except DatasetError as error:
                self._known[source] = error
        found = self._known[source]
        if isinstance(found, DatasetError):
            raise found
        return found

    def _key(self, source: ImageSource) -> str:
        """Names what is shown, not the file: an engine may serve runs with several limits of pixels."""
        return source.digest() if self._max_pixels is None else f"{source.digest()}@{self._max_pixels}"
