"""The topics view: each message given to its topic, in the order of the log, by whoever comes first.

The follower brings topics up to the index, whose vectors it uses; a conversation that adds a message with
`add_user_message` does the same for itself in the transaction that keeps it. Both run `Topics.follow`: it holds the
conversation's lock, goes on from the turn the topics have got to, and writes states, turns and cursor in one
transaction. So it makes no difference who does it, or how many try at once: every message is given a topic once. What
people told about topics stands at the turn after which they told it, and is done again there by a rebuild.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from recollect.engine.tables import topics as rows
from recollect.engine.work.faults import readable_messages
from recollect.engine.work.view import Run, Saved
from recollect.model import Conversation, Filter, Message
from recollect.ports import Tx, Vectors
from recollect.rules.topics import topics as rule
from recollect.rules.topics.centroids import as_kept
from recollect.rules.topics.drift import REACH
from recollect.rules.topics.faded import Faded
from recollect.rules.topics.topics import Book, Said, State, TopicRule
from recollect.tasks.standalone import leans

VIEW, TITLES = "topics", "titles"
KEY = "recollect"  # in a message's metadata: what was told with it
AT_ONCE = 256  # messages given topics in one transaction
REMEMBERED = 256  # conversations whose topics are held ready
FADED = 20_000  # faded topics held ready, of all conversations: some forty megabytes
LAST = 2**31 - 1
LOOKED_AT = 4_000  # characters of a message that are read to find its topic, besides its vector


class Stamp(NamedTuple):
    """Says whether the topics are still those that somebody holds ready: all of them, and those that have faded."""

    all: str
    faded: str

    @classmethod
    def read(cls, text: str) -> Stamp:
        # One of before there were two parts stands for both: what it says of the faded is not "none have".
        return cls(text, text.partition(":")[2] if ":" in text else text)

    def next(self, faded: bool) -> Stamp:
        """Another one; with `faded`, also of what has faded."""
        own = os.urandom(8).hex() if faded else self.faded
        return Stamp(f"{os.urandom(8).hex()}:{own}", own)


@dataclass(slots=True)
class Page:
    """A conversation's topics within a transaction: as they were read, and as they are now."""

    place: rows.Place
    turn: int = 0
    book: Book = field(default_factory=Book)
    before: Mapping[int, State] = field(default_factory=dict)
    turns: list[int] = field(default_factory=list)  # of the messages in `book.recent`
    given: list[tuple[Message, int]] = field(default_factory=list)
    stamp: Stamp = Stamp("", "")
    gone: Faded | None = None
    cold: bool = True  # read from the store, not held ready

    def faded(self, tx: Tx) -> Faded:
        """The topics that have left the active set, read when first needed."""
        if self.gone is None:
            self.gone = Faded.of(rows.states_of(tx, self.place, active=False))
        return self.gone

    def was(self, first: int) -> State | None:
        """A topic as the store has it, as far as that is known here."""
        there = self.before.get(first)
        return self.gone.states.get(first) if there is None and self.gone is not None else there

    def state(self, tx: Tx, first: int) -> State | None:
        """A topic of this conversation, faded or not; a faded one is taken onto the page, with all it is part of."""
        if first not in self.book.states and first in (known := self.faded(tx).states):
            own = {part.first: part for part in rule.parts(known, rule.root(known, first))}
            self.book = replace(self.book, states={**own, **self.book.states})
        return self.book.states.get(first)

    def root(self, tx: Tx, first: int) -> int:
        self.state(tx, first)
        return rule.root(self.book.states, first)

    def topic_at(self, tx: Tx, turn: int) -> int | None:
        """The topic a turn was given to."""
        fresh = {message.turn: first for message, first in self.given}
        return fresh[turn] if turn in fresh else rows.topic_at(tx, self.place, turn)


@dataclass(frozen=True, slots=True)
class Followed:
    """How far the topics have got, and which messages need a vector before they get further."""

    page: Page
    missing: Sequence[Message] = ()


@dataclass(frozen=True, slots=True)
class Held:
    """A page as it was last written, by its stamp: good for as long as the store has the same. What has faded has a
    stamp of its own, since it changes less often than the rest and is much more."""

    stamp: Stamp
    turn: int
    book: Book
    turns: tuple[int, ...]
    faded: Faded | None = None


