"""What a long message says about a question: the sentences that share words with it, in their order.

It is cut from the message itself, word for word, so it costs almost nothing and invents nothing. What is left out is
marked. A message that shares no word is shown from its beginning.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise

from recollect.text.packs import lazy_pattern

SENTENCE = lazy_pattern(r"(?<=[.!?…。！？])\s+|\n+")
WORD = lazy_pattern(r"[^\W_]{3,}")
STEM = 5  # letters of a word that are compared
MOST = 20_000  # characters of a message that are looked at
GAP = " … "


def stems(text: str) -> frozenset[str]:
    """The words of a text as they are compared here."""
    return frozenset(word[:STEM] for word in WORD.findall(text[:MOST].casefold()))


def excerpt(text: str, query_stems: Collection[str], length: int) -> str:
    """The sentences of a text that share most with the stems of a query, in at most about `length` characters."""
    sentences = [part.strip() for part in SENTENCE.split(text[:MOST]) if part.strip()]
    if len(text) <= length or not sentences:
        return text[:length].strip()
    scores = [len(stems(sentence) & frozenset(query_stems)) for sentence in sentences]
    by_score = sorted(range(len(sentences)), key=lambda place: (-scores[place], place))
    places: list[int] = []
    room = length
    for place in by_score:
        if places and len(sentences[place]) + len(GAP) > room:
            continue
        places.append(place)
        room -= len(sentences[place]) + len(GAP)
        if room <= 0:
            break
    return join_sentences(sentences, sorted(places), length)


def join_sentences(sentences: list[str], places: list[int], length: int) -> str:
    """The sentences at these places as one text, with a mark for each gap."""
    parts = [sentences[places[0]] if places[0] == 0 else GAP.lstrip() + sentences[places[0]]]
    for before, place in pairwise(places):
        parts.append((" " if place == before + 1 else GAP) + sentences[place])
    text = "".join(parts)
    if len(text) > length:  # a single sentence may be longer than there is room for
        return text[:length].rstrip() + GAP.rstrip()
    return text if places[-1] == len(sentences) - 1 else text + GAP.rstrip()
