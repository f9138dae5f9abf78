"""Whether a message changes the subject: the probability of a shift, given the messages before it.

Only earlier messages count, since a message gets its topic when it arrives. The probability is a logistic regression
over a few signs. Signs of meaning measure the cosine in deviations above that of unrelated texts of such lengths, so
they mean the same for every embedder. Signs of words are English cues; where there are none, in any language, the
other signs decide. A message without content (a nod, an emoji, a script the embedder cannot read) belongs to the topic
before it, and so does an assistant's reply. The weights were learned by `benchmarks/train_drift.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from math import exp, log, log1p, sqrt

import numpy as np
from numpy.typing import NDArray

from recollect.language.lazy_patterns import lazy_pattern
from recollect.language.smalltalk import is_small_talk
from recollect.language.terms import analyse
from recollect.model import Role

Row = NDArray[np.float32]

REACH = 8
"""Earlier messages that are used. More may be given."""
LIKELY = 0.35
"""The probability from which on a message counts as a shift: the value that measures best, see docs/benchmarks.md.
It is below a half, since most messages continue the subject and shifts are seldom announced."""
READ = 1_000
"""Characters of a message that are read for cues and words: from its beginning, and as many from its end."""


@dataclass(frozen=True, eq=False)
class DriftMessage:
    """A message as the rule needs it: its text, its vector (unit or zero), its role, and its time, if known.

    Its cues are read once, when first needed: keep the object for the next message.
    """

    text: str
    vector: Row
    role: Role = "user"
    time: datetime | None = None

    @cached_property
    def cues(self) -> TextCues:
        return read_cues(self.text)


@dataclass(frozen=True, slots=True)
class Scale:
    """The mean and the deviation of the embedder's cosine between unrelated messages."""

    unrelated: float = 0.2
    spread: float = 0.1


BUILT_IN = Scale()


def shift(previous: Sequence[DriftMessage], message: DriftMessage, scale: Scale = BUILT_IN) -> float:
    """The probability, from 0 to 1, that `message` leaves the subject of `previous`, which is in order, newest last.

    1 if nothing came before; 0 for a message that is not a user's or has no content. From `LIKELY` on it is a shift.
    """
    if not previous:
        return 1.0
    if message.role != "user" or message.cues.small or not np.any(message.vector):
        return 0.0
    score = BIAS + sum(WEIGHTS[name] * value for name, value in signs(previous, message, scale).items())
    return 1 / (1 + exp(-max(min(score + _pause(previous[-1], message), 30.0), -30.0)))


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


def signs(previous: Sequence[DriftMessage], message: DriftMessage, scale: Scale = BUILT_IN) -> dict[str, float]:
    """The signs for or against a shift, by name; the names are those of `WEIGHTS`."""
    before = previous[-REACH:]
    current = message.cues
    last = before[-1].cues
    known_terms = {term for earlier in before for term in earlier.cues.terms}
    alike = _Likeness([*before, message], scale)
    at = len(before)
    # With few messages to judge by, the usual value of other conversations is mixed in.
    usual = [alike.to(i, max(i - 2, 0), i) for i in range(1, at)] + [UNKNOWN] * 2
    return {
        "last": alike.to(at, at - 1, at),
        "near": alike.to(at, max(at - 2, 0), at),
        "best": max(alike.to(at, i, i + 1) for i in range(max(at - 4, 0), at)),
        "usual": sum(usual) / len(usual),
        "new": min(log1p(len(current.terms - known_terms)), 2.5),
        "told": min(log1p(len(last.terms)), 2.5),
        "question": current.question,
        "asks_you": current.asks_you,
        "answer": last.question_last,
        "back": current.back,
        "cue": current.cue,
        "closed": last.closing,
        "reply": float(before[-1].role == "assistant"),
    }


def _pause(last: DriftMessage, message: DriftMessage) -> float:
    """The weight of a pause: none up to some minutes, as much as a clear cue after a night. Set by hand: the published
    sets of dialogues have no times."""
    if last.time is None or message.time is None or message.time <= last.time:
        return 0.0
    return min(log1p((message.time - last.time) / timedelta(hours=1)), 3.0) * 0.6


def likeness(before: Sequence[DriftMessage], message: DriftMessage, scale: Scale = BUILT_IN) -> float:
    """The cosine with the messages before, in deviations above that of unrelated texts of these lengths; 0 to 6."""
    return _Likeness([*before, message], scale).to(len(before), 0, len(before))


