"""One server that many people use, and several servers on one PostgreSQL: what one was told, the next search of another
must find.

    python benchmarks/processes.py [--messages 530000] [--people 10000] [--seconds 60] [--pairs 10000]
                                   [--servers 4] [--clients 16] [--folder FOLDER]

The store of the first part is that of `scale.py`, which has some 10,000 people and channels in 530,000 messages. Who
searches is drawn by Zipf's law. In the second part clients each write a message to one server and search for it in
another, one after the other; a search that does not find what was written just before is stale.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
import time
from contextlib import ExitStack, closing
from itertools import count
from pathlib import Path
from urllib.parse import quote

from corpus import corpus, questions
from everword.config import Settings
from everword.server.keys import create_key
from everword.wiring import open_store
from machine import describe_machine
from scale import draw_copies, filled_stores
from server import load, request, started
from table import milliseconds, percentile, show

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "doubles"))
from postgres_databases import postgres_server

SEED = 7
SERVE = ("-m", "everword", "serve", "--port", "0", "--store")
DRAWN = 100_000  # searches, at most
AT_ONCE = 400  # searches between two looks at the clock


def key_of(store: str) -> str:
    with closing(open_store(store, Settings())) as opened:
        return create_key(opened, name="benchmark")[1]


def resident_megabytes(process_id: int) -> float:
    """Memory of a process without the pages of files that it maps."""
    fields = dict(
        line.split(":") for line in Path(f"/proc/{process_id}/status").read_text().splitlines() if ":" in line
    )
    return float(fields["RssAnon"].split()[0]) / 1024


def processor_seconds(process_id: int) -> float:
    """The time of the processor that a process has had."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def many_people(folder: Path, messages: int, people: int, seconds: float, clients: int) -> None:
    copies = [copy for copy in draw_copies(messages, SEED) if copy.user][:people]
    chance = random.Random(SEED)
    asked = questions(corpus(1_000, SEED), 200)
    drawn = chance.choices(copies, [1 / rank for rank in range(1, len(copies) + 1)], k=DRAWN)
    with filled_stores("sqlite", [messages], SEED, folder) as (store,):
        key = key_of(store)
        bodies = [{"query": asked[n % len(asked)], "user": copy.user} for n, copy in enumerate(drawn)]
        paths = [f"/v1/search?space={quote(copy.space)}" for copy in drawn]
        home = folder / "server"
        home.mkdir(exist_ok=True)
        with started(home, *SERVE, store) as (port, process_id):
            end = time.monotonic() + seconds
            worked = processor_seconds(process_id)
            done, times = 0, list[float]()
            while time.monotonic() < end:
                part = range(done, done + AT_ONCE)
                times += asyncio.run(
                    load(port, lambda n: request(paths[n % DRAWN], bodies[n % DRAWN], key), clients, part)
                )[1]
                done = part.stop
            megabytes = resident_megabytes(process_id)
            rate = done / (time.monotonic() - end + seconds)
            worked = (processor_seconds(process_id) - worked) / done
    row = (len(copies), f"{rate:,.0f}", *(milliseconds(percentile(times, share)) for share in (0.5, 0.99)))
    show(
        "A server, searches by Zipf's law",
        ("people", "searches/s", "median ms", "p99 ms", "ms of the processor", "MB"),
        [(*row, f"{worked * 1000:.1f}", f"{megabytes:.0f}")],
    )


async def send(port: int, content: bytes) -> dict[str, object]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(content)
    head = await reader.readuntil(b"\r\n\r\n")
    body = await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]))
    writer.close()
    if not head.startswith(b"HTTP/1.1 200"):
        raise SystemExit(f"a request failed: {body!r}")
    answer: dict[str, object] = json.loads(body)
    return answer


async def write_and_read(ports: list[int], key: str, pairs: int, clients: int) -> tuple[int, list[float]]:
    """How many searches were stale, and how long each search took."""
    numbers, stale, times = count(), 0, list[float]()
    left = iter(range(pairs))

    async def talk(user: str) -> None:
        nonlocal stale
        for _ in left:
            number = next(numbers)
            writer, reader = random.Random(number).sample(ports, 2)
            said = f"The parcel number {number} is in room {number * 7 % 1_000}."
            body = {"user": user, "messages": [{"role": "user", "content": said}]}
            await send(writer, request(f"/v1/conversations/{user}/messages", body, key))
            start = time.perf_counter()
            answer = await send(reader, request("/v1/search", {"query": f"parcel {number}", "user": user}, key))
            times.append(time.perf_counter() - start)
            stale += said not in json.dumps(answer)

    await asyncio.gather(*(talk(f"u{number}") for number in range(clients)))
    return stale, times


def several_servers(folder: Path, servers: int, pairs: int, clients: int) -> None:
    with postgres_server() as server, server.database() as store, ExitStack() as stack:
        key = key_of(store)
        ports = []
        for number in range(servers):
            home = folder / f"server{number}"
            home.mkdir(exist_ok=True)
            ports.append(stack.enter_context(started(home, *SERVE, store))[0])
        stale, times = asyncio.run(write_and_read(ports, key, pairs, clients))
    row = (servers, pairs, stale, *(milliseconds(percentile(times, share)) for share in (0.5, 0.99)))
    header = ("servers", "pairs", "stale", "median ms of a search", "p99 ms")
    show("Write in one, read in another, on PostgreSQL", header, [row])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=530_000, help="in the store of the first part")
    parser.add_argument("--people", type=int, default=10_000, help="at most, who search in it")
    parser.add_argument("--seconds", type=float, default=60, help="how long the server is searched")
    parser.add_argument("--pairs", type=int, default=10_000, help="of a write and a search")
    parser.add_argument("--servers", type=int, default=4)
    parser.add_argument("--clients", type=int, default=16, help="at once")
    parser.add_argument("--folder", type=Path, help="where stores are kept; a temporary one unless given")
    arguments = parser.parse_args()
    print(describe_machine())
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if arguments.pairs:
            several_servers(folder, arguments.servers, arguments.pairs, arguments.clients)
        if arguments.people:
            many_people(folder, arguments.messages, arguments.people, arguments.seconds, arguments.clients)


if __name__ == "__main__":
    main()
