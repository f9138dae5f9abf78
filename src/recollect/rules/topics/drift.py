"""Whether a message begins something else: the chance that the subject shifts there, from what was said before it.

Only what came before counts, since a message is given its topic when it arrives. A few plain signs are weighed and
added up, and the sum is read as a chance. Those of meaning count the cosine in deviations above that of unrelated texts
of such lengths, so they mean the same for every embedder. Those of words are English cues; where none is found, in any
language, the others decide. What says nothing (a nod, an emoji, a script the embedder cannot read) belongs to what it
follows, and so does an assistant's reply. The weights were learned by `benchmarks/train_drift.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from math import exp, log, log1p, sqrt

import numpy as np
from numpy.typing import NDArray

from recollect.language.smalltalk import is_small_talk
from recollect.language.terms import analyse
from recollect.model import Role

Row = NDArray[np.float32]

REACH = 8
"""Messages before that are looked at. More may be given."""
LIKELY = 0.35
"""The chance from which on a message counts as the start of something else: what measures best, see docs/benchmarks.md.
Below a half, since most messages go on with what was said and shifts are seldom announced."""
READ = 1_000
"""Characters of a message that are looked at for cues and words: its beginning, and as many of its end."""


@dataclass(frozen=True, eq=False)
class Seen:
    """A message as the rule needs it: its words, its vector (unit or zero), whose it is, and when, if that is known.

    It is read once, when first asked about: who keeps it for the next message saves that.
    """

    text: str
    vector: Row
    role: Role = "user"
    time: datetime | None = None

    @cached_property
    def reading(self) -> Reading:
        return read(self.text)


@dataclass(frozen=True, slots=True)
class Scale:
    """The embedder's cosine of messages that have nothing to do with each other: its mean and its deviation."""

    unrelated: float = 0.2
    spread: float = 0.1


BUILT_IN = Scale()


def shift(previous: Sequence[Seen], message: Seen, scale: Scale = BUILT_IN) -> float:
    """The chance, from 0 to 1, that `message` begins something else than `previous`, which is in order, newest last.

    1 if nothing came before; 0 for what is not a person's or says nothing. From `LIKELY` on it counts as a shift.
    """
    if not previous:
        return 1.0
    if message.role != "user" or message.reading.small or not np.any(message.vector):
        return 0.0
    told = BIAS + sum(WEIGHTS[name] * value for name, value in signs(previous, message, scale).items())
    return 1 / (1 + exp(-max(min(told + _pause(previous[-1], message), 30.0), -30.0)))


# -- the signs

WEIGHTS = {
    "last": -0.27,
    "near": -0.79,
    "best": -0.07,
    "usual": 0.34,
    "new": 0.62,
    "told": 0.22,
    "question": 0.38,
    "asks_you": 1.34,
    "answer": -1.27,
    "back": -0.59,
    "cue": 0.99,
    "closed": 0.22,
    "reply": 0.79,
}
BIAS = -2.30


def signs(previous: Sequence[Seen], message: Seen, scale: Scale = BUILT_IN) -> dict[str, float]:
    """What speaks for a shift or against it, by name; the names are those of `WEIGHTS`."""
    before = previous[-REACH:]
    here, there = message.reading, before[-1].reading
    known = {term for one in before for term in one.reading.terms}
    alike, at = _Alike([*before, message], scale), len(before)
    # With few messages to judge by, a conversation is taken to be as others are.
    usual = [alike.to(i, max(i - 2, 0), i) for i in range(1, at)] + [UNKNOWN] * 2
    return {
        "last": alike.to(at, at - 1, at),
        "near": alike.to(at, max(at - 2, 0), at),
        "best": max(alike.to(at, i, i + 1) for i in range(max(at - 4, 0), at)),
        "usual": sum(usual) / len(usual),
        "new": min(log1p(len(here.terms - known)), 2.5),
        "told": min(log1p(len(there.terms)), 2.5),
        "question": here.question,
        "asks_you": here.asks_you,
        "answer": there.question_last,
        "back": here.back,
        "cue": here.cue,
        "closed": there.closing,
        "reply": float(before[-1].role == "assistant"),
    }


def _pause(last: Seen, message: Seen) -> float:
    """What a pause says: nothing up to some minutes, as much as a clear cue after a night. Set by hand: the published
    sets of dialogues have no times."""
    if last.time is None or message.time is None or message.time <= last.time:
        return 0.0
    return min(log1p((message.time - last.time) / timedelta(hours=1)), 3.0) * 0.6


