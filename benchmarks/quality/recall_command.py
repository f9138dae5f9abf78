"""`python -m benchmarks recall`: how much of the evidence is found, beside simple methods, as tables or as JSON."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from everword.cli.options import printable
from everword.cli.output import plural, progress_bar, show_table, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quality.datasets import Dataset
    from quality.recall import Evaluation, Progress, Scope

TURNS = ("recall@5", "recall@10", "recall@20", "all@5", "all@10", "all@20", "any@10", "ndcg@10")
EQUAL = 1e-9
SESSIONS = ("session recall@5", "session recall@10", "session all@5", "session all@10", "session any@5")


@click.command()
@click.option(
    "--data",
    "files",
    multiple=True,
    required=True,
    type=click.Path(path_type=Path),
    help="A file of LoCoMo or LongMemEval or a folder of BEAM, as published; repeatable.",
)
@click.option(
    "--embedder", type=click.Choice(["static", "minilm", "multilingual"]), default="static", help="What makes vectors."
)
@click.option(
    "--part",
    type=click.Choice(["tune", "report", "all"]),
    default="all",
    help="A fixed part of each set: tune on one, report the other.",
)
@click.option("--limit-questions", type=click.IntRange(1), metavar="N", help="Only N questions of each file.")
@click.option("--rankings-only", is_flag=True, help="Build no contexts: several times faster.")
@click.option("--check", is_flag=True, help="Fail where a simple method is better, and say where.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a file, with every measure by category.")
def recall(
    files: tuple[Path, ...],
    embedder: str,
    part: str,
    limit_questions: int | None,
    rankings_only: bool,
    check: bool,
    as_json: bool,
) -> None:
    """Measure how much of what answers a question is found.

    Each conversation of the file is kept in a temporary store, and each question is searched for as a user would.
    Simple methods are measured on the same turns, with the same embedder. `recall` is the share of the evidence found,
    `all` how often none of it is missing, `any` how often there is at least some. No model is asked. The data sets are
    not part of everword: see docs/benchmarks.md for where they are published.

    \b
    python -m benchmarks recall --data locomo10.json --part report
    python -m benchmarks recall --data longmemeval_oracle.json --json
    python -m benchmarks recall --data locomo10.json --rankings-only --check
    """
    from quality.datasets import choose
    from quality.recall import evaluate

    chosen = [(file, choose(file, part, limit_questions)) for file in files]
    behind: list[str] = []
    for file, dataset in chosen:
        start = time.monotonic()
        with shown_progress(dataset) as report:
            found = evaluate(dataset, embedder, report, contexts=not rankings_only)
        seconds = time.monotonic() - start
        if as_json:
            click.echo(json.dumps(as_object(found, file, part, seconds), ensure_ascii=False))
        else:
            show(found, file, part, seconds)
        if check:
            behind += [f"{found.dataset}, part {part}, {cell}" for cell in cells_behind(found)]
    if check:
        show_behind(behind)


@contextmanager
def shown_progress(dataset: Dataset) -> Iterator[Progress]:
    with progress_bar("{task.completed:,.0f} of {task.total:,.0f}") as bar:
        task = bar.add_task(dataset.name, total=dataset.questions)

        def report(what: str, done: int) -> None:
            bar.update(task, description=printable(what), advance=done)

        yield report


# -- for programs


def as_object(found: Evaluation, file: Path, part: str, seconds: float) -> dict[str, Any]:
    return {
        "file": file.name,
        "dataset": found.dataset,
        "part": part,
        "embedder": found.embedder,
        "tokenizer": found.tokenizer,
        "haystacks": found.haystacks,
        "sessions": found.sessions,
        "turns": found.turns,
        "questions": found.questions,
        "notes": list(found.notes),
        "ranking": {scope.name: scope_object(scope) for scope in found.scopes},
        "coverage": scope_object(found.coverage) if found.coverage.results else None,
        "seconds": {
            "all": round(seconds, 3),
            "keeping": round(found.keeping, 3),
            "search_p50": round(percentile(found.searches, 0.5), 6),
            "search_p95": round(percentile(found.searches, 0.95), 6),
        },
    }


def scope_object(scope: Scope) -> dict[str, Any]:
    return {
        "questions": len(scope.results),
        "methods": rounded(scope.table()),
        "categories": {
            name: {"questions": count, "methods": rounded(scope.table(name))}
            for name, count in scope.categories.items()
        },
    }


def rounded(methods: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    return {method: {name: round(value, 6) for name, value in values.items()} for method, values in methods.items()}


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


# -- against simple methods


def cells_behind(found: Evaluation) -> list[str]:
    """What is printed for turns and sessions where a simple method is better than ours, with both figures."""
    from quality.recall import OURS

    cells: list[str] = []
    for scope in found.scopes:
        rows = scope.table()
        ours = rows.pop(OURS)
        for measure in (*TURNS, *SESSIONS):
            if measure not in ours or not rows:
                continue
            best = max(rows, key=lambda method: rows[method][measure])
            if rows[best][measure] > ours[measure] + EQUAL:
                figures = f"{100 * ours[measure]:.1f} against {100 * rows[best][measure]:.1f} for {best}"
                cells.append(f"{scope.name}, {measure}: {figures}")
    return cells


def show_behind(cells: Sequence[str]) -> None:
    """Say where a simple method is better, and end with a failure if there is such a place."""
    for cell in cells:
        click.echo(f"behind: {printable(cell)}", err=True)
    if cells:
        raise SystemExit(1)
    click.echo("check: nowhere behind a simple method", err=True)


# -- for people


def show(found: Evaluation, file: Path, part: str, seconds: float) -> None:
    from quality.recall import OURS

    click.echo(
        f"{found.dataset} ({printable(file.name)}, part: {part}): {plural(found.questions, 'question')}, "
        f"{plural(found.haystacks, 'haystack')}, {plural(found.sessions, 'session')}, {plural(found.turns, 'turn')}"
    )
    click.echo(f"embedder {found.embedder}, tokenizer {found.tokenizer}; all figures in per cent")
    for note in found.notes:
        click.echo(f"note: {printable(note)}")
    for scope in found.scopes:
        rows = scope.table()
        judged = sum("recall@5" in result.methods[OURS] for result in scope.results)
        click.echo(f"\nranking {scope.name} ({plural(judged, 'question')} with evidence there)")
        show_rows("method", rows.items(), TURNS)
        click.echo(f"\nsessions, each ranked by the best of its {scope.name}")
        show_rows("method", rows.items(), SESSIONS)
        click.echo(f"\n{OURS}, {scope.name}, by category")
        counts = scope.categories
        show_rows("category", ((f"{name} ({counts[name]})", scope.table(name)[OURS]) for name in counts), TURNS)
    if found.coverage.results:
        show_coverage(found.coverage)
    p50, p95 = (percentile(found.searches, share) * 1_000 for share in (0.5, 0.95))
    spent = f"{seconds:.0f} s in all, {found.keeping:.0f} s of them keeping"
    click.echo(f"\n{spent}; a search p50 {p50:.1f} ms, p95 {p95:.1f} ms\n")


def show_coverage(coverage: Scope) -> None:
    from quality.recall import BUDGETS, OURS

    budgets = [f"{name}{tokens}" for name in ("", "all ") for tokens in BUDGETS]
    click.echo("\nevidence in a context of so many tokens: its share, and how often all of it is there")
    show_rows("method", coverage.table().items(), budgets)
    click.echo(f"\n{OURS}, evidence in a context, by category")
    counts = coverage.categories
    show_rows("category", ((f"{name} ({counts[name]})", coverage.table(name)[OURS]) for name in counts), budgets)


def show_rows(first: str, rows: Iterable[tuple[str, dict[str, float]]], measures: Sequence[str]) -> None:
    names = [name.removeprefix("session ") for name in measures]
    grid = table(first, *names, right=tuple(names))
    for name, values in rows:
        grid.add_row(printable(name), *(f"{100 * values[m]:.1f}" if m in values else "-" for m in measures))
    show_table(grid)
