"""Times in languages other than English: the words that name one, and the same in English.

A language pack (`text/packs/CODE/calendar.txt`) is a table of wordings and what each says in English: "vor {count}
{unit} = {count} {unit} ago". `text.dates` then reads the English, so that there is one engine for all languages. What
English says in several words has a short form there: "week -2" is the week before the last, "friday of +1" the Friday
of next week, "day +2" the day after tomorrow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from everword.text.detect import DEFAULT, detect_written
from everword.text.wordings import Wordings, fold_letters, packs_with
from everword.word_lists import lazy_pattern, read_list

FILE = "calendar"
_LANGUAGES = frozenset(packs_with(FILE)) - {DEFAULT}
_SLOT = lazy_pattern(r"\{([a-z]+(?:_[a-z]+)?)(\d?)\}")
_NUMBERS = {
    "day": "[12][0-9]|3[01]|0?[1-9]",
    "last": "[12][0-9]|3[01]|0?[1-9]",
    "number": "1[0-2]|0?[1-9]",
    "year": "(?:19|20)[0-9][0-9]",
    "last_year": "(?:19|20)[0-9][0-9]",
}
_MONTHS = [month.capitalize() for month in read_list("months", FILE)]
_START = r"(?<![\w/\u0900-\u0963])"
_END = r"(?![\w\u0900-\u0963])"


@dataclass(frozen=True, slots=True)
class NamedTime:
    """Words of a text that name a time, from `start` to `end`, and the same in English. With `is_since` they say that
    something is so from then on."""

    start: int
    end: int
    english: str
    is_since: bool = False


def times_in_packs(text: str, language: str = "") -> Iterator[NamedTime]:
    """The times that a text names in a language or, if none is given, in its own, if that is not English; some may lie
    inside others."""
    language = language or detect_written(text)
    if language in _LANGUAGES:
        folded = fold_letters(text)
        calendar = _calendar(language)
        if calendar.hint.search(folded):
            yield from calendar.times(folded)


@cache
def _calendar(language: str) -> _Calendar:
    return _Calendar(language)


class _Calendar(Wordings):
    """The calendar of one language."""

    def __init__(self, language: str) -> None:
        super().__init__(language, FILE)
        self._tables = {
            name: self.table(name) for name, text in self.entries.items() if name != "times" and ": " in text
        }
        pairs = [line.rpartition(" = ") for line in self.rows("times")]
        names = [word for table in self._tables.values() for word in table.values()]
        names += [line for line, _, _ in pairs if not _SLOT.search(line)]
        # Finds something in every text that names a time: a digit, or the first letters of a line.
        self.hint = lazy_pattern("|".join((r"\d", *map(self.fill, names))), re.IGNORECASE)
        self._times = [(self._compile(line), english) for line, _, english in pairs]
        start = r"(?<!\w)" if self.is_spaced else ""
        since = self.pattern("since_before").pattern
        self._since_before = lazy_pattern(rf"{start}{since}(?:\s*$|(?=\W)|(?<='))", re.IGNORECASE)
        since = self.pattern("since_after").pattern
        self._since_after = lazy_pattern(
            rf"(?:^['\s]?|['\s]|(?<=[\w])){since}(?:$|(?=\W)|(?<=[\u3041-\ud7ff]))", re.IGNORECASE
        )

    def _compile(self, line: str) -> re.Pattern[str]:
        taken: set[str] = set()

        def slot_source(slot: re.Match[str]) -> str:
            name = slot[1]
            group = f"{name}{slot[2]}"
            if name not in _NUMBERS and name not in self._tables:
                return str(slot[0])
            digits = r"\d{1,3}|" if name == "count" else ""
            source = digits + (_NUMBERS.get(name) or "|".join(self._tables[name].values()))
            if group in taken:
                return f"(?:{source})"
            taken.add(group)
            return f"(?P<{group}>{source})"

        source = self.fill(_SLOT.sub(slot_source, line))
        return lazy_pattern(rf"{_START}(?:{source}){_END}" if self.is_spaced else source, re.IGNORECASE)

    def times(self, folded: str) -> Iterator[NamedTime]:
        for pattern, english in self._times:
            for match in pattern.finditer(folded):
                if match[0].strip():
                    yield self._named_time(match, english, folded)

    def _named_time(self, match: re.Match[str], english: str, folded: str) -> NamedTime:
        text = _SLOT.sub(lambda slot: self._translate(slot, match), english)
        start, end = match.span()
        is_since = english.startswith("since ")
        if not is_since and " to " not in english and not english.endswith("ago"):
            # The word for "since" is before or after the time, or one of the words that name it.
            is_since = bool(
                self._since_before.search(folded[max(0, start - 20) : start])
                or self._since_before.match(match[0])
                or self._since_after.match(folded[end : end + 20])
                or self._since_after.search(match[0])
            )
        return NamedTime(start, end, " ".join(text.removeprefix("since ").split()), is_since)

    def _translate(self, slot: re.Match[str], match: re.Match[str]) -> str:
        """The English word for what stands in a slot; nothing if it is left out."""
        if slot[1] == "number_month":
            return _MONTHS[int(match["number"]) - 1]
        groups = match.groupdict()
        words = groups.get(f"{slot[1]}{slot[2]}")
        if not words:
            return ""
        if words.isdecimal() and slot[1] != "month":
            return words
        table = self._tables.get(slot[1], {})
        forms = ((english, self.fill(form)) for english, form in table.items())
        english = next((english for english, form in forms if re.fullmatch(form, words, re.IGNORECASE)), words)
        return english.capitalize() if slot[1] == "month" else english
