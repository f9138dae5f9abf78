"""What a message and a topic are about, by their words: stems to compare them, and phrases to name a topic.

Only words with content count: no function words, no words that every message has, no bare numbers. Sentences that only
keep the talk going (greetings, praise, offers) give none. A topic counts what its messages say and keeps a bounded number
of stems and phrases; the least frequent go first, and of those the oldest. So following a topic never needs to read its
messages again, and costs the same however long it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import log
from typing import Any

from recollect.language.detect import detect
from recollect.language.filler import is_filler, strip_addressee
from recollect.language.lazy_patterns import lazy_pattern
from recollect.language.sentences import Sentence
from recollect.language.short_texts import remember_short_texts
from recollect.language.smalltalk import is_small_talk
from recollect.language.word_weights import is_unspaced, matters, stem, words
from recollect.model import Role

READ = {"user": 1_200}
"""Characters of a message that are read; a reply says in its beginning what it is about."""
READ_OTHERS = 400
MAX_STEMS = 64
MAX_PHRASES = 40
"""Stems and phrases that are kept of a topic."""
LONGEST_PHRASE = 3
"""Words of a phrase."""
SHORT_SENTENCE = 90
"""Characters of a sentence that may be filler; a longer one says something."""

_SENTENCE_END = lazy_pattern(r"(?<=[.!?…。！？؟])\s+|\n+|(?<=[。！？])")
_CLAUSE_END = lazy_pattern(r"[.,;:!?…()\[\]{}<>\"“”«»*|—–/、。，！？；：（）「」]+|\s[-–]\s")
_MARKS = "'’`_-~#+&"
_POSSESSIVE = lazy_pattern(r"['’]s$")
_BEFORE_VERBS = frozenset(
    """i you we they he she it who to not never please let's lets can can't could couldn't will won't would wouldn't
    should shouldn't may might must do don't does doesn't did didn't i'll i'd i've you've we've we'll they'll just also
    always really gonna wanna been""".split()
)
"""What comes after them is a verb, in English, and names nothing."""


@dataclass(frozen=True, slots=True)
class MessageWords:
    """The stems of a message, each once, and its phrases in order. `is_empty`: it says nothing by itself."""

    stems: frozenset[str] = frozenset()
    phrases: tuple[str, ...] = ()
    is_empty: bool = True


@dataclass(frozen=True, slots=True)
class TopicWords:
    """How many messages of a topic have each stem, and how often each phrase was said; the oldest first."""

    stems: Mapping[str, int] = field(default_factory=dict)
    phrases: Mapping[str, int] = field(default_factory=dict)

    def with_message(self, message: MessageWords) -> TopicWords:
        if not message.stems:
            return self
        # The stems of a message are a set: only their order in the text or in the alphabet is the same every time.
        return TopicWords(
            _count(self.stems, sorted(message.stems), MAX_STEMS), _count(self.phrases, message.phrases, MAX_PHRASES)
        )

    def to_object(self) -> dict[str, Any]:
        return {"stems": dict(self.stems), "phrases": dict(self.phrases)} if self.stems else {}

    @classmethod
    def from_object(cls, value: Mapping[str, Any]) -> TopicWords:
        return cls(value["stems"], value["phrases"]) if value else NO_WORDS


NO_WORDS = TopicWords()


def read_words(text: str, role: Role = "user") -> MessageWords:
    """The words of a message that say what it is about."""
    return _read_words(text[: READ.get(role, READ_OTHERS)])


@remember_short_texts
def _read_words(text: str) -> MessageWords:
    if is_small_talk(text):
        return MessageWords()
    language = detect(text)
    stems: dict[str, None] = {}
    phrases: list[str] = []
    is_empty = True
    for sentence in _SENTENCE_END.split(text):
        if not sentence or (len(sentence) <= SHORT_SENTENCE and is_filler(Sentence(sentence))):
            continue
        is_empty = False
        for clause in _CLAUSE_END.split(strip_addressee(sentence)):
            _read_clause(clause, language, stems, phrases)
    return MessageWords(frozenset(stems), tuple(phrases), is_empty)


def _read_clause(clause: str, language: str, stems: dict[str, None], phrases: list[str]) -> None:
    """Add the stems and phrases of a clause: a phrase is a run of words with content, without verbs where one can tell."""
    run: list[str] = []
    is_verb = False
    for token in clause.split() if clause.isascii() or not is_unspaced(clause.lstrip()) else words(clause):
        root = content_stem(token, language)
        if root:
            stems[root] = None
        if root and not (is_verb and token.islower()):
            run.append(token)
        else:
            _add_phrases(run, phrases)
            run = []
        is_verb = token.casefold() in _BEFORE_VERBS if language == "en" else False
    _add_phrases(run, phrases)


def _add_phrases(run: Sequence[str], phrases: list[str]) -> None:
    """Add a run of words as a phrase; of a long run the last words, which are what the others describe."""
    if run:
        phrases.append(" ".join(_bare(token) for token in run[-LONGEST_PHRASE:]))


@lru_cache(maxsize=20_000)
def content_stem(token: str, language: str) -> str:
    """The stem of a word that carries content; empty for any other word and for numbers."""
    word = _bare(token)
    if len(word) < 2 and not is_unspaced(word):
        return ""
    if not any(map(str.isalpha, word)) or not matters(word, language):
        return ""
    return stem(word, language)


@lru_cache(maxsize=20_000)
def _bare(token: str) -> str:
    return _POSSESSIVE.sub("", token.strip(_MARKS))


def _count(counts: Mapping[str, int], new: Iterable[str], most: int) -> dict[str, int]:
    result = dict(counts)
    for key in new:
        result[key] = result.get(key, 0) + 1
    excess = len(result) - most
    if excess > 0:
        for key in sorted(result, key=result.__getitem__)[:excess]:  # among equals the oldest: the order is kept
            del result[key]
    return result


# -- comparing


@dataclass(frozen=True, slots=True)
class Rarity:
    """How rare stems are among the topics of a conversation: what all of them have tells nothing."""

    topics: Sequence[TopicWords]

    def of(self, root: str) -> float:
        spread = sum(1 for topic in self.topics if root in topic.stems)
        return log((len(self.topics) + PRIOR) / (spread + 0.5))


PRIOR = 4
"""Topics that are assumed besides those of the conversation, so that a shared word counts in the first topic, too."""
UNSAID = 2.0
"""Added to the weight of all words of a message: a short one that shares a word shares little."""


def shared_words(message: Mapping[str, float], topic: TopicWords) -> float:
    """The share, from 0 to 1, of a message's words that a topic has, each with its rarity as weight."""
    total = sum(message.values())
    return sum(weight for root, weight in message.items() if root in topic.stems) / (total + UNSAID)
