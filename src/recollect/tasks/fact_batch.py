"""Extracts the facts of several messages of one user in one call, each fact with the message that states it.

The instructions cost as much for one message as for twenty. A model numbers the message of each fact; the number is
checked as everything else is: a fact belongs to a message that states it, and to none if no message does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recollect.errors import ModelNonsense
from recollect.language.sentences import limit_text
from recollect.model import FoundFact
from recollect.ports import Request
from recollect.rules.facts.own_words import own_words
from recollect.rules.prompt.fences import Fenced, escape_line, section
from recollect.tasks import fact_extraction
from recollect.tasks.fact_extraction import ENTRY, GUIDE, MAX_FACTS
from recollect.tasks.task import DATA, MAX_SHOWN, build_request, object_schema, repair_request

name = fact_extraction.name

MAX_MESSAGES = 20
MAX_CHARACTERS = 12_000
"""Characters of all messages in one call."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """The messages, oldest first."""

    messages: tuple[fact_extraction.Inputs, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """The facts of each message, in the order of the messages."""

    replies: tuple[fact_extraction.Reply, ...]


_SYSTEM = f"""You find lasting facts in a user's chat messages, for a memory.
message: its number. {GUIDE}
{DATA}
Answer with JSON only.

Example:
=== MESSAGES ===
1. Is it cold in Oslo?
2. My brother lives there, in Oslo.
=== END MESSAGES ===
"""
_EXAMPLE = {
    "facts": [
        {"message": 2, "category": "identity", "key": "location", "value": "Oslo", "about": "brother", "status": "now",
         "since": "", "until": "", "confidence": 1, "importance": 0.5},
    ]
}  # fmt: skip
_ENTRY = {"message": {"type": "integer"}, **ENTRY}
_SCHEMA = object_schema({"facts": {"type": "array", "items": object_schema(_ENTRY)}})
_ANSWER_TOKENS = (400, 120)  # to begin with, and for each message


def build(inputs: Inputs) -> Request:
    days = [message.today for message in inputs.messages]
    one_day = days[0] if len({*days}) == 1 else None
    # Escaped text stands after our number, so it cannot begin a line with one.
    lines = [
        Fenced(f"{number}. {_day_label(message, one_day is None)}{_shown_text(message)}")
        for number, message in enumerate(inputs.messages, 1)
    ]
    date_line = f"Written on {one_day.isoformat()}.\n" if one_day else ""
    base_tokens, message_tokens = _ANSWER_TOKENS
    return build_request(
        _SYSTEM + json.dumps(_EXAMPLE, ensure_ascii=False),
        f"{date_line}{section('MESSAGES', lines, between=chr(10))}",
        max_tokens=base_tokens + message_tokens * len(inputs.messages),
        schema=_SCHEMA,
    )


def parse(text: str, inputs: Inputs) -> Reply:
    facts_by_message: list[list[FoundFact]] = [[] for _ in inputs.messages]
    for entry in fact_extraction.read_entries(text)[: MAX_FACTS * len(inputs.messages)]:
        for place in _places_to_try(entry, len(inputs.messages)):
            if facts := fact_extraction.grounded_facts([entry], inputs.messages[place]):
                facts_by_message[place] += facts
                break
    return Reply(
        tuple(
            fact_extraction.check_facts(facts[:MAX_FACTS], message)
            for facts, message in zip(facts_by_message, inputs.messages, strict=True)
        )
    )


def repair(inputs: Inputs, text: str, error: ModelNonsense) -> Request:
    return repair_request(build(inputs), text, error)


def offline(inputs: Inputs) -> Reply:
    return Reply(tuple(map(fact_extraction.offline, inputs.messages)))


def batch_messages(messages: list[fact_extraction.Inputs]) -> list[tuple[fact_extraction.Inputs, ...]]:
    """The messages in batches that fit one call each, in order."""
    batches: list[list[fact_extraction.Inputs]] = []
    characters = 0
    for message in messages:
        size = min(len(message.text), MAX_SHOWN)
        if not batches or len(batches[-1]) == MAX_MESSAGES or characters + size > MAX_CHARACTERS:
            batches.append([])
            characters = 0
        batches[-1].append(message)
        characters += size
    return [tuple(batch) for batch in batches]


def _places_to_try(entry: Mapping[str, Any], message_count: int) -> list[int]:
    """The messages that may state a fact: the one it is said to be of, then the others, the latest first."""
    number = entry.get("message")
    named = [int(number) - 1] if isinstance(number, int | float) and 1 <= number <= message_count else []
    return [*named, *(place for place in reversed(range(message_count)) if place not in named)]


def _shown_text(message: fact_extraction.Inputs) -> Fenced:
    words = own_words(limit_text(message.text)).strip()
    return escape_line(words[:MAX_SHOWN]) or Fenced("(empty)")


def _day_label(message: fact_extraction.Inputs, has_day: bool) -> str:
    return f"({message.today.isoformat()}) " if has_day and message.today else ""
