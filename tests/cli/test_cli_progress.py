"""How a long command tells how far it is, where there is no terminal."""

from __future__ import annotations

from threading import Event, active_count

import click
import pytest
from rich.progress import Progress, Task

from everword.cli.opening import steps_left
from everword.cli.output import describe_task, duration, print_lines

STEPS = "{task.completed:,} of {task.total:,} steps"


def task_after(seconds: float, description: str, *, total: float | None, completed: float = 0, **fields: int) -> Task:
    """A task that was begun so many seconds ago."""
    moments = iter([0.0, seconds])
    progress = Progress(disable=True, get_time=lambda: next(moments, seconds))
    progress.add_task(description, total=total, completed=completed, **fields)  # type: ignore[arg-type]
    return progress.tasks[0]


def test_a_line_tells_how_far_how_fast_and_how_long() -> None:
    task = task_after(10, "facts", total=3_000, completed=1_000)
    line = describe_task(task, [STEPS])
    assert line == "facts: 1,000 of 3,000 steps, 100/s, 10 s so far, 20 s left"


def test_a_task_of_unknown_length_tells_how_long_it_has_taken() -> None:
    task = task_after(75, "erasing", total=None)
    assert describe_task(task, [STEPS]) == "erasing: 1 min 15 s so far"


def test_a_rate_that_is_given_is_not_computed_again() -> None:
    task = task_after(2, "chat.jsonl", total=100, completed=100, messages=40, rate=20)
    line = describe_task(task, ["{task.fields[messages]:,} messages, {task.fields[rate]:,}/s"])
    assert line.startswith("chat.jsonl: 40 messages, 20/s, ")
    assert line.count("/s") == 1


def test_lines_are_printed_while_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    printed = Event()

    def echo(line: str, *, err: bool) -> None:
        assert err
        lines.append(line)
        printed.set()

    monkeypatch.setattr(click, "echo", echo)
    progress = Progress(disable=True)
    thread_count = active_count()
    with print_lines(progress, [STEPS], every=0.01):
        task = progress.add_task("copying", total=10)
        progress.update(task, completed=3, description="copying facts")
        progress.update(task, advance=2)
        assert printed.wait(10)
    assert lines[-1].startswith("copying")
    assert active_count() == thread_count, "nothing is printed after it has ended"


def test_a_duration_is_in_minutes_and_seconds() -> None:
    assert [duration(seconds) for seconds in (0.4, 59, 61, 3_600)] == ["0 s", "59 s", "1 min 1 s", "60 min 0 s"]


def test_a_view_that_follows_another_has_its_steps_to_come() -> None:
    assert steps_left({"index": 100, "window": 0, "episodes": 0, "facts": 100}) == 400
    assert steps_left({"index": 0, "window": 50, "episodes": 10, "facts": 0}) == 110
    assert steps_left({"index": 0, "window": 0, "facts": 7}) == 7
