"""Documents over HTTP: what programs store under keys of their own, to be overwritten and removed.

A namespace is given by its names in order, `namespace=notes&namespace=alex`. A program that changes what it has read
sends the tag that came with it: if the namespace has changed meanwhile, nothing is done, and the program reads again. A
key of one user sees and changes only documents of that user.

A removed document must leave no copy. So the answers stored for repeated requests contain only times, not values: the
rest of them is in the request itself.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field, StringConstraints, create_model
from starlette.responses import Response

from everword import documents as rules
from everword.errors import InvalidInput, NotFound
from everword.log.checks_and_seals import parse_expiry
from everword.memory.operations.documents import MAX_OFFSET, AsyncDocuments, apply_if_unchanged, documents_in
from everword.model import Change, Document
from everword.server.access import Caller, caller_in_path_space
from everword.server.problems import Problem
from everword.server.routes import shapes
from everword.server.routes.answers import (
    PAGE_BYTES,
    Count,
    Cursor,
    IdempotencyKey,
    StoredForm,
    answer_once,
    etag_of,
    json_response,
)
from everword.server.routes.from_declarations import MAX_NAMESPACE
from everword.server.routes.shapes import PATTERN, Id
from everword.strict_json import read_json
from everword.values_to_json import dumps

MAX_CURSOR = 4_096  # a namespace, written as JSON

Key = Annotated[str, Path(description="The document's key.", max_length=256, json_schema_extra=PATTERN)]
Namespace = Annotated[
    list[Id], Query(description="The parts of the namespace, outermost first.", min_length=1, max_length=MAX_NAMESPACE)
]
Names = Annotated[list[Id], Query(description="Names in order; `*` stands for any name.", max_length=MAX_NAMESPACE)]
After = Annotated[
    str | None, Query(description="Where to continue: `next` from the previous page.", max_length=MAX_CURSOR)
]

router = APIRouter(prefix="/v1/spaces/{id:id}", tags=["documents"])


class DocumentIn(shapes.RequestBody):
    """A JSON object to store under a key."""

    model_config = shapes.with_example(value={"text": "Alex has an otter", "stars": 5}, user="alex")

    value: dict[str, Any] = Field(description="A JSON object.")
    user: Id | None = Field(None, description="The document's owner. `erase` removes the owner's documents.")
    texts: list[str] | None = Field(
        None, description="The texts by which search finds the document. Default: all texts in `value`."
    )
    expires: shapes.Expires = None


class ChangeIn(shapes.RequestBody):
    """A document to store or, without a value, to remove."""

    model_config = shapes.with_example(namespace=["notes", "alex"], key="pets", value={"text": "Alex has an otter"})

    namespace: list[Id] = Field(min_length=1)
    key: Id
    value: dict[str, Any] | None = None
    user: Id | None = None
    texts: list[str] | None = None
    expires: shapes.Expires = None


class ChangesIn(shapes.RequestBody):
    """Changes of documents: all are made, or none; with a `tag`, only if the namespace is as it was."""

    model_config = shapes.with_example(changes=[{"namespace": ["notes", "alex"], "key": "pets", "value": None}])

    changes: list[ChangeIn] = Field(min_length=1, max_length=shapes.MAX_BATCH)
    namespace: list[Id] | None = Field(None, description="The namespace that `tag` belongs to.")
    tag: Annotated[str, StringConstraints(max_length=64)] | None = Field(
        None,
        description="The namespace's `tag` when you read it. If the tag has changed since, nothing is stored (412).",
    )


# -- answers

DocumentOut: Any = shapes.answer_model(Document)
DocumentPage = create_model(
    "DocumentPage",
    __doc__="A page of the documents of a namespace, ordered by key. The `tag` is for the whole namespace.",
    __base__=shapes.page_model(DocumentOut),
    tag=(
        str,
        Field(description="Send this `tag` with changes that you want only if the namespace is still unchanged."),
    ),
)


class NamespacePage(BaseModel):
    """A page of namespaces."""

    items: list[list[str]]
    next: str | None = Field(None, description="For the next page, send this as `cursor`. Null on the last page.")


# -- reading


def documents_of(caller: Caller) -> AsyncDocuments:
    return caller.memory.documents(space=caller.space)


@router.get("/documents", response_model=DocumentPage)
async def documents(
    caller: Annotated[Caller, caller_in_path_space("documents")],
    namespace: Namespace,
    cursor: Cursor = None,
    limit: Count = 100,
) -> Response:
    """List the documents of one namespace, ordered by key. The answer also has a `tag`, which changes when any document
    of the namespace changes."""
    by_key = await documents_in(documents_of(caller), namespace)
    return await asyncio.to_thread(document_page, by_key, cursor, limit)  # it may be large


def document_page(by_key: Mapping[str, Document], cursor: str | None, limit: int) -> Response:
    after = [key for key in sorted(by_key) if cursor is None or key > cursor]
    items: list[Document] = []
    size = 0
    for key in after[:limit]:
        size += len(dumps(by_key[key]))
        if items and size > PAGE_BYTES:
            break
        items.append(by_key[key])
    has_more = len(items) < len(after)
    return json_response({"items": items, "next": items[-1].key if has_more else None, "tag": namespace_tag(by_key)})


@router.get("/documents/{key:id}", response_model=DocumentOut)
async def document(
    caller: Annotated[Caller, caller_in_path_space("document")], key: Key, namespace: Namespace
) -> Response:
    """Get the document that is stored under a key. If no document is stored under the key, the status is 404."""
    result = await documents_of(caller).get(namespace, key)
    if result is None:
        raise NotFound(f"the namespace has no document with the key {key!r}")
    return json_response(result)


@router.get("/namespaces", response_model=NamespacePage)
async def namespaces(
    caller: Annotated[Caller, caller_in_path_space("namespaces")],
    prefix: Names = [],  # noqa: B006  FastAPI copies it
    suffix: Names = [],  # noqa: B006
    depth: Annotated[
        int | None, Query(ge=1, le=MAX_OFFSET, description="Shorten the listed namespaces to this many parts.")
    ] = None,
    cursor: After = None,
    limit: Count = 100,
) -> Response:
    """List the namespaces that have documents, in order."""
    all_names = await documents_of(caller).namespaces(prefix=prefix, suffix=suffix, depth=depth)
    last = names_of(cursor)
    after = [names for names in all_names if last is None or names > last]
    has_more = len(after) > limit
    return json_response({"items": after[:limit], "next": json.dumps(after[limit - 1]) if has_more else None})


def names_of(cursor: str | None) -> tuple[str, ...] | None:
    if cursor is None:
        return None
    try:
        names = read_json(cursor)
        rules.join_namespace(names)
    except ValueError:
        raise InvalidInput("cursor", "must be the `next` value of an earlier page") from None
    return tuple(names)


def namespace_tag(by_key: Mapping[str, Document]) -> str:
    """A tag that changes with any document of a namespace."""
    return etag_of(dumps([by_key[key] for key in sorted(by_key)])).strip('"')


# -- writing


@router.put("/documents/{key:id}", response_model=DocumentOut)
async def put_document(
    caller: Annotated[Caller, caller_in_path_space("put_documents")],
    key: Key,
    namespace: Namespace,
    body: DocumentIn,
    once_key: IdempotencyKey = None,
) -> Response:
    """Store a JSON object under a key, and replace any document that is stored under the key."""
    user = caller.access.resolve_user(body.user)
    expires = parse_expiry("expires", body.expires)
    change = Change(tuple(namespace), key, body.value, user, texts_of(body.texts), expires)

    async def put() -> Document:
        return (await apply_visibly(caller, [change]))[0]

    return await answer_once(caller, once_key, put(), DocumentTimes([change], caller.space), "nothing")


@router.post("/documents", response_model=shapes.wire_type(list[Document]))
async def change_documents(
    caller: Annotated[Caller, caller_in_path_space("put_documents")],
    body: ChangesIn,
    once_key: IdempotencyKey = None,
) -> Response:
    """Store and remove several documents in one transaction. With a `tag`, everword makes the changes only if the
    namespace has not changed since you read the tag. If the namespace has changed, the status is 412.

    Returns the documents that the request stored, in the order of `changes`.
    """
    changes = [change_of(caller, change) for change in body.changes]
    if (body.tag is None) != (body.namespace is None):
        raise InvalidInput(
            "tag", "must be given together with `namespace`; a `tag` identifies a state of the namespace"
        )

    work = apply_visibly(caller, changes, body.namespace, body.tag)
    return await answer_once(caller, once_key, work, DocumentTimes(changes, caller.space, is_list=True), "nothing")


async def apply_visibly(
    caller: Caller, changes: Sequence[Change], namespace: Sequence[str] | None = None, tag: str | None = None
) -> list[Document]:
    """Make changes; with the tag of a namespace, if it is as it was. Without the right to read, a caller is not told
    since when there was a document under a key."""
    store = documents_of(caller)
    if namespace is None:
        documents: list[Document] | None = await store.apply(changes)
    else:
        documents = await apply_if_unchanged(store, namespace, lambda by_key: namespace_tag(by_key) == tag, changes)
    if documents is None:
        raise Problem(412, "changed", "the namespace has changed since you read it; read the namespace again")
    if caller.access.is_reader:
        return documents
    return [replace(document, created_at=document.updated_at) for document in documents]


def change_of(caller: Caller, change: ChangeIn) -> Change:
    user = None if change.value is None else caller.access.resolve_user(change.user)
    texts = texts_of(change.texts)
    expires = parse_expiry("expires", change.expires)
    return Change(tuple(change.namespace), change.key, change.value, user, texts, expires)


def texts_of(texts: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if texts is None else tuple(texts)


class DocumentTimes(StoredForm):
    """Stores only when documents were made, were changed and expire; their values are in the changes, which come
    again."""

    def __init__(self, changes: Sequence[Change], space: str, *, is_list: bool = False) -> None:
        self._changes = changes
        self._space = space
        self._is_list = is_list

    def shorten(self, answer: Any) -> list[tuple[Any, ...]]:
        documents = answer if self._is_list else [answer]
        return [tuple(getattr(document, name) for name in TIMES) for document in documents]

    async def restore(self, value: Sequence[Sequence[Any]]) -> Any:
        kept_changes = [rules.check_change(change) for change in self._changes if change.value is not None]
        documents = [
            {"space": self._space, **{name: getattr(change, name) for name in FIELDS}}
            | dict(zip_longest(TIMES, times))  # an older version stored two of them
            | {"score": None}
            for change, times in zip(kept_changes, value, strict=True)
        ]
        return documents if self._is_list else documents[0]


FIELDS = ("namespace", "key", "value", "user")
TIMES = ("created_at", "updated_at", "expires_at")
