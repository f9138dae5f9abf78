"""The topics view: assigns each message to a topic, in the order of the log.

The follower brings topics up to the index, whose vectors it uses; a conversation that adds a message with
`add_user_message` does the same in the transaction that stores the message. Both continue from the turn the topics have
reached, and write states, turns and cursor in one transaction, under the conversation's lock. The follower assigns
messages before that, and again under the lock if the topics have changed since. So it does not matter who does it, or
how many try at once: every message is assigned once. What people change about topics is noted with the turn after which
they did so, and a rebuild applies it again at that turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from everword.follow.faults import readable_messages, set_aside_rows
from everword.follow.store_calls import StoreCalls
from everword.follow.view import Run, SaveResult
from everword.log.append_and_read import cursor_of, set_cursor, warn_of_damage
from everword.model import Filter, Message
from everword.model.log import own_notes
from everword.ports import Tx, Vectors
from everword.recall.follow_up_questions import depends_on_context
from everword.summaries.episodes import lock_conversation
from everword.summaries.rules.days import GIVEN
from everword.text.addressing import find_addressees, show_address, without_address, without_label
from everword.topics import stored_topics as rows
from everword.topics.rules import topics as rule
from everword.topics.rules.drift import REACH
from everword.topics.rules.fading import TopicOutline, TopicState
from everword.topics.rules.reply_threads import BEGINS, Link, Threads
from everword.topics.rules.topic_set import Row, States, TopicSet, root, round_vectors
from everword.topics.rules.topics import Book, FadedTopics, IncomingMessage, TopicRule
from everword.topics.rules.words import TopicWords
from everword.versioned_cache import Cache

VIEW = "topics"
TITLES = "titles"
EPISODES = ("window", "episodes")  # views that are of threads, too
AT_ONCE = 256  # messages assigned in one transaction
TOPIC_BYTES = 5_000  # of a cached topic, about
OUTLINE_BYTES = 2_000
LAST = 2**31 - 1
ACTIVE = "active topics"
FADED = "faded topics"
THREADS = "threads"
THREADS_BYTES = 800_000  # of the last messages of a channel, about
NO_STAMP = ""  # of a conversation without topics


@dataclass(frozen=True, slots=True)
class ActiveTopics:
    """The active topics of a conversation up to a turn, and the turns of the messages in `book.recent`."""

    turn: int
    book: Book
    turns: tuple[int, ...]


def load_topics(tx: Tx, place: rows.Place, head: Mapping[str, Any]) -> ActiveTopics:
    """The topics as the store has them."""
    recent = rows.load_recent_messages(tx, place, bytes(head["recent"]))
    states = TopicSet.of(rows.states_of(tx, place, active=True))
    book = Book(states, head["current"], tuple(recent_message for _, recent_message in recent))
    return ActiveTopics(head["turn"], book, tuple(turn for turn, _ in recent))


@dataclass(slots=True)
class TopicPage:
    """A conversation's topics within a transaction: as they were read, and as they are now."""

    place: rows.Place
    turn: int = 0
    book: Book = field(default_factory=Book)
    before: TopicSet = field(default_factory=TopicSet)
    turns: list[int] = field(default_factory=list)  # of the messages in `book.recent`
    assignments: list[tuple[Message, int]] = field(default_factory=list)
    stamp: str = NO_STAMP
    faded_topics: FadedTopics | None = None
    cold: bool = True  # read from the store, not from the cache
    archive: FadedTopics | None = None  # the faded topics as they were when they were last asked for
    read_states: dict[int, TopicState] = field(default_factory=dict)  # faded topics that were read one by one,
    read_words: dict[int, TopicWords] = field(default_factory=dict)  # and those of which the words were read
    threads: Threads | None = None  # of a channel, while messages are assigned
    links: dict[int, Link] = field(default_factory=dict)
    moved: dict[int, Link] = field(default_factory=dict)  # what people moved out of a thread, by its turn
    is_anew: bool = False  # what is stored of the conversation gives way to this page

    def begin_anew(self) -> None:
        """Forget all topics: a third person speaks, so what was said before belongs to threads, too."""
        self.turn = 0
        self.book = Book()
        self.before = TopicSet()
        self.turns = []
        self.assignments = []
        self.faded_topics = FadedTopics()
        self.archive = None
        self.read_states = {}
        self.read_words = {}
        self.threads = Threads()
        self.links = {}
        self.is_anew = True

    def load_faded(self, tx: Tx) -> FadedTopics:
        """The topics that have left the active set as they were read, in outline, loaded when first needed."""
        if self.faded_topics is None:
            self.faded_topics = FadedTopics.of(rows.outlines_of(tx, self.place))
        return self.faded_topics

    def load_archive(self, tx: Tx) -> FadedTopics:
        """The topics that have left the active set by now."""
        archive = (self.archive or self.load_faded(tx)).after(self.book.topics)
        self.archive = replace(
            archive,
            read=lambda firsts: self._read_faded(tx, firsts),
            read_words=lambda firsts: self._read_faded_words(tx, firsts),
        )
        return self.archive

    def _read_faded(self, tx: Tx, firsts: Sequence[int]) -> States:
        """The states of some faded topics, as they are stored."""
        missing = [first for first in firsts if first not in self.read_states]
        self.read_states |= rows.states_of(tx, self.place, active=False, firsts=missing)
        return self.read_states

    def _read_faded_words(self, tx: Tx, firsts: Sequence[int]) -> Mapping[int, TopicWords]:
        missing = [first for first in firsts if first not in self.read_words]
        self.read_words |= rows.faded_words(tx, self.place, missing)
        return self.read_words

    def previous_state(self, first: int) -> TopicState | None:
        """A topic as it is stored, as far as this page has read it."""
        state = self.before.find(first) or self.read_states.get(first)
        known = self.faded_topics.states.find(first) if state is None and self.faded_topics is not None else state
        return None if isinstance(known, TopicOutline) else known

    def state(self, tx: Tx, first: int) -> TopicState | None:
        """A topic of this conversation, faded or not; a faded one is added to the page, with all parts of its root."""
        if first not in self.book.states:
            family = rows.faded_family(tx, self.place, first)  # there may be tens of thousands: only these are read
            new_states = {part: state for part, state in family.items() if part not in self.book.states}
            self.book = self.book.with_states(new_states)
            self.read_states |= new_states
        return self.book.states.get(first)

    def root(self, tx: Tx, first: int) -> int:
        self.state(tx, first)
        return root(self.book.states, first)

    def topic_at(self, tx: Tx, turn: int) -> int | None:
        """The topic a turn was assigned to."""
        new_topics = {message.turn: first for message, first in self.assignments}
        return new_topics[turn] if turn in new_topics else rows.topic_at(tx, self.place, turn)


