"""API keys: made once, shown once, kept as a hash.

A key is `rk_ID_SECRET`. The id finds the row, the secret is 32 random bytes and is compared by its SHA-256, in constant
time: it has too much chance in it to be guessed, so a slow hash would only slow the server. A key opens some spaces or
all, gives some rights, and may be bound to one user. What is read of a key is held for a second, and is read once for
all who wait for it; its last use is written at most once a minute, and nobody waits for that.
"""

from __future__ import annotations

import asyncio
import hmac
import re
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from recollect.errors import InvalidInput, NotFound, StoreError
from recollect.ports import Store, Tx
from recollect.rules.access import RIGHTS
from recollect.rules.log import checked_id, checked_number

TABLE = "api_keys"
SCOPES = RIGHTS
PREFIX = "rk_"
TEXT = re.compile(r"rk_([0-9a-f]{16})_([A-Za-z0-9_-]{43})", re.ASCII)
EVERYWHERE = ""  # the space of a key that opens all; no space is called so
HELD = 1.0  # seconds for which a key that was read is believed
NOTED = timedelta(minutes=1)  # between two notes of a key's use
KNOWN = 10_000  # keys held at a time
MAX_NAME = 100  # characters
MAX_RATE, MAX_BODY, MAX_DAYS = 1_000_000, 1 << 30, 36_500
NOBODY = sha256(b"").digest()


