"""How long the server takes for a page of the dashboard, in a memory with one very long conversation.

    python benchmarks/web.py [--messages 100000] [--requests 40] [--store FILE] [--unread]

Fills a store with one conversation of that many messages, a few minutes apart by day for a year and a half, and has
every view read them, as `everword worker --once` does: some minutes. With `--unread` no view reads them. `--store`
names a store to use again. Each page is asked for so many times, one request at a time, by a key with all rights; times
are those of the client, on loopback, and the CPU time is that of server and client together, which tells more on a
machine that others use. The aim is a median below 60 ms for every page.

Two pages do what they are asked for before they are shown: a search, and a context, whose time is the context's own.
That of a context is longer while views are behind: it writes the tiers of messages in the window that have none yet.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

import httpx2

import backlog
from corpus import corpus
from everword import Draft, Memory
from everword.server.keys import COOKIE, Sessions, create_key
from everword.testing.serving import Serving
from table import milliseconds, percentile, show

CHAT = "long"
AIM = 0.06  # seconds
BATCH = 1_000  # messages
FIRST_HOUR = 8  # of a day
BETWEEN = 300  # seconds between two messages, on average
PAGES = {
    "home": "/",
    "home, a range": "/?from=2025-10-01&to=2025-12-31",
    "search for everything": "/web/find?query=house+garden",
    "figures": "/web/overview/live",
    "conversations": "/web/conversations",
    "conversation, its end": f"/web/conversation?id={CHAT}",
    "conversation, its middle": f"/web/conversation?id={CHAT}&turn=5000",
    "older messages": f"/web/conversation/messages?id={CHAT}&before=5000",
    "message": f"/web/message?conversation={CHAT}&turn=4000",
    "people": "/web/people",
    "person": "/web/person?id=alex",
    "person, a timeline": "/web/person?id=alex&order=time",
    "days of a person": "/web/person/digests?id=alex",
    "refused facts": "/web/person/refused?id=alex",
    "topics of the space": "/web/topics",
    "topics": f"/web/topics?conversation={CHAT}",
    "topics, a later page": f"/web/topics?conversation={CHAT}&skip=200",
    "topic": f"/web/topic?conversation={CHAT}&id=t1",
    "episodes of the space": "/web/episodes",
    "episodes": f"/web/episodes?conversation={CHAT}",
    "import": "/web/import",
    "integrity": "/web/integrity",
    "keys": "/web/keys",
    "settings": "/web/settings",
    "search lab": "/web/search",
    "search lab, a search": "/web/search?query=house+garden",
    "context lab": "/web/context",
    "playground": f"/web/playground?conversation={CHAT}",
    "past replies": f"/web/replies?conversation={CHAT}",
    "context lab, a context": f"/web/context?conversation={CHAT}&text={quote('Which house was it?')}",
}


def fill_store(store: str, messages: int, unread: bool) -> None:
    times = message_times(messages)
    drafts = [
        Draft("user" if place % 2 == 0 else "assistant", text, time=moment)
        for place, (text, moment) in enumerate(zip(corpus(messages), times, strict=True))
    ]
    with Memory(store, telemetry="off", followers=False) as memory:
        chat = memory.conversation(CHAT, user="alex")
        for start in range(0, len(drafts), BATCH):
            chat.extend(drafts[start : start + BATCH])
    if unread:
        return
    start_seconds = time.perf_counter(), backlog.processor_seconds()
    worker = [sys.executable, "-m", "everword", "worker", "--once"]
    subprocess.run(worker, env={**os.environ, "EVERWORD_STORE": store}, check=True)
    seconds = time.perf_counter() - start_seconds[0]
    print(f"every view: {seconds:,.0f} s, {backlog.processor_seconds() - start_seconds[1]:,.0f} s of the processor")


def message_times(count: int) -> list[datetime]:
    """The times of messages by day, five minutes apart on average, the last one about now."""
    chance = random.Random(2)
    moment = datetime(2024, 1, 1, FIRST_HOUR, tzinfo=UTC)
    times: list[datetime] = []
    for _ in range(count):
        moment += timedelta(seconds=5 + round(chance.expovariate(1 / BETWEEN)))
        if moment.hour < FIRST_HOUR:
            moment = moment.replace(hour=FIRST_HOUR)
        times.append(moment)
    offset = timedelta(days=(datetime.now(UTC) - moment).days)
    return [moment + offset for moment in times]


def time_pages(server: Serving, requests: int) -> list[list[object]]:
    key, _ = create_key(server.store, name="benchmark", scopes=("read", "write", "admin"))
    sessions = Sessions(server.app.state.options.session_secret)
    cookie = sessions.cookie_value(sessions.begin(key.id, key.created_at))
    rows = list[list[object]]()
    with httpx2.Client(base_url=server.url, cookies={COOKIE: cookie}, timeout=600) as browser:
        for name, path in PAGES.items():
            seconds = list[float]()
            cpu_seconds = list[float]()
            answer = browser.get(path)  # the first one fills caches
            if answer.status_code == httpx2.codes.NOT_FOUND:  # a view has not read that far: there is no such page
                rows.append([name, "-", "-", "-", "-", "not there"])
                continue
            for _ in range(requests):
                cpu_start = time.process_time()
                start = time.perf_counter()
                answer = browser.get(path)
                seconds.append(time.perf_counter() - start)
                cpu_seconds.append(time.process_time() - cpu_start)
            if answer.status_code != httpx2.codes.OK:
                raise SystemExit(f"{name}: {answer.status_code} {answer.text[:300]}")
            median = percentile(seconds, 0.5)
            cpu = percentile(cpu_seconds, 0.5)
            times = (milliseconds(median), milliseconds(percentile(seconds, 0.95)), milliseconds(cpu))
            rows.append([name, *times, f"{len(answer.content) / 1024:.0f}", "yes" if median < AIM else "no"])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--requests", type=int, default=40)
    parser.add_argument("--store", help="a SQLite file; filled if it is not there")
    parser.add_argument("--unread", action="store_true", help="do not wait for views")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = arguments.store or str(Path(folder, "memory.db"))
        if not Path(store).exists():
            fill_store(store, arguments.messages, arguments.unread)
        with Serving(store, auth=True, followers=False) as server:
            rows = time_pages(server, arguments.requests)
    show("The time of a page", ["page", "p50 ms", "p95 ms", "CPU p50 ms", "KiB", "below 60 ms"], rows)


if __name__ == "__main__":
    main()
