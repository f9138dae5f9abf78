"""Messages in OpenAI's shape as the log keeps them, and what distinguishes one from another.

Text is kept as text. All else (tool calls, pictures, files) is kept in the metadata under `openai`: calls as they
were made, other parts as their kinds and a digest, since a photo does not belong in a log of text. The same message has
the same mark however a client writes it: content as one text or in parts, arguments of a call with or without spaces, a
reply with or without the model's thoughts before it; a reply in sound is identified by its id. A client need not send
back a refusal, nor what it once put before its messages. System messages are instructions to a model and not part of
the conversation. A program may give a message as a draft, or as a mapping in this shape with the fields of a draft.

A request is laid out for the model. The current exchange, from the user's last message on, is always sent. Before it
whole exchanges are sent, newest first, so that a tool's result is never separated from its call: as many as a reply of
the memory's own would show whole, and as far as they fit. Older instructions go to the front. Other older messages are
left out: they are in the log, and the memory shows the relevant ones word for word.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from everword.context.build import PER_MESSAGE
from everword.errors import InvalidInput
from everword.log.checks_and_seals import SURROGATE
from everword.log.secret_policy import masked
from everword.model import Budget, Draft, Message, Role
from everword.model.log import NOTES, own_notes
from everword.openai.reconcile import Utterance
from everword.ports import Tokenizer
from everword.strict_json import UnreadableJson, read_json
from everword.text.filler import is_small_talk
from everword.word_lists import lazy_pattern

WIRE = "openai"  # in a message's metadata: what was not words
INSTRUCTIONS = ("system", "developer")
ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "tool": "tool", "function": "tool"}
MESSAGES = 20_000  # in one request; all writers wait while they are compared with the log
CALLS = 1 << 18  # characters of tool calls that are kept as they were made
PICTURE = 765  # tokens of one picture in most models
TEXT = ("text", "input_text", "output_text", "refusal")
OPENED = lazy_pattern(r"chat-[0-9a-f]{24}(~\d+)?")  # ids of conversations that are identified by how they begin
THOUGHT = lazy_pattern(r"\s*<(think|thinking)>.*?</\1>", re.DOTALL)  # which many clients leave out when they resend
MEMORY = 3  # one part in so many of a budget is for the memory
WHOLE = 30_000  # tokens: the budget for which the shares of the sections are set
SCHEMAS = ("tools", "functions", "response_format")
EXPIRES = "expires"  # as `add` names it
OWN_FIELDS = (frozenset(field.name for field in fields(Draft)) | {EXPIRES}) - {"role", "content"}
WIRE_FIELDS = frozenset(
    {"role", "content", "name", "refusal", "audio", "tool_calls", "tool_call_id", "function_call", "annotations"}
)


@dataclass(frozen=True, slots=True)
class ParsedMessage:
    """One message: its role, its text, and its `extras`, the parts that are not text."""

    role: Role
    text: str
    extras: Mapping[str, Any] = field(default_factory=dict)

    @property
    def silent(self) -> bool:
        """Whether there is nothing in it to keep."""
        return not self.text.strip() and not self.extras

    @property
    def utterance(self) -> Utterance:
        return Utterance(self.role, mark_of(self.role, self.text, self.extras), call_id(self.extras))

    def draft(self, notes: Mapping[str, Any] | None = None) -> Draft:
        """The draft for the log, with what the memory notes about it."""
        parts = {WIRE: dict(self.extras), NOTES: dict(notes or {})}
        return Draft(self.role, self.text, metadata={name: part for name, part in parts.items() if part})


def check_messages(messages: object) -> list[dict[str, Any]]:
    """The messages of a request; raises InvalidInput if they have not OpenAI's shape."""
    if not isinstance(messages, list) or not messages:
        raise InvalidInput("messages", "must be a list with at least one message")
    if len(messages) > MESSAGES:
        raise InvalidInput("messages", f"has {len(messages):,} messages; at most {MESSAGES:,} are allowed")
    for number, message in enumerate(messages):
        field_path = f"messages[{number}]"
        if not isinstance(message, dict):
            raise InvalidInput(field_path, "must be an object")
        if message.get("role") not in (*INSTRUCTIONS, *ROLES):
            raise InvalidInput(f"{field_path}.role", f"must be one of {', '.join((*INSTRUCTIONS, *ROLES))}")
        content = message.get("content")
        if not isinstance(content, str | list | None):
            raise InvalidInput(f"{field_path}.content", "must be text or a list of parts")
        if isinstance(content, list) and not all(isinstance(part, dict) for part in content):
            raise InvalidInput(f"{field_path}.content", "contains a part that is not an object")
        if not isinstance(message.get("tool_calls"), list | None):
            raise InvalidInput(f"{field_path}.tool_calls", "must be a list")
    return messages


