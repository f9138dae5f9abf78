"""Remembers what rules say of short texts.

A message is read by several views, and its sentences again whenever a summary of them grows. Long texts are not
remembered: they are rare, and would fill the memory.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeVar

T = TypeVar("T")

SHORT = 1_000
"""Characters of a text that is remembered, at most."""
REMEMBERED = 16_000
"""Texts that are remembered for each rule; the one that was used longest ago is dropped first."""


def remember_short_texts(rule: Callable[..., T]) -> Callable[..., T]:
    """A rule that reads a text, its first argument, and gives something that cannot be changed."""
    remembered = lru_cache(maxsize=REMEMBERED)(rule)

    @wraps(rule)
    def read_text(text: str, *options: Any) -> T:
        return remembered(text, *options) if len(text) <= SHORT else rule(text, *options)

    return read_text
