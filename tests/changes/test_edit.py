"""Editing a message: everything follows the newest version, the older ones are proved by the log and go with the
message, and another text for a message that is known is never taken or dropped in silence."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from typing import Any

import pytest
from raw_tables import Row, change, path_of, rows_of

from everword import Draft, InvalidInput, Memory, NotFound, ScopeError
from everword.cli.opening import without_embedder
from everword.config import Settings
from everword.errors import ModelBusy
from everword.log.access import Access
from everword.log.append_and_read import set_cursor
from everword.memory.blocking import BlockingMemory
from everword.memory.memory import MemoryEngine
from everword.memory.transfer import copy_store
from everword.model import ROLES, Batch
from everword.ports import Request
from everword.testing import FrozenClock, ScriptedLLM
from everword.topics.stored_topics import decode_pack
from everword.wiring import build, open_store

LOG = ("changes", "messages")


def raw_bytes(url: str) -> bytes:
    """All bytes of the files of a store, and what is packed in them."""
    packs = (
        [] if url.startswith("json:") else [decode_pack(bytes(row["packed"])) for row in rows_of(url, "topic_packs")]
    )
    path = path_of(url)
    return (b"".join(file.read_bytes() for file in path.parent.glob(path.name + "*")) + repr(packs).encode()).lower()


def derived_text(url: str) -> str:
    """All rows of the tables that are made from the log."""
    tables = ["entries", "tiers", "chunks", "episodes", "facts", "findings", "statements", "people", "days", "digests"]
    tables += ["topics", "topic_turns", "topic_summaries", "answers", "answer_bodies"]
    packs = (
        [] if url.startswith("json:") else [decode_pack(bytes(row["packed"])) for row in rows_of(url, "topic_packs")]
    )
    return repr([packs, *(rows_of(url, table) for table in tables)]).lower()


# -- what follows


@pytest.mark.parametrize("kind", ["sqlite", "json"], indirect=True)
@pytest.mark.checklist("F11")
def test_everything_follows_the_newest_version_and_not_a_word_outlives_the_message(store_url: str) -> None:
    old = ("quuxberg", "zorbling", "snarkov")
    new = ("flibtown", "grelboxing", "vonkelov")
    with Memory(store_url, window_turns=11, level_episodes=2, active_episodes=2) as memory:
        chat = memory.conversation("chat", user="alex")
        talk = [Draft("user", f"The harbour at hour {n} has {n} boats and a lighthouse.") for n in range(40)]
        chat.extend([Draft("user", "I live in Quuxberg. I like zorbling.", id="m1"), *talk])
        channel = memory.conversation("all")
        channel.add("user", "We met Snarkov at the lighthouse today", author="alex", platform_id="p-7")
        channel.add("user", "It was a fine day with much wind", author="kim")
        memory.settle()
        memory.digests()
        before = memory.verify()
        seen = derived_text(store_url)
        assert [word for word in old if word not in seen] == [], "or this test looks in the wrong place"
        edited = chat.edit("m1", "I live in Flibtown. I like grelboxing.")
        assert (edited.turn, edited.id, edited.content) == (1, "m1", "I live in Flibtown. I like grelboxing.")
        channel.edit("p-7", "We met Vonkelov at the lighthouse today")
        seen = derived_text(store_url)
        assert [word for word in old if word in seen] == []
        assert memory.search("zorbling", floor=0.5) == []
        assert [hit.message.id for hit in memory.search("grelboxing", limit=1)] == ["m1"]
        memory.settle()
        assert sorted(fact.value for fact in memory.facts(user="alex")) == [
            "Flibtown",
            "grelboxing",
            "met Vonkelov at the lighthouse",
        ]
        assert "Vonkelov" in memory.digests()[0].text
        context = chat.context("Where do I live?", markers=False).messages
        assert "Flibtown" in str(context)
        seen = derived_text(store_url)
        assert [word for word in old if word in seen] == []
        assert [word for word in new if word not in seen] == []
        assert next(message.content for message in memory.export(conversation="chat")) == edited.content
        after = memory.verify()
        assert (after.ok, after.root == before.root) == (True, False)
        assert [(state.view, state.behind, state.set_aside) for state in memory.stats().views if state.behind] == []
        chat.delete("m1")
        channel.delete("p-7")
        assert [word for word in (*old, *new) if word.encode() in raw_bytes(store_url)] == []
        assert (memory.verify().ok, memory.verify().erased) == (True, 2)
    assert [word for word in (*old, *new) if word.encode() in raw_bytes(store_url)] == []


@pytest.mark.checklist("F11")
def test_what_an_edit_makes_is_what_a_rebuild_makes(store_url: str) -> None:
    with Memory(store_url, window_turns=6, level_episodes=2) as memory:
        chat = memory.conversation("chat", user="alex")
        for number in range(14):
            chat.add("user", f"I planted {number + 2} tulips near the old windmill.")
        chat.add("user", "I work as a baker.")
        chat.add("assistant", "Do you live in Delft?")
        chat.add("user", "Yes, I live in Delft.")
        memory.settle()
        chat.edit(15, "I work as a carpenter.")
        chat.edit(16, "Do you live in Gouda?")
        chat.edit(3, "I saw 4 herons near the old windmill.")

        def known() -> list[Any]:
            memory.settle()
            facts = sorted((fact.key, fact.value, fact.sources, fact.active) for fact in memory.facts(user="alex"))
            episodes = [(episode.id, episode.summary) for episode in chat.episodes()]
            topics = [(topic.title, topic.messages) for topic in chat.topics(faded=True)]
            tiers = sorted(rows_of(store_url, "tiers"), key=lambda row: row["turn"])
            hits = [sorted(hit.message.id for hit in memory.search(query)) for query in ("herons", "tulips", "baker")]
            return [facts, episodes, topics, tiers, hits]

        seen = known()
        assert "carpenter" in [fact[1] for fact in seen[0]]
        for view in ("index", "tiers", "window", "facts", "digests", "topics"):
            memory.rebuild(view)
        assert known() == seen


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"], indirect=True)
@pytest.mark.checklist("F11")
def test_whoever_has_the_store_open_finds_the_new_text_alone(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory, Memory(store_url, followers=False) as other:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", "My locker opens with zorbling.")
        chat.add("user", "And the parrots like figs.")
        memory.settle()
        theirs = other.conversation("chat", user="alex")
        assert [hit.message.turn for hit in other.search("zorbling", user="alex", limit=1)] == [1]
        chat.edit(1, "My locker opens with flibber.")
        found = [hit.message.content for hit in other.search("zorbling locker", user="alex")]
        shown = [message["content"] for message in theirs.context("my locker?", markers=False).messages]
        assert "zorbling" not in str([found, shown])
        assert "flibber" in str(shown)
        assert other.settle() == 0
        assert [hit.message.content for hit in other.search("locker", user="alex", limit=1)] == [
            "My locker opens with flibber."
        ]


# -- nothing is left undone


def test_an_edit_before_a_crash_is_followed_by_the_next_process_and_is_no_failure(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", "I live in Delft.")
        memory.settle()
        chat.add("user", "I have a dog called Rex.")  # no view has read this one
        chat.edit(1, "I live in Leiden.")
        chat.edit(2, "I have a dog called Max.")
        rows = rows_of(store_url, "set_aside")
        assert {(row["view"], row["turn"], row["failures"]) for row in rows} == {
            ("facts", 1, 0),
            ("index", 1, 0),
            ("tiers", 1, 0),
        }
        states = {state.view: state for state in memory.stats().views}
        assert (states["index"].behind, states["index"].set_aside, states["index"].error) == (2, 0, None)
        assert memory.facts(user="alex") == []
    with Memory(store_url, followers=False) as memory:
        assert memory.settle() == 0
        assert sorted(fact.value for fact in memory.facts(user="alex")) == ["Leiden", "Max (dog)"]
        assert rows_of(store_url, "set_aside") == []


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"], indirect=True)
def test_a_version_that_came_while_the_old_one_was_read_wins(store_url: str) -> None:
    with Memory(store_url, followers=False) as other:
        theirs = other.conversation("chat", user="alex")

        def edit_at_once(request: Request) -> str:
            place = "Delft" if "Delft" in request.messages[-1]["content"] else "Leiden"
            if place == "Delft":
                theirs.edit(1, "I live in Leiden now.")
            fact = {"line": 1, "about": "alex", "category": "identity", "key": "location", "value": place}
            return json.dumps({"facts": [fact | {"importance": 1}]})

        model = ScriptedLLM(default=edit_at_once)
        with Memory(store_url, memory=model, followers=False, batch_seconds=0) as memory:
            memory.conversation("chat", user="alex").add("user", "I live in Delft now.")
            memory.settle()
            assert [fact.value for fact in memory.facts(user="alex")] == ["Leiden"]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"], indirect=True)
def test_while_a_model_is_away_rules_stand_in_and_it_is_asked_again(store_url: str) -> None:
    away = ScriptedLLM(default=ModelBusy("away"))
    clock = FrozenClock()
    with Memory(store_url, memory=away, followers=False, batch_seconds=0, clock=clock) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", "Hello there.")
        with closing(open_store(store_url, Settings())) as store:
            store.write(lambda tx: set_cursor(tx, "facts", "default", "chat", 1))
        chat.edit(1, "I live in Leiden.")
        assert memory.settle() == 0, "what stands in counts as done"
        assert [fact.value for fact in memory.facts(user="alex")] == ["Leiden"]
        state = next(state for state in memory.stats().views if state.view == "facts")
        assert (state.behind, state.waiting, state.standing_in, state.set_aside) == (1, 1, 1, 0)
    asked = ScriptedLLM(default='{"facts": []}')
    clock.advance(timedelta(days=1))
    with Memory(store_url, memory=asked, followers=False, batch_seconds=0, clock=clock) as memory:
        memory.settle()
        assert rows_of(store_url, "set_aside") == []


# -- which message, and who may


def test_a_message_is_named_by_its_id_its_turn_or_its_platforms_id(store_url: str) -> None:
    with Memory(store_url, followers=False, clock=FrozenClock()) as memory:
        chat = memory.conversation("chat", user="alex")
        messages = [chat.add("user", f"number {n}", platform_id=str(n), metadata={"n": n}) for n in (4, 1, 2, 3)]
        chat.edit(messages[0].id, "first")
        chat.edit("1", "second", metadata={"n": 9})
        assert chat.edit(3, "third") == chat.history()[2]
        assert [(m.content, m.metadata["n"]) for m in chat.history()] == [
            ("first", 4),
            ("second", 9),
            ("third", 2),
            ("number 3", 3),
        ]
        chat.delete(4)
        for unknown in (4, "3", "nobody", 99):
            with pytest.raises(NotFound, match="nothing was edited"):
                chat.edit(unknown, "x")
        wrong: list[tuple[int, Any, dict[str, Any]]] = [(0, "x", {}), (1, "  ", {}), (1, "\x00", {}), (1, 7, {})]
        for turn, text, metadata in wrong:
            with pytest.raises(InvalidInput):
                chat.edit(turn, text, metadata=metadata)
        with pytest.raises(ScopeError):
            memory.conversation("chat", user="kim").edit(1, "x")
        with pytest.raises(NotFound):
            memory.conversation("other").edit(messages[0].id, "x")
        changes = len(rows_of(store_url, "changes"))
        assert chat.edit(1, "first") == chat.edit(1, "first", metadata={"n": 4}) == chat.history()[0]
        assert len(rows_of(store_url, "changes")) == changes == 3, "the same text is no change"
        assert memory.verify().ok


def test_a_users_key_edits_what_is_that_users_and_the_change_says_by_which_key(store_url: str) -> None:
    settings = without_embedder(Settings())
    with closing(open_store(store_url, settings)) as store:
        engine = MemoryEngine(lambda: build(settings, store=store))
        with BlockingMemory(engine) as memory:
            memory.conversation("all").add("user", "mine", author="alex")
            memory.conversation("all").add("user", "not mine", author="kim")
            memory.conversation("kims", user="kim").add("user", "private")
            key = Access("k7", frozenset(["default"]), user="alex")

            def edit(conversation: str, turn: int) -> str:
                chat = engine.seen_by(key).conversation(conversation)
                return memory.run(lambda _: chat.edit(turn, "changed")).content

            assert edit("all", 1) == "changed"
            for place in (("all", 2), ("kims", 1)):
                with pytest.raises(NotFound):
                    edit(*place)
            (message, _) = memory.conversation("all").history(versions=True)
            assert [version.by for version in message.versions] == ["k7"]
            assert memory.audit() == [], "an edit removes nothing"


# -- versions


@pytest.mark.checklist("F11")
def test_history_shows_every_version_with_its_times(store_url: str) -> None:
    clock = FrozenClock()
    with Memory(store_url, followers=False, clock=clock) as memory:
        chat = memory.conversation("chat", user="alex")
        said = chat.add("user", "at 7", metadata={"name": "Alex"}).time
        chat.add("user", "never edited")
        times = []
        for text in ("at 8", "at 9"):
            clock.advance(timedelta(minutes=5))
            times.append(clock.now())
            chat.edit(1, text, metadata={"name": "Al"})
        assert [message.versions for message in chat.history()] == [(), ()]
        (message, other) = chat.history(versions=True)
        assert other.versions == ()
        assert message.content == "at 9"
        assert message.time == said
        assert [(v.content, dict(v.metadata), v.since, v.until, v.by) for v in message.versions] == [
            ("at 7", {"name": "Alex"}, said, times[0], "program"),
            ("at 8", {"name": "Al"}, times[0], times[1], "program"),
        ]
        assert [message.content for message in chat.history(limit=1, before=2, versions=True)] == ["at 9"]


# -- another text for a message that is known


@pytest.mark.checklist("F11")
def test_another_text_for_a_known_message_is_said_and_taken_only_if_asked(store_url: str) -> None:
    with Memory(store_url) as memory:
        chat = memory.conversation("chat", user="alex")
        assert chat.add("user", "at 7", platform_id="1001").kept == "new"
        assert chat.add("user", "at 7", platform_id="1001").kept == "known"
        refused = chat.add("user", "at 8", platform_id="1001")
        assert (refused.kept, refused.content) == ("refused", "at 7")
        edited = chat.add("user", "at 8", platform_id="1001", on_edit="version")
        assert (edited.kept, edited.content) == ("edited", "at 8")
        assert chat.add("user", "at 8", platform_id="1001", on_edit="version").kept == "known"
        assert chat.add("user", "at 7", platform_id="1001").kept == "known", "it once said so"
        assert chat.history()[0].kept is None
        assert chat.add("assistant", "at 8", platform_id="1001", on_edit="version").kept == "refused"
        drafts = [Draft("user", text, id="m2") for text in ("one", "two", "two", "one")]
        added = chat.extend(drafts, on_edit="version")
        assert [(addition.kept, addition.new, addition.message.content) for addition in added] == [
            ("new", True, "one"),
            ("edited", False, "two"),
            ("known", False, "two"),
            ("edited", False, "one"),
        ]
        chat.delete("1001")
        assert chat.add("user", "at 9", platform_id="1001", on_edit="version").kept == "erased"
        with pytest.raises(InvalidInput, match="on_edit"):
            memory.add_many([Batch("default", "chat", "alex", drafts, on_edit="never")])  # type: ignore[arg-type]
        memory.settle()
        assert memory.verify().ok


def test_a_reply_is_not_made_to_a_text_that_was_refused(store_url: str) -> None:
    with Memory(store_url, chat=ScriptedLLM(default="Fine."), followers=False) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.reply("at 7?", platform_id="1001")
        with pytest.raises(InvalidInput, match="a different text"):
            chat.reply("at 8?", platform_id="1001")
        chat.edit("1001", "at 8?")
        assert chat.reply("at 8?", platform_id="1001").text == "Fine."
        assert [message.content for message in chat.history()] == ["at 8?", "Fine.", "Fine."]


# -- commands


def test_what_was_told_by_command_follows_the_new_words(store_url: str) -> None:
    with Memory(store_url) as memory:
        chat = memory.conversation("chat", user="alex")

        def told() -> str:
            memory.settle()
            return memory.profile(user="alex", wait=0).text

        answer = chat.command("Everword, remember that I have a dog called Rex")
        assert answer is not None
        assert "Rex" in told()
        chat.edit(answer.message.id, "Everword, remember that I have a dog called Max")
        assert ("Rex" in told(), "Max" in told()) == (False, True)
        with pytest.raises(InvalidInput, match="somebody else"):
            chat.edit(answer.message.id, "Everword, remember that Kim has a dog called Tim")
        chat.edit(answer.message.id, "I have a cat called Tom")
        assert ("Max" in told(), "Tom" in told()) == (False, True), "it is talk now, and read as such"
        memory.remember("Alex likes tea", user="alex")
        own = memory.conversation("profile:alex")
        own.edit(1, "Alex likes coffee")
        assert ("tea" in told(), "coffee" in told()) == (False, True)
        request = memory.forget("coffee", user="alex").id or ""
        fact = next(fact for fact in memory.facts(user="alex"))
        decided = memory.edit_fact(fact.id, "Tim (cat)", user="alex").id
        for id in (request, decided):
            with pytest.raises(InvalidInput, match="undo it"):
                own.edit(id, "something else")
        refused = own.extend([Draft("user", "else", id=request)], on_edit="version")
        assert [addition.kept for addition in refused] == ["refused"]
        assert memory.verify().ok


# -- the proof


def of_change(number: int, column: str, value: Callable[[Any], Any]) -> Callable[[list[Row]], None]:
    def edit(rows: list[Row]) -> None:
        row = next(row for row in rows if row["number"] == number)
        row[column] = value(row[column])

    return edit


def other_words(value: Any) -> Any:
    return value.replace("at 7", "at 5") if isinstance(value, str) else {**value, "content": "at 5"}


FORGERIES: dict[str, tuple[str, Callable[[list[Row]], object]]] = {
    "an older version": ("changes", of_change(1, "before", other_words)),
    "who did it": ("changes", of_change(1, "by", lambda _: "somebody")),
    "what is not there": ("changes", of_change(1, "before", lambda value: "{}" if isinstance(value, str) else {})),
    "the first change is missing": ("changes", lambda rows: rows.pop(0)),
    "the last change is missing": ("changes", lambda rows: rows.pop()),
    "all changes are missing": ("changes", list.clear),
    "the text, without a change": ("messages", lambda rows: rows[0].update(content="at 6")),
    "the text of before the change": ("messages", lambda rows: rows[0].update(content="at 7")),
}


@pytest.mark.parametrize("kind", ["sqlite", "json"], indirect=True)
def test_a_version_that_was_changed_behind_the_engines_back_is_found(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.extend([Draft("user", "at 7"), Draft("user", "or later")])
        chat.edit(1, "at 8")
        chat.edit(1, "at 9")
    whole = {table: rows_of(store_url, table) for table in LOG}
    for name, (table, edit) in FORGERIES.items():
        change(store_url, table, edit)
        with Memory(store_url, followers=False) as memory:
            found = memory.verify()
        assert not found.ok, name
        assert {(fault.space, fault.conversation) for fault in found.faults} == {("default", "chat")}, name
        change(store_url, table, lambda rows: rows.__setitem__(slice(None), whole[table]))  # noqa: B023
    with Memory(store_url, followers=False) as memory:
        assert memory.verify().ok
    if not store_url.startswith("json:"):  # which refuses to open such a file
        change(store_url, "changes", of_change(2, "before", lambda _: "{"))
        with Memory(store_url, followers=False) as memory:
            assert not memory.verify().ok


def test_a_copy_has_the_versions_and_proves_them(store_url: str, addresses: Callable[[str, str], str]) -> None:
    with Memory(store_url) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.extend([Draft(role, f"{role} at 7") for role in ROLES])
        chat.edit(2, "at 8")
        memory.settle()
        proof = memory.verify()
        shown = chat.history(versions=True)
    for salvage in (None, lambda _: None):
        target = addresses("sqlite", f"copy{salvage is None}")
        with closing(open_store(store_url, Settings())) as source, closing(open_store(target, Settings())) as copy:
            copy_store(source, copy, lambda *_: None, salvage)
        with Memory(target, followers=False) as memory:
            assert memory.verify() == proof
            assert memory.conversation("chat").history(versions=True) == shown
            memory.conversation("chat").edit(2, "at 9")
            assert memory.verify().ok
