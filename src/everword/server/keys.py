"""API keys: created once, shown once, stored as a hash.

A key is `rk_ID_SECRET`. The id finds the row, the secret is 32 random bytes and is compared by its SHA-256, in constant
time: it has too much randomness to be guessed, so a slow hash would only slow the server. A key opens some spaces or
all, gives some rights, and may be bound to one user. A key that was read is cached for a second, and requests that wait
for the same key share one read; its last use is written at most once a minute, in the background.

A key that another key made can do no more than its maker: it has at most the maker's rights, spaces, user, expiry, rate
and size of body, its requests count as the maker's too, and it opens nothing once the maker does not.

A session of the dashboard is a signed cookie that names a key: its id, when the session ends, and a nonce, with an
HMAC-SHA256 over them; the key's text is in no cookie. The secret of the signature is random, made once and kept in the
store, so that a session outlives a restart and every server of the store knows it. Each request looks the key up again,
so a session ends with its key; signing out is noted in the store, since the cookie would stay valid wherever the secret
is known. The cookie opens pages alone, never the API, and no page of another origin sends it (SameSite=Strict). A form
carries a token made of the session's nonce and the secret: a page that cannot read ours cannot send it.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import re
import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from cachetools import TLRUCache

from everword.errors import Forbidden, InvalidInput, NotFound, StoreError
from everword.log.checks_and_seals import check_id, check_number
from everword.log.operation_declarations import RIGHTS
from everword.ports import Clock, Store, Tx
from everword.wiring import SystemClock

TABLE = "api_keys"
SESSION_SECRET = "session_secret"  # the note of the store that holds it
SCOPES = RIGHTS
PREFIX = "rk_"
TEXT = re.compile(r"rk_([0-9a-f]{16})_([A-Za-z0-9_-]{43})", re.ASCII)
EVERYWHERE = ""  # the space in the row of a key that opens all; no space has this name
HELD = 1.0  # seconds for which a key that was read stays in the cache
USE_INTERVAL = timedelta(minutes=1)  # between two writes of a key's last use
MAX_CACHE = 10_000  # keys in the cache
MAX_NAME = 100  # characters
MAX_RATE = 1_000_000  # requests a minute
MAX_BODY = 1 << 30  # bytes
MAX_DAYS = 36_500
MAX_MAKERS = 8  # keys that made each other, before a key
NO_KEY_HASH = sha256(b"").digest()  # compared where there is no key, so that both cases take the same time
COOKIE = "everword_session"
LASTS = timedelta(hours=12)
OVERVIEW = "/"
PAGES = "/web/"
SIGN_IN = "/web/sign-in"
SIGN_OUT = "/web/sign-out"
STATIC = "/web/static/"
DOCS = "/docs"
IMPORT = "/web/import"
COOKIE_VALUE = re.compile(r"([0-9a-f]{16})\.(\d{1,12})\.([A-Za-z0-9_-]{22})\.([0-9a-f]{64})", re.ASCII)
SIGN_IN_BYTES = 16_384  # the most that may be sent to sign in
UPLOAD_BYTES = 256 << 20  # of a file to import, by a key without a limit of its own
NOTE = "signed_out:"  # begins the name of a key's note
MOST_ENDED = 200  # sessions in a note


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as the store has it. `spaces` is empty if it opens all. `maker` is the id of the key that made it, if one
    did; `makers` is that key, the one that made that, and so on."""

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
    maker: str | None = None
    hash: bytes = field(default=b"", repr=False)
    makers: tuple[ApiKey, ...] = field(default=(), repr=False, compare=False)

    @property
    def was_revoked(self) -> bool:
        """Whether it, or a key by which it was made, is revoked."""
        return self.revoked_at is not None or any(maker.was_revoked for maker in self.makers)

    def is_active(self, now: datetime) -> bool:
        """Whether it opens anything: neither it nor a key by which it was made is revoked or expired."""
        ends = [key.expires_at for key in (self, *self.makers) if key.expires_at is not None]
        return not self.was_revoked and all(now < end for end in ends)


