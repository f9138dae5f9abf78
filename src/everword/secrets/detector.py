"""Finds secrets in a text: by their form, by the words around them, and by how random they are.

A mark covers the secret alone and not the words around it: "my password is hunter2" becomes "my password is
[secret: password]", so that what was said stays readable. Marks of one text do not overlap and are in its order; of two
that overlap the one of the earlier step counts. A placeholder is no secret: a masked text has no more of them. Most
texts are done after a cheap look for what every secret has: figures, a long run without a space, or a word that
announces it. The time grows with the text and no faster.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from everword.secrets.announced import announced_secrets
from everword.secrets.formats import secrets_by_form
from everword.secrets.marks import SecretMark
from everword.secrets.values import (
    FIGURE,
    is_camel_case,
    is_one_case_random,
    is_path,
    is_placeholder,
    is_public,
    is_surely_random,
    is_wordy,
)
from everword.secrets.words import has, pattern

_NEAR = 48  # characters before a run in which a word says what it is
_FAR = 160  # and in which it says that secrets are spoken of
_MOST_PIECES = 10_000  # of one text that are looked at: after them only keys of a known form are found
_SHORTEST_RUN = 16  # characters
_SHORTEST = 20  # characters of a run that nothing announces
_SURELY_LONG = 40  # of one in letters of one case


def find_secrets(text: str) -> tuple[SecretMark, ...]:
    """Every secret in a text, in its order."""
    small = _small_letters(text)
    cover = bytearray(len(text))  # 1 where a secret or a placeholder stands
    for match in pattern("placeholder").finditer(text) if "[secret: " in text else ():
        cover[match.start() : match.end()] = b"\1" * len(match[0])
    marks: list[SecretMark] = []
    runs = _key_runs(text)
    for step in (secrets_by_form(text, small, runs), announced_secrets(text, small, cover), _random_tokens(text, runs)):
        for mark in step:
            if mark.start < mark.end and 1 not in cover[mark.start : mark.end]:
                cover[mark.start : mark.end] = b"\1" * (mark.end - mark.start)
                marks.append(mark)
    return tuple(sorted(marks, key=lambda mark: mark.start))


def _small_letters(text: str) -> str:
    """In small letters, each where it was: some capitals have small letters of two signs."""
    small = text.lower()
    if len(small) == len(text):
        return small
    return "".join(char.lower() if len(char.lower()) == 1 else char for char in text)


def _key_runs(text: str) -> list[tuple[int, int]]:
    """Where a text has so many characters without a space that they may be a key: capitals or figures are in each."""
    runs: list[tuple[int, int]] = []
    end = 0
    for word in [word for word in text.split() if len(word) >= _SHORTEST_RUN]:
        start = text.find(word, end)
        end = start + len(word)
        if not word.islower() or FIGURE.search(word):
            runs += [run.span() for run in pattern("run").finditer(text, start, end)]
    return runs


def _random_tokens(text: str, runs: list[tuple[int, int]]) -> Iterator[SecretMark]:
    """The random ones of the runs, whatever is said of them, unless it is said that they are something else."""
    for piece in islice(_pieces(text, runs), _MOST_PIECES):
        value = piece[0].rstrip(".-_/%~")
        if _is_token(text, piece.start(), value):
            yield SecretMark("token", piece.start(), piece.start() + len(value))


def _pieces(text: str, runs: list[tuple[int, int]]) -> Iterator[re.Match[str]]:
    """What of the runs may be a token: nothing of an address, of an encoded file or of a block."""
    blocks = _blocks(text) if "-----BEGIN" in text else []
    for start, end in runs:
        if text.find("://", start, end) >= 0 or text.find("base64,", start, end) >= 0:
            continue
        while blocks and blocks[-1][1] <= start:
            blocks.pop()
        if not blocks or blocks[-1][0] > start:
            yield from pattern("piece of a run").finditer(text, start, end)


def _blocks(text: str) -> list[tuple[int, int]]:
    """Where certificates and keys between two lines of strokes stand, the last one first."""
    blocks = []
    for head in pattern("begin of a block").finditer(text, 0, max(0, text.rfind("-----END"))):
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
    against = max((match.end() for match in pattern("id before").finditer(near)), default=-1)
    hint = max((match.end() for match in pattern("secrets").finditer(near)), default=-1)
    if against >= max(hint, 0) or "base64" in before:
        return False
    if is_sure and len(value) >= _SHORTEST and not is_camel_case(value):
        return True
    is_long = len(value) >= _SURELY_LONG and not is_sure and not pattern("hexadecimal number").fullmatch(value)
    return is_long or hint >= 0 or has(before, "secrets")
