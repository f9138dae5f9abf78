"""A memory on a server, with the same interface as one in this process: a program switches by changing one line.

    with Memory("everword.db") as memory: …
    with Client("http://127.0.0.1:8000", key) as memory: …

`AsyncClient` is the same with await. Needs the extra `[client]`. Each operation is one request, made from its
declaration: what a program passes goes into the path, the query or the body, and the answer becomes a value of the type
that the method returns. Written by hand is what takes several requests, or comes as a stream. A value is checked here
only where it could not be sent, or would be sent as another one; the server checks the rest.

A write carries its own idempotency key, so that it can be sent again after a lost answer and is done once. If what was
lost is also removed meanwhile, that is an `AnswerGone`: the write was done. A problem from the server is raised as the
error that a memory in this process would raise. To edit documents, a client reads them with a tag, decides, and sends
the changes with that tag: the server applies them only if nobody else changed the documents since. If somebody did, the
client reads and decides again.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin
from urllib.parse import quote
from uuid import uuid4

from everword import documents as rules
from everword import errors
from everword.errors import EverwordError, InvalidInput, MissingExtra, NotFound, NotSettled, ServerError, StoreBusy
from everword.log.checks_and_seals import (
    MAX_TURN,
    SURROGATE,
    check_day,
    check_id,
    check_items,
    check_metadata,
    check_number,
    check_time,
    format_expiry,
)
from everword.log.operation_declarations import PLACE, Operation
from everword.masking import keep_out_of_texts, keep_password_out_of_texts
from everword.memory.blocking import BlockingMemory
from everword.memory.memory import MemoryFace
from everword.memory.operations.conversation import ConversationFace
from everword.memory.operations.documents import MAX_OFFSET, DocumentsFace, check_offset
from everword.model import Added, Batch, Conversation, Draft, Message, OnEdit
from everword.model.log import Change, Document
from everword.openai.messages import as_draft
from everword.strict_json import Limits, read_json
from everword.values_to_json import ERROR_CODES, from_json_value, to_json_value

if TYPE_CHECKING:
    import httpx2


class EditConflict(ServerError):
    """The documents have changed since they were read; nothing was written."""


TRIES = 4
PAUSE = 0.2  # seconds before the second try; then twice as long
AT_WORK = "in_progress"
TRANSIENT = ("store_busy", "too_many", AT_WORK, "unavailable")  # problems that soon pass; a failing model does not
DOTS = {".": "%2E", "..": "%2E%2E"}
HEADER_TEXT = re.compile(r"[\x21-\x7e]*")  # what a header can hold, without spaces
NOT_OURS = "did not answer as an everword server of this version does; check the address"
ANSWER = Limits(values=20_000_000, size=1 << 30)  # of a server that the program chose
GATEWAY = (502, 503, 504)  # status codes of a proxy before the server
INVALID: dict[str, type[InvalidInput]] = {"invalid_input": InvalidInput, "secret_refused": errors.SecretRefused}
NOT_ALLOWED = ("not_you", "not_your_space", "scope", "no_key")
ERRORS: dict[str, type[EverwordError]] = {
    **{code: kind for code, (kind, _) in ERROR_CODES.items() if code not in (*INVALID, "missing_extra", "unavailable")},
    **dict.fromkeys(NOT_ALLOWED, errors.ScopeError),
    "changed": EditConflict,
}


@dataclass(frozen=True, slots=True)
class KeySpace:
    """The space that a key opens."""

    space: str


@dataclass(frozen=True, slots=True)
class ResultPage:
    """One page of a list, as a server sends it."""

    items: list[Any]
    next: str | None = None
    tag: str = ""


def build_path(*parts: str) -> str:
    """A path of these parts, each quoted, so that no id can change the path: not by a slash, nor by dots."""
    for part in parts:
        if not isinstance(part, str):
            raise InvalidInput("id", f"must be text, not {type(part).__name__}")
    return "/v1/" + "/".join(DOTS.get(part) or quote(part, safe="", errors="replace") for part in parts)


def without_none(**values: Any) -> dict[str, Any]:
    """The values that are not None, as JSON values."""
    try:
        return {name: to_json_value(value) for name, value in values.items() if value is not None}
    except TypeError as error:
        raise InvalidInput("a value", f"cannot be sent: {error}") from None


def check_query(query: Mapping[str, Any]) -> dict[str, Any]:
    for name, value in query.items():
        if isinstance(value, str) and SURROGATE.search(value):
            raise InvalidInput(name, "contains a lone surrogate, which is not text")
    return dict(query)


class ServerConnection:
    """The connection to a server, with its address and a key."""

    def __init__(self, base_url: str, key: str, space: str | None, timeout: float) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise InvalidInput("base_url", "must begin with http:// or https://")
        if "?" in base_url or "#" in base_url:
            raise InvalidInput("base_url", "must not contain a query (?) or a fragment (#)")
        if not isinstance(key, str) or not HEADER_TEXT.fullmatch(key):
            raise InvalidInput(
                "key",
                "contains characters that keys never contain; copy the key exactly as `everword keys create` "
                "printed it",
            )
        keep_password_out_of_texts(base_url)
        keep_out_of_texts(key)
        self._url = base_url.rstrip("/").removesuffix("/v1")
        self.space = space
        self._timeout = timeout
        self._key = key
        self._home: str | None = None
        self._http: httpx2.AsyncClient | None = None
        self._abandoned: list[httpx2.AsyncClient] = []

    def __repr__(self) -> str:
        return f"<server {self.address}>"

    @property
    def address(self) -> str:
        """The server's URL, without a password in it."""
        scheme, _, location = self._url.partition("://")
        return f"{scheme}://{location.rpartition('@')[2]}"

    def open(self) -> None:
        try:
            import httpx2
        except ImportError:
            raise MissingExtra("client", "a client") from None
        if self._http is None:
            headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
            self._http = httpx2.AsyncClient(base_url=self._url, headers=headers, timeout=self._timeout)

    def reopen_after_fork(self) -> None:
        """In a forked process: open new connections, and leave those of the parent process untouched."""
        if self._http is not None:
            self._abandoned.append(self._http)
            self._http = None
            self.open()

    async def close(self) -> None:
        http = self._http
        self._http = None
        if http is not None:
            await http.aclose()

    async def ask(
        self,
        kind: Any,
        method: str,
        path: str,
        *,
        space: str | None = None,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        wait: float = 0.0,
    ) -> Any:
        """Send a request and read the answer as a value of this kind. `wait` is extra time for it, in seconds."""
        import httpx2

        request = self._build_request(method, path, space, query, body, wait)
        deadline = time.monotonic() + self._timeout + wait
        attempt = 0
        while True:
            attempt = attempt + 1
            retry_after = ""
            try:
                response = await self._client.send(request)
            except httpx2.HTTPError as error:
                # A request that timed out would time out again.
                if attempt == TRIES or isinstance(error, httpx2.ReadTimeout | httpx2.WriteTimeout):
                    raise unreachable_error(self.address, error) from error
            else:
                if response.is_success:
                    return self.read(kind, response.content)
                code = problem_code(response)
                if code == AT_WORK and time.monotonic() < deadline:
                    attempt -= 1  # the first try goes on there, and its answer is worth waiting for
                elif attempt == TRIES or not is_transient(code, response.status_code):
                    raise parse_error(response.status_code, response.content)
                retry_after = response.headers.get("Retry-After", "")
            has_pause = retry_after.isascii() and retry_after.isdigit()
            await asyncio.sleep(min(float(retry_after), 5.0) if has_pause else PAUSE * 2**attempt / 2)

    async def stream_lines(
        self,
        method: str,
        path: str,
        *,
        space: str | None = None,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
    ) -> AsyncIterator[str]:
        """The lines of an answer, as they come. Only a line feed ends a line."""
        import httpx2

        request = self._build_request(method, path, space, query, body, 0.0)
        has_begun = False
        try:
            response = await self._client.send(request, stream=True)
            try:
                if not response.is_success:
                    raise parse_error(response.status_code, await response.aread())
                remainder = b""
                async for data in response.aiter_bytes():
                    has_begun = True
                    *complete_lines, remainder = (remainder + data).split(b"\n")
                    for line in complete_lines:
                        yield line.decode("utf-8", "replace").removesuffix("\r")
                if remainder:
                    yield remainder.decode("utf-8", "replace")
            finally:
                await response.aclose()
        except httpx2.HTTPError as error:
            if has_begun:
                raise ServerError(f"{self.address} closed the connection in the middle of an answer") from error
            raise unreachable_error(self.address, error) from error

    def read(self, kind: Any, content: bytes | str) -> Any:
        """An answer as a value of this kind."""
        try:
            return from_json_value(kind, read_json(content, ANSWER))
        except ValueError as error:  # InvalidInput, too: the server's fault, not the caller's
            raise ServerError(f"{self.address} {NOT_OURS}") from error

    def decode(self, kind: Any, value: Any) -> Any:
        """A part of an answer as a value of this kind."""
        try:
            return from_json_value(kind, value)
        except ValueError as error:
            raise ServerError(f"{self.address} {NOT_OURS}") from error

    async def resolve_space(self, space: str | None) -> str:
        """The space of a request: the one named, or the client's, or the one the key opens."""
        target_space = space if space is not None else self.space
        if target_space is not None:
            return check_id("space", target_space)
        if self._home is None:
            self._home = str((await self.ask(KeySpace, "GET", build_path("space"))).space)
        return self._home

    def _build_request(
        self, method: str, path: str, space: str | None, query: Mapping[str, Any] | None, body: Any, wait: float
    ) -> httpx2.Request:
        target_space = space if space is not None else self.space
        # In the query, and not in the header: a header cannot hold every script a space may be named in.
        params = {**check_query(query or {}), **({} if target_space is None else {"space": target_space})}
        headers = {"Idempotency-Key": uuid4().hex} if method != "GET" else {}
        try:
            content = None if body is None else json.dumps(body, ensure_ascii=True).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidInput("a value", f"cannot be sent: {error}") from None
        if content is not None:
            headers["Content-Type"] = "application/json"
        return self._client.build_request(
            method, path, params=params, content=content, headers=headers, timeout=self._timeout + wait
        )

    @property
    def _client(self) -> httpx2.AsyncClient:
        if self._http is None:
            raise EverwordError("this client is not open; use it inside its `with` or `async with` block")
        return self._http


