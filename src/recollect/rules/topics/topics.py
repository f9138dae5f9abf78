"""Topics: which one a message belongs to, how fast each fades, and how they merge. Pure: states in, states out.

A conversation's topics are a fold over its messages in order, and over the users' votes, tags and merges between them:
the same log gives the same topics, however it was processed. The time of an event is the time of its message, never
that of the clock. A user's message goes to the topic it fits best (`matching`), stays with the current one, or opens a
new one if the subject shifts (`drift`); a message without content of its own (a nod, an emoji, "and the second one?")
and a message of another role belong to the topic they follow. A merge loses nothing: a topic that is part of another
keeps its own centroid and count, and can be split off unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from heapq import nlargest
from typing import Protocol

import numpy as np

from recollect.model import Role
from recollect.model.topics import IMPORTANCE
from recollect.rules.topics.centroids import Centroids, Row, direction, move_centroid, rows_of
from recollect.rules.topics.drift import LIKELY, REACH, DriftMessage, Scale, shift
from recollect.rules.topics.half_lives import half_life, priority, remaining_time
from recollect.rules.topics.matching import Fits, fit_topics
from recollect.rules.topics.titles import is_due, key_title, opening_title
from recollect.rules.topics.topic_words import NO_WORDS, MessageWords, Rarity, TopicWords

WEIGHT = 4.0
"""How many votes the importance given with a message is worth."""
RETURN = 0.25
"""The worth of a return to a topic, in votes."""
OTHERS = 0.5
"""The weight in a centroid of a message that is not a user's; a user's has 1."""
GROWN = 4
"""Messages a topic needs before it is merged automatically; after each so many messages it is compared with others."""
FEW = 8
"""Words of a follow-up."""
SHORT = 120
"""Characters of a message that may be a follow-up."""
MARGIN = 0.05
"""How much better another topic must fit than the current one, if both fit, to become current after a shift."""
LEAD = 0.2
"""The same, if nothing but the fit speaks for a shift."""
LARGE = 100
"""Messages of a topic. What is said of the same thing after so many is another part of it, a topic of its own."""
YOUNG = 3
"""Messages of a topic by which it is known what it is about; before, the lead has to be twice as large."""
COMPARED = 24
"""Topics, the last active, among which the rarity of words is counted."""


@dataclass(frozen=True, slots=True)
class TopicRule:
    """The cosine from which on a message joins a topic; how many topics may be active (`most`), and the priority below
    which they leave when there are more (`least`); past how many messages a topic is packed, and how many it keeps."""

    similarity: float = 0.7
    most: int = 20
    least: float = 0.05
    messages: int = 12
    keep: int = 4
    scale: Scale = field(default_factory=Scale)

    @property
    def merging(self) -> float:
        """The cosine from which on two topics are merged: well above that of a message and its topic."""
        return 1 - (1 - self.similarity) / 3


@dataclass(frozen=True, slots=True)
class TopicState:
    """The state of one topic, named by its opening turn, `first`.

    `importance` is the importance given with its messages; what was learned since is in `returns`, `ups` and `downs`.
    `packed` of its `count` messages have left the active set; `opened` is the count at which they were brought back.
    `merged_into` is the topic it is part of, `apart` those it must not be merged with again. `made_by` is the author of
    the title; while `pending`, a title or a summary is still to be written. `packed_upto` is the last turn packed.
    `words` are what its messages say most.
    """

    first: int
    title: str
    created_at: datetime
    last_active_at: datetime
    centroid: bytes = b""
    count: int = 0
    accesses: int = 0
    returns: int = 0
    importance: float = IMPORTANCE
    ups: int = 0
    downs: int = 0
    tags: tuple[str, ...] = ()
    packed: int = 0
    opened: int | None = None
    faded_at: datetime | None = None
    merged_into: int | None = None
    apart: frozenset[int] = frozenset()
    made_by: str = "offline"
    packed_upto: int = 0
    pending: bool = False
    words: TopicWords = NO_WORDS

    @property
    def id(self) -> str:
        return f"t{self.first}"


@dataclass(frozen=True, eq=False)
class IncomingMessage:
    """A message that is to be given a topic. `leaning`: it refers to the message before it."""

    turn: int
    role: Role
    text: str
    time: datetime
    vector: Row
    importance: float | None = None
    leaning: bool = False

    @cached_property
    def drift(self) -> DriftMessage:
        return DriftMessage(self.text, self.vector, self.role, self.time)

    @property
    def words(self) -> MessageWords:
        return self.drift.words


@dataclass(frozen=True)
class Book:
    """A conversation's topics after some turn: those that are active (and those that have just faded), each with its
    parts; the current topic; and the last messages. Before `fades`, if it is set, none of them has so little priority
    that it would leave. What is derived from it is computed once: contexts ask for it again."""

    states: Mapping[int, TopicState] = field(default_factory=dict)
    current: int | None = None
    recent: tuple[DriftMessage, ...] = ()
    fades: datetime | None = None

    @cached_property
    def active(self) -> Mapping[int, TopicState]:
        return active_topics(self.states)

    @cached_property
    def by_root(self) -> Mapping[int, list[TopicState]]:
        return group_parts(self.active)

    @cached_property
    def centroids(self) -> Centroids:
        return centroids(self.active, self.active)

    @cached_property
    def rarity(self) -> Rarity:
        """How rare stems are among the topics that were active last."""
        return Rarity([state.words.stems for state in last_active(self.active)])

    def weigh_words(self, message: IncomingMessage) -> dict[str, float]:
        """The stems of a message, each with its rarity."""
        return {root: self.rarity.of(root) for root in sorted(message.words.stems)}


class TopicArchive(Protocol):
    """The topics that have left the active set, as far as `step` needs them; `faded` implements it."""

    @property
    def states(self) -> Mapping[int, TopicState]:
        """The faded topics by their opening turn."""

    def after(self, states: Mapping[int, TopicState]) -> TopicArchive:
        """The archive after these states, of active or faded topics, have changed."""

    def find_return(self, vector: Row, least: float, words: Mapping[str, float] | None, scale: Scale) -> int | None:
        """The topic that a message, with its words and their weights, returns to, if it fits one well enough."""


# -- time


def importance_of(state: TopicState) -> float:
    """The given importance, adjusted by votes and by the number of returns to the topic. From 0 to 1."""
    return_weight = RETURN * state.returns
    return (WEIGHT * state.importance + state.ups + return_weight) / (WEIGHT + state.ups + state.downs + return_weight)


def current_priority(state: TopicState, now: datetime) -> float:
    """The priority of a topic with its parts (see `whole_topic`) at a time."""
    return priority(importance_of(state), state.accesses, now - state.last_active_at)


# -- parts


def root(states: Mapping[int, TopicState], first: int) -> int:
    """The topic that this one is part of, or the topic itself."""
    into = states[first].merged_into
    while into is not None:
        first, into = into, states[into].merged_into
    return first


def parts(states: Mapping[int, TopicState], first: int) -> list[TopicState]:
    """A topic and all its parts, itself first."""
    merged_states = [state for state in states.values() if state.merged_into is not None]
    others = [state for state in merged_states if root(states, state.first) == first]
    return [states[first], *sorted(others, key=lambda state: state.first)]


def whole_topic(states: Mapping[int, TopicState], first: int) -> TopicState:
    """A topic together with its parts: messages and accesses of all, the last activity of any."""
    all_parts = parts(states, first)
    topic = all_parts[0]
    if len(all_parts) == 1:
        return topic
    return replace(
        topic,
        count=sum(part.count for part in all_parts),
        packed=sum(part.packed for part in all_parts if part.opened is None),
        opened=None,
        accesses=sum(part.accesses for part in all_parts),
        returns=sum(part.returns for part in all_parts),
        ups=sum(part.ups for part in all_parts),
        downs=sum(part.downs for part in all_parts),
        importance=max(part.importance for part in all_parts),
        tags=tuple(dict.fromkeys(tag for part in all_parts for tag in part.tags)),
        created_at=min(part.created_at for part in all_parts),
        last_active_at=max(part.last_active_at for part in all_parts),
    )


def roots(states: Mapping[int, TopicState]) -> list[int]:
    """The topics that are part of no other."""
    return [first for first, state in states.items() if state.merged_into is None]


# -- vectors


def centroids(selection: Mapping[int, TopicState], states: Mapping[int, TopicState]) -> Centroids:
    """The centroids of a selection of topics, among all that they may be part of; a topic without content has none."""
    with_centroid = [state for state in selection.values() if state.centroid]
    if not with_centroid:
        return Centroids()
    firsts = [state.first for state in with_centroid]
    topics = [state.first if state.merged_into is None else root(states, state.first) for state in with_centroid]
    rows = rows_of([state.centroid for state in with_centroid])
    return Centroids(np.array(firsts, np.int64), np.array(topics, np.int64), rows)


# -- matching


def follows(message: IncomingMessage) -> bool:
    """Whether a message has no content of its own and belongs to the topic before it: greetings, thanks, praise, an
    emoji, a script the embedder cannot read, or a short follow-up such as "and the second one?"."""
    if not message.drift.has_vector or message.words.is_empty:
        return True
    if len(message.text) > SHORT:
        return False
    is_follow_up = message.leaning and len(message.words.stems) == 1 and len(message.text.split()) <= FEW
    return is_follow_up or not (message.words.is_telling or message.drift.cues.asks_you)


def choose_topic(book: Book, message: IncomingMessage, rule: TopicRule) -> int | None:
    """The active topic a message belongs to; None if it fits none of them."""
    current = book.current
    if current is not None and (message.role != "user" or follows(message)):
        return current
    fits = fit_active_topics(book, message, rule)
    best, fit = fits.best(without=current)
    if fit < rule.similarity:
        best = None
    if current is None or message.role != "user":
        return best if current is None else current
    if current not in fits.by_topic and size_of(book.states, current) >= LARGE:
        return best
    lead = fit - fits.to(current)
    shifts = shift(book.recent, message.drift, rule.scale, fits.to(current)) >= LIKELY
    is_young = book.states[current].count < YOUNG
    if best is not None and lead >= (MARGIN if shifts else 2 * LEAD if is_young else LEAD):
        return best
    return current if not shifts or fits.to(current) >= rule.similarity else None


def fit_active_topics(book: Book, message: IncomingMessage, rule: TopicRule) -> Fits:
    """How well a message fits the active topics; large ones take no more messages."""
    fits = fit_topics(
        book.centroids.near(message.vector),
        lambda first: [part.words for part in book.by_root[first]],
        book.weigh_words(message),
        rule.scale,
        book.current,
    )
    sizes = {first: sum(part.count for part in book.by_root[first]) for first in fits.by_topic}
    return Fits({first: fit for first, fit in fits.by_topic.items() if sizes[first] < LARGE})


def group_parts(states: Mapping[int, TopicState]) -> dict[int, list[TopicState]]:
    """All topics, each with its parts."""
    by_root: dict[int, list[TopicState]] = {}
    for first, state in states.items():
        by_root.setdefault(first if state.merged_into is None else root(states, first), []).append(state)
    return by_root


def last_active(states: Mapping[int, TopicState]) -> list[TopicState]:
    """The topics that were active last, at most `COMPARED`."""
    every = list(states.values())
    if len(every) <= COMPARED:
        return every
    return nlargest(COMPARED, every, key=lambda state: (state.last_active_at, state.first))


def step(book: Book, message: IncomingMessage, rule: TopicRule, load_archive: Callable[[], TopicArchive]) -> Book:
    """The topics after one more message. `load_archive` gives those that have left the active set, if needed."""
    first = choose_topic(book, message, rule)
    states = dict(book.states)
    if first is None:
        archive = load_archive().after(states)
        weights = book.weigh_words(message)
        first = archive.find_return(message.vector, rule.similarity, weights, rule.scale)
        if first is not None:
            states |= {state.first: replace(state, faded_at=None) for state in parts(archive.states, first)}
    if first is None:
        first = message.turn
        states[first] = open_topic(message)
    else:
        states[first] = add_message(states[first], message, back=first != book.current)
    if book.current is not None and book.current != first:
        states[book.current] = leave_topic(states[book.current], rule)
    states[first] = name_topic(states, pack_messages(states[first], rule))
    after = Book(states, first, (*book.recent, message.drift)[-REACH:], book.fades)
    if message.role == "user":
        after = merge_similar(after, rule)
    return fade_topics(after, message.time, rule)


def open_topic(message: IncomingMessage) -> TopicState:
    importance = IMPORTANCE if message.importance is None else message.importance
    return TopicState(
        message.turn,
        opening_title(message.text),
        message.time,
        message.time,
        move_centroid(b"", 0, message.vector),
        count=1,
        importance=importance,
        words=NO_WORDS.with_message(message.words),
    )


def add_message(state: TopicState, message: IncomingMessage, back: bool) -> TopicState:
    """A topic with one more message. A user's message counts as an access; a return to the topic unpacks it."""
    is_user = message.role == "user"
    # A topic that began with a greeting is named by the first message that says something.
    renames = is_user and not state.words.stems and not message.words.is_empty and state.made_by == "offline"
    return replace(
        state,
        title=opening_title(message.text) if renames else state.title,
        words=state.words.with_message(message.words),
        last_active_at=max(state.last_active_at, message.time),
        centroid=move_centroid(state.centroid, state.count, message.vector, 1.0 if is_user else OTHERS),
        count=state.count + 1,
        accesses=state.accesses + is_user,
        returns=state.returns + back,
        importance=max(state.importance, message.importance or 0.0),
        opened=state.count if back and state.packed else state.opened,
    )


