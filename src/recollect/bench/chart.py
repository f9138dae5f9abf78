"""Curves as a person can look at them: on a terminal in plain characters, and as a picture in SVG.

Both draw the same thing: some lines over one axis that begins at zero, with round numbers at both axes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 64, 16  # characters of a plot on a terminal
PAGE = (760, 460)  # units of the picture
EDGE = (78, 64, 20, 60)  # left, top, right, bottom
TICKS = 5


@dataclass(frozen=True, slots=True)
class Curve:
    """A line: its name, how it is drawn (a character, a colour), and its values at each place."""

    name: str
    mark: str
    colour: str
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class Chart:
    """Curves over the same places of the horizontal axis; `mark` is a place to point out, with what to say there."""

    title: str
    across: str
    up: str
    places: Sequence[int]
    curves: Sequence[Curve]
    mark: tuple[int, str] | None = None

    @property
    def highest(self) -> float:
        return max((value for curve in self.curves for value in curve.values), default=0) or 1

    @property
    def last(self) -> int:
        return max(self.places, default=1)


def ticks(most: float, about: int = TICKS) -> list[float]:
    """Round numbers from zero to `most`, about so many steps apart."""
    rough = most / about
    unit = 10 ** math.floor(math.log10(rough)) if rough > 0 else 1
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough * 0.75)
    return [step * n for n in range(int(most / step + 1e-9) + 1)]


def short(number: float) -> str:
    """A number as a tick shows it: 500, 20k, 1.5M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:g}{letter}"
    return f"{number:g}"


def plotted(chart: Chart, width: int = WIDTH, height: int = HEIGHT) -> str:
    """The chart in plain characters; where curves meet, the last one is seen."""
    grid = [[" "] * width for _ in range(height)]
    for curve in chart.curves:
        for column in range(width):
            place = column / (width - 1) * chart.last
            level = value_at(chart.places, curve.values, place)
            if level is not None:
                grid[round(level / chart.highest * (height - 1))][column] = curve.mark
    labels = {round(tick / chart.highest * (height - 1)): short(tick) for tick in ticks(chart.highest)}
    lines = [f"{labels.get(row, ''):>7} |{''.join(grid[row]).rstrip()}" for row in reversed(range(height))]
    under = [" "] * (width + 8)
    for tick in ticks(chart.last):
        at, text = round(tick / chart.last * (width - 1)), short(tick)
        under[at : at + len(text)] = text
    legend = "   ".join(f"{curve.mark} {curve.name}" for curve in chart.curves)
    axis = f"{'':>7} +{'-' * width}"
    return "\n".join(
        [chart.title, *lines, axis, f"{'':>9}{''.join(under).rstrip()}  {chart.across}", f"{'':>9}{legend}"]
    )


def value_at(places: Sequence[int], values: Sequence[float], place: float) -> float | None:
    """The height of a curve at a place, between two values on the line that joins them; None before its beginning."""
    if not places or place < places[0]:
        return None
    for (left, low), (right, high) in zip(
        zip(places, values, strict=True), zip(places[1:], values[1:], strict=True), strict=False
    ):
        if place <= right:
            return low + (high - low) * (place - left) / (right - left)
    return values[-1] if place <= places[-1] else None


def svg(chart: Chart) -> str:
    """The chart as a picture of its own, readable on a light and on a dark page."""
    (wide, high), (left, top, right, bottom) = PAGE, EDGE
    across, up = wide - left - right, high - top - bottom

    def x(place: float) -> str:
        return f"{left + place / chart.last * across:.1f}"

    def y(value: float) -> str:
        return f"{top + up - value / chart.highest * up:.1f}"

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" '
        'font-family="system-ui, sans-serif" font-size="13" fill="#333">',
        f'<rect width="{wide}" height="{high}" fill="#fff"/>',
        f'<text x="{left}" y="26" font-size="16" font-weight="600">{escape(chart.title)}</text>',
    ]
    for tick in ticks(chart.highest):
        parts.append(f'<path d="M{left} {y(tick)}H{wide - right}" stroke="#e4e4e4"/>')
        parts.append(f'<text x="{left - 8}" y="{y(tick)}" dy="4" text-anchor="end">{short(tick)}</text>')
    for tick in ticks(chart.last):
        parts.append(f'<text x="{x(tick)}" y="{top + up + 20}" text-anchor="middle">{short(tick)}</text>')
    parts.append(f'<path d="M{left} {top}V{top + up}H{wide - right}" fill="none" stroke="#888"/>')
    parts.append(
        f'<text x="{left + across / 2:.0f}" y="{high - 14}" text-anchor="middle">{escape(chart.across)}</text>'
        f'<text transform="translate(20 {top + up / 2:.0f}) rotate(-90)" text-anchor="middle">{escape(chart.up)}</text>'
    )
    for curve in chart.curves:
        points = " ".join(f"{x(p)},{y(v)}" for p, v in zip(chart.places, curve.values, strict=True))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{curve.colour}" stroke-width="2.2"/>')
    for number, curve in enumerate(chart.curves):
        at = top + 12 + 22 * number
        parts.append(f'<path d="M{left + 16} {at}h26" stroke="{curve.colour}" stroke-width="3"/>')
        parts.append(f'<text x="{left + 50}" y="{at}" dy="4">{escape(curve.name)}</text>')
    if chart.mark is not None:
        place, words = chart.mark
        parts.append(f'<path d="M{x(place)} {top}V{top + up}" stroke="#888" stroke-dasharray="4 4"/>')
        near = 'text-anchor="end" dx="-6"' if place > chart.last / 2 else 'dx="6"'
        parts.append(f'<text x="{x(place)}" y="{top + up - 10}" {near} fill="#666">{escape(words)}</text>')
    return "\n".join([*parts, "</svg>\n"])