def problem_code(response: httpx2.Response) -> str | None:
    """The code of a problem; None if the answer is not a problem."""
    try:
        return str(read_json(response.content)["code"])
    except (ValueError, TypeError, KeyError):
        return None


def is_transient(code: str | None, status: int) -> bool:
    """Whether a retry in a moment may help."""
    return status in GATEWAY if code is None else code in TRANSIENT


def unreachable_error(url: str, error: Exception) -> ServerError:
    return ServerError(f"{url} did not answer ({type(error).__name__}); is the server running there?")


def parse_error(status: int, content: bytes) -> EverwordError:
    """The error for a problem that a server sent."""
    try:
        problem = read_json(content)
        code = str(problem["code"])
        detail = str(problem["detail"])
    except (ValueError, TypeError, KeyError):
        return ServerError(f"the server answered {status}, but not as an everword server does; check the address")
    try:
        field = str(problem["errors"][0]["field"])
        reason = str(problem["errors"][0]["reason"])
    except (TypeError, KeyError, IndexError):
        return ERRORS.get(code, ServerError)(detail)
    if code == "missing_extra":
        return MissingExtra(field, reason)
    kind = INVALID.get(code)
    return ServerError(detail) if kind is None else kind(field.removeprefix("body."), reason)


# -- operations as requests


