"""Paper 1's published accuracies, which come with the package.

Knows where they are kept. Corrects nothing: where the paper contradicts itself, `printed` tells.
"""

from __future__ import annotations

from importlib.resources import as_file, files

from vqaudit.analysis.cells.methods import MethodTable, read_methods
from vqaudit.analysis.cells.reading import read_cells
from vqaudit.analysis.cells.table import CellTable

__all__ = ["paper1_cells", "paper1_methods"]


def paper1_cells() -> CellTable:
    """Returns paper 1's cells: 7 models, 5 data sets, 48 formats, each with accuracy and coverage in [0, 1].

    Source: Rosenthal et al. (2025), arXiv:2511.22341, Tabs. 8 to 12.

    Example:
        >>> cells = paper1_cells()
        >>> cells.accuracy.shape, cells.datasets[0], cells.models[-1]
        ((5, 7, 48), 'A-OKVQA', 'Qwen-2.5-VL')
    """
    with as_file(files("vqaudit").joinpath("paper_data", "format_grid.csv")) as path:
        return read_cells(path)


def paper1_methods() -> MethodTable:
    """Returns what paper 1's mitigation methods gave, with the ranks that it prints.

    Source: Rosenthal et al. (2025), arXiv:2511.22341, Tab. 7.

    Example:
        >>> round(paper1_methods().accuracy["A-OKVQA"]["vanilla"]["Gemma-3"], 4)
        0.7808
    """
    with as_file(files("vqaudit").joinpath("paper_data", "mitigation_table.csv")) as path:
        return read_methods(path)
