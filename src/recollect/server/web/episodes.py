"""Episodes: summaries of what has left the window, level by level, each with the turns it is made of."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from recollect.log.scope import scope_for
from recollect.memory.inspection.conversations import recent_lines
from recollect.memory.inspection.episodes import active_episodes, read_episode
from recollect.server.door.access import Caller, caller_for
from recollect.server.web.context_lab import SUGGESTED
from recollect.server.web.conversations import MAX_TURN, Id, OptionalId
from recollect.server.web.pages import show_page

MAX_LEVEL = 100

router = APIRouter(include_in_schema=False)
Level = Annotated[int, Query(ge=1, le=MAX_LEVEL)]
First = Annotated[int, Query(ge=1, le=MAX_TURN)]


@router.get("/web/episodes")
async def show_episodes(caller: Annotated[Caller, caller_for("episodes")], conversation: OptionalId = "") -> Response:
    """The active episodes of a conversation, the highest level first."""
    if not conversation:
        lines = await recent_lines(caller.memory.runtime, caller.space, caller.access.user, None, SUGGESTED)
        return show_page(caller, "choose.html", section="Episodes", lines=lines, target="/web/episodes")
    scope = scope_for(caller.access, caller.space, conversation, None)
    episodes = await active_episodes(caller.memory.runtime, scope)
    return show_page(caller, "episodes.html", section="Episodes", conversation=conversation, episodes=episodes)


@router.get("/web/episode")
async def show_episode(
    caller: Annotated[Caller, caller_for("episodes")], conversation: Id, level: Level, first: First
) -> Response:
    """One episode with its parts: a page, or a piece of the tree if a script asks."""
    scope = scope_for(caller.access, caller.space, conversation, None)
    parts = await read_episode(caller.memory.runtime, scope, level, first)
    values = {"conversation": conversation, "episode": parts.episode, "episodes": parts.parts}
    return show_page(caller, "episode.html", section="Episodes", **values)


@router.get("/web/episode/parts")
async def show_parts(
    caller: Annotated[Caller, caller_for("episodes")], conversation: Id, level: Level, first: First
) -> Response:
    """The parts of an episode, without the frame of a page."""
    scope = scope_for(caller.access, caller.space, conversation, None)
    parts = await read_episode(caller.memory.runtime, scope, level, first)
    return show_page(caller, "episode_tree.html", conversation=conversation, episodes=parts.parts)
