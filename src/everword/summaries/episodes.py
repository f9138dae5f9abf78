"""Episodes: summaries in levels of the messages that left the window, each with the turns it covers.

As soon as messages leave, the built-in writer summarises them: a run is cut where its subject changes and at long
pauses, never between a question and its answer, and a part that continues the subject of the last episode extends it. A
summary is kept as lines, each with who said it in which turn, and merging works on the lines. When a level has too
many, the oldest are merged into one of the next level. If there is a memory model, each such summary is a stand-in
until the model has written its own, in order and once: after an outage everything is still pending, and for an episode
that has grown the model is asked only about what is new.

In a channel of three people or more, where they say to whom they speak, several conversations run through each other.
There an episode is of one thread and of one day: messages of other threads lie between its own. The episode that was
quiet longest becomes part of the episode of its day, level 2; the levels above are of days. What an episode of a thread
says follows from its messages alone, so it does not matter how many left the window together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, tzinfo
from itertools import islice, pairwise
from typing import Any, TypeVar

import numpy as np

from everword.follow.faults import readable_messages, reason_of
from everword.follow.model_calls import TaskResult, TaskRunner
from everword.follow.store_calls import StoreCalls
from everword.follow.view import Run, SaveResult
from everword.log.append_and_read import READ, add_names, known_names, read_channel_names, warn_of_damage
from everword.masking import masked_logger
from everword.model import Conversation, Episode, ExtractLine, Filter, Message
from everword.model.views import TopicMessage
from everword.ports import Embedder, Lag, Tokenizer, Tx, Vectors
from everword.summaries import prompts
from everword.summaries.prompts import EpisodeInputs, LevelInputs, SummaryReply
from everword.summaries.rules.days import GIVEN, day_of
from everword.summaries.rules.extract import SpokenLine, from_object, narrative_lines, to_object, whole_line
from everword.summaries.rules.window import PAUSE, continues, cuts, next_merge
from everword.text.addressing import KnownNames, show_address
from everword.text.standalone import is_bound

M = TypeVar("M", Message, TopicMessage)

LONGEST = 30  # messages in one episode of level 1
CHARACTERS = 4  # of a token, about


def stack_vectors(vectors: Sequence[Vectors | None]) -> Vectors:
    """One row for each message; zeros for one that has no vector."""
    width = max((len(vector) for vector in vectors if vector is not None), default=1)
    rows = [np.zeros(width, np.float32) if vector is None else vector for vector in vectors]
    return np.array(rows, np.float32).reshape(len(vectors), width)


def part_bounds(messages: Sequence[Message], vectors: Vectors) -> list[tuple[int, int]]:
    """The start and end of each part into which a run of messages is cut."""
    if not messages:
        return []
    sizes = [len(message.content) // CHARACTERS + 1 for message in messages]
    gaps = list(pairwise(messages))
    starts = [
        0,
        *cuts(
            vectors,
            sizes,
            [message.role == "user" for message in messages],
            pauses=[False, *(after.time - before.time > PAUSE for before, after in gaps)],
            replies=[False, *(is_reply(before, after) for before, after in gaps)],
            longest=LONGEST,
        ),
        len(messages),
    ]
    return list(pairwise(starts))


def bounds_after(before: Message | None, messages: Sequence[Message], vectors: Vectors) -> list[tuple[int, int]]:
    """The parts of a run; a reply to the message before the run is a part of its own, if others follow it there."""
    bounds = part_bounds(messages, vectors)
    if before is None or not bounds or bounds[0][1] == 1 or not is_reply(before, messages[0]):
        return bounds
    return [(0, 1), (1, bounds[0][1]), *bounds[1:]]


def is_reply(before: Message, after: Message) -> bool:
    """Whether a message answers the question that the message before it ends in."""
    return (before.role, before.author) != (after.role, after.author) and is_bound(before.content, after.content)


def lines_of(episode: Episode) -> tuple[ExtractLine, ...]:
    """The lines of a summary. Without them, what a model wrote is prose, and another text stays as it is."""
    if episode.lines or not episode.summary:
        return episode.lines
    to_lines = narrative_lines if episode.made_by == "model" else whole_line
    return to_lines(episode.summary, episode.last, episode.ended)


# -- writing


log = masked_logger("everword.episodes")

TABLE = "episodes"
TURNS = "topic_turns"  # the threads of messages
WINDOW = "window"  # the view that first wrote them: messages it has set aside are in none of them
NOBODY = ""  # the user_id of an episode of a channel
SHARE = 6  # a summary has one token for so many of what it summarises
TOKENS = (96, 200)  # the least and the most of a summary of messages
LEVEL_TOKENS = (80, 240)  # the same of a summary of summaries
LEVEL_SHARE = 2
CALLS = 8  # episodes or topics that the model writes in one step
MOST_WRITTEN = 200  # episodes that are read for one topic
MOST_PARTS = 40  # of a day that the model is shown: those that say most
BACKLOG = 1_000  # turns: a conversation further behind is an import; its inactive episodes get no model summary


@dataclass(frozen=True, slots=True)
class EpisodeRecord:
    """An episode as it is stored.

    `parent` is the first turn of the episode it has become part of; `base` the model's summary of it up to turn
    `base_last`, which the model is given when the episode has grown since.
    """

    episode: Episode
    user: str
    parent: int | None = None
    base: str = ""
    base_last: int = 0
    vector: bytes | None = None


@dataclass(frozen=True, slots=True)
class Calibration:
    """The cosine of unrelated texts: its mean and deviation for the embedder in use."""

    unrelated: float
    spread: float


@dataclass(frozen=True, slots=True)
class ChannelPast:
    """What is known of a channel when messages leave its window: the last messages before them, the thread of each
    turn, from which turn on there are threads, and the time zone of its days. Of other chats there is nothing."""

    messages: Sequence[Message] = ()
    threads: Mapping[int, int] = field(default_factory=dict)
    since: float = math.inf
    zone: tzinfo = UTC

    def day_of(self, episode: Episode) -> date:
        return day_of(episode.began, self.zone)


def load_channel_past(tx: Tx, place: tuple[str, str], left_messages: Sequence[Message], zone: tzinfo) -> ChannelPast:
    """What is known of a conversation before these messages leave its window."""
    space, conversation = place
    stored_conversation = tx.conversation(space, conversation)
    if stored_conversation is None or stored_conversation.user is not None:
        return ChannelPast()
    where = Filter(space, conversation=conversation)
    first = left_messages[0].turn
    start = max(first - 1 - READ, 0)
    messages = tx.messages(where, after=(conversation, start), upto=first - 1, damaged=warn_of_damage)
    threads, since = threads_between(tx, space, conversation, start, left_messages[-1].turn)
    return ChannelPast([*messages], threads, since, zone)


def threads_between(tx: Tx, space: str, conversation: str, after: int, upto: int) -> tuple[dict[int, int], float]:
    """The threads of a channel's messages, by their turns; and from which turn on there are threads. Of two people the
    topics are no threads, though one may reply to a message."""
    place = {"space": space, "conversation": conversation}
    rows = [row for row in tx.rows(TURNS, {**place, "turn": after}, upto - after, where=place) if row["turn"] <= upto]
    since = min((row["turn"] for row in rows if row["why"] not in (None, GIVEN)), default=math.inf)
    return {row["turn"]: row["topic"] for row in rows}, since


class Writer:
    """Writes episodes without a model."""

    def __init__(
        self,
        embedder: Embedder,
        tokenizer: Tokenizer,
        asking: TaskRunner,
        calibration: Calibration,
        at_level: int,
        in_all: int,
    ) -> None:
        self._embedder = embedder
        self._tokenizer = tokenizer
        self._asking = asking
        self._calibration = calibration
        self._at_level = at_level
        self._in_all = in_all

    async def grow(
        self,
        lag: Lag,
        user: str,
        active: Sequence[EpisodeRecord],
        left_messages: Sequence[Message],
        vectors_by_turn: Mapping[int, Vectors],
        pending: bool,
        message_before: Message | None = None,
        past: ChannelPast | None = None,
    ) -> list[EpisodeRecord]:
        """The episodes that are new or changed now that these messages have left the window.

        `vectors_by_turn` has the vectors of these messages and of those of the last episode; `message_before` is the
        last message of that episode. `past` is that of a channel.
        """
        past = past or ChannelPast()
        growth = EpisodeGrowth(lag, user, past, {episode_key(record.episode): record for record in active}, {})
        messages = [message for message in left_messages if message.is_lasting and message.content.strip()]
        nicknames = known_names(past.messages)
        messages_before = [message for message in messages if message.turn < past.since]
        await self._grow_runs(growth, messages_before, vectors_by_turn, message_before, nicknames)
        if group_messages := messages[len(messages_before) :]:
            await self._grow_threads(growth, group_messages, nicknames)
        is_far_behind = lag.turns - lag.done > BACKLOG
        return [
            mark_pending(
                await self.with_vector(record),
                pending and (record.parent is None or not is_far_behind) and growth.is_worth_model(record),
            )
            for record in growth.changes.values()
        ]

    async def _grow_runs(
        self,
        growth: EpisodeGrowth,
        messages: Sequence[Message],
        vectors_by_turn: Mapping[int, Vectors],
        before: Message | None,
        nicknames: KnownNames,
    ) -> None:
        """Add messages that follow each other to the last episode, which ends with `before`, or to new ones."""
        vectors = stack_vectors([vectors_by_turn.get(message.turn) for message in messages])
        for start, end in bounds_after(before, messages, vectors):
            part = messages[start:end]
            last_record = newest_episode(growth.active.values())
            continues_last = last_record is not None and self._is_continued_by(
                last_record.episode, part, vectors[start:end], vectors_by_turn, before
            )
            add_names(nicknames, part)
            has_question = continues_last and before is not None and is_reply(before, part[0])
            question = [show_addressee(before, nicknames)] if has_question and before is not None else []
            before = part[-1]
            spoken = [show_addressee(message, nicknames) for message in part if message.role != "system"]
            spoken = spoken if nicknames.is_group and spoken else [*part]  # what a system says of a group is nobody's
            record = await self._extend_or_begin(
                growth.lag, growth.user, last_record if continues_last else None, spoken, question
            )
            growth.active[episode_key(record.episode)] = growth.changes[episode_key(record.episode)] = record
            await self._merge_levels(growth.active, growth.changes)

    async def _grow_threads(
        self, growth: EpisodeGrowth, group_messages: Sequence[Message], nicknames: KnownNames
    ) -> None:
        """Add messages of a group to the episodes of their threads, and quiet episodes to those of their days."""
        growth.read_past()
        nicknames.is_of_group = True
        for message in group_messages:
            add_names(nicknames, [message])
            if message.role != "system" and message.turn in growth.past.threads:  # a notice is part of no thread
                growth.add(show_addressee(message, nicknames))
                await self._merge_days(growth)
        for key in [*growth.unwritten]:
            await self._write_thread(growth, key)

    async def _merge_days(self, growth: EpisodeGrowth) -> None:
        """Make the episodes that were quiet longest part of their days, until few enough are active."""
        active = growth.active
        while len(active) > self._in_all:
            upper = [key for key in active if key[0] > 1]
            if merge := next_merge(upper, self._at_level, self._in_all - 1):
                await self._merge_active(active, growth.changes, merge.level, merge.firsts)
                continue
            quiet = min(
                (record.episode for record in active.values() if record.episode.level == 1),
                key=lambda episode: episode.last,
            )
            await self._write_thread(growth, episode_key(quiet))
            part = active.pop(episode_key(quiet))
            record = await self._merge_parts(growth.parts_of_day(part), growth.first_of_day(part), share=1)
            inactive = replace(part.episode, active=False)
            growth.changes[episode_key(inactive)] = replace(part, episode=inactive, parent=record.episode.first)
            active[episode_key(record.episode)] = growth.changes[episode_key(record.episode)] = record

    async def _write_thread(self, growth: EpisodeGrowth, key: tuple[int, int]) -> None:
        """Write the episode of a thread from all its messages, if it has grown."""
        if key in growth.unwritten:
            growth.unwritten.remove(key)
            inputs = self.message_inputs(growth.members[key], "")
            reply = await self._asking.run(prompts.episode_summary.offline, inputs)
            growth.active[key] = growth.changes[key] = rewrite_summary(growth.active[key], reply)

    async def _merge_levels(
        self, active_records: dict[tuple[int, int], EpisodeRecord], changes: dict[tuple[int, int], EpisodeRecord]
    ) -> None:
        """Merge the oldest episodes of a level that has too many, until none has."""
        while merge := next_merge([*active_records], self._at_level, self._in_all):
            await self._merge_active(active_records, changes, merge.level, merge.firsts)

    async def _merge_active(
        self,
        active_records: dict[tuple[int, int], EpisodeRecord],
        changes: dict[tuple[int, int], EpisodeRecord],
        level: int,
        firsts: Sequence[int],
    ) -> None:
        """Merge active episodes of a level into one of the next."""
        parts = [active_records.pop((level, first)) for first in firsts]
        record = await self._merge_parts(parts, parts[0].episode.first)
        for part in parts:
            inactive = replace(part.episode, active=False)
            changes[episode_key(inactive)] = replace(part, episode=inactive, parent=record.episode.first)
        active_records[episode_key(record.episode)] = changes[episode_key(record.episode)] = record

    async def _extend_or_begin(
        self,
        lag: Lag,
        user: str,
        last_record: EpisodeRecord | None,
        part: Sequence[Message],
        question: Sequence[Message],
    ) -> EpisodeRecord:
        """The last episode with these messages added, or a new one. `question` is what the first of them answers."""
        if last_record is not None:
            record = replace(last_record, episode=replace(last_record.episode, last=part[-1].turn, ended=part[-1].time))
        else:
            turns = (part[0].turn, part[-1].turn)
            times = (part[0].time, part[-1].time)
            record = EpisodeRecord(Episode(lag.space, lag.conversation, 1, *turns, *times, ""), user)
        reply = await self._asking.run(
            prompts.episode_summary.offline,
            self.message_inputs([*question, *part], record.episode.summary, lines_of(record.episode)),
        )
        return rewrite_summary(record, reply)

    def _is_continued_by(
        self,
        last: Episode,
        part: Sequence[Message],
        vectors: Vectors,
        vectors_by_turn: Mapping[int, Vectors],
        before: Message | None,
    ) -> bool:
        """Whether a part belongs to the last episode: it answers its last question, or goes on about its subject."""
        if before is not None and is_reply(before, part[0]):
            return len(part) == 1 or part[-1].turn - last.first < LONGEST
        earlier_vectors = [
            vectors_by_turn[turn] for turn in range(last.first, last.last + 1) if turn in vectors_by_turn
        ]
        is_too_long = part[-1].turn - last.first >= LONGEST
        if not earlier_vectors or is_too_long or part[0].time - last.ended > PAUSE:
            return False
        calibration = self._calibration
        return continues(
            np.mean(earlier_vectors, axis=0), vectors, unrelated=calibration.unrelated, spread=calibration.spread
        )

    async def _merge_parts(self, parts: Sequence[EpisodeRecord], first: int, share: int = LEVEL_SHARE) -> EpisodeRecord:
        """One episode of the level above the lowest of these, which begins at turn `first`; what stands for it."""
        lowest = min((part.episode for part in parts), key=lambda episode: episode.level)
        whole = [part for part in parts if part.episode.level > lowest.level]  # a day that has grown
        began = min(part.episode.began for part in parts)
        last = max((part.episode for part in parts), key=lambda episode: episode.last)
        episode = Episode(lowest.space, lowest.conversation, lowest.level + 1, first, last.last, began, last.ended, "")
        record = replace(whole[0], episode=episode) if whole else EpisodeRecord(episode, parts[0].user)
        reply = await self._asking.run(
            prompts.level_summary.offline, self.level_inputs([part.episode for part in parts], share)
        )
        return rewrite_summary(record, reply)

    def level_inputs(self, parts: Sequence[Episode], share: int = LEVEL_SHARE) -> LevelInputs:
        summaries = tuple(part.summary for part in parts)
        size = sum(self._tokenizer.count(summary) for summary in summaries)
        limit = clamp(size // share, LEVEL_TOKENS)
        lines = tuple(map(lines_of, parts))
        return LevelInputs(summaries, limit, self._tokenizer.count, lines, tuple(part.ended for part in parts))

    async def with_vector(self, record: EpisodeRecord) -> EpisodeRecord:
        """The episode with the vector of its summary, if it has none yet. If the embedder fails it stays without one:
        search finds its messages."""
        if record.vector is not None:
            return record
        vector_bytes = None
        try:
            vector = (await self._embedder.embed([record.episode.summary]))[0].astype(np.float16)
            vector_bytes = vector.tobytes() if vector.any() else None
        except Exception as error:  # noqa: BLE001  an embedder may fail in any way on one text
            log.warning("an episode has no vector: %s", reason_of(error))
        return replace(record, vector=vector_bytes)

    def message_inputs(
        self, part: Sequence[Message], before: str, before_lines: tuple[ExtractLine, ...] = ()
    ) -> EpisodeInputs:
        """The inputs for a summary of messages that continues the summary `before`, which has these lines."""
        messages = [message for message in part if message.is_lasting]
        return summary_inputs(messages, before, self._tokenizer, before_lines)


@dataclass(slots=True)
class EpisodeGrowth:
    """The episodes while messages are added: those that are active, those that have changed, of threads the messages of
    each, as they are summarised, and those whose summary is to be written."""

    lag: Lag
    user: str
    past: ChannelPast
    active: dict[tuple[int, int], EpisodeRecord]
    changes: dict[tuple[int, int], EpisodeRecord]
    members: dict[tuple[int, int], list[Message]] = field(default_factory=dict)
    unwritten: list[tuple[int, int]] = field(default_factory=list)

    def read_past(self) -> None:
        """Read the messages of the active episodes of threads."""
        nicknames = KnownNames(is_of_group=True)
        for message in self.past.messages:
            add_names(nicknames, [message])
            record = self._episode_of(message)
            if record is not None and message.turn <= record.episode.last and is_summarised(message):
                self.members.setdefault(episode_key(record.episode), []).append(show_addressee(message, nicknames))

    def _episode_of(self, message: Message) -> EpisodeRecord | None:
        """The last active episode of a message's thread that does not begin after it."""
        thread = self.past.threads.get(message.turn)
        records = [
            record
            for record in self.active.values()
            if record.episode.level == 1 and record.episode.first <= message.turn
            if self.past.threads.get(record.episode.first) == thread is not None
        ]
        return max(records, key=lambda record: record.episode.first, default=None)

    def add(self, message: Message) -> None:
        """Add a message to the episode of its thread, or begin one: on another day, after a long pause, or when the
        one before is long enough."""
        record = self._episode_of(message)
        if record is None or not self._goes_on(record, message):
            turns = (message.turn, message.turn)
            times = (message.time, message.time)
            episode = Episode(self.lag.space, self.lag.conversation, 1, *turns, *times, "")
            record = EpisodeRecord(episode, self.user)
        else:
            record = replace(record, episode=replace(record.episode, last=message.turn, ended=message.time))
        key = episode_key(record.episode)
        self.active[key] = self.changes[key] = record
        self.members.setdefault(key, []).append(message)
        if key not in self.unwritten:
            self.unwritten.append(key)

    def _goes_on(self, record: EpisodeRecord, message: Message) -> bool:
        episode = record.episode
        members = self.members.get(episode_key(episode), ())
        is_near = message.time - episode.ended <= PAUSE and message.turn - episode.first < READ
        is_of_day = day_of(message.time, self.past.zone) == self.past.day_of(episode)
        return 0 < len(members) < LONGEST and is_near and is_of_day

    def is_worth_model(self, record: EpisodeRecord) -> bool:
        """Whether a model should write an episode: not one of a single message of a group, nor of a day under way."""
        key = episode_key(record.episode)
        if not self.members or record.episode.level > 2:
            return True
        newest = max((entry.episode for entry in self.changes.values()), key=lambda episode: episode.last)
        is_over = self.past.day_of(record.episode) != self.past.day_of(newest)
        return is_over if record.episode.level == 2 else len(self.members.get(key, ())) != 1

    def parts_of_day(self, part: EpisodeRecord) -> list[EpisodeRecord]:
        """The active episode of a part's day, if there is one, and the part."""
        day = self.past.day_of(part.episode)
        days = [record for record in self.active.values() if record.episode.level == 2]
        return [*[record for record in days if self.past.day_of(record.episode) == day][-1:], part]

    def first_of_day(self, part: EpisodeRecord) -> int:
        """The turn at which the episode of a part's day begins: the first of all parts that are still apart."""
        whole, *_ = self.parts_of_day(part)
        if whole is not part:
            return whole.episode.first
        day = self.past.day_of(part.episode)
        records = [part, *(record for record in self.active.values() if record.episode.level == 1)]
        return min(record.episode.first for record in records if self.past.day_of(record.episode) == day)


