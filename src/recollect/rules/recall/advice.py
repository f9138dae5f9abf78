"""Questions for advice, and the messages that say what a person likes.

"Can you suggest a film for tonight?" asks for something new, but what the person prefers decides the answer. The words
of the request itself are in many other requests and say nothing about the subject, so they count little. A message
that states a preference counts more for such a question than another that is as near. The rules are those of English.
"""

from __future__ import annotations

import re

from recollect.language.lazy_patterns import lazy_pattern

REQUEST = 0.2
"""What the words of a request count as words."""
REQUEST_WORDS = (
    "suggest suggestions recommend recommendations advise advice tips ideas help find interesting options think"
    " planning trying thinking looking lately recently"
)
"""The words with which advice is asked for."""

_ADVICE = lazy_pattern(
    r"\b(?:can|could|would|will|do) you (?:please )?(?:help me )?(?:suggest|recommend|advise)\b"
    r"|\b(?:give|share|offer|have)(?: me)? (?:some|any|a few) (?:\w+ )?"
    r"(?:tips|ideas|advice|suggestions|recommendations)\b"
    r"|\b(?:any|some) (?:\w+ ){0,2}(?:tips|advice|suggestions?|recommendations?|ideas)\b"
    r"|\b(?:what|how|which|where) (?:\w+ )?(?:should|can) (?:i|we)\b|\bwhat are some (?:\w+ )?(?:ways|ideas|options)\b"
    r"|\bdo you (?:think|have any)\b"
    r"|\bhelp me (?:choose|decide|design|find|organi[sz]e|pick|plan|set|write)\b",
    re.IGNORECASE,
)
_PREFERENCE = lazy_pattern(
    r"\bi(?:['’](?:m|ve|d)| am| have)?(?: \w+){0,2}? "
    r"(?:prefer|enjoy|love|like|hate|dislike|avoid|favou?r|interested in)\b"
    r"|\bi['’]?(?:m| am) (?:\w+ )?a (?:big |huge )?fan\b|\bmy favou?rite\b|\brather than\b"
    r"|\bi (?:(?:don['’]t|do not) (?:like|want|eat|drink)|can['’]t stand)\b",
    re.IGNORECASE,
)
_LOOKED_AT = 4_000  # characters of a message


def asks_for_advice(query: str) -> bool:
    """Whether a question asks what to do, to choose or to try."""
    return _ADVICE.search(query) is not None


def states_preference(text: str) -> bool:
    """Whether a message says what its author likes or wants."""
    return _PREFERENCE.search(text[:_LOOKED_AT]) is not None
