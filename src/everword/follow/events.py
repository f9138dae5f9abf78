"""Waiting for an event of an event loop, for a limited time."""

from __future__ import annotations

import asyncio


async def wait_for_event(event: asyncio.Event, timeout: float) -> bool:
    """Wait for an event, at most `timeout` seconds; whether it happened."""
    try:
        async with asyncio.timeout(timeout):
            return await event.wait()
    except TimeoutError:
        return False
