"""Whether what is said of a person tells of their life: what they did, do, have, like or plan.

What they think, feel or do at this moment tells nothing that lasts, and neither does what names no thing.
"""

from __future__ import annotations

import re

from recollect.facts.english import statement_words as words
from recollect.facts.english.third_person_retelling import Predicate
from recollect.facts.english.words import KNOWN_TO_ALL, NUMBERS_TO_SIX, any_of, word_tuple
from recollect.text.packs import lazy_pattern

THOUGHTS = frozenset(words.THOUGHT_VERBS)
_FEELING = lazy_pattern(
    rf"(?:so\s|very\s|really\s|quite\s|pretty\s|a\sbit\s|a\slittle\s)*{any_of(words.FEELING_WORDS)}\b", re.IGNORECASE
)
_A_BIT = lazy_pattern(r"an?\s(?:bit|little|tad)\b(?!\sof)", re.IGNORECASE)
_BE = lazy_pattern(r"(?:is|was|(?:has|had)\s(?:\w+\s)?been)\b")
_LASTING = lazy_pattern(rf"(?!a\s(?:bit|little|tad)\b){any_of(words.LASTING_STATES)}\b", re.IGNORECASE)
_PLANS = lazy_pattern(
    rf"(?:(?:is|has\sbeen)\sthinking\s(?:about|of)\s|(?:is|has\sbeen)\slooking\sforward\sto\s(?:their\s)?|always\slooks\sforward\sto\s(?:their\s)?)"
    rf"(?!{any_of(words.WANT_TO_TALK_DOING)}\b)(?:\w+ing\b|an?\b|(?<=their\s)\w)"
    rf"|(?:hopes|is\shoping|has\sbeen\shoping|has\salways\s(?:hoped|wanted))\sto\s"
    rf"(?!{any_of(words.WANT_TO_TALK)}\b)\w+\s(?!in\sthe\sfuture|one\sday|some\s?day|soon\b)\w",
    re.IGNORECASE,
)
_LOOKS_INTO = lazy_pattern(
    rf"(?:has\sbeen|is|is\sstill|started)\slooking\sinto\s(?!{any_of(words.POINTING_OBJECTS)}\b)(?:\w+\s)*?\w{{4,}}",
    re.IGNORECASE,
)
_CONVICTION = lazy_pattern(
    r"(?:believe\sin|care\s(?:a\slot\s|deeply\s)?about)\s(?!it\b|that\b|this\b|us\b|them\b)\w"
    r"|fe(?:el|lt)\s(?:\w+\s){0,3}(?:urge|drawn|called|connection|passionate)\s(?:to|about|with)\s\w"
    rf"|doing\s(?:an?\s|some\s|my\s)?(?:\w+\s)?{any_of(words.EXERCISES)}\b",
    re.IGNORECASE,
)
_TO_THINK = lazy_pattern(rf"(?:to\s)?{any_of(words.THOUGHT_VERBS)}\b", re.IGNORECASE)
_BACKGROUND = lazy_pattern(r"(?:was|were)\s(?:out\s)?\w+ing\b|had\sto\s", re.IGNORECASE)
_HARD_STEP = lazy_pattern(rf"had\sto\s{any_of(words.HARD_STEPS)}\b", re.IGNORECASE)
_MOOD = lazy_pattern(rf"(?:an?|the|some|this|that)\s(?:\w+\s)?{any_of(words.MOODS)}\b", re.IGNORECASE)
_OF_NOW_ONLY = lazy_pattern(rf"{any_of(words.OF_NOW_ONLY)}\b", re.IGNORECASE)
_EMPTY_DEED = lazy_pattern(rf"(?:tried\sto\s|try\sto\s)?{any_of(words.EMPTY_DEEDS)}\b", re.IGNORECASE)
_MOMENT = lazy_pattern(rf"^(?:\w+\s){{0,3}}?{any_of(words.THINGS_OF_THE_MOMENT)}\b", re.IGNORECASE)
_SOME = lazy_pattern(
    rf"{any_of(words.QUANTITIES, NUMBERS_TO_SIX)}(?:\s(?:{any_of(words.AFTER_QUANTITY)})\b|$)", re.IGNORECASE
)
_OF_THE_MOMENT = lazy_pattern(
    rf"(?:(?:am\s|are\s)?interested\sin\s(?:\w+ing|the|this|your)|want\s(?!to\s{any_of(words.LIFE_VERBS)}\b)"
    r"|am\san?\s(?:bit|little|tad|lot)|(?:make|making)\ssure|going\sthrough)\b"
    rf"|trying\sto\s(?!{any_of(words.LIFE_EFFORTS)}\b)",
    re.IGNORECASE,
)
_EVERYDAY = lazy_pattern(
    rf"(?:got|came|went)\s(?:back\s|home\s)?(?:from|to|for)\s(?:an?\s|my\s|the\s)?(?:\w+\s)?{any_of(words.WALKS)}$"
    r"|(?:sat|lay)\sdown\b|woke\sup\b|added\s(?!.*\bto\b)|saw\s(?:someone|somebody)\b",
    re.IGNORECASE,
)
_TALKED_VERBS = ("talked", "chatted", "spoke")
_ABOUT_WHAT = lazy_pattern(r"\b(?:about|at|on)\b", re.IGNORECASE)
_TROUBLE = lazy_pattern(
    rf"^(?:\w+\s){{0,4}}?{any_of(words.TROUBLES)}(?:\W*$|\s(?:last|this|yesterday|at|in|\w+ing)\b)", re.IGNORECASE
)
_LIKES = frozenset(word_tuple("love like enjoy adore loved liked enjoyed prefer hate hated dislike"))
_DOES_TO_ONE = lazy_pattern(rf"\w+ing\sthe\s(?!{any_of(KNOWN_TO_ALL)}\b)[a-z]+(?:$|\sand\b)")
_POINTED_AT = lazy_pattern(rf"(?:all\s)?{any_of(words.POINTING_OBJECTS)}\b", re.IGNORECASE)
_UNNAMED = lazy_pattern(
    r"(?:\w+\s)?(?:something|things|stuff|a\snew\s(?:hobby|thing|project)|(?:on\s)?an?\s(?:big\s|cool\s)?project"
    r"|a\sgroup\sof\sfriends|up\s(?:some\s)?new\sskills|out\son\stop)(?:\s\w+)?\W*$",
    re.IGNORECASE,
)
_EMPTY_TALE = lazy_pattern(
    r"(?:.*\bto\s|had\s(?:\w+\s){0,4}(?:fun|blast|time)\s)?(?:\w+ing\sand\s)?"
    r"(?:making|creating|made|created|having)\s(?:\w+\s){0,2}(?:memories|experiences?)$"
    r"|had\s(?:\w+\s){0,3}(?:family|quality)\stime(?:\stogether)?$|had\san?\s(?:tough|rough|hard|busy)\s(?:day|week|month|year)\b|had\san?\s(?:\w+\s){0,2}moment\b|shared\smy\s(?:own\s)?(?:journey|story|experiences?)$",
    re.IGNORECASE,
)
_MORE_THAN_WHAT = lazy_pattern(  # "running longer": than what?
    rf"^\w+ing\s{any_of(words.MORE_WORDS)}(?:$|\sto\b)|\bother\s(?:stuff|things|tasks|options)\b"
    r"|\bdifferent\soptions\b|\bin\sthe\s(?:industry|field)$",
    re.IGNORECASE,
)
_WHICH_THING = lazy_pattern(
    rf"\b(?:the|these|those)\s(?!{any_of(KNOWN_TO_ALL, words.FAMILIAR_THINGS)}\b)(?:two\s|other\s)?[a-z][\w-]+"
    r"(?=$|,|\s(?:and|or|but)\b)"
)
_TALKED = lazy_pattern(rf"to\s{any_of(words.WANT_TO_TALK)}\b", re.IGNORECASE)


