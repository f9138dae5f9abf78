"""Shows how far a long command is: a bar on a terminal, otherwise a line every few seconds.

Both go to standard error, with the rate and the time that is left. A command that ends within a few seconds prints no
line at all.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Self

import click

from recollect.cli.options import printable
from recollect.cli.output import console

if TYPE_CHECKING:
    from rich.progress import Progress, Task

EVERY = 5.0  # seconds between lines


@dataclass(slots=True)
class LineTask:
    """A task as the lines tell of it."""

    description: str
    total: float | None
    fields: dict[str, Any]
    completed: float = 0
    started_at: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        return max(time.monotonic() - self.started_at, 1e-3)


class ProgressLines:
    """Prints a line every few seconds, while it is entered."""

    disable = False

    def __init__(self, columns: Sequence[str], every: float = EVERY) -> None:
        self._columns = columns
        self._every = every
        self._task: LineTask | None = None
        self._ended = Event()
        self._thread = Thread(target=self._print_lines, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self.stop()

    def add_task(self, description: str, *, total: float | None, **fields: Any) -> Any:
        self._task = LineTask(description, total, fields)
        return self._task

    def update(
        self,
        task: Any,
        /,
        *,
        completed: float | None = None,
        advance: float = 0,
        total: float | None = None,
        description: str | None = None,
        **fields: Any,
    ) -> None:
        task.completed = (task.completed if completed is None else completed) + advance
        task.total = task.total if total is None else total
        task.description = description or task.description
        task.fields |= fields

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()

    def _print_lines(self) -> None:
        while not self._ended.wait(self._every):
            if self._task is not None:
                click.echo(printable(describe_task(self._task, self._columns)), err=True)


def progress_bar(*columns: str, bytes_read: bool = False, visible: bool = True) -> Progress | ProgressLines:
    """A display of progress on standard error: a bar on a terminal, or else lines. Columns are formats of a task."""
    from rich.progress import BarColumn, DownloadColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class RateColumn(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text("" if "rate" in task.fields or not task.speed else f"{task.speed:,.0f}/s")

    error_console = console(stderr=True)
    if visible and not error_console.is_terminal:
        return ProgressLines(columns)
    byte_columns = [DownloadColumn()] if bytes_read else []
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        *byte_columns,
        *(TextColumn(column, markup=False) for column in columns),
        RateColumn(),
        TimeRemainingColumn(),
        console=error_console,
        disable=not visible,
        transient=True,
    )


def describe_task(task: LineTask, columns: Sequence[str]) -> str:
    """A task in a line: what is done, how far, how fast, and how long it will take."""
    parts = [column.format(task=task) for column in columns if task.total is not None or "task.total" not in column]
    rate = task.completed / task.seconds
    if "rate" not in task.fields and task.completed:
        parts.append(f"{rate:,.0f}/s")
    parts.append(f"{duration(task.seconds)} so far")
    if task.total and rate and task.completed < task.total:
        parts.append(f"{duration((task.total - task.completed) / rate)} left")
    return f"{task.description}: {', '.join(parts)}"


def duration(seconds: float) -> str:
    """A time in words: seconds, or minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
