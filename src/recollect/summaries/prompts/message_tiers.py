"""Writes tiers 1 and 2 of a message, or of several in one call.

Messages that are too short for tiers are their own tiers, whatever a model writes. A model's tiers are checked and cut by
`summaries.rules.tiers.check_tiers`; an answer with a fault cannot be used.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recollect.errors import ModelNonsense
from recollect.follow import task_answers as answers
from recollect.follow.task import DATA, TaskMessage, build_request, fence_text, object_schema, repair_request
from recollect.model import Tiers
from recollect.ports import Request
from recollect.summaries.rules import tiers

name = "message_tiers"


@dataclass(frozen=True, slots=True)
class Inputs:
    """The messages, and how tokens are counted."""

    messages: tuple[TaskMessage, ...]
    count: tiers.Count = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """The tiers of each message, in order."""

    tiers: tuple[Tiers, ...]


_SYSTEM = f"""You shorten chat messages for a memory. For each message write:
tier1: the facts as key = value pairs, joined by "; ". Keep names, numbers, dates, likes, decisions and questions.
tier2: one or two plain sentences that say what the message says.
Use only what is in the message. Never change a number or a name, never drop a "not". Write in the message's language.
{DATA}
Answer with JSON only.

Example:
=== MESSAGE 1 ===
Hi! I'm Dana from Oslo. We decided against the red tiles, too dear at 900 kr. Do you know a bakery near the station?
=== END MESSAGE 1 ===
"""
_EXAMPLE = {
    "tier1": "name = Dana; city = Oslo; decision = no red tiles (900 kr); request = bakery near station",
    "tier2": "Dana from Oslo decided against the red tiles (900 kr) and wants a bakery near the station.",
}
_WORDS_PER_TOKEN = 0.7
_FEWEST_WORDS = 4
_STRING = {"type": "string"}


def build(inputs: Inputs) -> Request:
    is_several = len(inputs.messages) > 1
    example = {"tiers": [{"message": 1, **_EXAMPLE}]} if is_several else _EXAMPLE
    parts = []
    token_count = 0
    for number, message in enumerate(inputs.messages, 1):
        tier1_tokens, tier2_tokens = tiers.budgets(message.text, inputs.count)
        token_count += tier1_tokens + tier2_tokens
        limits = f"tier1 at most {_word_limit(tier1_tokens)} words, tier2 at most {_word_limit(tier2_tokens)} words."
        parts.append(
            f"{fence_text(f'MESSAGE {number}', message.text)}\nMessage {number} is by the {message.role}: {limits}"
        )
    return build_request(
        _SYSTEM + json.dumps(example, ensure_ascii=False),
        "\n\n".join(parts),
        max_tokens=200 + 2 * token_count,
        schema=_schema(is_several),
    )


def parse(text: str, inputs: Inputs) -> Reply:
    entries = _entries(text, len(inputs.messages))
    message_tiers = []
    faults = []
    for number, (message, entry) in enumerate(zip(inputs.messages, entries, strict=True), 1):
        tier1 = answers.line(entry.get("tier1"))
        tier2 = answers.line(entry.get("tier2"))
        check = tiers.check_tiers(tier1, tier2, message.text, inputs.count)
        message_tiers.append(check.tiers)
        faults += [f"{fault} (message {number})" for fault in check.faults]
    if faults:
        raise ModelNonsense(f"{'; '.join(faults)}.")
    return Reply(tuple(message_tiers))


def repair(inputs: Inputs, text: str, error: ModelNonsense) -> Request:
    return repair_request(build(inputs), text, error)


def offline(inputs: Inputs) -> Reply:
    return Reply(tuple(tiers.write_tiers(message.text, inputs.count) for message in inputs.messages))


def _word_limit(tokens: int) -> int:
    return max(int(tokens * _WORDS_PER_TOKEN), _FEWEST_WORDS)


def _schema(is_several: bool) -> Mapping[str, Any]:
    properties = {"tier1": _STRING, "tier2": _STRING}
    if not is_several:
        return object_schema(properties)
    entry = object_schema({"message": {"type": "integer"}, **properties})
    return object_schema({"tiers": {"type": "array", "items": entry}})


def _entries(text: str, message_count: int) -> list[Mapping[str, Any]]:
    """The entry of each message, in the order of the messages."""
    entries: list[Mapping[str, Any]] = []
    for answer in answers.objects(text):
        entries += _entries_in(answer)
    entries = entries or [*answers.parts_by_label(text, {"tier1": r"tier\s*_?1", "tier2": r"tier\s*_?2"})]
    if not entries:
        raise ModelNonsense("There is no JSON with tier1 and tier2 in the answer.")
    numbers = [entry.get("message") for entry in entries]
    if sorted(map(str, numbers)) == sorted(map(str, range(1, message_count + 1))):
        entries = sorted(entries, key=lambda entry: int(entry["message"]))
    if len(entries) < message_count:
        raise ModelNonsense(f"The answer has tiers of {len(entries)} message(s), but there are {message_count}.")
    return entries[:message_count]


def _entries_in(answer: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The entries in an object: itself, or those it lists under whatever name."""
    if "tier1" in answer or "tier2" in answer:
        return [answer]
    values = [value for value in answer.values() if isinstance(value, list | dict)]
    entries = [entry for value in values for entry in (value if isinstance(value, list) else [value])]
    return [entry for entry in entries if isinstance(entry, dict) and ("tier1" in entry or "tier2" in entry)]
