"""Discord on the loopback interface, as far as the bot uses it: REST over HTTP and the gateway over a websocket.

It runs in the loop of the test, and the real discord.py is led to it at its two seams, `Route.BASE` and
`DiscordWebSocket.DEFAULT_GATEWAY`. `say`, `edit`, `delete`, `call_command`, `press` do what people would do; `sent` is
what the bot sent, as Discord would show it. With `refuse`, the next call of a route is answered with an error.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Self

import yarl
from aiohttp import WSMsgType, web
from discord.gateway import DiscordWebSocket
from discord.http import Route

TOKEN = "MTEwMjAxNTQz.Gx-not-a-token.7dW9qLcTnqk1pQ0"
BOT: dict[str, Any] = {"id": "900", "username": "Memo", "discriminator": "0", "avatar": None, "bot": True}
APPLICATION: dict[str, Any] = {
    "id": "901",
    "name": "Memo",
    "description": "",
    "icon": None,
    "bot_public": True,
    "verify_key": "0",
}
APPLICATION |= {"bot_require_code_grant": False, "flags": 1 << 19, "owner": BOT | {"id": "1"}}
PATIENCE = 120.0  # seconds
START = 1_772_500_000  # when the first thing happens
GUILD = 500
CHANNEL = 600
EPHEMERAL = 64
ALEX = (7, "Alex")
DANA = (8, "Dana Kim")
NOOR = (9, "Noor")
CLOSED_BY_DROP = 4000

User = tuple[int, str]


@dataclass(slots=True)
class Sent:
    """A message of the bot, as it stands now."""

    id: int
    channel: int
    text: str
    buttons: list[tuple[str, str]] = field(default_factory=list)
    reply_to: int | None = None
    is_private: bool = False
    edits: int = 0
    file: bytes | None = None


class DiscordServer:
    """The server: `async with DiscordServer() as server`."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str, Any]] = []
        self.sent: list[Sent] = []
        self.commands: list[dict[str, Any]] = []
        self.choices: list[list[str]] = []
        self.admins: set[int] = set()
        self.blocked: set[int] = set()
        self.refuses_intent = False
        self.identifies = 0
        self.resumes: list[int] = []  # the sequence number that each resume names
        self.refused_connections = 0  # how many more connections to the gateway are refused
        self.attempts = 0  # connections to the gateway so far
        self._ids = count(snowflake(START), 1_000 << 22)  # a second apart
        self._events: list[dict[str, Any]] = []  # of the session, so that they can be sent again
        self._interactions: dict[str, dict[str, Any]] = {}  # by token
        self._errors: dict[str, deque[web.Response]] = defaultdict(deque)
        self._changed = asyncio.Condition()
        self._sockets: set[web.WebSocketResponse] = set()

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=1 << 26)
        app.router.add_get("/gateway", self._serve_gateway)
        app.router.add_route("*", "/api/{path:.*}", self._serve_call)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        port = self._runner.addresses[0][1]
        self._gateway = f"ws://127.0.0.1:{port}/gateway"
        self._seams = (Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY)
        Route.BASE = f"http://127.0.0.1:{port}/api"
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(self._gateway)
        return self

    async def __aexit__(self, *_: object) -> None:
        Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = self._seams
        await self.drop_connections()
        await self._runner.cleanup()

    # -- what people do

    async def say(
        self,
        text: str,
        *,
        user: User = ALEX,
        channel: int | None = CHANNEL,
        reply_to: Sent | None = None,
        deliveries: int = 1,
        **fields: Any,
    ) -> int:
        """Say something in a channel; in private, if there is none. Returns the id of the message."""
        id = next(self._ids)
        message = self._message(id, user, text, channel) | fields
        if reply_to is not None:
            shown = self._message(reply_to.id, (int(BOT["id"]), BOT["username"]), reply_to.text, channel)
            reference = {"message_id": str(reply_to.id), "channel_id": message["channel_id"]}
            message |= {"type": 19, "message_reference": reference, "referenced_message": shown | {"author": BOT}}
        for _ in range(deliveries):
            await self._dispatch("MESSAGE_CREATE", message)
        return id

    async def edit(
        self, id: int, text: str, *, user: User = ALEX, channel: int | None = CHANNEL, is_preview: bool = False
    ) -> None:
        edited = None if is_preview else "2026-03-03T01:10:00+00:00"
        await self._dispatch("MESSAGE_UPDATE", self._message(id, user, text, channel) | {"edited_timestamp": edited})

    async def delete(self, *ids: int, user: User = ALEX, channel: int | None = CHANNEL) -> None:
        place = self._place(user, channel)
        if len(ids) == 1:
            await self._dispatch("MESSAGE_DELETE", {"id": str(ids[0]), **place})
        else:
            await self._dispatch("MESSAGE_DELETE_BULK", {"ids": [str(id) for id in ids], **place})

    async def delete_channel(self, channel: int, *, is_thread: bool = False) -> None:
        """Delete a channel, or a thread of one."""
        if is_thread:
            thread = {"id": str(channel), "guild_id": str(GUILD), "parent_id": str(CHANNEL), "type": 11}
            await self._dispatch("THREAD_DELETE", thread)
        else:
            await self._dispatch("CHANNEL_DELETE", channel_data(channel) | {"guild_id": str(GUILD)})

    async def call_command(
        self, name: str, *, user: User = ALEX, channel: int | None = CHANNEL, deliveries: int = 1, **options: Any
    ) -> None:
        """Call a slash command, as the bot has told Discord of it."""
        data = self._command_data(name, options)
        interaction = self._interaction(2, data, user, channel)
        for _ in range(deliveries):
            await self._dispatch("INTERACTION_CREATE", interaction)

    async def type_option(
        self, command: str, option: str, text: str, *, user: User = ALEX, channel: int | None = CHANNEL
    ) -> list[str]:
        """Type the value of an option; returns what the bot offers."""
        before = len(self.choices)
        data = self._command_data(command, {option: text})
        data["options"][0]["focused"] = True
        await self._dispatch("INTERACTION_CREATE", self._interaction(4, data, user, channel))
        await self.wait(lambda: len(self.choices) > before, "for choices")
        return self.choices[before]

    async def press(self, message: Sent, label: str, *, user: User = ALEX) -> None:
        """Press the button of a message of the bot that begins with these words."""
        custom_id = next(data for text, data in message.buttons if text.startswith(label))
        channel = None if message.channel == private_channel(user) else message.channel
        data = {"custom_id": custom_id, "component_type": 2}
        interaction = self._interaction(3, data, user, channel)
        interaction["message"] = self._show(message)
        await self._dispatch("INTERACTION_CREATE", interaction)

    async def drop_connections(self) -> None:
        """Drop the connection of the gateway, as a network does."""
        for socket in [*self._sockets]:
            await socket.close(code=CLOSED_BY_DROP)

    async def send_opcode(self, opcode: int, data: Any = None) -> None:
        """Tell the client to come back: with 7 at once, with 9 after its session has ended."""
        for socket in [*self._sockets]:
            await socket.send_json({"op": opcode, "d": data})

    def refuse(self, call: str, status: int = 429, retry_after: float = 0.0, code: int = 0) -> None:
        """Answer the next call, such as "POST channels/600/messages", with an error."""
        body = {"message": "no", "code": code, "retry_after": retry_after, "global": False}
        headers = {"Via": "1.1 double", "Retry-After": str(retry_after)}
        self._errors[call].append(json_response(body, status, headers))

    # -- what the bot has done

    async def wait(self, condition: Callable[[], bool], what: str = "") -> None:
        """Wait until something is so."""
        try:
            async with asyncio.timeout(PATIENCE), self._changed:
                await self._changed.wait_for(condition)
        except TimeoutError:
            said = [sent.text for sent in self.sent]
            raise AssertionError(f"waited in vain {what}; the bot said {said}") from None

    async def wait_for_text(self, text: str, *, after: int = 0) -> Sent:
        """Wait for a message of the bot that contains this, not among the first `after` that it sent."""
        await self.wait(lambda: any(text in sent.text for sent in self.sent[after:]), f"for {text!r}")
        return next(sent for sent in self.sent[after:] if text in sent.text)

    def count(self, pattern: str) -> int:
        return sum(re.search(pattern, f"{method} {path}") is not None for method, path, _ in self.calls)

    # -- the gateway

    async def _dispatch(self, name: str, data: dict[str, Any]) -> None:
        event = {"op": 0, "t": name, "s": len(self._events) + 1, "d": data}
        self._events.append(event)
        for socket in [*self._sockets]:
            await socket.send_json(event)

    async def _serve_gateway(self, request: web.Request) -> web.StreamResponse:
        self.attempts += 1
        if self.refused_connections:
            self.refused_connections -= 1
            return web.Response(status=502)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json({"op": 10, "d": {"heartbeat_interval": 40_000}})
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    await self._take_payload(socket, json.loads(message.data))
        finally:
            self._sockets.discard(socket)
        return socket

    async def _take_payload(self, socket: web.WebSocketResponse, payload: dict[str, Any]) -> None:
        match payload["op"]:
            case 1:
                await socket.send_json({"op": 11})
            case 2:
                await self._identify(socket, payload["d"])
            case 6:
                assert payload["d"]["session_id"] == "session", "the session that was begun"
                await self._resume(socket, payload["d"]["seq"])

    async def _resume(self, socket: web.WebSocketResponse, position: int) -> None:
        """Send what the client has missed, also what happens meanwhile."""
        self.resumes.append(position)
        while position < len(self._events):
            await socket.send_json(self._events[position])
            position += 1
        self._sockets.add(socket)
        await socket.send_json({"op": 0, "t": "RESUMED", "s": len(self._events), "d": {}})
        async with self._changed:
            self._changed.notify_all()

    async def _identify(self, socket: web.WebSocketResponse, data: dict[str, Any]) -> None:
        assert data["token"] == TOKEN
        if self.refuses_intent and data["intents"] & (1 << 15):
            await socket.close(code=4014)
            return
        self.identifies += 1
        ready = {"v": 10, "user": BOT, "guilds": [{"id": str(GUILD), "unavailable": True}], "session_id": "session"}
        ready |= {"resume_gateway_url": self._gateway, "application": {"id": APPLICATION["id"], "flags": 1 << 19}}
        self._events.clear()
        self._sockets.add(socket)
        await self._dispatch("READY", ready)
        await self._dispatch("GUILD_CREATE", guild())
        async with self._changed:
            self._changed.notify_all()

    # -- REST

    async def _serve_call(self, request: web.Request) -> web.Response:
        path = request.match_info["path"]
        fields, file = await read_body(request)
        call = f"{request.method} {path}"
        is_known = request.headers.get("Authorization") == f"Bot {TOKEN}"
        if not is_known and not path.startswith(("webhooks/", "interactions/")):
            return json_response({"message": "401: Unauthorized", "code": 0}, 401)
        async with self._changed:
            self.calls.append((request.method, path, fields))
            self._changed.notify_all()
            if self._errors[call]:
                return self._errors[call].popleft()
            answer = self._answer(request.method, path.split("/"), fields, file)
        return web.Response(status=204) if answer is None else json_response(answer)

    def _answer(self, method: str, parts: list[str], fields: Any, file: bytes | None) -> Any:
        match method, parts:
            case "GET", ["users", "@me"]:
                return BOT
            case "GET", ["oauth2", "applications", "@me"] | ["applications", "@me"]:
                return APPLICATION
            case "PUT", ["applications", _, "commands"]:
                self.commands = [
                    command | {"id": str(2_000 + number), "application_id": "901", "version": "1"}
                    for number, command in enumerate(fields)
                ]
                return self.commands
            case "POST", ["users", "@me", "channels"]:
                return private_channel_data((int(fields["recipient_id"]), "Somebody"))
            case "GET", ["guilds", _, "members", user]:
                return member((int(user), "Somebody"), ["501"] if int(user) in self.admins else [])
            case "POST", ["channels", channel, "messages"]:
                return self._keep(int(channel), fields, file)
            case "PATCH", ["channels", _, "messages", id]:
                return self._change_message(int(id), fields)
            case "POST", ["channels", _, "typing"]:
                return None
            case "POST", ["interactions", _, token, "callback"]:
                return self._take_callback(token, fields)
            case "PATCH", ["webhooks", _, token, "messages", "@original"]:
                interaction = self._interactions[token]
                assert interaction["acknowledged"], "an answer before the acknowledgement"
                return self._keep(int(interaction["channel_id"]), fields, None, is_private=interaction["is_private"])
            case "POST", ["webhooks", _, token]:
                interaction = self._interactions[token]
                assert interaction["acknowledged"], "an answer before the acknowledgement"
                is_private = bool(fields.get("flags", 0) & EPHEMERAL)
                return self._keep(int(interaction["channel_id"]), fields, file, is_private=is_private)
        raise AssertionError(f"nobody serves {method} {parts}")

    def _take_callback(self, token: str, fields: dict[str, Any]) -> Any:
        interaction = self._interactions[token]
        if fields["type"] == 8:
            self.choices.append([choice["value"] for choice in fields["data"]["choices"]])
        else:
            assert not interaction["acknowledged"], "acknowledged twice"
            interaction["acknowledged"] = True
            interaction["is_private"] = bool((fields.get("data") or {}).get("flags", 0) & EPHEMERAL)
        return {"interaction": {"id": interaction["id"], "type": 2, "response_message_id": None}}

    def _keep(self, channel: int, fields: dict[str, Any], file: bytes | None, *, is_private: bool = False) -> Any:
        assert fields["allowed_mentions"]["parse"] == [], "nobody is to be mentioned"
        text = fields.get("content") or ""
        assert file is not None or 1 <= len(text) <= 2_000, f"a message of {len(text)} characters"
        reply = (fields.get("message_reference") or {}).get("message_id")
        sent = Sent(next(self._ids), channel, text, buttons(fields), reply and int(reply), is_private, file=file)
        self.sent.append(sent)
        return self._show(sent)

    def _change_message(self, id: int, fields: dict[str, Any]) -> Any:
        sent = next(sent for sent in self.sent if sent.id == id)
        assert fields["allowed_mentions"]["parse"] == [], "nobody is to be mentioned"
        assert 1 <= len(fields["content"]) <= 2_000
        sent.text = fields["content"]
        sent.buttons = buttons(fields)
        sent.edits += 1
        return self._show(sent)

    # -- what Discord shows

    def _place(self, user: User, channel: int | None) -> dict[str, Any]:
        if channel is None:
            return {"channel_id": str(private_channel(user))}
        return {"channel_id": str(channel), "guild_id": str(GUILD)}

    def _message(self, id: int, user: User, text: str, channel: int | None) -> dict[str, Any]:
        mentions = [BOT] if f"<@{BOT['id']}>" in text else []
        message = {"id": str(id), "author": person(user), "content": text, "mentions": mentions, "type": 0}
        message |= {"timestamp": "2026-03-03T01:06:40+00:00", "edited_timestamp": None, "attachments": [], "embeds": []}
        message |= {"tts": False, "mention_everyone": False, "mention_roles": [], "pinned": False}
        if channel is not None:
            message["member"] = {key: value for key, value in member(user).items() if key != "user"}
        return message | self._place(user, channel)

    def _show(self, sent: Sent) -> dict[str, Any]:
        shown = self._message(sent.id, (int(BOT["id"]), BOT["username"]), sent.text, sent.channel)
        return shown | {"author": BOT, "flags": EPHEMERAL if sent.is_private else 0}

    def _interaction(self, type: int, data: dict[str, Any], user: User, channel: int | None) -> dict[str, Any]:
        id = str(next(self._ids))
        interaction: dict[str, Any] = {
            "id": id,
            "application_id": "901",
            "type": type,
            "data": data,
            "token": f"token-{id}",
        }
        interaction |= {"version": 1, "attachment_size_limit": 1 << 23, **self._place(user, channel)}
        if channel is None:
            interaction |= {"user": person(user), "channel": private_channel_data(user)}
        else:
            interaction |= {"member": member(user) | {"permissions": "0"}, "channel": channel_data(channel)}
        self._interactions[interaction["token"]] = {**interaction, "acknowledged": False, "is_private": False}
        return interaction

    def _command_data(self, name: str, options: dict[str, Any]) -> dict[str, Any]:
        command = next(command for command in self.commands if command["name"] == name)
        types = {option["name"]: option["type"] for option in command.get("options", [])}
        values = [{"name": key, "type": types[key], "value": value} for key, value in options.items()]
        return {"id": command["id"], "name": name, "type": 1, "options": values}