PAGE = 1_000  # values in one answer
CURRENT = "current"  # in the place of a topic's id: the one that is being talked about
DIGESTS = 60.0  # seconds a server may wait for digests, beyond what an answer may take
LONGEST = 300.0  # seconds that a server may be asked to wait


async def send(
    server: ServerConnection, operation: Operation, values: Mapping[str, Any], space: str | None, user: str | None
) -> Any:
    """Ask a server to do an operation with these values. `user` is whose conversation it is about."""
    values = dict(values)
    if "space" in operation.places:
        values["space"] = await server.resolve_space(space)
    path, query = build_operation_path(operation, values)
    fields = without_none(user=user, **operation.sends)
    for name, value in values.items():
        if value is not None and name not in operation.places:
            fields[name] = encode(operation, name, value)
    seconds = 0.0 if "wait" not in values else fields.get("wait", DIGESTS)
    request: dict[str, Any] = {"space": space, "query": query | fields, "wait": seconds}
    if operation.has_body:
        request |= {"query": query, "body": fields}
    kind = operation.types["return"]
    if operation.page:
        pages = iterate_pages(server, get_args(kind)[0], path, space, request["query"])
        return [value async for value in pages]
    if operation.wrap or kind is type(None):
        answer = await server.ask(dict[str, Any], operation.verb, path, **request)
        return server.decode(kind, answer[operation.wrap]) if operation.wrap else None
    return await server.ask(kind, operation.verb, path, **request)


