"""The typed requests and answers of the HTTP API: requests are models, answers are derived from our values.

A request refuses unknown fields: a misspelt one would have no effect and no error. An answer has the fields of the
value it is made of (`everword.values_to_json` writes it), so the two cannot drift apart; the models here describe it.
"""

from __future__ import annotations

import tomllib
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime, timedelta
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Annotated, Any, ForwardRef, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints, create_model

from everword import model
from everword.log.operation_declarations import Operation
from everword.values_to_json import COMPUTED, LEFT_OUT, to_json_value

# An id is checked where it is used, with better messages; the pattern is for readers of the description.
LINE = r"\u0000-\u001f\u007f-\u009f\u2028\u2029"
PATTERN = {"pattern": rf"^[^{LINE}]*[^\s{LINE}][^{LINE}]*$"}
Id = Annotated[str, StringConstraints(min_length=1, max_length=256), Field(json_schema_extra=PATTERN)]
Short = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Name = Annotated[str, StringConstraints(max_length=256)]
Text = Annotated[str, StringConstraints(min_length=1)]
Limit = Annotated[int, Field(ge=1, le=1000)]
DESCRIPTIONS: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("descriptions.toml").read_text(encoding="utf-8")
)


def describe_argument(operation: Operation, name: str) -> str:
    """What an argument of an operation is."""
    special: str | None = DESCRIPTIONS["arguments_of"].get(f"{operation.method.__name__}.{name}")
    return special or DESCRIPTIONS["arguments"].get(name, "")


UNTIL: str = DESCRIPTIONS["arguments"]["expires"]
Expires = Annotated[str | None, Field(max_length=64, description=UNTIL)]
MAX_BATCH = 1_000  # messages in one request
LARGEST = {"pairs": 10_000}  # of a budget; of what is counted in tokens 10,000,000


