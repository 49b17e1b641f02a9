"""Which requests stand together, so that a prefix cache serves them.

Knows prompts as parts. Knows no engine.
"""

from __future__ import annotations

from collections.abc import Sequence

from vqaudit.engines.base import Request

__all__ = ["prefix_groups"]


def prefix_groups(requests: Sequence[Request]) -> list[list[Request]]:
    r"""Groups requests that begin alike (system, pictures, first line), in the order in which the groups come first.

    Within a group, texts are sorted: those that share most stand side by side. A pure function of the requests.

    Example:
        >>> from vqaudit.engines.base import ForcedToken, TextPart
        >>> asked = [("q1", "A cat"), ("q2", "A dog"), ("q1", "A bee")]
        >>> texts = [(TextPart(text="\n".join(pair)),) for pair in asked]
        >>> requests = [Request(trial=str(n), parts=p, event=ForcedToken()) for n, p in enumerate(texts)]
        >>> [[request.trial for request in group] for group in prefix_groups(requests)]
        [['2', '0'], ['1']]
    """
    groups: dict[tuple[object, ...], list[Request]] = {}
    for request in requests:
        line = request.text.partition("\n")[0]
        key = (request.system, tuple(image.digest for image in request.images), line)
        groups.setdefault(key, []).append(request)
    return [sorted(group, key=lambda request: (request.text, request.prefill)) for group in groups.values()]
