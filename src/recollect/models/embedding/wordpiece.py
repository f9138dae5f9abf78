"""WordPiece as uncased BERT has it: lower case, no accents, punctuation and ideographs apart, then greedy.

Cutting is local: a text is split at white space and each piece is cut on its own, so a piece's ids can be
cached. Chat repeats its words, so most pieces are found in the cache. The cache is bounded, and long pieces
do not enter it. Markers such as `[SEP]` in a text are only brackets and letters here: text cannot forge a
token.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

PIECES_REMEMBERED = 1 << 16
LONGEST_REMEMBERED = 64  # characters
LONG_TEXT = 1 << 16  # characters; a longer text is not split all at once
LONGEST_WORD = 100  # characters; a longer word is unknown
CONTINUED = "##"  # begins a token that continues a word

# White space to Python, but control characters to BERT, which drops them and joins the words on both sides.
_JOINING = re.compile("[\x0b\x0c\x1c-\x1f\x85]")
_PIECE = re.compile(r"\S+")

_IDEOGRAPHS = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)


class WordPiece:
    """Text to token ids. Safe to share between threads."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._vocabulary = vocabulary
        self._longest = max(map(len, vocabulary))
        self._unknown = vocabulary["[UNK]"]
        self._cached_piece_ids = lru_cache(maxsize=PIECES_REMEMBERED)(self._piece_ids)

    @classmethod
    def from_lines(cls, lines: str) -> WordPiece:
        """From a vocabulary file: one token a line, its id the number of the line."""
        tokens = lines.rstrip("\n").split("\n")
        return cls(dict(zip(tokens, range(len(tokens)), strict=True)))

    def ids(self, text: str) -> list[int]:
        """The ids of the whole text."""
        return [id for batch in self.batches(text) for id in batch]

    def batches(self, text: str, size: int = 1 << 30) -> Iterator[list[int]]:
        """The ids in lists of `size` or a little more, so that a text of any length needs little memory."""
        if not text.isascii() or not text.isprintable():
            text = _JOINING.sub("", text)
        cached_ids = self._cached_piece_ids
        batch: list[int] = []
        for piece in _pieces(text):
            if len(piece) <= LONGEST_REMEMBERED:
                batch += cached_ids(piece)
                if len(batch) < size:
                    continue
                yield batch
                batch = []
            else:
                for word in words(piece):
                    batch += self._word_ids(word)
                    if len(batch) >= size:
                        yield batch
                        batch = []
        if batch:
            yield batch

    def _piece_ids(self, piece: str) -> tuple[int, ...]:
        return tuple(id for word in words(piece) for id in self._word_ids(word))

    def _word_ids(self, word: str) -> list[int]:
        if len(word) > LONGEST_WORD:
            return [self._unknown]
        ids: list[int] = []
        start = 0
        mark = ""
        while start < len(word):
            for end in range(min(len(word), start + self._longest), start, -1):
                id = self._vocabulary.get(mark + word[start:end])
                if id is not None:
                    break
            else:
                return [self._unknown]
            ids.append(id)
            start = end
            mark = CONTINUED  # no word holds it: signs are words of their own
        return ids


def _pieces(text: str) -> Iterable[str]:
    if len(text) <= LONG_TEXT:
        return text.split()
    return (match.group() for match in _PIECE.finditer(text))


def words(piece: str) -> Iterator[str]:
    """The words of a piece: lower case, without accents, punctuation and ideographs on their own."""
    if piece.isascii() and piece.isalnum():
        yield piece.lower()
        return
    word: list[str] = []
    for character in unicodedata.normalize("NFD", piece):
        kind = _character_kind(character)
        if kind == "letter":
            # Character by character: `lower` of a whole word would give its last sigma a form that BERT does not know.
            word.append(character.lower())
        elif kind != "dropped":
            if word:
                yield "".join(word)
                word = []
            if kind == "alone":
                yield character
    if word:
        yield "".join(word)


@lru_cache(maxsize=1 << 14)
def _character_kind(character: str) -> str:
    """What a character is: "letter" (all that stays inside a word), "alone", "space" or "dropped"."""
    code = ord(character)
    if code < 128 and character.isprintable() and not character.isalnum():
        return "space" if character == " " else "alone"
    if any(first <= code <= last for first, last in _IDEOGRAPHS):
        return "alone"
    category = unicodedata.category(character)
    if category == "Mn" or code == 0xFFFD or (category.startswith("C") and category != "Cn"):
        return "dropped"
    if category.startswith("P"):
        return "alone"
    return "space" if category.startswith("Z") else "letter"
