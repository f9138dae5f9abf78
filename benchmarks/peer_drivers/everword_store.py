"""everword itself, through its public interface, with the embedder that made the vectors of the others.

`add` and `extend` return when a message is on the disk. To count as added here it must be found, too: after each batch
the index catches up. The other views (summaries, facts, topics) are what is finished afterwards.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from driver import Embed, Message

from everword import Draft, Memory
from everword.follow.follower import settle


class AskedClock:
    """The time of day, or the moment at which a question of a data set is asked."""

    def __init__(self) -> None:
        self.moment: datetime | None = None

    def now(self) -> datetime:
        return self.moment or datetime.now(UTC)


class EverwordPeer:
    """The memory, open."""

    def __init__(self, folder: Path) -> None:
        self._clock = AskedClock()
        self._file = f"{folder}/memory.db"
        self._memory = Memory(self._file, clock=self._clock, followers=False, chat_model="", memory_model="")
        self._numbers: dict[str, int] = {}

    def add(self, scope: str, number: int, message: Message) -> None:
        chat = self._memory.conversation(scope, user=scope)
        added = chat.add("user", message["content"], author=message.get("author"), time=self._moment(message))
        self._numbers[added.id] = number

    def add_many(self, scope: str, first: int, messages: Sequence[Message]) -> None:
        drafts = [
            Draft("user", message["content"], author=message.get("author"), time=self._moment(message))
            for message in messages
        ]
        self._clock.moment = max((draft.time for draft in drafts if draft.time), default=None)
        for number, added in enumerate(self._memory.conversation(scope, user=scope).extend(drafts), first):
            self._numbers[added.message.id] = number
        self._clock.moment = None
        runtime = self._memory.engine.runtime
        self._memory.run(lambda _: settle([runtime.followers["index"]], math.inf, runtime.calls))

    def search(self, scope: str, query: str, limit: int, now: str | None) -> list[int]:
        self._clock.moment = None if now is None else datetime.fromisoformat(now)
        return [self._numbers[hit.message.id] for hit in self._memory.search(query, user=scope, limit=limit)]

    def finish(self) -> None:
        """Bring every view up to date; and move what SQLite has in its journal into the file, as closing it does."""
        self._memory.settle(math.inf)
        with closing(sqlite3.connect(self._file)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        self._memory.close()

    @staticmethod
    def _moment(message: Message) -> datetime | None:
        moment = message.get("time")
        return None if moment is None else datetime.fromisoformat(moment)


def open_peer(folder: Path, embed: Embed) -> EverwordPeer:
    return EverwordPeer(folder)
