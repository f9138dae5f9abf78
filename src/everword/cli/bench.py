"""`everword bench`: measurements anybody can repeat. `tokens` counts what a conversation costs, three ways.

The same curves are drawn as plain characters for a terminal, and as an SVG picture.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from everword.cli.options import json_option, parse_budget, printable
from everword.cli.output import console, pick, plural, progress_bar, show_table, table
from everword.errors import InvalidInput

if TYPE_CHECKING:
    from everword.token_bench import ExchangeCost, TokenReport

WIDTH = 64  # characters of a plot on a terminal
HEIGHT = 16  # lines of it
PAGE = (760, 460)  # width and height of the picture, in SVG units
EDGE = (78, 64, 20, 60)  # margins: left, top, right, bottom
TICKS = 5
FIRST_ROWS = (5, 10, 15, 20)
FULL = "full history"
OURS = "everword"


@click.group()
def bench() -> None:
    """Measure how many tokens a memory costs or saves.

    \b
    everword bench tokens
    """


@bench.command()
@click.option(
    "--data", type=click.Path(path_type=Path), metavar="FILE", help="The chat to replay instead of the built-in chat."
)
@click.option("--conversation", metavar="ID", help="The conversation to replay.  [default: the longest]")
@click.option("--turns", type=click.IntRange(2), default=200, help="Replay at most this many messages.")
@click.option(
    "--budget",
    callback=parse_budget,
    default="default",
    help="The most tokens that a context may have: `default`, `compact` or a number.",
)
@click.option("--window", type=click.IntRange(1), default=20, help="How many messages the sliding window contains.")
@click.option("--system", default="", metavar="TEXT", help="A system prompt for all requests to the model.")
@click.option(
    "--tiers",
    type=click.Choice(["inline", "apart"]),
    default="inline",
    help="Whether the model writes short forms of messages in its replies (inline) or in separate calls (apart).",
)
@click.option(
    "--ask-every",
    type=click.IntRange(0),
    default=0,
    help="Once every N exchanges, the model requests the full text of a shortened message (0: never).",
    metavar="N",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.svg",
    help="Draw the numbers of tokens into this SVG file.",
)
@json_option("Print JSON with the numbers of tokens at every step.")
def tokens(
    data: Path | None, conversation: str | None, turns: int, tiers: str, out: Path | None, as_json: bool, **plan: Any
) -> None:
    """Count the tokens of a long chat, and show when a memory saves tokens.

    `everword bench tokens` replays a chat in a temporary store, and counts the tokens that a model would read and write
    in three ways: with the full chat history in each request, with a sliding window of the last messages, and with
    everword's contexts. No model is called: the replies come from the chat. In the results, a turn is one message; an
    exchange is a user's message and its reply.

    Without --data, `everword bench tokens` replays a built-in chat of questions about Python's standard library. --data
    accepts every file that `everword import` reads.

    \b
    everword bench tokens --out tokens.svg
    everword bench tokens --data conversations.json --turns 400 --budget compact
    """
    from everword.token_bench import Plan, python_transcript, read_transcript, replay

    if data is None and conversation is not None:
        raise InvalidInput("conversation", "selects one conversation of a file; give the file with --data")
    transcript = python_transcript(turns) if data is None else read_transcript(data, conversation).first_turns(turns)
    full_plan = Plan(inline=tiers == "inline", **plan)
    with progress_bar("{task.completed} of {task.total} exchanges", visible=not as_json) as bar:
        task = bar.add_task("replaying", total=len(transcript.exchanges))
        report = replay(transcript, full_plan, on_exchange=lambda number: bar.update(task, completed=number))
    cost_chart = build_chart(report)
    if out is not None:
        out.write_text(draw_svg(cost_chart), encoding="utf-8")
    if as_json:
        click.echo(json.dumps(report_fields(report), ensure_ascii=False))
        return
    show_costs(report)
    click.echo()
    click.echo(draw_text(cost_chart))
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
    names = "turn exchange full sliding ours prompt reply beside memory other calls"
    return {
        "replayed": report.transcript.about,
        "tokenizer": report.tokenizer,
        "window": report.plan.window,
        "budget": report.plan.budget.total,
        "crossing": None if crossing is None else pick(crossing, "turn exchange"),
        "totals": totals,
        "ratio": totals["ours"] / totals["full"],
        "steps": [pick(step, names) for step in report.steps],
    }


# -- the chart: curves over one horizontal axis that begins at zero, with round numbers on both axes


@dataclass(frozen=True, slots=True)
class Curve:
    """A curve: its name, how it is drawn (a character, a colour), and its value at each place."""

    name: str
    mark: str
    colour: str
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class Chart:
    """Curves over the same places of the horizontal axis; `mark` is a place to point out, and its label."""

    title: str
    x_label: str
    y_label: str
    places: Sequence[int]
    curves: Sequence[Curve]
    mark: tuple[int, str] | None = None

    @property
    def highest(self) -> float:
        return max((value for curve in self.curves for value in curve.values), default=0) or 1

    @property
    def last(self) -> int:
        return max(self.places, default=1)


def ticks(highest: float, about: int = TICKS) -> list[float]:
    """Round numbers from zero to `highest`, in about this many steps."""
    rough = highest / about
    unit = 10 ** math.floor(math.log10(rough)) if rough > 0 else 1
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough * 0.75)
    return [step * n for n in range(int(highest / step + 1e-9) + 1)]


def short_number(number: float) -> str:
    """A number as a tick shows it: 500, 20k, 1.5M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:g}{letter}"
    return f"{number:g}"


