"""Models behind OpenAI-compatible servers.

Importing this package does not import the `openai` client; connecting to a server does.
"""

from vqaudit.engines.server.engine import ServerEngine
from vqaudit.engines.server.spec import ServerSpec

__all__ = ["ServerEngine", "ServerSpec"]