@dataclass(frozen=True, slots=True)
class Key:
    """A key as it is kept. `spaces` is empty if it opens all."""

    id: str
    name: str
    spaces: tuple[str, ...]
    scopes: tuple[str, ...]
    created_at: datetime
    user: str | None = None
    rate: int | None = None
    body: int | None = None
    used_at: datetime | None = None
    revoked_at: datetime | None = None
    expires_at: datetime | None = None
    hash: bytes = field(default=b"", repr=False)

    def active(self, now: datetime) -> bool:
        """Whether it opens anything: neither revoked nor past its time."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


def create(
    store: Store,
    *,
    name: str,
    spaces: Iterable[str] = (),
    scopes: Iterable[str] = ("read", "write"),
    user: str | None = None,
    rate: int | None = None,
    body: int | None = None,
    days: int | None = None,
    now: datetime | None = None,
) -> tuple[Key, str]:
    """A new key, and its text: the only time it is there to be seen. Without `spaces` it opens all, without `days` for
    good."""
    places = tuple(dict.fromkeys(checked_id("space", space) for space in spaces))
    rights = tuple(scope for scope in SCOPES if scope in set(checked_scopes(scopes)))
    if len(checked_id("name", name)) > MAX_NAME:
        raise InvalidInput("name", f"has {len(name)} characters; at most {MAX_NAME} are allowed")
    if user is not None and len(places) != 1:
        raise InvalidInput("user", "a key for one user opens one space: name it with --space")
    secret, now = secrets.token_urlsafe(32), now or datetime.now(UTC)
    made = Key(
        id=secrets.token_hex(8),
        name=name,
        spaces=places,
        scopes=rights,
        created_at=now,
        user=None if user is None else checked_id("user", user),
        rate=None if rate is None else checked_number("rate", rate, MAX_RATE),
        body=None if body is None else checked_number("body", body, MAX_BODY),
        expires_at=None if days is None else now + timedelta(days=checked_number("days", days, MAX_DAYS)),
        hash=sha256(secret.encode()).digest(),
    )
    store.write(lambda tx: tx.put(TABLE, rows_of(made)))
    return made, f"{PREFIX}{made.id}_{secret}"


def checked_scopes(scopes: Iterable[str]) -> list[str]:
    wanted = [scope.strip() for scope in scopes if scope.strip()]
    unknown = [scope for scope in wanted if scope not in SCOPES]
    if unknown or not wanted:
        what = f"there is no {unknown[0]!r}" if unknown else "there are none"
        raise InvalidInput("scopes", f"{what}; they are {', '.join(SCOPES)}")
    return wanted


def listed(store: Store) -> list[Key]:
    """Every key, oldest first; those revoked, too."""
    found: list[Key] = store.read(lambda tx: keys_in(tx.rows(TABLE)))
    return sorted(found, key=lambda key: (key.created_at, key.id))


def revoke(store: Store, id: str, now: datetime | None = None) -> Key:
    """From now on this key opens nothing. It stays in the list, so that its last use can be seen. Given its whole text,
    as it may have been found somewhere, it is known by that, too."""
    id = id.removeprefix(PREFIX).partition("_")[0]

    def write(tx: Tx) -> Key:
        tx.lock(TABLE, id)  # whoever notes its use at this moment must not put back what it was
        found = keys_in(tx.rows(TABLE, where={"id": id}))
        if not found:
            raise NotFound(f"there is no key {id!r}; `recollect keys list` shows them")
        gone = found[0] if found[0].revoked_at else replace(found[0], revoked_at=now or datetime.now(UTC))
        tx.put(TABLE, rows_of(gone))
        return gone

    return store.write(write)


def rows_of(key: Key) -> list[dict[str, Any]]:
    row = {
        "id": key.id,
        "hash": key.hash,
        "name": key.name,
        "scopes": key.scopes,
        "user_id": key.user,
        "rate": key.rate,
        "body": key.body,
        "created_at": key.created_at,
        "used_at": key.used_at,
        "revoked_at": key.revoked_at,
        "expires_at": key.expires_at,
    }
    return [row | {"space": space} for space in key.spaces or (EVERYWHERE,)]


def keys_in(rows: Iterable[Mapping[str, Any]]) -> list[Key]:
    found: dict[str, Key] = {}
    for row in rows:
        own = () if row["space"] == EVERYWHERE else (row["space"],)
        before = found.get(row["id"])
        found[row["id"]] = Key(
            id=row["id"],
            name=row["name"],
            spaces=own if before is None else (*before.spaces, *own),
            scopes=tuple(row["scopes"]),
            created_at=row["created_at"],
            user=row["user_id"],
            rate=row["rate"],
            body=row["body"],
            used_at=row["used_at"],
            revoked_at=row["revoked_at"],
            expires_at=row["expires_at"],
            hash=bytes(row["hash"]),
        )
    return list(found.values())


class Keys:
    """The keys of a store, as a server asks for them."""

    def __init__(self, store: Store, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._store, self._now = store, now
        self._held: dict[str, tuple[float, Key | None]] = {}
        self._reading: dict[str, asyncio.Future[Key | None]] = {}
        self._due: dict[str, datetime] = {}
        self._writing = False

    async def opened_by(self, text: str) -> Key | None:
        """The key this text is, if it is one, was not revoked and has not expired."""
        parts = TEXT.fullmatch(text)
        if parts is None:  # nothing is looked up, or held, for what cannot be one
            return None
        id, secret = parts.groups()
        key = await self._key(id)
        expected = NOBODY if key is None else key.hash
        same = hmac.compare_digest(sha256(secret.encode()).digest(), expected)
        if not same or key is None or not key.active(self._now()):
            return None
        self._note(key)  # only now: who knows an id, which is in logs, has not used the key
        return key

    async def _key(self, id: str) -> Key | None:
        held = self._held.get(id)
        if held is not None and time.monotonic() - held[0] < HELD:
            return held[1]
        reading = self._reading.get(id)
        if reading is None:
            reading = self._reading[id] = asyncio.ensure_future(self._read(id))
            reading.add_done_callback(lambda done: self._ended(id, done))
        return await asyncio.shield(reading)  # who goes away does not take it from the others

    async def _read(self, id: str) -> Key | None:
        at = time.monotonic()
        key = await asyncio.to_thread(
            self._store.read, lambda tx: next(iter(keys_in(tx.rows(TABLE, where={"id": id}))), None)
        )
        if len(self._held) >= KNOWN:
            self._held.clear()
        self._held[id] = (at, key)
        return key

    def _ended(self, id: str, reading: asyncio.Future[Key | None]) -> None:
        del self._reading[id]
        if not reading.cancelled():
            reading.exception()  # whoever waited was told

    def _note(self, key: Key) -> None:
        """Have a key's use written down, if it is time, without waiting: another writer may hold the store for long."""
        now, (at, held) = self._now(), self._held.get(key.id, (0.0, None))
        if is_due(held or key, now):  # of many who waited for the same look, one is enough
            self._due[key.id] = now
            if held is not None:
                self._held[key.id] = (at, replace(held, used_at=now))
            self._write_due()

    def _write_due(self) -> None:
        """One write at a time is under way, and takes all that have come up since the one before."""
        if self._due and not self._writing:
            due, self._due, self._writing = self._due, {}, True
            asyncio.get_running_loop().run_in_executor(None, self._write, due).add_done_callback(self._written)

    def _write(self, due: Mapping[str, datetime]) -> None:
        with suppress(StoreError):  # nobody is kept out because a note could not be made
            self._store.write(lambda tx: note(tx, due))

    def _written(self, _: object) -> None:
        self._writing = False
        self._write_due()


def note(tx: Tx, due: Mapping[str, datetime]) -> None:
    """Write down keys' uses, if it was not just done; one that was revoked or removed meanwhile stays so."""
    for id, now in sorted(due.items()):  # in one order for everybody, so that no two wait for each other
        tx.lock(TABLE, id)
        for key in keys_in(tx.rows(TABLE, where={"id": id})):
            if is_due(key, now):
                tx.put(TABLE, rows_of(replace(key, used_at=now)))


def is_due(key: Key, now: datetime) -> bool:
    return key.active(now) and (key.used_at is None or now - key.used_at >= NOTED)
