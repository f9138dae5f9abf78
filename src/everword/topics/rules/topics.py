"""Topics: which one a message belongs to, and how they merge; `fading` says how they fade. Pure: no clock, no store.

A conversation's topics are a fold over its messages in order, and over the users' votes, tags and merges between them:
the same log gives the same topics, however it was processed. The time of an event is the time of its message, never
that of the clock. A user's message goes to the topic it fits best, stays with the current one, or opens a new one if
the subject shifts (`drift`); a message without content of its own (a nod, an emoji, "and the second one?") and a
message of another role belong to the topic they follow. A merge loses nothing: a topic that is part of another keeps
its own centroid and count, and can be split off unchanged.

A fit is the cosine to the centroid, and is compared with the embedder's threshold. Two things correct it. In a
conversation whose topics are all alike, or for a message that is a little like everything, a cosine says less: how far
the mean cosine with the other topics is above that of unrelated texts is taken off. And words that the message shares
with the topic, the rare ones above all, close a part of the gap to 1. With one topic and no word in common, a fit is
the cosine itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Protocol

import numpy as np

from everword.model import Role
from everword.model.views import IMPORTANCE
from everword.topics.rules import fading, topic_set
from everword.topics.rules import words as word_rules
from everword.topics.rules.drift import BUILT_IN, LIKELY, REACH, DriftMessage, Scale, shift
from everword.topics.rules.fading import TopicOutline, TopicState
from everword.topics.rules.topic_set import Row, Similarities, States, TopicSet
from everword.topics.rules.words import NO_WORDS, MessageWords, Rarity, TopicWords

LOOKED_AT = 8
"""Topics, the nearest, whose words are compared with those of a message."""
MANY = 64
"""Topics from which on the nearest are found by array work."""
FEW_TOPICS = 3
"""Others topics that their mean cosine is trusted with half."""
WORDS = 0.8
"""The part of the gap to 1 that is closed if all words of a message are words of the topic."""


@dataclass(frozen=True, slots=True)
class Fits:
    """The fit of a message to the nearest topics, by their opening turn."""

    by_topic: Mapping[int, float]

    def best(self, without: int | None = None) -> tuple[int | None, float]:
        """The topic of the best fit; among equals the oldest."""
        fits = [(fit, -topic) for topic, fit in self.by_topic.items() if topic != without]
        if not fits:
            return None, -1.0
        fit, negative = max(fits)
        return -negative, fit

    def to(self, topic: int | None) -> float:
        return -1.0 if topic is None else self.by_topic.get(topic, -1.0)


def fit_topics(
    near: Similarities,
    words_of: Callable[[int], Sequence[TopicWords] | None],
    message: Mapping[str, float],
    scale: Scale,
    current: int | None = None,
) -> Fits:
    """The fits of a message, whose stems have these weights, to the topics nearest to it, and to the current one.
    `words_of` gives the words of each part of a topic, or None for a topic that takes no more messages."""
    count = len(near.cosines)
    if not count:
        return Fits({})
    total = float(np.add.reduce(near.cosines))
    others = count - 1
    trust = others / (others + FEW_TOPICS)
    usual = scale.unrelated
    said = word_rules.total_weight(message)
    fits: dict[int, float] = {}
    for topic, cosine in nearest_topics(near, current).items():
        topic_parts = words_of(topic)
        if topic_parts is None:
            continue
        mean = (total - cosine) / others if others else 0.0
        common = (mean - usual) * trust if mean > usual else 0.0
        shared = 0.0
        for words in topic_parts if message else ():
            shared = max(shared, word_rules.shared_weight(message, words))
        fits[topic] = cosine - common + (1 - cosine) * WORDS * (shared / said)
    return Fits(fits)


def nearest_topics(near: Similarities, current: int | None) -> dict[int, float]:
    """The cosines of the nearest topics and of the current one; of a topic with parts, that of the nearest part."""
    topics = near.topics
    cosines = near.cosines
    if len(cosines) > MANY:
        # Those that are as near as the last one count as well: which of them comes first is not the same everywhere.
        least = np.partition(cosines, -LOOKED_AT)[-LOOKED_AT]
        is_near = cosines >= least
        places = np.flatnonzero(is_near if current is None else is_near | (topics == current))
        topics = topics[places]
        cosines = cosines[places]
    nearest: dict[int, float] = {}
    for topic, cosine in zip(topics.tolist(), cosines.tolist(), strict=True):
        if cosine > nearest.get(topic, -2.0):
            nearest[topic] = cosine
    if len(nearest) <= LOOKED_AT:
        return nearest
    least = sorted(nearest.values())[-LOOKED_AT]
    return {topic: cosine for topic, cosine in nearest.items() if cosine >= least or topic == current}


# -- topics that have left the active set


@dataclass(frozen=True)
class FadedTopics:
    """The faded topics by their opening turn. Of some only the outline may be known: `read` gives their states, and
    `read_words` their words alone, in no order."""

    states: TopicSet = field(default_factory=lambda: TopicSet(of_faded=True))
    read: Callable[[Sequence[int]], States] | None = None
    read_words: Callable[[Sequence[int]], Mapping[int, TopicWords]] | None = None

    @classmethod
    def of(cls, states: States) -> FadedTopics:
        return cls(TopicSet.of(states, of_faded=True))

    def after(self, states: States) -> FadedTopics:
        """The faded topics after these states, of active or faded topics, have changed."""
        if isinstance(states, TopicSet):
            faded_states = states.faded
            returning = [first for first in states.shared_firsts(self.states) if states[first].faded_at is None]
        else:
            faded_states = [state for state in states.values() if state.faded_at is not None]
            returning = [first for first, state in states.items() if state.faded_at is None and first in self.states]
        changes: dict[int, TopicState | None] = {
            state.first: state for state in faded_states if self.states.find(state.first) is not state
        }
        changes |= dict.fromkeys(returning)
        return replace(self, states=self.states.with_changes(changes)) if changes else self

    def parts(self, first: int) -> list[TopicState]:
        """A topic and all its parts, itself first."""
        family = self.states.parts(first)
        outlines = [part.first for part in family if isinstance(part, TopicOutline)]
        if not outlines or self.read is None:
            return family
        states = self.read(outlines)
        return [states.get(part.first, part) for part in family]

    def find_return(
        self, vector: Row, least: float, words: Mapping[str, float] | None = None, scale: Scale = BUILT_IN
    ) -> int | None:
        """The topic that a message returns to: the one it fits best, if it fits well enough. `words` are the message's
        stems with their weights."""
        near = self.states.near(vector)
        families = {first: self.states.parts(first) for first in nearest_topics(near, None)}
        outlines = [part.first for family in families.values() for part in family if isinstance(part, TopicOutline)]
        known = self.read_words(outlines) if words and outlines and self.read_words is not None else {}
        words_by_topic = {
            first: [known.get(part.first, part.words) for part in family] for first, family in families.items()
        }
        best, fit = fit_topics(near, words_by_topic.get, words or {}, scale).best()
        return best if fit >= least else None


# -- the fold over messages


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
    that it would leave. Topics that are to be named have `due_titles`, the oldest first, until `name_topics`."""

    states: States = field(default_factory=TopicSet)
    current: int | None = None
    recent: tuple[DriftMessage, ...] = ()
    fades: datetime | None = None
    due_titles: Mapping[int, tuple[word_rules.DueTitle, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "states", TopicSet.of(self.states))

    @property
    def topics(self) -> TopicSet:
        assert isinstance(self.states, TopicSet)
        return self.states

    def with_states(self, states: States) -> Book:
        """The book with these states of topics."""
        return replace(self, states=self.topics.with_changes(states))

    def with_vectors_of(self, width: int) -> Book:
        """The book with zeros for recent vectors of another width: the first message may have had no vector."""
        if not self.recent or len(self.recent[-1].vector) == width:  # all of them have one width
            return self
        empty = np.zeros(width, np.float32)
        return replace(self, recent=tuple([replace(recent_message, vector=empty) for recent_message in self.recent]))

    def weigh_words(self, message: IncomingMessage) -> dict[str, float]:
        """The stems of a message, each with its rarity among the topics that were active last."""
        rarity = Rarity([state.words.stems for state in self.topics.last_active])
        return {root: rarity.of(root) for root in sorted(message.words.stems)}


class TopicArchive(Protocol):
    """The topics that have left the active set, as far as `step` needs them; `faded` implements it."""

    def parts(self, first: int) -> Sequence[TopicState]:
        """A topic and all its parts, itself first."""

    def after(self, states: States) -> TopicArchive:
        """The archive after these states, of active or faded topics, have changed."""

    def find_return(self, vector: Row, least: float, words: Mapping[str, float] | None, scale: Scale) -> int | None:
        """The topic that a message, with its words and their weights, returns to, if it fits one well enough."""


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
    if current not in fits.by_topic and topic_set.size_of(book.topics, current) >= LARGE:
        return best
    fit_to_current = fits.to(current)
    lead = fit - fit_to_current
    sure_lead = 2 * LEAD if book.states[current].count < YOUNG else LEAD
    if best is not None and lead >= sure_lead:
        return best
    may_leave = best is not None and lead >= MARGIN
    if fit_to_current >= rule.similarity and not may_leave:
        return current
    if shift(book.recent, message.drift, rule.scale, fit_to_current) < LIKELY:
        return current
    return best if may_leave else None


def fit_active_topics(book: Book, message: IncomingMessage, rule: TopicRule) -> Fits:
    """How well a message fits the active topics; large ones take no more messages."""
    topics = book.topics

    def words_of(first: int) -> Sequence[TopicWords] | None:
        if first in topics.families:
            return [part.words for part in topics.parts(first)] if topic_set.size_of(topics, first) < LARGE else None
        state = topics[first]
        return (state.words,) if state.count < LARGE else None

    return fit_topics(topics.near(message.vector), words_of, book.weigh_words(message), rule.scale, book.current)


def step(book: Book, message: IncomingMessage, rule: TopicRule, load_archive: Callable[[], TopicArchive]) -> Book:
    """The topics after one more message. `load_archive` gives those that have left the active set, if needed."""
    return name_topics(follow_message(book, message, rule, load_archive))


def follow_message(
    book: Book, message: IncomingMessage, rule: TopicRule, load_archive: Callable[[], TopicArchive]
) -> Book:
    """As `step`, for one of many messages: what is due for a title waits for `name_topics`, since nothing reads the
    titles in between."""
    first = choose_topic(book, message, rule)
    states = book.topics
    if first is None:
        archive = load_archive().after(states)
        first = archive.find_return(message.vector, rule.similarity, book.weigh_words(message), rule.scale)
        if first is not None:
            returning = archive.parts(first)
            states = states.with_changes({state.first: replace(state, faded_at=None) for state in returning})
    after = enter_topic(replace(book, states=states), message, rule, first, back=first != book.current)
    if message.role == "user":
        after = merge_similar(after, rule)
    return fade_topics(after, message.time, rule)


def join_thread(book: Book, message: IncomingMessage, rule: TopicRule, first: int | None) -> Book:
    """The topics of a channel after one more message, which joins this thread or begins one. Threads take turns: going
    on with another is no return to it, and they are not merged for being alike."""
    if first is not None:
        faded_parts = [part for part in book.topics.parts(first) if part.faded_at is not None]
        book = book.with_states({part.first: replace(part, faded_at=None) for part in faded_parts})
    return fade_topics(enter_topic(book, message, rule, first, back=False), message.time, rule)


def enter_topic(book: Book, message: IncomingMessage, rule: TopicRule, first: int | None, *, back: bool) -> Book:
    """The topics after a message has joined a topic, or opened one."""
    states = book.topics
    changes: dict[int, TopicState] = {}
    names_topic = first is None or is_first_to_tell(states[first], message)
    if first is None:
        first = message.turn
        changes[first] = open_topic(message)
    else:
        changes[first] = add_message(states[first], message, back=back)
    if book.current is not None and book.current != first and states[book.current].opened is not None:
        changes[book.current] = leave_topic(states[book.current], rule)
    changes[first] = pack_messages(changes[first], rule)
    states = states.with_changes(changes)
    due_titles = book.due_titles
    if new_titles := find_due_titles(states, changes[first], message.text if names_topic else ""):
        due_titles = {**due_titles, first: (*due_titles.get(first, ()), *new_titles)}
    return Book(states, first, (*book.recent, message.drift)[-REACH:], book.fades, due_titles)


def open_topic(message: IncomingMessage) -> TopicState:
    """A topic with its first message; its title is due."""
    importance = IMPORTANCE if message.importance is None else message.importance
    return TopicState(
        message.turn,
        "",
        message.time,
        message.time,
        topic_set.move_centroid(b"", 0, message.vector),
        count=1,
        importance=importance,
        words=NO_WORDS.with_message(message.words),
    )


def add_message(state: TopicState, message: IncomingMessage, back: bool) -> TopicState:
    """A topic with one more message. A user's message counts as an access; a return to the topic unpacks it."""
    is_user = message.role == "user"
    return replace(
        state,
        words=state.words.with_message(message.words),
        last_active_at=max(state.last_active_at, message.time),
        centroid=topic_set.move_centroid(state.centroid, state.count, message.vector, 1.0 if is_user else OTHERS),
        count=state.count + 1,
        accesses=state.accesses + is_user,
        returns=state.returns + back,
        importance=max(state.importance, message.importance or 0.0),
        opened=state.count if back and state.packed else state.opened,
    )


def is_first_to_tell(state: TopicState, message: IncomingMessage) -> bool:
    """Whether a message names a topic, since it is the first to say something, or, after one that names nothing ("What
    are your plans?"), the second."""
    if message.role != "user" or message.words.is_empty or state.made_by != "offline":
        return False
    is_answer = state.count == 1 and message.words.is_telling and not state.words.is_telling
    return is_answer or not state.words.stems


def find_due_titles(states: TopicSet, state: TopicState, opening: str) -> list[word_rules.DueTitle]:
    """The titles of a topic after one more message: the beginning of that message, if it names the topic, and its key
    phrases, if it has grown enough since it was named."""
    due_titles: list[word_rules.DueTitle] = [word_rules.OpeningTitle(opening)] if opening else []
    if state.made_by == "offline" and word_rules.is_due(state.count):
        others = tuple([other.words for other in states.last_active if other.first != state.first])
        due_titles.append(word_rules.KeyTitle(state.words, others))
    return due_titles


def name_topics(book: Book) -> Book:
    """Name the topics whose titles are due, each by the last of them that says something."""
    if not book.due_titles:
        return book
    changes: dict[int, TopicState] = {}
    for first, due_titles in book.due_titles.items():
        state = book.topics[first]
        titles = (due_title.text() for due_title in reversed(due_titles))
        title = next(filter(None, titles), state.title)
        if title != state.title:
            changes[first] = replace(state, title=title)
    return replace(book.with_states(changes), due_titles={})


def pack_messages(state: TopicState, rule: TopicRule) -> TopicState:
    """Past the number of messages of the rule, all but the last few leave the active set. Messages that were brought
    back stay in it for as many messages again."""
    since = state.packed if state.opened is None else state.opened
    if state.count - since <= rule.messages:
        return state
    return replace(state, packed=state.count - rule.keep, opened=None)


def leave_topic(state: TopicState, rule: TopicRule) -> TopicState:
    """A topic that is no longer current: the messages that were brought back leave the active set again."""
    return pack_messages(replace(state, opened=None), rule)


def merge_similar(book: Book, rule: TopicRule) -> Book:
    """Merge the current topic and another, the younger into the older, if they have become similar."""
    assert book.current is not None
    current = book.states[book.current]
    if current.count % GROWN or not current.centroid:  # a centroid moves slowly: every few messages is often enough
        return book
    states = book.topics
    near = states.near(topic_set.direction(current.centroid)).without(current.first)
    if not (near.cosines >= rule.merging).any():  # a fit without words is not above the cosine
        return book
    fits = fit_topics(near, lambda first: (), {}, rule.scale).by_topic
    candidates = [
        first
        for first, fit in fits.items()
        if fit >= rule.merging
        and states[first].count >= GROWN
        and topic_set.size_of(states, first) + topic_set.size_of(states, current.first) <= LARGE
        and not are_kept_apart(states, current.first, first)
    ]
    if not candidates:
        return book
    best = max(candidates, key=lambda first: (fits[first], -first))
    return merge_topics(book, min(best, current.first), max(best, current.first))


def are_kept_apart(states: States, first: int, other: int) -> bool:
    other_parts = {state.first for state in topic_set.parts(states, other)}
    return any(state.apart & other_parts for state in topic_set.parts(states, first))


def fade_topics(book: Book, now: datetime, rule: TopicRule) -> Book:
    """When there are too many topics, those of too little priority leave the active set, the lowest first, never the
    current one."""
    assert book.current is not None
    if book.fades is not None and now < book.fades:
        # A message prolongs its topic; only a new topic, or one of little importance, may be the next to leave.
        next_fade = fading.fade_time(book.states[book.current], rule.least)
        return replace(book, fades=next_fade) if next_fade < book.fades else book
    states = book.topics
    if len(states) <= rule.most or states.root_count <= rule.most:
        return book
    changes: dict[int, TopicState] = {}
    for topic in states.due_topics(now, rule.least):
        if topic.first != book.current and fading.current_priority(topic, now) < rule.least:
            changes |= {part.first: replace(part, faded_at=now) for part in states.parts(topic.first)}
    states = states.with_changes(changes)
    return replace(book, states=states, fades=states.next_fade(rule.least))


# -- what users change


def merge_topics(book: Book, into: int, first: int) -> Book:
    """Merge two topics: `first` becomes part of `into`."""
    whole = book.with_states({first: replace(book.states[first], merged_into=into)})
    faded_parts = [part for part in whole.topics.parts(into) if part.faded_at is not None]
    whole = whole.with_states({part.first: replace(part, faded_at=None) for part in faded_parts})
    return replace(whole, current=into if book.current == first else book.current)


def split_topic(book: Book, first: int) -> Book:
    """Split a topic off from the one it is part of; the two are not merged automatically again."""
    state = book.states[first]
    into = state.merged_into
    assert into is not None
    whole = book.states[into]
    changes = {
        first: replace(state, merged_into=None, apart=state.apart | {into}),
        into: replace(whole, apart=whole.apart | {first}),
    }
    return replace(book.with_states(changes), fades=None)


def add_vote(state: TopicState, score: int) -> TopicState:
    return replace(state, ups=state.ups + (score > 0), downs=state.downs + (score < 0))


def change_tags(state: TopicState, tags: Iterable[str], without: Iterable[str] = ()) -> TopicState:
    removals = set(without)
    return replace(state, tags=tuple(dict.fromkeys(tag for tag in (*state.tags, *tags) if tag not in removals)))
