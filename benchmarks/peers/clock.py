"""How long a piece of work takes, and how a peer's script is called. Standard library alone: peers import it too."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

__all__ = ["Clock", "ask_peer"]

HERE = Path(__file__).parent


class Clock:
    """Measures what runs inside `with`.

    CPU seconds are user and system time of all threads of this process: they change little when others use the
    machine, as wall seconds do.
    """

    cpu: float = 0.0
    wall: float = 0.0

    def __enter__(self) -> Self:
        self._begun = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.cpu += time.process_time() - self._begun[0]
        self.wall += time.perf_counter() - self._begun[1]

    @property
    def seconds(self) -> dict[str, float]:
        """What a result keeps."""
        return {"cpu": self.cpu, "wall": self.wall}


def ask_peer(python: str, script: str, out: Path, *arguments: Any) -> dict[str, Any]:
    """Runs a script of this folder with a peer's Python and returns what it wrote to `out`.

    Raises:
        SystemExit: The script failed; the message is what it said last.
    """
    command = [python, HERE / script, out, *arguments]
    done = subprocess.run([str(part) for part in command], check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{script} failed in {python}: {done.stderr.strip()[-2000:]}")
    return json.loads(out.read_text(encoding="utf-8"))
