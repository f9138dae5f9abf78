"""Ten thousand turns, or in `make test` 2,000: what the context holds stays small, what a turn asks of the
store stays the same, and every message is found again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import pytest
import sample_sizes
from engine_doubles import settle_views
from sample_sizes import sample

from everword import Budget, Draft, Memory, Message, Settings
from everword.models.tokens import TiktokenTokenizer
from everword.ports import Store, Tx
from everword.testing import FrozenClock, ScriptedLLM
from everword.wiring import open_store

T = TypeVar("T")
START = datetime(2024, 1, 1, tzinfo=UTC)
TURNS = sample(10_000, least=2_000)
LOOKED_AT = ("index", "topics", "tiers", "window", "episodes")  # all others are brought up to date in `make test-all`
SUBJECTS = 40  # each with words of its own, coming back again and again
SYLLABLES = ["ba", "ko", "ri", "ten", "mul", "da", "fe", "sor", "vi", "lan", "pu", "gri", "mo", "zet", "ka", "nu"]


def words(chance: Random, count: int) -> list[str]:
    """Long ones: what is made of a message takes as long for each word, and has to be small beside all their tokens."""
    return ["".join(chance.choices(SYLLABLES, k=7)) for _ in range(count)]


def drafts(turns: int) -> Iterator[Draft]:
    chance = Random(11)
    subjects = [words(chance, 30) for _ in range(SUBJECTS)]
    for turn in range(1, turns + 1):
        known = subjects[(turn // 24) % SUBJECTS]
        said = chance.choices(known, k=4) + words(chance, 1)
        chance.shuffle(said)
        text = f"I think {' '.join(said)} took {turn} minutes."
        yield Draft("user" if turn % 2 else "assistant", text, time=START + timedelta(minutes=turn))


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    url = str(tmp_path_factory.mktemp("long") / "memory.db")
    clock = FrozenClock(START + timedelta(days=30))
    with Memory(url, clock=clock, chat=ScriptedLLM(default="Noted."), space="long", followers=False) as memory:
        every = list(drafts(TURNS))
        for first in range(0, TURNS, 1_000):
            memory.conversation("long", user="alex").extend(every[first : first + 1_000])
        if sample_sizes.is_whole:
            memory.settle(300)
        else:
            settle_views(memory, *LOOKED_AT)
        yield memory


@pytest.mark.checklist("D2", "B12")
def test_thousands_of_turns_leave_ten_episodes_within_their_budget(long: Memory) -> None:
    """B12, D2: the context stays small, far below a twentieth of what was said."""
    chat, count = long.conversation("long", user="alex"), TiktokenTokenizer().count
    active = chat.episodes()
    assert 1 <= len(active) <= 10
    assert active[0].first == 1
    context = chat.context("What did I think about all of it?", budget=Budget.compact())
    summaries = next(one for one in context.receipt.sections if one.name == "summaries")
    assert 0 < summaries.tokens <= 2_000
    assert context.receipt.tokens <= 8_000
    said = sum(count(message.content) for message in chat.history(limit=2_000)) * (TURNS / 2_000)
    assert said > 20 * context.receipt.tokens


@pytest.mark.checklist("A10")
def test_any_old_message_is_found_by_its_rarest_words_and_by_an_export(long: Memory) -> None:
    """A10: 200 of them, each among the first five."""
    every: list[Message] = list(long.export(user="alex"))
    assert [message.turn for message in every] == list(range(1, TURNS + 1))
    known = Counter(word for message in every for word in set(message.content.strip(".").replace(",", "").split()))
    for message in Random(5).sample(every[: TURNS // 2], 200):
        rarest = sorted(message.content.strip(".").replace(",", "").split(), key=lambda word: (known[word], word))[:3]
        hits = long.search(" ".join(rarest), user="alex", limit=5)
        assert message.id in [hit.message.id for hit in hits], rarest


class Counting:
    """A store that counts what is asked of it."""

    def __init__(self, inner: Store) -> None:
        self._inner, self.transactions, self.rows = inner, 0, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def read(self, fn: Callable[[Tx], T]) -> T:
        self.transactions += 1
        return self._inner.read(fn)

    def write(self, fn: Callable[[Tx], T]) -> T:
        self.transactions += 1
        return self._inner.write(fn)


@pytest.mark.checklist("B13")
def test_a_turn_asks_the_store_no_more_for_a_long_history(long: Memory, tmp_path: Path) -> None:
    """B13: memory's own share of a turn is a handful of transactions, whatever came before."""
    asked = []
    for turns in (20, 400):
        store = Counting(open_store(str(tmp_path / f"{turns}.db"), Settings.load()))
        with Memory(store, chat=ScriptedLLM(default="Noted."), followers=False) as memory:
            chat = memory.conversation("demo", user="alex")
            chat.extend(drafts(turns))
            memory.settle()
            before = store.transactions
            chat.reply("What took so many minutes, and what was it about?")
            asked.append(store.transactions - before)
        store.close()
    assert asked[0] == asked[1] <= 6
