"""`recollect bench`: measurements anybody can repeat. `tokens` counts what a conversation costs, three ways."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.options import printable
from recollect.cli.progress import progress_bar
from recollect.cli.show import console, plural, show_table, table

if TYPE_CHECKING:
    from recollect.bench.chart import Chart
    from recollect.bench.tokens import ExchangeCost, TokenReport
    from recollect.model import Budget

FIRST_ROWS = (5, 10, 15, 20)
FULL = "full history"
OURS = "recollect"


@click.group()
def bench() -> None:
    """Measure what memory costs.

    \b
    recollect bench tokens
    """


def parse_budget(ctx: click.Context, param: click.Parameter, value: str) -> Budget:
    """Parse a budget: `default`, `compact`, or a number of tokens."""
    from recollect.model import Budget

    if value in ("default", "compact"):
        return Budget() if value == "default" else Budget.compact()
    if not value.isdecimal() or not int(value):
        raise click.BadParameter(f"{value!r} is no budget: write default, compact, or a number of tokens", ctx, param)
    return Budget(total=int(value))


@bench.command()
@click.option("--data", type=click.Path(path_type=Path), metavar="FILE", help="A chat to replay instead of our own.")
@click.option("--conversation", metavar="ID", help="Which one of the file.  [default: the longest]")
@click.option("--turns", type=click.IntRange(2), default=200, help="Replay at most this many messages.")
@click.option("--budget", callback=parse_budget, default="default", help="A context's: default, compact, or tokens.")
@click.option("--window", type=click.IntRange(1), default=20, help="Messages of the sliding window.")
@click.option("--system", default="", metavar="TEXT", help="A system prompt, sent each way.")
@click.option("--tiers", type=click.Choice(["inline", "apart"]), default="inline", help="Who writes tiers, and when.")
@click.option(
    "--ask-every",
    type=click.IntRange(0),
    default=0,
    help="The model asks for more once in N exchanges. 0: never.",
    metavar="N",
)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.svg", help="Draw it, too.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object with every step.")
def tokens(
    data: Path | None,
    conversation: str | None,
    turns: int,
    budget: Budget,
    window: int,
    system: str,
    tiers: str,
    ask_every: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Count the tokens of a long chat, and say from when on memory pays.

    A chat is replayed turn by turn through the real engine, in a temporary store, and what a model would read and write
    is added up for three ways to run it: sending the full history each time, a sliding window of the last messages,
    and recollect, with its instructions and the making of tiers. No model is asked: the recorded replies are given,
    with tiers by the built-in writer, `inline` in the reply or `apart` in calls of the memory model. A turn is a
    message; an exchange is a user's message and its reply.

    Without --data it is a chat about Python's standard library, answered by its own documentation. --data takes
    whatever `recollect import` reads.

    \b
    recollect bench tokens --out tokens.svg
    recollect bench tokens --data conversations.json --turns 400 --budget compact
    """
    from recollect.bench import chart
    from recollect.bench.talks import python_transcript, read_transcript
    from recollect.bench.tokens import Plan, replay
    from recollect.errors import InvalidInput

    if data is None and conversation is not None:
        raise InvalidInput("conversation", "is of a file: name it with --data")
    transcript = python_transcript(turns) if data is None else read_transcript(data, conversation).first_turns(turns)
    plan = Plan(budget, window, tiers == "inline", ask_every, system)
    with progress_bar("{task.completed} of {task.total} exchanges", visible=not as_json) as bar:
        task = bar.add_task("replaying", total=len(transcript.exchanges))
        report = replay(transcript, plan, on_exchange=lambda number: bar.update(task, completed=number))
    cost_chart = build_chart(report)
    if out is not None:
        out.write_text(chart.draw_svg(cost_chart), encoding="utf-8")
    if as_json:
        click.echo(json.dumps(report_fields(report), ensure_ascii=False))
        return
    show_costs(report)
    click.echo()
    click.echo(chart.draw_text(cost_chart))
    click.echo()
    show_conclusion(report)
    if out is not None:
        click.echo(f"Drawn in {out}.")