def parse_message(message: Mapping[str, Any]) -> ParsedMessage:
    """A user's, an assistant's or a tool's message, of a request or of a model's answer."""
    extras: dict[str, Any] = {}
    content = message.get("content")
    other_parts = [part for part in content if part.get("type") not in TEXT] if isinstance(content, list) else []
    if other_parts:
        extras |= {"parts": [str(part.get("type"))[:64] for part in other_parts][:64], "digest": digest(other_parts)}
    extras |= refusal_and_sound(message)
    calls = message.get("tool_calls") or (
        [{"function": message["function_call"]}] if has_function_call(message) else []
    )
    if calls:
        extras |= calls_metadata(calls)
    role = ROLES[str(message["role"])]
    if role == "tool":
        extras["tool_call_id"] = str(message.get("tool_call_id") or message.get("name") or "")[:256]
    return ParsedMessage(role, text_of(message), clean_json(extras))


def parse_kept(message: Message) -> ParsedMessage:
    """A message of the log, as it was when a client sent it."""
    as_said = message.as_said
    extras = as_said.metadata.get(WIRE)
    return ParsedMessage(as_said.role, as_said.content, extras if isinstance(extras, dict) else {})


def wire_message(message: Message) -> dict[str, Any]:
    """A message of the log as a model is sent it. What the log does not have is named in its place."""
    extras = parse_kept(message).extras
    kinds = ", ".join(extras.get("parts", ()))
    content = message.content or (f"({kinds}: sent then, not kept)" if kinds else "")
    wire: dict[str, Any] = {"role": message.role, "content": content}
    if message.role == "tool":
        wire["tool_call_id"] = call_id(extras)
    if extras.get("tool_calls"):
        wire["tool_calls"] = extras["tool_calls"]
    return wire


def refusal_and_sound(message: Mapping[str, Any]) -> dict[str, Any]:
    """Whether a reply is a refusal, and the id of its sound."""
    refusal = message.get("refusal")
    sound = message.get("audio")
    id = sound.get("id") if isinstance(sound, dict) else None
    refuses = bool(refusal) and not message.get("content")
    return ({"refusal": True} if refuses else {}) | ({"audio": str(id)[:256]} if id else {})


def has_function_call(message: Mapping[str, Any]) -> bool:
    return isinstance(message.get("function_call"), dict)


def calls_metadata(calls: Sequence[Any]) -> dict[str, Any]:
    without_index = [
        {name: value for name, value in call.items() if name != "index"} for call in calls if isinstance(call, dict)
    ]
    clean_calls = clean_json(without_index)
    fits = len(json.dumps(clean_calls)) <= CALLS
    return {
        "calls": digest([normalise_call(call) for call in clean_calls]),
        **({"tool_calls": clean_calls} if fits else {}),
    }


def normalise_call(call: Mapping[str, Any]) -> dict[str, Any]:
    """A call with its arguments in one form: clients parse them and write them again."""
    function = call.get("function")
    if not isinstance(function, dict):
        return {name: value for name, value in call.items() if name in ("id", "custom")}
    arguments = function.get("arguments")
    try:
        parsed_arguments = (
            read_json(arguments, strict=False) if isinstance(arguments, str) and arguments.strip() else {}
        )
    except UnreadableJson:
        parsed_arguments = arguments
    return {"id": call.get("id") or "", "name": function.get("name"), "arguments": parsed_arguments}


def text_of(message: Mapping[str, Any]) -> str:
    """The text of a message."""
    content = message.get("content")
    if isinstance(content, list):
        parts = [part.get("text") or part.get("refusal") for part in content if part.get("type") in TEXT]
        content = "\n".join(part for part in parts if isinstance(part, str))
    sound = message.get("audio")
    others = (message.get("refusal"), sound.get("transcript") if isinstance(sound, dict) else None)
    return clean_text(content or next((text for text in others if text and isinstance(text, str)), ""))


