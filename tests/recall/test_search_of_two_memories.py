"""A scope that is held in memory is searched with what another memory of the same store has done to it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from everword import AsyncMemory, Draft


async def found(memory: AsyncMemory, word: str) -> list[str]:
    contents = [hit.message.content for hit in await memory.search(word, user="ann", limit=50)]
    return sorted(content for content in contents if word in content)


async def keep(memory: AsyncMemory, *texts: str) -> None:
    await memory.conversation("chat", user="ann").extend([Draft("user", text) for text in texts])
    await memory.settle()


def test_a_held_scope_is_searched_with_what_others_have_added_and_removed(tmp_path: Path) -> None:
    url = str(tmp_path / "memory.db")

    async def use() -> None:
        async with AsyncMemory(url, followers=False) as memory, AsyncMemory(url, followers=False) as other:
            await keep(memory, "a red kite")
            assert await found(memory, "kite") == ["a red kite"]
            assert await found(memory, "kite") == ["a red kite"]
            await keep(other, "a blue kite")
            assert await found(memory, "kite") == ["a blue kite", "a red kite"]
            await keep(other, *(f"ship {number}" for number in range(200)), "a green kite")
            assert await found(memory, "kite") == ["a blue kite", "a green kite", "a red kite"]
            await other.conversation("chat", user="ann").delete(1)
            assert await found(memory, "kite") == ["a blue kite", "a green kite"]
            await other.erase(user="ann")
            assert await found(memory, "kite") == []

    asyncio.run(use())
