"""Merges what is known of a member, what they did today and how they have been into one text for a context.

What is known counts most: if the other texts contradict it, it wins. A merge that mentions something none of the texts
says is not used. Without a model the texts follow each other, what is known first and complete.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from recollect.errors import ModelNonsense
from recollect.follow.task import DATA, build_request, object_schema, repair_request
from recollect.ports import Request
from recollect.summaries.prompts.level_summary import parse_summary
from recollect.summaries.rules.days import content_hash, join_sources, merge_sources
from recollect.text.fences import Fenced, escape, plain_name, section

name = "context_merge"

CHARACTERS = 800  # about, or more if as much is known
BESIDE = 400  # characters for today and the days before, beside a long profile
LABELS = {"today": "Today", "history": "In the last days"}


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the member is called, and the three texts; any may be empty."""

    name: str
    profile: str
    today: str
    history: str

    @property
    def hash(self) -> str:
        """Equal for two merges of the same texts."""
        return content_hash(self.name, self.profile, self.today, self.history)

    @property
    def several(self) -> bool:
        """Whether there is anything to merge: one text alone stays as it is."""
        return len(merge_sources(self.profile, self.today, self.history)) > 1


@dataclass(frozen=True, slots=True)
class Reply:
    """The merged text."""

    text: str


_EXAMPLE = (
    "Dana, a nurse in Oslo who is allergic to nuts, has been working up to a talk and practised it with Kim. Today she "
    "gave it and is proud of it."
)
_SYSTEM = f"""You write what an assistant should know of a member of a group chat before it answers them. Make one text
of what is known of them (the profile), what they did today, and how they have been in the last days.
Keep every fact of the profile: it is right where the others differ. Say what is new today after what has been so
for days. Plain sentences in the third person, with their name. Keep the language.
Use only what is said. Never change a number or a name, never drop a "not".
{DATA}
Answer with JSON only, as in: {json.dumps({"summary": _EXAMPLE}, ensure_ascii=False)}"""
_SCHEMA = object_schema({"summary": {"type": "string"}})


def build(inputs: Inputs) -> Request:
    parts = [section("MEMBER", [Fenced(plain_name(inputs.name) or "the member")])]
    for title, text in merge_sources(inputs.profile, inputs.today, inputs.history):
        parts.append(section(title.upper(), [escape(text)]))
    parts.append(Fenced(f"Write at most {_limit(inputs)} characters."))
    return build_request(_SYSTEM, "\n".join(parts), max_tokens=200 + _limit(inputs), schema=_SCHEMA)


def parse(text: str, inputs: Inputs) -> Reply:
    source = "\n".join([inputs.name, inputs.profile, inputs.today, inputs.history])
    return Reply(parse_summary(text, source, (_SYSTEM, _EXAMPLE), _limit(inputs) * 4 // 3, len))


def repair(inputs: Inputs, text: str, error: ModelNonsense) -> Request:
    return repair_request(build(inputs), text, error)


def offline(inputs: Inputs) -> Reply:
    return Reply(join_sources(inputs.profile, inputs.today, inputs.history, LABELS))


def _limit(inputs: Inputs) -> int:
    return max(CHARACTERS, len(inputs.profile) + BESIDE)
