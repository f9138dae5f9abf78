"""Summarizes several episodes in one call, each as `episode_summary` would: the instructions cost as much for one.

Each summary is checked against its own messages. One that cannot be used is left out, and is asked for alone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from recollect.errors import ModelNonsense
from recollect.follow import task_answers as answers
from recollect.follow.task import DATA, build_request, object_schema, repair_request
from recollect.ports import Request
from recollect.summaries.prompts import episode_summary
from recollect.summaries.prompts.episode_summary import GUIDE
from recollect.text.fences import Fenced

name = episode_summary.name

MAX_EPISODES = 8
MAX_CHARACTERS = 20_000
"""Characters of the messages of all episodes in one call."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """What each episode is written from."""

    episodes: tuple[episode_summary.Inputs, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """The summary of each episode, in order; None where there is none that can be used."""

    replies: tuple[episode_summary.Reply | None, ...]


_EXAMPLE = {"summaries": [{"episode": 1, "summary": "Dana chose the grey tiles."}, {"episode": 2, "summary": "…"}]}
_SYSTEM = f"""You write the memory of a chat: for each numbered episode a summary of its own, {GUIDE}
{DATA}
Answer with JSON only, as in: {json.dumps(_EXAMPLE, ensure_ascii=False)}"""
_ENTRY = object_schema({"episode": {"type": "integer"}, "summary": {"type": "string"}})
_SCHEMA = object_schema({"summaries": {"type": "array", "items": _ENTRY}})


def build(inputs: Inputs) -> Request:
    parts: list[Fenced] = []
    for number, episode in enumerate(inputs.episodes, 1):
        parts += [Fenced(f"Episode {number}:"), *episode_summary.shown_parts(episode)]
    max_tokens = 200 + sum(2 * episode.limit for episode in inputs.episodes)
    return build_request(_SYSTEM, "\n".join(parts), max_tokens=max_tokens, schema=_SCHEMA)


def parse(text: str, inputs: Inputs) -> Reply:
    replies: list[episode_summary.Reply | None] = [None] * len(inputs.episodes)
    fault = 'There is no JSON of the form {"summaries": [...]} in the answer.'
    for number, summary in _summaries_in(text):
        if not 1 <= number <= len(replies) or replies[number - 1] is not None:
            continue
        try:
            answer = json.dumps({"summary": summary})
            replies[number - 1] = episode_summary.parse(answer, inputs.episodes[number - 1])
        except ModelNonsense as error:
            fault = f"Episode {number}: {error}"
    if not any(replies):
        raise ModelNonsense(fault)
    return Reply(tuple(replies))


def repair(inputs: Inputs, text: str, error: ModelNonsense) -> Request:
    return repair_request(build(inputs), text, error)


def offline(inputs: Inputs) -> Reply:
    return Reply(tuple(map(episode_summary.offline, inputs.episodes)))


def batch_sizes(characters: Sequence[int]) -> list[int]:
    """How many episodes fit one call each, in order, by the characters of their messages."""
    sizes: list[int] = []
    total = 0
    for size in characters:
        if not sizes or sizes[-1] == MAX_EPISODES or total + size > MAX_CHARACTERS:
            sizes.append(0)
            total = 0
        sizes[-1] += 1
        total += size
    return sizes


def _summaries_in(text: str) -> list[tuple[int, str]]:
    """The summaries with their numbers; without numbers they are in order."""
    entries: list[object] = []
    for answer in answers.objects(text):
        lists = [value for value in answer.values() if isinstance(value, list)]
        entries += [entry for value in lists for entry in value] if lists else [answer]
    summaries: list[tuple[int, str]] = []
    for place, entry in enumerate(entries, 1):
        if isinstance(entry, dict) and isinstance(entry.get("summary"), str):
            number = entry.get("episode", place)
            summaries.append((number if isinstance(number, int) else place, entry["summary"]))
    return summaries
