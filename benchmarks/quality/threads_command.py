"""`python -m benchmarks threads`: whether the messages of a busy channel are put into the threads that people see."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from everword.cli.output import show_table, table


@click.command()
@click.option("--data", "folder", required=True, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--each", is_flag=True, help="A line for each stretch, too.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def threads(folder: Path, each: bool, as_json: bool) -> None:
    """Measure the threads of a channel against annotated reply links.

    The folder has stretches as Kummerfeld et al. 2019 published them: NAME.raw.txt and NAME.annotation.txt. Beside the
    rule stands a simple one, which follows who is addressed. The weights were learned on the stretches of even place;
    the others are reported for themselves. Last is what a message costs when all stretches are one channel.
    """
    from quality.threads import RULES, cost_of_rule, mean, read_stretches, score

    stretches = read_stretches(folder)
    if not stretches:
        raise click.ClickException(f"{folder} has no NAME.raw.txt; see docs/benchmarks.md")
    rows: list[tuple[str, str, list[object]]] = []
    for name, link in RULES.items():
        scores = [score(stretch, link(stretch)) for stretch in stretches]
        rows += [(name, stretch.name, [entry]) for stretch, entry in zip(stretches, scores, strict=True) if each]
        rows += [(name, "learned on", [mean(scores[::2])]), (name, "others", [mean(scores[1::2] or scores)])]
        rows.append((name, "all", [mean(scores)]))
    people, milliseconds = cost_of_rule(stretches)
    if as_json:
        values = [{"rule": name, "part": part, **asdict(entry)} for name, part, (entry,) in rows]  # type: ignore[call-overload]
        cost = {"people": people, "milliseconds": milliseconds}
        click.echo(json.dumps({"rules": values, "cost": cost}))
        return
    shown = table("", "stretches", "precision", "recall", "F1", "VI")
    for name, part, (entry,) in rows:
        shown.add_row(name, part, *(f"{value:.1f}" for value in asdict(entry).values()))  # type: ignore[call-overload]
    show_table(shown)
    click.echo(f"With {people:,} people a message costs {milliseconds:.2f} ms of the processor, its vector apart.")
