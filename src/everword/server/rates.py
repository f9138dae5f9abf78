"""Requests a minute by key, counted together by all workers of a server and by all servers of a store.

Each key has a bucket of tokens that fills evenly and holds a burst; whoever finds it empty is told when to try again.
The buckets are a table of fixed size: in the memory of the process, or in a file that several processes map. In a file
a bucket is changed under a lock of the operating system, which releases it when its holder dies. We do not wait for a
holder that is stopped: the bucket is then changed without the lock, and may be wrong by a request.

Servers have buckets of their own, and one for all in a note of the store (`SharedRates`). Once a second, while a key is
used, a server takes from that what it has let in since, and its own bucket then holds what is left for all. Until it
knows of the others it may let in a burst of its own; that makes a debt, so in the long run the rate is kept.

Signing in may fail only so often (`SignIns`), by address and in all. An attempt takes a token, and gives it back if the
key was right: so only failures count, also of attempts that come at once. When too many have failed in all, an address
has one attempt a minute: whoever signs in with a right key from an address of their own is let in, whatever others do.
Attempts have a table of their own, so that many addresses take no bucket of a key.
"""

from __future__ import annotations

import asyncio
import ipaddress
import mmap
import os
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from everword.errors import StoreError
from everword.ports import Store, Tx

try:
    import fcntl
except ImportError:  # on Windows: buckets are changed without the lock
    fcntl = None  # type: ignore[assignment]

WAYS = 8  # buckets in a row: a key that finds them all taken gets the one that was used longest ago
PLACES = 2_048
# The hash of its key, the tokens in it, the time at which it had them, the tokens of which the store is still to know.
BUCKET = "16sddd"
ROW = struct.Struct("<" + BUCKET * WAYS)
ENTRY = struct.Struct("<" + BUCKET)
SIZE = PLACES * ROW.size  # bytes
PATIENCE = 0.02  # seconds to wait for a lock; it is held for microseconds
MINUTE = 60.0
NOTE = "rate "  # begins the name of the note with the bucket of a key for all servers: its tokens, and when it had them
TOLD_EVERY = 1.0  # seconds
BY_ADDRESS = 10  # failures a minute
IN_ALL = 100
WHEN_MANY = 1  # by address, while there are too many in all
SIGN_INS = "sign-ins"  # the name of the table in which workers count together
EVERYBODY = "everybody"
NETWORK = 64  # bits of an IPv6 address that count: the rest is the client's own choice


@dataclass(slots=True)
class Bucket:
    """What is in a bucket now, what it can hold, and how many tokens the store is still to know of."""

    tokens: float
    capacity: float
    untold: float


