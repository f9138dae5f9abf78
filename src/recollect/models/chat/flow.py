"""Closes a stream at once when its reader stops reading.

Python leaves an unfinished generator to the garbage collector; until that runs, the connection stays open and the
model goes on generating at our cost. So a stream inside a stream is always read in this block.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

T = TypeVar("T")


@asynccontextmanager
async def closing(pieces: AsyncIterator[T]) -> AsyncIterator[AsyncIterator[T]]:
    """The same stream, closed at the end of the block (if it can be: not every iterator is a generator)."""
    try:
        yield pieces
    finally:
        close = getattr(pieces, "aclose", None)
        if close is not None:
            await close()
