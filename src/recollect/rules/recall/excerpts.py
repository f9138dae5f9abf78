"""What a long message says about a question: the sentences that share words with it, in their order.

Made on the spot from the message itself, word for word, so it costs next to nothing and invents nothing. What is left
out is marked. A message that shares no word is shown from its beginning.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import pairwise

SENTENCE = re.compile(r"(?<=[.!?…。！？])\s+|\n+")
WORD = re.compile(r"[^\W_]{3,}")
STEM = 5  # letters of a word that are compared
MOST = 20_000  # characters of a message that are looked at
GAP = " … "


def stems(text: str) -> frozenset[str]:
    """The words of a text as they are compared here."""
    return frozenset(word[:STEM] for word in WORD.findall(text[:MOST].casefold()))


def excerpt(text: str, wanted: Collection[str], length: int) -> str:
    """The sentences of a text that share most with the wanted words, in at most about so many characters."""
    sentences = [part.strip() for part in SENTENCE.split(text[:MOST]) if part.strip()]
    if len(text) <= length or not sentences:
        return text[:length].strip()
    scores = [len(stems(sentence) & frozenset(wanted)) for sentence in sentences]
    ranked = sorted(range(len(sentences)), key=lambda place: (-scores[place], place))
    chosen, room = list[int](), length
    for place in ranked:
        if chosen and len(sentences[place]) + len(GAP) > room:
            continue
        chosen.append(place)
        room -= len(sentences[place]) + len(GAP)
        if room <= 0:
            break
    return joined(sentences, sorted(chosen), length)


def joined(sentences: list[str], chosen: list[int], length: int) -> str:
    parts = [sentences[chosen[0]] if chosen[0] == 0 else GAP.lstrip() + sentences[chosen[0]]]
    for before, place in pairwise(chosen):
        parts.append((" " if place == before + 1 else GAP) + sentences[place])
    whole = "".join(parts)
    if len(whole) > length:  # a single sentence may be longer than there is room for
        return whole[:length].rstrip() + GAP.rstrip()
    return whole if chosen[-1] == len(sentences) - 1 else whole + GAP.rstrip()
