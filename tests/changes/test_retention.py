"""Retention: for ever by default; what is over goes when somebody asks, as a tombstone, and nothing else does."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from engine_doubles import PATIENCE, CountingEmbedder, settle_views
from filled_store import make_filled
from raw_tables import path_of, rows_of

from everword import Draft, InvalidInput, Memory, Retained
from everword.testing import FrozenClock
from everword.testing.doubles import ScriptedLLM

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)
OLD, NEW = NOW - 100 * DAY, NOW - DAY
KINDS = ("messages", "episodes", "facts", "digests", "usage")
WORDS = ("zorblement", "Quuxberg")


@pytest.fixture
def file(tmp_path: Path) -> str:
    return str(tmp_path / "memory.db")


def opened(url: str, *, now: datetime = NOW, followers: bool = False, **settings: Any) -> Memory:
    return Memory(url, clock=FrozenClock(now), followers=followers, **settings)


def limits(*kinds: str) -> dict[str, Any]:
    return {f"retain_{kind}": 30 for kind in kinds}


def speak(url: str) -> None:
    """A chat with an old part that left the window, a channel, a fact that was corrected, a statement forgotten."""
    with opened(url, now=OLD + 2 * DAY) as memory:
        chat = memory.conversation("chat", user="alex")
        said = [Draft("user", "I live in Quuxberg.", time=OLD)]
        said += [Draft("user", f"Of zorblement number {n} there is much to say here.", time=OLD) for n in range(30)]
        chat.extend(said)
        memory.conversation("general").extend(
            [Draft("user", "The zorblement of the group", "kim", time=OLD, platform_id="p1")]
        )
        memory.settle()
    with opened(url, now=OLD + 4 * DAY) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", "I moved. I live in Utrecht now.", time=OLD + 3 * DAY)
        memory.remember("Alex collects stamps", user="alex")
        memory.forget("collects stamps", user="alex")
        memory.settle()
    with opened(url) as memory:
        memory.conversation("chat", user="alex").add("user", "A word of today", time=NEW)
        memory.conversation("general").add("user", "Another of today", author="kim", time=NEW)
        memory.settle()


def counts(done: Retained) -> dict[str, int]:
    return {one.kind: one.count for one in done.expired}


def content(memory: Memory) -> list[str]:
    return [message.content for message in memory.export()]


def held(url: str, table: str) -> int:
    return len(rows_of(url, table))


def words_left(url: str) -> list[str]:
    """What is left of the old words in the files, or in the tables of a server."""
    if url.startswith("postgresql:"):
        tables = ("messages", "entries", "tiers", "episodes", "findings", "facts", "statements", "topics")
        left = str([rows_of(url, table) for table in tables])
    else:
        path = path_of(url)
        left = b"".join(file.read_bytes() for file in path.parent.glob(path.name + "*")).decode("utf-8", "replace")
    return [word for word in WORDS if word.lower() in left.lower()]


# -- what stays


@pytest.mark.checklist("C12")
def test_everything_is_kept_for_ever_by_default(file: str) -> None:
    make_filled(file, speak)
    with opened(file, now=NOW + 10_000 * DAY) as memory:
        before = content(memory)
        assert memory.retain(dry_run=False) == Retained(NOW + 10_000 * DAY, False)
        assert content(memory) == before


@pytest.mark.checklist("C12")
def test_a_dry_run_shows_what_would_go_and_removes_nothing(store_url: str) -> None:
    make_filled(store_url, speak)
    with opened(store_url, **limits(*KINDS)) as memory:
        before = content(memory)
        plan = memory.retain()
        assert plan.dry_run
        assert content(memory) == before
        assert memory.retain() == plan
        done = memory.retain(dry_run=False)
        assert counts(done) == counts(plan)  # what was shown is what went
        assert all(plan.count for plan in plan.expired if plan.kind in ("messages", "episodes", "facts"))
        assert counts(memory.retain()) == dict.fromkeys(counts(plan), 0)
        assert memory.verify().ok
    assert words_left(store_url) == []


# -- messages


@pytest.mark.checklist("C12")
def test_messages_go_as_tombstones_and_what_was_made_of_them_stays(store_url: str) -> None:
    make_filled(store_url, speak)
    with opened(store_url, retain_messages=30) as memory:
        known = [fact.value for fact in memory.facts(user="alex")]
        episodes = memory.conversation("chat", user="alex").episodes()
        assert known == ["Utrecht"]
        assert episodes
        done = memory.retain(dry_run=False)
        assert counts(done) == {"messages": 35}
        assert content(memory)[-2:] != []
        assert [m.content for m in memory.conversation("chat", user="alex").history()] == ["A word of today"]
        proof = memory.verify()
        assert (proof.ok, proof.erased) == (True, 35)
        assert [fact.value for fact in memory.facts(user="alex")] == known
        assert memory.conversation("chat", user="alex").episodes() == episodes
        assert [hit.message.content for hit in memory.search("zorblement")] == []
        again = memory.conversation("general").add(
            "user", "The zorblement of the group", author="kim", platform_id="p1"
        )
        assert again.erased  # delivered again, it stays out
        memory.settle()
        assert memory.conversation("chat", user="alex").episodes() == episodes
        chat = memory.conversation("chat", user="alex")
        assert chat.add("user", "And on it goes", time=NOW).turn == 34  # turns go on
        assert memory.verify().ok


@pytest.mark.checklist("C12")
def test_what_a_view_has_not_read_waits_for_it(file: str) -> None:
    embedder = CountingEmbedder(failures=1)
    with Memory(file, clock=FrozenClock(NOW), followers=False, embedder=embedder, retain_messages=30) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.extend([Draft("user", text, time=OLD) for text in ("I live in Utrecht.", "Hello", "Well")])
        (waits,) = memory.retain(dry_run=False).expired
        assert (waits.count, waits.waiting) == (0, 3)
        assert len(chat.history()) == 3
    with opened(file, retain_messages=30) as memory:
        memory.settle()
        (gone,) = memory.retain(dry_run=False).expired
        assert (gone.count, gone.waiting) == (3, 0)
        assert memory.conversation("chat", user="alex").history() == []
        assert [fact.value for fact in memory.facts(user="alex")] == ["Utrecht"]


@pytest.mark.checklist("C12")
def test_many_messages_go_page_by_page_and_what_was_erased_is_passed_over(file: str) -> None:
    with opened(file, retain_messages=30, tokenizer="estimate") as memory:
        for name, many in (("a", 560), ("b", 3), ("c", 560)):
            drafts = [Draft("user", f"{n}", time=OLD if n % 10 else NEW) for n in range(many)]
            memory.conversation(name, user=name).extend(drafts)
        memory.erase(user="b")
        settle_views(memory, "index", "topics", "window", "episodes", "facts", "digests")
        assert counts(memory.retain()) == {"messages": 1008}
        assert counts(memory.retain(dry_run=False)) == {"messages": 1008}
        assert [len(memory.conversation(name, user=name).history()) for name in ("a", "c")] == [56, 56]
        proof = memory.verify()
        assert (proof.ok, proof.messages, proof.erased) == (True, 112, 1011)


@pytest.mark.checklist("C12")
def test_a_space_is_cleaned_up_alone(file: str) -> None:
    with opened(file, retain_messages=30) as memory:
        for space in ("one", "two"):
            memory.conversation("chat", user="alex", space=space).extend([Draft("user", "old words", time=OLD)])
        memory.settle()
        assert counts(memory.retain(dry_run=False, space="one")) == {"messages": 1}
        assert [len(list(memory.export(space=space))) for space in ("one", "two")] == [1, 1]
        kept = [[m.erased for m in memory.export(space=space)] for space in ("one", "two")]
        assert kept == [[True], [False]]
        assert counts(memory.retain(dry_run=False)) == {"messages": 1}
        with pytest.raises(InvalidInput, match="space"):
            memory.retain(space="")


# -- what was derived


@pytest.mark.checklist("C12")
def test_each_kind_goes_alone(file: str) -> None:
    make_filled(file, speak)
    tables = {"messages": "entries", "episodes": "episodes", "facts": "facts"}
    before = {table: held(file, table) for table in tables.values()}
    for kind, table in reversed(tables.items()):
        with opened(file, **limits(kind)) as memory:
            assert memory.retain(dry_run=False).count > 0
        after = {name: held(file, name) for name in before}
        assert after[table] < before[table]
        assert {name: after[name] for name in before if name != table} == {
            name: before[name] for name in before if name != table
        }
        before = after


@pytest.mark.checklist("C12")
def test_what_holds_is_kept_and_what_no_longer_does_goes(file: str) -> None:
    make_filled(file, speak)
    with opened(file, retain_facts=30) as memory:
        assert [one.value for one in memory.fact_history("location", user="alex")] == ["Quuxberg", "Utrecht"]
        memory.retain(dry_run=False)
        assert [one.value for one in memory.fact_history("location", user="alex")] == ["Utrecht"]
        assert memory.profile(user="alex").statements == ()
        memory.conversation("late", user="alex").add("user", "I live in Utrecht.", time=OLD - DAY)
        memory.settle()  # what is read late is weighed anew with what is left, and the old does not come back
        assert "Quuxberg" not in [one.value for one in memory.fact_history("location", user="alex")]
        assert [fact.value for fact in memory.facts(user="alex")] == ["Utrecht"]
    with opened(file, now=NOW - 90 * DAY, retain_facts=30) as memory:
        assert memory.retain(dry_run=False).count == 0


@pytest.mark.checklist("C12")
def test_what_was_forgotten_stays_forgotten(file: str) -> None:
    with opened(file, now=OLD) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", "I live in Quuxberg.", time=OLD)
        memory.settle()
        assert memory.forget("Quuxberg", user="alex").facts
    with opened(file, retain_facts=30) as memory:
        assert memory.retain(dry_run=False).count > 0
        memory.rebuild("facts")
        memory.settle()
        assert memory.facts(user="alex") == []


def days(memory: Memory) -> dict[str, str]:
    return {one.user: one.text for one in memory.digests(day=OLD.date())}


@pytest.mark.checklist("C12")
def test_a_digest_outlives_its_messages_and_goes_in_its_own_time(store_url: str) -> None:
    with opened(store_url, now=OLD + 2 * DAY) as memory:
        memory.conversation("general").add("user", "I planted a walnut tree today.", author="kim", time=OLD)
        memory.settle()
        made = days(memory)
        assert "walnut" in made["kim"]
    with opened(store_url, retain_messages=30) as memory:
        assert counts(memory.retain(dry_run=False)) == {"messages": 1}
        memory.settle()
    again = ScriptedLLM()  # it has no answer: nobody is to ask it
    with opened(store_url, memory=again, retain_digests=30) as memory:
        assert days(memory) == made
        assert memory.retain(dry_run=False).count > 0
        assert days(memory) == {}
    assert not again.requests
    assert (held(store_url, "digests"), held(store_url, "days")) == (0, 0)


@pytest.mark.checklist("C12")
def test_a_day_without_a_word_left_is_not_written_up(file: str) -> None:
    with opened(file, retain_messages=30) as memory:
        memory.conversation("general").add("user", "I planted a walnut tree today.", author="kim", time=OLD)
        memory.settle()
        memory.retain(dry_run=False)
        assert days(memory) == {}


SUBJECTS = """The sourdough starter needs flour. | Our parrot learned a new word. | The tram to the harbour was late.
My guitar has a broken string. | The court ruled on the merger. | Volcanoes erupt under the glacier.
She knits woollen socks. | The compiler rejects this template. | Penguins breed on the southern ice.
He paid his taxes in March. | The midfielder scored twice. | Our roof leaks when it rains.
The vaccine trial has ended. | Saturn has many moons. | The opera opens in autumn. | Bees pollinate the orchard.
The mortgage rate went up. | We hiked along the canyon. | The battery lasts two days. | Pharaohs built the pyramids.
The dentist filled a tooth. | Chess engines sacrifice queens. | The ferry sails at noon. | Cactus spines are leaves.
The senate passed a bill. | Yoga helps my back.""".replace("\n", " | ").split(" | ")


@pytest.mark.checklist("C12")
def test_topics_that_have_faded_go_and_the_others_stay(file: str) -> None:
    with opened(file, now=OLD + DAY, topic_similarity=0.9) as memory:
        chat = memory.conversation("chat", user="alex")
        for number, text in enumerate(SUBJECTS):
            chat.add_user_message(text, time=OLD - (60 - number) * DAY)
        memory.settle()
        faded = [topic.id for topic in chat.topics(faded=True) if topic.faded]
        standing = [topic.id for topic in chat.topics()]
        assert faded
    with opened(file, retain_topics=30, topic_similarity=0.9) as memory:
        chat = memory.conversation("chat", user="alex")
        assert counts(memory.retain()) == {"topics": len(faded)}
        assert counts(memory.retain(dry_run=False)) == {"topics": len(faded)}
        assert [topic.id for topic in chat.topics(faded=True) if topic.faded] == []
        assert sorted(topic.id for topic in chat.topics()) == sorted(standing)
        assert len(chat.history()) == len(SUBJECTS)  # the messages are kept
        for text in SUBJECTS[:4]:
            chat.add_user_message(text)
        memory.settle()
        assert memory.verify().ok


@pytest.mark.checklist("C12")
def test_topics_are_made_anew_of_the_messages_that_are_left(file: str) -> None:
    with opened(file) as memory:
        chat = memory.conversation("chat", user="alex")
        for number, text in enumerate(SUBJECTS[:8]):
            chat.add_user_message(text, time=NEW if number % 2 else OLD)
        memory.settle()
    with opened(file, retain_messages=30) as memory:
        chat = memory.conversation("chat", user="alex")
        assert counts(memory.retain(dry_run=False)) == {"messages": 4}
        memory.settle()
        said = [m["content"] for topic in chat.topics(faded=True) for m in chat.get_topic_context(topic.id)]
        assert sorted(text for text in said if text in SUBJECTS) == sorted(SUBJECTS[1:8:2])


@pytest.mark.checklist("C12")
def test_counts_of_calls_go(file: str) -> None:
    with opened(file, now=OLD) as memory:
        memory.engine.runtime.parts.telemetry.count("cache", kind="merge", outcome="hit", amount=7)
    with opened(file, retain_usage=30) as memory:
        memory.engine.runtime.parts.telemetry.count("cache", kind="merge", outcome="hit")
        assert [one.count for one in memory.stats().activity] == [8]
        assert counts(memory.retain(dry_run=False)) == {"usage": 1}
        assert [one.count for one in memory.stats().activity] == [1]


# -- the schedule


def until(there: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not there():
        assert time.monotonic() < deadline, "the schedule did nothing"
        time.sleep(0.01)


@pytest.mark.checklist("C12")
def test_a_schedule_that_somebody_set_is_kept_and_only_then(file: str) -> None:
    make_filled(file, speak)
    with opened(file, followers=True, retain_messages=30) as memory:
        memory.settle()
        assert memory.stats().erased == 0  # no schedule is set
    with opened(file, followers=True, retain_messages=30, retain_every=24) as memory:
        until(lambda: memory.stats().erased == 35)
        assert memory.verify().ok
        memory.conversation("chat", user="alex").extend([Draft("user", "an old word, late", time=OLD)])
        memory.settle()
    with opened(file, now=NOW + timedelta(hours=23), followers=True, retain_messages=30, retain_every=24) as memory:
        memory.settle()
        assert memory.stats().erased == 35  # not due yet
    with opened(file, now=NOW + DAY, followers=True, retain_messages=30, retain_every=24) as memory:
        until(lambda: memory.stats().erased == 36)


@pytest.mark.checklist("C12")
def test_without_followers_a_schedule_is_left_to_the_worker(file: str) -> None:
    make_filled(file, speak)
    with opened(file, retain_messages=30, retain_every=1) as memory:
        memory.settle()
        assert memory.stats().erased == 0
