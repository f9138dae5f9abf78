"""Delivers what the bot says: in parts that fit, as a reply grows, and as fast as the platform allows.

A reply that is being written is one message that is edited, at most once in some seconds. When it is full, the next
message begins. When the platform asks to wait, edits in between are left out; what is final is sent after the wait. An
edit in between that fails is left out, too; if the last one fails, its text is sent as a new message.

A long text is split at the end of a paragraph, a line, a sentence or a word. The platforms do not say what a character
is. So the larger number counts: one beyond U+FFFF, as most emoji are, is two.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import ParamSpec, TypeVar

from everword.bots.platforms import BotMessage, Place, Platform
from everword.errors import PlatformBusy, ServerError
from everword.masking import masked_logger

T = TypeVar("T")
P = ParamSpec("P")

logger = masked_logger("everword.bots")

TRIES = 5  # of a call for which the platform asks to wait
TYPING_SECONDS = 4.0  # between two signs that the bot is writing; the platforms show one for five seconds
ENDS = ("\n\n", "\n", ". ", "! ", "? ", " ")
LAST_SINGLE = "\uffff"  # the last character that UTF-16 writes as one unit


def text_length(text: str) -> int:
    """The length of a text as a platform may count it."""
    return len(text) + sum(character > LAST_SINGLE for character in text)


def split_text(text: str, longest: int) -> list[str]:
    """The parts of a text, none of them empty or longer than `longest` characters."""
    parts: list[str] = []
    rest = text.strip()
    while text_length(rest) > longest:
        end = cut_place(rest, longest)
        parts.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()
    return [*parts, rest] if rest else parts


def cut_place(text: str, longest: int) -> int:
    """Where to cut a text that is longer than `longest` characters: at the strongest end in its second half."""
    last = fitting_end(text, longest)
    for end in ENDS:
        place = text.rfind(end, last // 2, last)
        if place >= 0:
            return min(place + len(end), last)
    return last


def fitting_end(text: str, longest: int) -> int:
    """How much of a text is not longer than `longest` characters; at least one is."""
    length = 0
    for position, character in enumerate(text):
        length += text_length(character)
        if length > longest:
            return max(position, 1)
    return len(text)


class Delivery:
    """Sends to a platform. `pause` waits for some seconds, `now` is a clock that only goes forward."""

    def __init__(
        self,
        platform: Platform,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.platform = platform
        self.pause = pause
        self.now = now

    async def send(self, place: Place, message: BotMessage, reply_to: str | None = None) -> str:
        """Send a message, in several parts if it is long; returns the id of the last, which has the buttons."""
        *first_parts, last_part = split_text(message.text, self.platform.longest) or ["…"]
        for part in first_parts:
            await self.call(self.platform.send, place, replace(message, text=part, buttons=()), reply_to)
        return await self.call(self.platform.send, place, replace(message, text=last_part), reply_to)

    async def call(self, method: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a method of the platform, again after each wait that it asks for."""
        for _ in range(TRIES - 1):
            try:
                return await method(*args, **kwargs)
            except PlatformBusy as busy:
                await self.pause(busy.after)
        return await method(*args, **kwargs)

    async def stream(self, place: Place, pieces: AsyncIterator[str], reply_to: str | None = None) -> str:
        """Show a reply as it is written; returns its text. While there is nothing to show, "typing" is shown."""
        reply = GrowingReply(self, place, reply_to)
        typing = asyncio.create_task(self._show_typing(place))
        try:
            async with aclosing(pieces) as source:  # type: ignore[type-var]
                async for piece in source:
                    await reply.add(piece)
            await reply.finish()
        except BaseException:
            with suppress(ServerError):
                await reply.finish()  # what was written so far is in the log, too
            raise
        finally:
            typing.cancel()
            await asyncio.gather(typing, return_exceptions=True)
        return reply.text

    async def _show_typing(self, place: Place) -> None:
        with suppress(ServerError):  # it is only a sign
            while True:
                await self.platform.show_typing(place)
                await asyncio.sleep(TYPING_SECONDS)


class GrowingReply:
    """A reply on the platform that grows: a message, and after it further ones, each begun when the last is full."""

    def __init__(self, delivery: Delivery, place: Place, reply_to: str | None) -> None:
        self._delivery = delivery
        self._platform = delivery.platform
        self._place = place
        self._reply_to = reply_to
        self._rest = ""  # the text of the message that is being written
        self._shown = ""  # as much of it as the platform has
        self._id: str | None = None
        self._next_edit = delivery.now() + self._platform.edit_seconds(place)
        self.text = ""

    async def add(self, piece: str) -> None:
        """Add a piece of text, and show it if it is time to."""
        self.text += piece
        self._rest += piece
        while text_length(self._rest) > self._platform.longest:
            end = cut_place(self._rest, self._platform.longest)
            full, self._rest = self._rest[:end], self._rest[end:].lstrip()
            await self._show(full.rstrip(), is_final=True)
            self._id = None
            self._shown = ""
        if self._delivery.now() >= self._next_edit:
            await self._show(self._rest.strip(), is_final=False)

    async def finish(self) -> None:
        """Show what is not yet shown."""
        await self._show(self._rest.strip(), is_final=True)

    async def _show(self, text: str, *, is_final: bool) -> None:
        if not text or text == self._shown:
            return
        if is_final:
            await self._show_final(text)
        elif not await self._try_to_show(text):
            return
        self._shown = text
        self._next_edit = self._delivery.now() + self._platform.edit_seconds(self._place)

    async def _try_to_show(self, text: str) -> bool:
        """Show a text that will grow; False if the platform does not take it now."""
        seconds = self._platform.edit_seconds(self._place)
        try:
            await self._send_or_edit(text)
        except PlatformBusy as busy:
            seconds = busy.after
        except ServerError as error:
            logger.info("a part of a reply was not shown: %s", error)
        else:
            return True
        self._next_edit = self._delivery.now() + seconds
        return False

    async def _show_final(self, text: str) -> None:
        try:
            await self._delivery.call(self._send_or_edit, text)
        except PlatformBusy:
            raise
        except ServerError:
            if self._id is None:
                raise
            self._id = None  # it cannot be edited: somebody may have deleted it
            await self._delivery.call(self._send_or_edit, text)

    async def _send_or_edit(self, text: str) -> None:
        if self._id is None:
            self._id = await self._platform.send(self._place, BotMessage(text), self._reply_to)
        else:
            await self._platform.edit(self._place, self._id, BotMessage(text))
