"""Names a topic: by the beginning of the message that opened it, and once it has a few messages by its key phrases.

A key phrase is said often in its topic and seldom in the others of the conversation. All that is needed was counted when
the messages arrived (`topic_words`). A greeting, thanks or filler is no title where anything else was said.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from recollect.language.detect import detect
from recollect.language.filler import is_filler
from recollect.language.lazy_patterns import lazy_pattern
from recollect.language.sentences import Sentence
from recollect.rules.topics.topic_words import Rarity, TopicWords, content_stem

TITLE = 80
"""Characters of a title."""
KEY_PHRASES_FROM = 3
"""Messages from which on a topic is named by its key phrases."""
MAX_WORDS = 5
"""Words of a title of key phrases."""
MAX_PHRASES = 3
WORTH = 0.4
"""The weight of a further phrase in a title, as a share of that of the first, at least."""

_SENTENCE_END = lazy_pattern(r"(?<=[.!?…。！？؟])\s+")


def opening_title(text: str) -> str:
    """The first 80 characters of a message, without sentences before them that only greet or thank."""
    line = " ".join(text.split())
    sentences = _SENTENCE_END.split(line[: 10 * TITLE])
    for number, sentence in enumerate(sentences):
        if not is_filler(Sentence(sentence)):
            return (" ".join(sentences[number:]) if number else line)[:TITLE]
    return line[:TITLE]


def is_due(count: int) -> bool:
    """Whether a topic of so many messages is named again: with the third, and whenever it has grown by a quarter."""
    step = 1
    while count >= 8 * step:
        step *= 2
    return count >= KEY_PHRASES_FROM and count % step == 0


def key_title(words: TopicWords, others: Sequence[TopicWords]) -> str:
    """The key phrases of a topic against the other topics of the conversation; empty if it has none."""
    rarity = Rarity(others)
    weights = {root: sqrt(count) * rarity.of(root) for root, count in words.stems.items()}
    scores: dict[str, float] = {}
    stems: dict[str, frozenset[str]] = {}
    for phrase, count in words.phrases.items():
        language = detect(phrase)
        roots = [root for token in phrase.split() if (root := content_stem(token, language)) in weights]
        stems[phrase] = frozenset(roots)
        scores[phrase] = sum(weights[root] for root in stems[phrase]) * (count / (count + 1)) if roots else 0.0
    return ", ".join(_choose_phrases(scores, stems))


def _choose_phrases(scores: dict[str, float], stems: dict[str, frozenset[str]]) -> list[str]:
    """The best phrases that have no word in common, few words in all."""
    chosen: list[str] = []
    used: set[str] = set()
    words_left = MAX_WORDS
    order = {phrase: number for number, phrase in enumerate(scores)}
    ranked = sorted(scores, key=lambda phrase: (-scores[phrase], order[phrase]))
    for phrase in ranked:
        size = len(phrase.split())
        if not scores[phrase] or (chosen and scores[phrase] < WORTH * scores[chosen[0]]):
            break
        if size <= words_left and not stems[phrase] & used and len(", ".join([*chosen, phrase])) <= TITLE:
            chosen.append(phrase)
            used |= stems[phrase]
            words_left -= size
        if len(chosen) == MAX_PHRASES:
            break
    return chosen
