"""Pictures of findings: the only owner of altair, which is loaded when the first picture is drawn.

Knows findings and pictures. Computes no figure.
"""

from vqaudit.report.charts.choices import first_positions, interface_accuracies, position_choice
from vqaudit.report.charts.confidence import confidence_by_level
from vqaudit.report.charts.drawing import Picture
from vqaudit.report.charts.effects import level_effects
from vqaudit.report.charts.formats import accuracy_heatmap, coverage_bars, coverage_heatmap, level_accuracies
from vqaudit.report.charts.layers import layer_accuracies, recovered_accuracies
from vqaudit.report.charts.mitigations import method_rows, remedies
from vqaudit.report.charts.runs import format_rank_bars, run_differences, run_ranking
from vqaudit.report.charts.saving import KINDS, save_picture, save_pictures
from vqaudit.report.charts.scale import score_scale
from vqaudit.report.charts.vocabulary import id_mass_by_layer

__all__ = [
    "KINDS",
    "Picture",
    "accuracy_heatmap",
    "confidence_by_level",
    "coverage_bars",
    "coverage_heatmap",
    "first_positions",
    "format_rank_bars",
    "id_mass_by_layer",
    "interface_accuracies",
    "layer_accuracies",
    "level_accuracies",
    "level_effects",
    "method_rows",
    "position_choice",
    "recovered_accuracies",
    "remedies",
    "run_differences",
    "run_ranking",
    "save_picture",
    "save_pictures",
    "score_scale",
]
