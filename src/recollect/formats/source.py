"""Where an import comes from: a file, the members of a zip that hold conversations, or standard input.

A source is read in parts, one after the other, each as a `Stream` that counts its bytes. Every error
below (a disk, an archive, a missing file) is raised as `ImportFailed`.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

from recollect.errors import ImportFailed

MARK = b"\xef\xbb\xbf"  # the byte order mark some programs put before UTF-8
ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
STANDARD_INPUT = "-"

# ChatGPT splits a long export into numbered files.
_NUMBERED = re.compile(r"conversations-\d+\.json")
_WHOLE = ("conversations.json", "result.json")
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_FAULTS = (OSError, EOFError, ValueError, NotImplementedError, zipfile.BadZipFile, zlib.error)


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
    if any(info.flag_bits & 1 for info in members):
        raise ImportFailed(f"{name} is encrypted: unpack it with its password first")
    if any(info.compress_type not in _PACKINGS for info in members):
        raise ImportFailed(f"{name} is packed in an unusual way: unpack it first")
    return members


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
