"""Requests that a query makes: for advice, or for an account of what was talked about.

"Can you suggest a film for tonight?" asks for something new, but what the person prefers decides the answer. "Can you
list the order in which I brought up the parts of my garden plan?" is about the garden plan. The words of a request
stand in many other requests and say nothing about the subject, so they count little. The rules are those of English.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import cache

from recollect.text.dates import spans
from recollect.text.detect import function_words
from recollect.text.packs import lazy_pattern

REQUEST = 0.2
"""What the words of a request count as words."""
REQUEST_WORDS = (
    "suggest suggestions recommend recommendations advise advice tips ideas help find interesting options think"
    " planning trying thinking looking lately recently"
)
"""The words with which advice is asked for."""
RECOUNT_WORDS = (
    "summary summarize summarise comprehensive overview recap list order brought bring different aspects throughout"
    " across conversations discussions chats mention mentioned only items walk discussed including key give time over"
    " two three four five six seven eight nine ten"
)
"""The words with which an account is asked for."""
LONGEST_REQUEST = 1_000
"""Characters of a text whose subject is told from its request: a longer text is mostly about its subject."""

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
_RECOUNT = lazy_pattern(
    r"\bsummar(?:y|i[sz]e)\b|\b(?:recap|overview) of\b|\bthe order (?:in which|that|of)\b|\bin what order\b"
    r"|\bwalk me through (?:the|what|how|everything)\b|\blist (?:the order|all the|everything)\b",
    re.IGNORECASE,
)
_WORD = lazy_pattern(r"\w+(?:['’-]\w+)*")
_APOSTROPHE = lazy_pattern("['’]")
_OWN_TELLING = lazy_pattern(
    r"\bi (?:\w+ )?(?:brought|mentioned|raised|said|told|asked|talked|described|discussed)\b", re.IGNORECASE
)


def asks_for_advice(query: str) -> bool:
    """Whether a question asks what to do, to choose or to try."""
    return _ADVICE.search(query) is not None


def text_to_compare(query: str, now: datetime) -> str:
    """The text whose meaning a query is searched by: of a request for advice the words that say what it is about,
    without its times; the whole text if there are none, or if it asks for something else."""
    if len(query) > LONGEST_REQUEST or not asks_for_advice(query):
        return query
    text = query
    for span in spans(query, now):
        text = text.replace(span.text, " ")
    words = [word for word in _WORD.findall(text) if not _is_of_request(word.casefold())]
    return " ".join(words) or query


def _is_of_request(word: str) -> bool:
    """Whether a word is of a request and not of its subject; "I've" and "kitchen's" are what is before the sign."""
    stem = _APOSTROPHE.split(word)[0]
    return word in _request_words() or stem in _request_words()


@cache
def _request_words() -> frozenset[str]:
    return function_words("en").union(REQUEST_WORDS.split(), ("tip",))


def asks_to_recount(query: str) -> bool:
    """Whether a question asks for a summary or a list of what was talked about."""
    return _RECOUNT.search(query) is not None


def is_own_telling(query: str) -> bool:
    """Whether a question is about what the person who asks has said."""
    return _OWN_TELLING.search(query) is not None
