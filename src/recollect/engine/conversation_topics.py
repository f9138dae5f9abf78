"""What a conversation does with its topics: talking, reading them back, and telling what one thinks of them.

`add_user_message` and `add_assistant_message` keep a message and give it to its topic in one transaction. Everything
else reads, or tells: a tag, a vote, a merge or its undoing is kept as it was told, so that topics made anew have it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.engine.context import recall
from recollect.engine.tables import log
from recollect.engine.tables import topics as rows
from recollect.engine.views.titles import Wanted, wanted, written
from recollect.engine.views.topics import KEY, VIEW, Followed, Page, lock, tell
from recollect.errors import InvalidInput, NotFound, ScopeError
from recollect.language.terms import analyse, passages
from recollect.model import ChatMessage, Conversation, Draft, Filter, Message, Role
from recollect.model.topics import Topic, TopicHit, TopicMessage, TopicStats
from recollect.ports import Tx, Vectors
from recollect.rules import log as rules
from recollect.rules.access import Access
from recollect.rules.topics import topics as rule

if TYPE_CHECKING:
    from recollect.engine.memory import MemoryEngine

T = TypeVar("T")

MAX_TAG = 64  # characters
MAX_TOPICS = 100  # topics a search gives
LOOKED_AT = 200  # messages a search for topics looks at
TAGGED = 5.0  # what a tag that is asked for adds to a topic's score


class TopicalConversation:
    """The part of a conversation that knows about topics."""

    _memory: MemoryEngine
    _access: Access
    space: str
    id: str
    user: str | None

    # -- talking

    async def add_user_message(
        self, text: str, importance: float = rule.IMPORTANCE, *, author: str | None = None, time: datetime | None = None
    ) -> Topic:
        """Keep a user's message and give it to its topic, which it may open or bring back. Returns the topic.

        `importance`, from 0 to 1, is what the topic is worth to whoever says it.
        """
        given = checked_importance(importance)
        metadata = {} if given == rule.IMPORTANCE else {KEY: {"importance": given}}
        return await self._said("user", text, author, time, metadata)

    async def add_assistant_message(self, text: str, *, time: datetime | None = None) -> Topic:
        """Keep a reply and give it to the topic it follows. Returns the topic."""
        return await self._said("assistant", text, None, time, {})

    async def _said(
        self, role: Role, text: str, author: str | None, time: datetime | None, metadata: dict[str, Any]
    ) -> Topic:
        if not rules.checked_text("text", text).strip():
            raise InvalidInput("text", "is empty; nothing to keep")
        memory, now = self._memory, self._memory._opened.clock.now()
        (vector,) = await self._vectors([text])
        draft = Draft(role, text, author, None, time, None, metadata)
        batch = log.drawn(log.Batch(self.space, self.id, self.user, [draft]), now)
        tried = False

        def write(tx: Tx) -> tuple[Message, Followed, Topic | None]:
            # If a first run was committed and only its answer got lost, the second finds its message by its id.
            nonlocal tried
            fresh, tried = () if tried else log.ids_of([batch]), True
            message = log.append(tx, batch, now, fresh)[0].message
            page = memory._topics.read(tx, self.space, self.id)
            if page.cold:  # what is held ready was made with vectors of this embedder
                memory._index.check(tx)
            given = {message.turn: vector}
            done = memory._topics.follow(tx, self.space, self.id, message.turn, given, message, page)
            return message, done, self._topic_of(tx, done.page, message.turn, now)

        message, done, topic = await memory._write(write)
        while topic is None:
            done, topic = await self._caught_up_to(message, done, now)
        memory._wake()
        return topic

    async def _caught_up_to(self, message: Message, done: Followed, now: datetime) -> tuple[Followed, Topic | None]:
        """There are messages that have no topic yet, perhaps not even a place in the index: they come first."""
        found = await self._vectors([one.content for one in done.missing]) if done.missing else []
        given = {one.turn: vector for one, vector in zip(done.missing, found, strict=True)}

        def write(tx: Tx) -> tuple[Followed, Topic | None]:
            further = self._memory._topics.follow(tx, self.space, self.id, message.turn, given)
            return further, self._topic_of(tx, further.page, message.turn, now)

        return await self._memory._write(write)

    async def _vectors(self, texts: Sequence[str]) -> list[Vectors]:
        """As the index would have them: of a long message its beginning counts."""
        found = await self._memory._opened.embedder.embed([passages(text)[0] for text in texts])
        return list(found)

    # -- reading

    async def topics(self, *, faded: bool = False) -> list[Topic]:
        """What is talked about, the most present first; with `faded`, also what has left the active set."""

        def read(tx: Tx, page: Page, now: datetime) -> list[Topic]:
            every = {**(page.faded(tx).states if faded else {}), **page.book.states}
            written = {row["topic"]: row["summary"] for row in tx.rows(rows.SUMMARIES, where=page.place)}
            found = [topic_of(every, first, page, written.get(first, ""), now) for first in rule.roots(every)]
            return sorted(found, key=lambda topic: (topic.faded, -topic.priority, topic.id))

        return await self._reading(read, [])

    async def get_topic_context(self, topic_id: str | None = None) -> list[ChatMessage]:
        """What to send of a topic: its summary, if it has one, and the messages of its active set. Without an id, of
        the topic that is being talked of; empty if nothing was said yet."""
        await self._summarised(topic_id)

        def read(tx: Tx, page: Page, now: datetime) -> list[ChatMessage]:
            parts = self._parts(tx, page, topic_id)
            said = [rows.summary_of(tx, page.place, part.first)["summary"] for part in parts if part.opened is None]
            told: list[ChatMessage] = []
            if summary := " ".join(one for one in said if one):
                told.append({"role": "system", "content": f"Topic summary: {summary}"})
            return told + [{"role": m.role, "content": m.content} for m in rows.active_of(tx, page.place, parts)]

        return await self._reading(read, [])

    async def get_full_topic_history(
        self, topic_id: str | None = None, include_compressed: bool = True
    ) -> list[TopicMessage]:
        """Every message of a topic, in order; without `include_compressed`, only those of its active set."""

        def read(tx: Tx, page: Page, now: datetime) -> list[TopicMessage]:
            parts = self._parts(tx, page, topic_id)
            return (rows.history_of if include_compressed else rows.active_of)(tx, page.place, parts)

        return await self._reading(read, [])

    async def get_topic_stats(self, topic_id: str | None = None) -> TopicStats:
        """A topic in figures; without an id, the one that is being talked of."""

        def read(tx: Tx, page: Page, now: datetime) -> TopicStats | None:
            parts = self._parts(tx, page, topic_id)
            if not parts:
                return None
            topic = self._topic(tx, page, parts[0].first, now)
            return TopicStats(
                topic_id=topic.id,
                topic_title=topic.title,
                active_messages=topic.messages - topic.packed,
                compressed_messages=topic.packed,
                total_messages=topic.messages,
                has_summary=bool(topic.summary),
                importance_score=topic.importance,
                access_count=topic.accesses,
                memory_type=topic.kind,
                half_life_days=topic.half_life / rule.DAY,
                age_seconds=max((now - topic.created_at).total_seconds(), 0.0),
                inactive_seconds=max((now - topic.last_active_at).total_seconds(), 0.0),
            )

        found = await self._reading(read, None)
        if found is None:
            raise NotFound(f"conversation {self.id!r} has no topics yet; they begin with its first message")
        return found

    async def search_topics(self, query: str, *, limit: int = 5) -> list[TopicHit]:
        """The topics of this conversation that a query is about, best first, faded ones too: by what was said in
        them, by their titles and by their tags."""
        rules.checked_text("query", query)
        count = rules.checked_number("limit", limit, MAX_TOPICS)
        parts = self._memory._opened
        vector = (await parts.embedder.embed([query]))[0]

        def read(tx: Tx, page: Page, now: datetime) -> list[TopicHit]:
            self._memory._index.check(tx)
            where = Filter(self.space, conversation=self.id)
            hits = recall.search(tx, where, query, vector, LOOKED_AT, now, parts.weights)
            states = {**page.faded(tx).states, **page.book.states}
            given = {row["turn"]: row["topic"] for row in tx.rows(rows.TURNS, where=page.place)}
            scores, turns = dict[int, float](), dict[int, list[int]]()
            for hit in hits:
                first = given.get(hit.message.turn)
                if first in states:
                    whole = rule.root(states, first)
                    scores[whole] = max(scores.get(whole, 0.0), hit.score)
                    turns.setdefault(whole, []).append(hit.message.turn)
            for whole, more in called(states, query).items():
                scores[whole] = scores.get(whole, 0.0) + more
            best = sorted(scores, key=lambda first: (-scores[first], first))[:count]
            found = ((self._topic(tx, page, first, now), first) for first in best)
            return [TopicHit(topic, scores[first], tuple(turns.get(first, ()))) for topic, first in found]

        return await self._reading(read, [])

    async def _subject(self) -> str:
        """What is being talked of, in a few words."""

        def read(tx: Tx, page: Page, now: datetime) -> str:
            parts = self._parts(tx, page, None)
            return rule.subject(parts[0].title, parts[0].made_by) if parts else ""

        return await self._reading(read, "")

    # -- telling

    async def merge_topics(self, topic_id: str, other: str) -> Topic:
        """Make two topics one: the other becomes part of the first, which is returned. `undo_merge` takes it out."""

        def change(tx: Tx, page: Page, now: datetime) -> int:
            first, second = self._whole(tx, page, topic_id), self._whole(tx, page, other)
            if first == second:
                raise InvalidInput("other", f"{other!r} and {topic_id!r} are one topic already")
            tell(tx, page, "merge", first, now, other=second)
            return first

        return await self._telling(change)

    async def undo_merge(self, topic_id: str) -> Topic:
        """Take a topic out of the one it has become part of, by itself or by `merge_topics`; the two stay apart from
        now on. Returns it."""

        def change(tx: Tx, page: Page, now: datetime) -> int:
            first = self._first_of(tx, page, topic_id)
            into = page.book.states[first].merged_into
            if into is None:
                raise InvalidInput("topic_id", f"{topic_id!r} is part of no other topic; nothing to undo")
            tell(tx, page, "apart", first, now, other=into)
            return first

        return await self._telling(change)

    async def tag_topic(self, topic_id: str, *tags: str, remove: bool = False) -> Topic:
        """Give a topic tags of your own, or with `remove` take them away. They are searched, and outlive a rebuild."""
        wanted = [checked_tag(tag) for tag in tags]
        if not wanted:
            raise InvalidInput("tags", "there are none; name at least one")

        def change(tx: Tx, page: Page, now: datetime) -> int:
            first = self._whole(tx, page, topic_id)
            for tag in wanted:
                tell(tx, page, "untag" if remove else "tag", first, now, tag)
            return first

        return await self._telling(change)

    async def feedback(self, topic_id: str, score: int) -> Topic:
        """Say that a topic matters (+1) or does not (-1): its importance moves, and with it how long it stays."""
        if isinstance(score, bool) or score not in (1, -1):
            raise InvalidInput("score", f"is {score!r}; must be 1 or -1")

        def change(tx: Tx, page: Page, now: datetime) -> int:
            first = self._whole(tx, page, topic_id)
            tell(tx, page, "feedback", first, now, str(score))
            return first

        return await self._telling(change)

    # -- how

    def _own(self, tx: Tx) -> Conversation | None:
        """The conversation, if there is one and it is this user's."""
        try:
            return log.owned(tx, self.space, self.id, self.user)
        except ScopeError:
            if self._access.is_bound:
                return None
            raise

    async def _reading(self, read: Callable[[Tx, Page, datetime], T], otherwise: T) -> T:
        memory, now = self._memory, self._memory._opened.clock.now()
        await memory._caught_up(self.space, VIEW)

        def run(tx: Tx) -> T:
            if self._own(tx) is None:
                return otherwise
            return read(tx, memory._topics.read(tx, self.space, self.id), now)

        return await memory._read(run)

    async def _telling(self, change: Callable[[Tx, Page, datetime], int]) -> Topic:
        memory, now = self._memory, self._memory._opened.clock.now()
        await memory._caught_up(self.space, VIEW)

        def run(tx: Tx) -> Topic:
            if self._own(tx) is None:
                raise NotFound(f"conversation {self.id!r} has no topics yet; they begin with its first message")
            lock(tx, self.space, self.id)
            page = memory._topics.read(tx, self.space, self.id)
            first = change(tx, page, now)
            memory._topics.write(tx, page)
            return self._topic(tx, page, first, now)

        return await memory._write(run)

    async def _summarised(self, topic_id: str | None) -> None:
        """See to it that what was packed of a topic is summarised: by the built-in writer, if nobody else has."""
        memory = self._memory

        def look(tx: Tx, page: Page, now: datetime) -> list[Wanted]:
            parts = [part for part in self._parts(tx, page, topic_id) if part.packed_upto]
            late = [p for p in parts if rows.summary_of(tx, page.place, p.first)["upto"] < p.packed_upto]
            return [wanted(tx, page.place, part, asks=False) for part in late]

        waiting: list[Wanted] = await self._reading(look, [])
        if not waiting:
            return
        done = [written(one, await memory._run(memory._titles.offline, one)) for one in waiting]
        made = [replace(one, final=not memory._asking.possible) for one in done]  # a model writes its own later

        def keep(tx: Tx) -> None:
            lock(tx, self.space, self.id)
            memory._titles.keep(tx, rows.place_of(self.space, self.id), made)

        await memory._write(keep)

    def _first_of(self, tx: Tx, page: Page, topic_id: str) -> int:
        number = topic_id[1:] if isinstance(topic_id, str) and topic_id[:1] == "t" else ""
        first = int(number) if number.isascii() and number.isdigit() and len(number) < 11 else 0
        if page.state(tx, first) is None:
            raise NotFound(f"there is no topic {topic_id!r} in this conversation; `topics(faded=True)` has them all")
        return first

    def _whole(self, tx: Tx, page: Page, topic_id: str) -> int:
        return page.root(tx, self._first_of(tx, page, topic_id))

    def _parts(self, tx: Tx, page: Page, topic_id: str | None) -> list[rule.State]:
        """The topic of that id, or the one being talked of, with what is part of it; none if nothing was said yet."""
        first = page.book.current if topic_id is None else self._whole(tx, page, topic_id)
        return [] if first is None else rule.parts(page.book.states, page.root(tx, first))

    def _topic_of(self, tx: Tx, page: Page, turn: int, now: datetime) -> Topic | None:
        """The topic a turn was given to; None if the topics have not got there yet."""
        if page.turn < turn:
            return None
        first = page.topic_at(tx, turn)
        assert first is not None  # it was given to one in this transaction or before
        return self._topic(tx, page, page.root(tx, first), now)

    def _topic(self, tx: Tx, page: Page, first: int, now: datetime) -> Topic:
        page.state(tx, first)
        packed = any(part.packed_upto for part in rule.parts(page.book.states, first))
        summary = rows.summary_of(tx, page.place, first)["summary"] if packed else ""
        return topic_of(page.book.states, first, page, summary, now)


