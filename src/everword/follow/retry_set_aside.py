"""Tries messages again that views have set aside, because a user asks for it.

A view that handles each message separately is given that message again. A view that follows a conversation in order
cannot insert a message in the middle: its data for that conversation is thrown away and rebuilt from the log.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from everword.follow.faults import TABLE
from everword.follow.follower import Follower
from everword.model import Retried, SetAside
from everword.ports import Tx

PAGE = 200  # rows read at a time
# Views that can only be rebuilt together.
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
    result = Retried(0, 0)
    after: Mapping[str, Any] | None = None
    while True:
        page: Sequence[Mapping[str, Any]] = await read(lambda tx: tx.rows(TABLE, after, PAGE, where=where))  # noqa: B023
        for view, rows in group_by_view(page):
            follower = followers.get(view)
            if follower is None:  # this version does not have the view
                continue
            if follower.view.ordered:
                await write(lambda tx: reset_conversations(tx, view, rows))  # noqa: B023  called at once
                left_count = 0
            else:
                left_count = len(rows) - await follower.retry(rows)
            result = replace(result, tried=result.tried + len(rows), left=result.left + left_count)
        if len(page) < PAGE:
            return result
        after = page[-1]


def group_by_view(page: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, list[SetAside]]]:
    rows = sorted((SetAside(**row) for row in page), key=lambda row: row.view)
    for view, group in groupby(rows, key=lambda row: row.view):
        yield view, list(group)


def reset_conversations(tx: Tx, view: str, rows: Sequence[SetAside]) -> None:
    """Throw away what an ordered view, and the views that follow it, have of these conversations."""
    for space, conversation in sorted({(row.space, row.conversation) for row in rows}):
        for name in TOGETHER.get(view, (view,)):
            tx.reset_view(name, space, conversation)
