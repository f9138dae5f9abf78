"""The names, times and amounts a text mentions.

Names are recognised by their capitals, so only where capitals mean something: not at the beginning of a sentence, not
in a title or a shout, not in a language that capitalises every noun.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from recollect.text.calendar_words import MONTH_ABBREVIATIONS, MONTH_PATTERN, MONTHS, WEEKDAYS
from recollect.text.filler import strip_addressee
from recollect.text.lazy_patterns import lazy_pattern
from recollect.text.sentences import Sentence
from recollect.text.word_weights import WORD, is_content, is_ordinary

MAX_NAMES = 200
"""Names of one text; what comes after is not looked at."""

_CAPITAL = r"[A-ZÀ-ÖØ-ÞĀ-ŽΑ-ΩА-ЯЁІЇЄ]"
_NAME = lazy_pattern(
    rf"(?<![\w'’])(?:{_CAPITAL}[\w'’&-]*\w|{_CAPITAL}(?=\s{_CAPITAL}\w))(?:\.(?=\w)\w+)*"
    rf"(?:(?:\s|\.\s(?=[A-Z]))(?:(?:of|de|la|van|von|der|du|del|&)\s(?:the\s|la\s)?)?"
    rf"(?:{_CAPITAL}[\w'’&-]*\w|{_CAPITAL}(?!\w)|\d{{1,4}}(?![\w.,:%])))*"
)
_TITLE = lazy_pattern(r"[\"“«]([A-Z0-9ÀÉ][^\"“”«»]{1,58}[^\s\"“”«»,.])[,.!?]?[\"”»]")
_POSSESSIVE = lazy_pattern(r"['’]s$|['’]$")
CALENDAR = frozenset((*WEEKDAYS, *MONTHS, *MONTH_ABBREVIATIONS))
CAPITAL_NOUNS = frozenset({"de"})
_NEVER = "i ok okay pm am ps btw lol omg asap diy faq ai tv id yes no error info warn warning debug"
_UNITS = "gb mb kb tb ghz mhz kg km cm mm ms"
_NEVER_NAMES = frozenset(_NEVER.split() + _UNITS.split())
_ORDER_WORDS = """
    add ask avoid bake book buy build call check click combine congrats congratulations cook cut download drink eat fill
    fix install join mix mount move pack pay play praise prepare read remove review run save search sell send set sign
    teach thank update visit wait walk watch wear welcome write
"""
_ORDERS = frozenset(_ORDER_WORDS.split())
_MOST_LOUD = 0.5  # of the words
_MOST_TITLED = 0.8  # of the words


def names(sentences: Iterable[Sentence], language: str) -> list[str]:
    """Names of people, places, things and works, in order, each once, without those that are part of another."""
    certain: dict[str, None] = {}
    doubtful: dict[str, None] = {}
    for sentence in sentences:
        if sentence.kind not in ("prose", "item") or len(certain) > MAX_NAMES:
            continue
        text = strip_addressee(sentence.text[len(sentence.lead) :])
        certain |= dict.fromkeys(_TITLE.findall(text))
        if language in CAPITAL_NOUNS or _shouts(text):
            continue
        for name, starts in _names_in(text, language):
            unsure = starts and " " not in name and not _is_sign(name)
            (doubtful if unsure else certain)[name] = None
    sure = {word for name in certain for word in name.split()}
    return _longest_names([*certain, *(name for name in doubtful if name in sure)][:MAX_NAMES])


def _names_in(text: str, language: str) -> Iterator[tuple[str, bool]]:
    """Each name, and whether its capital may be that of a sentence's beginning."""
    for match in _NAME.finditer(text):
        before = text[: match.start()].rstrip(" \"'“‘(¿¡-—*")
        starts = not before or before[-1] in ".!?:…"
        parts = _POSSESSIVE.sub("", match[0]).strip(" .&-").split()
        while parts and (not is_content(parts[0], language) or (starts and _is_opener(parts))):
            parts = parts[1:]
            starts = False
        while parts and not is_content(parts[-1], language):
            parts = parts[:-1]
        name = " ".join(parts)
        if len(name) > 1 and name.casefold() not in _NEVER_NAMES and parts[0].casefold() not in CALENDAR:
            yield name, starts


def _is_opener(parts: list[str]) -> bool:
    """Whether the first word is capital only because it comes first: "Visit Rome", "Installing Linux"."""
    first = parts[0].casefold()
    return is_ordinary(first) or first in _ORDERS or (len(parts) > 1 and first.endswith("ing"))


def _is_sign(name: str) -> bool:
    """Whether a word is written as no ordinary word is: NASA, McCartney, GPT-4."""
    return name.isupper() or any(c.isupper() or c.isdigit() for c in name[1:])


def _shouts(text: str) -> bool:
    """Whether capitals mean nothing here: all letters have them, or all words as in a title."""
    words = WORD.findall(text)
    loud = sum(word.isupper() and len(word) > 1 for word in words)
    capitals = sum(word[0].isupper() for word in words)
    return len(words) > 3 and (loud > _MOST_LOUD * len(words) or capitals > _MOST_TITLED * len(words))


