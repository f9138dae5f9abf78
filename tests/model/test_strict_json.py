"""JSON from outside: our own limits decide, whichever interpreter reads it, and every refusal says what and where."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from everword.strict_json import Limits, UnreadableJson, check_json, json_events, read_json, read_json_at

SMALL = Limits(depth=3, values=10, digits=5, size=100)
REFUSED = {
    "[[[[]]]]": r"nested deeper than 3 levels \(at byte 4\)",
    '{"a": "]]", "b": [{"c": {}}]}': r"nested deeper than 3 levels \(at byte 25\)",
    "[[[[": "nested deeper than 3 levels",
    "[" + "1," * 10 + "1]": "more than 10 values",
    "[" + "[]," * 5 + "[]]": "more than 10 values",
    "123456": "more than 5 digits",
    "0.123456": "more than 5 digits",
    "1e123456": "more than 5 digits",
    '"' + "x" * 100 + '"': "longer than 100 bytes",
    "]]]]]]": "not valid JSON",
    "[1": r"not valid JSON: .* \(at character",
    "NaN": "NaN is not a number",
    "-Infinity": "-Infinity is not a number",
    "1e999": "a number is too large",
    "": "not valid JSON",
    "\x00": "not UTF-8",
}


@pytest.mark.parametrize(("text", "reason"), REFUSED.items())
def test_what_goes_beyond_a_limit_is_refused_with_the_limit(text: str, reason: str) -> None:
    for given in (text, text.encode()):
        with pytest.raises(UnreadableJson, match=reason):
            read_json(given, SMALL)


@pytest.mark.parametrize("raw", [b'\xff\xfe"\x00', '"a"'.encode("utf-16-be"), '"a"'.encode("utf-32"), b'"\xff"'])
def test_text_that_is_not_utf_8_is_refused(raw: bytes) -> None:
    """In another encoding a bracket may look like something else to what counts them."""
    with pytest.raises(UnreadableJson, match="not UTF-8"):
        read_json(raw)


def test_what_is_in_strings_does_not_count() -> None:
    for value in ("[[[[[[", ",,,,,,,,,,,,", "1234567890", '\\"[[[[', '"{"{"{"{', "\\"):
        assert read_json(json.dumps([[value]]), SMALL) == [[value]]
    assert read_json(b'\xef\xbb\xbf{"a": 1}', SMALL) == {"a": 1}


def test_a_value_within_a_text_is_read_with_the_same_limits() -> None:
    assert read_json_at('so: {"a": [1]} and more [[', 4, SMALL) == ({"a": [1]}, 14)
    with pytest.raises(UnreadableJson, match="nested deeper"):
        read_json_at("so: [[[[1]]]]", 4, SMALL)


@pytest.mark.parametrize("depth", [100, 101, 5_000, 200_000])
def test_the_interpreter_does_not_decide_how_deep_is_too_deep(depth: int) -> None:
    for text in ("[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth):
        if depth <= 100:
            assert read_json(text) is not None
            continue
        with pytest.raises(UnreadableJson, match="nested deeper than 100 levels"):
            check_json(text)


# -- streams


class InParts:
    """A stream that gives so many bytes at a time."""

    def __init__(self, raw: bytes, size: int) -> None:
        self._raw = io.BytesIO(raw)
        self._size = size

    def read(self, size: int = -1) -> bytes:
        return self._raw.read(min(size, self._size))


def events(raw: bytes, size: int, limits: Limits = SMALL) -> list[tuple[str, Any]]:
    return list(json_events(InParts(raw, size), limits))


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
def test_a_stream_is_read_alike_however_it_comes_in_parts(size: int) -> None:
    raw = json.dumps({"a": "1234567", "b\\": ['\\\\"123456', 12345, "x\\\\", '\\"']}).encode()
    assert events(raw, size) == list(json_events(io.BytesIO(raw)))
    for number in (b"123456", b"0.123456", b"1e123456"):
        with pytest.raises(UnreadableJson, match="more than 5 digits"):
            events(b'["1234567", ' + number + b"]", size)
    with pytest.raises(UnreadableJson, match="nested deeper than 3 levels"):
        events(b"[[[[1]]]]", size)
    with pytest.raises(UnreadableJson, match="breaks off"):
        events(b'["a"', size)
    with pytest.raises(UnreadableJson, match="not valid JSON"):
        events(b'["a"}', size)


def test_a_long_text_comes_in_few_parts() -> None:
    """The parser goes through a text anew with each part of it: with 128 parts that is time in its square."""
    sizes: list[int] = []

    class Noting(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            part = super().read(size)
            sizes.append(len(part))
            return part

    text = "x" * (8 << 20)
    assert list(json_events(Noting(json.dumps([text, 1]).encode())))[1:3] == [("string", text), ("number", 1)]
    assert len(sizes) < 12
    assert max(sizes) <= 4 << 20


def test_a_text_in_a_stream_is_not_held_without_end() -> None:
    with pytest.raises(UnreadableJson, match="more than 100 bytes"):
        events(b'["' + b"x" * 1_000, 10)
    assert len(events(b"[" + b'"xxxxxxxx",' * 1_000 + b"1]", 10)) == 1_003
