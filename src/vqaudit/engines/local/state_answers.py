"""Hidden states beside the scores of option IDs: what of a batch's states belongs to which outcome.

Knows states, plans of IDs and distributions. Knows no model.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from vqaudit.engines.base import Depth, HiddenStates, IDScores, LensLayer
from vqaudit.engines.local.asked import Asked, Tools
from vqaudit.engines.local.ids import IDPlan, Tokens
from vqaudit.engines.local.scoring import mass, read_ids
from vqaudit.engines.local.states import Caught

__all__ = ["depth_asked", "hidden_states"]


def depth_asked(asked: Sequence[Asked]) -> Depth | None:
    """Returns the most that any request of a batch asks for."""
    wanted = {one.request.event.states for one in asked if isinstance(one.request.event, IDScores)}
    return "all" if "all" in wanted else "last" if "last" in wanted else None


def hidden_states(
    asked: Sequence[Asked], plans: Sequence[IDPlan], caught: Caught, tools: Tools
) -> list[HiddenStates | None]:
    """Returns each request's states; None for those that ask for none."""
    layers: list[list[LensLayer]] = [[] for _ in asked]
    if caught.states.shape[1] > 1 and tools.lens is not None:
        for logprobs in tools.lens.read(caught):
            for place, (one, plan) in enumerate(zip(asked, plans, strict=True)):
                if plan.option_ids and plan.one_position:
                    layers[place].append(_lens_layer(one, plan, logprobs[place], tools))
    return [_of_one(one, states, tuple(lens)) for one, states, lens in zip(asked, caught.states, layers, strict=True)]


def _of_one(one: Asked, states: torch.Tensor, lens: tuple[LensLayer, ...]) -> HiddenStates | None:
    event = one.request.event
    if not isinstance(event, IDScores) or event.states is None:
        return None
    return (
        HiddenStates(values=states.numpy(), lens=lens)
        if event.states == "all"
        else HiddenStates(values=states[-1:].numpy())
    )


def _lens_layer(one: Asked, plan: IDPlan, logprobs: torch.Tensor, tools: Tools) -> LensLayer:
    known: dict[Tokens, torch.Tensor] = {(): logprobs}
    reading = read_ids(plan.first_only, known.__getitem__, tools.vocabulary)
    event = one.request.event
    words = event.watch if isinstance(event, IDScores) else ()
    watched = mass(tools.ids.watched(words, plan, one.prompt), logprobs) if words else None
    return LensLayer(
        id_logprobs=tuple(float("-inf") if s.logprob is None else s.logprob for s in reading.scores),
        id_ranks=tuple(s.rank for s in reading.scores),
        id_mass=reading.mass,
        watch_mass=watched,
    )
