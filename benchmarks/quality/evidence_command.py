"""`python -m benchmarks evidence`: whether whole contexts hold all that a question needs, beside plain lines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from everword.cli.options import printable
from everword.cli.output import progress_bar, show_table, table
from quality.recall_command import shown_progress

if TYPE_CHECKING:
    from everword.model import Budget
    from quality.evidence import Asked

COLUMNS = ("questions", "all evidence", "nothing retrieved", "mean tokens", "plain lines")
CEILINGS = (1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 8_000, 10_000)


@click.command()
@click.option(
    "--data",
    "file",
    required=True,
    type=click.Path(path_type=Path),
    help="A file of LoCoMo or LongMemEval as published, a folder of BEAM, or one of channels as for `threads`.",
)
@click.option(
    "--part",
    type=click.Choice(["tune", "report", "all"]),
    default="all",
    help="A fixed part of the set: tune on one, report the other.",
)
@click.option("--limit-questions", type=click.IntRange(1), metavar="N", help="Only N questions of the file.")
@click.option("--size", "sizes", multiple=True, help="A total of tokens, or `default`; may be given several times.")
@click.option("--curve", is_flag=True, help="Instead: default contexts that may retrieve more and more.")
@click.option("--stores", type=click.Path(path_type=Path), help="A folder where memories are kept for the next run.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def evidence(
    file: Path,
    part: str,
    limit_questions: int | None,
    sizes: tuple[str, ...],
    curve: bool,
    stores: Path | None,
    as_json: bool,
) -> None:
    """Ask every question of a set with contexts of several sizes, in the conversation itself and in a new one.

    Counted are the questions of which all evidence stands word for word in what is sent. Questions without an answer in
    the memory are left out. No model is asked.

    \b
    python -m benchmarks evidence --data locomo10.json --part report
    python -m benchmarks evidence --data locomo10.json --curve
    """
    from everword.model import Budget
    from quality import evidence as measure
    from quality.channels import is_channels
    from quality.datasets import choose

    budgets = measure.SIZES
    if curve:
        budgets = {f"retrieved {tokens:,}": replace(Budget(), retrieved=tokens) for tokens in CEILINGS}
    elif sizes:
        budgets = {size: measure.budget_of(size) for size in sizes}
    if is_channels(file):
        show_channels(file, part, budgets, as_json)
        return
    dataset = choose(file, part, limit_questions)
    if stores is not None:
        stores.mkdir(parents=True, exist_ok=True)
    with shown_progress(dataset) as report:
        asked = measure.measure_evidence(dataset, budgets, (measure.SAME, measure.NEW), report, stores)
    asked = [answer for answer in asked if answer.category not in measure.UNANSWERABLE]
    rows = [(place, size, chosen(asked, place, size)) for place in (measure.SAME, measure.NEW) for size in budgets]
    if as_json:
        click.echo(json.dumps({"file": file.name, "part": part, "rows": [as_object(*row) for row in rows]}))
        return
    click.echo(f"{dataset.name} ({printable(file.name)}, part: {part}): all evidence word for word, in per cent\n")
    grid = table("asked in", "budget", *COLUMNS, right=COLUMNS)
    for place, size, answers in rows:
        grid.add_row(place, size, *cells(answers))
    show_table(grid)
    for category in sorted({answer.category for answer in asked}):
        of_category = [answer for answer in asked if answer.category == category and answer.place == measure.SAME]
        shares = [
            f"{size} {measure.summarise(chosen(of_category, measure.SAME, size)).everything:.1f}" for size in budgets
        ]
        click.echo(f"{category}: {', '.join(shares)}")


def show_channels(folder: Path, part: str, budgets: Mapping[str, Budget], as_json: bool) -> None:
    """Ask the questions about channels, each in its channel."""
    from quality.channels import ask_channels
    from quality.threads import read_stretches

    stretches = read_stretches(folder)
    with progress_bar("{task.completed} of {task.total} channels", visible=not as_json) as bar:
        task = bar.add_task(printable(folder.name), total=len(stretches))
        asked = ask_channels(stretches, part, budgets, lambda number: bar.update(task, completed=number))
    rows = [("channel", size, chosen(asked, "channel", size)) for size in budgets]
    if as_json:
        click.echo(json.dumps({"file": folder.name, "part": part, "rows": [as_object(*row) for row in rows]}))
        return
    columns = COLUMNS[:-1]
    grid = table("asked in", "budget", *columns, right=columns)
    for place, size, answers in rows:
        grid.add_row(place, size, *cells(answers)[: len(columns)])
    show_table(grid)


def chosen(asked: Sequence[Asked], place: str, size: str) -> list[Asked]:
    return [answer for answer in asked if answer.place == place and answer.size == size]


def as_object(place: str, size: str, answers: Sequence[Asked]) -> dict[str, Any]:
    from quality.evidence import summarise

    return {"place": place, "size": size, **asdict(summarise(answers))}


def cells(answers: Sequence[Asked]) -> list[str]:
    from quality.evidence import summarise

    summary = summarise(answers)
    shares = (summary.everything, summary.nothing_retrieved)
    return [
        f"{summary.questions:,}",
        *(f"{share:.1f}" for share in shares),
        f"{summary.tokens:,.0f}",
        f"{summary.plain:.1f}",
    ]
