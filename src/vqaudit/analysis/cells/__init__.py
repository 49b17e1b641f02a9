"""Analyses of a table of accuracies by data set, model and format, whoever measured them.

Reads CSV and TSV files, among them paper 1's, which come with the package. Knows no run, no item and no prompt.
"""

from vqaudit.analysis.cells.columns import Layout
from vqaudit.analysis.cells.findings import GridSpec, analyse_cells
from vqaudit.analysis.cells.methods import MethodTable, read_methods
from vqaudit.analysis.cells.printed import read_printed
from vqaudit.analysis.cells.published import paper1_cells, paper1_methods
from vqaudit.analysis.cells.reading import read_cells
from vqaudit.analysis.cells.schema import GridFindings
from vqaudit.analysis.cells.table import CellTable

__all__ = [
    "CellTable",
    "GridFindings",
    "GridSpec",
    "Layout",
    "MethodTable",
    "analyse_cells",
    "paper1_cells",
    "paper1_methods",
    "read_cells",
    "read_methods",
    "read_printed",
]
