"""Remedies for bias, each on the records of a run, held against the grid: paper 1, Sec. 4.3, B.3 and Tab. 7.

Knows run directories. Asks no model: a method whose trials a run does not hold says what it would need.
"""

from vqaudit.analysis.mitigation.across import MitigationTable, RedrawRow, mitigations_across
from vqaudit.analysis.mitigation.material import Calibration, Material, material_of
from vqaudit.analysis.mitigation.methods import METHODS, MitigationRow, Mitigations, PridePrior, mitigations
from vqaudit.analysis.mitigation.pia import position_invariant_accuracy
from vqaudit.analysis.mitigation.pride import debias, id_prior

__all__ = [
    "METHODS",
    "Calibration",
    "Material",
    "MitigationRow",
    "MitigationTable",
    "Mitigations",
    "PridePrior",
    "RedrawRow",
    "debias",
    "id_prior",
    "material_of",
    "mitigations",
    "mitigations_across",
    "position_invariant_accuracy",
]