def build_operation_path(operation: Operation, values: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The path with its values, and what the query says about them: a message may be named by its turn."""
    parts: list[str] = []
    query: dict[str, Any] = {}
    for part in operation.path.removeprefix("/v1/").split("/"):
        place = PLACE.fullmatch(part)
        if place is None:
            parts.append(part)
            continue
        argument = place[1] or place[2]
        value = values[argument]
        if isinstance(value, int) and int in get_args(operation.types.get(argument)):
            query["by"] = "turn"
            value = str(check_number(argument, value, MAX_TURN))
        elif value is None:
            value = CURRENT
        parts.append(check_id(place[2] if argument == "id" else argument, value))
    return build_path(*parts), query


def encode(operation: Operation, name: str, value: Any) -> Any:
    """A value as it is sent."""
    hint = operation.types[name]
    kinds = get_args(hint) or (hint,)
    if isinstance(value, tuple) and hint is str:  # all further arguments
        return list(value)
    if name == "wait":
        return check_wait(value)
    if name == "metadata":
        return check_metadata(value)
    if get_origin(hint) is Sequence:
        return check_items(name, value)
    if timedelta in kinds:
        return format_expiry(name, value)
    if datetime in kinds:
        return check_time(name, value).isoformat()
    if date in kinds:
        day = check_day(name, value)
        return None if day is None else day.isoformat()
    if hint is bool and not operation.has_body:
        return "true" if value else "false"  # what counts as true in a program does so here
    return without_none(value=value)["value"]


def check_wait(wait: Any) -> float:
    if not (isinstance(wait, int | float) and 0 <= wait < float("inf")):
        raise InvalidInput("wait", f"is {wait!r}; must be a number of seconds, 0 or more")
    return min(float(wait), LONGEST)


async def iterate_pages(
    server: ServerConnection, kind: Any, path: str, space: str | None, query: Mapping[str, Any]
) -> AsyncIterator[Any]:
    """All values of a list, read page by page."""
    cursor: str | None = None
    while True:
        page_query = {**query, **without_none(cursor=cursor, limit=PAGE)}
        page = await server.ask(ResultPage, "GET", path, space=space, query=page_query)
        for value in server.decode(list[kind], page.items):
            yield value
        cursor = page.next
        if cursor is None:
            return


# -- a memory on a server

SHORTEST = 0.001  # seconds that one request asks a server to wait, at least
CUT_OFF = "the server ended the reply before it was complete; the part that you received is stored"


class AsyncClient(MemoryFace):
    """A memory on a server: `async with AsyncClient("http://127.0.0.1:8000", key) as memory: …`.

    `base_url` is the server's address. `key` is what `everword keys create` showed; a server on loopback may need none.
    `space` is used by calls that name none; without it, the key's own space. `timeout` is in seconds, for each answer
    or the next piece of one.
    """

    def __init__(self, base_url: str, key: str = "", *, space: str | None = None, timeout: float = 90.0) -> None:
        self.connection = ServerConnection(base_url, key, None if space is None else check_id("space", space), timeout)

    def __repr__(self) -> str:
        return f"<client of {self.connection!r}>"

    async def open(self) -> None:
        """Be ready to ask. `async with` does this."""
        self.connection.open()

    async def close(self) -> None:
        """Give the connections back."""
        await self.connection.close()

    async def _perform(self, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        values = operation.arguments(args, kwargs)
        return await send(self.connection, operation, values, values.pop("space", None), None)

    def conversation(self, id: str, *, user: str | None = None, space: str | None = None) -> AsyncClientConversation:
        user = None if user is None else check_id("user", user)
        space = None if space is None else check_id("space", space)
        return AsyncClientConversation(self.connection, space, check_id("conversation", id), user)

    async def conversations(
        self, *, user: str | None = None, space: str | None = None, after: str = "", limit: int = 100
    ) -> list[Conversation]:
        query = without_none(user=user, cursor=after or None, limit=limit)
        page = await self.connection.ask(ResultPage, "GET", build_path("conversations"), space=space, query=query)
        conversations: list[Conversation] = self.connection.decode(list[Conversation], page.items)
        return conversations

    def documents(self, *, space: str | None = None) -> AsyncClientDocuments:
        return AsyncClientDocuments(self.connection, None if space is None else check_id("space", space))

    async def add_many(self, batches: Iterable[Batch]) -> list[list[Added]]:
        all_batches: list[Batch] = check_items("batches", batches, Batch)
        if not all_batches:
            return []
        if len({batch.space for batch in all_batches}) > 1:
            raise InvalidInput(
                "batches",
                "belong to different spaces, but a call to a server writes to one space; make one call for each space",
            )
        body = [
            without_none(conversation=batch.conversation, user=batch.user)
            | edit_field(batch.on_edit)
            | {"messages": [draft_fields(draft) for draft in check_items("drafts", batch.drafts, Draft)]}
            for batch in all_batches
        ]
        additions: list[list[Added]] = await self.connection.ask(
            list[list[Added]], "POST", build_path("messages"), space=all_batches[0].space, body={"batches": body}
        )
        return [list(map(with_outcome, batch)) for batch in additions]

    async def settle(self, timeout: float = 60.0) -> int:
        """Wait until every view has caught up with the log; raises NotSettled, with how far each is behind and why, if
        one cannot. Returns how many messages views failed on and have set aside, in the
        key's own space."""
        remaining = float(timeout)
        while True:
            seconds = min(max(remaining, SHORTEST), LONGEST)
            try:
                body = {"timeout": seconds}
                answer = await self.connection.ask(
                    dict[str, Any], "POST", build_path("settle"), body=body, wait=seconds
                )
                return int(answer.get("set_aside", 0))
            except NotSettled:
                remaining -= seconds
                if remaining <= 0:
                    raise

    async def export(
        self,
        *,
        user: str | None = None,
        conversation: str | None = None,
        space: str | None = None,
        salvage: bool = False,
        secrets: bool = False,
    ) -> AsyncIterator[Message]:
        options = {"salvage": salvage or None, "secrets": secrets or None}
        query = without_none(user=user, conversation=conversation, **options)
        async for line in self.connection.stream_lines("GET", build_path("export"), space=space, query=query):
            if line:
                message: Message = self.connection.read(Message, line)
                yield message


class AsyncClientConversation(ConversationFace):
    """One thread of messages."""

    def __init__(self, server: ServerConnection, space: str | None, id: str, user: str | None) -> None:
        self._server = server
        self.space = space
        self.id = id
        self.user = user

    def __repr__(self) -> str:
        return f"<conversation {self.id} of {self._server!r}>"

    async def _perform(self, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        values = {"id": self.id, **operation.arguments(args, kwargs)}
        return await send(self._server, operation, values, self.space, self.user)

    async def extend(self, drafts: Iterable[Draft | Mapping[str, Any]], *, on_edit: OnEdit = "refuse") -> list[Added]:
        messages = [draft_fields(as_draft(draft)) for draft in check_items("messages", drafts)]
        if not messages:
            return []
        body = without_none(user=self.user) | {"messages": messages} | edit_field(on_edit)
        path = build_path("conversations", self.id, "messages")
        additions: list[Added] = await self._server.ask(list[Added], "POST", path, space=self.space, body=body)
        return list(map(with_outcome, additions))

    async def history(
        self, *, limit: int | None = None, before: int | None = None, versions: bool = False
    ) -> list[Message]:
        max_messages = None if limit is None else check_number("limit", limit, MAX_TURN)
        cursor = None if before is None else str(check_number("before", before, MAX_TURN))
        messages: list[Message] = []
        while max_messages is None or len(messages) < max_messages:
            size = PAGE if max_messages is None else min(PAGE, max_messages - len(messages))
            query = without_none(user=self.user, cursor=cursor, limit=size, versions=versions or None)
            path = build_path("conversations", self.id, "messages")
            page = await self._server.ask(ResultPage, "GET", path, space=self.space, query=query)
            messages[:0] = self._server.decode(list[Message], page.items)
            cursor = page.next
            if cursor is None:
                break
        return messages

    async def _perform_stream(
        self, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> AsyncIterator[str]:
        body = without_none(user=self.user, stream=True, **operation.arguments(args, kwargs))
        path = build_path("conversations", self.id, "reply")
        kind = ""
        async for line in self._server.stream_lines(operation.verb, path, space=self.space, body=body):
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "event":
                kind = value
            elif name == "data" and kind == "text":
                yield self._server.read(dict[str, str], value)["text"]
            elif name == "data" and kind == "error":
                raise parse_error(500, value.encode())
            elif name == "data" and kind == "done":
                return
        raise ServerError(CUT_OFF)


class Client(BlockingMemory):
    """A memory on a server: `with Client("http://127.0.0.1:8000", key) as memory: …`. `AsyncClient` is the same with
    await.

    `base_url` is the server's address. `key` is what `everword keys create` showed; a server on loopback may need none.
    `space` is used by calls that name none; without it, the key's own space. `timeout` is in seconds, for each answer
    or the next piece of one.
    """

    def __init__(self, base_url: str, key: str = "", *, space: str | None = None, timeout: float = 90.0) -> None:
        client = AsyncClient(base_url, key, space=space, timeout=timeout)
        super().__init__(client)
        self._private.forked = client.connection.reopen_after_fork

    def __repr__(self) -> str:
        return repr(self._inner)


def draft_fields(draft: Draft) -> dict[str, Any]:
    return without_none(
        role=draft.role,
        content=draft.content,
        author=draft.author,
        user=draft.user,
        time=None if draft.time is None else check_time("time", draft.time),
        platform_id=draft.platform_id,
        metadata=check_metadata(draft.metadata) or None,
        id=draft.id,
        expires=None if draft.expires_at is None else format_expiry("expires", draft.expires_at),
        reply_to=draft.reply_to,
    )


def with_outcome(addition: Added) -> Added:
    """What was added, whose message says what became of it, too."""
    return replace(addition, message=replace(addition.message, kept=addition.kept, degraded=addition.degraded))


def edit_field(on_edit: OnEdit) -> dict[str, Any]:
    """What a request says about other texts of known messages: nothing, unless they are to be versions."""
    return {} if on_edit == "refuse" else {"on_edit": on_edit}


# -- documents


T = TypeVar("T")

ROUNDS = 40  # attempts to edit a namespace that others keep changing; in each round one of them succeeds
EDIT_PAUSE = 0.02  # seconds before the next attempt, at most


class AsyncClientDocuments(DocumentsFace):
    """The documents of one space."""

    def __init__(self, server: ServerConnection, space: str | None) -> None:
        self._server = server
        self.space = space

    async def _perform(self, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        values = operation.arguments(args, kwargs)
        check_names(values["namespace"])
        if values.get("where") is not None:
            values["where"] = rules.check_filter(values["where"])
        return await send(self._server, operation, {"space": self.space, **values}, self.space, None)

    async def get(self, namespace: Sequence[str], key: str) -> Document | None:
        names = check_names(namespace)
        if not names:
            return None
        try:
            document: Document = await self._ask(Document, "GET", "documents", check_id("key", key), namespace=names)
        except NotFound:
            return None
        return document

    async def apply(self, changes: Sequence[Change]) -> list[Document]:
        return await self._send_changes(check_items("changes", changes, Change), {})

    async def edit(
        self, namespace: Sequence[str], decide: Callable[[dict[str, Document]], tuple[Sequence[Change], T]]
    ) -> T:
        names = check_names(namespace)
        rules.check_decide(decide)
        for _ in range(ROUNDS):
            documents, tag = await self._read_namespace(names)
            changes, answer = decide(documents)
            try:
                if changes:
                    await self._send_changes(changes, {"namespace": names, "tag": tag})
            except EditConflict:
                await asyncio.sleep(random.uniform(0, EDIT_PAUSE))  # not all of them at once again
            else:
                return answer
        raise StoreBusy(
            f"other programs kept changing the documents in {tuple(names)!r}, so nothing was written; try again"
        )

    async def namespaces(
        self,
        *,
        prefix: Sequence[str] = (),
        suffix: Sequence[str] = (),
        depth: int | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[tuple[str, ...]]:
        filters = {"prefix": check_names(prefix), "suffix": check_names(suffix), **without_none(depth=depth)}
        skip = check_offset(offset)
        end = None if limit is None else skip + check_number("limit", limit, MAX_OFFSET)
        namespaces: list[tuple[str, ...]] = []
        cursor: str | None = None
        while end is None or len(namespaces) < end:
            page = await self._ask(
                ResultPage, "GET", "namespaces", **filters, **without_none(cursor=cursor, limit=PAGE)
            )
            namespaces += from_json_value(list[tuple[str, ...]], page.items)
            cursor = page.next
            if cursor is None:
                break
        return namespaces[skip:end]

    # -- requests

    async def _read_namespace(self, names: Sequence[str]) -> tuple[dict[str, Document], str]:
        """All documents of a namespace, and their tag, which must be the same on every page."""
        while True:
            documents = dict[str, Document]()
            tag = None
            cursor = None
            while True:
                page_query = without_none(cursor=cursor, limit=PAGE)
                page = await self._ask(ResultPage, "GET", "documents", namespace=names, **page_query)
                if tag not in (None, page.tag):
                    break  # somebody changed it between two pages
                tag = str(page.tag)
                cursor = page.next
                documents |= {document.key: document for document in from_json_value(list[Document], page.items)}
                if cursor is None:
                    return documents, tag

    async def _send_changes(self, changes: Sequence[Change], condition: dict[str, Any]) -> list[Document]:
        if not changes:
            return []
        body = {"changes": [change_fields(rules.check_change(change)) for change in changes]} | condition
        documents: list[Document] = await self._ask(list[Document], "POST", "documents", body=body)
        return documents

    async def _ask(self, kind: Any, method: str, *parts: str, body: Any = None, **query: Any) -> Any:
        space = await self._server.resolve_space(self.space)
        path = build_path("spaces", space, *parts)
        return await self._server.ask(kind, method, path, space=space, query=query, body=body)


def change_fields(change: Change) -> dict[str, Any]:
    texts = None if change.texts is None else list(change.texts)
    body = {"namespace": list(change.namespace), "key": change.key, "value": change.value}
    expires = None if change.expires_at is None else format_expiry("expires", change.expires_at)
    return body | without_none(user=change.user, texts=texts, expires=expires)


def check_names(namespace: Sequence[str]) -> list[str]:
    """The names of a namespace as a list; a single string is refused."""
    rules.join_namespace(namespace)
    return list(namespace)
