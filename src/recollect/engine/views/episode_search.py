"""Finds the episodes that are closest in meaning to a text, at any level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recollect.engine.views.episodes import TABLE, EpisodeRecord, parts_by_episode, to_record
from recollect.model import Episode, Filter
from recollect.ports import Tx, Vectors


def nearest_episodes(tx: Tx, where: Filter, vector: Vectors, limit: int, least: float) -> list[Episode]:
    """The episodes of a person, or of a channel, that are closest in meaning and close enough, best first.

    The search starts with the active episodes and descends from each into the part that is closer still: so it costs
    the same however long the history is.
    """
    scope: dict[str, Any] = {"space": where.space, "parent": None}
    scope |= {"user_id": where.user} if where.user is not None else {"conversation": where.conversation or ""}
    hits = [(to_record(row), cosine) for row, cosine in tx.near(TABLE, vector, limit, where=scope)]
    close_hits = sorted(
        (hit for hit in descend_to_closest(tx, hits, vector) if hit[1] >= least), key=lambda hit: -hit[1]
    )
    return [record.episode for record, _ in close_hits]


def descend_to_closest(
    tx: Tx, hits: Sequence[tuple[EpisodeRecord, float]], vector: Vectors
) -> list[tuple[EpisodeRecord, float]]:
    """Each of these episodes, or its closest part at any level that is closer still. One query for each level."""
    best = list(hits)
    open_positions = set(range(len(hits)))
    for level in range(max((record.episode.level for record, _ in hits), default=1), 1, -1):
        positions = [position for position in open_positions if best[position][0].episode.level == level]
        parts = parts_by_episode(tx, [best[position][0].episode for position in positions])
        for position in positions:
            part_records = parts.get((best[position][0].episode.conversation, best[position][0].episode.first), ())
            closest = max(
                ((part, cosine_to(part, vector)) for part in part_records),
                key=lambda part: part[1],
                default=best[position],
            )
            if closest[1] <= best[position][1]:
                open_positions.discard(position)
            else:
                best[position] = closest
    return best


def cosine_to(record: EpisodeRecord, vector: Vectors) -> float:
    return 0.0 if record.vector is None else float(np.frombuffer(record.vector, np.float16).astype(np.float32) @ vector)
