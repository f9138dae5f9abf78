"""Writes the entries of a day: one model call for all who spoke, or several if the day or the group is too large.

A day with more text than the model takes is split into parts by time; then the entries of the parts become one entry
for each member. If the model fails at one part, the built-in writer writes that part; the others are kept.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, tzinfo
from typing import Any

from recollect.follow.ask import TaskResult, TaskRunner
from recollect.model import Message
from recollect.summaries.prompts import day_digest
from recollect.summaries.rules.days import split_day
from recollect.summaries.rules.xml_transcript import transcript

MEMBERS = 60  # in one model call: an answer has room for so many entries


@dataclass(frozen=True, slots=True)
class DayEntries:
    """The entries of a day by member, the members whose entry the built-in writer wrote, and why the model failed."""

    entries: Mapping[str, str]
    offline: frozenset[str]
    outage: str | None = None


class DayWriter:
    """Writes days, with the memory model or without."""

    def __init__(
        self, asking: TaskRunner, count: Callable[[str], int], run: Callable[..., Awaitable[Any]], tokens: int
    ) -> None:
        self._asking = asking
        self._count = count
        self._run = run
        self._tokens = tokens

    async def write_day(
        self, day: date, zone: tzinfo, messages: Sequence[Message], names: Mapping[str, str]
    ) -> DayEntries:
        """The entries of all who spoke on a day."""
        if not self._asking.has_model:
            return await self._write_entries(day_digest.Inputs(day, zone, tuple(messages), authors_in(messages), names))
        sizes = await self._run(self._token_counts, messages, names, zone)
        times = [message.time for message in messages]
        parts = [
            await self._write_entries(day_digest.Inputs(day, zone, part, authors_in(part), names))
            for part in (tuple(messages[first:end]) for first, end in split_day(sizes, times, self._tokens))
        ]
        return await self._merge_parts(day, zone, messages, names, parts)

    def _token_counts(self, messages: Iterable[Message], names: Mapping[str, str], zone: tzinfo) -> list[int]:
        return [self._count(transcript([day_digest.shorten_message(message)], names, zone)) for message in messages]

    async def _write_entries(self, inputs: day_digest.Inputs) -> DayEntries:
        entries = dict[str, str]()
        offline = set[str]()
        outage = None
        for start in range(0, len(inputs.members), MEMBERS):
            answer = await self._ask(replace(inputs, members=inputs.members[start : start + MEMBERS]))
            entries |= answer.reply.entries
            offline |= answer.reply.offline
            outage = outage or answer.outage
        return DayEntries(entries, frozenset(offline), outage)

    async def _ask(self, inputs: day_digest.Inputs) -> TaskResult[day_digest.Reply]:
        if self._asking.has_model:
            return await self._asking.ask(day_digest, inputs)
        # In a thread: the built-in writer reads every word.
        return TaskResult(await self._run(day_digest.offline, inputs), "offline")

    async def _merge_parts(
        self,
        day: date,
        zone: tzinfo,
        messages: Sequence[Message],
        names: Mapping[str, str],
        parts: Sequence[DayEntries],
    ) -> DayEntries:
        """Merge the entries of several parts into one entry for each member."""
        if len(parts) == 1:
            return parts[0]
        first_messages = {message.author: message for message in reversed(messages)}
        notes = {
            user: [part.entries[user] for part in parts if user in part.entries]
            for user in dict.fromkeys(first_messages)
        }
        members_to_merge = [user for user, texts in notes.items() if len(texts) > 1]
        entries = {user: texts[0] for user, texts in notes.items() if len(texts) == 1}
        offline = {user for part in parts for user in part.offline}
        outage = next((part.outage for part in parts if part.outage), None)
        if members_to_merge:
            note_messages = tuple(
                replace(first_messages[user], content=text) for user in members_to_merge for text in notes[user]
            )
            result = await self._write_from_notes(
                day_digest.Inputs(day, zone, note_messages, tuple(members_to_merge), names, notes=True)
            )
            entries |= result.entries
            offline |= result.offline
            outage = outage or result.outage
        return DayEntries(entries, frozenset(offline), outage)

    async def _write_from_notes(self, inputs: day_digest.Inputs) -> DayEntries:
        """Make entries from notes, for as many members at a time as fit into one model call."""
        notes_by_member = [
            [message for message in inputs.messages if message.author == user] for user in inputs.members
        ]
        sizes = [sum(self._token_counts(notes, inputs.names, inputs.zone)) for notes in notes_by_member]
        times = [notes[0].time for notes in notes_by_member]
        entries = dict[str, str]()
        offline = set[str]()
        outage = None
        for first, end in split_day(sizes, times, self._tokens):
            messages = tuple(note for notes in notes_by_member[first:end] for note in notes)
            result = await self._write_entries(replace(inputs, messages=messages, members=inputs.members[first:end]))
            entries |= result.entries
            offline |= result.offline
            outage = outage or result.outage
        return DayEntries(entries, frozenset(offline), outage)


def authors_in(messages: Iterable[Message]) -> tuple[str, ...]:
    """The authors, in the order of their first messages."""
    return tuple(dict.fromkeys(message.author for message in messages))
