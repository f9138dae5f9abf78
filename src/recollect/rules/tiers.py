"""A message at three resolutions: what each may cost, whether what a model wrote will do, and how to do without one.

Tier 1 is `key = value` pairs, tier 2 a short summary, tier 3 the message itself. A tier is one line, never costs more
than the message, and holds no marker: what was said in a message can never ask for anything when it is shown again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from recollect.rules.keyvalues import key_values
from recollect.rules.sentences import part_of
from recollect.rules.summaries import summary
from recollect.rules.text import analyse

__all__ = ["INLINE_CLOSE", "INLINE_OPEN", "Accepted", "Tiers", "accept", "clean", "is_short", "key_values", "summary"]

Count = Callable[[str], int]

INLINE_OPEN = "<recollect>"
INLINE_CLOSE = "</recollect>"
"""Around the tiers that come with a reply."""

SHORT = 24
"""Tokens; a message of so many or fewer is its own tier 1 and 2. The least pair that says something takes five tokens
(key, sign, a value of two or three): of 24 tokens that is over a fifth already, and what a summary could save is less
than what the label of a message costs."""

TIER1_SHARE = (0.10, 0.20)
TIER2_SHARE = (0.30, 0.40)
"""Of the message's tokens: the least and the most we aim at."""
TIER1_LEAST, TIER1_MOST = 7, 600
TIER2_LEAST, TIER2_MOST = 12, 1_400
"""Tokens: less says nothing, more has no place in a context. The upper bound begins to tell at 3,000 tokens."""
TIER1_TOLERATED = 0.35
TIER2_TOLERATED = 0.60
"""Of the message's tokens: what we take from a model before we cut it."""


@dataclass(frozen=True, slots=True)
class Tiers:
    """Tier 1 and tier 2 of a message; the third is the message."""

    one: str
    two: str


@dataclass(frozen=True, slots=True)
class Accepted:
    """Tiers that will do. `faults` says what was wrong with those that were given; then ours are in their place."""

    tiers: Tiers
    faults: tuple[str, ...] = ()


def size(text: str, count: Count) -> int:
    """The tokens of a text as far as it is looked at: that bounds the time, and a longer one has no larger tiers."""
    return count(part_of(text))


def is_short(text: str, count: Count) -> bool:
    """Whether a message is too short to gain from tiers: it is its own tier 1 and 2."""
    return len(text) <= 16 * SHORT and count(text) <= SHORT


def budgets(text: str, count: Count) -> tuple[int, int]:
    """The most tokens that tier 1 and tier 2 of a message are to have."""
    tokens = size(text, count)
    one = min(max(int(tokens * TIER1_SHARE[1]), TIER1_LEAST), TIER1_MOST)
    two = min(max(int(tokens * TIER2_SHARE[1]), TIER2_LEAST), TIER2_MOST)
    return min(one, tokens), min(two, tokens)


def write(text: str, count: Count) -> Tiers:
    """The tiers of a message, made without a model."""
    if is_short(text, count):
        return own(text)
    one, two = budgets(text, count)
    source = clean(part_of(text), lines=True)
    first = _fit(key_values(source, one, count), one, count)
    second = _fit(summary(source, two, count), two, count)
    fallback = _fit(source, one, count)
    return Tiers(first or fallback, second or first or fallback)


def own(text: str) -> Tiers:
    """The tiers of a short message: the message, but for markers and lines."""
    said = clean(text)
    return Tiers(said, said)


def accept(one: str, two: str, original: str, count: Count) -> Accepted:
    """What a model gave as the tiers of a message: cleaned, cut where too long, replaced where of no use."""
    if is_short(original, count):
        return Accepted(own(original))
    tokens = size(original, count)
    one, two = pairs_in(one), clean(two)
    bad_one = _fault(one, original) or ("" if "=" in one else "has no pair like key = value")
    bad_two = _fault(two, original)
    faults = tuple(f"{name} {fault}" for name, fault in (("tier 1", bad_one), ("tier 2", bad_two)) if fault)
    ours = write(original, count) if faults else Tiers("", "")
    first = ours.one if bad_one else _cut_pairs(one, max(int(tokens * TIER1_TOLERATED), 2 * TIER1_LEAST), count)
    second = ours.two if bad_two else _cut_summary(two, max(int(tokens * TIER2_TOLERATED), 2 * TIER2_LEAST), count)
    return Accepted(Tiers(_within(first, original, tokens, count), _within(second, original, tokens, count)), faults)


