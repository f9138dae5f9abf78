"""Counts as instruments of OpenTelemetry's API: `everword.model.calls`, `everword.cache` and so on, as in
`prometheus`, with dots. They go to the provider the program has set up; without one, nowhere.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from everword.errors import MissingExtra
from everword.ports import Call

if TYPE_CHECKING:
    from opentelemetry.metrics import Counter, Histogram, MeterProvider

SCOPE = "everword"


class OpenTelemetry:
    """Writes to a provider: the process's own one, if none is given."""

    def __init__(self, provider: MeterProvider | None = None) -> None:
        try:
            from opentelemetry.metrics import get_meter
        except ImportError:
            raise MissingExtra("telemetry", "OpenTelemetry") from None
        self._meter = get_meter(SCOPE, meter_provider=provider)
        self._lock = threading.Lock()
        self._counters: dict[str, Counter] = {}
        self._histograms: dict[str, Histogram] = {}

    def call(self, call: Call) -> None:
        labels = {"role": call.role, "task": call.task, "model": call.model}
        self._counter("model.calls", "{call}").add(1, labels | {"outcome": call.outcome})
        tokens = self._counter("model.tokens", "{token}")
        tokens.add(call.tokens_in, labels | {"direction": "in"})
        tokens.add(call.tokens_out, labels | {"direction": "out"})
        duration_labels = {"role": call.role, "task": call.task, "outcome": call.outcome}
        self._histogram("model.duration").record(call.seconds, duration_labels)

    def count(self, what: str, *, kind: str, outcome: str, amount: int = 1, seconds: float | None = None) -> None:
        labels = {"kind": kind, "outcome": outcome}
        name = "_".join(what.split())
        self._counter(name, "1").add(amount, labels)
        if seconds is not None:
            self._histogram(f"{name}.duration").record(seconds, labels)

    def _counter(self, name: str, unit: str) -> Counter:
        with self._lock:
            if name not in self._counters:
                self._counters[name] = self._meter.create_counter(f"{SCOPE}.{name}", unit)
            return self._counters[name]

    def _histogram(self, name: str) -> Histogram:
        with self._lock:
            if name not in self._histograms:
                self._histograms[name] = self._meter.create_histogram(f"{SCOPE}.{name}", "s")
            return self._histograms[name]