@dataclass(frozen=True, slots=True)
class FollowResult:
    """The page after following, and the messages that need a vector before it can continue."""

    page: TopicPage
    missing: Sequence[Message] = ()


class Topics:
    """Reads, follows and writes the topics of conversations, by one rule."""

    def __init__(self, topic_rule: TopicRule, cache: Cache) -> None:
        """Topics are cached at the stamp of their head row, which every change makes anew."""
        self.rule = topic_rule
        self._cache = cache

    def read_page(self, tx: Tx, space: str, conversation: str) -> TopicPage:
        """The topics as the store has them."""
        place = rows.place_of(space, conversation)
        head = tx.rows(rows.HEADS, where=place)
        if not head:  # erased, or being rebuilt
            self._cache.drop(cache_key(place, ACTIVE))
            self._cache.drop(cache_key(place, FADED))
            return TopicPage(place)
        stamp = head[0]["stamp"]
        topics: ActiveTopics | None = self._cache.find(cache_key(place, ACTIVE), stamp)
        is_cold = topics is None
        if topics is None:
            topics = load_topics(tx, place, head[0])
            self._cache_active(place, stamp, topics)
        return TopicPage(
            place,
            topics.turn,
            topics.book,
            topics.book.topics,
            list(topics.turns),
            stamp=stamp,
            faded_topics=self._cache.find(cache_key(place, FADED), stamp),
            cold=is_cold,
        )

    def _cache_active(self, place: rows.Place, stamp: str, topics: ActiveTopics) -> None:
        # If the transaction is rolled back, the stamp cached here never matches the store's.
        self._cache.put(cache_key(place, ACTIVE), stamp, topics, TOPIC_BYTES * (1 + len(topics.book.topics)))

    def cache_faded(self, page: TopicPage) -> None:
        """Cache the faded topics that an unchanged page has loaded, so that they are not loaded with each message."""
        if page.faded_topics is not None:
            key = cache_key(page.place, FADED)
            self._cache.put(key, page.stamp, page.faded_topics, OUTLINE_BYTES * (1 + len(page.faded_topics.states)))

    def follow(
        self,
        tx: Tx,
        space: str,
        conversation: str,
        upto: int,
        vectors: Mapping[int, Vectors],
        new_message: Message | None = None,
        page: TopicPage | None = None,
    ) -> FollowResult:
        """Assign messages up to a turn to topics, as far as there are vectors: `vectors`, or the index's; at most
        `AT_ONCE` messages, since others wait for the lock.

        `new_message` is the message of that turn if it was added in this transaction: then the conversation is locked
        already, and `page` may have been read.
        """
        if new_message is None:
            lock_conversation(tx, space, conversation)
        page = page or self.read_page(tx, space, conversation)
        turn_before = page.turn
        is_next = new_message is not None and page.turn == upto - 1
        known_messages = [new_message] if new_message and is_next else ()
        missing = self.assign_messages(tx, page, upto, vectors, known_messages, may_have_notes=not is_next)
        if page.turn > turn_before:
            self.write_page(tx, page)
        return FollowResult(page, missing)

    def assign_messages(
        self,
        tx: Tx,
        page: TopicPage,
        upto: int,
        vectors: Mapping[int, Vectors],
        known_messages: Sequence[Message] = (),
        *,
        may_have_notes: bool = True,
    ) -> Sequence[Message]:
        """Assign messages on a page, as far as there are vectors; nothing is stored. Returns those that need one.
        `known_messages` need not be read again; `may_have_notes`: people may have changed topics after one of them."""
        if page.turn >= upto:
            return ()
        messages = unread_messages(tx, page, min(upto, page.turn + AT_ONCE), known_messages)
        if not messages:  # none of them can be read
            return ()
        page.threads = page.threads or self._take_threads(tx, page)
        if page.threads is not None and becomes_group(page.threads, messages):
            if page.turn:
                page.begin_anew()
                messages = unread_messages(tx, page, min(upto, AT_ONCE), ())
                may_have_notes = True
            page.threads.is_group = True
        notes = notes_between(tx, page, messages[-1].turn) if may_have_notes else {}
        missing = self._follow_messages(tx, page, messages, vectors, notes)
        page.book = rule.name_topics(page.book)
        return missing

    def _take_threads(self, tx: Tx, page: TopicPage) -> Threads | None:
        """The threads of a channel up to the page; None of a chat with one person. They change with each message, so
        the cache has them no more until the page is written."""
        conversation = tx.conversation(page.place["space"], page.place["conversation"])
        if conversation is None or conversation.user is not None:
            return None
        key = cache_key(page.place, THREADS)
        threads: Threads | None = self._cache.find(key, page.stamp)
        self._cache.drop(key)
        return threads or rows.load_threads(tx, page.place, page.turn)

    def _follow_messages(
        self,
        tx: Tx,
        page: TopicPage,
        messages: Sequence[Message],
        vectors: Mapping[int, Vectors],
        notes: Mapping[int, Sequence[Mapping[str, Any]]],
    ) -> Sequence[Message]:
        space = page.place["space"]
        conversation = page.place["conversation"]
        known_vectors = dict(vectors)
        index_cursor = page.turn
        if any(needs_vector(message) and message.turn not in known_vectors for message in messages):
            # Read the cursor first: the index has the vectors of all turns up to it.
            index_cursor = cursor_of(tx, "index", space, conversation)
            known_vectors |= tx.index.vectors_of(space, conversation, page.turn + 1, messages[-1].turn)
        inputs = topic_inputs_of(messages, known_vectors)
        for number, message in enumerate(messages):
            if needs_vector(message) and message.turn not in known_vectors and message.turn > index_cursor:
                remaining = messages[number:]
                return [message for message in remaining if needs_vector(message) and message.turn > index_cursor]
            self._assign_message(tx, page, message, inputs.get(message.turn))
            page.turn = message.turn
            for note in notes.get(message.turn, ()):
                apply_note(tx, page, note)
        return ()

    def _assign_message(self, tx: Tx, page: TopicPage, message: Message, topic_input: IncomingMessage | None) -> None:
        if not message.is_lasting or (page.book.current is None and not message.content.strip()):
            return
        if topic_input is None:
            width = max([0, *(len(recent_message.vector) for recent_message in page.book.recent)])
            topic_input = topic_input_of(message, np.zeros(width, np.float32))
        page.book = page.book.with_vectors_of(len(topic_input.vector))
        if page.threads is None or message.role != "user":
            if page.threads is not None and page.threads.is_group and message.role == "system":
                return  # a notice is part of no thread
            page.book = rule.follow_message(page.book, topic_input, self.rule, lambda: page.load_archive(tx))
        else:
            self._join_thread(tx, page, page.threads, message, topic_input)
        page.turns = [*page.turns, message.turn][-REACH:]
        assert page.book.current is not None
        page.assignments.append((message, page.book.current))

    def _join_thread(
        self, tx: Tx, page: TopicPage, threads: Threads, message: Message, topic_input: IncomingMessage
    ) -> None:
        """Give a message of a channel to a thread, if the channel is a group or the message is a reply."""
        spoken = rows.read_thread_message(threads, message, topic_input.vector)
        link = page.moved.get(message.turn) or find_reply(tx, page, threads, message)
        if threads.are_needed_for(spoken, message.reply_to is not None) and link is None:
            link = threads.find_parent(spoken)
        if link is None:
            page.book = rule.follow_message(page.book, topic_input, self.rule, lambda: page.load_archive(tx))
        else:
            topic = None if link.turn is None else page.topic_at(tx, link.turn)
            if link.turn is not None and (topic is None or page.state(tx, topic) is None):
                link = Link(None, BEGINS)
            first = None if link.turn is None or topic is None else page.root(tx, topic)
            text = without_address(topic_input.text, threads.nicknames)
            text = without_label(show_address(text, threads.nicknames)) if threads.is_group else text
            page.book = rule.join_thread(page.book, replace(topic_input, text=text), self.rule, first)
            page.links[message.turn] = link
        assert page.book.current is not None
        threads.append(spoken, page.book.current, None if link is None else link.turn)

    def is_up_to_date(self, tx: Tx, page: TopicPage) -> bool:
        """Whether nobody has stored topics of the conversation since a page was read."""
        heads = tx.rows(rows.HEADS, where=page.place)
        return page.stamp == (heads[0]["stamp"] if heads else NO_STAMP)

    def write_page(self, tx: Tx, page: TopicPage) -> None:
        """Store what has changed on a page, and the view's cursor."""
        if page.is_anew:
            for view in (VIEW, TITLES, *(EPISODES if has_its_beginning(tx, page.place) else ())):
                tx.reset_view(view, page.place["space"], page.place["conversation"])
            page.is_anew = False
        rows.put_turns(tx, page.place, page.assignments, page.links)
        known_messages = {message.id: message for message, _ in page.assignments}
        changed_states: list[TopicState] = []
        packed_before: dict[int, int] = {}
        for state in page.book.topics.changes_since(page.before):
            state_before = page.previous_state(state.first)
            if state_before is not state:
                changed_states.append(state)
                packed_before[state.first] = 0 if state_before is None else state_before.packed
        changed_states = rows.pack_messages(tx, page.place, changed_states, packed_before, known_messages)
        rows.put_states(tx, page.place, changed_states)
        page.book = page.book.with_states({state.first: state for state in changed_states})
        page.assignments = []
        page.links = {}
        self.write_head(tx, page, changed_states)
        set_cursor(tx, VIEW, page.place["space"], page.place["conversation"], page.turn)

    def write_head(self, tx: Tx, page: TopicPage, changed_states: Iterable[TopicState]) -> None:
        """Store the head row with a new stamp, so that other caches become invalid, and cache the page."""
        states_after = {state.first: state for state in changed_states}
        threads = page.threads or self._cache.find(cache_key(page.place, THREADS), page.stamp)
        page.stamp = rows.new_stamp()
        page.before = page.book.topics
        page.faded_topics = None if page.faded_topics is None else page.faded_topics.after(states_after)
        page.archive = None
        recent = [
            (turn, recent_message.vector) for turn, recent_message in zip(page.turns, page.book.recent, strict=True)
        ]
        head = {"turn": page.turn, "current": page.book.current, "recent": rows.encode_recent_messages(recent)}
        tx.put(rows.HEADS, [{**page.place, **head, "stamp": page.stamp}])
        active_book = replace(page.book, states=page.book.topics.without_faded())
        self._cache_active(page.place, page.stamp, ActiveTopics(page.turn, active_book, tuple(page.turns)))
        if threads is not None:
            self._cache.put(cache_key(page.place, THREADS), page.stamp, threads, THREADS_BYTES)
            page.threads = None  # whoever goes on takes them from there
        self.cache_faded(page)


