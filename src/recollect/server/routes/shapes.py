"""The typed requests and answers of the HTTP API: requests are models, answers are derived from our values.

A request refuses unknown fields: a misspelt one would have no effect and no error. An answer has the fields of the
value it is made of (`recollect.wire` writes it), so the two cannot drift apart; the models here describe it.
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

from recollect import model
from recollect.engine.commands import MAX_NAMES, Answer
from recollect.rules.people import names
from recollect.server.routes.examples import EXAMPLES
from recollect.wire import COMPUTED, LEFT_OUT

# An id is checked where it is used, with better messages; the pattern is for readers of the description.
LINE = r"\u0000-\u001f\u007f-\u009f\u2028\u2029"
PATTERN = {"pattern": rf"^[^{LINE}]*[^\s{LINE}][^{LINE}]*$"}
Id = Annotated[str, StringConstraints(min_length=1, max_length=256), Field(json_schema_extra=PATTERN)]
Name = Annotated[str, StringConstraints(max_length=256)]
Text = Annotated[str, StringConstraints(min_length=1)]
Limit = Annotated[int, Field(ge=1, le=1000)]
MAX_BATCH = 1_000  # messages in one request


class Body(BaseModel):
    """What all requests have in common."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=False)


def shown(**example: Any) -> ConfigDict:
    return ConfigDict(extra="forbid", json_schema_extra={"examples": [example]})


# -- requests


class DraftIn(Body):
    """A message on its way into the log."""

    model_config = shown(role="user", content="My name is Alex and I prefer Python.")

    role: Literal["user", "assistant", "system", "tool"]
    content: str
    author: Id | None = None
    user: Id | None = Field(None, description="Whose memory it belongs to; the conversation's user if none is named.")
    time: AwareDatetime | None = Field(None, description="When it was said, with its offset; now if left out.")
    platform_id: Id | None = Field(None, description="The id another system gave it: the same one is kept once.")
    metadata: dict[str, Any] = Field(default_factory=dict)
    id: Id | None = None


class MessagesIn(Body):
    """Messages for one conversation, in order: all are kept, or none."""

    model_config = shown(user="alex", messages=[{"role": "user", "content": "I live in Berlin."}])

    user: Id | None = Field(None, description="Whose chat it is; left out for a channel of many.")
    messages: list[DraftIn] = Field(min_length=1, max_length=MAX_BATCH)


class BatchIn(MessagesIn):
    """Messages for one conversation of several."""

    model_config = shown(conversation="demo", user="alex", messages=[{"role": "user", "content": "I live in Berlin."}])

    conversation: Id


class BatchesIn(Body):
    """Messages for several conversations: all are kept, or none."""

    batches: list[BatchIn] = Field(min_length=1, max_length=100)


class BudgetIn(Body):
    """How many tokens a context may have, and how many of them each section."""

    model_config = shown(total=8000, recent=3000)

    total: int = Field(30_000, ge=1, le=10_000_000)
    system: int = Field(2_000, ge=0, le=10_000_000)
    profile: int = Field(2_000, ge=0, le=10_000_000)
    summaries: int = Field(4_000, ge=0, le=10_000_000)
    retrieved: int = Field(2_000, ge=0, le=10_000_000)
    topic: int = Field(800, ge=0, le=10_000_000)
    recent: int | None = Field(10_000, ge=0, le=10_000_000)
    pairs: int = Field(4, ge=0, le=10_000)


class ContextIn(Body):
    """What is to be answered, and how much the context may hold."""

    model_config = shown(text="Which language for the example?", user="alex", budget="compact")

    text: str
    user: Id | None = None
    budget: BudgetIn | Literal["standard", "compact"] = "standard"
    system: str | None = None
    markers: bool = Field(True, description="Tell the model how to ask for more by markers, which `reply` serves.")


class ReplyIn(Body):
    """A turn: what is said, and how the model is to be asked."""

    model_config = shown(text="What is my name?", user="alex")

    text: str
    user: Id | None = None
    budget: BudgetIn | Literal["standard", "compact"] = "standard"
    system: str | None = None
    author: Id | None = None
    platform_id: Id | None = None
    stream: bool = Field(False, description="Answer by server-sent events, piece by piece.")


class SearchIn(Body):
    """What is looked for, and where."""

    model_config = shown(query="databases", user="alex", limit=5)

    query: str
    user: Id | None = None
    conversation: Id | None = None
    role: Literal["user", "assistant", "system", "tool"] | None = None
    after: AwareDatetime | None = None
    before: AwareDatetime | None = None
    limit: Limit = 10


class CommandIn(Body):
    """A message that may be a command to the memory."""

    model_config = shown(text="Recollect, remember that I live in Berlin", user="alex")

    text: str
    user: Id | None = None
    author: Id | None = None
    names: list[Name] = Field(default=["recollect", "bot"], max_length=MAX_NAMES)
    addressed: bool = False


class QuestionIn(Body):
    """A question that may lean on what was said before."""

    model_config = shown(question="And the second one?", user="alex")

    question: str
    user: Id | None = None


class SaidIn(Body):
    """A message for its topic."""

    model_config = shown(role="user", text="Which trains go to Lisbon?", user="alex")

    role: Literal["user", "assistant"]
    text: str
    user: Id | None = None
    importance: float = Field(0.5, ge=0, le=1)
    author: Id | None = None
    time: AwareDatetime | None = None


class UserIn(Body):
    """Whose conversation it is, if it is one person's."""

    user: Id | None = None


class MergeIn(UserIn):
    """The topic that becomes part of another."""

    model_config = shown(other="t7", user="alex")

    other: Id


