"""What a program opens: `Memory`, and `AsyncMemory` with await, built from settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everword.config import Settings
from everword.memory.blocking import BlockingMemory
from everword.memory.memory import MemoryEngine
from everword.model import Degraded
from everword.ports import LLM, Clock, Embedder, Store, Telemetry
from everword.wiring import build


class AsyncMemory(MemoryEngine):
    """A memory for asynchronous programs: `async with AsyncMemory("everword.db") as memory: …`.

    `store` is an address or a `Store`. Instead of what the settings name, you can pass objects of your own: an
    `embedder`, a `clock`, the models `chat`, `memory` (facts, summaries) and `small` (short merges), and a `telemetry`.
    Further `settings` are given by name (docs/settings.md). With the setting `hold_messages`, `on_degraded` is called
    in the memory's loop when messages begin to be held, and when that is over.
    """

    def __init__(
        self,
        store: str | Store | None = None,
        *,
        embedder: str | Embedder | None = None,
        clock: Clock | None = None,
        chat: LLM | None = None,
        memory: LLM | None = None,
        small: LLM | None = None,
        telemetry: str | Telemetry | None = None,
        on_degraded: Callable[[Degraded], None] | None = None,
        **settings: Any,
    ) -> None:
        url, ready_store = (store, None) if isinstance(store, str | None) else (None, store)
        name, ready_embedder = (embedder, None) if isinstance(embedder, str | None) else (None, embedder)
        sink, ready_sink = (telemetry, None) if isinstance(telemetry, str | None) else (None, telemetry)
        all_settings = Settings.load(store=url, embedder=name, telemetry=sink, **settings)
        super().__init__(
            lambda: build(
                all_settings,
                store=ready_store,
                embedder=ready_embedder,
                clock=clock,
                chat=chat,
                memory=memory,
                small=small,
                telemetry=ready_sink,
                on_degraded=on_degraded,
            )
        )


class Memory(BlockingMemory):
    """A memory: `with Memory("everword.db") as memory: …`. `AsyncMemory` is the same with await.

    `store` is an address or a `Store`. Instead of what the settings name, you can pass objects of your own: an
    `embedder`, a `clock`, the models `chat`, `memory` (facts, summaries) and `small` (short merges), and a `telemetry`.
    Further `settings` are given by name (docs/settings.md). With the setting `hold_messages`, `on_degraded` is called
    in the memory's loop when messages begin to be held, and when that is over.
    """

    def __init__(
        self,
        store: str | Store | None = None,
        *,
        embedder: str | Embedder | None = None,
        clock: Clock | None = None,
        chat: LLM | None = None,
        memory: LLM | None = None,
        small: LLM | None = None,
        telemetry: str | Telemetry | None = None,
        on_degraded: Callable[[Degraded], None] | None = None,
        **settings: Any,
    ) -> None:
        self.engine = AsyncMemory(
            store,
            embedder=embedder,
            clock=clock,
            chat=chat,
            memory=memory,
            small=small,
            telemetry=telemetry,
            on_degraded=on_degraded,
            **settings,
        )
        super().__init__(self.engine)

    @property
    def views(self) -> tuple[str, ...]:
        return self.engine.views

    @property
    def degraded(self) -> Degraded | None:
        """Whether messages are held in memory, since the store takes none: how many, since when and why."""
        return self.engine.degraded
