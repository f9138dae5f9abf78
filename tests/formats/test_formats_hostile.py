"""Files made to exhaust whoever reads them are refused under a limit of memory: what is read is bounded by a constant
and the largest message, whatever the file."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import pytest
import sample_sizes

from everword.formats import FORMATS, BadRecord, Record, open_records

MORE = 1 << 30  # bytes that a reading process may have beyond what it begins with
PEAK = 400 << 20  # bytes of it that are ever in memory: a value of 64 MiB, its parts, and what the parser holds
DEEP = 200_000
MIB = 1 << 20

READER = """
import json, os, resource, sys
from everword.errors import ImportFailed
from everword.formats import FORMATS, BadRecord, Record, detect, open_records

pages = int(open("/proc/self/statm").read().split()[0]) if os.path.exists("/proc/self/statm") else 1 << 18
limit = pages * resource.getpagesize() + {more}
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

def outcome(read):
    reasons = []
    try:
        for record in read():
            if isinstance(record, BadRecord):
                reasons.append(record.reason)
            elif isinstance(record, Record):
                said.append(record.draft.content)
    except ImportFailed as error:
        reasons.append(str(error))
    return reasons

for path, formats in json.load(sys.stdin):
    said = []
    outcomes = {{format: outcome(lambda: open_records(path, format)) for format in formats}}
    outcomes["detected"] = outcome(lambda: [detect(path)])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(json.dumps([outcomes, said, peak * (1 if sys.platform == "darwin" else 1024)]), flush=True)
