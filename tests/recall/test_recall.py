"""Recall beyond words and meaning: what stands beside a hit, who said it, when, and how particular it is."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from sqlite3 import connect

import pytest

from everword import Draft, Hit, Memory
from everword.testing import FrozenClock

NOW = datetime(2026, 1, 14, 12, tzinfo=UTC)  # a Wednesday
MINUTE = timedelta(minutes=1)

TALK = (
    ("ann", "Hi Ben, long time no see!"),
    ("ben", "Hello! How was the pottery course in the end?"),
    ("ann", "Loved it, made two mugs and broke one."),
    ("ben", "Sounds like you. The weather was awful here."),
    ("ann", "Same here, rain all week."),
    ("ben", "I finally sold the old van."),
    ("ann", "Wow, who bought it?"),
    ("ben", "A beekeeper from the next village."),
)


def channel(url: str) -> Memory:
    memory = Memory(url, clock=FrozenClock(NOW))
    start = NOW - timedelta(days=30)
    chat = memory.conversation("talk", user="ann")
    chat.extend(Draft("user", text, author=who, time=start + n * MINUTE) for n, (who, text) in enumerate(TALK))
    chat.extend(
        Draft("user", f"Nothing new about {word} today.", author="ann", time=start + timedelta(days=3))
        for word in ("trains", "shoes", "taxes", "tea", "chess", "roofs")
    )
    memory.settle()
    return memory


def turns(hits: list[Hit]) -> list[int]:
    return [hit.message.turn for hit in hits]


@pytest.mark.checklist("B1")
def test_an_answer_is_found_by_the_words_of_its_question(store_url: str) -> None:
    with channel(store_url) as memory:
        hits = memory.search("pottery course", user="ann")
        assert set(turns(hits)[:2]) == {2, 3}
        answer = next(hit for hit in hits if hit.message.turn == 3)
        assert answer.parts["text"] == 0 < answer.parts["near"]
        assert turns(memory.search("who bought the van", user="ann")).index(8) < 4


def test_who_is_named_is_who_said_it(store_url: str) -> None:
    with channel(store_url) as memory:
        for who, other in (("Ann", "ben"), ("ben", "ann")):
            hits = memory.search(f"What did {who} say about the weather and the rain?", user="ann")
            for hit in hits:
                assert (hit.parts["speaker"] > 0) is (hit.message.author == who.lower()), other


@pytest.mark.checklist("D9")
def test_a_time_in_the_query_is_resolved_against_the_moment_of_asking(store_url: str) -> None:
    """D9: by time, too: the same words said every week, and one week is asked for."""
    with Memory(store_url, clock=FrozenClock(NOW)) as memory:
        chat = memory.conversation("gym", user="alex")
        for weeks in range(20, -1, -1):
            chat.add(
                "user", f"Trained legs and arms, session {40 - weeks}.", time=NOW - timedelta(days=7 * weeks, hours=2)
            )
        memory.settle()
        for query, day in (
            ("what did I train two weeks ago", NOW - timedelta(days=14)),
            ("what did I train last Wednesday", NOW - timedelta(days=7)),
            ("the training of December 3, 2025", datetime(2025, 12, 3, tzinfo=UTC)),
            ("my training today", NOW),
        ):
            best = memory.search(query, user="alex")[0]
            assert best.message.time.date() == day.date(), query
            assert best.parts["time"] > 0


def test_a_question_about_oneself_prefers_what_one_said(store_url: str) -> None:
    with Memory(store_url, clock=FrozenClock(NOW)) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", "The new bicycle is blue.")
        chat.add("assistant", "A blue bicycle! The new bicycle will look nice.")
        memory.settle()
        assert memory.search("Which colour is my new bicycle?", user="alex")[0].message.turn == 1
        mine, yours = (memory.search(q, user="alex") for q in ("my new bicycle", "what did you say about the bicycle"))
        assert any(hit.parts["speaker"] for hit in mine)
        assert not any(hit.parts["speaker"] for hit in yours)


def test_of_equals_the_more_particular_comes_first(store_url: str) -> None:
    with Memory(store_url, clock=FrozenClock(NOW)) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", "We visited a museum in a town by the sea.", time=NOW)
        chat.add("user", "We visited a museum in Porto on 12 May.", time=NOW - timedelta(days=9))
        memory.settle()
        hits = memory.search("Which museum did we visit?", user="alex")
        assert turns(hits) == [2, 1]
        assert hits[0].parts["detail"] > hits[1].parts["detail"] == 0


def test_what_an_older_version_indexed_is_ranked_as_what_is_new(tmp_path: Path) -> None:
    """It noted nothing of the texts of messages in the index: they are read."""
    path = tmp_path / "old.db"

    def found() -> list[Hit]:
        with Memory(str(path), clock=FrozenClock(NOW)) as memory:
            return memory.search("Which museum did we visit?", user="alex")

    with Memory(str(path), clock=FrozenClock(NOW)) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", "We visited a museum in a town by the sea.", time=NOW)
        chat.add("user", "We visited a museum in Porto on 12 May. I prefer small ones.", time=NOW - timedelta(days=9))
        memory.settle()
    new = found()
    with closing(connect(path)) as database, database:
        assert database.execute("UPDATE entries SET traits = -1").rowcount == 2
    assert [(hit.message.id, hit.parts) for hit in found()] == [(hit.message.id, hit.parts) for hit in new]
    assert max(hit.parts["detail"] for hit in new) > 0


def test_what_a_filter_leaves_out_lends_its_words_and_is_not_given(store_url: str) -> None:
    with Memory(store_url, clock=FrozenClock(NOW)) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.extend(
            [
                Draft("user", "Any idea for dinner?", time=NOW),
                Draft("assistant", "How about a lentil curry?", time=NOW + MINUTE),
                Draft("user", "Too spicy.", time=NOW + 2 * MINUTE),
                Draft("user", "The bus was late.", time=NOW + timedelta(hours=9)),
            ]
        )
        memory.settle()
        hits = memory.search("lentil curry", user="alex", role="user")
        assert {hit.message.role for hit in hits} <= {"user"}
        assert turns(memory.search("lentil curry", user="alex", role="assistant")) == [2]
        late = memory.search("lentil curry", user="alex", after=NOW + 2 * MINUTE)
        assert all(hit.message.time >= NOW + 2 * MINUTE for hit in late)


def test_neighbours_of_somebody_else_are_never_looked_at(store_url: str) -> None:
    """A channel of many: what belongs to another person neither shows nor counts."""
    with Memory(store_url, clock=FrozenClock(NOW)) as memory:
        memory.conversation("channel").extend(
            [
                Draft("user", "My password is swordfish.", author="kim", user="kim", time=NOW),
                Draft("user", "Noted.", author="alex", user="alex", time=NOW + MINUTE),
                Draft("user", "The password policy is silly.", author="alex", user="alex", time=NOW + 2 * MINUTE),
            ]
        )
        memory.settle()
        hits = memory.search("password swordfish", user="alex")
        assert {hit.message.user for hit in hits} == {"alex"}
        alone = next(hit for hit in hits if hit.message.turn == 3)
        assert alone.parts["near"] == 0
        noted = [hit for hit in hits if hit.message.turn == 2]
        assert all(hit.parts["near"] < alone.score for hit in noted)
