"""The log through the public API, on every store: each message once, in order, with all that was said about it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from everword import Batch, Draft, InvalidInput, Memory, Role, ScopeError
from everword.testing import FrozenClock

PAST = datetime(2019, 3, 31, 1, 59, 59, 999_999, tzinfo=UTC)


# -- turns


def test_turns_count_from_one_without_gaps_in_each_conversation(store_url: str) -> None:
    with Memory(store_url) as memory:
        one, two = memory.conversation("one", user="alex"), memory.conversation("two", user="alex")
        said = [one.add("user", "a"), two.add("user", "b"), one.add("assistant", "c")]
        added = one.extend([Draft("user", "d"), Draft("assistant", "e")])
        memory.add_many([Batch("default", "two", "alex", [Draft("user", "f")]), Batch("default", "one", "alex", [])])
        assert [message.turn for message in said] == [1, 1, 2]
        assert [one_added.message.turn for one_added in added] == [3, 4]
        assert [(m.turn, m.content) for m in one.history()] == [(1, "a"), (2, "c"), (3, "d"), (4, "e")]
        assert [(m.turn, m.content) for m in two.history()] == [(1, "b"), (2, "f")]


@pytest.mark.checklist("D8")
def test_turns_go_on_after_a_restart(store_url: str) -> None:
    """D8: after a restart the log goes on where it was."""
    for turn in (1, 2, 3):
        with Memory(store_url) as memory:
            assert memory.conversation("chat", user="alex").add("user", f"message {turn}").turn == turn
    with Memory(store_url) as memory:
        assert [m.content for m in memory.conversation("chat").history()] == ["message 1", "message 2", "message 3"]


def test_what_add_returns_is_what_history_gives(store_url: str) -> None:
    with Memory(store_url) as memory:
        chat = memory.conversation("chat", user="alex")
        said = chat.add("user", "  spaces, \r\n lines \t and 'quotes' stay  ", metadata={"k": [1]}, platform_id="p")
        (kept,) = chat.history()
        assert kept == said
        assert (kept.space, kept.conversation, kept.role) == ("default", "chat", "user")
        assert not kept.erased


# -- the same message twice


@pytest.mark.checklist("C1")
def test_a_platform_id_is_kept_once(store_url: str) -> None:
    """C1: the same platform id twice is stored once, whatever else the second delivery says."""
    with Memory(store_url) as memory:
        chat = memory.conversation("chat", user="alex")
        first = chat.add("user", "hello", platform_id="p1")
        again = chat.add("assistant", "something else", platform_id="p1", metadata={"n": 1})
        assert again == first
        assert [m.content for m in chat.history()] == ["hello"]
        assert chat.add("user", "next", platform_id="p2").turn == 2


@pytest.mark.checklist("C1")
def test_a_platform_id_twice_in_one_batch_is_kept_once(store_url: str) -> None:
    """C1: also within one call."""
    with Memory(store_url) as memory:
        chat = memory.conversation("chat", user="alex")
        added = chat.extend([Draft("user", text, platform_id=p) for text, p in (("a", "1"), ("b", "2"), ("c", "1"))])
        assert [(one.new, one.message.content) for one in added] == [(True, "a"), (True, "b"), (False, "a")]
        assert [m.turn for m in chat.history()] == [1, 2]


@pytest.mark.checklist("C1")
def test_a_platform_id_is_known_after_reopening(store_url: str) -> None:
    """C1: also over restarts, and in a batch that is half known."""
    with Memory(store_url) as memory:
        memory.conversation("chat", user="alex").add("user", "hello", platform_id="p1")
    with Memory(store_url) as memory:
        chat = memory.conversation("chat", user="alex")
        added = chat.extend([Draft("user", "new", platform_id="p0"), Draft("user", "hello", platform_id="p1")])
        assert [one.new for one in added] == [True, False]
        assert [m.content for m in chat.history()] == ["hello", "new"]


@pytest.mark.checklist("C1")
def test_the_same_platform_id_in_two_conversations_is_two_messages(store_url: str) -> None:
    """C1: a platform numbers the messages of each channel; two channels are not merged."""
    with Memory(store_url) as memory:
        one = memory.conversation("one", space="guild").add("user", "a", author="alex", platform_id="1")
        two = memory.conversation("two", space="guild").add("user", "b", author="alex", platform_id="1")
        assert one.id != two.id
        assert [m.content for m in memory.conversation("two", space="guild").history()] == ["b"]


def test_an_id_of_the_callers_own_is_kept_once(store_url: str) -> None:
    with Memory(store_url) as memory:
        chat = memory.conversation("chat", user="alex")
        first = chat.extend([Draft("user", "hello", id="mine"), Draft("user", "again", id="mine")])
        assert [(one.new, one.message.id) for one in first] == [(True, "mine"), (False, "mine")]
    with Memory(store_url) as memory:
        chat = memory.conversation("chat", user="alex")
        (again,) = chat.extend([Draft("user", "hello", id="mine", platform_id="late")])
        assert (again.new, again.message.turn) == (False, 1)
        assert len(chat.history()) == 1


def test_an_id_of_another_conversation_is_refused(store_url: str) -> None:
    with Memory(store_url) as memory:
        memory.conversation("one", user="alex").extend([Draft("user", "secret words", id="mine")])
        with pytest.raises(InvalidInput, match=r"^id: ") as refused:
            memory.conversation("two", user="kim").extend([Draft("user", "first"), Draft("user", "hello", id="mine")])
        assert "secret" not in str(refused.value)
        assert memory.conversation("two", user="kim").history() == []
        assert memory.stats().conversations == 1


# -- whose message it is


def test_author_and_user_in_a_chat_with_one_person(store_url: str) -> None:
    with Memory(store_url) as memory:
        chat = memory.conversation("chat", user="alex")
        roles: tuple[Role, ...] = ("user", "assistant", "system", "tool")
        for role in roles:
            chat.add(role, f"said by the {role}")
        chat.add("user", "forwarded", author="kim")
        found = [(m.role, m.author, m.user) for m in chat.history()]
        assert found == [
            ("user", "alex", "alex"),
            ("assistant", "assistant", "alex"),
            ("system", "system", "alex"),
            ("tool", "tool", "alex"),
            ("user", "kim", "alex"),
        ]


@pytest.mark.checklist("C1")
def test_author_and_user_in_a_channel(store_url: str) -> None:
    """C1: in a channel a member's message is the member's; a reply is nobody's, unless it is said whose."""
    with Memory(store_url) as memory:
        channel = memory.conversation("general", space="guild")
        channel.add("user", "hi", author="alex")
        channel.add("user", "hello", author="kim", user="kim@work")
        channel.add("assistant", "welcome, all")
        channel.add("assistant", "welcome, Alex", author="bot", user="alex")
        channel.add("user", "nobody signed this")
        found = [(m.author, m.user) for m in channel.history()]
        assert found == [
            ("alex", "alex"),
            ("kim", "kim@work"),
            ("assistant", None),
            ("bot", "alex"),
            ("user", "user"),
        ]
        assert [c.user for c in memory.conversations(space="guild")] == [None]


