"""Where an import comes from: a file, the members of a zip that hold conversations, or standard input.

A source is read in parts, one after the other, each as a `Stream` that counts its bytes. Every error
below (a disk, an archive, a missing file) is raised as `ImportFailed`.

JSON comes out of a stream one value at a time: a file of any size costs the memory of its largest value. `elements`
gives the elements of a file that is one list; `walk` the values at given places of a file that is one object. Both give
everything up to the byte where a file breaks, and then raise `ImportFailed`. A value that has more than its limits
allow is read past: a `Refused` stands in its place, and reading goes on after it.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import zipfile
import zlib
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, Final, TypeAlias

from everword.errors import ImportFailed
from everword.parsing import STREAM, Readable, UnreadableJson, json_events

MARK = b"\xef\xbb\xbf"  # the byte order mark some programs put before UTF-8
ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
STANDARD_INPUT = "-"

# ChatGPT splits a long export into numbered files.
_NUMBERED = re.compile(r"conversations-\d+\.json")
_WHOLE = ("conversations.json", "result.json")
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_FAULTS = (OSError, EOFError, ValueError, NotImplementedError, zipfile.BadZipFile, zlib.error)
Path: TypeAlias = tuple[str, ...]
Events: TypeAlias = Iterator[tuple[str, Any]]

EACH: Final = "*"  # in a path: any element of a list


class Stream:
    """The bytes of one part, counted, without the byte order mark."""

    def __init__(self, raw: IO[bytes], before: int = 0) -> None:
        self._raw = raw
        self._before = before
        self.position = before

    def read(self, size: int = -1) -> bytes:
        try:
            return self._count_bytes(self._raw.read(size))
        except _FAULTS as error:
            raise _import_error("the file", error) from error

    def readline(self, size: int = -1) -> bytes:
        try:
            return self._count_bytes(self._raw.readline(size))
        except _FAULTS as error:
            raise _import_error("the file", error) from error

    def _count_bytes(self, data: bytes) -> bytes:
        first = self.position == self._before
        self.position += len(data)
        return data.removeprefix(MARK) if first else data


@dataclass(frozen=True, slots=True)
class Source:
    """One file to import. `path` is None for standard input; `members` are those to read of an archive."""

    name: str
    path: str | None
    members: tuple[str, ...]
    total_bytes: int | None

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> Source:
        name = os.fspath(path)
        if name == STANDARD_INPUT:
            return cls("standard input", None, (), None)
        with _translate_errors(name):
            status = os.stat(name)
            if stat.S_ISDIR(status.st_mode):
                raise ImportFailed(f"{name} is a directory: name the file in it, such as conversations.json")
            if not stat.S_ISREG(status.st_mode):
                raise ImportFailed(f"{name} is not a plain file: to read a pipe, use - (standard input)")
            with open(name, "rb") as raw:
                if raw.read(4) not in ZIP_STARTS:
                    return cls(name, name, (), status.st_size)
            with zipfile.ZipFile(name) as archive:
                members = _conversation_members(name, archive)
            names = tuple(member.filename for member in members)
            return cls(name, name, names, sum(member.file_size for member in members))

    def parts(self) -> Generator[tuple[str, Stream], None, None]:
        """Each part and its name (empty if it is the only one); a part stays open until the next one."""
        with _translate_errors(self.name):
            if self.path is None:
                yield "", Stream(sys.stdin.buffer)
            elif not self.members:
                with open(self.path, "rb") as raw:
                    yield "", Stream(raw)
            else:
                with zipfile.ZipFile(self.path) as archive:
                    before = 0
                    for member in self.members:
                        with archive.open(member) as raw_member:
                            yield member if len(self.members) > 1 else "", Stream(raw_member, before)
                        before += archive.getinfo(member).file_size


def _conversation_members(name: str, archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """The members of an archive that hold conversations: by the exporters' file names, or the only JSON file."""
    files = {}
    for info in archive.infolist():
        base = info.filename.rsplit("/", 1)[-1]
        if not info.filename.startswith("__MACOSX/") and not base.startswith("."):
            files[info.filename] = (base, info)
    members = [info for base, info in files.values() if base in _WHOLE][:1]
    if not members:
        members = [info for _, (base, info) in sorted(files.items()) if _NUMBERED.fullmatch(base)]
    if not members:
        members = [info for base, info in files.values() if base.endswith((".json", ".jsonl"))]
        if len(members) != 1:
            raise ImportFailed(f"{name} has no conversations.json: unpack it and name the file to import")
    _check_members(name, members)
    return members


def _check_members(name: str, members: Sequence[zipfile.ZipInfo]) -> None:
    """Refuse members that cannot be read as they are."""
    if any(info.flag_bits & 1 for info in members):
        raise ImportFailed(f"{name} is encrypted: unpack it with its password first")
    if any(info.compress_type not in _PACKINGS for info in members):
        raise ImportFailed(f"{name} is packed in an unusual way: unpack it first")


def _import_error(name: str, error: Exception) -> ImportFailed:
    if isinstance(error, FileNotFoundError):
        return ImportFailed(f"there is no file {name}")
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return ImportFailed(f"{name} could not be read: {reason or type(error).__name__}")


@contextmanager
def _translate_errors(name: str) -> Iterator[None]:
    try:
        yield
    except _FAULTS as error:
        raise _import_error(name, error) from error


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
