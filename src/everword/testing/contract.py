"""What every store must do, as a class of tests. A store that passes it can be used by any memory.

Inherit `StoreContract` in a class that pytest collects, and define in the fixture `open_store` how to open a store. The
same name always opens the same store, with everything it held when it was closed:

    class TestMyStore(StoreContract):
        @pytest.fixture
        def open_store(self, tmp_path: Path) -> OpenStore:
            return lambda name="memory": MyStore(tmp_path / name)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from threading import Barrier, BrokenBarrierError, Event
from typing import Any

import pytest

from everword.errors import StoreError
from everword.log.append_and_read import COPYING, cursor_of, erasures_of, set_cursor
from everword.log.checks_and_seals import canonical_json
from everword.memory.transfer import TABLES, copy_store
from everword.model import Conversation, Erasure, Filter, Message, ViewState
from everword.ports import Store, Tx
from everword.testing.index_contract import IndexContract, VectorContract
from everword.testing.samples import (
    MEET,
    ODD_IDS,
    ODD_METADATA,
    ODD_TEXTS,
    PATIENCE,
    SECOND,
    T0,
    CallerError,
    OpenStore,
    append_and_index,
    append_messages,
    axis,
    claim_place,
    find_matches,
    make_conversation,
    make_entry,
    make_message,
    make_tombstone,
    run_at_once,
)
from everword.testing.view_contract import RowsContract, ViewContract

__all__ = ["OpenStore", "StoreContract"]

ODD_TIMES = (
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    datetime(1970, 1, 1, tzinfo=UTC),
    datetime(2038, 1, 19, 3, 14, 8, 1, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
)
FILTERS = (
    Filter("s"),
    Filter("s", user="alex"),
    Filter("s", user="nobody"),
    Filter("s", author="bot"),
    Filter("s", conversation="d"),
    Filter("s", role="assistant"),
    Filter("s", after=T0),
    Filter("s", before=T0),
    Filter("s", after=T0, before=T0 + timedelta(microseconds=1)),
    Filter("s", user="alex", author="bot", conversation="c", role="tool", before=T0),
    Filter("s", expired_by=T0),
    Filter("s", expired_by=T0 + 2 * SECOND),
    Filter("s", conversation="d", expired_by=T0 + 3 * SECOND),
    Filter("third"),
)


def sample_messages() -> list[Message]:
    """Two spaces, two conversations, two people, three roles, and times that do not follow the turns."""
    messages = [
        make_message(1, "a1", time=T0),
        make_message(2, "a2", role="assistant", author="bot", time=T0 + SECOND, expires_at=T0 + 2 * SECOND),
        make_message(3, "a3", role="tool", author="bot", time=T0 - SECOND),
        make_message(1, "b1", conversation="d", time=T0 + 2 * SECOND),
        make_message(2, "b2", conversation="d", author="kim", user="kim", time=T0, expires_at=T0 + 3 * SECOND),
        make_message(3, "b3", conversation="d", role="system", author="system", user=None, time=T0),
    ]
    return [*messages, *(replace(message, space="other") for message in messages)]


class LogContract:
    """Conversations and messages."""

    # -- conversations

    def test_a_conversation_is_made_once(self, store: Store) -> None:
        first = store.write(lambda tx: tx.lock_conversation(make_conversation(user="alex")))
        second = store.write(lambda tx: tx.lock_conversation(make_conversation(user="kim", at=T0 + SECOND)))
        assert first == second == make_conversation(user="alex")
        assert store.read(lambda tx: tx.conversations()) == [first]

    def test_a_saved_conversation_is_found_as_it_was_saved(self, store: Store) -> None:
        new_state = replace(
            make_conversation(user=None), turns=7, head=bytes(range(256)), changed_at=T0 + SECOND, user="kim"
        )

        def save(tx: Tx) -> Conversation | None:
            tx.lock_conversation(make_conversation(user=None))
            tx.save_conversation(new_state)
            return tx.conversation("s", "c")

        assert store.write(save) == new_state
        assert store.read(lambda tx: tx.conversation("s", "c")) == new_state
        assert store.write(lambda tx: tx.lock_conversation(make_conversation())) == new_state

    def test_a_conversation_nobody_began_is_not_there(self, store: Store) -> None:
        store.write(lambda tx: tx.lock_conversation(make_conversation("c")))
        assert store.read(lambda tx: tx.conversation("s", "C")) is None
        assert store.read(lambda tx: tx.conversation("other", "c")) is None

    def test_conversations_come_in_order_of_space_and_id_whatever_the_ids(self, store: Store) -> None:
        def make(tx: Tx) -> None:
            for space in ("s", "S", "ß"):
                for id in reversed(ODD_IDS):
                    tx.lock_conversation(make_conversation(id, space=space))

        store.write(make)
        conversations = store.read(lambda tx: tx.conversations())
        keys = sorted((space, id) for space in ("s", "S", "ß") for id in ODD_IDS)
        assert [(conversation.space, conversation.id) for conversation in conversations] == keys
        assert store.read(lambda tx: tx.conversations("S")) == [
            conversation for conversation in conversations if conversation.space == "S"
        ]

    def test_pages_of_conversations_leave_none_out(self, store: Store) -> None:
        def make(tx: Tx) -> None:
            for id in ODD_IDS:
                tx.lock_conversation(make_conversation(id))
                tx.lock_conversation(make_conversation(id, space="t"))

        store.write(make)
        pages: list[Conversation] = []
        after = ("", "")
        while page := store.read(lambda tx: tx.conversations(after=after, limit=5)):  # noqa: B023
            assert len(page) <= 5
            pages += page
            after = (page[-1].space, page[-1].id)
        assert pages == store.read(lambda tx: tx.conversations())
        assert len(pages) == 2 * len(ODD_IDS)

    def test_recent_conversations_come_in_order_of_their_last_messages_page_by_page(self, store: Store) -> None:
        def make(tx: Tx) -> None:
            for number, id in enumerate(ODD_IDS):
                user = "alex" if number % 2 else None
                fresh = make_conversation(id, user=user)
                last = T0 + number // 3 * SECOND
                tx.save_conversation(replace(tx.lock_conversation(fresh), last_message_at=last))
                tx.lock_conversation(make_conversation(id, space="t"))

        store.write(make)
        conversations = store.read(lambda tx: tx.conversations("s"))
        ordered = sorted(conversations, key=lambda conversation: (conversation.last_message_at, conversation.id))[::-1]
        pages: list[Conversation] = []
        before: tuple[datetime, str] | None = None
        while page := store.read(lambda tx: tx.conversations("s", recent=True, before=before, limit=5)):  # noqa: B023
            pages += page
            before = (page[-1].last_message_at or T0, page[-1].id)
        assert pages == ordered
        own = store.read(lambda tx: tx.conversations("s", "alex", recent=True))
        assert own == [conversation for conversation in ordered if conversation.user == "alex"]

    def test_messages_are_counted_by_day_without_erased_ones(self, store: Store) -> None:
        day = datetime(2026, 3, 1, tzinfo=UTC)
        times = (day - SECOND, day, day + timedelta(hours=23), day + timedelta(days=40))
        messages = [make_message(turn, f"a{turn}", time=time) for turn, time in enumerate(times, 1)]
        store.write(lambda tx: append_messages(tx, *messages, make_message(1, "x", time=day, space="t")))
        counts = store.read(lambda tx: tx.count_messages("day", "s", day))
        assert counts == {day.date(): 2, (day + timedelta(days=40)).date(): 1}
        erasure = Erasure("e", "s", day, 1, 1, 0)
        tombstone = replace(messages[1], erased=True, content="")
        store.write(lambda tx: tx.erase(erasure, [tombstone]))
        assert store.read(lambda tx: tx.count_messages("day", "s", day))[day.date()] == 1

    def test_conversations_of_one_user_are_theirs_alone(self, store: Store) -> None:
        def make(tx: Tx) -> None:
            for id, user in (("1", "alex"), ("2", "kim"), ("3", None), ("4", "alex"), ("5", "ALEX")):
                tx.lock_conversation(make_conversation(id, user=user))
            tx.lock_conversation(make_conversation("6", space="other", user="alex"))

        store.write(make)
        ids = [conversation.id for conversation in store.read(lambda tx: tx.conversations("s", "alex"))]
        assert ids == ["1", "4"]
        assert [
            conversation.id for conversation in store.read(lambda tx: tx.conversations("s", "alex", ("s", "1")))
        ] == ["4"]

    # -- messages

    def test_content_comes_back_to_the_character(self, store: Store) -> None:
        messages = [make_message(turn, content) for turn, content in enumerate(ODD_TEXTS, 1)]
        store.write(lambda tx: append_messages(tx, *messages))
        assert store.read(lambda tx: tx.messages(Filter("s"))) == messages

    def test_five_megabytes_come_back_to_the_character(self, store: Store) -> None:
        original = make_message(content="0123456789abcde\n" * 262_144 + "日本語😀" * 100_000)
        store.write(lambda tx: append_messages(tx, original))
        assert store.read(lambda tx: tx.messages(Filter("s")))[0].content == original.content

    def test_metadata_comes_back_value_by_value(self, store: Store) -> None:
        messages = [make_message(turn, metadata=metadata) for turn, metadata in enumerate(ODD_METADATA, 1)]
        store.write(lambda tx: append_messages(tx, *messages))
        stored_messages = store.read(lambda tx: tx.messages(Filter("s")))
        assert stored_messages == messages
        # 2 is not 2.0, and True is not 1.
        assert [canonical_json(message.metadata) for message in stored_messages] == list(
            map(canonical_json, ODD_METADATA)
        )

    def test_times_are_kept_to_the_microsecond(self, store: Store) -> None:
        messages = [make_message(conversation=str(number), time=time) for number, time in enumerate(ODD_TIMES)]
        for original in messages:
            store.write(lambda tx: append_messages(tx, original, at=original.time))  # noqa: B023
        stored_messages = store.read(lambda tx: tx.messages(Filter("s")))
        assert [message.time for message in stored_messages] == list(ODD_TIMES)
        assert all(message.time.utcoffset() == timedelta(0) for message in stored_messages)
        conversations = store.read(lambda tx: tx.conversations("s"))
        assert [(conversation.created_at, conversation.changed_at) for conversation in conversations] == [
            (time, time) for time in ODD_TIMES
        ]
        for time in ODD_TIMES:
            later_messages = [message for message in messages if message.time >= time]
            assert store.read(lambda tx: tx.messages(Filter("s", after=time))) == later_messages  # noqa: B023

    def test_every_field_and_the_seal_come_back(self, store: Store) -> None:
        original = make_message(
            3,
            "text",
            role="tool",
            author="bot",
            user=None,
            platform_id="p/1",
            metadata={"k": 1},
            id="odd id",
            reply_to="p/0",
        )
        store.write(lambda tx: append_messages(tx, original))
        (stored_message,) = store.read(lambda tx: tx.messages(Filter("s")))
        assert stored_message == original
        assert stored_message.seal == original.seal

    def test_odd_ids_are_only_ids(self, store: Store) -> None:
        messages = [
            make_message(space=id, conversation=id, id=id, author=id, user=id, platform_id=id) for id in ODD_IDS
        ]
        store.write(lambda tx: append_messages(tx, *messages))
        for original in messages:
            assert store.read(lambda tx: tx.find_messages(original.space, ids=[original.id])) == [original]  # noqa: B023
            place = (original.space, original.conversation)
            assert store.read(
                lambda tx: tx.find_messages(place[0], conversation=place[1], platform_ids=[place[1]])  # noqa: B023
            ) == [original]
            where = Filter(
                original.space, user=original.user, author=original.author, conversation=original.conversation
            )
            assert store.read(lambda tx: tx.messages(where)) == [original]  # noqa: B023

    def test_the_longest_ids_are_kept(self, store: Store) -> None:
        # 768 bytes that cannot be compressed.
        long = "".join(chr(0x20000 + (i * 7919) % 40_000) for i in range(192))
        original = make_message(space=long, conversation=long, id=long, author=long, user=long, platform_id=long)
        store.write(lambda tx: append_messages(tx, original, user=long))
        store.write(lambda tx: tx.index.put_entries([make_entry(original)]))
        store.write(lambda tx: set_cursor(tx, "index", long, long, 1))
        stored_messages = store.read(lambda tx: tx.find_messages(long, conversation=long, platform_ids=[long]))
        assert stored_messages == [original]

    def test_messages_are_found_by_id_in_their_space(self, store: Store) -> None:
        messages = [make_message(turn, id=f"m{turn}") for turn in range(1, 1_203)]
        store.write(lambda tx: append_batch(tx, messages))
        store.write(lambda tx: append_messages(tx, make_message(space="other", id="m1")))
        ids = [message.id for message in messages]
        stored_messages = store.read(lambda tx: tx.find_messages("s", ids=[*ids, "nowhere", *ids]))
        assert sorted(stored_messages, key=lambda message: message.turn) == messages
        assert store.read(lambda tx: tx.find_messages("s")) == []
        assert store.read(lambda tx: tx.find_messages("third", ids=ids)) == []

    def test_messages_are_found_by_platform_id_in_their_conversation(self, store: Store) -> None:
        """C1: the platform's id is one of a conversation."""
        ours = make_message(platform_id="p1")
        elsewhere = make_message(conversation="d", platform_id="p1")
        store.write(lambda tx: append_messages(tx, ours, elsewhere, make_message(2)))
        messages = store.read(lambda tx: tx.find_messages("s", conversation="c", platform_ids=["p1", "p2"]))
        assert messages == [ours]
        both = store.read(lambda tx: tx.find_messages("s", ids=["d-1"], conversation="c", platform_ids=iter(["p1"])))
        assert {message.id for message in both} == {"c-1", "d-1"}

    @pytest.mark.parametrize(
        "second",
        [
            make_message(1, id="another"),
            make_message(1, conversation="d", id="c-1"),
            make_message(2, id="another", platform_id="p1"),
        ],
        ids=["turn", "id", "platform id"],
    )
    def test_what_must_be_unique_is_refused_twice(self, store: Store, second: Message) -> None:
        """C1: even an engine that forgot to look cannot store a message twice."""
        store.write(lambda tx: append_messages(tx, make_message(platform_id="p1")))
        with pytest.raises(StoreError):
            store.write(lambda tx: append_messages(tx, second))
        assert store.read(lambda tx: tx.messages(Filter("s"))) == [make_message(platform_id="p1")]
        assert store.read(lambda tx: tx.conversation("s", "d")) is None

    def test_the_same_ids_in_another_space_are_other_messages(self, store: Store) -> None:
        ours = make_message(platform_id="p1")
        elsewhere = make_message(space="other", platform_id="p1")
        store.write(lambda tx: append_messages(tx, ours, elsewhere))
        assert store.read(lambda tx: tx.messages(Filter("s"))) == [ours]
        assert store.read(lambda tx: tx.messages(Filter("other"))) == [elsewhere]

    def test_no_platform_id_is_not_an_id(self, store: Store) -> None:
        store.write(lambda tx: append_messages(tx, make_message(1), make_message(2)))
        assert len(store.read(lambda tx: tx.messages(Filter("s")))) == 2

    # -- reading

    def test_a_filter_means_what_it_says(self, store: Store) -> None:
        store.write(lambda tx: append_messages(tx, *sample_messages()))
        for where in FILTERS:
            messages = store.read(lambda tx: tx.messages(where))  # noqa: B023
            assert messages == [message for message in sample_messages() if passes_filter(message, where)], where

    def test_messages_come_in_order_of_conversation_and_turn(self, store: Store) -> None:
        messages = [
            make_message(turn, conversation=id, id=f"{id} {turn}") for id in ODD_IDS for turn in (1, 2, 9, 10, 11)
        ]
        store.write(lambda tx: append_messages(tx, *reversed(messages)))
        assert store.read(lambda tx: tx.messages(Filter("s"))) == messages

    def test_a_page_begins_after_a_message_and_ends_at_its_limit(self, store: Store) -> None:
        messages = [make_message(turn, conversation=id) for id in ("a", "b", "c") for turn in range(1, 5)]
        store.write(lambda tx: append_messages(tx, *messages))
        for start in range(len(messages)):
            after = (messages[start].conversation, messages[start].turn)
            page = store.read(lambda tx: tx.messages(Filter("s"), after=after, limit=5))  # noqa: B023
            assert page == messages[start + 1 : start + 6]
        assert store.read(lambda tx: tx.messages(Filter("s"), after=("b", 0))) == messages[4:]
        assert store.read(lambda tx: tx.messages(Filter("s", conversation="b"), after=("b", 2))) == messages[6:8]
        assert store.read(lambda tx: tx.messages(Filter("s", conversation="b"), after=("a", 2))) == messages[4:8]

    def test_newest_gives_the_last_ones_in_order(self, store: Store) -> None:
        messages = [make_message(turn) for turn in range(1, 8)]
        store.write(lambda tx: append_messages(tx, *messages))
        where = Filter("s", conversation="c")
        assert store.read(lambda tx: tx.messages(where, limit=3, newest=True)) == messages[4:]
        assert store.read(lambda tx: tx.messages(where, limit=3, newest=True, upto=4)) == messages[1:4]
        assert store.read(lambda tx: tx.messages(where, newest=True)) == messages
        assert store.read(lambda tx: tx.messages(where, upto=4, limit=2)) == messages[:2]
        assert store.read(lambda tx: tx.messages(where, after=("c", 2), upto=4)) == messages[2:4]
        assert store.read(lambda tx: tx.messages(where, upto=0)) == []

    # -- erasing

    def test_erasing_puts_tombstones_in_the_places_of_messages(self, store: Store) -> None:
        messages = [make_message(turn, f"word {turn}", platform_id=f"p{turn}", metadata={"k": 1}) for turn in (1, 2, 3)]
        store.write(lambda tx: append_messages(tx, *messages, make_message(conversation="d")))
        tombstones = [make_tombstone(messages[0]), make_tombstone(messages[2])]
        store.write(lambda tx: tx.erase(Erasure("e1", "s", T0, 2, 1, 0), tombstones))
        stored_messages = store.read(lambda tx: tx.messages(Filter("s", conversation="c")))
        assert stored_messages == [tombstones[0], messages[1], tombstones[1]]
        assert [message.seal for message in stored_messages] == [
            tombstones[0].seal,
            messages[1].seal,
            tombstones[1].seal,
        ]
        assert store.read(lambda tx: erasures_of(tx)) == {"e1": 2}
        assert store.read(lambda tx: [erasures_of(tx, "s"), erasures_of(tx, "elsewhere")]) == [{"e1": 2}, {}]
        assert store.read(lambda tx: tx.count_messages("erasure")) == {"e1": 2}
        assert len(store.read(lambda tx: tx.messages(Filter("s", conversation="d")))) == 1

    def test_erasing_drops_what_was_derived_and_counts_it(self, store: Store) -> None:
        messages = [make_message(turn, conversation=id) for id in ("c", "d") for turn in (1, 2)]
        parts = [make_entry(message, ("word", "more"), part=part) for message in messages for part in (0, 1, 2)]
        store.write(lambda tx: append_messages(tx, *messages))
        store.write(lambda tx: tx.index.put_entries(parts))
        count = store.write(
            lambda tx: tx.erase(
                Erasure("e1", "s", T0, 2, 2, 0), [make_tombstone(messages[1]), make_tombstone(messages[2])]
            )
        )
        assert count == 6
        tally = store.read(lambda tx: tx.index.tally("s", "alex"))
        assert (tally.docs, tally.words) == (6, 12)
        candidates, frequencies = store.read(lambda tx: find_matches(tx, [["word"]]))
        assert {candidate.message_id for candidate in candidates} == {messages[0].id, messages[3].id}
        assert frequencies == [6]

    def test_views_that_are_to_be_kept_are_not_made_anew(self, store: Store) -> None:
        original = make_message(1)
        store.write(lambda tx: append_messages(tx, original))
        row = {"space": "s", "conversation": "c", "first": 1, "last": 1, "reason": "turns", "archived_at": T0}
        store.write(lambda tx: tx.put("chunks", [row]))
        store.write(lambda tx: set_cursor(tx, "window", "s", "c", 1))
        store.write(lambda tx: tx.erase(Erasure("e1", "s", T0, 1, 1, 0), [make_tombstone(original)], keep=("window",)))
        assert store.read(lambda tx: (len(tx.rows("chunks")), cursor_of(tx, "window", "s", "c"))) == (1, 1)
        store.write(lambda tx: tx.erase(Erasure("e2", "s", T0, 1, 1, 0), [make_tombstone(original)]))
        assert store.read(lambda tx: (len(tx.rows("chunks")), cursor_of(tx, "window", "s", "c"))) == (0, 0)

    def test_erasing_many_messages_is_one_transaction(self, store: Store) -> None:
        messages = [make_message(turn) for turn in range(1, 1_101)]
        store.write(lambda tx: append_batch(tx, messages))
        store.write(lambda tx: tx.index.put_entries([make_entry(message) for message in messages]))
        tombstones = [make_tombstone(message) for message in messages]
        assert store.write(lambda tx: tx.erase(Erasure("e1", "s", T0, len(messages), 1, 0), tombstones)) == len(
            messages
        )
        assert all(message.erased for message in store.read(lambda tx: tx.messages(Filter("s"))))
        assert store.read(lambda tx: tx.index.tally("s", None)).docs == 0
        assert len(store.read(lambda tx: tx.conversations())) == 1
        assert store.read(lambda tx: tx.conversations(recent=True)) == []

    def test_a_conversation_is_renamed_wherever_it_is_named(self, store: Store) -> None:
        original = make_message(1)
        other = make_message(1, conversation="d")
        store.write(lambda tx: append_messages(tx, original, other))
        tombstone = make_tombstone(original)
        store.write(lambda tx: tx.erase(Erasure("e1", "s", T0, 1, 1, 0), [tombstone]))
        store.write(lambda tx: set_cursor(tx, "index", "s", "c", 1))
        names = [{"kind": "channel", "name": "c"}, {"kind": "channel", "name": "d"}, {"kind": "nickname", "name": "c"}]
        store.write(
            lambda tx: tx.put("people", [{"space": "s", "user_id": "kim", "since": T0, **name} for name in names])
        )
        before = store.read(lambda tx: tx.conversation("s", "c"))
        store.write(lambda tx: tx.rename_conversation("s", "c", "z"))
        assert before is not None
        assert store.read(lambda tx: tx.conversation("s", "c")) is None
        assert store.read(lambda tx: tx.conversation("s", "z")) == replace(before, id="z")
        assert store.read(lambda tx: tx.messages(Filter("s"))) == [other, replace(tombstone, conversation="z")]
        assert store.read(lambda tx: (cursor_of(tx, "index", "s", "c"), cursor_of(tx, "index", "s", "z"))) == (0, 1)
        lease_conversations = {row["conversation"] for row in store.read(lambda tx: tx.rows("leases"))}
        assert lease_conversations <= {"d", "z"}
        people = [(row["kind"], row["name"]) for row in store.read(lambda tx: tx.rows("people"))]
        assert people == [("channel", "d"), ("channel", "z"), ("nickname", "c")]

    def test_scrubbing_changes_nothing_that_is_left(self, store: Store) -> None:
        messages = [make_message(turn) for turn in (1, 2)]
        store.write(lambda tx: append_messages(tx, *messages))
        store.write(lambda tx: tx.index.put_entries([make_entry(message) for message in messages]))
        store.write(lambda tx: tx.erase(Erasure("e1", "s", T0, 1, 1, 0), [make_tombstone(messages[0])]))
        assert store.scrub(full=True) == (), "nobody else is there to keep something in the files"
        assert store.read(lambda tx: tx.messages(Filter("s"))) == [make_tombstone(messages[0]), messages[1]]
        assert len(store.read(lambda tx: find_matches(tx, [["hello"]]))[0]) == 1


