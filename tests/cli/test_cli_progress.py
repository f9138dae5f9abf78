"""How a long command tells how far it is, where there is no terminal."""

from __future__ import annotations

from threading import Event

import click
import pytest

from recollect.cli.progress import LineTask, ProgressLines, describe_task, duration
from recollect.cli.settling import steps_left

STEPS = "{task.completed:,} of {task.total:,} steps"


def test_a_line_tells_how_far_how_fast_and_how_long() -> None:
    task = LineTask("facts", 3_000, {}, completed=1_000)
    task.started_at -= 10
    line = describe_task(task, [STEPS])
    assert line == "facts: 1,000 of 3,000 steps, 100/s, 10 s so far, 20 s left"


def test_a_task_of_unknown_length_tells_how_long_it_has_taken() -> None:
    task = LineTask("erasing", None, {})
    task.started_at -= 75
    assert describe_task(task, [STEPS]) == "erasing: 1 min 15 s so far"


def test_a_rate_that_is_given_is_not_computed_again() -> None:
    task = LineTask("chat.jsonl", 100, {"messages": 40, "rate": 20}, completed=100)
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
    with ProgressLines([STEPS], every=0.01) as progress:
        task = progress.add_task("copying", total=10)
        progress.update(task, completed=3, description="copying facts")
        progress.update(task, advance=2)
        assert printed.wait(10)
    assert lines[-1].startswith("copying")
    count = len(lines)
    assert not progress.disable
    progress.stop()
    assert len(lines) == count


def test_a_duration_is_in_minutes_and_seconds() -> None:
    assert [duration(seconds) for seconds in (0.4, 59, 61, 3_600)] == ["0 s", "59 s", "1 min 1 s", "60 min 0 s"]


def test_a_view_that_follows_another_has_its_steps_to_come() -> None:
    assert steps_left({"index": 100, "window": 0, "episodes": 0, "facts": 100}) == 400
    assert steps_left({"index": 0, "window": 50, "episodes": 10, "facts": 0}) == 110
    assert steps_left({"index": 0, "window": 0, "facts": 7}) == 7
