"""Audit a model from Python: one randomised pass, the score with its interval, and the page.

python examples/01_audit_demo.py        needs vqaudit[local,report]; a few seconds on two free cores
"""

import vqaudit as va
from vqaudit.auditing import load_data

RUN = "runs/examples/demo"

# The packaged model and items; in your own audit a hub ID or folder, and a file or a benchmark's name.
items = load_data("demo", limit=48)

# Each item is asked once, under a format and an order drawn at random from the grid of 48 formats x circular orders.
# So one pass estimates what the whole grid would give. The reference format beside it shows how much that one flatters.
run = va.audit("demo", items, out=RUN, design=["randomised", "reference"], orders="dataset", progress=False)
summary = run.summary(by="category")

print("grid accuracy      ", summary.grid_accuracy)
print("reference format   ", summary.reference_accuracy)
print("replies that are IDs", summary.coverage)

# What a run cannot tell is None, and `reasons` says why: one pass has no worst format.
print("worst format       ", summary.worst_format, "-", summary.reasons["worst_format"])

for group in summary.groups or ():
    print(f"  {group.name or '':<10}", group.accuracy)

# Every figure, table and trial on one self-contained page. The same call on the same directory asks nothing twice.
print(run.report(f"{RUN}/page.html"))
