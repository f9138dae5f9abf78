"""Shows how far a long command is: a bar on a terminal, otherwise a line every few seconds.

Both go to standard error, with the rate and the time that is left. A command that ends within a few seconds prints no
line at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from threading import Event, Thread
from typing import TYPE_CHECKING

import click

from everword.cli.options import printable
from everword.cli.output import console

if TYPE_CHECKING:
    from rich.progress import Progress, Task

EVERY = 5.0  # seconds between lines


@contextmanager
def progress_bar(*columns: str, bytes_read: bool = False, visible: bool = True) -> Iterator[Progress]:
    """A display of progress on standard error: a bar on a terminal, or else lines. Columns are formats of a task."""
    from rich.progress import BarColumn, DownloadColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class RateColumn(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text("" if "rate" in task.fields or not task.speed else f"{task.speed:,.0f}/s")

    error_console = console(stderr=True)
    byte_columns = [DownloadColumn()] if bytes_read else []
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        *byte_columns,
        *(TextColumn(column, markup=False) for column in columns),
        RateColumn(),
        TimeRemainingColumn(),
        console=error_console,
        disable=not (visible and error_console.is_terminal),
        transient=True,
    )
    with bar, print_lines(bar, columns) if visible and bar.disable else nullcontext():
        yield bar


@contextmanager
def print_lines(bar: Progress, columns: Sequence[str], every: float = EVERY) -> Iterator[None]:
    """Print a line about the task of a display every few seconds within this block."""
    ended = Event()

    def run() -> None:
        while not ended.wait(every):
            for task in bar.tasks:
                click.echo(printable(describe_task(task, columns)), err=True)

    thread = Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def describe_task(task: Task, columns: Sequence[str]) -> str:
    """A task in a line: what is done, how far, how fast, and how long it will take."""
    parts = [column.format(task=task) for column in columns if task.total is not None or "task.total" not in column]
    seconds = max(task.elapsed or 0.0, 1e-3)
    rate = task.completed / seconds
    if "rate" not in task.fields and task.completed:
        parts.append(f"{rate:,.0f}/s")
    parts.append(f"{duration(seconds)} so far")
    if task.total and rate and task.completed < task.total:
        parts.append(f"{duration((task.total - task.completed) / rate)} left")
    return f"{task.description}: {', '.join(parts)}"


def duration(seconds: float) -> str:
    """A time in words: seconds, or minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
