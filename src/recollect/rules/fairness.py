"""Whose turn it is: every space is served before any is served again.

A space with thousands of conversations behind must not keep another with one waiting. So conversations are taken one
of each space at a time, and the spaces in the order in which they were served last. Within a space, who has a little to
bring in does not wait for who imports a history.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from recollect.ports import Lag

FEW = 16  # messages of a conversation that come before those of one with more


def fair_order(lags: Iterable[Lag], served: Mapping[str, int]) -> list[Lag]:
    """One conversation of each space, then the next of each; first the spaces that were served longest ago.

    `served` numbers the spaces by when they were last served; one that is missing never was. Conversations of one
    space stay in the order in which they are given, those with few messages before those with many.
    """
    rounds: dict[str, int] = {}
    placed: list[tuple[int, int, int, Lag]] = []
    for number, lag in enumerate(sorted(lags, key=lambda lag: lag.turns - lag.done > FEW)):
        turn = rounds[lag.space] = rounds.get(lag.space, -1) + 1
        placed.append((turn, served.get(lag.space, 0), number, lag))
    return [lag for _, _, _, lag in sorted(placed, key=lambda entry: entry[:3])]


def next_room(room: int, done: int, seconds: float, *, target: float, most: int) -> int:
    """How many messages to take next, after so many took so long, for a batch to last about `target` seconds.

    It grows fourfold at most, since a few quick messages say little of many.
    """
    if done <= 0:
        return room
    fitting = int(done * target / max(seconds, 1e-6))
    return max(1, min(fitting, max(room, done) * 4, most))
