"""Finds the episodes that are closest in meaning to a text, at any level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from recollect.model import Episode, Filter
from recollect.ports import Tx, Vectors
from recollect.summaries.episodes import TABLE, EpisodeRecord, part_rows, to_record


def active_rows(tx: Tx, space: str, conversation: str) -> list[Mapping[str, Any]]:
    """The rows of the episodes that are part of no other, in order of level and turn."""
    return tx.rows(TABLE, where={"space": space, "conversation": conversation, "parent": None})


def nearest_episodes(
    tx: Tx, where: Filter, vector: Vectors, limit: int, least: float, known_rows: Sequence[Mapping[str, Any]] = ()
) -> list[Episode]:
    """The episodes of a person, or of a channel, that are closest in meaning and close enough, best first. `known_rows`
    are read already.

    The search starts with the active episodes and descends from each into the part that is closer still: so it costs
    the same however long the history is.
    """
    scope: dict[str, Any] = {"space": where.space, "parent": None}
    scope |= {"user_id": where.user} if where.user is not None else {"conversation": where.conversation or ""}
    hits = [(to_record(row), cosine) for row, cosine in tx.near(TABLE, vector, limit, where=scope, known=known_rows)]
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
        parts = part_rows(tx, [best[position][0].episode for position in positions])
        for position in positions:
            rows = parts.get((best[position][0].episode.conversation, best[position][0].episode.first), ())
            cosines = cosines_to(rows, vector)
            cosine = max(cosines, default=0.0)
            if not cosines or cosine <= best[position][1]:
                open_positions.discard(position)
            else:
                best[position] = (to_record(rows[cosines.index(cosine)]), cosine)
    return best


def cosines_to(rows: Sequence[Mapping[str, Any]], vector: Vectors) -> list[float]:
    stored_vectors = tuple([row["vec"] for row in rows])
    return np.vecdot(read_vectors(stored_vectors, len(vector)), vector).tolist() if rows else []


@lru_cache(maxsize=512)
def read_vectors(stored_vectors: tuple[bytes | None, ...], width: int) -> Vectors:
    """Vectors of rows as rows of a matrix, zeros where a row has none: a search compares the same ones again and
    again."""
    zeros = bytes(2 * width)
    data = b"".join([zeros if vector is None else vector for vector in stored_vectors])
    return np.frombuffer(data, np.float16).reshape(len(stored_vectors), width).astype(np.float32)
