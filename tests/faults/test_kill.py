"""The short form of `kill.py`: a run is killed a few times and its records are those of an unbroken one."""

import subprocess
import sys
from pathlib import Path

import pytest

KILL = Path(__file__).with_name("kill.py")


def killed(*arguments: str) -> str:
    done = subprocess.run([sys.executable, str(KILL), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_driver_that_is_killed_again_and_again_loses_nothing() -> None:
    said = killed("--seed", "1", "--kills", "3", "--items", "24", "--seconds", "0.2", "--longest", "0.3")
    assert said.splitlines()[-1] == "equal"
    assert said.count("driver") == 3
    assert "lost 0, failed 0, doubled 0" in said


@pytest.mark.slow
def test_workers_and_drivers_that_are_killed_lose_nothing() -> None:
    pytest.importorskip("ray", reason="the extra scale is not installed")
    ray = ["--executor", "ray", "--workers", "2", "--driver-kills", "1"]
    said = killed("--seed", "1", "--kills", "4", "--items", "40", "--seconds", "0.3", *ray)
    assert said.splitlines()[-1] == "equal"
    assert (said.count("worker"), said.count(", driver")) == (3, 1)
