"""The log, as every store must keep it: each conversation once, each message once, in order, to the character."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from recollect.errors import StoreError
from recollect.model import Conversation, Erasure, Filter, Message
from recollect.ports import Store, Tx
from recollect.rules.log import canonical
from recollect.testing.samples import ODD_IDS, ODD_METADATA, ODD_TEXTS, T0, conversation, entry, keep, matches, message

SECOND = timedelta(seconds=1)


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
    Filter("third"),
)


def spoken() -> list[Message]:
    """Two spaces, two conversations, two people, three roles, and times that do not follow the turns."""
    said = [
        message(1, "a1", time=T0),
        message(2, "a2", role="assistant", author="bot", time=T0 + SECOND),
        message(3, "a3", role="tool", author="bot", time=T0 - SECOND),
        message(1, "b1", conversation="d", time=T0 + 2 * SECOND),
        message(2, "b2", conversation="d", author="kim", user="kim", time=T0),
        message(3, "b3", conversation="d", role="system", author="system", user=None, time=T0),
    ]
    return [*said, *(replace(one, space="other") for one in said)]


class LogContract:
    """Conversations and messages."""

    # -- conversations

    def test_a_conversation_is_made_once(self, store: Store) -> None:
        first = store.write(lambda tx: tx.lock_conversation(conversation(user="alex")))
        again = store.write(lambda tx: tx.lock_conversation(conversation(user="kim", at=T0 + SECOND)))
        assert first == again == conversation(user="alex")
        assert store.read(lambda tx: tx.conversations()) == [first]

    def test_a_saved_conversation_is_found_as_it_was_saved(self, store: Store) -> None:
        changed = replace(conversation(user=None), turns=7, head=bytes(range(256)), changed_at=T0 + SECOND, user="kim")

        def save(tx: Tx) -> Conversation | None:
            tx.lock_conversation(conversation(user=None))
            tx.save_conversation(changed)
            return tx.conversation("s", "c")

        assert store.write(save) == changed
        assert store.read(lambda tx: tx.conversation("s", "c")) == changed
        assert store.write(lambda tx: tx.lock_conversation(conversation())) == changed

    def test_a_conversation_nobody_began_is_not_there(self, store: Store) -> None:
        store.write(lambda tx: tx.lock_conversation(conversation("c")))
        assert store.read(lambda tx: tx.conversation("s", "C")) is None
        assert store.read(lambda tx: tx.conversation("other", "c")) is None

    def test_conversations_come_in_order_of_space_and_id_whatever_the_ids(self, store: Store) -> None:
        def make(tx: Tx) -> None:
            for space in ("s", "S", "ß"):
                for id in reversed(ODD_IDS):
                    tx.lock_conversation(conversation(id, space=space))

        store.write(make)
        every = store.read(lambda tx: tx.conversations())
        expected = sorted((space, id) for space in ("s", "S", "ß") for id in ODD_IDS)
        assert [(one.space, one.id) for one in every] == expected
        assert store.read(lambda tx: tx.conversations("S")) == [one for one in every if one.space == "S"]

    def test_pages_of_conversations_leave_none_out(self, store: Store) -> None:
        def make(tx: Tx) -> None:
            for id in ODD_IDS:
                tx.lock_conversation(conversation(id))
                tx.lock_conversation(conversation(id, space="t"))

        store.write(make)
        pages, after = list[Conversation](), ("", "")
        while page := store.read(lambda tx: tx.conversations(after=after, limit=5)):  # noqa: B023
            assert len(page) <= 5
            pages += page
            after = (page[-1].space, page[-1].id)
        assert pages == store.read(lambda tx: tx.conversations())
        assert len(pages) == 2 * len(ODD_IDS)

    def test_conversations_of_one_user_are_theirs_alone(self, store: Store) -> None:
        def make(tx: Tx) -> None:
            for id, user in (("1", "alex"), ("2", "kim"), ("3", None), ("4", "alex"), ("5", "ALEX")):
                tx.lock_conversation(conversation(id, user=user))
            tx.lock_conversation(conversation("6", space="other", user="alex"))

        store.write(make)
        ids = [one.id for one in store.read(lambda tx: tx.conversations("s", "alex"))]
        assert ids == ["1", "4"]
        assert [one.id for one in store.read(lambda tx: tx.conversations("s", "alex", ("s", "1")))] == ["4"]

    # -- messages

    def test_content_comes_back_to_the_character(self, store: Store) -> None:
        said = [message(turn, content) for turn, content in enumerate(ODD_TEXTS, 1)]
        store.write(lambda tx: keep(tx, *said))
        assert store.read(lambda tx: tx.messages(Filter("s"))) == said

    def test_five_megabytes_come_back_to_the_character(self, store: Store) -> None:
        said = message(content="0123456789abcde\n" * 262_144 + "日本語😀" * 100_000)
        store.write(lambda tx: keep(tx, said))
        assert store.read(lambda tx: tx.messages(Filter("s")))[0].content == said.content

    def test_metadata_comes_back_value_by_value(self, store: Store) -> None:
        said = [message(turn, metadata=metadata) for turn, metadata in enumerate(ODD_METADATA, 1)]
        store.write(lambda tx: keep(tx, *said))
        found = store.read(lambda tx: tx.messages(Filter("s")))
        assert found == said
        # 2 is not 2.0, and True is not 1.
        assert [canonical(one.metadata) for one in found] == [canonical(one) for one in ODD_METADATA]

    def test_times_are_kept_to_the_microsecond(self, store: Store) -> None:
        said = [message(conversation=str(number), time=time) for number, time in enumerate(ODD_TIMES)]
        for one in said:
            store.write(lambda tx: keep(tx, one, at=one.time))  # noqa: B023
        found = store.read(lambda tx: tx.messages(Filter("s")))
        assert [one.time for one in found] == list(ODD_TIMES)
        assert all(one.time.utcoffset() == timedelta(0) for one in found)
        held = store.read(lambda tx: tx.conversations("s"))
        assert [(one.created_at, one.changed_at) for one in held] == [(time, time) for time in ODD_TIMES]
        for time in ODD_TIMES:
            there = [one for one in said if one.time >= time]
            assert store.read(lambda tx: tx.messages(Filter("s", after=time))) == there  # noqa: B023

    def test_every_field_and_the_seal_come_back(self, store: Store) -> None:
        said = message(
            3, "text", role="tool", author="bot", user=None, platform_id="p/1", metadata={"k": 1}, id="odd id"
        )
        store.write(lambda tx: keep(tx, said))
        (found,) = store.read(lambda tx: tx.messages(Filter("s")))
        assert found == said
        assert found.seal == said.seal

    def test_odd_ids_are_only_ids(self, store: Store) -> None:
        said = [message(space=id, conversation=id, id=id, author=id, user=id, platform_id=id) for id in ODD_IDS]
        store.write(lambda tx: keep(tx, *said))
        for one in said:
            assert store.read(lambda tx: tx.find_messages(one.space, ids=[one.id])) == [one]  # noqa: B023
            place = (one.space, one.conversation)
            assert store.read(
                lambda tx: tx.find_messages(place[0], conversation=place[1], platform_ids=[place[1]])  # noqa: B023
            ) == [one]
            where = Filter(one.space, user=one.user, author=one.author, conversation=one.conversation)
            assert store.read(lambda tx: tx.messages(where)) == [one]  # noqa: B023

    def test_the_longest_ids_are_kept(self, store: Store) -> None:
        # 768 bytes that no compression makes shorter.
        long = "".join(chr(0x20000 + (i * 7919) % 40_000) for i in range(192))
        said = message(space=long, conversation=long, id=long, author=long, user=long, platform_id=long)
        store.write(lambda tx: keep(tx, said, user=long))
        store.write(lambda tx: tx.put_entries([entry(said)]))
        store.write(lambda tx: tx.set_cursor("index", long, long, 1))
        found = store.read(lambda tx: tx.find_messages(long, conversation=long, platform_ids=[long]))
        assert found == [said]

    def test_messages_are_found_by_id_in_their_space(self, store: Store) -> None:
        said = [message(turn, id=f"m{turn}") for turn in range(1, 1_203)]
        store.write(lambda tx: keep_all(tx, said))
        store.write(lambda tx: keep(tx, message(space="other", id="m1")))
        ids = [one.id for one in said]
        found = store.read(lambda tx: tx.find_messages("s", ids=[*ids, "nowhere", *ids]))
        assert sorted(found, key=lambda one: one.turn) == said
        assert store.read(lambda tx: tx.find_messages("s")) == []
        assert store.read(lambda tx: tx.find_messages("third", ids=ids)) == []

    def test_messages_are_found_by_platform_id_in_their_conversation(self, store: Store) -> None:
        """C1: the platform's id is one of a conversation."""
        here, there = message(platform_id="p1"), message(conversation="d", platform_id="p1")
        store.write(lambda tx: keep(tx, here, there, message(2)))
        found = store.read(lambda tx: tx.find_messages("s", conversation="c", platform_ids=["p1", "p2"]))
        assert found == [here]
        both = store.read(lambda tx: tx.find_messages("s", ids=["d-1"], conversation="c", platform_ids=iter(["p1"])))
        assert {one.id for one in both} == {"c-1", "d-1"}

    @pytest.mark.parametrize(
        "second",
        [
            message(1, id="another"),
            message(1, conversation="d", id="c-1"),
            message(2, id="another", platform_id="p1"),
        ],
        ids=["turn", "id", "platform id"],
    )
    def test_what_must_be_unique_is_refused_twice(self, store: Store, second: Message) -> None:
        """C1: even an engine that forgot to look cannot store a message twice."""
        store.write(lambda tx: keep(tx, message(platform_id="p1")))
        with pytest.raises(StoreError):
            store.write(lambda tx: keep(tx, second))
        assert store.read(lambda tx: tx.messages(Filter("s"))) == [message(platform_id="p1")]
        assert store.read(lambda tx: tx.conversation("s", "d")) is None

    def test_the_same_ids_in_another_space_are_other_messages(self, store: Store) -> None:
        here, there = message(platform_id="p1"), message(space="other", platform_id="p1")
        store.write(lambda tx: keep(tx, here, there))
        assert store.read(lambda tx: tx.messages(Filter("s"))) == [here]
        assert store.read(lambda tx: tx.messages(Filter("other"))) == [there]

    def test_no_platform_id_is_not_an_id(self, store: Store) -> None:
        store.write(lambda tx: keep(tx, message(1), message(2)))
        assert len(store.read(lambda tx: tx.messages(Filter("s")))) == 2

    # -- reading

    def test_a_filter_means_what_it_says(self, store: Store) -> None:
        store.write(lambda tx: keep(tx, *spoken()))
        for where in FILTERS:
            found = store.read(lambda tx: tx.messages(where))  # noqa: B023
            assert found == [one for one in spoken() if meant(one, where)], where

    def test_messages_come_in_order_of_conversation_and_turn(self, store: Store) -> None:
        said = [message(turn, conversation=id, id=f"{id} {turn}") for id in ODD_IDS for turn in (1, 2, 9, 10, 11)]
        store.write(lambda tx: keep(tx, *reversed(said)))
        assert store.read(lambda tx: tx.messages(Filter("s"))) == said

    def test_a_page_begins_after_a_message_and_ends_at_its_limit(self, store: Store) -> None:
        said = [message(turn, conversation=id) for id in ("a", "b", "c") for turn in range(1, 5)]
        store.write(lambda tx: keep(tx, *said))
        for start in range(len(said)):
            after = (said[start].conversation, said[start].turn)
            page = store.read(lambda tx: tx.messages(Filter("s"), after=after, limit=5))  # noqa: B023
            assert page == said[start + 1 : start + 6]
        assert store.read(lambda tx: tx.messages(Filter("s"), after=("b", 0))) == said[4:]
        assert store.read(lambda tx: tx.messages(Filter("s", conversation="b"), after=("b", 2))) == said[6:8]
        assert store.read(lambda tx: tx.messages(Filter("s", conversation="b"), after=("a", 2))) == said[4:8]

    def test_newest_gives_the_last_ones_in_order(self, store: Store) -> None:
        said = [message(turn) for turn in range(1, 8)]
        store.write(lambda tx: keep(tx, *said))
        where = Filter("s", conversation="c")
        assert store.read(lambda tx: tx.messages(where, limit=3, newest=True)) == said[4:]
        assert store.read(lambda tx: tx.messages(where, limit=3, newest=True, upto=4)) == said[1:4]
        assert store.read(lambda tx: tx.messages(where, newest=True)) == said
        assert store.read(lambda tx: tx.messages(where, upto=4, limit=2)) == said[:2]
        assert store.read(lambda tx: tx.messages(where, after=("c", 2), upto=4)) == said[2:4]
        assert store.read(lambda tx: tx.messages(where, upto=0)) == []

    # -- erasing

    def test_erasing_puts_tombstones_in_the_places_of_messages(self, store: Store) -> None:
        said = [message(turn, f"word {turn}", platform_id=f"p{turn}", metadata={"k": 1}) for turn in (1, 2, 3)]
        store.write(lambda tx: keep(tx, *said, message(conversation="d")))
        stones = [gone(said[0]), gone(said[2])]
        store.write(lambda tx: tx.erase(Erasure("e1", "s", T0, 2, 1, 0), stones))
        found = store.read(lambda tx: tx.messages(Filter("s", conversation="c")))
        assert found == [stones[0], said[1], stones[1]]
        assert [one.seal for one in found] == [stones[0].seal, said[1].seal, stones[1].seal]
        assert store.read(lambda tx: tx.erasures()) == {"e1": 2}
        assert store.read(lambda tx: tx.erased_by()) == {"e1": 2}
        assert len(store.read(lambda tx: tx.messages(Filter("s", conversation="d")))) == 1

    def test_erasing_drops_what_was_derived_and_counts_it(self, store: Store) -> None:
        said = [message(turn, conversation=id) for id in ("c", "d") for turn in (1, 2)]
        parts = [entry(one, ("word", "more"), part=part) for one in said for part in (0, 1, 2)]
        store.write(lambda tx: keep(tx, *said))
        store.write(lambda tx: tx.put_entries(parts))
        dropped = store.write(lambda tx: tx.erase(Erasure("e1", "s", T0, 2, 2, 0), [gone(said[1]), gone(said[2])]))
        assert dropped == 6
        tally = store.read(lambda tx: tx.tally("s", "alex"))
        assert (tally.docs, tally.words) == (6, 12)
        left, frequencies = store.read(lambda tx: matches(tx, [["word"]]))
        assert {one.message_id for one in left} == {said[0].id, said[3].id}
        assert frequencies == [6]

    def test_views_that_are_to_be_kept_are_not_made_anew(self, store: Store) -> None:
        said = message(1)
        store.write(lambda tx: keep(tx, said))
        row = {"space": "s", "conversation": "c", "first": 1, "last": 1, "reason": "turns", "archived_at": T0}
        store.write(lambda tx: tx.put("chunks", [row]))
        store.write(lambda tx: tx.set_cursor("window", "s", "c", 1))
        store.write(lambda tx: tx.erase(Erasure("e1", "s", T0, 1, 1, 0), [gone(said)], keep=("window",)))
        assert store.read(lambda tx: (len(tx.rows("chunks")), tx.cursor("window", "s", "c"))) == (1, 1)
        store.write(lambda tx: tx.erase(Erasure("e2", "s", T0, 1, 1, 0), [gone(said)]))
        assert store.read(lambda tx: (len(tx.rows("chunks")), tx.cursor("window", "s", "c"))) == (0, 0)

    def test_erasing_many_messages_is_one_transaction(self, store: Store) -> None:
        said = [message(turn) for turn in range(1, 1_101)]
        store.write(lambda tx: keep_all(tx, said))
        store.write(lambda tx: tx.put_entries([entry(one) for one in said]))
        stones = [gone(one) for one in said]
        assert store.write(lambda tx: tx.erase(Erasure("e1", "s", T0, len(said), 1, 0), stones)) == len(said)
        assert all(one.erased for one in store.read(lambda tx: tx.messages(Filter("s"))))
        assert store.read(lambda tx: tx.tally("s", None)).docs == 0

    def test_a_conversation_is_renamed_wherever_it_is_named(self, store: Store) -> None:
        said, other = message(1), message(1, conversation="d")
        store.write(lambda tx: keep(tx, said, other))
        stone = gone(said)
        store.write(lambda tx: tx.erase(Erasure("e1", "s", T0, 1, 1, 0), [stone]))
        store.write(lambda tx: tx.set_cursor("index", "s", "c", 1))
        names = [{"kind": "channel", "name": "c"}, {"kind": "channel", "name": "d"}, {"kind": "nickname", "name": "c"}]
        store.write(
            lambda tx: tx.put("people", [{"space": "s", "user_id": "kim", "since": T0, **name} for name in names])
        )
        before = store.read(lambda tx: tx.conversation("s", "c"))
        store.write(lambda tx: tx.rename_conversation("s", "c", "z"))
        assert before is not None
        assert store.read(lambda tx: tx.conversation("s", "c")) is None
        assert store.read(lambda tx: tx.conversation("s", "z")) == replace(before, id="z")
        assert store.read(lambda tx: tx.messages(Filter("s"))) == [other, replace(stone, conversation="z")]
        assert store.read(lambda tx: (tx.cursor("index", "s", "c"), tx.cursor("index", "s", "z"))) == (0, 1)
        named = {row["conversation"] for row in store.read(lambda tx: tx.rows("leases"))}
        assert named <= {"d", "z"}
        people = [(row["kind"], row["name"]) for row in store.read(lambda tx: tx.rows("people"))]
        assert people == [("channel", "d"), ("channel", "z"), ("nickname", "c")]

    def test_scrubbing_changes_nothing_that_is_left(self, store: Store) -> None:
        said = [message(turn) for turn in (1, 2)]
        store.write(lambda tx: keep(tx, *said))
        store.write(lambda tx: tx.put_entries([entry(one) for one in said]))
        store.write(lambda tx: tx.erase(Erasure("e1", "s", T0, 1, 1, 0), [gone(said[0])]))
        assert store.scrub() == (), "nobody else is there to keep something in the files"
        assert store.read(lambda tx: tx.messages(Filter("s"))) == [gone(said[0]), said[1]]
        assert len(store.read(lambda tx: matches(tx, [["hello"]]))[0]) == 1


def gone(said: Message) -> Message:
    """What a tombstone is to a store: the same place, other values."""
    return replace(
        said,
        author="",
        user=None,
        content="",
        time=datetime(1970, 1, 1, tzinfo=UTC),
        platform_id=None if said.platform_id is None else f"erased:{said.platform_id}",
        metadata={},
        erased=True,
        seal=replace(said.seal, salt=b""),
    )


def keep_all(tx: Tx, said: list[Message]) -> None:
    """Many messages of one conversation at once."""
    last = said[-1]
    tx.lock_conversation(conversation(last.conversation, space=last.space))
    tx.insert_messages(said)
    tx.save_conversation(conversation(last.conversation, space=last.space, turns=last.turn))


def meant(one: Message, where: Filter) -> bool:
    """The filter, in plain words."""
    pairs = (
        (where.user, one.user),
        (where.author, one.author),
        (where.conversation, one.conversation),
        (where.role, one.role),
    )
    return (
        one.space == where.space
        and all(asked is None or asked == has for asked, has in pairs)
        and (where.after is None or one.time >= where.after)
        and (where.before is None or one.time < where.before)
    )