def _fault(tier: str, original: str) -> str:
    """What is wrong with a tier: it is empty, or it is about something else. Empty if nothing is."""
    if not tier:
        return "is empty"
    analysed = analyse(original)
    terms = frozenset(analysed.terms)
    if terms and not terms & frozenset(analyse(tier, analysed.language).terms):
        return "shares no word with the message"
    return ""


def _cut_pairs(line: str, most: int, count: Count) -> str:
    kept = line.split("; ")
    while len(kept) > 1 and count("; ".join(kept)) > most:
        kept.pop()
    return _fit("; ".join(kept), most, count)


def _cut_summary(text: str, most: int, count: Count) -> str:
    if count(text) <= most:
        return text
    return summary(text, most, count) or _fit(text, most, count)


def _within(tier: str, original: str, tokens: int, count: Count) -> str:
    """Never more than the message itself."""
    return tier if count(tier) <= tokens else _fit(clean(original), tokens, count)


def _fit(text: str, most: int, count: Count) -> str:
    """As much of a line as has at most so many tokens, cut between words where that can be."""
    text = clean(text[: 8 * MOST_CUT])
    if count(text) <= most:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(text[:middle].rstrip()) <= most else (low, middle - 1)
    space = text.rfind(" ", low // 2, low)
    return text[: space if space > 0 else low].rstrip(" ,;=")


MOST_CUT = 1_400  # tokens

# A marker whole goes; what looks like the beginning of one, or of the block around tiers, loses its bracket.
_WHOLE = re.compile(r"\[\s*(?:REQUEST_TIER|SEARCH_EPISODIC)\b[^\[\]\n]{0,300}\]", re.IGNORECASE)
_BEGUN = re.compile(r"[\[［](?=\s*(?:REQUEST_TIER|SEARCH_EPISODIC))", re.IGNORECASE)
_TAG = re.compile(r"[<＜](?=\s*/?\s*recollect)", re.IGNORECASE)
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_SPACE = re.compile(r"\s+")


def clean(text: str, lines: bool = False) -> str:
    """In one line (or, asked for, in its own) without markers, tags of ours, and what no database takes."""
    text = _UNSTORABLE.sub(" ", text)
    if not lines:
        text = _SPACE.sub(" ", text)
    return _TAG.sub("(", _BEGUN.sub("(", _WHOLE.sub(" ", text))).strip()


_NEXT_PAIR = re.compile(r"\s*(?:;|\n|\|)\s*|\s*,\s*(?=[^\s,;=][^,;=]{0,40}\s?=)")
_COLON = re.compile(r"^([^=:]{1,40}):\s+(?=\S)")
_BULLET = re.compile(r"^(?:[-*•]\s+|\d+[.)]\s+)")


def pairs_in(text: str) -> str:
    """Pairs as models write them (lines, commas, colons, bullets) as we do: `key = value; key = value`."""
    found = []
    for pair in _NEXT_PAIR.split(text[: 8 * MOST_CUT]):
        pair = _BULLET.sub("", clean(pair).strip("{}\"'` ,"))
        if "=" not in pair:
            pair = _COLON.sub(r"\1 = ", pair)
        key, sign, value = pair.partition("=")
        key, value = key.strip(" \"'`*"), value.strip(" \"'`*,;=")
        if sign and key and value:
            found.append(f"{key} = {value}")
        elif not sign and pair and found:
            found[-1] += f", {pair}"
        elif pair.strip(" =\"'`*"):
            found.append(pair.strip(" =\"'`*"))
    return clean("; ".join(dict.fromkeys(found)))