def clean_text(text: str) -> str:
    """The text as it can be stored: two surrogate halves that stand together become one character."""
    if SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\x00", "")


def clean_json(value: Any) -> Any:
    """A JSON value with all its texts cleaned."""
    if isinstance(value, dict):
        return {clean_text(name): clean_json(item) for name, item in value.items()}
    if isinstance(value, list):
        return [clean_json(item) for item in value]
    return clean_text(value) if isinstance(value, str) else value


def utterance_of(message: Message) -> Utterance:
    """A message of the log in the form in which it is compared with sent messages."""
    message = message.as_said
    extras = message.metadata.get(WIRE)
    extras = extras if isinstance(extras, dict) else {}
    notes = own_notes(message.metadata)
    mark = mark_of(message.role, message.content, extras)
    partial = bool(notes.get("partial") or extras.get("refusal"))
    alone = bool(notes.get("alone"))
    preface = bool(notes.get("preface"))
    return Utterance(message.role, mark, call_id(extras), partial, message.erased, alone, preface)


def mark_of(role: str, text: str, extras: Mapping[str, Any]) -> str:
    """What two messages share if they are the same; a secret and its placeholder are the same."""
    text = masked(text)
    if role == "assistant" and (thought_match := THOUGHT.match(text)):
        text = text[thought_match.end() :]
    other_marks = [str(extras[name]) for name in ("audio", "digest", "calls") if name in extras]
    return "\x00".join(["" if "audio" in extras else text.replace("\r\n", "\n").strip(), *other_marks])


def call_id(extras: Mapping[str, Any]) -> str:
    return str(extras.get("tool_call_id", ""))


def digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


def opening_id(messages: Sequence[ParsedMessage], *about: str) -> str:
    """The id of a conversation that was given none: a digest of how it begins, up to the first message of the user that
    is more than a greeting. Two chats that begin with "Hi" are two as soon as somebody says more."""
    places = [number for number, message in enumerate(messages) if message.role == "user"]
    first = places[0] if places else len(messages) - 1
    last = next((number for number in places if not is_small_talk(messages[number].text)), first)
    opening = [*messages[: first + 1], *(messages[number] for number in places if first < number <= last)]
    marks = [(message.role, message.utterance.mark) for message in opening]
    return "chat-" + digest([*about, marks])[:24]  # as OPENED


def count_tokens(message: Mapping[str, Any], tokenizer: Tokenizer) -> int:
    """The tokens of a message, without those around it."""
    content = message.get("content")
    total = 0
    if isinstance(content, list):
        total += PICTURE * sum(part.get("type") not in TEXT for part in content)
    for name in ("tool_calls", "function_call"):
        if message.get(name):
            total += tokenizer.count(json.dumps(message[name], ensure_ascii=False))
    return total + tokenizer.count(text_of(message))


def as_draft(message: object) -> Draft:
    """The draft of a message; raises InvalidInput if it is neither a draft nor a mapping with a role and content."""
    if isinstance(message, Draft):
        return message
    if not isinstance(message, Mapping):
        kind = type(message).__name__
        raise InvalidInput(
            "messages", f'contains a {kind}; give Draft("user", "Hi") or {{"role": "user", "content": "Hi"}}'
        )
    unknown = sorted(map(str, message.keys() - OWN_FIELDS - WIRE_FIELDS))
    if unknown:
        raise InvalidInput(
            "messages",
            f"contains the unknown field {unknown[0]!r}; the known fields are "
            f"{', '.join(sorted(OWN_FIELDS | WIRE_FIELDS))}",
        )
    (wire,) = check_messages([{name: message[name] for name in message.keys() & WIRE_FIELDS}])
    if wire["role"] in INSTRUCTIONS:
        draft = Draft("system", text_of(wire))
    else:
        draft = parse_message(wire).draft()
    own: dict[str, Any] = {name: message[name] for name in message.keys() & OWN_FIELDS if message[name] is not None}
    if EXPIRES in own:
        own["expires_at"] = own.pop(EXPIRES)
    metadata = dict(draft.metadata)
    if wire.get("name") is not None:
        metadata["name"] = wire["name"]
    if isinstance(own.get("metadata"), Mapping):
        metadata |= own.pop("metadata")
    return replace(draft, **{"metadata": metadata, **own})


