"""Webhooks: events go to a receiver of each space, signed as Standard Webhooks describes.

Events are noted where they happen (`log/events.py`), and stay until the receiver has answered with 200 to 299: what a
process that was killed had sent is sent again under the same id. Those of one conversation go in order, one after the
other. If a receiver cannot be reached, or fails, its space waits for a pause that grows to ten minutes; other spaces
and all views go on. If it refuses one event (400, 413, 415, 422), that conversation waits alone, and the event is given
up after a hundred tries, which take most of a day.

The address is the operator's, in the settings: https, or a port of this machine. Nothing follows a redirect. What an
event is about is read at the moment it is sent, and is gone if it was erased meanwhile.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
import ipaddress
import json
import ssl
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import groupby
from typing import Any
from urllib.parse import urlsplit

from everword.config import Secret, Settings
from everword.errors import ConfigError
from everword.facts.stored_facts import FACTS, to_fact
from everword.follow.claiming import Lease
from everword.follow.faults import backoff
from everword.follow.store_calls import StoreCalls
from everword.log.events import EVENT_KINDS, EVENTS, RECEIVERS
from everword.log.secret_policy import SecretPolicy
from everword.masking import masked_logger
from everword.model import Filter
from everword.ports import Clock, Telemetry, Tx
from everword.values_to_json import dumps, to_json_value

log = masked_logger("everword.webhooks")

NAME = "webhooks"
OFF = "off"
SECONDS = 10.0  # for one request and its answer
AT_ONCE = 50  # events of a space in one step
SIDE_BY_SIDE = 8  # conversations of which events are sent at a time
REFUSING = frozenset({400, 413, 415, 422})  # answers about one event, and not about all
MOST_TRIES = 100  # of an event that is refused
LAST = "\U0010ffff"  # after every id
MOST = 2**63 - 1  # and every number

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Receiver:
    """Where events of a space go, and what signs them."""

    url: str
    key: bytes = field(repr=False)

    @property
    def name(self) -> str:
        """What to call it in a log: an address may hold a secret behind the host."""
        return urlsplit(self.url).netloc

    def headers(self, id: str, at: datetime, body: bytes) -> dict[str, str]:
        """The headers by which it knows that a request is ours, and which event it is."""
        timestamp = str(int(at.timestamp()))
        signature = hmac.new(self.key, f"{id}.{timestamp}.".encode() + body, sha256).digest()
        return {
            "webhook-id": id,
            "webhook-timestamp": timestamp,
            "webhook-signature": f"v1,{base64.b64encode(signature).decode()}",
        }


def receivers_of(settings: Settings) -> dict[str, Receiver]:
    """The receivers in the settings, by space; `*` is that of all others."""
    if settings.webhook_urls.strip() in ("", OFF):
        return {}
    addresses = [entry.strip() for entry in settings.webhook_urls.split(",")]
    secrets = [Secret(secret.strip()) for secret in settings.webhook_secret.split(",")]
    if len(secrets) not in (1, len(addresses)):
        raise ConfigError(
            f"webhook_secret has {len(secrets)} secrets for {len(addresses)} addresses; give one secret "
            "for each address, or one secret for all"
        )
    receivers: dict[str, Receiver] = {}
    for address, secret in zip(addresses, secrets * (len(addresses) if len(secrets) == 1 else 1), strict=True):
        space, url = space_and_url(address)
        if space in receivers:
            raise ConfigError(
                f"webhook_urls has two addresses for {'all spaces' if space == '*' else f'space {space!r}'}; "
                "give only one address"
            )
        check_url(url, settings.webhook_http)
        receivers[space] = Receiver(url, read_key(secret))
    wanted_kinds(settings)
    return receivers


def space_and_url(address: str) -> tuple[str, str]:
    space, equals, url = address.partition("=")
    return (space.strip(), url.strip()) if equals and "://" not in space else ("*", address)


def check_url(url: str, allows_http: bool) -> None:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    is_plain = url.isascii() and url.isprintable() and " " not in url  # it becomes a line of a request
    if not host or parts.scheme not in ("http", "https") or parts.username is not None or not is_plain:
        raise ConfigError("webhook_urls: each address must be like https://app.example.com/hook, without a password")
    if parts.scheme == "http" and not (allows_http or is_loopback(host)):
        raise ConfigError(
            f"webhook_urls: http://{host} is not encrypted; use https, or turn on the setting webhook_http"
        )


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_key(secret: str) -> bytes:
    """The bytes of a secret as Standard Webhooks writes it."""
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        key = b""
    if not secret.startswith("whsec_") or not 24 <= len(key) <= 64:
        raise ConfigError(
            "webhook_secret must be whsec_ followed by 24 to 64 random bytes in base64; create one with "
            "`echo whsec_$(openssl rand -base64 32)`"
        )
    return key


def wanted_kinds(settings: Settings) -> frozenset[str]:
    kinds = frozenset(filter(None, (kind.strip() for kind in settings.webhook_events.split(","))))
    if unknown := sorted(kinds - {*EVENT_KINDS}):
        raise ConfigError(f"webhook_events: {unknown[0]!r} is not an event; the events are {', '.join(EVENT_KINDS)}")
    return kinds or frozenset(EVENT_KINDS)


def note_receivers(tx: Tx, settings: Settings) -> None:
    """Note which spaces have a receiver, so that every process keeps their events; with `off`, none have one."""
    if settings.webhook_urls.strip() == OFF:
        tx.set_note(RECEIVERS, None)
        tx.remove(EVENTS, {})
    else:
        tx.set_note(RECEIVERS, spaces_note(settings))


def spaces_note(settings: Settings) -> str | None:
    """What is noted of the receivers in the settings; None if there are none."""
    receivers = receivers_of(settings)
    return json.dumps(sorted(receivers)) if receivers else None


# -- what is sent


def read_content(tx: Tx, row: Row, mask: SecretPolicy) -> dict[str, Any] | None:
    """What an event is about, as JSON; None if there is nothing left to tell."""
    space, kind, subject = row["space"], row["kind"], row["subject"]
    data: dict[str, Any] = {"space": space, "conversation": row["conversation"]}
    if kind in ("fact.learnt", "fact.changed"):
        # By its id alone: whose it was is taken out of an event when that person is erased.
        where = {"space": space, "user_id": row["user_id"], "id": subject}
        facts = tx.rows(FACTS, where=where) if row["user_id"] is not None else []
        if not facts and kind == "fact.learnt":
            return None
        fact = to_json_value(to_fact(facts[0])) if facts else None
        data |= {"user": row["user_id"], "id": subject, "fact": fact}
    elif kind == "message.erased":
        erasure, first, last = json.loads(subject)
        place = {"space": space, "conversation": row["conversation"]}
        candidates = tx.messages(
            Filter(space, conversation=row["conversation"]),
            after=(row["conversation"], first - 1),
            upto=last,
            damaged=lambda _: None,
        )
        erasures = {
            message_row["turn"]: message_row["erasure"]
            for message_row in tx.rows(
                "messages", where=place | {"turn": tuple(message.turn for message in candidates)}
            )
        }
        messages = [message for message in candidates if erasures.get(message.turn) == erasure]
        data |= {"messages": [{"id": message.id, "turn": message.turn} for message in messages]}
    else:
        name, day, variant = json.loads(subject)
        where = {"space": space, "kind": name, "day": day, "user_id": row["user_id"], "variant": variant}
        digests = tx.rows("digests", where=where)
        if not digests:
            return None
        text_and_origin = {name: digests[0][name] for name in ("text", "made_by", "made_at")}
        data |= {"user": row["user_id"], "kind": name, "day": day, **to_json_value(text_and_origin)}
    return {"type": kind, "timestamp": row["at"].isoformat(), "data": mask_texts(data, mask)}


def mask_texts(value: Any, mask: SecretPolicy) -> Any:
    if isinstance(value, str):
        return mask.mask(value)
    if isinstance(value, dict):
        return {name: mask_texts(inner, mask) for name, inner in value.items()}
    return [mask_texts(inner, mask) for inner in value] if isinstance(value, list) else value


async def post(url: str, headers: Mapping[str, str], body: bytes) -> int:
    """Send one request and return the status of the answer, of which nothing more is read.

    Over a connection of asyncio, so that one deadline holds for all of it, and a stop ends it at once: `http.client`
    limits only each read, and would keep a thread for as long as a receiver sends a byte now and then.
    """
    parts = urlsplit(url)
    is_https = parts.scheme == "https"
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    lines = {"Host": parts.netloc, "Content-Type": "application/json", "User-Agent": "everword"}
    lines |= {"Content-Length": str(len(body)), "Connection": "close", **headers}
    head = "".join([f"POST {path} HTTP/1.1\r\n", *(f"{name}: {value}\r\n" for name, value in lines.items()), "\r\n"])
    async with asyncio.timeout(SECONDS):
        reader, writer = await asyncio.open_connection(
            parts.hostname,
            parts.port or (443 if is_https else 80),
            ssl=await asyncio.to_thread(ssl.create_default_context) if is_https else None,
        )
        try:
            writer.write(head.encode("ascii") + body)
            await writer.drain()
            words = (await reader.readline()).split()
        finally:
            writer.transport.abort()
    if len(words) < 2 or not words[0].startswith(b"HTTP/1.") or not words[1].isdigit():
        raise ValueError("the receiver of the webhook did not answer with an HTTP response")
    return int(words[1])


# -- sending


@dataclass(slots=True)
class SendResult:
    """What became of some events of a space: those that are done with, those refused, and why no more can be sent."""

    done: list[Row] = field(default_factory=list)
    refused: list[Row] = field(default_factory=list)
    failure: str | None = None


class Courier:
    """Sends the events of all spaces that have a receiver; a loop runs it as it runs a follower of a view."""

    def __init__(
        self, settings: Settings, calls: StoreCalls, clock: Clock, secrets: SecretPolicy, telemetry: Telemetry
    ) -> None:
        self._receivers = receivers_of(settings)
        self._kinds = wanted_kinds(settings)
        self._calls = calls
        self._clock = clock
        self._secrets = secrets
        self._telemetry = telemetry
        self._lease = Lease(NAME, clock, timedelta(seconds=settings.lease_seconds))
        self._next: dict[str, Row] = {}  # by space, the place after which the next step begins
        self._step_lock = asyncio.Lock()
        self.drained = True

    async def step(self, since: datetime | None = None, *, patient: bool = False, space: str | None = None) -> int:
        """Send some events of a space, or of each; return how many were sent."""
        async with self._step_lock:
            self.drained = True
            if space is not None:
                return await self._send_of_space(space)
            count = 0
            place: str | None = ""
            while (place := await self._calls.read(lambda tx: next_space(tx, place or ""))) is not None:
                count += await self._send_of_space(place)
            return count

    async def lags_in(self, where: Filter, since: datetime) -> bool:
        """Nobody waits for events."""
        return False

    def prefer(self, space: str) -> None:
        """All spaces are served in each step."""

    async def _send_of_space(self, space: str) -> int:
        receiver = self._receivers.get(space, self._receivers.get("*"))
        if receiver is None:
            return 0
        rows = await self._calls.write(lambda tx: self._claim(tx, space))
        if not rows:
            return 0
        sending = asyncio.ensure_future(self._send_rows(rows, receiver))
        try:
            await self._lease.renew_until_done(sending, self._calls, [(space, "")])
            batch = sending.result()
        except asyncio.CancelledError:
            await asyncio.shield(self._calls.write(lambda tx: self._lease.release(tx, [(space, "")])))
            raise
        await self._calls.write(lambda tx: self._save(tx, space, batch))
        # After a whole conversation: what is left of it comes first when it is its turn again.
        self._next[space] = {**rows[-1], "number": MOST, "id": LAST}
        self.drained = self.drained and len(rows) < AT_ONCE
        for outcome, count in (("ok", len(batch.done)), ("refused", len(batch.refused))):
            if count:
                self._telemetry.count("webhook", kind=NAME, outcome=outcome, amount=count)
        if batch.failure is not None:
            self._telemetry.count("webhook", kind=NAME, outcome="failed")
            log.warning("%s", batch.failure)
        return len(batch.done)

    def _claim(self, tx: Tx, space: str) -> Sequence[Row]:
        """Take the space, and read its next events: after those of the last step, or from the beginning."""
        if not self._lease.acquire(tx, [(space, "")]):
            return []
        after = self._next.pop(space, None)
        rows = after and tx.rows(EVENTS, after, AT_ONCE, where={"space": space})
        return rows or tx.rows(EVENTS, None, AT_ONCE, where={"space": space})

    async def _send_rows(self, rows: Iterable[Row], receiver: Receiver) -> SendResult:
        batch = SendResult()
        side_by_side = asyncio.Semaphore(SIDE_BY_SIDE)

        async def send(conversation_rows: Sequence[Row]) -> None:
            async with side_by_side:
                await self._send_in_order(conversation_rows, receiver, batch)

        by_conversation = [[*group] for _, group in groupby(rows, key=lambda row: row["conversation"])]
        await asyncio.gather(*map(send, by_conversation))
        return batch

    async def _send_in_order(self, rows: Iterable[Row], receiver: Receiver, batch: SendResult) -> None:
        """Send events of one conversation until one is not taken."""
        for row in rows:
            if batch.failure is not None or (row["retry_at"] is not None and row["retry_at"] > self._clock.now()):
                return
            content = await self._calls.read(lambda tx: read_content(tx, row, self._secrets))  # noqa: B023
            if content is not None and row["kind"] in self._kinds:
                status, failure = await self._send(row["id"], dumps(content), receiver)
                if status in REFUSING:
                    batch.refused.append(row)
                    return
                if failure is not None:
                    batch.failure = failure
                    return
            batch.done.append(row)

    async def _send(self, id: str, body: bytes, receiver: Receiver) -> tuple[int, str | None]:
        """Send one event. Returns the status of the answer, 0 if there is none, and in what the receiver fails."""
        try:
            status = await post(receiver.url, receiver.headers(id, self._clock.now(), body), body)
        except (OSError, TimeoutError, ValueError) as error:
            return 0, f"{receiver.name} cannot be reached ({type(error).__name__})"
        return status, None if 200 <= status < 300 else f"{receiver.name} answered with status {status}"

    def _save(self, tx: Tx, space: str, batch: SendResult) -> None:
        """Remove what was taken; give the space back, until later if its receiver fails."""
        for row in batch.done:
            tx.remove(EVENTS, key_of(row))
        for row in batch.refused:
            if row["failures"] + 1 >= MOST_TRIES:
                log.warning("the receiver refuses event %s: it is given up", row["id"])
                tx.remove(EVENTS, key_of(row))
            elif tx.rows(EVENTS, where=key_of(row)):
                retry_at = self._clock.now() + backoff(row["failures"])
                tx.put(EVENTS, [{**row, "failures": row["failures"] + 1, "retry_at": retry_at}])
        self._lease.release(tx, [(space, "")], batch.failure)


def key_of(row: Row) -> dict[str, Any]:
    return {name: row[name] for name in ("space", "conversation", "number", "id")}


def next_space(tx: Tx, space: str) -> str | None:
    """The next space after one that has events."""
    after = {"space": space, "conversation": LAST, "number": 0, "id": ""} if space else None
    return next((row["space"] for row in tx.rows(EVENTS, after, 1)), None)
