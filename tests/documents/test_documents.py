"""Documents: kept under keys, found by meaning and by filter, written over, removed, copied, erased."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from raw_tables import rows_of

from everword import AsyncMemory, Change, Document, EverwordError, InvalidInput, Memory, NotFound
from everword.models.embedding.local import StaticEmbedder


class Counted(StaticEmbedder):
    """The static table under another name, which counts what it is asked for."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.identity, self.asked = name, list[str]()

    async def embed(self, texts: Any) -> Any:
        self.asked += texts
        return await super().embed(texts)


def keys(found: list[Document]) -> list[str]:
    return [one.key for one in found]


def test_a_document_is_kept_written_over_and_removed(store_url: str) -> None:
    value = {"text": "Ein Café in Zürich ☕️", "n": 3, "deep": {"list": [1, None, {"é": "日本"}], "no": False}}
    with Memory(store_url) as memory:
        documents = memory.documents()
        first = documents.put(("notes", "alex"), "cafe", value, user="alex")
        assert documents.get(("notes", "alex"), "cafe") == first
        assert (first.value, first.user, first.created_at) == (value, "alex", first.updated_at)
        second = documents.put(("notes", "alex"), "cafe", {})
        assert (second.value, second.user, second.created_at) == ({}, None, first.created_at)
        assert second.updated_at >= first.updated_at
        assert documents.get(("notes",), "cafe") is None
        assert memory.documents(space="other").get(("notes", "alex"), "cafe") is None
        assert documents.remove(("notes", "alex"), "cafe")
        assert not documents.remove(("notes", "alex"), "cafe")
        assert documents.get(("notes", "alex"), "cafe") is None
        assert documents.namespaces() == []
    with pytest.raises(EverwordError, match=r"closed|not open"):
        documents.get(("notes",), "cafe")


@pytest.mark.every_store
def test_a_namespace_is_what_is_in_it_and_below_and_not_what_begins_alike(store_url: str) -> None:
    places = [("a",), ("a", "b"), ("a", "b", "c"), ("a b",), ("a!",), ("ab",), ("ä",), ("a", "ü"), ("b", "a")]
    with Memory(store_url, followers=False) as memory:
        documents = memory.documents()
        for number, place in enumerate(places):
            documents.put(place, f"k{number}", {"n": number})
            documents.put(place, "~", {"n": number})
        below = {one.namespace for one in documents.search(("a",), limit=100)}
        assert below == {("a",), ("a", "b"), ("a", "b", "c"), ("a", "ü")}
        assert {one.namespace for one in documents.search(("a", "b"))} == {("a", "b"), ("a", "b", "c")}
        assert len(documents.search(limit=100)) == 2 * len(places)
        assert documents.namespaces() == sorted(places)
        assert documents.namespaces(prefix=("a", "*")) == [("a", "b"), ("a", "b", "c"), ("a", "ü")]
        assert documents.namespaces(suffix=("a",)) == [("a",), ("b", "a")]
        assert documents.namespaces(prefix=("a",), depth=2, limit=2, offset=1) == [("a", "b"), ("a", "ü")]


