"""The suite in parts of about equal length, each a process of its own: `pytest --part 1/3`.

A part imports only its own test files. A folder, whose files share their imports, is in one part; the files of the
engine, which are half of the suite, are dealt out one by one.
"""

from __future__ import annotations

import heapq
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parents[1]
DEALT = "engine"  # the folder whose files are in several parts

# Seconds of processor time, measured; what is not listed takes USUAL. Parts are only as equal as these are true.
USUAL = 3
SECONDS = {
    "server": 95, "rules": 60, "stores": 50, "cli": 50, "llm": 22, "project": 18, "bench": 18, "bots": 15,
    "adapters": 13, "formats": 11, "tasks": 8, "language": 6, "embed": 6,
    "test_engine_machine": 55, "web": 40, "test_engine_long": 25, "test_engine_kill": 14, "test_engine_episodes": 13,
    "test_engine_injection": 12, "test_engine_access": 10, "test_engine_held": 9, "test_engine_digests": 8,
    "test_engine_input": 7, "test_engine_move": 6, "test_engine_damage": 6, "test_engine_context": 6,
    "test_engine_delete": 6, "test_engine_window_context": 6, "test_engine_audience": 6, "test_engine_scope": 6,
    "test_engine_digests_failing": 6, "test_engine_expire": 5, "test_engine_topics": 5, "test_engine_followers": 5,
    "test_engine_set_aside": 5, "test_engine_retention": 5, "test_engine_outages": 5, "test_engine_faces": 5,
}  # fmt: skip


@cache
def part_of(unit: str, parts: int) -> int:
    """The number of the part, from 1, that a unit is in."""
    return deal_out(parts)[unit]


@cache
def deal_out(parts: int) -> dict[str, int]:
    """Each unit's part: the longest first, each to the part that is shortest so far."""
    units = {unit_of(file) for file in TESTS.rglob("test_*.py")}
    loads = [(0, number) for number in range(1, parts + 1)]
    dealt = dict[str, int]()
    for unit in sorted(units, key=lambda unit: (-SECONDS.get(unit, USUAL), unit)):
        load, number = heapq.heappop(loads)
        dealt[unit] = number
        heapq.heappush(loads, (load + SECONDS.get(unit, USUAL), number))
    return dealt


def unit_of(file: Path) -> str:
    folder = file.relative_to(TESTS).parts[0]
    return file.stem if folder == DEALT else folder


def parse_part(text: str) -> tuple[int, int]:
    """`2/3` is the second of three."""
    number, _, parts = text.partition("/")
    if not 1 <= int(number) <= int(parts):
        raise ValueError(f"there is no part {text}")
    return int(number), int(parts)


def is_elsewhere(file: Path, part: tuple[int, int] | None) -> bool:
    """Whether a file of tests is in another part than the one that was asked for."""
    if part is None or not (file.name.startswith("test_") and file.suffix == ".py" and file.is_relative_to(TESTS)):
        return False
    return part_of(unit_of(file), part[1]) != part[0]