class Topics:
    """Keeps the topics of conversations: one rule for whoever follows."""

    def __init__(self, how: TopicRule, asks: bool) -> None:
        """`asks`: whether there is a model that writes titles."""
        self.rule, self._asks = how, asks
        self._held: OrderedDict[tuple[str, str], Held] = OrderedDict()
        self._lock = Lock()

    def read(self, tx: Tx, space: str, conversation: str) -> Page:
        """The topics as the store has them."""
        place = rows.place_of(space, conversation)
        head = tx.rows(rows.HEADS, where=place)
        with self._lock:
            # Of what was erased, or is being made anew, nothing is held.
            held = self._held.get((space, conversation)) if head else self._held.pop((space, conversation), None)
        if not head:
            return Page(place)
        stamp = Stamp.read(head[0]["stamp"])
        cold = held is None or held.stamp != stamp
        if held is None or cold:
            recent = rows.recent_of(tx, place, bytes(head[0]["recent"]))
            states = rows.states_of(tx, place, active=True)
            book = Book(states, head[0]["current"], tuple(seen for _, seen in recent))
            faded = held.faded if held is not None and held.stamp.faded == stamp.faded else None
            held = Held(stamp, head[0]["turn"], book, tuple(turn for turn, _ in recent), faded)
            self._hold(place, held)
        turns = list(held.turns)
        return Page(place, held.turn, held.book, held.book.states, turns, stamp=held.stamp, gone=held.faded, cold=cold)

    def remember(self, page: Page) -> None:
        """Hold what was read on a page and not changed: what has faded is read once, and not with each message."""
        place = page.place["space"], page.place["conversation"]
        with self._lock:
            held = self._held.get(place)
        if held is not None and held.faded is None and page.gone is not None and held.stamp == page.stamp:
            self._hold(page.place, replace(held, faded=page.gone))

    def follow(
        self,
        tx: Tx,
        space: str,
        conversation: str,
        upto: int,
        given: Mapping[int, Vectors],
        fresh: Message | None = None,
        page: Page | None = None,
    ) -> Followed:
        """Give messages up to a turn to their topics, as far as there are vectors: `given`, or the index's; and not too
        many at once, since others wait.

        `fresh` is the message of that turn if it was made in this transaction: then the conversation is locked already,
        and `page` may have been read.
        """
        if fresh is None:
            lock(tx, space, conversation)
        page = page or self.read(tx, space, conversation)
        if page.turn >= upto:
            return Followed(page)
        alone = fresh is not None and page.turn == upto - 1
        where = Filter(space, conversation=conversation)
        messages = (
            [fresh]
            if fresh and alone
            else readable_messages(tx, VIEW, where, after=page.turn, upto=min(upto, page.turn + AT_ONCE))
        )
        if not messages:  # none of them can be read
            return Followed(page)
        upto, known, indexed = messages[-1].turn, dict(given), page.turn
        if any(needs_vector(message) and message.turn not in known for message in messages):
            # The cursor first: of what the index has got to by then, the vectors are there.
            indexed = tx.cursor("index", space, conversation)
            known |= tx.vectors_of(space, conversation, page.turn + 1, upto)
        notes = {} if alone else notes_between(tx, page, upto)
        for number, message in enumerate(messages):
            if needs_vector(message) and message.turn not in known and message.turn > indexed:
                self.write(tx, page)
                return Followed(page, [m for m in messages[number:] if needs_vector(m) and m.turn > indexed])
            self._take(tx, page, message, known.get(message.turn))
            page.turn = message.turn
            for note in notes.get(message.turn, ()):
                apply(tx, page, note)
        self.write(tx, page)
        return Followed(page)

    def _take(self, tx: Tx, page: Page, message: Message, vector: Vectors | None) -> None:
        if message.erased or (page.book.current is None and not message.content.strip()):
            return
        said = said_of(message, vector, max([0, *(len(seen.vector) for seen in page.book.recent)]))
        page.book = rule.step(even(page.book, len(said.vector)), said, self.rule, lambda: page.faded(tx))
        page.turns = [*page.turns, message.turn][-REACH:]
        assert page.book.current is not None
        page.given.append((message, page.book.current))

    def write(self, tx: Tx, page: Page) -> None:
        """Store what has changed on a page, and the cursor with it."""
        rows.put_turns(tx, page.place, page.given)
        changed = []
        for state in rule.changed(page.was, page.book.states):
            was = page.was(state.first)
            had = 0 if was is None else was.packed
            if state.packed > had:
                state = replace(rows.packed_away(tx, page.place, state, had), pending=True)
            elif self._asks and state.made_by != "model" and state.count >= rule.GROWN > (was.count if was else 0):
                state = replace(state, pending=True)
            changed.append(state)
        rows.put_states(tx, page.place, changed)
        states = {**page.book.states, **{state.first: state for state in changed}}
        page.book, page.given = replace(page.book, states=states), []
        self.stamp(tx, page, changed)
        tx.set_cursor(VIEW, page.place["space"], page.place["conversation"], page.turn)

    def stamp(self, tx: Tx, page: Page, changed: Iterable[State]) -> None:
        """Say that the topics are no longer those that others hold ready: these were stored anew."""
        after = {state.first: state for state in changed}
        was = {first: page.was(first) for first in after}
        faded = any(state.faded_at is not None for state in (*after.values(), *was.values()) if state is not None)
        page.stamp, page.before = page.stamp.next(faded), page.book.states
        page.gone = None if page.gone is None else page.gone.after(after)
        recent = [(turn, seen.vector) for turn, seen in zip(page.turns, page.book.recent, strict=True)]
        head = {"turn": page.turn, "current": page.book.current, "recent": rows.recent_bytes(recent)}
        tx.put(rows.HEADS, [{**page.place, **head, "stamp": page.stamp.all}])
        here = replace(page.book, states=rule.active(page.book.states))
        self._hold(page.place, Held(page.stamp, page.turn, here, tuple(page.turns), page.gone))

    def _hold(self, place: rows.Place, held: Held) -> None:
        # A transaction that is rolled back leaves a stamp here that the store never has.
        with self._lock:
            self._held.pop((place["space"], place["conversation"]), None)
            self._held[place["space"], place["conversation"]] = held
            while len(self._held) > REMEMBERED:
                self._held.popitem(last=False)
            faded = sum(len(one.faded.states) for one in self._held.values() if one.faded is not None)
            for key, one in list(self._held.items()) if faded > FADED else ():
                if one.faded is not None and faded > FADED:
                    faded -= len(one.faded.states)
                    self._held[key] = replace(one, faded=None)


