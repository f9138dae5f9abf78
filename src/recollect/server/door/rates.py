"""Requests a minute by key, counted together by all workers of a server.

Each key has a bucket that fills evenly and holds a burst; who finds it empty is told when to come again. The buckets
are a table of fixed size: in the memory of the process, or in a file that several processes map. There a bucket is
changed under a lock of the operating system, which lets go of it when its holder dies. A holder that is stopped is not
waited for: the bucket is changed without the lock then, and may be wrong by a request.
"""

from __future__ import annotations

import mmap
import os
import struct
import time
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # on Windows; there it is always as if the holder were stopped
    fcntl = None  # type: ignore[assignment]

WAYS = 8  # buckets that share a place: a key that finds them all taken gets the one that was used longest ago
PLACES = 2_048
BUCKET = "16sdd"  # whose it is, what is left in it, when that was so
ROW = struct.Struct("<" + BUCKET * WAYS)
ONE = struct.Struct("<" + BUCKET)
SIZE = PLACES * ROW.size  # bytes
PATIENCE = 0.02  # seconds to wait for a lock; it is held for microseconds
MINUTE = 60.0


class Rates:
    """One bucket of tokens for each key. The clock must be the same for all who share a table: that of the machine."""

    def __init__(self, burst: int, file: Path | None = None, now: Callable[[], float] = time.monotonic) -> None:
        self._burst, self._now = burst, now
        self._fd = -1 if file is None else os.open(file, os.O_RDWR)
        self._table = mmap.mmap(self._fd, SIZE)

    def take(self, key: str, rate: int) -> float:
        """Take a token: 0.0 if there was one, else the seconds until there is. A rate of 0 is none."""
        if not rate:
            return 0.0
        whose = blake2b(key.encode(), digest_size=16).digest()
        place = int.from_bytes(whose[:4], "little") % PLACES * ROW.size
        locked = self._lock(place)
        try:
            return self._take(whose, place, rate)
        finally:
            if locked:
                fcntl.lockf(self._fd, fcntl.LOCK_UN, 1, place)

    def _take(self, whose: bytes, place: int, rate: int) -> float:
        now, most = self._now(), float(max(1, min(self._burst, rate)))
        row: tuple[Any, ...] = ROW.unpack_from(self._table, place)
        owners, times = row[::3], row[2::3]
        if whose in owners:
            way = owners.index(whose)
            left = filled(row[3 * way + 1], now - times[way], most, rate)
        else:  # what was used longest ago is full again by now, or nearly
            way, left = times.index(min(times)), most
        wait = 0.0 if left >= 1 else (1 - left) * MINUTE / rate
        ONE.pack_into(self._table, place + way * ONE.size, whose, left if wait else left - 1, now)
        return wait

    def _lock(self, place: int) -> bool:
        """Whether the lock is held now. Alone, none is needed."""
        if self._fd < 0 or fcntl is None:
            return False
        until = None
        while True:
            try:
                fcntl.lockf(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
                return True
            except OSError:
                until = time.monotonic() + PATIENCE if until is None else until
                if time.monotonic() > until:
                    return False
                time.sleep(0)


def filled(left: float, seconds: float, most: float, rate: int) -> float:
    """What is in a bucket after a time. One that holds what none can was torn by a process that died: it is full."""
    sound = 0.0 <= left <= rate and seconds > -MINUTE
    return min(most, left + max(0.0, seconds) * rate / MINUTE) if sound else most


def empty_table(file: Path) -> Path:
    """A table for processes to share. All of it is written: a disk that is full says so now, and not when it is
    used."""
    file.write_bytes(bytes(SIZE))
    return file
