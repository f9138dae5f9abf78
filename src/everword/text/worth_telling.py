"""What a sentence is worth in a summary: what happened, was decided, is planned or counted comes before what was felt.

A person who was there tells what somebody did, will do, has and is, and with which numbers; that it was amazing, that
life is short, and that the other one should not give up, they leave out. So a sentence of a person is told apart by
signs of these: a deed in the past, a plan, what is so with somebody, and what is only felt, judged or said to please.
In other languages and in an assistant's words no such signs are known, and every sentence is worth the same.
"""

from __future__ import annotations

from enum import IntEnum

from everword.text.corrections import says_new_value
from everword.text.doc import lower_tokens, read_once
from everword.text.english import PAST_FORMS, PLAIN_VERBS, SAME_IN_THE_PAST, form_after_i
from everword.text.filler import capitalise, strip_opening
from everword.text.key_value_statements import WHEN
from everword.word_lists import Patterns, WordLists

_WORDS = WordLists("telling")
_PATTERNS = Patterns("telling", words=_WORDS)
_TO_BE = frozenset({"am", "was", "have"})
_NEAR = 14  # words in which the deed of a sentence is told


class Telling(IntEnum):
    """What a sentence of a person tells, from the least to the most."""

    FELT = 0
    PLAIN = 1
    STATE = 2
    DEED = 3


WEIGHT = {Telling.FELT: 0.3, Telling.PLAIN: 0.7, Telling.STATE: 1.0, Telling.DEED: 2.0}
"""What the words of a sentence count, by what it tells."""


@read_once
def telling_of(text: str) -> Telling:
    """What an English sentence of a person tells."""
    if text.startswith("["):
        return Telling.FELT  # what is seen in a picture
    plain = strip_opening(text)
    pleases = _PATTERNS.pleases.match(plain) is not None
    if not pleases and (_PATTERNS.plan.search(plain) or _tells_deed(plain)):
        return Telling.DEED
    if _counts(plain):
        return Telling.STATE
    if pleases or _PATTERNS.judges.search(plain):
        return Telling.FELT
    if _PATTERNS.state.search(plain) or _names_subject(plain):
        return Telling.STATE
    return Telling.PLAIN if _PATTERNS.person.search(plain) or _PATTERNS.name.search(plain) else Telling.FELT


def is_judgement(text: str) -> bool:
    """Whether an English sentence only judges, wishes or praises, or says what is seen in a picture."""
    plain = strip_opening(text)
    judges = _PATTERNS.pleases.match(plain) is not None or _PATTERNS.judges.search(plain) is not None
    return text.startswith("[") or (judges and telling_of(text) == Telling.FELT)


@read_once
def _counts(text: str) -> bool:
    """Whether a sentence has a number or a date."""
    return _PATTERNS.digit.search(text) is not None or WHEN.search(text) is not None


def _tells_deed(text: str) -> bool:
    """Whether somebody did something, or something happened: a verb in the past that is no feeling, after a person, at
    the beginning or right after its subject, or with a number or a date: "rent went up to 1150"."""
    begins = _PATTERNS.begins.match(text)
    is_headless = begins is not None and _is_deed(begins["word"].casefold())
    happens = _PATTERNS.happens.match(text)
    if is_headless or (happens is not None and _is_deed(happens["word"].casefold())):
        return True
    if _PATTERNS.had.search(text) is None and not any(map(_is_deed, lower_tokens(text)[:_NEAR])):
        return False
    return _PATTERNS.person.search(text) is not None or _names_subject(text) or _counts(text)


def _names_subject(text: str) -> bool:
    """Whether a sentence begins with a name that does or is something: "Marta will bring", and not "Visual signs"."""
    named = _PATTERNS.named.match(text)
    return named is not None and (
        not named["verb"].endswith("s") or form_after_i(named["verb"]) in PLAIN_VERBS | _TO_BE
    )


def _is_deed(word: str) -> bool:
    is_past = word in PAST_FORMS or (word.endswith("ed") and len(word) > 4)
    return (is_past or (word in SAME_IN_THE_PAST and word == "quit")) and word not in _WORDS.felt


@read_once
def told_part(text: str) -> str:
    """The part of an English sentence that tells most, without how it was felt before or after a pause, and without
    what announces it: "it was a rough week - I lost my keys" is "I lost my keys"."""
    announced = _PATTERNS.announces.match(text)
    if announced and telling_of(text[announced.end() :]) > Telling.PLAIN:
        return told_part(capitalise(text[announced.end() :]))
    pauses = list(_PATTERNS.pause.finditer(text))
    if len(pauses) == 1 and not _PATTERNS.quoted.search(text):
        head, tail = text[: pauses[0].start()], text[pauses[0].end() :]
        if telling_of(head) < Telling.STATE and telling_of(tail) == Telling.DEED and tail[:1].isupper():
            return told_part(tail)
        if telling_of(tail) == Telling.FELT and telling_of(head) > Telling.PLAIN:
            return told_part(head)
    tail_felt = _PATTERNS.felt_tail.search(text)
    is_kept = tail_felt is None or telling_of(text[: tail_felt.start()]) < Telling.STATE
    return text if is_kept or tail_felt is None else text[: tail_felt.start()]


def read_signs(text: str) -> tuple[bool, bool, bool]:
    """Whether a sentence names what matters; gives a new value; has a number or a date."""
    return _PATTERNS.matters.search(text) is not None, says_new_value(text), _counts(text)
