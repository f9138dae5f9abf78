"""What a follower claims in one step: which conversations, in which order of spaces, and how much of each is read.

Every query is for many conversations at once: with a thousand conversations of one new message each, one query for each
would take longer than the work itself.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from everword.errors import DamagedMessage
from everword.follow.fairness import fair_order
from everword.follow.faults import messages_around_damage
from everword.follow.lease import Lease
from everword.follow.view import Patience, Run, View
from everword.log.cursors import cursors_of
from everword.model import Filter, Message
from everword.ports import ConversationKey, Lag, Tx

LOOKED_AT = 64  # conversations, at least, from which those to claim are chosen
TURNS_OF_ROOM = 8  # that a conversation is behind, for a view that reads for itself: it is not to have all of them
READ = 32  # conversations whose messages are read together
CHARACTERS = 2_000_000  # of text in one claim
REMEMBERED = 10_000  # spaces for which we know when they were last served


@dataclass(frozen=True, slots=True)
class ClaimRequest:
    """What to claim: for which view, under which lease, and how many messages (`room`; conversations, for a view that
    reads for itself). Only conversations that changed `since` then, none that `defers` holds back, with `patience` none
    of which there is not yet enough, and if they are to be `whole`, none that the view it follows has only in part."""

    view: View[Any]
    lease: Lease
    room: int
    since: datetime | None
    defers: Callable[[str, str], bool]
    patience: Patience | None = None
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """The runs that were claimed, and whether there are more."""

    runs: Sequence[Run]
    has_more: bool


class ServiceOrder:
    """The spaces in the order in which they were last served."""

    def __init__(self) -> None:
        self._count = 0
        self._last: OrderedDict[str, int] = OrderedDict()

    @property
    def last_served(self) -> Mapping[str, int]:
        return self._last

    def record_served(self, spaces: Iterable[str]) -> None:
        self._count += 1
        for space in spaces:
            self._last[space] = self._count
            self._last.move_to_end(space)
        while len(self._last) > REMEMBERED:
            self._last.popitem(last=False)

    def prefer(self, space: str) -> None:
        """Serve this space next, unless it was just served: one that asks all the time would keep others waiting."""
        if self._last.get(space) != self._count:
            self._last.pop(space, None)


def is_behind(tx: Tx, request: ClaimRequest, now: datetime) -> bool:
    """Whether there is something to claim. This takes no lock, and most of the time finds nothing."""
    lags = tx.lagging(request.view.name, now, since=request.since, limit=LOOKED_AT)
    return len(lags) == LOOKED_AT or bool(worthwhile_lags(tx, request, lags, now))


def worthwhile_lags(tx: Tx, request: ClaimRequest, lags: Sequence[Lag], now: datetime) -> list[Lag]:
    """Those of these conversations that are neither deferred nor waiting for more messages."""
    lags = [lag for lag in lags if not request.defers(lag.space, lag.conversation)]
    if request.whole:
        lags = [lag for lag in lags if is_whole(tx, lag)]
    patience = request.patience
    if patience is None or not lags:
        return lags
    recent_lags = tx.lagging(request.view.name, now, since=now - patience.quiet, limit=2 * max(LOOKED_AT, request.room))
    recent_places = {(lag.space, lag.conversation) for lag in recent_lags}
    return [
        lag
        for lag in lags
        if patience.is_enough(lag, (lag.space, lag.conversation) not in recent_places)
        and has_messages(tx, lag, patience.first)
    ]


def is_whole(tx: Tx, lag: Lag) -> bool:
    """Whether a view may have all messages of a conversation that there are."""
    conversation = tx.conversation(lag.space, lag.conversation)
    return conversation is not None and lag.turns >= conversation.turns


def has_messages(tx: Tx, lag: Lag, least: int) -> bool:
    """Whether a conversation, or the memory of its user, has so many messages."""
    if lag.turns >= least:
        return True
    conversation = tx.conversation(lag.space, lag.conversation)
    user = conversation.user if conversation is not None else None
    return user is not None and tx.index.tally(lag.space, user).docs >= least


def find_lags(tx: Tx, request: ClaimRequest, now: datetime) -> tuple[list[Lag], bool]:
    """Conversations that are behind and not leased, also of spaces that come after a flood of others; and whether there
    may be more."""
    limit = max(LOOKED_AT, request.room)
    lags = tx.lagging(request.view.name, now, since=request.since, limit=limit)
    is_cut = len(lags) == limit
    if is_cut:
        busy_spaces = {lag.space for lag in lags}
        lags += tx.lagging(request.view.name, now, since=request.since, limit=limit, besides=busy_spaces)
    return worthwhile_lags(tx, request, lags, now), is_cut


def claim_runs(tx: Tx, request: ClaimRequest, now: datetime, service_order: ServiceOrder) -> Claim:
    """Take leases, and read the messages to work on."""
    view = request.view
    lags, is_cut = find_lags(tx, request, now)
    chosen_lags = list(lags_within_room(view, fair_order(lags, service_order.last_served), request.room))
    places = [(lag.space, lag.conversation) for lag in chosen_lags]
    claimed_places = request.lease.acquire(tx, places)
    cursors = cursors_of(tx, view.name, [*claimed_places])
    claimed_lags = [
        replace(lag, done=cursors[place])
        for lag, place in zip(chosen_lags, places, strict=True)
        if place in claimed_places
    ]
    if view.at_once:
        runs = read_runs(tx, [*plan_reads(view, claimed_lags, request.room)])
    else:
        runs = [Run(lag, ()) for lag in claimed_lags]
    unread_places = claimed_places - {run.place for run in runs}
    request.lease.release(tx, unread_places)
    return Claim(runs, is_cut or len(chosen_lags) < len(lags) or bool(unread_places))


def lags_within_room(view: View[Any], lags: Iterable[Lag], room: int) -> Iterator[Lag]:
    """As many conversations as there is room for."""
    for lag in lags:
        if room <= 0:
            return
        new_turns = lag.turns - view.read_after(lag.done, lag.turns)
        room -= max(new_turns if view.at_once else new_turns // TURNS_OF_ROOM, 1)
        yield lag


def plan_reads(view: View[Any], lags: Iterable[Lag], room: int) -> Iterator[tuple[Lag, int, int]]:
    """The turn after which each conversation is read, and the last turn that is read."""
    for lag in lags:
        begin = view.read_after(lag.done, lag.turns)
        end = min(lag.turns, begin + room)
        room -= max(end - begin, 0)
        yield lag, begin, end


def read_runs(tx: Tx, plans: Sequence[tuple[Lag, int, int]]) -> list[Run]:
    """The messages of these conversations, up to a limit of text; those that need the same turns share a query."""
    groups: dict[tuple[str, int, int], list[Lag]] = {}
    for lag, begin, end in plans:
        groups.setdefault((lag.space, begin, end), []).append(lag)
    runs: list[Run] = []
    characters_left = CHARACTERS
    for (space, begin, end), lags in groups.items():
        for start in range(0, len(lags), READ):
            if characters_left <= 0:
                return runs
            for run in read_group(tx, space, lags[start : start + READ], begin, end):
                runs.append(shorten_run(run, characters_left))
                characters_left -= sum(len(message.content) for message in runs[-1].messages)
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
    messages, damages = messages_around_damage(tx, where, after=begin, upto=end)
    return Run(lag, messages, damages)


def shorten_run(run: Run, characters: int) -> Run:
    """A run of at most this many characters, but of at least one message."""
    for index, message in enumerate(run.messages):
        characters -= len(message.content)
        if characters <= 0 and index + 1 < len(run.messages):
            damages = [error for error in run.damages if error.turn < message.turn]
            return replace(run, messages=run.messages[: index + 1], damages=damages)
    return run
