"""Reads JSON from outside within limits of our own: depth, number of values, length of numbers, bytes.

Whoever sends a text chooses how deep it is nested and how many values it holds. A parser follows: each level takes
stack or memory, and each value of two bytes becomes an object of sixty. So a text is checked before any parser sees it,
in time and memory in proportion to its bytes, and no interpreter's recursion limit decides what is accepted. A stream
is checked while it is read: it costs the memory of one event, whatever follows.

Every problem is an `UnreadableJson`, whose text says what is wrong, where, and what the limit is. It never repeats what
the text says.
"""

from __future__ import annotations

import json
import math
import re
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final, Protocol

KEPT_DEPTH: Final = 64  # levels of metadata and documents: with what is around them, any text of ours is in the limits
KEPT_VALUES: Final = 1 << 19  # values in them: as many as fit into the bytes that they may have


@dataclass(frozen=True, slots=True)
class Limits:
    """What a text may have at most. In a stream, `depth` is of the whole, `values` of what is held at a time, and
    `size` of one text or number."""

    depth: int = 100  # lists and objects in each other
    values: int = 1_000_000
    digits: int = 400  # in a row; a float has 309 at most
    size: int = 64 << 20  # bytes


LIMITS: Final = Limits()
STREAM: Final = Limits(depth=1_000, size=16 << 20)
LONGEST_PART: Final = 4 << 20  # bytes of a stream that are read at once


class UnreadableJson(ValueError):
    """A text is not JSON, or has more than a limit allows."""


class BrokenJson(UnreadableJson):
    """A text is not JSON."""


class ForeignEncoding(BrokenJson):
    """Bytes are not UTF-8."""


class CutOffJson(BrokenJson):
    """A text breaks off before its JSON ends."""


class Readable(Protocol):
    """Where the bytes of a stream come from."""

    def read(self, size: int = -1, /) -> bytes: ...


# A string, also one that breaks off: otherwise each quote after its beginning would be tried as another beginning.
_STRING = re.compile(rb'"[^"\\]*+(?>(?:\\.[^"\\]*+)*)(?:"|\\?\Z)', re.DOTALL)
# The same, where only one that breaks off stays: `sub` with its group takes out the others.
_WHOLE_STRING = re.compile(rb'"[^"\\]*+(?>(?:\\.[^"\\]*+)*)"|("[^"\\]*+(?>(?:\\.[^"\\]*+)*)\\?\Z)', re.DOTALL)
_TOKEN = re.compile(_STRING.pattern + rb"|[\[\]{}]", re.DOTALL)
_LEVELS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")  # +1 and -1, as signed bytes
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_ONE_DIGIT = bytes.maketrans(b"123456789", b"000000000")
_DIGITS = b"0123456789"
_OTHER_ENCODINGS = (b"\xff\xfe", b"\xfe\xff")
_MARK = "\ufeff"


def check_json(text: str | bytes, limits: Limits = LIMITS) -> None:
    """Raise `UnreadableJson` if a text goes beyond the limits. Whether it is JSON at all, a parser may say."""
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if len(raw) > limits.size:
        raise UnreadableJson(f"is longer than {limits.size:,} bytes")
    if raw.startswith(_OTHER_ENCODINGS) or b"\x00" in raw:
        raise ForeignEncoding("is not UTF-8; save or send it as UTF-8")
    is_shallow = _count_openings(raw) <= limits.depth
    if is_shallow and _count_values(raw) <= limits.values and not _has_long_number(raw, limits.digits):
        return
    if raw.count(b'"') > 4 * limits.values:
        raise _too_many(limits)
    _check_structure(_STRING.sub(b'""', raw), raw, limits)


def _check_structure(structure: bytes, raw: bytes, limits: Limits) -> None:
    """The same for a text whose strings are taken out."""
    if _count_values(structure) > limits.values:
        raise _too_many(limits)
    openings = _count_openings(structure)
    if structure.count(b"]") + structure.count(b"}") > openings:
        raise BrokenJson("is not valid JSON: it closes more lists and objects than it opens")
    if openings > limits.depth and _depth(structure) > limits.depth:
        raise UnreadableJson(f"is nested deeper than {limits.depth} levels (at byte {_deep_byte(raw, limits)})")
    if _has_long_number(structure, limits.digits):
        raise UnreadableJson(f"has a number of more than {limits.digits} digits")


def _count_values(raw: bytes) -> int:
    """How many values a text has at most: each but the first comes after a comma, or after a bracket that opens."""
    return raw.count(b",") + _count_openings(raw)


def _count_openings(raw: bytes) -> int:
    return raw.count(b"[") + raw.count(b"{")


def _depth(structure: bytes) -> int:
    """How deep lists and objects are in each other."""
    return max(accumulate(array("b", structure.translate(_LEVELS, _NOT_BRACKETS))))


def _has_long_number(raw: bytes, digits: int) -> bool:
    return len(raw) > digits and b"0" * (digits + 1) in raw.translate(_ONE_DIGIT)


def _too_many(limits: Limits) -> UnreadableJson:
    return UnreadableJson(f"has more than {limits.values:,} values")


def _deep_byte(raw: bytes, limits: Limits) -> int:
    """The place of the bracket that opens one level too many, counted from 1."""
    depth = 0
    for token in _TOKEN.finditer(raw):
        bracket = token[0]
        depth += (bracket in (b"[", b"{")) - (bracket in (b"]", b"}"))
        if depth > limits.depth:
            return token.start() + 1
    return len(raw)