# -- when


@pytest.mark.every_store
@pytest.mark.checklist("C1")
def test_a_past_time_is_kept_to_the_microsecond(store_url: str) -> None:
    """C1: a back-filled message has the time it was said at; its place is its turn, not its time."""
    tokyo, newfoundland = timezone(timedelta(hours=9)), timezone(-timedelta(hours=3, minutes=30))
    with Memory(store_url) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", "third", time=PAST + timedelta(days=2))
        chat.add("user", "first", time=PAST.astimezone(tokyo))
        chat.add("user", "second", time=(PAST + timedelta(days=1)).astimezone(newfoundland))
        found = chat.history()
    assert [m.content for m in found] == ["third", "first", "second"]
    assert [m.time for m in found] == [PAST + timedelta(days=n) for n in (2, 0, 1)]
    assert {m.time.utcoffset() for m in found} == {timedelta(0)}
    assert found[1].time.isoformat() == "2019-03-31T01:59:59.999999+00:00"


def test_without_a_time_it_is_now(store_url: str) -> None:
    clock = FrozenClock(datetime(2026, 2, 3, 4, 5, 6, 789, tzinfo=UTC))
    with Memory(store_url, clock=clock) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", "now")
        clock.advance(timedelta(microseconds=1))
        chat.add("assistant", "later")
        assert [m.time for m in chat.history()] == [clock.now() - timedelta(microseconds=1), clock.now()]
        (conversation,) = memory.conversations()
        assert conversation.changed_at - conversation.created_at == timedelta(microseconds=1)


