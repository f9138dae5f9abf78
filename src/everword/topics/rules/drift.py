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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from everword.model import Role
from everword.text.doc import lower_words
from everword.text.word_weights import is_unspaced
from everword.topics.rules.topic_set import is_zero
from everword.topics.rules.words import MessageWords, read_words
from everword.word_lists import lazy_pattern

Row = NDArray[np.float32]

REACH = 8
"""Earlier messages that are used. More may be given."""
LIKELY = 0.35
"""The probability from which on a message counts as a shift: the value that measures best, see docs/benchmarks.md.
It is below a half, since most messages continue the subject and shifts are seldom announced."""
PAUSE = 1.0
"""The weight of the logarithm of a pause in hours."""
HOUR = timedelta(hours=1)
USUAL_FIT = 0.5
"""The fit to a topic that is not known."""
READ = 400
"""Characters of a message that are read for cues: from its beginning, and as many from its end."""


@dataclass(frozen=True, eq=False)
class DriftMessage:
    """A message as the rule needs it: its text, its vector (unit or zero), its role, and its time, if known.

    Its cues are read once, when first needed: keep the object for the next message.
    """

    text: str
    vector: Row
    role: Role = "user"
    time: datetime | None = None

    @property
    def has_vector(self) -> bool:
        return not is_zero(self.vector)

    @cached_property
    def words(self) -> MessageWords:
        return read_words(self.text, self.role)

    @cached_property
    def cues(self) -> TextCues:
        return read_cues(self.text, self.role)


@dataclass(frozen=True, slots=True)
class Scale:
    """The mean and the deviation of the embedder's cosine between unrelated messages."""

    unrelated: float = 0.2
    spread: float = 0.1


BUILT_IN = Scale()


def shift(
    previous: Sequence[DriftMessage], message: DriftMessage, scale: Scale = BUILT_IN, fit: float = USUAL_FIT
) -> float:
    """The probability, from 0 to 1, that `message` leaves the subject of `previous`, which is in order, newest last.
    `fit` is how well the message fits the topic that is talked of.

    1 if nothing came before; 0 for a message that is not a user's or has no content. From `LIKELY` on it is a shift.
    """
    if not previous:
        return 1.0
    if message.role != "user" or message.words.is_empty or not message.has_vector:
        return 0.0
    score = BIAS + sum([WEIGHTS[name] * value for name, value in signs(previous, message, scale, fit).items()])
    return 1 / (1 + exp(-max(min(score + _pause(previous, message), 30.0), -30.0)))


# -- the signs

WEIGHTS = {
    "last": -0.25,
    "near": -0.64,
    "new": 0.93,
    "asks_you": 2.13,
    "answer": -1.49,
    "back": -0.59,
    "cue": 1.16,
    "closed": 1.40,
    "reply": 0.37,
    "quiet": 0.29,
    "wish": 1.40,
    "fit": -0.20,
}
BIAS = -2.00


def signs(
    previous: Sequence[DriftMessage], message: DriftMessage, scale: Scale = BUILT_IN, fit: float = USUAL_FIT
) -> dict[str, float]:
    """The signs for or against a shift, by name; the names are those of `WEIGHTS`."""
    before = previous[-REACH:]
    current = message.cues
    last = before[-1]
    has_assistant = "assistant" in [earlier.role for earlier in before]
    new_stems = message.words.stems.difference(*[earlier.words.stems for earlier in before])
    return {
        "last": likeness(before[-1:], message, scale),
        "near": likeness(before[-2:], message, scale),
        "new": min(log1p(len(new_stems)), 2.5),
        # Who talks with an assistant asks it all the time: that tells something only among people.
        "asks_you": 0.0 if last.role == "assistant" else current.asks_you,
        # Beside an assistant, nobody answers their own question.
        "answer": 0.0 if last.role == "user" and has_assistant else last.cues.question_last,
        "back": current.back,
        "cue": current.cue,
        "closed": last.cues.closing,
        "reply": float(last.role == "assistant"),
        "quiet": float(last.words.is_empty),
        "wish": current.wish,
        "fit": (max(fit, 0.0) - scale.unrelated) / scale.spread,
    }


def _pause(previous: Sequence[DriftMessage], message: DriftMessage) -> float:
    """The weight of a pause since the last message with content: none up to some minutes, more than any cue after a
    night. Set by hand: the published sets of dialogues have no times."""
    last = previous[-1]
    if last.words.is_empty:
        last = next((earlier for earlier in reversed(previous) if not earlier.words.is_empty), last)
    if last.time is None or message.time is None or message.time <= last.time:
        return 0.0
    return min(log1p((message.time - last.time) / HOUR), 3.0) * PAUSE


def likeness(before: Sequence[DriftMessage], message: DriftMessage, scale: Scale = BUILT_IN) -> float:
    """The cosine with the messages before, in deviations above that of unrelated texts of these lengths; 0 to 6."""
    width = len(message.vector)
    vectors = [earlier.vector for earlier in before if len(earlier.vector) == width]
    if not vectors or not message.has_vector:
        return UNKNOWN
    total = vectors[0]
    for vector in vectors[1:]:
        total = total + vector
    length = sqrt(total.dot(total))
    if length < _NOTHING:
        return UNKNOWN
    cosine = float(total.dot(message.vector)) / length
    words = sum([earlier.cues.words for earlier in before])
    usual = scale.unrelated * _share(words) * _share(message.cues.words)
    return max(min((cosine - usual) / scale.spread, 6.0), 0.0)


