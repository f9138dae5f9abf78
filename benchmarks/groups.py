"""A group of many members: bytes of process memory for each, and the time to serve their profiles, warm and cold.

    python benchmarks/groups.py [--members 100] [--messages 4] [--store URL]

A space of so many members talks for a week and today, each with so many messages a day, and each has a profile of some
statements. The model is a double that answers at once, with as much text as it is asked for; what it takes is not the
point here, how often it is asked is. Then every member's profile is asked for:

- new: nothing is made yet: the days, then each member's history and merge;
- cold: all is made and stored, and this process has just begun;
- warm: asked for again.

Memory is what Python has allocated more after all profiles have been served from cold, by `tracemalloc`, the answers
themselves thrown away: what stays is what the process holds ready for the next time.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import re
import tempfile
import time
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from corpus import corpus
from everword import AsyncMemory, Draft
from everword.ports import Completion, Request
from everword.testing import FrozenClock
from table import milliseconds, percentile, show

NOW = datetime(2026, 11, 15, 15, 0, tzinfo=UTC)
DAYS = 7
SPACE, OTHER = "guild", "small guild"
STATEMENTS = ("lives in Utrecht", "plays the cello on Sundays", "has two cats", "is allergic to peanuts")
MESSAGE = re.compile(r"<author_id>(.*?)</author_id><author>.*?</author><content>(.*?)</content>", re.DOTALL)


class InstantModel:
    """Answers at once in the words it was given, about as many as it was asked for."""

    name = "instant"

    def __init__(self) -> None:
        self.calls: dict[str, int] = {}

    async def complete(self, request: Request) -> Completion:
        asked = request.messages[-1]["content"]
        properties: Any = (request.schema or {}).get("properties", {})
        if "members" in properties:
            own: dict[str, str] = {}
            for author, content in MESSAGE.findall(asked):
                own[author] = f"{own.get(author, '')} {content}"[:300]
            ids = properties["members"]["items"]["properties"]["id"]["enum"]
            answer, kind = {"members": [{"id": id, "summary": own.get(id, id)} for id in ids]}, "day"
        else:
            kind = "history" if "=== DIARY ===" in asked else "merge"
            lines = [line for line in asked.splitlines() if not line.startswith("===")]
            field = next(iter(properties), "summary")
            text = " ".join(" ".join(lines[1:]).split())[: 500 if kind == "history" else 800]
            return self._said(kind, json.dumps({field: text}))
        return self._said(kind, json.dumps(answer))

    def _said(self, kind: str, text: str) -> Completion:
        self.calls[kind] = self.calls.get(kind, 0) + 1
        return Completion(text, self.name, 0, 0)

    async def stream(self, request: Request) -> AsyncIterator[str | Completion]:
        answer = await self.complete(request)
        yield answer.text
        yield answer

    async def close(self) -> None:
        """Nothing to close."""


def opened(url: str, model: InstantModel) -> AsyncMemory:
    return AsyncMemory(url, memory=model, clock=FrozenClock(NOW), telemetry="off", digest_seconds=600)


async def talked(url: str, space: str, members: int, messages: int) -> None:
    """A week of talk, and a profile for each; summaries of the window are the built-in writer's."""
    texts = iter(corpus(members * (DAYS + 1) * messages))
    async with AsyncMemory(url, clock=FrozenClock(NOW), telemetry="off") as memory:
        channel = memory.conversation("general", space=space)
        for back in range(DAYS, -1, -1):
            morning = (NOW - timedelta(days=back)).replace(hour=8)
            drafts = [
                Draft("user", next(texts), f"{member}", time=morning + timedelta(seconds=member + number * 600))
                for number in range(messages)
                for member in range(members)
            ]
            await channel.extend(drafts)
        for member in range(members):
            for statement in STATEMENTS:
                await memory.remember(f"Member {member} {statement}", user=f"{member}", space=space)
        await memory.settle(600)


async def timed(ask: Callable[[str], Awaitable[object]], members: int) -> tuple[list[float], float]:
    """The time of each profile, one after the other; and the processor's time of all, which others disturb less."""
    each, begun = list[float](), time.process_time()
    for member in range(members):
        start = time.perf_counter()
        await ask(f"{member}")
        each.append(time.perf_counter() - start)
    return each, time.process_time() - begun


async def measured(url: str, members: int, messages: int) -> None:
    await talked(url, SPACE, members, messages)
    await talked(url, OTHER, 5, messages)
    rows: list[tuple[object, ...]] = []

    def row(name: str, each: list[float], busy: float, model: InstantModel) -> None:
        calls = ", ".join(f"{count} {kind}" for kind, count in sorted(model.calls.items())) or "none"
        middle, slow = percentile(each, 0.5), percentile(each, 0.95)
        whole, own = milliseconds(sum(each)), milliseconds(busy / len(each))
        rows.append((name, milliseconds(middle), milliseconds(slow), own, whole, calls))
        model.calls.clear()

    model = InstantModel()
    async with opened(url, model) as memory:
        await memory.settle(600)  # memory work of before, now that there is a model
        model.calls.clear()
        row("new", *await timed(lambda user: memory.profile(user=user, space=SPACE), members), model)
        await timed(lambda user: memory.profile(user=user, space=OTHER), 5)
    model.calls.clear()
    async with opened(url, model) as memory:
        await memory.settle(600)
        await timed(lambda user: memory.profile(user=user, space=OTHER), 5)  # what is loaded once is loaded now
        row("cold", *await timed(lambda user: memory.profile(user=user, space=SPACE), members), model)
        row("warm", *await timed(lambda user: memory.profile(user=user, space=SPACE), members), model)
        whole = [memory.profile(user=f"{member}", space=SPACE) for member in range(members)]
        start = time.perf_counter()
        sizes = [len(profile.context) for profile in await asyncio.gather(*whole)]
        rows.append(("warm, at once", "", "", "", milliseconds(time.perf_counter() - start), "none"))
    show(
        f"Profiles of {members} members (ms)",
        ("", "each, median", "each, 95 %", "processor, each", "all", "calls of a model"),
        rows,
    )
    print(f"A context has {sum(sizes) / len(sizes):.0f} characters on average.")
    held = await bytes_held(url, members)
    about = [("members", f"{members:,}"), ("bytes in all", f"{held:,}"), ("bytes a member", f"{held / members:,.0f}")]
    show("Process memory held for their profiles", ("", ""), about)


async def bytes_held(url: str, members: int) -> int:
    async with opened(url, InstantModel()) as memory:
        await memory.settle(600)
        await timed(lambda user: memory.profile(user=user, space=OTHER), 5)
        gc.collect()
        tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            await timed(lambda user: memory.profile(user=user, space=SPACE), members)
            gc.collect()
            return tracemalloc.get_traced_memory()[0] - before
        finally:
            tracemalloc.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--members", type=int, default=100)
    parser.add_argument("--messages", type=int, default=4, help="of each member a day")
    parser.add_argument("--store", help="an empty store; by default a new SQLite file")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = given.store or str(Path(folder) / "groups.db")
        asyncio.run(measured(url, given.members, given.messages))


if __name__ == "__main__":
    main()