class TagsIn(UserIn):
    """Tags of one's own for a topic."""

    model_config = shown(tags=["travel"], user="alex")

    tags: list[str] = Field(min_length=1, max_length=50)
    remove: bool = False


class FeedbackIn(UserIn):
    """Whether a topic matters."""

    model_config = shown(score=1, user="alex")

    score: Literal[1, -1]


class RememberIn(Body):
    """Something to keep about a person, in plain words."""

    model_config = shown(text="Alex lives in Berlin")

    text: str
    speaker: Id | None = Field(None, description="Who says it: the person themselves, if nobody is named.")
    message: Id | None = Field(None, description="The message in the log that asked for it.")


class ForgetIn(Body):
    """Something to take out of a person's profile, in plain words."""

    model_config = shown(what="lives in Berlin")

    what: str
    speaker: Id | None = None
    message: Id | None = None


class UndoIn(Body):
    """The id that `forget` gave."""

    model_config = shown(id="01jd3x8k2m9q4r7t5v6w")

    id: Id


class NameIn(Body):
    """What else a person goes by."""

    model_config = shown(name="Al", kind="nickname")

    name: Id
    kind: Literal["display", "nickname", "alias", "mention"] = "alias"


class ZoneIn(Body):
    """Where a space's days begin and end."""

    model_config = shown(name="Europe/Berlin")

    name: Id


class SettleIn(Body):
    """How long to wait for views to catch up."""

    model_config = shown(timeout=10)

    timeout: float = Field(10.0, gt=0, le=300)


class RebuildIn(Body):
    """The view to build again from the log."""

    model_config = shown(view="facts")

    view: Id


class RetryIn(Body):
    """Which messages to try again that views have set aside: of one view, of one conversation, or all of the space."""

    model_config = shown(view="facts")

    view: Id | None = None
    conversation: Id | None = None


class RetainIn(Body):
    """Whether to remove what is over, or only to say what would go."""

    model_config = shown(dry_run=True)

    dry_run: bool = True


# -- answers

_models: dict[Any, Any] = {}


def shape(kind: Any) -> Any:
    """The model that describes a kind of value on the wire."""
    if kind not in _models:
        hints = get_type_hints(kind)
        left_out = LEFT_OUT.get(kind, ())
        # An answer always has all fields, also those with a default.
        field_types: dict[str, Any] = {
            field.name: (described(hints[field.name]), ...) for field in fields(kind) if field.name not in left_out
        }
        field_types |= {name: (COMPUTED_HINTS[name], ...) for name in COMPUTED.get(kind, ())}
        _models[kind] = create_model(kind.__name__, __doc__=kind.__doc__, __config__=sample(kind), **field_types)
    return _models[kind]


def sample(kind: Any) -> ConfigDict:
    example = EXAMPLES.get(kind)
    return ConfigDict(json_schema_extra={"examples": [example]}) if example is not None else ConfigDict()


COMPUTED_HINTS: dict[str, Any] = {"id": str, "found": bool}


def described(hint: Any) -> Any:
    """A type as it is on the wire: our values as their models."""
    origin = get_origin(hint)
    inner = get_args(hint)
    if is_dataclass(hint):
        return WRITTEN.get(hint) or shape(hint)
    if hint in WRITTEN:
        return WRITTEN[hint]
    if hint is timedelta:
        return Annotated[float, Field(description="seconds")]
    if hint in (datetime, date) or hint is Any or origin is Literal:
        return hint
    if origin in (Union, types.UnionType):
        return reduce(or_, (described(part) for part in inner))
    if origin in (tuple, list):
        if origin is tuple and inner[-1:] != (...,):
            return tuple.__class_getitem__(tuple(described(part) for part in inner))
        return list[described(inner[0])]  # type: ignore[misc]
    if origin in (dict, Mapping):
        return dict[str, described(inner[1])]  # type: ignore[misc]
    return hint


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


class ChatMessage(BaseModel):
    """The shape every chat model takes."""

    role: str
    content: str


WRITTEN: dict[Any, Any] = {model.Episode: EpisodeOut, model.ChatMessage: ChatMessage}

Message = shape(model.Message)
Added = shape(model.Added)
Conversation = shape(model.Conversation)
Hit = shape(model.Hit)
Context = shape(model.Context)
Reply = shape(model.Reply)
Chunk = shape(model.Chunk)
Topic = shape(model.Topic)
TopicHit = shape(model.TopicHit)
TopicMessage = shape(model.TopicMessage)
TopicStats = shape(model.TopicStats)
Fact = shape(model.Fact)
Statement = shape(model.Statement)
Forgotten = shape(model.Forgotten)
Profile = shape(model.Profile)
Digest = shape(model.Digest)
Erasure = shape(model.Erasure)
Stats = shape(model.Stats)
Retained = shape(model.Retained)
Retried = shape(model.Retried)
Verification = shape(model.Verification)
Member = shape(names.Member)
Command = shape(Answer)
Whom: Any = shape(names.Resolved) | shape(names.Ambiguous) | shape(names.Unknown)


def page(kind: Any) -> Any:
    """Some of a list, and where the rest begins."""
    name = f"{kind.__name__}Page".replace("OutPage", "Page")
    if name not in _models:
        cursor = Field(None, description="Send it as `cursor` to go on; null if this was all.")
        about = f"A page of {name.removesuffix('Page').lower()}s."
        _models[name] = create_model(name, __doc__=about, items=(list[kind], ...), next=(str | None, cursor))
    return _models[name]


class Question(BaseModel):
    """A question that stands alone."""

    question: str


class SpaceOut(BaseModel):
    """A space."""

    model_config = ConfigDict(title="Space")

    space: str


class ChatMessages(BaseModel):
    """What to send to a model."""

    messages: list[ChatMessage]


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
