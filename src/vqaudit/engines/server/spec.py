"""How a server is reached and asked.

Knows options as data. Knows no client and no request.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["OPENAI_URL", "ServerSpec"]

OPENAI_URL = "https://api.openai.com/v1"


class ServerSpec(BaseModel):
    """Everything about a server's model that is not its name.

    Example:
        >>> ServerSpec(base_url="http://127.0.0.1:8000/v1", concurrency=4).retries
        6
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    base_url: str = OPENAI_URL
    """Where the API begins, `/v1` included."""
    api_key_env: str = "OPENAI_API_KEY"
    """Name of the environment variable that holds the key. The key itself is never written anywhere."""
    concurrency: int = Field(default=16, ge=1, le=1024)
    """Most requests that are open at one time."""
    timeout: float = Field(default=120.0, gt=0)
    """Seconds after which a request is given up and sent again."""
    retries: int = Field(default=6, ge=0)
    """How often a request that may succeed later is sent again; then its trial fails."""
    first_wait: float = Field(default=1.0, gt=0)
    """Seconds before a request is sent again; doubled each time, up to a minute. `Retry-After` comes first."""
    reasoning_tokens: int = Field(default=0, ge=0)
    """Tokens that a model may think for before its answer, on top of the answer's own limit."""
    image_encoding: Literal["png", "jpeg"] = "png"
    """`png` hands over the pixels as they are; `jpeg` (quality 95) is smaller and no longer the same picture."""
    image_detail: Literal["low", "high", "auto"] | None = None
    """The API's `detail` of a picture; None = not sent."""
    top_logprobs: int = Field(default=20, ge=1)
    """Likely next tokens that are asked for; fewer where the server gives no more."""
    seed: int = 0
    """Sent with every request, beside temperature 0. Whether a server honours it, the noise floor tells."""
    extra_body: dict[str, Any] = Field(default_factory=dict)
    """Further fields of every request, such as `{"chat_template_kwargs": {"enable_thinking": false}}`."""
    price_in: float | None = Field(default=None, ge=0)
    """Price of a million prompt tokens."""
    price_cached: float | None = Field(default=None, ge=0)
    """Price of a million prompt tokens that the server had in its cache; None = like the others."""
    price_out: float | None = Field(default=None, ge=0)
    """Price of a million written tokens, thinking included."""
    currency: str = "USD"
