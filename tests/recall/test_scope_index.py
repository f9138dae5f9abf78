"""The passages of a scope in memory: the same hits as from the database, to the last digit, whatever was added, edited
away or removed before, by whichever process."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Any

import numpy as np
import pytest
from engine_doubles import settle_index
from sample_sizes import sample

from everword import Memory
from everword.config import Settings
from everword.log.append_and_read import new_id
from everword.log.checks_and_seals import tombstone
from everword.model import Entry, Erasure, Filter, Hit, Message
from everword.model.views import UNKNOWN_TRAITS
from everword.ports import Store, Tx
from everword.recall import retrieval as recall
from everword.recall import scope_index
from everword.recall.retrieval import StoreSource, open_source
from everword.recall.rules.ranking import Weights
from everword.recall.scope_index import ScopeIndexes, places_of_highest
from everword.recall.view import traits_of
from everword.testing.samples import T0, append_messages, make_message
from everword.text.terms import analyse
from everword.versioned_cache import Cache
from everword.wiring import open_store

WIDTH = 256
WORDS = (
    "apple", "bread", "cheese", "dough", "eggs", "flour", "ginger", "honey", "icing", "jam", "kale", "lemon", "mango",
)  # fmt: skip
WHO = ("ann", "ben")
NOW = T0 + timedelta(days=9)
FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"user": "ann"},
    {"user": "ben", "conversation": "c1"},
    {"conversation": "c0"},
    {"role": "user"},
    {"user": "ann", "role": "assistant"},
    {"after": T0 + timedelta(minutes=30)},
    {"user": "ann", "before": T0 + timedelta(minutes=40)},
    {"user": "nobody"},
)


class World:
    """A store with what was said in it, and searches of it both ways."""

    def __init__(self, store: Store, seed: int, space: str = "s") -> None:
        self.store = store
        self.space = space
        self.random = Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.messages: list[Message] = []
        self.turns = {"c0": 0, "c1": 0, "c2": 0}
        self.without_vector = 0.1  # of all messages

    def vector(self) -> Any:
        return self.numbers.uniform(-1, 1, WIDTH).astype(np.float32)

    def say(self, count: int) -> None:
        messages: list[Message] = []
        for _ in range(count):
            conversation = self.random.choice(sorted(self.turns))
            self.turns[conversation] += 1
            owner = {"c0": "ann", "c1": "ben"}.get(conversation)
            author = owner or self.random.choice(WHO)
            messages.append(
                make_message(
                    self.turns[conversation],
                    space=self.space,
                    conversation=conversation,
                    id=f"{conversation}-{self.turns[conversation]}",
                    user=owner or author,
                    author=author,
                    role=self.random.choice(("user", "assistant")),
                    content=" ".join(self.random.choices(WORDS, k=self.random.randint(1, 12)))
                    + self.random.choice(("", " 12")),
                    time=T0 + timedelta(minutes=len(self.messages) + len(messages)),
                )
            )
        self.store.write(lambda tx: append_messages(tx, *messages))
        self.store.write(lambda tx: tx.index.put_entries([self.entry(message) for message in messages]))
        self.messages += messages

    def edit(self) -> None:
        place = self.random.randrange(len(self.messages))
        message = replace(self.messages[place], content=" ".join(self.random.choices(WORDS, k=4)))
        self.messages[place] = message
        self.store.write(lambda tx: tx.rewrite_messages([message]))
        self.store.write(lambda tx: tx.index.put_entries([self.entry(message)]))

    def entry(self, message: Message) -> Entry:
        analysis = analyse(message.content)
        vector: Any = np.zeros(WIDTH) if self.random.random() < self.without_vector else self.vector()
        return Entry(
            message.space, message.conversation, message.turn, 0, message.id, message.user, message.role, message.time,
            analysis.language, analysis.terms, vector, message.author,
            traits=self.random.choice((UNKNOWN_TRAITS, traits_of(message))),
        )  # fmt: skip

    def remove(self, count: int) -> None:
        for _ in range(min(count, len(self.messages))):
            message = self.messages.pop(self.random.randrange(len(self.messages)))
            erasure = Erasure(new_id(NOW), message.space, NOW, 1, 1, 0)
            self.store.write(lambda tx: tx.erase(erasure, [tombstone(message)]))  # noqa: B023  called at once

    def search(self, indexes: ScopeIndexes | None, where: Filter, query: str, vector: Any) -> list[Hit]:
        def find(tx: Tx) -> list[Hit]:
            source = StoreSource(tx, where.scope, NOW) if indexes is None else open_source(tx, indexes, where, NOW)
            return recall.search(tx, source, where, query, vector, 8, NOW, Weights())

        return self.store.read(find)


def seen(hits: Sequence[Hit]) -> list[tuple[str, float, float, dict[str, float]]]:
    return [(hit.message.id, hit.score, hit.relevance, dict(hit.parts)) for hit in hits]


@pytest.fixture
def store(store_url: str) -> Any:
    with closing(open_store(store_url, Settings())) as store:
        yield store


@pytest.fixture(scope="module")
def shared_store(shared_url: str) -> Any:
    """For tests that each have spaces of their own."""
    with closing(open_store(shared_url, Settings())) as store:
        yield store


@pytest.mark.every_store(in_part=("sqlite", "postgresql"))
@pytest.mark.parametrize("seed", range(1, 1 + sample(2)))
def test_memory_and_database_give_the_same_hits(shared_store: Store, seed: int) -> None:
    store, world = shared_store, World(shared_store, seed, f"hits {seed}")
    indexes, other_process = ScopeIndexes(Cache(1 << 28)), ScopeIndexes(Cache(1 << 28))
    for step in range(5):
        world.say(world.random.choice((1, 3, 40)))
        if step % 2:
            world.remove(2)
        for place, fields in enumerate(FILTERS):
            where = Filter(world.space, **fields)
            query = " ".join(world.random.choices([*WORDS, "what", "quince", "Ann"], k=3)) + "?"
            vector = world.vector()
            if place % 3 == 1:  # as after a message, when nobody waits
                store.read(lambda tx: indexes.view(tx, where.scope, ahead=True))  # noqa: B023  called at once
            expected = world.search(None, where, query, vector)
            is_rounded = store.name.startswith("postgres")  # a database computes cosines itself, in another precision
            for known in (indexes, other_process) if place == step else (indexes,):
                hits = seen(world.search(known, where, query, vector))
                if is_rounded:
                    assert [hit[0] for hit in hits] == [hit.message.id for hit in expected]
                else:
                    assert hits == seen(expected)


@pytest.mark.every_store(in_part=("sqlite", "postgresql"))
def test_any_sequence_of_changes_gives_the_hits_of_an_index_that_is_read_anew(shared_store: Store) -> None:
    """Messages come one at a time, most of them without a vector, and are edited and removed between searches."""
    for seed in range(1, 1 + sample(6)):
        world = World(shared_store, seed, f"changes {seed}")
        indexes = ScopeIndexes(Cache(1 << 28))
        for step in range(12):
            world.without_vector = world.random.choice((0.0, 0.5, 1.0))
            action = world.random.choice(("say", "say", "say", "edit", "remove"))
            if action == "say" or not world.messages:
                world.say(world.random.choice((1, 1, 2)))
            elif action == "edit":
                world.edit()
            else:
                world.remove(1)
            query = " ".join(world.random.choices([*WORDS, "quince"], k=3))
            vector = world.vector()
            for where in (Filter(world.space), Filter(world.space, "ann"), Filter(world.space, conversation="c2")):
                fresh = seen(world.search(ScopeIndexes(Cache(1 << 28)), where, query, vector))
                assert seen(world.search(indexes, where, query, vector)) == fresh, f"{seed=}, {step=}, {where}"


@pytest.mark.every_store
def test_a_message_without_a_vector_as_the_only_news_is_found_and_stops_no_search(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        memory.conversation("a", user="alex").add("user", "I baked bread with honey")
        settle_index(memory)
        assert len(memory.search("honey bread")) == 1
        wordless = memory.conversation("b", user="ben")
        for content in ("x" * 300, "y" * 300):
            wordless.add("user", content)
            settle_index(memory)
            assert [hit.message.content for hit in memory.search("honey bread")] == ["I baked bread with honey"]
            assert memory.search(content)[0].message.content == content
        wordless.add("user", "honey is sweet")
        settle_index(memory)
        contents = {hit.message.content for hit in memory.search("honey")}
        assert contents >= {"honey is sweet", "I baked bread with honey"}


def test_a_block_that_cannot_be_added_changes_no_column(store: Store) -> None:
    world = World(store, 8)
    world.say(5)
    index = scope_index.ScopeIndex()
    store.read(lambda tx: scope_index.read_passages(tx, Filter("s"), index, 5))
    before = index.view()
    world.say(2)
    block = store.read(lambda tx: tx.index.passages_after(Filter("s"), index.last_doc, 10))
    docs, vectors = store.read(lambda tx: tx.index.vectors_after(Filter("s"), index.last_doc, int(block.docs[-1])))
    for broken in (
        (block, docs, vectors[:, :7]),  # of another embedder
        (block._replace(times=np.array(["never"] * 2, object)), docs, vectors),
        (block._replace(traits=np.zeros(1, np.int64)), docs, vectors),
    ):
        with pytest.raises((ValueError, TypeError)):
            index.extend(*broken)
        after = index.view()
        assert len(after) == len(after.vectors) == len(after.traits) == len(after.has_vector) == 5
        assert np.array_equal(after.terms, before.terms)
    index.extend(block, docs, vectors)
    assert len(index.view()) == 7


@pytest.mark.every_store
def test_memory_and_database_give_the_same_vectors_of_messages(store: Store) -> None:
    """Of a long message, that of its beginning."""
    world = World(store, 6)
    indexes = ScopeIndexes(Cache(1 << 28))
    for count in (40, 1, 20):
        world.say(count)
        second_parts = [replace(world.entry(message), part=1) for message in world.messages[-min(count, 3) :]]
        world.store.write(lambda tx: tx.index.put_entries(second_parts))  # noqa: B023  called at once
        world.remove(2)
        for conversation in (*world.turns, "nowhere"):
            turns = [*range(1, world.turns.get(conversation, 9) + 3)]

            def vectors(tx: Tx, known: ScopeIndexes | None) -> dict[int, Any]:
                where = Filter("s")
                source = StoreSource(tx, where, NOW) if known is None else open_source(tx, known, where, NOW)
                return source.vectors_of(conversation, turns)  # noqa: B023  called at once

            in_memory = store.read(lambda tx: vectors(tx, indexes))
            in_database = store.read(lambda tx: vectors(tx, None))
            assert [*in_memory] == [*in_database]
            assert all(np.array_equal(in_memory[turn], in_database[turn]) for turn in in_database)
            assert bool(in_memory) == (conversation != "nowhere")
            assert store.read(lambda tx: open_source(tx, indexes, Filter("s"), NOW).vectors_of("c0", [])) == {}


def test_what_was_removed_by_another_process_is_not_found(store: Store) -> None:
    world = World(store, 3)
    world.say(30)
    indexes = ScopeIndexes(Cache(1 << 28))
    query, vector = " ".join(WORDS), world.vector()
    everything = Filter("s")
    assert world.search(indexes, everything, query, vector)
    world.remove(29)
    left = {message.id for message in world.messages}
    assert {hit.message.id for hit in world.search(indexes, everything, query, vector)} == left
    world.remove(1)
    assert world.search(indexes, everything, query, vector) == []
    world.say(5)
    assert {hit.message.id for hit in world.search(indexes, everything, query, vector)} <= {
        message.id for message in world.messages
    }


def test_an_older_snapshot_sees_what_it_saw(store: Store) -> None:
    """A transaction that began before the last message must not find it, nor spoil the index for others."""
    world = World(store, 4)
    world.say(10)
    indexes = ScopeIndexes(Cache(1 << 28))
    where, vector = Filter("s"), world.vector()

    def look(tx: Tx) -> tuple[int, int]:
        view = indexes.view(tx, Filter("s"))
        assert view is not None
        before = len(view)
        if not store.name.startswith("json"):  # there only one transaction is open at a time
            world.say(3)
            assert world.search(indexes, where, "apple", vector) is not None
        again = indexes.view(tx, Filter("s"))
        assert again is not None
        return before, len(again)

    assert store.read(look) == (10, 10)
    world.say(1)
    count = store.read(lambda tx: len(indexes.view(tx, Filter("s")) or ()))
    assert count == len(world.messages)


def test_a_scope_that_is_too_large_is_searched_in_the_database(store: Store) -> None:
    world = World(store, 5)
    world.say(20)
    small = ScopeIndexes(Cache(10_000))
    assert store.read(lambda tx: small.view(tx, Filter("s"))) is None
    query, vector = "apple bread", world.vector()
    assert seen(world.search(small, Filter("s"), query, vector)) == seen(world.search(None, Filter("s"), query, vector))


def test_the_first_search_of_a_large_scope_is_one_of_the_database(store: Store) -> None:
    """And the index that the second one makes takes over what the first has read, without what was removed since."""
    world = World(store, 9)
    world.say(60)
    indexes = ScopeIndexes(Cache(1 << 28), large=40)
    where, query, vector = Filter("s"), "apple bread cheese", world.vector()
    for scopes in ([], [Filter("s")], [Filter("s")]):
        found = seen(world.search(indexes, where, query, vector))
        assert found == seen(world.search(None, where, query, vector))
        assert {id for id, *_ in found} <= {message.id for message in world.messages}
        assert indexes.scopes == scopes
        assert indexes.take_unread() == ([] if scopes else [Filter("s")])
        world.remove(5)
        world.say(3)
    assert store.read(lambda tx: indexes.view(tx, Filter("s", "nobody"))) is not None  # a small one is held at once


def test_the_least_recently_used_index_goes_first(store: Store) -> None:
    world = World(store, 6)
    world.say(60)
    cache = Cache(1 << 28)
    indexes = ScopeIndexes(cache)
    for user in (None, *WHO):
        store.read(lambda tx: indexes.view(tx, Filter("s", user)))  # noqa: B023  called at once
    assert indexes.scopes == [Filter("s"), Filter("s", "ann"), Filter("s", "ben")]
    cache.max_bytes = cache.size - 1
    store.read(lambda tx: indexes.view(tx, Filter("s", "ann")))
    assert indexes.scopes == [Filter("s", "ben"), Filter("s", "ann")]


class ReadingTx:
    """A transaction that notes which operations of its index are used."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx
        self.index = self
        self.names: list[str] = []

    def __getattr__(self, name: str) -> Any:
        self.names.append(name)
        return getattr(self._tx.index, name)


