"""Slash commands and presses of buttons that wait for an answer.

Discord wants to hear within three seconds that an interaction has come in, and takes answers for a quarter of an hour.
So each is acknowledged at once, beside the work, and every answer waits for that. Whether the first answer to a command
is shown to everybody is decided when it is acknowledged.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass

import discord

MOST_PENDING = 1_000  # interactions that can still be answered


@dataclass(slots=True)
class PendingInteraction:
    """An interaction, and the task that acknowledges it. `awaits_first`: Discord shows that the bot is thinking, until
    the first answer takes the place of that."""

    interaction: discord.Interaction
    acknowledgement: asyncio.Task[None]
    awaits_first: bool


class PendingInteractions:
    """The interactions that can be answered, by id."""

    def __init__(self) -> None:
        self._pending: OrderedDict[str, PendingInteraction] = OrderedDict()

    def __contains__(self, id: str) -> bool:
        return id in self._pending

    def add(self, interaction: discord.Interaction, *, is_private: bool) -> bool:
        """Acknowledge an interaction; False if that was done."""
        id = str(interaction.id)
        if id in self._pending:
            return False
        is_command = interaction.type is discord.InteractionType.application_command
        acknowledgement = asyncio.create_task(acknowledge(interaction, is_command, is_private))
        self._pending[id] = PendingInteraction(interaction, acknowledgement, is_command)
        if len(self._pending) > MOST_PENDING:
            self._pending.popitem(last=False)
        return True

    async def answer(self, id: str, text: str, view: discord.ui.View | None, *, is_private: bool) -> str:
        """Answer an interaction; returns the id of the message."""
        pending = self._pending[id]
        await asyncio.shield(pending.acknowledgement)
        interaction = pending.interaction
        if pending.awaits_first:
            first = await interaction.edit_original_response(content=text, view=view)
            pending.awaits_first = False
            return str(first.id)
        shown_view = discord.utils.MISSING if view is None else view
        message = await interaction.followup.send(text, view=shown_view, ephemeral=is_private, wait=True)
        return str(message.id)


async def acknowledge(interaction: discord.Interaction, is_command: bool, is_private: bool) -> None:
    if is_command:
        await interaction.response.defer(ephemeral=is_private, thinking=True)
    else:
        await interaction.response.defer()
