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
    folder: folder for folder in ("server", "stores", "cli", "models", "formats", "bench", "bots")
}
# Files in the part of a folder, since they start what its tests start: PostgreSQL, processes to fork others from, or
# everword's server.
BESIDE = dict.fromkeys(
    (
        *("test_copy", "test_damage", "test_delete", "test_delete_processes", "test_digests", "test_digests_failing"),
        *("test_documents", "test_edit", "test_erase", "test_erase_traces", "test_expire", "test_faces"),
        *("test_facts_last", "test_hooks", "test_import", "test_input", "test_kill", "test_lease", "test_leases"),
        *("test_machine", "test_members", "test_move", "test_profile", "test_retention", "test_scope_index"),
        *("test_search", "test_several_processes", "test_telemetry", "test_topics_many", "test_webhooks"),
    ),
    "stores",
) | dict.fromkeys(("test_person_names", "test_replies", "test_wrong_types"), "server")

PAGES = "test_web_"  # the dashboard's, apart from the others of the server: the browser takes as long as many of them

# Seconds of the processor, PostgreSQL's and the browser's among them; what is not listed takes USUAL. Parts are as
# equal as this is true.
USUAL = 0.4
SECONDS = {
    "stores": 140, "server": 94, "test_web_": 46, "cli": 34, "bench": 19, "models": 19, "bots": 16, "formats": 11,
    "test_every_rule": 9, "test_access": 7, "test_long": 7, "test_injection": 6, "test_secrets": 5,
    "test_outages": 5, "test_tokens": 4, "test_episodes": 4, "test_context": 4, "test_turn": 4,
    "test_last_messages": 4, "test_tiers": 4, "test_facts_life": 3, "test_set_aside": 3, "test_own_words": 3,
    "test_terms": 3, "test_topics": 3, "test_facts_backlog": 3, "test_worth": 3, "test_first_reading": 3,
    "test_branches": 2, "test_reply_threads": 2, "test_delete_by_hand": 2, "test_pack_facts": 2, "test_commands": 2,
    "test_pattern_words": 2, "test_reply_filter": 2, "test_followers": 2, "test_fairness": 2,
    "test_fact_changes": 2, "test_window_context": 2, "test_stream": 2, "test_speakers": 2, "test_build": 2,
    "test_secrets_in_texts": 2, "test_fences": 2, "test_floor": 2, "test_bounded": 2, "test_audience": 2,
    "test_commands_in_languages": 2,
}  # fmt: skip


@cache
def part_of(unit: str, parts: int) -> int:
    """The number of the part, from 1, that a unit is in."""
    return deal_out(parts)[unit]


@cache
def deal_out(parts: int) -> dict[str, int]:
    """Each unit's part: the longest first, each to the part that is shortest so far."""
    units = {unit_of(file) for file in TESTS.rglob("test_*.py")}
    loads = [(0.0, number) for number in range(1, parts + 1)]
    dealt = dict[str, int]()
    for unit in sorted(units, key=lambda unit: (-SECONDS.get(unit, USUAL), unit)):
        load, number = heapq.heappop(loads)
        dealt[unit] = number
        heapq.heappush(loads, (load + SECONDS.get(unit, USUAL), number))
    return dealt


def unit_of(file: Path) -> str:
    if file.stem.startswith(PAGES):
        return PAGES
    folder = file.relative_to(TESTS).parts[0]
    return WHOLE.get(folder) or BESIDE.get(file.stem, file.stem)


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