def cache_key(place: rows.Place, name: str) -> tuple[str, str, str]:
    return name, place["space"], place["conversation"]


@dataclass(frozen=True, slots=True)
class AssignedRun:
    """A run whose messages are assigned to topics on a page that is not stored yet; the turn it had reached before."""

    run: Run
    page: TopicPage
    turn_before: int


class TopicsView:
    """Follows the index with topics."""

    name = VIEW
    at_once = AT_ONCE
    ordered = True

    def __init__(self, topics: Topics, calls: StoreCalls) -> None:
        self._topics = topics
        self._calls = calls

    def read_after(self, done: int, turns: int) -> int:
        return done

    async def prepare(self, runs: Sequence[Run]) -> list[AssignedRun]:
        # Not under the lock: whoever writes to the store would wait for all of it.
        return await self._calls.read(lambda tx: [self._assign_run(tx, run) for run in runs])

    def _assign_run(self, tx: Tx, run: Run) -> AssignedRun:
        page = self._topics.read_page(tx, *run.place)
        turn_before = page.turn
        known_messages = () if set_aside_rows(tx, VIEW, run.place) else run.messages
        self._topics.assign_messages(tx, page, upto_of(run), {}, known_messages)
        return AssignedRun(run, page, turn_before)

    def skip(self, tx: Tx, space: str, conversation: str, turn: int) -> None:
        """Move past a message that is set aside."""
        lock_conversation(tx, space, conversation)
        page = self._topics.read_page(tx, space, conversation)
        if page.turn < turn:
            page.turn = turn
            self._topics.write_page(tx, page)

    def save(self, tx: Tx, result: AssignedRun) -> SaveResult:
        lag = result.run.lag
        lock_conversation(tx, lag.space, lag.conversation)
        # A copy, since a transaction may be run again.
        page = replace(
            result.page,
            turns=[*result.page.turns],
            assignments=[*result.page.assignments],
            links=dict(result.page.links),
        )
        if not self._topics.is_up_to_date(tx, page):  # somebody else has assigned messages, or changed topics
            page = self._topics.follow(tx, lag.space, lag.conversation, upto_of(result.run), {}).page
        elif page.turn > result.turn_before:
            self._topics.write_page(tx, page)
        return SaveResult(page.turn, max(page.turn - lag.done, 0))


