"""Reads an answer in OpenAI's format and trusts nothing in it: types, size and text are checked, then passed on.

An answer is text, not empty, and at most 1 MiB. Anything else raises `ModelNonsense`. Half a surrogate pair at the
end of a piece waits for its other half; one that never gets it becomes U+FFFD, since it could not be stored. What is
relayed (`RelayReader`) is only checked, and passed on in the format in which it came.

Errors (`Trouble`) say which model, what happened and what to do next, all of it in our own words. What a server says
when it refuses is not passed on: it may hold its key, the names of its machines, or what others asked. Its words go to
the log, masked, under an id that the error names; if they repeat a part of the key or of the request, not even there.
Of its codes, those are kept that OpenAI's clients know. These errors are raised where no other exception is being
handled, so that none is chained to them.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from secrets import token_hex
from typing import Any, TypeVar
from urllib.parse import urlsplit

from everword.errors import ModelBusy, ModelCutOff, ModelError, ModelNonsense, ModelRefused, ModelTimeout, Refusal
from everword.masking import masked_logger
from everword.model import ChatMessage
from everword.ports import LAST_EVENTS, Completion
from everword.strict_json import BrokenJson, ForeignEncoding, UnreadableJson, read_json
from everword.word_lists import read_entries

LARGEST = 1 << 20  # bytes of an answer, as UTF-8
MOST_TOKENS = 2**31 - 1  # a count above this is no count
FRAME = 4  # tokens a chat format spends around each message
CUT_OFF = ("length", "content_filter")
THOUGHTS = ("reasoning_content", "reasoning")  # where servers put what a model thinks before it answers
SHORT = 8_000  # characters
TEXTUAL = ("content", "refusal", "reasoning_content")
LONGEST_STREAM_TEXT = 64 << 20  # characters of a stream, with the JSON around the text
DEEPEST = 100  # levels of nested objects and lists
MOST_CHOICES = 128  # as many as OpenAI gives

Count = Callable[[str], int]
log = masked_logger("everword.models.chat")

LOGGED = 500  # characters of a server's message
TELLING = 8  # characters of a key that already reveal something
REPEATED = 16  # characters of a request that a server repeats
PASSING = (408, 409, 429)  # HTTP states that are temporary, besides all from 500
ADDRESSED = re.compile(r"\S+://\S+")
ABOUT_LENGTH = re.compile(
    r"context[_ ](?:length|window|size)|maximum context|too many (?:input )?tokens|(?:prompt|input) is too long",
    re.IGNORECASE,
)
TOO_LONG = "context_length_exceeded"
FILTERED = ("content_filter", "content_policy_violation")
KNOWN = {name: frozenset(words.split()) for name, words in read_entries("models/chat/data/refusals.txt").items()}
"""The codes, types and parameters of a refusal that OpenAI's clients know."""
LONGEST = 2 << 20  # bytes of one event
DONE = "[DONE]"
T = TypeVar("T")


