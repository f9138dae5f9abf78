"""Plain tables for the benchmarks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def show(title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A table with its columns aligned, readable as Markdown too."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [list(header), *cells]) for i in range(len(header))]
    print(f"\n{title}")
    print("| " + " | ".join(name.ljust(width) for name, width in zip(header, widths, strict=True)) + " |")
    print("|" + "|".join("-" * (width + 2) for width in widths) + "|")
    for row in cells:
        print("| " + " | ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) + " |")


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.2f}"
