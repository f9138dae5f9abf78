"""A question in one language finds what was said in another, and stores of the English table stay searchable."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from everword import AsyncMemory, EmbedderError, EmbedderMismatch, NotSettled
from everword.library import Memory
from everword.models.embedding.local import StaticEmbedder
from everword.ports import Vectors
from everword.testing import FrozenClock

SAID = {
    "de": ("Ich bin gegen Haselnüsse allergisch", "Am Samstag streichen wir die Küche", "Mein Chef zahlt zu wenig"),
    "ru": ("У меня аллергия на орехи", "В субботу мы красим кухню", "Начальник мало платит"),
    "zh": ("我对坚果过敏", "星期六我们要粉刷厨房", "我的老板给的工资太少"),
    "ja": ("私はナッツにアレルギーがあります", "土曜日に台所を塗ります", "上司の給料は安いです"),
    "ko": ("나는 견과류 알레르기가 있어", "토요일에 부엌을 칠할 거야", "사장님이 월급을 적게 줘"),
    "hi": ("मुझे मेवों से एलर्जी है", "शनिवार को हम रसोई रंगेंगे", "मेरा मालिक कम पैसे देता है"),
}


def found(memory: Memory, query: str) -> str:
    return memory.search(query, user="ann", limit=1)[0].message.content


@pytest.mark.checklist("G15")
@pytest.mark.parametrize("language", SAID)
def test_a_question_in_english_finds_what_was_said_in_another_language(tmp_path: Path, language: str) -> None:
    with Memory(str(tmp_path / "a.db")) as memory:
        chat = memory.conversation("c", user="ann")
        for text in SAID[language]:
            chat.add("user", text)
        memory.settle()
        assert found(memory, "Which nuts am I allergic to?") == SAID[language][0]
        assert found(memory, "When do we paint the kitchen?") == SAID[language][1]


@pytest.mark.checklist("G14", "G15")
def test_a_question_in_another_language_finds_english_and_paraphrases(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "a.db")) as memory:
        chat = memory.conversation("c", user="ann")
        for text in ("The vet looked at the puppy", "My salary is too low", "Wir ziehen im Mai nach Köln um"):
            chat.add("user", text)
        memory.settle()
        assert found(memory, "Wer hat den Hund untersucht?") == "The vet looked at the puppy"
        assert found(memory, "In welche Stadt wechseln wir die Wohnung?") == "Wir ziehen im Mai nach Köln um"


class EnglishTable(StaticEmbedder):
    """The embedder as it was when it read English only."""

    identity = StaticEmbedder.comparable[0]

    def embed_now(self, texts: list[str]) -> Vectors:  # type: ignore[override]
        vectors = super().embed_now(texts)
        vectors[[not text.isascii() for text in texts]] = np.float32(0)
        return vectors


def store_of_english_table(folder: Path) -> str:
    store = str(folder / "a.db")
    with Memory(store, embedder=EnglishTable()) as memory:
        chat = memory.conversation("c", user="ann")
        for text in ("The vet looked at the puppy", *SAID["ru"]):
            chat.add("user", text)
        memory.settle()
    return store


def test_a_store_of_the_english_table_is_searched_and_can_be_made_anew(tmp_path: Path) -> None:
    store = store_of_english_table(tmp_path)
    with Memory(store) as memory:
        assert found(memory, "Who examined my dog?") == "The vet looked at the puppy"
        memory.rebuild("index")
        memory.settle()
        assert found(memory, "When do we paint the kitchen?") == SAID["ru"][1]


@pytest.mark.checklist("G15")
def test_vectors_of_an_earlier_version_are_made_anew_by_themselves(tmp_path: Path) -> None:
    store = store_of_english_table(tmp_path)
    with Memory(store, followers=False) as memory, Memory(store, followers=False) as other:
        assert found(memory, "Who examined my dog?") == "The vet looked at the puppy"
        assert behind(memory) == behind(other) == {"vectors": 4}
        memory.settle()
        assert found(memory, "When do we paint the kitchen?") == SAID["ru"][1]
        assert found(other, "When do we paint the kitchen?") == SAID["ru"][1]
        assert behind(memory) == {}
        with pytest.raises(EmbedderMismatch, match="use the earlier embedder again"):
            Memory(store, embedder=EnglishTable())
        memory.conversation("c", user="ann").add("user", "Und jetzt noch eine Zeile")
        memory.settle()
        assert behind(memory) == {}


class Backwards(StaticEmbedder):
    """An embedder whose vectors cannot be compared with those of the built-in one, and that fails on one text."""

    identity = "backwards"
    comparable = ()
    fails = False

    def embed_now(self, texts: list[str]) -> Vectors:  # type: ignore[override]
        if self.fails:
            raise EmbedderError("away")
        return super().embed_now(texts)[:, ::-1]


async def begin_anew(store: str) -> None:
    """Make the vectors of a store anew until the embedder fails."""
    embedder = Backwards()
    memory = AsyncMemory(store, embedder=embedder, followers=False)
    await memory.open(check_embedder=False)
    try:
        await memory.rebuild("index")
        await memory.conversation("c", user="ann").add("user", "A parrot sings")
        (hit, *_) = await memory.search("puppy of b", user="ann")
        assert hit.message.content == "The vet looked at the puppy of b"
        embedder.fails = True
        with pytest.raises(NotSettled):
            await memory.settle()
    finally:
        await memory.close()


def test_words_are_found_while_another_embedder_makes_vectors_anew_and_a_later_process_goes_on(tmp_path: Path) -> None:
    store = str(tmp_path / "a.db")
    with Memory(store) as memory:
        for name in ("a", "b"):
            chat = memory.conversation(name, user="ann")
            chat.add("user", f"The vet looked at the puppy of {name}")
            chat.add("user", f"My salary in {name} is too low")
        memory.settle()
    with pytest.raises(EmbedderMismatch):
        Memory(store, embedder=Backwards())
    asyncio.run(begin_anew(store))
    later = FrozenClock(datetime.now(UTC) + timedelta(hours=1))  # when what has failed is tried again
    with Memory(store, embedder=Backwards(), followers=False, clock=later) as memory:
        assert behind(memory)["vectors"] == 4
        assert found(memory, "puppy of b") == "The vet looked at the puppy of b"
        memory.settle()
        assert behind(memory) == {}
        assert found(memory, "Who examined my dog?").startswith("The vet")
        assert found(memory, "parrot") == "A parrot sings"


def behind(memory: Memory) -> dict[str, int]:
    return {state.view: state.behind for state in memory.stats().views if state.behind}
