"""How much is tried of what could be tried for ever: a part in `make test`, all of it in `make test-all`.

A number that an issue names is no sample: the tests that have one do not ask here.
"""

from __future__ import annotations

PART = 4  # one in so many is tried in `make test`
is_whole = False  # set before any test is imported, by `--every-store`


def sample(size: int, least: int = 1) -> int:
    """So many of `size` examples are tried now, but not fewer than `least`."""
    return size if is_whole else max(least, -(-size // PART))
