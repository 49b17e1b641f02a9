"""Pictures as data URLs, each encoded once.

Knows pixels. Knows no server.
"""

from __future__ import annotations

import base64
import io
import threading
from collections import OrderedDict
from typing import Any, Literal

from vqaudit.engines.base import Image

__all__ = ["PictureURLs"]

_KEPT_BYTES = 256 * 2**20
_JPEG_QUALITY = 95


class PictureURLs:
    """Encodes pictures and keeps the latest, by digest, up to 256 MiB.

    The decoded pixels are encoded anew, so that a server sees what a local model sees: the first frame, upright, RGB,
    and scaled down where the run says so.

    Args:
        encoding: `png` (exact) or `jpeg` (smaller).
        detail: The API's `detail` of a picture; None = not sent.
    """

    def __init__(self, encoding: Literal["png", "jpeg"], *, detail: str | None = None) -> None:
        self._encoding = encoding
        self._detail = detail
        self._known: OrderedDict[str, str] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def part(self, image: Image) -> dict[str, Any]:
        """Returns the picture as a part of a message."""
        place = {"url": self.of(image)} | ({} if self._detail is None else {"detail": self._detail})
        return {"type": "image_url", "image_url": place}

    def of(self, image: Image) -> str:
        """Returns the picture's data URL; may be called from several threads."""
        with self._lock:
            if image.digest in self._known:
                self._known.move_to_end(image.digest)
                return self._known[image.digest]
            url = self._encode(image)
            self._known[image.digest] = url
            self._bytes += len(url)
            while self._bytes > _KEPT_BYTES and len(self._known) > 1:
                self._bytes -= len(self._known.popitem(last=False)[1])
            return url

    def _encode(self, image: Image) -> str:
        buffer = io.BytesIO()
        if self._encoding == "png":
            image.pixels.save(buffer, format="PNG")
        else:
            image.pixels.convert("RGB").save(buffer, format="JPEG", quality=_JPEG_QUALITY, subsampling=0)
        return f"data:image/{self._encoding};base64,{base64.b64encode(buffer.getvalue()).decode()}"
