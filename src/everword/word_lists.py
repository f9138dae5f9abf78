"""The word lists and patterns of the rules: they are data, not code, and this module alone reads them.

A line `[name]` begins an entry, and a line that begins with `# ` is a remark. In a list (`text/packs/en/verbs.txt`)
words are separated by spaces, or by semicolons where some have a space in them; an underscore joins the words of one
item; `{name}` stands for another list of the file, `{file.name}` for one of another file in its folder; a line may
begin with the language of its words (`de: `). Patterns (`text/packs/en/filler.re`) are regular expressions in which
spaces and line breaks do not count; there `{name}` stands for another entry of the file, or for any word of a list, and
`{some others}` for any word of two lists. What is the same in a language for all rules lies in `text/packs`, a folder
for each language; what only one room needs lies in its own folder `data`. Each file is read once, and a pattern is
compiled when it is first used: the rules have more than a thousand of them, to compile all takes longer than to start
Python, and most programs use a few.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any, cast


class _LazyPattern:
    """Stands for a compiled pattern, and has its methods from the first use on."""

    def __init__(self, source: str, flags: int) -> None:
        self.pattern = source
        self._flags = flags

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, self._flags)

    def __getattr__(self, name: str) -> Any:
        # Called only for a name that is not set yet: from now on it costs no more than that of a compiled pattern.
        value = getattr(self.compiled, name)
        setattr(self, name, value)
        return value


def lazy_pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """Like `re.compile`; but an error in the pattern is raised at its first use."""
    return cast(re.Pattern[str], _LazyPattern(source, flags))


def compile_patterns(value: object) -> Iterator[re.Pattern[str]]:
    """Compile the patterns in lists, tuples, dictionaries and files, as the variables of a module are: one each time
    that the next item is asked for."""
    if isinstance(value, _LazyPattern):
        yield value.compiled
    elif isinstance(value, Mapping):
        yield from compile_patterns([*value.values()])
    elif isinstance(value, list | tuple):
        for part in value:
            yield from compile_patterns(part)


PACKAGE = Path(__file__).parent
ENGLISH = "text/packs/en"
EVERY_LANGUAGE = "text/packs/any"
"""The pack of what is the same in every language, or cannot be told apart by language."""

_ENTRY = re.compile(r"\[(\w[\w ,-]*)\]")
_NAME = re.compile(r"\{([A-Za-z][\w., -]*)\}")
_FLAGS = re.compile(r"^\(\?([ims]+)\)")
_LANGUAGE = re.compile(r"^(?:[a-z]{2}|\*): ", re.MULTILINE)


@cache
def read_entries(file: str) -> dict[str, str]:
    """The entries of a file, as text; none if there is no such file. `file` is its path in the package."""
    entries: dict[str, list[str]] = {}
    name = ""
    path = PACKAGE / file
    for line in path.read_text(encoding="utf-8").split("\n") if path.exists() else ():
        if entry := _ENTRY.fullmatch(line):
            name = entry[1]
            entries[name] = []
        elif name and not line.startswith("# "):
            entries[name].append(line)
    return {name: "\n".join(lines).strip() for name, lines in entries.items()}


def read_list(name: str, file: str, folder: str = ENGLISH) -> tuple[str, ...]:
    """The items of a list, in their order; none if there is no such list."""
    text = _LANGUAGE.sub("", read_entries(f"{folder}/{file}.txt").get(name, ""))
    if ";" in text:
        return tuple(phrase.strip() for phrase in text.replace("\n", ";").split(";") if phrase.strip())
    return tuple(_items(text, file, folder))


def _items(text: str, file: str, folder: str) -> Iterator[str]:
    for item in text.split():
        if other := _NAME.fullmatch(item):
            other_file, _, name = other[1].rpartition(".")
            yield from read_list(name, other_file or file, folder)
        else:
            yield item.replace("_", " ")


def read_table(entry: str, file: str, folder: str = ENGLISH) -> dict[str, str]:
    """An entry whose lines are `name: value`, by the names; a line without a name continues the one before."""
    table: dict[str, str] = {}
    name = ""
    for line in read_entries(f"{folder}/{file}.txt")[entry].split("\n"):
        start, colon, value = line.strip().partition(": ")
        if colon:
            name = start
        table[name] = f"{table[name]} {line.strip()}" if not colon else value
    return table


def any_of(words: Iterable[str]) -> str:
    """A regular expression for any of some words, each taken literally, in their order. Any space is as good as that
    of a phrase."""
    literals = [re.escape(word).replace(r"\ ", r"\s") for word in words]
    return f"(?:{'|'.join(literals)})"


class WordLists:
    """The lists of some files as sets, by their names; each is read when it is first asked for. Code may add lists."""

    def __init__(self, *files: str, folder: str = ENGLISH, **lists: Iterable[str]) -> None:
        self._files = files
        self._folder = folder
        self._lists = {name: tuple(items) for name, items in lists.items()}

    def in_order(self, name: str) -> tuple[str, ...]:
        """The items of a list as they stand in it."""
        if name not in self._lists:
            items = next(filter(None, (read_list(name, file, self._folder) for file in self._files)), ())
            if not items:
                raise AttributeError(f"the files {', '.join(self._files)} in {self._folder} contain no list {name!r}")
            self._lists[name] = items
        return self._lists[name]

    def any_of(self, *names: str) -> str:
        """A regular expression for any word of some lists, in their order."""
        return any_of(word for name in names for word in self.in_order(name))

    def __getattr__(self, name: str) -> frozenset[str]:
        items = frozenset(self.in_order(name))
        setattr(self, name, items)
        return items


class Patterns(Mapping[str, re.Pattern[str]]):
    """The patterns of a file by their names; the file is read when the first of them is asked for. An entry in capitals
    is a part of others; code may add parts. `words` are the lists that the patterns may name."""

    def __init__(self, file: str, folder: str = ENGLISH, words: WordLists | None = None, **parts: str) -> None:
        self._file = f"{folder}/{file}.re"
        self._words = words or WordLists(folder=folder)
        self._parts = parts

    @property
    def _entries(self) -> dict[str, str]:
        return read_entries(self._file) | self._parts

    def __iter__(self) -> Iterator[str]:
        """The names of all patterns."""
        return (name for name in self._entries if not name.isupper())

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __getitem__(self, name: str) -> re.Pattern[str]:
        if name not in self._entries:
            raise KeyError(name)
        return cast(re.Pattern[str], getattr(self, name))

    def __getattr__(self, name: str) -> re.Pattern[str]:
        # Called only for a name that is not set yet: rules ask for their patterns at each sentence.
        if name not in self._entries:
            raise AttributeError(f"{self._file} has no pattern {name!r}")
        pattern = self.compile(self._entries[name])
        setattr(self, name, pattern)
        return pattern

    def compile(self, text: str) -> re.Pattern[str]:
        """A text as a pattern, which is compiled at its first use."""
        flags = _FLAGS.match(text)
        letters = flags[1].upper() if flags else ""
        return lazy_pattern(self.fill(text), sum((re.RegexFlag[letter] for letter in letters), re.VERBOSE))

    def fill(self, text: str) -> str:
        """A text without the flags it begins with, and with what it names in its place."""
        return _NAME.sub(self._replacement, _FLAGS.sub("", text))

    def _replacement(self, name: re.Match[str]) -> str:
        if name[1] in self._entries:
            return self.fill(self._entries[name[1]])
        return self._words.any_of(*name[1].split())

    def lines(self, name: str) -> list[str]:
        """The lines of an entry that has a pattern on each."""
        return self._entries[name].split("\n")
