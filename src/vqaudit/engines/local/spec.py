"""How a local model is loaded and run.

Knows options as data. Knows neither torch nor transformers.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["LocalSpec"]


class LocalSpec(BaseModel):
    """Everything about a local model that is not its name.

    Example:
        >>> LocalSpec(dtype="bfloat16").device
        'auto'
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    device: str = "auto"
    """`auto` (the first CUDA device where there is one, else the CPU), or what torch calls it: `cpu`, `cuda:1`."""
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """`auto`: float32 on the CPU, the checkpoint's own elsewhere."""
    revision: str | None = None
    """Branch, tag or commit of a model on the hub."""
    chat_kwargs: dict[str, Any] = Field(default_factory=dict)
    """Variables for the chat template, such as `{"enable_thinking": false}`."""
    system_turn: Literal["template", "merge"] = "template"
    """Where a system prompt goes if the chat template has no system turn: `template` refuses the request,
    `merge` puts it before the user's text, with an empty line between."""
    attn_implementation: str | None = None
    """What transformers calls the attention: `sdpa`, `eager`, `flash_attention_2`; None = its own choice."""
    token_budget: int | None = Field(default=None, ge=1)
    """Most tokens of one batch, padding and new tokens included; None = 8,192 on the CPU, 32,768 elsewhere."""
    max_batch: int = Field(default=256, ge=1)
    """Most requests of one batch."""
    prefix_sharing: Literal["auto", "cascade", "expanded", "off"] = "auto"
    """How the beginning that prompts share is computed once: `auto` takes the quickest way that agrees with
    computing every prompt whole; `off` computes every prompt whole."""
    kv_budget: float | None = Field(default=None, gt=0)
    """Most memory of a batch's keys and values in GiB; None = 2 on the CPU, a quarter of the device's elsewhere."""
    trust_remote_code: bool = False
    """Whether code that comes with a checkpoint may run. Only for checkpoints that you trust."""
