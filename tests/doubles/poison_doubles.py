"""Messages on which a view fails, and a log with a row that cannot be read.

A message is poisonous by a word in it. What fails says so in its error, with the message's own words: whoever repeats a
foreign error's text gives them away.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

from engine_doubles import CountingEmbedder, StoreDouble

from everword.errors import DamagedMessage
from everword.model import Filter, Message
from everword.ports import Store, Tx, Vectors

T = TypeVar("T")
POISON = "hemlock"  # the word that fails
SECRET = "the vault opens at seven"  # what a poisonous message says besides


class PoisonEmbedder(CountingEmbedder):
    """Fails on texts with the word, in a way no embedder should: as a rule fails on a text it cannot read."""

    poison = POISON

    async def embed(self, texts: Sequence[str]) -> Vectors:
        for text in texts:
            if self.poison in text:
                raise OverflowError(f"cannot make a number of {text!r}")
        return await super().embed(texts)


class DamagedTx:
    """A transaction in which some rows of the log cannot be read."""

    def __init__(self, inner: Tx, damaged: Collection[tuple[str, int]]) -> None:
        self._inner, self._damaged = inner, damaged

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def messages(self, where: Filter, **how: Any) -> list[Message]:
        return self._readable(self._inner.messages, where, how)

    def find_messages(self, space: str, **how: Any) -> list[Message]:
        return self._readable(self._inner.find_messages, space, how)

    def _readable(self, find: Callable[..., list[Message]], where: Any, how: dict[str, Any]) -> list[Message]:
        """Who wants to be told of damage is told, and gets an erased message in its place; others an error."""
        tell: Callable[[DamagedMessage], None] | None = how.pop("damaged", None)
        messages = find(where, **how)
        for number, message in reversed([*enumerate(messages)]):  # not the first of them: a store may name any
            if (message.conversation, message.turn) in self._damaged:
                place = message.space, message.conversation, message.turn
                error = DamagedMessage(*place, "the content is not UTF-8")
                if tell is None:
                    raise error
                tell(error)
                messages[number] = replace(message, content="", erased=True)
        return messages


class DamagedStore(StoreDouble):
    """A store with rows of the log that cannot be read, each named by its conversation and turn. What is to happen
    `after_read` happens once, after the next read."""

    def __init__(self, inner: Store, *damaged: tuple[str, int]) -> None:
        super().__init__(inner)
        self.damaged = set(damaged)
        self.after_read: Callable[[], object] | None = None

    def read(self, fn: Callable[[Tx], T]) -> T:
        result = super().read(lambda tx: fn(cast(Tx, DamagedTx(tx, self.damaged))))
        meanwhile, self.after_read = self.after_read, None
        if meanwhile is not None:
            meanwhile()
        return result

    def write(self, fn: Callable[[Tx], T]) -> T:
        return super().write(lambda tx: fn(cast(Tx, DamagedTx(tx, self.damaged))))