"""


CLAUDE = b'{"uuid": "m", "sender": "human", "text": "a", "created_at": "2025-01-01T00:00:00Z", "content": '
AROUND: dict[str, tuple[bytes, bytes]] = {
    "everword": (b'{"role": "user", "content": "a", "metadata": {"x": ', b"}}"),
    "chatgpt": (
        b'[{"id": "c", "mapping": {"a": {"message": {"create_time": 1, "author": {"role": "user"}, '
        b'"content": {"parts": [{"x": ',
        b"}]}}}}}]",
    ),
    "claude": (b'[{"uuid": "c", "chat_messages": [' + CLAUDE + b'[{"type": "x", "y": ', b"}]}]}]"),
    "discord": (
        b'{"channel": {"id": 1}, "messages": [{"id": 1, "author": {"id": 1}, "content": "a", '
        b'"timestamp": "2025-01-01T00:00:00Z", "embeds": [{"title": ',
        b"}]}]}",
    ),
    "telegram": (b'{"id": 1, "messages": [{"id": 1, "date_unixtime": 5, "text": "a", "photo": ', b"}]}"),
    "slack": (b'[{"ts": "1.5", "text": "a", "reactions": [{"name": ', b"}]}]"),
    "mem0": (b'{"results": [{"id": "m", "user_id": "u", "memory": "a", "metadata": ', b"}]}"),
    "zep": (b'{"edges": [{"uuid": "m", "group_id": "u", "fact": "a", "name": ', b"}]}"),
    "langgraph": (b'{"items": [{"key": "k", "namespace": ["u"], "value": {"text": "a", "x": ', b"}}]}"),
    "hindsight": (b'{"items": [{"id": "m", "bank_id": "u", "text": "a", "context": ', b"}]}"),
    "letta": (b'{"messages": [{"role": "user", "content": [{"type": "text", "text": ', b"}]}]}"),
    "mcp": (b'{"name": "a", "entityType": "x", "observations": [', b"]}"),
}
GOOD = {
    "everword": b'{"role": "user", "content": "good"}\n',
    "chatgpt": b'{"id": "g", "create_time": 1, "mapping": {"a": {"message": {"id": "m", "author": {"role": "user"}, '
    b'"content": {"parts": ["good"]}}}}}',
    "claude": b'{"uuid": "g", "chat_messages": [{"uuid": "m", "sender": "human", "text": "good", '
    b'"created_at": "2025-01-01T00:00:00Z"}]}',
    "discord": b'{"id": 2, "author": {"id": 1}, "content": "good", "timestamp": "2025-01-01T00:00:00Z"}',
    "telegram": b'{"id": 2, "date_unixtime": 5, "text": "good", "from_id": "user1"}',
    "slack": b'{"ts": "2.5", "text": "good"}',
    "mem0": b'{"id": "g", "user_id": "u", "memory": "good"}',
    "zep": b'{"uuid": "g", "group_id": "u", "fact": "good"}',
    "langgraph": b'{"key": "g", "namespace": ["u"], "value": {"text": "good"}}',
    "hindsight": b'{"id": "g", "bank_id": "u", "text": "good"}',
    "letta": b'{"role": "user", "content": "good"}',
    "mcp": b'{"name": "user", "observations": ["good"]}',
}


def inside(format: str, value: bytes) -> bytes:
    """A file of a format with a value in the place of something that a message has."""
    before, after = AROUND[format]
    return before + value + after


def then_good(format: str, value: bytes) -> bytes:
    """The same, with a message after it that nothing is wrong with."""
    bad, good = inside(format, value), GOOD[format]
    if format in ("everword", "mcp"):
        return bad + b"\n" + good
    if format in ("chatgpt", "claude", "slack"):
        return bad.removesuffix(b"]") + b", " + good + b"]"
    return bad.removesuffix(b"]}") + b", " + good + b"]}"


def zip_of(parts: Iterable[bytes]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with (
            zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
            archive.open("conversations.json", "w", force_zip64=True) as member,
        ):
            for part in parts:
                member.write(part)

    return write


VALUES = {
    "deep lists": b"[" * DEEP + b"]" * DEEP,
    "deep objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "a long number": b"9" * 5_000,
    "a longer number": b"9" * 1_000_000,
    "a number in two parts of what is read": b" " * (65_000) + b"9" * 5_000,
    "a long fraction": b"0." + b"9" * 100_000 + b"e999",
    "a long exponent": b"1e" + b"9" * 5_000,
}
WIDE = {"everword": b"[" + b"[]," * 1_100_000 + b"[]]", "claude": b"[" + b"[]," * 510_000 + b"[]]"}
LONG = {"everword": b'"' + b"x" * (65 * MIB) + b'"', "claude": b'"' + b"x" * (17 * MIB) + b'"'}
FILES: dict[str, bytes | Callable[[Path], None]] = {
    "open lists": b"[" * DEEP,
    "open objects": b'{"a":' * DEEP,
    "open lists, 5 MB": b"[" * 5_000_000,
    "a large exponent": b'[{"create_time": 1e999999999, "mapping": {}}]',
    "NaN": b'[{"mapping": NaN}]',
    "half of a file": b'[{"mapping": {"a": ',
    "UTF-16": '[{"mapping": {}}]'.encode("utf-16"),
    "one key, very often": b"{" + b'"a": 1, ' * 10_000 + b'"a": [}',
}
REASONS = ("nested deeper", "values", "expected text")  # a part of why one message is refused
LARGE: dict[str, bytes | Callable[[Path], None]] = {
    "a zip of open lists": zip_of([b"[" * MIB] * 70),
    "a zip of one text": zip_of([b'[{"mapping": "', *([b"x" * MIB] * 70)]),
}


def cases() -> Iterator[tuple[str, bytes | Callable[[Path], None], Sequence[str]]]:
    """Each file, and the formats that it is read as: a large one as those that differ in how they read."""
    for name, content in FILES.items():
        yield name, content, tuple(FORMATS)
    each = list(AROUND)
    for number, (name, value) in enumerate(VALUES.items()):
        for format in each if sample_sizes.is_whole else each[number % sample_sizes.PART :: sample_sizes.PART]:
            yield f"{name} in {format}", inside(format, value), (format,)
    for name, content in LARGE.items():
        yield name, content, ("everword",)
    for format, value in WIDE.items():
        yield f"many values in {format}", then_good(format, value), (format,)
        yield f"a long text in {format}", inside(format, LONG[format]), (format,)


def test_hostile_files_are_refused_within_little_memory(tmp_path: Path) -> None:
    named = list(cases())
    tasks = []
    for number, (_, content, formats) in enumerate(named):
        path = tmp_path / f"{number}.json"
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            content(path)
        tasks.append((str(path), formats))
    program = [sys.executable, "-c", READER.format(more=MORE)]
    done = subprocess.run(program, input=json.dumps(tasks), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2_000:]
    results = {name: json.loads(line) for (name, _, _), line in zip(named, done.stdout.splitlines(), strict=True)}
    for name, (outcomes, _, peak) in results.items():
        assert peak < PEAK, (name, peak)
        for format in outcomes.keys() - {"detected"}:
            assert outcomes[format], (name, format)
    for format in WIDE:  # what has too many values does not cost the others
        outcomes, said, _ = results[f"many values in {format}"]
        assert (len(outcomes[format]), said) == (1, ["good"]), (format, outcomes)
        assert any(reason in outcomes[format][0] for reason in REASONS), (format, outcomes)
    for name in ("open lists", "open objects", "open lists, 5 MB", "a zip of open lists"):
        assert "nested deeper than 1,000 levels" in results[name][0]["detected"][0]


@pytest.mark.parametrize("format", [format for format in FORMATS if format != "whatsapp"])
def test_one_hostile_message_does_not_cost_the_others(tmp_path: Path, format: str) -> None:
    """A message that is nested too deep is one bad record, as is one with too many values in the test above."""
    path = tmp_path / "file.json"
    for depth in (500,) if format in WIDE else (500, 90):
        value = b"[" * depth + b"]" * depth
        path.write_bytes(then_good(format, value))
        records = list(open_records(path, format, user="alex"))
        assert [isinstance(record, BadRecord) for record in records] == [True, False], records
        assert any(reason in str(records[0]) for reason in REASONS)
        assert isinstance(records[1], Record)
        assert records[1].draft.content == "good"
