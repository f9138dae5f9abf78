"""Language packs: the wordings of a language, as data in `text/packs/CODE`, and how a line of them is read.

A line is a wording in plain letters: `(a|b)` is a choice, `?` after it makes it optional, a space is a space, `{NAME}`
stands for another entry of the file, and `{what}` for any words, which are given by that name. It is compared without
regard to case and to marks on letters, which people leave out in a chat: both the wording and the text are folded,
letter by letter, so that places in one are places in the other. docs/languages.md shows how to write a pack.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache

from everword.text.detect import script_of
from everword.word_lists import PACKAGE, lazy_pattern, read_entries

FOLDER = "text/packs"
_PLAIN = {"ı": "i", "ى": "ي", "ة": "ه", "’": "'", "‘": "'", "ʼ": "'", "ё": "е"}
_FOLDED_SCRIPTS = frozenset({"latin", "cyrillic", "greek", "arabic"})
_OPENING = lazy_pattern(r"(?<!\\)\((?!\?)")
_PART = lazy_pattern(r"\{(\w+)\}")


def packs_with(file: str) -> tuple[str, ...]:
    """The languages whose pack has a file."""
    return tuple(sorted(path.parent.name for path in (PACKAGE / FOLDER).glob(f"*/{file}.txt")))


def fold_letters(text: str) -> str:
    """A text of the same length whose letters have no marks, with plain digits and apostrophes."""
    return text if text.isascii() else "".join(map(_fold_letter, text))


@lru_cache(maxsize=4096)
def _fold_letter(letter: str) -> str:
    if letter in _PLAIN:
        return _PLAIN[letter]
    if letter.isdecimal():
        return str(unicodedata.decimal(letter))
    if letter.isalpha() and script_of(letter) in _FOLDED_SCRIPTS:
        return unicodedata.normalize("NFD", letter)[0]
    return unicodedata.normalize("NFKC", letter) if "\uff01" <= letter <= "\uff5e" else letter


def compose(text: str) -> str:
    """A text in the form in which wordings are written, with single spaces."""
    return " ".join(unicodedata.normalize("NFC", text).split())


class Wordings:
    """The wordings of one file of a pack."""

    def __init__(self, language: str, file: str, groups: Mapping[str, str]) -> None:
        self.language = language
        self._entries = read_entries(f"{FOLDER}/{language}/{file}.txt")
        self._groups = groups
        self._patterns: dict[str, tuple[re.Pattern[str], ...]] = {}
        self._alternatives: dict[str, re.Pattern[str]] = {}

    def __contains__(self, entry: str) -> bool:
        return entry in self._entries

    def lines(self, entry: str) -> tuple[re.Pattern[str], ...]:
        """The lines of an entry as patterns; none if the pack has no such entry."""
        if entry not in self._patterns:
            lines = filter(None, self._entries.get(entry, "").split("\n"))
            self._patterns[entry] = tuple(lazy_pattern(self.fill(line), re.IGNORECASE) for line in lines)
        return self._patterns[entry]

    def pattern(self, entry: str) -> re.Pattern[str]:
        """An entry as one pattern, which any of its lines matches; it matches nothing if the pack has no such entry."""
        if entry not in self._alternatives:
            source = self._part(entry) if entry in self._groups or entry in self._entries else "(?!)"
            self._alternatives[entry] = lazy_pattern(source, re.IGNORECASE)
        return self._alternatives[entry]

    def fill(self, line: str) -> str:
        """A line as the source of a pattern, with what it names in its place."""
        source = _OPENING.sub("(?:", fold_letters(line))
        return _PART.sub(lambda name: self._part(name[1]), source)

    def _part(self, name: str) -> str:
        if name in self._groups:
            return self.fill(self._groups[name])
        choices = "|".join(map(self.fill, self._entries[name].split("\n")))
        return f"(?:{choices})"


@cache
def wordings(language: str, file: str, groups: Iterable[tuple[str, str]] = ()) -> Wordings:
    """The wordings of a file of a pack. `groups` are parts that its lines may name, which the reader gives."""
    return Wordings(language, file, dict(groups))
