"""Named sets of settings: everything that one question takes, in one word.

Knows names of settings. Knows no item and no engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vqaudit.asking.endings import ENDINGS
from vqaudit.asking.interfaces import find_interface
from vqaudit.errors import PlanError

__all__ = ["PRESETS", "with_preset"]

_EVENTS_OF_PAPER_2 = (
    *("direct", "direct-scores", "bare-scores", "cot-prefix", "cot-prefill", "free-cot", "cot-then-scores"),
    *("forced-token", "forced:bare", "forced:cot", "full-string", "full-string:cot", "cloze", "cloze-lead-in"),
)
_ENDING_TABLE = tuple(find_interface(f"{event}:{ending}").name for ending in ENDINGS for event in ("scores", "free"))
_EXPERIMENTS = tuple(
    f"{interface}@{design}" for design in ("permuted", "whose-a") for interface in ("bare-scores", "cot-prefix")
)

PRESETS: dict[str, dict[str, Any]] = {
    "interfaces": {
        "design": ("reference",),
        "orders": "dataset",
        "interface": (
            *(f"{name}@reference" for name in dict.fromkeys((*_EVENTS_OF_PAPER_2, *_ENDING_TABLE))),
            *_EXPERIMENTS,
        ),
    }
}
"""`interfaces`: all of paper 2 in one run, in the reference format and the dataset's order as there: every ending under
immediate scores and free generation, forced tokens and full strings under both conditions, five seeded permutations of
the contents, and whose A it is (design `whose-a`)."""


def with_preset(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the settings with those of their `preset`, if they name one; interfaces of both are asked.

    Raises:
        PlanError: There is no such preset, or a setting contradicts it.

    Example:
        >>> with_preset({"preset": "interfaces", "interface": ("direct@grid",)})["interface"][-1]
        'direct@grid'
    """
    given = dict(settings)
    name = given.pop("preset", None)
    if name is None:
        return given
    if name not in PRESETS:
        raise PlanError(f"no preset {name!r}: choose from {', '.join(PRESETS)}")
    wanted = PRESETS[name]
    for key, value in wanted.items():
        own = given.get(key, value)
        if key != "interface" and own != value:
            raise PlanError(f"the preset {name!r} sets {key} to {value!r}, not {own!r}; leave {key} out")
    interfaces = given.get("interface", ())
    more = (interfaces,) if isinstance(interfaces, str) else tuple(interfaces)
    return {**given, **wanted, "interface": tuple(dict.fromkeys((*wanted["interface"], *more)))}
