"""Episodes: what left the window, as summaries in levels, each knowing the turns it came from.

The moment messages leave, the built-in writer summarises them: a run is cut where its subject changes, and one that
goes on with the subject of the last episode extends it. When a level has too many, the oldest become one of the next.
If there is a memory model, each such summary is a stand-in until the model has written its own, in order, once: a model
that is away for hours finds everything still waiting, and of an episode that has grown it is asked for what is new.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from recollect.engine.work.ask import Answer, Asking
from recollect.engine.work.faults import readable_messages, reason_of
from recollect.engine.work.view import Run, Saved
from recollect.model import Conversation, Episode, Filter, Message
from recollect.ports import Embedder, Lag, Tokenizer, Tx, Vectors
from recollect.rules.episodes.extract import Line
from recollect.rules.episodes.levels import next_merge
from recollect.rules.episodes.segments import continues, cuts
from recollect.tasks import episode_summary, level_summary

log = logging.getLogger("recollect.episodes")

TABLE = "episodes"
WINDOW = "window"  # the view that wrote them first: what it has set aside is in none of them
NOBODY = ""  # the user_id of an episode of a channel
LONGEST = 30  # messages in one episode of level 1
SHARE = 6  # a summary has one token for so many of what it summarises
TOKENS = (64, 200)  # the least and the most of a summary of messages
LEVEL_TOKENS = (80, 240)  # the same of a summary of summaries
LEVEL_SHARE = 2
CHARACTERS = 4  # of a token, about
CALLS = 8  # of the model in one step
BACKLOG = 1_000  # turns: who is further behind is importing; what is no longer active then is not asked of a model


@dataclass(frozen=True, slots=True)
class Kept:
    """An episode as the store has it.

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
    """The cosine of texts that have nothing to do with each other: its mean and deviation for the embedder at hand."""

    unrelated: float
    spread: float


