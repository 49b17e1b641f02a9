"""Runs in option-order-check's own environment: `python run_option_order.py OUT QUESTIONS URL`."""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

from clock import Clock
from option_order_check import core


def main() -> None:
    out, questions, url = sys.argv[1:]
    items = core.load(questions)
    clock = Clock()
    with clock:
        picks = core.run(items, core.OpenAICompatible("demo", url, None))
        report = core.report(items, picks)
    found = {
        "versions": {"option-order-check": version("option-order-check")},
        "seconds": clock.seconds,
        "picks": picks,
        "report": report,
        "prompt": core.prompt(items[0]["question"], items[0]["options"]),
    }
    Path(out).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main()
