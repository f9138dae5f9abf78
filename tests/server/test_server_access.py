"""Who may enter: keys, scopes, limits, and what a server without keys still refuses."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from everword.cli.main import program
from everword.config import Settings
from everword.errors import ConfigError, EmbedderError, Forbidden, InvalidInput, NotFound
from everword.models.embedding.local import StaticEmbedder
from everword.ports import Store, Vectors
from everword.server import ServerOptions, keys
from everword.server.access import is_loopback
from everword.server.hosting import wants_keys
from everword.server.keys import Keys, create_key, list_keys, revoke_key, write_uses
from everword.testing.doubles import FrozenClock
from everword.testing.serving import Serving
from everword.wiring import open_store

PATIENCE = 120.0
SAY = {"messages": [{"role": "user", "content": "hello"}]}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Serving]:
    options = ServerOptions(body=10_000)
    with Serving(str(tmp_path / "memory.db"), auth=True, followers=False, options=options) as running:
        yield running


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


# -- keys


def test_a_key_is_kept_as_a_hash_and_shown_once(store_url: str) -> None:
    with closing(open_store(store_url, Settings())) as store:
        made, text = create_key(store, name="website", spaces=["a", "b"], scopes=["write", "read"], user=None, rate=5)
        (kept,) = list_keys(store)
        assert kept == made
        assert (kept.spaces, kept.scopes, kept.rate) == (("a", "b"), ("read", "write"), 5)
        secret = text.split("_", 2)[2]
        rows = store.read(lambda tx: tx.rows("api_keys"))
        assert secret not in repr(rows)
        assert secret not in repr(made)
        assert made.hash.hex() not in repr(made)
        gone = revoke_key(store, made.id)
        assert gone.revoked_at is not None
        assert revoke_key(store, made.id) == gone
        with pytest.raises(NotFound, match="keys list"):
            revoke_key(store, "nothing")


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "x" * 101},
        {"scopes": []},
        {"scopes": ["root"]},
        {"spaces": [""]},
        {"rate": 0},
        {"body": -1},
    ],
)
def test_a_key_that_cannot_be_is_refused(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with closing(open_store(str(tmp_path / "a.db"), Settings())) as store:
        with pytest.raises(InvalidInput):
            create_key(store, **{"name": "website"} | wrong)
        with pytest.raises(InvalidInput, match="one space"):
            create_key(store, name="website", user="alex")
        assert list_keys(store) == []


def test_last_use_is_noted_at_most_once_a_minute_and_a_revoked_key_is_over(tmp_path: Path) -> None:
    now = datetime(2026, 3, 1, tzinfo=UTC)

    async def used(store: Any, text: str) -> bool:
        return await Keys(store, FrozenClock(now)).find_key(text) is not None

    with closing(open_store(str(tmp_path / "a.db"), Settings())) as store:
        made, text = create_key(store, name="website", now=now)
        assert not asyncio.run(used(store, text[:-43] + "x" * 43))  # who knows its id has not used a key
        assert list_keys(store)[0].used_at is None
        assert asyncio.run(used(store, text))
        assert list_keys(store)[0].used_at == now
        first, now = now, now + timedelta(seconds=59)
        assert asyncio.run(used(store, text))
        assert list_keys(store)[0].used_at == first
        now += timedelta(seconds=1)
        assert asyncio.run(used(store, text))
        assert list_keys(store)[0].used_at == now
        revoke_key(store, made.id)
        assert not asyncio.run(used(store, text))


def test_a_key_for_some_days_opens_until_then_and_not_a_moment_longer(tmp_path: Path) -> None:
    made_at = now = datetime(2026, 3, 1, tzinfo=UTC)

    async def used(store: Any, text: str) -> bool:
        return await Keys(store, FrozenClock(now)).find_key(text) is not None

    with closing(open_store(str(tmp_path / "a.db"), Settings())) as store:
        made, text = create_key(store, name="phone", spaces=["app"], user="alex", days=90, now=now)
        assert made.expires_at == made_at + timedelta(days=90)
        now = made_at + timedelta(days=90) - timedelta(microseconds=1)
        assert asyncio.run(used(store, text))
        now += timedelta(microseconds=1)
        assert not asyncio.run(used(store, text))
        assert list_keys(store)[0].used_at == now - timedelta(microseconds=1)
        for days in (0, -1, 10**9):
            with pytest.raises(InvalidInput, match="days"):
                create_key(store, name="phone", days=days)


# -- keys made by keys


@pytest.mark.every_store
@pytest.mark.checklist("G7")
def test_a_key_that_a_key_made_can_do_no_more(store_url: str) -> None:
    now = datetime(2026, 3, 1, tzinfo=UTC)
    with closing(open_store(store_url, Settings())) as store:
        limits: dict[str, Any] = {
            "scopes": ["read", "admin"],
            "spaces": ["a", "b"],
            "rate": 5,
            "body": 1_000,
            "days": 1,
        }
        maker, _ = create_key(store, name="maker", now=now, **limits)
        asked_for: dict[str, Any] = {
            "name": "more",
            "scopes": ["read"],
            "rate": 1_000_000,
            "body": 1 << 20,
            "days": 365,
            "now": now,
        }
        for made, _ in (
            create_key(store, maker=maker.id, **asked_for),
            create_key(store, maker=maker.id, name="plain", scopes=["read"], now=now),
        ):
            assert (made.maker, made.spaces, made.rate, made.body) == (maker.id, ("a", "b"), 5, 1_000)
            assert made.expires_at == maker.expires_at
        less, _ = create_key(
            store, maker=maker.id, name="less", scopes=["read"], spaces=["b"], rate=2, user="alex", now=now
        )
        assert (less.spaces, less.rate, less.user) == (("b",), 2, "alex")
        kept = next(key for key in list_keys(store) if key.id == less.id)
        assert (kept.maker, [key.id for key in kept.makers]) == (maker.id, [maker.id])
        refused: list[dict[str, Any]] = [{"scopes": ["write"]}, {"spaces": ["c"]}, {"spaces": ["a", "c"]}]
        for more in refused:
            with pytest.raises(Forbidden, match="cannot grant"):
                create_key(store, maker=maker.id, now=now, **{"name": "more", "scopes": ["read"]} | more)
        with pytest.raises(Forbidden, match="another"):
            create_key(store, maker=less.id, name="more", scopes=["read"], user="bo", now=now)
        with pytest.raises(Forbidden, match="no longer valid"):
            create_key(store, maker=maker.id, name="late", scopes=["read"], now=now + timedelta(days=1))
        for _ in range(keys.MAX_MAKERS - 2):
            less, _ = create_key(store, maker=less.id, name="deeper", scopes=["read"], now=now)
        with pytest.raises(Forbidden, match="cannot create keys: a chain of keys"):
            create_key(store, maker=less.id, name="too deep", scopes=["read"], now=now)
        usual, _ = create_key(store, name="usual", now=now)
        bounded, _ = create_key(store, maker=usual.id, name="much", rate=1_000, usual_rate=60, now=now)
        assert bounded.rate == 60


@pytest.mark.every_store
@pytest.mark.checklist("G7")
def test_a_key_ends_with_the_key_that_made_it_and_so_do_those_it_made(store_url: str) -> None:
    async def opens(store: Store, text: str) -> bool:
        return await Keys(store).find_key(text) is not None

    with closing(open_store(store_url, Settings())) as store:
        first, first_text = create_key(store, name="first", scopes=["read", "admin"])
        second, second_text = create_key(store, name="second", scopes=["read"], maker=first.id)
        _, third_text = create_key(store, name="third", scopes=["read"], maker=second.id)
        _, other_text = create_key(store, name="other", scopes=["read"])
        texts = (first_text, second_text, third_text, other_text)
        assert [asyncio.run(opens(store, text)) for text in texts] == [True, True, True, True]
        revoke_key(store, first.id)
        assert [asyncio.run(opens(store, text)) for text in texts] == [False, False, False, True]
        assert [key.was_revoked for key in list_keys(store)] == [True, True, True, False]
        with pytest.raises(Forbidden):
            create_key(store, name="late", scopes=["read"], maker=second.id)
        store.write(lambda tx: tx.remove(keys.TABLE, {"id": first.id}))  # as an erasure does with those of a person
        assert [asyncio.run(opens(store, text)) for text in texts[1:]] == [False, False, True]


@pytest.mark.checklist("G7")
def test_keys_that_a_key_made_share_its_rate(server: Serving) -> None:
    maker, text = create_key(server.store, name="maker", scopes=["read"], rate=4)
    made = [create_key(server.store, name="made", scopes=["read"], maker=maker.id)[1] for _ in range(3)]
    with httpx2.Client(base_url=server.url) as http:
        statuses = [http.get("/v1/space", headers=bearer(key)).status_code for key in (*made, text, *made)]
    assert statuses == [200, 200, 200, 200, 429, 429, 429]


@given(st.text(max_size=60))
def test_what_is_no_key_opens_nothing(text: str) -> None:
    class Empty:
        def read(self, fn: Any) -> list[Any]:
            return []

    for given_ in (text, f"rk_{text}", f"rk_{text}_{text}"):
        assert asyncio.run(Keys(Empty()).find_key(given_)) is None  # type: ignore[arg-type]


def test_a_key_opens_by_its_whole_secret_only(server: Serving) -> None:
    key, other = server.key(), server.key()
    swapped = "_".join([*key.split("_", 2)[:2], other.split("_", 2)[2]])
    with httpx2.Client(base_url=server.url) as http:
        assert http.get("/v1/conversations", headers=bearer(key)).status_code == 200
        assert http.get("/v1/conversations", headers={"Authorization": f"bearer {key}"}).status_code == 200
        for wrong in (key[:-1], key + "x", swapped, "rk_", "rk__", "x", key.upper(), "é" * 9):
            answer = http.get("/v1/conversations", headers={b"Authorization": f"Bearer {wrong}".encode()})
            assert answer.status_code == 401, wrong
            assert answer.headers["WWW-Authenticate"] == "Bearer"
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.json()["code"] == "no_key"
        assert http.get("/v1/conversations", headers={"Authorization": f"Basic {key}"}).status_code == 401
        assert http.get("/v1/conversations").status_code == 401


def test_a_revoked_key_is_refused_within_the_time_it_is_held(server: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "HELD", 0.0)
    key = server.key()
    with httpx2.Client(base_url=server.url, headers=bearer(key)) as http:
        assert http.get("/v1/conversations").status_code == 200
        revoke_key(server.store, key.split("_")[1])
        assert http.get("/v1/conversations").status_code == 401


class Counted:
    """A store that says how often it was asked."""

    def __init__(self, store: Store) -> None:
        self._store, self.reads, self.writes = store, 0, 0

    def read(self, fn: Any) -> Any:
        self.reads += 1
        return self._store.read(fn)

    def write(self, fn: Any) -> Any:
        self.writes += 1
        return self._store.write(fn)


def test_many_who_come_at_once_with_a_key_have_it_read_once_and_its_use_noted_once(tmp_path: Path) -> None:
    with closing(open_store(str(tmp_path / "a.db"), Settings())) as store:
        counted, text = Counted(store), create_key(store, name="website")[1]

        async def come() -> list[Any]:
            known = Keys(counted)  # type: ignore[arg-type]
            gone = asyncio.ensure_future(known.find_key(text))
            waiting = [asyncio.ensure_future(known.find_key(text)) for _ in range(50)]
            await asyncio.sleep(0)
            gone.cancel()  # who came first and left takes nothing from those who wait
            return await asyncio.gather(*waiting)

        assert all(asyncio.run(come()))
        assert (counted.reads, counted.writes) == (1, 1)
        assert list_keys(store)[0].used_at is not None


@pytest.mark.parametrize(
    "text", ["rk_" + "a" * 60_000 + "_x", "rk_0123456789abcdef_", "rk_0123456789ABCDEF_" + "x" * 43]
)
def test_what_cannot_be_a_key_is_neither_looked_up_nor_held(tmp_path: Path, text: str) -> None:
    with closing(open_store(str(tmp_path / "a.db"), Settings())) as store:
        counted = Counted(store)
        assert asyncio.run(Keys(counted).find_key(text)) is None  # type: ignore[arg-type]
        assert counted.reads == 0


def test_how_the_server_is_can_be_asked_with_a_key_and_does_not_hang_on_it(server: Serving) -> None:
    """Else a probe that sends one would find the process dead when only the store is."""
    assert httpx2.get(f"{server.url}/healthz", headers=bearer(server.key())).status_code == 200
    assert list_keys(server.store)[0].used_at is None


def test_nobody_waits_for_the_note_of_a_use(server: Serving, tmp_path: Path) -> None:
    """Another process may hold the store's write lock for long; who only reads is answered all the same."""
    bearer_ = bearer(server.key())
    with closing(sqlite3.connect(tmp_path / "memory.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert httpx2.get(f"{server.url}/v1/space", headers=bearer_, timeout=PATIENCE).status_code == 200
        assert list_keys(server.store)[0].used_at is None
        other.execute("ROLLBACK")


def test_a_key_is_revoked_by_its_whole_text_too_and_that_is_not_repeated(tmp_path: Path) -> None:
    with closing(open_store(str(tmp_path / "a.db"), Settings())) as store:
        made, text = create_key(store, name="website")
        assert revoke_key(store, text) == revoke_key(store, made.id)
        assert list_keys(store)[0].revoked_at is not None
        with pytest.raises(NotFound) as missing:
            revoke_key(store, text.replace(made.id, "0" * 16))
        assert text.split("_", 2)[2] not in str(missing.value)


def test_scopes_are_asked_for_one_by_one(server: Serving) -> None:
    with httpx2.Client(base_url=server.url) as http:
        reader, writer = bearer(server.key(scopes=["read"])), bearer(server.key(scopes=["write"]))
        refused = http.post("/v1/conversations/c/messages", json=SAY, headers=reader)
        assert (refused.status_code, refused.json()["code"]) == (403, "scope")
        assert http.post("/v1/conversations/c/messages", json=SAY, headers=writer).status_code == 200
        assert http.get("/v1/conversations/c/messages", headers=writer).status_code == 403
        assert len(http.get("/v1/conversations/c/messages", headers=reader).json()["items"]) == 1
        assert http.post("/v1/users/alex/erase", headers=writer).status_code == 403
        # What is about many is not for a key that is one user's, whatever its rights.
        theirs = bearer(server.key(user="alex", scopes=["read", "write", "admin"]))
        assert [http.get(path, headers=theirs).status_code for path in ("/metrics", "/v1/verify")] == [403, 403]
        # A reply tells what is remembered: it needs both.
        refused = http.post("/v1/conversations/c/reply", json={"text": "hi"}, headers=writer)
        assert refused.status_code == 403
        assert "the scopes 'read' and 'write'; this key has write" in refused.json()["detail"]


def test_the_space_is_the_keys_own_unless_it_opens_several(server: Serving) -> None:
    with httpx2.Client(base_url=server.url) as http:

        def space(key: str, **named: str) -> Any:
            answer = http.get("/v1/space", headers=bearer(key) | named)
            return answer.json().get("space", answer.status_code)

        assert space(server.key(space="team")) == "team"
        assert space(server.key(space=())) == "default"
        assert space(server.key(space=()), **{"X-Everword-Space": "any"}) == "any"
        both = server.key(space=("a", "b"))
        assert space(both) == 400
        assert space(both, **{"X-Everword-Space": "b"}) == "b"
        assert space(both, **{"X-Everword-Space": "c"}) == 403
        assert http.get("/v1/space?space=a", headers=bearer(both)).json() == {"space": "a"}
        # Two places that name two spaces, or a name that was left empty, are mistakes: neither is guessed at.
        named, header = [*bearer(both).items()], "X-Everword-Space"
        for query, headers in (
            ("?space=a", [*named, (header, "b")]),
            ("?space=a&space=b", named),
            ("", [*named, (header, "a"), (header, "b")]),
        ):
            two = http.get(f"/v1/space{query}", headers=headers)
            assert (two.status_code, two.json()["code"]) == (400, "which_space")
        assert http.get("/v1/space?space=a", headers=[*named, (header, "a")]).json() == {"space": "a"}
        assert http.get("/v1/space", headers=[*named, *bearer(server.key()).items()]).status_code == 400
        assert space(server.key(space=()), **{"X-Everword-Space": ""}) == 422
        assert http.get("/v1/space?space=", headers=bearer(server.key(space=()))).status_code == 422


@pytest.mark.parametrize("coding", ["utf-8", "latin-1"])
def test_a_space_of_another_script_is_named_as_programs_send_it(server: Serving, coding: str) -> None:
    named = {
        b"Authorization": f"Bearer {server.key(space='büro')}".encode(),
        b"X-Everword-Space": "büro".encode(coding),
    }
    assert httpx2.get(f"{server.url}/v1/space", headers=named).json() == {"space": "büro"}


def test_erasing_a_person_takes_their_keys(server: Serving) -> None:
    theirs, operator = server.key(user="alex"), server.key(scopes=["read", "write", "admin"])
    with httpx2.Client(base_url=server.url) as http:
        assert http.post("/v1/conversations/c/messages", json=SAY, headers=bearer(theirs)).status_code == 200
        assert http.post("/v1/users/alex/erase", headers=bearer(operator)).json()["messages"] == 1
    assert [key.user for key in list_keys(server.store)] == [None]


class Resting(StaticEmbedder):
    """An embedder that fails, and says where it is."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        raise EmbedderError("nobody answers at embedder.internal")


def test_waiting_for_the_views_tells_a_key_of_one_space_nothing_of_the_others(tmp_path: Path) -> None:
    with (
        Serving(str(tmp_path / "a.db"), auth=True, followers=False, embedder=Resting()) as server,
        httpx2.Client(base_url=server.url) as http,
    ):
        said = {"messages": SAY["messages"] * 7}
        theirs = bearer(server.key(space="theirs"))
        assert http.post("/v1/conversations/c/messages", json=said, headers=theirs).status_code == 200
        for key in (server.key(space="mine"), server.key(space="theirs", user="alex")):
            answer = http.post("/v1/settle", json={"timeout": 1}, headers=bearer(key))
            assert (answer.status_code, answer.json()["code"]) == (409, "not_settled")
            assert not re.search(r"\d|embedder", answer.json()["detail"])
        operator = http.post("/v1/settle", json={"timeout": 1}, headers=bearer(server.key(space=())))
        assert "embedder.internal" in operator.json()["detail"]


# -- limits


def test_requests_are_limited_by_key(server: Serving) -> None:
    slow, fast = bearer(server.key(rate=3)), bearer(server.key())
    with httpx2.Client(base_url=server.url) as http:
        statuses = [http.get("/v1/space", headers=slow).status_code for _ in range(5)]
        assert statuses == [200, 200, 200, 429, 429]
        refused = http.get("/v1/space", headers=slow)
        assert int(refused.headers["Retry-After"]) >= 1
        assert refused.json()["code"] == "too_many"
        assert http.get("/v1/space", headers=fast).status_code == 200
        assert http.get("/healthz", headers=slow).status_code == 200


def test_bodies_are_limited_by_key_whether_they_say_their_length_or_not(server: Serving) -> None:
    small, usual = bearer(server.key(body=200)), bearer(server.key())
    long = {"messages": [{"role": "user", "content": "x" * 1_000}]}
    huge = {"messages": [{"role": "user", "content": "x" * 20_000}]}
    with httpx2.Client(base_url=server.url) as http:
        assert http.post("/v1/conversations/c/messages", json=SAY, headers=small).status_code == 200
        assert http.post("/v1/conversations/c/messages", json=long, headers=small).status_code == 413
        assert http.post("/v1/conversations/c/messages", json=long, headers=usual).status_code == 200
        assert http.post("/v1/conversations/c/messages", json=huge, headers=usual).status_code == 413

        def pieces() -> Iterator[bytes]:
            yield b'{"messages": [{"role": "user", "content": "'
            for _ in range(20):
                yield b"x" * 1_000
            yield b'"}]}'

        told = {"Content-Type": "application/json"} | usual
        refused = http.post("/v1/conversations/c/messages", content=pieces(), headers=told)
        assert (refused.status_code, refused.json()["code"]) == (413, "too_large")
        assert len(http.get("/v1/conversations/c/messages", headers=usual).json()["items"]) == 2


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/embeddings", "/mcp", "/v1/search"])
def test_bodies_are_limited_on_every_path(server: Serving, path: str) -> None:
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    long = iter([b'{"jsonrpc": "2.0", "id": 1, "method": "', b"x" * 300, b'"}'])
    refused = httpx2.post(server.url + path, content=long, headers=headers | bearer(server.key(body=200)))
    assert refused.status_code == 413
    assert "200 bytes" in refused.text


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 9_000,
        b'{"messages": ' + b"1" * 6_000 + b"}",
        b'{"messages": [{"role": "user", "content": "x", "metadata": '
        + b'{"a":' * 1_000
        + b"1"
        + b"}" * 1_000
        + b"}]}",
        b"\xff\xfe",
        b"",
    ],
    ids=["deep", "long number", "deep metadata", "no text", "empty"],
)
def test_a_body_that_is_a_trap_is_refused_as_any_other(server: Serving, body: bytes) -> None:
    headers = {"Content-Type": "application/json"} | bearer(server.key())
    answer = httpx2.post(f"{server.url}/v1/conversations/c/messages", content=body, headers=headers)
    assert answer.status_code in (400, 422)
    assert answer.headers["content-type"] == "application/problem+json"


def test_nobody_gets_in_by_asking_for_another_protocol(server: Serving) -> None:
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    upgrade["Sec-WebSocket-Key"] = "dGhlIHNhbXBsZSBub25jZQ=="
    for path in ("/v1/conversations", "/mcp", "/v1/export"):
        assert httpx2.get(server.url + path, headers=upgrade).status_code in (401, 403), path


# -- browsers


def test_headers_keep_browsers_careful_and_no_page_may_call(server: Serving) -> None:
    with httpx2.Client(base_url=server.url) as http:
        answer = http.get("/healthz", headers={"Origin": "https://elsewhere.example"})
        assert "access-control-allow-origin" not in answer.headers
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["Cache-Control"] == "no-store"
        asked = {"Origin": "https://elsewhere.example", "Access-Control-Request-Method": "POST"}
        assert "access-control-allow-origin" not in http.options("/v1/search", headers=asked).headers


def test_a_page_that_is_named_may_call(tmp_path: Path) -> None:
    options = ServerOptions(origins=("https://app.example",))
    with (
        Serving(str(tmp_path / "a.db"), auth=True, followers=False, options=options) as server,
        httpx2.Client(base_url=server.url) as http,
    ):
        asked = {
            "Origin": "https://app.example",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization,content-type,x-everword-space,x-everword-conversation",
        }
        before = http.options("/v1/search", headers=asked)
        assert before.status_code == 200
        assert before.headers["Access-Control-Allow-Origin"] == "https://app.example"
        other = http.options("/v1/search", headers=asked | {"Origin": "https://other.example"})
        assert "access-control-allow-origin" not in other.headers
        # What went wrong can be read there, too, and when to come again.
        refused = http.get("/v1/space", headers={"Origin": "https://app.example"})
        assert (refused.status_code, refused.headers["Access-Control-Allow-Origin"]) == (401, "https://app.example")
        assert "Retry-After" in refused.headers["Access-Control-Expose-Headers"]


def test_auth_is_off_on_loopback_alone(tmp_path: Path) -> None:
    settings = Settings(store=str(tmp_path / "a.db"))
    assert [is_loopback(one) for one in ("127.0.0.1", "localhost", "::1", "127.9.9.9")] == [True] * 4
    assert not any(map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "example.com", "localhost.example.com", "")))
    assert not wants_keys(settings, "127.0.0.1", None)
    for host, auth in (("0.0.0.0", None), ("127.0.0.1", True)):
        with pytest.raises(ConfigError, match="everword keys create"):
            wants_keys(settings, host, auth)
    with pytest.raises(ConfigError, match="works only with a loopback address"):
        wants_keys(settings, "0.0.0.0", False)
    with closing(open_store(settings.store, settings)) as store:
        made, _ = create_key(store, name="website")
        assert wants_keys(settings, "0.0.0.0", None)
        assert wants_keys(settings, "127.0.0.1", None)
        assert not wants_keys(settings, "127.0.0.1", False)
        revoke_key(store, made.id)
    with pytest.raises(ConfigError, match="requires API keys, but there are none yet"):
        wants_keys(settings, "0.0.0.0", None)


# -- the command line


def test_keys_are_made_listed_and_revoked_on_the_command_line(tmp_path: Path) -> None:
    store = str(tmp_path / "a.db")

    def run(*words: str) -> Any:
        return CliRunner().invoke(program, ["keys", *words, "--store", store])

    made = run("create", "--space", "team", "--scopes", "read,write", "--name", "website")
    assert made.exit_code == 0
    text = made.stdout.strip()
    assert text.startswith("rk_")
    assert "not shown again" in made.stderr
    assert run("create", "--all-spaces", "--scopes", "admin", "--name", "operator", "--rate", "9").exit_code == 0
    refused = run("create", "--name", "x", "--scopes", "root")
    assert refused.exit_code == 1
    assert "read, write, admin" in refused.stderr
    shown = run("list")
    assert "website" in shown.stdout
    assert "never" in shown.stdout
    assert text.split("_", 2)[2] not in shown.stdout
    assert run("list", "--space", "elsewhere", "--json").stdout.count("\n") == 1
    short = run("create", "--space", "team", "--user", "alex", "--days", "90", "--name", "phone")
    assert ", until 20" in short.stderr
    expiries = [json.loads(line)["expires_at"] for line in run("list", "--json").stdout.splitlines()]
    assert [one is not None for one in expiries] == [False, False, True]
    gone = run("revoke", text.split("_")[1])
    assert "opens nothing" in gone.stdout
    assert "revoked" in run("list").stdout
    assert run("revoke", "nothing").exit_code == 1


@pytest.mark.every_store(in_part=("sqlite", "json", "postgresql"))
def test_a_key_revoked_while_its_use_is_noted_stays_revoked(store_url: str) -> None:
    """Both change the same row: neither may put back what it read before the other wrote."""
    with closing(open_store(store_url, Settings())) as store, ThreadPoolExecutor(2) as threads:
        for number in range(20):
            made, _ = create_key(store, name=f"website {number}")
            together = threading.Barrier(2)

            def use(id: str, both: threading.Barrier) -> None:
                both.wait()
                store.write(lambda tx: write_uses(tx, {id: datetime.now(UTC)}))

            def end(id: str, both: threading.Barrier) -> None:
                both.wait()
                revoke_key(store, id)

            for work in [threads.submit(one, made.id, together) for one in (use, end)]:
                work.result()
        assert all(key.revoked_at is not None for key in list_keys(store))
