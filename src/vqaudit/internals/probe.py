"""Linear probes: one linear map without bias from a state to the displayed positions (paper 2, Eq. 4).

Knows arrays and torch. Knows no run. Positions that an example does not have are masked in training and in choosing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from vqaudit.internals.spec import ProbeSpec

__all__ = ["Labelled", "Probes", "fit_probes", "masked_choice"]

Ints = NDArray[np.int64]


class Labelled(NamedTuple):
    """States with what is to be read from them."""

    states: NDArray[np.float32]
    """Examples x width."""
    n_options: Ints
    target: Ints
    """Position of the right option, below `n_options`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Probes:
    """One fitted map per seed."""

    weights: NDArray[np.float32]
    """Seeds x positions x width, for states as they are stored."""
    best_epochs: tuple[int, ...]
    """By seed: after which epoch (from 1) the kept checkpoint stood."""
    validation: tuple[float, ...]
    """By seed: its validation accuracy."""

    def logits(self, states: NDArray[np.float32]) -> NDArray[np.float32]:
        """Returns seeds x examples x positions."""
        return np.einsum("nd,skd->snk", states, self.weights, optimize=True)

    def choices(self, states: NDArray[np.float32], n_options: Ints) -> Ints:
        """Returns the position that each seed chooses: seeds x examples."""
        return masked_choice(self.logits(states), n_options)


def masked_choice(logits: NDArray[np.float32], n_options: Ints) -> Ints:
    """Returns the highest valid position: ... x examples, from ... x examples x positions.

    Example:
        >>> masked_choice(np.array([[1.0, 2.0, 9.0]], dtype=np.float32), np.array([2])).tolist()
        [1]
    """
    valid = np.arange(logits.shape[-1]) < n_options[:, None]
    return np.where(valid, logits, -np.inf).argmax(axis=-1)


def fit_probes(train: Labelled, validation: Labelled, spec: ProbeSpec) -> Probes:
    """Fits one probe per seed by masked cross-entropy with AdamW and keeps each one's best checkpoint.

    Paper 2, section 2: at most 50 epochs, the best validation checkpoint (here: highest accuracy, then lowest loss,
    then earliest). All seeds are fitted in one pass, each with its own beginning and its own order of examples; they
    share no parameter. States are divided by one number, the root mean square of the training states, so that one
    learning rate fits all layers; it is multiplied back into the map, which so stays one without bias.

    Args:
        train: Examples to fit.
        validation: Examples that select the checkpoint.
        spec: Seeds, epochs, batch, rate, decay.
    """
    device = torch.device(spec.device)
    scale = float(np.sqrt(np.mean(np.square(train.states, dtype=np.float64)))) or 1.0
    places = int(max(train.n_options.max(), validation.n_options.max()))
    fitted, held = (_Tensors.of(part, scale, places, device) for part in (train, validation))
    weights = _beginnings(spec, places, train.states.shape[1], device)
    optimiser = torch.optim.AdamW([weights], lr=spec.rate, weight_decay=spec.decay)
    best = _Best(weights)
    orders = [np.random.default_rng([spec.seed, seed, 1]) for seed in range(spec.seeds)]
    for epoch in range(1, spec.epochs + 1):
        order = torch.from_numpy(np.stack([rng.permutation(len(train.target)) for rng in orders])).to(device)
        for batch in order.split(spec.batch, dim=1):
            optimiser.zero_grad(set_to_none=True)
            fitted.losses(weights, batch).sum().backward()
            optimiser.step()
        best.see(epoch, weights, held)
    return Probes(
        weights=(best.weights / scale).cpu().numpy(),
        best_epochs=tuple(best.epochs),
        validation=tuple(best.accuracy.tolist()),
    )


def _beginnings(spec: ProbeSpec, places: int, width: int, device: torch.device) -> torch.Tensor:
    """As `torch.nn.Linear` begins: uniform within 1 / sqrt(width)."""
    rngs = [np.random.default_rng([spec.seed, seed, 0]) for seed in range(spec.seeds)]
    drawn = np.stack([rng.uniform(-1, 1, (places, width)) for rng in rngs]) / np.sqrt(width)
    return torch.tensor(drawn, dtype=torch.float32, device=device, requires_grad=True)


class _Tensors(NamedTuple):
    states: torch.Tensor
    invalid: torch.Tensor
    """Examples x positions."""
    target: torch.Tensor

    @classmethod
    def of(cls, part: Labelled, scale: float, places: int, device: torch.device) -> _Tensors:
        invalid = np.arange(places) >= part.n_options[:, None]
        arrays = (part.states / np.float32(scale), invalid, part.target)
        return cls(*(torch.tensor(array, device=device) for array in arrays))

    def losses(self, weights: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        """Mean cross-entropy of each seed over its own rows: seeds x rows -> seeds."""
        logits = torch.bmm(self.states[rows], weights.transpose(1, 2)).masked_fill(self.invalid[rows], -torch.inf)
        target = self.target[rows]
        each = torch.nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="none")
        return each.view_as(target).mean(dim=1)

    @torch.no_grad()
    def judged(self, weights: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Accuracy and loss of each seed over all examples."""
        logits = torch.einsum("nd,skd->snk", self.states, weights).masked_fill(self.invalid, -torch.inf)
        right = (logits.argmax(-1) == self.target).double().mean(-1)
        loss = -logits.log_softmax(-1).gather(-1, self.target.expand(len(weights), -1)[..., None]).mean((-2, -1))
        return right, loss


class _Best:
    """The best checkpoint of each seed so far."""

    def __init__(self, weights: torch.Tensor) -> None:
        seeds = len(weights)
        self.weights = weights.detach().clone()
        self.epochs = [0] * seeds
        self.accuracy = torch.full((seeds,), -1.0, dtype=torch.float64, device=weights.device)
        self._loss = torch.full((seeds,), torch.inf, device=weights.device)

    def see(self, epoch: int, weights: torch.Tensor, validation: _Tensors) -> None:
        accuracy, loss = validation.judged(weights)
        better = (accuracy > self.accuracy) | ((accuracy == self.accuracy) & (loss < self._loss))
        self.weights[better] = weights.detach()[better]
        self.accuracy = torch.where(better, accuracy, self.accuracy)
        self._loss = torch.where(better, loss, self._loss)
        self.epochs = [epoch if now else before for before, now in zip(self.epochs, better.tolist(), strict=True)]
