"""How probes and readouts are fitted.

Knows options as data.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["PARTS", "Part", "ProbeSpec"]

Part = Literal["probe", "layers", "readout", "vocabulary"]
PARTS: tuple[Part, ...] = ("probe", "layers", "readout", "vocabulary")


class ProbeSpec(BaseModel):
    """How probes and readouts are fitted: paper 2, sections 2 to 4; what it leaves open is marked *ours*.

    Example:
        >>> ProbeSpec(seeds=2).epochs
        50
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    seeds: int = Field(default=5, ge=1)
    """Fits with different beginnings and orders of the examples; figures are means over them."""
    epochs: int = Field(default=50, ge=1)
    """Passes over the examples at most; the checkpoint with the best validation accuracy is kept."""
    batch: int = Field(default=64, ge=1)
    """Examples per step; ours."""
    rate: float = Field(default=3e-3, gt=0)
    """Learning rate of AdamW on states scaled to a mean square of 1; ours."""
    decay: float = Field(default=0.01, ge=0)
    """Weight decay of AdamW; ours (its default)."""
    most_train: int = Field(default=3000, ge=1)
    """Training examples at most."""
    rank: int = Field(default=32, ge=1)
    """Rank of the change of the output embedding."""
    readout_epochs: int = Field(default=10, ge=1)
    """Passes of the readout; nothing is selected."""
    readout_rate: float = Field(default=1e-3, gt=0)
    """Learning rate of AdamW on the readout; ours."""
    seed: int = Field(default=0, ge=0)
    """Of splits, fits, permutations and bootstraps."""
    device: str = "cpu"
    """Where fits are computed, as torch calls it."""
