"""The calls of models, kept in a list: what a meter is for a role."""

from __future__ import annotations

from everword.models.chat.roles import ModelCall


class CallLog(list[ModelCall]):
    def record(self, call: ModelCall) -> None:
        self.append(call)

    async def tokens_today(self) -> int:
        return sum(call.tokens_in + call.tokens_out for call in self)
