"""Standing instructions: what a person wants of every answer holds whatever is asked next.

"Always give prices in euros when I ask about trips" shares a word with few questions about trips, and is meant for all
of them. So the few standing instructions that are nearest to a question are lifted. They are found by the words they
begin with, which the index has, and known by their form.
"""

from __future__ import annotations

import re

from recollect.language.lazy_patterns import lazy_pattern

WORDS = "always never"
"""One of these a standing instruction has: whoever looks for them looks for these words."""
LIFTED = 3
"""Standing instructions that are lifted, at most."""

_INSTRUCTION = lazy_pattern(
    r"(?:^|[.!?\n]\s*)(?:and |also |please |so )*(?:always|never)(?! mind| say never| been| had| was| have)"
    r"(?:,? please)? [a-z]"
    r"|\b(?:always|never)\b[^.!?\n]*\bwhen(?:ever)? i ask\b|\bwhen(?:ever)? i ask\b[^.!?\n]*\b(?:always|never)\b",
    re.IGNORECASE,
)
_LOOKED_AT = 4_000  # characters of a message


def is_standing_instruction(text: str) -> bool:
    """Whether a message tells how to answer from now on."""
    return _INSTRUCTION.search(text[:_LOOKED_AT]) is not None
