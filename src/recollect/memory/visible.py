"""What an access that is bound to one user gets of that user's memory: what the user may see, and nothing else.

A program that holds the memory gets everything. A key of one user gets what that user said, and what was said in
channels they have spoken in, but not what others said of them in private.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from recollect.facts.viewers import hears_channel, viewer_alone
from recollect.log.access import Access, Viewer
from recollect.memory.fact_changes import missing_fact
from recollect.memory.memory import MemoryEngine
from recollect.model import Fact, FactChange, Forgotten, Hit, MemoryAnswer, Message, Profile, RefusedFact
from recollect.ports import Tx


async def viewer_for(memory: MemoryEngine, access: Access, space: str) -> Viewer | None:
    """Who reads what this access asks for; None if it is a program, which decides itself what it shows."""
    user = access.user
    if user is None:
        return None

    def read_viewer(tx: Tx) -> Viewer:
        return viewer_alone(tx, space, user, shared=memory.runtime.parts.share_channels)

    viewer: Viewer = await memory.runtime.read(read_viewer)
    return viewer


async def visible_facts(memory: MemoryEngine, access: Access, space: str, facts: Sequence[Fact]) -> list[Fact]:
    viewer = await viewer_for(memory, access, space)
    return [fact for fact in facts if viewer is None or viewer.sees(fact)]


async def visible_refusals(
    memory: MemoryEngine, access: Access, space: str, refused: Sequence[RefusedFact]
) -> list[RefusedFact]:
    viewer = await viewer_for(memory, access, space)
    return [fact for fact in refused if viewer is None or viewer.sees(fact)]


async def visible_messages(
    memory: MemoryEngine, access: Access, space: str, messages: Sequence[Message]
) -> list[Message]:
    viewer = await viewer_for(memory, access, space)
    if viewer is None:
        return list(messages)
    person = viewer.person
    places = sorted({message.conversation for message in messages})

    def read_heard_channels(tx: Tx) -> set[str]:
        return {place for place in places if hears_channel(tx, space, place, viewer)}

    channels: set[str] = await memory.runtime.read(read_heard_channels)
    return [
        message for message in messages if person in (message.user, message.author) or message.conversation in channels
    ]


async def visible_profile(
    memory: MemoryEngine, access: Access, *, user: str, space: str, wait: float | None
) -> Profile:
    viewer = await viewer_for(memory, access, space)
    if viewer is None:
        return await memory.profile(user=user, space=space, wait=wait)
    return await memory.knowledge.profile_for_viewer(user, space, wait, viewer)


async def visible_fact(memory: MemoryEngine, access: Access, id: str, *, user: str, space: str) -> Fact:
    """One fact; one that the access may not see does not exist."""
    fact = await memory.fact(id, user=user, space=space)
    if not await visible_facts(memory, access, space, [fact]):
        raise missing_fact(space, user, id)
    return fact


async def visible_hits(memory: MemoryEngine, access: Access, space: str, hits: Sequence[Hit]) -> list[Hit]:
    """What a search found, without facts that the access may not see."""
    viewer = await viewer_for(memory, access, space)
    return [hit for hit in hits if hit.fact is None or viewer is None or viewer.sees(hit.fact)]


async def ask_for(
    memory: MemoryEngine, access: Access, question: str, *, user: str, space: str, conversation: str | None
) -> MemoryAnswer:
    """Answer a question; with a key of one user, from what that user may see."""
    viewer = await viewer_for(memory, access, space)
    return await memory.questions.ask(question, user=user, conversation=conversation, space=space, viewer=viewer)


async def change_for(
    memory: MemoryEngine, access: Access, work: Callable[..., Awaitable[FactChange]], *, space: str, **arguments: Any
) -> FactChange:
    """Change a fact. Claims that it retired are shown only to who may see them."""
    change = await work(space=space, **arguments)
    return replace(change, retired=tuple(await visible_facts(memory, access, space, change.retired)))


async def undo_for(memory: MemoryEngine, access: Access, id: str, *, user: str, space: str) -> Forgotten:
    """Bring back what was forgotten or changed; with a key of one user, only what that user did."""
    outcome = await memory.knowledge.undo_for(id, user, space, access.user)
    return replace(outcome, facts=tuple(await visible_facts(memory, access, space, outcome.facts)))
