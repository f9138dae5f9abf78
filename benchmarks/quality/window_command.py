"""`python -m benchmarks window`: what was just said is in the context word for word."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quality.recall_command import percentile, shown_progress

if TYPE_CHECKING:
    from quality.window import Asked


@click.command()
@click.option(
    "--data",
    "files",
    required=True,
    multiple=True,
    type=click.Path(path_type=Path),
    help="A file of LoCoMo or LongMemEval.",
)
@click.option("--part", type=click.Choice(["tune", "report", "all"]), default="all", help="Which part of the set.")
@click.option("--questions", "limit", type=click.IntRange(min=1), help="Ask only so many, drawn by their ids.")
@click.option("--seed", type=int, default=0, help="Draws how many messages after the evidence a question is asked.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each file.")
def window(files: tuple[Path, ...], part: str, limit: int | None, seed: int, as_json: bool) -> None:
    """Cut conversations shortly after the evidence of a question, ask there, and look for the evidence in the context.

    \b
    python -m benchmarks window --data locomo10.json
    """
    from quality.datasets import load, sample, select
    from quality.window import evaluate

    for file in files:
        dataset = select(load(file), "tune" if part == "tune" else "report" if part == "report" else "all")
        dataset = dataset if limit is None else sample(dataset, limit)
        start = time.monotonic()
        with shown_progress(dataset) as report:
            answers = evaluate(dataset, seed, report)
        result = as_object(answers, file, part, time.monotonic() - start)
        click.echo(json.dumps(result, ensure_ascii=False) if as_json else as_lines(result))


def as_object(answers: list[Asked], file: Path, part: str, seconds: float) -> dict[str, Any]:
    """The figures of one file, by the way in which the context was built."""
    ways: dict[str, Any] = {}
    for way in dict.fromkeys(answer.way for answer in answers):
        chosen = [answer for answer in answers if answer.way == way]
        missing = [answer for answer in chosen if answer.missing]
        times = [answer.seconds for answer in chosen]
        ways[way] = {
            "questions": len(chosen),
            "share": round(1 - len(missing) / len(chosen), 4),
            "tokens": round(sum(answer.tokens for answer in chosen) / len(chosen), 1),
            "context_p50": round(percentile(times, 0.5), 5),
            "context_p95": round(percentile(times, 0.95), 5),
            "missing": {answer.question: list(answer.missing) for answer in missing},
        }
    return {"file": file.name, "part": part, "seconds": round(seconds, 1), "ways": ways}


def as_lines(result: dict[str, Any]) -> str:
    lines = [f"{result['file']} (part: {result['part']}), {result['seconds']:.0f} s"]
    for way, figures in result["ways"].items():
        lines.append(
            f"{way}: evidence word for word {100 * figures['share']:.1f} % of {figures['questions']} questions, "
            f"{figures['tokens']:,.0f} tokens, context p50 {1000 * figures['context_p50']:.1f} ms, "
            f"p95 {1000 * figures['context_p95']:.1f} ms"
        )
    return "\n".join(lines)
