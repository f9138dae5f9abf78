"""A disk that takes nothing for a while, as true as the machine allows: full, read-only, or with the file gone.

Each is a context manager around a store that is open: inside, writes fail as on such a disk; afterwards they succeed.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import event

from everword.stores.sqlite import SqliteStore

Outage = Callable[[Any], AbstractContextManager[None]]
UNLIMITED = 1 << 30  # pages


@contextmanager
def with_pragma(store: SqliteStore, during: str, after: str) -> Iterator[None]:
    """Run a pragma on each connection that is used, and another one afterwards."""
    pragma = during

    def run_pragma(connection: Any, *_: Any) -> None:
        connection.execute(pragma)

    event.listen(store.engine, "checkout", run_pragma)
    try:
        yield
    finally:
        pragma = after


def with_full_file(store: SqliteStore) -> AbstractContextManager[None]:
    """SQLite itself says that the disk is full, as soon as the file would have to grow."""
    return with_pragma(store, "PRAGMA max_page_count = 1", f"PRAGMA max_page_count = {UNLIMITED}")


def with_read_only_file(store: SqliteStore) -> AbstractContextManager[None]:
    return with_pragma(store, "PRAGMA query_only = ON", "PRAGMA query_only = OFF")


@contextmanager
def without_file(store: Any) -> Iterator[None]:
    """The file is somewhere else for a while."""
    elsewhere = store.path.with_suffix(".elsewhere")
    os.rename(store.path, elsewhere)
    try:
        yield
    finally:
        os.rename(elsewhere, store.path)


@contextmanager
def without_folder(store: Any) -> Iterator[None]:
    """The folder is somewhere else for a while."""
    elsewhere = store.path.parent.with_suffix(".elsewhere")
    os.rename(store.path.parent, elsewhere)
    try:
        yield
    finally:
        os.rename(elsewhere, store.path.parent)


@contextmanager
def with_full_disk(store: Any) -> Iterator[None]:
    """A small file system is full of something else. It needs a store on one (`small_disk`)."""
    ballast = store.path.parent / "ballast"
    with open(ballast, "wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    try:
        yield
    finally:
        ballast.unlink()


@contextmanager
def small_disk(folder: Path) -> Iterator[bool]:
    """A file system of a few megabytes in this folder; False where this user cannot mount one."""
    command = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)]
    try:
        is_mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        is_mounted = False
    try:
        yield is_mounted
    finally:
        if is_mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def full_disk(largest: int) -> Iterator[None]:
    """Within it, no file of this process can grow beyond `largest` bytes: more fails as on a full disk.

    It affects the whole process, all its threads and files: use it in a process of its own.
    """
    import resource  # which there is on Unix alone

    soft_limit, hard_limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, hard_limit))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft_limit, hard_limit))
