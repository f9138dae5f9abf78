"""What many ask for at once is made once: in a process by one task, among processes by a lease in the store.

Whoever asks waits for it as long as they can, and no longer: the work goes on, and the next who asks finds it made.
Another process that is at it is waited for, and its lease taken over if it does not come to an end. What could not be
made now is tried again after a pause that grows.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, TypeVar

from recollect.engine.tables.log import DIGESTING
from recollect.engine.work.faults import backoff
from recollect.errors import RecollectError
from recollect.ports import STAND_IN, Clock, Tx

log = logging.getLogger("recollect.once")

T = TypeVar("T")
VIEW = DIGESTING
POLL = 0.05  # seconds between looks at what another process makes
TRIES = 3  # how often something is made whose sources change meanwhile


@dataclass(frozen=True, slots=True)
class Key:
    """What is to be made, and in which space."""

    space: str
    name: str


@dataclass(frozen=True, slots=True)
class Made(Generic[T]):
    """How to store what was made; `save` gives None if it is void by now. `outage`: a model was away."""

    save: Callable[[Tx], T | None]
    outage: str | None = None


class Patience:
    """How long somebody waits, over several steps."""

    def __init__(self, seconds: float) -> None:
        self.any = seconds > 0
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        return max(self._end - time.monotonic(), 0.0)


class Once:
    """Things under way."""

    def __init__(
        self,
        read: Callable[..., Any],
        write: Callable[..., Any],
        clock: Clock,
        lease_seconds: int,
        writable: bool = True,
    ) -> None:
        """Where nothing can be written, nothing is made: nobody could keep it."""
        self._read, self._write, self._clock, self._writable = read, write, clock, writable
        self._lease = timedelta(seconds=lease_seconds)
        self._holder = f"{socket.gethostname()}:{os.getpid()}:{os.urandom(4).hex()}"
        self._tasks: dict[Key, asyncio.Task[Any]] = {}

    async def get(
        self,
        key: Key,
        look: Callable[[Tx], T | None],
        make: Callable[[], Awaitable[Made[T]]],
        patience: Patience,
    ) -> T | None:
        """What `look` finds, after it was made if need be; None if that takes longer than there is patience, or fails.

        With no patience at all nothing is begun.
        """
        if not patience.any or not self._writable:
            return None
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = asyncio.create_task(self._got(key, look, make), name=f"recollect {key.name}")
            task.add_done_callback(lambda done: self._ended(key, done))
        done, _ = await asyncio.wait({task}, timeout=patience.left)
        if not done or task.cancelled():
            return None
        error = task.exception()
        if error is not None and not isinstance(error, RecollectError):
            raise error
        return None if error is not None else task.result()

    def _ended(self, key: Key, task: asyncio.Task[Any]) -> None:
        self._tasks.pop(key, None)
        if not task.cancelled() and task.exception() is not None:
            log.warning("%s: %s", key.name, task.exception())

    async def close(self) -> None:
        """Give up what is under way; leases are given back."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _got(self, key: Key, look: Callable[[Tx], T | None], make: Callable[[], Awaitable[Made[T]]]) -> T | None:
        deadline = time.monotonic() + 2 * self._lease.total_seconds()
        for _ in range(TRIES):
            while True:
                found, mine, later = await self._write(lambda tx: self._claim(tx, key, look))
                if found is not None or later:
                    return found  # type: ignore[no-any-return]
                if mine:
                    break
                if time.monotonic() > deadline:
                    return None
                await asyncio.sleep(POLL)
            stored = await self._made(key, make)
            if stored is not None:
                return stored
        return None

    def _claim(self, tx: Tx, key: Key, look: Callable[[Tx], T | None]) -> tuple[T | None, bool, bool]:
        """What is there by now; or whether it is ours to make; or whether it is too early to try again."""
        found = look(tx)
        if found is not None:
            return found, False, False
        now = self._clock.now()
        if tx.claim(VIEW, key.space, key.name, self._holder, now, now + self._lease):
            # Whoever held it may have come to an end between our look and our claim.
            found = look(tx)
            if found is not None:
                self._free(tx, key)
            return found, found is None, False
        rows = tx.rows("leases", where={"space": key.space, "view": VIEW, "conversation": key.name})
        return None, False, any(row["retry_at"] is not None and row["retry_at"] > now for row in rows)

    async def _made(self, key: Key, make: Callable[[], Awaitable[Made[T]]]) -> T | None:
        try:
            made = await self._thought(key, make)
            stored: T | None = await self._write(lambda tx: self._save(tx, key, made))
        except asyncio.CancelledError:
            await asyncio.shield(self._write(lambda tx: tx.release(VIEW, key.space, key.name, self._holder)))
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            await self._write(lambda tx: self._failed(tx, key, reason))
            raise
        return stored

    async def _thought(self, key: Key, make: Callable[[], Awaitable[Made[T]]]) -> Made[T]:
        """What is made; however long it takes, the lease stays ours."""
        thinking = asyncio.ensure_future(make())
        try:
            while not (await asyncio.wait({thinking}, timeout=self._lease.total_seconds() / 3))[0]:
                await self._write(lambda tx: self._renew(tx, key))
        finally:
            thinking.cancel()
        return thinking.result()

    def _renew(self, tx: Tx, key: Key) -> None:
        now = self._clock.now()
        if tx.holds(VIEW, key.space, key.name, self._holder):
            tx.claim(VIEW, key.space, key.name, self._holder, now, now + self._lease)

    def _save(self, tx: Tx, key: Key, made: Made[T]) -> T | None:
        place = (VIEW, key.space, key.name)
        if not tx.holds(*place, self._holder):
            return None  # another took over: what it makes counts
        stored = made.save(tx)
        if made.outage:
            self._failed(tx, key, STAND_IN + made.outage)
        else:
            self._free(tx, key)
        return stored

    def _free(self, tx: Tx, key: Key) -> None:
        """What is made is made: the lease has no more to say, and leaves no row behind."""
        tx.remove("leases", {"space": key.space, "view": VIEW, "conversation": key.name, "holder": self._holder})

    def _failed(self, tx: Tx, key: Key, error: str) -> None:
        place = (VIEW, key.space, key.name)
        retry_at = self._clock.now() + backoff(tx.failures(*place))
        tx.release(*place, self._holder, error=error, retry_at=retry_at)
