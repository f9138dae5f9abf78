"""What a model wrote, read as the object it was asked for.

Models wrap JSON in prose and code fences, think aloud before it, leave commas behind, quote with the wrong quotes,
forget the last bracket, or fall back to `LABEL: text`. All of that is read. What cannot be read is no object, never an
error of another kind; and only a bounded part is looked at, so an endless answer costs no more than a long one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

MAX_CHARACTERS = 64_000
"""Characters of an answer that are looked at, from its end: thinking aloud comes first."""
_MAX_STARTS = 50  # places where an object may begin
_MAX_DEPTH = 20
_MAX_LINE = 20_000  # characters of a value made into a line

_OPENING = re.compile(r"[{\[]")
_THOUGHT = re.compile(r"</(?:think|thinking|reasoning|thought)>", re.IGNORECASE)


def objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in an answer, outermost first, those of a list one by one; keys in small letters and digits."""
    text = said(text)
    at = 0
    for _ in range(_MAX_STARTS):
        start = _OPENING.search(text, at)
        if start is None:
            return
        found, at = _value_at(text, start.start())
        for one in found if isinstance(found, list) else [found]:
            if isinstance(one, dict) and one:
                yield one


def labelled(text: str, labels: Mapping[str, str]) -> list[dict[str, str]]:
    """`LABEL: text` parts as objects; `labels` says which pattern means which key. A repeated key begins a new one."""
    either = "|".join(f"(?P<{key}>{label})" for key, label in labels.items())
    start = r"(?:^[ \t]*+[>*_#`-]*+[ \t]*+|(?<=[\s;])[*_`]*)"
    pattern = re.compile(rf"{start}(?:{either})[*_`]*[ \t]*[:=：]+[*_`]*", re.IGNORECASE | re.MULTILINE)
    text = said(text)
    marks = list(pattern.finditer(text))
    found: list[dict[str, str]] = []
    for number, mark in enumerate(marks):
        end = marks[number + 1].start() if number + 1 < len(marks) else len(text)
        key = mark.lastgroup or ""
        if not found or key in found[-1]:
            found.append({})
        found[-1][key] = text[mark.end() : end].strip(" \t\r\n`*")
    return found


def said(text: str) -> str:
    """What a model said after thinking, as far as it is looked at."""
    return _THOUGHT.split(text[-MAX_CHARACTERS:])[-1]


def line(value: object) -> str:
    """A value as one line of text: lists and objects as models mean them, pairs side by side."""
    if isinstance(value, str):
        return value[:_MAX_LINE]
    if isinstance(value, Mapping):
        return "; ".join(f"{key} = {line(one)}" for key, one in value.items())[:_MAX_LINE]
    if isinstance(value, list | tuple):
        return "; ".join(line(one) for one in value)[:_MAX_LINE]
    return "" if value is None else str(value)


# Relaxed JSON: a reader that takes what is there.

_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "`": "`", "«": "»"}
_BARE = re.compile(r"[^\s,:\[\]{}]+(?:[ \t]+[^\s,:\[\]{}]+)*")
_WORDS = {"true": True, "false": False, "null": None, "none": None, "undefined": None}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


class _Unreadable(Exception):
    """There is no value here."""


def _value_at(text: str, start: int) -> tuple[Any, int]:
    """The value that begins at a bracket, and where to look on; None if there is none."""
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(text, start)
    except (ValueError, RecursionError):
        try:
            value, end = _read(text, start, 0)
        except _Unreadable:
            return None, start + 1
    return _plain(value, 0), end


def _plain(value: Any, depth: int) -> Any:
    """With keys as they are compared, and nothing nested without end."""
    if depth > _MAX_DEPTH:
        return None
    if isinstance(value, dict):
        return {re.sub(r"[\W_]+", "", str(key)).casefold(): _plain(one, depth + 1) for key, one in value.items()}
    return [_plain(one, depth + 1) for one in value] if isinstance(value, list) else value


def _read(text: str, at: int, depth: int) -> tuple[Any, int]:
    at = _skip(text, at)
    if at >= len(text) or depth > _MAX_DEPTH:
        raise _Unreadable
    if text[at] == "{":
        return _object(text, at + 1, depth)
    if text[at] == "[":
        return _list(text, at + 1, depth)
    if text[at] in _QUOTES:
        return _string(text, at)
    word = _BARE.match(text, at)
    if word is None:
        raise _Unreadable
    return _WORDS.get(word[0].casefold(), word[0]), word.end()


def _object(text: str, at: int, depth: int) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    while True:
        at = _skip(text, at, ",;")
        if at >= len(text):
            return found, at
        if text[at] == "}":
            return found, at + 1
        if text[at] in "{[":
            raise _Unreadable
        key, at = _read(text, at, depth)
        at = _skip(text, at)
        if text[at : at + 1] not in (":", "=", "："):
            raise _Unreadable
        at = _skip(text, at, ":=：>")
        if at >= len(text):
            return found, at
        if text[at] in ",}":
            found[str(key)] = None
            continue
        found[str(key)], at = _read(text, at, depth + 1)


def _list(text: str, at: int, depth: int) -> tuple[list[Any], int]:
    found: list[Any] = []
    while True:
        at = _skip(text, at, ",;")
        if at >= len(text):
            return found, at
        if text[at] == "]":
            return found, at + 1
        one, at = _read(text, at, depth + 1)
        found.append(one)


def _string(text: str, at: int) -> tuple[str, int]:
    """A string in any quotes. One of its own kind inside does not end it, unless the object could go on after it."""
    close = _QUOTES[text[at]]
    made: list[str] = []
    at += 1
    while at < len(text):
        char = text[at]
        if char == "\\" and at + 1 < len(text):
            escaped, at = _escape(text, at + 1)
            made.append(escaped)
            continue
        if char == close and _AFTER_STRING.match(text, at + 1):
            return "".join(made), at + 1
        made.append(char)
        at += 1
    return "".join(made), at


# Of a comma after a quote, only one that a key or a value follows is taken for the end of the string.
_AFTER_STRING = re.compile(r"\s*(?:[;}\]:：=]|$|,\s*(?:[\"'“‘`«{}\[\]]|$|-?\d|true\b|false\b|null\b|\w+\s*:))")
_CODE_POINT = re.compile(r"u([0-9a-fA-F]{4})")


def _escape(text: str, at: int) -> tuple[str, int]:
    point = _CODE_POINT.match(text, at)
    if point:
        return chr(int(point[1], 16)), point.end()
    return _ESCAPES.get(text[at], text[at]), at + 1


def _skip(text: str, at: int, also: str = "") -> int:
    """Past white space and these characters."""
    while at < len(text) and (text[at].isspace() or text[at] in also):
        at += 1
    return at
