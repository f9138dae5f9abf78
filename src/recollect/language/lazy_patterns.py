"""Patterns that are compiled when they are first used, and are not searched where they cannot be found.

The rules have some six hundred patterns. To compile all of them takes longer than to start Python, and most programs
use a few: a search, for example, reads no facts. A pattern that is used often is not searched in a text that lacks the
words it needs (`pattern_prefilter`), nor matched with one that does not begin as it must (`pattern_heads`): an import
reads every sentence with hundreds of patterns, of which few are found.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

from recollect.language.pattern_heads import SIZE, Heads, may_begin, pattern_heads, skip_where_nothing_begins
from recollect.language.pattern_prefilter import known_words, pattern_needs

OFTEN = 500
"""Uses of a pattern after which it is worth finding out which words it needs."""
MAX_BEGINNINGS = 5_000
"""Beginnings of texts of which a pattern remembers whether it may match them."""
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


class _LazyPattern:
    """Stands for a compiled pattern, and has its methods from the first use on."""

    def __init__(self, source: str, flags: int, skips: bool) -> None:
        self.pattern = source
        self._flags = flags
        self._skips = skips
        self._compiled: re.Pattern[str] | None = None

    def __getattr__(self, name: str) -> Any:
        # Called only for a name that is not set yet: from now on it costs no more than that of a compiled pattern.
        if self._compiled is None:
            source = skip_where_nothing_begins(self.pattern, self._flags) if self._skips else self.pattern
            self._compiled = re.compile(source, self._flags)
        value = getattr(self._compiled, name)
        if name in UNFOUND:
            value = _count_uses(self, self._compiled, name)
        setattr(self, name, value)
        return value


def _count_uses(pattern: _LazyPattern, compiled: re.Pattern[str], name: str) -> Callable[..., Any]:
    """The method of this name; once it was used often, the pattern gets one that first looks for the words it needs."""
    uses_left = OFTEN
    method: Callable[..., Any] = getattr(compiled, name)

    def use(*arguments: Any, **options: Any) -> Any:
        nonlocal uses_left, method
        uses_left -= 1
        if not uses_left:
            method = _guard(compiled, name)
            setattr(pattern, name, method)
        return method(*arguments, **options)

    return use


def _guard(compiled: re.Pattern[str], name: str) -> Callable[..., Any]:
    """The method of this name, which first looks whether the pattern can be found."""
    method: Callable[..., Any] = getattr(compiled, name)
    if name in ("match", "fullmatch"):
        return _guard_match(compiled, method)
    needs = pattern_needs(compiled.pattern, compiled.flags)
    if needs is None:
        return method
    needed_words = needs.words
    signs = needs.signs
    unfound = UNFOUND[name]

    def may_match(text: str) -> bool:
        for sign in signs:
            if sign in text:
                return True
        if not needed_words:
            return False
        words = known_words[text]
        return words is None or not needed_words.isdisjoint(words)

    if name == "sub":

        def substitute(replacement: Any, text: str, *options: Any, **named: Any) -> Any:
            return method(replacement, text, *options, **named) if may_match(text) else text

        return substitute
    if signs:
        return lambda text, *options: method(text, *options) if may_match(text) else unfound(text)
    if name == "search":

        def search(text: str, *options: int) -> Any:
            words = known_words[text]
            if words is not None and needed_words.isdisjoint(words):
                return None
            return method(text, *options)

        return search
    return lambda text, *options: method(text, *options) if may_match(text) else unfound(text)


def _guard_match(compiled: re.Pattern[str], method: Callable[..., Any]) -> Callable[..., Any]:
    heads = pattern_heads(compiled.pattern, compiled.flags)
    if heads is None:
        return method
    may_begin_so = _Beginnings(heads)

    def match(text: str, *options: int) -> Any:
        start = options[0] if options else 0
        return method(text, *options) if may_begin_so[text[start : start + SIZE]] else None

    return match


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


def lazy_pattern(source: str, flags: int = 0, *, skips: bool = False) -> re.Pattern[str]:
    """Like `re.compile`; but an error in the pattern is raised at its first use. With `skips`, a pattern of many
    alternatives, which is searched in most texts, tries them only at characters with which one of them begins."""
    return cast(re.Pattern[str], _LazyPattern(source, flags, skips))
