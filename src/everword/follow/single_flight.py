"""Makes what many callers ask for at once only once: by one task in a process, by a lease in the store among processes.

A caller waits as long as its limit allows: the work continues after that, and the next caller finds the result. If
another process is making it, callers wait for that process, and take over its lease if it does not finish. What could
not be made now is tried again after a pause that grows.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, TypeVar

from everword.errors import EverwordError
from everword.follow.lease import Lease
from everword.log.tables import DIGESTING
from everword.masking import mask_credentials, masked_logger
from everword.ports import STAND_IN, Clock, ConversationKey, Tx

log = masked_logger("everword.once")

T = TypeVar("T")
VIEW = DIGESTING
POLL = 0.05  # seconds between checks of what another process makes
TRIES = 3  # how often something is made again whose sources change meanwhile


@dataclass(frozen=True, slots=True)
class FlightKey:
    """The name of what is made, and the space it is for."""

    space: str
    name: str

    @property
    def place(self) -> ConversationKey:
        """What the lease is on."""
        return self.space, self.name


@dataclass(frozen=True, slots=True)
class FlightResult(Generic[T]):
    """How to store what was made; `save` returns None if that is no longer valid. `outage`: why a model was away."""

    save: Callable[[Tx], T | None]
    outage: str | None = None


class WaitLimit:
    """How long a caller waits in all, over several steps."""

    def __init__(self, seconds: float) -> None:
        self.allows_waiting = seconds > 0
        self._end = time.monotonic() + seconds

    @property
    def seconds_left(self) -> float:
        return max(self._end - time.monotonic(), 0.0)


class SingleFlight:
    """The tasks in progress, by key."""

    def __init__(
        self,
        read: Callable[..., Any],
        write: Callable[..., Any],
        clock: Clock,
        lease_seconds: int,
        writable: bool = True,
    ) -> None:
        """If the store is not writable, nothing is made: it could not be stored."""
        self._read = read
        self._write = write
        self._writable = writable
        self._lease = Lease(VIEW, clock, timedelta(seconds=lease_seconds))
        self._longest_wait = 2.0 * lease_seconds
        self._tasks: dict[FlightKey, asyncio.Task[Any]] = {}

    async def get(
        self,
        key: FlightKey,
        look: Callable[[Tx], T | None],
        make: Callable[[], Awaitable[FlightResult[T]]],
        patience: WaitLimit,
    ) -> T | None:
        """What `look` finds, made first if it is not there; None if that takes longer than the caller waits, or fails.

        If the caller does not wait at all, nothing is begun.
        """
        if not patience.allows_waiting or not self._writable:
            return None
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = asyncio.create_task(
                self._find_or_make(key, look, make), name=f"everword {key.name}"
            )
            task.add_done_callback(lambda finished_task: self._remove_task(key, finished_task))
        finished_tasks, _ = await asyncio.wait({task}, timeout=patience.seconds_left)
        if not finished_tasks or task.cancelled():
            return None
        error = task.exception()
        if error is not None and not isinstance(error, EverwordError):
            raise error
        return None if error is not None else task.result()

    def _remove_task(self, key: FlightKey, task: asyncio.Task[Any]) -> None:
        self._tasks.pop(key, None)
        if not task.cancelled() and task.exception() is not None:
            log.warning("%s: %s", key.name, task.exception())

    async def close(self) -> None:
        """Cancel the tasks in progress; their leases are given back."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _find_or_make(
        self, key: FlightKey, look: Callable[[Tx], T | None], make: Callable[[], Awaitable[FlightResult[T]]]
    ) -> T | None:
        deadline = time.monotonic() + self._longest_wait
        for _ in range(TRIES):
            while True:
                value, is_ours, is_too_early = await self._write(lambda tx: self._claim(tx, key, look))
                if value is not None or is_too_early:
                    return value  # type: ignore[no-any-return]
                if is_ours:
                    break
                if time.monotonic() > deadline:
                    return None
                await asyncio.sleep(POLL)
            saved_value = await self._make_and_save(key, make)
            if saved_value is not None:
                return saved_value
        return None

    def _claim(self, tx: Tx, key: FlightKey, look: Callable[[Tx], T | None]) -> tuple[T | None, bool, bool]:
        """What is there by now; whether we have the lease to make it; whether it is too early to try again."""
        value = look(tx)
        if value is not None:
            return value, False, False
        if self._lease.acquire(tx, [key.place]):
            # The former holder may have finished between our look and our claim.
            value = look(tx)
            if value is not None:
                self._lease.remove(tx, key.place)
            return value, value is None, False
        return None, False, self._lease.waits_for_retry(tx, key.place)

    async def _make_and_save(self, key: FlightKey, make: Callable[[], Awaitable[FlightResult[T]]]) -> T | None:
        try:
            flight_result = await self._make_holding_lease(key, make)
            value: T | None = await self._write(lambda tx: self._save(tx, key, flight_result))
        except asyncio.CancelledError:
            await asyncio.shield(self._write(lambda tx: self._lease.release(tx, [key.place])))
            raise
        except Exception as error:
            reason = mask_credentials(f"{type(error).__name__}: {error}")
            await self._write(lambda tx: self._lease.release(tx, [key.place], reason))
            raise
        return value

    async def _make_holding_lease(
        self, key: FlightKey, make: Callable[[], Awaitable[FlightResult[T]]]
    ) -> FlightResult[T]:
        """Run `make`, and renew the lease for as long as that takes."""
        making = asyncio.ensure_future(make())
        await self._lease.renew_until_done(making, self._write, [key.place])
        return making.result()

    def _save(self, tx: Tx, key: FlightKey, flight_result: FlightResult[T]) -> T | None:
        if not self._lease.holds(tx, key.place):
            return None  # another process took over: its result counts
        value = flight_result.save(tx)
        if flight_result.outage:
            self._lease.release(tx, [key.place], STAND_IN + flight_result.outage)
        else:
            self._lease.remove(tx, key.place)  # not needed once the result is stored
        return value
