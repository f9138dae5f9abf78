"""Topics: which one a message belongs to, how fast each fades, and what becomes of it. Pure: states in, states out.

A conversation's topics are a fold over its messages in order, and over what people told about its topics between them:
the same log gives the same topics, however it was followed. The moment of an event is the time of its message, never
that of the clock. A user's message goes where it fits best; what says nothing by itself (a nod, an emoji, "and the
second one?") and what is no user's belongs to the topic it follows. Nothing is undone by merging: a topic that has
become part of another keeps its own centroid and count, and is taken out again as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from math import log2
from typing import TYPE_CHECKING

import numpy as np

from recollect.language.detect import detect
from recollect.language.smalltalk import is_small_talk
from recollect.language.word_weights import matters, words
from recollect.model import Role
from recollect.model.topics import TopicKind
from recollect.rules.topics.centroids import Centroids, Near, Row, direction, moved, rows_of
from recollect.rules.topics.drift import LIKELY, REACH, Scale, Seen, shift

if TYPE_CHECKING:
    from recollect.rules.topics.faded import Faded

DAY = timedelta(days=1)
LONGEST = timedelta(days=30)
STEP = 5
"""Accesses after which the half-life doubles."""
DOUBLINGS = 5
TITLE = 80
"""Characters of the first message that are a topic's title."""
IMPORTANCE = 0.5
"""What a topic is worth as long as nobody says otherwise."""
WEIGHT = 4.0
"""How many votes the importance given with a message counts for."""
RETURN = 0.25
"""What coming back to a topic counts for, beside a vote for it."""
OTHERS = 0.5
"""What a message that is not the user's counts for in a centroid, beside one that is."""
GROWN = 4
"""Messages a topic has before it is merged by itself; so often it is looked whether it has grown like another."""
FEW = 8
"""Words of a follow-up."""
MARGIN = 0.05
"""How much nearer another topic has to be than the current one, if both would do, to be changed to."""


@dataclass(frozen=True, slots=True)
class TopicRule:
    """From which cosine on a message joins a topic; how many topics may be active and below which priority they leave
    when there are more; past how many messages a topic is packed, and how many stay."""

    similarity: float = 0.7
    most: int = 20
    least: float = 0.05
    messages: int = 12
    keep: int = 4
    scale: Scale = field(default_factory=Scale)

    @property
    def merging(self) -> float:
        """From which cosine on two topics have grown alike: well above that of a message and its topic."""
        return 1 - (1 - self.similarity) / 3


