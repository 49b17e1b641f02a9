"""How a run grows: `python benchmarks/bench_scale.py [--quick] [--paper] [--json FILE] [--keep DIR]`.

At 10,000, 100,000 and 1,000,000 trials (a simulated grid, 48 formats x 4 orders per item): the plan made, prompts
rendered and records written; the same summarised; its page written. Each in a process of its own: seconds (wall, and
CPU, which alone means something on a busy machine) and peak memory. Printed beside them: the exponent between sizes,
1 for linear. `--paper` adds 6.8 million trials, paper 1's, summarised. `--quick` stops at 10,000.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

SIZES = (10_000, 100_000, 1_000_000)
PAPER = 6_800_000
PER_ITEM = 192
HERE = Path(__file__).parent
PHASES = {
    "written": "from page_run import write_run; write_run(run, items=number, thumbnails=False)",
    "stretched": "from scale_run import stretch; stretch(run.parent / str(base), run, trials=number)",
    "summarised": "import vqaudit as va; va.open_run(run).summary(details=False)",
    "reported": (
        "from vqaudit.records import RunTables; from vqaudit.report.page import write_page;"
        "write_page([RunTables.load(run)], run / 'page.html')"
    ),
    "digested": ("from vqaudit.records import RunTables, records_digest; records_digest(RunTables.load(run).trials)"),
}
FRAME = """import json, resource, sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
run, number, base = Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
start = time.perf_counter()
{act}
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps(dict(seconds=time.perf_counter() - start, cpu_seconds=used.ru_utime + used.ru_stime,
                      peak_mb=used.ru_maxrss / 1024)))
"""


def measure(phase: str, run: Path, number: int, base: int = 0) -> dict[str, float]:
    """Runs one phase in a process of its own; returns seconds, CPU seconds and peak memory in MiB."""
    code = FRAME.format(act=PHASES[phase])
    told = subprocess.run(
        [sys.executable, "-c", code, HERE, run, str(number), str(base)], stdout=subprocess.PIPE, text=True, check=True
    )
    return {name: round(value, 2) for name, value in json.loads(told.stdout).items()}


def grow(sizes: tuple[int, ...], folder: Path) -> list[dict[str, Any]]:
    """Returns one row per size: trials, bytes on the disk, and every phase."""
    rows = []
    for size in sizes:
        run, items = folder / str(size), size // PER_ITEM
        row: dict[str, Any] = {"trials": items * PER_ITEM, "written": measure("written", run, items)}
        row["disk_mb"] = round(sum(file.stat().st_size for file in run.rglob("*.parquet")) / 2**20, 1)
        row |= {phase: measure(phase, run, items) for phase in ("summarised", "reported", "digested")}
        rows.append(row)
        print(json.dumps(row), flush=True)
    return rows


def paper(folder: Path, base: int) -> dict[str, Any]:
    """Paper 1's 6.8 million trials in one run, summarised."""
    run = folder / str(PAPER)
    measure("stretched", run, PAPER, base)
    return {"trials": PAPER, "summarised": measure("summarised", run, PAPER)}


def exponents(rows: list[dict[str, Any]]) -> dict[str, list[float]]:
    """Returns, per phase, d log(CPU seconds) / d log(trials) from each size to the next, and the same of memory."""
    found: dict[str, list[float]] = {}
    for phase in ("written", "summarised", "reported", "digested"):
        for what in ("cpu_seconds", "peak_mb"):
            found[f"{phase}: {what}"] = [
                round(math.log(b[phase][what] / a[phase][what]) / math.log(b["trials"] / a["trials"]), 2)
                for a, b in pairwise(rows)
            ]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="10,000 trials only")
    parser.add_argument("--paper", action="store_true", help="6.8 million trials too: 3 GB of disk")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--keep", type=Path, help="folder for the runs; deleted afterwards where not given")
    given = parser.parse_args()
    sizes = SIZES[:1] if given.quick else SIZES
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.keep or Path(scratch)
        rows = grow(sizes, folder)
        found: dict[str, Any] = {"growth": rows, "exponents": exponents(rows)}
        if given.paper:
            found["paper"] = paper(folder, sizes[min(1, len(sizes) - 1)])
    found |= {"load_average": os.getloadavg()[0], "cores": os.cpu_count(), "python": platform.python_version()}
    text = json.dumps(found, indent=1)
    if given.json:
        given.json.write_text(text + "\n", encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
