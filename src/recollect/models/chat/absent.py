"""No model: every request fails with a message that says how to configure one.

It takes the place of a model, so that no caller has to check whether there is one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from recollect.errors import NoModel
from recollect.ports import Completion, Request

HOW_TO = (
    "no chat model is configured: set RECOLLECT_CHAT_URL to the address of any OpenAI-compatible server, "
    "RECOLLECT_CHAT_MODEL to the model's name and RECOLLECT_CHAT_KEY to its key (if it needs one), "
    "or try the small model that runs here: recollect chat --local"
)


class NoModelLLM:
    """Raises `NoModel`, which says how to configure one."""

    @property
    def name(self) -> str:
        return "no model"

    async def complete(self, request: Request) -> Completion:
        raise NoModel(HOW_TO)

    async def stream(self, request: Request) -> AsyncIterator[str | Completion]:
        yield await self.complete(request)

    async def close(self) -> None:
        """Nothing is open."""