STORED_FIELDS = [field.name for field in fields(ApiKey) if field.name not in ("spaces", "makers")]
COLUMNS = {"user": "user_id"}  # where a column is not called as the field


def create_key(
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
    maker: str | None = None,
    usual_rate: int = 0,
) -> tuple[ApiKey, str]:
    """Create a key. Returns it and its text, which is not stored and cannot be shown again. Without `spaces` it opens
    all spaces, without `days` it does not expire. With the id of a `maker`, it can do no more than that key, whose rate
    is the `usual_rate` if it has none of its own; a rate of 0 is no limit."""
    places = tuple(dict.fromkeys(check_id("space", space) for space in spaces))
    rights = tuple(scope for scope in SCOPES if scope in set(parse_scopes(scopes)))
    if len(check_id("name", name)) > MAX_NAME:
        raise InvalidInput("name", f"has {len(name)} characters; at most {MAX_NAME} are allowed")
    secret = secrets.token_urlsafe(32)
    now = now or datetime.now(UTC)
    key = ApiKey(
        id=secrets.token_hex(8),
        name=name,
        spaces=places,
        scopes=rights,
        created_at=now,
        user=None if user is None else check_id("user", user),
        rate=None if rate is None else check_number("rate", rate, MAX_RATE),
        body=None if body is None else check_number("body", body, MAX_BODY),
        expires_at=None if days is None else now + timedelta(days=check_number("days", days, MAX_DAYS)),
        hash=sha256(secret.encode()).digest(),
    )

    def write_key(tx: Tx) -> ApiKey:
        new_key = key if maker is None else limit_key(key, find_active_key(tx, maker, now), usual_rate)
        if new_key.user is not None and len(new_key.spaces) != 1:
            raise InvalidInput("user", "limits the key to a user of one space; choose the space with --space")
        tx.put(TABLE, rows_of(new_key))
        return new_key

    return store.write(write_key), f"{PREFIX}{key.id}_{secret}"


def find_active_key(tx: Tx, id: str, now: datetime) -> ApiKey:
    key = read_key(tx, id)
    if key is None or not key.is_active(now):
        raise Forbidden("no_key", "this key is no longer valid, so it cannot create another key")
    return key


def limit_key(key: ApiKey, maker: ApiKey, usual_rate: int) -> ApiKey:
    """A new key with what its maker may give: of what is a number, or is left out, it gets what the maker has."""
    check_maker(key, maker)
    maker_rate = usual_rate if maker.rate is None else maker.rate
    return replace(
        key,
        spaces=key.spaces or maker.spaces,
        user=key.user or maker.user,
        rate=maker.rate if key.rate is None else min(key.rate, maker_rate or key.rate),
        body=maker.body if key.body is None else min(key.body, maker.body or key.body),
        expires_at=min((time for time in (key.expires_at, maker.expires_at) if time is not None), default=None),
        maker=maker.id,
        makers=(maker, *maker.makers),
    )


def check_maker(key: ApiKey, maker: ApiKey) -> None:
    """Refuse more rights, other spaces and other users than the maker's."""
    if len(maker.makers) >= MAX_MAKERS - 1:
        raise Forbidden(
            "scope", f"this key cannot create keys: a chain of keys that create keys has at most {MAX_MAKERS} members"
        )
    for scope in key.scopes:
        if scope not in maker.scopes:
            raise Forbidden("scope", f"this key cannot grant the scope {scope!r}, because it does not have this scope")
    if maker.spaces and not set(key.spaces) <= set(maker.spaces):
        raise Forbidden(
            "not_your_space", "this key cannot grant access to that space, because it does not have this access"
        )
    if maker.user is not None and key.user not in (None, maker.user):
        raise Forbidden("not_you", "this key is for one user, so it cannot create a key for another user")


