"""What a context says of a person is what the store says now, though facts are cached between contexts."""

from __future__ import annotations

from pathlib import Path

from everword import Memory


def system_text(memory: Memory, user: str = "alex") -> str:
    """What a context in another chat of a person says before the question."""
    context = memory.conversation(f"other-{user}", user=user).context("Where do I live?")
    return "\n\n".join(message["content"] for message in context.messages if message["role"] == "system")


def tell(memory: Memory, text: str, user: str = "alex") -> None:
    memory.conversation(f"chat-{user}", user=user).add("user", text)
    memory.settle()


def test_a_context_shows_facts_as_they_are_after_every_change(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        tell(memory, "I live in Utrecht.")
        assert "location: Utrecht" in system_text(memory)
        assert "location: Utrecht" in system_text(memory)
        tell(memory, "I work as a carpenter.")
        assert "carpenter" in system_text(memory)
        (home,) = [fact for fact in memory.facts(user="alex") if fact.key == "location"]
        memory.edit_fact(home.id, "Delft", user="alex")
        assert "location: Delft" in system_text(memory)
        (home,) = [fact for fact in memory.facts(user="alex") if fact.key == "location"]
        memory.delete_fact(home.id, user="alex")
        assert "location:" not in system_text(memory)


def test_nothing_of_an_erased_person_is_in_a_context_after_one_that_showed_it(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        tell(memory, "I live in Utrecht.")
        tell(memory, "I live in Ghent.", user="bea")
        assert "Utrecht" in system_text(memory)
        assert "Ghent" in system_text(memory, "bea")
        memory.erase(user="alex")
        assert "Utrecht" not in system_text(memory)
        assert "Ghent" in system_text(memory, "bea")


def test_a_rebuild_shows_the_facts_again(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        tell(memory, "I live in Utrecht.")
        assert "location: Utrecht" in system_text(memory)
        memory.rebuild("facts")
        assert "location: Utrecht" not in system_text(memory)
        memory.settle()
        assert "location: Utrecht" in system_text(memory)


def test_what_another_memory_on_the_same_file_changes_is_seen(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    with Memory(path, followers=False) as memory, Memory(path, followers=False) as other:
        tell(memory, "I live in Utrecht.")
        assert "location: Utrecht" in system_text(memory)
        for fact in other.facts(user="alex"):
            other.delete_fact(fact.id, user="alex")
        assert "location: Utrecht" not in system_text(memory)


def test_two_stores_have_their_own_facts_of_one_person(tmp_path: Path) -> None:
    with (
        Memory(str(tmp_path / "one.db"), followers=False) as one,
        Memory(str(tmp_path / "other.db"), followers=False) as other,
    ):
        tell(one, "I live in Utrecht.")
        tell(other, "I live in Ghent.")
        for _ in range(2):
            assert "location: Utrecht" in system_text(one)
            assert "location: Ghent" in system_text(other)
