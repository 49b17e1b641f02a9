"""A server that dies half-way: what it answered stays, and the run goes on when it is back."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import polars as pl
import pytest

import vqaudit as va
from vqaudit.errors import EngineError
from vqaudit.items import demo_items
from vqaudit.records import read_trials, records_digest, visible

pytest.importorskip("openai", reason="needs the extra `server`")
pytest.importorskip("tenacity", reason="needs the extra `server`")
LOOPBACK = Path(__file__).parent.parent / "engines" / "server" / "loopback.py"


@pytest.fixture
def loop(monkeypatch):
    import sys

    found = spec_from_file_location("loopback_of_faults", LOOPBACK)
    assert found is not None
    assert found.loader is not None
    module = module_from_spec(found)
    monkeypatch.setitem(sys.modules, "loopback_of_faults", module)
    found.loader.exec_module(module)
    return module


def engine_at(url: str):
    from vqaudit.engines.server import ServerEngine, ServerSpec

    return ServerEngine("m", ServerSpec(base_url=url, timeout=5, first_wait=0.01, retries=1, concurrency=2))


def test_what_was_answered_stays_and_the_rest_is_asked_when_the_server_is_back(loop, tmp_path: Path) -> None:
    def good(body, number):
        return loop.completion("A")

    def dying(body, number):
        return loop.completion("A") if number < 30 else loop.Answer(kind="drop")

    def run(server, out: Path) -> None:
        engine = engine_at(server.url)
        try:
            va.audit(engine, demo_items(limit=60), out=out, progress=False, noise_floor=0)
        finally:
            engine.close()

    servers = [loop.Loopback(script) for script in (good, dying, good)]
    run(servers[0], tmp_path / "whole")
    with pytest.raises(EngineError):
        run(servers[1], tmp_path / "run")
    kept = visible(read_trials(tmp_path / "run")).filter(pl.col("outcome") != "failed")
    assert 0 < kept.height < 60
    assert va.open_run(tmp_path / "run").tables().manifest.status == "failed"
    # The same server is back at another port; where a model is served is no part of what it is.
    run(servers[2], tmp_path / "run")
    found = read_trials(tmp_path / "run")
    assert records_digest(found) == records_digest(read_trials(tmp_path / "whole"))
    for server in servers:
        server.close()
