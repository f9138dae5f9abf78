"""Language packs: the wordings of a language, as data in `text/packs/CODE`, and the one reader of their lines.

A line is a wording in plain letters: `(a|b)` is a choice, `?` after it makes it optional, a space is a space, `{NAME}`
stands for another entry of the file or for a line `NAME: wording` of its entry `[parts]`, and `{what}` for any words,
which are given by that name. It is compared without regard to case, and in commands and calendars to marks on letters,
which people leave out in a chat: both the wording and the text are folded, letter by letter, so that places in one are
places in the other. docs/languages.md shows how to write a pack.

A `phrase` is what everword itself says to people, in the language of the conversation: answers to commands and
headings. These texts are in `phrases.txt` of each pack, by their names; names in braces are filled in. A language
without a text has the English one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache

from everword.text.detect import DEFAULT, PACKS, detect_written, is_clear, script_of
from everword.word_lists import PACKAGE, lazy_pattern, read_entries, read_table

NEVER = "(?!)"
"""A pattern that matches nothing."""
_UNSPACED = frozenset({"zh", "ja", "ko"})
_PLAIN = {"ı": "i", "ى": "ي", "ة": "ه", "’": "'", "‘": "'", "ʼ": "'", "ё": "е"}
_FOLDED_SCRIPTS = frozenset({"latin", "cyrillic", "greek", "arabic"})
_VOWEL_MARKS = lazy_pattern("[\u0640\u064b-\u0652]")
_OPENING = lazy_pattern(r"(?<!\\)\((?!\?)")
_PART = lazy_pattern(r"\{([A-Za-z_]\w*)\}")


def packs_with(file: str) -> tuple[str, ...]:
    """The languages whose pack has a file."""
    return tuple(sorted(path.parent.name for path in (PACKAGE / PACKS).glob(f"*/{file}.txt")))


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
    """A text in the form in which wordings are written: with single spaces, and in Arabic without vowel marks."""
    return " ".join(_VOWEL_MARKS.sub("", unicodedata.normalize("NFC", text)).split())


class Wordings:
    """The wordings of one file of a pack."""

    is_folded = True
    """Whether marks on letters do not count."""

    def __init__(self, language: str, file: str, groups: Mapping[str, str] | None = None) -> None:
        self.language = language
        self.is_spaced = language not in _UNSPACED
        self._file = file
        self._groups = groups or {}
        self.entries = read_entries(f"{PACKS}/{language}/{file}.txt")
        self._tables: dict[str, dict[str, str]] = {}
        self.parts = self.table("parts")  # the short wordings that others name
        self._patterns: dict[str, tuple[re.Pattern[str], ...]] = {}
        self._alternatives: dict[str, re.Pattern[str]] = {}

    def rows(self, entry: str) -> list[str]:
        """The lines of an entry, as text; none if the file has no such entry."""
        return [line.strip() for line in self.entries.get(entry, "").split("\n") if line.strip()]

    def words(self, entry: str) -> list[str]:
        """The words of an entry; an underscore joins those of a phrase."""
        return _split_words(self.entries.get(entry, ""))

    def table(self, entry: str) -> dict[str, str]:
        """The lines of an entry that are a name and what it stands for; none if the file has no such entry."""
        if entry not in self._tables:
            folder = f"{PACKS}/{self.language}"
            self._tables[entry] = read_table(entry, self._file, folder) if entry in self.entries else {}
        return self._tables[entry]

    def word_table(self, entry: str) -> dict[str, list[str]]:
        """A table whose values are words."""
        return {name: _split_words(words) for name, words in self.table(entry).items()}

    def lines(self, entry: str) -> tuple[re.Pattern[str], ...]:
        """The lines of an entry as patterns; none if the file has no such entry."""
        if entry not in self._patterns:
            self._patterns[entry] = tuple(lazy_pattern(self.fill(line), re.IGNORECASE) for line in self.rows(entry))
        return self._patterns[entry]

    def pattern(self, entry: str) -> re.Pattern[str]:
        """An entry as one pattern, which any of its lines matches; it matches nothing if the file has no such entry."""
        if entry not in self._alternatives:
            source = self.part(entry) if entry in self._groups or entry in self.entries else NEVER
            self._alternatives[entry] = lazy_pattern(source, re.IGNORECASE)
        return self._alternatives[entry]

    def fill(self, line: str) -> str:
        """A line as the source of a pattern, with what it names in its place."""
        source = _OPENING.sub("(?:", fold_letters(line) if self.is_folded else line)
        return _PART.sub(lambda name: self.part(name[1]), source)

    def part(self, name: str) -> str:
        """What stands for a name in the source of a pattern."""
        if name in self._groups:
            return self.fill(self._groups[name])
        rows = self.rows(name) or [self.parts[name]]
        return f"(?:{'|'.join(map(self.fill, rows))})"


def _split_words(text: str) -> list[str]:
    return [word.replace("_", " ") for word in text.split()]


@cache
def wordings(language: str, file: str, groups: Iterable[tuple[str, str]] = ()) -> Wordings:
    """The wordings of a file of a pack. `groups` are parts that its lines may name, which the reader gives."""
    return Wordings(language, file, dict(groups))


# -- what everword says


def _texts(language: str, entry: str) -> dict[str, str]:
    return wordings(language, "phrases").table(entry)


def phrase(language: str, name: str, /, **parts: str) -> str:
    """A text of everword's own, in a language."""
    text = _texts(language, "phrases").get(name) or _texts(DEFAULT, "phrases")[name]
    return text.format(**parts)


def heading(language: str, english: str) -> str:
    """A heading of a profile, in a language: "Work", or "About Dana", where the name stays."""
    texts = _texts(language, "headings")
    name = english.removeprefix("About ")
    if name != english and "About" in texts:
        return texts["About"].format(name=name)
    return texts.get(english, english)


def key_label(language: str, key: str) -> str:
    """The key of a fact in a language: "Beruf" for "job". A key that its pack does not know stays as it is."""
    kin = wordings(language, "fact_patterns").word_table("kin") if language != DEFAULT else {}
    return _texts(language, "keys").get(key) or next(iter(kin.get(key, ())), key)


def language_of_chat(text: str, earlier_texts: Iterable[str]) -> str:
    """The language of a message; if it is too short to tell, that of the last message before it which tells."""
    return detect_written(next(filter(is_clear, (text, *earlier_texts)), text))
