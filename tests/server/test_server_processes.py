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
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest
from click.testing import CliRunner

from recollect import Memory
from recollect.cli.main import program
from recollect.config import Settings
from recollect.server.keys import create
from recollect.testing import ScriptedLLM
from recollect.testing.serving import Serving
from recollect.wiring import open_store

PATIENCE = 60.0
QUIET = os.environ | {"RECOLLECT_FOLLOWERS": "false"}
TALKERS, EACH = 6, 25
WORD = "zebra"  # what is said, and is in no log


def started(folder: Path, *words: str) -> tuple[subprocess.Popen[bytes], str, Path]:
    """A server, its address, and the file its log goes to."""
    log = folder / "server.log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "recollect", "serve", "--port", "0", *words], stderr=file, cwd=folder, env=QUIET
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
    """Somebody who says things, says again what was not answered, and notes what was."""

    def __init__(self, url: str, key: str, number: int) -> None:
        self.url, self.number = url, number
        self.headers = {"Authorization": f"Bearer {key}"}
        self.answered: list[str] = []
        self.refused: list[int] = []

    def talk(self, heard: threading.Semaphore) -> None:
        path = f"{self.url}/v1/conversations/shared/messages"
        with httpx2.Client(headers=self.headers, timeout=PATIENCE) as http:
            for n in range(EACH):
                text = f"{WORD} {n} of {self.number}"
                body = {"messages": [{"role": "user", "content": text, "author": f"u{self.number}"}]}
                while True:
                    try:
                        answer = http.post(path, json=body, headers={"Idempotency-Key": text})
                    except httpx2.TransportError:
                        continue  # who was killed took the connection with them
                    break
                (self.answered if answer.status_code == 200 else self.refused).append(text)  # type: ignore[arg-type]
                heard.release()


def test_a_worker_killed_under_load_loses_nothing_it_has_answered(postgres_url: str, tmp_path: Path) -> None:
    with closing(open_store(postgres_url, Settings())) as store:
        key = create(store, name="talkers", spaces=["default"])[1]
        operator = create(store, name="operator", scopes=["admin"])[1]
    process, url, log = started(tmp_path, "--workers", "2", "--store", postgres_url)
    try:
        talkers = [Talker(url, key, number) for number in range(TALKERS)]
        heard = threading.Semaphore(0)
        with ThreadPoolExecutor(TALKERS) as threads:
            work = [threads.submit(one.talk, heard) for one in talkers]
            for _ in range(TALKERS * EACH // 3):
                assert heard.acquire(timeout=PATIENCE)
            workers = {int(line["pid"]) for line in lines(log) if line["event"] == "request"}
            os.kill(workers.pop(), signal.SIGKILL)
            for one in work:
                one.result(PATIENCE)
        counts = httpx2.get(f"{url}/metrics", headers={"Authorization": f"Bearer {operator}"}, timeout=PATIENCE).text
        kept = sum(
            map(float, re.findall(r'recollect_request_total\{kind="add_messages",outcome="200"\} (\S+)', counts))
        )
        assert kept >= TALKERS * EACH  # of both workers, also of the one that is gone
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.wait()
    assert not any(one.refused for one in talkers)
    answered = [text for one in talkers for text in one.answered]
    with Memory(postgres_url, followers=False) as memory:
        assert memory.verify().ok
        assert sorted(m.content for m in memory.export()) == sorted(answered)
    assert len(set(answered)) == TALKERS * EACH
    text = log.read_text()
    assert WORD not in text
    assert key not in text
    routes = {line["route"] for line in lines(log) if line["event"] == "request"}
    assert routes == {"/v1/conversations/{id}/messages", "/metrics"}


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


def test_a_server_without_keys_refuses_to_be_open_to_all(tmp_path: Path) -> None:
    run = CliRunner().invoke(program, ["serve", "--host", "0.0.0.0", "--store", str(tmp_path / "a.db")])
    assert run.exit_code == 1
    assert "recollect keys create" in run.stderr
    taken = CliRunner().invoke(program, ["serve", "--workers", "2", "--store", f"json:{tmp_path}/a.json"])
    assert taken.exit_code == 1
    assert "one process" in taken.stderr