# -- metadata


def test_metadata_comes_back_as_it_went_in(store_url: str) -> None:
    metadata = {
        "nested": {"list": [1, [2, {"deep": None}]], "empty": {}},
        "ключ": "значение 👋",
        "quote\"'\\": "\n\t \\u0000 \u2028",
        "big": 2**70,
        "numbers": [0.1, 1e308, 5e-324, 2.0, 2, True],
        "": "an empty key",
    }
    with Memory(store_url) as memory:
        chat = memory.conversation("chat", user="alex")
        assert chat.add("user", "look", metadata=metadata).metadata == metadata
    with Memory(store_url) as memory:
        (found,) = memory.conversation("chat", user="alex").history()
        assert found.metadata == metadata
        assert [type(n) for n in found.metadata["numbers"]] == [float, float, float, float, int, bool]
        assert memory.verify().ok


def test_metadata_belongs_to_the_log_not_to_the_caller(store_url: str) -> None:
    metadata = {"list": [1]}
    with Memory(store_url) as memory:
        chat = memory.conversation("chat", user="alex")
        said = chat.add("user", "look", metadata=metadata)
        metadata["list"].append(2)
        assert said.metadata == chat.history()[0].metadata == {"list": [1]}


# -- all or nothing


def test_extend_keeps_all_or_nothing(store_url: str) -> None:
    with Memory(store_url) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", "before")
        drafts = [Draft("user", f"message {n}") for n in range(20)]
        with pytest.raises(InvalidInput, match=r"^content: "):
            chat.extend([*drafts, Draft("user", "")])
        assert [m.content for m in chat.history()] == ["before"]
        assert len(chat.extend(drafts)) == 20
        assert [m.turn for m in chat.history()] == list(range(1, 22))


@pytest.mark.every_store
def test_add_many_keeps_all_conversations_or_none(store_url: str) -> None:
    with Memory(store_url) as memory:
        good = [Batch("default", f"c{n}", "alex", [Draft("user", "hello")]) for n in range(3)]
        with pytest.raises(InvalidInput, match=r"^role: "):
            memory.add_many([*good, Batch("default", "c9", "alex", [Draft("robot", "x")])])  # type: ignore[arg-type]
        assert memory.stats().conversations == 0
        added = memory.add_many(reversed(good))
        assert [one.message.conversation for (one,) in added] == ["c2", "c1", "c0"]


def test_nothing_is_added_by_an_empty_extend(store_url: str) -> None:
    with Memory(store_url) as memory:
        chat = memory.conversation("chat", user="alex")
        assert chat.extend([]) == []
        assert chat.history() == []
        assert memory.verify().ok


# -- whose conversation it is


def test_another_users_conversation_is_refused_and_not_revealed(store_url: str) -> None:
    with Memory(store_url) as memory:
        memory.conversation("chat", user="alexandra").add("user", "the password is swordfish", platform_id="p1")
        memory.conversation("general").add("user", "in the channel", author="alexandra")
        before = memory.verify().root
        for id in ("chat", "general"):
            others = memory.conversation(id, user="kim")
            attempts = (
                others.history,
                lambda others=others: others.context("What is the password?"),
                lambda others=others: others.add("user", "hello"),
                lambda others=others: others.add("user", "hello", platform_id="p1"),
                lambda others=others: others.extend([]),
            )
            for attempt in attempts:
                with pytest.raises(ScopeError) as refused:
                    attempt()
                assert "swordfish" not in str(refused.value)
                assert "alexandra" not in str(refused.value)
        assert memory.verify().root == before
        assert memory.search("password swordfish", user="kim") == []
        assert memory.search("password swordfish", user="kim", conversation="chat") == []
        assert list(memory.export(user="kim")) == []


