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

__all__ = ["PictureReader", "Pictures"]

_KEPT_BYTES = 512 * 2**20
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