@pytest.mark.every_store
def test_documents_are_found_by_meaning_and_by_what_their_values_have(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        documents = memory.documents()
        documents.put(("likes",), "food", {"text": "Alex loves pizza with mushrooms", "stars": 5, "tags": ["a", "b"]})
        documents.put(("likes",), "car", {"text": "The car needs new brakes", "stars": 2, "by": {"name": "Kim"}})
        documents.put(("likes",), "silent", {"text": "pizza pizza pizza"}, texts=())
        documents.put(("likes",), "other", {"text": "nothing"}, texts=("a horse", "an automobile in the garage"))
        found = documents.search(("likes",), query="Italian food, mushrooms on pizza")
        assert found[0].key == "food"
        assert found[0].score is not None
        assert found[-1].key == "silent", "what has no texts is ranked by none"
        assert found[-1].score is None
        assert keys(documents.search(query="vehicle brakes", limit=1)) == ["car"]
        assert keys(documents.search(query="an automobile in the garage", limit=1)) == ["other"]
        assert keys(documents.search(query="pizza", limit=1, offset=3)) == ["silent"]
        wanted: list[tuple[dict[str, Any], list[str]]] = [
            ({"stars": 5}, ["food"]),
            ({"stars": {"$gt": 2}}, ["food"]),
            ({"stars": {"$gte": 2, "$lt": 5}}, ["car"]),
            ({"stars": {"$ne": 5}}, ["other", "silent", "car"]),
            ({"by": {"name": "Kim"}}, ["car"]),
            ({"tags": ["a", "b"]}, ["food"]),
            ({"tags": ["a"]}, []),
            ({"text": {"$lte": "C"}}, ["food"]),
        ]
        for where, expected in wanted:
            assert sorted(keys(documents.search(where=where))) == sorted(expected), where
        with pytest.raises(InvalidInput, match=r"where.*\$like"):
            documents.search(where={"stars": {"$like": 5}})


def test_vectors_are_made_once_and_anew_for_another_embedder(store_url: str) -> None:
    one, other = Counted("one"), Counted("other")
    with Memory(store_url, embedder=one, followers=False) as memory:
        documents = memory.documents()
        for n in range(3):
            documents.put(("n",), str(n), {"text": f"number {n}"})
        assert one.asked == []
        documents.search(query="number 2")
        assert one.asked == ["number 2", *(f"text: number {n}" for n in (2, 1, 0))]
        documents.put(("n",), "1", {"text": "changed"})
        documents.search(query="x")
        assert one.asked[4:] == ["x", "text: changed"]
    with Memory(store_url, embedder=other, followers=False) as memory:
        assert keys(memory.documents().search(query="changed", limit=1)) == ["1"]
        assert sorted(other.asked[1:]) == ["text: changed", "text: number 0", "text: number 2"]


class Narrow(Counted):
    """Another embedder, whose vectors are shorter."""

    width = 100

    async def embed(self, texts: Any) -> Any:
        found = (await super().embed(texts))[:, :100]
        return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-6)


def test_vectors_of_another_length_are_made_anew(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        memory.documents().put(("n",), "otter", {"text": "an otter in the river"})
        memory.documents().put(("n",), "car", {"text": "a car on the road"})
        assert keys(memory.documents().search(query="otter", limit=1)) == ["otter"]
    with Memory(store_url, embedder=Narrow("narrow"), followers=False) as memory:
        assert keys(memory.documents().search(query="otter in a river", limit=1)) == ["otter"]


def test_documents_in_any_script_are_found_though_the_embedder_cannot_read_it(tmp_path: Path) -> None:
    said = {
        "chinese": "亚历克斯喜欢吃披萨和蘑菇",
        "japanese": "アレックスは東京に住んでいます",
        "korean": "알렉스는 수달을 좋아합니다",
        "russian": "Алекс живёт в Берлине и любит пиццу",
        "hindi": "एलेक्स को चाय पसंद है",
        "greek": "Ο Άλεξ έχει μια βίδρα",
        "emoji": "🦦 🦦",
    }
    asked = {
        "披萨": "chinese",
        "東京": "japanese",
        "수달": "korean",
        "Кто живёт в Берлине?": "russian",
        "चाय": "hindi",
        "βίδρα": "greek",
        "🦦": "emoji",
    }
    with Memory(str(tmp_path / "m.db"), followers=False) as memory:
        documents = memory.documents()
        for key, text in said.items():
            documents.put(("n",), key, {"text": text})
        documents.put(("n",), "unseen", {"text": said["russian"]}, texts=())
        for query, key in asked.items():
            found = documents.search(("n",), query=query)
            assert found[0].key == key, query
            assert (found[0].score or 0) > (found[1].score or 0), query
            assert (found[-1].key, found[-1].score) == ("unseen", None)


def test_a_word_of_the_query_counts_beside_its_meaning(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "m.db"), followers=False) as memory:
        documents = memory.documents()
        for key, text in (
            ("food", "I like ramen."),
            ("pet", "I have a dog called Bo."),
            ("home", "I live in Utrecht."),
        ):
            documents.put(("n",), key, {"text": text})
        found = documents.search(("n",), query="What dish do I like?")
        assert found[0].key == "food", "the built-in embedder knows no dish"
        scores = [document.score or 0 for document in found]
        assert scores == sorted(scores, reverse=True)


