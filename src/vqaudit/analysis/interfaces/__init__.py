"""Scoring interfaces: what each reads, which of them can be read, and whose choice a score shows (paper 2).

Knows records. Knows no prompt and no engine.
"""

from vqaudit.analysis.interfaces.comparison import CommonGround, InterfaceRow, Interfaces, compare_interfaces
from vqaudit.analysis.interfaces.details import InterfaceDetails, interface_details

__all__ = [
    "CommonGround",
    "InterfaceDetails",
    "InterfaceRow",
    "Interfaces",
    "compare_interfaces",
    "interface_details",
]