_NOTHING = 1e-9
UNKNOWN = 1.5
"""The likeness of a message without a vector: that of messages that continue the subject."""


def _share(words: int) -> float:
    """How much more alike unrelated texts are at this length: longer texts have more in common."""
    return min(0.58 + 0.157 * log(max(words, 1)), 1.4)


# -- cues in a text

_SENTENCE_ENDS = ".!?…。！？؟\n"
_PLAIN_ENDS = ".!?\n"
_QUESTION_MARKS = "?？؟"
_ASKS_YOU = lazy_pattern(
    r"(?i)\b(?:do|are|have|did|would|can|could|will|what is|what's|whats|what are|where|how)\s"
    r"(?:\w+\s){0,2}(?:you|your)\b"
)
_RETURNS = lazy_pattern(
    r"(?i)\b(?:and|how about|what about|hbu|wbu)\s(?:you|yours|yourself)\b|\b(?:you|yourself)\s?\?\W*$"
)
_POINTERS = "it that this they them those these he she his her him their there one ones too also same"
_BACK_WORDS = frozenset(_POINTERS.split())
_BACK = lazy_pattern(rf"(?i)\b(?:{'|'.join(sorted(_BACK_WORDS))})\b")
CUE = lazy_pattern(
    r"(?i)\b(?:anyways?|by the way|btw|speaking of|(?:on|in) (?:another|a different) (?:note|matter)"
    r"|(?:chang\w+|switch\w*) (?:the )?(?:subject|topic|gears?)|unrelated|another (?:question|thing|topic|matter)"
    r"|something (?:else|different)|enough about|one (?:more|other|last) thing|moving on|next (?:question|topic)"
    r"|(?:i|we)(?:'m|'d| am| would)? also (?:need|want|like|look\w*|wonder\w*|hav\w+)|can you also"
    r"|different (?:question|topic|subject))\b",
)
_WISH = lazy_pattern(
    r"(?i)^(?:(?:hi|hey|hello|ok|okay|so|also|and|well|yes|please)\b\W*)?"
    r"(?:i(?:'m| am|'ve been| have been|'d| would| was)? (?:also )?(?:need|want|like to|love to|look\w* (?:for|to)"
    r"|try\w+ to|plan\w+|think\w+ (?:of|about)|wonder\w*|hop\w+ to|interested in|struggl\w+)"
    r"|(?:can|could|would|will) you (?:please |also )?(?:\w+ me|help|recommend|suggest|find|check|book|tell|give|show"
    r"|explain)|(?:please |can i |may i |could i |how (?:do|can|should|would) i |what(?:'s| is| are) the "
    r"|where(?:'s| is| are| can) |(?:is|are) there |find|show|give|tell|book|set|turn|play|navigate|remind|check|help"
    r"|write|create|explain)\b)"
)
CLOSING = lazy_pattern(
    r"(?i)\b(?:you'?re (?:very )?welcome|you are (?:very )?welcome|my pleasure|good ?bye|bye|see you|take care"
    r"|have an? (?:\w+ )?(?:day|night|evening|weekend|trip|one)|enjoy your|that(?:'s| is| will be) all)\b"
)


class TextCues(NamedTuple):
    """The cues in one text. Signs are 0 or 1."""

    words: int
    question_last: float
    asks_you: float
    back: float
    cue: float
    wish: float
    closing: float


def read_cues(text: str, role: Role = "user") -> TextCues:
    """The cues in a message. Of a message that is not a user's, only those that tell what may follow it."""
    sample = text if len(text) <= 2 * READ else f"{text[:READ]}\n{text[-READ:]}"
    own = sample if role == "user" else ""
    return TextCues(
        words=_count_words(text),
        question_last=float(_has_question_mark(_ending(sample))),
        asks_you=float(_has_question_mark(own) and bool(_ASKS_YOU.search(own)) and not _RETURNS.search(own)),
        back=_points_back(own),
        cue=float(bool(CUE.search(own))),
        wish=float(bool(_WISH.match(own))),
        closing=float(bool(CLOSING.search(sample))),
    )


def _count_words(text: str) -> int:
    """The words of a text; two characters count as one where words are not spaced."""
    return len(text.split()) + (0 if text.isascii() else sum(map(is_unspaced, text)) // 2)


def _has_question_mark(text: str) -> bool:
    return "?" in text if text.isascii() else not frozenset(text).isdisjoint(_QUESTION_MARKS)


def _points_back(text: str) -> float:
    sentence = _last_sentence(text)
    if sentence.isascii():
        return float(not _BACK_WORDS.isdisjoint(lower_words(sentence)))
    return float(_BACK.search(sentence) is not None)


def _ending(text: str) -> str:
    """The signs after the last word."""
    start = len(text)
    while start and not text[start - 1].isalnum():
        start -= 1
    return text[start:]


def _last_sentence(text: str) -> str:
    """What comes after the last end of a sentence that has a word behind it."""
    bare = text.rstrip(" .!?…。！？؟\n")
    start = max(map(bare.rfind, _PLAIN_ENDS if bare.isascii() else _SENTENCE_ENDS)) + 1
    return bare[start:]
