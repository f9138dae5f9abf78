"""The routes that follow from the declarations in `memory`: path, query and body from the signature, the
description from the docstring, the answer from what the method returns.

An argument that is in no path comes in the query of a GET or DELETE, else in the body. What it may be is said by its
name (`FIELDS`), or else by its type. A conversation's routes also have its id in the path, and say whose chat it is.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Awaitable, Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, get_args

from fastapi import APIRouter, Path, Query
from pydantic import AwareDatetime, Field, create_model
from starlette.responses import Response

from everword.errors import InvalidInput
from everword.log.checks_and_seals import parse_expiry
from everword.log.operation_declarations import PLACE, Operation, operations_of
from everword.memory.commands import MAX_NAMES
from everword.memory.memory import MemoryFace
from everword.memory.operations.changes import read_message
from everword.memory.operations.conversation import AsyncConversation, ConversationFace
from everword.memory.operations.documents import MAX_LIMIT, MAX_OFFSET, DocumentsFace
from everword.model import FactCategory, HitKind, Message
from everword.server.access import Caller, caller_for, caller_in_path_space, caller_of_all_spaces
from everword.server.routes import shapes
from everword.server.routes.answers import (
    AS_IT_IS,
    Count,
    Cursor,
    IdempotencyKey,
    StoredForm,
    answer_once,
    json_response,
    page_response,
)

MAX_NAMESPACE = 256  # names; no namespace that is short enough has more
CHAT_USER = "The owner of the chat. For a channel (group chat), leave out `user`."
CURRENT = "current"  # in the place of a topic's id: the one that is being talked about
Conversation = Annotated[
    str, Path(alias="id", description="The conversation's id. The first message creates the conversation.")
]
User = Annotated[str | None, Query(description=CHAT_USER, max_length=256)]
By = Annotated[Literal["id", "turn"], Query(description="Whether `message` is an id or a turn (the message's number).")]

# What an argument may be, by its name; else its type says it.
FIELDS: dict[str, Any] = {
    **dict.fromkeys(
        ("user", "author", "speaker", "message", "conversation", "platform_id", "id", "other", "into", "to", "view"),
        shapes.Id,
    ),
    "name": shapes.Id,
    "namespace": list[shapes.Id],
    **dict.fromkeys(["key", "value", "subject"], shapes.Short),
    "limit": shapes.Limit,
    "floor": Annotated[float, Field(ge=0, le=1)],
    "kinds": Annotated[list[HitKind], Field(min_length=1)],
    "category": FactCategory,
    "kind": Literal["display", "nickname", "alias", "mention"],
    "names": Annotated[list[shapes.Name], Field(max_length=MAX_NAMES)],
    "tags": Annotated[list[str], Field(min_length=1, max_length=50)],
    "turns": Annotated[list[int], Field(min_length=1, max_length=500)],
    "score": Literal[1, -1],
    "wait": Annotated[float, Field(ge=0, le=300)],
}
# Where one operation is stricter than the others.
STRICTER: dict[tuple[str, str], Any] = {
    ("remove_document", "namespace"): Annotated[list[shapes.Id], Field(min_length=1, max_length=MAX_NAMESPACE)],
    ("search_documents", "limit"): Annotated[int, Field(ge=1, le=MAX_LIMIT)],
    ("search_documents", "offset"): Annotated[int, Field(ge=0, le=MAX_OFFSET)],
    ("search_documents", "where"): dict[str, Any],
    ("delete", "query"): shapes.Text,
    ("search_topics", "limit"): Annotated[int, Field(ge=1, le=100)],
}
LONGEST_IN_QUERY = {"query": 4_000, "key": 200, "name": 200}  # characters of a text in a query; of any other 256
MUST_BE_NAMED = (("rebuild", "view"),)  # whatever the default in a program is

EXAMPLES: dict[str, Any] = shapes.DESCRIPTIONS["examples"]
GROUPS = {
    "moves": ("move_conversation", "merge_users", "undo_move"),
    "removals": ("delete_message", "delete", "audit"),
}


def build_router() -> APIRouter:
    """All routes that are not written by hand; edits first, which are called often: to find its route, a request is
    compared with each before it."""
    router = APIRouter()
    faces = (MemoryFace, ConversationFace, DocumentsFace)
    operations = [(operation, face) for face in faces for operation in operations_of(face).values()]
    for operation, face in sorted(operations, key=lambda entry: entry[0].name != "edit_message"):
        if not operation.by_hand:
            add_route(router, operation, face)
    return router


def add_route(router: APIRouter, operation: Operation, face: type) -> None:
    router.add_api_route(
        PLACE.sub(r"{\2:id}", operation.path),
        build_endpoint(operation, face),
        methods=[operation.verb],
        response_model=answer_model_of(operation),
        description=inspect.getdoc(operation.method),
        tags=[group_of(operation)],
    )


def group_of(operation: Operation) -> str:
    """Under which heading the description shows it."""
    named = next((group for group, names in GROUPS.items() if operation.name in names), None)
    if named is not None:
        return named
    for group in ("topic", "document"):
        if group in operation.path:
            return f"{group}s"
    noun = operation.path.split("/")[2]
    return {"users": "people", "who-is": "people", "people": "people", "conversations": "conversations"}.get(
        noun, "spaces"
    )


def answer_model_of(operation: Operation) -> Any:
    kind = operation.types["return"]
    if kind is type(None):
        return shapes.Done
    model = shapes.wire_type(kind)
    if operation.page:
        return shapes.page_model(get_args(model)[0])
    if operation.wrap:
        fields: dict[str, Any] = {operation.wrap: (model, ...)}
        return create_model(f"{operation.name.title().replace('_', '')}Out", **fields)
    return model


# -- the endpoint


def build_endpoint(operation: Operation, face: type) -> Callable[..., Awaitable[Response]]:
    """What answers a request: its signature is what FastAPI reads."""
    name = operation.method.__name__
    is_chat = face is ConversationFace

    async def endpoint(**values: Any) -> Response:
        caller = values.pop("caller")
        once_key = values.pop("once_key", None)
        page = {key: values.pop(key) for key in ("cursor", "page_limit") if key in values}
        values |= dict(values.pop("body", ()))
        target: Any = caller.memory
        if is_chat:
            target = target.conversation(values.pop("chat"), user=values.pop("user"), space=caller.space)
        elif face is DocumentsFace:
            target = target.documents(space=caller.space)
        arguments, further = engine_arguments(operation, values)
        if "space" in operation.signature.parameters:
            arguments["space"] = caller.space

        async def perform() -> Any:
            answer = await getattr(target, name)(*further, **arguments)
            if operation.types["return"] is type(None):
                return {"done": True}
            return {operation.wrap: answer} if operation.wrap else answer

        if operation.once is not None:
            form = EditedMessage(caller, target) if operation.name == "edit_message" else AS_IT_IS
            return await answer_once(caller, once_key, perform(), form, operation.once)
        if operation.page:
            return page_response(await perform(), page["cursor"], page["page_limit"], operation.page)
        return json_response(await perform())

    endpoint.__name__ = operation.name
    endpoint.__dict__["__signature__"] = inspect.Signature([*endpoint_parameters(operation, is_chat)])
    return endpoint


class EditedMessage(StoredForm):
    """Stored without its words: a repeated request is answered with the message as it is then."""

    def __init__(self, caller: Caller, chat: AsyncConversation) -> None:
        self._runtime = caller.memory.runtime
        self._scope = chat.scope

    def shorten(self, answer: Message) -> str:
        return answer.id

    async def restore(self, value: str) -> Message:
        return await read_message(self._runtime, self._scope, value)


def engine_arguments(operation: Operation, values: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[Any, ...]]:
    """What a request says, as arguments of the method; those that it takes by place come apart."""
    arguments = dict(values)
    further: tuple[Any, ...] = ()
    for name, parameter in operation.signature.parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional = [other for other in operation.places if other in arguments]
            further = (*(arguments.pop(other) for other in positional), *arguments.pop(name))
        elif name in arguments and timedelta in get_args(operation.types[name]):
            arguments[name] = parse_expiry(name, arguments[name])
        elif name == "topic_id" and parameter.default is None and arguments[name] == CURRENT:
            arguments[name] = None
    if arguments.pop("by", "id") == "turn":
        arguments["message"] = parse_turn(arguments["message"])
    return arguments, further


def parse_turn(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > len(str(2**31)):
        raise InvalidInput("message", "must be a turn (the number of a message in its conversation)")
    return int(text)


# -- its signature


def endpoint_parameters(operation: Operation, is_chat: bool) -> Iterator[inspect.Parameter]:
    """What FastAPI is to read of a request."""
    yield keyword("caller", Annotated[Any, caller_check(operation, is_chat)])
    yield from path_parameters(operation, is_chat)
    others = [name for name in operation.signature.parameters if name not in ("space", *operation.places)]
    if operation.has_body and (others or is_chat):
        yield keyword("body", body_model(operation, others, is_chat))
    elif not operation.has_body:
        yield from (keyword(name, *query_field(operation, name)) for name in others)
        if is_chat:
            yield keyword("user", User, None)
    if operation.page:
        yield keyword("cursor", Cursor, None)
        yield keyword("page_limit", Annotated[Count, Query(alias="limit")], 100)
    if operation.once is not None:
        yield keyword("once_key", IdempotencyKey, None)


def caller_check(operation: Operation, is_chat: bool) -> Any:
    """The dependency that checks the caller: in the space of the path, of the request, or in all."""
    if "space" in operation.places:
        return caller_in_path_space(operation.name)
    if is_chat or "space" in operation.signature.parameters:
        return caller_for(operation.name)
    return caller_of_all_spaces(operation.name)


def path_parameters(operation: Operation, is_chat: bool) -> Iterator[inspect.Parameter]:
    if is_chat:
        yield keyword("chat", Conversation)
    for argument, place in operation.places.items():
        if argument in operation.signature.parameters and argument != "space":
            about = shapes.describe_argument(operation, argument)
            # A conversation's id and a message are checked where they are used, with better messages.
            extra = shapes.PATTERN if argument == "key" else None
            longest = None if argument == "message" or is_conversation(operation, argument) else 256
            kind = Annotated[str, Path(alias=place, description=about, max_length=longest, json_schema_extra=extra)]
            yield keyword(argument, kind)
    if int in get_args(operation.types.get("message")):
        yield keyword("by", By, "id")


def is_conversation(operation: Operation, argument: str) -> bool:
    return argument == "id" and operation.path.startswith("/v1/conversations/{id}")


def keyword(name: str, kind: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)


def query_field(operation: Operation, name: str) -> tuple[Any, Any]:
    """The type of an argument in a query, and its default."""
    kind, default = field_type(operation, name), operation.signature.parameters[name].default
    about = shapes.describe_argument(operation, name)
    if kind in (str, shapes.Id, shapes.Short):
        kind = Annotated[str, Field(max_length=LONGEST_IN_QUERY.get(name, 256))]
    return Annotated[kind | None if default is None else kind, Query(description=about)], default


def body_model(operation: Operation, names: list[str], is_chat: bool) -> Any:
    """The model of a body with these arguments."""
    fields: dict[str, Any] = {}
    for name in names:
        parameter = operation.signature.parameters[name]
        kind, default = field_type(operation, name), parameter.default
        if default is parameter.empty or (operation.name, name) in MUST_BE_NAMED:
            default = ...
        kind = kind | None if default is None else kind
        if isinstance(default, tuple):
            default = list(default)
        fields[name] = (kind, Field(default, description=shapes.describe_argument(operation, name)))
    if is_chat:
        fields["user"] = (shapes.Id | None, Field(None, description=CHAT_USER))
    shown = [name for name, (_, field) in fields.items() if field.is_required() or name in ("user", "dry_run")]
    example = {name: EXAMPLES[name] for name in shown if name in EXAMPLES}
    title = f"{operation.name.title().replace('_', '')}In"
    about = (inspect.getdoc(operation.method) or "").partition("\n\n")[0]
    base = type("Body", (shapes.RequestBody,), {"model_config": shapes.with_example(**example)})
    return create_model(title, __base__=base, __doc__=about, **fields)


def field_type(operation: Operation, name: str) -> Any:
    """What an argument may be on the wire, without that it may be left out."""
    if (stricter := STRICTER.get((operation.name, name))) is not None:
        return stricter
    if name in FIELDS:
        return FIELDS[name]
    hint = operation.types[name]
    kinds = [kind for kind in get_args(hint) if kind is not types.NoneType] or [hint]
    if timedelta in kinds:
        return Annotated[str, Field(max_length=64)]
    if datetime in kinds:
        return AwareDatetime
    return kinds[0] if types.NoneType in get_args(hint) and len(kinds) == 1 else hint


router = build_router()
