"""Patterns that are compiled when they are first used, and are not searched where they cannot be found.

The rules have some eight hundred patterns. To compile all of them takes longer than to start Python, and most programs
use a few: a search, for example, reads no facts. A pattern is not searched in a text that lacks the words it needs
(`pattern_prefilter`), nor matched with one that does not begin as it must (`pattern_heads`): an import reads every
sentence with hundreds of patterns, of which few are found. What the patterns of the rules need is in a file, written by
`scripts/pattern_guards.py`; of any other pattern it is found out once the pattern was used often.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast

from recollect.language.pattern_heads import (
    SIZE,
    Heads,
    begins_at_words,
    may_begin,
    pattern_heads,
    skip_where_nothing_begins,
)
from recollect.language.pattern_prefilter import PatternNeeds, pattern_needs
from recollect.language.word_runs import text_masks

OFTEN = 500
"""Uses of a pattern after which it is worth finding out which words it needs."""
MAX_BEGINNINGS = 5_000
"""Beginnings of texts of which a pattern remembers whether it may match them."""
GUARDS_FILE = Path(__file__).parent / "data" / "patterns.json"
UNFOUND: dict[str, Callable[[str], Any]] = {
    "search": lambda text: None,
    "match": lambda text: None,
    "fullmatch": lambda text: None,
    "findall": lambda text: [],
    "finditer": lambda text: iter(()),
    "split": lambda text: [text],
    "sub": lambda text: text,
}
"""What a method of a pattern returns if the pattern is not found, by its name."""


@dataclass(frozen=True, slots=True)
class PatternGuard:
    """What a text needs for a pattern to be found in it, and how it begins if the pattern matches; None if unknown.
    `at_words`: it can match at the starts of words alone."""

    needs: PatternNeeds | None
    heads: Heads | None
    at_words: bool = False

    @classmethod
    def read(cls, source: str, flags: int) -> PatternGuard:
        heads = pattern_heads(source, flags)
        return cls(pattern_needs(source, flags), heads, begins_at_words(source, flags, heads))

    @classmethod
    def from_object(cls, row: Mapping[str, Any]) -> PatternGuard:
        """What `to_object` wrote."""
        words = row.get("words")
        heads = row.get("heads")
        needs = None if words is None else PatternNeeds(frozenset(words.split()), tuple(row["signs"]))
        return cls(needs, None if heads is None else frozenset(heads.split("\n") if heads else ()), "at_words" in row)

    def to_object(self) -> dict[str, Any]:
        row: dict[str, Any] = {"at_words": 1} if self.at_words else {}
        if self.needs is not None:
            row |= {"words": " ".join(sorted(self.needs.words)), "signs": list(self.needs.signs)}
        return row if self.heads is None else {**row, "heads": "\n".join(sorted(self.heads))}


def pattern_key(source: str, flags: int) -> str:
    """The name of a pattern in the file of guards. A pattern that changes gets another, so no guard is outdated."""
    return blake2b(f"{int(flags)} {source}".encode(errors="surrogatepass"), digest_size=8).hexdigest()


@cache
def load_guards() -> Mapping[str, Mapping[str, Any]]:
    """What is known of the patterns of the rules."""
    guards: Mapping[str, Mapping[str, Any]] = json.loads(GUARDS_FILE.read_text(encoding="utf-8"))
    return guards


class _LazyPattern:
    """Stands for a compiled pattern, and has its methods from the first use on."""

    def __init__(self, source: str, flags: int, skips: bool, is_rare: bool) -> None:
        self.pattern = source
        self._flags = flags
        self._skips = skips
        self._is_rare = is_rare
        self._compiled: re.Pattern[str] | None = None
        self._guard: PatternGuard | None = None

    def __getattr__(self, name: str) -> Any:
        # Called only for a name that is not set yet: from now on it costs no more than that of a compiled pattern.
        if name not in UNFOUND:
            value = getattr(self.compile(), name)
        elif (guard := self.stored_guard()) is not None:
            value = _guard_method(self, name, guard)
        else:
            value = _count_uses(self, name)
        setattr(self, name, value)
        return value

    def stored_guard(self) -> PatternGuard | None:
        if self._guard is None and (row := load_guards().get(pattern_key(self.pattern, self._flags))) is not None:
            self._guard = PatternGuard.from_object(row)
        return self._guard

    def read_guard(self) -> PatternGuard:
        if self.stored_guard() is None:
            self._guard = PatternGuard.read(self.pattern, self._flags)
        assert self._guard is not None
        return self._guard

    @property
    def origin(self) -> tuple[str, int]:
        """What it was made from: its source and its flags."""
        return self.pattern, int(self._flags)

    @property
    def is_compiled(self) -> bool:
        return self._compiled is not None

    def compile(self) -> re.Pattern[str]:
        if self._compiled is None:
            source = self.pattern
            if self._skips:
                source = skip_where_nothing_begins(source, self._flags, self.read_guard().heads)
            self._compiled = re.compile(source, self._flags)
        return self._compiled

    def prepare(self) -> None:
        """Do now what its first use would have to do, as far as that does not depend on how it is used."""
        self.compile()
        guard = self.stored_guard()
        if guard is not None and guard.needs is not None and guard.needs.words:
            text_masks.add_list(guard.needs.words)

    def method(self, name: str) -> Callable[..., Any]:
        """The method of this name; that of a rare pattern looks at the starts of words, if it can match only there."""
        regex = self.compile()
        method: Callable[..., Any] = getattr(regex, name)
        if not self._is_rare or name not in ("search", "finditer"):
            return method
        guard = self.read_guard()
        if guard.heads is None or not guard.at_words:
            return method
        find = _match_at_words(regex, guard.heads)
        if name == "finditer":
            return find
        return lambda text, *options: next(find(text, *options), None)


def _count_uses(pattern: _LazyPattern, name: str) -> Callable[..., Any]:
    """The method of this name; once it was used often, the pattern gets one that first looks for the words it needs."""
    uses_left = OFTEN
    method = pattern.method(name)

    def use(*arguments: Any, **options: Any) -> Any:
        nonlocal uses_left, method
        uses_left -= 1
        if not uses_left:
            method = _guard_method(pattern, name, pattern.read_guard())
            setattr(pattern, name, method)
        return method(*arguments, **options)

    return use


def _guard_method(pattern: _LazyPattern, name: str, guard: PatternGuard) -> Callable[..., Any]:
    """The method of this name, which first looks whether the pattern can be found."""
    is_match = name in ("match", "fullmatch")
    if pattern.is_compiled or (guard.heads if is_match else guard.needs) is None:
        method = pattern.method(name)
    else:
        method = _compile_first(pattern, name, guard)
    if is_match:
        return method if guard.heads is None else _guard_match(method, guard.heads)
    return method if guard.needs is None else _guard_search(method, name, guard.needs)


def _compile_first(pattern: _LazyPattern, name: str, guard: PatternGuard) -> Callable[..., Any]:
    """The method of this name of a pattern that is compiled when a text may hold it: many never are."""

    def use(*arguments: Any, **options: Any) -> Any:
        pattern.compile()
        method = _guard_method(pattern, name, guard)
        setattr(pattern, name, method)
        return method(*arguments, **options)

    return use


def _guard_search(method: Callable[..., Any], name: str, needs: PatternNeeds) -> Callable[..., Any]:
    bit = text_masks.add_list(needs.words) if needs.words else 0
    signs = needs.signs
    unfound = UNFOUND[name]

    def may_match(text: str) -> bool:
        for sign in signs:
            if sign in text:
                return True
        return bit != 0 and text_masks[text] & bit != 0

    if name == "sub":

        def substitute(replacement: Any, text: str, *options: Any, **named: Any) -> Any:
            return method(replacement, text, *options, **named) if may_match(text) else text

        def substitute_words(replacement: Any, text: str, *options: Any, **named: Any) -> Any:
            return method(replacement, text, *options, **named) if text_masks[text] & bit else text

        return substitute if signs else substitute_words
    if signs or name != "search":
        return lambda text, *options: method(text, *options) if may_match(text) else unfound(text)

    def search(text: str, *options: int) -> Any:
        return method(text, *options) if text_masks[text] & bit else None

    return search


def _guard_match(method: Callable[..., Any], heads: Heads) -> Callable[..., Any]:
    may_begin_so = _Beginnings(heads)

    def match(text: str, start: int = 0, *stop: int) -> Any:
        return method(text, start, *stop) if may_begin_so[text[start : start + SIZE]] else None

    return match


def _match_at_words(regex: re.Pattern[str], heads: Heads) -> Callable[..., Iterator[re.Match[str]]]:
    """What finds a pattern by matching it at the words that begin as it must: a search would try every character."""
    may_begin_so = _Beginnings(heads)

    def find(text: str, start: int = 0, *stop: int) -> Iterator[re.Match[str]]:
        end = start
        for word in _WORD.finditer(text, start, *stop):
            place = word.start()
            may_match = may_begin_so[text[place : place + SIZE]] and place >= end
            if may_match and (match := regex.match(text, place, *stop)):
                yield match
                end = match.end()

    return find


_WORD = re.compile(r"\w+")


class _Beginnings(dict[str, bool]):
    """Whether a text with this beginning may match a pattern."""

    def __init__(self, heads: Heads) -> None:
        super().__init__()
        self._heads = heads

    def __missing__(self, beginning: str) -> bool:
        if len(self) >= MAX_BEGINNINGS:
            self.clear()
        self[beginning] = may_match = may_begin(self._heads, beginning)
        return may_match


def lazy_pattern(source: str, flags: int = 0, *, skips: bool = False, rare: bool = False) -> re.Pattern[str]:
    """Like `re.compile`; but an error in the pattern is raised at its first use. With `skips`, a pattern of many
    alternatives, which is searched in most texts, tries them only at characters with which one of them begins. A `rare`
    pattern, of which most texts that are searched hold words and no match, is tried at words that begin as it must."""
    return cast(re.Pattern[str], _LazyPattern(source, flags, skips, rare))


def patterns_in(value: object) -> Iterator[re.Pattern[str]]:
    """The patterns of `lazy_pattern` in lists, tuples and dictionaries, as the variables of a module are."""
    if isinstance(value, _LazyPattern):
        yield cast(re.Pattern[str], value)
    elif isinstance(value, dict):
        yield from patterns_in([*value.values()])
    elif isinstance(value, list | tuple):
        for part in value:
            yield from patterns_in(part)


def prepare_patterns(value: object) -> Iterator[None]:
    """Compile those of these patterns that are not compiled yet, one each time that the next item is asked for."""
    for pattern in patterns_in(value):
        lazy = cast(_LazyPattern, pattern)
        if not lazy.is_compiled:
            lazy.prepare()
            yield


def words_needed_by(patterns: Iterable[re.Pattern[str]]) -> frozenset[str] | None:
    """The words, or beginnings of them, of which a text has one if any of the patterns is found in it: to look for them
    stands for a look for each pattern. None if they are not known."""
    needs = [cast(_LazyPattern, pattern).read_guard().needs for pattern in patterns]
    if any(need is None or need.signs for need in needs):
        return None
    return frozenset(word for need in needs if need is not None for word in need.words)
