"""Whether somebody only repeats what the assistant said, or what memory put before it.

Memory must not confirm itself: a repetition of what was shown proves nothing new. A plain statement of a user is not an
echo, even if it was known ("I live in Berlin"): people say such things. It is an echo if it refers to the assistant
("as you said"), or copies what was shown, word for word, over a length that does not happen by chance.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from recollect.text.packs import lazy_pattern
from recollect.text.terms import analyse

COPIED = 7
"""Words in a row that are the same: fewer happen by chance."""
SHARED = 0.5
"""The share of a text's terms that were shown, for a text that refers to the assistant."""
_MOST = 50_000  # characters of what was shown

_LEANS = lazy_pattern(
    r"\b(?:as|like|what|that|just\sas|exactly\sas)\syou(?:['’]ve|\shave)?\s(?:just\s|already\s|correctly\s)?(?:said"
    r"|say|mentioned|wrote|noted|remember(?:ed)?|know|summari[sz]ed|listed"
    r"|told\sme|recalled|put\sit|stated)\b|\byou(?:['’]ve|\shave)?\s(?:just\s|already\s|also\s)?(?:said|mentioned"
    r"|told\sme|wrote|noted|remembered|listed|claimed)\b"
    r"|\baccording\sto\s(?:you|your)\b|\byour\s(?:recap|summary|list|notes?|memory|profile|last\smessage|answer)\b"
    r"|\byou(?:['’]re|\sare)\sright\b"
    r"|\b(?:that['’]s|that\sis)\s(?:right|correct)\b",
    re.IGNORECASE,
)
_WORD = lazy_pattern(r"\w+")


def is_echo(text: str, shown_texts: Iterable[str]) -> bool:
    """Whether a text repeats what was shown, rather than saying it anew."""
    texts = [shown_text[:_MOST] for shown_text in shown_texts if shown_text.strip()]
    if not texts or not text.strip():
        return False
    return _copies(text, texts) or (_LEANS.search(text) is not None and _shares(text, texts))


def _copies(text: str, shown_texts: Sequence[str]) -> bool:
    words = [word.casefold() for word in _WORD.findall(text)]
    runs = {tuple(words[at : at + COPIED]) for at in range(len(words) - COPIED + 1)}
    if not runs:
        return False
    for shown_text in shown_texts:
        shown_words = [word.casefold() for word in _WORD.findall(shown_text)]
        if any(tuple(shown_words[at : at + COPIED]) in runs for at in range(len(shown_words) - COPIED + 1)):
            return True
    return False


def _shares(text: str, shown_texts: Sequence[str]) -> bool:
    terms = set(analyse(_LEANS.sub(" ", text), "en").terms)
    shown_terms = {term for shown_text in shown_texts for term in analyse(shown_text, "en").terms}
    return not terms or len(terms & shown_terms) >= SHARED * len(terms)
