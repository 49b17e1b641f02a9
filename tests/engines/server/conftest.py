import sys
from collections.abc import Callable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from vqaudit.engines.server import ServerEngine, ServerSpec

pytest.importorskip("openai", reason="needs the extra `server`")
pytest.importorskip("tenacity", reason="needs the extra `server`")


@pytest.fixture(scope="session")
def loop() -> ModuleType:
    """The module beside this one: a server on loopback, what it answers, and what it is asked."""
    found = spec_from_file_location("loopback", Path(__file__).with_name("loopback.py"))
    assert found is not None
    assert found.loader is not None
    loopback = sys.modules["loopback"] = module_from_spec(found)
    found.loader.exec_module(loopback)
    return loopback


@pytest.fixture
def serve(loop: ModuleType) -> Iterator[Callable]:
    """Starts a loopback server for a script; returns (server, engine)."""
    started = []

    def start(script, *, models=None, tokenize=None, model="m", **spec):
        server = loop.Loopback(script, models=models, tokenize=tokenize)
        settings = {"api_key_env": "VQAUDIT_TEST_KEY", "timeout": 5, "first_wait": 0.01, **spec}
        engine = ServerEngine(model, ServerSpec(base_url=server.url, **settings))
        started.append((server, engine))
        return server, engine

    yield start
    for server, engine in started:
        engine.close()
        server.close()
