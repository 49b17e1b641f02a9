"""From what a person asks for to who asks.

Loads Ray when Ray is asked for, and not before.
"""

from __future__ import annotations

from collections.abc import Callable

from vqaudit.engines.base import Engine
from vqaudit.errors import EngineUnavailable
from vqaudit.records import Owner
from vqaudit.run.executors.base import Executor
from vqaudit.run.executors.here import Here
from vqaudit.run.executors.noise import set_surroundings
from vqaudit.run.executors.spec import ExecutorSpec

__all__ = ["open_executor"]


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
