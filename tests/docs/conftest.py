"""A shell for documentation pages, whose `vqaudit` and `python` start at once."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def load(name: str):
    spec = importlib.util.spec_from_file_location(f"docs_{name}", HERE / f"{name}.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for PATH with the two commands."""
    folder = tmp_path_factory.mktemp("bin")
    path = str(folder / "calls")
    load("commands").write_clients(folder, path)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
    arguments = [sys.executable, str(HERE / "commands.py"), path]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stdout.readline() == "ready\n"
        yield folder
        server.terminate()
