"""A day written up: one question for all who spoke, or several where the day or the group is too large for one.

A day with more text than the model takes is asked about in parts, split by time; then the notes of the parts become
one entry a member. What a model failed at in one part, the built-in writer does for that part: the others stay whole.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, tzinfo
from typing import Any

from recollect.engine.work.ask import Answer, Asking
from recollect.model import Message
from recollect.rules.days import split
from recollect.rules.people.transcript import transcript
from recollect.tasks import day_digest

MEMBERS = 60  # in one question: an answer has room for so many entries


@dataclass(frozen=True, slots=True)
class Written:
    """The entries of a day by member, who of them has the built-in writer's, and why a model did not write it."""

    entries: Mapping[str, str]
    offline: frozenset[str]
    outage: str | None = None


class Diary:
    """Writes days, with the memory model or without."""

    def __init__(
        self, asking: Asking, count: Callable[[str], int], run: Callable[..., Awaitable[Any]], tokens: int
    ) -> None:
        self._asking, self._count, self._run, self._tokens = asking, count, run, tokens

    async def written(self, day: date, zone: tzinfo, said: Sequence[Message], names: Mapping[str, str]) -> Written:
        """The entries of all who spoke on a day."""
        if not self._asking.possible:
            return await self._entries(day_digest.Inputs(day, zone, tuple(said), spoke_in(said), names))
        sizes = await self._run(self._sizes, said, names, zone)
        times = [message.time for message in said]
        parts = [
            await self._entries(day_digest.Inputs(day, zone, part, spoke_in(part), names))
            for part in (tuple(said[first:end]) for first, end in split(sizes, times, self._tokens))
        ]
        return await self._together(day, zone, said, names, parts)

    def _sizes(self, said: Iterable[Message], names: Mapping[str, str], zone: tzinfo) -> list[int]:
        return [self._count(transcript([day_digest.shown(message)], names, zone)) for message in said]

    async def _entries(self, inputs: day_digest.Inputs) -> Written:
        entries, offline, outage = dict[str, str](), set[str](), None
        for start in range(0, len(inputs.members), MEMBERS):
            answer = await self._ask(replace(inputs, members=inputs.members[start : start + MEMBERS]))
            entries |= answer.reply.entries
            offline |= answer.reply.offline
            outage = outage or answer.outage
        return Written(entries, frozenset(offline), outage)

    async def _ask(self, inputs: day_digest.Inputs) -> Answer[day_digest.Reply]:
        if self._asking.possible:
            return await self._asking.ask(day_digest, inputs)
        # In a thread: the built-in writer reads every word.
        return Answer(await self._run(day_digest.offline, inputs), "offline")

    async def _together(
        self, day: date, zone: tzinfo, said: Sequence[Message], names: Mapping[str, str], parts: Sequence[Written]
    ) -> Written:
        """One entry a member of those of several parts."""
        if len(parts) == 1:
            return parts[0]
        first = {message.author: message for message in reversed(said)}
        notes = {user: [part.entries[user] for part in parts if user in part.entries] for user in dict.fromkeys(first)}
        several = [user for user, texts in notes.items() if len(texts) > 1]
        entries = {user: texts[0] for user, texts in notes.items() if len(texts) == 1}
        offline = {user for part in parts for user in part.offline}
        outage = next((part.outage for part in parts if part.outage), None)
        if several:
            messages = tuple(replace(first[user], content=text) for user in several for text in notes[user])
            made = await self._noted(day_digest.Inputs(day, zone, messages, tuple(several), names, notes=True))
            entries |= made.entries
            offline |= made.offline
            outage = outage or made.outage
        return Written(entries, frozenset(offline), outage)

    async def _noted(self, inputs: day_digest.Inputs) -> Written:
        """Notes made into entries, of as many members at a time as fit."""
        own = [[m for m in inputs.messages if m.author == user] for user in inputs.members]
        sizes = [sum(self._sizes(notes, inputs.names, inputs.zone)) for notes in own]
        times = [notes[0].time for notes in own]
        entries, offline, outage = dict[str, str](), set[str](), None
        for first, end in split(sizes, times, self._tokens):
            messages = tuple(note for notes in own[first:end] for note in notes)
            made = await self._entries(replace(inputs, messages=messages, members=inputs.members[first:end]))
            entries |= made.entries
            offline |= made.offline
            outage = outage or made.outage
        return Written(entries, frozenset(offline), outage)


def spoke_in(said: Iterable[Message]) -> tuple[str, ...]:
    """Who spoke, in the order in which they began to."""
    return tuple(dict.fromkeys(message.author for message in said))
