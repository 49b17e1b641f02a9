"""One process against workers on Ray: `python benchmarks/bench_workers.py [--items N] [--json FILE] [--quick]`.

The packaged model answers the same grid as one process, with one worker and with two, one thread each. Each way asks
few items and then many: the trials per second between the two leave out what starting Ray and loading the model take.
The records must be the same. Two cores can at best double the rate.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import polars as pl

import vqaudit as va
from vqaudit.auditing import Execution
from vqaudit.items import demo_items
from vqaudit.records import records_digest
from vqaudit.run.executors import ExecutorSpec

FEW = 2
WAYS = {
    "here": ExecutorSpec(),
    "ray, 1 worker": ExecutorSpec(kind="ray", workers=1),
    "ray, 2 workers": ExecutorSpec(kind="ray", workers=2),
}


def ask(way: str, items: int, out: Path) -> tuple[float, pl.DataFrame]:
    """Asks the grid in one way; returns seconds and records."""
    begun = time.perf_counter()
    run = va.audit(
        "demo",
        demo_items(limit=items),
        out=out,
        design="grid",
        interface="direct",
        noise_floor=0,
        progress=False,
        execution=Execution(executor=WAYS[way]),
    )
    return time.perf_counter() - begun, run.tables().trials


def measure(way: str, items: int, folder: Path) -> dict[str, Any]:
    """One row of the table: seconds, trials per second beyond the start, and the digest of the records."""
    name = way.replace(" ", "-").replace(",", "")
    little, few = ask(way, FEW, folder / f"{name}-few")
    whole, trials = ask(way, items, folder / name)
    row = {
        "way": way,
        "trials": trials.height,
        "seconds": round(whole, 2),
        "trials_per_second": round((trials.height - few.height) / (whole - little), 1),
        "digest": records_digest(trials),
    }
    print(row, flush=True)
    return row


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--items", type=int, default=40)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--quick", action="store_true", help="eight items")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        rows = [measure(way, 8 if given.quick else given.items, Path(scratch)) for way in WAYS]
    found = {
        "results": rows,
        "one_digest": len({row["digest"] for row in rows}) == 1,
        "load_average": os.getloadavg()[0],
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }
    text = json.dumps(found, indent=1)
    if given.json:
        given.json.write_text(text + "\n", encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
