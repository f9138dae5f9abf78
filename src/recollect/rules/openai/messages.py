"""Spoken: a message in OpenAI's shape as the log keeps it, and what tells it from others.

Words are kept as words. What is not words (tool calls, pictures, files) stands in the metadata under `openai`: calls as
they were made, other parts as their kinds and a digest, since nobody wants a photo in a log of words. The same message
has the same mark however a client writes it: content as one text or in parts, arguments of a call with or without
spaces, a reply with or without what a model thought before it; a reply in sound is known by its id. A refusal need not
be told back, nor what a client once put before its messages. System messages are instructions to a model and no part
of what was said.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recollect.errors import InvalidInput
from recollect.model import Draft, Message, Role
from recollect.rules.log import SURROGATE
from recollect.rules.openai.reconcile import Utterance

WIRE = "openai"  # in a message's metadata: what was not words
OURS = "recollect"  # in a message's metadata: what the memory notes of it
INSTRUCTIONS = ("system", "developer")
ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "tool": "tool", "function": "tool"}
MESSAGES = 20_000  # in one request; everybody who writes waits while they are compared with the log
CALLS = 1 << 18  # characters of tool calls that are kept as they were made
PICTURE = 765  # tokens that one costs at most models
TEXT = ("text", "input_text", "output_text", "refusal")
OPENED = re.compile(r"chat-[0-9a-f]{24}(~\d+)?")  # conversations that are known by how they begin
THOUGHT = re.compile(r"\s*<(think|thinking)>.*?</\1>", re.DOTALL)  # which many clients leave out when they resend


@dataclass(frozen=True, slots=True)
class Spoken:
    """One message: who says it, its words, and what else belongs to it."""

    role: Role
    text: str
    told: Mapping[str, Any] = field(default_factory=dict)

    @property
    def silent(self) -> bool:
        """Whether there is nothing in it to keep."""
        return not self.text.strip() and not self.told

    @property
    def utterance(self) -> Utterance:
        return Utterance(self.role, marked(self.role, self.text, self.told), called(self.told))

    def draft(self, noted: Mapping[str, Any] | None = None) -> Draft:
        """As the log is to keep it, with what the memory notes of it."""
        parts = {WIRE: dict(self.told), OURS: dict(noted or {})}
        return Draft(self.role, self.text, metadata={name: part for name, part in parts.items() if part})


def checked(messages: object) -> list[dict[str, Any]]:
    """The messages of a request; raises InvalidInput if they have not OpenAI's shape."""
    if not isinstance(messages, list) or not messages:
        raise InvalidInput("messages", "must be a list with at least one message")
    if len(messages) > MESSAGES:
        raise InvalidInput("messages", f"has {len(messages):,} messages; at most {MESSAGES:,} are allowed")
    for number, message in enumerate(messages):
        where = f"messages[{number}]"
        if not isinstance(message, dict):
            raise InvalidInput(where, "must be an object")
        if message.get("role") not in (*INSTRUCTIONS, *ROLES):
            raise InvalidInput(f"{where}.role", f"must be one of {', '.join((*INSTRUCTIONS, *ROLES))}")
        content = message.get("content")
        if not isinstance(content, str | list | None):
            raise InvalidInput(f"{where}.content", "must be text or a list of parts")
        if isinstance(content, list) and not all(isinstance(part, dict) for part in content):
            raise InvalidInput(f"{where}.content", "has a part that is no object")
        if not isinstance(message.get("tool_calls"), list | None):
            raise InvalidInput(f"{where}.tool_calls", "must be a list")
    return messages


def spoken(message: Mapping[str, Any]) -> Spoken:
    """A user's, an assistant's or a tool's message, of a request or of a model's answer."""
    told: dict[str, Any] = {}
    content = message.get("content")
    others = [p for p in content if p.get("type") not in TEXT] if isinstance(content, list) else []
    if others:
        told |= {"parts": [str(part.get("type"))[:64] for part in others][:64], "digest": digest(others)}
    told |= aloud(message)
    calls = message.get("tool_calls") or ([{"function": message["function_call"]}] if given_call(message) else [])
    if calls:
        told |= calls_told(calls)
    role = ROLES[str(message["role"])]
    if role == "tool":
        told["tool_call_id"] = str(message.get("tool_call_id") or message.get("name") or "")[:256]
    return Spoken(role, words(message), cleaned(told))