def likeness(before: Sequence[Seen], message: Seen, scale: Scale = BUILT_IN) -> float:
    """The cosine to what was said before, in deviations above that of unrelated texts of these lengths; from 0 to 6."""
    return _Alike([*before, message], scale).to(len(before), 0, len(before))


class _Alike:
    """The likeness of some messages to others before them: all their products are made at once, since each is needed
    several times."""

    def __init__(self, messages: Sequence[Seen], scale: Scale) -> None:
        width = max(len(one.vector) for one in messages)
        # A message that was given no vector is as one whose vector says nothing.
        given = [one.vector if len(one.vector) == width else np.zeros(width) for one in messages]
        rows = np.array(given, dtype=np.float64)
        self._products: list[list[float]] = (rows @ rows.T).tolist()
        self._words = [one.reading.words for one in messages]
        self._scale = scale

    def to(self, at: int, first: int, end: int) -> float:
        """Of the message at `at` to those from `first` to before `end` together."""
        products, span = self._products, range(first, end)
        lengths = sqrt(max(products[at][at] * sum(products[i][j] for i in span for j in span), 0.0))
        if lengths < _NOTHING:
            return UNKNOWN
        cosine = sum(products[at][i] for i in span) / lengths
        usual = self._scale.unrelated * _share(sum(self._words[i] for i in span)) * _share(self._words[at])
        return max(min((cosine - usual) / self._scale.spread, 6.0), 0.0)


_NOTHING = 1e-9
UNKNOWN = 1.5
"""The likeness of what has no vector: as of messages that go on."""


def _share(words: int) -> float:
    """The more words, the more a text has of what is common to all: by how much unrelated texts are more alike."""
    return min(0.58 + 0.157 * log(max(words, 1)), 1.4)


# -- what is read in a text

_SENTENCE = re.compile(r"[^.!?…。！？؟\n]+[.!?…。！？؟\s]*")
_ASKED = re.compile(r"[?？؟]")
_ENDING = re.compile(r"(?<![\W_])[\W_]+$")  # what follows the last word; each run of signs is looked at once
_ASKS_YOU = re.compile(
    r"(?i)\b(?:do|are|have|did|would|can|could|will|what is|what's|whats|what are|where|how)\s"
    r"(?:\w+\s){0,2}(?:you|your)\b"
)
_RETURNS = re.compile(
    r"(?i)\b(?:and|how about|what about|hbu|wbu)\s(?:you|yours|yourself)\b|\b(?:you|yourself)\s?\?\W*$"
)
_BACK = re.compile(
    r"(?i)\b(?:it|that|this|they|them|those|these|he|she|his|her|him|their|there|one|ones|too|also|same)\b"
)
_CUE = re.compile(
    r"(?i)\b(?:anyways?|by the way|btw|speaking of|(?:on|in) (?:another|a different) (?:note|matter)"
    r"|(?:chang\w+|switch\w*) (?:the )?(?:subject|topic|gears?)|unrelated|another (?:question|thing|topic|matter)"
    r"|something (?:else|different)|enough about|one (?:more|other|last) thing|moving on|next (?:question|topic)"
    r"|(?:i|we)(?:'m|'d| am| would)? also (?:need|want|like|look\w*|wonder\w*|hav\w+)|can you also"
    r"|different (?:question|topic|subject))\b"
)
_CLOSING = re.compile(
    r"(?i)\b(?:you'?re (?:very )?welcome|you are (?:very )?welcome|my pleasure|good ?bye|bye|see you|take care"
    r"|have an? (?:\w+ )?(?:day|night|evening|weekend|trip|one)|enjoy your|that(?:'s| is| will be) all)\b"
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text says by itself. Signs are 0 or 1."""

    words: int
    terms: frozenset[str]
    question: float
    question_last: float
    asks_you: float
    back: float
    cue: float
    closing: float
    small: bool


def read(text: str) -> Reading:
    said = text if len(text) <= 2 * READ else f"{text[:READ]}\n{text[-READ:]}"
    sentences = [sentence for sentence in _SENTENCE.findall(said) if any(map(str.isalnum, sentence))] or [said]
    asked = bool(_ASKED.search(said))
    ending = _ENDING.search(said)
    return Reading(
        words=len(text.split()),
        terms=frozenset(analyse(said).terms),
        question=float(asked),
        question_last=float(ending is not None and bool(_ASKED.search(ending[0]))),
        asks_you=float(asked and bool(_ASKS_YOU.search(said)) and not _RETURNS.search(said)),
        back=float(bool(_BACK.search(sentences[-1]))),
        cue=float(bool(_CUE.search(said))),
        closing=float(bool(_CLOSING.search(said))),
        small=is_small_talk(said),
    )
