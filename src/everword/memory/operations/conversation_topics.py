"""What a conversation does with its topics: adding messages to them, reading them, and correcting them.

`add_user_message` and `add_assistant_message` keep a message and give it to its topic in one transaction. The other
methods read or correct: a tag, a vote, a merge or its undoing is kept as it was given, so that a rebuild applies it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from everword.errors import InvalidInput, NotFound
from everword.log import append_and_read as log
from everword.log import checks_and_seals
from everword.log.access import ConversationScope
from everword.log.operation_declarations import operation
from everword.memory.runtime import Runtime
from everword.model import Batch, ChatMessage, Draft, Filter, Message, Role, Topic, TopicHit, TopicMessage, TopicStats
from everword.model.log import NOTES
from everword.model.views import IMPORTANCE
from everword.ports import Tx, Vectors
from everword.recall import retrieval as recall
from everword.recall.retrieval import open_source
from everword.recall.rules.query import text_to_compare
from everword.summaries.episodes import lock_conversation
from everword.text.terms import analyse, passages
from everword.topics import stored_topics as rows
from everword.topics.rules import fading, topic_set
from everword.topics.rules.words import subject
from everword.topics.titles import PendingTopic, load_pending_topic, to_topic_text
from everword.topics.view import LAST, SPLIT, VIEW, FollowResult, TopicPage, record_note

T = TypeVar("T")

MAX_TAG = 64  # characters
MAX_TOPICS = 100  # topics a search gives
LOOKED_AT = 200  # messages a search for topics looks at
TAGGED = 5.0  # added to a topic's score for each tag that the query names


class ConversationTopics:
    """The operations on the topics of one conversation."""

    runtime: Runtime
    scope: ConversationScope

    # -- adding

    @operation(
        "POST /v1/conversations/{id}/topics", right="write", name="add_to_topic", sends={"role": "user"}, by_hand=True
    )
    async def add_user_message(
        self, text: str, importance: float = IMPORTANCE, *, author: str | None = None, time: datetime | None = None
    ) -> Topic:
        """Store a user's message and add it to its topic. A message can open a new topic, or make an inactive (faded)
        topic active again. Returns the topic. `importance`, from 0 to 1, says how much the topic matters to the
        author."""
        weight = checks_and_seals.check_share("importance", importance)
        metadata = {} if weight == IMPORTANCE else {NOTES: {"importance": weight}}
        return await self._add_message("user", text, author, time, metadata)

    @operation(
        "POST /v1/conversations/{id}/topics",
        right="write",
        name="add_to_topic",
        sends={"role": "assistant"},
        by_hand=True,
    )
    async def add_assistant_message(self, text: str, *, time: datetime | None = None) -> Topic:
        """Store a reply and add it to the topic of the message before it. Returns the topic."""
        return await self._add_message("assistant", text, None, time, {})

    async def _add_message(
        self, role: Role, text: str, author: str | None, time: datetime | None, metadata: dict[str, Any]
    ) -> Topic:
        if not checks_and_seals.check_text("text", text).strip():
            raise InvalidInput("text", "is empty; give a text")
        runtime = self.runtime
        now = self.runtime.parts.clock.now()
        (vector,) = await self._vectors([runtime.parts.secrets.mask(text)])
        draft = Draft(role, text, author, None, time, None, metadata)
        batch = log.with_ids(Batch(self.scope.space, self.scope.id, self.scope.user, [draft]), now)
        is_retry = False

        def write(tx: Tx) -> tuple[Message, FollowResult, Topic | None]:
            # If a first run was committed and only its answer got lost, the second finds its message by its id.
            nonlocal is_retry
            fresh = () if is_retry else log.draft_ids([batch])
            is_retry = True
            message = runtime.append_message(tx, batch, now, fresh)
            page = runtime.topics.read_page(tx, *self.scope.place)
            if page.cold:  # a cached page was made with vectors of this embedder
                runtime.index.check_embedder(tx)
            vectors_by_turn = {message.turn: vector}
            progress = runtime.topics.follow(
                tx, self.scope.space, self.scope.id, message.turn, vectors_by_turn, message, page
            )
            return message, progress, self._topic_of(tx, progress.page, message.turn, now)

        message, progress, topic = await runtime.write(write)
        while topic is None:
            progress, topic = await self._follow_missing(message.turn, message.turn, progress, now)
        runtime.wake(self.scope.space)
        return topic

    async def _follow_missing(
        self, upto: int, turn: int, progress: FollowResult, now: datetime
    ) -> tuple[FollowResult, Topic | None]:
        """Give topics to messages up to a turn that have none yet, perhaps not even a vector. Returns the topic of
        `turn`, once all have one."""
        vectors = await self._vectors([missing.content for missing in progress.missing]) if progress.missing else []
        vectors_by_turn = {missing.turn: vector for missing, vector in zip(progress.missing, vectors, strict=True)}

        def write(tx: Tx) -> tuple[FollowResult, Topic | None]:
            next_progress = self.runtime.topics.follow(tx, self.scope.space, self.scope.id, upto, vectors_by_turn)
            page = next_progress.page
            return next_progress, self._topic_of(tx, page, turn, now) if page.turn >= upto else None

        return await self.runtime.write(write)

    async def _vectors(self, texts: Sequence[str]) -> list[Vectors]:
        """Vectors as the index makes them: of a long message, the first passage."""
        vectors = await self.runtime.parts.embedder.embed([passages(text)[0] for text in texts])
        return list(vectors)

    # -- reading

    @operation("GET /v1/conversations/{id}/topics", right="read", page="id")
    async def topics(self, *, faded: bool = False) -> list[Topic]:
        """List the topics of the conversation, highest priority first. With `faded`, the list also includes faded
        topics, which are no longer active."""

        def read(tx: Tx, page: TopicPage, now: datetime) -> list[Topic]:
            states = {**(rows.states_of(tx, page.place, active=False) if faded else {}), **page.book.states}
            summaries = {row["topic"]: row["summary"] for row in tx.rows(rows.SUMMARIES, where=page.place)}
            topics = [
                build_topic({part.first: part for part in parts}, first, page, summaries.get(first, ""), now)
                for first, parts in topic_set.group_parts(states).items()
            ]
            return sorted(topics, key=lambda topic: (topic.faded, -topic.priority, topic.id))

        return await self._read_topics(read, [])

    @operation(
        "GET /v1/conversations/{id}/topics/{topic_id as topic}/context",
        right="read",
        name="topic_context",
        wrap="messages",
    )
    async def get_topic_context(self, topic_id: str | None = None) -> list[ChatMessage]:
        """Get a topic's messages to send to a model: the topic's summary, if there is one, and the messages that the
        summary does not cover. By default, you get the messages of the conversation's current topic. If the
        conversation has no messages yet, the result is empty.
        """
        await self._summarise_packed(topic_id)

        def read(tx: Tx, page: TopicPage, now: datetime) -> list[ChatMessage]:
            parts = self._topic_parts(tx, page, topic_id)
            summaries = [
                rows.summary_of(tx, page.place, part.first)["summary"] for part in parts if part.opened is None
            ]
            chat: list[ChatMessage] = []
            if summary := " ".join(text for text in summaries if text):
                chat.append({"role": "system", "content": f"Topic summary: {summary}"})
            return chat + [
                {"role": m.role, "content": m.content} for m in rows.active_messages_of_parts(tx, page.place, parts)
            ]

        return await self._read_topics(read, [])

    @operation("GET /v1/conversations/{id}/topics/{topic_id as topic}/messages", right="read", name="topic_history")
    async def get_full_topic_history(
        self, topic_id: str | None = None, include_compressed: bool = True
    ) -> list[TopicMessage]:
        """List every message of a topic, in order. To leave out messages that are part of the topic's summary, set
        `include_compressed` to false."""

        def read(tx: Tx, page: TopicPage, now: datetime) -> list[TopicMessage]:
            parts = self._topic_parts(tx, page, topic_id)
            read_messages = rows.messages_of_parts if include_compressed else rows.active_messages_of_parts
            return rows.links_of(tx, page.place, read_messages(tx, page.place, parts))

        return await self._read_topics(read, [])

    @operation("GET /v1/conversations/{id}/topics/{topic_id as topic}/stats", right="read", name="topic_stats")
    async def get_topic_stats(self, topic_id: str | None = None) -> TopicStats:
        """Get the figures of a topic: counts of messages, importance and age. By default, you get the figures of the
        conversation's current topic."""

        def read(tx: Tx, page: TopicPage, now: datetime) -> TopicStats | None:
            parts = self._topic_parts(tx, page, topic_id)
            if not parts:
                return None
            topic = self._build_topic(tx, page, parts[0].first, now)
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
                half_life_days=topic.half_life / fading.DAY,
                age_seconds=max((now - topic.created_at).total_seconds(), 0.0),
                inactive_seconds=max((now - topic.last_active_at).total_seconds(), 0.0),
            )

        stats = await self._read_topics(read, None)
        if stats is None:
            raise NotFound(f"conversation {self.scope.id!r} has no topics yet; the first message creates a topic")
        return stats

    @operation("GET /v1/conversations/{id}/topic-search", right="read")
    async def search_topics(self, query: str, *, limit: int = 5) -> list[TopicHit]:
        """Find the topics in this conversation that match a query, best match first, including faded topics. The query
        is compared with each topic's messages, title and tags."""
        query = self.runtime.parts.secrets.mask(checks_and_seals.check_text("query", query))
        count = checks_and_seals.check_number("limit", limit, MAX_TOPICS)
        parts = self.runtime.parts
        vector = (await parts.embedder.embed([text_to_compare(query, parts.clock.now())]))[0]

        def read(tx: Tx, page: TopicPage, now: datetime) -> list[TopicHit]:
            self.runtime.index.check_embedder(tx)
            where = Filter(self.scope.space, conversation=self.scope.id)
            source = open_source(tx, self.runtime.indexes, where, now)
            hits = recall.search(tx, source, where, query, vector, LOOKED_AT, now, parts.weights)
            states = {**rows.states_of(tx, page.place, active=False), **page.book.states}
            topic_by_turn = {row["turn"]: row["topic"] for row in tx.rows(rows.TURNS, where=page.place)}
            scores = dict[int, float]()
            turns = dict[int, list[int]]()
            for hit in hits:
                first = topic_by_turn.get(hit.message.turn)
                if first in states:
                    root = topic_set.root(states, first)
                    scores[root] = max(scores.get(root, 0.0), hit.score)
                    turns.setdefault(root, []).append(hit.message.turn)
            for root, bonus in name_scores(states, query).items():
                scores[root] = scores.get(root, 0.0) + bonus
            best = sorted(scores, key=lambda first: (-scores[first], first))[:count]
            topics = ((self._build_topic(tx, page, first, now), first) for first in best)
            return [TopicHit(topic, scores[first], tuple(turns.get(first, ()))) for topic, first in topics]

        return await self._read_topics(read, [])

    async def _subject(self) -> str:
        """What is being talked of, in a few words."""

        def read(tx: Tx, page: TopicPage, now: datetime) -> str:
            parts = self._topic_parts(tx, page, None)
            return subject(parts[0].title, parts[0].made_by) if parts else ""

        return await self._read_topics(read, "")

    # -- correcting

    @operation("POST /v1/conversations/{id}/topics/{topic_id as topic}/merge", right="write", once="words")
    async def merge_topics(self, topic_id: str, other: str) -> Topic:
        """Merge two topics: the topic `other` becomes part of the first topic. Returns the merged topic. `undo_merge`
        separates two merged topics again."""

        def change(tx: Tx, page: TopicPage, now: datetime) -> int:
            first = self._root_of(tx, page, topic_id)
            second = self._root_of(tx, page, other)
            if first == second:
                raise InvalidInput("other", f"{other!r} is already merged with {topic_id!r}; give another topic")
            record_note(tx, page, "merge", first, now, other=second)
            return first

        return await self._change_topic(change)

    @operation(
        "POST /v1/conversations/{id}/topics/{topic_id as topic}/unmerge",
        right="write",
        name="unmerge_topic",
        once="words",
    )
    async def undo_merge(self, topic_id: str) -> Topic:
        """Undo the merge of a topic into another topic. The merge can have been automatic or made by `merge_topics`.
        After `undo_merge`, the two topics are not merged automatically again. Returns the separated topic."""

        def change(tx: Tx, page: TopicPage, now: datetime) -> int:
            first = self._first_of(tx, page, topic_id)
            into = page.book.states[first].merged_into
            if into is None:
                raise InvalidInput(
                    "topic_id", f"{topic_id!r} was not merged into another topic, so there is nothing to undo"
                )
            record_note(tx, page, "apart", first, now, other=into)
            return first

        return await self._change_topic(change)

    @operation("POST /v1/conversations/{id}/topics/{topic_id as topic}/split", right="write", once="words")
    async def split_topic(self, topic_id: str, *turns: int) -> Topic:
        """In a group chat, move messages and their replies from their thread into a new thread. Returns the new thread.
        After the split, new messages may join either of the two threads. To reverse a split, join the new and the old
        thread with `merge_topics`."""
        numbers = {checks_and_seals.check_number("turns", turn, LAST) for turn in turns}
        if not numbers:
            raise InvalidInput("turns", "is empty; give at least one message number")
        runtime = self.runtime
        now = runtime.parts.clock.now()
        await runtime.catch_up(self.scope.filter, VIEW)

        def split(tx: Tx) -> tuple[int, int, FollowResult]:
            page = self._page_to_change(tx)
            topics = [part.first for part in topic_set.parts(page.book.states, self._root_of(tx, page, topic_id))]
            moved = rows.turns_to_move(tx, page.place, topics, numbers)
            if not moved:
                raise InvalidInput(
                    "turns",
                    f"must be message numbers from topic {topic_id!r}; at least one message must remain in the topic",
                )
            for turn, answered in moved.items():
                record_note(tx, page, SPLIT, turn, now, other=answered)
            upto = page.turn
            page.begin_anew()
            return upto, min(moved), runtime.topics.follow(tx, self.scope.space, self.scope.id, upto, {}, page=page)

        upto, first, progress = await runtime.write(split)
        turn_before = 0
        while turn_before < progress.page.turn < upto:
            turn_before = progress.page.turn
            progress, _ = await self._follow_missing(upto, first, progress, now)
        runtime.wake()
        topic = await self._read_topics(lambda tx, page, now: self._topic_of(tx, page, first, now), None)
        if topic is None:
            raise NotFound(f"message {first} has no topic, because the message was removed in the meantime")
        return topic

    @operation("POST /v1/conversations/{id}/topics/{topic_id as topic}/tags", right="write", once="words")
    async def tag_topic(self, topic_id: str, *tags: str, remove: bool = False) -> Topic:
        """Add your own tags to a topic. With `remove`, the given tags are removed from the topic. `search_topics` finds
        topics by their tags. A rebuild of the topics keeps your tags."""
        new_tags = [self.runtime.parts.secrets.guard_text("tags", check_tag(tag)) for tag in tags]
        if not new_tags:
            raise InvalidInput("tags", "is empty; give at least one tag")

        def change(tx: Tx, page: TopicPage, now: datetime) -> int:
            first = self._root_of(tx, page, topic_id)
            for tag in new_tags:
                record_note(tx, page, "untag" if remove else "tag", first, now, tag)
            return first

        return await self._change_topic(change)

    @operation(
        "POST /v1/conversations/{id}/topics/{topic_id as topic}/feedback",
        right="write",
        name="rate_topic",
        once="words",
    )
    async def feedback(self, topic_id: str, score: int) -> Topic:
        """Rate a topic: 1 if the topic matters, -1 if it does not. The rating changes the topic's importance, which
        affects how long the topic stays active."""
        if isinstance(score, bool) or score not in (1, -1):
            raise InvalidInput("score", f"is {score!r}; must be 1 or -1")

        def change(tx: Tx, page: TopicPage, now: datetime) -> int:
            first = self._root_of(tx, page, topic_id)
            record_note(tx, page, "feedback", first, now, str(score))
            return first

        return await self._change_topic(change)

    # -- internals

    async def _read_topics(self, read: Callable[[Tx, TopicPage, datetime], T], otherwise: T) -> T:
        runtime = self.runtime
        now = self.runtime.parts.clock.now()
        await runtime.catch_up(self.scope.filter, VIEW)

        def run(tx: Tx) -> T:
            if self.scope.find(tx) is None:
                return otherwise
            return read(tx, runtime.topics.read_page(tx, *self.scope.place), now)

        return await runtime.read(run)

    async def _change_topic(self, change: Callable[[Tx, TopicPage, datetime], int]) -> Topic:
        runtime = self.runtime
        now = self.runtime.parts.clock.now()
        await runtime.catch_up(self.scope.filter, VIEW)

        def run(tx: Tx) -> Topic:
            page = self._page_to_change(tx)
            first = change(tx, page, now)
            runtime.topics.write_page(tx, page)
            return self._build_topic(tx, page, first, now)

        return await runtime.write(run)

    def _page_to_change(self, tx: Tx) -> TopicPage:
        """The topics of the conversation, which is locked until the transaction ends."""
        if self.scope.find(tx) is None:
            raise NotFound(f"conversation {self.scope.id!r} has no topics yet; the first message creates a topic")
        lock_conversation(tx, *self.scope.place)
        return self.runtime.topics.read_page(tx, *self.scope.place)

    async def _summarise_packed(self, topic_id: str | None) -> None:
        """Summarise the packed messages of a topic with the built-in writer, unless a summary covers them already."""
        runtime = self.runtime

        def look(tx: Tx, page: TopicPage, now: datetime) -> list[PendingTopic]:
            parts = [part for part in self._topic_parts(tx, page, topic_id) if part.packed_upto]
            late = [p for p in parts if rows.summary_of(tx, page.place, p.first)["upto"] < p.packed_upto]
            return [load_pending_topic(tx, page.place, part, asks=False) for part in late]

        requests: list[PendingTopic] = await self._read_topics(look, [])
        if not requests:
            return
        drafts = [
            to_topic_text(request, await runtime.run(runtime.titles.write_offline, request)) for request in requests
        ]
        summaries = [
            replace(draft, final=not runtime.tasks.has_model) for draft in drafts
        ]  # a model writes its own later

        def keep(tx: Tx) -> None:
            lock_conversation(tx, *self.scope.place)
            runtime.titles.store_texts(tx, rows.place_of(*self.scope.place), summaries)

        await runtime.write(keep)

    def _first_of(self, tx: Tx, page: TopicPage, topic_id: str) -> int:
        number = topic_id[1:] if isinstance(topic_id, str) and topic_id[:1] == "t" else ""
        first = int(number) if number.isascii() and number.isdigit() and len(number) < 11 else 0
        if page.state(tx, first) is None:
            raise NotFound(
                f"there is no topic {topic_id!r} in this conversation; `topics(faded=True)` lists all topics"
            )
        return first

    def _root_of(self, tx: Tx, page: TopicPage, topic_id: str) -> int:
        return page.root(tx, self._first_of(tx, page, topic_id))

    def _topic_parts(self, tx: Tx, page: TopicPage, topic_id: str | None) -> list[fading.TopicState]:
        """The topic of that id, or the one being talked of, with what is part of it; none if nothing was said yet."""
        first = page.book.current if topic_id is None else self._root_of(tx, page, topic_id)
        return [] if first is None else topic_set.parts(page.book.states, page.root(tx, first))

    def _topic_of(self, tx: Tx, page: TopicPage, turn: int, now: datetime) -> Topic | None:
        """The topic a turn was given to; None if the topics have not got there yet."""
        if page.turn < turn:
            return None
        first = page.topic_at(tx, turn)
        assert first is not None  # this or an earlier transaction gave it one
        return self._build_topic(tx, page, page.root(tx, first), now)

    def _build_topic(self, tx: Tx, page: TopicPage, first: int, now: datetime) -> Topic:
        page.state(tx, first)
        has_packed_part = any(part.packed_upto for part in topic_set.parts(page.book.states, first))
        summary = rows.summary_of(tx, page.place, first)["summary"] if has_packed_part else ""
        return build_topic(page.book.states, first, page, summary, now)


