"""`/digest`: what a day or a week in a group was, on request, and on a schedule that those who run the group set."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from recollect.bots import texts
from recollect.bots.events import CommandCall, Place
from recollect.bots.outgoing import BotMessage
from recollect.bots.settings import ChatSettings
from recollect.bots.tools import Tools
from recollect.errors import RecollectError
from recollect.masking import masked_logger
from recollect.wiring import AsyncMemory

logger = masked_logger("recollect.bots")

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
NOON = 12 * 60  # minutes; a digest before it is of the day before
USAGE = (
    "/digest is of today, /digest yesterday of the day before, /digest week of the last days. Those who run the group "
    "can have it sent: /digest daily 08:30, /digest weekly mon 08:30, /digest off."
)
_SCHEDULE = re.compile(
    rf"(?P<kind>daily|weekly\s+(?P<weekday>{'|'.join(WEEKDAYS)})\w*)\s+(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)",
    re.IGNORECASE,
)


class DigestCommands:
    """Digests of groups."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def run(self, call: CommandCall) -> BotMessage:
        if call.place.is_private:
            return BotMessage("A digest is of a group. Here, /whatdoyouknow says what I know, /search finds it.")
        request = call.argument.casefold()
        if not await self._may_read(call):
            return BotMessage(texts.ADMINS_ONLY)
        if request in ("", "day", "today", "yesterday", "week"):
            async with self._tools.pool.use(call.place) as memory:
                return BotMessage(await self._write(memory, request == "week", request == "yesterday"))
        changes = parse_schedule(request, call.place.thread)
        if changes is None:
            return BotMessage(USAGE)
        if not await self._tools.may("digest schedule", call.place, call.author):
            return BotMessage(texts.ADMINS_ONLY)
        await self._tools.table.change_chat(call.place, **changes)
        return BotMessage(f"I will send it {request}." if changes["digest"] else "I will send no digests by myself.")

    async def _may_read(self, call: CommandCall) -> bool:
        """Whether somebody may read of all channels: where some may be hidden, those who run the group."""
        is_open = not self._tools.delivery.platform.has_hidden_channels
        return is_open or await self._tools.may("digest of hidden channels", call.place, call.author)

    async def send_due(self) -> int:
        """Send the digests whose time has come; returns how many. One that cannot be sent is not tried again before the
        next day, and does not keep back the others."""
        now = self._tools.clock.now().astimezone(self._tools.zone)
        platform_name = self._tools.delivery.platform.name
        count = 0
        for key, settings in (await self._tools.table.scheduled_chats()).items():
            platform, _, chat = key.partition("-")
            if platform != platform_name or not is_due(settings, now):
                continue
            place = Place(platform, chat, is_private=False, thread=settings.digest_thread)
            await self._tools.table.note_chat(place, digest_sent=now.date().isoformat())
            try:
                await self._send(place, settings)
            except RecollectError as error:
                logger.warning("a digest was not sent: %s", error)
            else:
                count += 1
        return count

    async def _send(self, place: Place, settings: ChatSettings) -> None:
        async with self._tools.pool.use(place) as memory:
            text = await self._write(memory, settings.digest == "week", settings.digest_minute < NOON)
        await self._tools.delivery.send(place, BotMessage(text))

    async def _write(self, memory: AsyncMemory, is_week: bool, is_of_yesterday: bool) -> str:
        now = self._tools.clock.now().astimezone(self._tools.zone)
        day = now.date() - timedelta(days=1) if is_of_yesterday else None
        digests = await memory.digests(day=None if is_week else day, week=is_week)
        names = {member.id: member.shown for member in await memory.people()}
        title = "The last days" if is_week else "Yesterday" if is_of_yesterday else "Today"
        if not digests:
            return f"{title}: nobody has said anything that I was shown."
        lines = [describe_digest(names.get(digest.user, "somebody"), digest.text) for digest in digests]
        return "\n".join([f"{title}:", *lines])


def describe_digest(name: str, text: str) -> str:
    """A line of a digest: the built-in writer begins with the name, a model may not."""
    return text if text.startswith(name) else f"{name}: {text}"


def parse_schedule(text: str, thread: str) -> dict[str, str | int] | None:
    """The settings that a request for a schedule changes; None if it is none."""
    if text == "off":
        return {"digest": ""}
    match = _SCHEDULE.fullmatch(text)
    if match is None:
        return None
    return {
        "digest": "day" if match["weekday"] is None else "week",
        "digest_weekday": 0 if match["weekday"] is None else WEEKDAYS.index(match["weekday"].lower()),
        "digest_minute": int(match["hour"]) * 60 + int(match["minute"]),
        "digest_thread": thread,
        "digest_sent": "",
    }


def is_due(settings: ChatSettings, now: datetime) -> bool:
    """Whether a digest is to be sent now: at or after its minute, once a day, or once on its day of the week."""
    if not settings.digest or not settings.enabled or settings.digest_sent == now.date().isoformat():
        return False
    is_day = settings.digest == "day" or now.weekday() == settings.digest_weekday
    return is_day and now.hour * 60 + now.minute >= settings.digest_minute
