"""Leases: of all workers and processes on a store, one at a time works on a place of a view.

A lease lasts for a while and is renewed for as long as the work takes, so a holder that died keeps nobody waiting for
long. A holder that was too slow loses its lease to another. It learns this in the transaction in which it would store
its result: `held_places` and `holds` lock the lease until that transaction ends.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable, Collection
from datetime import timedelta
from typing import Any

from everword.follow.faults import backoff
from everword.ports import Clock, ConversationKey, Tx

RENEWALS = 3  # of a lease in the time for which it lasts


class Lease:
    """What one holder takes of a view: any number of its places, each for some time. No two leases have one holder.

    A place is a conversation of a space, or whatever else has a name in a space. All but `renew_until_done` are part of
    the caller's transaction, and remember nothing: a transaction may be repeated.
    """

    def __init__(self, view: str, clock: Clock, duration: timedelta) -> None:
        self._view = view
        self._clock = clock
        self._duration = duration
        self.holder = f"{socket.gethostname()}:{os.getpid()}:{os.urandom(4).hex()}"

    def acquire(self, tx: Tx, places: Collection[ConversationKey]) -> frozenset[ConversationKey]:
        """Take those of these places that nobody else holds and that wait for no retry, or renew them; returns them."""
        now = self._clock.now()
        return tx.claim(self._view, [*places], self.holder, now, now + self._duration)

    def renew(self, tx: Tx, places: Collection[ConversationKey]) -> None:
        """Begin the time anew for those of these places that are still held; one that was lost is not taken back."""
        self.acquire(tx, self.held_places(tx, places))

    def held_places(self, tx: Tx, places: Collection[ConversationKey]) -> frozenset[ConversationKey]:
        """Those of these places that are still held; nobody takes them over before the transaction ends."""
        return tx.held_leases(self._view, [*places], self.holder)

    def holds(self, tx: Tx, place: ConversationKey) -> bool:
        """As `held_places`, of one place."""
        return place in self.held_places(tx, [place])

    def release(self, tx: Tx, places: Collection[ConversationKey], error: str | None = None) -> None:
        """Give these places back, if they are still held. After an error nobody may take them for a while, which grows
        with every failure."""
        if error is None:
            tx.release(self._view, [*places], self.holder)
            return
        for place in sorted(places):
            failures = next((row["failures"] for row in tx.rows("leases", where=self._row_key(place))), 0)
            retry_at = self._clock.now() + backoff(failures)
            tx.release(self._view, [place], self.holder, error=error, retry_at=retry_at)

    def remove(self, tx: Tx, place: ConversationKey) -> None:
        """Give a place back for good, with no trace of it, if it is still held."""
        tx.remove("leases", self._row_key(place) | {"holder": self.holder})

    def waits_for_retry(self, tx: Tx, place: ConversationKey) -> bool:
        """Whether work on a place has failed, and it is too early to try again."""
        now = self._clock.now()
        rows = tx.rows("leases", where=self._row_key(place))
        return any(row["retry_at"] is not None and row["retry_at"] > now for row in rows)

    async def renew_until_done(
        self,
        work: asyncio.Future[Any],
        write: Callable[[Callable[[Tx], None]], Awaitable[None]],
        places: Collection[ConversationKey],
    ) -> None:
        """Wait for the work on these places, and renew them for as long as it takes. The work is cancelled if this is
        cancelled or a renewal fails; how it ended is for the caller to look at."""
        try:
            while not (await asyncio.wait({work}, timeout=self._duration.total_seconds() / RENEWALS))[0]:
                await write(lambda tx: self.renew(tx, places))
        finally:
            work.cancel()

    def _row_key(self, place: ConversationKey) -> dict[str, Any]:
        space, name = place
        return {"space": space, "view": self._view, "conversation": name}
