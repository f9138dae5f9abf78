"""Late hits come from occasions that have none yet.

What is asked for may lie in several places, and whoever reads twenty hits is better served by a first hit of another
day than by the eighth of the same. So beyond the first hits, one whose occasion has a better one counts less. That is
done only where the first hits are of few occasions: where they are of many already, there is nothing to cover.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FIRST = 16
"""Hits that stay as they are."""
FEW = 8
"""Occasions of the first hits, at most, if others are to be looked for."""


def coverage_penalties(scores: Sequence[float], occasions: Sequence[int], share: float) -> NDArray[np.float64]:
    """What comes off each of these hits, which are in the order of their scores; `occasions` are the numbers of
    theirs."""
    penalties = np.zeros(len(scores))
    seen = set(occasions[:FIRST])
    if len(seen) > FEW:
        return penalties
    for place in range(FIRST, len(scores)):
        if occasions[place] in seen:
            penalties[place] = -share * scores[place]
        seen.add(occasions[place])
    return penalties.round(6)
