"""How particular a message is: whoever asks wants a number, a day or a name more often than a pleasantry.

Numbers and words of time are counted, and names, which are words with a capital inside a sentence: a few of each. Of
messages that fit a question equally, the one that has them is more likely its answer.
"""

from __future__ import annotations

from recollect.language.lazy_patterns import lazy_pattern
from recollect.rules.recall.advice import states_preference
from recollect.rules.recall.standing import is_standing_instruction

MOST = 3
"""Numbers, and names, that are counted: a table of them is no better an answer."""
LOOKED_AT = 4_000
"""Characters of a message that are looked at."""

PREFERENCE = 8
STANDING = 16
"""Added to the particulars of a text that states a preference, and of a standing instruction: what is known of a text
is one small number."""

_NUMBER = lazy_pattern(
    r"\d[\d.,:]*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|yesterday|today|tomorrow|ago"
    r"|(?:day|week|month|year)s?)\b"
)
_NAME = lazy_pattern(r"(?<=[a-z,;:] )[A-Z][a-z]+")


def detail(text: str) -> int:
    """How many particulars a text has, from 0 to twice `MOST`."""
    text = text[:LOOKED_AT]
    return min(len(_NUMBER.findall(text)), MOST) + min(len(_NAME.findall(text)), MOST)


def traits(text: str) -> int:
    """What ranking needs to know of a text: its particulars, and whether it states a preference (`PREFERENCE`) or is a
    standing instruction (`STANDING`)."""
    is_preference = PREFERENCE if states_preference(text) else 0
    return detail(text) + is_preference + (STANDING if is_standing_instruction(text) else 0)
