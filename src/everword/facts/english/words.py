"""The words and patterns of the rules of facts, which are read from text files: `data/*.txt` beside the modules.

A line that is not indented names a list or a pattern, and the indented lines after it are its words or its source; a
line that begins with `#` is a comment. In a list, an underscore joins the words of a phrase, and words are tried in
their order. In a pattern, `{SOME_WORDS OTHERS}` is any word of these lists, `{name}` an earlier pattern of the file;
lines are joined without a space, and the letters after a name are the flags. See docs/patterns.md for how to add one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib.resources import files
from typing import Generic, TypeVar

from everword.text.dates import MONTHS, WEEKDAYS
from everword.text.english import COMMON_VERBS, PAST_FORMS, PETS, RELATIONS
from everword.text.packs import lazy_pattern

_PLACEHOLDER = re.compile(r"\{([A-Z_ ]+)\}|\{([a-z_]+)\}")
_FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE}


T = TypeVar("T")


class Named(Generic[T]):
    """The lists or the patterns of a file, each an attribute."""

    def __init__(self, values: Iterable[tuple[str, T]] = ()) -> None:
        vars(self).update(values)

    def __getattr__(self, name: str) -> T:
        raise AttributeError(f"no file has {name!r}")


def any_of(*lists: Iterable[str]) -> str:
    """A regular expression for any word of the lists, in their order."""
    literals = [re.escape(word).replace(r"\ ", r"\s") for words in lists for word in words]
    return f"(?:{'|'.join(literals)})"


def longest_first(words: Iterable[str]) -> tuple[str, ...]:
    """The words of a list that has no order of its own, so that none hides a longer one."""
    return tuple(sorted(words, key=lambda word: (-len(word), word)))


def _entries(package: str, file: str) -> Iterator[tuple[str, list[str]]]:
    """The names in a file, with the lines of each."""
    text = files(package).joinpath("data", f"{file}.txt").read_text(encoding="utf-8")
    for entry in re.split(r"\n(?=\S)", "\n".join(line for line in text.splitlines() if not line.startswith("#"))):
        name, *lines = entry.strip("\n").split("\n")
        if name:
            yield name, [line.strip() for line in lines]


def read_words(package: str, file: str) -> Named[tuple[str, ...]]:
    """The lists of a file."""
    return Named(
        (name, tuple(word.replace("_", " ") for line in lines for word in line.split()))
        for name, lines in _entries(package, file)
    )


WORDS = read_words(__package__, "words")
vars(WORDS)["MONTH_NAMES"] = tuple(map(str.capitalize, MONTHS))
vars(WORDS)["WEEKDAY_NAMES"] = tuple(map(str.capitalize, WEEKDAYS))
STATEMENT_WORDS = read_words(__package__, "statement_words")
_LISTS = {
    **vars(WORDS),
    **vars(STATEMENT_WORDS),
    "MONTHS": MONTHS,
    "WEEKDAYS": WEEKDAYS,
    "RELATIONS": longest_first(RELATIONS),
    "PETS": longest_first(PETS),
    "PAST_FORMS": sorted(PAST_FORMS),
    "COMMON_VERBS": sorted(COMMON_VERBS),
}


def load_patterns(package: str, file: str) -> Named[re.Pattern[str]]:
    """The patterns of a file, compiled when they are first used."""
    patterns: dict[str, re.Pattern[str]] = {}

    def expand(placeholder: re.Match[str]) -> str:
        lists, name = placeholder.groups()
        return any_of(*(_LISTS[list_name] for list_name in lists.split())) if lists else patterns[name].pattern

    for head, lines in _entries(package, file):
        name, _, letters = head.partition(" ")
        flags = sum(_FLAGS[letter] for letter in letters)
        patterns[name] = lazy_pattern(_PLACEHOLDER.sub(expand, "".join(lines)), flags)
    return Named(patterns.items())
