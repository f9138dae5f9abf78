"""Health is visible: every call of a model, look into a cache and fallback is counted and timed; nothing said is."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from engine_doubles import StoreDouble
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from prometheus_client import CollectorRegistry, generate_latest

from everword import Activity, ConfigError, Memory, ModelTimeout, Settings, StoreError
from everword.follow.model_calls import ActivityCounter, safe_label
from everword.memory.memory import MemoryEngine
from everword.models.embedding import CachedEmbedder
from everword.models.embedding.local import StaticEmbedder
from everword.ports import Call, Telemetry, Tx
from everword.telemetry import OpenTelemetry, PrometheusTelemetry
from everword.testing import FrozenClock
from everword.testing.doubles import ScriptedLLM
from everword.wiring import build, open_store

SECRET = "Okapi"


@dataclass(frozen=True)
class Called:
    role: str = "memory"
    task: str = "day_digest"
    model: str = "small"
    tokens_in: int = 30
    tokens_out: int = 12
    seconds: float = 0.5
    outcome: str = "ok"


def done(memory: Memory, **wanted: str) -> list[Activity]:
    return [one for one in memory.stats().activity if all(getattr(one, name) == of for name, of in wanted.items())]


def talk(url: str, *, outage: bool, telemetry: Telemetry | None = None, chat_id: str = "chat") -> None:
    """A turn with a model that replies, and memory work by one that answers or is away."""
    away = ModelTimeout("the model did not answer")
    chat, worker = ScriptedLLM(default=f"A reply on {SECRET}."), ScriptedLLM(default=away if outage else "{}")
    with Memory(url, chat=chat, memory=worker, clock=FrozenClock(), telemetry=telemetry, followers=False) as memory:
        memory.conversation(chat_id, user="alex").reply(f"My name is {SECRET} and I live in Utrecht.")
        memory.settle()


@pytest.mark.every_store(in_part=("sqlite", "json", "postgresql"))
@pytest.mark.checklist("C14")
def test_calls_and_fallbacks_are_counted_with_their_timings_on_every_store(store_url: str) -> None:
    talk(store_url, outage=True)
    talk(store_url, outage=True, chat_id="another")
    with Memory(store_url, clock=FrozenClock(), followers=False) as memory:
        (replies,) = done(memory, what="chat", kind="reply")
        assert (replies.outcome, replies.count) == ("ok", 2)  # by two memories, one after the other
        assert replies.tokens > 0
        assert done(memory, what="memory", kind="reading", outcome="ModelTimeout")
        assert sum(one.count for one in done(memory, what="fallback", kind="reading")) >= 2
        assert not done(memory, what="memory", outcome="NoModel")


@pytest.mark.checklist("C14")
def test_the_counts_of_a_space_are_its_own(tmp_path: Path) -> None:
    talk(str(tmp_path / "a.db"), outage=False)
    with Memory(str(tmp_path / "a.db")) as memory:
        assert memory.stats(space="default").activity
        assert not memory.stats(space="elsewhere").activity


@pytest.mark.checklist("C14")
def test_looks_into_a_cache_are_counted_and_kept(store_url: str) -> None:
    counting = ActivityCounter()
    embedder = CachedEmbedder(StaticEmbedder(), telemetry=counting)
    with Memory(store_url, embedder=embedder) as memory:
        for _ in range(3):
            memory.search("zebra")
    assert {(one.kind, one.outcome): one.count for one in counting.activities()} == {
        ("embedding", "hit"): 2,
        ("embedding", "miss"): 1,
    }


@pytest.mark.checklist("C14")
def test_what_cannot_be_kept_now_is_kept_later() -> None:
    counting = ActivityCounter()
    counting.count("cache", kind="merge", outcome="hit", amount=2)
    counting.count("view", kind="facts", outcome="ok", seconds=0.5)
    given_out = counting.drain()
    assert [(one.what, one.count) for one in given_out] == [("cache", 2)]  # what views do is not kept
    assert not counting.drain()
    counting.give_back(given_out)
    counting.count("cache", kind="merge", outcome="hit")
    assert [one.count for one in counting.drain()] == [3]
    assert [(one.what, one.count, one.seconds) for one in counting.activities()] == [
        ("cache", 3, 0.0),
        ("view", 1, 0.5),
    ]


@pytest.mark.checklist("C14")
def test_a_prometheus_registry_has_them(tmp_path: Path) -> None:
    registry = CollectorRegistry()
    talk(str(tmp_path / "a.db"), outage=True, telemetry=PrometheusTelemetry(registry))
    talk(str(tmp_path / "b.db"), outage=True, telemetry=PrometheusTelemetry(registry))  # metrics are shared

    def value(name: str, **labels: str) -> float | None:
        return registry.get_sample_value(name, labels)

    assert value("everword_model_calls_total", role="chat", task="reply", model="scripted", outcome="ok") == 2
    assert value("everword_model_seconds_count", role="chat", task="reply", outcome="ok") == 2
    assert value("everword_model_tokens_total", role="chat", task="reply", model="scripted", direction="out") == 8
    assert (value("everword_fallback_total", kind="reading", outcome="ModelTimeout") or 0) >= 2
    assert (value("everword_view_total", kind="index", outcome="ok") or 0) >= 4
    assert (value("everword_view_seconds_count", kind="index", outcome="ok") or 0) >= 2
    page = generate_latest(registry).decode()
    assert "everword_model_calls_total" in page
    assert SECRET not in page
    assert "alex" not in page


@pytest.mark.checklist("C14")
def test_opentelemetry_has_them(tmp_path: Path) -> None:
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    talk(str(tmp_path / "a.db"), outage=True, telemetry=OpenTelemetry(provider))
    read = reader.get_metrics_data()
    assert read is not None
    text = read.to_json()
    found: dict[str, list[Any]] = {
        metric.name: list(metric.data.data_points)
        for resource in read.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        if scope.scope.name == "everword"
    }
    provider.shutdown()
    labels = [dict(point.attributes or {}) for point in found["everword.model.calls"]]
    assert {"role": "chat", "task": "reply", "model": "scripted", "outcome": "ok"} in labels
    assert {"kind": "reading", "outcome": "ModelTimeout"} in [
        dict(point.attributes or {}) for point in found["everword.fallback"]
    ]
    assert {"everword.model.duration", "everword.model.tokens", "everword.view.duration"} <= set(found)
    assert SECRET not in text
    assert "alex" not in text


@pytest.mark.checklist("C14")
def test_both_at_once_and_a_look_into_a_cache() -> None:
    registry, reader = CollectorRegistry(), InMemoryMetricReader()
    provider = MeterProvider([reader])
    counting = ActivityCounter([PrometheusTelemetry(registry), OpenTelemetry(provider)])
    counting.count("cache", kind="merge", outcome="hit", amount=3)
    call: Call = Called()
    counting.call(call)
    assert registry.get_sample_value("everword_cache_total", {"kind": "merge", "outcome": "hit"}) == 3
    assert "everword.cache" in (read.to_json() if (read := reader.get_metrics_data()) else "")
    assert [(one.what, one.count, one.tokens) for one in counting.activities()] == [("cache", 3, 0), ("memory", 1, 42)]
    provider.shutdown()


@given(st.text(max_size=300))
@pytest.mark.checklist("C14")
def test_no_sentence_becomes_a_label(text: str) -> None:
    registry = CollectorRegistry()
    counting = ActivityCounter([PrometheusTelemetry(registry)])
    counting.count("cache", kind=text, outcome=text)
    counting.call(Called(task=text, model=text, outcome=text))
    labels = [label for one in counting.activities() for label in (one.kind, one.outcome) if label]
    assert all(len(label.split()) == 1 and len(label) <= 100 for label in labels)
    generate_latest(registry)


@pytest.mark.parametrize("said", ["I live in Utrecht with my sister", "a\nb", "", "<@123>", "x" * 101, "it's", "Прага"])
@pytest.mark.checklist("C14")
def test_what_is_no_word_is_counted_as_other(said: str) -> None:
    assert safe_label(said) == "other"


@pytest.mark.checklist("C14")
def test_where_counts_go_is_a_setting(tmp_path: Path) -> None:
    for names in ("off", "auto", "prometheus", "opentelemetry, prometheus"):
        with Memory(str(tmp_path / "a.db"), telemetry=names) as memory:
            memory.conversation("chat", user="alex").add("user", "hello")
    for wrong in ("promethius", " "):
        with pytest.raises(ConfigError, match="telemetry"):
            Memory(str(tmp_path / "a.db"), telemetry=wrong)


BARE = """
import sys
for name in ("prometheus_client", "opentelemetry"):
    sys.modules[name] = None