def name_topic(states: Mapping[int, TopicState], state: TopicState) -> TopicState:
    """A topic named by its key phrases against the other topics, if it has grown enough since it was named."""
    if state.made_by != "offline" or not is_due(state.count):
        return state
    others = [other.words for other in last_active(active_topics(states)) if other.first != state.first]
    title = key_title(state.words, others)
    return replace(state, title=title) if title and title != state.title else state


def pack_messages(state: TopicState, rule: TopicRule) -> TopicState:
    """Past the number of messages of the rule, all but the last few leave the active set. Messages that were brought
    back stay in it for as many messages again."""
    since = state.packed if state.opened is None else state.opened
    if state.count - since <= rule.messages:
        return state
    return replace(state, packed=state.count - rule.keep, opened=None)


def leave_topic(state: TopicState, rule: TopicRule) -> TopicState:
    """A topic that is no longer current: messages that were brought back leave the active set again."""
    return state if state.opened is None else pack_messages(replace(state, opened=None), rule)


def merge_similar(book: Book, rule: TopicRule) -> Book:
    """Merge the current topic and another, the younger into the older, if they have become similar."""
    assert book.current is not None
    current = book.states[book.current]
    if current.count % GROWN or not current.centroid:  # a centroid moves slowly: every few messages is often enough
        return book
    active = book.active
    others = {first: state for first, state in active.items() if root(active, first) != current.first}
    near = centroids(others, active).near(direction(current.centroid))
    fits = fit_topics(near, lambda first: (), {}, rule.scale).by_topic
    candidates = [
        first
        for first, fit in fits.items()
        if fit >= rule.merging
        and book.states[first].count >= GROWN
        and size_of(book.states, first) + size_of(book.states, current.first) <= LARGE
        and not are_kept_apart(book.states, current.first, first)
    ]
    if not candidates:
        return book
    best = max(candidates, key=lambda first: (fits[first], -first))
    return merge_topics(book, min(best, current.first), max(best, current.first))


