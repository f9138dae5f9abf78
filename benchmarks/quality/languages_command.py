"""`python -m benchmarks languages`: the memory in other languages, as a table or as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from everword.cli.options import printable
from everword.cli.output import progress_bar, show_table, table

if TYPE_CHECKING:
    from quality.languages import Measured

COLUMNS = {
    "own": "own language",
    "english": "asked in English",
    "in_context": "in context",
    "unrelated": "unrelated: empty",
    "facts": "facts",
    "facts_a_message": "facts a message",
    "times": "times",
    "commands": "commands",
    "false_commands": "false commands",
    "topics": "topics",
    "largest_topic": "largest",
}


@click.command()
@click.option(
    "--data", "folder", required=True, type=click.Path(path_type=Path), help="A folder with one chat a language."
)
@click.option("--language", "languages", multiple=True, metavar="CODE", help="Only this language; repeatable.")
@click.option("--embedder", default="static", show_default=True, help="What makes vectors, as in the settings.")
@click.option("--show", "details", is_flag=True, help="Print the facts, the titles, and what was not read right.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a language.")
def languages(folder: Path, languages: tuple[str, ...], embedder: str, details: bool, as_json: bool) -> None:
    """Measure search, contexts, facts, times, commands and topics in other languages.

    Each file of the folder is a chat of one user, kept without a model. Own language and English: the share of the
    evidence in the first ten hits. In context: all evidence of a question in the default context of a new chat.
    Unrelated: prompts that have nothing to do with the chat and retrieve nothing. Facts: those of the file that a fact
    covers. Times and commands: those of the file that are read right. Largest: the share of the largest topic.

    \b
    python -m benchmarks languages --data languages
    python -m benchmarks languages --data languages --language de --language zh --show
    """
    from quality.languages import load_chats, measure_languages

    chats = load_chats(folder, languages)
    with progress_bar("{task.completed} of {task.total} chats", visible=not as_json) as bar:
        task = bar.add_task("languages", total=len(chats))
        results = list(measure_languages(chats, embedder, lambda: bar.advance(task)))
    if as_json:
        for result in results:
            click.echo(json.dumps(as_object(result), ensure_ascii=False))
        return
    show(results)
    if details:
        for result in results:
            show_details(result)


def as_object(result: Measured) -> dict[str, Any]:
    known = [{"category": fact.category, "key": fact.key, "value": fact.value} for fact in result.known]
    return {**asdict(result), "known": known}


def show(results: list[Measured]) -> None:
    grid = table("", *COLUMNS.values(), right=tuple(COLUMNS.values()))
    for result in results:
        grid.add_row(result.language, *(written(name, getattr(result, name)) for name in COLUMNS))
    means = {name: sum(getattr(result, name) for result in results) / len(results) for name in COLUMNS}
    grid.add_row("mean", *(written(name, float(value)) for name, value in means.items()))
    show_table(grid)


def written(name: str, value: float) -> str:
    return f"{value:.2f}" if name == "facts_a_message" else f"{value:.1f}" if isinstance(value, float) else str(value)


def show_details(result: Measured) -> None:
    click.echo(f"\n{result.language}")
    for title in result.titles:
        click.echo(f"   topic   {printable(title)}")
    for fact in result.known:
        about = f"{fact.subject}: " if fact.subject else ""
        click.echo(f"   fact    {fact.category}/{fact.key} = {printable(about + fact.value)}")
    for text in result.wrong:
        click.echo(f"   wrong   {printable(text)}")
