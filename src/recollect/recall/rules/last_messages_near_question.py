"""Which of the last messages are nearest to a question in meaning.

Recall ranks all of a person's memory, where thousands of messages compete; a question about what was just said may be
put in other words altogether. Among the last messages alone, the few that are nearest are likely to be what is meant.
Each is to be nearer than the last messages are on the whole: where all are alike, none stands out.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from recollect.ports import Vectors

NEAREST = 4  # messages at most
STANDS_OUT = 0.3  # standard deviations above the mean
APART = 0.02  # of cosine, at least, above the mean


def nearest_turns(vector: Vectors, vectors: Mapping[int, Vectors]) -> dict[int, float]:
    """The turns whose vectors stand out as nearest to a question's, each with its cosine, nearest first."""
    if not vectors or not vector.any():
        return {}
    turns = list(vectors)
    matrix = np.array([vectors[turn] for turn in turns], np.float32)
    # As `np.linalg.norm`, in half the time.
    lengths = np.sqrt(np.add.reduce(matrix * matrix, axis=1)) * float(np.sqrt(vector.dot(vector)))
    cosines = matrix @ vector.astype(np.float32) / np.where(lengths > 0, lengths, 1.0)
    # As `mean` and `std` of the array, in a third of the time.
    mean = np.add.reduce(cosines) / np.float32(len(turns))
    deviations = cosines - mean
    deviation = np.sqrt(np.add.reduce(deviations * deviations) / np.float32(len(turns)))
    least = float(mean) + max(STANDS_OUT * float(deviation), APART)
    if not least > 0:
        return {}
    threshold = float(np.float32(least))
    nearest = sorted(zip(cosines.tolist(), turns, strict=True), reverse=True)
    return {turn: round(cosine, 6) for cosine, turn in nearest[:NEAREST] if cosine >= threshold}
