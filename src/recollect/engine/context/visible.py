"""What a face that is bound to one user is given of that user's memory: what they may see, and nothing beside it.

A program that holds the memory is given everything. A key that is one user's is given what that user said, and what was
said in channels they have spoken in: not what others told of them in private.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.engine.context.viewers import hears_channel, viewer_alone
from recollect.model import Fact, Forgotten, Message, Profile
from recollect.rules.access import Access, Viewer

if TYPE_CHECKING:
    from recollect.engine.memory import MemoryEngine


async def viewer_for(memory: MemoryEngine, access: Access, space: str) -> Viewer | None:
    """Who reads what this access asks for; None if it is a program, which answers for itself what it shows."""
    user = access.user
    if user is None:
        return None
    viewer: Viewer = await memory._read(lambda tx: viewer_alone(tx, space, user, shared=memory._opened.share_channels))
    return viewer


async def visible_facts(memory: MemoryEngine, access: Access, space: str, facts: Sequence[Fact]) -> list[Fact]:
    viewer = await viewer_for(memory, access, space)
    return [fact for fact in facts if viewer is None or viewer.sees(fact)]


async def visible_messages(
    memory: MemoryEngine, access: Access, space: str, messages: Sequence[Message]
) -> list[Message]:
    viewer = await viewer_for(memory, access, space)
    if viewer is None:
        return list(messages)
    own = viewer.person
    places = sorted({message.conversation for message in messages})
    channels = await memory._read(lambda tx: {place for place in places if hears_channel(tx, space, place, viewer)})
    return [
        message for message in messages if own in (message.user, message.author) or message.conversation in channels
    ]


async def visible_profile(
    memory: MemoryEngine, access: Access, *, user: str, space: str, wait: float | None
) -> Profile:
    viewer = await viewer_for(memory, access, space)
    if viewer is None:
        return await memory.profile(user=user, space=space, wait=wait)
    return await memory._profile(user, space, wait, viewer)


async def undo_for(memory: MemoryEngine, access: Access, id: str, *, user: str, space: str) -> Forgotten:
    """Bring back what was forgotten: by a key that is one user's, what that user had forgotten."""
    return await memory._undo(id, user, space, access.user)
