"""Who may see what is known: nothing that was said in private stands in a context for anybody else (B9, C2's echo).

Every value and every year in these talks is a word that is used for nothing else: it is enough to look for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sample_sizes import sample

from everword import Batch, Context, Draft, Memory
from everword.model import Resolved, Unknown
from everword.testing import FrozenClock

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
PEOPLE = ("ann", "bob", "cem")
GROUPS = ("kitchen", "garden")
VALUES = ("Varnok", "Quellin", "Tosmira", "Brevana", "Ildoran", "Pruvesk")
YEARS = tuple(range(1961, 1999, 6))
SAYINGS = (
    "I live in {value}.",
    "I have lived in {value} since {year}.",
    "I moved to {value}.",
    "I no longer live in {value}.",
    "My name is {value}.",
    "I work at {value}.",
    "I have worked at {value} since {year}.",
    "I'm allergic to {value}.",
    "I love {value}.",
    "I don't like {value}.",
    "My dog is called {value}.",
    "My brother {value} lives in Oslo.",
    "Bob lives in {value}.",
    "Bob has worked at {value} since {year}.",
    "Ann is allergic to {value}.",
    "Call me {value}.",
)
fresh = count()


@dataclass(frozen=True)
class Said:
    """What somebody says: to a group, or alone with the assistant."""

    who: str
    group: str | None
    saying: str
    value: str
    year: int

    @property
    def text(self) -> str:
        return self.saying.format(value=self.value, year=self.year)

    @property
    def words(self) -> set[str]:
        return {self.value, *([str(self.year)] if "{year}" in self.saying else [])}


said = st.builds(
    Said,
    who=st.sampled_from(PEOPLE[:2]),
    group=st.sampled_from((None, None, "kitchen")),
    saying=st.sampled_from(SAYINGS),
    value=st.sampled_from(VALUES),
    year=st.sampled_from(YEARS),
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    path = tmp_path_factory.mktemp("audience") / "memory.db"
    with Memory(str(path), clock=FrozenClock(NOW), followers=False) as opened:
        yield opened


def hold(memory: Memory, talks: dict[str, list[Said]]) -> None:
    """Say it all, each talk in its space: an hour after the other, in the speaker's own chat or in the group."""
    places: dict[tuple[str, str, str | None], list[Draft]] = {}
    for space, talk in talks.items():
        for number, one in enumerate(talk):
            id, user = (one.group, None) if one.group else (f"chat of {one.who}", one.who)
            draft = Draft("user", one.text, author=one.who, time=NOW - timedelta(hours=len(talk) - number))
            places.setdefault((space, id, user), []).append(draft)
    memory.add_many([Batch(*place, drafts) for place, drafts in places.items()])
    memory.settle()


def texts(context: Context) -> str:
    return "\n".join(message["content"] for message in context.messages)


def known(context: Context) -> str:
    """What the context says is known."""
    text = texts(context)
    opening, end = "=== WHAT IS KNOWN ===", "=== END WHAT IS KNOWN ==="
    return text[text.index(opening) : text.index(end)] if opening in text else ""


QUESTION = "Where does everybody live and work, and since when?"


def shown(memory: Memory, space: str, number: int) -> dict[str, Context]:
    """What a model would be sent for the group and in a new chat of each person: now with recall, now without."""
    asked = {
        "kitchen": QUESTION if number % 2 else "hi",
        "ann": "hi",
        "bob": "hi" if number % 2 else QUESTION,
        "cem": "hi",
    }
    return {
        who: memory.conversation(
            who if who in GROUPS else f"new chat of {who}", user=None if who in GROUPS else who, space=space
        ).context(text, markers=False)
        for who, text in asked.items()
    }


def leaks(contexts: dict[str, Context], talk: list[Said]) -> list[tuple[str, str]]:
    """Who would see a word that only others know: it was said in no group, nor by themselves."""
    open_to_all = {word for one in talk if one.group for word in one.words}
    found = []
    for viewer, context in contexts.items():
        mine = {word for one in talk if one.who == viewer for word in one.words}
        secret = {word for one in talk for word in one.words} - open_to_all - mine
        found += [(viewer, word) for word in secret if word in texts(context)]
    return found


def since(group: str | None, text: str = "I have lived in {value} since {year}.") -> Said:
    return Said("ann", group, text, "Varnok", 1967)


@settings(max_examples=sample(12), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(st.lists(said, min_size=1, max_size=7), min_size=8, max_size=8))
@example(
    [
        [since(None), since("kitchen", "I live in {value}.")],
        [since("kitchen", "I live in {value}."), since(None)],
        [since(None), since("garden", "I live in {value}."), since(None), since("kitchen", "I live in {value}.")],
    ]
)
@pytest.mark.checklist("B9")
def test_nothing_said_in_private_is_in_a_context_for_another(memory: Memory, talks: list[list[Said]]) -> None:
    """Values, names, dates, and what is said of others: nowhere but in the chats of who said it. 96 talks, eight at a
    time: bringing views up costs as much for one."""
    last = Said("ann", "kitchen", "I'm allergic to {value}.", "Zimtrose", 1990)
    held = {f"space {next(fresh)}": [*talk, last] for talk in talks}
    hold(memory, held)
    for number, (space, talk) in enumerate(held.items()):
        contexts = shown(memory, space, number)
        assert leaks(contexts, talk) == []
        for viewer in ("kitchen", "ann"):
            assert "Zimtrose" in known(contexts[viewer]), "what was said to all is shown to all, and to who said it"
        assert "Zimtrose" not in known(contexts["bob"])


