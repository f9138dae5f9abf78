"""Faults that happen to a program in the world, made to happen in a test: here, a disk that takes no more."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def full_disk(largest: int) -> Iterator[None]:
    """As long as it lasts, no file of this process can grow beyond so many bytes: more fails as on a full disk.

    It holds for the whole process, all its threads and files: use it in a process of its own.
    """
    before, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, most))
