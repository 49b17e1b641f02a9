"""Kills a run with SIGKILL again and again, resumes it, and holds its records against an unbroken run's.

    python tests/faults/kill.py --seed 1 --kills 10 [--items 24] [--keep DIR]

Prints each kill's moment and the records before and after it, then the two digests; exits 1 if they differ or a
trial has no visible record or more than one.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from vqaudit.records import RunTables, read_trials, records_digest


def command(out: Path, items: int) -> list[str]:
    interfaces = ["-i", "direct", "-i", "cot-prefix@reference", "-i", "free-cot@reference"]
    model = ["--model", "demo", "--data", "demo", "--limit", str(items), "--design", "grid", "--max-tokens", "60"]
    return [sys.executable, "-m", "vqaudit", "run", *model, *interfaces, "--no-page", "--quiet", "--out", str(out)]


def count(out: Path) -> int:
    return read_trials(out).height if out.exists() else 0


def killed(out: Path, items: int, after: float) -> bool:
    """Starts the run, kills it `after` seconds after its first new record; False if it ended before."""
    before = count(out)
    process = subprocess.Popen(command(out, items), stderr=subprocess.PIPE)
    while process.poll() is None and count(out) == before:
        time.sleep(0.05)
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
        return True
    if process.returncode:
        raise SystemExit(f"the run failed by itself: {process.stderr.read().decode()}")
    return False


def unbroken(out: Path, items: int) -> float:
    started = time.monotonic()
    subprocess.run(command(out, items), check=True)
    return time.monotonic() - started


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--items", type=int, default=24)
    parser.add_argument("--keep", type=Path, help="keep both runs here")
    args = parser.parse_args()
    folder = args.keep or Path(tempfile.mkdtemp(prefix="vqaudit-kill-"))
    moments = random.Random(args.seed)
    seconds = unbroken(folder / "whole", args.items)
    whole = RunTables.load(folder / "whole")
    print(f"unbroken run: {whole.trials.height} records in {seconds:.1f} s")
    done = 0
    for kill in range(1, args.kills + 1):
        # Short spans, so that every kill falls inside the run.
        after = moments.uniform(0.0, max(0.2, seconds / (args.kills + 2) * 0.8))
        before = count(folder / "broken")
        if not killed(folder / "broken", args.items, after):
            print(f"kill {kill}: the run was complete before it")
            break
        done += 1
        print(f"kill {kill}: {after:6.3f} s after the first new record; records {before} -> {count(folder / 'broken')}")
    subprocess.run(command(folder / "broken", args.items), check=True)
    broken = RunTables.load(folder / "broken")
    digests = records_digest(whole.trials), records_digest(broken.trials)
    lost = set(whole.plan["trial"]) - set(broken.trials["trial"])
    print(f"{done} kills; records {broken.trials.height}, attempts on disk {broken.attempts}, lost {len(lost)}")
    print(f"unbroken {digests[0]}\nbroken   {digests[1]}")
    same = digests[0] == digests[1] and not lost and broken.trials["trial"].is_unique().all()
    print("equal" if same else "DIFFERENT")
    if args.keep is None:
        shutil.rmtree(folder)
    return 0 if same else 1


if __name__ == "__main__":
    raise SystemExit(main())