@dataclass(frozen=True, slots=True)
class State:
    """What is known of one topic: its opening turn is its name.

    `importance` is what was given with its messages; what was learned since is in `returns`, `ups` and `downs`.
    `packed` of its `count` messages have left the active set; `opened` is the count at which they were brought back.
    `merged_into` is the topic it has become part of, `apart` those it must not be merged with again. `made_by` is who
    wrote the title; while `pending`, a title or a summary waits to be written. `packed_upto` is the last turn packed.
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

    @property
    def id(self) -> str:
        return f"t{self.first}"


@dataclass(frozen=True, slots=True)
class Said:
    """A message as it comes to the topics. `leaning` says that it points at what was said before it."""

    turn: int
    role: Role
    text: str
    time: datetime
    vector: Row
    importance: float | None = None
    leaning: bool = False


@dataclass(frozen=True, slots=True)
class Book:
    """A conversation's topics after some turn: those that are active (and those that have just faded), each with what
    is part of it; which of them is being talked of; and the last messages. Before `fades`, if it is known, none of them
    has lost so much that it would leave."""

    states: Mapping[int, State] = field(default_factory=dict)
    current: int | None = None
    recent: tuple[Seen, ...] = ()
    fades: datetime | None = None


# -- time


def half_life(accesses: int) -> timedelta:
    """How long until half of a topic's priority is gone: a day at first, twice that every five accesses, up to thirty
    days."""
    doublings = min(max(accesses, 0) // STEP, DOUBLINGS)
    return min(DAY * (1 << doublings), LONGEST)


def kind(accesses: int) -> TopicKind:
    if accesses < STEP:
        return "short-term"
    return "transitioning" if accesses < 2 * STEP else "long-term"


def priority(importance: float, accesses: int, age: timedelta) -> float:
    """What is left of the importance after that time; a time yet to come takes nothing."""
    return float(importance * 0.5 ** (max(age, timedelta()) / half_life(accesses)))


def lasts(now: float, half: timedelta, least: float) -> timedelta:
    """How long until a priority has fallen to the least; no time at all if it has."""
    return half * max(log2(now / least), 0.0) if now > 0 else timedelta()


def importance_of(state: State) -> float:
    """What was given, moved by what people said of it and by how often the talk came back to it. From 0 to 1."""
    used = RETURN * state.returns
    return (WEIGHT * state.importance + state.ups + used) / (WEIGHT + state.ups + state.downs + used)


def present(state: State, now: datetime) -> float:
    """The priority of a topic (the whole of it, see `whole`) at a time."""
    return priority(importance_of(state), state.accesses, now - state.last_active_at)


# -- parts


def root(states: Mapping[int, State], first: int) -> int:
    """The topic that this one is now part of, or itself."""
    into = states[first].merged_into
    while into is not None:
        first, into = into, states[into].merged_into
    return first


def parts(states: Mapping[int, State], first: int) -> list[State]:
    """A topic and all that has become part of it, itself first."""
    others = [s for s in states.values() if s.merged_into is not None and root(states, s.first) == first]
    return [states[first], *sorted(others, key=lambda state: state.first)]


def whole(states: Mapping[int, State], first: int) -> State:
    """A topic with what has become part of it: messages and accesses of all, the last activity of any."""
    every = parts(states, first)
    own = every[0]
    if len(every) == 1:
        return own
    return replace(
        own,
        count=sum(s.count for s in every),
        packed=sum(s.packed for s in every if s.opened is None),
        opened=None,
        accesses=sum(s.accesses for s in every),
        returns=sum(s.returns for s in every),
        ups=sum(s.ups for s in every),
        downs=sum(s.downs for s in every),
        importance=max(s.importance for s in every),
        tags=tuple(dict.fromkeys(tag for s in every for tag in s.tags)),
        created_at=min(s.created_at for s in every),
        last_active_at=max(s.last_active_at for s in every),
    )


def roots(states: Mapping[int, State]) -> list[int]:
    """The topics that are part of no other."""
    return [first for first, state in states.items() if state.merged_into is None]


# -- vectors


def centroids(some: Mapping[int, State], states: Mapping[int, State]) -> Centroids:
    """Those of some topics, among all that they may be part of; of a topic that has said nothing there is none."""
    told = [state for state in some.values() if state.centroid]
    if not told:
        return Centroids()
    firsts = np.array([state.first for state in told], np.int64)
    merged = [number for number, state in enumerate(told) if state.merged_into is not None]
    topics = firsts.copy()
    topics[merged] = [root(states, told[number].first) for number in merged]
    return Centroids(firsts, topics, rows_of([state.centroid for state in told]))


def nearness(states: Mapping[int, State], vector: Row) -> Near:
    """How near a vector is to each of these topics and its parts."""
    return centroids(states, states).near(vector)


# -- matching


def subject(title: str, made_by: str, most: int = 6) -> str:
    """What a topic is about in a few words: a title a model wrote, or what matters in the beginning of a message."""
    if made_by == "model":
        return title
    language = detect(title)
    return " ".join([word for word in words(title) if matters(word, language)][:most])


def follows(said: Said) -> bool:
    """Whether a message says nothing by itself and belongs to what it follows: small talk, an emoji, a script the
    embedder cannot read, or a short follow-up such as "and the second one?"."""
    if not np.any(said.vector) or is_small_talk(said.text):
        return True
    if len(said.text) > 10 * TITLE:
        return False
    language = detect(said.text)
    every = words(said.text)
    matter = sum(1 for word in every if matters(word, language))
    return matter == 0 or (said.leaning and matter == 1 and len(every) <= FEW)


def chosen(book: Book, said: Said, rule: TopicRule) -> int | None:
    """The active topic a message belongs to; None if it fits none of them."""
    here = book.current
    if here is not None and (said.role != "user" or follows(said)):
        return here
    near = nearness(active(book.states), said.vector)
    best, cosine = near.best(here)
    if best is not None and cosine >= rule.similarity:
        stays = here is not None and near.to(here) >= max(rule.similarity, cosine - MARGIN)
        return here if stays else best
    if here is None or said.role != "user":
        return here
    seen = Seen(said.text, said.vector, said.role, said.time)
    return here if shift(book.recent, seen, rule.scale) < LIKELY else None


def step(book: Book, said: Said, rule: TopicRule, faded: Callable[[], Faded]) -> Book:
    """The topics after one more message. `faded` gives those that have left the active set, if they are needed."""
    first = chosen(book, said, rule)
    states = dict(book.states)
    if first is None:
        gone = faded().after(states)
        first = gone.returned(said.vector, rule.similarity)
        if first is not None:
            states |= {state.first: replace(state, faded_at=None) for state in parts(gone.states, first)}
    if first is None:
        first = said.turn
        states[first] = opened(said)
    else:
        states[first] = joined(states[first], said, back=first != book.current)
    if book.current is not None and book.current != first:
        states[book.current] = left(states[book.current], rule)
    states[first] = packing(states[first], rule)
    recent = (*book.recent, Seen(said.text, said.vector, said.role, said.time))[-REACH:]
    after = Book(states, first, recent, book.fades)
    if said.role == "user":
        after = grown_alike(after, rule)
    return fading(after, said.time, rule)


def opened(said: Said) -> State:
    given = IMPORTANCE if said.importance is None else said.importance
    return State(
        said.turn,
        " ".join(said.text.split())[:TITLE],
        said.time,
        said.time,
        moved(b"", 0, said.vector),
        count=1,
        importance=given,
    )


def joined(state: State, said: Said, back: bool) -> State:
    """A topic with one more message. A user's counts as an access; one that comes back to it finds it unpacked."""
    mine = said.role == "user"
    return replace(
        state,
        last_active_at=max(state.last_active_at, said.time),
        centroid=moved(state.centroid, state.count, said.vector, 1.0 if mine else OTHERS),
        count=state.count + 1,
        accesses=state.accesses + mine,
        returns=state.returns + back,
        importance=max(state.importance, said.importance or 0.0),
        opened=state.count if back and state.packed else state.opened,
    )


