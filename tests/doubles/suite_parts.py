"""The suite in parts of about equal length, each a process of its own: `pytest --part 1/3`.

A part imports only its own test files. A folder, whose files share their imports, is in one part, and so are folders
that import the same large libraries; the files of the engine, which are half of the suite, are dealt out one by one.
"""

from __future__ import annotations

import heapq
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parents[1]
DEALT = "engine"  # the folder whose files are in several parts
BESIDE = {"adapters": "server", "project": "server"}  # which import the same libraries of others

# Seconds by the clock beside the others; what is not listed takes USUAL. Parts are only as equal as these are true.
USUAL = 2
SECONDS = {
    "server": 150, "stores": 66, "test_engine_machine": 44, "rules": 50, "cli": 55, "web": 32, "project": 23,
    "bots": 21, "llm": 21, "bench": 13, "test_engine_long": 10, "test_engine_held": 9, "test_engine_episodes": 9,
    "test_engine_outages": 8, "test_engine_injection": 8, "test_engine_input": 7, "test_engine_kill": 7, "formats": 16,
    "test_engine_secrets": 7, "test_engine_delete_by_hand": 7, "test_engine_wrong_types": 3,
    "test_engine_digests": 7, "embed": 6, "test_engine_damage": 6, "test_engine_members": 6, "test_engine_access": 6,
    "test_engine_facts_last": 6, "language": 6, "test_engine_delete_processes": 5, "test_engine_erase": 5,
    "test_engine_faces": 5, "test_engine_move": 5, "tasks": 5, "test_engine_copy": 4, "test_engine_profile": 4,
    "test_engine_topics": 4, "test_engine_topics_many": 4, "test_engine_leases": 4, "test_engine_branches": 4,
    "test_engine_expire": 4, "test_engine_retention": 4, "test_engine_delete": 4, "test_engine_followers": 4,
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
    return file.stem if folder == DEALT else BESIDE.get(folder, folder)


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
