"""Tokens that stand alone: a long run of random letters is a secret, whatever is said of it.

Of a text only the runs without a space are looked at, so most texts cost nothing. A run is none where its form says
what it is (an address, a path, an encoded file, a public key), or where the last word before it that means anything
names an id, a sum or a commit. Where the text speaks of keys, tokens or sessions, shorter runs and those of one case
count as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from recollect.model.secrets import SecretMark
from recollect.secrets.values import (
    is_camel_case,
    is_one_case_random,
    is_path,
    is_placeholder,
    is_public,
    is_surely_random,
    is_wordy,
)
from recollect.secrets.words import ID_WORDS, OTHER_KEYS, SECRET_HINTS

_PIECE = re.compile(r"(?<![A-Za-z0-9+/_~.%@#\\-])[A-Za-z0-9][A-Za-z0-9+/_~.%-]{15,}={0,2}(?![({\\@])")
_BLOCK = re.compile(r"-----BEGIN [A-Z0-9 ]{1,40}-----")
_HINT = re.compile("|".join(SECRET_HINTS))
_ID = re.compile("|".join(ID_WORDS) + rf"|\b(?:{'|'.join(OTHER_KEYS)})[ _-]keys?")
SHORTEST_KEY = 16
_NEAR = 48  # characters before a run in which a word says what it is
_FAR = 160  # and in which it says that secrets are spoken of
_FIGURE = re.compile(r"\d")
_RUN = re.compile(r"(?<![!-~])[!-~]{16,}")
_MOST = 10_000  # pieces of one text that are looked at: after them only keys of a known form are found
_SHORTEST = 20  # of a run that nothing announces
_SURELY_LONG = 40  # of one in letters of one case
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]+")


def tokens(text: str, runs: Iterable[tuple[int, int]]) -> Iterator[SecretMark]:
    """The random ones of the runs without a space: of the first `_MOST` pieces of them."""
    blocks = _blocks(text) if "-----BEGIN" in text else []
    for piece in islice(_pieces(text, runs, blocks), _MOST):
        value = piece[0].rstrip(".-_/%~")
        if _is_token(text, piece.start(), value):
            yield SecretMark("token", piece.start(), piece.start() + len(value))


def _pieces(text: str, runs: Iterable[tuple[int, int]], blocks: list[tuple[int, int]]) -> Iterator[re.Match[str]]:
    """What of the runs may be a token: nothing of an address, of an encoded file or of a block."""
    for start, end in runs:
        if text.find("://", start, end) >= 0 or text.find("base64,", start, end) >= 0:
            continue
        while blocks and blocks[-1][1] <= start:
            blocks.pop()
        if not blocks or blocks[-1][0] > start:
            yield from _PIECE.finditer(text, start, end)


def key_runs(text: str, small: str, words: list[str]) -> list[tuple[int, int]]:
    """Where a text has so many characters without a space that they may be a key: capitals or figures are in each."""
    runs = []
    at = 0
    for word in [word for word in words if len(word) >= SHORTEST_KEY]:
        at = small.find(word, at)
        end = at + len(word)
        if not text[at:end].islower() or _FIGURE.search(word):
            runs += [match.span() for match in _RUN.finditer(text, at, end)]
        at = end
    return runs


def _blocks(text: str) -> list[tuple[int, int]]:
    """Where certificates and keys between two lines of strokes stand, the last one first."""
    last = text.rfind("-----END")
    blocks = []
    for head in _BLOCK.finditer(text, 0, max(0, last)):
        end = text.find("-----END", head.end(), head.end() + 9_000)
        if end >= 0:
            blocks.append((head.start(), end))
    return blocks[::-1]


def _is_token(text: str, start: int, value: str) -> bool:
    is_sure = is_surely_random(value)
    if not is_sure and not is_one_case_random(value):
        return False
    if is_placeholder(value) or is_public(value) or is_path(value) or is_wordy(value):
        return False
    before = text[max(0, start - _FAR) : start].lower()
    near = before[-_NEAR:]
    against = max((match.end() for match in _ID.finditer(near)), default=-1)
    hint = max((match.end() for match in _HINT.finditer(near)), default=-1)
    if against >= max(hint, 0) or "base64" in before:
        return False
    if is_sure and len(value) >= _SHORTEST and not is_camel_case(value):
        return True
    is_long = len(value) >= _SURELY_LONG and not is_sure and not _HEX.fullmatch(value)
    return is_long or hint >= 0 or _HINT.search(before) is not None