def is_summarised(message: Message) -> bool:
    return message.is_lasting and message.role != "system" and bool(message.content.strip())


def show_addressee(message: M, nicknames: KnownNames) -> M:
    """A message as it is summarised: whom it is said to cannot be taken for who says it."""
    text = show_address(message.content, nicknames) if message.role == "user" else message.content
    return message if text == message.content else replace(message, content=text)


def summary_inputs(
    messages: Iterable[Message | TopicMessage],
    before: str,
    tokenizer: Tokenizer,
    before_lines: tuple[ExtractLine, ...] = (),
) -> EpisodeInputs:
    """The inputs for a summary of messages of an episode or a topic. It may have one token for so many that it
    summarises, those of the summary so far included."""
    lines = tuple(
        SpokenLine(message.role, message.author, message.content, message.turn, message.time)
        for message in messages
        if message.content.strip()
    )
    size = sum(len(line.text) for line in lines) // CHARACTERS + tokenizer.count(before) * SHARE
    return EpisodeInputs(lines, before, clamp(size // SHARE, TOKENS), tokenizer.count, before_lines)


class EpisodesView:
    """Has the memory model replace the summaries of the built-in writer."""

    name = "episodes"
    at_once = 0
    ordered = False

    def __init__(self, asking: TaskRunner, writer: Writer, calls: StoreCalls) -> None:
        self._asking = asking
        self._writer = writer
        self._calls = calls

    def read_after(self, done: int, turns: int) -> int:
        return done

    async def prepare(self, runs: Sequence[Run]) -> list[WrittenEpisodes]:
        results = list[WrittenEpisodes]()
        calls_left = CALLS
        pending_by_run = await self._calls.read(lambda tx: [pending_episodes(tx, run.lag) for run in runs])
        for run, pending_records in zip(runs, pending_by_run, strict=True):
            results.append(await self._write_summaries(run.lag, pending_records, calls_left))
            calls_left -= len(results[-1].records)
        return results

    async def _write_summaries(
        self, lag: Lag, pending_records: Sequence[EpisodeRecord], max_episodes: int
    ) -> WrittenEpisodes:
        """Have the model write at most so many pending episodes; the others stay pending. Summaries of messages come
        first, several in a call: those of summaries are written from them."""
        chosen_records = pending_records[:max_episodes]
        new_records: list[EpisodeRecord] = []
        for group in await self._group_records(chosen_records):
            for record, answer in zip(group, await self._ask_model(group, new_records), strict=True):
                if answer.outage is not None:
                    return WrittenEpisodes(new_records, SaveResult(lag.done, len(new_records), answer.outage))
                new_record = await self._writer.with_vector(rewrite_summary(record, answer.reply))
                episode = replace(new_record.episode, made_by=answer.made_by, pending=False)
                new_records.append(replace(new_record, episode=episode, base=episode.summary, base_last=episode.last))
        if len(pending_records) > max_episodes:
            return WrittenEpisodes(new_records, SaveResult(lag.done, len(new_records)))
        return WrittenEpisodes(new_records, SaveResult(lag.turns, max(len(new_records), 1)))

    async def _group_records(self, records: Sequence[EpisodeRecord]) -> list[dict[EpisodeRecord, EpisodeInputs | None]]:
        """The episodes in groups of which each is written in one call, the lowest level first; those of messages with
        what they are written from."""
        inputs = {record: await self._message_inputs(record) for record in records if record.episode.level == 1}
        sizes = prompts.batch_sizes([sum(len(line.text) for line in part.lines) for part in inputs.values()])
        remaining = iter(inputs.items())
        groups: list[dict[EpisodeRecord, EpisodeInputs | None]] = [dict(islice(remaining, size)) for size in sizes]
        groups += [{record: None} for record in records if record.episode.level > 1]
        return groups

    async def _ask_model(
        self, group: Mapping[EpisodeRecord, EpisodeInputs | None], new_records: Sequence[EpisodeRecord]
    ) -> Sequence[TaskResult[SummaryReply]]:
        """The model's summaries of a group; one that cannot be used is asked for again, alone."""
        inputs = [part for part in group.values() if part is not None]
        if not inputs:
            return [await self._ask_of_level(record.episode, new_records) for record in group]
        if len(inputs) == 1:
            return [await self._asking.ask(prompts.episode_summary, inputs[0])]
        answer = await self._asking.ask(prompts.episode_batch, prompts.BatchInputs(tuple(inputs)))
        return [
            await self._asking.ask(prompts.episode_summary, part)
            if reply is None
            else TaskResult(reply, answer.made_by, answer.outage)
            for part, reply in zip(inputs, answer.reply.replies, strict=True)
        ]

    async def _ask_of_level(self, episode: Episode, new_records: Sequence[EpisodeRecord]) -> TaskResult[SummaryReply]:
        new_episodes = {episode_key(record.episode): record.episode for record in new_records}
        parts = await self._calls.read(lambda tx: parts_of(tx, episode))
        episodes = [new_episodes.get(episode_key(part.episode), part.episode) for part in parts]
        if len(episodes) > MOST_PARTS:  # a busy day
            fullest = sorted(episodes, key=lambda part: -len(part.lines))[:MOST_PARTS]
            episodes = sorted(fullest, key=lambda part: part.first)
        return await self._asking.ask(prompts.level_summary, self._writer.level_inputs(episodes))

    async def _message_inputs(self, record: EpisodeRecord) -> EpisodeInputs:
        """What an episode is written from: the messages since the model last wrote it, and what it wrote."""
        episode = record.episode
        begin = max(record.base_last, episode.first - 1)
        where = Filter(episode.space, conversation=episode.conversation)

        def load_messages(tx: Tx) -> Sequence[Message]:
            nicknames = read_channel_names(tx, episode.space, episode.conversation, episode.last + 1)
            messages = readable_messages(tx, WINDOW, where, after=begin, upto=episode.last)
            threads, since = threads_between(tx, episode.space, episode.conversation, episode.first - 1, episode.last)
            if since <= episode.last:
                nicknames.is_of_group = True
                thread = threads.get(episode.first)
                messages = [message for message in messages if threads.get(message.turn) == thread]
            return [show_addressee(message, nicknames) for message in messages]

        return self._writer.message_inputs(await self._calls.read(load_messages), record.base)

    def save(self, tx: Tx, result: WrittenEpisodes) -> SaveResult:
        for record in result.records:
            episode = record.episode
            lock_conversation(tx, episode.space, episode.conversation)
            current = find_episode(tx, episode)
            if current is None:
                continue
            if current.episode.last != episode.last:  # it has grown meanwhile: the model is asked about the rest later
                put_episodes(tx, [replace(current, base=record.base, base_last=record.base_last)])
                continue
            new_episode = replace(episode, active=current.episode.active)
            put_episodes(tx, [replace(record, episode=new_episode, parent=current.parent)])
        return result.progress


@dataclass(frozen=True, slots=True)
class WrittenEpisodes:
    """The episodes the model wrote, and how far the view got."""

    records: Sequence[EpisodeRecord]
    progress: SaveResult


# -- records


def clamp(size: int, bounds: tuple[int, int]) -> int:
    return min(max(size, bounds[0]), bounds[1])


def episode_key(episode: Episode) -> tuple[int, int]:
    return episode.level, episode.first


def newest_episode(active: Iterable[EpisodeRecord]) -> EpisodeRecord | None:
    """The last episode of level 1."""
    level_one = [record for record in active if record.episode.level == 1]
    return max(level_one, key=lambda record: record.episode.first, default=None)


def rewrite_summary(record: EpisodeRecord, reply: SummaryReply) -> EpisodeRecord:
    """The episode with a summary, and without the vector of the one before."""
    lines = reply.lines or narrative_lines(reply.summary, record.episode.last, record.episode.ended)
    episode = replace(record.episode, summary=reply.summary, lines=lines, made_by="offline")
    return replace(record, episode=episode, vector=None)


def mark_pending(record: EpisodeRecord, pending: bool) -> EpisodeRecord:
    # If the model has written it already and nothing was added, it need not be written again.
    is_written = record.base_last == record.episode.last and bool(record.base)
    return replace(record, episode=replace(record.episode, pending=pending and not is_written))


def reconcile_with_model(record: EpisodeRecord, current: EpisodeRecord) -> EpisodeRecord:
    """What to store of an episode the built-in writer has changed, given what the model may have stored meanwhile."""
    record = replace(record, base=current.base, base_last=current.base_last)
    if current.episode.last == record.episode.last and current.episode.made_by == "model":
        # It was only merged into another: it keeps the model's summary.
        episode = replace(current.episode, active=record.episode.active)
        return replace(record, episode=episode, vector=current.vector)
    return mark_pending(record, record.episode.pending)


# -- rows


def lock_conversation(tx: Tx, space: str, conversation: str) -> None:
    """Lock a conversation: nobody else writes its episodes or topics until the transaction ends."""
    stored_conversation = tx.conversation(space, conversation)
    assert stored_conversation is not None  # it has messages
    tx.lock_conversation(
        Conversation(space, conversation, None, stored_conversation.created_at, stored_conversation.changed_at)
    )


def active_episodes(tx: Tx, space: str, conversation: str) -> tuple[EpisodeRecord, ...]:
    """The episodes that are part of no other, in order of level and turn."""
    return cached_episodes(tx, space, conversation, parent=None)


def cached_episodes(tx: Tx, space: str, conversation: str, **values: int | None) -> tuple[EpisodeRecord, ...]:
    """The episodes of a conversation whose columns have these values. Every context needs some: they are cached."""

    def read_episodes() -> tuple[EpisodeRecord, ...]:
        rows = tx.rows(TABLE, where={"space": space, "conversation": conversation, **values})
        return tuple(map(to_record, rows))

    return tx.cache.get(tx, (TABLE, space, conversation), tuple(values.items()), read_episodes)


def pending_episodes(tx: Tx, lag: Lag) -> list[EpisodeRecord]:
    """The episodes of a conversation that wait for the model, in the order in which it writes them."""
    rows = tx.rows(TABLE, where={"space": lag.space, "conversation": lag.conversation, "pending": 1})
    return sorted(map(to_record, rows), key=lambda record: (record.episode.last, record.episode.level))


def parts_of(tx: Tx, episode: Episode) -> tuple[EpisodeRecord, ...]:
    return cached_episodes(tx, episode.space, episode.conversation, level=episode.level - 1, parent=episode.first)


def find_episode(tx: Tx, episode: Episode) -> EpisodeRecord | None:
    place = {"space": episode.space, "conversation": episode.conversation}
    rows = tx.rows(TABLE, where={**place, "level": episode.level, "first": episode.first})
    return to_record(rows[0]) if rows else None


def written_episodes(tx: Tx, space: str, conversation: str, first: int, last: int) -> list[Episode]:
    """The episodes of level 1 that a model has written and that begin between two turns."""
    place = {"space": space, "conversation": conversation, "level": 1}
    rows = tx.rows(TABLE, {**place, "first": first - 1}, MOST_WRITTEN, where=place)
    episodes = [to_record(row).episode for row in rows]
    return [episode for episode in episodes if episode.made_by == "model" and episode.first <= last]


def episode_tree(tx: Tx, space: str, conversation: str) -> list[Episode]:
    """The active episodes, highest level first and then oldest first, each with its parts down to level 1."""
    records = [to_record(row) for row in tx.rows(TABLE, where={"space": space, "conversation": conversation})]
    episodes_by_key: dict[tuple[int, int], Episode] = {}
    for record in records:  # in order of level: the parts of an episode come before it
        parts = [
            episodes_by_key[episode_key(part.episode)]
            for part in records
            if part.parent == record.episode.first and part.episode.level == record.episode.level - 1
        ]
        episodes_by_key[episode_key(record.episode)] = replace(record.episode, parts=tuple(parts))
    active = [episodes_by_key[episode_key(record.episode)] for record in records if record.parent is None]
    return sorted(active, key=lambda episode: (-episode.level, episode.first))


def put_episodes(tx: Tx, records: Sequence[EpisodeRecord]) -> None:
    tx.put(TABLE, [episode_row(record) for record in records])


EPISODE_COLUMNS = ("space", "conversation", "level", "first", "last", "began", "ended", "summary", "made_by")
"""Columns of an episode that hold what the field of that name does."""


def episode_row(record: EpisodeRecord) -> dict[str, Any]:
    return {
        **{name: getattr(record.episode, name) for name in EPISODE_COLUMNS},
        "user_id": record.user,
        "pending": int(record.episode.pending),
        "parent": record.parent,
        "base": record.base,
        "base_last": record.base_last,
        "vec": record.vector,
        "extract": to_object(record.episode.lines),
    }


def to_record(row: Mapping[str, Any]) -> EpisodeRecord:
    episode = Episode(
        **{name: row[name] for name in EPISODE_COLUMNS},
        pending=bool(row["pending"]),
        active=row["parent"] is None,
        lines=from_object(row["extract"]),
    )
    return EpisodeRecord(episode, row["user_id"], row["parent"], row["base"], row["base_last"], row["vec"])


# -- search


def nearest_episodes(tx: Tx, where: Filter, vector: Vectors, limit: int, least: float) -> list[Episode]:
    """The episodes of a person, or of a channel, that are closest in meaning and close enough, best first.

    The search starts with the active episodes and descends from each into the part that is closer still: so it costs
    the same however long the history is.
    """
    scope: dict[str, Any] = {"space": where.space, "parent": None}
    scope |= {"user_id": where.user} if where.user is not None else {"conversation": where.conversation or ""}
    hits = list[tuple[Episode, float]]()
    for key, cosine in tx.near(TABLE, vector, limit, where=scope):
        active = active_episodes(tx, where.space, key["conversation"])
        (record,) = (record for record in active if episode_key(record.episode) == (key["level"], key["first"]))
        hits.append(closest_part(tx, record.episode, cosine, vector))
    close_hits = sorted((hit for hit in hits if hit[1] >= least), key=lambda hit: -hit[1])
    return [episode for episode, _ in close_hits]


def closest_part(tx: Tx, episode: Episode, cosine: float, vector: Vectors) -> tuple[Episode, float]:
    """An episode that has this cosine, or its closest part at any level that is closer still."""
    while episode.level > 1:
        parts = parts_of(tx, episode)
        cosines = cosines_to(parts, vector)
        part_cosine = max(cosines, default=0.0)
        if part_cosine <= cosine or not parts:
            break
        episode = parts[cosines.index(part_cosine)].episode
        cosine = part_cosine
    return episode, cosine


def cosines_to(records: Sequence[EpisodeRecord], vector: Vectors) -> list[float]:
    """The cosine of each episode; 0 for one without a vector."""
    zeros = bytes(2 * len(vector))
    data = b"".join([record.vector or zeros for record in records])
    matrix = np.frombuffer(data, np.float16).reshape(len(records), len(vector)).astype(np.float32)
    cosines: list[float] = np.vecdot(matrix, vector).tolist()
    return cosines
