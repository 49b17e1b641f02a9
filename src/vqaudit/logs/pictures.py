"""Pictures of a log, as far as it holds them. Nothing is fetched, decoded or kept.

Knows data URIs. A picture that a log only points to is a picture without a hash.
"""

from __future__ import annotations

import base64
import binascii
import hashlib

__all__ = ["picture_hash"]


def picture_hash(source: object) -> str | None:
    """Returns the first 32 digits of the SHA-256 of a picture in a data URI; None for addresses and paths.

    Example:
        >>> picture_hash("data:image/png;base64,iVBORw0KGgo=")
        '4c4b6a3be1314ab86138bef4314dde02'
        >>> picture_hash("https://example.org/cat.png") is None
        True
    """
    if not isinstance(source, str) or not source.startswith("data:"):
        return None
    head, comma, body = source.partition(",")
    if not comma or not head.endswith(";base64"):
        return None
    try:
        return hashlib.sha256(base64.b64decode(body, validate=True)).hexdigest()[:32]
    except (binascii.Error, ValueError):
        return None
