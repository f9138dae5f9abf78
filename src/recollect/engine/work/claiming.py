"""What a follower takes in one go: which conversations, whose turn it is, and how much of each is read.

Everything is asked for many conversations at once: of a thousand that have one new message each, to ask for each of
them would take longer than to bring them in.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from recollect.engine.work.faults import messages_around_damage
from recollect.engine.work.view import Run, View
from recollect.errors import DamagedMessage
from recollect.model import Filter, Message
from recollect.ports import ConversationKey, Lag, Tx
from recollect.rules.fairness import fair_order

LOOKED_AT = 64  # conversations, at least, among which those to take are chosen
READ = 32  # conversations whose messages are read together
CHARACTERS = 2_000_000  # of text at a time
REMEMBERED = 10_000  # spaces of which it is known when they were last served


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to take: of which view, for whom and for how long, and so many messages (or conversations, of a view that
    reads for itself); those that changed lately; not those to be left for later."""

    view: View[Any]
    holder: str
    lease: timedelta
    room: int
    since: datetime | None
    later: Callable[[str, str], bool]


@dataclass(frozen=True, slots=True)
class Claim:
    """What was taken, and whether there is more."""

    runs: Sequence[Run]
    left: bool


class Served:
    """The spaces in the order in which they were last served."""

    def __init__(self) -> None:
        self._count = 0
        self._last: OrderedDict[str, int] = OrderedDict()

    @property
    def order(self) -> Mapping[str, int]:
        return self._last

    def note(self, spaces: Iterable[str]) -> None:
        self._count += 1
        for space in spaces:
            self._last[space] = self._count
            self._last.move_to_end(space)
        while len(self._last) > REMEMBERED:
            self._last.popitem(last=False)

    def prefer(self, space: str) -> None:
        """It comes next, unless it was served just now: who asks without end would keep the others waiting."""
        if self._last.get(space) != self._count:
            self._last.pop(space, None)


def is_behind(tx: Tx, wanted: Wanted, now: datetime) -> bool:
    """Whether there is something to take: a look costs no lock, and most find nothing."""
    lags = tx.lagging(wanted.view.name, now, since=wanted.since, limit=LOOKED_AT)
    return len(lags) == LOOKED_AT or any(not wanted.later(lag.space, lag.conversation) for lag in lags)


def lagging(tx: Tx, wanted: Wanted, now: datetime) -> tuple[list[Lag], bool]:
    """Conversations that are behind and free, also of spaces that come behind a flood of others; and whether there may
    be more."""
    limit = max(LOOKED_AT, wanted.room)
    lags = tx.lagging(wanted.view.name, now, since=wanted.since, limit=limit)
    cut = len(lags) == limit
    if cut:
        flooded = {lag.space for lag in lags}
        lags += tx.lagging(wanted.view.name, now, since=wanted.since, limit=limit, besides=flooded)
    return [lag for lag in lags if not wanted.later(lag.space, lag.conversation)], cut


def take(tx: Tx, wanted: Wanted, now: datetime, served: Served) -> Claim:
    """Take leases, and read what is to be worked on."""
    view = wanted.view
    lags, cut = lagging(tx, wanted, now)
    chosen = list(fitting(view, fair_order(lags, served.order), wanted.room))
    places = [(lag.space, lag.conversation) for lag in chosen]
    ours = tx.claim_all(view.name, places, wanted.holder, now, now + wanted.lease)
    cursors = tx.cursors_of(view.name, [*ours])
    claimed = [replace(lag, done=cursors[place]) for lag, place in zip(chosen, places, strict=True) if place in ours]
    if view.at_once:
        runs = read_runs(tx, [*planned(view, claimed, wanted.room)])
    else:
        runs = [Run(lag, ()) for lag in claimed]
    unread = ours - {run.place for run in runs}
    tx.release_all(view.name, [*unread], wanted.holder)
    return Claim(runs, cut or len(chosen) < len(lags) or bool(unread))


def fitting(view: View[Any], lags: Iterable[Lag], room: int) -> Iterator[Lag]:
    """As many conversations as there is room for."""
    for lag in lags:
        if room <= 0:
            return
        room -= max(lag.turns - view.first(lag.done, lag.turns), 1) if view.at_once else 1
        yield lag


def planned(view: View[Any], lags: Iterable[Lag], room: int) -> Iterator[tuple[Lag, int, int]]:
    """After which turn each conversation is read, and up to which."""
    for lag in lags:
        begin = view.first(lag.done, lag.turns)
        end = min(lag.turns, begin + room)
        room -= max(end - begin, 0)
        yield lag, begin, end


def read_runs(tx: Tx, plans: Sequence[tuple[Lag, int, int]]) -> list[Run]:
    """The messages of these conversations, those that want the same turns together; no more than so much text."""
    groups: dict[tuple[str, int, int], list[Lag]] = {}
    for lag, begin, end in plans:
        groups.setdefault((lag.space, begin, end), []).append(lag)
    runs: list[Run] = []
    left = CHARACTERS
    for (space, begin, end), lags in groups.items():
        for start in range(0, len(lags), READ):
            if left <= 0:
                return runs
            for run in read_group(tx, space, lags[start : start + READ], begin, end):
                runs.append(shortened(run, left))
                left -= sum(len(message.content) for message in runs[-1].messages)
    return runs


def read_group(tx: Tx, space: str, lags: Sequence[Lag], begin: int, end: int) -> list[Run]:
    if begin >= end:
        return [Run(lag, ()) for lag in lags]
    try:
        messages = tx.messages(Filter(space), after=("", begin), upto=end, among=[lag.conversation for lag in lags])
    except DamagedMessage:
        return [read_around_damage(tx, lag, begin, end) for lag in lags]
    by_conversation: dict[ConversationKey, list[Message]] = {}
    for message in messages:
        by_conversation.setdefault((message.space, message.conversation), []).append(message)
    return [Run(lag, by_conversation.get((lag.space, lag.conversation), [])) for lag in lags]


def read_around_damage(tx: Tx, lag: Lag, begin: int, end: int) -> Run:
    where = Filter(lag.space, conversation=lag.conversation)
    messages, damaged = messages_around_damage(tx, where, after=begin, upto=end)
    return Run(lag, messages, damaged)


def shortened(run: Run, characters: int) -> Run:
    """A run of no more than so much text, but of one message at least."""
    for number, message in enumerate(run.messages):
        characters -= len(message.content)
        if characters <= 0 and number + 1 < len(run.messages):
            damaged = [error for error in run.damaged if error.turn < message.turn]
            return replace(run, messages=run.messages[: number + 1], damaged=damaged)
    return run