def append_batch(tx: Tx, messages: list[Message]) -> None:
    """Append many messages of one conversation at once."""
    last = messages[-1]
    tx.lock_conversation(make_conversation(last.conversation, space=last.space))
    tx.save_conversation(make_conversation(last.conversation, space=last.space, turns=last.turn), messages)


def passes_filter(candidate: Message, where: Filter) -> bool:
    """Whether a message passes a filter, checked field by field."""
    pairs = (
        (where.user, candidate.user),
        (where.author, candidate.author),
        (where.conversation, candidate.conversation),
        (where.role, candidate.role),
    )
    return (
        candidate.space == where.space
        and all(wanted_value is None or wanted_value == value for wanted_value, value in pairs)
        and (where.after is None or candidate.time >= where.after)
        and (where.before is None or candidate.time < where.before)
        and (
            where.expired_by is None or (candidate.expires_at is not None and candidate.expires_at <= where.expired_by)
        )
    )


class TransactionContract:
    """What `read` and `write` promise."""

    def test_what_the_function_returns_is_returned(self, store: Store) -> None:
        result = object()
        assert store.write(lambda tx: result) is result
        assert store.read(lambda tx: result) is result

    def test_an_error_undoes_everything_and_goes_through_unchanged(self, store: Store) -> None:
        store.write(lambda tx: append_messages(tx, make_message(1)))
        error = CallerError("no")

        def fail(tx: Tx) -> None:
            append_messages(tx, make_message(2), make_message(1, conversation="d"))
            tx.index.put_entries([make_entry(make_message(1))])
            set_cursor(tx, "index", "s", "c", 2)
            claim_place(tx, "index", "s", "c", "me", T0, T0 + timedelta(seconds=60))
            tx.set_note("key", "value")
            raise error

        with pytest.raises(CallerError) as error_info:
            store.write(fail)
        assert error_info.value is error
        assert store.read(conversation_state) == ([make_message(1)], 1, None, 0, 0, 0, None)
        store.write(lambda tx: append_messages(tx, make_message(2)))
        assert len(store.read(lambda tx: tx.messages(Filter("s")))) == 2

    def test_an_error_of_the_database_undoes_everything_too(self, store: Store) -> None:
        store.write(lambda tx: append_messages(tx, make_message(1)))

        def fail(tx: Tx) -> None:
            tx.set_note("key", "value")
            tx.save_conversation(make_conversation(turns=2), [make_message(2), make_message(1, id="again")])

        with pytest.raises(StoreError):
            store.write(fail)
        assert store.read(conversation_state) == ([make_message(1)], 1, None, 0, 0, 0, None)

    def test_an_interruption_undoes_everything(self, store: Store) -> None:
        def write_and_interrupt(tx: Tx) -> None:
            append_messages(tx, make_message(1))
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            store.write(write_and_interrupt)
        assert store.read(lambda tx: tx.conversations()) == []
        store.write(lambda tx: append_messages(tx, make_message(1)))

    def test_a_transaction_sees_what_it_wrote(self, store: Store) -> None:
        def write(tx: Tx) -> tuple[object, ...]:
            append_messages(tx, make_message(1))
            tx.index.put_entries([make_entry(make_message(1))])
            tx.set_note("key", "value")
            set_cursor(tx, "index", "s", "c", 1)
            return conversation_state(tx)

        assert store.write(write) == store.read(conversation_state) == ([make_message(1)], 1, None, 1, 1, 0, "value")

    def test_a_reader_sees_one_moment(self, store: Store) -> None:
        """A write that begins in the middle of a read is not seen by it, and is seen by the next."""
        store.write(lambda tx: append_and_index(tx, make_message(1)))
        write_done = Event()

        def write() -> None:
            store.write(lambda tx: append_and_index(tx, make_message(2)))
            write_done.set()

        with ThreadPoolExecutor(1) as pool:

            def look_twice(tx: Tx) -> tuple[object, object]:
                first = (conversation_state(tx), tx.stats(T0))
                futures.append(pool.submit(write))
                write_done.wait(MEET)  # a store with one transaction at a time writes after this one
                return first, (conversation_state(tx), tx.stats(T0))

            futures: list[object] = []
            first, second = store.read(look_twice)
        assert first == second
        assert write_done.is_set()
        assert store.read(conversation_state)[:4] == ([make_message(1), make_message(2)], 2, None, 2)

    def test_a_read_changes_nothing(self, store: Store) -> None:
        def sneak(tx: Tx) -> None:
            tx.set_note("key", "value")

        with suppress(StoreError):  # which is the better answer
            store.read(sneak)
        assert store.read(lambda tx: tx.note("key")) is None

    def test_nobody_else_writes_to_a_locked_conversation(self, store: Store) -> None:
        first_inside = Event()
        fresh = make_conversation()

        def slow(tx: Tx) -> int:
            state = tx.lock_conversation(fresh)
            first_inside.set()
            second_inside.wait(MEET)
            tx.save_conversation(replace(state, turns=state.turns + 1))
            return state.turns

        def quick(tx: Tx) -> int:
            state = tx.lock_conversation(fresh)
            second_inside.set()
            tx.save_conversation(replace(state, turns=state.turns + 1))
            return state.turns

        second_inside = Event()
        with ThreadPoolExecutor(2) as pool:
            first = pool.submit(store.write, slow)
            assert first_inside.wait(PATIENCE)
            second = pool.submit(store.write, quick)
            assert (first.result(PATIENCE), second.result(PATIENCE)) == (0, 1)

    def test_writers_of_one_conversation_lose_nothing(self, store: Store) -> None:
        def one_more(tx: Tx) -> int:
            state = tx.lock_conversation(make_conversation())
            tx.save_conversation(replace(state, turns=state.turns + 1), [make_message(state.turns + 1)])
            return state.turns + 1

        turns = run_at_once(8, lambda _: [store.write(one_more) for _ in range(5)])
        assert sorted(turn for turns_of_writer in turns for turn in turns_of_writer) == list(range(1, 41))
        messages = store.read(lambda tx: tx.messages(Filter("s")))
        assert [message.turn for message in messages] == list(range(1, 41))

    def test_writers_who_lock_in_opposite_order_both_get_through(self, store: Store) -> None:
        """The database may abort one of them: then its function is run again."""
        both = Barrier(2)

        def write(order: tuple[str, str]) -> None:
            def lock_both(tx: Tx) -> None:
                for number, id in enumerate(order):
                    state = tx.lock_conversation(make_conversation(id))
                    tx.save_conversation(replace(state, turns=state.turns + 1))
                    if number == 0:
                        with suppress(BrokenBarrierError):  # we are alone in the store, or run again
                            both.wait(MEET)

            store.write(lock_both)

        run_at_once(2, lambda number: write((("a", "b"), ("b", "a"))[number]))
        assert [conversation.turns for conversation in store.read(lambda tx: tx.conversations())] == [2, 2]


