"""JSON values out of a stream, one at a time: a file of any size costs the memory of its largest value.

`elements` gives the elements of a file that is one list; `walk` the values at given places of a file that is
one object. Both give everything up to the byte where a file breaks, and then raise `ImportFailed`. A value that has
more than its limits allow is read past: a `Refused` stands in its place, and reading goes on after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from recollect.errors import ImportFailed
from recollect.parsing import STREAM, Readable, UnreadableJson, json_events

Path: TypeAlias = tuple[str, ...]
Events: TypeAlias = Iterator[tuple[str, Any]]

EACH: Final = "*"  # in a path: any element of a list


class _Mark:
    """What `walk` yields in place of a value."""


START: Final = _Mark()  # a list or an object on the path begins
WRONG: Final = _Mark()  # a value on the path is neither the list nor the object it should be


@dataclass(frozen=True, slots=True)
class Refused:
    """What stands in the place of a value that is too large, and why."""

    reason: str


_LONGEST = 4 * STREAM.size  # characters of all texts of a value
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


def _events(stream: Readable) -> Events:
    try:
        yield from json_events(stream)
    except UnreadableJson as error:
        raise ImportFailed(f"the file {error}") from None


def _build_value(event: str, value: Any, events: Events) -> Any:
    """The value that begins with this event, complete; or why it is refused."""
    if event not in _STARTS:
        return value
    inside: list[Any] = []
    keys: list[str] = []
    count = 0
    size = 0
    while True:
        count += 1
        size += len(value) if isinstance(value, str) else 0
        if count > STREAM.values or size > _LONGEST:
            _skip_levels(len(inside) + (event in _STARTS) - (event in _ENDS), events)
            return Refused(f"has more than {STREAM.values:,} values, or more than {_LONGEST:,} characters")
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
    _skip_levels(1 if event in _STARTS else 0, events)


def _skip_levels(depth: int, events: Events) -> None:
    """Read on until so many lists and objects have ended."""
    while depth:
        event, _ = next(events)
        depth += (event in _STARTS) - (event in _ENDS)
