"""Hidden states at the last position, caught on their way through a forward pass.

Knows a model of transformers: its blocks, its final norm and its output embedding. Knows no request and no option
ID. Layers are counted as transformers counts `hidden_states`: 0 is what enters the first block, l is what leaves
block l, and the last is what the output embedding multiplies, after the final norm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch

from vqaudit.engines.base import Depth
from vqaudit.errors import UnsupportedEvent

__all__ = ["Caught", "Lens", "catching", "count_layers", "rows_of", "softcap"]

_NORMS = ("norm", "ln_f", "final_layernorm", "final_layer_norm")
_LENS_TOLERANCE = 0.05
"""Largest difference of log-probabilities between norm-and-head and the model itself; rounding of half precision."""


class Caught(NamedTuple):
    """What one or more forward passes gave for some rows."""

    logprobs: torch.Tensor
    """Log-probabilities of the next token: rows x vocabulary, float32, on the CPU."""
    states: torch.Tensor
    """Rows x layers x width, float32, on the CPU; one layer where only the last was asked for."""


def _decoder(model: Any) -> Any:
    return model.get_decoder()


def _blocks(model: Any) -> torch.nn.ModuleList:
    count = model.config.get_text_config().num_hidden_layers
    lists = [child for child in _decoder(model).children() if isinstance(child, torch.nn.ModuleList)]
    found = next((blocks for blocks in lists if len(blocks) == count), None)
    if found is None:
        raise UnsupportedEvent(
            f"the blocks of {type(model).__name__} are not where transformers' decoders have them, so states of all "
            "layers cannot be kept; keep those of the last layer alone"
        )
    return found


def count_layers(model: Any) -> int:
    """Returns the number of the last layer: how many blocks the decoder has."""
    return int(model.config.get_text_config().num_hidden_layers)


def softcap(model: Any) -> float | None:
    """Returns the bound into which logits are squeezed after the output embedding (Gemma 2), or None."""
    return getattr(model.config.get_text_config(), "final_logit_softcapping", None)


@contextmanager
def catching(model: Any, depth: Depth) -> Iterator[Callable[[], torch.Tensor]]:
    """While it is open, notes the last position's states of every forward pass.

    Args:
        model: In evaluation mode; its rows end at the same place.
        depth: `last` for what the output embedding multiplies, `all` for every layer too.

    Yields:
        A function that returns what was noted, passes below one another: rows x layers x width.

    Raises:
        UnsupportedEvent: All layers are asked for, and the model's blocks cannot be found.
    """
    noted: list[list[torch.Tensor]] = []
    handles: list[Any] = []

    def into_first(_: Any, given: Any, named: dict[str, Any]) -> None:
        noted.append([_last(given[0] if given else named["hidden_states"])])

    def out_of_block(_: Any, __: Any, output: Any) -> None:
        noted[-1].append(_last(output[0] if isinstance(output, tuple) else output))

    def into_head(_: Any, given: Any) -> None:
        if depth == "last":
            noted.append([])
        else:
            noted[-1].pop()  # what leaves the last block enters the final norm, and is told after it
        noted[-1].append(_last(given[0]))

    try:
        if depth == "all":
            blocks = _blocks(model)
            handles.append(blocks[0].register_forward_pre_hook(into_first, with_kwargs=True))
            handles += [block.register_forward_hook(out_of_block) for block in blocks]
        handles.append(model.get_output_embeddings().register_forward_pre_hook(into_head))
        yield lambda: torch.cat([torch.stack(layers, dim=1) for layers in noted]).float().cpu()
    finally:
        for handle in handles:
            handle.remove()


def _last(hidden: torch.Tensor) -> torch.Tensor:
    return hidden[:, -1].detach().clone()


class Lens:
    """Reads earlier layers through the model's own final norm and output embedding (the "logit lens").

    Args:
        model: In evaluation mode.
    """

    def __init__(self, model: Any) -> None:
        self._head = model.get_output_embeddings()
        self._norm = next((getattr(_decoder(model), name) for name in _NORMS if hasattr(_decoder(model), name)), None)
        self._softcap = softcap(model)
        self._like = self._head.weight

    @torch.inference_mode()
    def read(self, caught: Caught) -> Iterator[torch.Tensor]:
        """Yields the next-token log-probabilities of every layer, from the first: rows x vocabulary.

        The last layer's are those of the model itself. Nothing is yielded where the norm cannot be found, or where
        the head alone does not give the model's own distribution, so that the lens would not be one.
        """
        own = self._logprobs(caught.states[:, -1], normed=True)
        if self._norm is None or not _close(own, caught.logprobs):
            return
        for layer in range(caught.states.shape[1] - 1):
            yield self._logprobs(caught.states[:, layer], normed=False)
        yield caught.logprobs

    def _logprobs(self, states: torch.Tensor, *, normed: bool) -> torch.Tensor:
        placed = states.to(device=self._like.device, dtype=self._like.dtype)
        logits = self._head(placed if normed or self._norm is None else self._norm(placed)).float()
        if self._softcap:
            logits = self._softcap * (logits / self._softcap).tanh()
        return logits.log_softmax(-1).cpu()


def _close(one: torch.Tensor, other: torch.Tensor) -> bool:
    likely = other.amax(-1, keepdim=True) - 10  # rounding of what is e^-10 as likely says nothing
    return bool(
        ((one - other).abs().masked_fill(other < likely, 0.0).nan_to_num(nan=torch.inf) < _LENS_TOLERANCE).all()
    )


def rows_of(model: Any, token_ids: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the output embedding's rows of some tokens, and their biases: float32, on the CPU."""
    head = model.get_output_embeddings()
    index = torch.tensor(list(token_ids), dtype=torch.long, device=head.weight.device)
    bias = getattr(head, "bias", None)
    biases = torch.zeros(len(token_ids)) if bias is None else bias.detach()[index].float().cpu()
    return head.weight.detach()[index].float().cpu(), biases