class RequestBody(BaseModel):
    """What all requests have in common."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=False)


def with_example(**example: Any) -> ConfigDict:
    return ConfigDict(extra="forbid", json_schema_extra={"examples": [example]})


# -- requests


class DraftIn(RequestBody):
    """A message to store."""

    model_config = with_example(role="user", content="My name is Alex and I prefer Python.")

    role: Literal["user", "assistant", "system", "tool"]
    content: str
    author: Id | None = None
    user: Id | None = Field(
        None, description="The user whose memory the message belongs to. Default: the conversation's user."
    )
    time: AwareDatetime | None = Field(
        None, description="When the message was said, with its UTC offset. Default: now."
    )
    platform_id: Id | None = Field(
        None,
        description="The message's id in another system. A message whose id is already stored is not stored again.",
    )
    metadata: dict[str, Any] = Field(default_factory=dict)
    id: Id | None = None
    expires: Expires = None
    reply_to: Id | None = Field(None, description="The id or platform id of the message that the new message answers.")


class MessagesIn(RequestBody):
    """Messages for one conversation, in order: either all are stored or none."""

    model_config = with_example(user="alex", messages=[{"role": "user", "content": "I live in Berlin."}])

    user: Id | None = Field(None, description="The owner of the chat. For a channel (group chat), leave out `user`.")
    messages: list[DraftIn] = Field(min_length=1, max_length=MAX_BATCH)
    on_edit: model.OnEdit = Field(
        "refuse",
        description="What to do if a message is already stored with a different text: refuse the new text, or store it "
        "as a new version.",
    )


class BatchIn(MessagesIn):
    """Messages for one conversation of several."""

    model_config = with_example(
        conversation="demo", user="alex", messages=[{"role": "user", "content": "I live in Berlin."}]
    )

    conversation: Id


class BatchesIn(RequestBody):
    """Messages for several conversations: either all are stored or none."""

    batches: list[BatchIn] = Field(min_length=1, max_length=100)


BUDGET_FIELDS: dict[str, Any] = {
    name: (kind, Field(getattr(model.Budget(), name), ge=int(name == "total"), le=LARGEST.get(name, 10_000_000)))
    for name, kind in get_type_hints(model.Budget).items()
    if kind is not bool
} | {
    "fixed": (bool, model.Budget().fixed),
}
BudgetIn: Any = create_model(
    "BudgetIn",
    __doc__="How many tokens a context may have, and how many of them each section.",
    __base__=type("Body", (RequestBody,), {"model_config": with_example(total=8000, recent=3000)}),
    **BUDGET_FIELDS,
)


class ContextIn(RequestBody):
    """What is to be answered, and how much the context may hold."""

    model_config = with_example(text="Which language for the example?", user="alex", budget="compact")

    text: str
    user: Id | None = None
    budget: BudgetIn | Literal["standard", "compact"] = "standard"
    system: str | None = None
    markers: bool = Field(
        True, description="Whether the context tells the model how to ask for more (by markers in its reply)."
    )


class ReplyIn(RequestBody):
    """A turn: what is said, and how the model is to be asked."""

    model_config = with_example(text="What is my name?", user="alex")

    text: str
    user: Id | None = None
    budget: BudgetIn | Literal["standard", "compact"] = "standard"
    system: str | None = None
    author: Id | None = None
    platform_id: Id | None = None
    stream: bool = Field(False, description="Whether to send the reply in pieces, as server-sent events.")


class SaidIn(RequestBody):
    """A message for its topic."""

    model_config = with_example(role="user", text="Which trains go to Lisbon?", user="alex")

    role: Literal["user", "assistant"] = Field(description="user or assistant.")
    text: str = Field(description="The text of the message.")
    user: Id | None = None
    importance: float = Field(0.5, ge=0, le=1)
    author: Id | None = None
    time: AwareDatetime | None = None


class SettleIn(RequestBody):
    """How long to wait for views to catch up."""

    model_config = with_example(timeout=10)

    timeout: float = Field(10.0, gt=0, le=300)


# -- an example of each kind of answer

THEN = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)

MESSAGE = model.Message("default", "demo", 1, "01jd3x8k2m9q4r7t5v6w", "user", "alex", "alex", "I live in Berlin.", THEN)
FACT = model.Fact(
    "default", "alex", "f1", "identity", "city", "Berlin", 0.9, 0.8, "alex", "demo", 1, THEN, THEN, (MESSAGE.id,)
)
STATEMENT = model.Statement("default", "alex", "s1", "Alex lives in Berlin.", "alex", THEN, (MESSAGE.id,))
TOPIC = model.Topic(
    "t1", "Moving to Berlin", "", "short-term", timedelta(days=1), 0.5, 0.5, 1, 2, 0, THEN, THEN, current=True
)
DIGEST = model.Digest("default", "alex", "day", date(2026, 3, 1), date(2026, 3, 1), "Alex moved.", "offline", THEN)
DOCUMENT = model.Document("default", ("notes", "alex"), "pets", {"text": "Alex has an otter"}, "alex", THEN, THEN)
RECEIPT = model.Receipt(
    "o200k_base",
    model.Budget.compact(),
    120,
    (model.Section("recent", 12, (model.Item(MESSAGE.id, 12, "one of the last 4 exchanges"),)),),
)
SAMPLES: tuple[Any, ...] = (
    MESSAGE,
    FACT,
    STATEMENT,
    TOPIC,
    DIGEST,
    DOCUMENT,
    RECEIPT,
    model.Added(MESSAGE, True),
    model.Conversation("default", "demo", "alex", THEN, THEN, 1, last_message_at=THEN, title="A first example"),
    model.Hit(MESSAGE, 1.7, {"words": 1.0, "meaning": 0.7}),
    model.Context([{"role": "user", "content": "Which language for the example?"}], RECEIPT),
    model.Reply("Your name is Alex.", MESSAGE, RECEIPT, (model.Round(1, (), (), (), 120, 6, "a-model"),)),
    model.Forgotten("01jd3x8k2m9q4r7t5v6w", (STATEMENT,), (FACT,)),
    model.FactChange("01jd3x8k2m9q4r7t5v6w", "add", "alex", THEN, FACT),
    model.MemoryAnswer("Alex lives in Berlin.", True, "model", (FACT,), (MESSAGE,), "alex"),
    model.Erasure("01jd3x8k2m9q4r7t5v6w", "default", THEN, 12, 2, 12),
)
EXAMPLES: dict[Any, Any] = {type(sample): to_json_value(sample) for sample in SAMPLES}


# -- answers

_models: dict[Any, Any] = {}


def answer_model(kind: Any) -> Any:
    """The model that describes a kind of value on the wire."""
    if kind not in _models:
        _models[kind] = ForwardRef(kind.__name__)  # until it is made: an episode has parts that are episodes
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


class ChatMessageShape(BaseModel):
    """The shape every chat model takes."""

    __qualname__ = "ChatMessage"  # in the description, as it always was
    model_config = ConfigDict(title="ChatMessage")

    role: str
    content: str


WRITTEN: dict[Any, Any] = {model.ChatMessage: ChatMessageShape}

Message = answer_model(model.Message)
Added = answer_model(model.Added)
Conversation = answer_model(model.Conversation)
Context = answer_model(model.Context)
Reply = answer_model(model.Reply)
Topic = answer_model(model.Topic)
Deletion = answer_model(model.Deletion)


def page_model(kind: Any) -> Any:
    """Some of a list, and where the rest begins."""
    name = f"{kind.__name__}Page"
    if name not in _models:
        cursor = Field(None, description="For the next page, send this as `cursor`. Null on the last page.")
        about = f"A page of {name.removesuffix('Page').lower()}s."
        _models[name] = create_model(name, __doc__=about, items=(list[kind], ...), next=(str | None, cursor))
    return _models[name]


class SpaceOut(BaseModel):
    """A space."""

    model_config = ConfigDict(title="Space")

    space: str


class Settled(BaseModel):
    """Every view has caught up with the log. `set_aside` counts this space's messages that were skipped because a view
    failed on them."""

    done: bool
    set_aside: int


class Done(BaseModel):
    """The work is done."""

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