def size_of(states: Mapping[int, TopicState], first: int) -> int:
    """The messages of a topic with its parts."""
    return sum(part.count for part in parts(states, first))


def are_kept_apart(states: Mapping[int, TopicState], first: int, other: int) -> bool:
    other_parts = {state.first for state in parts(states, other)}
    return any(state.apart & other_parts for state in parts(states, first))


def fade_topics(book: Book, now: datetime, rule: TopicRule) -> Book:
    """When there are too many topics, those of too little priority leave the active set, the lowest first, never the
    current one."""
    assert book.current is not None
    if book.fades is not None and now < book.fades:
        # A message prolongs its topic; only a new topic, or one of little importance, may be the next to leave.
        next_fade = fade_time(book.states[book.current], rule)
        return replace(book, fades=next_fade) if next_fade < book.fades else book
    if len(book.by_root) <= rule.most:
        return book
    wholes = {first: whole_topic({part.first: part for part in group}, first) for first, group in book.by_root.items()}
    worth = {first: current_priority(state, now) for first, state in wholes.items() if first != book.current}
    states = dict(book.states)
    for first in sorted(worth, key=lambda first: (worth[first], first)):
        if worth[first] >= rule.least:
            break
        for part in book.by_root[first]:
            states[part.first] = replace(part, faded_at=now)
    remaining = (whole for first, whole in wholes.items() if states[first].faded_at is None)
    return replace(book, states=states, fades=min(fade_time(state, rule) for state in remaining))


