"""The composition root: builds a memory from settings. The only module that knows every adapter.

Adapters are imported when they are needed: a program that keeps its memory in SQLite never loads PostgreSQL's driver,
and one that only prints `--help` loads none.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, cast

from everword.changes.retention_rules import Retention
from everword.config import Settings
from everword.errors import ConfigError
from everword.follow.model_calls import ActivityCounter, Meter
from everword.log.secret_policy import SecretMode, SecretPolicy
from everword.masking import keep_password_out_of_texts
from everword.memory.runtime import Parts
from everword.model import Degraded
from everword.ports import LLM, Clock, Embedder, Models, Store, Telemetry, Tokenizer
from everword.recall.rules.ranking import Weights
from everword.summaries.rules.window import WindowRule

if TYPE_CHECKING:
    from everword.topics.rules.topics import TopicRule

# The cosine of texts that have nothing to do with each other, its mean and deviation, is a property of the embedder.
WEIGHTS = {
    "minilm": Weights(unrelated=0.06, spread=0.09, abroad=0.0),
    "multilingual": Weights(unrelated=0.145, spread=0.085, abroad=0.04),
}
LOCAL = "local"  # the name of the model that runs in this process; `local@URL` is one of that name elsewhere
# The cosine distance under which an episode is about the same thing.
EPISODE_DISTANCE = {"static": 0.55, "minilm": 0.5, "multilingual": 0.64}
TELEMETRY = {"prometheus": "prometheus_client", "opentelemetry": "opentelemetry"}  # by name, the package each needs
# Cosine to a topic's centroid from which on a message comes back to it: benchmarks/calibrate_topics.py.
TOPIC_SIMILARITY = {"static": 0.52, "minilm": 0.45, "multilingual": 0.42}
# Its cosine of messages of one conversation that have nothing to do with each other, the mean and the deviation: nearer
# than texts of anywhere are.
DRIFT = {"static": (0.2, 0.1), "minilm": (0.2, 0.13), "multilingual": (0.145, 0.085)}
POSTGRES = ("postgresql://", "postgres://", "postgresql+psycopg://")


class SystemClock:
    """The time of this machine."""

    def now(self) -> datetime:
        return datetime.now(UTC)


def open_store(
    url: str,
    settings: Settings,
    *,
    server_seconds: float | None = None,
    migrate: bool = False,
    hnsw: int | None = None,
    spread: bool = False,
) -> Store:
    """The store an address names: `postgresql://…`, `json:FILE`, `sqlite:FILE`, or simply a file. A server may take
    `server_seconds` to answer, or else `busy_seconds`."""
    keep_password_out_of_texts(url)
    cache = settings.vector_cache_mb << 20
    if url.startswith(POSTGRES):
        from everword.stores.postgres import PostgresStore

        return PostgresStore(
            "postgresql://" + url.split("://", 1)[1],
            busy_seconds=settings.busy_seconds,
            server_seconds=server_seconds,
            migrate=migrate,
            hnsw=hnsw,
            spread=spread,
        )
    kind, colon, path = url.partition(":")
    if colon and kind == "json":
        if not path.strip() or Path(path).is_dir():
            raise ConfigError(f"store: {url!r} contains no file name; write json:FILE, such as json:memory.json")
        from everword.stores.jsonfile import JsonStore

        return JsonStore(path, busy_seconds=settings.busy_seconds, cache_bytes=cache)
    if "://" in url and kind != "sqlite":
        raise ConfigError(f"store: {kind!r} is not a kind of store; use a file name, json:FILE or postgresql://…")
    from everword.stores.sqlite import SqliteStore

    name = path.removeprefix("///") if colon and kind == "sqlite" else url
    if name == ":memory:":
        raise ConfigError("store: must be a file; for a temporary memory, use a file in a temporary folder")
    return SqliteStore(name, busy_seconds=settings.busy_seconds, cache_bytes=cache)


def open_embedder(settings: Settings, telemetry: Telemetry | None = None) -> Embedder:
    from everword.models.embedding import CachedEmbedder

    if settings.embedder == "endpoint":
        from everword.models.embedding.endpoint import EndpointEmbedder

        if not settings.embedder_url:
            raise ConfigError(
                "embedder_url: is empty; give the server's address, as in "
                "EVERWORD_EMBEDDER_URL=http://localhost:8080/v1"
            )
        endpoint = EndpointEmbedder(settings.embedder_url, settings.embedder_key, settings.embedder_model)
        return CachedEmbedder(endpoint, telemetry=telemetry)
    if settings.embedder == "minilm":
        from everword.models.embedding.local import MiniLMEmbedder

        return CachedEmbedder(MiniLMEmbedder(threads=settings.embedder_threads), telemetry=telemetry)
    if settings.embedder == "multilingual":
        from everword.models.embedding.local import MultilingualEmbedder

        return CachedEmbedder(MultilingualEmbedder(threads=settings.embedder_threads), telemetry=telemetry)
    from everword.models.embedding.local import StaticEmbedder

    return StaticEmbedder()  # faster than a look into a cache


def open_telemetry(settings: Settings) -> list[Telemetry]:
    """Where counts go besides the store. Whatever it is, it sends nothing by itself."""
    names = split_names(settings.telemetry)
    unknown = sorted({*names} - {"auto", "off", *TELEMETRY})
    if unknown:
        raise ConfigError(
            f"telemetry: {unknown[0]!r} is not known; use auto, off, prometheus, opentelemetry or "
            "`prometheus,opentelemetry`"
        )
    if not names:
        raise ConfigError("telemetry: is empty; write `off` to turn telemetry off")
    if "off" in names:
        return []
    sink_names = [name for name in TELEMETRY if name in names or ("auto" in names and find_spec(TELEMETRY[name]))]
    sinks: list[Telemetry] = []
    if "prometheus" in sink_names:
        from everword.telemetry import PrometheusTelemetry

        sinks.append(PrometheusTelemetry())
    if "opentelemetry" in sink_names:
        from everword.telemetry import OpenTelemetry

        sinks.append(OpenTelemetry())
    return sinks


def open_tokenizer(settings: Settings) -> Tokenizer:
    if settings.tokenizer == "estimate":
        from everword.models.tokens import EstimateTokenizer

        return EstimateTokenizer()
    from everword.models.tokens import TiktokenTokenizer

    return TiktokenTokenizer(settings.tokenizer)


def open_models(
    settings: Settings,
    meter: Meter,
    tokenizer: Tokenizer,
    chat: LLM | None,
    memory: LLM | None,
    small: LLM | None = None,
) -> tuple[Models, Models]:
    """The models that reply and those that do memory work: those given, those configured, or none."""
    from everword.models.chat.roles import Role, TaskRouter

    count = tokenizer.count
    limit = settings.daily_tokens or None
    chat_llms = [chat] if chat else chat_models(settings)
    memory_llms = [memory] if memory else memory_models(settings)
    small_llms = [small] if small else small_models(settings)

    def memory_role(models: list[LLM]) -> Role:
        return Role(
            "memory",
            models,
            meter,
            limit=limit,
            count=count,
            thinking_tokens=settings.thinking_tokens,
        )

    work: Models = memory_role(memory_llms)
    if small_llms:
        from everword.summaries.prompts import context_merge, week_history

        # Counted as memory work, too: one ceiling holds for all of it.
        work = TaskRouter(work, memory_role(small_llms), (week_history.name, context_merge.name))
    return Role("chat", chat_llms, meter, count=count), work


def chat_models(settings: Settings) -> list[LLM]:
    """The models that reply, in the order in which they are asked."""
    return build_models(settings, settings.chat_model, settings.chat_url, settings.chat_key)


def memory_models(settings: Settings) -> list[LLM]:
    """The models that do memory work: their own, or else those that reply.

    The local model does it only where it is named for it. It answers one question after the other: memory work would
    keep the next reply waiting, and the built-in writers do it better.
    """
    url = settings.memory_url or settings.chat_url
    key = settings.memory_key or settings.chat_key
    return build_models(settings, memory_model_names(settings), url, key)


def memory_model_names(settings: Settings) -> str:
    """The names of the models that do memory work, with commas; empty if there is none."""
    return settings.memory_model or ",".join(name for name in split_names(settings.chat_model) if name != LOCAL)


def small_models(settings: Settings) -> list[LLM]:
    """The models for small merges, if there are any of their own."""
    url = settings.small_url or settings.memory_url or settings.chat_url
    key = settings.small_key or settings.memory_key or settings.chat_key
    return build_models(settings, settings.small_model, url, key) if split_names(settings.small_model) else []


def build_models(settings: Settings, names: str, url: str, key: str) -> list[LLM]:
    from everword.models.chat.roles import NoModelLLM

    return [build_model(settings, name, url, key) for name in split_names(names)] or [NoModelLLM()]


def build_model(settings: Settings, name: str, url: str, key: str) -> LLM:
    if name == LOCAL:
        from everword.models.chat.local import LocalModel

        return LocalModel()
    from everword.models.chat.openai import OpenAIModel

    model, _, own_url = name.partition("@")
    if not (own_url or url):
        raise ConfigError(
            "chat_url: is empty; give the server's address, as in EVERWORD_CHAT_URL=http://localhost:11434/v1"
        )
    return OpenAIModel(own_url or url, key, model, timeout=settings.model_seconds, apis=settings.chat_apis)


def split_names(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def topic_rule(settings: Settings) -> TopicRule:
    """How messages are given topics, with the embedder's own calibration."""
    from everword.topics.rules.drift import Scale
    from everword.topics.rules.topics import TopicRule

    return TopicRule(
        similarity=settings.topic_similarity or TOPIC_SIMILARITY.get(settings.embedder, 0.7),
        scale=Scale(*DRIFT.get(settings.embedder, ())),
    )


