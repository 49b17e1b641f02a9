"""Fuzzes every reader for a while: `python tests/fuzz/run.py --minutes 30 [--seed 0] [--only NAME] [--out DIR]`.

Minutes are CPU minutes of this process. Each input is a sound file, changed; one that makes a reader raise anything
but an error of vqaudit, or take more than ten seconds, is kept under DIR with its traceback. Exit code 1 where any was.
Every input follows from seed, reader and number, so that a find can be made again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from mutations import mutate
from targets import TARGETS, Target

from vqaudit.errors import VqauditError

ROUND = 200
LONGEST = 10


class Stopped(BaseException):
    """The time is over."""


def main() -> int:
    given = _arguments()
    warnings.simplefilter("ignore")
    names = [name for name in TARGETS if given.only is None or given.only in name]
    counts: Counter[str] = Counter()
    finds: dict[str, str] = {}
    signal.signal(signal.SIGALRM, _too_long)
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, _stop)
    turn = 0
    try:
        while time.process_time() < 60 * given.minutes:
            for name in names:
                counts[name] += _round(TARGETS[name], given, turn, finds)
            turn += 1
            _tell(given, counts, finds)
    except Stopped:
        pass
    signal.alarm(0)
    print(json.dumps(_tell(given, counts, finds), indent=1))
    return 1 if finds else 0


def _round(target: Target, given: argparse.Namespace, turn: int, finds: dict[str, str]) -> int:
    seeds = target.seeds()
    for number in range(turn * ROUND, (turn + 1) * ROUND):
        rng = np.random.default_rng([given.seed, *target.name.encode(), number])
        data = mutate(seeds[int(rng.integers(len(seeds)))], seeds, rng)
        signal.alarm(LONGEST)
        try:
            target.read(data)
        except VqauditError:
            pass
        except Exception as error:
            _keep(given.out, target, data, error, finds)
        finally:
            signal.alarm(0)
    return ROUND


def _keep(out: Path, target: Target, data: bytes, error: Exception, finds: dict[str, str]) -> None:
    """Keeps one input for each place that raises."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "vqaudit" in frame.filename]
    last = frames[-1] if frames else traceback.extract_tb(error.__traceback__)[-1]
    where = f"{target.name}: {type(error).__name__} in {Path(last.filename).name}, {last.name}"
    if where in finds:
        return
    name = hashlib.sha256(where.encode()).hexdigest()[:10]
    finds[where] = name
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{name}.bin").write_bytes(data)
    told = "".join(traceback.format_exception(error))
    (out / f"{name}.txt").write_text(f"{where}\n{told}", encoding="utf-8", errors="replace")


def _tell(given: argparse.Namespace, counts: Counter[str], finds: dict[str, str]) -> dict[str, Any]:
    told = {
        "cpu_minutes": round(time.process_time() / 60, 2),
        "seed": given.seed,
        "inputs": sum(counts.values()),
        "by_reader": dict(counts),
        "finds": finds,
    }
    if given.json:
        given.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return told


def _too_long(signum: int, frame: object) -> None:
    raise TimeoutError(f"took more than {LONGEST} seconds")


def _stop(signum: int, frame: object) -> None:
    raise Stopped


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=30.0, help="CPU minutes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="readers whose name holds this")
    parser.add_argument("--out", type=Path, default=Path("build/fuzz"), help="where finds are kept")
    parser.add_argument("--json", type=Path, help="what was run and found, written after every round")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