def conversation_state(tx: Tx) -> tuple[object, ...]:
    """What a transaction sees of one conversation."""
    state = tx.conversation("s", "c")
    return (
        tx.messages(Filter("s")),
        state.turns if state else 0,
        tx.conversation("s", "d"),
        tx.index.tally("s", None).docs,
        cursor_of(tx, "index", "s", "c"),
        tx.view_state("index", T0, None).leased,
        tx.note("key"),
    )


FILLED = {"meta", "conversations", "messages", "erasures", "cursors", "entries", "vectors", "tallies"}


def fill(tx: Tx) -> None:
    """Put something into every table, with odd values among it."""
    messages = [
        make_message(turn, text, platform_id=f"p{turn}", metadata=ODD_METADATA[turn % len(ODD_METADATA)])
        for turn, text in enumerate(ODD_TEXTS, 1)
    ]
    messages_of_kim = [make_message(turn, "日本", conversation="d", author="kim", user="kim") for turn in (1, 2)]
    append_messages(tx, *messages, *messages_of_kim, make_message(1, space="t"), user=None)
    tx.index.put_entries(
        [
            make_entry(message, ("word", f"w{message.turn}"), axis(message.turn % 5))
            for message in (*messages, *messages_of_kim)
        ]
    )
    tx.erase(Erasure("e1", "s", T0, 1, 1, 0), [make_tombstone(messages[2])])
    set_cursor(tx, "index", "s", "c", len(messages))
    tx.set_note("embedder", "test/16")


