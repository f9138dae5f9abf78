"""How particular a message is: whoever asks wants a number, a day or a name more often than a pleasantry.

Numbers and words of time are counted, and names, which are words with a capital inside a sentence: a few of each. Of
messages that fit a question equally, the one that has them is more likely its answer.

Two kinds of messages say how to answer. One that states a preference counts where advice is asked for. A standing
instruction ("Always give prices in euros when I ask about trips") shares a word with few questions about trips, and is
meant for all of them: the few that are nearest to a question are lifted. They are found by a word they have, which the
index knows, and known by their form.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recollect.text.packs import lazy_pattern
from recollect.text.sentences import has_question_mark

MOST = 3
"""Numbers, and names, that are counted: a table of them is no better an answer."""
LOOKED_AT = 4_000
"""Characters of a message that are looked at."""

PREFERENCE = 8
STANDING = 16
QUESTION = 32
"""Added to the particulars of a text that states a preference, of a standing instruction, and of a text that asks
something: what is known of a text is one small number."""

STANDING_WORDS = "always never"
"""One of these a standing instruction has: whoever looks for them looks for these words."""
INSTRUCTION_WORDS = tuple(STANDING_WORDS.split())
PREFERENCE_WORDS = (
    *("prefer", "enjoy", "love", "like", "hate", "avoid", "favo", "interested in"),
    *("fan", "rather than", "want", "eat", "drink", "stand"),
)
"""Without one of these words, a text is not searched for the pattern, which takes thirty times as long."""
STANDING_LIFTED = 3
"""Standing instructions that are lifted, at most."""
ADVICE_STANDING = 1.5
"""How much more a standing instruction counts where advice is asked for."""

_NUMBER = lazy_pattern(
    r"\d[\d.,:]*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|yesterday|today|tomorrow|ago"
    r"|(?:day|week|month|year)s?)\b"
)
_NAME = lazy_pattern(r"(?<=[a-z,;:] )[A-Z][a-z]+")

_PREFERENCE = lazy_pattern(
    r"\bi(?:['’](?:m|ve|d)| am| have)?(?: \w+){0,2}? "
    r"(?:prefer|enjoy|love|like|hate|dislike|avoid|favou?r|interested in)\b"
    r"|\bi['’]?(?:m| am) (?:\w+ )?a (?:big |huge )?fan\b|\bmy favou?rite\b|\brather than\b"
    r"|\bi (?:(?:don['’]t|do not) (?:like|want|eat|drink)|can['’]t stand)\b",
    re.IGNORECASE,
)
_INSTRUCTION = lazy_pattern(
    r"(?:^|[.!?\n]\s*)(?:and |also |please |so )*(?:always|never)(?! mind| say never| been| had| was| have)"
    r"(?:,? please)? [a-z]"
    r"|\b(?:always|never)\b[^.!?\n]*\bwhen(?:ever)? i ask\b|\bwhen(?:ever)? i ask\b[^.!?\n]*\b(?:always|never)\b",
    re.IGNORECASE,
)


def detail(text: str) -> int:
    """How many particulars a text has, from 0 to twice `MOST`."""
    text = text[:LOOKED_AT]
    return min(len(_NUMBER.findall(text)), MOST) + min(len(_NAME.findall(text)), MOST)


def states_preference(text: str) -> bool:
    """Whether a message says what its author likes or wants."""
    text = text[:LOOKED_AT]
    return may_have(text, PREFERENCE_WORDS) and _PREFERENCE.search(text) is not None


def is_standing_instruction(text: str) -> bool:
    """Whether a message tells how to answer from now on."""
    text = text[:LOOKED_AT]
    return may_have(text, INSTRUCTION_WORDS) and _INSTRUCTION.search(text) is not None


def may_have(text: str, words: Sequence[str]) -> bool:
    """Whether a text has one of these words, in any case; of one with letters beyond ASCII that is not known."""
    if not text.isascii():
        return True
    return any(map(text.lower().__contains__, words))


def traits(text: str) -> int:
    """What ranking needs to know of a text: its particulars, and whether it states a preference (`PREFERENCE`), is a
    standing instruction (`STANDING`) or asks something (`QUESTION`)."""
    preference = PREFERENCE if states_preference(text) else 0
    question = QUESTION if has_question_mark(text[:LOOKED_AT]) else 0
    return detail(text) + preference + (STANDING if is_standing_instruction(text) else 0) + question


Traits = NDArray[np.int8]
"""What is known of several texts; a negative number where nothing is."""


def count_particulars(known: Traits) -> Traits:
    """How many particulars texts have of which this is known."""
    return np.asarray(known % PREFERENCE)


def is_preference(known: Traits) -> NDArray[np.bool_]:
    return _has_trait(known, PREFERENCE)


def is_standing(known: Traits) -> NDArray[np.bool_]:
    return _has_trait(known, STANDING)


def is_question(known: Traits) -> NDArray[np.bool_]:
    return _has_trait(known, QUESTION)


def _has_trait(known: Traits, trait: int) -> NDArray[np.bool_]:
    return np.asarray((known >= 0) & (known & trait > 0))
