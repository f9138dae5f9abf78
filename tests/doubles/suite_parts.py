"""The suite in parts of about equal length, each a process of its own: `pytest --part 1/3`.

A part imports only its own test files. Folders whose files import the same large libraries are each in one part; the
files of the others are dealt out one by one.
"""

from __future__ import annotations

import heapq
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parents[1]
# Folders in one part, some of them together, since they import the same libraries.
WHOLE = {"adapters": "server", "project": "server"} | {
    folder: folder for folder in ("server", "cli", "stores", "models", "formats", "bench", "bots")
}

# Seconds of the processor, PostgreSQL's among them; what is not listed takes USUAL. Parts are as equal as this is true.
USUAL = 1
SECONDS = {
    "server": 147, "cli": 45, "stores": 41, "test_machine": 23, "models": 22,
    "formats": 16, "bench": 11, "test_scope_index": 11, "test_access": 10, "bots": 10,
    "test_kill": 9, "test_held": 9, "test_digests": 8, "test_injection": 8,
    "test_input": 8, "test_secrets": 8, "test_long": 8, "test_episodes": 8,
    "test_damage": 7, "test_delete_by_hand": 5, "test_move": 5,
    "test_outages": 5, "test_erase": 4, "test_faces": 4, "test_delete": 4,
    "test_followers": 4, "test_set_aside": 4, "test_topics_many": 4, "test_topics": 4,
    "test_wrong_types": 4, "test_retention": 4, "test_expire": 4, "test_branches": 4,
    "test_copy": 3, "test_profile": 3, "test_last_messages": 3, "test_context": 3,
    "test_floor": 3, "test_facts_life": 3, "test_turn": 3, "test_fairness": 3,
    "test_audience": 3, "test_leases": 3, "test_import": 3, "test_stream": 3,
    "test_edit": 3,
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
    return WHOLE.get(folder, file.stem)


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