def topic_of(states: Mapping[int, rule.State], first: int, page: Page, summary: str, now: datetime) -> Topic:
    """A topic as it is now, with what has become part of it."""
    own, state = states[first], rule.whole(states, first)
    others = rule.parts(states, first)[1:]
    current = page.book.current is not None and rule.root(page.book.states, page.book.current) == first
    return Topic(
        id=own.id,
        title=own.title,
        summary=summary,
        kind=rule.kind(state.accesses),
        half_life=rule.half_life(state.accesses),
        priority=rule.present(state, now),
        importance=rule.importance_of(state),
        accesses=state.accesses,
        messages=state.count,
        packed=sum(part.packed for part in (own, *others) if part.opened is None),
        created_at=state.created_at,
        last_active_at=state.last_active_at,
        tags=state.tags,
        current=current,
        faded=own.faded_at is not None,
        merged=tuple(other.id for other in others),
        made_by=own.made_by,
    )


def called(states: Mapping[int, rule.State], query: str) -> dict[int, float]:
    """What a query's words add to the topics that are called by them: by a tag, or by the title."""
    asked = analyse(query)
    wanted, found = set(asked.terms), dict[int, float]()
    for state in states.values():
        tags = sum(bool(wanted & set(analyse(tag, asked.language).terms)) or tag == query for tag in state.tags)
        shared = wanted & set(analyse(state.title, asked.language).terms)
        more = TAGGED * tags + len(shared) / max(len(wanted), 1)
        if more:
            first = rule.root(states, state.first)
            found[first] = found.get(first, 0.0) + more
    return found


def checked_importance(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput("importance", f"must be a number from 0 to 1, not {type(value).__name__}")
    if not 0 <= value <= 1:
        raise InvalidInput("importance", f"is {value}; must be from 0 to 1")
    return float(value)


def checked_tag(value: object) -> str:
    tag = " ".join(rules.checked_id("tag", value).split())
    if len(tag) > MAX_TAG:
        raise InvalidInput("tag", f"has {len(tag)} characters; at most {MAX_TAG} are allowed")
    return tag