def tells_of_life(predicate: Predicate) -> bool:
    """Whether a predicate tells of a life, rather than of what somebody thinks or feels just now."""
    action = f"{predicate.verb} {predicate.rest}"
    if _HARD_STEP.match(predicate.text):
        return True
    if _PLANS.match(predicate.text) or _LOOKS_INTO.match(predicate.text):
        return not _EMPTY_TALE.match(action)
    if _CONVICTION.match(action):
        return not predicate.is_negated
    if predicate.verb in THOUGHTS or _OF_THE_MOMENT.match(action):
        return False
    if predicate.verb in ("am", "are", "was", "were", "been"):
        return _tells_of_state(predicate)
    is_feeling = _BE.match(predicate.text) and _FEELING.match(action) and not _LASTING.match(action)
    if is_feeling or _is_passing(predicate) or _names_nothing(predicate):
        return False
    if predicate.verb in ("had", "having", "got") and _TROUBLE.search(predicate.rest.partition(" with ")[0]):
        return predicate.verb != "having" and " with " in predicate.rest
    if predicate.verb in ("have", "got") and predicate.tense != "past" and _MOMENT.search(predicate.rest):
        return "coming up" in predicate.rest and not predicate.rest.startswith("no ")
    if predicate.tense in ("progressive", "future") and _WHICH_THING.search(action):
        return False
    return not predicate.is_negated or " never " in predicate.text


def _tells_of_state(predicate: Predicate) -> bool:
    """Whether what somebody is or was lasts, or was more than a feeling."""
    if predicate.tense != "past":
        return _LASTING.match(predicate.rest) is not None
    if predicate.rest.startswith("able to ") or _LASTING.match(predicate.rest):
        return True
    is_mood = _FEELING.match(predicate.rest) or _A_BIT.match(predicate.rest)
    return " " in predicate.rest and not is_mood and not _BACKGROUND.match(predicate.text)


def _is_passing(predicate: Predicate) -> bool:
    """Whether it is of this moment, or of every day."""
    if predicate.tense == "progressive" and predicate.verb in words.DOING_JUST_NOW:
        return True
    if predicate.tense == "perfect" and predicate.verb in words.DOING_LATELY:
        return True
    if predicate.tense == "progressive" and _OF_NOW_ONLY.match(f"{predicate.verb} {predicate.rest}"):
        return True
    if predicate.verb in ("have", "got", "had") and _MOOD.match(predicate.rest):
        return True
    return bool(_BACKGROUND.match(predicate.text) or _EVERYDAY.match(f"{predicate.verb} {predicate.rest}"))


def _names_nothing(predicate: Predicate) -> bool:
    """Whether it names no thing: it points at one, tells what was said, or says only how much."""
    if predicate.verb in ("want", "like", "love") and _TALKED.match(predicate.rest):
        return True
    if predicate.verb in _LIKES and (_POINTED_AT.match(predicate.rest) or _DOES_TO_ONE.match(predicate.rest)):
        return True
    if predicate.verb in _TALKED_VERBS and not _ABOUT_WHAT.search(predicate.rest):
        return True
    if predicate.rest.startswith("that "):  # what was heard or noticed
        return True
    action = f"{predicate.verb} {predicate.rest}"
    if _EMPTY_TALE.match(action) or _EMPTY_DEED.match(action) or _MORE_THAN_WHAT.search(action):
        return True
    return bool(_UNNAMED.match(predicate.rest) or _SOME.match(predicate.rest) or _TO_THINK.match(predicate.rest))
