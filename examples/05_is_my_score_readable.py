"""Is my score readable? The same items under five scoring interfaces, with a verdict on each.

python examples/05_is_my_score_readable.py        needs vqaudit[local]
"""

import vqaudit as va
from vqaudit.auditing import load_data

# An interface is an ending of the prompt and the event that is scored. `direct` reads the greedy reply; `direct-scores`
# and `bare-scores` the letters' probabilities; `cot-prefix` the same right after "Let me think step by step.";
# `free-cot` lets the model reason first. One format and one order, so that only the interface differs.
run = va.audit(
    "demo",
    load_data("demo", limit=24),
    out="runs/examples/interfaces",
    design="reference",
    orders="dataset",
    interface=["direct", "direct-scores", "bare-scores", "cot-prefix", "free-cot"],
    max_tokens=60,
    progress=False,
)
summary = run.summary(details=False)

for name, row in summary.interfaces.items():
    print(f"{name:<14}{row.verdict or 'best aligned':<14}", row.accuracy)
    # ID mass: the probability that the next token is any of the shown letters. Where it is low, the ranking of letters
    # says little, however sure the arg-max looks.
    if row.id_mass is not None:
        print(f"{'':<28} ID mass {row.id_mass}; first position chosen {row.first_position_rate}")

# The evidence in one sentence, and what to do about it.
suspect = summary.interfaces["cot-prefix"]
print(suspect.sentence)
for advice in suspect.advice:
    print("-", advice)
