"""Collects no garbage while modules are imported.

What they make stays, and looking through it again and again is a quarter of the time that a command takes to start.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache


@contextmanager
def without_collection(*, freezes: bool = True) -> Iterator[None]:
    """Collect no garbage meanwhile. What is there at the end is left out of every later collection if it `freezes`."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if freezes:
            freeze_imports()
        if was_enabled:
            gc.enable()


@cache
def freeze_imports() -> None:
    """Leave what is imported so far out of every later collection. Once a process: what is garbage then stays."""
    gc.freeze()