def test_what_breaks_a_rule_is_refused_with_the_field(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        documents = memory.documents()
        bad: list[tuple[Any, Any, Any, str]] = [
            ((), "k", {}, "namespace: is empty"),
            ("notes", "k", {}, "namespace: is 'notes'"),
            (("a", ""), "k", {}, "namespace: is empty"),
            (("a\x1fb",), "k", {}, "namespace: contains a control"),
            (("ü" * 200, "ü" * 200), "k", {}, "namespace: has more than"),
            (("a",), "", {}, "key: is empty"),
            (("a",), "k\n", {}, "key: contains"),
            (("a",), "k", [1], "value: must be a mapping"),
            (("a",), "k", {1: 2}, "value: has a key"),
            (("a",), "k", {"x": float("nan")}, "value: cannot be written"),
            (("a",), "k", {"x": object()}, "value: cannot be written"),
            (("a",), "k", {"x": "y" * (1 << 20)}, "value: has"),
        ]
        for namespace, key, value, reason in bad:
            with pytest.raises(InvalidInput, match=reason):
                documents.apply([Change(("a",), "good", {}), Change(namespace, key, value)])
        assert documents.search() == [], "all of them, or none"
        with pytest.raises(InvalidInput, match="limit"):
            documents.search(limit=0)
        for offset in (-1, 2**31, "1"):
            with pytest.raises(InvalidInput, match="offset: "):
                documents.search(offset=offset)  # type: ignore[arg-type]
            with pytest.raises(InvalidInput, match="offset: "):
                documents.namespaces(offset=offset)  # type: ignore[arg-type]


@pytest.mark.every_store(in_part=("sqlite", "json", "postgresql"))
def test_many_who_edit_at_once_lose_nothing(store_url: str) -> None:
    def more(documents: dict[str, Document]) -> tuple[list[Change], int]:
        number = documents["counter"].value["n"] + 1 if documents else 1
        return [Change(("c",), "counter", {"n": number})], number

    with Memory(store_url, followers=False) as memory, ThreadPoolExecutor(8) as threads:
        numbers = list(threads.map(lambda _: memory.documents().edit(("c",), more), range(24)))
        assert sorted(numbers) == list(range(1, 25))


@pytest.mark.every_store
def test_erasing_a_person_takes_their_documents_and_those_that_name_them(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        documents = memory.documents()
        documents.put(("shared",), "theirs", {"n": 1}, user="alex")
        documents.put(("users", "alex", "notes"), "named", {"n": 2})
        documents.put(("users", "alexander"), "other", {"n": 3})
        documents.put(("users", "alex"), "of sam", {"n": 4}, user="sam")
        memory.documents(space="elsewhere").put(("alex",), "k", {}, user="alex")
        erasure = memory.erase(user="alex")
        assert erasure.messages == 0
        assert sorted(keys(documents.search())) == ["of sam", "other"]
        assert keys(memory.documents(space="elsewhere").search()) == ["k"]
        with pytest.raises(NotFound):
            memory.erase(user="alex")
        memory.conversation("chat", user="sam").add("user", "hello")
        memory.erase(user="sam")
        assert keys(documents.search()) == ["other"]


def test_a_rebuild_leaves_documents_alone(store_url: str) -> None:
    with Memory(store_url) as memory:
        memory.documents().put(("a",), "k", {"text": "stays"})
        for view in memory.views:
            memory.rebuild(view)
        memory.settle()
        assert keys(memory.documents().search(query="stays")) == ["k"]
    assert len(rows_of(store_url, "documents")) == 1


def test_the_asynchronous_face_does_the_same(store_url: str) -> None:
    async def use() -> None:
        async with AsyncMemory(store_url, followers=False) as memory:
            documents = memory.documents(space="s")
            await asyncio.gather(*(documents.put(("a", str(n % 3)), str(n), {"n": n}) for n in range(12)))
            assert len(await documents.search(("a", "1"))) == 4
            assert await documents.namespaces() == [("a", "0"), ("a", "1"), ("a", "2")]

    asyncio.run(use())
