"""The typed requests and answers of the HTTP API: requests are models, answers are derived from our values.

A request refuses unknown fields: a misspelt one would have no effect and no error. An answer has the fields of the
value it is made of (`everword.wire` writes it), so the two cannot drift apart; the models here describe it.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime, timedelta
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints, create_model

from everword import model
from everword.server.routes.examples import EXAMPLES
from everword.wire import COMPUTED, LEFT_OUT

# An id is checked where it is used, with better messages; the pattern is for readers of the description.
LINE = r"\u0000-\u001f\u007f-\u009f\u2028\u2029"
PATTERN = {"pattern": rf"^[^{LINE}]*[^\s{LINE}][^{LINE}]*$"}
Id = Annotated[str, StringConstraints(min_length=1, max_length=256), Field(json_schema_extra=PATTERN)]
Short = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Name = Annotated[str, StringConstraints(max_length=256)]
Text = Annotated[str, StringConstraints(min_length=1)]
Limit = Annotated[int, Field(ge=1, le=1000)]
UNTIL = "When it is gone: a span from now, as in 10m, 2h or 7d, or a time with its offset."
Expires = Annotated[str | None, Field(max_length=64, description=UNTIL)]
MAX_BATCH = 1_000  # messages in one request


class RequestBody(BaseModel):
    """What all requests have in common."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=False)


def with_example(**example: Any) -> ConfigDict:
    return ConfigDict(extra="forbid", json_schema_extra={"examples": [example]})


# -- requests


class DraftIn(RequestBody):
    """A message on its way into the log."""

    model_config = with_example(role="user", content="My name is Alex and I prefer Python.")

    role: Literal["user", "assistant", "system", "tool"]
    content: str
    author: Id | None = None
    user: Id | None = Field(None, description="Whose memory it belongs to; the conversation's user if none is named.")
    time: AwareDatetime | None = Field(None, description="When it was said, with its offset; now if left out.")
    platform_id: Id | None = Field(None, description="The id another system gave it: the same one is kept once.")
    metadata: dict[str, Any] = Field(default_factory=dict)
    id: Id | None = None
    expires: Expires = None


class MessagesIn(RequestBody):
    """Messages for one conversation, in order: all are kept, or none."""

    model_config = with_example(user="alex", messages=[{"role": "user", "content": "I live in Berlin."}])

    user: Id | None = Field(None, description="Whose chat it is; left out for a channel of many.")
    messages: list[DraftIn] = Field(min_length=1, max_length=MAX_BATCH)
    on_edit: model.OnEdit = Field("refuse", description="Whether another text for a known message is a version of it.")


class BatchIn(MessagesIn):
    """Messages for one conversation of several."""

    model_config = with_example(
        conversation="demo", user="alex", messages=[{"role": "user", "content": "I live in Berlin."}]
    )

    conversation: Id


class BatchesIn(RequestBody):
    """Messages for several conversations: all are kept, or none."""

    batches: list[BatchIn] = Field(min_length=1, max_length=100)


class BudgetIn(RequestBody):
    """How many tokens a context may have, and how many of them each section."""

    model_config = with_example(total=8000, recent=3000)

    total: int = Field(30_000, ge=1, le=10_000_000)
    system: int = Field(2_000, ge=0, le=10_000_000)
    profile: int = Field(2_000, ge=0, le=10_000_000)
    summaries: int = Field(4_000, ge=0, le=10_000_000)
    retrieved: int = Field(2_000, ge=0, le=10_000_000)
    topic: int = Field(800, ge=0, le=10_000_000)
    recent: int | None = Field(10_000, ge=0, le=10_000_000)
    pairs: int = Field(4, ge=0, le=10_000)


class ContextIn(RequestBody):
    """What is to be answered, and how much the context may hold."""

    model_config = with_example(text="Which language for the example?", user="alex", budget="compact")

    text: str
    user: Id | None = None
    budget: BudgetIn | Literal["standard", "compact"] = "standard"
    system: str | None = None
    markers: bool = Field(True, description="Tell the model how to ask for more by markers, which `reply` serves.")


class ReplyIn(RequestBody):
    """A turn: what is said, and how the model is to be asked."""

    model_config = with_example(text="What is my name?", user="alex")

    text: str
    user: Id | None = None
    budget: BudgetIn | Literal["standard", "compact"] = "standard"
    system: str | None = None
    author: Id | None = None
    platform_id: Id | None = None
    stream: bool = Field(False, description="Answer by server-sent events, piece by piece.")


class SaidIn(RequestBody):
    """A message for its topic."""

    model_config = with_example(role="user", text="Which trains go to Lisbon?", user="alex")

    role: Literal["user", "assistant"]
    text: str
    user: Id | None = None
    importance: float = Field(0.5, ge=0, le=1)
    author: Id | None = None
    time: AwareDatetime | None = None


