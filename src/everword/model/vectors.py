"""Products of vectors, computed in one way everywhere: what is compared in memory scores as in a store."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

AT_ONCE = 32


def products(vectors: Vectors, other: Vectors) -> Vectors:
    """The product of each vector with another. So many at a time: for more the library starts threads, which takes
    longer than the work; and always as many, so that a product does not depend on those computed with it."""
    count, width = vectors.shape
    if count < AT_ONCE:
        block = np.zeros((AT_ONCE, width), np.float32)
        block[:count] = vectors
        return np.asarray(np.matmul(block, other)[:count])
    whole = count - count % AT_ONCE
    results = np.empty(count, np.float32)
    np.matmul(vectors[:whole].reshape(-1, AT_ONCE, width), other, out=results[:whole].reshape(-1, AT_ONCE))
    if whole < count:
        results[-AT_ONCE:] = np.matmul(vectors[-AT_ONCE:], other)
    return results