class Rates:
    """One bucket of tokens for each key. The clock must be the same for all who share a table: that of the machine."""

    def __init__(self, burst: int, file: Path | None = None, now: Callable[[], float] = time.monotonic) -> None:
        self._burst = burst
        self._now = now
        self._fd = -1 if file is None else os.open(file, os.O_RDWR)
        self._table = mmap.mmap(self._fd, SIZE)

    def take(self, key: str, rate: int) -> float:
        """Take a token: 0.0 if there was one, else the seconds until there is. A rate of 0 means no limit."""
        if not rate:
            return 0.0
        with self._bucket(key, rate) as bucket:
            if bucket.tokens < 1:
                return (1 - bucket.tokens) * MINUTE / rate
            bucket.tokens -= 1
            bucket.untold += 1
        return 0.0

    def give_back(self, key: str, rate: int) -> None:
        """Give back a token that was taken."""
        with self._bucket(key, rate) as bucket:
            bucket.tokens += 1

    def take_untold(self, key: str, rate: int) -> float:
        """How many tokens were taken since this was last asked."""
        with self._bucket(key, rate) as bucket:
            count = bucket.untold
            bucket.untold = 0.0
        return count

    def set_tokens(self, key: str, rate: int, tokens: float) -> None:
        """Set what is in a bucket, less what was taken since it was asked for."""
        with self._bucket(key, rate) as bucket:
            bucket.tokens = max(-bucket.capacity, tokens - bucket.untold)

    def capacity(self, rate: int) -> float:
        return float(max(1, min(self._burst, rate)))

    @contextmanager
    def _bucket(self, key: str, rate: int) -> Iterator[Bucket]:
        """The bucket of a key, filled up until now; what is changed of it is kept."""
        owner = blake2b(key.encode(), digest_size=16).digest()
        place = int.from_bytes(owner[:4], "little") % PLACES * ROW.size
        has_lock = self._lock(place)
        try:
            now = self._now()
            row: tuple[Any, ...] = ROW.unpack_from(self._table, place)
            owners = row[::4]
            times = row[2::4]
            bucket = Bucket(self.capacity(rate), self.capacity(rate), 0.0)
            if owner in owners:
                way = owners.index(owner)
                bucket.tokens = refill(row[4 * way + 1], now - times[way], bucket.capacity, rate)
                bucket.untold = row[4 * way + 3] if 0 <= row[4 * way + 3] <= SIZE else 0.0
            else:  # the bucket that was used longest ago is full again by now, or nearly
                way = times.index(min(times))
            yield bucket
            values = (owner, min(bucket.capacity, bucket.tokens), now, bucket.untold)
            ENTRY.pack_into(self._table, place + way * ENTRY.size, *values)
        finally:
            if has_lock:
                fcntl.lockf(self._fd, fcntl.LOCK_UN, 1, place)

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
    is_sound = -capacity <= tokens <= rate and seconds > -MINUTE
    return min(capacity, tokens + max(0.0, seconds) * rate / MINUTE) if is_sound else capacity


class SharedRates:
    """Keeps the buckets of a server in step with those of all servers on its store."""

    def __init__(self, rates: Rates, store: Store) -> None:
        self._rates = rates
        self._store = store
        self._due: dict[str, int] = {}
        self._task: asyncio.Task[None] | None = None

    def note_use(self, key: str, rate: int) -> None:
        """Have the store told within a second that a token of this key was taken."""
        self._due[key] = rate
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._tell_while_used(), name="everword rates")

    async def _tell_while_used(self) -> None:
        while self._due:
            await asyncio.sleep(TOLD_EVERY)
            due = self._due
            self._due = {}
            with suppress(StoreError):  # no request waits for it; what is not told is counted by this server alone
                await asyncio.to_thread(self.tell, due, time.time())

    def tell(self, rates: Mapping[str, int], now: float) -> None:
        """Take from the buckets of all servers what this one has taken from its own, and learn what is left."""
        counts = {key: self._rates.take_untold(key, rate) for key, rate in sorted(rates.items())}
        counts = {key: count for key, count in counts.items() if count}
        if counts:
            levels = self._store.write(lambda tx: self._take_from_all(tx, counts, rates, now))
            for key, level in levels.items():
                self._rates.set_tokens(key, rates[key], level)

    def _take_from_all(
        self, tx: Tx, counts: Mapping[str, float], rates: Mapping[str, int], now: float
    ) -> dict[str, float]:
        """What is left of each key for all servers. It may be less than nothing: a debt of at most a burst."""
        levels: dict[str, float] = {}
        for key, count in counts.items():  # in order, as all servers lock
            name = NOTE + key
            capacity = self._rates.capacity(rates[key])
            tx.lock(name)
            tokens, time_of_note = map(float, (tx.note(name) or f"{capacity} {now}").split())
            levels[key] = max(-capacity, refill(tokens, now - time_of_note, capacity, rates[key]) - count)
            is_ahead = now < time_of_note < now + MINUTE  # of a server whose clock is, unless that is just wrong
            tx.set_note(name, f"{levels[key]:.3f} {time_of_note if is_ahead else now:.3f}")
        return levels


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
    """Counts attempts to sign in that failed."""

    def __init__(self, rates: Rates) -> None:
        self._rates = rates

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