def find_reply(tx: Tx, page: TopicPage, threads: Threads, message: Message) -> Link | None:
    """The link that was given with a message; None if there is none, or it leads nowhere. In stores of before, imports
    have noted it in the metadata."""
    key = message.reply_to or message.metadata.get("reply_to")
    if not isinstance(key, str):
        return None
    turn = threads.turn_of(key)
    if turn is None:
        space = page.place["space"]
        conversation = page.place["conversation"]
        parents = tx.find_messages(
            space, ids=[key], conversation=conversation, platform_ids=[key], damaged=warn_of_damage
        )
        turns = [parent.turn for parent in parents if parent.conversation == conversation]
        turn = min((parent for parent in turns if parent < message.turn), default=None)
    return None if turn is None or page.topic_at(tx, turn) is None else Link(turn, GIVEN)


def upto_of(run: Run) -> int:
    """The turn up to which the messages of a run are assigned."""
    return min(run.messages[-1].turn, run.lag.turns) if run.messages else run.lag.done


def becomes_group(threads: Threads, messages: Sequence[Message]) -> bool:
    """Whether there are threads in a channel once these messages came, early enough that all can be assigned again at
    once. However the messages came, those of the channel are then in threads from its beginning."""
    if threads.is_group:
        return False
    nicknames = deepcopy(threads.nicknames)
    signs = replace(threads.signs_of_group)
    for message in messages:
        if message.turn <= AT_ONCE and message.role == "user" and message.is_lasting:
            addressed = {*find_addressees(message.content[: rows.LOOKED_AT], nicknames)} - {message.author}
            nicknames.add(message.author, rows.names_of(message))
            if signs.note(message.turn, nicknames.people, addressed, message.reply_to is not None):
                return True
    return False


