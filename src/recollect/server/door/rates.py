"""Requests a minute by key, counted together by all workers of a server.

Each key has a bucket of tokens that fills evenly and holds a burst; whoever finds it empty is told when to try again.
The buckets are a table of fixed size: in the memory of the process, or in a file that several processes map. In a file
a bucket is changed under a lock of the operating system, which releases it when its holder dies. We do not wait for a
holder that is stopped: the bucket is then changed without the lock, and may be wrong by a request.
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
except ImportError:  # on Windows: buckets are changed without the lock
    fcntl = None  # type: ignore[assignment]

WAYS = 8  # buckets in a row: a key that finds them all taken gets the one that was used longest ago
PLACES = 2_048
BUCKET = "16sdd"  # the hash of its key, the tokens in it, the time at which it had them
ROW = struct.Struct("<" + BUCKET * WAYS)
ENTRY = struct.Struct("<" + BUCKET)
SIZE = PLACES * ROW.size  # bytes
PATIENCE = 0.02  # seconds to wait for a lock; it is held for microseconds
MINUTE = 60.0


class Rates:
    """One bucket of tokens for each key. The clock must be the same for all who share a table: that of the machine."""

    def __init__(self, burst: int, file: Path | None = None, now: Callable[[], float] = time.monotonic) -> None:
        self._burst = burst
        self._now = now
        self._fd = -1 if file is None else os.open(file, os.O_RDWR)
        self._table = mmap.mmap(self._fd, SIZE)

    def take(self, key: str, rate: int) -> float:
        """Take a token: 0.0 if there was one, else the seconds until there is. A rate of 0 means no limit."""
        return self._change(key, rate, -1.0) if rate else 0.0

    def give_back(self, key: str, rate: int) -> None:
        """Give back a token that was taken."""
        self._change(key, rate, 1.0)

    def _change(self, key: str, rate: int, tokens: float) -> float:
        owner = blake2b(key.encode(), digest_size=16).digest()
        place = int.from_bytes(owner[:4], "little") % PLACES * ROW.size
        has_lock = self._lock(place)
        try:
            return self._add(owner, place, rate, tokens)
        finally:
            if has_lock:
                fcntl.lockf(self._fd, fcntl.LOCK_UN, 1, place)

    def _add(self, owner: bytes, place: int, rate: int, change: float) -> float:
        """Add tokens to a bucket, or if they are negative take them, if there are enough: else the seconds until."""
        now = self._now()
        capacity = float(max(1, min(self._burst, rate)))
        row: tuple[Any, ...] = ROW.unpack_from(self._table, place)
        owners = row[::3]
        times = row[2::3]
        if owner in owners:
            way = owners.index(owner)
            tokens = refill(row[3 * way + 1], now - times[way], capacity, rate)
        else:  # the bucket that was used longest ago is full again by now, or nearly
            way = times.index(min(times))
            tokens = capacity
        wait = 0.0 if tokens + change >= 0 else -(tokens + change) * MINUTE / rate
        level = tokens if wait else min(capacity, tokens + change)
        ENTRY.pack_into(self._table, place + way * ENTRY.size, owner, level, now)
        return wait

    def _lock(self, place: int) -> bool:
        """Try to lock a row; whether we hold the lock. A process that does not share its table needs none."""
        if self._fd < 0 or fcntl is None:
            return False
        deadline = None
        while True:
            try:
                fcntl.lockf(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
                return True
            except OSError:
                deadline = time.monotonic() + PATIENCE if deadline is None else deadline
                if time.monotonic() > deadline:
                    return False
                time.sleep(0)


def refill(tokens: float, seconds: float, capacity: float, rate: int) -> float:
    """The tokens in a bucket after some seconds. Impossible numbers come from a process that died while it wrote: such
    a bucket counts as full."""
    is_sound = 0.0 <= tokens <= rate and seconds > -MINUTE
    return min(capacity, tokens + max(0.0, seconds) * rate / MINUTE) if is_sound else capacity


def create_table(file: Path) -> Path:
    """Create a table for processes to share. All of it is written, so that a full disk fails now and not when it is
    used."""
    file.write_bytes(bytes(SIZE))
    return file
