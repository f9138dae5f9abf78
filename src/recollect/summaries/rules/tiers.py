"""A message at three resolutions: what each may cost, checking the tiers a model wrote, and writing them without one.

Tier 1 is `key = value` pairs, tier 2 a short summary, tier 3 the message itself. A tier is one line, never costs more
than the message, and holds no marker: what was said in a message can never ask for anything when it is shown again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from recollect.facts.rules.grounding import Grounds
from recollect.model import Tiers
from recollect.summaries.rules.keyvalues import key_values
from recollect.summaries.rules.sentence_summary import summary
from recollect.text import fences
from recollect.text.packs import lazy_pattern
from recollect.text.sentences import MAX_CHARACTERS, limit_text

Count = Callable[[str], int]

SHORT = 24
"""Tokens; a message of so many or fewer is its own tier 1 and 2. The least pair that says something takes five tokens
(key, sign, a value of two or three): of 24 tokens that is over a fifth already, and what a summary could save is less
than what the label of a message costs."""

WORTH_A_CALL = 48
"""Tokens; of a message of so many or fewer, the tiers are shown in some five contexts and save some forty tokens in
each, while the call costs three hundred: the built-in writer makes them."""

TERSE = 190
"""Characters of a message, on average, up to which a chat is terse."""

TIER1_SHARE = (0.10, 0.20)
TIER2_SHARE = (0.30, 0.40)
"""Of the message's tokens: the least and the most we aim at."""
TIER1_LEAST, TIER1_MOST = 7, 600
TIER2_LEAST, TIER2_MOST = 12, 1_400
"""Tokens: less says nothing, more has no place in a context. The most begins to tell in messages of 3,000 tokens."""
TIER1_TOLERATED = 0.35
TIER2_TOLERATED = 0.60
"""Of the message's tokens: what we take from a model before we cut it."""
_MOST_READ = 16_000  # characters of a tier


@dataclass(frozen=True, slots=True)
class CheckedTiers:
    """Tiers that can be used. `faults` says what was wrong with the given ones; then offline ones replace them."""

    tiers: Tiers
    faults: tuple[str, ...] = ()


def size(text: str, count: Count) -> int:
    """The tokens of a text as far as it is looked at: that bounds the time, and a longer one has no larger tiers."""
    part = limit_text(text)
    tokens = count(fences.strip_invisible(part))
    return tokens if len(text) <= len(part) else max(tokens, 2 * SHORT)


def is_short(text: str, count: Count) -> bool:
    """Whether a message is too short to gain from tiers: it is its own tier 1 and 2."""
    return len(text) <= MAX_CHARACTERS and size(text, count) <= SHORT


def is_worth_a_call(text: str, count: Count) -> bool:
    """Whether a message is so long that a model may be asked for its tiers alone."""
    return len(text) > MAX_CHARACTERS or size(text, count) > WORTH_A_CALL


def is_terse(texts: Sequence[str]) -> bool:
    """Whether the messages of a chat are so short that its model need not write their tiers with each reply: to ask for
    them costs more than they would save, and the built-in writer makes them."""
    return sum(map(len, texts)) <= TERSE * len(texts)


def budgets(text: str, count: Count) -> tuple[int, int]:
    """The most tokens that tier 1 and tier 2 of a message are to have."""
    tokens = size(text, count)
    tier1 = min(max(int(tokens * TIER1_SHARE[1]), TIER1_LEAST), TIER1_MOST)
    tier2 = min(max(int(tokens * TIER2_SHARE[1]), TIER2_LEAST), TIER2_MOST)
    return tier1, tier2


def write_tiers(text: str, count: Count) -> Tiers:
    """The tiers of a message, made without a model."""
    if is_short(text, count):
        return Tiers()
    source = _readable_text(text)
    budget1, budget2 = budgets(text, count)
    return Tiers(_write_tier1(source, budget1, count), _write_tier2(source, budget2, count), "offline")


def _write_tier1(source: str, budget: int, count: Count) -> str:
    if not source:
        return "text = blank"
    pairs = _fit(key_values(source, budget, count), budget, count)
    # Of a text without words, its beginning is enough.
    return pairs or _fit(f"text = {_fit(source, TIER1_LEAST, count)}", budget, count)


def _write_tier2(source: str, budget: int, count: Count) -> str:
    if not source:
        return "[blank]"
    sentences = _fit(summary(source, budget, count), budget, count)
    return sentences or _fit(source, min(2 * TIER1_LEAST, budget), count)


def _readable_text(text: str) -> str:
    return _MARKER.sub(" ", fences.strip_invisible(limit_text(text))).strip()