def operations(store: Store, indexes: ScopeIndexes, space: str) -> list[str]:
    """What is asked of a store to bring an index up to date."""

    def look(tx: Tx) -> list[str]:
        reading: Any = ReadingTx(tx)
        assert indexes.view(reading, Filter(space)) is not None
        return list(reading.names)

    return store.read(look)


def test_after_a_removal_the_rest_is_not_read_again(store: Store) -> None:
    world = World(store, 7)
    world.say(40)
    other = make_message(1, space="other", conversation="c0", content="apple")
    store.write(lambda tx: append_messages(tx, other))
    store.write(lambda tx: tx.index.put_entries([world.entry(other)]))
    indexes = ScopeIndexes(Cache(1 << 28))
    assert "passages_after" in operations(store, indexes, "s")
    operations(store, indexes, "other")
    world.remove(3)
    assert operations(store, indexes, "other") == ["scope_state"]
    assert operations(store, indexes, "s") == ["scope_state", "docs_upto"]
    assert operations(store, indexes, "s") == ["scope_state"]
    world.say(2)
    assert "docs_upto" not in operations(store, indexes, "s")
    query, vector = " ".join(WORDS), world.vector()
    fresh = ScopeIndexes(Cache(1 << 28))
    assert seen(world.search(indexes, Filter("s"), query, vector)) == seen(
        world.search(fresh, Filter("s"), query, vector)
    )


def test_after_a_rebuild_everything_is_read_again(store: Store) -> None:
    world = World(store, 8)
    world.say(5)
    indexes = ScopeIndexes(Cache(1 << 28))
    operations(store, indexes, "s")
    store.write(lambda tx: tx.reset_view("index"))
    store.write(lambda tx: tx.index.put_entries([world.entry(message) for message in world.messages]))
    assert "passages_after" in operations(store, indexes, "s")


@pytest.mark.parametrize("size", [21, 31, 33, 640, 641, 5_000])
def test_the_highest_of_many_scores_are_those_of_all(size: int) -> None:
    scores = np.random.default_rng(size).standard_normal(size).astype(np.float32)
    scores[size // 2 :] = scores[: size - size // 2]  # some are equal
    highest = places_of_highest(scores, 20)
    least = np.sort(scores)[-20]
    assert highest.tolist() == np.flatnonzero(scores >= least).tolist()
