"""`python -m benchmarks cost`: the calls and tokens of all memory work."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import click

from everword.cli.output import progress_bar, show_table, table
from everword.errors import InvalidInput
from quality import datasets
from quality.cost import MOST_CALLS, MOST_TOKENS, Cost, measure


@click.command()
@click.option("--data", "file", required=True, type=click.Path(path_type=Path), help="A file of LoCoMo or LongMemEval.")
@click.option("--conversation", metavar="ID", help="Only this one of the file.  [default: all]")
@click.option("--turns", type=click.IntRange(2), default=10_000, help="Replay at most this many messages of each.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def cost(file: Path, conversation: str | None, turns: int, as_json: bool) -> None:
    """Count what all memory work costs, live and as an import, with a stand-in for the memory model.

    \b
    python -m benchmarks cost --data locomo10.json --conversation conv-26
    """
    haystacks = choose_haystacks(file, conversation)
    costs: list[Cost] = []
    with progress_bar("{task.completed} of {task.total} messages", visible=not as_json) as bar:
        for haystack in haystacks:
            task = bar.add_task(haystack.name, total=min(len(haystack.turns), turns))
            costs += measure(haystack, turns, on_message=partial(show_progress, bar, task))
    if as_json:
        click.echo(json.dumps({"costs": [cost.fields() for cost in costs]}, ensure_ascii=False))
        return
    show_costs(costs)


def show_progress(bar: Any, task: Any, number: int) -> None:
    bar.update(task, completed=number)


def choose_haystacks(file: Path, conversation: str | None) -> list[datasets.Haystack]:
    haystacks = [haystack for haystack in datasets.load(file).haystacks if haystack.turns]
    chosen = [haystack for haystack in haystacks if conversation in (None, haystack.name)]
    if not chosen:
        names = ", ".join(haystack.name for haystack in haystacks)
        raise InvalidInput("conversation", f"there is no {conversation!r} in {file}; there are {names}")
    return chosen


def show_costs(costs: list[Cost]) -> None:
    tasks = sorted({task for cost in costs for task in cost.tasks})
    names = ("conversation", "way", "messages", "calls/100", "tokens/chat", *(f"{task} calls" for task in tasks))
    grid = table(*names, right=names[2:])
    for cost in costs:
        calls = [str(cost.tasks[task].calls) if task in cost.tasks else "0" for task in tasks]
        figures = (f"{cost.calls_per_hundred:.1f}", f"{cost.token_multiple:.2f}")
        grid.add_row(cost.conversation, cost.way, str(cost.messages), *figures, *calls)
    show_table(grid)
    missed = [cost for cost in costs if not cost.is_within_bar]
    bar = f"{MOST_CALLS:.0f} calls for 100 messages and {MOST_TOKENS:.0f} times the tokens of the chat"
    click.echo()
    click.echo(f"All within {bar}." if not missed else f"{len(missed)} of {len(costs)} above {bar}.")
