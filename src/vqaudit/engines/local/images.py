"""Pictures -> model inputs, once per picture and not once per prompt.

Knows a processor of transformers. Knows no prompt: what comes back says which text stands for each picture, and
the caller puts it into the prompt.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from vqaudit.engines.base import Image
from vqaudit.engines.local.outcomes import BadInput

__all__ = ["PictureReader", "Pictures", "merge_pictures"]

_KEPT_BYTES = 512 * 2**20
"""Most memory of the pictures that are kept."""
_FILLING = {"image_attention_mask": 1}
"""What fills up an input of fewer tiles, where it is not 0: Phi-4-multimodal's empty crops are all seen."""
_TEXT_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids", "mm_token_type_ids"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Pictures:
    """The pictures of one prompt as the model takes them."""

    digests: tuple[str, ...]
    """Which pictures these are."""
    places: tuple[str, ...]
    """The text that stands in the prompt for each picture."""
    tensors: dict[str, torch.Tensor] = field(repr=False)
    """Pixels and what goes with them, by the name of the model's argument; as for a batch of one prompt."""

    @property
    def bytes(self) -> int:
        """Memory that the tensors take."""
        return sum(tensor.numel() * tensor.element_size() for tensor in self.tensors.values())


class PictureReader:
    """Reads pictures through a processor and keeps the last ones.

    Args:
        processor: A processor of transformers, which knows how its family cuts and numbers pictures.
        accepted: Names of the model's arguments; whatever else the processor makes is dropped.
    """

    def __init__(self, processor: Any, *, accepted: frozenset[str]) -> None:
        self._processor = processor
        self._accepted = accepted - _TEXT_INPUTS
        self._kept: OrderedDict[tuple[str, ...], Pictures] = OrderedDict()
        self._bytes = 0

    def read(self, images: Sequence[Image]) -> Pictures:
        """Returns the pictures of one prompt.

        They are read together, since some families cut a picture otherwise where it is not alone.

        Raises:
            BadInput: The processor refuses a picture.
        """
        key = tuple(image.digest for image in images)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        pictures = self._process(images)
        self._keep(key, pictures)
        return pictures

    def _process(self, images: Sequence[Image]) -> Pictures:
        try:
            made = self._processor(
                text=[self._processor.image_token * len(images)],
                images=[[image.pixels for image in images]],
                return_tensors="pt",
                return_text_replacement_offsets=True,
            )
        except (ValueError, TypeError, ZeroDivisionError, IndexError, OSError) as error:
            raise BadInput(f"the model's image processor refuses the picture: {error}") from error
        tensors = {name: _as_mask(name, made[name]) for name in made if name in self._accepted}
        places = tuple(place["replacement"] for place in made["text_replacement_offsets"][0])
        digests = tuple(image.digest for image in images)
        return Pictures(digests=digests, places=places, tensors=tensors)

    def _keep(self, key: tuple[str, ...], pictures: Pictures) -> None:
        self._kept[key] = pictures
        self._bytes += pictures.bytes
        while self._bytes > _KEPT_BYTES and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            self._bytes -= dropped.bytes


def _as_mask(name: str, tensor: torch.Tensor) -> torch.Tensor:
    """A mask of yes and no is one, whatever its type: as numbers of half precision, sums over it would be rounded."""
    return tensor.bool() if name.endswith("mask") and tensor.is_floating_point() else tensor


def merge_pictures(pictures: Sequence[Pictures]) -> dict[str, torch.Tensor]:
    """Returns the pictures of several prompts as the inputs of one batch.

    Rows are put behind one another; where prompts have unequal numbers of tiles, the shorter are filled as the
    processors themselves do: with zeros but for `_FILLING`.
    """
    names = pictures[0].tensors if pictures else {}
    return {name: _stack([picture.tensors[name] for picture in pictures], _FILLING.get(name, 0)) for name in names}


def _stack(tensors: Sequence[torch.Tensor], filling: int) -> torch.Tensor:
    shape = [max(sizes) for sizes in zip(*(tensor.shape[1:] for tensor in tensors), strict=True)]
    if all(list(tensor.shape[1:]) == shape for tensor in tensors):
        return torch.cat(list(tensors))
    stacked = tensors[0].new_full((sum(len(tensor) for tensor in tensors), *shape), filling)
    start = 0
    for tensor in tensors:
        place = (slice(start, start + len(tensor)), *(slice(size) for size in tensor.shape[1:]))
        stacked[place] = tensor
        start += len(tensor)
    return stacked
