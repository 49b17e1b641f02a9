"""Groups of options: a command takes one value, and typer sees every option where the group stands."""

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from vqaudit.cli.groups import with_groups


@dataclass(frozen=True, kw_only=True, slots=True)
class Paper:
    kind: Annotated[str, typer.Option("--kind", help="What it is made of.")]
    width: Annotated[int, typer.Option("--width", min=1)] = 210
    names: Annotated[list[str] | None, typer.Option("--name")] = None


def program(command) -> typer.Typer:
    app = typer.Typer(add_completion=False)
    app.command("print")(command)
    return app


@with_groups
def grouped(*, first: Annotated[int, typer.Option("--first")] = 1, paper: Paper, last: bool = False) -> None:
    """Prints what it got."""
    typer.echo(repr((first, paper, last)))


def plain(
    first: Annotated[int, typer.Option("--first")] = 1,
    *,
    kind: Annotated[str, typer.Option("--kind", help="What it is made of.")],
    width: Annotated[int, typer.Option("--width", min=1)] = 210,
    names: Annotated[list[str] | None, typer.Option("--name")] = None,
    last: bool = False,
) -> None:
    """Prints what it got."""


def test_help_is_that_of_the_options_written_out() -> None:
    asked = [CliRunner().invoke(program(command), ["--help"]) for command in (grouped, plain)]
    assert [found.exit_code for found in asked] == [0, 0]
    assert "--kind" in asked[0].output
    assert asked[0].output == asked[1].output


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        (["--kind", "rag"], (1, Paper(kind="rag"), False)),
        (
            ["--last", "--width", "3", "--kind", "x", "--name", "a", "--name", "b", "--first", "7"],
            (7, Paper(kind="x", width=3, names=["a", "b"]), True),
        ),
    ],
)
def test_values_arrive_as_the_group(typed, value) -> None:
    assert CliRunner().invoke(program(grouped), typed).output.strip() == repr(value)


@pytest.mark.parametrize("typed", [[], ["--kind", "x", "--width", "0"]])
def test_wrong_usage_of_a_grouped_option_is_typers_own_error(typed) -> None:
    assert CliRunner().invoke(program(grouped), typed).exit_code == 2
