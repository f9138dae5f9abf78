"""Requests to recount what was talked about: a summary, a list, the order in which things came up.

"Can you list the order in which I brought up the parts of my garden plan in our chats?" is about the garden plan: the
words of the request stand in every such request and in no message about the subject, so they count little. How to
answer in future is not what is asked for, so no standing instruction is lifted. The rules are those of English.
"""

from __future__ import annotations

import re

from recollect.language.lazy_patterns import lazy_pattern

RECOUNT_WORDS = (
    "summary summarize summarise comprehensive overview recap list order brought bring different aspects throughout"
    " across conversations discussions chats mention mentioned only items walk discussed including key give time over"
    " two three four five six seven eight nine ten"
)
"""The words with which one asks for it."""

_RECOUNT = lazy_pattern(
    r"\bsummar(?:y|i[sz]e)\b|\b(?:recap|overview) of\b|\bthe order (?:in which|that|of)\b|\bin what order\b"
    r"|\bwalk me through (?:the|what|how|everything)\b|\blist (?:the order|all the|everything)\b",
    re.IGNORECASE,
)
_OWN_TELLING = lazy_pattern(
    r"\bi (?:\w+ )?(?:brought|mentioned|raised|said|told|asked|talked|described|discussed)\b", re.IGNORECASE
)


def asks_to_recount(query: str) -> bool:
    """Whether a question asks for a summary or a list of what was talked about."""
    return _RECOUNT.search(query) is not None


def is_own_telling(query: str) -> bool:
    """Whether a question is about what the person who asks has said."""
    return _OWN_TELLING.search(query) is not None
