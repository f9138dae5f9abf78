"""The words of a text: which of them carry its content, what they weigh, and which are near each other in meaning.

A word weighs more the less ordinary it is; function words weigh nothing. There is no table of frequencies for every
language, so length, capitals and repetition stand in for one: that is enough to choose within one message. Nearness in
meaning is known for English alone, from one vector for each stem of its frequent words (made by
`scripts/word_table.py`, some fourteen thousand, the most frequent first).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from math import log
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from everword.text.detect import function_words, script_of
from everword.text.doc import read_once
from everword.text.sentences import Kind, Sentence
from everword.text.terms import word_terms
from everword.word_lists import WordLists, any_of, lazy_pattern


def contains_phrase(text: str, phrase: str) -> bool:
    """Whether a text contains a phrase, whatever the case, the spaces and the form of its letters. An empty phrase is
    in no text: nothing is deleted by leaving it empty."""
    wanted = plain_form(phrase)
    return bool(wanted) and wanted in plain_form(text)


def plain_form(text: str) -> str:
    """A text in one case and one form, with single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


LANGUAGE = "en"
FILE = Path(__file__).parent / "data" / "words.npz"


@dataclass(frozen=True, slots=True)
class WordTable:
    """Stems, one on each line, the most frequent first; and their vectors as small numbers, which have length one when
    they are multiplied by their scale."""

    stems: bytes
    rows: NDArray[np.int8]
    scales: NDArray[np.float32]


def load_word_table() -> WordTable:
    """The table that comes with everword."""
    with np.load(FILE, allow_pickle=False) as arrays:
        rows = arrays["rows"]
        stems = arrays["stems"].tobytes()
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float32))
    return WordTable(stems, rows, 1 / lengths)


_LISTS = WordLists("words")
SPELT_NUMBERS = _LISTS.spelt_numbers

_PUNCTUATION = r"\s!-#%-/:-@\[-^`{-~¡¿«»“”‘’‚„…–—·•、。，．！？；：（）「」『』【】《》〈〉؟،؛۔।॥"


def _longest_first(items: Iterable[str]) -> str:
    return any_of(sorted(items, key=lambda item: (-len(item), item)))


WORD = lazy_pattern(rf"[^{_PUNCTUATION}]+(?:['’.\-&/:,@][^{_PUNCTUATION}]+)*(?:\+\+|#)?")
_HAN = lazy_pattern("[\u3400-\u4dbf\u4e00-\u9fff]+")
_KATAKANA = lazy_pattern("[\u30a0-\u30ff]{2,}")
_KANA = lazy_pattern("[\u3041-\u309f]")
_PARTICLES = lazy_pattern("[的了是在和我你他她它们也都就很吗呢吧这那不有没要会能可把被给对从到与及或而但因所以为着过]")
_SEGMENTS = WordLists("segments", folder="text/packs/zh")
_CHINESE = lazy_pattern(
    f"(?P<between>{_longest_first(_SEGMENTS.between)})|(?P<whole>{_longest_first(_SEGMENTS.whole)})"
    "|(?P<particle>[的了是在和我你他她它们也都就很吗呢吧这那不有没要会能可把被给对从到与及或而但因所以为着过])|."
)
_AFTER_NOUN = frozenset("はがをにでともへのやかだなさよねじすし")  # kana that begin another word
_UNSPACED = frozenset({"han", "kana", "thai", "lao", "khmer", "myanmar"})
_DENSE = 3  # times as much is said by a character of a script without spaces
_LONGEST_RUN = 8  # characters of a Chinese or Japanese word
_LONGEST_WORD = 40  # characters; longer is no word
_FREQUENT = 3_000  # stems


def words(text: str) -> list[str]:
    """The words of a text, as written; in a script without spaces, the runs between particles."""
    tokens: list[str] = []
    for word in WORD.findall(text):
        if word.isascii() or not is_unspaced(word):
            tokens.append(word)
        else:
            tokens += _runs(word)
    return tokens


def _runs(word: str) -> list[str]:
    if script_of(word[0]) not in ("han", "kana"):
        return [word[:_LONGEST_WORD]]
    runs = _KATAKANA.findall(word)
    for run in _HAN.findall(word):
        runs += [piece[:_LONGEST_RUN] for piece in _PARTICLES.split(run) if len(piece) > 1]
    return runs


def whole_words(text: str) -> list[str]:
    """The nouns of a text in Chinese or Japanese, none cut in two: what a title may be made of."""
    nouns = _KATAKANA.findall(text)
    if _KANA.search(text):
        return nouns + [run for run in map(_noun_run, _HAN.finditer(text)) if len(run) > 1]
    return nouns + [piece for run in _HAN.findall(text) for piece in _chinese_runs(run) if len(piece) > 1]


def _noun_run(run: re.Match[str]) -> str:
    """A run of Chinese characters in a Japanese text; its last one is of a verb if kana that inflect it come next."""
    after = run.string[run.end() : run.end() + 1]
    is_inflected = _KANA.match(after) is not None and after not in _AFTER_NOUN
    return run[0][:-1] if is_inflected else run[0]


def _chinese_runs(text: str) -> Iterator[str]:
    """The runs of a Chinese text between its particles; no word is cut in two."""
    run = ""
    for part in _CHINESE.finditer(text):
        if part["between"] or part["particle"]:
            yield run
            run = ""
        else:
            run += part[0]
    yield run


def is_unspaced(text: str) -> bool:
    """Whether a text begins in a script that puts no spaces between words."""
    first = text[:1]
    return not first.isascii() and first.isalpha() and script_of(first) in _UNSPACED


