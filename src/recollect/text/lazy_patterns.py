"""Patterns that are compiled when they are first used.

The rules have some eight hundred patterns. To compile all of them takes longer than to start Python, and most programs
use a few: a search, for example, reads no facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
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