def packing(state: State, rule: TopicRule) -> State:
    """Past its number of messages, all but the last few leave the active set. What was brought back stays in it for as
    many messages again."""
    since = state.packed if state.opened is None else state.opened
    if state.count - since <= rule.messages:
        return state
    return replace(state, packed=state.count - rule.keep, opened=None)


def left(state: State, rule: TopicRule) -> State:
    """A topic that is no longer talked of: what was brought back leaves the active set again."""
    return state if state.opened is None else packing(replace(state, opened=None), rule)


def grown_alike(book: Book, rule: TopicRule) -> Book:
    """With the current topic and another made one, the younger part of the older, if they have grown alike."""
    assert book.current is not None
    here = book.states[book.current]
    if here.count % GROWN or not here.centroid:  # a centroid moves slowly: every few messages is often enough
        return book
    near = nearness(active(book.states), direction(here.centroid)).above(rule.merging)
    others = [first for first in near if first != here.first and book.states[first].count >= GROWN]
    wanted = [first for first in others if not kept_apart(book.states, here.first, first)]
    if not wanted:
        return book
    best = max(wanted, key=lambda first: (near[first], -first))
    return merged(book, min(best, here.first), max(best, here.first))


def kept_apart(states: Mapping[int, State], one: int, other: int) -> bool:
    theirs = {state.first for state in parts(states, other)}
    return any(state.apart & theirs for state in parts(states, one))


def fading(book: Book, now: datetime, rule: TopicRule) -> Book:
    """When there are too many, those of too little priority leave the active set, the lowest first, never the one that
    is being talked of."""
    assert book.current is not None
    if book.fades is not None and now < book.fades:
        # A message makes its topic last longer; only a new one, or one of little worth, may be the next to leave.
        return replace(book, fades=min(book.fades, leaves(book.states[book.current], rule)))
    here = active(book.states)
    every = roots(here)
    if len(every) <= rule.most:
        return book
    shared = {root(here, state.first) for state in here.values() if state.merged_into is not None}
    wholes = {first: whole(here, first) if first in shared else here[first] for first in every}
    worth = {first: present(state, now) for first, state in wholes.items() if first != book.current}
    states = dict(book.states)
    for first in sorted(worth, key=lambda first: (worth[first], first)):
        if worth[first] >= rule.least:
            break
        for part in parts(here, first):
            states[part.first] = replace(part, faded_at=now)
    stays = (wholes[first] for first in every if states[first].faded_at is None)
    return replace(book, states=states, fades=min(leaves(state, rule) for state in stays))


def leaves(state: State, rule: TopicRule) -> datetime:
    """When a topic may have lost so much that it leaves. A little early: it is looked at closely then."""
    lasting = lasts(importance_of(state), half_life(state.accesses), rule.least)
    try:
        return state.last_active_at + lasting - timedelta(seconds=1)
    except OverflowError:  # never, as far as there are dates
        return datetime.max.replace(tzinfo=UTC)


# -- what people tell


def merged(book: Book, into: int, first: int) -> Book:
    """Two topics as one: the second part of the first."""
    states = dict(book.states)
    states[first] = replace(states[first], merged_into=into)
    for part in parts(states, into):
        if part.faded_at is not None:
            states[part.first] = replace(part, faded_at=None)
    return replace(book, states=states, current=into if book.current == first else book.current)


def taken_out(book: Book, first: int) -> Book:
    """A topic that had become part of another, as it was; the two are not merged again by themselves."""
    states = dict(book.states)
    into = states[first].merged_into
    assert into is not None
    states[first] = replace(states[first], merged_into=None, apart=states[first].apart | {into})
    states[into] = replace(states[into], apart=states[into].apart | {first})
    return replace(book, states=states, fades=None)


def voted(state: State, score: int) -> State:
    return replace(state, ups=state.ups + (score > 0), downs=state.downs + (score < 0))


def tagged(state: State, tags: Iterable[str], without: Iterable[str] = ()) -> State:
    gone = set(without)
    return replace(state, tags=tuple(dict.fromkeys(tag for tag in (*state.tags, *tags) if tag not in gone)))


def changed(before: Callable[[int], State | None], after: Mapping[int, State]) -> list[State]:
    """The states that are new or different, in order."""
    return [after[first] for first in sorted(after) if before(first) is not after[first]]


def active(states: Mapping[int, State]) -> Mapping[int, State]:
    """Those that have not faded."""
    return {first: state for first, state in states.items() if state.faded_at is None}
