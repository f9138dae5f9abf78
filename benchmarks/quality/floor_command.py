"""`python -m benchmarks floor`: whether unrelated messages retrieve nothing, as tables or as JSON."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from everword.cli.options import printable
from everword.cli.output import plural, show_table, table
from quality.recall_command import rounded, show_rows, shown_progress

if TYPE_CHECKING:
    from quality.floor import FloorResult


@click.command()
@click.option(
    "--data",
    "file",
    required=True,
    type=click.Path(path_type=Path),
    help="A file of LoCoMo or LongMemEval as published.",
)
@click.option(
    "--embedder", type=click.Choice(["static", "minilm", "multilingual"]), default="static", help="What makes vectors."
)
@click.option(
    "--part",
    type=click.Choice(["tune", "report", "all"]),
    default="all",
    help="A fixed part of the set: tune on one, report the other.",
)
@click.option("--limit-questions", type=click.IntRange(1), metavar="N", help="Only N questions of the file.")
@click.option("--prompts-only", is_flag=True, help="Ask no questions: several times faster.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object, with the prompts that retrieved something.")
def floor(file: Path, embedder: str, part: str, limit_questions: int | None, prompts_only: bool, as_json: bool) -> None:
    """Measure how often an unrelated message retrieves nothing, and what evidence questions still retrieve.

    The conversations of the file are one user's chats. 300 prompts (general knowledge, code, small talk) are written in
    a new conversation of that user; then the questions of the file are asked. No model is asked.

    \b
    python -m benchmarks floor --data locomo10.json
    python -m benchmarks floor --data longmemeval_oracle.json --prompts-only --json
    """
    from quality.datasets import choose
    from quality.floor import measure_floor

    dataset = choose(file, part, limit_questions)
    start = time.monotonic()
    with shown_progress(dataset) as report:
        result = measure_floor(dataset, embedder, report, questions=not prompts_only)
    seconds = time.monotonic() - start
    if as_json:
        click.echo(json.dumps(as_object(result, file, part, seconds), ensure_ascii=False))
    else:
        show(result, file, part, seconds)


def as_object(result: FloorResult, file: Path, part: str, seconds: float) -> dict[str, Any]:
    return {
        "file": file.name,
        "dataset": result.dataset,
        "part": part,
        "embedder": result.embedder,
        "prompts": len(result.trials),
        "empty": round(result.empty_share(), 6),
        "with_summaries": round(result.summary_share, 6),
        "kinds": {kind: round(result.empty_share(kind), 6) for kind in result.kinds},
        "haystacks": {
            name: round(result.empty_share(haystack=name), 6)
            for name in dict.fromkeys(trial.haystack for trial in result.trials)
        },
        "not_empty": [
            {
                "haystack": trial.haystack,
                "prompt": trial.prompt.text,
                "messages": trial.retrieved,
                "tokens": trial.tokens,
            }
            for trial in result.trials
            if trial.retrieved
        ],
        "questions": len(result.coverage.results),
        "coverage": rounded(result.coverage.table()) if result.coverage.results else None,
        "seconds": round(seconds, 3),
    }


def show(result: FloorResult, file: Path, part: str, seconds: float) -> None:
    from quality.recall import BUDGETS

    click.echo(f"{result.dataset} ({printable(file.name)}, part: {part}), embedder {result.embedder}; in per cent")
    click.echo(f"\nnothing retrieved for an unrelated prompt ({plural(len(result.trials), 'trial')})")
    grid = table("kind", "trials", "nothing retrieved", right=("trials", "nothing retrieved"))
    for kind, count in result.kinds.items():
        grid.add_row(kind, f"{count:,}", f"{100 * result.empty_share(kind):.1f}")
    grid.add_row("all", f"{len(result.trials):,}", f"{100 * result.empty_share():.1f}")
    show_table(grid)
    click.echo(f"a summary of a past episode is shown for {100 * result.summary_share:.1f}")
    if result.coverage.results:
        click.echo(f"\nevidence in a context of so many tokens ({plural(len(result.coverage.results), 'question')})")
        show_rows("method", result.coverage.table().items(), [f"{tokens}" for tokens in BUDGETS])
    click.echo(f"\n{seconds:.0f} s in all\n")
