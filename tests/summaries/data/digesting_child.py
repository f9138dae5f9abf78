"""A process that asks for a profile: says when it asks, and when its model is asked, which then waits for a line."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime

from everword import AsyncMemory
from everword.ports import Completion, Request
from everword.testing import FrozenClock


class Waiting:
    """Answers when the parent says so."""

    name = "waiting"

    async def complete(self, request: Request) -> Completion:
        print("called", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        entries = [{"id": user, "summary": "All of them saw a zebra."} for user in ("ann", "bob")]
        return Completion(json.dumps({"members": entries}), self.name, 1, 1)

    async def stream(self, request: Request) -> AsyncIterator[str | Completion]:
        yield await self.complete(request)

    async def close(self) -> None:
        """There is nothing to close."""


async def main(url: str, user: str) -> None:
    clock = FrozenClock(datetime(2026, 3, 2, 12, tzinfo=UTC))
    async with AsyncMemory(url, clock=clock, memory=Waiting(), followers=False, digest_seconds=60) as memory:
        print("asking", flush=True)
        profile = await memory.profile(user=user)
        print("got", profile.context, flush=True)


asyncio.run(main(*sys.argv[1:]))
