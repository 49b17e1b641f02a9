"""Faults of transformers' models that change answers, mended where a model is loaded.

Knows private parts of single families. Knows no request. What is mended is named, so that a manifest can say so.
"""

from __future__ import annotations

from typing import Any

__all__ = ["mend"]

_PHI4_VISION = "Phi4MultimodalVisionAttention"


def mend(network: Any) -> tuple[str, ...]:
    """Mends a model's known faults and returns what has been mended.

    Phi-4-multimodal's vision tower sees in both directions, but is marked as causal: where no patch of a whole batch
    is filling, there is no mask, and fused attention goes by that mark. A picture that fills its crops would be seen
    otherwise than beside one that does not.
    """
    towers = [module for module in network.modules() if type(module).__name__ == _PHI4_VISION and module.is_causal]
    for tower in towers:
        tower.is_causal = False
    return ("vision attention in both directions",) if towers else ()
