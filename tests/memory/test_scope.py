"""Search keeps to its scope: one space, and if asked one user, conversation, role, span of time. Never another's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from engine_doubles import settle_index
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sample_sizes import sample

from everword import Batch, Draft, Memory, Message, NotFound, Role, ScopeError
from everword.testing import FrozenClock

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)

# The terms of a scope are hashes: people whose names are parts of one another, or of the syntax, must not meet.
USERS = ("alex", "alex ", "ALEX", "al", "kim", "kim' OR '1'='1", "", "z")
WORDS = ("parrot", "piano", "lisbon", "database", "winter", "kitten")


@pytest.mark.every_store
def test_search_keeps_to_space_user_conversation_and_role(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        for space in ("red", "blue"):
            for user in ("alex", "kim"):
                for chat in ("work", "home"):
                    conversation = memory.conversation(f"{user}/{chat}", user=user, space=space)
                    conversation.add("user", f"parrot {space} {user} {chat}")
                    conversation.add("assistant", f"parrot {space} {user} {chat}")
        settle_index(memory)

        def found(**scope: str) -> list[tuple[str, str | None, str, Role]]:
            hits = memory.search("parrot", limit=100, **scope)  # type: ignore[arg-type]
            return sorted((m.space, m.user, m.conversation, m.role) for m in (hit.message for hit in hits))

        assert len(found(space="red")) == 8
        assert {place[0] for place in found(space="red")} == {"red"}
        assert {place[:2] for place in found(space="blue", user="kim")} == {("blue", "kim")}
        assert len(found(space="blue", user="kim")) == 4
        assert found(space="red", user="alex", conversation="alex/work") == [
            ("red", "alex", "alex/work", "assistant"),
            ("red", "alex", "alex/work", "user"),
        ]
        assert found(space="red", conversation="kim/home", role="user") == [("red", "kim", "kim/home", "user")]
        assert found(space="red", user="alex", conversation="kim/home") == []
        assert found(space="green") == found(space="red", user="nobody") == found() == []
        assert {place[3] for place in found(space="red", role="assistant")} == {"assistant"}


def test_a_filter_reaches_behind_many_better_messages(store_url: str) -> None:
    """A filter is part of the question, not something done to the first few answers."""
    with Memory(store_url, followers=False) as memory:
        loud, quiet = memory.conversation("loud", user="alex"), memory.conversation("quiet", user="alex")
        quiet.add("assistant", "Somewhere among other things there was a parrot, and then we spoke of the weather")
        loud.extend(Draft("user", f"parrot parrot {n}") for n in range(400))
        settle_index(memory)
        for scope in ({"conversation": "quiet"}, {"role": "assistant"}):
            (hit,) = memory.search("parrot", user="alex", limit=5, **scope)  # type: ignore[arg-type]
            assert hit.message.conversation == "quiet"
            assert hit.parts["text"] > 0


def test_search_keeps_to_a_span_of_time(store_url: str) -> None:
    with Memory(store_url, clock=FrozenClock(NOW)) as memory:
        chat = memory.conversation("chat", user="alex")
        for age in range(5):
            chat.add("user", "parrot", time=NOW - age * DAY)

        def days(after: int | None = None, before: int | None = None) -> list[int]:
            hits = memory.search(
                "parrot",
                after=None if after is None else NOW - after * DAY,
                before=None if before is None else NOW - before * DAY,
            )
            return [(NOW - hit.message.time) // DAY for hit in hits]

        assert days() == [0, 1, 2, 3, 4]
        assert days(after=2) == [0, 1, 2], "from that moment on"
        assert days(before=2) == [3, 4], "up to that moment, without it"
        assert days(after=3, before=1) == [2, 3]
        assert days(after=1, before=1) == days(before=4) == []


def test_a_channel_keeps_what_each_member_said_apart(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        channel = memory.conversation("general", space="guild")
        channel.add("user", "My parrot is green", author="alex")
        channel.add("user", "My parrot is grey", author="kim")
        channel.add("assistant", "Two parrots in one guild")
        channel.add("assistant", "Alex, your parrot wants a cracker", user="alex")
        settle_index(memory)

        def turns(user: str | None = None) -> list[int]:
            return sorted(hit.message.turn for hit in memory.search("parrot", space="guild", user=user))

        assert (turns(), turns("alex"), turns("kim"), turns("assistant")) == ([1, 2, 3, 4], [1, 4], [2], [])


# -- the property


@dataclass(frozen=True)
class Said:
    user: int
    role: Role
    words: tuple[str, ...]


said = st.builds(
    Said,
    user=st.integers(0, len(USERS) - 1),
    role=st.sampled_from(("user", "assistant")),
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(tuple),
)
asked = st.one_of(
    st.lists(st.sampled_from((*WORDS, "pets", "cold season", '"', "OR")), min_size=1, max_size=4).map(" ".join),
    st.text(max_size=30).filter(lambda text: "\x00" not in text and text.isprintable()),
)


def user_of(number: int) -> str:
    return USERS[number] or "a user of no name"


def fill(memory: Memory, space: str, every: list[Said]) -> None:
    memory.add_many(
        Batch(space, f"chat of {user_of(one.user)}", user_of(one.user), [Draft(one.role, " ".join(one.words))])
        for one in every
    )


spaces = count(1)


@pytest.fixture
def shared(store_url: str) -> Iterator[Memory]:
    clock = FrozenClock(NOW)  # two searches give the same recency
    with Memory(store_url, clock=clock, followers=False) as memory:
        yield memory


@settings(max_examples=sample(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(every=st.lists(said, max_size=12), query=asked, user=st.integers(0, len(USERS) - 1), limit=st.integers(1, 20))
@pytest.mark.every_store
def test_no_search_ever_gives_another_users_message(
    shared: Memory, every: list[Said], query: str, user: int, limit: int
) -> None:
    """Each example has a space of its own in one store, next to all the others."""
    space, who = f"space {next(spaces)}", user_of(user)
    fill(shared, space, every)
    settle_index(shared)
    hits = shared.search(query, user=who, space=space, limit=1_000)
    found: list[Message] = [hit.message for hit in hits]
    assert all((message.space, message.user) == (space, who) for message in found)
    assert len({message.id for message in found}) == len(found)
    assert shared.search(query, user=who, space=space, limit=limit) == hits[:limit]
    for word in set(WORDS) & set(query.split(" ")):
        having = sum(word in one.words for one in every if one.user == user)
        assert sum(word in message.content.split() for message in found) == having


@pytest.mark.every_store
def test_a_conversation_describes_itself_to_whom_it_belongs(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        chat = memory.conversation("trip", user="alex")
        with pytest.raises(NotFound, match="no conversation 'trip'"):
            chat.describe()
        chat.add("user", "We fly on Monday", time=NOW, metadata={"title": "Trip to Lisbon"})
        chat.add("assistant", "Pack light", time=NOW + DAY)
        told = chat.describe()
        assert (told.title, told.user, told.turns, told.last_message_at) == ("Trip to Lisbon", "alex", 2, NOW + DAY)
        assert told == memory.conversations(user="alex")[0]
        with pytest.raises(ScopeError):
            memory.conversation("trip", user="kim").describe()
