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
    "server": 134, "stores": 55, "cli": 40, "test_machine": 28, "models": 18, "bench": 16, "formats": 12,
    "test_episodes": 12, "bots": 11, "test_every_rule": 11, "test_long": 10, "test_injection": 9, "test_kill": 9,
    "test_access": 8, "test_input": 8, "test_delete_by_hand": 8, "test_digests": 8, "test_context": 8,
    "test_secrets": 7, "test_tokens": 6, "test_damage": 6, "test_pattern_words": 6, "test_delete": 6,
    "test_topics": 6, "test_move": 5, "test_own_words": 5, "test_set_aside": 5, "test_expire": 5, "test_outages": 5,
    "test_scope_index": 5, "test_retention": 5, "test_last_messages": 5, "test_worth": 5, "test_faces": 4,
    "test_erase": 4, "test_fairness": 4, "test_tiers": 4, "test_turn": 4, "test_facts_life": 4, "test_profile": 4,
    "test_wrong_types": 4, "test_window_context": 4, "test_floor": 4, "test_fences": 4, "test_edit": 4,
    "test_audience": 4, "test_speakers": 4, "test_person_names": 4, "test_followers": 3, "test_terms": 3,
    "test_facts": 3, "test_branches": 3, "test_copy": 3, "test_build": 3, "test_facts_backlog": 3, "test_members": 3,
    "test_finder": 3, "test_known_episodes": 3, "test_facts_last": 3, "test_topics_many": 3, "test_import": 3,
    "test_erase_traces": 3, "test_fact_changes": 3, "test_lines_shown": 3, "test_stream": 3,
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
