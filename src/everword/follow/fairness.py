"""Whose turn it is: every space is served before any is served again.

A space with a backlog of thousands of conversations must not keep a space with one waiting. So one conversation of
each space is taken at a time, and the spaces in the order in which they were served last. Within a space, a
conversation with few new messages does not wait for one that imports a history.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from everword.ports import Lag

FEW = 16  # messages of a conversation that come before those of one with more


def fair_order(lags: Iterable[Lag], service_order: Mapping[str, int]) -> list[Lag]:
    """One conversation of each space, then the next of each; first the spaces that were served longest ago.

    `service_order` numbers the spaces by when they were last served; a missing one was never served. Conversations of
    one space stay in the given order, those with few messages before those with many.
    """
    rounds: dict[str, int] = {}
    entries: list[tuple[int, int, int, Lag]] = []
    for number, lag in enumerate(sorted(lags, key=lambda lag: lag.turns - lag.done > FEW)):
        turn = rounds[lag.space] = rounds.get(lag.space, -1) + 1
        entries.append((turn, service_order.get(lag.space, 0), number, lag))
    return [lag for _, _, _, lag in sorted(entries, key=lambda entry: entry[:3])]


def next_room(room: int, count: int, seconds: float, *, target: float, limit: int) -> int:
    """How many messages to take next so that a batch lasts about `target` seconds, after `count` took `seconds`.

    It grows at most fourfold, since a few quick messages say little about many.
    """
    if count <= 0:
        return room
    fitting = int(count * target / max(seconds, 1e-6))
    return max(1, min(fitting, max(room, count) * 4, limit))
