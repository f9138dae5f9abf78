"""Output of the commands: styled on a terminal, plain in a pipe.

Stored text is never interpreted as markup or as terminal control.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

import click

ENDLESS = 100_000  # characters of a line
STYLED = ("FORCE_COLOR", "TTY_COMPATIBLE")  # variables by which people ask for styles in a pipe

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text


def console(*, stderr: bool = False) -> Console:
    """A console to print to. A pipe has no width: its lines are not wrapped."""
    from rich.console import Console

    printer = Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    if not printer.is_terminal:
        printer.width = ENDLESS
    return printer


def is_plain() -> bool:
    """Whether output goes where it is neither styled nor wrapped: then rich is not needed, whose import takes a tenth
    of the time of a command."""
    return not sys.stdout.isatty() and not any(map(os.environ.get, STYLED))


def table(*columns: str, right: tuple[str, ...] = (), whole: tuple[str, ...] = ()) -> Table:
    """An empty table without lines: readable on a terminal and easy to cut in a pipe. The values of columns that are
    `whole` are not wrapped: ids, which people copy."""
    from rich.table import Table

    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        justify: Literal["left", "right"] = "right" if column in right else "left"
        grid.add_column(column, justify=justify, overflow="fold", no_wrap=column in (*whole, *right))
    return grid


def show_table(grid: Table, optional: Sequence[str] = ()) -> None:
    """Print a table, without trailing blanks on its lines. On a terminal that is too narrow for all of it, `optional`
    columns are left out, the first ones first."""
    out = console()
    for name in optional:
        if out.measure(grid, options=out.options.update(width=ENDLESS)).maximum > out.width:
            grid.columns[:] = [column for column in grid.columns if column.header != name]
    with out.capture() as capture:
        out.print(grid)
    click.echo("\n".join(line.rstrip() for line in capture.get().rstrip("\n").split("\n")))


def print_indented(out: Console, text: Text, by: int) -> None:
    """Print text indented by so many columns, wrapped to the terminal's width."""
    from rich.text import Text

    for line in text.wrap(out, max(out.width - by, 20)):
        line.rstrip()
        out.print(Text(" " * by) + line)


def format_time(moment: datetime | None) -> str:
    """A time to the minute, in UTC."""
    return "-" if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M")


def plural(number: int, noun: str) -> str:
    """`1 message`, `1,200 messages`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def print_json(value: Mapping[str, Any]) -> None:
    """Print one line of JSON, in UTF-8 whatever the terminal's encoding is: it is for programs."""
    click.echo((json.dumps(value, ensure_ascii=False, default=datetime.isoformat) + "\n").encode(), nl=False)
