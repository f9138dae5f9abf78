"""In a group a fact is what lasts of what somebody tells of themselves; elsewhere facts are as they were."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine_doubles import settle_facts, settle_views

from everword import Draft, Memory
from everword.facts.english.finder import read_group_facts

SAID = [
    ("ann", "bob: I use vim on every machine"),
    ("bob", "I have a laptop with two monitors"),
    ("carl", "I'm from Lisbon"),
    ("ann", "I get disconnected all the time"),
    ("bob", "I jutse xwin on the old machine"),
    ("carl", "I ran sudo rm /usr/lib/banshee and restarted the player"),
    ("ann", "ok I tried with the second cable"),
    ("bob", "E: Couldn't find package gnash"),
    ("carl", "dana: I am learning Portuguese"),
]


@pytest.mark.checklist("G23")
def test_what_lasts_is_a_fact_and_what_is_of_the_moment_is_none(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db")) as memory:
        memory.conversation("general").extend(Draft("user", text, author) for author, text in SAID)
        settle_views(memory, "facts")
        facts = {person: sorted(fact.value for fact in memory.facts(user=person)) for person in ("ann", "bob", "carl")}
    assert facts == {
        "ann": ["uses vim on every machine"],
        "bob": ["has a laptop with two monitors"],
        "carl": ["Lisbon", "is learning Portuguese"],
    }


def test_two_people_tell_what_happened(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db")) as memory:
        said = [("ann", "I adopted a cat last week"), ("bob", "I fixed my bike yesterday, the chain was broken")]
        memory.conversation("pair").extend(Draft("user", text, author) for author, text in said)
        settle_views(memory, "facts")
        assert memory.facts(user="ann")
        assert memory.facts(user="bob")


@pytest.mark.checklist("F11")
def test_a_deleted_message_is_of_no_third_person(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db")) as memory:
        pair = memory.conversation("pair")
        pair.extend([Draft("user", "Hello there.", "kim"), Draft("user", "Nothing here.", "alex")])
        pair.delete(2)
        pair.add("user", "We talked about sailing all day long.", author="alex")
        settle_views(memory, "facts")
        facts = [fact.value for fact in memory.facts(user="alex")]
        assert facts == ["talked about sailing all day long"]
        memory.rebuild("facts")
        settle_views(memory, "facts")
        assert [fact.value for fact in memory.facts(user="alex")] == facts


@pytest.mark.parametrize(
    "text",
    [
        "every CD I put in opens a window",
        "I treid lshw",
        "i just toughts they were",
        "my wifi is not working",
        "I got an error",
    ],
)
def test_a_word_that_is_no_verb_is_not_bent(text: str) -> None:
    assert read_group_facts(text, None, ()) == []


@pytest.mark.checklist("G23")
def test_a_bot_is_nobody(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db")) as memory:
        channel = memory.conversation("general")
        channel.extend(Draft("user", text, author) for author, text in SAID)
        channel.add("user", "I use cron on every machine", author="helper", metadata={"bot": True})
        settle_facts(memory)
        assert memory.facts(user="helper") == []
        assert memory.facts(user="ann")
        assert "helper" not in {digest.user for digest in memory.digests()}
        assert [hit.message.author for hit in memory.search("cron", limit=1)] == ["helper"]


@pytest.mark.parametrize(
    "text",
    [
        "Ann here: the manual will help you become familiar with everyday tasks",
        "i have now only 640*480 @ the second monitor",
        "I'm running on a server",
        "im using my brothers because mine is not working",
        "I am using the translator so excuse the mistakes",
        "I'm running the 64-bit edition",
        "I bought this computer when I knew nothing",
        "I am running a kubuntu live cd",
        "I have 400 stations I want to add to the radio tray",
        "I love my card with a kick up the ass",
        "carl: Yes, moved to hoary. Whichever you prefer",
        "I have a Postgres database which holds 20 tables",
    ],
)
def test_what_is_cut_or_said_to_another_is_no_fact(text: str) -> None:
    assert read_group_facts(text, None, ()) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("I am using Gentoo 12.04 and am trying to get my modem to work", "is using Gentoo 12.04"),
        (
            "I'm running Plan 9 in a virtual machine, and after every reboot it is slow",
            "is running Plan 9 in a virtual machine",
        ),
        ("carl: I've got a Pavilion dv6000 but the sound went wacko", "has got a Pavilion dv6000"),
        ("I never use the GUI, myself", "never uses the GUI"),
    ],
)
def test_a_fact_ends_where_another_thought_begins(text: str, value: str) -> None:
    assert [fact.value for fact in read_group_facts(text, None, ())] == [value]
