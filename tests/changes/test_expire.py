"""What is kept with `expires` is there until that moment, and at it gone from everything that is shown, by the clock
alone: no worker has to run, and no cache has to be told. Nothing is derived from it that would outlive it. Later
`retain` removes it for good, and not a word of it is left."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from engine_doubles import PATIENCE
from raw_tables import change, path_of, rows_of

from everword import Budget, Change, Draft, InvalidInput, Memory, NotFound
from everword.model import Retained
from everword.ports import Request
from everword.testing import FrozenClock, ScriptedLLM

START = datetime(2026, 3, 2, 9, 0, 0, 250_000, tzinfo=UTC)
SOON = timedelta(minutes=10)
TICK = timedelta(microseconds=1)
NOTES = ("notes", "alex")


def opened(url: str, clock: FrozenClock, **settings: Any) -> Memory:
    return Memory(url, **{"clock": clock, "followers": False, **settings})


def found(memory: Memory, query: str, **where: Any) -> list[str]:
    return [hit.message.content for hit in memory.search(query, **{"user": "alex", **where})]


def shown(memory: Memory, text: str, budget: Budget | None = None) -> str:
    context = memory.conversation("chat", user="alex").context(text, budget=budget)
    return "\n".join(message["content"] for message in context.messages)


def removed(outcome: Retained) -> dict[str, int]:
    return {kind.kind: kind.count for kind in outcome.expired}


def held(url: str) -> bytes:
    path = path_of(url)
    return b"".join(file.read_bytes() for file in path.parent.glob(path.name + "*")).lower()


# -- gone at that moment


@pytest.mark.every_store
@pytest.mark.checklist("F13")
def test_each_kind_is_there_until_its_moment_and_gone_at_it(store_url: str) -> None:
    """To the microsecond, with no worker and nothing removed."""
    clock = FrozenClock(START)
    until = (START + SOON).astimezone(timezone(timedelta(hours=-7)))
    with opened(store_url, clock) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", "The phone of the workshop ends in 4711.", expires=until)
        chat.add("user", "The workshop opens at nine.")
        memory.remember("Alex is in Oslo for the fair", user="alex", expires=SOON)
        notes = memory.documents()
        notes.put(NOTES, "door", {"text": "it ends in 4711"}, expires=SOON)
        notes.put(("codes",), "door", {"text": "the same code"}, user="alex", expires=until)
        notes.put(NOTES, "hours", {"text": "opens at nine"})
        memory.settle()

        def everything() -> dict[str, bool]:
            profile = memory.profile(user="alex", wait=0)
            return {
                "search": "4711" in str(found(memory, "phone of the workshop")),
                "window": "4711" in shown(memory, "When does the workshop open?"),
                "ask": "4711" in memory.ask("What does the phone of the workshop end in?", user="alex").text,
                "statement": bool(profile.statements),
                "profile": "Oslo" in profile.text and "Oslo" in profile.context,
                "context": "Oslo" in shown(memory, "Where am I these days?"),
                "told": "Oslo" in str(found(memory, "in Oslo for the fair")),
                "document": notes.get(NOTES, "door") is not None,
                "documents": {one.key for one in notes.search(NOTES)} == {"hours", "door"},
                "by meaning": "door" in [one.key for one in notes.search(query="what is the code")],
                "namespaces": ("codes",) in notes.namespaces(),
            }

        clock.advance(SOON - TICK)
        now = everything()
        assert now == dict.fromkeys(now, True)
        clock.advance(TICK)
        now = everything()
        assert now == dict.fromkeys(now, False)
        assert [one.key for one in notes.search(NOTES, query="code")] == ["hours"]
        assert "4711" in chat.history()[0].content, "the log has it until retention"
        assert memory.verify().ok


@pytest.mark.checklist("F13")
def test_what_has_expired_takes_no_place_from_others(store_url: str) -> None:
    """A hundred near the query have expired: the one that lasts is found, and the rest ranks as it did."""
    clock = FrozenClock(START)
    with opened(store_url, clock) as memory:
        chat = memory.conversation("chat", user="alex")
        lasting = [Draft("user", f"The tide table of harbour number {n} is on the wall.") for n in range(5)]
        chat.extend(lasting)
        memory.settle()
        before = found(memory, "tide table")
        chat.extend([Draft("user", "The tide table is here.", expires_at=SOON) for _ in range(120)])
        memory.settle()
        assert set(found(memory, "tide table", limit=100)) >= {"The tide table is here."}
        clock.advance(SOON)
        assert found(memory, "tide table") == before
        assert memory.retain(dry_run=False).count == 120
        assert found(memory, "tide table") == before


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
@pytest.mark.checklist("F13")
def test_two_that_share_a_file_see_it_go_at_once(store_url: str) -> None:
    """Each has its own caches, filled while it was there; nobody writes in between."""
    clock = FrozenClock(START)
    with opened(store_url, clock) as first, opened(store_url, clock) as second:
        first.conversation("chat", user="alex").add("user", "The spare key lies under the fern.", expires=SOON)
        first.settle()
        for memory in (first, second):
            assert "fern" in str(found(memory, "spare key"))
            assert "fern" in shown(memory, "Where is the spare key?")
        clock.advance(SOON)
        for memory in (first, second):
            assert found(memory, "spare key") == []
            assert "fern" not in shown(memory, "Where is the spare key?")


@pytest.mark.checklist("F13")
def test_a_context_of_a_long_talk_has_it_word_for_word_and_then_not(store_url: str) -> None:
    """Recent, in the window, and long after it left the window: then a search finds it, and no summary has it."""
    clock = FrozenClock(START)
    budgets = (Budget(), Budget.compact(), Budget(total=900, recent=200, pairs=1))
    with opened(store_url, clock, window_turns=20) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", "My locker at the baths has the number 8128.", expires=SOON)
        for turn in range(30):
            chat.add("user", f"On day {turn} we rowed to buoy {turn} and counted {turn} seals there.")
            chat.add("assistant", f"Noted: buoy {turn}.")
            if turn in (0, 5, 29):
                memory.settle()
                for budget in budgets:
                    assert "8128" in shown(memory, "What number has my locker at the baths?", budget), budget
        assert chat.archived()
        assert "8128" not in str(chat.episodes())
        clock.advance(SOON)
        for budget in budgets:
            assert "8128" not in shown(memory, "What number has my locker at the baths?", budget), budget
        memory.rebuild("window")
        memory.rebuild("index")
        memory.settle()
        for budget in budgets:
            assert "8128" not in shown(memory, "What number has my locker at the baths?", budget), budget


def test_a_question_that_leans_on_what_expired_is_searched_without_it(store_url: str) -> None:
    clock = FrozenClock(START)
    with opened(store_url, clock) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", "The parcel waits at the florist in Vogelweg.", expires=SOON)
        clock.advance(SOON)
        assert "Vogelweg" not in chat.standalone("And until when?")


# -- nothing outlives it


@pytest.mark.checklist("F13")
def test_nothing_is_derived_from_it(store_url: str) -> None:
    """Not by rules, not when a view is made anew, not of one line nor of many."""
    clock = FrozenClock(START)
    with opened(store_url, clock, window_turns=10) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", "My name is Alex and I live in Vlissingen.", expires=SOON)
        chat.add("user", "I work as a baker.")
        chat.extend([Draft("user", f"Loaf {n} rose well in the oven of the old bakery.") for n in range(20)])
        channel = memory.conversation("general")
        channel.add("user", "We moved the party to the Vlissingen pier today.", author="kim", expires=SOON)
        channel.add("user", "I shall bring bread for the party.", author="alex")
        chat.command("Everword, remember that I like rye")
        for view in (None, "facts", "topics", "window", "digests"):
            if view is not None:
                memory.rebuild(view)
            memory.settle()
            derived = [
                *memory.facts(user="alex"),
                *memory.facts(user="kim"),
                *memory.digests(),
                *chat.episodes(),
                *chat.topics(faded=True),
                *chat.get_full_topic_history(),
                memory.profile(user="alex").text,
            ]
            assert "Vlissingen" not in repr(derived), view
            assert "rye" in repr(derived)
            assert "baker" in repr(derived)
        for table in ("facts", "findings", "episodes", "topics", "topic_turns", "topic_summaries", "digests", "days"):
            assert "Vlissingen" not in repr(rows_of(store_url, table))
        turns = {row["turn"] for row in rows_of(store_url, "topic_turns") if row["conversation"] == "chat"}
        assert turns == set(range(2, 25))


@pytest.mark.checklist("F13")
def test_no_model_is_shown_it_to_write_what_stays(store_url: str) -> None:
    asked: list[str] = []

    def note(request: Request) -> str:
        asked.append("\n".join(message["content"] for message in request.messages))
        return "{}"

    clock = FrozenClock(START)
    llm = ScriptedLLM(default=note)
    with opened(store_url, clock, memory=llm, batch_seconds=0, window_turns=10) as memory:
        chat = memory.conversation("chat", user="alex")
        for n in range(15):
            chat.add("user", f"My password for machine {n} is hunter{n}.", expires=SOON)
            chat.add("user", f"I repaired machine {n} of the mill today, and it runs again.")
        memory.settle()
        writing = [text for text in asked if "repaired machine" in text]
        assert writing, "or this test proves nothing"
        tiers = [text for text in asked if "hunter" in text]
        assert all("tier" in text.casefold() for text in tiers), "a message's own shorter versions go with it"


@pytest.mark.checklist("F13")
def test_remember_this_does_not_keep_it(store_url: str) -> None:
    clock = FrozenClock(START)
    with opened(store_url, clock) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", "I have a boat called Zephyr.")
        chat.add("user", "I have a safe behind the mirror.", expires=SOON)
        answer = chat.command("Everword, remember this")
        assert answer is not None
        assert answer.statements == ()
        memory.settle()
        clock.advance(SOON)
        assert "safe" not in memory.profile(user="alex", wait=0).text


# -- statements


@pytest.mark.checklist("F13")
def test_a_statement_that_expires_stands_beside_what_lasts(store_url: str) -> None:
    """It replaces nothing that lasts, no fact rests on it, and what is said later does not take its words."""
    clock = FrozenClock(START)
    with opened(store_url, clock) as memory:

        def statements() -> set[str]:
            return {statement.text for statement in memory.profile(user="alex", wait=0).statements}

        memory.remember("Alex lives in Delft", user="alex")
        (guest,) = memory.remember("Alex lives in Leiden", user="alex", expires=SOON)
        assert guest.expires_at == START + SOON
        assert statements() == {"alex lives in Delft.", "alex lives in Leiden."}
        memory.remember("Alex has a cat", user="alex")
        memory.settle()
        assert [fact.value for fact in memory.facts(user="alex") if fact.key == "location"] == ["Delft"]
        memory.rebuild("facts")
        memory.settle()
        assert [fact.value for fact in memory.facts(user="alex") if fact.key == "location"] == ["Delft"]
        clock.advance(SOON)
        assert statements() == {"alex lives in Delft.", "alex has a cat."}
        assert removed(memory.retain(dry_run=False)) == {"expired messages": 1, "expired statements": 1}
        assert statements() == {"alex lives in Delft.", "alex has a cat."}


def test_the_newer_word_wins_among_what_expires(store_url: str) -> None:
    """Told again it stands until the later time, once; told for good it stays."""
    clock = FrozenClock(START)
    with opened(store_url, clock) as memory:

        def statements() -> list[tuple[str, datetime | None]]:
            profile = memory.profile(user="alex", wait=0)
            return [(statement.text, statement.expires_at) for statement in profile.statements]

        memory.remember("Alex is on holiday", user="alex", expires=SOON)
        clock.advance(TICK)
        memory.remember("Alex is on holiday", user="alex", expires=3 * SOON)
        assert statements() == [("alex is on holiday.", START + TICK + 3 * SOON)]
        clock.advance(TICK)
        memory.remember("Alex is on holiday", user="alex")
        assert statements() == [("alex is on holiday.", None)]
        clock.advance(4 * SOON)
        assert statements() == [("alex is on holiday.", None)]


def test_a_statement_ends_with_the_message_that_asked_for_it(store_url: str) -> None:
    clock = FrozenClock(START)
    with opened(store_url, clock) as memory:
        chat = memory.conversation("chat", user="alex")
        message = chat.add("user", "I am at the dentist.", expires=SOON)
        (statement,) = memory.remember("Alex is at the dentist", user="alex", message=message.id, expires=2 * SOON)
        assert statement.expires_at == START + SOON
        lasting = chat.add("user", "Our meeting is in room nine.")
        (sooner,) = memory.remember("Alex is in room nine", user="alex", message=lasting.id, expires=SOON)
        assert sooner.expires_at == START + SOON
        memory.settle()
        assert not [fact for fact in memory.facts(user="alex") if "nine" in fact.value]
        clock.advance(SOON)
        assert memory.profile(user="alex", wait=0).statements == ()
        with pytest.raises(NotFound):
            memory.remember("Alex was at the dentist", user="alex", message=message.id)
        assert memory.forget("in room nine", user="alex").statements == ()


# -- documents


@pytest.mark.checklist("F13")
def test_a_document_is_kept_anew_and_counts_for_nobody_once_it_expired(store_url: str) -> None:
    clock = FrozenClock(START)
    with opened(store_url, clock) as memory:
        notes = memory.documents()
        first = notes.put(NOTES, "a", {"n": 1}, expires=SOON)
        assert first.expires_at == START + SOON
        notes.apply([Change(NOTES, "b", {"n": 2}, expires_at=SOON), Change(NOTES, "c", {"n": 3})])
        assert notes.put(NOTES, "c", {"n": 3}, expires=2 * SOON).expires_at == START + 2 * SOON
        clock.advance(SOON)
        assert notes.remove(NOTES, "b") is False
        seen = notes.edit(NOTES, lambda documents: ([Change(NOTES, "a", {"n": 9})], sorted(documents)))
        assert seen == ["c"]
        again = notes.get(NOTES, "a")
        assert again is not None
        assert (again.created_at, again.expires_at) == (START + SOON, None), "another one under that key"
        clock.advance(SOON)
        assert [one.key for one in notes.search(())] == ["a"]
        assert removed(memory.retain()) == {"expired documents": 1}
        assert removed(memory.retain(dry_run=False)) == {"expired documents": 1}
        assert [row["key"] for row in rows_of(store_url, "documents")] == ["a"]


# -- what is refused


@pytest.mark.parametrize(
    ("expires", "reason"),
    [
        (START, "is in the past"),
        (START - SOON, "is in the past"),
        (timedelta(0), "is in the past"),
        (-SOON, "is in the past"),
        (timedelta.max, "too far in the future"),
        ((START + SOON).replace(tzinfo=None), "no time zone"),
        (datetime(2300, 1, 1, tzinfo=UTC), "years"),
        ("tomorrow", "datetime or a timedelta"),
        (600, "datetime or a timedelta"),
    ],
)
@pytest.mark.checklist("F13")
def test_a_time_that_is_over_or_none_is_refused(store_url: str, expires: Any, reason: str) -> None:
    with opened(store_url, FrozenClock(START)) as memory:
        chat = memory.conversation("chat", user="alex")
        with pytest.raises(InvalidInput, match=reason):
            chat.add("user", "Hi", expires=expires)
        with pytest.raises(InvalidInput, match=reason):
            chat.extend([{"role": "user", "content": "Hi", "expires": expires}])
        with pytest.raises(InvalidInput, match=reason):
            memory.remember("Alex is here", user="alex", expires=expires)
        with pytest.raises(InvalidInput, match=reason):
            memory.documents().put(NOTES, "a", {}, expires=expires)
        assert memory.stats().messages == 0


@pytest.mark.checklist("F13")
def test_a_message_may_be_given_as_a_draft_or_a_mapping(store_url: str) -> None:
    with opened(store_url, FrozenClock(START)) as memory:
        chat = memory.conversation("chat", user="alex")
        added = chat.extend(
            [
                Draft("user", "One", expires_at=SOON),
                {"role": "user", "content": "Two", "expires": SOON},
                {"role": "user", "content": "Three", "expires_at": START + SOON},
                {"role": "user", "content": "Four"},
            ]
        )
        assert [one.message.expires_at for one in added] == [START + SOON] * 3 + [None]
        assert [message.expires_at for message in chat.history()] == [START + SOON] * 3 + [None]
        assert memory.verify().ok


# -- removed later


@pytest.mark.every_store
@pytest.mark.checklist("F13")
def test_retention_removes_it_for_good_whatever_is_kept(store_url: str) -> None:
    """Without any setting; a dry run counts, the audit has a line of each kind, the chain holds, no word is left."""
    clock = FrozenClock(START)
    with opened(store_url, clock) as memory:
        chat = memory.conversation("chat", user="alex")
        first = chat.add("user", "The wifi of the zorblehut is open.", expires=SOON, platform_id="p-1")
        chat.add("user", "The hut has six beds.")
        memory.remember("Alex sleeps in the zorblehut", user="alex", expires=SOON)
        memory.documents().put(NOTES, "hut", {"text": "zorblehut"}, expires=SOON)
        other = memory.conversation("c", user="kim", space="other")
        other.add("user", "Another zorblehut.", expires=SOON)
        memory.settle()
        memory.search("zorblehut", user="alex")
        memory.documents().search(query="zorblehut")
        before = memory.verify()
        assert removed(memory.retain()) == {}
        assert memory.retain(dry_run=False).count == 0
        clock.advance(SOON)
        plan = removed(memory.retain(space="default"))
        assert plan == {"expired messages": 2, "expired statements": 1, "expired documents": 1}
        assert removed(memory.retain()) == {**plan, "expired messages": 3}
        assert removed(memory.retain(dry_run=False)) == {**plan, "expired messages": 3}
        assert removed(memory.retain()) == {}
        assert {(line.kind, line.what, line.count) for line in memory.audit()} == {
            ("retention", "expired messages", 2),
            ("retention", "expired statements", 1),
            ("retention", "expired documents", 1),
        }
        after = memory.verify()
        assert (after.ok, after.root, after.erased) == (True, before.root, 3)
        assert [message.content for message in chat.history()] == ["The hut has six beds."]
        (again,) = chat.extend([Draft("user", "The wifi of the zorblehut", platform_id="p-1")])
        assert (again.new, again.message.erased, again.message.id) == (False, True, first.id), "known, and gone"
        if not store_url.startswith("postgresql:"):
            assert b"zorblehut" not in held(store_url)
    for table in ("messages", "entries", "tiers", "statements", "documents", "answers", "answer_bodies"):
        assert "zorblehut" not in repr(rows_of(store_url, table))


@pytest.mark.checklist("F13")
def test_what_lasts_is_as_it_was_after_the_removal(store_url: str) -> None:
    """No view is made anew, and a rebuild gives the same."""
    clock = FrozenClock(START)
    with opened(store_url, clock, window_turns=10) as memory:
        chat = memory.conversation("chat", user="alex")
        for n in range(25):
            chat.add("user", f"Hive {n} at the orchard gave {n} jars of honey.")
            chat.add("user", f"The gate of hive {n} has the code {7000 + n}.", expires=SOON if n % 2 else 2 * SOON)
        chat.add("user", "I live in Gouda.")
        memory.settle()

        def derived() -> list[Any]:
            topics = [(topic.id, topic.title, topic.messages) for topic in chat.topics(faded=True)]
            facts = [(fact.key, fact.value, fact.sources) for fact in memory.facts(user="alex")]
            return [chat.archived(), chat.episodes(), topics, facts]

        before = derived()
        for _ in range(2):
            clock.advance(SOON)
            assert memory.retain(dry_run=False).count in (12, 13)
            assert derived() == before
            assert memory.settle() == 0
            assert derived() == before
        assert found(memory, "gate code") == [
            content for content in found(memory, "gate code") if "code" not in content
        ]
        for view in ("facts", "topics"):
            memory.rebuild(view)
        memory.settle()
        assert derived()[2:] == before[2:]


@pytest.mark.checklist("F13")
def test_an_expiring_message_can_be_deleted_and_erased_before_its_time(store_url: str) -> None:
    clock = FrozenClock(START)
    with opened(store_url, clock) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", "I have a boat called Zephyr.")
        told = chat.command("Everword, remember this")
        assert told is not None
        assert told.statements
        one = chat.add("user", "The grumblewort grows by the gate.", expires=SOON)
        chat.add("user", "So does the second grumblewort.", expires=SOON)
        memory.settle()
        assert chat.delete(one.id).messages == 1
        assert "grows" not in str(found(memory, "grumblewort"))
        assert memory.profile(user="alex", wait=0).statements == told.statements, "it rests on another message"
        memory.erase(user="alex")
        assert b"grumblewort" not in held(store_url)
        clock.advance(SOON)
        assert memory.retain(dry_run=False).count == 0
        assert memory.verify().ok


@pytest.mark.checklist("F13")
def test_a_schedule_removes_what_expired_without_any_limit(store_url: str) -> None:
    clock = FrozenClock(START)
    with opened(store_url, clock) as memory:
        memory.conversation("chat", user="alex").add("user", "Until noon.", expires=SOON)
    clock.advance(SOON)
    with opened(store_url, clock, followers=True, retain_every=1) as memory:
        deadline = time.monotonic() + PATIENCE
        while not memory.verify().erased:
            assert time.monotonic() < deadline, "the schedule did nothing"


def test_what_is_written_into_the_seal_cannot_be_moved(tmp_path: Path) -> None:
    """Whoever changes in the database when something expires is found out."""
    url = str(tmp_path / "memory.db")
    clock = FrozenClock(START)
    with opened(url, clock) as memory:
        memory.conversation("chat", user="alex").add("user", "Until noon.", expires=SOON)
        assert memory.verify().ok

    def postpone(rows: list[dict[str, Any]]) -> None:
        rows[0]["expires_at"] += 1

    change(url, "messages", postpone)
    with opened(url, clock) as memory:
        assert not memory.verify().ok
