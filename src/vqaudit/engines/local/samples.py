"""A few prompts on which one way to compute is held against another before anything is asked.

Knows requests. Knows no model.
"""

from __future__ import annotations

import numpy as np
from PIL import Image as PixelImages

from vqaudit.engines.base import IDScores, Image, ImagePart, Request, TextPart

__all__ = ["sample_requests"]

_QUESTION = "Which of these is the largest? Look closely before you choose. "
_ENDINGS = (
    "\nA. a mouse\nB. a horse\nC. a whale\nAnswer with the letter alone.",
    "\n(1) a horse, (2) a whale",
    "\nThink of each in turn; then say which it is, and why you are sure of it.",
)


def sample_requests(*, picture: bool, words: int) -> list[Request]:
    """Returns requests with a common beginning and endings of unequal length.

    Args:
        picture: Whether a picture comes first.
        words: About how many words the beginning has at least.
    """
    question = _QUESTION * max(1, words // 11)
    parts = (ImagePart(index=0),) if picture else ()
    return [
        Request(
            trial=str(number),
            parts=(*parts, TextPart(text=question + ending)),
            images=(_noise(),) if picture else (),
            event=IDScores(),
        )
        for number, ending in enumerate(_ENDINGS)
    ]


def _noise() -> Image:
    pixels = np.random.default_rng(0).integers(0, 256, (96, 128, 3), dtype=np.uint8)
    return Image(digest="vqaudit-sample", pixels=PixelImages.fromarray(pixels))
