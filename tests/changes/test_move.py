"""Moving a conversation, merging two people and taking it back: the log says who it is now and proves what it was, and
all that is known is what a rebuild from the log gives."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from raw_tables import rows_of

from everword import InvalidInput, Memory, NotFound, ScopeError
from everword.ports import Request
from everword.testing import FrozenClock, ScriptedLLM

VIEWS = ("index", "tiers", "window", "facts", "digests", "topics")


def seen(memory: Memory, *people: str) -> dict[str, Any]:
    """What can be seen of a memory."""
    memory.settle()
    found: dict[str, Any] = {}
    for person in people:
        facts = memory.facts(user=person)
        found[f"facts of {person}"] = sorted((fact.id, fact.value, fact.speaker, fact.audience) for fact in facts)
        found[f"statements of {person}"] = [s.text for s in memory.profile(user=person, wait=0).statements]
        found[f"search of {person}"] = [h.message.id for h in memory.search("tea Berlin harbour", user=person)]
    for conversation in memory.conversations():
        chat = memory.conversation(conversation.id)
        found[conversation.id] = (
            conversation.user,
            [(message.author, message.user, message.content) for message in chat.history()],
            [episode.summary for episode in chat.episodes()],
            [(topic.title, topic.messages) for topic in chat.topics(faded=True)],
        )
    found["people"] = sorted((member.id, sorted(name.text for name in member.names)) for member in memory.people())
    return found


def rebuilt(memory: Memory, *people: str) -> dict[str, Any]:
    for view in VIEWS:
        memory.rebuild(view)
    return seen(memory, *people)


def talk(memory: Memory) -> None:
    """Two ids of one person, in chats of their own and in a channel, and somebody else."""
    anonymous = memory.conversation("anonymous-17", user="anon")
    for turn in range(7):
        anonymous.add("user", f"At hour {turn} I was at the harbour, and I like tea number {turn}.")
        anonymous.add("assistant", "How nice.")
    anonymous.add("user", "I live in Berlin.")
    memory.remember("I collect stamps", user="anon")
    channel = memory.conversation("all")
    channel.add("user", "I like tea in the morning.", author="anon", name="Al")
    channel.add("user", "I like the harbour.", author="kim", name="Kim")
    memory.conversation("own", user="alex").add("user", "I live in Delft.")
    memory.remember("I play chess", user="alex")
    memory.documents().put(("notes",), "one", {"text": "a note"}, user="anon")


# -- what follows


@pytest.mark.every_store
@pytest.mark.checklist("F12")
def test_two_ids_become_one_person_and_two_again(store_url: str) -> None:
    people = ("anon", "alex", "kim")
    with Memory(store_url, window_turns=11, followers=False) as memory:
        talk(memory)
        before = seen(memory, *people)
        preview = memory.merge_users("anon", into="alex", dry_run=True)
        assert (preview.id, seen(memory, *people)) == ("", before)
        merge = memory.merge_users("anon", into="alex")
        assert (merge.moved, merge.conversations) == (preview.moved, preview.conversations)
        assert merge.moved["messages"] == 17
        behind = {view.view: view.behind for view in memory.stats().views}
        assert [behind[view] for view in ("index", "tiers", "facts")] == [0, 0, 0], "nothing is embedded or read again"
        after = seen(memory, *people)
        assert after["facts of anon"] == after["statements of anon"] == after["search of anon"] == []
        assert {"Berlin", "Delft"} & {fact.value for fact in memory.facts(user="alex")} == {"Delft"}
        assert after["statements of alex"] == ["Al collects stamps.", "alex plays chess."]
        assert {conversation.user for conversation in memory.conversations()} == {"alex", None}
        assert memory.documents().get(("notes",), "one").user == "alex"  # type: ignore[union-attr]
        assert after["people"] == [("alex", ["Al"]), ("kim", ["Kim"])]
        assert memory.verify().ok
        assert rebuilt(memory, *people) == after
        back = memory.undo_move(merge.id)
        assert back.moved["messages"] == 17
        assert seen(memory, *people) == before
        assert memory.documents().get(("notes",), "one").user == "anon"  # type: ignore[union-attr]
        assert rebuilt(memory, *people) == before
        assert memory.verify().ok
        assert [(line.kind, line.count) for line in memory.audit()] == [("undo", 17), ("merge", 17)]


@pytest.mark.every_store(in_part=("sqlite", "postgresql"))
@pytest.mark.checklist("F12")
def test_a_chat_that_signs_in_takes_along_what_was_said_in_it(store_url: str) -> None:
    people = ("anon", "alex")
    with Memory(store_url, followers=False) as memory:
        chat = memory.conversation("anonymous-17", user="anon")
        chat.add("user", "I live in Berlin.")
        chat.command("Everword, remember that I like tea", addressed=True)
        memory.conversation("other", user="anon").add("user", "I have a boat.")
        memory.remember("I collect stamps", user="anon")
        before = seen(memory, *people)
        move = memory.move_conversation("anonymous-17", to="alex-1", user="alex")
        assert (move.user, move.into, move.conversations) == ("anon", "alex", {"anonymous-17": "alex-1"})
        with pytest.raises(ScopeError):
            memory.conversation("alex-1", user="anon").add("user", "Still me?")
        after = seen(memory, *people)
        assert {value for _, value, *_ in after["facts of alex"]} == {"Berlin", "tea"}
        assert after["statements of alex"] == ["alex likes tea."]
        assert after["statements of anon"] == ["anon collects stamps."]
        assert {hit.message.conversation for hit in memory.search("Berlin", user="alex")} == {"alex-1"}
        assert memory.search("Berlin", conversation="anonymous-17") == []
        assert rebuilt(memory, *people) == after
        assert memory.verify().ok
        since = memory.conversation("alex-1", user="alex").add("user", "I live in Rome.")
        memory.undo_move(move.id)
        assert memory.conversation("anonymous-17").history()[-1].user == "anon", (
            "what was said since goes with its chat"
        )
        memory.conversation("anonymous-17", user="anon").delete(since.id)
        assert [value for _, value, *_ in seen(memory, *people)["facts of anon"]] == [
            value for _, value, *_ in before["facts of anon"]
        ]
        assert memory.verify().ok


@pytest.mark.checklist("F12")
def test_who_has_said_nothing_else_is_moved_as_a_whole(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db"), followers=False) as memory:
        memory.conversation("anonymous-17", user="anon").add("user", "I live in Berlin.")
        memory.remember("I collect stamps", user="anon")
        memory.move_conversation("anonymous-17", user="alex")
        assert [statement.text for statement in memory.profile(user="alex", wait=0).statements] == [
            "alex collects stamps."
        ]
        assert [conversation.id for conversation in memory.conversations()] == ["profile:alex", "anonymous-17"]
        with pytest.raises(NotFound):
            memory.merge_users("anon", into="alex")


@pytest.mark.checklist("F12")
def test_somebody_who_never_spoke_is_merged_with_their_notes_and_names_and_gets_them_back(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db"), followers=False) as memory:
        memory.documents().put(("notes",), "one", {"text": "a note"}, user="anon")
        memory.add_name("Al", user="anon")
        before = seen(memory, "anon", "alex")
        merge = memory.merge_users("anon", into="alex")
        assert merge.moved == {"messages": 0, "names": 1, "documents": 1}
        assert memory.documents().get(("notes",), "one").user == "alex"  # type: ignore[union-attr]
        memory.add_name("Lex", user="alex")
        assert seen(memory, "alex")["people"] == [("alex", ["Al", "Lex"])]
        memory.undo_move(merge.id)
        after = seen(memory, "anon", "alex")
        assert after.pop("people") == [("alex", ["Lex"]), *before.pop("people")]
        assert after == before
        assert memory.documents().get(("notes",), "one").user == "anon"  # type: ignore[union-attr]
        assert memory.verify().ok


@pytest.mark.checklist("F12")
def test_what_was_remembered_in_two_chats_of_which_one_moves_is_known_of_both_people(tmp_path: Path) -> None:
    people = ("anon", "alex")
    with Memory(str(tmp_path / "memory.db"), followers=False) as memory:
        for chat in ("one", "two"):
            memory.conversation(chat, user="anon").command("Everword, remember that I like tea", addressed=True)
        before = seen(memory, *people)
        assert before["statements of anon"] == ["anon likes tea."]
        move = memory.move_conversation("one", user="alex")
        after = seen(memory, *people)
        assert (after["statements of anon"], after["statements of alex"]) == (["anon likes tea."], ["alex likes tea."])
        assert rebuilt(memory, *people) == after
        memory.undo_move(move.id)
        assert seen(memory, *people) == before
        assert memory.verify().ok


@pytest.mark.checklist("F12")
def test_a_statement_that_a_merge_made_out_of_date_is_current_again_when_it_is_undone(tmp_path: Path) -> None:
    people = ("anon", "alex")
    with Memory(str(tmp_path / "memory.db"), followers=False) as memory:
        memory.remember("I live in Berlin", user="anon")
        memory.remember("I live in Delft", user="alex")
        before = seen(memory, *people)
        merge = memory.merge_users("anon", into="alex")
        after = seen(memory, *people)
        assert (after["statements of anon"], after["statements of alex"]) == ([], ["alex lives in Delft."])
        memory.undo_move(merge.id)
        assert seen(memory, *people) == before
        assert memory.verify().ok


@pytest.mark.checklist("F12")
def test_what_others_said_in_a_channel_since_a_merge_stays_theirs_when_it_is_undone(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db"), followers=False) as memory:
        channel = memory.conversation("all")
        channel.add("user", "I like tea.", author="anon")
        first = memory.merge_users("anon", into="alex")
        channel.add("user", "I like juice.", author="kim")
        channel.add("user", "I like rain.", author="alex")
        second = memory.merge_users("alex", into="sam")
        with pytest.raises(InvalidInput, match="conversation 'all' was moved again; undo the later move first"):
            memory.undo_move(first.id)
        memory.undo_move(second.id)
        memory.undo_move(first.id)
        assert [message.author for message in channel.history()] == ["anon", "kim", "alex"]
        assert memory.verify().ok


@pytest.mark.checklist("F12")
def test_a_channel_is_renamed_with_all_that_names_it(tmp_path: Path) -> None:
    clock = FrozenClock()
    with Memory(str(tmp_path / "memory.db"), followers=False, clock=clock) as memory:
        for author, text in (("alex", "I live in Delft."), ("kim", "I like the harbour.")):
            memory.conversation("all").add("user", text, author=author)
        memory.settle()
        memory.edit_fact(memory.facts(user="alex")[0].id, "Rome", user="alex")
        before = seen(memory, "alex", "kim")
        move = memory.move_conversation("all", to="harbour")
        after = seen(memory, "alex", "kim")
        assert {fact.audience for fact in memory.facts(user="alex")} == {"harbour"}
        assert memory.conversation("harbour").history()[0].conversation == "harbour"
        assert rebuilt(memory, "alex", "kim") == after
        assert memory.verify().ok
        second = memory.move_conversation("harbour", to="sea")
        assert second.moved == {"messages": 0}
        with pytest.raises(InvalidInput, match="moved again"):
            memory.undo_move(move.id)
        memory.undo_move(second.id)
        memory.undo_move(move.id)
        assert seen(memory, "alex", "kim") == before
        assert memory.verify().ok


@pytest.mark.checklist("F12")
def test_a_model_reads_nothing_twice(tmp_path: Path) -> None:
    readings: list[Request] = []

    def answer(request: Request) -> str:
        readings.extend([request] if "Note the facts" in str(request.messages[0]) else [])
        return "{}"

    with Memory(str(tmp_path / "memory.db"), memory=ScriptedLLM(default=answer), followers=False) as memory:
        chat = memory.conversation("chat", user="anon")
        for turn in range(4):
            chat.add("user", f"I live in Berlin, at number {turn}, and like tea.")
        memory.settle()
        count = len(readings)
        memory.merge_users("anon", into="alex")
        memory.settle()
        assert len(readings) == count > 0


@pytest.mark.checklist("F12")
def test_another_process_sees_it_at_once(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    with Memory(path, followers=False) as memory, Memory(path, followers=False) as other:
        memory.conversation("chat", user="anon").add("user", "I live in Berlin.")
        memory.settle()
        assert len(other.search("Berlin", user="anon")) == 1
        memory.merge_users("anon", into="alex")
        assert other.search("Berlin", user="anon") == []
        assert len(other.search("Berlin", user="alex")) == 1
        memory.move_conversation("chat", to="talk")
        assert other.search("Berlin", conversation="chat") == []
        assert len(other.search("Berlin", conversation="talk")) == 1


# -- what is refused


@pytest.mark.checklist("F12")
def test_what_cannot_be_moved_says_why(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db"), followers=False) as memory:
        memory.conversation("chat", user="alex").add("user", "Hello.", platform_id="1")
        memory.conversation("all").add("user", "Hello.", author="kim")
        assert memory.move_conversation("chat", user="alex").id == "", "it is so already"
        assert memory.move_conversation("chat", to="chat", user="alex").moved == {}
        refused: list[tuple[Any, str]] = [
            (lambda: memory.move_conversation("chat"), "give a new ID, a new owner or both"),
            (lambda: memory.move_conversation("chat", to="all"), "which another conversation already has"),
            (lambda: memory.move_conversation("all", user="kim"), "only the ID of the conversation can be changed"),
            (lambda: memory.move_conversation("chat", to="profile:x"), "must not begin with"),
            (lambda: memory.move_conversation("profile:alex", to="x"), "merge_users"),
            (lambda: memory.move_conversation("chat", user=" "), "empty"),
            (lambda: memory.merge_users("alex", into="alex"), "the user who is to be merged"),
        ]
        for work, reason in refused:
            with pytest.raises(InvalidInput, match=reason):
                work()
        with pytest.raises(NotFound):
            memory.move_conversation("nowhere", to="x")
        with pytest.raises(NotFound):
            memory.merge_users("nobody", into="alex")
        with pytest.raises(NotFound):
            memory.undo_move("1m7hg7ne89bfqrd0p3aa")
        memory.move_conversation("chat", to="talk")
        again = memory.conversation("talk", user="alex").extend([{"role": "user", "content": "x", "platform_id": "1"}])
        assert not again[0].new, "a platform's id stays known"


@pytest.mark.checklist("F12")
def test_only_what_is_as_it_was_moved_is_taken_back(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db"), followers=False) as memory:
        chat = memory.conversation("chat", user="anon")
        chat.add("user", "One.")
        chat.add("user", "Two.")
        first = memory.merge_users("anon", into="alex")
        second = memory.move_conversation("chat", user="kim")
        with pytest.raises(InvalidInput, match="moved again"):
            memory.undo_move(first.id)
        back = memory.undo_move(second.id)
        with pytest.raises(InvalidInput, match="already been undone"):
            memory.undo_move(second.id)
        with pytest.raises(InvalidInput, match="is an undo, and"):
            memory.undo_move(back.id)
        memory.conversation("chat").delete(1)
        with pytest.raises(InvalidInput, match="removed since"):
            memory.undo_move(first.id)
        assert memory.verify().ok


# -- proof, and its end


@pytest.mark.checklist("F12")
def test_a_name_that_was_changed_behind_the_log_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memory(str(path), followers=False) as memory:
        memory.conversation("chat", user="anon").add("user", "I live in Berlin.")
        memory.merge_users("anon", into="alex")
        assert memory.verify().ok
    for statement in (
        "UPDATE messages SET user_id = 'kim'",
        "UPDATE changes SET after = replace(after, 'alex', 'kim')",
    ):
        with closing(sqlite3.connect(path)) as file:
            file.execute(statement)
            file.commit()
        with Memory(str(path), followers=False) as memory:
            assert not memory.verify().ok


@pytest.mark.checklist("F12")
def test_who_is_erased_is_in_no_move_and_others_stay_proved(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memory(str(path), followers=False) as memory:
        memory.conversation("web/zanon", user="zanon").add("user", "I live in Berlin.")
        memory.remember("I collect stamps", user="zanon")
        memory.conversation("all").add("user", "I like tea.", author="zanon", name="Zall")
        memory.conversation("all").add("user", "I like juice.", author="kim")
        memory.settle()
        memory.merge_users("zanon", into="zalex")
        memory.move_conversation("all", to="harbour")
        memory.erase(user="zalex")
        assert [message.author for message in memory.conversation("harbour").history()] == ["kim"]
        assert memory.verify().ok
    held = b"".join(file.read_bytes() for file in path.parent.glob("memory.db*"))
    assert [name for name in (b"zanon", b"zalex", b"Zall", b"Berlin") if name in held] == []
    with closing(sqlite3.connect(path)) as file:
        file.execute("UPDATE messages SET author = 'sam' WHERE author = 'kim'")
        file.commit()
    with Memory(str(path), followers=False) as memory:
        assert not memory.verify().ok, "what others said is still proved"


@pytest.mark.checklist("F12")
def test_an_old_id_can_be_erased_and_what_moved_stays(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memory(str(path), followers=False) as memory:
        memory.conversation("chat", user="zanon").add("user", "I live in Berlin.")
        memory.settle()
        move = memory.merge_users("zanon", into="alex")
        memory.conversation("chat", user="alex").add("user", "I like tea.")
        memory.erase(user="zanon")
        with pytest.raises(NotFound, match="the moved messages have been erased"):
            memory.undo_move(move.id)
        assert [message.user for message in memory.conversation("chat").history()] == ["alex", "alex"]
        assert memory.verify().ok, "what it was is not known, its place in the chain is"
    assert all(b"zanon" not in file.read_bytes() for file in path.parent.glob("memory.db*"))
    assert [row["before"] for row in rows_of(str(path), "changes")] == ['{"turns":[[1,1]]}']
