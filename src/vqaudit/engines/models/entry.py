"""What is known of a model before its weights are there: where it runs, how large it is, what to beware of.

Knows data about models. Loads none.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from vqaudit.engines.models.memory import Shape

__all__ = ["ModelEntry"]

_EngineKind = Literal["local", "vllm"]
"""`local`: transformers in this process; `vllm`: a family that transformers does not have without code of the
checkpoint's own, so that vLLM, in this process or as a server, is the way. A server runs all of them."""
_Tried = Literal["tiny", "no"]
"""`tiny`: the family is tested here on a tiny random model; `no`: not run here at all. No entry's real weights were."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelEntry:
    """A model by its short name."""

    name: str
    title: str
    hub: str
    """Owner and name on the Hugging Face hub."""
    family: str
    """The configuration's `model_type`."""
    year: int
    engine: _EngineKind = "local"
    tried: _Tried = "tiny"
    shape: Shape
    context: int
    """Most tokens that the configuration allows."""
    picture: str
    """How many tokens a picture takes, in words."""
    licence: str
    paper: str = ""
    """Under which name a paper that vqaudit follows reports it."""
    traps: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Returns what a person or a program may know of the entry, as JSON values."""
        return asdict(self) | {"traps": list(self.traps), "kv_bytes_per_token": self.shape.kv_bytes_per_token()}
