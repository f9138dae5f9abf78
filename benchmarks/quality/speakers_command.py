"""`python -m benchmarks speakers`: whether summaries name the right speakers, as a table or as JSON."""

from __future__ import annotations

import json
from dataclasses import astuple
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from everword.cli.options import printable
from everword.cli.output import plural, progress_bar

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from quality.speakers import SpeakerCounts


@click.command()
@click.option(
    "--data",
    "files",
    multiple=True,
    required=True,
    type=click.Path(path_type=Path),
    help="A file of LoCoMo or LongMemEval as published, or a folder of channels as for `threads`; repeatable.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a file.")
def speakers(files: tuple[Path, ...], as_json: bool) -> None:
    """Check that summaries name the right speakers.

    Each conversation is kept in a temporary store, and its summaries are written without a model. Every labelled
    sentence of every summary, at every level, is traced to the message it is from: by the line that is stored, and by
    the text as a reader takes it. Of channels, all that is shown is read (digests, titles, summaries, contexts): a name
    with a colon must stand before words of that person. The command fails if one is in the wrong mouth. No model is
    asked.

    \b
    python -m benchmarks speakers --data locomo10.json
    """
    from quality.datasets import load
    from quality.speakers import evaluate

    is_wrong = False
    for file in files:
        if file.is_dir():
            is_wrong |= read_channels(file, as_json)
            continue
        dataset = load(file)
        with progress_bar("{task.completed} of {task.total} conversations", visible=not as_json) as bar:
            task = bar.add_task(printable(file.name), total=len(dataset.haystacks))
            counts = evaluate(dataset, partial(advance, bar, task))
        is_wrong |= bool(counts.wrong or counts.untraceable)
        if as_json:
            click.echo(json.dumps(as_object(counts, file), ensure_ascii=False))
        else:
            show(counts, file)
    if is_wrong:
        raise SystemExit(1)


def read_channels(folder: Path, as_json: bool) -> bool:
    """Read what is shown of the channels in a folder; whether somebody can be taken for who speaks."""
    from quality.channel_speakers import read_channel
    from quality.threads import read_stretches

    stretches = read_stretches(folder)
    if not stretches:
        raise click.ClickException(f"{folder} has no NAME.raw.txt; see docs/benchmarks.md")
    readings = {}
    with progress_bar("{task.completed} of {task.total} channels", visible=not as_json) as bar:
        task = bar.add_task(printable(folder.name), total=len(stretches))
        for number, stretch in enumerate(stretches, 1):
            readings[stretch.name] = read_channel(stretch)
            advance(bar, task, number)
    misreadings = [(name, *astuple(entry)) for name, reading in readings.items() for entry in reading.misreadings]
    texts = sum(reading.texts for reading in readings.values())
    labels = sum(reading.labels for reading in readings.values())
    if as_json:
        click.echo(json.dumps({"channels": len(readings), "texts": texts, "names": labels, "misread": misreadings}))
        return bool(misreadings)
    click.echo(
        f"{printable(folder.name)}: {plural(len(readings), 'channel')}, {texts} lines, {labels} names with a colon"
    )
    click.echo(f"can be misread as to who speaks: {len(misreadings)}")
    for name, kind, person, text in misreadings:
        click.echo(printable(f"  {name}, {kind}, {person}: {text[:200]}"))
    return bool(misreadings)


def advance(bar: Progress, task: TaskID, number: int) -> None:
    bar.update(task, completed=number)


def as_object(counts: SpeakerCounts, file: Path) -> dict[str, Any]:
    return {
        "file": file.name,
        "conversations": counts.conversations,
        "summaries": {str(level): counts.summaries[level] for level in sorted(counts.summaries)},
        "sentences": counts.sentences,
        "wrong": counts.wrong,
        "wrong_by_line": counts.wrong_by_line,
        "wrong_in_text": counts.wrong_in_text,
        "untraceable": counts.untraceable,
    }


def show(counts: SpeakerCounts, file: Path) -> None:
    levels = ", ".join(f"{counts.summaries[level]} of level {level}" for level in sorted(counts.summaries))
    click.echo(f"{printable(file.name)}: {plural(counts.conversations, 'conversation')}, summaries: {levels}")
    click.echo(
        f"{plural(counts.sentences, 'labelled sentence')}; wrong speaker: {counts.wrong_by_line} by their lines, "
        f"{counts.wrong_in_text} in the text; of no message: {counts.untraceable}"
    )
