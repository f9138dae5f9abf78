"""Patterns that are compiled when they are first used.

The rules have some six hundred patterns. To compile all of them takes longer than to start Python, and most programs
use a few: a search, for example, reads no facts.
"""

from __future__ import annotations

import re
from typing import Any, cast


class _LazyPattern:
    """Stands for a compiled pattern, and has its methods from the first use on."""

    def __init__(self, source: str, flags: int) -> None:
        self.pattern = source
        self._flags = flags
        self._compiled: re.Pattern[str] | None = None

    def __getattr__(self, name: str) -> Any:
        # Called only for a name that is not set yet: from now on it costs no more than that of a compiled pattern.
        if self._compiled is None:
            self._compiled = re.compile(self.pattern, self._flags)
        value = getattr(self._compiled, name)
        setattr(self, name, value)
        return value


def lazy_pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """Like `re.compile`; but an error in the pattern is raised at its first use."""
    return cast(re.Pattern[str], _LazyPattern(source, flags))
