"""What can be offered to somebody who writes a command: names of people, and what is known of the writer."""

from __future__ import annotations

from collections.abc import Iterable

from recollect.bots.events import Person, Place
from recollect.bots.tools import Tools


async def complete_person(tools: Tools, place: Place, typed: str) -> list[str]:
    """Names of people who have spoken in a group that begin with what is typed, or have it in them."""
    if place.is_private or not (await tools.settings(place)).enabled:
        return []
    async with tools.pool.use(place) as memory:
        members = await memory.people()
    return choose_matches((member.shown for member in members if member.names), typed)


async def complete_statement(tools: Tools, place: Place, person: Person, typed: str) -> list[str]:
    """What was remembered of somebody on request, as far as this conversation has heard it."""
    if not (await tools.settings(place)).enabled:
        return []
    async with tools.pool.use(place) as memory:
        profile = await memory.profile(user=person.id, wait=0)
    audience = None if place.is_private else place.conversation
    return choose_matches((statement.text for statement in profile.statements if statement.audience == audience), typed)


def choose_matches(values: Iterable[str], typed: str) -> list[str]:
    """The values that contain what is typed, each once; those that begin with it come first."""
    wanted = typed.strip().casefold()
    matches = [value for value in dict.fromkeys(values) if wanted in value.casefold()]
    return sorted(matches, key=lambda value: (not value.casefold().startswith(wanted), value.casefold()))
