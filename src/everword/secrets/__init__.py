"""Where a text holds a secret (an API key, a password, a card number), and the text without it.

A `SecretMark` describes the text it came with: of a masked text it covers the placeholder, so that masking twice is
masking once. `detector.find_secrets` reads a text in one pass of three steps: what is a secret by its own form, what
the words around it announce, and runs of letters so random that nothing else explains them. Each step
spares what only looks like one (`values`). The words, by language, and the formats are text files in `data`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class SecretMark:
    """One secret in a text: its kind in plain words ("API key"), and the characters it takes up.

    In a message, `path` is empty for the content; for a text in its metadata it is that text's JSON Pointer.
    """

    kind: str
    start: int
    end: int
    path: str = ""


Marks = tuple[SecretMark, ...]
MaskedParts = tuple[str, Mapping[str, Any], Marks]


def placeholder_of(kind: str) -> str:
    """What stands in place of a secret of this kind."""
    return f"[secret: {kind}]"


def mask_text(text: str, marks: Iterable[SecretMark]) -> str:
    """The text with a placeholder in place of each marked secret."""
    return _mask(text, marks)[0]


def _mask(text: str, marks: Iterable[SecretMark]) -> tuple[str, list[SecretMark]]:
    parts = []
    new_marks = []
    length = end = 0
    for mark in marks:
        placeholder = placeholder_of(mark.kind)
        length += mark.start - end
        parts += [text[end : mark.start], placeholder]
        new_marks.append(SecretMark(mark.kind, length, length + len(placeholder), mark.path))
        length += len(placeholder)
        end = mark.end
    return "".join([*parts, text[end:]]), new_marks


def mask_parts(content: str, metadata: Mapping[str, Any], marks: Marks) -> MaskedParts:
    """The content and the metadata of a message with placeholders, and the marks of these."""
    marks_by_path: dict[str, list[SecretMark]] = {}
    for mark in marks:
        marks_by_path.setdefault(mark.path, []).append(mark)
    masked_content, new_marks = _mask(content, marks_by_path.pop("", ()))
    if not marks_by_path:
        return masked_content, metadata, tuple(new_marks)
    masked_texts: dict[str, str] = {}
    for path, text in texts_in(metadata):
        if path in marks_by_path:
            masked_texts[path], masked_marks = _mask(text, marks_by_path[path])
            new_marks += masked_marks
    return masked_content, with_texts(metadata, masked_texts), tuple(new_marks)


def texts_in(metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Every text in metadata with its JSON Pointer; the names of fields are none."""
    unread: list[tuple[str, Any]] = [("", metadata)]
    while unread:
        path, value = unread.pop()
        if isinstance(value, str):
            yield path, value
        elif isinstance(value, Mapping):
            unread += [(f"{path}/{escape_name(name)}", inner) for name, inner in value.items()]
        elif isinstance(value, list | tuple):
            unread += [(f"{path}/{place}", inner) for place, inner in enumerate(value)]


def with_texts(metadata: Mapping[str, Any], texts: Mapping[str, str]) -> dict[str, Any]:
    """A copy of metadata with other texts at these JSON Pointers."""
    copy: dict[str, Any] = json.loads(json.dumps(dict(metadata)))
    for path, text in texts.items():
        *parents, last = [unescape_name(name) for name in path.split("/")[1:]]
        place: Any = copy
        for name in parents:
            place = place[int(name) if isinstance(place, list) else name]
        place[int(last) if isinstance(place, list) else last] = text
    return copy


def escape_name(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def unescape_name(name: str) -> str:
    return name.replace("~1", "/").replace("~0", "~")


def marks_to_json(marks: Marks) -> str | None:
    """Marks as a store keeps them; None if there are none."""
    if not marks:
        return None
    fields = [[mark.kind, mark.start, mark.end, *([mark.path] if mark.path else [])] for mark in marks]
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def marks_from_json(text: str) -> Marks:
    """Marks from what a store keeps. Raises ValueError if it is something else."""
    try:
        marks = tuple(SecretMark(*fields) for fields in json.loads(text))
    except TypeError:
        raise ValueError("the stored positions of secrets in a text cannot be read") from None
    for mark in marks:
        if not (type(mark.kind) is type(mark.path) is str and type(mark.start) is type(mark.end) is int):
            raise ValueError("the stored positions of secrets in a text cannot be read")
    return marks
