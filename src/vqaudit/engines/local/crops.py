"""Phi-4-multimodal's pictures where torchvision is missing.

Knows how the family cuts a picture into crops, and what it masks. Knows no prompt. transformers has an image processor
for this family only over torchvision; this one makes the same numbers with torch alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn.functional import interpolate, pad
from transformers.image_processing_backends import PilBackend
from transformers.image_processing_base import BatchFeature
from transformers.image_utils import PILImageResampling
from transformers.processing_utils import ImagesKwargs

__all__ = ["Phi4MultimodalImageProcessorPil"]

_WHITE = 255
_THINNEST = 10
"""Pixels; the family refuses pictures that are narrower once they are fitted into their crops."""
_GLOBAL_TOKENS = 256 + 16 + 1
"""Image tokens of the whole picture in one crop: 16 x 16, a line end each, and what stands between it and the crops.
The model counts on them whatever the size of a crop."""


class CropKwargs(ImagesKwargs, total=False):
    """What this family's image processor takes besides what all take."""

    patch_size: int
    dynamic_hd: int


class _Cut(NamedTuple):
    """One picture in crops; the first is the whole picture."""

    crops: torch.Tensor
    """Crops x channels x height x width."""
    mask: torch.Tensor
    """Crops x rows x columns of patches: 1 where there is picture, 0 where there is filling."""
    size: tuple[int, int]
    tokens: int


class Phi4MultimodalImageProcessorPil(PilBackend):
    """Cuts pictures into crops. The name is the one under which transformers' other families have such a class."""

    resample = PILImageResampling.BICUBIC
    size = {"height": 448, "width": 448}  # noqa: RUF012
    patch_size = 14
    dynamic_hd = 36
    image_mean = [0.5, 0.5, 0.5]  # noqa: RUF012
    image_std = [0.5, 0.5, 0.5]  # noqa: RUF012
    do_rescale = True
    do_normalize = True
    do_convert_rgb = True
    valid_kwargs = CropKwargs
    model_input_names = ["image_pixel_values", "image_sizes", "image_attention_mask"]  # noqa: RUF012

    def _preprocess(self, images: Sequence[np.ndarray], *_: Any, **settings: Any) -> BatchFeature:
        cuts = [self._cut(torch.from_numpy(np.ascontiguousarray(image)), settings) for image in images]
        most = max(len(cut.crops) for cut in cuts)
        data = {
            "image_pixel_values": torch.stack([_filled(cut.crops, most, 0.0) for cut in cuts]),
            "image_sizes": torch.tensor([cut.size for cut in cuts]),
            "image_attention_mask": torch.stack([_filled(cut.mask, most, 1.0) for cut in cuts]),
            "num_img_tokens": [cut.tokens for cut in cuts],
        }
        return BatchFeature(data=data, tensor_type=settings.get("return_tensors"))

    def _cut(self, picture: torch.Tensor, settings: dict[str, Any]) -> _Cut:
        side = settings["size"].height
        if side != settings["size"].width:
            raise ValueError(f"crops of {side} x {settings['size'].width} pixels; this family has square ones")
        patches = side // settings["patch_size"]
        columns, rows = _grid(picture.shape[2], picture.shape[1], side, settings["dynamic_hd"])
        fitted, mask = _fit(picture, (rows * side, columns * side), settings["patch_size"], (rows, columns, patches))
        pixels = _normalised(fitted, settings)
        whole = _resized(pixels, (side, side), mode="bicubic", antialias=False)
        seen = mask.reshape(rows, patches, columns, patches)[:, ::2, :, ::2]
        seen = seen.reshape(seen.shape[0] * seen.shape[1], -1)
        return _Cut(
            crops=torch.cat([whole[None], _tiles(pixels, rows, columns)]),
            mask=torch.cat([torch.ones(1, patches, patches), _tiles(mask[None], rows, columns)[:, 0]]),
            size=(rows * side, columns * side),
            tokens=_GLOBAL_TOKENS + int(seen.sum()) + int(seen[:, 0].sum()),
        )


def _grid(width: int, height: int, side: int, most: int) -> tuple[int, int]:
    """Returns how many crops stand beside and above one another: what the picture fills, or the nearest shape."""
    columns, rows = math.ceil(width / side), math.ceil(height / side)
    if columns * rows <= most:
        return columns, rows
    # In the order in which the family tries them, since the later of two that are as near can win.
    shapes = {
        (i, j) for n in range(1, most + 1) for i in range(1, n + 1) for j in range(1, n + 1) if 1 <= i * j <= most
    }
    best, least = (1, 1), math.inf
    for i, j in sorted(shapes, key=lambda shape: shape[0] * shape[1]):
        distance = abs(width / height - i / j)
        if distance < least or (distance == least and width * height > 0.5 * side * side * i * j):
            best, least = (i, j), distance
    return best


def _fit(
    picture: torch.Tensor, target: tuple[int, int], patch: int, grid: tuple[int, int, int]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the picture, as large as fits, in the upper left of a white ground, and which patches hold some of it."""
    height, width = picture.shape[1:]
    down, across = target[0] / height, target[1] / width
    size = (int(height * across), target[1]) if across < down else (target[0], int(width * down))
    if min(size) < _THINNEST:
        raise ValueError(f"a picture of {width} x {height} pixels is too long and thin")
    below, beside = target[0] - size[0], target[1] - size[1]
    rows, columns, patches = grid
    mask = torch.ones(rows * patches, columns * patches)
    mask[mask.shape[0] - below // patch :] = 0
    mask[:, mask.shape[1] - beside // patch :] = 0
    fitted = _resized(picture, size, mode="bilinear", antialias=True)
    return pad(fitted, (0, beside, 0, below), value=_WHITE), mask


def _resized(picture: torch.Tensor, size: tuple[int, int], *, mode: str, antialias: bool) -> torch.Tensor:
    if tuple(picture.shape[1:]) == size:
        return picture
    return interpolate(picture[None], size=size, mode=mode, align_corners=False, antialias=antialias)[0]


def _normalised(picture: torch.Tensor, settings: dict[str, Any]) -> torch.Tensor:
    pixels = picture.to(torch.float32)
    factor = settings["rescale_factor"] if settings["do_rescale"] else 1.0
    if not settings["do_normalize"]:
        return pixels * factor
    mean, std = (torch.tensor(settings[name])[:, None, None] * (1.0 / factor) for name in ("image_mean", "image_std"))
    return (pixels - mean) / std


def _tiles(picture: torch.Tensor, rows: int, columns: int) -> torch.Tensor:
    channels, height, width = picture.shape
    cut = picture.reshape(channels, rows, height // rows, columns, width // columns)
    return cut.permute(1, 3, 0, 2, 4).reshape(rows * columns, channels, height // rows, width // columns)


def _filled(crops: torch.Tensor, most: int, value: float) -> torch.Tensor:
    return torch.cat([crops, crops.new_full((most - len(crops), *crops.shape[1:]), value)])
