"""Language packs: the words and the patterns of the rules are data, in a folder for each language.

A line `[name]` begins an entry, and a line that begins with `# ` is a remark. In a list (`packs/en/verbs.txt`) words
are separated by spaces, or by semicolons where some have a space in them; an underscore joins the words of one item;
and `{name}` stands for another list of the file, `{file.name}` for one of another file. Patterns (`packs/en/filler.re`)
are regular expressions in which spaces and line breaks do not count; there `{name}` stands for another entry of the
file. Each file is read once, and a pattern is compiled when it is first used: the rules have some eight hundred of
them, to compile all takes longer than to start Python, and most programs use a few.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
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
    """Compile the patterns of `lazy_pattern` in lists, tuples and dictionaries, as the variables of a module are: one
    each time that the next item is asked for."""
    if isinstance(value, _LazyPattern):
        yield value.compiled
    elif isinstance(value, dict):
        yield from compile_patterns([*value.values()])
    elif isinstance(value, list | tuple):
        for part in value:
            yield from compile_patterns(part)


FOLDER = Path(__file__).parent / "packs"
FILES = {f"{path.parent.name}/{path.name}": path for path in FOLDER.glob("*/*.*")}
"""The files of all packs, by language and name: `en/verbs.txt`."""
EVERY_LANGUAGE = "any"
"""The pack of what is the same in every language, or cannot be told apart by language."""

_ENTRY = re.compile(r"\[(\w+)\]")
_NAME = re.compile(r"\{([A-Za-z][\w.]*)\}")
_FLAGS = re.compile(r"^\(\?([im]+)\)")


@cache
def read_entries(file: str) -> dict[str, str]:
    """The entries of one of `FILES`, as text; none if there is no such file."""
    entries: dict[str, list[str]] = {}
    name = ""
    for line in FILES[file].read_text(encoding="utf-8").split("\n") if file in FILES else ():
        if entry := _ENTRY.fullmatch(line):
            name = entry[1]
            entries[name] = []
        elif not line.startswith("# "):
            entries[name].append(line)
    return {name: "\n".join(lines).strip() for name, lines in entries.items()}


def read_list(name: str, file: str, language: str = "en") -> tuple[str, ...]:
    """The items of a list, in their order; none if the language has no such list."""
    text = read_entries(f"{language}/{file}.txt").get(name, "")
    if ";" in text:
        return tuple(phrase.strip() for phrase in text.replace("\n", ";").split(";") if phrase.strip())
    return tuple(_items(text, file, language))


def _items(text: str, file: str, language: str) -> Iterator[str]:
    for item in text.split():
        if other := _NAME.fullmatch(item):
            other_file, _, name = other[1].rpartition(".")
            yield from read_list(name, other_file or file, language)
        else:
            yield item.replace("_", " ")


class WordLists:
    """The lists of a file as sets, by their names; each is read when it is first asked for."""

    def __init__(self, file: str, language: str = "en") -> None:
        self._file = file
        self._language = language

    def __getattr__(self, name: str) -> frozenset[str]:
        items = frozenset(read_list(name, self._file, self._language))
        if not items:
            raise AttributeError(f"{self._language}/{self._file}.txt has no list {name!r}")
        setattr(self, name, items)
        return items


class Patterns(dict[str, re.Pattern[str]]):
    """The patterns of a file by their names, each compiled at its first use. An entry in capitals is a part of others;
    code may add parts."""

    def __init__(self, file: str, language: str = "en", **parts: str) -> None:
        self._entries = read_entries(f"{language}/{file}.re") | parts
        super().__init__({name: self.compile(text) for name, text in self._entries.items() if not name.isupper()})

    def compile(self, text: str) -> re.Pattern[str]:
        """A text as a pattern, which is compiled at its first use."""
        flags = _FLAGS.match(text)
        letters = flags[1].upper() if flags else ""
        return lazy_pattern(self.fill(text), sum((re.RegexFlag[letter] for letter in letters), re.VERBOSE))

    def fill(self, text: str) -> str:
        """A text without the flags it begins with, and with the entries that it names in their places."""
        return _NAME.sub(lambda other: self.fill(self._entries[other[1]]), _FLAGS.sub("", text))

    def lines(self, name: str) -> list[str]:
        """The lines of an entry that has a pattern on each."""
        return self._entries[name].split("\n")

    def __getattr__(self, name: str) -> re.Pattern[str]:
        return self[name]
