"""What factors and remedies are called wherever they are shown.

Knows names. Knows no figure.
"""

from __future__ import annotations

__all__ = ["factor_label", "method_label"]

_FACTORS = {"id_set": "ID set", "answer_position": "right option's position"}
_METHODS = {
    "vanilla": "as it stands",
    "circular": "circular, mean",
    "circular_majority": "circular, majority",
    "circular_strict": "circular, strict",
    "pia": "PIA",
    "pride": "PriDe",
    "cp_ln": "CP-LN",
}


def factor_label(name: str) -> str:
    """Returns how a factor is called.

    Example:
        >>> factor_label("id_set"), factor_label("delimiter")
        ('ID set', 'delimiter')
    """
    return _FACTORS.get(name, name.replace("_", " "))


def method_label(name: str) -> str:
    """Returns how a remedy is called.

    Example:
        >>> method_label("circular_strict"), method_label("new_one")
        ('circular, strict', 'new one')
    """
    return _METHODS.get(name, name.replace("_", " "))