def draw_text(chart: Chart, width: int = WIDTH, height: int = HEIGHT) -> str:
    """Draw the chart in plain characters; where curves meet, the last one is visible."""
    import numpy as np

    columns = np.linspace(0, chart.last, width)
    grid = [[" "] * width for _ in range(height)]
    for curve in chart.curves:
        for column, level in enumerate(np.interp(columns, chart.places, curve.values, left=np.nan)):
            if not np.isnan(level):
                grid[round(level / chart.highest * (height - 1))][column] = curve.mark
    labels = {round(tick / chart.highest * (height - 1)): short_number(tick) for tick in ticks(chart.highest)}
    lines = [f"{labels.get(row, ''):>7} |{''.join(grid[row]).rstrip()}" for row in reversed(range(height))]
    axis_labels = [" "] * (width + 8)
    for tick in ticks(chart.last):
        position = round(tick / chart.last * (width - 1))
        text = short_number(tick)
        axis_labels[position : position + len(text)] = text
    legend = "   ".join(f"{curve.mark} {curve.name}" for curve in chart.curves)
    axis = f"{'':>7} +{'-' * width}"
    return "\n".join(
        [chart.title, *lines, axis, f"{'':>9}{''.join(axis_labels).rstrip()}  {chart.x_label}", f"{'':>9}{legend}"]
    )


def draw_svg(chart: Chart) -> str:
    """Draw the chart as an SVG picture, readable on a light and on a dark page."""
    from html import escape

    (width, height) = PAGE
    (margin_left, margin_top, margin_right, margin_bottom) = EDGE
    plot_width = width - margin_left - margin_right
    plot_height = height - margin_top - margin_bottom
    plot_end = margin_top + plot_height
    x_end = width - margin_right

    def x(place: float) -> str:
        return f"{margin_left + place / chart.last * plot_width:.1f}"

    def y(value: float) -> str:
        return f"{plot_end - value / chart.highest * plot_height:.1f}"

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="system-ui, sans-serif" font-size="13" fill="#333">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="{margin_left}" y="26" font-size="16" font-weight="600">{escape(chart.title)}</text>',
    ]
    for tick in ticks(chart.highest):
        parts.append(f'<path d="M{margin_left} {y(tick)}H{x_end}" stroke="#e4e4e4"/>')
        parts.append(f'<text x="{margin_left - 8}" y="{y(tick)}" dy="4" text-anchor="end">{short_number(tick)}</text>')
    for tick in ticks(chart.last):
        parts.append(f'<text x="{x(tick)}" y="{plot_end + 20}" text-anchor="middle">{short_number(tick)}</text>')
    parts.append(f'<path d="M{margin_left} {margin_top}V{plot_end}H{x_end}" fill="none" stroke="#888"/>')
    parts.append(
        f'<text x="{margin_left + plot_width / 2:.0f}" y="{height - 14}" text-anchor="middle">'
        f"{escape(chart.x_label)}</text>"
        f'<text transform="translate(20 {margin_top + plot_height / 2:.0f}) rotate(-90)" text-anchor="middle">'
        f"{escape(chart.y_label)}</text>"
    )
    for curve in chart.curves:
        points = " ".join(f"{x(place)},{y(value)}" for place, value in zip(chart.places, curve.values, strict=True))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{curve.colour}" stroke-width="2.2"/>')
    for number, curve in enumerate(chart.curves):
        baseline = margin_top + 12 + 22 * number
        parts.append(f'<path d="M{margin_left + 16} {baseline}h26" stroke="{curve.colour}" stroke-width="3"/>')
        parts.append(f'<text x="{margin_left + 50}" y="{baseline}" dy="4">{escape(curve.name)}</text>')
    if chart.mark is not None:
        place, words = chart.mark
        parts.append(f'<path d="M{x(place)} {margin_top}V{plot_end}" stroke="#888" stroke-dasharray="4 4"/>')
        anchor = 'text-anchor="end" dx="-6"' if place > chart.last / 2 else 'dx="6"'
        parts.append(f'<text x="{x(place)}" y="{plot_end - 10}" {anchor} fill="#666">{escape(words)}</text>')
    return "\n".join([*parts, "</svg>\n"])
