"""Pictures of findings: the only owner of altair, which is loaded when the first picture is drawn.

Knows findings and pictures. Computes no figure.
"""

from vqaudit.report.charts.choices import first_positions, interface_accuracies, position_choice
from vqaudit.report.charts.drawing import Picture
from vqaudit.report.charts.formats import accuracy_heatmap, coverage_bars, coverage_heatmap, level_accuracies
from vqaudit.report.charts.runs import format_rank_bars, run_differences, run_ranking

__all__ = [
    "Picture",
    "accuracy_heatmap",
    "coverage_bars",
    "coverage_heatmap",
    "first_positions",
    "format_rank_bars",
    "interface_accuracies",
    "level_accuracies",
    "position_choice",
    "run_differences",
    "run_ranking",
]