def rough_token_count(text: str) -> int:
    """About four bytes a token: used where no better count is at hand."""
    return -(-len(text.encode("utf-8", "replace")) // 4)


def estimate_tokens(text: str, count: Count) -> int:
    """The tokens of a text if the server does not report them. A long text is not counted exactly: that would block
    the event loop."""
    return count(text) if len(text) <= SHORT else rough_token_count(text)


def estimate_request_tokens(messages: Sequence[ChatMessage], count: Count) -> int:
    """An estimate of the tokens of a request if the server does not report them."""
    return sum(estimate_tokens(message["content"], count) + FRAME for message in messages)


class AnswerReader:
    """Collects and checks one answer while it comes in."""

    def __init__(self, trouble: Trouble) -> None:
        self._trouble = trouble
        self._parts: list[str] = []
        self._size = 0
        self._half = ""
        self._usage: tuple[int, int] | None = None
        self._has_thought = False
        self.finish: str | None = None

    def read_event(self, text: str) -> str:
        """Reads one event of a stream; returns the text in it, which may be none."""
        return self._read_reply(parse_json(text, self._trouble), "delta")

    def read_body(self, raw: bytes) -> str:
        """Reads an answer that came as one body."""
        return self._read_reply(parse_json(raw, self._trouble), "message")

    def read_chunk(self, chunk: object) -> str:
        """Reads one event that is already parsed."""
        return self._read_reply(chunk, "delta")

    def completion(self, model: str, messages: Sequence[ChatMessage], count: Count) -> Completion:
        """The complete answer; raises if it has no text."""
        if self._half:
            self._parts.append("\ufffd")
            self._half = ""
        text = "".join(self._parts)
        if not text.strip():
            if self.finish == "length" or self._has_thought:
                raise self._trouble.cut_off(self._usage)
            raise self._trouble.nonsense("nothing; try again, or ask another model")
        tokens = self._usage or (estimate_request_tokens(messages, count), estimate_tokens(text, count))
        return Completion(text, model, *tokens, complete=self.finish not in CUT_OFF, finish=self.finish)

    def _read_reply(self, reply: object, part: str) -> str:
        if not isinstance(reply, dict):
            raise self._trouble.foreign_answer("JSON that is no object")
        if reply.get("error"):
            raise self._trouble.error_in_answer(reply["error"])
        self._usage = parse_usage(reply.get("usage")) or self._usage
        choices = reply.get("choices")
        if part == "delta" and (choices is None or choices == []):
            return ""  # only reports usage, or that the server is still there
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            raise self._trouble.foreign_answer("no choices")
        return self._append_text(self._content(choices[0], part))

    def _content(self, choice: dict[str, Any], part: str) -> str:
        finish = choice.get("finish_reason")
        if isinstance(finish, str):
            self.finish = finish
        message = choice.get(part)
        if message is None and part == "delta":
            return ""
        content = message.get("content") if isinstance(message, dict) else message
        if not isinstance(message, dict) or not isinstance(content, str | None):
            raise self._trouble.foreign_answer("something that is not text")
        self._has_thought = self._has_thought or any(message.get(name) for name in THOUGHTS)
        return content or ""

    def _append_text(self, text: str) -> str:
        text = self._half + text
        self._half = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            self._half = text[-1]
            text = text[:-1]
        raw = text.encode("utf-16-le", "surrogatepass")
        text = raw.decode("utf-16-le", "replace")
        self._size += len(text.encode("utf-8"))
        if self._size > LARGEST:
            raise self._trouble.nonsense(f"more than {LARGEST >> 20} MiB of text; ask for less")
        self._parts.append(text)
        return text


def parse_json(text: str | bytes, trouble: Trouble) -> object:
    problem = ""
    try:
        value: object = read_json(text, strict=False)
        return value
    except ForeignEncoding:
        problem = "bytes that are not UTF-8"
    except BrokenJson:
        problem = "something that is not JSON"
    except UnreadableJson as error:
        problem = f"JSON that {error}"
    raise trouble.foreign_answer(problem)


def parse_usage(usage_field: object) -> tuple[int, int] | None:
    """Tokens in and out as the server counted them, if these are counts."""
    if not isinstance(usage_field, dict):
        return None
    prompt_tokens = usage_field.get("prompt_tokens", usage_field.get("input_tokens"))
    completion_tokens = usage_field.get("completion_tokens", usage_field.get("output_tokens"))
    if type(prompt_tokens) is not int or type(completion_tokens) is not int:
        return None
    # Some servers fill in zeros for what they did not count.
    is_counted = min(prompt_tokens, completion_tokens) > 0 and max(prompt_tokens, completion_tokens) <= MOST_TOKENS
    return (prompt_tokens, completion_tokens) if is_counted else None


class RelayReader:
    """Checks one answer while it is relayed: `read_body` for a whole one, `read_event` for each event of a stream."""

    def __init__(self, trouble: Trouble) -> None:
        self._trouble = trouble
        self._halves: dict[tuple[int, str], str] = {}
        self._size = self._raw = 0
        self.finished = False

    def read_body(self, raw: bytes) -> dict[str, Any]:
        reply = self._check_reply(parse_json(raw, self._trouble), "message")
        if not reply["choices"]:
            raise self._trouble.foreign_answer("no choices")
        return reply

    def read_event(self, event: str) -> dict[str, Any]:
        self._raw += len(event)
        if self._raw > LONGEST_STREAM_TEXT:
            raise self._trouble.nonsense(f"more than {LONGEST_STREAM_TEXT >> 20} MiB; ask for less")
        return self._check_reply(parse_json(event, self._trouble), "delta")

    def _check_reply(self, reply: object, part: str) -> dict[str, Any]:
        if not isinstance(reply, dict) or is_too_deep(reply):
            raise self._trouble.foreign_answer("JSON that is no object, or has no end")
        if reply.get("error"):
            raise self._trouble.error_in_answer(reply["error"])
        choices = reply.get("choices")
        if choices is None and part == "delta":
            choices = []  # only reports usage, or that the server is still there
        if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
            raise self._trouble.foreign_answer("no choices")
        return {**reply, "choices": [self._check_choice(choice, part, place) for place, choice in enumerate(choices)]}

    def _check_choice(self, choice: dict[str, Any], part: str, place: int) -> dict[str, Any]:
        message = choice.get(part)
        message = {} if message is None and part == "delta" else message
        index = choice.get("index")
        index = index if isinstance(index, int) and 0 <= index < MOST_CHOICES else place
        calls = message.get("tool_calls") if isinstance(message, dict) else None
        if not isinstance(message, dict) or not isinstance(calls, list | None):
            raise self._trouble.foreign_answer("something that is not text")
        finish = choice.get("finish_reason")
        self.finished = self.finished or isinstance(finish, str)
        texts = {
            name: self._clean_text(index, name, message[name], part)
            for name in TEXTUAL
            if message.get(name) is not None
        }
        return {**choice, "index": index, part: {**message, **texts}, "finish_reason": finish}

    def _clean_text(self, index: int, name: str, text: object, part: str) -> str:
        if not isinstance(text, str):
            raise self._trouble.foreign_answer("something that is not text")
        text = self._halves.pop((index, name), "") + text
        if part == "delta" and text and "\ud800" <= text[-1] <= "\udbff":
            self._halves[index, name] = text[-1]
            text = text[:-1]
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\x00", "")
        self._size += len(text.encode("utf-8"))
        if self._size > LARGEST:
            raise self._trouble.nonsense(f"more than {LARGEST >> 20} MiB of text; ask for less")
        return text


class EventReader:
    """Checks an answer of another API while it is passed on: only its size, and that it is no error."""

    def __init__(self, trouble: Trouble) -> None:
        self._trouble = trouble
        self._size = 0
        self.is_finished = False

    def read(self, raw: str | bytes) -> dict[str, Any]:
        """One event of a stream, or a whole answer."""
        self._size += len(raw)
        if self._size > LONGEST_STREAM_TEXT:
            raise self._trouble.nonsense(f"more than {LONGEST_STREAM_TEXT >> 20} MiB; ask for less")
        event = parse_json(raw, self._trouble)
        if not isinstance(event, dict) or not isinstance(event.get("type", event.get("object")), str):
            raise self._trouble.foreign_answer("JSON that is no object of that API")
        if is_too_deep(event):
            raise self._trouble.foreign_answer("JSON that has no end")
        kind = event.get("type")
        if kind == "error" or event.get("error"):
            raise self._trouble.error_in_answer(event.get("error") or event)
        self.is_finished = self.is_finished or kind in LAST_EVENTS
        return event


def is_too_deep(value: object) -> bool:
    """Whether objects and lists are nested deeper than later readers can follow."""
    level = 0
    nodes = [value]
    while nodes and level <= DEEPEST:
        level += 1
        inner = [node.values() if isinstance(node, dict) else node for node in nodes if isinstance(node, dict | list)]
        nodes = [child for children in inner for child in children]
    return level > DEEPEST


class Trouble:
    """Makes the errors of one model. `sent` is what it was sent, as far as that matters."""

    def __init__(self, model: str, key: str = "", sent: str = "") -> None:
        self.model = model
        self._key = key.casefold()
        self._sent = sent

    def about(self, messages: Iterable[Mapping[str, object]]) -> Trouble:
        """The same for one request."""
        texts = (message.get("content") for message in messages)
        return Trouble(self.model, self._key, "\n".join(flatten(text) for text in texts))

    def nonsense(self, answer: str) -> ModelNonsense:
        return ModelNonsense(f"{self.model} answered with {answer}")

    def cut_off(self, tokens: tuple[int, int] | None) -> ModelCutOff:
        """The error for an answer that a limit ended before its first word."""
        error = ModelCutOff(
            f"{self.model} answered with nothing: it was cut off before it said a word; allow it more tokens"
        )
        error.tokens = tokens
        return error

    def foreign_answer(self, answer: str) -> ModelNonsense:
        return ModelNonsense(f"{self.model} answered with {answer}; check that the address is an OpenAI-compatible API")

    def timeout(self, seconds: float) -> ModelTimeout:
        return ModelTimeout(f"{self.model}: no answer within {seconds:g} seconds; try again, or allow it more time")

    def overlong_answer(self, seconds: float) -> ModelTimeout:
        return ModelTimeout(
            f"{self.model}: still talking after {seconds:g} seconds; ask for less, or allow it more time"
        )

    def unreachable(self) -> ModelBusy:
        return ModelBusy(f"{self.model} cannot be reached; check the address and that the server runs")

    def interruption(self) -> ModelBusy:
        return ModelBusy(f"{self.model} broke off in the middle of its answer; try again")

    def refusal(self, status: int, error: object = "", after: float | None = None) -> ModelError:
        """The error for an HTTP status. `error` is what the server sent with it."""
        fields = error if isinstance(error, Mapping) else {}
        code = known_word(fields.get("code"), KNOWN["codes"])
        if ABOUT_LENGTH.search(server_words(error)) and status in (400, 413, 422):
            code = TOO_LONG
        id = token_hex(4) if server_words(error) else ""
        kind = ModelBusy if is_temporary(status) else ModelRefused
        model_error = kind(describe_refusal(self.model, status, code, after) + log_note(id))
        model_error.refusal = Refusal(
            status,
            describe_refusal("the model's server", status, code, after) + log_note(id),
            known_word(fields.get("type"), KNOWN["types"]),
            code,
            known_word(fields.get("param"), KNOWN["parameters"]),
            after,
            id,
        )
        return model_error

    def error_in_answer(self, error: object) -> ModelError:
        """The error for an answer with status 200 that holds an error instead of text."""
        code = error.get("code") if isinstance(error, Mapping) else None
        model_error = self.refusal(code if isinstance(code, int) and 400 <= code < 600 else 502, error)
        self.log_words(model_error, error)
        return model_error

    def log_words(self, model_error: ModelError, error: object) -> None:
        """Log what the server said, under the id that the error names."""
        refusal = model_error.refusal
        words = server_words(error)
        if refusal is None or not refusal.id:
            return
        if self._reveals_key(words.casefold()) or self._repeats_request(words):
            words = "(left out: its words repeat the key or the request)"
        for host in self._own_hosts():
            words = words.replace(host, "…")
        model = self.model.partition(" at ")[0]
        log.warning("%s: HTTP %s, id %s, saying: %s", model, refusal.status, refusal.id, words[:LOGGED])

    def _own_hosts(self) -> list[str]:
        """The hosts in our own name for the model."""
        return [host for host in (urlsplit(address).netloc for address in ADDRESSED.findall(self.model)) if host]

    def _repeats_request(self, words: str) -> bool:
        sent = " ".join(self._sent.split())
        parts = range(max(len(words) - REPEATED, 0) + 1)
        return bool(sent) and any(words[start : start + REPEATED] in sent for start in parts)

    def _reveals_key(self, text: str) -> bool:
        parts = max(len(self._key) - TELLING, 0) + 1
        return bool(self._key) and any(self._key[start : start + TELLING] in text for start in range(parts))


def describe_refusal(server: str, status: int, code: str | None, after: float | None) -> str:
    """What happened and what to do, in our own words."""
    if status in (401, 403):
        return f"{server} refused the key (HTTP {status}); check the key and its permissions"
    if status < 400:
        return f"{server} redirects to another address (HTTP {status}); set the new address"
    if status == 402:
        return f"{server} requires payment (HTTP 402); check the account"
    if status == 404:
        return f"{server} knows no such model or path (HTTP 404); check the model's name and the address (often …/v1)"
    if status == 429:
        wait = "wait" if after is None else f"wait {after:g} seconds"
        return f"{server}: too many requests or no credit left (HTTP 429); {wait}, or check the credit"
    if code == TOO_LONG:
        return f"{server} refused (HTTP {status}): the request is too long for the model; send less text"
    if code in FILTERED:
        return f"{server} refused (HTTP {status}): its content filter rejected the request; change the text"
    if is_temporary(status):
        return f"{server} failed (HTTP {status}); try again later"
    return f"{server} refused (HTTP {status}); check the model and the length of the request"


def log_note(id: str) -> str:
    return f" (the log has its answer, id {id})" if id else ""


def server_words(error: object) -> str:
    """What a server said, in one line."""
    text = error.get("message") if isinstance(error, Mapping) else error
    if not isinstance(text, str):
        return ""
    return " ".join(text.split()).encode("utf-8", "backslashreplace").decode()  # a log cannot write half a character


def known_word(value: object, words: Iterable[str]) -> str | None:
    return value if isinstance(value, str) and value in words else None


def flatten(content: object) -> str:
    """The text of a message's content, which may be in parts."""
    parts = content if isinstance(content, list) else [content]
    return " ".join(str(part.get("text", "") if isinstance(part, Mapping) else part) for part in parts)


def is_temporary(status: int) -> bool:
    """Whether the same request may be answered later."""
    return status in PASSING or status >= 500


class EventParser:
    """`feed` takes bytes and returns the data of the events that are now complete."""

    def __init__(self, trouble: Trouble) -> None:
        self._trouble = trouble
        self._buffer = bytearray()
        self._data: list[bytes] = []
        self._data_size = 0

    def feed(self, chunk: bytes) -> list[str]:
        events: list[str] = []
        has_line_end = self._buffer.endswith(b"\r") or b"\n" in chunk or b"\r" in chunk
        self._buffer += chunk
        if has_line_end:
            # A carriage return at the end may be the first half of "\\r\\n": it waits for the next byte.
            tail = b"\r" if self._buffer.endswith(b"\r") else b""
            text = bytes(self._buffer).removesuffix(tail).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            *lines, last = text.split(b"\n")
            self._buffer = bytearray(last + tail)
            events = [event for line in lines if (event := self._read_line(line)) is not None]
        if len(self._buffer) + self._data_size > LONGEST:
            raise self._trouble.foreign_answer(f"an event of more than {LONGEST >> 20} MiB")
        return events

    def _read_line(self, line: bytes) -> str | None:
        """Takes one line; returns the data of an event if the line ends one."""
        if line.startswith(b"data:"):
            data = line[5:].removeprefix(b" ")
            self._data.append(data)
            self._data_size += len(data)
        if line or not self._data:
            return None
        raw = b"\n".join(self._data)
        self._data = []
        self._data_size = 0
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            pass
        raise self._trouble.foreign_answer("bytes that are not UTF-8")


@asynccontextmanager
async def closing(pieces: AsyncIterator[T]) -> AsyncIterator[AsyncIterator[T]]:
    """The same stream, closed at the end of the block (if it can be: not every iterator is a generator)."""
    try:
        yield pieces
    finally:
        close = getattr(pieces, "aclose", None)
        if close is not None:
            await close()
