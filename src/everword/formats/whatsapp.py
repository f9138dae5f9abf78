"""A chat exported from WhatsApp: a text file, one message after the other, with local dates as the phone writes them.

The order of day and month is that of the phone: it follows from a number above 12, or from the dates going forward;
if neither says it, months come first where the clock has AM and PM. The zone is not in the file. A chat is named by its
file, as WhatsApp names it after the chat ("WhatsApp Chat with Ann.txt"); one that was renamed to a generic name, by its
first message. Lines without a name are notices of WhatsApp.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import partial
from hashlib import blake2b
from itertools import pairwise

from everword.errors import ImportFailed
from everword.formats.fields import Options, attempt, drop_empty, text
from everword.formats.jsonl import RepeatCounter
from everword.formats.source import Stream
from everword.model import BadRecord, Draft, Record, Role
from everword.model.people import clean_name

LONGEST_LINE = 1 << 20  # bytes
MOST_LINES = 10_000  # of one message
SAMPLE = 2_000  # messages that tell day and month apart
_START = re.compile(
    r"^[\u200e\u200f]*\[?(?P<a>\d{1,4})(?P<between>[./-]) ?(?P<b>\d{1,2})[./-] ?(?P<c>\d{2,4}),? "
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2}))?"
    r"(?:[ \u202f\u00a0]?(?P<half>[AaPp])\.?[ \u00a0]?[Mm]\.?)?"
    r"(?:\] | ?[-\u2013] )"
)
_AUTHOR = re.compile(r"^(?P<who>[^\n:]{1,120}?): ")
_INVISIBLE = "\u200e\u200f\u202a\u202c\ufeff"
_FILE = re.compile(r"^<(?:attached|Anhang|adjunto|joint|allegato): (.+)>$|^(.+) \((?:file attached|Datei angehängt)\)$")
_OMITTED = re.compile(
    r"^<Media omitted>$|^(image|video|audio|sticker|GIF|document|Contact card) omitted$", re.IGNORECASE
)
_DELETED = re.compile(r"^(?:This message was deleted|You deleted this message)\.?$")
_NAME = re.compile(
    r"(?:WhatsApp Chat (?:with|-)|WhatsApp-Chat mit|Chat de WhatsApp con|Discussion WhatsApp avec) (.+?)(?: ?\(\d+\))?$"
)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A message as it stands in the file: the parts of its date, and its text with its author."""

    date: re.Match[str]
    body: str
    number: int
    position: int

    def time(self, order: str, zone: tzinfo = UTC) -> datetime:
        numbers = dict(zip(order, (int(self.date[name]) for name in "abc"), strict=True))
        year = numbers["y"] + 2000 if numbers["y"] < 100 else numbers["y"]
        hour = int(self.date["hour"])
        if half := self.date["half"]:
            hour = hour % 12 + 12 * (half in "pP")
        try:
            minute, second = int(self.date["minute"]), int(self.date["second"] or 0)
            return datetime(year, numbers["m"], numbers["d"], hour, minute, second, tzinfo=zone)
        except ValueError:
            raise ImportFailed("is not a date") from None


def is_chat(head: bytes) -> bool:
    """Whether a file begins as WhatsApp's do."""
    return _START.match(head[:200].decode("utf-8", "ignore").lstrip("\ufeff")) is not None


def read(stream: Stream, options: Options) -> Iterator[Record | BadRecord]:
    """The messages of a chat, in its order."""
    try:
        if options.zone is None:
            raise ImportFailed("WhatsApp writes local times: name their zone, as in --timezone Europe/Berlin")
        entries = _entries(stream)
        sample = [entry for entry, _ in zip(entries, range(SAMPLE), strict=False)]
        if not sample:
            raise ImportFailed("there is no message in the file")
        order = _date_order(sample)
        chat = _chat_name(stream.name) or blake2b(sample[0].body.encode(), digest_size=8).hexdigest()
        occurrences = RepeatCounter()
        for entries_ in (sample, entries):
            for entry in entries_:
                where = f"line {entry.number}"
                for record in attempt(where, partial(_record, entry, order, chat, options, where)):
                    yield occurrences.name(record) if isinstance(record, Record) else record
    except ImportFailed as error:
        yield BadRecord("the file", str(error))


def _chat_name(path: str) -> str:
    """The name of the chat in that of its file, or of the zip or folder around it."""
    for part in reversed(re.split(r"[/\\]", path)):
        if match := _NAME.search(re.sub(r"\.(?:txt|zip)$", "", part)):
            return match[1].strip()
    return ""


def _entries(stream: Stream) -> Iterator[_Entry]:
    """The messages; a line that begins with no date belongs to the one before."""
    date: re.Match[str] | None = None
    lines: list[str] = []
    first = number = position = 0
    while raw := stream.readline(LONGEST_LINE):
        number += 1
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        start = _START.match(line)
        if start is None:
            if date is not None and len(lines) < MOST_LINES:
                lines.append(line)
            continue
        if date is not None:
            yield _Entry(date, "\n".join(lines), first, position)
        date, lines, first, position = start, [line[start.end() :]], number, stream.position
    if date is not None:
        yield _Entry(date, "\n".join(lines), first, position)


def _date_order(entries: list[_Entry]) -> str:
    """Which of a date's three numbers are day, month and year, as "dmy"."""
    if any(len(entry.date["a"]) == 4 for entry in entries):
        return "ymd"
    if entries[0].date["between"] == ".":
        return "dmy"
    if any(int(entry.date["a"]) > 12 for entry in entries):
        return "dmy"
    if any(int(entry.date["b"]) > 12 for entry in entries):
        return "mdy"
    backwards = {
        order: sum(after.time(order) < before.time(order) for before, after in pairwise(entries))
        for order in ("dmy", "mdy")
    }
    if backwards["dmy"] != backwards["mdy"]:
        return min(backwards, key=lambda order: backwards[order])
    return "mdy" if any(entry.date["half"] for entry in entries) else "dmy"


def _record(entry: _Entry, order: str, chat: str, options: Options, where: str) -> Record | None:
    time = entry.time(order, options.zone or UTC)
    body = text(entry.body, "text").lstrip(_INVISIBLE)
    author = _AUTHOR.match(body)
    content = body[author.end() :].strip(_INVISIBLE) if author else body
    if _DELETED.match(content):
        options.left_out["deleted messages"] += 1
        return None
    if omitted := _OMITTED.match(content):
        options.left_out["pictures, sound and files"] += 1
        content = f"[{(omitted[1] or 'attachment').lower()}]"
    elif file := _FILE.match(content):
        options.left_out["pictures, sound and files"] += 1
        content = f"[attachment: {file[1] or file[2]}]"
    if not content.strip():
        return None
    name = clean_name(author["who"].strip("~\u202f " + _INVISIBLE)) if author else None
    role: Role = "user" if name else "system"
    if name in options.assistant_ids:
        role = "assistant"
    owner = options.user if options.assistant_ids else None
    draft = Draft(
        role=role,
        content=content,
        author=(owner if owner and role == "user" else name) or None,
        user=owner,
        time=time.astimezone(UTC),
        metadata=drop_empty(name=name, title=chat if entry.number == 1 else None),
    )
    return Record(f"whatsapp:{chat}", owner, draft, where, entry.position)