# -- which of a client's messages are sent to the model as they are, and which the memory replaces


@dataclass(frozen=True, slots=True)
class Layout:
    """`tail` is sent as it is, with `system` before it in the role `role`; `text` is the user's last message. `beside`
    is the tokens of the tail and of the other fields of the request, without the text; `spoken` is the number of
    messages of the tail that are in the log."""

    text: str
    system: str | None
    role: str
    tail: tuple[Mapping[str, Any], ...]
    spoken: int
    beside: int

    @property
    def before_text(self) -> tuple[Mapping[str, Any], ...]:
        """The messages of the tail before the user's last one."""
        return self.tail[: len(self.tail) - len(self.from_text)]

    @property
    def from_text(self) -> tuple[Mapping[str, Any], ...]:
        """The user's last message and what follows it, such as calls of tools."""
        places = [place for place, message in enumerate(self.tail) if message["role"] == "user"]
        return self.tail[places[-1] :] if places else ()


def lay_out(
    body: Mapping[str, Any], budget: Budget, tokenizer: Tokenizer, *, all_of_it: bool, whole: bool = False
) -> Layout:
    """Lay out a request. With `all_of_it`, as many messages as the budget allows: the memory does not have them. With
    `whole`, as many as the recent section allows, and not only the last exchanges."""
    messages: Sequence[Mapping[str, Any]] = body["messages"]
    limit = budget.total - budget.total // MEMORY if all_of_it or budget.recent is None else budget.recent
    asked = sum(message["role"] == "user" for message in messages)
    # Exchanges leave only in stretches of so many, so that a prompt begins like the one before.
    stretch = max(budget.pairs, 1)
    exchanges = None if all_of_it or whole else budget.pairs + (asked - 1) % stretch
    start = tail_start(messages, tokenizer, limit, exchanges)
    orders = [message for message in messages[:start] if message["role"] in INSTRUCTIONS]
    tail = tuple(messages[start:])
    text = next((text_of(message) for message in reversed(messages) if message["role"] == "user"), "")
    texts = [instruction for message in orders if (instruction := text_of(message)).strip()]
    beside = sum(cost(message, tokenizer) for message in tail)
    beside += sum(tokenizer.count(json.dumps(body[name])) for name in SCHEMAS if body.get(name))
    return Layout(
        text=text,
        system="\n\n".join(texts) or None,
        role=str(orders[0]["role"]) if orders else "system",
        tail=tail,
        spoken=sum(message["role"] not in INSTRUCTIONS and not parse_message(message).silent for message in tail),
        beside=max(beside - tokenizer.count(text) - PER_MESSAGE, 0),
    )


def tail_start(
    messages: Sequence[Mapping[str, Any]], tokenizer: Tokenizer, limit: int, exchanges: int | None = None
) -> int:
    """Where the tail begins: with so many exchanges before the current one, if they fit. Messages older than those that
    fit are not counted: a history may have thousands."""
    first = next(
        (place for place, message in enumerate(messages) if message["role"] not in INSTRUCTIONS), len(messages)
    )
    start = None
    total = 0
    user_messages = 0
    for place in range(len(messages) - 1, first - 1, -1):
        total += cost(messages[place], tokenizer)
        if total > limit and start is not None:
            return start
        if messages[place]["role"] == "user":
            start = place
            user_messages += 1
            if total > limit or (exchanges is not None and user_messages > exchanges):
                return start
    return first


def is_whole(body: Mapping[str, Any], layout: Layout) -> bool:
    """Whether the tail has all messages but the instructions before them."""
    messages: Sequence[Mapping[str, Any]] = body["messages"]
    left_out = messages[: len(messages) - len(layout.tail)]
    return all(message["role"] in INSTRUCTIONS for message in left_out)


def cost(message: Mapping[str, Any], tokenizer: Tokenizer) -> int:
    return count_tokens(message, tokenizer) + PER_MESSAGE


def budget_of(total: int | None) -> Budget:
    """A budget of `total` tokens, with the default shares; the default budget if `total` is None."""
    if total is None:
        return Budget()
    usual = Budget()
    share = total / WHOLE
    parts: dict[str, Any] = {
        name: int(getattr(usual, name) * share) for name in ("profile", "summaries", "retrieved", "recent")
    }
    return Budget(total=total, system=usual.system, **parts)