def fade_time(state: TopicState, rule: TopicRule) -> datetime:
    """When a topic may have so little priority that it leaves. A little early: the exact check is made then."""
    lasting = remaining_time(importance_of(state), half_life(state.accesses), rule.least)
    try:
        return state.last_active_at + lasting - timedelta(seconds=1)
    except OverflowError:  # never, as far as there are dates
        return datetime.max.replace(tzinfo=UTC)


# -- what users change


def merge_topics(book: Book, into: int, first: int) -> Book:
    """Merge two topics: `first` becomes part of `into`."""
    states = dict(book.states)
    states[first] = replace(states[first], merged_into=into)
    for part in parts(states, into):
        if part.faded_at is not None:
            states[part.first] = replace(part, faded_at=None)
    return replace(book, states=states, current=into if book.current == first else book.current)


def split_topic(book: Book, first: int) -> Book:
    """Split a topic off from the one it is part of; the two are not merged automatically again."""
    states = dict(book.states)
    into = states[first].merged_into
    assert into is not None
    states[first] = replace(states[first], merged_into=None, apart=states[first].apart | {into})
    states[into] = replace(states[into], apart=states[into].apart | {first})
    return replace(book, states=states, fades=None)


def add_vote(state: TopicState, score: int) -> TopicState:
    return replace(state, ups=state.ups + (score > 0), downs=state.downs + (score < 0))


def change_tags(state: TopicState, tags: Iterable[str], without: Iterable[str] = ()) -> TopicState:
    removals = set(without)
    return replace(state, tags=tuple(dict.fromkeys(tag for tag in (*state.tags, *tags) if tag not in removals)))


def state_changes(before: Callable[[int], TopicState | None], after: Mapping[int, TopicState]) -> list[TopicState]:
    """The states that are new or have changed, in order."""
    return [after[first] for first in sorted(after) if before(first) is not after[first]]


def active_topics(states: Mapping[int, TopicState]) -> Mapping[int, TopicState]:
    """The states of topics that have not faded."""
    return {first: state for first, state in states.items() if state.faded_at is None}