def has_its_beginning(tx: Tx, place: rows.Place) -> bool:
    """Whether a conversation has its first message: episodes of messages that have expired cannot be made again."""
    where = Filter(place["space"], conversation=place["conversation"])
    return any(not message.erased for message in tx.messages(where, upto=1, damaged=warn_of_damage))


def unread_messages(tx: Tx, page: TopicPage, upto: int, known_messages: Sequence[Message]) -> Sequence[Message]:
    """The messages after those of a page, up to a turn; they are read if not all of them are known."""
    messages = [message for message in known_messages if page.turn < message.turn <= upto]
    if len(messages) == upto - page.turn:
        return messages
    where = Filter(page.place["space"], conversation=page.place["conversation"])
    return readable_messages(tx, VIEW, where, after=page.turn, upto=upto)


def needs_vector(message: Message) -> bool:
    return message.is_lasting and bool(message.content.strip())


def topic_inputs_of(messages: Sequence[Message], vectors: Mapping[int, Vectors]) -> dict[int, IncomingMessage]:
    """The messages that have a vector, by their turns, as the rule needs them."""
    ready_messages = [message for message in messages if message.is_lasting and message.turn in vectors]
    unit_vectors = round_vectors([vectors[message.turn] for message in ready_messages])
    inputs = [*map(topic_input_of, ready_messages, unit_vectors)]
    return {topic_input.turn: topic_input for topic_input in inputs}


