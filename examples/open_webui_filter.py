"""
title: everword
description: A memory over all chats of a user: what earlier ones have about a question is sent to the model with it.
requirements: everword
required_open_webui_version: 0.6.0
version: 0.1.0
license: MIT
"""

# Paste this file into Open WebUI: Admin Panel, Functions, New Function. Then make it global, or add it to a model.
from __future__ import annotations

from pathlib import Path
from threading import Lock
from typing import Any

from pydantic import BaseModel, Field

from everword import Memory
from everword.adapters.blocking_or_async import TurnMemory, attempt, with_texts

try:
    from open_webui.env import DATA_DIR
except ImportError:  # this is not Open WebUI
    DATA_DIR = Path()

NOT_REMEMBERED = ("temporary:", "local:", "channel:")  # chats that are not saved, or are not one person's


class Filter:
    class Valves(BaseModel):
        store: str = Field(default="", description="A file or postgresql://…; empty: everword.db in the data folder")
        budget: int = Field(default=8_000, ge=500, description="The most tokens of a question and what is added to it")
        priority: int = Field(default=0, description="Filters with a lower number run before this one")

    def __init__(self) -> None:
        self.valves = self.Valves()
        self.memories: dict[str, Memory] = {}
        self._opening = Lock()

    async def inlet(
        self, body: dict[str, Any], __user__: dict[str, Any] | None = None, __metadata__: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Before the model: keep what is new of the chat, and add what the memory knows to the instructions."""
        turns = self._turns(__user__, (__metadata__ or {}).get("chat_id"))
        messages = body.get("messages") or []
        turn = await turns.abegin(lambda: messages) if turns else None
        if turn and turn.texts:
            own = messages[0]["content"] if messages[0].get("role") == "system" else None
            has_own = isinstance(own, str)
            instructions = {"role": "system", "content": with_texts(own if has_own else None, turn.texts)}
            body["messages"] = [instructions, *messages[1 if has_own else 0 :]]
        return body

    async def outlet(
        self, body: dict[str, Any], __user__: dict[str, Any] | None = None, __metadata__: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """After the model: keep its reply."""
        turns = self._turns(__user__, body.get("chat_id"))
        if turns:
            await turns.akeep(lambda: body["messages"])
        return body

    def _turns(self, user: dict[str, Any] | None, chat: str | None) -> TurnMemory | None:
        """The memory of a user; None if the chat is not to be remembered, or the memory cannot be opened."""
        if not user or not user.get("id") or (chat or "").startswith(NOT_REMEMBERED):
            return None
        memory = attempt(self._open)
        return TurnMemory(memory, str(user["id"]), chat or None, None, self.valves.budget) if memory else None

    def _open(self) -> Memory:
        place = self.valves.store or str(Path(DATA_DIR) / "everword.db")
        with self._opening:
            if place not in self.memories:
                self.memories[place] = Memory(place)
            return self.memories[place]