def check_tiers(tier1: str, tier2: str, original: str, count: Count) -> CheckedTiers:
    """What a model gave as the tiers of a message: cleaned, cut where too long, replaced where of no use."""
    if is_short(original, count):
        return CheckedTiers(Tiers())
    grounds = Grounds.of(original)
    tier1 = pairs_in(tier1)
    tier2 = clean(tier2)
    fault1 = _fault_of_pairs(tier1, grounds)
    fault2 = _fault_of_summary(tier2, grounds)
    faults = tuple(f"{name} {fault}" for name, fault in (("tier 1", fault1), ("tier 2", fault2)) if fault)
    source = _readable_text(original) if faults else ""
    budget1, budget2 = budgets(original, count)
    tokens = size(original, count)
    limit1 = min(max(int(tokens * TIER1_TOLERATED), 2 * TIER1_LEAST), TIER1_MOST, tokens)
    limit2 = min(max(int(tokens * TIER2_TOLERATED), 2 * TIER2_LEAST), TIER2_MOST, tokens)
    return CheckedTiers(
        Tiers(
            _write_tier1(source, budget1, count) if fault1 else _cut_pairs(grounds.filter_pairs(tier1), limit1, count),
            _write_tier2(source, budget2, count) if fault2 else _cut_summary(tier2, limit2, count),
            "offline" if fault1 and fault2 else "model",
        ),
        faults,
    )


def is_of_no_use(tier1: str, tier2: str, original: str) -> bool:
    """Whether neither of the tiers that a model gave says anything of the message."""
    grounds = Grounds.of(original)
    return bool(_fault_of_pairs(pairs_in(tier1), grounds) and _fault_of_summary(clean(tier2), grounds))


def _fault_of_pairs(line: str, grounds: Grounds) -> str:
    """What is wrong with a tier 1; empty if nothing is."""
    if not line:
        return "is empty"
    if "=" not in line:
        return "has no pair like key = value"
    return "" if grounds.filter_pairs(line) else "says nothing that is in the message"


def _fault_of_summary(text: str, grounds: Grounds) -> str:
    """What is wrong with a tier 2; empty if nothing is."""
    if not text:
        return "is empty"
    if not grounds.shares_word(text):
        return "says nothing that is in the message"
    strangers = grounds.find_inventions(text)
    return f"mentions {', '.join(strangers[:4])}, which the message does not" if strangers else ""


def _cut_pairs(line: str, max_tokens: int, count: Count) -> str:
    pairs = line.split("; ")
    low = 1  # how many are kept
    high = len(pairs)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count("; ".join(pairs[:middle])) <= max_tokens else (low, middle - 1)
    return _fit("; ".join(pairs[:low]), max_tokens, count)


def _cut_summary(text: str, max_tokens: int, count: Count) -> str:
    return text if count(text) <= max_tokens else _fit(summary(text, max_tokens, count) or text, max_tokens, count)


def _fit(text: str, max_tokens: int, count: Count) -> str:
    """As much of a line as has at most `max_tokens` tokens, cut between words where possible."""
    text = clean(text)
    if count(text) <= max_tokens:
        return text
    low = 0
    high = len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(text[:middle].rstrip()) <= max_tokens else (low, middle - 1)
    space = text.rfind(" ", low // 2, low)
    return text[: space if space > 0 else low].rstrip(" ,;=")


_MARKER = lazy_pattern(r"\[\s*(?:REQUEST_TIER|SEARCH_EPISODIC)\b[^\[\]\n]{0,300}\]", re.IGNORECASE)


def drop_markers(text: str) -> str:
    """The text without what asks for another tier or for a search."""
    return _MARKER.sub(" ", text) if "[" in text else text


def clean(text: str) -> str:
    """A tier as it may be kept: in one line, without markers, with nothing in it that reads as structure."""
    text = drop_markers(fences.strip_invisible(text[: 2 * MAX_CHARACTERS]))
    return fences.escape(" ".join(text.split())[:_MOST_READ].rstrip())


_NEXT_PAIR = lazy_pattern(r"[;\n|]|,(?=\s*[^\s,;=][^,;=]{0,40}=)")  # the white space around it is stripped
_COLON = lazy_pattern(r"^([^=:]{1,40}):\s+(?=\S)")
_BULLET = lazy_pattern(r"^(?:[-*•]\s+|\d+[.)]\s+)")
_QUOTES = " \"'`*"
_LOOKS = 8  # passes at most: each leaves less to correct


def pairs_in(text: str) -> str:
    """Pairs as models write them (lines, commas, colons, bullets) in our form: `key = value; key = value`. Doing it
    again changes nothing: of `-=value` the first pass leaves a bullet, the second the value."""
    pairs = _read_pairs(text)
    for _ in range(_LOOKS):
        before = pairs
        pairs = _read_pairs(pairs)
        if pairs == before:
            break
    return pairs


def _read_pairs(text: str) -> str:
    pairs: list[str] = []
    for pair in _NEXT_PAIR.split(text[:_MOST_READ]):
        pair = _BULLET.sub("", clean(pair).strip("{},=" + _QUOTES))
        if "=" not in pair:
            pair = _COLON.sub(r"\1 = ", pair)
        key, _, value = (part.strip(",;=" + _QUOTES) for part in pair.partition("="))
        if key and value:
            pairs.append(f"{key} = {value}")
        elif (lone := key or value) and pairs:
            pairs[-1] += f", {lone}"
        elif lone:
            pairs.append(lone)
    return clean("; ".join(dict.fromkeys(pairs)))
