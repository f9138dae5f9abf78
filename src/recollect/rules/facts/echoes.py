"""Whether somebody only repeats what the assistant said, or what memory put before it.

Memory must not feed on itself: what was shown of it, said again, proves nothing new. A user's plain statement is no
echo, even if it was known ("I live in Berlin"): people say such things. It is one if it leans on the assistant ("as you
said"), or copies what was shown, word for word, over a length that nobody hits by chance.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from recollect.language.terms import analyse

COPIED = 7
"""Words in a row that are the same: fewer happen by chance."""
SHARED = 0.5
"""The part of a text's terms that were shown, for one that leans on the assistant."""
_MOST = 50_000  # characters of what was shown

_LEANS = re.compile(
    r"\b(?:as|like|what|that|just\sas|exactly\sas)\syou(?:['’]ve|\shave)?\s(?:just\s|already\s|correctly\s)?(?:said"
    r"|say|mentioned|wrote|noted|remember(?:ed)?|know|summari[sz]ed|listed"
    r"|told\sme|recalled|put\sit|stated)\b|\byou(?:['’]ve|\shave)?\s(?:just\s|already\s|also\s)?(?:said|mentioned"
    r"|told\sme|wrote|noted|remembered|listed|claimed)\b"
    r"|\baccording\sto\s(?:you|your)\b|\byour\s(?:recap|summary|list|notes?|memory|profile|last\smessage|answer)\b"
    r"|\byou(?:['’]re|\sare)\sright\b"
    r"|\b(?:that['’]s|that\sis)\s(?:right|correct)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")


def echoes(text: str, shown: Iterable[str]) -> bool:
    """Whether a text repeats what was shown, rather than saying it anew."""
    said = [each[:_MOST] for each in shown if each.strip()]
    if not said or not text.strip():
        return False
    return _copies(text, said) or (_LEANS.search(text) is not None and _shares(text, said))


def _copies(text: str, shown: Sequence[str]) -> bool:
    words = [word.casefold() for word in _WORD.findall(text)]
    runs = {tuple(words[at : at + COPIED]) for at in range(len(words) - COPIED + 1)}
    if not runs:
        return False
    for each in shown:
        theirs = [word.casefold() for word in _WORD.findall(each)]
        if any(tuple(theirs[at : at + COPIED]) in runs for at in range(len(theirs) - COPIED + 1)):
            return True
    return False


def _shares(text: str, shown: Sequence[str]) -> bool:
    mine = set(analyse(_LEANS.sub(" ", text), "en").terms)
    theirs = {term for each in shown for term in analyse(each, "en").terms}
    return not mine or len(mine & theirs) >= SHARED * len(mine)
