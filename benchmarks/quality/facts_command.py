"""`python -m benchmarks facts`: how much of a life the facts hold that are read without a model."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from everword.cli.options import printable
from everword.cli.output import plural, progress_bar, show_table, table

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from quality.datasets import Part
    from quality.facts import FactCounts, ReadFact


@click.command()
@click.option(
    "--data",
    "files",
    multiple=True,
    required=True,
    type=click.Path(path_type=Path),
    help="A file of LoCoMo as published; repeatable.",
)
@click.option(
    "--part",
    type=click.Choice(["tune", "report", "all"]),
    default="all",
    help="A fixed part of each set: tune on one, report the other.",
)
@click.option("--show", "count", type=click.IntRange(1), metavar="N", help="Print N facts beside their messages.")
@click.option("--seed", type=int, default=0, help="Draws the facts that are printed.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a file.")
def facts(files: tuple[Path, ...], part: str, count: int | None, seed: int, as_json: bool) -> None:
    """Compare the facts that are read without a model with observations that people wrote.

    Each conversation of the file is kept in a temporary store; the facts of each speaker are those the memory then has.
    Coverage is the share of LoCoMo's observations that a fact of the same speaker says, support the share of the facts
    that an observation says, by content words. `--show` prints facts to be read beside their messages. No model is
    asked.

    \b
    python -m benchmarks facts --data locomo10.json --part report
    python -m benchmarks facts --data locomo10.json --part report --show 100 --seed 7
    """
    from quality.facts import draw, evaluate

    chosen: Part = "tune" if part == "tune" else "report" if part == "report" else "all"
    for file in files:
        with progress_bar("{task.completed} of {task.total} conversations", visible=not as_json) as bar:
            task = bar.add_task(printable(file.name), total=None)
            counts = evaluate(file, chosen, partial(advance, bar, task))
        drawn = draw(counts.facts, count, seed) if count else []
        if as_json:
            click.echo(json.dumps(as_object(counts, drawn, file, part), ensure_ascii=False))
        else:
            show(counts, drawn, file, part)


def advance(bar: Progress, task: TaskID, number: int, total: int) -> None:
    bar.update(task, completed=number, total=total)


def as_object(counts: FactCounts, drawn: list[ReadFact], file: Path, part: str) -> dict[str, Any]:
    result: dict[str, Any] = {
        "file": file.name,
        "part": part,
        "messages": counts.messages,
        "observations": counts.observations,
        "facts": len(counts.facts),
        "facts_a_message": round(counts.facts_a_message, 4),
        "coverage": round(counts.coverage, 4),
        "support": round(counts.support, 4),
        "categories": {
            name: {"facts": number, "support": round(support, 4)}
            for name, (number, support) in counts.categories.items()
        },
    }
    if drawn:
        result["drawn"] = [fact_object(read) for read in drawn]
    return result


def fact_object(read: ReadFact) -> dict[str, Any]:
    fact = read.fact
    return {
        "person": read.person,
        "subject": fact.subject,
        "category": fact.category,
        "key": fact.key,
        "value": fact.value,
        "since": fact.valid_from.date().isoformat() if fact.valid_from else None,
        "said_at": fact.said_at.date().isoformat(),
        "supported": read.is_supported,
        "sources": [message.content for message in read.sources],
    }


def show(counts: FactCounts, drawn: list[ReadFact], file: Path, part: str) -> None:
    click.echo(
        f"{printable(file.name)}, part: {part}: {plural(counts.messages, 'message')}, "
        f"{plural(counts.observations, 'observation')}, {plural(len(counts.facts), 'fact')}"
    )
    click.echo(
        f"facts a message {counts.facts_a_message:.3f}, coverage {100 * counts.coverage:.1f} %, "
        f"support {100 * counts.support:.1f} %"
    )
    grid = table("category", "facts", "supported", right=("facts", "supported"))
    for name, (number, support) in counts.categories.items():
        grid.add_row(name, str(number), f"{100 * support:.1f} %")
    show_table(grid)
    for number, read in enumerate(drawn, 1):
        fact = read.fact
        about = f"{read.person}, {fact.subject}" if fact.subject else read.person
        is_dated = fact.valid_from is not None and fact.valid_from not in (fact.recorded_at, fact.said_at)
        began = f", from {fact.valid_from:%Y-%m-%d}" if is_dated else ""
        click.echo(f"\n{number}. {printable(about)}: {fact.category}/{fact.key} = {printable(fact.value)}{began}")
        for message in read.sources:
            click.echo(f"   {message.time:%Y-%m-%d} {printable(message.author)}: {printable(message.content)}")