def topic_input_of(message: Message, unit_vector: Row) -> IncomingMessage:
    text = message.content[: rows.LOOKED_AT]
    return IncomingMessage(
        message.turn,
        message.role,
        text,
        message.time,
        unit_vector,
        importance_in(message),
        message.role == "user" and may_lean(text),
    )


def may_lean(text: str) -> bool:
    """Whether a message is short and depends on what was said before; a longer one is not asked."""
    return len(text) <= rule.SHORT and len(text.split()) <= rule.FEW and depends_on_context(text)


def importance_in(message: Message) -> float | None:
    """The importance that was given with a user's message."""
    importance = own_notes(message.metadata).get("importance") if message.role == "user" else None
    if isinstance(importance, bool) or not isinstance(importance, int | float) or not 0 <= importance <= 1:
        return None
    return float(importance)


# -- notes: what people change about topics

SPLIT = "split"
BY_HAND = "moved by hand"


def notes_between(tx: Tx, page: TopicPage, upto: int) -> dict[int, list[Mapping[str, Any]]]:
    """The notes after each turn up to this one: there are some only during a rebuild. What later ones moved out of a
    thread is noted on the page."""
    start = {**page.place, "after": page.turn, "number": LAST}
    notes: dict[int, list[Mapping[str, Any]]] = {}
    for note in tx.rows(rows.NOTES, start, where=page.place):
        if note["kind"] == SPLIT:
            page.moved[note["turn"]] = Link(note["other"], BY_HAND)
        elif note["after"] <= upto:
            notes.setdefault(note["after"], []).append(note)
    return notes


def record_note(
    tx: Tx, page: TopicPage, kind: str, turn: int, now: Any, text: str = "", other: int | None = None
) -> None:
    """Store a note about a topic, and apply it. One that splits a thread applies once its messages are read again."""
    earlier_notes = tx.rows(rows.NOTES, where={**page.place, "after": page.turn})
    note = {
        "after": page.turn,
        "number": len(earlier_notes) + 1,
        "kind": kind,
        "turn": turn,
        "other": other,
        "text": text,
    }
    tx.put(rows.NOTES, [{**page.place, **note, "told_at": now}])
    if kind != SPLIT:
        apply_note(tx, page, note)


def apply_note(tx: Tx, page: TopicPage, note: Mapping[str, Any]) -> None:
    """Apply a note, if its topics (still) exist."""
    first = page.topic_at(tx, note["turn"])
    if first is None or page.state(tx, first) is None:
        return
    topic = page.root(tx, first)
    if note["kind"] in CHANGES:
        state = CHANGES[note["kind"]](page.book.states[topic], note["text"])
        page.book = replace(page.book.with_states({topic: state}), fades=None)
    elif note["kind"] == "apart":
        if page.book.states[first].merged_into is not None:
            page.book = rule.split_topic(page.book, first)
    elif note["kind"] == "merge":
        other = page.topic_at(tx, note["other"])
        if other is not None and page.root(tx, other) != topic:
            page.book = rule.merge_topics(page.book, topic, page.root(tx, other))


CHANGES: Mapping[str, Callable[[TopicState, str], TopicState]] = {
    "tag": lambda state, text: rule.change_tags(state, [text]),
    "untag": lambda state, text: rule.change_tags(state, [], [text]),
    "feedback": lambda state, text: rule.add_vote(state, int(text)),
}