def build(
    settings: Settings,
    *,
    store: Store | None = None,
    embedder: Embedder | None = None,
    clock: Clock | None = None,
    chat: LLM | None = None,
    memory: LLM | None = None,
    small: LLM | None = None,
    telemetry: Telemetry | None = None,
    on_degraded: Callable[[Degraded], None] | None = None,
) -> Parts:
    """Everything a memory is made of; what is given is used as it is."""
    tokenizer = open_tokenizer(settings)
    counting = ActivityCounter([telemetry] if telemetry is not None else open_telemetry(settings))
    return Parts(
        embedder=embedder or open_embedder(settings, counting),
        tokenizer=tokenizer,
        clock=clock or SystemClock(),
        settings=settings,
        telemetry=counting,
        models=lambda meter: open_models(settings, meter, tokenizer, chat, memory, small),
        weights=WEIGHTS.get(settings.embedder, Weights()),
        window=WindowRule(
            tokens=settings.window_tokens,
            under=min(5_000, settings.window_tokens // 6),
            turns=settings.window_turns,
            user_messages=settings.window_user_messages,
        ),
        retention=Retention(
            messages=settings.retain_messages,
            episodes=settings.retain_episodes,
            facts=settings.retain_facts,
            digests=settings.retain_digests,
            topics=settings.retain_topics,
            usage=settings.retain_usage,
            every=settings.retain_every,
        ),
        secrets=SecretPolicy(cast(SecretMode, settings.secrets)),
        on_degraded=on_degraded,
        episode_distance=settings.episode_distance or EPISODE_DISTANCE.get(settings.embedder, 0.4),
        topic_rule=partial(topic_rule, settings),
        store=store or open_store(settings.store, settings),  # last: what fails before it leaves nothing open
    )
