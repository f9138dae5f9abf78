"""The static table: near in meaning is near in space, and a text's vector never depends on its company."""

from __future__ import annotations

import asyncio
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest

from everword.errors import EmbedderError
from everword.models.embedding.local import CHOICE_DIGEST, DATA, DIGEST, LANGUAGES_DIGEST, StaticEmbedder
from everword.ports import Embedder, Vectors


def embed(*texts: str) -> Vectors:
    return asyncio.run(StaticEmbedder().embed(texts))


def test_it_is_an_embedder_with_an_identity_of_its_data() -> None:
    embedder: Embedder = StaticEmbedder()
    assert embedder.identity == f"static-2/256/{DIGEST[:4]}{LANGUAGES_DIGEST[:4]}{CHOICE_DIGEST[:4]}"
    vectors = asyncio.run(embedder.embed(["hello"]))
    assert vectors.shape == (1, embedder.width)
    assert vectors.dtype == np.float32
    asyncio.run(embedder.close())


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("My dog is ill", "The vet looked at the puppy", "The stock market fell today"),
        ("I play the guitar", "She practises the piano every day", "He repaired the car's brakes"),
        ("We flew to Rome", "The trip to Italy was lovely", "My database is slow"),
        ("I am allergic to peanuts", "Nuts make me sick", "We painted the kitchen blue"),
        ("Which programming language do you like?", "I write most code in Python", "It rained all week"),
        ("She is pregnant", "The baby is due in May", "The train was late again"),
    ],
)
def test_related_texts_are_nearer(text: str, near: str, far: str) -> None:
    vectors = embed(text, near, far)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.05


def test_case_accents_and_punctuation_hardly_matter() -> None:
    plain, loud = embed("cafe in paris", "CAFÉ, in Paris!!!")
    assert plain @ loud > 0.999


def test_every_row_has_length_one_or_nothing_in_it() -> None:
    texts = [
        "hello there",
        "",
        "   ",
        "?!…",
        "👍🎉",
        "สวัสดี",
        "我喜欢你",
        "مرحبا بالعالم",
        "Привет",
        "\ud83d",
        "x" * 500,
    ]
    lengths = np.linalg.norm(embed(*texts), axis=1)
    assert np.all(np.isclose(lengths, 1, atol=1e-6) | (lengths == 0))
    by_text = dict(zip(texts, lengths, strict=True))
    assert not any(by_text[text] for text in ("", "   ", "?!…", "👍🎉"))
    assert all(by_text[text] for text in ("hello there", "我喜欢你", "مرحبا بالعالم", "Привет", "สวัสดี"))


@pytest.mark.checklist("G15")
@pytest.mark.parametrize(
    "text",
    [
        "Mein Hund ist krank",
        "Mi perro está enfermo",
        "Mon chien est malade",
        "Meu cachorro está doente",
        "Il mio cane è malato",
        "Моя собака болеет",
        "Köpeğim hasta",
        "كلبي مريض",
        "मेरा कुत्ता बीमार है",
        "我的狗病了",
        "私の犬は病気です",
        "우리 개가 아파요",
        "Mijn hond is ziek",
        "Mój pies jest chory",
    ],
)
def test_a_text_is_near_to_the_same_text_in_english(text: str) -> None:
    vectors = embed(text, "My dog is ill", "The stock market fell today", "We painted the kitchen blue")
    assert vectors[0] @ vectors[1] > max(vectors[0] @ vectors[2], vectors[0] @ vectors[3]) + 0.1


@pytest.mark.parametrize(
    "text", ["Paella was great, gracias!", "See you at the Café Einstein, Müller said", "ok", "Rio"]
)
def test_english_with_foreign_words_is_read_as_english(text: str) -> None:
    folded = text.replace("é", "e").replace("ü", "u")
    assert np.array_equal(*embed(text, folded))


def test_letters_that_are_drawn_out_do_not_matter() -> None:
    plain, long = embed("das ist schön und ich freue mich so", "das ist schööön und ich freue mich soooo")
    assert np.array_equal(plain, long)


def test_no_texts_give_no_rows() -> None:
    assert embed().shape == (0, 256)


def test_a_vector_does_not_depend_on_its_batch() -> None:
    texts = [f"message {n} about {topic}" * (1 + n % 7) for n in range(21) for topic in ("cats", "rain", "42€")]
    together = embed(*texts)
    assert np.array_equal(together, np.concatenate([embed(text) for text in texts]))
    assert np.array_equal(together[::-1], embed(*reversed(texts)))


def test_a_vector_does_not_depend_on_the_order_of_words() -> None:
    sentence = "every word of this sentence is added exactly once whatever its place"
    assert np.array_equal(embed(sentence), embed(" ".join(sorted(sentence.split()))))


def test_huge_texts() -> None:
    sentence = "The quick brown fox jumps over the lazy dog. "
    huge, small, unbroken = embed(sentence * 22_000, sentence, "x" * 1_000_000)
    assert np.array_equal(huge, small)
    assert not unbroken.any()


def test_threads_share_one_table_and_agree() -> None:
    embedder = StaticEmbedder()
    texts = [f"thread safety, case {n}" for n in range(300)]
    results: list[Vectors] = []
    threads = [threading.Thread(target=lambda: results.append(embedder.embed_now(texts))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all(np.array_equal(results[0], other) for other in results[1:])


def test_a_large_batch_leaves_the_event_loop_free() -> None:
    async def both() -> tuple[int, int]:
        embedder = StaticEmbedder()
        work = asyncio.create_task(embedder.embed(["some words to embed"] * 6_000))
        turns = 0
        while not work.done():
            turns += 1
            await asyncio.sleep(0)
        return turns, len(await work)

    turns, rows = asyncio.run(both())
    assert rows == 6_000
    assert turns > 2


@pytest.mark.parametrize("name", ["static.npz", "vocab.txt", "languages.npz", "pieces.txt", "latin_words.txt"])
def test_changed_data_is_refused(tmp_path: Path, name: str) -> None:
    shutil.copytree(DATA, tmp_path / "data")
    damaged = tmp_path / "data" / name
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"?")
    with pytest.raises(EmbedderError, match=r"damaged or of another version .*install everword again"):
        asyncio.run(StaticEmbedder(tmp_path / "data").embed(["hello", "Ich bin heute in Köln"]))


def test_missing_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match=r"cannot be read .*install everword again"):
        asyncio.run(StaticEmbedder(tmp_path).embed(["hello"]))


def test_the_licence_of_the_source_travels_with_the_data() -> None:
    notice = (DATA / "NOTICE").read_text(encoding="utf-8")
    assert "all-MiniLM-L6-v2" in notice
    assert "Apache License, Version 2.0" in notice
