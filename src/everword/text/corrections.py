"""Which text corrects which: what a correction is, and what it takes back or changes.

"Actually it's on Friday", "the meeting moved to Oslo", "no, I meant Tom": a correction is known from its words, or, for
a sentence, from stating another value of the same thing ("our wedding is on 10 June"). Two texts are about the same
thing if they share the words that are not values. There are two uses of it. Among the sentences of a summary, one that
is corrected gives way to its correction (`find_corrections`); that needs another value, since a sentence is lost.
Among messages, a correction is shown with what it may correct (`corrected_turns`); there the best match is enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from everword.model import Message
from everword.text.detect import detect
from everword.text.doc import read_once
from everword.text.key_value_statements import WHEN
from everword.text.word_weights import is_content, is_ordinary, stem, words
from everword.word_lists import Patterns, WordLists, lazy_pattern

_PATTERNS = Patterns("corrections")
CUE_WORDS = WordLists("corrections").cue_words

REACH = 40  # messages back in which what is corrected is looked for
JUST_BEFORE = 6  # messages back in which words that mend what was just said find it
LOOKED_AT = 2_000  # characters of a message that are looked at; a longer one is a text, and no remark
LONG_REPLY = 400  # characters of a reply that may still be a remark

_DIGIT = lazy_pattern(r"\d")
_NEAR = 2  # turns within which a short correction needs no word in common with what it corrects
_SHORT = 12  # words of such a correction
_ALIKE = 0.7  # the share of common words of two statements of one value
_HALF = 0.5
_OWN_WORDS = 0.5  # what it counts that two messages are of the same speaker: less than a shared word


@dataclass(frozen=True, slots=True)
class ComparedText:
    """A text as it is compared: its values (times, numbers, names) and its other words, the heads."""

    text: str
    times: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]
    heads: frozenset[str]

    @property
    def values(self) -> frozenset[str]:
        return self.times | self.numbers

    @property
    def value_kinds(self) -> frozenset[str]:
        kinds = {"time": self.times, "number": self.numbers, "name": self.names}
        return frozenset(kind for kind, values in kinds.items() if values)


class ComparedSentence(NamedTuple):
    """A sentence of a summary as it is compared: its turn, who said it, and whether it stands alone."""

    turn: int
    speaker: tuple[str, str]
    stands: bool
    text: str
    language: str

    @property
    def content(self) -> ComparedText:
        """Read when it is asked for, and remembered: most sentences are compared with none."""
        return compare_text(self.text, self.language)


@dataclass(frozen=True, slots=True)
class Correction:
    """The places of a sentence and of its correction; whether the correction is understood only after it."""

    earlier: int
    later: int
    together: bool


# -- what a correction is


@read_once
def has_correction(text: str) -> bool:
    """Whether a text says that something earlier, in it or before it, was wrong or has changed."""
    return is_retraction(text) or is_change(text)


def says_new_value(text: str) -> bool:
    """Whether a text says that it corrects or changes something, and gives the new value."""
    return has_correction(text) and (_PATTERNS.ending.search(text) is not None or _has_value(text))


def is_retraction(text: str) -> bool:
    """Whether a text takes back what somebody said: "no, I meant", "actually"."""
    text = _plain_quotes(text)
    return bool(_PATTERNS.mending.search(text) or _PATTERNS.contrasting.search(text))


def is_change(text: str) -> bool:
    """Whether a text says that something has changed or ended: "moved to", "is now", "cancelled"."""
    text = _plain_quotes(text)
    return bool(_PATTERNS.changing.search(text) or _PATTERNS.ending.search(text))


@read_once
def states_value(text: str) -> bool:
    """Whether a text says of one thing when or how much it is."""
    verb = _PATTERNS.states.search(text)
    return verb is not None and _has_value(text, verb.end()) and _PATTERNS.definite.search(text) is not None


def _has_value(text: str, start: int = 0) -> bool:
    return _DIGIT.search(text, start) is not None or WHEN.search(text, start) is not None


@read_once
def compare_text(text: str, language: str) -> ComparedText:
    """The values and the other words of a text; without function words and the words of corrections themselves."""
    times = frozenset([match.group().casefold() for match in WHEN.finditer(text)])
    rest_words = words(WHEN.sub(" ", text) if times else text)
    numbers = frozenset(word.casefold() for word in rest_words if any(map(str.isdigit, word)))
    names = frozenset(
        word.casefold()
        for word in rest_words[1:]
        if word[:1].isupper() and word[1:].islower() and is_content(word, language) and not is_ordinary(word)
    )
    no_heads = CUE_WORDS | numbers | names
    heads = frozenset(
        stem(word, language)
        for word in rest_words
        if is_content(word, language) and not is_ordinary(word) and word.casefold() not in no_heads
    )
    return ComparedText(text, times, numbers, names, heads)


def _plain_quotes(text: str) -> str:
    return text[:LOOKED_AT].replace("\u2019", "'")


# -- among the sentences of a summary


def find_corrections(sentences: Sequence[ComparedSentence]) -> list[Correction]:
    """The corrections among sentences in the order of time; each is corrected by the last one that corrects it."""
    by_earlier: dict[int, Correction] = {}
    for later, sentence in enumerate(sentences):
        if not (_may_replace(sentence) or states_value(sentence.text)):
            continue
        for earlier in range(later - 1, -1, -1):
            together = _compare_sentences(sentences[earlier], sentence)
            if together is None:
                continue
            by_earlier[earlier] = Correction(earlier, later, together)
            if together:  # it stands after one sentence only, the nearest
                break
    return list(by_earlier.values())


def _may_replace(sentence: ComparedSentence) -> bool:
    """Whether a sentence says that it corrects or changes something, and has what it would be corrected to, or ends
    it."""
    if not has_correction(sentence.text):
        return False
    return bool(sentence.content.values or sentence.content.names or _PATTERNS.ending.search(sentence.text))


def _compare_sentences(old: ComparedSentence, new: ComparedSentence) -> bool | None:
    """Whether one sentence corrects another, and is understood only after it; None if it corrects nothing of it."""
    replaces = _replaces(old, new) if _may_replace(new) else None
    if replaces is not None:
        return replaces
    return False if _restates(old, new) and new.stands else None


def _replaces(old: ComparedSentence, new: ComparedSentence) -> bool | None:
    """As `_compare_sentences`, for a sentence that says it corrects something."""
    text = new.text
    common = old.content.heads & new.content.heads
    takes_back = is_retraction(text)
    gives_value = _gives_value(old, new, takes_back)
    is_same_thing = bool(common) and len(common) >= _HALF * min(len(old.content.heads), len(new.content.heads))
    if is_same_thing and (gives_value or _PATTERNS.ending.search(text)):
        return not new.stands or (takes_back and not is_change(text) and new.speaker != old.speaker)
    is_near = 0 <= new.turn - old.turn <= _NEAR and len(words(text)) <= _SHORT
    return True if is_near and gives_value and not new.content.heads else None


def _gives_value(old: ComparedSentence, new: ComparedSentence, takes_back: bool) -> bool:
    """Whether a sentence gives another value than the old one; a retraction may also give another name."""
    if old.content.values and new.content.values - old.content.values:
        return True
    return takes_back and bool(old.content.names and new.content.names - old.content.names)


def _restates(old: ComparedSentence, new: ComparedSentence) -> bool:
    """Whether a speaker states another value of the same thing."""
    if old.speaker != new.speaker or not states_value(old.text) or not states_value(new.text):
        return False
    before = old.content
    after = new.content
    common = before.heads & after.heads
    return (
        bool(common)
        and len(common) >= _ALIKE * len(before.heads | after.heads)
        and bool(after.values - before.values)
        and bool(before.values - after.values)
    )


# -- among messages


def corrected_turns(messages: Sequence[Message]) -> Mapping[int, int]:
    """For each turn that a later message corrects, the turn of the last such message. `messages` are in order."""
    turns: dict[int, int] = {}
    for place, message in enumerate(messages):
        if is_conversational(message) and has_correction(message.content):
            corrected_place = place_of_corrected(messages, place)
            if corrected_place is not None:
                turns[messages[corrected_place].turn] = message.turn
    return turns


def place_of_corrected(messages: Sequence[Message], place: int) -> int | None:
    """The place of what the message at `place` corrects: the one near it that shares most of its words; None if
    nothing fits."""
    correction = messages[place]
    own = _compare_message(correction.content)
    best: tuple[float, int] | None = None
    for earlier in range(max(place - REACH, 0), place):
        if not is_conversational(messages[earlier]):
            continue
        other = _compare_message(messages[earlier].content)
        common = (own.heads | own.names) & (other.heads | other.names)
        if common:
            score = len(common) + _OWN_WORDS * (messages[earlier].author == correction.author)
            best = max(best or (0.0, -1), (score, earlier))
    return best[1] if best is not None else place_just_before(messages, place)


def place_just_before(messages: Sequence[Message], place: int) -> int | None:
    """The place of what a correction without words of its own ("moved to Friday", "no, I meant Tom") corrects: the last
    message with a value of the same kind, or for words that mend, the speaker's own last message."""
    correction = messages[place]
    kinds = _compare_message(correction.content).value_kinds
    is_mending = bool(_PATTERNS.mending.search(_plain_quotes(correction.content)))
    for earlier in range(place - 1, max(place - JUST_BEFORE, 0) - 1, -1):
        message = messages[earlier]
        if not is_conversational(message):
            continue
        is_own = message.author == correction.author and message.role == correction.role
        has_kind = not kinds.isdisjoint(_compare_message(message.content).value_kinds)
        if is_own if is_mending else has_kind:
            return earlier
    return None


def is_conversational(message: Message) -> bool:
    """Whether a message is what people say to each other. The long prose of an assistant is full of "instead of" and
    "no longer", and corrects nobody."""
    return len(message.content) <= (LOOKED_AT if message.role == "user" else LONG_REPLY)


def _compare_message(text: str) -> ComparedText:
    return compare_text(text[:LOOKED_AT], detect(text))