def read_json(text: str | bytes, limits: Limits = LIMITS, *, strict: bool = True) -> Any:
    """The value that a text is, as JSON has it: no NaN, and no number that is infinite as a float, unless it is read
    as many programs write it (`strict=False`). Of keys that an object repeats, the last counts."""
    check_json(text, limits)
    decoder = _STRICT if strict else _LENIENT
    try:
        return decoder.decode((text if isinstance(text, str) else text.decode()).removeprefix(_MARK))
    except UnicodeDecodeError as error:
        raise ForeignEncoding(f"is not UTF-8 (byte {error.start + 1}); save or send it as UTF-8") from None
    except json.JSONDecodeError as error:
        raise _broken(error) from None
    except (ValueError, RecursionError) as error:
        raise BrokenJson(f"is not valid JSON: {error}") from None


def read_json_at(text: str, start: int, limits: Limits = LIMITS) -> tuple[Any, int]:
    """The value that begins at this character of a text, and where it ends, read as with `strict=False`."""
    check_json(text[start:], limits)
    try:
        return _LENIENT.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise _broken(error) from None
    except (ValueError, RecursionError) as error:
        raise BrokenJson(f"is not valid JSON: {error}") from None


def _broken(error: json.JSONDecodeError) -> BrokenJson:
    is_cut_off = error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated string")
    kind = CutOffJson if is_cut_off else BrokenJson
    return kind(f"is not valid JSON: {error.msg} (at character {error.pos + 1})")


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number in JSON")


def _parse_finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError("a number is too large")
    return number


_STRICT = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_parse_finite)
_LENIENT = json.JSONDecoder(strict=False)


def check_nesting(value: Mapping[Any, Any]) -> None:
    """Raise `UnreadableJson` if a value that a program made is nested too deep to be kept, holds itself, has too many
    values, or a key that is not text: JSON would silently turn a number into a text."""
    unread: list[tuple[Any, int]] = [(dict(value), 1)]
    count = 0
    while unread:
        container, depth = unread.pop()
        count += len(container)
        if depth > KEPT_DEPTH:
            raise UnreadableJson(f"is nested deeper than {KEPT_DEPTH} levels, or holds itself")
        if count > KEPT_VALUES:
            raise UnreadableJson(f"has more than {KEPT_VALUES:,} values")
        if isinstance(container, dict):
            if not all(isinstance(key, str) for key in container):
                raise UnreadableJson("has a key that is not text")
            container = container.values()
        unread += [(inner, depth + 1) for inner in container if isinstance(inner, (dict, list, tuple))]


# -- streams


class _MeteredStream:
    """A stream that counts the bytes since the last event and the digits of each number, and knows whether its end was
    read. A number that is too long is refused before the parser has it: that of ijson crashes if Python refuses one."""

    def __init__(self, stream: Readable, limits: Limits) -> None:
        self._stream = stream
        self._limits = limits
        self._open = b""  # the beginning of a string that goes on in the next part: its quote, and half an escape
        self._digits = b""  # those that the next part may go on with
        self.unread = 0
        self.ended = False

    def read(self, size: int = -1) -> bytes:
        """The next part. The parser begins a text anew with each part of it, so the parts of a long text grow."""
        more = min(self.unread, LONGEST_PART, self._limits.size - self.unread)
        part = self._stream.read(size if size < 0 else max(size, more))
        self.ended = not part and size != 0
        self.unread += len(part)
        if self.unread > self._limits.size:
            raise UnreadableJson(f"has a text or a number of more than {self._limits.size:,} bytes")
        self._check_numbers(part)
        return part

    def _check_numbers(self, part: bytes) -> None:
        structure, quote, words = _WHOLE_STRING.sub(rb"\1", self._open + part).partition(b'"')
        structure = self._digits + structure
        if _has_long_number(structure, self._limits.digits):
            raise UnreadableJson(f"has a number of more than {self._limits.digits} digits")
        is_escape_open = (len(words) - len(words.rstrip(b"\\"))) % 2 == 1
        self._open = quote + b"\\" if is_escape_open else quote
        self._digits = b"" if quote else structure[len(structure.rstrip(_DIGITS)) :]


def json_events(stream: Readable, limits: Limits = STREAM, *, many: bool = False) -> Iterator[tuple[str, Any]]:
    """The events of a stream that holds one JSON value, or `many`, as `ijson.basic_parse` names them. Where it breaks
    off, is not JSON, or goes beyond the limits, `UnreadableJson` is raised after the events before."""
    import ijson  # takes a while, and only an import needs it

    source = _MeteredStream(stream, limits)
    depth = 0
    try:
        for event, value in ijson.basic_parse(source, multiple_values=many):
            source.unread = 0
            if event == "start_map" or event == "start_array":
                depth += 1
                if depth > limits.depth:
                    raise UnreadableJson(f"is nested deeper than {limits.depth:,} levels")
            elif event == "end_map" or event == "end_array":
                depth -= 1
            yield event, value
    except UnreadableJson:
        raise
    except ijson.JSONError as error:
        if source.ended:
            raise CutOffJson("breaks off here") from None
        problem = str(error).removeprefix("b'").replace("\\n", "\n").split("\n", 1)[0].rstrip(".")
        raise BrokenJson(f"is not valid JSON from here on: {problem}") from None
    except (ValueError, ArithmeticError):
        raise BrokenJson("is not valid JSON from here on: an impossible number or letter") from None
