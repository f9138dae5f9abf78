"""Messages that views have set aside, tried again because somebody asks for it.

A view that takes each message for itself is given that message again. One that follows a conversation in order cannot
take a message into the middle: of that conversation it is thrown away, and made anew from the log.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from recollect.engine.work.faults import TABLE
from recollect.engine.work.follower import Follower
from recollect.model import Retried, SetAside
from recollect.ports import Tx

PAGE = 200  # rows read at a time
# Views made anew only as one.
TOGETHER = {
    "window": ("window", "episodes"),
    "episodes": ("window", "episodes"),
    "topics": ("topics", "titles"),
    "titles": ("topics", "titles"),
}


async def retry_set_aside(
    followers: Mapping[str, Follower],
    read: Callable[..., Awaitable[Any]],
    write: Callable[..., Awaitable[Any]],
    where: Mapping[str, str],
) -> Retried:
    """Try all rows again that have these values."""
    retried, after = Retried(0, 0), None
    while True:
        page: Sequence[Mapping[str, Any]] = await read(lambda tx: tx.rows(TABLE, after, PAGE, where=where))  # noqa: B023
        for view, rows in by_view(page):
            follower = followers.get(view)
            if follower is None:  # of a view that this version does not have
                continue
            if follower.view.ordered:
                await write(lambda tx: begin_anew(tx, view, rows))  # noqa: B023  called at once
                left = 0
            else:
                left = len(rows) - await follower.retry(rows)
            retried = replace(retried, tried=retried.tried + len(rows), left=retried.left + left)
        if len(page) < PAGE:
            return retried
        after = page[-1]


def by_view(page: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, list[SetAside]]]:
    rows = sorted((SetAside(**row) for row in page), key=lambda row: row.view)
    for view, group in groupby(rows, key=lambda row: row.view):
        yield view, list(group)


def begin_anew(tx: Tx, view: str, rows: Sequence[SetAside]) -> None:
    """Throw away what an ordered view, and what follows it, has of these conversations."""
    for space, conversation in sorted({(row.space, row.conversation) for row in rows}):
        for name in TOGETHER.get(view, (view,)):
            tx.reset_view(name, space, conversation)