class TopicsView:
    """Follows the index with topics."""

    name = VIEW
    at_once = AT_ONCE
    ordered = True

    def __init__(self, topics: Topics) -> None:
        self._topics = topics

    def first(self, done: int, turns: int) -> int:
        return done

    async def prepare(self, runs: Sequence[Run]) -> Sequence[Run]:
        # What there is to think is thought under the lock: it takes less than a second look would.
        return runs

    def skip(self, tx: Tx, space: str, conversation: str, turn: int) -> None:
        """Go past a message that is set aside."""
        lock(tx, space, conversation)
        page = self._topics.read(tx, space, conversation)
        if page.turn < turn:
            page.turn = turn
            self._topics.write(tx, page)

    def save(self, tx: Tx, result: Run) -> Saved:
        lag = result.lag
        upto = min(result.messages[-1].turn, lag.turns) if result.messages else lag.done
        page = self._topics.follow(tx, lag.space, lag.conversation, upto, {}).page
        return Saved(page.turn, max(page.turn - lag.done, 0))


def lock(tx: Tx, space: str, conversation: str) -> None:
    """Nobody else gives messages of this conversation to topics until we end."""
    there = tx.conversation(space, conversation)
    assert there is not None  # it has messages
    tx.lock_conversation(Conversation(space, conversation, None, there.created_at, there.changed_at))


def needs_vector(message: Message) -> bool:
    return not message.erased and bool(message.content.strip())


def even(book: Book, width: int) -> Book:
    """The book with the last messages' vectors of one width: one that says nothing may have come first."""
    if all(len(seen.vector) == width for seen in book.recent):
        return book
    empty = np.zeros(width, np.float32)
    fits = (seen if len(seen.vector) == width else replace(seen, vector=empty) for seen in book.recent)
    return replace(book, recent=tuple(fits))


def said_of(message: Message, vector: Vectors | None, width: int = 0) -> Said:
    kept = np.zeros(width, np.float32) if vector is None else as_kept(vector)
    text = message.content[:LOOKED_AT]
    return Said(
        message.turn,
        message.role,
        text,
        message.time,
        kept,
        importance_in(message),
        message.role == "user" and leans(text),
    )


def importance_in(message: Message) -> float | None:
    """The importance that was given with a user's message."""
    about = message.metadata.get(KEY)
    given = about.get("importance") if message.role == "user" and isinstance(about, dict) else None
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 1:
        return None
    return float(given)


# -- what was told


def notes_between(tx: Tx, page: Page, upto: int) -> dict[int, list[Mapping[str, Any]]]:
    """What was told after each of the turns up to this one: there is some only while the view is made anew."""
    start = {**page.place, "after": page.turn, "number": LAST}
    found: dict[int, list[Mapping[str, Any]]] = {}
    for note in tx.rows(rows.NOTES, start, where=page.place):
        if note["after"] <= upto:
            found.setdefault(note["after"], []).append(note)
    return found


def tell(tx: Tx, page: Page, kind: str, turn: int, now: Any, text: str = "", other: int | None = None) -> None:
    """Keep what a person told about a topic, and do it."""
    before = tx.rows(rows.NOTES, where={**page.place, "after": page.turn})
    note = {"after": page.turn, "number": len(before) + 1, "kind": kind, "turn": turn, "other": other, "text": text}
    tx.put(rows.NOTES, [{**page.place, **note, "told_at": now}])
    apply(tx, page, note)


def apply(tx: Tx, page: Page, note: Mapping[str, Any]) -> None:
    """Do what was told, if the topics it is about are (still) there."""
    first = page.topic_at(tx, note["turn"])
    if first is None or page.state(tx, first) is None:
        return
    whole = page.root(tx, first)
    if note["kind"] in CHANGES:
        state = CHANGES[note["kind"]](page.book.states[whole], note["text"])
        page.book = replace(page.book, states={**page.book.states, whole: state}, fades=None)
    elif note["kind"] == "apart":
        if page.book.states[first].merged_into is not None:
            page.book = rule.taken_out(page.book, first)
    elif note["kind"] == "merge":
        other = page.topic_at(tx, note["other"])
        if other is not None and page.root(tx, other) != whole:
            page.book = rule.merged(page.book, whole, page.root(tx, other))


CHANGES: Mapping[str, Callable[[State, str], State]] = {
    "tag": lambda state, text: rule.tagged(state, [text]),
    "untag": lambda state, text: rule.tagged(state, [], [text]),
    "feedback": lambda state, text: rule.voted(state, int(text)),
}
