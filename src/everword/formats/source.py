"""Where an import comes from: a file, the members of a zip that hold conversations, or standard input.

A source is read in parts, one after the other, each as a `Stream` that counts its bytes. Every error
below (a disk, an archive, a missing file) is raised as `ImportFailed`.

JSON comes out of a stream one value at a time: a file of any size costs the memory of its largest value. `elements`
gives the elements of a file that is one list; `walk` the values at given places of a file that is one object. Both give
everything up to the byte where a file breaks, and then raise `ImportFailed`. A value that has more than its limits
allow is read past: a `Refused` stands in its place, and reading goes on after it.

Values in a file have any type: each reading function takes one with its name in the file, and either returns it as the
type it should have or raises `ImportFailed` with the name and what was expected. No reader touches a value in any other
way, so a string where an object should be is a bad record and never a traceback. A bad record is a value, not an
exception (`attempt`): it never stops the reading, and the caller decides what to do with it.
"""

from __future__ import annotations

import os
import re
import sqlite3
import stat
import sys
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal
from pathlib import Path as FilePath
from typing import IO, Any, Final, TypeAlias, TypeVar

from everword.errors import ImportFailed
from everword.model import EPOCH, BadRecord, Record
from everword.strict_json import KEPT_DEPTH, STREAM, Readable, UnreadableJson, json_events

MARK = b"\xef\xbb\xbf"  # the byte order mark some programs put before UTF-8
ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
STANDARD_INPUT = "-"

# ChatGPT splits a long export into numbered files.
_NUMBERED = re.compile(r"conversations-\d+\.json")
_WHOLE = ("conversations.json", "result.json")
_MEMORIES = "memories.json"  # Claude's, beside the conversations
SLACK_LISTS = ("channels.json", "groups.json", "dms.json", "mpims.json")
SLACK_DAY = re.compile(r"(?:^|/)[^/]+/\d{4}-\d\d-\d\d\.json$")
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_FAULTS = (OSError, EOFError, ValueError, NotImplementedError, zipfile.BadZipFile, zlib.error)
Path: TypeAlias = tuple[str, ...]
Events: TypeAlias = Iterator[tuple[str, Any]]

_MOST_TABLES = 1_000
DATABASE_START = b"SQLite format 3\x00"

EACH: Final = "*"  # in a path: any element of a list


class Stream:
    """The bytes of one part, counted, without the byte order mark."""

    def __init__(self, raw: IO[bytes], before: int = 0, name: str = "", is_database: bool = False) -> None:
        self.name = name
        self.is_database = is_database
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
    is_database: bool = False

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> Source:
        name = os.fspath(path)
        if name == STANDARD_INPUT:
            return cls("standard input", None, (), None)
        with _translate_errors(name):
            status = os.stat(name)
            if stat.S_ISDIR(status.st_mode):
                raise ImportFailed(f"{name} is a directory; give the path of one file, such as conversations.json")
            if not stat.S_ISREG(status.st_mode):
                raise ImportFailed(f"{name} is not a regular file; to read a pipe, use - (standard input)")
            with open(name, "rb") as raw:
                start = raw.read(len(DATABASE_START))
                if start[:4] not in ZIP_STARTS:
                    return cls(name, name, (), status.st_size, start == DATABASE_START)
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
                    yield "", Stream(raw, name=self.name, is_database=self.is_database)
            else:
                with zipfile.ZipFile(self.path) as archive:
                    before = 0
                    for member in self.members:
                        with archive.open(member) as raw_member:
                            stream = Stream(raw_member, before, f"{self.path}/{member}")
                            yield member if len(self.members) > 1 else "", stream
                        before += archive.getinfo(member).file_size


