"""What a message lists, mentions and is about, as pairs: its items, its names and numbers, its files and errors.

These are found in any language, if less well. The last resort is the topic: the words that weigh most, as written.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from recollect.text.filler import is_filler
from recollect.text.lazy_patterns import lazy_pattern
from recollect.text.message_claims import MAX_VALUE, KeyValue
from recollect.text.names_times_amounts import WHEN, amounts, names
from recollect.text.sentences import Sentence, limit_text
from recollect.text.smalltalk import is_small_talk
from recollect.text.word_weights import (
    SPELT_NUMBERS,
    WORD,
    is_content,
    is_ordinary,
    matters,
    shorten_phrase,
    stem,
    words,
)

_HERE_ARE = lazy_pattern(
    r"^(?:here\s(?:are|is)|here['’]s|these\sare|the\sfollowing\sare|below\s(?:are|is))\s(?:some|a\sfew|several|the|an?)?\s*"
    r"(?:\w+\sof\s)?",
    re.IGNORECASE,
)
_NUMBERED = lazy_pattern(r"^(?:step\s)?\d+[.:)]\s*", re.IGNORECASE)
_ASIDE = lazy_pattern(r"(?:(?<!\s)\s+)?\([^)]{0,200}\)")
_MOST_ITEMS = 60
_OPENING = 12  # sentences among which "here are" says what a list is of
_TITLE_WORDS = 7


def list_pairs(sentences: Sequence[Sentence], language: str) -> Iterator[KeyValue]:
    """What a list is of, and the titles of its items; the first weigh most."""
    for sentence in sentences[:_OPENING]:
        opening = _HERE_ARE.match(sentence.text)
        if opening and sentence.text.endswith((":", "：")):
            title = shorten_phrase(sentence.text[opening.end() :].rstrip(":："), language)
            yield KeyValue("topic", " ".join(title.split()[:_TITLE_WORDS]), 8)
    titles = [sentence.lead or sentence.text for sentence in sentences if sentence.lead or sentence.kind == "heading"]
    for number, title in enumerate(titles[:_MOST_ITEMS]):
        yield KeyValue("items", _shorten_title(_NUMBERED.sub("", title), language), 7.2 - min(number, 40) / 20)
    if not titles:
        bare = [sentence.text for sentence in sentences if sentence.kind == "item"]
        for number, item in enumerate(bare[:_MOST_ITEMS]):
            yield KeyValue("items", _shorten_title(item, language, 5), 5.5 - min(number, 40) / 20)


def _shorten_title(text: str, language: str, max_words: int = 6) -> str:
    """A title in its first words, from the first that says something."""
    title_words = _ASIDE.sub("", text).rstrip(":.!? ").split()[:max_words]
    while title_words and not is_content(title_words[0].strip(",:\"'"), language):
        title_words = title_words[1:]
    return " ".join(title_words)


_FILE = lazy_pattern(
    r"(?<![\w@/.-])(?:[\w.-]+/)*[\w-]+\.(?:py|js|tsx?|jsx|java|go|rs|c|cpp|h|cs|rb|php|sh|sql|html?|css|json|ya?ml|toml"
    r"|md|txt|csv|xlsx?|docx?|pdf|png|jpe?g|ipynb|db|log|env|ini|cfg|conf|lock)\b"
)
_HOST = lazy_pattern(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?(?![\w.])")
_SYMBOL = lazy_pattern(r"`([^`\n]{2,50})`")
_ERROR = lazy_pattern(r"\b[A-Z]\w*(?:Error|Exception|Warning)\b(?::\s[^\n`.]{1,50})?")
_LINK = lazy_pattern(r"https?://(?:www\.)?([^\s/?#<>\")\]]{3,60})")
_MAIL = lazy_pattern(r"(?<![\w.])[\w.+-]{1,64}@[\w-]{1,60}\.[\w.-]{2,30}\w")
_VERSION = lazy_pattern(r"\b([A-Z][\w.+#]{1,30})\s(?:version\s)?v?(\d+(?:\.\d+){1,3})\b")
_DEFINED = lazy_pattern(
    r"^[ \t]{0,8}(?:async\s)?(?:def|class|function|fn|func|struct|interface)\s+(\w{2,40})", re.MULTILINE
)

_OTHERS = (
    ("email", _MAIL, 8.0),
    ("address", _HOST, 7.0),
    ("defines", _DEFINED, 5.5),
    ("link", _LINK, 5.0),
    ("code", _SYMBOL, 5.0),
)


def technical_pairs(text: str, sentences: Sequence[Sentence]) -> Iterator[KeyValue]:
    """Files, errors, versions, addresses and symbols; and notes that stand for code or data."""
    text = limit_text(text)
    for number, error in enumerate(_ERROR.finditer(text)):
        yield KeyValue("error", " ".join(error[0].split()[:MAX_VALUE]), 9.5 - min(number, 4))
    for number, file in enumerate(_FILE.finditer(text)):
        yield KeyValue("file", file[0], 8.5 - min(number, 8) / 4)
    for version in _VERSION.finditer(text):
        yield KeyValue(version[1], version[2], 7)
    for key, pattern, weight in _OTHERS:
        for match in pattern.finditer(text):
            yield KeyValue(key, match[1] if pattern.groups else match[0], weight)
    for note in sentences:
        if note.kind == "note":
            kind, _, size = note.text.strip("[]").partition(": ")
            yield KeyValue(kind, size, 4.5)


_AT = lazy_pattern(r"^(?:at|on|in|by|for|about|the)\s(?:the\s(?=\d|past|last))?", re.IGNORECASE)
_BARE = lazy_pattern(r"[\d.,:/]+")


def mention_pairs(sentences: Sequence[Sentence], language: str) -> Iterator[KeyValue]:
    """Names, times and amounts; the first weigh most."""
    for number, name in enumerate(names(sentences, language)):
        yield KeyValue("names", name, 6 - min(number, 30) / 12)
    prose = " ; ".join(sentence.text for sentence in sentences if sentence.kind in ("prose", "item"))
    for number, when in enumerate(WHEN.finditer(prose)):
        key = "duration" if when[0][:4].casefold() == "for " else "when"
        yield KeyValue(key, _AT.sub("", when[0]), 6.5 - min(number, 30) / 12)
    for number, amount in enumerate(amounts(prose, language)):
        yield KeyValue("amounts", amount, (5 if _BARE.fullmatch(amount) else 6.2) - min(number, 30) / 12)


_TOPIC_WORDS = 24
_REPEATED = 6


def topic_pairs(sentences: Sequence[Sentence], language: str, weights: Mapping[str, float]) -> Iterator[KeyValue]:
    """Pairs of words that are repeated, and the words that weigh most."""
    noteless = [sentence for sentence in sentences if sentence.kind != "note"]
    content = [sentence for sentence in noteless if not is_filler(sentence)] or noteless
    spellings: dict[str, str] = {}
    pair_counts = Counter[tuple[str, str]]()
    for sentence in content:
        sentence_words = words(sentence.text)
        for word in sentence_words:
            spellings.setdefault(stem(word, language), word)
        pair_counts.update(pairwise(sentence_words))
    repeated_pairs = Counter({pair: times for pair, times in pair_counts.items() if times > 1})
    for pair in [*repeated_pairs]:
        if not (matters(pair[0], language) and matters(pair[1], language)):
            del repeated_pairs[pair]
    for pair, _ in repeated_pairs.most_common(_REPEATED):
        yield KeyValue("topic", " ".join(pair), 4.5)
    heaviest = sorted(spellings.keys() & weights.keys(), key=lambda root: (-weights[root], root))[:_TOPIC_WORDS]
    for number, root in enumerate(heaviest):
        word = spellings[root]
        if not any(map(str.isalpha, word)):
            continue
        if number == 0 or not (is_ordinary(word) or word.casefold() in SPELT_NUMBERS or is_small_talk(word)):
            yield KeyValue("topic", word, (4 if number < 4 else 3) - number / 30)
    if not heaviest and content:
        yield KeyValue("text", " ".join(WORD.findall(content[0].text)[:MAX_VALUE]) or content[0].text[:40], 1)
