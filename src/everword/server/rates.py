"""Requests a minute by key, counted together by all workers of a server.

Each key has a bucket of tokens that fills evenly and holds a burst; whoever finds it empty is told when to try again.
The buckets are a table of fixed size: in the memory of the process, or in a file that several processes map. In a file
a bucket is changed under a lock of the operating system, which releases it when its holder dies. We do not wait for a
holder that is stopped: the bucket is then changed without the lock, and may be wrong by a request.

Signing in may fail only so often (`SignIns`), by address and in all. An attempt takes a token, and gives it back if the
key was right: so only failures count, also of attempts that come at once. When too many have failed in all, an address
has one attempt a minute: whoever signs in with a right key from an address of their own is let in, whatever others do.
Attempts have a table of their own, so that many addresses take no bucket of a key.
"""

from __future__ import annotations

import ipaddress
import mmap
import os
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
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
BY_ADDRESS = 10  # failures a minute
IN_ALL = 100
WHEN_MANY = 1  # by address, while there are too many in all
SIGN_INS = "sign-ins"  # the name of the table in which workers count together
EVERYBODY = "everybody"
NETWORK = 64  # bits of an IPv6 address that count: the rest is the client's own choice


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


@dataclass(frozen=True, slots=True)
class SignInAttempt:
    """An attempt to sign in: the seconds to wait before it, 0.0 if it may be made now; and the tokens that it took."""

    wait: float
    taken_tokens: tuple[tuple[str, int], ...] = ()


class SignIns:
    """Counts attempts to sign in that failed; workers of one server in a table that they share."""

    def __init__(self, table: Path | None = None, now: Callable[[], float] = time.monotonic) -> None:
        self._rates = Rates(IN_ALL, table, now)

    def begin_attempt(self, address: str) -> SignInAttempt:
        """Begin to sign in from an address. Until `succeed`, it counts as a failure."""
        network = network_of(address)
        everybody = (EVERYBODY, IN_ALL)
        if self._rates.take(*everybody):
            bucket = (f"many {network}", WHEN_MANY)
            return SignInAttempt(self._rates.take(*bucket), (bucket,))
        bucket = (f"few {network}", BY_ADDRESS)
        wait = self._rates.take(*bucket)
        if wait:
            self._rates.give_back(*everybody)  # what is refused unread is no failure
        return SignInAttempt(wait, (bucket, everybody))

    def succeed(self, attempt: SignInAttempt) -> None:
        """The key was right: the attempt does not count."""
        for key, rate in attempt.taken_tokens:
            self._rates.give_back(key, rate)


def network_of(address: str) -> str:
    """What counts as one address."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:  # no address, such as that of a socket in the file system
        return address
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is None:
        return str(ipaddress.ip_network((ip, NETWORK), strict=False))
    return str(ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else ip)


def table_beside(rates: Path | None) -> Path | None:
    """The file in which workers count attempts, beside the one in which they count requests."""
    return None if rates is None else rates.with_name(SIGN_INS)