def _conversation_members(name: str, archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """The members of an archive that hold conversations: by the exporters' file names, or the only JSON file."""
    files: dict[str, tuple[str, zipfile.ZipInfo]] = {}
    for info in archive.infolist():
        base = info.filename.rsplit("/", 1)[-1]
        if not info.filename.startswith("__MACOSX/") and not base.startswith("."):
            files[info.filename] = (base, info)
    if any(base in SLACK_LISTS for base, _ in files.values()):
        return _slack_members(name, files)
    whole = [info for base, info in files.values() if base in _WHOLE][:1]
    if whole:
        members = whole + [info for base, info in files.values() if base == _MEMORIES][:1]
    else:
        parts = [info for _, (base, info) in sorted(files.items()) if _NUMBERED.fullmatch(base)]
        members = parts or [_only_file(name, files.values())]
    _check_members(name, members)
    return members


def _only_file(name: str, files: Collection[tuple[str, zipfile.ZipInfo]]) -> zipfile.ZipInfo:
    """The one file of an archive that can hold conversations."""
    for endings in ((".json", ".jsonl", ".af"), (".txt",)):
        members = [info for base, info in files if base.endswith(endings)]
        if len(members) == 1:
            return members[0]
        if members:
            break
    raise ImportFailed(f"{name} contains no conversations.json; unpack the archive and import one of its files")


def _slack_members(name: str, files: Mapping[str, tuple[str, zipfile.ZipInfo]]) -> list[zipfile.ZipInfo]:
    """The members of an export of Slack: people and channels, then their days."""
    lists = ("users.json", *SLACK_LISTS)
    members = [info for known in lists for base, info in files.values() if base == known]
    days = [info for path, (_, info) in sorted(files.items()) if SLACK_DAY.search(path)]
    if not days:
        raise ImportFailed(f"{name} is a Slack export without messages")
    _check_members(name, [*members, *days])
    return [*members, *days]


def _check_members(name: str, members: Sequence[zipfile.ZipInfo]) -> None:
    """Refuse members that cannot be read as they are."""
    if any(info.flag_bits & 1 for info in members):
        raise ImportFailed(f"{name} is encrypted; unpack it with its password first")
    if any(info.compress_type not in _PACKINGS for info in members):
        raise ImportFailed(f"{name} is compressed with a method that everword cannot read; unpack it first")


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


def elements(stream: Readable, *, many: bool = False) -> Iterator[Any]:
    """The elements of the list the file is; the file's one value, if it is not a list; with `many`, all its values."""
    events = _events(stream, many=many)
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

    def is_opened_by(self, event: str) -> bool:
        """Whether a list, or an object, that begins with this event is one to go through."""
        is_list = EACH in self.children
        return (event == "start_array" and is_list) or (event == "start_map" and len(self.children) > is_list)

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
        elif place.is_opened_by(event):
            yield place.path, START
            inside.append(place)
        else:
            _skip(event, events)
            yield place.path, WRONG
        place = inside[-1].children.get(EACH) if inside else None


def _events(stream: Readable, *, many: bool = False) -> Events:
    try:
        yield from json_events(stream, many=many)
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


# -- databases


def table_rows(path: str, table: str, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The rows of a table of a SQLite file, in the order in which they were written. It is read and nothing else: what
    in the file would call a function is refused."""
    try:
        connection = sqlite3.connect(f"{FilePath(path).absolute().as_uri()}?mode=ro", uri=True)
        with closing(connection):
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, STREAM.size)
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.set_authorizer(_allow_reading)
            connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
            for row in connection.execute(f'SELECT {", ".join(columns)} FROM "{table}" ORDER BY rowid'):
                yield dict(zip(columns, row, strict=True))
    except sqlite3.Error as error:
        raise ImportFailed(f"the database could not be read: {error}") from error


_MARKS_OF_SQL = dict.fromkeys(map(ord, "(),;\"'`[]"), " ")


def tables_of(path: str) -> dict[str, set[str]]:
    """The tables of a SQLite file, and the columns that each was declared with."""
    rows = list(table_rows(path, "sqlite_master", ("name", "type", "sql")))
    return {
        str(row["name"]): {*str(row["sql"]).translate(_MARKS_OF_SQL).split()}
        for row in rows[:_MOST_TABLES]
        if row["type"] == "table"
    }


def _allow_reading(action: int, *_: Any) -> int:
    return sqlite3.SQLITE_OK if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ) else sqlite3.SQLITE_DENY


T = TypeVar("T")

LATEST_SECOND = 253_402_300_799  # the end of the year 9999


def optional(read: Callable[[Any, str], T], value: Any, name: str) -> T | None:
    """`read(value, name)`, or None if the file has no value."""
    return None if value is None else read(value, name)


def mapping(value: Any, name: str) -> dict[str, Any]:
    if isinstance(value, Refused):
        raise ImportFailed(f"{name}: {value.reason}")
    if not isinstance(value, dict):
        raise ImportFailed(f"{name}: expected an object, found {_kind(value)}")
    return value


def mapping_or_empty(value: Any, name: str) -> dict[str, Any]:
    """An object; an empty one where the file has nothing."""
    return {} if value is None else mapping(value, name)


def listing(value: Any, name: str) -> list[Any]:
    """A list; an empty one where the file has nothing."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise ImportFailed(f"{name}: expected a list, found {_kind(value)}")
    return value


def mappings(value: Any, name: str) -> list[dict[str, Any]]:
    """A list of objects; an empty one where the file has nothing."""
    return [mapping(item, f"{name}[{index}]") for index, item in enumerate(listing(value, name))]


def text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise ImportFailed(f"{name}: expected text, found {_kind(value)}")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ImportFailed(f"{name}: contains a lone surrogate, which is half of a character; remove it") from None
    return value


def text_or_empty(value: Any, name: str) -> str:
    """Text; an empty one where the file has nothing."""
    return "" if value is None else text(value, name)


def identifier(value: Any, name: str) -> str:
    """An id: text that is not empty, or a whole number, written as text."""
    if isinstance(value, int) and not isinstance(value, bool):
        if value.bit_length() > 128:
            raise ImportFailed(f"{name}: the number is too large for an ID")
        return str(value)
    if isinstance(value, str) and value:
        return text(value, name)
    raise ImportFailed(f"{name}: expected an id, found {_kind(value) if value != '' else 'empty text'}")


def moment(value: Any, name: str, zone: tzinfo | None = None) -> datetime:
    """A time in UTC, from ISO 8601 text or seconds since the epoch; `zone` is that of text with none."""
    if not isinstance(value, str):
        return epoch(value, name)
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        raise ImportFailed(f"{name}: is not a time; write it as 2025-01-31T12:00:00Z") from None
    if time.tzinfo is None:
        if zone is None:
            raise ImportFailed(
                f"{name}: the time has no time zone; add one (Z or +02:00), or give a time zone for the import"
            )
        time = time.replace(tzinfo=zone)
    try:
        return time.astimezone(UTC)
    except OverflowError:
        raise ImportFailed(f"{name}: the time is outside the years 1 to 9999") from None


def epoch(value: Any, name: str) -> datetime:
    """A time in UTC, from seconds since the epoch: a number."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise ImportFailed(f"{name}: expected a time, found {_kind(value)}")
    if not -LATEST_SECOND <= value <= LATEST_SECOND:
        raise ImportFailed(f"{name}: the time is out of range; write a number as seconds since 1970, not milliseconds")
    try:
        return EPOCH + timedelta(seconds=float(value))
    except OverflowError:
        raise ImportFailed(f"{name}: the time is outside the years 1 to 9999") from None


def plain(value: Any, name: str, depth: int = 1) -> Any:
    """A value as metadata stores it, at this depth of the metadata: any JSON writer can write it."""
    if isinstance(value, dict | list) and depth == KEPT_DEPTH:
        raise ImportFailed(f"{name}: is nested deeper than {KEPT_DEPTH} levels")
    if isinstance(value, dict):
        return {key: plain(item, name, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item, name, depth + 1) for item in value]
    if isinstance(value, Decimal):
        number = float(value)
        if number in (float("inf"), float("-inf")):
            raise ImportFailed(f"{name}: the number is too large")
        return number
    return value


def drop_empty(**fields: Any) -> dict[str, Any]:
    """Metadata without the empty fields."""
    values = {name: value for name, value in fields.items() if value not in (None, "", [], {}, False)}
    return {name: plain(value, name) for name, value in values.items()}


def _kind(value: Any) -> str:
    """The kind of a value, in words for a person."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float | Decimal):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, list) else "an object"


@dataclass(frozen=True, slots=True)
class Options:
    """What a file does not say: whose chats these are, who the assistant is, the zone of bare times.

    `left_out` counts what a reader does not take over, in words for a person. `names` are those that an earlier part
    of the same file gave its ids.
    """

    user: str | None = None
    assistant_ids: frozenset[str] = frozenset()
    zone: tzinfo | None = None
    left_out: Counter[str] = field(default_factory=Counter)
    names: dict[str, str] = field(default_factory=dict)


def attempt(where: str, make: Callable[[], Record | None]) -> Iterator[Record | BadRecord]:
    """The record that `make` returns, or a bad record with the reason it raises; nothing if it returns None."""
    try:
        record = make()
    except ImportFailed as error:
        yield BadRecord(where, str(error))
    else:
        if record is not None:
            yield record
