"""Options that stand together, as one value: a command takes the value, typer sees each option.

Knows signatures. Knows no option and no command.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints

__all__ = ["with_groups"]


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Lets a command have groups of options among its parameters: to typer, each is its options, in its place.

    A group is a dataclass. Its fields are the options, annotated as typer reads them, and their defaults are those
    that `--help` shows.

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass
        ... class Size:
        ...     width: int = 2
        ...     height: int = 3
        >>> @with_groups
        ... def area(*, name: str, size: Size) -> None:
        ...     print(name, size.width * size.height)
        >>> list(inspect.signature(area).parameters)
        ['name', 'width', 'height']
        >>> area(name="page", width=4, height=5)
        page 20
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters = [
        option
        for parameter in inspect.signature(command).parameters.values()
        for option in (
            _options(groups[parameter.name])
            if parameter.name in groups
            else [_option(parameter.name, hints[parameter.name], parameter.default)]
        )
    ]

    @wraps(command)
    def called(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    shown: Any = called  # typer goes by both, and neither is a declared attribute of a function
    shown.__signature__ = inspect.Signature(parameters)
    shown.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return called


def _options(group: Any) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        yield _option(field.name, hints[field.name], default)


def _option(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