class EditIn(RequestBody):
    """What a message says now."""

    model_config = with_example(text="I live in Leiden.", user="alex")

    text: str
    user: Id | None = Field(None, description="Whose chat it is; left out for a channel of many.")
    metadata: dict[str, Any] | None = Field(None, description="New metadata; left out, those it has stay.")


class SettleIn(RequestBody):
    """How long to wait for views to catch up."""

    model_config = with_example(timeout=10)

    timeout: float = Field(10.0, gt=0, le=300)


# -- answers

_models: dict[Any, Any] = {}


def answer_model(kind: Any) -> Any:
    """The model that describes a kind of value on the wire."""
    if kind not in _models:
        hints = get_type_hints(kind)
        left_out = LEFT_OUT.get(kind, ())
        # An answer always has all fields, also those with a default.
        field_types: dict[str, Any] = {
            field.name: (wire_type(hints[field.name]), ...) for field in fields(kind) if field.name not in left_out
        }
        field_types |= {name: (COMPUTED_HINTS[name], ...) for name in COMPUTED.get(kind, ())}
        _models[kind] = create_model(
            kind.__name__, __doc__=kind.__doc__, __config__=example_config(kind), **field_types
        )
    return _models[kind]


def example_config(kind: Any) -> ConfigDict:
    example = EXAMPLES.get(kind)
    return ConfigDict(json_schema_extra={"examples": [example]}) if example is not None else ConfigDict()


COMPUTED_HINTS: dict[str, Any] = {"id": str, "found": bool}


def wire_type(hint: Any) -> Any:
    """A type as it is on the wire: our values as their models."""
    origin = get_origin(hint)
    inner = get_args(hint)
    if is_dataclass(hint):
        return WRITTEN.get(hint) or answer_model(hint)
    if hint in WRITTEN:
        return WRITTEN[hint]
    if hint is timedelta:
        return Annotated[float, Field(description="seconds")]
    if hint in (datetime, date) or hint is Any or origin is Literal:
        return hint
    if origin in (Union, types.UnionType):
        return reduce(or_, (wire_type(part) for part in inner))
    if origin in (tuple, list):
        if origin is tuple and inner[-1:] != (...,):
            return tuple.__class_getitem__(tuple(wire_type(part) for part in inner))
        return list[wire_type(inner[0])]  # type: ignore[misc]
    if origin in (dict, Mapping):
        return dict[str, wire_type(inner[1])]  # type: ignore[misc]
    return hint


class ExtractLineOut(BaseModel):
    """A sentence of a summary, with the turn it is from, who said it and when."""

    model_config = ConfigDict(title="ExtractLine")

    turn: int
    role: str
    author: str
    text: str
    time: datetime | None
    kind: str
    leans: int


class EpisodeOut(BaseModel):
    """A summary of a run of turns, or of episodes of the level below, which are its `parts`."""

    model_config = ConfigDict(title="Episode")

    id: str
    space: str
    conversation: str
    level: int
    first: int
    last: int
    began: datetime
    ended: datetime
    summary: str
    made_by: str
    pending: bool
    active: bool
    parts: list[EpisodeOut]
    lines: list[ExtractLineOut]


class ChatMessageShape(BaseModel):
    """The shape every chat model takes."""

    __qualname__ = "ChatMessage"  # in the description, as it always was
    model_config = ConfigDict(title="ChatMessage")

    role: str
    content: str


WRITTEN: dict[Any, Any] = {model.Episode: EpisodeOut, model.ChatMessage: ChatMessageShape}

Message = answer_model(model.Message)
Added = answer_model(model.Added)
Conversation = answer_model(model.Conversation)
Context = answer_model(model.Context)
Reply = answer_model(model.Reply)
Topic = answer_model(model.Topic)
Deletion = answer_model(model.Deletion)


def page_model(kind: Any) -> Any:
    """Some of a list, and where the rest begins."""
    name = f"{kind.__name__}Page".replace("OutPage", "Page")
    if name not in _models:
        cursor = Field(None, description="Send it as `cursor` to go on; null if this was all.")
        about = f"A page of {name.removesuffix('Page').lower()}s."
        _models[name] = create_model(name, __doc__=about, items=(list[kind], ...), next=(str | None, cursor))
    return _models[name]


class SpaceOut(BaseModel):
    """A space."""

    model_config = ConfigDict(title="Space")

    space: str


class Settled(BaseModel):
    """Every view has caught up with the log, but for messages that views failed on and have set aside: so many of this
    space."""

    done: bool
    set_aside: int


class Done(BaseModel):
    """It is done."""

    done: bool = True


class ProblemOut(BaseModel):
    """What went wrong (RFC 9457): `detail` for a person, `code` for a program."""

    model_config = ConfigDict(
        title="Problem",
        json_schema_extra={
            "examples": [
                {
                    "type": "about:blank",
                    "title": "Not Found",
                    "status": 404,
                    "detail": "there is no message 'x' in space 'default'",
                    "code": "not_found",
                }
            ]
        },
    )

    type: str
    title: str
    status: int
    detail: str
    code: str
    errors: list[dict[str, str]] | None = None
