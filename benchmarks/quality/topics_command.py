"""`python -m benchmarks topics`: how well shifts of subject are found, beside simple methods, as a table or as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from everword.cli.options import printable
from everword.cli.output import plural, progress_bar, show_table, table

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from quality.topics import Evaluation


@click.command()
@click.option(
    "--data",
    "files",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Dialogues with marked shifts of subject, in a published format; repeatable.",
)
@click.option("--tasks", is_flag=True, help="Also the dialogues from task to task that are part of the benchmarks.")
@click.option("--assembled", is_flag=True, help="Whole conversations, of LongMemEval's or LoCoMo's file: see below.")
@click.option("--draws", default=30, show_default=True, help="Conversations put together, with --assembled.")
@click.option("--seed", default=1, show_default=True, help="Draws the sessions and the titles, with --assembled.")
@click.option("--titles", default=0, help="Print so many titles of LoCoMo's topics, with --assembled.")
@click.option(
    "--embedder", type=click.Choice(["static", "minilm", "multilingual"]), default="static", help="What makes vectors."
)
@click.option("--people", is_flag=True, help="Both sides are people, whatever the file calls them.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a file.")
def topics(
    files: tuple[Path, ...],
    tasks: bool,
    assembled: bool,
    draws: int,
    seed: int,
    titles: int,
    embedder: str,
    people: bool,
    as_json: bool,
) -> None:
    """Measure how well shifts of subject are found.

    Each message of a dialogue is given a topic as it arrives, as in a conversation that is kept; where the topic
    changes, the subject shifts. Chance and TextTiling are measured on the same dialogues. Pk and WindowDiff count
    errors: less is better. F1 is of the places where the subject shifts: more is better. No model is asked.

    Known formats: TIAGE, SuperDialseg, `utterances` with `segments`, and text with a line of ===== between segments
    (a file, or a folder of them). An assistant's reply never opens a topic; --people takes replies for a person's.
    The data sets are not part of everword: see docs/benchmarks.md for where they are published.

    With --assembled the topics themselves are measured. Of LongMemEval's file 20 sessions at a time become one
    conversation; a good topic holds one session. Of LoCoMo's file, the size of the topics and their titles are shown.

    \b
    python -m benchmarks topics --data tiage_dev.json --tasks
    python -m benchmarks topics --data dialseg711.json --json
    python -m benchmarks topics --assembled --data longmemeval_oracle.json --draws 30 --seed 1
    python -m benchmarks topics --assembled --data locomo10.json --titles 100
    """
    if not files and not tasks:
        raise click.UsageError("Give --data FILE, or --tasks.")
    if assembled:
        from quality.assembled_command import show_file

        for file in files:
            show_file(file, embedder, draws, seed, titles, as_json)
        return
    from quality.dialogues import among_people, load
    from quality.tasks import assemble_tasks
    from quality.topics import evaluate

    read = [(file.name, among_people(load(file)) if people else load(file)) for file in files]
    if tasks:
        read.append(("from task to task, roles unknown", assemble_tasks(to_learn=False, roles=False)))
        read.append(("from task to task, with an assistant", assemble_tasks(to_learn=False, roles=True)))
    for name, marked in read:
        with progress_bar("{task.completed} of {task.total} dialogues", visible=not as_json) as bar:
            task = bar.add_task(printable(name), total=len(marked.dialogues))
            found = evaluate(marked, embedder, partial(advance, bar, task))
        if as_json:
            click.echo(json.dumps(as_object(found, name), ensure_ascii=False))
        else:
            show(found, name)


def advance(bar: Progress, task: TaskID, number: int) -> None:
    bar.update(task, completed=number)


def as_object(found: Evaluation, name: str) -> dict[str, Any]:
    methods = {
        method: {what: round(x, 6) for what, x in asdict(scores).items()} for method, scores in found.methods.items()
    }
    return {
        "file": name,
        "embedder": found.embedder,
        "dialogues": found.dialogues,
        "messages": found.messages,
        "shifts": found.shifts,
        "assistants": found.assistants,
        "notes": list(found.notes),
        "methods": methods,
        "better": found.better,
    }


def show(found: Evaluation, name: str) -> None:
    sides = "a person and an assistant" if found.assistants else "people"
    click.echo(
        f"{printable(name)}: {plural(found.dialogues, 'dialogue')} ({sides}), "
        f"{plural(found.messages, 'message')}, {plural(found.shifts, 'shift')}"
    )
    click.echo(f"embedder {found.embedder}; all figures in per cent")
    for note in found.notes:
        click.echo(f"note: {printable(note)}")
    names = ("Pk (less is better)", "WindowDiff (less)", "F1 (more)", "precision", "recall")
    grid = table("method", *names, right=names)
    for method, scores in found.methods.items():
        grid.add_row(method, *(f"{100 * value:.1f}" for value in asdict(scores).values()))
    show_table(grid)
    verdict = "Better" if found.better else "Not better"
    click.echo(f"{verdict} than chance and TextTiling in all of Pk, WindowDiff and F1.\n")
