"""Telegram's Bot API on the loopback interface, as far as the bot uses it: a real HTTP server in threads of its own.

`say`, `press` and `edit` put updates in, as people would; `sent` is what the bot sent, as Telegram would show it. With
`refuse`, the next calls of a method are answered with an error, such as 429.
"""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.error import HTTPError
from urllib.parse import parse_qsl
from urllib.request import Request, urlopen

TOKEN = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"
BOT = {"id": 110201543, "is_bot": True, "first_name": "Memo", "username": "memo_bot"}
PATIENCE = 120.0  # seconds
POLL = 0.05  # seconds that an empty poll takes
START = 1_772_500_000  # when the first message is said


@dataclass(slots=True)
class Sent:
    """A message of the bot, as it stands now."""

    id: int
    chat: int
    text: str
    buttons: list[tuple[str, str]] = field(default_factory=list)
    reply_to: int | None = None
    thread: int | None = None
    edits: int = 0
    file: bytes | None = None


class QuietServer(ThreadingHTTPServer):
    """A server for clients that may go away in the middle of a poll."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class TelegramServer:
    """The server: `with TelegramServer() as server`."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, str]]] = []
        self.sent: list[Sent] = []
        self.admins: set[tuple[int, int]] = set()
        self.blocked: set[int] = set()
        self.notes: list[str] = []
        self.webhook: dict[str, str] = {}
        self._updates: list[dict[str, Any]] = []
        self._past: list[dict[str, Any]] = []
        self._errors: dict[str, deque[dict[str, Any]]] = defaultdict(deque)
        self._changed = threading.Condition()
        self._message_id = 0
        self._update_id = 1_000
        self._press_id = 0
        self._http = QuietServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(PATIENCE)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    # -- what people do

    def say(
        self,
        text: str,
        *,
        user: tuple[int, str] = (7, "Alex"),
        chat: int | None = None,
        thread: int | None = None,
        reply_to: Sent | None = None,
        deliveries: int = 1,
        **fields: Any,
    ) -> int:
        """Say something; in a private chat, unless a chat is named. Returns the id of the message."""
        with self._changed:
            self._message_id += 1
            message = self._message(self._message_id, user, chat, thread, {"text": text, **fields} if text else fields)
            if reply_to is not None:
                own = self._message(reply_to.id, (BOT["id"], "Memo"), chat, thread, {"text": reply_to.text})  # type: ignore[arg-type]
                message["reply_to_message"] = own | {"from": BOT}
            for mention in re.finditer(r"@\w+", text):
                entity = {"type": "mention", "offset": mention.start(), "length": len(mention[0])}
                message.setdefault("entities", []).append(entity)
            for _ in range(deliveries):
                self._put({"message": message})
            return self._message_id

    def edit(self, id: int, text: str, *, user: tuple[int, str] = (7, "Alex"), chat: int | None = None) -> None:
        with self._changed:
            message = self._message(id, user, chat, None, {"text": text, "edit_date": START + id + 60})
            self._put({"edited_message": message})

    def press(self, message: Sent, label: str, *, user: tuple[int, str] = (7, "Alex")) -> None:
        """Press the button of a message of the bot that begins with these words."""
        data = next(data for text, data in message.buttons if text.startswith(label))
        with self._changed:
            self._press_id += 1
            chat = None if message.chat == user[0] else message.chat
            shown = self._message(message.id, user, chat, message.thread, {"text": message.text}) | {"from": BOT}
            query = {"id": str(self._press_id), "from": person(user), "message": shown, "chat_instance": "1"}
            self._put({"callback_query": {**query, "data": data}})

    def upgrade(self, old: int, new: int) -> None:
        """Make a supergroup of a group, which gives it another id."""
        with self._changed:
            self._message_id += 1
            self._put({"message": self._message(self._message_id, (7, "Alex"), old, None, {"migrate_to_chat_id": new})})

    def deliver_again(self) -> None:
        """Deliver everything that happened so far once more."""
        with self._changed:
            for fields in [*self._past]:
                self._put(fields)

    def call_webhook(self, secret: str) -> list[int]:
        """Deliver all updates to the webhook that was set; returns the statuses of the answers."""
        with self._changed:
            updates = self._updates
            self._updates = []
        return [self.call_address(self.webhook["url"], json.dumps(update).encode(), secret) for update in updates]

    def call_address(self, url: str, body: bytes, secret: str) -> int:
        """Call an address as Telegram would; returns the status of the answer."""
        headers = {"Content-Type": "application/json", "X-Telegram-Bot-Api-Secret-Token": secret}
        try:
            with urlopen(Request(url, body, headers), timeout=PATIENCE) as answer:
                return int(answer.status)
        except HTTPError as error:
            with error:
                return error.code

    def refuse(self, method: str, code: int = 429, text: str = "Too Many Requests", **parameters: Any) -> None:
        """Answer the next call of a method with an error."""
        error = {"ok": False, "error_code": code, "description": text, "parameters": parameters}
        self._errors[method].append(error)

    # -- what the bot has done

    def wait(self, condition: Callable[[], bool], what: str = "") -> None:
        """Wait until something is so."""
        with self._changed:
            if not self._changed.wait_for(condition, PATIENCE):
                raise AssertionError(f"waited in vain {what}; the bot said {[sent.text for sent in self.sent]}")

    def wait_for_text(self, text: str, *, after: int = 0) -> Sent:
        """Wait for a message of the bot that contains this, not among the first `after` that it sent."""
        self.wait(lambda: any(text in sent.text for sent in self.sent[after:]), f"for {text!r}")
        return next(sent for sent in self.sent[after:] if text in sent.text)

    def count(self, method: str) -> int:
        return sum(name == method for name, _ in self.calls)

    # -- inside

    def _put(self, fields: dict[str, Any]) -> None:
        self._update_id += 1
        self._updates.append({"update_id": self._update_id, **fields})
        self._past.append(fields)
        self._changed.notify_all()

    def _message(
        self, id: int, user: tuple[int, str], chat: int | None, thread: int | None, fields: dict[str, Any]
    ) -> dict[str, Any]:
        place: dict[str, Any] = {"id": user[0], "type": "private", "first_name": user[1]}
        if chat is not None:
            place = {"id": chat, "type": "supergroup", "title": "Rowers", "is_forum": thread is not None}
        topic = {} if thread is None else {"message_thread_id": thread, "is_topic_message": True}
        return {"message_id": id, "date": START + id, "chat": place, "from": person(user), **topic, **fields}

    def _handler(server) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                token, _, method = self.path.removeprefix("/bot").partition("/")
                fields, file = read_fields(self.headers.get("Content-Type", ""), body)
                status, answer = server.answer(token, method, fields, file)
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        return Handler

    def answer(self, token: str, method: str, fields: dict[str, str], file: bytes | None) -> tuple[int, dict[str, Any]]:
        """The status and the body of the answer to a call."""
        with self._changed:
            self.calls.append((method, fields))
            self._changed.notify_all()
            if token != TOKEN:
                return 401, {"ok": False, "error_code": 401, "description": "Unauthorized"}
            if self._errors[method]:
                error = self._errors[method].popleft()
                return error["error_code"], error
            if method.startswith("send") and int(fields["chat_id"]) in self.blocked:
                text = "Forbidden: bot can't initiate conversation with a user"
                return 403, {"ok": False, "error_code": 403, "description": text}
            result = getattr(self, f"_{method}")(fields, file)
            self._changed.notify_all()
            return 200, {"ok": True, "result": result}

    def _getMe(self, *_: Any) -> Any:
        return BOT | {"can_join_groups": True, "can_read_all_group_messages": True, "supports_inline_queries": False}

    def _setMyCommands(self, *_: Any) -> bool:
        return True

    _deleteWebhook = _sendChatAction = _setMyCommands

    def _setWebhook(self, fields: dict[str, str], _: Any) -> bool:
        self.webhook = fields
        return True

    def _getUpdates(self, fields: dict[str, str], _: Any) -> list[dict[str, Any]]:
        offset = int(fields.get("offset", 0))
        self._updates = [update for update in self._updates if update["update_id"] >= offset]
        if float(fields.get("timeout", 0)) > 0:
            self._changed.wait_for(lambda: bool(self._updates), POLL)
        return list(self._updates)

    def _sendMessage(self, fields: dict[str, str], _: Any) -> dict[str, Any]:
        if not 0 < len(fields["text"].encode("utf-16-le")) // 2 <= 4096:
            raise AssertionError(f"a message of {len(fields['text'])} characters")
        return self._keep(fields, fields["text"], None)

    def _sendDocument(self, fields: dict[str, str], file: bytes | None) -> dict[str, Any]:
        return self._keep(fields, fields.get("caption", ""), file)

    def _keep(self, fields: dict[str, str], text: str, file: bytes | None) -> dict[str, Any]:
        self._message_id += 1
        reply = json.loads(fields.get("reply_parameters", "{}"))
        thread = int(fields["message_thread_id"]) if "message_thread_id" in fields else None
        sent = Sent(self._message_id, int(fields["chat_id"]), text, buttons(fields), reply.get("message_id"), thread)
        sent.file = file
        self.sent.append(sent)
        return self._show(sent)

    def _editMessageText(self, fields: dict[str, str], _: Any) -> dict[str, Any]:
        sent = next(sent for sent in self.sent if sent.id == int(fields["message_id"]))
        sent.text = fields["text"]
        sent.buttons = buttons(fields)
        sent.edits += 1
        return self._show(sent)

    def _show(self, sent: Sent) -> dict[str, Any]:
        chat = {"id": sent.chat, "type": "private" if sent.chat > 0 else "supergroup"}
        return {"message_id": sent.id, "date": int(time.time()), "chat": chat, "from": BOT, "text": sent.text}

    def _answerCallbackQuery(self, fields: dict[str, str], _: Any) -> bool:
        self.notes.append(fields.get("text", ""))
        return True

    def _getChatMember(self, fields: dict[str, str], _: Any) -> dict[str, Any]:
        user = int(fields["user_id"])
        is_owner = (int(fields["chat_id"]), user) in self.admins
        status = {"status": "creator", "is_anonymous": False} if is_owner else {"status": "member"}
        return {"user": person((user, "Somebody")), **status}


def person(user: tuple[int, str]) -> dict[str, Any]:
    first, _, last = user[1].partition(" ")
    name = {"first_name": first} | ({"last_name": last} if last else {})
    return {"id": user[0], "is_bot": False, **name, "username": f"{first.lower()}{user[0]}"}


def buttons(fields: dict[str, str]) -> list[tuple[str, str]]:
    markup = json.loads(fields.get("reply_markup", "{}"))
    return [(key["text"], key["callback_data"]) for row in markup.get("inline_keyboard", []) for key in row]


def read_fields(kind: str, body: bytes) -> tuple[dict[str, str], bytes | None]:
    """The fields of a form, and the file in it."""
    if not kind.startswith("multipart/form-data"):
        return dict(parse_qsl(body.decode(), keep_blank_values=True)), None
    boundary = b"--" + kind.split("boundary=")[1].encode()
    fields: dict[str, str] = {}
    file = None
    for part in body.split(boundary)[1:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        name = re.search(rb'name="([^"]*)"', head)
        assert name is not None
        if b"filename=" in head:
            file = content.removesuffix(b"\r\n")
        else:
            fields[name[1].decode()] = content.removesuffix(b"\r\n").decode()
    return fields, file
