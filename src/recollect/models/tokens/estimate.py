"""The last resort: about four characters a token, the usual rule of thumb for English.

Used for models whose vocabulary is not known. Scripts with more than one byte a character cost more tokens, so
the estimate counts bytes there. It is rather too high than too low, so a budget is never exceeded.
"""

from __future__ import annotations


class EstimateTokenizer:
    """Characters / 4, rounded up; for other scripts than Latin, bytes / 3."""

    @property
    def name(self) -> str:
        return "estimate"

    @property
    def exact(self) -> bool:
        return False

    def count(self, text: str) -> int:
        if text.isascii():
            return -(-len(text) // 4)
        return max(-(-len(text) // 4), -(-len(text.encode("utf-8", "replace")) // 3))