class _Likeness:
    """The likeness of messages to others before them. All products are computed at once, since each is needed several
    times."""

    def __init__(self, messages: Sequence[DriftMessage], scale: Scale) -> None:
        width = max(len(message.vector) for message in messages)
        # A message without a vector counts as one with a zero vector.
        vectors = [message.vector if len(message.vector) == width else np.zeros(width) for message in messages]
        rows = np.array(vectors, dtype=np.float64)
        self._products: list[list[float]] = (rows @ rows.T).tolist()
        self._words = [message.cues.words for message in messages]
        self._scale = scale

    def to(self, at: int, first: int, end: int) -> float:
        """The likeness of the message at `at` to the messages from `first` to before `end` together."""
        products = self._products
        span = range(first, end)
        lengths = sqrt(max(products[at][at] * sum(products[i][j] for i in span for j in span), 0.0))
        if lengths < _NOTHING:
            return UNKNOWN
        cosine = sum(products[at][i] for i in span) / lengths
        usual = self._scale.unrelated * _share(sum(self._words[i] for i in span)) * _share(self._words[at])
        return max(min((cosine - usual) / self._scale.spread, 6.0), 0.0)


_NOTHING = 1e-9
UNKNOWN = 1.5
"""The likeness of a message without a vector: that of messages that continue the subject."""


def _share(words: int) -> float:
    """How much more alike unrelated texts are at this length: longer texts have more in common."""
    return min(0.58 + 0.157 * log(max(words, 1)), 1.4)


# -- cues in a text

_SENTENCE = lazy_pattern(r"[^.!?…。！？؟\n]+[.!?…。！？؟\s]*")
_ASKED = lazy_pattern(r"[?？؟]")
_ENDING = lazy_pattern(r"(?<![\W_])[\W_]+$")  # the signs after the last word; each run of signs is read once
_ASKS_YOU = lazy_pattern(
    r"(?i)\b(?:do|are|have|did|would|can|could|will|what is|what's|whats|what are|where|how)\s"
    r"(?:\w+\s){0,2}(?:you|your)\b"
)
_RETURNS = lazy_pattern(
    r"(?i)\b(?:and|how about|what about|hbu|wbu)\s(?:you|yours|yourself)\b|\b(?:you|yourself)\s?\?\W*$"
)
_BACK = lazy_pattern(
    r"(?i)\b(?:it|that|this|they|them|those|these|he|she|his|her|him|their|there|one|ones|too|also|same)\b"
)
_CUE = lazy_pattern(
    r"(?i)\b(?:anyways?|by the way|btw|speaking of|(?:on|in) (?:another|a different) (?:note|matter)"
    r"|(?:chang\w+|switch\w*) (?:the )?(?:subject|topic|gears?)|unrelated|another (?:question|thing|topic|matter)"
    r"|something (?:else|different)|enough about|one (?:more|other|last) thing|moving on|next (?:question|topic)"
    r"|(?:i|we)(?:'m|'d| am| would)? also (?:need|want|like|look\w*|wonder\w*|hav\w+)|can you also"
    r"|different (?:question|topic|subject))\b"
)
_CLOSING = lazy_pattern(
    r"(?i)\b(?:you'?re (?:very )?welcome|you are (?:very )?welcome|my pleasure|good ?bye|bye|see you|take care"
    r"|have an? (?:\w+ )?(?:day|night|evening|weekend|trip|one)|enjoy your|that(?:'s| is| will be) all)\b"
)


@dataclass(frozen=True, slots=True)
class TextCues:
    """The cues in one text. Signs are 0 or 1."""

    words: int
    terms: frozenset[str]
    question: float
    question_last: float
    asks_you: float
    back: float
    cue: float
    closing: float
    small: bool


def read_cues(text: str) -> TextCues:
    sample = text if len(text) <= 2 * READ else f"{text[:READ]}\n{text[-READ:]}"
    sentences = [sentence for sentence in _SENTENCE.findall(sample) if any(map(str.isalnum, sentence))] or [sample]
    has_question = bool(_ASKED.search(sample))
    ending = _ENDING.search(sample)
    return TextCues(
        words=len(text.split()),
        terms=frozenset(analyse(sample).terms),
        question=float(has_question),
        question_last=float(ending is not None and bool(_ASKED.search(ending[0]))),
        asks_you=float(has_question and bool(_ASKS_YOU.search(sample)) and not _RETURNS.search(sample)),
        back=float(bool(_BACK.search(sentences[-1]))),
        cue=float(bool(_CUE.search(sample))),
        closing=float(bool(_CLOSING.search(sample))),
        small=is_small_talk(sample),
    )
