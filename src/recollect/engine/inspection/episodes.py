"""Episodes level by level: the active ones of a conversation, and the parts of one; never the whole tree at once."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.engine.runtime import Runtime
from recollect.engine.scope import ConversationScope
from recollect.engine.views import episodes
from recollect.errors import NotFound
from recollect.model import Episode
from recollect.ports import Tx


@dataclass(frozen=True, slots=True)
class EpisodeParts:
    """An episode, and the episodes of the level below that it is made of, oldest first."""

    episode: Episode
    parts: tuple[Episode, ...]


async def active_episodes(runtime: Runtime, scope: ConversationScope) -> list[Episode]:
    """The episodes that are part of no other, the highest level first and then the oldest."""

    def read(tx: Tx) -> list[Episode]:
        if scope.find(tx) is None:
            return []
        records = episodes.active_episodes(tx, scope.space, scope.id)
        return sorted((record.episode for record in records), key=lambda episode: (-episode.level, episode.first))

    return await runtime.read(read)


async def read_episode(runtime: Runtime, scope: ConversationScope, level: int, first: int) -> EpisodeParts:
    """One episode by its level and its first turn, with its parts."""

    def read(tx: Tx) -> EpisodeParts:
        where = {"space": scope.space, "conversation": scope.id, "level": level, "first": first}
        rows = tx.rows(episodes.TABLE, where=where) if scope.find(tx) is not None else []
        if not rows:
            raise NotFound(f"there is no episode of level {level} that begins at turn {first}")
        episode = episodes.to_record(rows[0]).episode
        parts = episodes.parts_of(tx, episode) if level > 1 else []
        return EpisodeParts(episode, tuple(record.episode for record in parts))

    return await runtime.read(read)
