"""What the records say: a summary of one run, a comparison of several.

Reads run directories through `vqaudit.records` alone. Knows no item, no prompt and no engine.
"""

from vqaudit.analysis.comparison import Comparison, compare
from vqaudit.analysis.estimates import Estimate, mean_estimate, paired_difference
from vqaudit.analysis.schema import Summary
from vqaudit.analysis.summary import summarise

__all__ = ["Comparison", "Estimate", "Summary", "compare", "mean_estimate", "paired_difference", "summarise"]