from everword import Memory, MissingExtra
with Memory(sys.argv[1]) as memory:
    memory.conversation("chat", user="alex").add("user", "hello")
for name in ("prometheus", "opentelemetry"):
    try:
        Memory(sys.argv[1], telemetry=name)
    except MissingExtra as error:
        print(error)
"""


@pytest.mark.checklist("C14")
def test_without_the_packages_all_works_and_naming_one_says_what_to_install(tmp_path: Path) -> None:
    command = [sys.executable, "-c", BARE, str(tmp_path / "a.db")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    said = ran.stdout.splitlines()
    assert len(said) == 2, ran.stderr
    assert all(line.endswith("pip install 'everword[telemetry]'") for line in said)


def refuse(tx: Tx) -> None:
    raise StoreError("the disk is full")


async def counted_at_last(store: StoreDouble) -> list[list[int]]:
    settings, found = Settings(telemetry="off"), list[list[int]]()
    parts = build(settings, store=store)
    async with MemoryEngine(lambda: parts) as memory:
        parts.telemetry.count("cache", kind="merge", outcome="hit")
        for store.inside in (refuse, lambda tx: None):
            found.append([one.count for one in (await memory.stats()).activity])
    return found


@pytest.mark.checklist("C14")
def test_a_store_that_refuses_counts_stops_nothing(tmp_path: Path) -> None:
    store = StoreDouble(open_store(str(tmp_path / "a.db"), Settings()))
    assert asyncio.run(counted_at_last(store)) == [[], [1]]


@pytest.mark.checklist("C14")
def test_names_of_models_are_counted_apart_up_to_a_number() -> None:
    """Whoever asks a server may name any model: what is counted does not grow with what they make up."""
    counting = ActivityCounter()
    names = {counting.model_label(f"made-up-{number}") for number in range(5_000)}
    assert len(names) == 101
    assert counting.model_label("made-up-7") == "made-up-7"
    assert counting.model_label("made-up-700") == "other"
