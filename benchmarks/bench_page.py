"""The page of a large run: `python benchmarks/bench_page.py [--items 2000] [--run DIR] [--json FILE] [--quick]`.

A simulated grid of 48 formats x 4 orders per item is written through the records' schemas, its page is written, and
Chromium opens it and uses the explorer. Printed: seconds (wall and CPU: on a busy machine only the latter mean
something) and peak memory of writing the page, its size, and how long each interaction takes until the next frame.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from page_run import write_run

REPEATS = 5
ACTS = {
    "choose an item": "list.choose((list.place + 7) % list.items.length)",
    "turn a page of items": "list.choose((list.place + 50) % list.items.length)",
    "choose a trial": "document.querySelectorAll('.trials button')[(turn * 31) % 150].click()",
    "filter": "document.querySelector('.chip').click()",
    "category": "select(explorer.category, turn % 5 + 1)",
    "sort": "select(explorer.sort, turn % 3)",
    "search for a word": "search(['window', 'horse boat', 'which', 'zebra', 'line'][turn])",
}
PRELUDE = """const root = document.querySelector('.explorer'), explorer = root.explorer, list = explorer.list;
    const select = (box, place) => { box.selectedIndex = place; box.dispatchEvent(new Event('change')); };
    const search = words => { explorer.words.value = words; explorer.update(); };"""


def write_page_apart(run: Path, page: Path) -> dict[str, float]:
    """Writes the page in a process of its own, so that its peak memory is the page's alone."""
    code = (
        "import sys, time, json, resource\n"
        "from vqaudit.records import RunTables\nfrom vqaudit.report.page import write_page\n"
        "start = time.perf_counter()\nwrite_page([RunTables.load(sys.argv[1])], sys.argv[2])\n"
        "used = resource.getrusage(resource.RUSAGE_SELF)\n"
        "print(json.dumps({'seconds': time.perf_counter() - start, 'cpu_seconds': used.ru_utime + used.ru_stime,"
        " 'peak_mb': used.ru_maxrss / 1000}))"
    )
    done = subprocess.run([sys.executable, "-c", code, run, page], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout) | {"page_mb": page.stat().st_size / 1e6}


def interactions(page: Path) -> dict[str, float]:
    """Returns milliseconds until the explorer stands, and the median of five of each interaction."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        tab = browser.new_page(viewport={"width": 1280, "height": 900}, bypass_csp=True)
        start = time.perf_counter()
        tab.goto(page.as_uri())
        tab.wait_for_selector(".explorer[data-ready]", timeout=120_000)
        found = {"open": 1000 * (time.perf_counter() - start)}
        for name, act in ACTS.items():
            runs = [tab.evaluate(_timed(act, turn)) for turn in range(REPEATS)]
            found[f"{name}: computed and laid out"] = statistics.median(laid for laid, _ in runs)
            found[f"{name}: next frame"] = statistics.median(frame for _, frame in runs)
        browser.close()
    return found


def _timed(act: str, turn: int) -> str:
    return (
        f"async () => {{ {PRELUDE} const turn = {turn}; const start = performance.now(); {act};"
        " document.body.offsetHeight; const laid = performance.now() - start;"
        " await new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)));"
        " return [laid, performance.now() - start]; }"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--items", type=int, default=2000)
    parser.add_argument("--run", type=Path, help="a run directory made before; none is simulated")
    parser.add_argument("--page", type=Path, help="keep the page here")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--quick", action="store_true", help="100 items")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = given.run or Path(folder) / "run"
        if given.run is None:
            write_run(run, items=100 if given.quick else given.items)
        page = given.page or Path(folder) / "page.html"
        found: dict[str, Any] = {"page": write_page_apart(run, page), "milliseconds": interactions(page)}
    found["load_average"] = os.getloadavg()[0]
    found["cores"] = os.cpu_count()
    text = json.dumps(found, indent=1)
    if given.json:
        given.json.write_text(text + "\n", encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
