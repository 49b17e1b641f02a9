"""Which executor a person asks for, as one value.

Knows names and limits. Loads Ray when Ray is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from vqaudit.engines.base import Engine
from vqaudit.errors import EngineUnavailable
from vqaudit.records import Owner
from vqaudit.run.executors.base import Executor
from vqaudit.run.executors.here import Here
from vqaudit.run.executors.noise import set_surroundings

__all__ = ["ExecutorSpec", "open_executor"]


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


def open_executor(spec: ExecutorSpec, engine: Engine | Callable[[], Engine], *, owner: Owner) -> Executor:
    """Returns the executor; close it when the run is over.

    Args:
        spec: Who asks.
        engine: An engine, or what makes one. Workers on Ray each make their own; an engine that is given is copied to
            them, which a model loaded here does not allow.
        owner: The right to write into the run directory.

    Raises:
        EngineUnavailable: Ray is not installed.
        EngineError: No worker could make the engine.
    """
    if spec.kind == "here":
        return Here(engine(), made=True) if callable(engine) else Here(engine)
    set_surroundings(local=spec.address is None)
    try:
        from vqaudit.run.executors.rays import open_ray
    except ModuleNotFoundError as error:
        if error.name != "ray":
            raise
        raise EngineUnavailable("--executor ray", extra="scale") from error
    return open_ray(spec, engine, owner=owner)