def build_topic(
    states: Mapping[int, fading.TopicState], first: int, page: TopicPage, summary: str, now: datetime
) -> Topic:
    """A topic as it is now, including the topics that were merged into it: they have to be among `states`."""
    root_state = states[first]
    merged_state = topic_set.whole_topic(states, first)
    others = topic_set.parts(states, first)[1:]
    current = page.book.current is not None and topic_set.root(page.book.states, page.book.current) == first
    return Topic(
        id=root_state.id,
        title=root_state.title,
        summary=summary,
        kind=fading.topic_kind(merged_state.accesses),
        half_life=fading.half_life(merged_state.accesses),
        priority=fading.current_priority(merged_state, now),
        importance=fading.importance_of(merged_state),
        accesses=merged_state.accesses,
        messages=merged_state.count,
        packed=sum(part.packed for part in (root_state, *others) if part.opened is None),
        created_at=merged_state.created_at,
        last_active_at=merged_state.last_active_at,
        tags=merged_state.tags,
        current=current,
        faded=root_state.faded_at is not None,
        merged=tuple(other.id for other in others),
        made_by=root_state.made_by,
    )


def name_scores(states: Mapping[int, fading.TopicState], query: str) -> dict[int, float]:
    """What the words of a query add to the scores of topics that have them in a tag or in the title."""
    analysis = analyse(query)
    query_terms = set(analysis.terms)
    scores = dict[int, float]()
    for state in states.values():
        tags = sum(bool(query_terms & set(analyse(tag, analysis.language).terms)) or tag == query for tag in state.tags)
        common = query_terms & set(analyse(state.title, analysis.language).terms)
        bonus = TAGGED * tags + len(common) / max(len(query_terms), 1)
        if bonus:
            first = topic_set.root(states, state.first)
            scores[first] = scores.get(first, 0.0) + bonus
    return scores


def check_tag(value: object) -> str:
    tag = " ".join(checks_and_seals.check_id("tag", value).split())
    if len(tag) > MAX_TAG:
        raise InvalidInput("tag", f"has {len(tag)} characters; at most {MAX_TAG} are allowed")
    return tag
