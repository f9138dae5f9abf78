"""Finds secrets in a text, and writes a placeholder where each one stands.

A mark covers the secret alone and not the words around it: "my password is hunter2" becomes "my password is
[secret: password]", so that what was said stays readable. Marks of one text do not overlap and are in its order, and a
placeholder is no secret: a masked text has no more of them. Most texts are done after one cheap look for what every
secret has: a few figures together, a long run without a space, or a word that announces one.
"""

from __future__ import annotations

import re

from recollect.model.secrets import SecretMark
from recollect.model.secrets import mask_text as mask_text
from recollect.model.secrets import placeholder_of as placeholder_of
from recollect.secrets.formats import formats
from recollect.secrets.phrases import phrases
from recollect.secrets.tokens import SHORTEST_KEY, key_runs, tokens

_PLACEHOLDER = re.compile(r"\[secret: [a-zA-Z -]{1,30}\]")
# Before a number or a phrase that everybody may know, since it was published to be tried or shown.
_PUBLISHED = re.compile(
    r"\b(?:tests?|dummy|sandbox|example|sample|beispiel|exemple|ejemplo|exemplo|esempio)[\s-]{1,2}(?:[\w'-]{1,12}\s)?"
    r"(?:cards?|visa|mastercard|iban|vector|phrase)\b"
)
_MAY_BE_PUBLISHED = frozenset(["card number", "IBAN", "recovery phrase"])
_BEFORE = 48  # characters


def find_secrets(text: str) -> tuple[SecretMark, ...]:
    """Every secret in a text, in its order."""
    cover = bytearray(len(text))
    for match in _PLACEHOLDER.finditer(text) if "[secret: " in text else ():
        cover[match.start() : match.end()] = b"\1" * len(match[0])
    marks: list[SecretMark] = []
    small = _small(text)
    words = small.split()
    has_long_words = max(map(len, words), default=0) >= SHORTEST_KEY
    runs = key_runs(text, small, words) if has_long_words else []
    for mark in formats(text, small, words, runs, has_long_words=has_long_words):
        if mark.kind not in _MAY_BE_PUBLISHED or not _PUBLISHED.search(small, max(0, mark.start - _BEFORE), mark.start):
            _keep(mark, cover, marks)
    for mark in phrases(text, small, bytearray(cover)):
        _keep(mark, cover, marks)
    for mark in tokens(text, runs) if runs else ():
        _keep(mark, cover, marks)
    return tuple(sorted(marks, key=lambda mark: mark.start))


def _small(text: str) -> str:
    """In small letters, each where it was: some capitals have small letters of two signs."""
    small = text.lower()
    if len(small) == len(text):
        return small
    return "".join(char.lower() if len(char.lower()) == 1 else char for char in text)


def _keep(mark: SecretMark, cover: bytearray, marks: list[SecretMark]) -> None:
    if mark.start < mark.end and not any(cover[mark.start : mark.end]):
        cover[mark.start : mark.end] = b"\1" * (mark.end - mark.start)
        marks.append(mark)
