"""Where a run of messages is cut into episodes: where the subject changes, not at a fixed count.

As TextTiling does it: at each gap the messages before are compared with those after, and a gap counts by its depth, how
far the likeness drops there below the next peaks on both sides. What is deep is judged by the run itself, so the
embedder's own scale matters little; but in a run that never leaves its subject no dip is deep, so a cut also needs a
least depth. No piece is shorter than the shortest or longer than the longest: where nothing changes for too long, the
deepest dip there is has to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from recollect.errors import InvalidInput

Rows = NDArray[np.float32]

SHORTEST, LONGEST = 4, 30
"""Messages of one piece."""
BLOCK = 4
"""Messages on each side of a gap that are compared."""
CALM = 0.3
"""The least depth, in cosine, at which the subject changes."""
DEVIATIONS = 0.5
"""How far above its mean, in standard deviations of the run's depths, a depth has to be."""
RELATED = 3.5
"""How far above that of unrelated texts, in deviations of theirs, the cosine of what goes on has to be."""


def cuts(
    vectors: Rows,
    sizes: Sequence[int],
    may: Sequence[bool] | None = None,
    *,
    shortest: int = SHORTEST,
    longest: int = LONGEST,
    calm: float = CALM,
) -> list[int]:
    """Where pieces begin, after the first. One vector (unit or zero) and size (tokens) a message; `may` says before
    which messages a cut is welcome, as before a user's: elsewhere it is made only where a piece would get too long.
    """
    number = len(sizes)
    if len(vectors) != number or (may is not None and len(may) != number):
        raise InvalidInput("vectors", f"{len(vectors)} for {number} sizes; must be one of each for a message")
    if shortest < 1 or longest < 2 * shortest - 1:
        raise InvalidInput("longest", f"is {longest}; must be at least twice the shortest, {shortest}, less one")
    if number < 2 * shortest:
        return []
    welcome = np.ones(number, dtype=bool) if may is None else np.asarray(may, dtype=bool)
    depth = depths(vectors, sizes)
    found = _clear(depth, welcome, shortest, calm)
    return _shortened(found, depth, welcome, shortest, longest)


def depths(vectors: Rows, sizes: Sequence[int], block: int = BLOCK) -> NDArray[np.float64]:
    """How deep the likeness drops before each message; 0 before the first, and before what says nothing (an emoji)."""
    found = np.zeros(len(sizes))
    telling = np.flatnonzero(np.any(vectors, axis=1)) if len(sizes) else np.arange(0)
    if len(telling) < 2:
        return found
    # A longer message tells more about what is talked of, but not in proportion.
    told = np.sqrt(np.maximum(np.asarray(sizes, dtype=np.float64)[telling], 1))
    sums = np.cumsum(np.asarray(vectors, dtype=np.float64)[telling] * told[:, None], axis=0)
    sums = np.vstack([np.zeros((1, sums.shape[1])), sums])
    gaps = np.arange(1, len(telling))
    first, last = np.maximum(gaps - block, 0), np.minimum(gaps + block, len(telling))
    before, after = sums[gaps] - sums[first], sums[last] - sums[gaps]
    lengths = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    # One or two messages at an end are no subject: what is not known drops no lower than the rest.
    known = (lengths > _NOTHING) & (np.minimum(gaps - first, last - gaps) > block // 2)
    likeness = np.einsum("ij,ij->i", before, after) / np.where(known, lengths, 1.0)
    likeness = np.where(known, likeness, np.mean(likeness[known]) if known.any() else 0.0)
    found[telling[1:]] = _climb(likeness) + _climb(likeness[::-1])[::-1]
    return found


_NOTHING = 1e-9


def _climb(likeness: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far it goes up from each gap to the next peak on the left."""
    peaks = np.empty_like(likeness)
    for at, here in enumerate(likeness):
        peaks[at] = peaks[at - 1] if at and likeness[at - 1] >= here else here
    climbed: NDArray[np.float64] = peaks - likeness
    return climbed


def _clear(depth: NDArray[np.float64], welcome: NDArray[np.bool_], shortest: int, calm: float) -> list[int]:
    """The gaps where the subject clearly changes, deepest first; none that is too near to a deeper one."""
    gaps = depth[1:]
    least = max(calm, float(np.mean(gaps) + DEVIATIONS * np.std(gaps)))
    free = welcome & (depth >= least)
    free[:shortest] = False
    free[len(depth) - shortest + 1 :] = False
    found: list[int] = []
    for place in np.argsort(-depth, kind="stable"):
        at = int(place)
        if free[at]:
            found.append(at)
            free[max(at - shortest + 1, 0) : at + shortest] = False
    return sorted(found)


def _shortened(
    found: list[int], depth: NDArray[np.float64], welcome: NDArray[np.bool_], shortest: int, longest: int
) -> list[int]:
    """With more cuts, at the deepest dips, until no piece is too long."""
    made: list[int] = []
    open_pieces = list(pairwise([0, *found, len(depth)]))
    while open_pieces:
        start, end = open_pieces.pop()
        if start:
            made.append(start)
        if end - start <= longest:
            continue
        at = _deepest(depth, welcome, start + shortest, end - shortest)
        if start:
            made.pop()
        open_pieces += [(start, at), (at, end)]
    return sorted(made)


def _deepest(depth: NDArray[np.float64], welcome: NDArray[np.bool_], first: int, last: int) -> int:
    """The deepest gap from `first` to `last`, where a cut is welcome if it is anywhere; of equals the middlemost."""
    places = np.arange(first, last + 1)
    wanted = places[welcome[places]]
    places = wanted if len(wanted) else places
    off_middle = np.abs(places - (first + last) / 2)
    return int(places[np.lexsort((off_middle, -depth[places]))[0]])


def continues(before: Rows, vectors: Rows, *, unrelated: float, spread: float) -> bool:
    """Whether messages go on with the subject of the episode before them, whose vector is `before`.

    `unrelated` and `spread` are the mean and the deviation of the embedder's cosine of unrelated texts.
    """
    mean = np.sum(np.asarray(vectors, dtype=np.float64), axis=0)
    lengths = float(np.linalg.norm(mean) * np.linalg.norm(before))
    if lengths <= _NOTHING:
        return False
    return float(np.dot(mean, before)) / lengths >= unrelated + RELATED * spread
