"""Prints what `quality.assembled` measures: `python -m benchmarks topics --assembled`."""

from __future__ import annotations

import json
import random
from dataclasses import asdict
from pathlib import Path

import click

from everword.cli.options import printable
from everword.cli.output import show_table, table
from quality import datasets
from quality.assembled import Assembled, TopicCount, count_topics, evaluate_sessions

MEASURES = ("topics a session", "V-measure", "homogeneity", "completeness", "F1 of pairs")


def show_file(file: Path, embedder: str, draws: int, seed: int, titles: int, as_json: bool) -> None:
    """Measure and print one file: LongMemEval's or LoCoMo's."""
    dataset = datasets.load(file)
    if dataset.name == datasets.LOCOMO:
        show_conversations([count_topics(haystack, embedder) for haystack in dataset.haystacks], seed, titles, as_json)
        return
    sessions = [session for haystack in dataset.haystacks for session in haystack.sessions]
    identity, results = evaluate_sessions(sessions, embedder, draws, seed)
    if as_json:
        arrangements = [asdict(result) for result in results]
        click.echo(json.dumps({"file": file.name, "embedder": identity, "arrangements": arrangements}))
        return
    click.echo(f"{printable(file.name)}: {draws} conversations of 20 sessions, seed {seed}; embedder {identity}")
    for result in results:
        show_arrangement(result)


def show_arrangement(result: Assembled) -> None:
    grid = table(result.arrangement, *MEASURES, right=MEASURES)
    for method, scores in result.methods.items():
        grid.add_row(method, *(f"{value:.3f}" for value in asdict(scores).values()))
    grid.add_row("  deviation of the first", *(f"{value:.3f}" for value in asdict(result.deviation).values()))
    show_table(grid)


def show_conversations(counts: list[TopicCount], seed: int, titles: int, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps([asdict(count) for count in counts], ensure_ascii=False))
        return
    names = ("messages", "topics", "the largest", "titles that say nothing")
    grid = table("conversation", *names, right=names)
    for count in counts:
        shares = (f"{100 * count.largest:.1f} %", f"{100 * len(count.empty_titles) / count.topics:.1f} %")
        grid.add_row(count.name, str(count.messages), str(count.topics), *shares)
    show_table(grid)
    all_titles = [(count.name, title, size) for count in counts for title, size in count.titles]
    for name, title, size in random.Random(seed).sample(all_titles, min(titles, len(all_titles))):
        click.echo(f"{name} {size:4} {printable(title)}")
