"""Names a topic: by the beginning of the message that opened it, and once it has a few messages by its key phrases.

A key phrase is said often in its topic and seldom in the others of the conversation. All that is needed was counted
when the messages arrived (`topic_words`). A greeting, thanks or filler is no title where anything else was said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log1p
from typing import NamedTuple, TypeAlias

from recollect.text.detect import detect
from recollect.text.packs import lazy_pattern
from recollect.text.words import matters, words
from recollect.topics.rules.faint_words import describing_words
from recollect.topics.rules.topic_words import (
    LONGEST_PHRASE,
    SAMPLE,
    Rarity,
    TopicWords,
    content_stem,
    is_faint,
    read_words,
)

TITLE = 80
"""Characters of a title."""
KEY_PHRASES_FROM = 3
"""Messages from which on a topic is named by its key phrases."""
MAX_WORDS = 5
"""Words of a title of key phrases."""
MAX_PHRASES = 3
WORTH = 0.5
"""The least weight of a further phrase in a title, as a share of that of the first; after one word any will do."""
SINGLE = 0.6
"""What a word alone is worth as a phrase; two words say more, and three say too much."""
_BY_LENGTH = {1: SINGLE, 2: 1.0, 3: 0.8}
_VERB_ENDS = ("ing", "ed", "ly")
_ADJECTIVE_ENDS = ("ous", "ful", "less", "able", "ible")
_SENTENCE_END = lazy_pattern(r"(?<=[.!?…。！？؟])\s+")


def opening_title(text: str) -> str:
    """The first 80 characters of a message, without sentences before them that name nothing."""
    line = " ".join(text[: 20 * TITLE].split())
    sentences = _SENTENCE_END.split(line)
    readings = [read_words(sentence) for sentence in sentences]
    start = next((place for place, reading in enumerate(readings) if reading.is_telling), None)
    if start is None:
        start = next((place for place, reading in enumerate(readings) if not reading.is_empty), 0)
    return (" ".join(sentences[start:]) if start else line)[:TITLE]


def subject(title: str, made_by: str, limit: int = 6) -> str:
    """The subject of a topic in a few words: the title a model wrote, or the content words of a message's beginning."""
    if made_by == "model":
        return title
    language = detect(title)
    return " ".join([word for word in words(title) if matters(word, language)][:limit])


def is_due(count: int) -> bool:
    """Whether a topic of so many messages is named again: with the third, and whenever it has grown by two thirds."""
    due = KEY_PHRASES_FROM
    while due < count:
        due = due * 5 // 3
    return due == count


@dataclass(frozen=True, slots=True)
class OpeningTitle:
    """A title that is due: the beginning of a message."""

    message: str

    def text(self) -> str:
        return opening_title(self.message)


@dataclass(frozen=True, slots=True)
class KeyTitle:
    """A title that is due: the key phrases of a topic, by its words and those of the others at that moment."""

    words: TopicWords
    others: Sequence[TopicWords]

    def text(self) -> str:
        return key_title(self.words, self.others)


DueTitle: TypeAlias = OpeningTitle | KeyTitle


@dataclass(frozen=True, slots=True)
class _Phrase:
    text: str
    stems: frozenset[str]
    score: float


def key_title(topic: TopicWords, others: Sequence[TopicWords]) -> str:
    """The key phrases of a topic against the other topics of the conversation; empty if it has none."""
    if not topic.phrases:
        return ""
    weights = _Weights(topic.stems, Rarity([other.stems for other in others]))
    language = detect(" ".join(topic.phrases)[:SAMPLE])
    phrases: dict[str, _Phrase] = {}
    for text, count in topic.phrases.items():
        phrase = _weigh_phrase(_read_phrase(text, language), count, weights)
        if phrase is not None and (phrase.text not in phrases or phrases[phrase.text].score < phrase.score):
            phrases[phrase.text] = phrase
    return ", ".join(_choose_phrases(list(phrases.values())))


class _Weights(dict[str, float]):
    """The weights of the stems of a topic, each computed when it is first needed."""

    def __init__(self, counts: Mapping[str, int], rarity: Rarity) -> None:
        super().__init__()
        self.counts = counts
        self._rarity = rarity

    def __missing__(self, root: str) -> float:
        weight = self[root] = log1p(self.counts[root]) * self._rarity.of(root)
        return weight


class _PhraseWord(NamedTuple):
    """A word of a phrase. `may_be_verb`: by its ending it is a verb or an adverb; `describes`: it says how something
    is, and not what, so no phrase ends with it."""

    text: str
    stem: str
    is_faint: bool
    may_be_verb: bool
    describes: bool

    def is_weak(self, counts: Mapping[str, int]) -> bool:
        """Whether the word names nothing: it is faint, or a verb or an adverb that was said only once."""
        if self.is_faint or self.stem not in counts:
            return True
        return self.may_be_verb and counts[self.stem] < 2


@lru_cache(maxsize=20_000)
def _read_phrase(text: str, language: str) -> tuple[_PhraseWord, ...]:
    return tuple([_read_phrase_word(token, language) for token in text.split()[:LONGEST_PHRASE]])


@lru_cache(maxsize=20_000)
def _read_phrase_word(token: str, language: str) -> _PhraseWord:
    is_lower = token.islower()
    return _PhraseWord(
        token,
        content_stem(token, language),
        is_faint(token),
        may_be_verb=is_lower and token.endswith(_VERB_ENDS),
        describes=is_lower and (token.endswith(_ADJECTIVE_ENDS) or token in describing_words()),
    )


def _weigh_phrase(words: Sequence[_PhraseWord], count: int, weights: _Weights) -> _Phrase | None:
    """A phrase without what names nothing at its ends, with its weight; None if nothing is left."""
    counts = weights.counts
    start = 0
    end = len(words)
    while start < end and words[start].is_weak(counts):
        start += 1
    while start < end and (words[end - 1].is_weak(counts) or words[end - 1].describes):
        end -= 1
    roots = frozenset([word.stem for word in words[start:end] if word.stem in counts])
    if not roots:
        return None
    root_weights = [weights[root] for root in roots]
    mean = sum(root_weights) / len(roots)
    is_name = words[start].text[0].isupper()
    score = (max(root_weights) + mean) * _BY_LENGTH[end - start] * (1 + (count > 1) / 2) * (1.2 if is_name else 1.0)
    return _Phrase(" ".join([word.text for word in words[start:end]]), roots, score)


def _choose_phrases(phrases: Sequence[_Phrase]) -> list[str]:
    """The best phrases that have no word in common, few words in all."""
    chosen: list[_Phrase] = []
    words_left = MAX_WORDS
    for phrase in sorted(phrases, key=lambda phrase: -phrase.score):  # among equals the oldest
        if words_left < MAX_WORDS - 1 and phrase.score < WORTH * chosen[0].score:
            break
        size = len(phrase.text.split())
        is_new = all(phrase.stems.isdisjoint(other.stems) for other in chosen)
        if size <= words_left and is_new and sum(len(other.text) + 2 for other in [*chosen, phrase]) <= TITLE:
            chosen.append(phrase)
            words_left -= size
        if len(chosen) == MAX_PHRASES:
            break
    return [phrase.text for phrase in chosen]
