"""JSON values out of a stream, one at a time: a file of any size costs the memory of its largest value.

`elements` gives the elements of a file that is one list; `walk` the values at given places of a file that is
one object. Both give everything up to the byte where a file breaks, and then raise `ImportFailed`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, Protocol, TypeAlias

import ijson

from recollect.errors import ImportFailed

Path: TypeAlias = tuple[str, ...]
Events: TypeAlias = Iterator[tuple[str, Any]]

EACH: Final = "*"  # in a path: any element of a list


class Readable(Protocol):
    """Where the bytes come from."""

    def read(self, size: int = -1, /) -> bytes: ...


class _Mark:
    """What `walk` yields in place of a value."""


START: Final = _Mark()  # a list or an object on the path begins
WRONG: Final = _Mark()  # a value on the path is neither the list nor the object it should be

_STARTS = ("start_map", "start_array")
_ENDS = ("end_map", "end_array")


def elements(stream: Readable) -> Iterator[Any]:
    """The elements of the list the file is; the file's one value, if it is not a list."""
    events = _events(stream)
    for event, value in events:
        if event != "start_array":
            yield _build_value(event, value, events)
            continue
        for inner, element in events:
            if inner == "end_array":
                break
            yield _build_value(inner, element, events)


class _Place:
    """A node of the tree of places: a leaf is a value to give, any other a list or object to go through."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.children: dict[str, _Place] = {}

    @property
    def start(self) -> str:
        return "start_array" if EACH in self.children else "start_map"

    @classmethod
    def tree(cls, paths: Iterable[Path]) -> _Place:
        root = cls(())
        for path in paths:
            place = root
            for step in path:
                place = place.children.setdefault(step, cls((*place.path, step)))
        return root


def walk(stream: Readable, paths: Iterable[Path]) -> Iterator[tuple[Path, Any]]:
    """Each value at one of these paths, with its path, in the file's order; `START`, `WRONG` on the way."""
    events = _events(stream)
    inside: list[_Place] = []
    place: _Place | None = _Place.tree(paths)
    for event, value in events:
        if event == "map_key":
            place = inside[-1].children.get(value)
            continue
        if event in _ENDS:
            inside.pop()
        elif place is None:
            _skip(event, events)
        elif not place.children:
            yield place.path, _build_value(event, value, events)
        elif event == place.start:
            yield place.path, START
            inside.append(place)
        else:
            _skip(event, events)
            yield place.path, WRONG
        place = inside[-1].children.get(EACH) if inside else None


class _WatchedStream:
    """A stream that knows whether its end was read: if so, invalid JSON means that the file was cut off."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self.ended = False

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self.ended = not data and size != 0
        return data


def _events(stream: Readable) -> Events:
    source = _WatchedStream(stream)
    try:
        yield from ijson.basic_parse(source)
    except ijson.JSONError as error:
        if source.ended:
            raise ImportFailed("the file breaks off here") from None
        problem = str(error).removeprefix("b'").replace("\\n", "\n").split("\n", 1)[0].rstrip(".")
        raise ImportFailed(f"the file is not valid JSON from here on: {problem}") from None
    except (ValueError, ArithmeticError):
        raise ImportFailed("the file is not valid JSON from here on: an impossible number or letter") from None


def _build_value(event: str, value: Any, events: Events) -> Any:
    """The value that begins with this event, complete."""
    if event not in _STARTS:
        return value
    inside: list[Any] = []
    keys: list[str] = []
    while True:
        if event == "map_key":
            keys[-1] = value
        elif event in _STARTS:
            inside.append({} if event == "start_map" else [])
            keys.append("")
        else:
            if event in _ENDS:
                value = inside.pop()
                keys.pop()
                if not inside:
                    return value
            if isinstance(inside[-1], dict):
                inside[-1][keys[-1]] = value
            else:
                inside[-1].append(value)
        event, value = next(events)


def _skip(event: str, events: Events) -> None:
    """Read past the value that begins with this event."""
    depth = 1 if event in _STARTS else 0
    while depth:
        event, _ = next(events)
        depth += (event in _STARTS) - (event in _ENDS)