def _longest_names(candidates: list[str]) -> list[str]:
    keys = [f" {name} ".casefold() for name in dict.fromkeys(candidates)]
    return [
        name
        for name, key in zip(dict.fromkeys(candidates), keys, strict=True)
        if not any(key in other and key != other for other in keys)
    ]


_OTHER_MONTHS = (
    "januar|februar|märz|mai|juni|juli|oktober|dezember|janvier|février|mars|avril|juin"
    "|juillet|août|septembre|octobre|novembre|décembre|enero|febrero|marzo|abril|mayo|junio|julio|agosto"
    "|septiembre|octubre|noviembre|diciembre"
)
_MONTH = f"(?:{MONTH_PATTERN}|{_OTHER_MONTHS})"
_DAY = rf"(?:(?:{'|'.join(WEEKDAYS)})s?)"
_PART = r"(?:week(?:end)?|month|year|summer|winter|spring|fall|night|morning)"
_COUNTED = r"(?:\d+(?:[.,]\d+)?|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|few|couple\sof|several)"
_SPAN = r"(?:second|minute|min|hour|day|night|week|month|year|decade)s?"
WHEN = lazy_pattern(
    rf"""\b(?: \d{{4}}-\d\d-\d\d(?:[T ]\d\d:\d\d)? | \d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}}
        | (?:the\s)?\d{{1,2}}(?:st|nd|rd|th|\.)?\s(?:of\s)?{_MONTH}\b(?:,?\s\d{{4}})?
        | {_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s\d{{4}})? | {_MONTH}\s\d{{4}}
        | (?:next|last|this|every|past)\s(?:{_DAY}|{_MONTH}\b|{_PART})
        | {_DAY}(?:\s(?:morning|afternoon|evening|night))? | yesterday | tomorrow | tonight
        | (?:about\s)?{_COUNTED}\s{_SPAN}\s(?:ago|later|from\snow) | in\s{_COUNTED}\s{_SPAN}
        | for\s(?:the\s(?:past|last)\s|over\s|about\s)?{_COUNTED}\s{_SPAN} | since\s(?:{_MONTH}|\d{{4}})
        | (?:at\s)?\d{{1,2}}(?::\d\d)?\s?(?:am|pm|a\.m\.|p\.m\.)(?!\w) | (?:at\s)?\d{{1,2}}:\d\d(?:\sUhr)?(?![\w:])
        | (?:in|by)\s(?:19|20)\d\d(?!\w|[.,]\d|\s?%) | \d{{1,2}}月\d{{1,2}}[日号] | \d{{4}}年(?:\d{{1,2}}月)?
    )""",
    re.VERBOSE | re.IGNORECASE,
)
"""A date, a time of day, or a time relative to now."""

_UNIT = (
    r"(?:%|percent|°\s?[CF]|[kmgt]i?b|[kmgt]bit/s|ms|km|cm|mm|kg|mg|g|lbs?|oz|ml|l|hz|ghz|mhz|kw|w|v|mph|km/h"
    r"|inch(?:es)?|f(?:oo|ee)t|miles?|pounds?|cups?|tablespoons?|teaspoons?|tokens?|lines?|pages?|steps?|people|users?"
    r"|seconds?|minutes?|hours?|days?|weeks?|months?|years?(?:\sold)?)"
)
AMOUNT = lazy_pattern(
    rf"""(?<![\w.,])(?<![A-Za-z]-)(?:
        [$€£¥₹]\s?\d[\d.,]*(?:\s?(?:k|m|bn|million|billion))?(?:\s?[-–]\s?[$€£]?\d[\d.,]*)?
        | \d[\d.,]*\s?(?:[$€£¥₹元円원]|(?:dollars|euros|pounds|usd|eur|gbp|yen)\b)
        | \d[\d.,]*(?:\s?(?:-|–|to|and)\s?\d[\d.,]*)?\s?-?{_UNIT}(?!\w)
    )""",
    re.VERBOSE | re.IGNORECASE,
)
"""A number with its unit or currency."""
_NUMBER = lazy_pattern(r"(?<![\w.])\d[\d.,:/]*(?:[-–]\d+|st|nd|rd|th)?(?:\s[^\W\d_]{3,}(?:\s[^\W\d_]{4,})?)?")


def amounts(text: str, language: str) -> list[str]:
    """Amounts, and other numbers with the noun they count, in order, each once; dates and times are `WHEN`."""
    text = WHEN.sub(" ; ", text)
    amounts_at = {amount.start(): amount[0] for amount in AMOUNT.finditer(text)}
    text = AMOUNT.sub(lambda amount: ";" * len(amount[0]), text)
    for number in _NUMBER.finditer(text):
        digits, *words = number[0].split()
        nouns = words[:1] if len(words) > 1 and is_ordinary(words[1]) else words
        if nouns and not is_content(nouns[0], language):
            nouns = []
        amounts_at[number.start()] = " ".join(
            [digits.rstrip(".,:/"), *(noun for noun in nouns if is_content(noun, language))]
        )
    return list(dict.fromkeys(amounts_at[at].strip(" .,-") for at in sorted(amounts_at)))
