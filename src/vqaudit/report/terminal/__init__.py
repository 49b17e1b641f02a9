"""What people see in a terminal: the summary of a run, a comparison of runs, the cost of a plan.

Knows findings and rich. Readable in 80 columns, without colour, and where only ASCII can be printed.
"""

from vqaudit.report.terminal.comparison import comparison_view
from vqaudit.report.terminal.cost import cost_view
from vqaudit.report.terminal.details import details_view
from vqaudit.report.terminal.internals import internals_view
from vqaudit.report.terminal.status import status_view
from vqaudit.report.terminal.summary import summary_view

__all__ = ["comparison_view", "cost_view", "details_view", "internals_view", "status_view", "summary_view"]
