"""`python -m benchmarks summaries`: prints summaries drawn by a seed, to be read one by one."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from everword.cli.options import printable
from everword.cli.output import plural, progress_bar
from quality.speakers_command import advance

if TYPE_CHECKING:
    from quality.summaries import DrawnSummary


@click.command()
@click.option(
    "--data",
    "files",
    multiple=True,
    required=True,
    type=click.Path(path_type=Path),
    help="A file of LoCoMo or LongMemEval as published; repeatable.",
)
@click.option("--count", type=click.IntRange(min=1), default=40, help="Summaries of each file.")
@click.option("--seed", type=int, default=0, help="Draws the summaries.")
@click.option("--sources", is_flag=True, help="Print the messages that the lines are from as well.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a summary.")
def summaries(files: tuple[Path, ...], count: int, seed: int, sources: bool, as_json: bool) -> None:
    """Draw summaries of chats and print them, to be read one by one.

    Each conversation is kept in a temporary store, and its summaries are written without a model. Lines are marked that
    look odd by simple rules: without a verb, with markup, pointing back, cut, with a number of no message. Whether a
    line can be understood only a reader can say.

    \b
    python -m benchmarks summaries --data locomo10.json --count 40 --seed 1
    """
    from quality.datasets import load
    from quality.summaries import collect_summaries, draw_summaries, find_marks

    for file in files:
        dataset = load(file)
        with progress_bar("{task.completed} of {task.total} conversations", visible=not as_json) as bar:
            task = bar.add_task(printable(file.name), total=len(dataset.haystacks))
            collected = collect_summaries(dataset, partial(advance, bar, task))
        for number, drawn in enumerate(draw_summaries(collected, count, seed), 1):
            result = as_object(drawn, sources=sources)
            click.echo(json.dumps(result, ensure_ascii=False) if as_json else as_lines(result, number))
        if not as_json:
            marks = Counter(mark for drawn in collected for _, mark in find_marks(drawn))
            shown = ", ".join(f"{mark} {times}" for mark, times in marks.most_common()) or "none"
            total = sum(len(drawn.episode.lines) for drawn in collected)
            click.echo(f"Marks of all {plural(total, 'line')} of {len(collected):,} summaries: {shown}")


def as_object(drawn: DrawnSummary, *, sources: bool) -> dict[str, Any]:
    from quality.summaries import find_marks

    episode = drawn.episode
    turns = {line.turn for line in episode.lines}
    return {
        "conversation": episode.conversation,
        "level": episode.level,
        "turns": [episode.first, episode.last],
        "summary": episode.summary,
        "marks": [f"{mark}: {episode.lines[number].text}" for number, mark in find_marks(drawn)],
        "sources": [
            f"{message.author or message.role}: {message.content}"
            for message in drawn.messages
            if message.turn in turns
        ]
        if sources
        else [],
    }


def as_lines(result: dict[str, Any], number: int) -> str:
    first, last = result["turns"]
    lines = [f"{number}. level {result['level']}, turns {first} to {last}", result["summary"]]
    lines += [f"   ({mark})" for mark in result["marks"]]
    lines += [f"   > {source}" for source in result["sources"]]
    return printable("\n".join(lines)) + "\n"
