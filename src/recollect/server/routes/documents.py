"""Documents over HTTP: what programs keep under keys of their own, to be written over and removed.

A namespace is named by its names one after the other, `namespace=notes&namespace=alex`. Who changes what they have read
sends the tag that came with it: if somebody else was faster, nothing is done, and they read again. A key that is one
user's sees and changes documents of that user alone.

What is removed is gone. So the answers that are kept for whoever asks again say when, and not what: the rest of them is
in the request itself.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.responses import Response

from recollect.engine.documents import MAX_OFFSET, AsyncDocuments, all_of, apply_if
from recollect.errors import InvalidInput, NotFound
from recollect.model import Change, Document
from recollect.rules.access import Access
from recollect.rules.documents import documents as rules
from recollect.server.door.access import Here, may
from recollect.server.problems import Problem
from recollect.server.routes import document_shapes as shapes
from recollect.server.routes.answers import PAGE_BYTES, Brief, Count, Cursor, Once, once, out, tag_of
from recollect.server.routes.shapes import PATTERN, Id
from recollect.server.routes.spaces import Space
from recollect.wire import dumps

MAX_NAMES = 256  # no namespace that is short enough has more
MAX_CURSOR = 4_096  # a namespace, written as JSON

Key = Annotated[str, Path(description="The document's key.", max_length=256, json_schema_extra=PATTERN)]
Namespace = Annotated[
    list[Id], Query(description="The names of the namespace, outermost first.", min_length=1, max_length=MAX_NAMES)
]
Names = Annotated[list[Id], Query(description="Names in order; `*` stands for any one.", max_length=MAX_NAMES)]
After = Annotated[str | None, Query(description="The `next` of the page before.", max_length=MAX_CURSOR)]

router = APIRouter(prefix="/v1/spaces/{id:id}", tags=["documents"])


def within(scope: str) -> Any:
    """A dependency: where the caller is, if they have this right in the space that the path names."""
    entering = may(scope)

    def check(request: Request, id: Space, access: Access = entering) -> Here:
        return Here(request.app.state.memory, access, access.space(id), request)

    return Depends(check)


Reading = Annotated[Here, within("read")]
Writing = Annotated[Here, within("write")]


def documents_of(here: Here) -> AsyncDocuments:
    return AsyncDocuments(here.memory, here.space, here.access.user)


# -- reading


@router.get("/documents", response_model=shapes.DocumentPage)
async def documents(here: Reading, namespace: Namespace, cursor: Cursor = None, limit: Count = 100) -> Response:
    """The documents of one namespace, in order of key, with a tag of all of them."""
    kept = await all_of(documents_of(here), namespace)
    return await asyncio.to_thread(page_of, kept, cursor, limit)  # it may be a good deal to write


def page_of(kept: Mapping[str, Document], cursor: str | None, limit: int) -> Response:
    after = [key for key in sorted(kept) if cursor is None or key > cursor]
    items: list[Document] = []
    size = 0
    for key in after[:limit]:
        size += len(dumps(kept[key]))
        if items and size > PAGE_BYTES:
            break
        items.append(kept[key])
    more = len(items) < len(after)
    return out({"items": items, "next": items[-1].key if more else None, "tag": tag(kept)})


@router.get("/documents/{key:id}", response_model=shapes.Document)
async def document(here: Reading, key: Key, namespace: Namespace) -> Response:
    """The document under a key; 404 if there is none."""
    found = await documents_of(here).get(namespace, key)
    if found is None:
        raise NotFound(f"there is no document {key!r} in that namespace")
    return out(found)


@router.post("/document-search", response_model=list[shapes.Document])
async def search_documents(here: Reading, body: shapes.FindDocumentsIn) -> Response:
    """The documents of a namespace and of those below it: nearest to the query first, else the last changed."""
    where = None if body.where is None else rules.checked_where(body.where)
    asked = {"query": body.query, "where": where, "limit": body.limit, "offset": body.offset}
    return out(await documents_of(here).search(body.namespace, **asked))  # type: ignore[arg-type]


@router.get("/namespaces", response_model=shapes.NamespacePage)
async def namespaces(
    here: Reading,
    prefix: Names = [],  # noqa: B006  FastAPI copies it
    suffix: Names = [],  # noqa: B006
    depth: Annotated[int | None, Query(ge=1, le=MAX_OFFSET, description="Cut to so many names, each once.")] = None,
    cursor: After = None,
    limit: Count = 100,
) -> Response:
    """The namespaces that have documents, in order."""
    every = await documents_of(here).namespaces(prefix=prefix, suffix=suffix, depth=depth)
    last = names_of(cursor)
    after = [one for one in every if last is None or one > last]
    more = len(after) > limit
    return out({"items": after[:limit], "next": json.dumps(after[limit - 1]) if more else None})


def names_of(cursor: str | None) -> tuple[str, ...] | None:
    if cursor is None:
        return None
    try:
        names = json.loads(cursor)
        rules.joined(names)
    except (ValueError, RecursionError):
        raise InvalidInput("cursor", "is not one that a page gave as `next`") from None
    return tuple(names)


def tag(kept: Mapping[str, Document]) -> str:
    """What changes with any document of a namespace."""
    return tag_of(dumps([kept[key] for key in sorted(kept)])).strip('"')


# -- writing


@router.put("/documents/{key:id}", response_model=shapes.Document)
async def put_document(
    here: Writing, key: Key, namespace: Namespace, body: shapes.DocumentIn, once_key: Once = None
) -> Response:
    """Keep a JSON object under a key, in the place of the one that was there."""
    change = Change(tuple(namespace), key, body.value, here.access.own(body.user), texts_of(body.texts))
    brief = kept_briefly([change], here.space)

    async def work() -> Document:
        return (await documents_of(here).apply([change]))[0]

    return await once(here, once_key, work, Brief(lambda one: brief.told([one]), lambda kept: brief.again(kept)[0]))


@router.delete("/documents/{key:id}", response_model=shapes.Removed)
async def remove_document(here: Writing, key: Key, namespace: Namespace, once_key: Once = None) -> Response:
    """Take a document away, for good; says whether there was one."""

    async def work() -> dict[str, bool]:
        return {"removed": await documents_of(here).remove(namespace, key)}

    return await once(here, once_key, work)


@router.post("/documents", response_model=list[shapes.Document])
async def change_documents(here: Writing, body: shapes.ChangesIn, once_key: Once = None) -> Response:
    """Keep and remove several documents in one transaction; with a `tag`, only if the namespace is as it was (412).

    Returns those that are kept now, in the order given.
    """
    changes = [change_of(here, one) for one in body.changes]
    if (body.tag is None) != (body.namespace is None):
        raise InvalidInput("tag", "and `namespace` come together: the namespace that was read, and the tag it had")

    async def work() -> list[Document]:
        own = documents_of(here)
        if body.tag is None or body.namespace is None:
            return await own.apply(changes)
        done = await apply_if(own, body.namespace, lambda found: tag(found) == body.tag, changes)
        if done is None:
            raise Problem(412, "changed", "the namespace has changed since it was read; read it again")
        return done

    return await once(here, once_key, work, kept_briefly(changes, here.space))


def change_of(here: Here, one: shapes.ChangeIn) -> Change:
    user = None if one.value is None else here.access.own(one.user)
    return Change(tuple(one.namespace), one.key, one.value, user, texts_of(one.texts))


def texts_of(given: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if given is None else tuple(given)


def kept_briefly(changes: Sequence[Change], space: str) -> Brief:
    """When the documents were made and changed; what they say is in the changes, which come again."""

    def told(documents: Sequence[Document]) -> list[tuple[Any, Any]]:
        return [(one.created_at, one.updated_at) for one in documents]

    def again(kept: Sequence[Sequence[Any]]) -> list[Any]:
        stood = [rules.checked(change) for change in changes if change.value is not None]
        return [
            dict(zip(FIELDS, (space, one.namespace, one.key, one.value, one.user, *times, None), strict=True))
            for one, times in zip(stood, kept, strict=True)
        ]

    return Brief(told, again)


FIELDS = ("space", "namespace", "key", "value", "user", "created_at", "updated_at", "score")
