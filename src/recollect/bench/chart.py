"""Draws curves as plain characters for a terminal, and as an SVG picture.

Both show the same: several curves over one horizontal axis that begins at zero, with round numbers on both axes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH = 64  # characters of a plot on a terminal
HEIGHT = 16  # lines of it
PAGE = (760, 460)  # width and height of the picture, in SVG units
EDGE = (78, 64, 20, 60)  # margins: left, top, right, bottom
TICKS = 5


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
    grid = [[" "] * width for _ in range(height)]
    for curve in chart.curves:
        for column in range(width):
            place = column / (width - 1) * chart.last
            level = value_at(chart.places, curve.values, place)
            if level is not None:
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


def value_at(places: Sequence[int], values: Sequence[float], place: float) -> float | None:
    """The value of a curve at a place, interpolated between its points; None before its beginning."""
    if not places or place < places[0]:
        return None
    for (x1, y1), (x2, y2) in zip(
        zip(places, values, strict=True), zip(places[1:], values[1:], strict=True), strict=False
    ):
        if place <= x2:
            return y1 + (y2 - y1) * (place - x1) / (x2 - x1)
    return values[-1] if place <= places[-1] else None


def draw_svg(chart: Chart) -> str:
    """Draw the chart as an SVG picture, readable on a light and on a dark page."""
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
