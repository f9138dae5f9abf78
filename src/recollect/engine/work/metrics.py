"""What was done, how often, with what outcome, and how long it took: counted here first, whoever else is told.

Counts hold no content. A label is a word of the program's own (a task, a cache, an error's name) or a model's name;
anything else is counted as "other", so that no mistake elsewhere can carry a person's words into a graph.

Calls of models, looks into caches and fallbacks are also added to the store's table `usage`, by whoever drains them:
there the counts of all processes meet. What views do is counted in this process only: the store says how far they are.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from recollect.model import Activity
from recollect.ports import Call, Telemetry

CALLS = ("chat", "memory")  # roles: what a call of a model is counted under
KEPT = ("cache", "fallback")  # counted in the store, too, with the calls
OTHER = "other"
MODELS = 100  # names of models that are counted apart: a client of a server may name any
WORD = re.compile(r"[A-Za-z0-9_.:/@+-]{1,100}")

Key = tuple[str, str, str]


def word(label: str) -> str:
    """The label, if it can be one: a single word, as programs write them."""
    return label if WORD.fullmatch(label) else OTHER


@dataclass(frozen=True, slots=True)
class Plain:
    """A call whose labels are words."""

    role: str
    task: str
    model: str
    tokens_in: int
    tokens_out: int
    seconds: float
    outcome: str


class Counting:
    """Counts, and tells others. Safe from every thread."""

    def __init__(self, others: Sequence[Telemetry] = ()) -> None:
        self._others = tuple(others)
        self._lock = threading.Lock()
        self._counts: dict[Key, Activity] = {}
        self._unkept: dict[Key, Activity] = {}
        self._models: set[str] = set()

    def model(self, name: str) -> str:
        """What a model is counted as: its name, or "other" once there are many."""
        with self._lock:
            if len(self._models) < MODELS:
                self._models.add(name)
            return name if name in self._models else OTHER

    def call(self, call: Call) -> None:
        plain = Plain(
            word(call.role),
            word(call.task) if call.task else "",
            word(self.model(call.model)),
            call.tokens_in,
            call.tokens_out,
            call.seconds,
            word(call.outcome),
        )
        tokens = plain.tokens_in + plain.tokens_out
        self._add(self._counts, [Activity(plain.role, plain.task, plain.outcome, 1, plain.seconds, tokens)])
        for other in self._others:
            other.call(plain)

    def count(self, what: str, *, kind: str, outcome: str, amount: int = 1, seconds: float | None = None) -> None:
        what, kind, outcome = word(what), word(kind), word(outcome)
        one = Activity(what, kind, outcome, amount, seconds or 0.0)
        self._add(self._counts, [one])
        if what in KEPT:
            self._add(self._unkept, [one])
        for other in self._others:
            other.count(what, kind=kind, outcome=outcome, amount=amount, seconds=seconds)

    def counted(self) -> list[Activity]:
        """All that was counted in this process."""
        with self._lock:
            return [self._counts[key] for key in sorted(self._counts)]

    def drained(self) -> list[Activity]:
        """What is to be kept in the store and was not given out yet."""
        with self._lock:
            given, self._unkept = list(self._unkept.values()), {}
        return given

    def give_back(self, counts: Iterable[Activity]) -> None:
        """They could not be kept after all."""
        self._add(self._unkept, counts)

    def _add(self, to: dict[Key, Activity], counts: Iterable[Activity]) -> None:
        with self._lock:
            for one in counts:
                put_in(to, one)


def put_in(counts: dict[Key, Activity], one: Activity) -> None:
    key = (one.what, one.kind, one.outcome)
    before = counts.get(key)
    counts[key] = one if before is None else added(before, one)


def added(one: Activity, other: Activity) -> Activity:
    return replace(
        one,
        count=one.count + other.count,
        seconds=one.seconds + other.seconds,
        tokens=one.tokens + other.tokens,
    )


def activity_of(rows: Iterable[Mapping[str, Any]]) -> list[Activity]:
    """What rows of `usage` say, over all days and models."""
    counts = dict[Key, Activity]()
    for row in rows:
        tokens, seconds = row["tokens_in"] + row["tokens_out"], row["milliseconds"] / 1000
        put_in(counts, Activity(row["role"], row["task"], row["outcome"], row["calls"], seconds, tokens))
    return [counts[key] for key in sorted(counts)]
