"""A floor: vectors in a matrix, nothing on the disk. What a search by meaning alone costs, and what it finds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from driver import Embed, Message
from numpy.typing import NDArray

GROWTH = 2


class ExactScan:
    """A matrix for each person, grown as needed."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self._matrices: dict[str, NDArray[np.float32]] = {}
        self._counts: dict[str, int] = {}

    def add(self, scope: str, number: int, message: Message) -> None:
        self.add_many(scope, number, [message])

    def add_many(self, scope: str, first: int, messages: Sequence[Message]) -> None:
        rows = np.array(self._embed([message["text"] for message in messages]), np.float32)
        matrix = self._matrices.get(scope, np.zeros((0, rows.shape[1]), np.float32))
        if first + len(rows) > len(matrix):
            room = np.zeros((GROWTH * (first + len(rows)), rows.shape[1]), np.float32)
            room[: len(matrix)] = matrix
            matrix = self._matrices[scope] = room
        matrix[first : first + len(rows)] = rows
        self._counts[scope] = first + len(rows)

    def search(self, scope: str, query: str, limit: int, now: str | None) -> list[int]:
        vector = np.array(self._embed([query])[0], np.float32)
        scores = self._matrices[scope][: self._counts[scope]] @ vector
        best = np.argpartition(-scores, limit)[:limit]
        return [int(number) for number in best[np.argsort(-scores[best])]]

    def finish(self) -> None:
        """Nothing is left to do."""

    def close(self) -> None:
        """Nothing is open."""


def open_peer(folder: Path, embed: Embed) -> ExactScan:
    return ExactScan(embed)
