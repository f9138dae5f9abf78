"""Counts what was done, how often, with what outcome, and how long it took, before other telemetry is told.

Counts hold no content. A label is a word of the program's own (a task, a cache, an error's name) or a model's name;
anything else is counted as "other", so that no mistake elsewhere can carry a person's words into a graph.

Calls of models, cache lookups and fallbacks are also added to the store's table `usage`, by the meter that drains them:
that table has the sums of all processes. The work of views is counted in this process only: the store knows how far
they are.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from everword.masking import mask_credentials
from everword.model import Activity
from everword.ports import Call, Telemetry

CALLS = ("chat", "memory")  # roles, under which calls of models are counted
STORED = ("cache", "fallback", "refused")  # also counted in the store, with the calls
OTHER = "other"
MODELS = 100  # names of models that are counted separately: a client of a server may send any name
WORD = re.compile(r"[A-Za-z0-9_.:/@+-]{1,100}")

ActivityKey = tuple[str, str, str]


def safe_label(label: str) -> str:
    """The label if it is a single word, as programs write them; otherwise "other"."""
    return label if WORD.fullmatch(label) else OTHER


@dataclass(frozen=True, slots=True)
class SafeCall:
    """A call whose labels are single words."""

    role: str
    task: str
    model: str
    tokens_in: int
    tokens_out: int
    seconds: float
    outcome: str


class ActivityCounter:
    """Counts activities and forwards them to other telemetry. Safe to use from every thread."""

    def __init__(self, others: Sequence[Telemetry] = ()) -> None:
        self._others = tuple(others)
        self._lock = threading.Lock()
        self._counts: dict[ActivityKey, Activity] = {}
        self._unsaved: dict[ActivityKey, Activity] = {}
        self._models: set[str] = set()

    def model_label(self, name: str) -> str:
        """The name under which a model is counted: its own, or "other" once there are too many."""
        name = mask_credentials(name)
        with self._lock:
            if len(self._models) < MODELS:
                self._models.add(name)
            return name if name in self._models else OTHER

    def call(self, call: Call) -> None:
        safe_call = SafeCall(
            safe_label(call.role),
            safe_label(call.task) if call.task else "",
            safe_label(self.model_label(call.model)),
            call.tokens_in,
            call.tokens_out,
            call.seconds,
            safe_label(call.outcome),
        )
        tokens = safe_call.tokens_in + safe_call.tokens_out
        self._add(
            self._counts, [Activity(safe_call.role, safe_call.task, safe_call.outcome, 1, safe_call.seconds, tokens)]
        )
        for other in self._others:
            other.call(safe_call)

    def count(self, what: str, *, kind: str, outcome: str, amount: int = 1, seconds: float | None = None) -> None:
        what = safe_label(what)
        kind = safe_label(kind)
        outcome = safe_label(outcome)
        activity = Activity(what, kind, outcome, amount, seconds or 0.0)
        self._add(self._counts, [activity])
        if what in STORED:
            self._add(self._unsaved, [activity])
        for other in self._others:
            other.count(what, kind=kind, outcome=outcome, amount=amount, seconds=seconds)

    def activities(self) -> list[Activity]:
        """Everything that was counted in this process."""
        with self._lock:
            return [self._counts[key] for key in sorted(self._counts)]

    def drain(self) -> list[Activity]:
        """Take out the activities that are for the store and were not taken out yet."""
        with self._lock:
            activities = list(self._unsaved.values())
            self._unsaved = {}
        return activities

    def give_back(self, activities: Iterable[Activity]) -> None:
        """Put drained activities back, because they could not be stored."""
        self._add(self._unsaved, activities)

    def _add(self, totals: dict[ActivityKey, Activity], activities: Iterable[Activity]) -> None:
        with self._lock:
            for activity in activities:
                add_activity(totals, activity)


def add_activity(counts: dict[ActivityKey, Activity], activity: Activity) -> None:
    key = (activity.what, activity.kind, activity.outcome)
    earlier = counts.get(key)
    counts[key] = activity if earlier is None else sum_activities(earlier, activity)


def sum_activities(first: Activity, second: Activity) -> Activity:
    return replace(
        first,
        count=first.count + second.count,
        seconds=first.seconds + second.seconds,
        tokens=first.tokens + second.tokens,
    )


def activity_of(rows: Iterable[Mapping[str, Any]]) -> list[Activity]:
    """The activities in rows of `usage`, summed over all days and models."""
    counts = dict[ActivityKey, Activity]()
    for row in rows:
        tokens = row["tokens_in"] + row["tokens_out"]
        seconds = row["milliseconds"] / 1000
        add_activity(counts, Activity(row["role"], row["task"], row["outcome"], row["calls"], seconds, tokens))
    return [counts[key] for key in sorted(counts)]
