"""Asks a model once about facts that the lines do not say: to correct them in the words of the lines, or to leave them
out. What is not corrected stays refused."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from everword.errors import ModelNonsense
from everword.facts.prompts import reading
from everword.facts.prompts.reading import LineReader, RefusedInLine, Reply, numbered_lines, read_entries, shown_lines
from everword.facts.rules.grounding import NEAR
from everword.follow.task import DATA, build_request, repair_request
from everword.ports import Request
from everword.text.fences import Fenced, escape_line, section

name = "fact_repair"

MAX_REFUSED = 12
"""Facts that are asked about in one call; the others stay refused."""
_FACT_TOKENS = 110


@dataclass(frozen=True, slots=True)
class Inputs:
    """The lines that were read, and what was refused in them."""

    lines: reading.Inputs
    refused: tuple[RefusedInLine, ...]


_SYSTEM = f"""You noted facts from a chat for a memory. Some are not in the lines as you wrote them. Correct each in the
words of the lines, with the number of the line that says it, or leave it out. Never guess.
{DATA}
Answer with JSON only: {{"facts": [...]}}, each with line, about, category, key, value, importance, and from, until
(YYYY-MM-DD), status ("corrected", "ended", "not") and confidence where they apply."""


def choose_lines(inputs: Inputs) -> tuple[Inputs, tuple[int, ...]]:
    """Only the lines that the refused facts are about, each with those before it; and their places among all lines."""
    refused = inputs.refused[:MAX_REFUSED]
    sources = {fact.place for fact in refused}
    places = sorted({place for source in sources for place in range(max(source - NEAR, 0), source + 1)})
    lines = tuple(
        replace(inputs.lines.lines[place], is_new=inputs.lines.lines[place].is_new and place in sources)
        for place in places
    )
    moved = tuple(replace(fact, place=places.index(fact.place)) for fact in refused)
    return Inputs(reading.Inputs(lines), moved), tuple(places)


def build(inputs: Inputs) -> Request:
    chosen, _ = choose_lines(inputs)
    numbers = [number for number, _ in numbered_lines(chosen.lines.lines)]
    entries = [
        Fenced(f"{json.dumps(_entry(refused, numbers[refused.place]), ensure_ascii=False)} {_reason(refused)}")
        for refused in chosen.refused
    ]
    return build_request(
        _SYSTEM,
        f"{section('LINES', [*shown_lines(chosen.lines.lines)], between=chr(10))}\n"
        f"{section('REFUSED', entries, between=chr(10))}",
        max_tokens=200 + _FACT_TOKENS * len(chosen.refused),
        schema=reading.SCHEMA,
    )


def parse(text: str, inputs: Inputs) -> Reply:
    chosen, places = choose_lines(inputs)
    reader = LineReader(chosen.lines.lines)
    for entry in read_entries(text)[: 2 * MAX_REFUSED]:
        reader.read_entry(entry)
    reply = reader.reply()
    by_rules = {_slot(found) for found in reading.offline(chosen.lines).facts}  # they are known from the reading
    facts = [
        replace(found, place=places[found.place], question=None if found.question is None else places[found.question])
        for found in reply.facts
        if _slot(found) not in by_rules
    ]
    return Reply(tuple(facts), tuple(replace(refused, place=places[refused.place]) for refused in reply.refused))


def repair(inputs: Inputs, text: str, error: ModelNonsense) -> Request:
    return repair_request(build(inputs), text, error)


def offline(inputs: Inputs) -> Reply:
    return Reply()


def _reason(refused: RefusedInLine) -> Fenced:
    return escape_line(refused.refusal.reason)


def _slot(found: reading.FactInLine) -> tuple[object, ...]:
    return found.place, found.fact.subject, found.fact.category, found.fact.key, found.fact.value


def _entry(refused: RefusedInLine, number: int) -> dict[str, object]:
    fact = refused.fact
    return {
        "line": number,
        "about": escape_line(fact.subject or ""),
        "category": fact.category,
        "key": escape_line(fact.key),
        "value": escape_line(fact.value),
        "from": fact.since.isoformat() if fact.since else "",
    }
