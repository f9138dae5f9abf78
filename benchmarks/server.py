"""How many requests a server answers, beside a bare route of the same framework in the same run.

    python benchmarks/server.py [--clients 1 16 64] [--requests 400] [--messages 5000] [--store URL] [--workers 1]

A server is started in a process of its own, as `everword serve` does, with keys; clients are connections of one other
process that send the next request when the last is answered. Append keeps one message; search and context ask about
5,000 messages of one user, once every view has caught up. The bare route takes the append's body, checks it with the
same model, and answers with it. In the end the log is proved whole and holds exactly what was answered.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from corpus import corpus
from everword import Draft, Memory
from everword.config import Settings
from everword.server.keys import create_key
from everword.wiring import open_store
from table import milliseconds, percentile, show

Make = Callable[[int], bytes]
BARE = """
import sys, uvicorn
from fastapi import FastAPI
from everword.server.hosting import open_listening_socket
from everword.server.routes.shapes import MessagesIn
app = FastAPI()
@app.post("/bare")
async def bare(body: MessagesIn) -> MessagesIn:
    return body
with open_listening_socket("127.0.0.1", 0) as door:
    print(f"serving on http://127.0.0.1:{door.getsockname()[1]};", file=sys.stderr, flush=True)
    uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False)).run(sockets=[door])
"""


@contextmanager
def started(folder: Path, *command: str) -> Iterator[tuple[int, int]]:
    """A process that serves; its port and its id."""
    with (folder / "log").open("w+b") as log:
        process = subprocess.Popen([sys.executable, *command], stderr=log, cwd=folder, env=os.environ)
        try:
            while b"http://127.0.0.1:" not in (told := (folder / "log").read_bytes()):
                if process.poll() is not None:
                    raise SystemExit(told.decode())
                time.sleep(0.05)
            yield int(told.partition(b"http://127.0.0.1:")[2].partition(b";")[0]), process.pid
        finally:
            process.terminate()
            process.wait()


def processor_seconds(process_id: int) -> float:
    """The processor's time that a process has had; NaN where the system does not tell."""
    try:
        fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def request(path: str, body: object, key: str) -> bytes:
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
    return f"{head}Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n".encode() + content


async def client(port: int, make: Make, numbers: Iterator[int], seconds: list[float], failed: list[bytes]) -> None:
    """One connection: the next request when the last is answered, until there are no more."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for number in numbers:
        start = time.perf_counter()
        writer.write(make(number))
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        body = await reader.readexactly(length)
        seconds.append(time.perf_counter() - start)
        if not head.startswith(b"HTTP/1.1 200"):
            failed.append(body)
    writer.close()
    await writer.wait_closed()


async def load(port: int, make: Make, clients: int, numbers: range) -> tuple[float, list[float]]:
    """Requests a second, and how long each took. One that fails ends the run."""
    seconds, failed, left = list[float](), list[bytes](), iter(numbers)
    start = time.perf_counter()
    await asyncio.gather(*(client(port, make, left, seconds, failed) for _ in range(clients)))
    rate = len(seconds) / (time.perf_counter() - start)
    if failed or len(seconds) != len(numbers):
        raise SystemExit(f"{len(failed)} of {len(numbers)} requests failed: {failed[:1]}")
    return rate, seconds


def row(name: str, clients: int, rate: float, seconds: list[float], bare: float, work: str) -> list[object]:
    times = (milliseconds(percentile(seconds, share)) for share in (0.5, 0.99))
    return [name, clients, f"{rate:,.0f}", *times, work, f"{rate / bare:.2f}"]


def filled(store: str, messages: int) -> tuple[str, int]:
    """A store with something to find in it, and a key."""
    with Memory(store) as memory:
        chat = memory.conversation("long", user="alex")
        chat.extend(Draft("user", text) for text in corpus(messages))
        memory.settle(600)
    opened = open_store(store, Settings())
    try:
        return create_key(opened, name="benchmark", spaces=["default"])[1], messages
    finally:
        opened.close()


def measured(
    ours: tuple[int, int], bare: int, key: str, counts: list[int], requests: int
) -> tuple[list[list[object]], int]:
    port, process_id = ours
    words = corpus(2_000)

    def said(number: int) -> object:
        return {"user": "alex", "messages": [{"role": "user", "content": words[number % len(words)]}]}

    asked: dict[str, Make] = {
        "append": lambda n: request(f"/v1/conversations/c{n % 64}/messages", said(n), key),
        "search": lambda n: request("/v1/search", {"query": words[n % len(words)], "user": "alex"}, key),
        "context": lambda n: request(
            "/v1/conversations/long/context", {"text": words[n % len(words)], "user": "alex"}, key
        ),
    }
    rows, appended, start = list[list[object]](), 0, 0
    asyncio.run(load(bare, lambda n: request("/bare", said(n), key), 4, range(200)))  # warm
    for make in asked.values():
        asyncio.run(load(port, make, 2, range(20)))
    appended += 20
    for clients in counts:
        floor, seconds = asyncio.run(load(bare, lambda n: request("/bare", said(n), key), clients, range(requests)))
        rows.append(row("bare route", clients, floor, seconds, floor, ""))
        for name, make in asked.items():
            start += requests
            work = processor_seconds(process_id)
            rate, seconds = asyncio.run(load(port, make, clients, range(start, start + requests)))
            work = processor_seconds(process_id) - work
            rows.append(row(name, clients, rate, seconds, floor, milliseconds(work / requests)))
            if name == "append":
                appended += requests
                asyncio.run(load(port, lambda n: request("/v1/settle", {"timeout": 300}, key), 1, range(1)))
    return rows, appended


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 16, 64])
    parser.add_argument("--requests", type=int, default=400, help="of each kind, for each number of clients")
    parser.add_argument("--messages", type=int, default=5_000, help="in the memory that is searched")
    parser.add_argument("--store", help="a PostgreSQL that is migrated and empty; else a SQLite file")
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=".") as name:
        folder = Path(name).resolve()
        store = given.store or str(folder / "memory.db")
        key, before = filled(store, given.messages)
        words = ["-m", "everword", "serve", "--port", "0", "--store", store, "--workers", str(given.workers)]
        other = folder / "bare"
        other.mkdir()
        with started(other, "-c", BARE) as bare, started(folder, *words) as ours:
            rows, appended = measured(ours, bare[0], key, given.clients, given.requests)
        with Memory(store, followers=False) as memory:
            proof, found = memory.verify(), memory.stats().messages
        kind = "PostgreSQL" if store.startswith("postgres") else "SQLite"
        header = ("request", "clients", "requests/s", "median ms", "p99 ms", "processor ms", "of the bare route")
        show(f"A server on {kind}, {given.workers} worker(s), {before:,} messages searched", header, rows)
        print(f"\nno request failed; the log is {'whole' if proof.ok else 'BROKEN'}: {found:,} messages, as answered")
        if not proof.ok or found != before + appended:
            raise SystemExit(f"the log holds {found:,} messages, and {before + appended:,} were answered")


if __name__ == "__main__":
    main()
