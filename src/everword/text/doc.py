"""A text as the rules have read it: each rule reads a text once, while the text is among those worked on lately.

A message is read by several views, and its sentences again whenever a summary of them grows. `doc_of` gives the `Doc`
of a text; what a rule says of it is kept there. This is the only place where readings of texts are kept: a bounded
number of short ones. Long texts are rare, and would fill the memory; their `Doc` is as good, and is not kept.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

T = TypeVar("T")
P = ParamSpec("P")

SHORT = 1_000
"""Characters of a text that is kept, at most."""
KEPT = 24_000
"""Texts that are kept, at most: those of the last few thousand messages and their sentences."""


class Doc:
    """One text, and what rules have said of it."""

    __slots__ = ("_readings", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._readings: dict[object, Any] = {}

    def read(self, rule: Callable[..., T], *options: object) -> T:
        """What a rule says of the text, read when it is first asked for. It is something that cannot be changed."""
        key = (rule, *options) if options else rule
        readings = self._readings
        if key not in readings:
            readings[key] = rule(self.text, *options)
        return cast(T, readings[key])


_languages: ContextVar[str] = ContextVar("languages", default="")


def languages_read() -> str:
    """The codes of the languages that texts may be in, with commas; empty: all."""
    return _languages.get()


def read_in_languages(languages: str, fn: Callable[..., T], *args: Any) -> T:
    """Call a function that takes texts to be in one of these languages."""
    token = _languages.set(languages)
    try:
        return fn(*args)
    finally:
        _languages.reset(token)


_docs: dict[str, Doc] = {}
_older_docs: dict[str, Doc] = {}


def doc_of(text: str) -> Doc:
    """The reading of a text that may have been read before. When many are kept, a new generation begins: what is not
    asked for in it goes with the next."""
    languages = _languages.get()
    key = f"{languages}\0{text}" if languages else text
    doc = _docs.get(key)
    if doc is None:
        doc = _older_docs.get(key) or Doc(text)
        if len(text) <= SHORT:
            if len(_docs) >= KEPT // 2:
                _older_docs.clear()
                _older_docs.update(_docs)
                _docs.clear()  # another thread may use it too, so entries are not removed one by one
            _docs[key] = doc
    return doc


def read_once(rule: Callable[Concatenate[str, P], T]) -> Callable[Concatenate[str, P], T]:
    """The same rule, which reads each text once while the text is among those worked on lately."""

    @wraps(rule)
    def read(text: str, /, *options: P.args, **named_options: P.kwargs) -> T:
        return doc_of(text).read(rule, *options, *named_options.values())

    return read