class WholeContract:
    """What concerns all of a store."""

    def test_it_has_a_name(self, store: Store) -> None:
        assert store.name
        assert "password" not in store.name

    def test_a_note_is_kept_changed_and_removed(self, store: Store) -> None:
        assert store.read(lambda tx: tx.note("key")) is None
        for value in ("one", "", "zwei 日本 '\"\\\n"):
            store.write(lambda tx: tx.set_note("key", value))  # noqa: B023
            assert store.read(lambda tx: tx.note("key")) == value
        store.write(lambda tx: tx.set_note("key", None))
        store.write(lambda tx: tx.set_note("key", None))
        assert store.read(lambda tx: tx.note("key")) is None

    def test_an_empty_store_has_statistics(self, store: Store) -> None:
        stats = store.read(lambda tx: tx.stats(T0))
        assert (stats.spaces, stats.conversations, stats.users, stats.messages, stats.erased) == (0, 0, 0, 0, 0)
        assert (stats.characters, stats.first, stats.last, stats.entries, stats.embedder) == (0, None, None, 0, None)
        assert ViewState("index", 0, 0, 0, None) in stats.views

    def test_statistics_count_what_is_there(self, store: Store) -> None:
        messages = [
            make_message(1, "four", time=T0),
            make_message(2, "日本😀", time=T0 - SECOND),
            make_message(3, "gone", time=T0 - 9 * SECOND),
            make_message(1, "", conversation="d", user="kim", time=T0 + SECOND),
            make_message(2, "x", conversation="d", user=None, time=T0),
        ]
        store.write(
            lambda tx: append_messages(tx, *messages, make_message(1, "other", space="t", time=T0 + 5 * SECOND))
        )
        store.write(lambda tx: tx.index.put_entries([make_entry(message) for message in messages]))
        store.write(lambda tx: tx.erase(Erasure("e1", "s", T0, 1, 1, 0), [make_tombstone(messages[2])]))
        store.write(lambda tx: set_cursor(tx, "index", "s", "c", 3))
        store.write(lambda tx: tx.set_note("embedder", "test/16"))
        stats = store.read(lambda tx: tx.stats(T0, "s"))
        assert (stats.spaces, stats.conversations, stats.users, stats.messages, stats.erased) == (1, 2, 2, 4, 1)
        assert (stats.characters, stats.entries, stats.embedder) == (8, 4, "test/16")
        assert (stats.first, stats.last) == (T0 - SECOND, T0 + SECOND)
        assert ViewState("index", 2, 0, 0, None) in stats.views
        stats = store.read(lambda tx: tx.stats(T0))
        assert (stats.spaces, stats.conversations, stats.messages, stats.characters) == (2, 3, 5, 13)
        assert ViewState("index", 3, 0, 0, None) in stats.views
        assert stats.last == T0 + 5 * SECOND

    # -- copying

    def test_rows_come_page_by_page_and_all(self, store: Store) -> None:
        store.write(fill)
        for table in TABLES:
            all_rows = store.read(lambda tx: tx.rows(table, None, 1_000))  # noqa: B023
            assert all_rows or table not in FILLED
            for size in (1, 3):
                assert store.read(lambda tx: read_pages(tx, table, size)) == all_rows  # noqa: B023

    def test_rows_can_be_asked_for_by_value_and_from_the_end(self, store: Store) -> None:
        rows = [cursor_row(view, id, len(view)) for id in ("c", "d", "e") for view in ("index", "facts")]
        store.write(lambda tx: tx.put("cursors", [*rows, cursor_row("index", "c", 1, space="t")]))
        rows_found = store.read(lambda tx: tx.rows("cursors", where={"space": "s", "view": "facts"}))
        assert [row["conversation"] for row in rows_found] == ["c", "d", "e"]
        rows_found = store.read(
            lambda tx: tx.rows("cursors", None, 2, where={"space": "s", "view": "facts"}, newest=True)
        )
        assert [row["conversation"] for row in rows_found] == ["e", "d"]
        assert store.read(lambda tx: tx.rows("cursors", where={"space": "third"})) == []

    def test_rows_put_twice_are_there_once(self, store: Store) -> None:
        store.write(lambda tx: tx.put("cursors", [cursor_row("index", "c", 1), cursor_row("index", "d", 2)]))
        store.write(lambda tx: tx.put("cursors", [cursor_row("index", "d", 7), cursor_row("index", "e", 3)]))
        assert store.read(cursor_turns) == {"c": 1, "d": 7, "e": 3}
        store.write(
            lambda tx: tx.put("cursors", [cursor_row("index", "c", 10), cursor_row("index", "f", 4)], add=("turn",))
        )
        assert store.read(cursor_turns) == {"c": 11, "d": 7, "e": 3, "f": 4}
        store.write(lambda tx: tx.put("cursors", []))
        assert store.read(cursor_turns) == {"c": 11, "d": 7, "e": 3, "f": 4}

    def test_a_copy_is_the_same_store(self, store: Store, open_store: OpenStore) -> None:
        """D3: changed without loss."""
        store.write(fill)
        with closing(open_store("copy")) as copy:
            row_counts = copy_store(store, copy, lambda table, rows: None)
            assert row_counts["messages"] == 15
            assert copy.read(contents) == store.read(contents)
            assert copy.read(answers) == store.read(answers)
            assert copy.read(lambda tx: tx.note(COPYING)) is None

    def test_a_copy_goes_on_where_the_original_was(self, store: Store, open_store: OpenStore) -> None:
        store.write(fill)
        with closing(open_store("copy")) as copy:
            copy_store(store, copy, lambda table, rows: None)
            new = make_message(3, conversation="d")
            for target in (store, copy):
                target.write(lambda tx: append_and_index(tx, new, terms=("word", "new")))
            assert copy.read(answers) == store.read(answers)
            assert [candidate.message_id for candidate in copy.read(lambda tx: find_matches(tx, [["new"]]))[0]] == [
                "d-3"
            ]

    # -- closing

    def test_everything_is_there_after_a_restart(self, store: Store, open_store: OpenStore) -> None:
        """D8: log, cursors, notes and index; and new data does not collide with old data."""
        store.write(fill)
        before = store.read(contents), store.read(answers)
        store.close()
        with closing(open_store()) as reopened_store:
            assert (reopened_store.read(contents), reopened_store.read(answers)) == before
            new = make_message(3, conversation="d")
            reopened_store.write(lambda tx: append_and_index(tx, new, terms=("new",)))
        with closing(open_store()) as third:
            assert len(third.read(lambda tx: find_matches(tx, [["new"], ["word"]]))[0]) == 14

    def test_closing_twice_is_closing_once(self, store: Store) -> None:
        store.write(fill)
        store.close()
        store.close()

    def test_stores_of_two_names_are_apart(self, store: Store, open_store: OpenStore) -> None:
        with closing(open_store("other")) as other:
            store.write(fill)
            assert other.read(lambda tx: tx.conversations()) == []


