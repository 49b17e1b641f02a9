"""Two models on the same items: paired differences, a gate for CI, and a statement for the model card.

python examples/06_compare_and_gate.py        needs vqaudit[local]
"""

from pathlib import Path

import vqaudit as va
from vqaudit.analysis.gate import Limits, check_run
from vqaudit.auditing import load_data
from vqaudit.report.card import card

items = load_data("demo", limit=24)
engine = va.load_model("demo")


def audit(name: str, pixels: int | None) -> va.Run:
    """The reference format in all circular orders: fewer trials than the grid, enough to tell these two apart."""
    out = f"runs/examples/{name}"
    return va.audit(engine, items, out=out, design="reference", image_max_pixels=pixels, progress=False)


# Only one model is packaged. The second "model" is the same one with worse eyes: pictures of at most 8 x 8 pixels.
sharp, blurred = audit("sharp", None), audit("blurred", 64)
engine.close()

# Randomised runs (the default) are compared likewise: formats and orders hang on seed and items, not on the model.
# Paired by item: what items have in common cancels, and the interval of the difference is narrower than two
# overlapping intervals suggest.
tables = [sharp.tables(), blurred.tables()]
compared = va.compare(tables, names=["sharp", "blurred"])
for entry in compared.runs:
    print(f"{entry.rank}. {entry.name:<9}", entry.accuracy, f"best with probability {entry.p_best:.2f}")
for pair in compared.pairs:
    print(f"{pair.a} minus {pair.b}:", pair.difference, f"p = {pair.p_value:.3g}")
print("\n".join(compared.statements))

# A gate decides by the bounds of intervals: it passes only where the data exclude that the limit is broken, and says
# `cannot tell` where they leave it open. In CI: `vqaudit check RUN --against BASELINE --max-drop 0.05`.
gate = check_run(tables[1], Limits(max_drop=0.05), against=tables[0])
for check in gate.checks:
    print(f"{check.name}: {check.verdict} - {check.reason}")
print("exit code", gate.exit_code)

# What to print beside the score in a model card: Markdown with a Hugging Face model-index block.
Path("runs/examples/card.md").write_text(card([tables[0]]), encoding="utf-8")
print("runs/examples/card.md")
