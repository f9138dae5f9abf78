"""How an operation becomes a request, by its declaration: what a program passes goes into the path, the query or the
body, and the answer becomes a value of the type that the method returns.

A value is checked here only where it could not be sent, or would be sent as another one; the server checks the rest.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, get_args, get_origin

from everword.client.connection import ResultPage, ServerConnection, build_path, without_none
from everword.errors import InvalidInput
from everword.log.operations import PLACE, Operation
from everword.log.rules import (
    MAX_TURN,
    check_day,
    check_id,
    check_items,
    check_metadata,
    check_number,
    check_time,
    format_expiry,
)

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
