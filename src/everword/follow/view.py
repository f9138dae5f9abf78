"""What a view and its follower agree on: how a view takes messages, prepares and stores; and whose turn it is.

Every space is served before any is served again: a space with a backlog of thousands of conversations must not keep a
space with one waiting. So one conversation of each space is taken at a time, and the spaces in the order in which they
were served last. Within a space, a conversation with few new messages does not wait for one that imports a history.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Protocol, TypeVar

from everword.errors import DamagedMessage
from everword.model import Message
from everword.ports import ConversationKey, Lag, Tx

R = TypeVar("R")
FEW = 16  # messages of a conversation that come before those of one with more


@dataclass(frozen=True, slots=True)
class Run:
    """New messages of one conversation, in order, and errors for those among them that cannot be read.

    If a conversation is worked on in several runs, its lease is given back with the `last`.
    """

    lag: Lag
    messages: Sequence[Message]
    damages: Sequence[DamagedMessage] = ()
    last: bool = True

    @property
    def place(self) -> ConversationKey:
        return self.lag.space, self.lag.conversation

    @property
    def is_empty(self) -> bool:
        return not self.messages and not self.damages

    @property
    def end(self) -> int:
        """The last turn that this run handles; for a view that reads for itself, the turn it should reach."""
        turns = [message.turn for message in self.messages[-1:]] + [error.turn for error in self.damages[-1:]]
        return max(turns, default=self.lag.turns)

    def halves(self) -> tuple[Run, Run]:
        half = len(self.messages) // 2
        end = self.messages[half - 1].turn
        first_damages = [error for error in self.damages if error.turn < end]
        first = Run(self.lag, self.messages[:half], first_damages, last=False)
        second_damages = [error for error in self.damages if error.turn > end]
        return first, replace(
            self, lag=replace(self.lag, done=end), messages=self.messages[half:], damages=second_damages
        )


@dataclass(frozen=True, slots=True)
class SaveResult:
    """How far a view got: the turn its cursor moves to, how many items it saved, and why a model did not do it.

    After an outage the built-in writer stands in, and the model is tried again later, after a pause that grows.
    """

    upto: int
    done: int
    outage: str | None = None


class View(Protocol[R]):
    """What a view does with new messages."""

    @property
    def name(self) -> str: ...

    @property
    def at_once(self) -> int:
        """The most messages it takes at a time, for now; 0 if it works on whole conversations and reads them itself."""

    @property
    def ordered(self) -> bool:
        """Whether its result for a message depends on all messages before it. Then a message that was set aside cannot
        be added later: the view of that conversation has to be rebuilt."""

    def read_after(self, done: int, turns: int) -> int:
        """The turn after which to read on in a conversation of `turns` turns, done up to `done`: that turn, or a later
        one."""

    def prepare(self, runs: Sequence[Run]) -> Awaitable[Sequence[R]]:
        """Do the work: return one result for each run. No transaction is open."""

    def save(self, tx: Tx, result: R) -> SaveResult | None:
        """Store a result. The cursor moves in the same transaction: to the end of the run, unless a result says
        otherwise."""


def _never_defer(space: str, conversation: str) -> bool:
    return False


def _skip_nothing(tx: Tx, space: str, conversation: str, turn: int) -> None:
    """Do nothing: for most views the cursor alone says how far they are."""


def _allow_all(tx: Tx) -> None:
    """Allow all work: most views work with any embedder."""


def _do_nothing() -> None:
    """Do nothing: most views have only to be written."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a view that asks a model may wait for more messages of a conversation, since a call costs much the same
    for one message as for twenty: until it is `turns` behind, or the conversation has been quiet for so long and it is
    at least `quiet_turns` behind. It waits for the `first` messages of a person in any case: so short a memory is sent
    or found as it is, and the call would cost more than the chat."""

    turns: int
    quiet: timedelta
    quiet_turns: int = 1
    first: int = 0

    def is_enough(self, lag: Lag, is_quiet: bool) -> bool:
        """Whether a conversation is worth the work now."""
        behind = lag.turns - lag.done
        return behind >= self.turns or (is_quiet and behind >= self.quiet_turns)

    def describe(self) -> str:
        """When the work is done, in words."""
        quiet = (
            f" or has been quiet for {self.quiet.total_seconds():.0f} seconds" if self.quiet_turns < self.turns else ""
        )
        first = f", and its person {self.first} messages in all" if self.first else ""
        return f"when a conversation has {self.turns} new messages{quiet}{first}"


@dataclass(frozen=True, slots=True)
class Hooks:
    """What else a view needs from its follower: which conversations to leave for later (`later`), what to do when a
    message is skipped (`skip`), what must hold before work begins (`guard` raises if it does not), and how long its
    work may wait in the background for more to come (`patience`; nobody who settles waits). A `steady` view takes
    batches of the same size, however long they take: a call of a model costs much the same for few messages. `on_saved`
    is called, in the event loop, when it has taken in new messages. `pending` is the table whose rows that are pending
    are all that the view works on."""

    later: Callable[[str, str], bool] = _never_defer
    skip: Callable[[Tx, str, str, int], None] = _skip_nothing
    guard: Callable[[Tx], None] = _allow_all
    patience: Patience | None = None
    steady: bool = False
    on_saved: Callable[[], None] = _do_nothing
    pending: str | None = None


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
