"""A server as processes: it ends when told and finishes what is in hand; killed, it loses nothing it has answered."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from click.testing import CliRunner
from postgres_databases import PostgresServer
from prepared_programs import PreparedProgram
from sample_sizes import sample

from everword import Memory
from everword.cli.main import program
from everword.config import Settings
from everword.server.keys import create_key, revoke_key
from everword.testing import ScriptedLLM
from everword.testing.serving import Serving
from everword.wiring import open_store

PATIENCE = 120.0
QUIET = os.environ | {"EVERWORD_FOLLOWERS": "false"}
TALKERS, EACH = 6, sample(25)
ENDED = (0, -signal.SIGTERM)  # by itself, and then as the signal asks
WORD = "zebra"  # what is said, and is in no log


def started(folder: Path, *words: str) -> tuple[subprocess.Popen[bytes], str, Path]:
    """A server, its address, and the file its log goes to."""
    log = folder / "server.log"
    with log.open("wb") as file:
        process = PreparedProgram[bytes](
            [sys.executable, "-m", "everword", "serve", "--port", "0", *words], stderr=file, cwd=folder, env=QUIET
        )
    url = None
    for _ in range(int(PATIENCE * 20)):
        url = re.search(r"http://127\.0\.0\.1:\d+", log.read_text())
        if url or process.poll() is not None:
            break
        threading.Event().wait(0.05)
    assert url is not None, log.read_text()
    return process, url[0], log


def lines(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]


class Talker:
    """Somebody who says things, says again what was not answered, to the next of some servers, and notes what was."""

    def __init__(self, urls: list[str], key: str, number: int) -> None:
        self.urls, self.number = urls, number
        self.headers = {"Authorization": f"Bearer {key}"}
        self.answered: list[str] = []
        self.refused: list[int] = []

    def talk(self, heard: threading.Semaphore) -> None:
        turn = self.number
        with httpx2.Client(headers=self.headers, timeout=PATIENCE) as http:
            for n in range(EACH):
                text = f"{WORD} {n} of {self.number}"
                body = {"messages": [{"role": "user", "content": text, "author": f"u{self.number}"}]}
                while True:
                    path = f"{self.urls[turn % len(self.urls)]}/v1/conversations/shared/messages"
                    try:
                        answer = http.post(path, json=body, headers={"Idempotency-Key": text})
                    except httpx2.TransportError:
                        turn += 1
                        continue  # who was killed took the connection with them
                    break
                (self.answered if answer.status_code == 200 else self.refused).append(text)  # type: ignore[arg-type]
                heard.release()


@dataclass(frozen=True)
class Pair:
    """Two workers of one server."""

    store: str
    process: subprocess.Popen[bytes]
    url: str
    log: Path


@pytest.fixture(scope="module")
def pair(postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """On PostgreSQL. They take long to start, so tests share them: the last kills one, and ends the other."""
    with postgres.database() as store:
        with closing(open_store(store, Settings())) as opened:
            create_key(opened, name="so that it asks for keys")
        process, url, log = started(tmp_path_factory.mktemp("pair"), "--workers", "2", "--store", store)
        try:
            yield Pair(store, process, url, log)
        finally:
            process.kill()
            process.wait()


def talking_to_each(url: str, log: Path, workers: int, stack: ExitStack) -> list[httpx2.Client]:
    """A client of each worker, over a connection that stays with it."""
    found: dict[str, httpx2.Client] = {}
    for number in range(int(PATIENCE * 20)):
        http = stack.enter_context(httpx2.Client(base_url=url, timeout=PATIENCE))
        http.get("/healthz", headers={"X-Request-Id": f"n{number}"})
        threading.Event().wait(0.05)
        pid = next((line["pid"] for line in lines(log) if line.get("request") == f"n{number}"), None)
        if pid is None or found.setdefault(pid, http) is not http:
            http.close()
        if len(found) == workers:
            return list(found.values())
    raise AssertionError(f"only {len(found)} of {workers} workers answer")


def test_workers_count_a_keys_requests_together_and_all_heed_its_end(pair: Pair) -> None:
    with closing(open_store(pair.store, Settings())) as store, ExitStack() as stack:
        slow, other = create_key(store, name="slow", rate=4)[1], create_key(store, name="other")[1]
        clients = talking_to_each(pair.url, pair.log, 2, stack)
        began = time.monotonic()
        bearer = {"Authorization": f"Bearer {slow}"}
        answers = [http.get("/v1/space", headers=bearer) for _ in range(6) for http in clients]
        passed = sum(answer.status_code == 200 for answer in answers)
        assert 4 <= passed <= 4 + (time.monotonic() - began) * 4 / 60
        again = {int(answer.headers["Retry-After"]) for answer in answers if answer.status_code == 429}
        assert again
        assert again <= set(range(1, 16))
        bearer = {"Authorization": f"Bearer {other}"}
        assert {http.get("/v1/space", headers=bearer).status_code for http in clients} == {200}
        revoke_key(store, other)
        for http in clients:
            for _ in range(int(PATIENCE * 20)):
                if http.get("/v1/space", headers=bearer).status_code == 401:
                    break
                threading.Event().wait(0.05)
            else:
                raise AssertionError("a worker goes on believing a key that was revoked")


@pytest.mark.checklist("G12")
def test_another_server_knows_within_seconds_what_a_key_has_used(pair: Pair, tmp_path: Path) -> None:
    """The key has 60 requests a minute, and at one server it has none left. The other lets it in until it knows that,
    and not for a whole burst of its own."""
    with closing(open_store(pair.store, Settings())) as store:
        bearer = {"Authorization": f"Bearer {create_key(store, name='busy', rate=60)[1]}"}
    process, other, _ = started(tmp_path, "--store", pair.store)
    try:
        with httpx2.Client(headers=bearer, timeout=PATIENCE) as http:
            while http.get(f"{pair.url}/v1/space").status_code == 200:
                pass
            passed = 0
            while http.get(f"{other}/v1/space").status_code == 200:
                passed += 1
                threading.Event().wait(0.2)
    finally:
        process.kill()
        process.wait()
    assert passed < 60


def test_a_worker_killed_under_load_loses_nothing_it_has_answered(pair: Pair) -> None:
    with closing(open_store(pair.store, Settings())) as store:
        key = create_key(store, name="talkers", spaces=["default"])[1]
        operator = create_key(store, name="operator", scopes=["admin"])[1]
    talkers = [Talker([pair.url], key, number) for number in range(TALKERS)]
    heard = threading.Semaphore(0)
    with ThreadPoolExecutor(TALKERS) as threads:
        work = [threads.submit(one.talk, heard) for one in talkers]
        for _ in range(TALKERS * EACH // 3):
            assert heard.acquire(timeout=PATIENCE)
        workers = {int(line["pid"]) for line in lines(pair.log) if line["event"] == "request"}
        os.kill(workers.pop(), signal.SIGKILL)
        for one in work:
            one.result(PATIENCE)
    counts = httpx2.get(f"{pair.url}/metrics", headers={"Authorization": f"Bearer {operator}"}, timeout=PATIENCE).text
    kept = sum(map(float, re.findall(r'everword_request_total\{kind="add_messages",outcome="200"\} (\S+)', counts)))
    assert kept >= TALKERS * EACH  # of both workers, also of the one that is gone
    pair.process.send_signal(signal.SIGTERM)
    assert pair.process.wait(PATIENCE) == 0
    assert not any(one.refused for one in talkers)
    answered = [text for one in talkers for text in one.answered]
    with Memory(pair.store, followers=False) as memory:
        assert memory.verify().ok
        assert sorted(m.content for m in memory.export()) == sorted(answered)
    assert len(set(answered)) == TALKERS * EACH
    text = pair.log.read_text()
    assert WORD not in text
    assert key not in text
    routes = {line["route"] for line in lines(pair.log) if line["event"] == "request"}
    assert routes - {"/healthz", "/v1/space", "unknown"} == {"/v1/conversations/{id}/messages", "/metrics"}


@pytest.mark.checklist("G12")
def test_servers_that_are_replaced_one_by_one_lose_and_double_nothing(postgres: PostgresServer, tmp_path: Path) -> None:
    """A rolling restart: each of two servers on one database is told to end once another has taken its place, while
    people talk to both."""

    def start(number: int) -> tuple[subprocess.Popen[bytes], str]:
        (tmp_path / str(number)).mkdir()
        return started(tmp_path / str(number), "--store", store)[:2]

    with postgres.database() as store, ThreadPoolExecutor(TALKERS) as threads, ExitStack() as stack:
        with closing(open_store(store, Settings())) as opened_store:
            key = create_key(opened_store, name="talkers", spaces=["default"])[1]

        def end_all() -> None:
            for process, _ in running:
                process.kill()

        running = [start(number) for number in range(2)]
        stack.callback(end_all)
        urls = [url for _, url in running]
        talkers = [Talker(urls, key, number) for number in range(TALKERS)]
        heard = threading.Semaphore(0)
        work = [threads.submit(talker.talk, heard) for talker in talkers]
        for place in range(2):
            for _ in range(TALKERS * EACH // 3):
                assert heard.acquire(timeout=PATIENCE)
            old = running[place][0]
            running.append(start(2 + place))
            urls[place] = running[-1][1]
            old.send_signal(signal.SIGTERM)
            assert old.wait(PATIENCE) in ENDED
        for talk in work:
            talk.result(PATIENCE)
        for process, _ in running[2:]:
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) in ENDED
        assert not any(talker.refused for talker in talkers)
        answered = [text for talker in talkers for text in talker.answered]
        with Memory(store, followers=False) as memory:
            assert memory.verify().ok
            assert sorted(message.content for message in memory.export()) == sorted(answered)
        assert len(set(answered)) == TALKERS * EACH


def test_a_server_that_is_told_to_end_finishes_the_turn_in_hand(tmp_path: Path) -> None:
    gate = asyncio.Event()
    model = ScriptedLLM([["Half of it, ", gate, "and the rest."]])
    serving = Serving(str(tmp_path / "a.db"), chat=model, followers=False, grace=30)
    with serving as server, ThreadPoolExecutor(1) as threads:
        path = f"{server.url}/v1/conversations/c/reply"
        asked = threads.submit(httpx2.post, path, json={"text": "Tell me.", "stream": True}, timeout=PATIENCE)
        server.run(model.waiting.wait())
        server.stop()
        server.run(opened(gate))
        answer = asked.result(PATIENCE)
    assert "event: done" in answer.text
    assert "and the rest." in answer.text
    with Memory(str(tmp_path / "a.db"), followers=False) as memory:
        assert [m.content for m in memory.export()] == ["Tell me.", "Half of it, and the rest."]
        with pytest.raises(httpx2.TransportError):
            httpx2.get(f"{server.url}/healthz")


async def opened(gate: asyncio.Event) -> None:
    gate.set()


def test_a_server_says_that_auth_is_off_and_ends_at_ctrl_c(tmp_path: Path) -> None:
    process, url, log = started(tmp_path, "--store", str(tmp_path / "a.db"))
    try:
        assert httpx2.get(f"{url}/healthz", timeout=PATIENCE).json() == {"status": "ok"}
        assert "auth is off" in log.read_text()
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
    assert "Traceback" not in log.read_text()


def test_workers_end_when_the_process_that_started_them_is_killed(tmp_path: Path) -> None:
    process, url, log = started(tmp_path, "--workers", "2", "--store", str(tmp_path / "a.db"))
    with ExitStack() as stack:
        talking_to_each(url, log, 2, stack)  # both are there
        process.kill()
        process.wait(PATIENCE)
        for _ in range(int(PATIENCE * 20)):
            try:
                httpx2.get(f"{url}/healthz", timeout=PATIENCE)
            except httpx2.TransportError:
                break
            threading.Event().wait(0.05)
        else:
            raise AssertionError("a worker goes on alone")
    assert "Traceback" not in log.read_text()


def test_a_server_without_keys_refuses_to_be_open_to_all(tmp_path: Path) -> None:
    run = CliRunner().invoke(program, ["serve", "--host", "0.0.0.0", "--store", str(tmp_path / "a.db")])
    assert run.exit_code == 1
    assert "everword keys create" in run.stderr
    taken = CliRunner().invoke(program, ["serve", "--workers", "2", "--store", f"json:{tmp_path}/a.json"])
    assert taken.exit_code == 1
    assert "one process" in taken.stderr
