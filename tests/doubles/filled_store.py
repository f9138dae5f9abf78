"""A SQLite store is filled once for all tests that each want one with the same in it: they have copies."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

Fill = Callable[[str], None]  # fills the new store at an address


@cache
def filled_file(fill: Fill) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder, "memory.db")
        fill(str(path))
        return path.read_bytes()


def make_filled(url: str, fill: Fill) -> None:
    """A new store with what `fill` puts into it, on every kind of store."""
    if url.startswith(("json:", "postgresql:")):
        fill(url)
    else:
        Path(url).write_bytes(filled_file(fill))
