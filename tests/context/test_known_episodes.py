"""The summaries in a context are what the store holds now, though episodes are cached between contexts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from engine_doubles import settle_summaries

from everword import Draft, Memory
from everword.memory.blocking import BlockingConversation

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
QUESTION = "Should the orders live in PostgreSQL or in SQLite?"


def talk(chat: BlockingConversation, exchanges: int = 70) -> None:
    """Exchanges about one subject; so many that a context cannot have them all, and has summaries."""
    drafts = list[Draft]()
    for number in range(exchanges):
        when = START + timedelta(minutes=number)
        answer = f"Answer {number}: PostgreSQL takes many writers at once; SQLite is one file without a server."
        drafts += [Draft("user", f"Question {number}: {QUESTION}", time=when), Draft("assistant", answer, time=when)]
    chat.extend(drafts)


def talk_about_databases(memory: Memory) -> BlockingConversation:
    chat = memory.conversation("databases", user="alex")
    talk(chat)
    settle_summaries(memory)
    return chat


def summaries_in(chat: BlockingConversation) -> list[str]:
    """The ids of the summaries that a context has, or leaves out for want of room."""
    sections = [section for section in chat.context(QUESTION).receipt.sections if section.name in ("summaries", "past")]
    return [item.id for section in sections for item in (*section.items, *section.left_out)]


def summary_text(chat: BlockingConversation) -> str:
    return chat.context(QUESTION).messages[0]["content"].partition("=== SUMMARIES ===")[2].partition("=== END ")[0]


def test_a_context_shows_episodes_as_they_are_after_every_change(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        chat = talk_about_databases(memory)
        other = memory.conversation("other", user="alex")
        assert summaries_in(chat)
        assert summaries_in(other)
        earlier = summary_text(chat)
        talk(chat, exchanges=20)
        settle_summaries(memory)
        assert summary_text(chat) not in ("", earlier)
        memory.rebuild("window")
        assert summaries_in(chat) == summaries_in(other) == []
        settle_summaries(memory)
        assert summaries_in(chat)
        assert summaries_in(other)


def test_nothing_of_an_erased_person_is_in_a_summary_after_a_context_that_showed_it(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        chat = talk_about_databases(memory)
        other = memory.conversation("other", user="alex")
        assert summaries_in(chat)
        assert summaries_in(other)
        memory.erase(user="alex")
        assert summaries_in(chat) == summaries_in(other) == []


def test_a_moved_conversation_is_summarised_for_its_new_owner_alone(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        talk_about_databases(memory)
        other = memory.conversation("other", user="alex")
        of_bea = memory.conversation("other-bea", user="bea")
        assert summaries_in(other)
        assert not summaries_in(of_bea)
        memory.move_conversation("databases", user="bea")
        settle_summaries(memory)
        assert not summaries_in(other)
        assert summaries_in(of_bea)


def test_the_summaries_of_a_channel_follow_what_is_said_there(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        channel = memory.conversation("channel")
        elsewhere = memory.conversation("another")
        assert summaries_in(channel) == summaries_in(elsewhere) == []
        talk(channel)
        settle_summaries(memory)
        assert summaries_in(channel)
        assert not summaries_in(elsewhere)


def test_what_another_memory_on_the_same_file_deletes_is_in_no_summary(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    with Memory(path, followers=False) as memory, Memory(path, followers=False) as another:
        talk_about_databases(memory)
        other = memory.conversation("other", user="alex")
        assert summaries_in(other)
        another.delete_conversation("databases")
        assert not summaries_in(other)