def show_costs(report: TokenReport) -> None:
    """Print what was replayed, and the tokens spent up to some of its turns."""
    exchanges = len(report.steps)
    plan = report.plan
    mean_reply = sum(step.reply for step in report.steps) / exchanges
    click.echo(
        f"Replayed: {printable(report.transcript.about)}; {plural(2 * exchanges, 'message')} in "
        f"{plural(exchanges, 'exchange')}, replies of {mean_reply:,.0f} tokens on average ({report.tokenizer})."
    )
    makes = "writes tiers with each reply" if plan.inline else "is joined by a memory model that writes tiers"
    asks = f"asks for a full text every {plan.ask_every} exchanges" if plan.ask_every else "never asks for more"
    click.echo(f"The model {makes} and {asks}. Tokens spent so far, read and written:\n")
    names = ("turn", "exchange", FULL, sliding_name(report), OURS, "of full history", "written for tiers")
    grid = table(*names, right=names)
    full, sliding, ours = (report.running_totals(way) for way in ("full", "sliding", "ours"))
    tier_tokens = 0
    rows = set(table_steps(report))
    for place, step in enumerate(report.steps):
        tier_tokens += step.beside + step.memory
        if step in rows:
            cells = (step.turn, step.exchange, full[place], sliding[place], ours[place])
            grid.add_row(*(f"{cell:,}" for cell in cells), f"{ours[place] / full[place]:.0%}", f"{tier_tokens:,}")
    show_table(grid)


def sliding_name(report: TokenReport) -> str:
    return f"last {plural(report.plan.window, 'message')}"


def table_steps(report: TokenReport) -> list[ExchangeCost]:
    """The steps at turns 5, 10, 15, 20, 50, 100, 200, 500, …, and the last."""
    turns = set(FIRST_ROWS)
    size = 10
    while size <= report.steps[-1].turn:
        turns |= {5 * size, 10 * size, 20 * size}
        size *= 10
    # An even turn is a reply: it is paid for when its question is answered.
    return [step for step in report.steps if turns & {step.turn, step.turn + 1} or step is report.steps[-1]]


def build_chart(report: TokenReport) -> Chart:
    from recollect.bench.chart import Chart, Curve

    crossing = report.crossing
    return Chart(
        title="Tokens spent, read and written, up to each turn",
        x_label="turn (message)",
        y_label="tokens",
        places=[step.turn for step in report.steps],
        curves=[
            Curve(FULL, "o", "#b8402a", report.running_totals("full")),
            Curve(sliding_name(report), ".", "#8a8f98", report.running_totals("sliding")),
            Curve(OURS, "#", "#1f6fb5", report.running_totals("ours")),
        ],
        mark=None if crossing is None else (crossing.turn, f"less than the full history from turn {crossing.turn}"),
    )


def show_conclusion(report: TokenReport) -> None:
    """Print the crossing and the totals, in a sentence each."""
    out = console()
    crossing = report.crossing
    full, sliding, ours = (report.running_totals(way)[-1] for way in ("full", "sliding", "ours"))
    if crossing is None:
        out.print("Not below the full history by the end: the chat is too short, or its messages are.", style="bold")
    else:
        out.print(f"Below the full history from turn {crossing.turn} on (exchange {crossing.exchange}).", style="bold")
    calls = sum(step.calls for step in report.steps)
    out.print(
        f"In all: {FULL} {full:,} tokens, {sliding_name(report)} {sliding:,}, {OURS} {ours:,} in "
        f"{plural(calls, 'call')}: {ours / full:.0%} of the full history, {full / ours:.1f} times less."
        if ours <= full
        else f"In all: {FULL} {full:,} tokens, {sliding_name(report)} {sliding:,}, {OURS} {ours:,}."
    )
    if other := sum(step.other for step in report.steps):
        out.print(f"Not in it: summaries and the like, at most {other:,} tokens of the memory model; none without one.")
    out.print("The sliding window forgets what left it; the other two do not.")


def report_fields(report: TokenReport) -> dict[str, Any]:
    crossing = report.crossing
    totals = {way: report.running_totals(way)[-1] for way in ("full", "sliding", "ours")}
    names = ("turn", "exchange", "full", "sliding", "ours", "prompt", "reply", "beside", "memory", "other", "calls")
    return {
        "replayed": report.transcript.about,
        "tokenizer": report.tokenizer,
        "window": report.plan.window,
        "budget": report.plan.budget.total,
        "crossing": None if crossing is None else {"turn": crossing.turn, "exchange": crossing.exchange},
        "totals": totals,
        "ratio": totals["ours"] / totals["full"],
        "steps": [{name: getattr(step, name) for name in names} for step in report.steps],
    }
