"""Documents on the wire, typed as all else in `shapes`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints, create_model

from recollect import model
from recollect.memory.documents import MAX_LIMIT, MAX_OFFSET
from recollect.server.routes.shapes import MAX_BATCH, Expires, Id, RequestBody, answer_model, page_model, with_example

# -- requests


class DocumentIn(RequestBody):
    """A JSON object to be kept under a key."""

    model_config = with_example(value={"text": "Alex has an otter", "stars": 5}, user="alex")

    value: dict[str, Any]
    user: Id | None = Field(None, description="Whose it is: an erasure takes it with all else of theirs.")
    texts: list[str] | None = Field(None, description="What it is found by, in place of all that the value says.")
    expires: Expires = None


class ChangeIn(RequestBody):
    """A document to be kept, or without a value, to be removed."""

    model_config = with_example(namespace=["notes", "alex"], key="pets", value={"text": "Alex has an otter"})

    namespace: list[Id] = Field(min_length=1)
    key: Id
    value: dict[str, Any] | None = None
    user: Id | None = None
    texts: list[str] | None = None
    expires: Expires = None


class ChangesIn(RequestBody):
    """Changes of documents: all are made, or none; with a `tag`, only if the namespace is as it was."""

    model_config = with_example(changes=[{"namespace": ["notes", "alex"], "key": "pets", "value": None}])

    changes: list[ChangeIn] = Field(min_length=1, max_length=MAX_BATCH)
    namespace: list[Id] | None = Field(None, description="The namespace the tag is of.")
    tag: Annotated[str, StringConstraints(max_length=64)] | None = Field(
        None, description="The `tag` it had when you read it; if it has changed since, nothing is done (412)."
    )


class FindDocumentsIn(RequestBody):
    """Which documents are looked for: those of a namespace and of those below it."""

    model_config = with_example(namespace=["notes"], query="animals at home", where={"stars": {"$gte": 4}}, limit=5)

    namespace: list[Id] = Field(default_factory=list)
    query: str | None = None
    where: dict[str, Any] | None = Field(None, description="What values must have: `$eq $ne $gt $gte $lt $lte`.")
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 10
    offset: Annotated[int, Field(ge=0, le=MAX_OFFSET)] = 0


# -- answers

Document = answer_model(model.Document)
DocumentPage = create_model(
    "DocumentPage",
    __doc__="Some of the documents of a namespace, in order of key; the `tag` is of all of them.",
    __base__=page_model(Document),
    tag=(str, Field(description="Send it with changes that are right only as long as the namespace is as it is.")),
)


class NamespacePage(BaseModel):
    """A page of namespaces."""

    items: list[list[str]]
    next: str | None = Field(None, description="Send it as `cursor` to go on; null if this was all.")


class Removed(BaseModel):
    """Whether there was something to remove."""

    removed: bool
