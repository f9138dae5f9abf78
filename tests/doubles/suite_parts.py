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
    "server": 156, "stores": 77, "cli": 55, "bench": 23, "models": 21, "formats": 18, "test_machine": 17, "bots": 16,
    "test_episodes": 13, "test_every_rule": 12, "test_access": 10, "test_worth": 9, "test_injection": 9,
    "test_input": 8, "test_context": 8, "test_damage": 7, "test_facts_last": 7, "test_long": 7,
    "test_several_processes": 7, "test_members": 7, "test_hooks": 7, "test_tokens": 6, "test_facts_life": 6,
    "test_profile": 6, "test_erase": 6, "test_pattern_words": 6, "test_outages": 5, "test_scope_index": 5,
    "test_topics": 5, "test_digests": 5, "test_person_names": 5, "test_kill": 5, "test_copy": 4, "test_turn": 4,
    "test_last_messages": 4, "test_terms": 4, "test_topics_many": 4, "test_secrets": 4, "test_expire": 4,
    "test_lines_shown": 4, "test_delete": 4, "test_leases": 4, "test_tiers": 4, "test_wrong_types": 4,
    "test_pack_facts": 4, "test_retention": 4, "test_window_context": 4, "test_facts_backlog": 4,
    "test_delete_processes": 4, "test_fairness": 3, "test_webhooks": 3, "test_set_aside": 3, "test_move": 3,
    "test_faces": 3, "test_own_words": 3, "test_known_episodes": 3, "test_branches": 3, "test_speakers": 3,
    "test_edit": 3, "test_telemetry": 3, "test_floor": 3, "test_search": 3, "test_fences": 3, "test_reply_threads": 3,
    "test_followers": 3, "test_first_reading": 2, "test_facts": 2, "test_delete_by_hand": 2, "test_lease": 2,
    "test_stream": 2, "test_commands": 2, "test_import": 2, "test_digests_failing": 2, "test_audience": 2,
    "test_fact_changes": 2, "test_reply_filter": 2, "test_support": 2, "test_bounded": 2, "test_follow_up": 2,
    "test_slot_facts": 2, "test_known_facts": 2, "test_patience": 2, "test_build": 2,
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
