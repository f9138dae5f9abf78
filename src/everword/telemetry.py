"""Where counts and timings can go besides the store: a Prometheus registry, OpenTelemetry's API.

    everword_model_calls_total      role, task, model, outcome
    everword_model_tokens_total     role, task, model, direction (in, out)
    everword_model_seconds          role, task, outcome; a histogram
    everword_cache_total            kind, outcome
    everword_fallback_total         kind, outcome
    everword_view_total             kind, outcome; messages brought in, or failures
    everword_view_seconds           kind, outcome; a histogram

OpenTelemetry's instruments are the same with dots: `everword.model.calls`. Nothing here opens a port or sends anything:
Prometheus is read by whoever serves its registry, and OpenTelemetry's API does nothing until the program that uses
everword sets up its own provider. A registry has each metric once, so memories that share a registry share its metrics.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, ref

from everword.errors import MissingExtra
from everword.ports import Call

if TYPE_CHECKING:
    from opentelemetry import metrics as instruments
    from prometheus_client import CollectorRegistry, Counter, Histogram

SECONDS = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)  # a model takes its time
LABELS = ("kind", "outcome")
SCOPE = "everword"

_lock = threading.Lock()
_metrics_by_registry: WeakKeyDictionary[CollectorRegistry, Metrics] = WeakKeyDictionary()


class Metrics:
    """The metrics of one registry, each made when it is first needed."""

    def __init__(self, registry: CollectorRegistry) -> None:
        # The registry refers to the metrics: a strong reference back would keep both for ever.
        self._registry = ref(registry)
        self._counters: dict[str, Counter] = {}
        self._histograms: dict[str, Histogram] = {}

    def counter(self, name: str, about: str, labels: tuple[str, ...]) -> Counter:
        from prometheus_client import Counter

        with _lock:
            if name not in self._counters:
                self._counters[name] = Counter(name, about, labels, registry=self._registry())
            return self._counters[name]

    def histogram(self, name: str, about: str, labels: tuple[str, ...]) -> Histogram:
        from prometheus_client import Histogram

        with _lock:
            if name not in self._histograms:
                self._histograms[name] = Histogram(name, about, labels, registry=self._registry(), buckets=SECONDS)
            return self._histograms[name]


def metrics_of(registry: CollectorRegistry) -> Metrics:
    with _lock:
        metrics = _metrics_by_registry.get(registry)
        if metrics is None:
            metrics = _metrics_by_registry[registry] = Metrics(registry)
        return metrics


class PrometheusTelemetry:
    """Writes into a registry: the process's own one, if none is given."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        try:
            from prometheus_client import REGISTRY
        except ImportError:
            raise MissingExtra("telemetry", "a Prometheus registry") from None
        self._registry = REGISTRY if registry is None else registry
        self._metrics = metrics_of(self._registry)

    def call(self, call: Call) -> None:
        role = call.role
        task = call.task
        model = call.model
        calls = self._metrics.counter(
            "everword_model_calls", "Calls of models, by how they ended.", ("role", "task", "model", "outcome")
        )
        calls.labels(role, task, model, call.outcome).inc()
        tokens = self._metrics.counter(
            "everword_model_tokens", "Tokens of calls.", ("role", "task", "model", "direction")
        )
        tokens.labels(role, task, model, "in").inc(call.tokens_in)
        tokens.labels(role, task, model, "out").inc(call.tokens_out)
        seconds = self._metrics.histogram("everword_model_seconds", "Time of calls.", ("role", "task", "outcome"))
        seconds.labels(role, task, call.outcome).observe(call.seconds)

    def count(self, what: str, *, kind: str, outcome: str, amount: int = 1, seconds: float | None = None) -> None:
        counter = self._metrics.counter(metric_name(what), f"{what}, by kind and outcome.", LABELS)
        counter.labels(kind, outcome).inc(amount)
        if seconds is not None:
            histogram = self._metrics.histogram(f"{metric_name(what)}_seconds", f"Time of {what}.", LABELS)
            histogram.labels(kind, outcome).observe(seconds)


def metric_name(activity: str) -> str:
    return "everword_" + "".join(char if char.isascii() and char.isalnum() else "_" for char in activity)


class OpenTelemetry:
    """Writes to a provider: the process's own one, if none is given."""

    def __init__(self, provider: instruments.MeterProvider | None = None) -> None:
        try:
            from opentelemetry.metrics import get_meter
        except ImportError:
            raise MissingExtra("telemetry", "OpenTelemetry") from None
        self._meter = get_meter(SCOPE, meter_provider=provider)
        self._lock = threading.Lock()
        self._counters: dict[str, instruments.Counter] = {}
        self._histograms: dict[str, instruments.Histogram] = {}

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

    def _counter(self, name: str, unit: str) -> instruments.Counter:
        with self._lock:
            if name not in self._counters:
                self._counters[name] = self._meter.create_counter(f"{SCOPE}.{name}", unit)
            return self._counters[name]

    def _histogram(self, name: str) -> instruments.Histogram:
        with self._lock:
            if name not in self._histograms:
                self._histograms[name] = self._meter.create_histogram(f"{SCOPE}.{name}", "s")
            return self._histograms[name]
