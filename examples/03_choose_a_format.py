"""Which format should a new benchmark use? Ask a pilot in the whole grid and read what is recommended.

python examples/03_choose_a_format.py        needs vqaudit[local]
"""

import vqaudit as va
from vqaudit.auditing import load_data

# A pilot of few items is enough to see formats that break a model: each item is asked in all 48.
# The dataset's order alone saves three quarters of the trials; with `orders="circular"` positions cancel out too.
pilot = load_data("demo", limit=16)
run = va.audit("demo", pilot, out="runs/examples/formats", design="grid", orders="dataset", progress=False)
summary = run.summary()

best, worst = summary.best_format, summary.worst_format
print(f"{len(summary.formats or [])} formats, {summary.counts.items} items")
print(f"best   {best.format:<32}", best.accuracy)
print(f"worst  {worst.format:<32}", worst.accuracy)
print("spread", summary.spread)

# Which part of the format does it? Levels have 12 or 16 formats each, and so are surer than single formats.
for factor, levels in summary.factors.items():
    for level in levels:
        print(f"  {factor:<10}{level.name or '':<16}", level.accuracy)

# Two different wishes. For the highest score: `highest`, or any of those that cannot be told from it at 95 % over all
# formats. For a score that stands for all formats: `representative`, the one that is nearest to the grid's accuracy.
chosen = summary.recommended
print("highest       ", chosen.highest, f"({len(chosen.as_good)} cannot be told from it)")
print("representative", chosen.representative, "off the grid by", chosen.distance)

# A format is a choice for *these* models. Over several runs, the one that ranks like the grid is in
# `va.compare([...]).format_ranks.closest`; paper 1 finds no format that is right for every model.