def parse_scopes(scopes: Iterable[str]) -> list[str]:
    names = [scope.strip() for scope in scopes if scope.strip()]
    unknown = [scope for scope in names if scope not in SCOPES]
    if unknown or not names:
        problem = f"there is no scope {unknown[0]!r}" if unknown else "at least one scope is needed"
        raise InvalidInput("scopes", f"{problem}; the scopes are {', '.join(SCOPES)}")
    return names


def load_session_secret(store: Store) -> bytes:
    """What signs the sessions of the dashboard: random, made once for a store, so that a session outlives a restart and
    all servers of a store agree."""

    def find_or_make(tx: Tx) -> str:
        tx.lock(SESSION_SECRET)
        text = tx.note(SESSION_SECRET)
        if not text:
            text = secrets.token_hex(32)
            tx.set_note(SESSION_SECRET, text)
        return text

    text = store.read(lambda tx: tx.note(SESSION_SECRET))
    return sha256((text or store.write(find_or_make)).encode()).digest()


def list_keys(store: Store) -> list[ApiKey]:
    """Every key, oldest first, revoked ones included."""
    keys = {key.id: key for key in store.read(lambda tx: keys_in(tx.rows(TABLE)))}
    return sorted((with_makers(key, keys) for key in keys.values()), key=lambda key: (key.created_at, key.id))


def read_key(tx: Tx, id: str) -> ApiKey | None:
    """The key with this id, and those by which it was made."""
    keys: dict[str, ApiKey] = {}
    next_id: str | None = id
    while next_id is not None and len(keys) <= MAX_MAKERS:
        rows = tx.rows(TABLE, where={"id": next_id})
        keys |= {key.id: key for key in keys_in(rows)}
        next_id = keys[next_id].maker if next_id in keys else None
    return with_makers(keys[id], keys) if id in keys else None


def with_makers(key: ApiKey, keys: Mapping[str, ApiKey]) -> ApiKey:
    """The key with those by which it was made. If one of them is gone, or there are more than a key can have, it opens
    nothing, as if it had been revoked."""
    makers: list[ApiKey] = []
    next_id = key.maker
    while next_id is not None:
        if next_id not in keys or len(makers) == MAX_MAKERS:
            return replace(key, revoked_at=key.revoked_at or key.created_at)
        makers.append(keys[next_id])
        next_id = keys[next_id].maker
    return replace(key, makers=tuple(makers)) if makers else key


def revoke_key(store: Store, id: str, now: datetime | None = None) -> ApiKey:
    """Make a key open nothing from now on, nor any key that it made. It stays in the list, so that its last use can be
    seen. `id` may also be the whole text of the key, as somebody may have found it."""
    id = id.removeprefix(PREFIX).partition("_")[0]

    def write_revocation(tx: Tx) -> ApiKey:
        tx.lock(TABLE, id)  # a write of its last use at the same time must not restore the old row
        keys = keys_in(tx.rows(TABLE, where={"id": id}))
        if not keys:
            raise NotFound(f"there is no key {id!r}; `everword keys list` shows all keys")
        key = keys[0] if keys[0].revoked_at else replace(keys[0], revoked_at=now or datetime.now(UTC))
        tx.put(TABLE, rows_of(key))
        return key

    return store.write(write_revocation)


def rows_of(key: ApiKey) -> list[dict[str, Any]]:
    row = {COLUMNS.get(name, name): getattr(key, name) for name in STORED_FIELDS}
    return [row | {"space": space} for space in key.spaces or (EVERYWHERE,)]


def keys_in(rows: Iterable[Mapping[str, Any]]) -> list[ApiKey]:
    keys: dict[str, ApiKey] = {}
    for row in rows:
        values = {name: row[COLUMNS.get(name, name)] for name in STORED_FIELDS}
        values |= {"scopes": tuple(row["scopes"]), "hash": bytes(row["hash"])}
        earlier_spaces = keys[row["id"]].spaces if row["id"] in keys else ()
        spaces = () if row["space"] == EVERYWHERE else (row["space"],)
        keys[row["id"]] = ApiKey(spaces=(*earlier_spaces, *spaces), **values)
    return list(keys.values())