class Writer:
    """Writes episodes without a model."""

    def __init__(
        self,
        embedder: Embedder,
        tokenizer: Tokenizer,
        run: Callable[..., Awaitable[Any]],
        calibration: Calibration,
        at_level: int,
        in_all: int,
    ) -> None:
        self._embedder, self._tokenizer, self._run = embedder, tokenizer, run
        self._calibration, self._at_level, self._in_all = calibration, at_level, in_all

    async def grow(
        self,
        lag: Lag,
        user: str,
        active: Sequence[Kept],
        gone: Sequence[Message],
        known: Mapping[int, Vectors],
        pending: bool,
    ) -> list[Kept]:
        """The episodes that are new or changed now that these messages have left the window.

        `known` are the vectors, by turn, of these messages and of those of the last episode.
        """
        here = {key(one.episode): one for one in active}
        changed: dict[tuple[int, int], Kept] = {}
        said = [message for message in gone if not message.erased and message.content.strip()]
        vectors = stacked([known.get(message.turn) for message in said])
        for start, end in pieces(said, vectors):
            part = said[start:end]
            last = newest(here.values())
            on = last is not None and self._goes_on(last.episode, part, vectors[start:end], known)
            one = await self._level_one(lag, user, last if on else None, part)
            self._note(one, here, changed)
            while merge := next_merge([*here], self._at_level, self._in_all):
                parts = [here.pop((merge.level, first)) for first in merge.firsts]
                whole = await self._merged(parts)
                for part_of in parts:
                    changed[key(part_of.episode)] = absorbed(part_of, whole.episode.first)
                self._note(whole, here, changed)
        far = lag.turns - lag.done > BACKLOG
        return [waiting(one, pending and (one.parent is None or not far)) for one in changed.values()]

    @staticmethod
    def _note(one: Kept, *places: dict[tuple[int, int], Kept]) -> None:
        for place in places:
            place[key(one.episode)] = one

    async def _level_one(self, lag: Lag, user: str, last: Kept | None, part: Sequence[Message]) -> Kept:
        """The last episode with these messages added, or a new one."""
        if last is not None:
            grown = replace(last, episode=replace(last.episode, last=part[-1].turn, ended=part[-1].time))
        else:
            turns, times = (part[0].turn, part[-1].turn), (part[0].time, part[-1].time)
            grown = Kept(Episode(lag.space, lag.conversation, 1, *turns, *times, ""), user)
        reply = await self._run(episode_summary.offline, self.message_inputs(part, grown.episode.summary))
        return await self.with_summary(grown, reply)

    def _goes_on(self, last: Episode, part: Sequence[Message], vectors: Vectors, known: Mapping[int, Vectors]) -> bool:
        before = [known[turn] for turn in range(last.first, last.last + 1) if turn in known]
        if not before or part[-1].turn - last.first >= LONGEST:
            return False
        scale = self._calibration
        return continues(np.mean(before, axis=0), vectors, unrelated=scale.unrelated, spread=scale.spread)

    async def _merged(self, parts: Sequence[Kept]) -> Kept:
        first, last = parts[0].episode, parts[-1].episode
        whole = Episode(
            first.space, first.conversation, first.level + 1, first.first, last.last, first.began, last.ended, ""
        )
        reply = await self._run(level_summary.offline, self.level_inputs([one.episode.summary for one in parts]))
        return await self.with_summary(Kept(whole, parts[0].user), reply)

    def level_inputs(self, summaries: Sequence[str]) -> level_summary.Inputs:
        size = sum(self._tokenizer.count(summary) for summary in summaries)
        limit = within(size // LEVEL_SHARE, LEVEL_TOKENS)
        return level_summary.Inputs(tuple(summaries), limit, self._tokenizer.count)

    async def with_summary(self, one: Kept, reply: episode_summary.Reply | level_summary.Reply) -> Kept:
        """The episode with a summary, and its vector; without one if the embedder fails: found by its messages."""
        summarised, stored = replace(one.episode, summary=reply.summary, made_by="offline"), None
        try:
            vector = (await self._embedder.embed([reply.summary]))[0].astype(np.float16)
            stored = vector.tobytes() if vector.any() else None
        except Exception as error:  # noqa: BLE001  an embedder may fail in any way on what one message brought in
            log.warning("an episode has no vector: %s", reason_of(error))
        return replace(one, episode=summarised, vector=stored)

    def message_inputs(self, part: Sequence[Message], before: str) -> episode_summary.Inputs:
        """What is to be summarised of a run of messages, after what has been written of those before."""
        said = [message for message in part if not message.erased and message.content.strip()]
        lines = tuple(Line(message.role, message.author, message.content) for message in said)
        size = sum(len(line.text) for line in lines) // CHARACTERS + self._tokenizer.count(before) * SHARE
        return episode_summary.Inputs(lines, before, within(size // SHARE, TOKENS), self._tokenizer.count)


class EpisodesView:
    """Has the memory model write the summaries for which the built-in writer's stand in."""

    name = "episodes"
    at_once = 0
    ordered = False

    def __init__(self, asking: Asking, writer: Writer, read: Callable[..., Awaitable[Any]]) -> None:
        self._asking, self._writer, self._read = asking, writer, read

    def first(self, done: int, turns: int) -> int:
        return done

    async def prepare(self, runs: Sequence[Run]) -> list[Written]:
        results, calls = list[Written](), CALLS
        pending = await self._read(lambda tx: [pending_episodes(tx, run.lag) for run in runs])
        for run, waiting in zip(runs, pending, strict=True):
            results.append(await self._written(run.lag, waiting, calls))
            calls -= len(results[-1].made)
        return results

    async def _written(self, lag: Lag, waiting: Sequence[Kept], calls: int) -> Written:
        """What the model writes of the episodes that wait, with so many calls; the rest is left for later."""
        made: list[Kept] = []
        for one in waiting[:calls]:
            answer = await self._asked(one, {key(other.episode): other for other in made})
            if answer.outage is not None:
                return Written(made, Saved(lag.done, len(made), answer.outage))
            done = await self._writer.with_summary(one, answer.reply)
            episode = replace(done.episode, made_by=answer.made_by, pending=False)
            made.append(replace(done, episode=episode, base=episode.summary, base_last=episode.last))
        if len(waiting) > calls:
            return Written(made, Saved(lag.done, len(made)))
        return Written(made, Saved(lag.turns, max(len(made), 1)))

    async def _asked(
        self, one: Kept, fresh: Mapping[tuple[int, int], Kept]
    ) -> Answer[episode_summary.Reply] | Answer[level_summary.Reply]:
        episode = one.episode
        if episode.level > 1:
            below = await self._read(lambda tx: parts_of(tx, episode))
            summaries = [fresh.get(key(part.episode), part).episode.summary for part in below]
            return await self._asking.ask(level_summary, self._writer.level_inputs(summaries))
        begin = max(one.base_last, episode.first - 1)
        where = Filter(episode.space, conversation=episode.conversation)
        part = await self._read(lambda tx: readable_messages(tx, WINDOW, where, after=begin, upto=episode.last))
        return await self._asking.ask(episode_summary, self._writer.message_inputs(part, one.base))

    def save(self, tx: Tx, result: Written) -> Saved:
        for one in result.made:
            episode = one.episode
            lock(tx, episode.space, episode.conversation)
            there = stored(tx, episode)
            if there is None:
                continue
            if there.episode.last != episode.last:  # it has grown in the meantime: the model is asked for the rest
                put(tx, [replace(there, base=one.base, base_last=one.base_last)])
                continue
            kept = replace(episode, active=there.episode.active)
            put(tx, [replace(one, episode=kept, parent=there.parent)])
        return result.saved


@dataclass(frozen=True, slots=True)
class Written:
    """What the model wrote, and how far that is all."""

    made: Sequence[Kept]
    saved: Saved


# -- pieces of a run


def stacked(known: Sequence[Vectors | None]) -> Vectors:
    """One row a message; zeros for one that has no vector."""
    width = max((len(vector) for vector in known if vector is not None), default=1)
    rows = [np.zeros(width, np.float32) if vector is None else vector for vector in known]
    return np.array(rows, np.float32).reshape(len(known), width)


def pieces(said: Sequence[Message], vectors: Vectors) -> list[tuple[int, int]]:
    """Where a run of messages is cut: from where to where."""
    if not said:
        return []
    sizes = [len(message.content) // CHARACTERS + 1 for message in said]
    starts = [0, *cuts(vectors, sizes, longest=LONGEST, may=[message.role == "user" for message in said]), len(said)]
    return list(pairwise(starts))


def within(size: int, bounds: tuple[int, int]) -> int:
    return min(max(size, bounds[0]), bounds[1])


def key(episode: Episode) -> tuple[int, int]:
    return episode.level, episode.first


def newest(active: Iterable[Kept]) -> Kept | None:
    """The last episode of messages."""
    of_messages = [one for one in active if one.episode.level == 1]
    return max(of_messages, key=lambda one: one.episode.first, default=None)


def absorbed(one: Kept, parent: int) -> Kept:
    return replace(one, episode=replace(one.episode, active=False), parent=parent)


def waiting(one: Kept, pending: bool) -> Kept:
    # What the model has written of it already, and nothing has been added to, need not be written again.
    done = one.base_last == one.episode.last and bool(one.base)
    return replace(one, episode=replace(one.episode, pending=pending and not done))


def after_model(one: Kept, there: Kept) -> Kept:
    """What is to be stored of an episode the writer has changed, given what the model may have stored meanwhile."""
    one = replace(one, base=there.base, base_last=there.base_last)
    if there.episode.last == one.episode.last and there.episode.made_by == "model":
        # Only its place has changed: it was absorbed. Its summary is the model's.
        kept = replace(there.episode, active=one.episode.active)
        return replace(one, episode=kept, vector=there.vector)
    return waiting(one, one.episode.pending)


# -- rows


def lock(tx: Tx, space: str, conversation: str) -> None:
    """Nobody else writes to this conversation's episodes until we end."""
    there = tx.conversation(space, conversation)
    assert there is not None  # it has messages
    tx.lock_conversation(Conversation(space, conversation, None, there.created_at, there.changed_at))


def active_episodes(tx: Tx, space: str, conversation: str) -> list[Kept]:
    """Those that are part of no other, in order of level and turn."""
    rows = tx.rows(TABLE, where={"space": space, "conversation": conversation, "parent": None})
    return [to_kept(row) for row in rows]


def pending_episodes(tx: Tx, lag: Lag) -> list[Kept]:
    """Those of a conversation that wait for the model, in the order in which it is to write them."""
    rows = tx.rows(TABLE, where={"space": lag.space, "conversation": lag.conversation, "pending": 1})
    return sorted(map(to_kept, rows), key=lambda kept: (kept.episode.last, kept.episode.level))


def parts_of(tx: Tx, episode: Episode) -> list[Kept]:
    return parts_of_all(tx, [episode]).get((episode.conversation, episode.first), [])


def stored(tx: Tx, episode: Episode) -> Kept | None:
    place = {"space": episode.space, "conversation": episode.conversation}
    rows = tx.rows(TABLE, where={**place, "level": episode.level, "first": episode.first})
    return to_kept(rows[0]) if rows else None


def tree(tx: Tx, space: str, conversation: str) -> list[Episode]:
    """The active episodes, highest level first and then oldest first, each with its parts down to level 1."""
    every = [to_kept(row) for row in tx.rows(TABLE, where={"space": space, "conversation": conversation})]
    built: dict[tuple[int, int], Episode] = {}
    for one in every:  # in order of level: the parts of an episode come before it
        parts = [
            built[key(part.episode)]
            for part in every
            if part.parent == one.episode.first and part.episode.level == one.episode.level - 1
        ]
        built[key(one.episode)] = replace(one.episode, parts=tuple(parts))
    top = [built[key(one.episode)] for one in every if one.parent is None]
    return sorted(top, key=lambda episode: (-episode.level, episode.first))


def nearest(tx: Tx, where: Filter, vector: Vectors, limit: int, least: float) -> list[Episode]:
    """The episodes of a person, or of a channel, that are closest in meaning and close enough, best first.

    The active ones are looked at, and from the closest the way goes down to whichever part is closer still: so it costs
    the same however long the history is.
    """
    scope: dict[str, Any] = {"space": where.space, "parent": None}
    scope |= {"user_id": where.user} if where.user is not None else {"conversation": where.conversation or ""}
    found = [(to_kept(row), cosine) for row, cosine in tx.near(TABLE, vector, limit, where=scope)]
    close = sorted((one for one in deepest(tx, found, vector) if one[1] >= least), key=lambda one: -one[1])
    return [one.episode for one, _ in close]


def deepest(tx: Tx, found: Sequence[tuple[Kept, float]], vector: Vectors) -> list[tuple[Kept, float]]:
    """Each of these episodes, or the part of it, or of that, which is closer still. One look at each level."""
    best, going = list(found), set(range(len(found)))
    for level in range(max((one.episode.level for one, _ in found), default=1), 1, -1):
        here = [at for at in going if best[at][0].episode.level == level]
        parts = parts_of_all(tx, [best[at][0].episode for at in here])
        for at in here:
            own = parts.get((best[at][0].episode.conversation, best[at][0].episode.first), ())
            closest = max(((part, likeness(part, vector)) for part in own), key=lambda part: part[1], default=best[at])
            if closest[1] <= best[at][1]:
                going.discard(at)
            else:
                best[at] = closest
    return best


def parts_of_all(tx: Tx, episodes: Sequence[Episode]) -> dict[tuple[str, int], list[Kept]]:
    """The parts of episodes of one level, by the conversation and the first turn of the episode."""
    if not episodes:
        return {}
    chats = tuple(dict.fromkeys(one.conversation for one in episodes))
    firsts = tuple(dict.fromkeys(one.first for one in episodes))
    where = {"space": episodes[0].space, "conversation": chats, "level": episodes[0].level - 1, "parent": firsts}
    found: dict[tuple[str, int], list[Kept]] = {}
    for row in tx.rows(TABLE, where=where):
        found.setdefault((row["conversation"], row["parent"]), []).append(to_kept(row))
    return found


def likeness(one: Kept, vector: Vectors) -> float:
    return 0.0 if one.vector is None else float(np.frombuffer(one.vector, np.float16).astype(np.float32) @ vector)


def put(tx: Tx, changed: Sequence[Kept]) -> None:
    tx.put(TABLE, [row_of(one) for one in changed])


def row_of(one: Kept) -> dict[str, Any]:
    episode = one.episode
    return {
        "space": episode.space,
        "conversation": episode.conversation,
        "level": episode.level,
        "first": episode.first,
        "last": episode.last,
        "user_id": one.user,
        "began": episode.began,
        "ended": episode.ended,
        "summary": episode.summary,
        "made_by": episode.made_by,
        "pending": int(episode.pending),
        "parent": one.parent,
        "base": one.base,
        "base_last": one.base_last,
        "vec": one.vector,
    }


def to_kept(row: Mapping[str, Any]) -> Kept:
    episode = Episode(
        row["space"],
        row["conversation"],
        row["level"],
        row["first"],
        row["last"],
        row["began"],
        row["ended"],
        row["summary"],
        row["made_by"],
        bool(row["pending"]),
        row["parent"] is None,
    )
    return Kept(episode, row["user_id"], row["parent"], row["base"], row["base_last"], row["vec"])
