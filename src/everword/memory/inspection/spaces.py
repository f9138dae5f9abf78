"""The spaces of a store and the messages of each day, for an overview."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta

from everword.memory.runtime import Runtime
from everword.ports import Tx

LAST_ID = "\U0010ffff"  # after every id of a conversation


async def list_spaces(runtime: Runtime, after: str = "", limit: int = 100) -> list[str]:
    """The spaces of the store in order, those after `after`. Each costs one look at an index, however full it is."""

    def read(tx: Tx) -> list[str]:
        spaces = list[str]()
        last = after
        while len(spaces) < limit:
            conversations = tx.conversations(after=(last, LAST_ID if last else ""), limit=1)
            if not conversations:
                break
            last = conversations[0].space
            spaces.append(last)
        return spaces

    return await runtime.read(read)


async def count_days(runtime: Runtime, space: str, days: int) -> Mapping[date, int]:
    """How many messages were said on each of the last days (UTC), the oldest first; also on days without any."""
    today = runtime.parts.clock.now().astimezone(UTC).date()
    first = today - timedelta(days=days - 1)
    since = datetime.combine(first, time(), UTC)
    counts = await runtime.read(lambda tx: tx.count_messages("day", space, since))
    return {day: counts.get(day, 0) for day in (first + timedelta(days=number) for number in range(days))}
