"""Products of vectors do not depend on the vectors they are computed with."""

from __future__ import annotations

import numpy as np
import pytest

from everword.ports import AT_ONCE, products

WIDTH = 64


def unit_vectors(count: int) -> np.ndarray:
    vectors = np.random.default_rng(count).standard_normal((count, WIDTH)).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


@pytest.mark.parametrize("count", [0, 1, AT_ONCE - 1, AT_ONCE, AT_ONCE + 1, 5 * AT_ONCE, 5 * AT_ONCE + 7])
def test_each_vector_has_its_product(count: int) -> None:
    vectors = unit_vectors(count)
    other = unit_vectors(3)[0]
    expected = vectors.astype(np.float64) @ other.astype(np.float64)
    assert products(vectors, other) == pytest.approx(expected, abs=1e-6)


def test_a_product_does_not_depend_on_the_others() -> None:
    vectors = unit_vectors(5 * AT_ONCE + 7)
    other = unit_vectors(3)[0]
    together = products(vectors, other)
    for rows in ([0], [3, 70, 160], [*range(20, 90)], [*range(len(vectors))][::-1]):
        assert products(vectors.take(rows, axis=0), other).tolist() == together.take(rows).tolist()


def test_equal_vectors_have_equal_products_wherever_they_are() -> None:
    vectors = np.repeat(unit_vectors(1), 3 * AT_ONCE + 5, axis=0)
    assert len(set(products(vectors, unit_vectors(3)[0]).tolist())) == 1