class Keys:
    """The keys of a store, as a server looks them up: with a cache, and last uses written in the background."""

    def __init__(self, store: Store, clock: Clock | None = None) -> None:
        self.store = store
        self.now = (clock or SystemClock()).now
        self._cache: TLRUCache[str, ApiKey | None] = TLRUCache(MAX_CACHE, lambda id, key, now: now + HELD)
        self._used: dict[str, datetime] = {}  # the last uses that were written, or will be
        self._reads: dict[str, asyncio.Future[ApiKey | None]] = {}
        self._due: dict[str, datetime] = {}
        self._is_writing = False

    async def find_key(self, text: str) -> ApiKey | None:
        """The key with this text, if there is one that is neither revoked nor expired."""
        match = TEXT.fullmatch(text)
        if match is None:  # what cannot be a key is neither looked up nor cached
            return None
        id, secret = match.groups()
        key = await self._key_by_id(id)
        stored_hash = NO_KEY_HASH if key is None else key.hash
        matches = hmac.compare_digest(sha256(secret.encode()).digest(), stored_hash)
        now = self.now()
        if not matches or key is None or not key.is_active(now):
            return None
        self._note_use(key, now)  # only now: whoever knows just the id, which is in logs, has not used the key
        return key

    async def find_key_of(self, session: Session) -> ApiKey | None:
        """The key of a session, which proved before that it knew the text; None if it opens nothing any more, or the
        session was signed out. That is read anew each time: another server may have noted it a moment ago."""
        key = await self._key_by_id(session.key_id)
        now = self.now()
        if key is None or not key.is_active(now):
            return None
        ended = await asyncio.to_thread(self.store.read, lambda tx: read_ended(tx, session.key_id))
        if ended.includes(session):
            return None
        self._note_use(key, now)
        return key

    async def end_session(self, session: Session) -> None:
        """Make a session open nothing from now on, on every server of the store."""
        now = self.now()
        await asyncio.to_thread(self.store.write, lambda tx: end_session(tx, session, now))

    async def _key_by_id(self, id: str) -> ApiKey | None:
        with suppress(KeyError):
            return self._cache[id]
        read = self._reads.get(id)
        if read is None:
            read = self._reads[id] = asyncio.ensure_future(self._read_key(id))
            read.add_done_callback(lambda future: self._end_read(id, future))
        return await asyncio.shield(read)  # a caller that is cancelled does not cancel it for the others

    async def _read_key(self, id: str) -> ApiKey | None:
        key: ApiKey | None = await asyncio.to_thread(self.store.read, lambda tx: read_key(tx, id))
        self._cache[id] = key
        return key

    def _end_read(self, id: str, read: asyncio.Future[ApiKey | None]) -> None:
        del self._reads[id]
        if not read.cancelled():
            read.exception()  # those who waited for it got it

    def _note_use(self, key: ApiKey, now: datetime) -> None:
        """Have a key's last use written, if it is due, without waiting: another writer may hold the store for long."""
        last_use = self._used.get(key.id)
        if is_due(key, now) and (last_use is None or now - last_use >= USE_INTERVAL):
            self._used[key.id] = self._due[key.id] = now
            self._start_write()

    def _start_write(self) -> None:
        """Start a write of all uses that are due, unless one is running: the next one takes them then."""
        if self._due and not self._is_writing:
            due = self._due
            self._due = {}
            self._is_writing = True
            asyncio.get_running_loop().run_in_executor(None, self._write_uses, due).add_done_callback(self._end_write)

    def _write_uses(self, due: Mapping[str, datetime]) -> None:
        with suppress(StoreError):  # a request is not refused because its last use could not be written
            self.store.write(lambda tx: write_uses(tx, due))

    def _end_write(self, _: object) -> None:
        self._is_writing = False
        self._start_write()


def write_uses(tx: Tx, due: Mapping[str, datetime]) -> None:
    """Write keys' last uses where that is due; a key that was revoked or removed meanwhile stays so."""
    for id, now in sorted(due.items()):  # all writers lock in the same order, so that no two wait for each other
        tx.lock(TABLE, id)
        for key in keys_in(tx.rows(TABLE, where={"id": id})):
            if is_due(key, now):
                tx.put(TABLE, rows_of(replace(key, used_at=now)))