def cursor_row(view: str, id: str, turn: int, space: str = "s") -> dict[str, Any]:
    return {"space": space, "view": view, "conversation": id, "turn": turn}


def cursor_turns(tx: Tx) -> dict[str, int]:
    return {row["conversation"]: row["turn"] for row in tx.rows("cursors", where={"space": "s", "view": "index"})}


def read_pages(tx: Tx, table: str, size: int) -> list[Mapping[str, Any]]:
    rows: list[Mapping[str, Any]] = []
    after: Mapping[str, Any] | None = None
    while page := tx.rows(table, after, size):
        assert len(page) <= size
        rows += page
        after = page[-1]
    return rows


def contents(tx: Tx) -> dict[str, list[Mapping[str, Any]]]:
    """Every row, except what a store notes about itself."""
    return {table: tx.rows(table, None, 1_000) for table in TABLES if table != "meta"}


def answers(tx: Tx) -> tuple[object, ...]:
    """What the log, the views and the index answer."""
    candidates, frequencies = find_matches(tx, [["word"], ["w3", "w4"]])
    return (
        tx.conversations(),
        [(message, message.seal) for space in ("s", "t") for message in tx.messages(Filter(space))],
        erasures_of(tx),
        tx.count_messages("erasure"),
        cursor_of(tx, "index", "s", "c"),
        sorted(tx.lagging("index", T0), key=lambda lag: lag.space),  # they changed at the same moment: in any order
        tx.index.tally("s", None),
        sorted((candidate.message_id, candidate.counts, candidate.length) for candidate in candidates),
        frequencies,
        tx.note("embedder"),
        tx.stats(T0),
    )


class StoreContract(
    LogContract, TransactionContract, ViewContract, IndexContract, VectorContract, RowsContract, WholeContract
):
    """All of it."""

    @pytest.fixture
    def open_store(self) -> OpenStore:
        raise NotImplementedError("override the fixture `open_store`, so that it opens the store under test")

    @pytest.fixture
    def store(self, open_store: OpenStore) -> Iterator[Store]:
        with closing(open_store()) as store:
            yield store