def aloud(message: Mapping[str, Any]) -> dict[str, Any]:
    """Whether a reply refuses, and which sound it is."""
    refusal, sound = message.get("refusal"), message.get("audio")
    id = sound.get("id") if isinstance(sound, dict) else None
    refuses = bool(refusal) and not message.get("content")
    return ({"refusal": True} if refuses else {}) | ({"audio": str(id)[:256]} if id else {})


def given_call(message: Mapping[str, Any]) -> bool:
    return isinstance(message.get("function_call"), dict)


def calls_told(calls: Sequence[Any]) -> dict[str, Any]:
    plain = [{name: one for name, one in call.items() if name != "index"} for call in calls if isinstance(call, dict)]
    kept = cleaned(plain)
    fits = len(json.dumps(kept)) <= CALLS
    return {"calls": digest([settled(call) for call in kept]), **({"tool_calls": kept} if fits else {})}


def settled(call: Mapping[str, Any]) -> dict[str, Any]:
    """A call with its arguments in one form: clients read them and write them anew."""
    function = call.get("function")
    if not isinstance(function, dict):
        return {name: one for name, one in call.items() if name in ("id", "custom")}
    arguments = function.get("arguments")
    try:
        read = json.loads(arguments) if isinstance(arguments, str) and arguments.strip() else {}
    except (ValueError, RecursionError):
        read = arguments
    return {"id": call.get("id") or "", "name": function.get("name"), "arguments": read}


def words(message: Mapping[str, Any]) -> str:
    """What is text of it."""
    content = message.get("content")
    if isinstance(content, list):
        parts = [part.get("text") or part.get("refusal") for part in content if part.get("type") in TEXT]
        content = "\n".join(part for part in parts if isinstance(part, str))
    sound = message.get("audio")
    others = message.get("refusal"), sound.get("transcript") if isinstance(sound, dict) else None
    return clean(content or next((text for text in others if text and isinstance(text, str)), ""))


def clean(text: str) -> str:
    """What can be kept: halves of a character that stand together are one."""
    if SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\x00", "")


def cleaned(value: Any) -> Any:
    """The same for a value of JSON."""
    if isinstance(value, dict):
        return {clean(name): cleaned(one) for name, one in value.items()}
    if isinstance(value, list):
        return [cleaned(one) for one in value]
    return clean(value) if isinstance(value, str) else value


def said(message: Message) -> Utterance:
    """A message of the log as it compares to what is sent."""
    told, noted = message.metadata.get(WIRE), message.metadata.get(OURS)
    told, noted = told if isinstance(told, dict) else {}, noted if isinstance(noted, dict) else {}
    mark = marked(message.role, message.content, told)
    partial = bool(noted.get("partial") or told.get("refusal"))
    alone, preface = bool(noted.get("alone")), bool(noted.get("preface"))
    return Utterance(message.role, mark, called(told), partial, message.erased, alone, preface)


def marked(role: str, text: str, told: Mapping[str, Any]) -> str:
    if role == "assistant" and (thought := THOUGHT.match(text)):
        text = text[thought.end() :]
    unspoken = [str(told[name]) for name in ("audio", "digest", "calls") if name in told]
    return "\x00".join(["" if "audio" in told else text.replace("\r\n", "\n").strip(), *unspoken])


def called(told: Mapping[str, Any]) -> str:
    return str(told.get("tool_call_id", ""))


def digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


def opening(messages: Sequence[Spoken], *about: str) -> str:
    """The id of a conversation that was given none: known by how it begins."""
    first = next((number for number, one in enumerate(messages) if one.role == "user"), len(messages) - 1)
    marks = [(one.role, one.utterance.mark) for one in messages[: first + 1]]
    return "chat-" + digest([*about, marks])[:24]  # as OPENED


def size(message: Mapping[str, Any], count: Any) -> int:
    """The tokens of a message, apart from those around it."""
    content, total = message.get("content"), 0
    if isinstance(content, list):
        total += PICTURE * sum(part.get("type") not in TEXT for part in content)
    for name in ("tool_calls", "function_call"):
        if message.get(name):
            total += count(json.dumps(message[name], ensure_ascii=False))
    return total + int(count(words(message)))