def is_due(key: ApiKey, now: datetime) -> bool:
    return key.is_active(now) and (key.used_at is None or now - key.used_at >= USE_INTERVAL)


@dataclass(frozen=True, slots=True)
class Session:
    """Who is signed in: the id of a key, until when, and what makes the session's tokens."""

    key_id: str
    ends_at: datetime
    nonce: str


class Sessions:
    """Signs sessions, reads them back, and makes their tokens."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def begin(self, key_id: str, now: datetime) -> Session:
        return Session(key_id, (now + LASTS).replace(microsecond=0), secrets.token_urlsafe(16))

    def cookie_value(self, session: Session) -> str:
        body = f"{session.key_id}.{int(session.ends_at.timestamp())}.{session.nonce}"
        return f"{body}.{self._sign('session', body)}"

    def read(self, value: str, now: datetime) -> Session | None:
        """The session of a cookie; None if it was not signed here, or is over."""
        match = COOKIE_VALUE.fullmatch(value)
        if match is None:
            return None
        key_id, ends_at, nonce, signature = match.groups()
        if not hmac.compare_digest(signature, self._sign("session", value.rpartition(".")[0])):
            return None
        session = Session(key_id, datetime.fromtimestamp(int(ends_at), UTC), nonce)
        return session if now < session.ends_at else None

    def token(self, session: Session | None) -> str:
        """The token of a session's forms; without a session, that of a server that asks for no keys."""
        return self._sign("form", "" if session is None else session.nonce)

    def accepts_token(self, session: Session | None, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self.token(session).encode())

    def _sign(self, purpose: str, text: str) -> str:
        return hmac.new(self._secret, f"{purpose}\n{text}".encode(), sha256).hexdigest()


def is_page(path: str) -> bool:
    """Whether a path is one of the dashboard's, and not of the API."""
    return path in (OVERVIEW, DOCS) or path.startswith(PAGES)


def is_open_page(path: str) -> bool:
    """Whether a page needs no session: where one signs in, how pages look, and the description of the API."""
    return path in (SIGN_IN, DOCS) or path.startswith(STATIC)


def read_cookie(header: str) -> str:
    """The session in a `Cookie` header, or "". Two of them are none: another program may have set the second."""
    pairs = (part.strip().partition("=") for part in header.split(";"))
    values = [value for name, _, value in pairs if name == COOKIE]
    return values[0] if len(values) == 1 else ""


@dataclass(frozen=True, slots=True)
class EndedSessions:
    """The ended sessions of a key, by nonce, with the second at which each would have been over. Sessions that would
    be over at `upto` or earlier are ended, too."""

    seconds: Mapping[str, int] = field(default_factory=dict)
    upto: int = 0

    def includes(self, session: Session) -> bool:
        return session.nonce in self.seconds or session.ends_at.timestamp() <= self.upto

    def add(self, session: Session, now: datetime) -> EndedSessions:
        """With this session, and without those whose time is over."""
        seconds = {nonce: second for nonce, second in self.seconds.items() if second > now.timestamp()}
        seconds[session.nonce] = int(session.ends_at.timestamp())
        if len(seconds) > MOST_ENDED:
            return EndedSessions({}, max(self.upto, *seconds.values()))
        return EndedSessions(seconds, self.upto)


def read_ended(tx: Tx, key_id: str) -> EndedSessions:
    text = tx.note(NOTE + key_id)
    return EndedSessions(**json.loads(text)) if text else EndedSessions()


def end_session(tx: Tx, session: Session, now: datetime) -> None:
    """Note that a session was signed out."""
    name = NOTE + session.key_id
    tx.lock(name)
    ended = read_ended(tx, session.key_id).add(session, now)
    tx.set_note(name, json.dumps({"seconds": dict(ended.seconds), "upto": ended.upto}, separators=(",", ":")))