def snowflake(time: int) -> int:
    """The first id that Discord gives in a second."""
    return (time * 1_000 - 1_420_070_400_000) << 22


def json_response(data: Any, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    """An answer whose media type has no charset: the library reads no other as JSON."""
    body = json.dumps(data).encode()
    return web.Response(body=body, status=status, headers=headers, content_type="application/json")


def private_channel(user: User) -> int:
    return 10_000 + user[0]


def person(user: User) -> dict[str, Any]:
    handle = user[1].partition(" ")[0].lower() + str(user[0])
    return {"id": str(user[0]), "username": handle, "global_name": user[1], "discriminator": "0", "avatar": None}


def member(user: User, roles: list[str] | None = None) -> dict[str, Any]:
    fields: dict[str, Any] = {"user": person(user), "roles": roles or [], "joined_at": "2026-01-01T00:00:00+00:00"}
    return fields | {"deaf": False, "mute": False, "flags": 0}


def channel_data(channel: int) -> dict[str, Any]:
    return {"id": str(channel), "type": 0, "name": f"channel-{channel}", "position": 0, "permission_overwrites": []}


def private_channel_data(user: User) -> dict[str, Any]:
    return {"id": str(private_channel(user)), "type": 1, "recipients": [person(user)], "last_message_id": None}


def role(id: int, permissions: int) -> dict[str, Any]:
    fields = {"id": str(id), "name": "role", "permissions": str(permissions), "position": 0, "color": 0, "flags": 0}
    colors = {"primary_color": 0, "secondary_color": None, "tertiary_color": None}
    return fields | {"hoist": False, "managed": False, "mentionable": False, "colors": colors}


def guild() -> dict[str, Any]:
    fields: dict[str, Any] = {"id": str(GUILD), "name": "Rowers", "owner_id": "1", "member_count": 4, "members": []}
    fields |= {"roles": [role(GUILD, 1 << 11), role(501, 1 << 5)], "emojis": [], "stickers": [], "features": []}
    return fields | {"channels": [channel_data(CHANNEL)], "threads": [], "voice_states": [], "presences": []}


def buttons(fields: dict[str, Any]) -> list[tuple[str, str]]:
    rows = fields.get("components") or []
    return [(button["label"], button["custom_id"]) for row in rows for button in row["components"]]


async def read_body(request: web.Request) -> tuple[Any, bytes | None]:
    """The fields of a call, and the file in it."""
    if request.content_type != "multipart/form-data":
        body = await request.read()
        return json.loads(body) if body else {}, None
    form = await request.post()
    file = next(value for key, value in form.items() if key.startswith("files["))
    assert isinstance(file, web.FileField)
    return json.loads(str(form["payload_json"])), file.file.read()
