"""Corrections within a conversation: which message takes back or changes what an earlier one said.

"Actually it's on Friday", "the meeting moved to Oslo", "no, I meant Tom". A message with such words is paired with what
it corrects: the earlier message near it that shares most of its words, or, for words that mend what was said just
before, the last message of the same speaker. Where nothing fits there is no pair. A correction and what it corrects are
shown together, so that neither reads as the whole truth.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

from recollect.language.calendar_words import MONTHS, WEEKDAYS
from recollect.language.terms import analyse
from recollect.model import Message

REACH = 40  # messages back in which what is corrected is looked for
JUST_BEFORE = 6  # messages back in which words that mend what was just said find it
LOOKED_AT = 2_000  # characters of a message that are looked at; a longer one is a text, and no remark
LONG_REPLY = 400  # characters of a reply that may still be a remark
OWN_WORDS = 0.5  # what it counts that two messages are of the same speaker: less than a shared word

# Words that mend what was said just before.
MENDING = re.compile(
    r"\bi meant\b|\bi mean(?:t)?,|\bcorrection\b|\bscratch that\b|\bmy mistake\b|\bi misspoke\b|\btypo\b"
    r"|(?:^|[.!?]\s+)(?:oops|whoops|sorry),|(?:^|[.!?,]\s*)(?:no|wait),? (?:it'?s|it is|that'?s|i meant|not)\b"
    r"|\bmade a mistake\b|\bgot (?:it|that) wrong\b",
    re.IGNORECASE,
)
# Words that change what was said or planned earlier.
CHANGING = re.compile(
    r"(?:^|[.!?,;:\-]\s*)actually\b|\bon second thoughts?\b|\bchanged (?:my|our|his|her|their) minds?\b"
    r"|\b(?:moved|changed|rescheduled|postponed|pushed|shifted|switched|delayed|renamed|updated)"
    r"(?: (?:it|that|them|the \w+))?(?: \w+)? (?:to|until|from)\b"
    r"|\b(?:is|are|it'?s|will be) now\b|\bnow (?:it'?s|it is|it will be)\b|\bno longer\b|\bnot any ?more\b"
    r"|\bchange of plans?\b|\bplans? (?:has |have )?changed\b|\b(?:called off|cancell?ed|fell through)\b"
    r"|\binstead of\b",
    re.IGNORECASE,
)

# Kinds of values: a correction that names only a new value corrects an old value of its kind.
VALUES = {
    "day": re.compile(rf"\b(?:{'|'.join(WEEKDAYS)}|{'|'.join(MONTHS)}|today|tomorrow|tonight)\b", re.IGNORECASE),
    "number": re.compile(r"\d"),
    "name": re.compile(r"(?<=[a-z,] )[A-Z][a-z]+"),
}
# To share words of corrections says nothing.
WEAK = (
    "actually correction mean meant mistake sorry wait oops moved changed rescheduled postponed pushed shifted "
    "switched delayed renamed updated now longer anymore change plan plans cancelled instead mind second thought"
)


@lru_cache(maxsize=4096)
def has_correction(text: str) -> bool:
    """Whether a message says that something earlier, in it or before it, was wrong or has changed."""
    part = plain_quotes(text)
    return bool(MENDING.search(part) or CHANGING.search(part))


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
    """The place of what the message at `place` corrects; None if nothing fits."""
    correction = messages[place]
    own_terms = terms_of(correction.content[:LOOKED_AT])
    best: tuple[float, int] | None = None
    for earlier in range(max(place - REACH, 0), place):
        if not is_conversational(messages[earlier]):
            continue
        shared_terms = own_terms & terms_of(messages[earlier].content[:LOOKED_AT])
        if shared_terms:
            score = len(shared_terms) + OWN_WORDS * (messages[earlier].author == correction.author)
            best = max(best or (0.0, -1), (score, earlier))
    return best[1] if best is not None else place_just_before(messages, place)


def place_just_before(messages: Sequence[Message], place: int) -> int | None:
    """The place of what a correction without words of its own ("moved to Friday", "no, I meant Tom") corrects: the last
    message with a value of the same kind, or for words that mend, the speaker's own last message."""
    correction = messages[place]
    kinds = value_kinds(correction.content)
    is_mending = bool(MENDING.search(plain_quotes(correction.content)))
    for earlier in range(place - 1, max(place - JUST_BEFORE, 0) - 1, -1):
        message = messages[earlier]
        if not is_conversational(message):
            continue
        is_own = message.author == correction.author and message.role == correction.role
        if (is_mending and is_own) or (not is_mending and not kinds.isdisjoint(value_kinds(message.content))):
            return earlier
    return None


def is_conversational(message: Message) -> bool:
    """Whether a message is what people say to each other. The long prose of an assistant is full of "instead of" and
    "no longer", and corrects nobody."""
    return len(message.content) <= (LOOKED_AT if message.role == "user" else LONG_REPLY)


def value_kinds(text: str) -> frozenset[str]:
    """The kinds of values that a message names: days, numbers, names."""
    part = text[:LOOKED_AT]
    return frozenset(kind for kind, pattern in VALUES.items() if pattern.search(part))


def plain_quotes(text: str) -> str:
    return text[:LOOKED_AT].replace("\u2019", "'")


@lru_cache(maxsize=4096)
def terms_of(text: str) -> frozenset[str]:
    """The words of a message as they are compared: without function words and the words of corrections themselves."""
    return frozenset(analyse(text).terms) - weak_terms()


@cache
def weak_terms() -> frozenset[str]:
    return frozenset(analyse(WEAK, "en").terms)
