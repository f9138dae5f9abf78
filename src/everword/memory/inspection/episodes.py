"""Episodes level by level: the active ones of a conversation, and the parts of one; never the whole tree at once.

Episodes are stored with the ids of who spoke. They are shown with what people are called now.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from everword.errors import NotFound
from everword.log.access import ConversationScope
from everword.memory.inspection.conversations import names_of_people, recent_messages
from everword.memory.runtime import Runtime
from everword.model import Conversation, Episode
from everword.ports import Tx
from everword.summaries import episodes
from everword.summaries.rules.lines import render_lines


@dataclass(frozen=True, slots=True)
class EpisodeParts:
    """An episode, and the episodes of the level below that it is made of, oldest first."""

    episode: Episode
    parts: tuple[Episode, ...]


async def active_episodes(runtime: Runtime, scope: ConversationScope) -> list[Episode]:
    """The episodes that are part of no other, the highest level first and then the oldest."""

    def read(tx: Tx) -> list[Episode]:
        conversation = scope.find(tx)
        if conversation is None:
            return []
        records = episodes.active_episodes(tx, scope.space, scope.id)
        named_episodes = name_speakers(tx, conversation, [record.episode for record in records])
        return sorted(named_episodes, key=lambda episode: (-episode.level, episode.first))

    return await runtime.read(read)


async def read_episode(runtime: Runtime, scope: ConversationScope, level: int, first: int) -> EpisodeParts:
    """One episode by its level and its first turn, with its parts."""

    def read(tx: Tx) -> EpisodeParts:
        where = {"space": scope.space, "conversation": scope.id, "level": level, "first": first}
        conversation = scope.find(tx)
        rows = tx.rows(episodes.TABLE, where=where) if conversation is not None else []
        if conversation is None or not rows:
            raise NotFound(f"there is no episode of level {level} that begins at turn {first}")
        episode = episodes.to_record(rows[0]).episode
        parts = episodes.parts_of(tx, episode) if level > 1 else []
        named_episodes = name_speakers(tx, conversation, [episode, *(record.episode for record in parts)])
        return EpisodeParts(named_episodes[0], tuple(named_episodes[1:]))

    return await runtime.read(read)


def name_speakers(tx: Tx, conversation: Conversation, found_episodes: Iterable[Episode]) -> list[Episode]:
    """Episodes with names in place of the ids of who spoke: in their lines, and in summaries that are these lines."""
    episode_list = list(found_episodes)
    speakers = {line.author for episode in episode_list for line in episode.lines if line.role == "user"}
    names = names_of_people(tx, conversation, recent_messages(tx, conversation), speakers)
    named_episodes = list[Episode]()
    for episode in episode_list:
        lines = tuple(replace(line, author=names.get(line.author, line.author)) for line in episode.lines)
        is_extract = render_lines(episode.lines) == episode.summary
        summary = render_lines(episode.lines, names) if is_extract else episode.summary
        named_episodes.append(replace(episode, lines=lines, summary=summary))
    return named_episodes
