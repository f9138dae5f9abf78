"""Which sentence corrects which: what was corrected gives way to its correction.

A later sentence corrects an earlier one about the same thing if it says so ("actually", "I meant", "moved to", "is
now") and gives another value, or if both state one value of it (a date, an amount) and the values differ. They are
about the same thing if they share the words that are not values. A correction that cannot be understood alone ("no, on
Tuesday") is shown after what it corrects; any other replaces it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from recollect.language.names_times_amounts import WHEN
from recollect.language.word_weights import is_content, is_ordinary, stem, words

HARD = re.compile(
    r"\b(?:moved|pushed|postponed|rescheduled|delayed|brought\sforward|changed|switched|shifted|bumped|extended|raised"
    r"|lowered|reduced|increased)\b(?:\s\w+){0,4}?\s(?:to|until|till|by)\b"
    r"|\bno\slonger\b|\bcancel+ed\b|\bcalled\soff\b|\b(?:is|are|it['’]s)\snow\b|\bnow\s(?:it['’]s|it\sis|at|on)\b",
    re.IGNORECASE,
)
SOFT = re.compile(
    r"^(?:\W*(?:oh|oops|ah|hm+|wait|sorry|no|nope|um)\b[\s,!.:–—-]*)*"
    r"(?:(?:no|nope|wait|sorry|oops)\s*[,!.:–—-]|actually\b|correction\b|scratch\sthat\b|i\smeant?\b|make\sthat\b|rather\b)"
    r"|\bi\s(?:actually\s)?meant\b|\bturns\sout\b|\bmake\sthat\b|\binstead\sof\b|,\snot\s",
    re.IGNORECASE,
)
_ENDS = re.compile(r"\bno\slonger\b|\bcancel+ed\b|\bcalled\soff\b", re.IGNORECASE)
_STATES = re.compile(
    r"\b(?:is|are|['’]s|will\sbe|costs?|starts?|begins?|ends?|due|opens?|closes?|leaves?|arrives?|takes\splace|weighs?"
    r"|scheduled|amounts?)\b",
    re.IGNORECASE,
)
_VALUE = re.compile(rf"\d|{WHEN.pattern}", WHEN.flags)
_DEFINITE = re.compile(r"^(?:\w+\s){0,3}?(?:the|my|our|your|his|her|their|its)\s|^it\b|['’]s\s", re.IGNORECASE)
_CUES = """
    moved pushed postponed rescheduled delayed brought forward changed switched shifted bumped extended raised lowered
    reduced increased longer cancelled canceled called off now actually correction scratch meant mean make rather turns
    out instead sorry wait oops
"""
_CUE_WORDS = frozenset(_CUES.split())
_NEAR = 2  # turns within which a short correction needs no word in common with what it corrects
_SHORT = 12  # words of such a correction
_ALIKE = 0.7  # the share of common words of two statements of one value
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class ComparedSentence:
    """A sentence as it is compared: its turn, who said it, whether it stands alone, its values and its other words."""

    turn: int
    speaker: tuple[str, str]
    text: str
    stands: bool
    values: frozenset[str]
    names: frozenset[str]
    heads: frozenset[str]

    @property
    def states_value(self) -> bool:
        """Whether it says of one thing when or how much it is."""
        verb = _STATES.search(self.text)
        return bool(verb and _DEFINITE.search(self.text) and _VALUE.search(self.text, verb.end()))


@dataclass(frozen=True, slots=True)
class Correction:
    """The places of a sentence and of its correction; whether the correction is understood only after it."""

    earlier: int
    later: int
    together: bool


def compared_sentence(turn: int, speaker: tuple[str, str], text: str, stands: bool, language: str) -> ComparedSentence:
    times = [match.group().casefold() for match in WHEN.finditer(text)]
    rest = WHEN.sub(" ", text)
    rest_words = words(rest)
    numbers = {word.casefold() for word in rest_words if any(map(str.isdigit, word))}
    names = {
        word.casefold()
        for word in rest_words[1:]
        if word[:1].isupper() and word[1:].islower() and not is_ordinary(word)
    }
    heads = {
        stem(word, language)
        for word in rest_words
        if is_content(word, language) and not is_ordinary(word) and word.casefold() not in _CUE_WORDS | numbers | names
    }
    return ComparedSentence(
        turn, speaker, text, stands, frozenset({*times, *numbers}), frozenset(names), frozenset(heads)
    )


def says_correction(text: str) -> bool:
    """Whether a sentence says that it corrects or changes something, and gives the new value."""
    is_cue = HARD.search(text) or SOFT.search(text)
    return bool(is_cue and (_ENDS.search(text) or WHEN.search(text) or re.search(r"\d", text)))


def find_corrections(sentences: Sequence[ComparedSentence]) -> list[Correction]:
    """The corrections among sentences in the order of time; each is corrected by the last one that corrects it."""
    by_earlier: dict[int, Correction] = {}
    for later, sentence in enumerate(sentences):
        is_hard = bool(HARD.search(sentence.text))
        is_soft = bool(SOFT.search(sentence.text))
        if not (is_hard or is_soft or sentence.states_value):
            continue
        for earlier in range(later - 1, -1, -1):
            correction = _compare(sentences[earlier], sentence, earlier, later, is_hard, is_soft)
            if correction is None:
                continue
            by_earlier[earlier] = correction
            if correction.together:  # it stands after one sentence only, the nearest
                break
    return list(by_earlier.values())


def _compare(
    old: ComparedSentence, new: ComparedSentence, earlier: int, later: int, is_hard: bool, is_soft: bool
) -> Correction | None:
    """The correction of one sentence by another, if it is one."""
    common = old.heads & new.heads
    fewest = min(len(old.heads), len(new.heads))
    is_same_thing = bool(common) and len(common) >= _HALF * fewest
    gives_value = bool(new.values - old.values and old.values) or bool(new.names - old.names and old.names and is_soft)
    ends = is_hard and _ENDS.search(new.text) is not None
    if (is_hard or is_soft) and is_same_thing and (gives_value or ends):
        return Correction(earlier, later, not new.stands or (is_soft and not is_hard and new.speaker != old.speaker))
    is_near = 0 <= new.turn - old.turn <= _NEAR and len(words(new.text)) <= _SHORT
    if (is_hard or is_soft) and is_near and gives_value and not new.heads:
        return Correction(earlier, later, True)
    is_restated = (
        old.states_value
        and new.states_value
        and old.speaker == new.speaker
        and bool(common)
        and len(common) >= _ALIKE * len(old.heads | new.heads)
        and bool(new.values - old.values)
        and bool(old.values - new.values)
    )
    return Correction(earlier, later, False) if is_restated and new.stands else None
