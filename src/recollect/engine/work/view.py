"""What a view is to those who bring it up to date: how much it takes at a time, how it thinks, how it stores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from recollect.errors import DamagedMessage
from recollect.model import Message
from recollect.ports import ConversationKey, Lag, Tx

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Run:
    """New messages of one conversation, in order; and those among them that cannot be read.

    Of several runs of one conversation the lease is given back with the `last`.
    """

    lag: Lag
    messages: Sequence[Message]
    damaged: Sequence[DamagedMessage] = ()
    last: bool = True

    @property
    def place(self) -> ConversationKey:
        return self.lag.space, self.lag.conversation

    @property
    def is_empty(self) -> bool:
        return not self.messages and not self.damaged

    @property
    def end(self) -> int:
        """The last turn that is seen to with this run; of a view that reads for itself, how far it is to get."""
        turns = [message.turn for message in self.messages[-1:]] + [error.turn for error in self.damaged[-1:]]
        return max(turns, default=self.lag.turns)

    def halves(self) -> tuple[Run, Run]:
        half = len(self.messages) // 2
        end = self.messages[half - 1].turn
        damaged = [error for error in self.damaged if error.turn < end]
        first = Run(self.lag, self.messages[:half], damaged, last=False)
        rest = [error for error in self.damaged if error.turn > end]
        return first, replace(self, lag=replace(self.lag, done=end), messages=self.messages[half:], damaged=rest)


@dataclass(frozen=True, slots=True)
class Saved:
    """How far a view got: the turn its cursor moves to, how much was done, and why a model did not do it.

    After an outage the built-in writer stands in, and the rest is tried again later, after a pause that grows.
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
        """How many messages it takes at a time, at most; 0: it works on whole conversations, and reads for itself."""

    @property
    def ordered(self) -> bool:
        """Whether what it makes of a message depends on all before it: then one that was set aside cannot be made up
        for later, but the view of that conversation be made anew."""

    def first(self, done: int, turns: int) -> int:
        """Where to go on, of a conversation of that many turns and done so far: after `done`, or later."""

    async def prepare(self, runs: Sequence[Run]) -> Sequence[R]:
        """Think: one result for each run. No transaction is open."""

    def save(self, tx: Tx, result: R) -> Saved | None:
        """Store a result. The cursor moves in the same transaction: to the end of the run, unless told otherwise."""


def never(space: str, conversation: str) -> bool:
    return False


def skip_nothing(tx: Tx, space: str, conversation: str, turn: int) -> None:
    """Nothing but the cursor says how far most views are."""


def allow_all(tx: Tx) -> None:
    """Most views work with any embedder."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """What a view wants of its follower besides: which conversations to leave alone for the moment (`later`), what to
    do when a message is passed over (`skip`), and what must be so before work begins (`guard` raises if it is not)."""

    later: Callable[[str, str], bool] = never
    skip: Callable[[Tx, str, str, int], None] = skip_nothing
    guard: Callable[[Tx], None] = allow_all
