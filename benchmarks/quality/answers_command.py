"""`python -m benchmarks answers write | score`: what a reader, a model or a person, answers from contexts alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from everword.cli.options import printable
from everword.cli.output import show_table, table


@click.group()
def answers() -> None:
    """Have contexts answered by any reader, and score the answers.

    \b
    python -m benchmarks answers write --data locomo10.json --limit-questions 60 --budget 2000 contexts/
    python -m benchmarks answers score --data locomo10.json contexts/
    """


def data_option(command: Callable[..., Any]) -> Callable[..., Any]:
    option = click.option(
        "--data",
        "file",
        required=True,
        type=click.Path(path_type=Path),
        help="The published set, or a folder of channels as for `threads`.",
    )
    return option(command)


@answers.command()
@data_option
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--budget", default="default", help="A total of tokens, or `default`.")
@click.option("--place", type=click.Choice(["same", "new"]), default="same", help="The conversation it is asked in.")
@click.option("--limit-questions", type=click.IntRange(1), metavar="N", help="Only N questions of the file.")
@click.option("--part", type=click.Choice(["tune", "report", "all"]), default="all", help="A fixed part of the set.")
def write(file: Path, folder: Path, budget: str, place: str, limit_questions: int | None, part: str) -> None:
    """Write the context of each question to FOLDER/N.txt, without the answer; the reader writes N.answer.txt."""
    from quality.answers import write_contexts
    from quality.channels import channel_contexts, is_channels, load_channels
    from quality.datasets import choose
    from quality.evidence import NEW, SAME, budget_of, contexts_of

    if is_channels(file):
        contexts = channel_contexts(file, load_channels(file, part, limit_questions), budget_of(budget))
    else:
        where = SAME if place == "same" else NEW
        contexts = contexts_of(choose(file, part, limit_questions), budget_of(budget), where)
    count = write_contexts(contexts, folder)
    click.echo(f"{count:,} contexts in {printable(str(folder))}; write each answer to N.answer.txt, then score them")


@answers.command()
@data_option
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
def score(file: Path, folder: Path) -> None:
    """Score the answers in FOLDER. A file N.verdict.txt with `right` or `wrong` overrules the score of an answer."""
    from quality.answers import COMPLETE, INCOMPLETE, score_folder
    from quality.channels import is_channels, load_channels
    from quality.datasets import load

    dataset = load_channels(file, "all") if is_channels(file) else load(file)
    scored = sorted(score_folder(dataset, folder), key=lambda answer: answer.number)
    names = ("answers", "right", "wrong with all evidence", "wrong, evidence missing", "mean tokens")
    grid = table("category", *names, right=names)
    for category in (*sorted({answer.category for answer in scored}), "all"):
        chosen = [answer for answer in scored if category in ("all", answer.category)]
        wrong = [answer.evidence for answer in chosen if not answer.is_right]
        grid.add_row(
            category,
            f"{len(chosen):,}",
            f"{100 * (len(chosen) - len(wrong)) / max(len(chosen), 1):.1f} %",
            f"{wrong.count(COMPLETE):,}",
            f"{wrong.count(INCOMPLETE):,}",
            f"{sum(answer.tokens for answer in chosen) / max(len(chosen), 1):,.0f}",
        )
    show_table(grid)
    for answer in scored:
        mark = "right" if answer.is_right else f"WRONG, {answer.evidence}"
        click.echo(printable(f"{answer.number} {mark}: {answer.question} | {answer.expected} | {answer.answer}"))
