"""Threads: which earlier message of a channel a message answers. Pure: no clock, no store.

In a busy channel several conversations run through each other. Each message joins the thread of what it most likely
answers, or begins one. A reply that the platform gave decides. Otherwise every message of the last few dozen is
scored by a few signs: who speaks to whom, who spoke last, how long ago, rare words and likeness to the message and to
its thread, a question and its answer; and so is beginning a thread. The scores are logarithms of chances: those of the
messages of a thread add up, so one odd message does not take another out of its thread. The likeliest thread wins, in
it the message with the highest score, and the sign that weighed most is the reason. The weights were learned by
`benchmarks/train_threads.py`.

Only the messages of the last `MEMORY` turns are known: what is remembered of people and threads is theirs, whether the
messages came one by one or were read again. With fewer than three people there are no threads.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import exp, log, log1p, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from everword.text.addressing import SEVERAL, KnownNames, find_address, find_addressees, find_mentioned
from everword.topics.rules.words import read_words
from everword.word_lists import lazy_pattern

Row = NDArray[np.float32]

REACH = 60
"""Messages that may be answered, besides the last ones of the people concerned."""
MEMORY = 500
"""Turns whose messages are known."""
NEAREST = 20
"""Of these, the last may be answered by anybody; earlier ones only by those concerned, or with a word of theirs."""
RECENT = 15
"""Messages since a person spoke, in which they go on."""
MINUTE = timedelta(minutes=1)
TOLD = 3
"""Messages that say whom they answer or speak to, among the last `TOLD_AMONG`, before a channel has threads."""
TOLD_AMONG = 30
FEW_WORDS = 3.0
"""Added to the weight of the words of a message, so that one shared word of two is not all."""
NEUTRAL = 0.15
"""The likeness of a message without content to any other."""
FADING = np.float32(0.8)
"""What is left of earlier messages in the direction of a thread after one more."""

_ASKS = lazy_pattern(
    r"\?|^(?:hi|hello|hey|ok|so|and|but|well)?[ ,!]*(?:how|what|where|why|who|which|when|anyone|anybody|does|do|did|is"
    r"|are|can|could|will|would|should|has|have|any)\b",
    re.IGNORECASE,
)
_GREETS = lazy_pattern(r"^(?:hi|hello|hey|hiya|greetings|good (?:morning|evening|afternoon))\b", re.IGNORECASE)
_RESPONDS = lazy_pattern(
    r"^(?:yes|yeah|yep|yea|no|nope|nah|ok|okay|k|thanks|thx|ty|thank|sure|right|true|lol|haha|hehe|ah|oh|hmm?|cool|great"
    r"|nice|exactly|correct|sorry|then|and|but|so|because|it|that|this|they|he|there|same|also|or)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, eq=False)
class ThreadMessage:
    """A message as the rule needs it. `thread` is the turn that opened its thread, 0 while that is not known."""

    turn: int
    author: str
    time: datetime
    vector: Row
    addressed: frozenset[str] = frozenset()
    mentioned: frozenset[str] = frozenset()
    stems: frozenset[str] = frozenset()
    asks: bool = False
    greets: bool = False
    responds: bool = False
    keys: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


class Link(NamedTuple):
    """What a message answers: the turn of that message, None if it begins a thread; and why."""

    turn: int | None
    why: str


BEGINS = "begins a thread"
REASONS = {
    "mutual": "they speak to each other",
    "to_it": "is said to its author",
    "to_it_elsewhere": "is said to its author",
    "to_me": "it was said to the author",
    "to_me_elsewhere": "it was said to the author",
    "own": "the author goes on",
    "own_alone": "the author goes on",
    "own_addressed": "the author goes on",
    "own_same": "the author goes on to the same person",
    "own_before": "the author goes on",
    "own_elsewhere": "the author goes on",
    "mentions": "names its author",
    "since": "it was said to the author last",
    "partner": "they were talking",
    "shared": "shares rare words",
    "like": "is like it",
    "thread_like": "is like its thread",
    "thread_shared": "shares rare words with its thread",
    "in_thread": "the author is in its thread",
    "answer": "follows its question",
}
"""Reasons by the signs that weigh most; without one, the message is near."""
NEAR = "follows it"

WEIGHTS: Mapping[str, float] = {
    "adjacent": -1.05,
    "answer": 0.28,
    "begins": 0.23,
    "begins_addressed": -1.26,
    "begins_asking": 0.86,
    "begins_first": 1.03,
    "begins_greeting": 0.73,
    "begins_partner": -0.76,
    "begins_recent": -0.46,
    "begins_responding": -0.77,
    "both_elsewhere": -1.61,
    "both_to_same": -0.82,
    "distance_between": -0.93,
    "distance_neither": -1.85,
    "distance_own": -0.99,
    "elsewhere": -1.82,
    "free": -0.61,
    "in_thread": 0.91,
    "it_elsewhere": -2.11,
    "like": 1.8,
    "mentions": 1.27,
    "mentions_me": -0.38,
    "mutual": 2.63,
    "older_between": -0.5,
    "older_neither": 0.09,
    "older_own": -1.71,
    "own": 0.73,
    "own_addressed": 0.58,
    "own_adjacent": 0.66,
    "own_alone": 0.26,
    "own_before": 0.04,
    "own_elsewhere": -1.15,
    "own_same": 1.76,
    "own_thread_is_other": -0.44,
    "partner": 0.69,
    "pause": -0.84,
    "shared": 2.09,
    "since": 1.46,
    "thread_like": 1.05,
    "thread_shared": 1.44,
    "thread_size": -0.22,
    "to_it": 2.41,
    "to_it_elsewhere": 1.69,
    "to_me": -0.72,
    "to_me_elsewhere": -1.6,
}


@dataclass(slots=True)
class ThreadPast:
    """What is known of a thread: when each of its people was last in it, its stems, the sum of its messages, in which
    older ones fade, the direction of that, and how many messages there are."""

    people: dict[str, int] = field(default_factory=dict)
    stems: set[str] = field(default_factory=set)
    total: Row = field(default_factory=lambda: np.zeros(0, np.float32))
    centre: Row = field(default_factory=lambda: np.zeros(0, np.float32))
    count: int = 0


@dataclass(frozen=True, slots=True)
class MessageScene:
    """A message, how rare each of its stems is and what they weigh together, the turn at which its author was spoken to
    since they spoke, whom they were talking with, the thread in which they spoke last, and the usual time between
    messages."""

    message: ThreadMessage
    rarity: Mapping[str, float]
    weight: float
    spoken_to: int | None
    partner: str | None
    own_thread: int | None
    pace: timedelta


@dataclass(slots=True)
class GroupSigns:
    """The turns of the last messages that say to whom they speak, in a channel that has no threads yet."""

    told: tuple[int, ...] = ()

    def note(self, turn: int, people: Collection[str], addressed: Collection[str], is_reply: bool) -> bool:
        """Whether the channel has threads from this message on."""
        if addressed or is_reply:
            self.told = (*self.told, turn)[-TOLD:]
        return len(people) >= SEVERAL and len(self.told) == TOLD and self.told[0] > turn - TOLD_AMONG


class Threads:
    """The last messages of a channel, and what is known of their people and threads. It changes with `append`."""

    def __init__(self) -> None:
        self.is_group = False
        self.signs_of_group = GroupSigns()
        self.nicknames = KnownNames()
        self._messages: deque[tuple[ThreadMessage, int]] = deque()
        self._by_turn: dict[int, tuple[ThreadMessage, int]] = {}
        self._by_key: dict[str, int] = {}
        self._last_of: dict[str, int] = {}  # the turn at which each person spoke last
        self._said_to: dict[str, int] = {}  # the turn at which somebody was last spoken to
        self._partners: dict[str, tuple[str, int]] = {}
        self._threads: dict[int, ThreadPast] = {}
        self._threads_by_stem: dict[str, dict[int, int]] = {}  # and the turn at which it was last said there
        self._frequencies: Counter[str] = Counter()
        self._next_place = 0
        self._places: dict[int, int] = {}

    def are_needed_for(self, message: ThreadMessage, is_reply: bool) -> bool:
        """Whether the channel has threads, now that this message comes. Once it has, they stay."""
        people = {*self.nicknames.people, message.author}
        self.is_group = self.is_group or self.signs_of_group.note(message.turn, people, message.addressed, is_reply)
        return self.is_group

    def thread_of(self, turn: int) -> int | None:
        """The thread of a message that is still known."""
        return self._by_turn[turn][1] if turn in self._by_turn else None

    def turn_of(self, key: str) -> int | None:
        """The turn of the message with this id or platform id."""
        return self._by_key.get(key)

    def append(self, message: ThreadMessage, thread: int, parent: int | None = None) -> None:
        """Add a message that has joined a thread, as an answer to a message."""
        self._messages.append((message, thread))
        self._by_turn[message.turn] = (message, thread)
        self._places[message.turn] = self._next_place
        self._next_place += 1
        for key in message.keys:
            self._by_key[key] = message.turn
        self.nicknames.add(message.author, message.names)
        self._frequencies.update(message.stems)
        self._last_of[message.author] = message.turn
        for person in message.addressed:
            self._said_to[person] = message.turn
        self._note_partners(message, parent)
        self._note_thread(message, thread)

    def _note_partners(self, message: ThreadMessage, parent: int | None) -> None:
        answered = self._by_turn.get(parent) if parent is not None else None
        if answered is not None and answered[0].author != message.author:
            self._partners[message.author] = (answered[0].author, message.turn)
            self._partners[answered[0].author] = (message.author, message.turn)
        if message.addressed:
            self._partners[message.author] = (min(message.addressed), message.turn)

    def _note_thread(self, message: ThreadMessage, thread: int) -> None:
        past = self._threads.setdefault(thread, ThreadPast())
        past.people[message.author] = message.turn
        past.stems |= message.stems
        for stem in message.stems:
            self._threads_by_stem.setdefault(stem, {})[thread] = message.turn
        past.total = FADING * fit_width(past.total, len(message.vector)) + message.vector
        length = sqrt(float(past.total @ past.total))
        past.centre = past.total / np.float32(length) if length else past.total
        past.count += 1

    def _forget_first(self) -> None:
        message, thread = self._messages.popleft()
        del self._by_turn[message.turn], self._places[message.turn]
        for key in message.keys:
            self._by_key.pop(key, None)
        self._frequencies.subtract(message.stems)
        past = self._threads[thread]
        past.count -= 1
        if past.count:
            return
        del self._threads[thread]
        for stem in past.stems:
            threads = self._threads_by_stem[stem]
            del threads[thread]
            if not threads:
                del self._threads_by_stem[stem]

    # -- what a message answers

    def read(
        self, turn: int, author: str, text: str, time: datetime, vector: Row, **others: tuple[str, ...]
    ) -> ThreadMessage:
        """A message as the rule needs it; whom it is said to is known by those who spoke before."""
        while self._messages and self._messages[0][0].turn <= turn - MEMORY:
            self._forget_first()
        address = find_address(text, self.nicknames)
        words = text[address.end :] if address else text
        addressed = frozenset(find_addressees(text, self.nicknames)) - {author}
        return ThreadMessage(
            turn,
            author,
            time,
            vector,
            addressed,
            (find_mentioned(text, self.nicknames) - {author}) | addressed,
            read_words(words).stems,
            bool(_ASKS.search(words)),
            bool(_GREETS.search(words)),
            bool(_RESPONDS.search(words)),
            **others,
        )

    def find_parent(self, message: ThreadMessage) -> Link:
        """The message of the likeliest thread that this one most likely answers."""
        candidates = self.candidates(message)
        chances: dict[int, float] = {}
        best: dict[int, tuple[float, Link]] = {}
        for (candidate, thread), signs in zip(candidates, self.signs(message, candidates), strict=True):
            score = weigh(signs)
            chances[thread] = chances.get(thread, 0.0) + exp(score)
            if thread not in best or score > best[thread][0]:
                best[thread] = (score, Link(candidate.turn, reason_of(signs)))
        likeliest = max(chances, key=lambda thread: chances[thread], default=None)
        if likeliest is None or chances[likeliest] <= exp(weigh(self.signs_of_beginning(message))):
            return Link(None, BEGINS)
        return best[likeliest][1]

    def candidates(self, message: ThreadMessage) -> list[tuple[ThreadMessage, int]]:
        """The messages that may be answered, oldest first: the last ones, and the last of the people concerned."""
        turns = [self._last_of.get(person) for person in (*message.mentioned, message.author)]
        turns.append(self._said_to.get(message.author))
        first = self._messages[max(len(self._messages) - REACH, 0)][0].turn if self._messages else 0
        earlier = {turn for turn in turns if turn is not None and turn < first and turn in self._by_turn}
        last = [self._messages[place] for place in range(max(len(self._messages) - REACH, 0), len(self._messages))]
        related = [entry for entry in last[:-NEAREST] if are_related(message, entry[0])]
        return [*(self._by_turn[turn] for turn in sorted(earlier)), *related, *last[-NEAREST:]]

    def signs(self, message: ThreadMessage, candidates: Sequence[tuple[ThreadMessage, int]]) -> list[dict[str, float]]:
        """The signs that a message answers each of these; the names are those of `WEIGHTS`."""
        scene = self._read_scene(message)
        likeness = [0.0] * len(candidates)
        if candidates and message.stems:
            vectors = np.stack([fit_width(candidate.vector, len(message.vector)) for candidate, _ in candidates])
            likeness = (vectors @ message.vector).tolist()
        thread_signs = self._thread_signs(scene, [*dict.fromkeys(thread for _, thread in candidates)])
        authors: set[str] = set()
        results: list[dict[str, float]] = []
        for (candidate, thread), cosine in zip(reversed(candidates), reversed(likeness), strict=True):
            signs = (
                self._pair_signs(scene, candidate, cosine, is_older=candidate.author in authors) | thread_signs[thread]
            )
            if candidate.author != message.author:
                signs |= other_signs(scene, candidate, is_of_own_thread=thread == scene.own_thread)
            else:
                signs.pop("in_thread", None)
                signs |= {"own_alone": 1.0} if len(self._threads[thread].people) == 1 else {}
            authors.add(candidate.author)
            results.append(signs)
        results.reverse()
        return results

    def _read_scene(self, message: ThreadMessage) -> MessageScene:
        """What is known of the author of a message, and how rare its words are."""
        own_turn = self._recent_turn(self._last_of.get(message.author))
        said_to = self._recent_turn(self._said_to.get(message.author))
        rarity = {stem: self._rarity(stem) for stem in message.stems}
        return MessageScene(
            message,
            rarity,
            sum(rarity.values()) + FEW_WORDS,
            said_to if said_to is not None and (own_turn is None or said_to > own_turn) else None,
            self._partner_of(message),
            None if own_turn is None else self._by_turn[own_turn][1],
            self._pace(),
        )

    def _pace(self) -> timedelta:
        """The usual time between two messages lately, at least a minute: what is a pause in a busy channel is none in a
        slow one."""
        count = min(len(self._messages), REACH)
        return max((self._messages[-1][0].time - self._messages[-count][0].time) / count, MINUTE) if count else MINUTE

    def _rarity(self, stem: str) -> float:
        return log((len(self._messages) + 6) / (self._frequencies[stem] + 1.5))

    def _pair_signs(
        self, scene: MessageScene, candidate: ThreadMessage, cosine: float, *, is_older: bool
    ) -> dict[str, float]:
        """The signs of two messages, whoever wrote them. `is_older`: its author has spoken since."""
        message = scene.message
        distance = self._next_place - self._places[candidate.turn]
        relation, kind = relation_of(message, candidate)
        signs = {relation: 1.0, f"distance_{kind}": log(distance)}
        if is_older:
            signs[f"older_{kind}"] = 1.0
        if distance == 1:
            signs["own_adjacent" if kind == "own" else "adjacent"] = 1.0
        signs["pause"] = log1p(max((message.time - candidate.time) / scene.pace, 0.0))
        signs["like"] = max(cosine, 0.0) if message.stems and candidate.stems else NEUTRAL
        if shared := message.stems & candidate.stems:
            weight = sum(map(self._rarity, candidate.stems)) + FEW_WORDS
            signs["shared"] = sum([scene.rarity[stem] for stem in shared]) / sqrt(scene.weight * weight)
        return signs

    def _thread_signs(self, scene: MessageScene, threads: Sequence[int]) -> dict[int, dict[str, float]]:
        """The signs that a message belongs to each of these threads."""
        message = scene.message
        if not threads:
            return {}
        first = self._messages[0][0].turn
        likeness = [NEUTRAL] * len(threads)
        if message.stems:
            centres = np.stack([fit_width(self._threads[thread].centre, len(message.vector)) for thread in threads])
            likeness = (centres @ message.vector).tolist()
        shared: dict[int, float] = {}
        for stem, weight in scene.rarity.items():
            for thread, turn in self._threads_by_stem.get(stem, {}).items():
                if turn >= first:
                    shared[thread] = shared.get(thread, 0.0) + weight
        results: dict[int, dict[str, float]] = {}
        for thread, cosine in zip(threads, likeness, strict=True):
            past = self._threads[thread]
            signs = {"thread_size": log1p(past.count), "thread_like": max(cosine, 0.0)}
            if thread in shared:
                signs["thread_shared"] = shared[thread] / scene.weight
            if past.people.get(message.author, 0) >= first:
                signs["in_thread"] = 1.0
            results[thread] = signs
        return results

    def signs_of_beginning(self, message: ThreadMessage) -> dict[str, float]:
        """The signs that a message begins a thread."""
        own_turn = self._recent_turn(self._last_of.get(message.author))
        signs = {
            "begins": 1.0,
            "begins_asking": message.asks,
            "begins_greeting": message.greets,
            "begins_addressed": bool(message.addressed),
            "begins_responding": message.responds,
            "begins_first": own_turn is None,
            "begins_partner": self._partner_of(message) is not None,
            "begins_recent": own_turn is not None and self._next_place - self._places[own_turn] <= RECENT,
        }
        return {name: float(value) for name, value in signs.items() if value}

    def _recent_turn(self, turn: int | None) -> int | None:
        return turn if turn is not None and turn in self._by_turn else None

    def _partner_of(self, message: ThreadMessage) -> str | None:
        """Whom an author was talking with."""
        partner = self._partners.get(message.author)
        return partner[0] if partner is not None and partner[1] in self._by_turn else None


def are_related(message: ThreadMessage, candidate: ThreadMessage) -> bool:
    """Whether two messages have to do with each other by their people or their words."""
    return (
        candidate.author == message.author
        or candidate.author in message.mentioned
        or message.author in candidate.mentioned
        or not message.stems.isdisjoint(candidate.stems)
    )


def fit_width(vector: Row, width: int) -> Row:
    """A vector, or zeros of this width in place of one that is missing or of another embedder."""
    return vector if len(vector) == width else np.zeros(width, np.float32)


def other_signs(scene: MessageScene, candidate: ThreadMessage, *, is_of_own_thread: bool) -> dict[str, float]:
    """The signs of two messages of different authors."""
    message = scene.message
    signs: dict[str, float] = {}
    if candidate.asks and not message.asks:
        signs["answer"] = 1.0
    if candidate.turn == scene.spoken_to:
        signs["since"] = 1.0
    if candidate.author == scene.partner and not message.addressed:
        signs["partner"] = 1.0
    if scene.own_thread is not None and not is_of_own_thread:
        signs["own_thread_is_other"] = 1.0
    return signs


def relation_of(message: ThreadMessage, candidate: ThreadMessage) -> tuple[str, str]:
    """Who speaks to whom in a message and an earlier one: the relation, and whether it is the author's own, between
    the two, or neither."""
    if candidate.author == message.author:
        if not message.addressed:
            return "own_addressed" if candidate.addressed else "own", "own"
        if not candidate.addressed:
            return "own_before", "own"
        return "own_same" if message.addressed & candidate.addressed else "own_elsewhere", "own"
    if candidate.author in message.addressed:
        if message.author in candidate.addressed:
            return "mutual", "between"
        return "to_it_elsewhere" if candidate.addressed else "to_it", "between"
    if message.author in candidate.addressed:
        return "to_me_elsewhere" if message.addressed else "to_me", "between"
    if candidate.author in message.mentioned:
        return "mentions", "between"
    if message.author in candidate.mentioned:
        return "mentions_me", "between"
    if not message.addressed:
        return "it_elsewhere" if candidate.addressed else "free", "neither"
    if not candidate.addressed:
        return "elsewhere", "neither"
    return "both_to_same" if message.addressed & candidate.addressed else "both_elsewhere", "neither"


def weigh(signs: Mapping[str, float]) -> float:
    return sum([WEIGHTS.get(name, 0.0) * value for name, value in signs.items()])


def reason_of(signs: Mapping[str, float]) -> str:
    """The sign that speaks most for an answer, in words."""
    name = max(signs, key=lambda name: WEIGHTS.get(name, 0.0) * signs[name] if name in REASONS else 0.0)
    return REASONS.get(name, NEAR)
