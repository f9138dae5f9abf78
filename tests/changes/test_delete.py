"""Deleting a message, a conversation, or what fits: it is gone from everything, what others said too stays, the chain
holds, and every process that has the store open knows at once. Who removed how many is kept, and nothing else of it."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from raw_tables import rows_of
from raw_tables import words_held as words_in

from everword import Draft, InvalidInput, Memory, NotFound, ScopeError
from everword.config import Settings
from everword.log.append_and_read import LAST_REMOVAL
from everword.ports import Request, Tx
from everword.testing import FrozenClock, ScriptedLLM
from everword.wiring import open_store

DAY = timedelta(days=1)


def keep_an_answer(tx: Tx) -> None:
    row: dict[str, Any] = {"space": "default", "id": "2026-01-01 k"}
    tx.put("answers", [row | {"request": b"r", "at": FrozenClock().now(), "status": 200, "body": None}])
    tx.put("answer_bodies", [row | {"body": b"you said grelbox"}])


# -- what is gone


@pytest.mark.every_store
@pytest.mark.checklist("F11")
def test_not_a_word_of_what_was_deleted_is_left(store_url: str) -> None:
    """Of each kind one word, and one look at the bytes: facts, refusals, summaries of three levels, packed topics, a
    day of a group, what was told by command, answers kept for a repeated request."""
    words = ("zorbling", "quuxberg", "flibbers", "snarkov", "vonkel")
    with closing(open_store(store_url, Settings())) as store:
        store.write(keep_an_answer)
    with Memory(store_url, window_turns=11, level_episodes=2, active_episodes=2) as memory:
        chat = memory.conversation("chat", user="alex")
        talk = [Draft("user", f"The harbour at hour {n} has {n} boats and a lighthouse.") for n in range(150)]
        chat.extend([Draft("user", "I live in Quuxberg. The harbour has zorbling boats.", id="m1"), *talk])
        channel = memory.conversation("all")
        channel.add("user", "We met Snarkov at the lighthouse today", author="alex", platform_id="p-7")
        channel.add("user", "It was a fine day with much wind", author="kim")
        memory.remember("Alex likes flibbers", user="alex")
        chat.command("Everword, remember that I have a dog called Vonkel")
        memory.settle()
        memory.digests()
        memory.profile(user="alex")
        assert max(episode.level for episode in chat.episodes()) >= 3
        assert words_in(store_url, *words) == list(words), "or this test looks in the wrong place"
        before = memory.verify()
        assert chat.delete("m1").left == ()
        assert channel.delete("p-7").conversations == {"all": 1}
        assert memory.delete(query="flibbers").messages == 1
        assert memory.delete(query="dog called vonkel").messages == 2, "and what memory answered"
        assert words_in(store_url, *words) == []
        assert [row["id"] for row in rows_of(store_url, "answer_bodies")] == [LAST_REMOVAL]
        assert len(rows_of(store_url, "answers")) == 1, "that it was done"
        memory.settle()
        memory.digests()
        after = memory.verify()
        assert (after.ok, after.root, after.erased) == (True, before.root, 5)
        assert words_in(store_url, *words) == []
        assert chat.episodes(), "made anew of what is left"
    assert words_in(store_url, *words) == []


@pytest.mark.checklist("F11")
def test_a_fact_with_another_source_stays_and_what_was_replaced_is_back(store_url: str) -> None:
    with Memory(store_url) as memory:
        chat = memory.conversation("chat", user="alex")
        first = chat.add("user", "I live in Delft.")
        again = chat.add("user", "As I said, I live in Delft.")
        moved = chat.add("user", "I moved to Leiden.")
        memory.settle()

        def places() -> list[tuple[str, tuple[str, ...]]]:
            return [(fact.value, fact.sources) for fact in memory.facts(user="alex") if fact.key == "location"]

        assert places() == [("Leiden", (moved.id,))]
        assert chat.delete(moved.turn, dry_run=True).views["facts"] >= 1
        chat.delete(moved.turn)
        assert places() == [("Delft", (first.id, again.id))]
        chat.delete(first.id)
        assert places() == [("Delft", (again.id,))]
        assert [message.id for message in memory.why(memory.facts(user="alex")[0].id, user="alex")] == [again.id]
        chat.delete(again.id)
        assert memory.facts(user="alex") == []


def test_a_fact_that_has_its_words_from_another_message_is_read_again(store_url: str) -> None:
    with Memory(store_url) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("assistant", "So you live in Delft?")
        chat.add("user", "I live in Delft.")
        memory.settle()
        before = memory.facts(user="alex")
        chat.delete(1)
        memory.settle()
        seen = memory.facts(user="alex")
        memory.rebuild("facts")
        memory.settle()
        assert memory.facts(user="alex") == seen
        assert [fact.value for fact in seen] == ["Delft"]
        assert len(before) <= len(seen)


@pytest.mark.parametrize("remove", ["delete", "erase"])
def test_a_fact_of_another_that_has_its_words_from_a_removed_message_goes(store_url: str, remove: str) -> None:
    """A model reads an answer with the question before it: the fact is of who answered, the word of who asked."""

    def read(request: Request) -> str:
        lines = request.messages[-1]["content"]
        fact = {
            "line": 2,
            "about": "alex",
            "category": "place",
            "key": "location",
            "value": "Quuxberg",
            "importance": 1,
        }
        return json.dumps({"facts": [fact | {"importance": 1}] if "2. alex: Yes, I live there" in lines else []})

    with Memory(store_url, memory=ScriptedLLM(default=read), followers=False, batch_seconds=0) as memory:
        channel = memory.conversation("all")
        channel.add("user", "Do you live in Quuxberg, alex?", author="kim")
        channel.add("user", "Yes, I live there since May.", author="alex")
        memory.settle()
        assert [fact.value for fact in memory.facts(user="alex")] == ["Quuxberg"]
        if remove == "delete":
            channel.delete(1)
        else:
            memory.erase(user="kim")
        assert memory.facts(user="alex") == []
        memory.settle()
        assert memory.facts(user="alex") == []
        assert words_in(store_url, "quuxberg") == []


def test_a_fact_about_somebody_whom_a_removed_message_named_goes(store_url: str) -> None:
    """A model reads "he" with the message before it, which says who that is."""

    def read(request: Request) -> str:
        fact = {"line": 2, "about": "Zorbert", "category": "place", "key": "location", "value": "Delft"}
        is_named = "Zorbert came" in request.messages[-1]["content"]
        return json.dumps({"facts": [fact | {"importance": 1}] if is_named else []})

    with Memory(store_url, memory=ScriptedLLM(default=read), followers=False, batch_seconds=0) as memory:
        chat = memory.conversation("chat", user="alex")
        first = chat.add("user", "My brother Zorbert came to see us yesterday.")
        chat.add("user", "He lives in Delft now.")
        memory.settle()
        assert [fact.subject for fact in memory.facts(user="alex") if fact.value == "Delft"] == ["Zorbert"]
        chat.delete(first.id)
        assert words_in(store_url, "zorbert") == []
        memory.settle()
        assert words_in(store_url, "zorbert") == []


def test_what_was_told_goes_with_the_telling_and_what_it_had_changed_is_back(store_url: str) -> None:
    with Memory(store_url) as memory:

        def told() -> list[str]:
            return sorted(statement.text for statement in memory.profile(user="alex", wait=0).statements)

        memory.remember("Alex lives in Delft", user="alex")
        memory.remember("Alex likes tea", user="alex")
        memory.remember("Alex lives in Leiden", user="alex")
        assert told() == ["alex likes tea.", "alex lives in Leiden."]
        memory.delete(query="Leiden")
        assert told() == ["alex likes tea.", "alex lives in Delft."]
        memory.remember("Alex likes tea", user="alex")
        chat = memory.conversation("profile:alex")
        chat.delete(chat.history()[1].id)
        assert told() == ["alex likes tea.", "alex lives in Delft."], "it was said twice"
        fact = next(fact for fact in memory.facts(user="alex") if fact.value == "Delft")
        change = memory.edit_fact(fact.id, "Gouda", user="alex")
        chat.delete(change.id)
        assert [fact.value for fact in memory.facts(user="alex") if fact.key == "location"] == ["Delft"]
        forgotten = memory.forget("tea", user="alex")
        assert forgotten.id is not None
        chat.delete(forgotten.id)
        assert told() == ["alex lives in Delft."], "the words of the request are gone, and not what it did"
        memory.rebuild("facts")
        memory.settle()
        assert [fact.value for fact in memory.facts(user="alex")] == ["Delft"]
        assert memory.verify().ok


def test_what_remember_this_meant_goes_with_the_message_that_said_it(store_url: str) -> None:
    with Memory(store_url) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", "I keep a boat called Zorbling in Leiden.")
        answer = chat.command("Everword, remember this")
        assert answer is not None
        assert "Zorbling" in answer.text
        memory.settle()
        assert "Zorbling" in memory.profile(user="alex", wait=0).text
        assert memory.delete(query="zorbling").messages == 2, "the message, and the answer that repeats it"
        assert "Zorbling" not in memory.profile(user="alex", wait=0).text
        assert words_in(store_url, "zorbling") == []
        assert memory.verify().ok


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"], indirect=True)
def test_a_request_that_is_deleted_while_it_is_merged_leaves_nothing(store_url: str) -> None:
    with Memory(store_url, followers=False) as other:

        def delete_at_once(_: object) -> str:
            if len(list(other.export())) == 1 and not other.verify().erased:
                other.delete(query="zorbling")
            return "not what was asked for, so the rules merge it"

        model = ScriptedLLM(default=delete_at_once)
        with Memory(store_url, memory=model, followers=False) as memory:
            with pytest.raises(InvalidInput):
                memory.remember("Alex likes zorbling", user="alex")
            assert memory.profile(user="alex", wait=0).statements == ()
        assert words_in(store_url, "zorbling") == []


def test_a_name_that_was_deleted_is_no_name_any_more(store_url: str) -> None:
    with Memory(store_url) as memory:
        channel = memory.conversation("all")
        channel.add("user", "My name is Zorbert.", author="a1")
        memory.settle()
        assert [name.text for member in memory.people() for name in member.names] == ["Zorbert"]
        channel.delete(1)
        assert [name.text for member in memory.people() for name in member.names] == []
        assert words_in(store_url, "zorbert") == []


# -- what is meant


@pytest.mark.checklist("F11")
def test_a_message_is_named_by_its_id_its_turn_or_its_platforms_id(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        chat = memory.conversation("chat", user="alex")
        messages = [chat.add("user", f"number {n}", platform_id=str(n)) for n in (4, 1, 2, 3)]
        chat.delete(messages[0].id)
        chat.delete("1")
        chat.delete(3)
        assert [message.content for message in chat.history()] == ["number 3"]
        for unknown in (messages[0].id, "1", 3, "nobody", 99):
            with pytest.raises(NotFound, match="nothing was deleted"):
                chat.delete(unknown)
        with pytest.raises(InvalidInput):
            chat.delete(0)
        with pytest.raises(ScopeError):
            memory.conversation("chat", user="kim").delete(4)
        with pytest.raises(NotFound):
            memory.conversation("other").delete(messages[3].id)
        assert chat.extend([Draft("user", "number 1", platform_id="1")])[0].message.erased, "delivered again, kept out"
        assert memory.verify().ok


@pytest.mark.checklist("F12")
def test_what_fits_goes_and_a_dry_run_names_it_first(store_url: str) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    with Memory(store_url, followers=False) as memory:
        for number, (place, user, author) in enumerate(
            [("a", "alex", "alex"), ("b", "kim", "kim"), ("all", None, "alex"), ("all", None, "kim")]
        ):
            draft = Draft("user", f"The PIN  is 12{number}4, said {author}", author, time=start + number * DAY)
            memory.conversation(place, user=user).extend([draft])
        memory.settle()
        with pytest.raises(InvalidInput, match="give at least one"):
            memory.delete()
        with pytest.raises(InvalidInput, match="is empty"):
            memory.delete(query="  ")
        with pytest.raises(NotFound, match="nothing was deleted"):
            memory.delete(query="no such words", dry_run=True)
        assert memory.delete(user="alex", dry_run=True).conversations == {"a": 1, "all": 1}
        preview = memory.delete(query="the pin is", before=start + 3 * DAY, dry_run=True)
        assert (preview.id, preview.dry_run, preview.conversations) == ("", True, {"a": 1, "all": 1, "b": 1})
        assert preview.views["index"] == 3
        assert len(list(memory.export())) == 4
        assert memory.verify().erased == 0
        assert memory.audit() == []
        gone = memory.delete(query="the pin is", before=start + 3 * DAY, user="alex")
        assert (gone.messages, gone.dry_run, gone.conversations) == (2, False, {"a": 1, "all": 1})
        assert [message.author for message in memory.export() if not message.erased] == ["kim", "kim"]


@pytest.mark.checklist("F12")
def test_a_conversation_goes_as_a_whole_and_its_owner_may_begin_again(store_url: str) -> None:
    with Memory(store_url) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.extend([Draft("user", f"I have {n} parrots and a walrus") for n in range(3)])
        memory.conversation("other", user="alex").add("user", "parrots are here, too")
        memory.settle()
        assert memory.delete_conversation("chat", dry_run=True).messages == 3
        assert memory.delete_conversation("chat").conversations == {"chat": 3}
        assert [conversation.id for conversation in memory.conversations()] == ["other"]
        assert memory.search("walrus", limit=5, floor=0.5) == []
        assert (chat.history(), chat.topics(), chat.episodes()) == ([], [], [])
        with pytest.raises(NotFound, match="nothing was deleted"):
            memory.delete_conversation("chat")
        with pytest.raises(NotFound):
            memory.delete_conversation("never there")
        with pytest.raises(ScopeError):
            memory.conversation("chat", user="kim").add("user", "mine now?")
        assert chat.add("user", "again").turn == 4
        assert memory.verify().ok


# -- others at the same store


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"], indirect=True)
@pytest.mark.checklist("F11")
def test_whoever_has_the_store_open_finds_nothing_once_it_is_deleted(store_url: str) -> None:
    with Memory(store_url) as memory, Memory(store_url, followers=False) as other:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", "My locker opens with flibber. I like zorbling.")
        chat.add("user", "And the parrots like figs.")
        memory.settle()
        theirs = other.conversation("chat", user="alex")

        def seen() -> str:
            hits = [hit.message.content for hit in other.search("flibber zorbling locker", user="alex", limit=50)]
            context = [part["content"] for part in theirs.context("flibber zorbling locker?", markers=False).messages]
            topics = [
                message.content for topic in theirs.topics() for message in theirs.get_full_topic_history(topic.id)
            ]
            facts = [fact.value for fact in other.facts(user="alex")]
            told = [other.profile(user="alex", wait=0).text]
            return " ".join([*hits, *context[:-1], *topics, *facts, *told])

        assert seen().count("zorbling") >= 3
        chat.delete(1)
        assert not {"flibber", "zorbling", "locker"} & {*seen().replace(".", " ").split()}
        assert "parrots" in seen()


# -- the audit


def test_each_removal_leaves_a_line_that_names_nobody(store_url: str) -> None:
    with Memory(store_url, clock=FrozenClock(), retain_messages=30) as memory:
        now = FrozenClock().now()
        chat = memory.conversation("chat", user="alexandra-77")
        chat.add("user", "one zorbling")
        chat.add("user", "two zorblings")
        memory.conversation("kims", user="kim").add("user", "old parrots", time=now - 90 * DAY)
        memory.conversation("kims", user="kim").add("user", "new parrots")
        memory.settle()
        chat.delete(1)
        memory.retain(dry_run=False)
        memory.erase(user="alexandra-77")
        memory.delete_conversation("kims")
        lines = [(line.kind, line.by, line.what, line.count, line.at) for line in memory.audit()]
        assert sorted(lines) == [
            ("delete", "program", "conversation", 1, now),
            ("delete", "program", "messages", 1, now),
            ("erase", "program", "messages", 1, now),
            ("retention", "program", "messages", 1, now),
        ]
        assert len(memory.audit(limit=2)) == 2
        assert memory.audit(space="elsewhere") == []
        assert words_in(store_url, "alexandra-77", "zorbling", "parrots") == []
        assert memory.verify().ok


# -- after an erasure


def test_an_erased_persons_chats_are_not_listed_as_channels(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        memory.conversation("private", user="alex").add("user", "hello")
        memory.conversation("all").add("user", "hello", author="alex")
        memory.conversation("all").add("user", "hello", author="kim")
        memory.erase(user="alex")
        assert [(one.id, one.user) for one in memory.conversations()] == [("all", None)]
        memory.conversation("private", user="alex").add("user", "back again")
        assert [(one.id, one.user) for one in memory.conversations()] == [("private", "alex"), ("all", None)]


def test_an_exported_message_that_was_erased_with_its_conversations_name_stays_out(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db"), followers=False) as memory:
        chat = memory.conversation("telegram:alex", user="alex")
        id = chat.add("user", "hello").id
        memory.erase(user="alex")
        (again,) = chat.extend([Draft("user", "hello", id=id)])
        assert (again.new, again.message.erased) == (False, True)
        assert memory.verify().ok
