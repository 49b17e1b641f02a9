"""Which executor a person asks for, as one value.

Knows names and limits. Opens nothing.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["ExecutorSpec"]


class ExecutorSpec(BaseModel):
    """Who asks: this process, or workers on Ray."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["here", "ray"] = "here"
    address: str | None = None
    """A running Ray cluster, `auto` for the one that Ray finds; None starts one on this machine."""
    workers: int | None = Field(default=None, ge=1)
    """None = as many as the GPUs allow, or without GPUs the CPUs."""
    gpus_per_worker: float | None = Field(default=None, ge=0)
    """GPUs of one worker, or a share of one; None = 1 where the cluster has any, else 0."""
    hang_seconds: float = Field(default=900.0, gt=0)
    """A worker that answers nothing for so long is replaced: longer than its longest batch."""
    start_seconds: float = Field(default=1800.0, gt=0)
    """Where no worker has its model after so long, they are started anew; after three times the run ends."""
    grace_seconds: float = Field(default=60.0, ge=0)
    """When the run is told to stop, workers have so long to finish the batch in hand."""
