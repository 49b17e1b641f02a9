"""Models that run in this process, through transformers.

Importing this package imports torch and transformers; importing `vqaudit.engines` does not.
"""

from vqaudit.errors import EngineUnavailable

try:
    import torch  # noqa: F401
    import transformers  # noqa: F401
except ImportError as error:
    raise EngineUnavailable("a local model", extra="local") from error

from vqaudit.engines.local.engine import LocalEngine, load_local
from vqaudit.engines.local.spec import LocalSpec

__all__ = ["LocalEngine", "LocalSpec", "load_local"]
