"""Reads an answer in OpenAI's format and trusts nothing in it: types, size and text are checked, then passed on.

An answer is text, not empty, and at most 1 MiB. Anything else raises `ModelNonsense`. Half a surrogate pair at the
end of a piece waits for its other half; one that never gets it becomes U+FFFD, since it could not be stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from recollect.model import ChatMessage
from recollect.models.chat.trouble import Trouble
from recollect.parsing import BrokenJson, ForeignEncoding, UnreadableJson, read_json
from recollect.ports import Completion

LARGEST = 1 << 20  # bytes of an answer, as UTF-8
MOST_TOKENS = 2**31 - 1  # a count above this is no count
FRAME = 4  # tokens a chat format spends around each message
CUT_OFF = ("length", "content_filter")
THOUGHTS = ("reasoning_content", "reasoning")  # where servers put what a model thinks before it answers
SHORT = 8_000  # characters

Count = Callable[[str], int]


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
    prompt_tokens = usage_field.get("prompt_tokens")
    completion_tokens = usage_field.get("completion_tokens")
    if (
        isinstance(prompt_tokens, bool)
        or isinstance(completion_tokens, bool)
        or not isinstance(prompt_tokens, int)
        or not isinstance(completion_tokens, int)
    ):
        return None
    # Some servers fill in zeros for what they did not count.
    return (
        (prompt_tokens, completion_tokens)
        if 0 < prompt_tokens <= MOST_TOKENS and 0 < completion_tokens <= MOST_TOKENS
        else None
    )
