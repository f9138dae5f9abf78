"""Output of the commands: styled on a terminal, plain in a pipe; and how far a long command is.

Stored text is never interpreted as markup or as terminal control. A message that was found is shown around the words of
the query as the index has them: so the query "databases" marks "database" in a message, and a pair of ideographs is
marked inside a longer run.

Progress goes to standard error, with the rate and the time that is left: a bar on a terminal, otherwise a line every
few seconds. A command that ends within a few seconds prints no line at all.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Literal

import click

from everword.cli.options import printable

ENDLESS = 100_000  # characters of a line
STYLED = ("FORCE_COLOR", "TTY_COMPATIBLE")  # variables by which people ask for styles in a pipe

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, Task
    from rich.table import Table
    from rich.text import Text

    from everword.model import Message

LENGTH = 240  # characters shown of a message that was found
BEFORE = 60  # of them before the first match
MAX_SEARCHED = 20_000  # characters of a message that are searched
WORD = re.compile(r"\w+(?:['’.\-]\w+)*[+#]*")
BLANKS = re.compile(r"\s+")


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


def styled(text: str, style: str = "") -> Text:
    """A text with a style, which more can be appended to. It imports rich, which costs a tenth of a command's start."""
    from rich.text import Text

    return Text(text, style=style)


def print_indented(out: Console, text: Text, by: int) -> None:
    """Print text indented by so many columns, wrapped to the terminal's width."""
    for line in text.wrap(out, max(out.width - by, 20)):
        line.rstrip()
        out.print(styled(" " * by) + line)


def format_time(moment: datetime | None) -> str:
    """A time to the minute, in UTC."""
    return "-" if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M")


def plural(number: int, noun: str) -> str:
    """`1 message`, `1,200 messages`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def print_json(value: Any) -> None:
    """Print one line of JSON, in UTF-8 whatever the terminal's encoding is: it is for programs. A dataclass is an
    object of its fields."""
    click.echo((json.dumps(value, ensure_ascii=False, default=json_value) + "\n").encode(), nl=False)


def print_json_lines(values: Iterable[Any]) -> None:
    for value in values:
        print_json(value)


def json_value(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return value.isoformat()


def pick(value: object, names: str) -> dict[str, Any]:
    """Some attributes of an object, in this order."""
    return {name: getattr(value, name) for name in names.split()}


def message_head(message: Message, start: str, *, with_place: bool = False) -> Text:
    """The line above a message: when, who, and where it was said."""
    head = styled(start)
    head.append(format_time(message.time), style="cyan")
    head.append(f"  {printable(message.author)}", style="bold")
    if with_place:
        head.append(f"  {printable(message.conversation)}, turn {message.turn}")
    return head


def build_snippet(content: str, query: str) -> Text:
    """The content on one line, cut around its first match, with the matches marked."""
    line, spans = cut_snippet(content, query)
    excerpt = styled(line)
    for first, last in spans:
        excerpt.stylize("bold yellow", first, last)
    return excerpt


def cut_snippet(content: str, query: str) -> tuple[str, list[tuple[int, int]]]:
    """The content on one line, cut around its first match; and where the matches are in it."""
    line = BLANKS.sub(" ", printable(content[:MAX_SEARCHED])).strip()
    spans = find_matches(line, query)
    start = 0
    if spans and spans[0][1] > LENGTH:
        start = max(line.rfind(" ", 0, spans[0][0] - BEFORE) + 1, spans[0][0] - 2 * BEFORE)
    end = start + LENGTH
    if len(line) > end:
        space = line.rfind(" ", start + LENGTH // 2, end)
        end = space if space > 0 else end
    before = "… " if start else ""
    after = " …" if len(line) > end else ""
    offset = len(before) - start
    shown_spans = [(first + offset, last + offset) for first, last in spans if start <= first and last <= end]
    return before + line[start:end] + after, shown_spans


def find_matches(line: str, query: str) -> list[tuple[int, int]]:
    """The start and end of each word in a line that matches the query."""
    from everword.text.terms import analyse, query_groups

    language = analyse(line).language
    query_terms = {term for group in query_groups(query, [language]) for term in group}
    spans: list[tuple[int, int]] = []
    for word in WORD.finditer(line):
        terms = set(analyse(word[0], language).terms)
        hits = terms & query_terms
        # A run without spaces is many terms: mark those that match, and not the whole sentence.
        term_spans = [(start, start + len(term)) for term in hits if (start := word[0].lower().find(term)) >= 0]
        if len(terms) > 1 and term_spans:
            spans += [(word.start() + first, word.start() + last) for first, last in term_spans]
        elif hits:
            spans.append(word.span())
    return sorted(spans)


# -- progress

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