_FULL_STOPS = {"han": "。", "kana": "。", "devanagari": "।"}


def full_stop(text: str) -> str:
    """The mark that ends a sentence in the script of a text's last letter."""
    if text.isascii():
        return "."
    last_letter = next((letter for letter in reversed(text) if letter.isalpha()), " ")
    return _FULL_STOPS.get(script_of(last_letter), ".")


def is_content(word: str, language: str) -> bool:
    """Whether a word carries content."""
    if _has_digit(word):
        return True
    if _is_stop_word(_fold_case(word), language) or len(word) > _LONGEST_WORD:
        return False
    return len(word) > 1 or is_unspaced(word)


def is_ordinary(word: str) -> bool:
    """Whether it is a word that every English message has."""
    return _fold_case(word) in _LISTS.ordinary


@cache
def _stem_knowledge() -> tuple[frozenset[str], dict[str, float]]:
    """The frequent stems of English, and how concrete each stem is."""
    table = load_word_table()
    roots = table.stems.decode().split("\n")
    places = {root: place for place, root in enumerate(roots)}
    vectors = table.rows * table.scales[:, None]

    ends = [
        [places[root] for word in sorted(words) if (root := stem(word, LANGUAGE)) in places]
        for words in (_LISTS.things, _LISTS.thoughts)
    ]
    axis = vectors[ends[0]].mean(axis=0) - vectors[ends[1]].mean(axis=0)
    nearness = vectors @ (axis / np.sqrt(axis @ axis))
    return frozenset(roots[:_FREQUENT]), dict(zip(roots, np.round(nearness, 2).tolist(), strict=True))


def concreteness(root: str) -> float:
    """How much nearer in meaning an English stem is to words for things than to words for thoughts, from -0.6 to 0.6; 0
    if it is not known."""
    return _stem_knowledge()[1].get(root, 0.0)


def is_common(word: str) -> bool:
    """Whether it is one of the frequent words of English, or of its function words."""
    return not is_content(word, LANGUAGE) or is_ordinary(word) or stem(word, LANGUAGE) in _stem_knowledge()[0]


def matters(word: str, language: str) -> bool:
    """Whether a word, as it stands in a text, carries content and is not an ordinary word."""
    bare = word.strip(",.:!?\"'“”()")
    return bool(bare) and is_content(bare, language) and not is_ordinary(bare)


def _has_digit(word: str) -> bool:
    return not word.isalpha() and any(map(str.isdigit, word))


def _fold_case(word: str) -> str:
    return word.casefold().replace("’", "'")


def _is_stop_word(word: str, language: str) -> bool:
    return word in function_words(language) or (language == "en" and word in _LISTS.contractions)


_POSSESSIVES = ("'s", "’s")
_APOSTROPHES = ("'", "’")


def _drop_possessive(word: str) -> str:
    if word.endswith(_POSSESSIVES):
        return word[:-2]
    return word[:-1] if word.endswith(_APOSTROPHES) else word


def stem(word: str, language: str) -> str:
    """The stem that a word is counted as: the same for all forms of a word. A number is its own stem."""
    if _has_digit(word):
        return word.casefold()
    terms = word_terms(_drop_possessive(word), language)
    return terms[0] if terms else word.casefold()


def stems(text: str, language: str) -> frozenset[str]:
    """The stems of the content words of a text."""
    return frozenset(stem(word, language) for word in words(text) if is_content(word, language))


def weigh(sentences: Iterable[Sentence], language: str) -> dict[str, float]:
    """The weight of each word of a text, by its stem."""
    counts: dict[str, int] = {}
    shape: dict[str, float] = {}
    for sentence in sentences:
        for root, weight in _shapes(sentence.text, language, sentence.kind) if sentence.kind != "note" else ():
            counts[root] = counts.get(root, 0) + 1
            if weight > shape.get(root, 0.0):
                shape[root] = weight
    return {root: shape[root] * (1 + log(times)) if times > 1 else shape[root] for root, times in counts.items()}


@read_once
def _shapes(text: str, language: str, kind: Kind) -> tuple[tuple[str, float], ...]:
    """The stem of each content word of a sentence, and what the word weighs for its shape."""
    return tuple(
        [
            (stem(word, language), _shape(word, starts=place == 0 or kind != "prose"))
            for place, word in enumerate(words(text))
            if is_content(word, language)
        ]
    )


# Chosen on the development data: numbers and names are what is asked for later, and what cannot be guessed.
_NUMBER = 3.4
_SYMBOL = 3.0
_SPELT_NUMBER = 1.5
_ORDINARY_WORD = 0.2
_CAPITAL = 2.3
_SIGN = lazy_pattern(r"\w[/._@]\w")  # a file, an address, a symbol of a program


def _shape(word: str, starts: bool) -> float:
    if _has_digit(word):
        return _NUMBER
    if _SIGN.search(word):
        return _SYMBOL
    if word.casefold() in SPELT_NUMBERS:
        return _SPELT_NUMBER
    if is_ordinary(word):
        return _ORDINARY_WORD
    length = len(word) * (_DENSE if is_unspaced(word) else 1)
    weight = 0.5 + min(length, 10) / 10
    return weight * _CAPITAL if word[0].isupper() and not starts else weight


_SHORT = 4  # words; a phrase of so many is as it is


def shorten_phrase(text: str, language: str) -> str:
    """A phrase reduced to its content words. Negations, comparisons and question words stay."""
    tokens = text.split()
    if len(tokens) <= _SHORT:
        return text
    content = [word for word in tokens if matters(word, language) or word.casefold().strip(",?") in _LISTS.kept]
    return " ".join(content) if any(matters(word, language) for word in content) else text