@pytest.mark.checklist("B9")
def test_a_chat_shows_its_own_user_what_they_said_in_private(store_url: str) -> None:
    with Memory(store_url, clock=FrozenClock(NOW), followers=False) as memory:
        hold(
            memory,
            {"default": [since(None), Said("bob", "kitchen", "I live in {value}.", "Quellin", 1990)]},
        )
        context = memory.conversation("another chat", user="ann").context("hi")
        assert "location: Varnok (since 1967)" in known(context)
        assert "Quellin" not in texts(context)
        kitchen = known(memory.conversation("kitchen").context("hi"))
        assert "bob: Identity\n- location: Quellin\n" in kitchen
        assert "Varnok" not in kitchen


@pytest.mark.checklist("B6")
def test_a_date_that_was_told_in_private_stays_there(memory: Memory) -> None:
    """Said to all: where. Said in private: since when. The group is shown what it was told."""
    space = "dates"
    hold(memory, {space: [since(None), since("kitchen", "I live in {value}.")]})
    assert "location: Varnok\n" in known(memory.conversation("kitchen", space=space).context("hi"))
    own = known(memory.conversation("new", user="ann", space=space).context("hi"))
    assert "location: Varnok (since 1967)\n" in own
    hold(memory, {"dates told to all": [since("kitchen")]})
    told = known(memory.conversation("kitchen", space="dates told to all").context("hi"))
    assert "location: Varnok (since 1967)\n" in told


def test_what_ann_says_of_bob_is_hers_and_not_in_bobs_context(store_url: str) -> None:
    of_bob = [
        Said("ann", None, "Bob lives in {value}.", "Varnok", 1990),
        Said("ann", None, "Bob is allergic to {value}.", "Quellin", 1990),
        Said("ann", None, "My brother Bob works at {value}.", "Tosmira", 1990),
    ]
    with Memory(store_url, clock=FrozenClock(NOW), followers=False) as memory:
        hold(memory, {"default": [*of_bob, Said("bob", None, "I live in {value}.", "Ildoran", 1990)]})
        his = texts(memory.conversation("new", user="bob").context("Where do I live, and what can't I eat?"))
        assert "location: Ildoran" in his
        assert not [one.value for one in of_bob if one.value in his]
        mine = known(memory.conversation("new too", user="ann").context("hi"))
        assert "About Bob" in mine
        assert "location: Varnok" in mine
        facts = memory.facts(user="ann")
        assert {(fact.subject, fact.speaker, fact.audience) for fact in facts} >= {("Bob", "ann", None)}
        assert [fact.value for fact in memory.facts(user="bob")] == ["Ildoran"]


def test_who_writes_in_anothers_chat_speaks_of_themselves(memory: Memory) -> None:
    """A message of Bob's in Ann's chat is in her memory: "I" in it is Bob, and her own facts stay as they are."""
    chat = memory.conversation("of ann", user="ann", space="guests")
    chat.add("user", "I live in Varnok.")
    chat.add("user", "I live in Quellin.", author="bob")
    memory.settle()
    found = {(fact.subject, fact.speaker, fact.value) for fact in memory.facts(user="ann", space="guests")}
    assert found == {(None, "ann", "Varnok"), ("bob", "bob", "Quellin")}
    assert memory.facts(user="bob", space="guests") == []


def test_nothing_crosses_a_space(memory: Memory) -> None:
    hold(memory, {"here": [Said("ann", "kitchen", "I live in {value}.", "Brevana", 1990)]})
    there = memory.conversation("kitchen", space="there")
    there.add("user", "The soup is ready for everybody.", author="ann")
    memory.settle()
    assert "Brevana" not in texts(there.context("Where does ann live?"))
    assert memory.facts(user="ann", space="there") == []


def test_a_person_who_is_silent_in_a_group_is_not_told_of_there(memory: Memory) -> None:
    ann = Said("ann", "garden", "I live in {value}.", "Varnok", 1990)
    hold(memory, {"silent": [ann, Said("bob", "kitchen", "I live in {value}.", "Quellin", 1990)]})
    kitchen = texts(memory.conversation("kitchen", space="silent").context("hi"))
    assert "Quellin" in kitchen
    assert "Varnok" not in kitchen


def test_a_name_said_in_private_is_no_name_of_the_space(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "names.db")) as memory:
        memory.conversation("private", user="u1").add("user", "My name is Persephone.")
        memory.conversation("kitchen").add("user", "My name is Dorothea.", author="u2")
        memory.settle()
        assert memory.who_is("Persephone") == Unknown()
        assert memory.who_is("Dorothea") == Resolved("u2", memory.who_is("Dorothea").why)  # type: ignore[union-attr]