def test_spaces_are_apart_for_the_same_ids(store_url: str) -> None:
    with Memory(store_url) as memory:
        chats = {space: memory.conversation("chat", user="alex", space=space) for space in ("red", "blue")}
        for space, chat in chats.items():
            (added,) = chat.extend([Draft("user", f"the colour is {space}", id="same", platform_id="p1")])
            assert (added.new, added.message.turn) == (True, 1)
        for space, chat in chats.items():
            expected = [f"the colour is {space}"]
            assert [m.content for m in chat.history()] == expected
            assert [h.message.content for h in memory.search("colour", user="alex", space=space)] == expected
            assert [m.content for m in memory.export(space=space)] == expected
            assert memory.stats(space=space).messages == 1
        assert memory.search("colour", user="alex") == []
        assert [c.space for c in memory.conversations(space="red")] == ["red"]
        memory.erase(user="alex", space="red")
        assert [h.message.space for h in memory.search("colour", space="blue")] == ["blue"]


# -- reading back


def test_history_gives_the_last_ones_before_a_turn(store_url: str) -> None:
    with Memory(store_url) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.extend(Draft("user", str(n)) for n in range(1, 11))

        def turns(limit: int | None = None, before: int | None = None) -> list[int]:
            return [m.turn for m in chat.history(limit=limit, before=before)]

        assert turns() == list(range(1, 11))
        assert turns(limit=3) == [8, 9, 10]
        assert turns(limit=3, before=8) == [5, 6, 7]
        assert turns(before=3) == [1, 2]
        assert turns(limit=50, before=2) == [1]
        assert turns(before=1) == []
        assert turns(limit=5_000) == list(range(1, 11))
        assert memory.conversation("never begun", user="alex").history() == []


@pytest.mark.every_store
def test_conversations_are_listed_in_pages_the_newest_first(store_url: str) -> None:
    ids = ["b", "1.a", "é", "Z", "10", "9", "日本"]  # from the oldest to the newest
    start = datetime(1969, 12, 31, 23, 59, 57, 123_456, tzinfo=UTC)
    with Memory(store_url) as memory:
        for seconds, id in enumerate(ids):
            chat = memory.conversation(id, user="alex" if seconds % 2 else "kim")
            chat.add("user", "hello", time=start + timedelta(seconds=seconds))
        first = memory.conversations(limit=3)
        second = memory.conversations(limit=3, after=first[-1].cursor)
        third = memory.conversations(limit=3, after=second[-1].cursor)
        assert [c.id for c in [*first, *second, *third]] == ids[::-1]
        assert memory.conversations(limit=3, after=third[-1].cursor) == []
        assert {c.turns for c in first} == {1}
        assert [c.id for c in memory.conversations(user="alex")] == ids[5::-2]


def test_a_conversation_that_changes_between_two_pages_is_in_none_of_them_twice(tmp_path: Path) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    with Memory(str(tmp_path / "m.db"), followers=False) as memory:
        for number in range(6):
            memory.conversation(f"c{number}", user="alex").add("user", "hello", time=start + timedelta(hours=number))
        first = memory.conversations(limit=3)
        for id in ("c4", "c1", "new"):  # one that was listed, one that was not yet, and one that is new
            memory.conversation(id, user="alex").add("user", "again")
        memory.delete_conversation("c3")  # the one after which the next page begins
        rest = memory.conversations(limit=3, after=first[-1].cursor)
        assert [[c.id for c in page] for page in (first, rest)] == [["c5", "c4", "c3"], ["c2", "c0"]]
        assert [c.id for c in memory.conversations(limit=3)] == ["new", "c1", "c4"]


@pytest.mark.parametrize("cursor", ["a", "1", "1.", ".a", "x.a", "1e3.a", "９.a", "-.a", f"{'9' * 20}.a", "1.a\nb"])
def test_what_is_no_cursor_is_refused(cursor: str, tmp_path: Path) -> None:
    with Memory(str(tmp_path / "m.db"), followers=False) as memory, pytest.raises(InvalidInput, match=r"^after: "):
        memory.conversations(after=cursor)


def test_export_gives_everything_in_order_over_many_pages(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        for name in ("b", "a"):
            memory.conversation(name, user=name).extend(Draft("user", f"{name}{n}") for n in range(1, 620))
        exported = list(memory.export())
        assert [(m.conversation, m.turn) for m in exported] == [(c, n) for c in "ab" for n in range(1, 620)]
        assert [m.content for m in memory.export(user="b")] == [f"b{n}" for n in range(1, 620)]
        assert [m.turn for m in memory.export(conversation="a")] == list(range(1, 620))
