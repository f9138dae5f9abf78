"""Published dialogues in which it is marked where the subject shifts, read into one shape.

The field has a few formats for the same thing, and which one a file has is seen from its content: TIAGE's (a label a
message, 1 where a subject begins), SuperDialseg's (a label a turn, 1 where one ends), lengths of segments beside the
messages, and plain text with a line of equals signs between segments. A dialogue of fewer than two messages has nothing
to find; the notes say how many were left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from everword.errors import InvalidInput
from everword.model import Role

KNOWN = (
    'TIAGE\'s ({"id": [["text", "0"], …]}), SuperDialseg\'s (`turns` with `utterance` and `segmentation_label`), '
    "`utterances` with `segments`, or text with a line of ===== between segments"
)
ASSISTANTS = frozenset({"agent", "assistant", "system", "bot", "wizard"})
_PARTING = re.compile(r"={4,}")


@dataclass(frozen=True, slots=True)
class Line:
    """One message; `shift` if it begins another subject than the one before."""

    text: str
    role: Role
    shift: bool


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Messages in order. The first begins its subject and is no shift."""

    name: str
    lines: tuple[Line, ...]

    @property
    def shifts(self) -> tuple[bool, ...]:
        return tuple(line.shift for line in self.lines)


@dataclass(frozen=True, slots=True)
class Marked:
    """A file of dialogues. `notes` say what of it was left out."""

    dialogues: tuple[Dialogue, ...]
    notes: tuple[str, ...] = ()

    @property
    def messages(self) -> int:
        return sum(len(dialogue.lines) for dialogue in self.dialogues)

    @property
    def shifts(self) -> int:
        return sum(sum(dialogue.shifts) for dialogue in self.dialogues)

    @property
    def assistants(self) -> bool:
        """Whether one side is an assistant."""
        return any(line.role == "assistant" for dialogue in self.dialogues for line in dialogue.lines)


def load(path: str | Path) -> Marked:
    """Read a file in one of the known formats, or a folder of text files with a dialogue each."""
    path = Path(path)
    if path.is_dir():
        texts = sorted(path.glob("*.txt"))
        if not texts:
            raise InvalidInput("data", f"{path} has no file that ends in .txt; give a file, or a folder of such files")
        return _judged(path, [_from_text(_text(file), file.stem) for file in texts])
    text = _text(path)
    if any(_PARTING.fullmatch(line.strip()) for line in text.splitlines()):
        return _judged(path, [_from_text(text, path.stem)])
    return _judged(path, _from_json(path, text))


def among_people(marked: Marked) -> Marked:
    """The same, both sides taken for people."""
    dialogues = (
        replace(one, lines=tuple(replace(line, role="user") for line in one.lines)) for one in marked.dialogues
    )
    return replace(marked, dialogues=tuple(dialogues))


def _judged(path: Path, dialogues: Iterable[Dialogue]) -> Marked:
    found = list(dialogues)
    kept = tuple(dialogue for dialogue in found if len(dialogue.lines) > 1)
    notes = (f"left out, fewer than two messages: {len(found) - len(kept)}",) if len(kept) < len(found) else ()
    marked = Marked(kept, notes)
    if not marked.shifts:
        raise InvalidInput("data", f"{path} marks no shift of subject in {len(found)} dialogues: nothing to measure")
    return marked


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InvalidInput("data", f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InvalidInput("data", f"{path} is not text in UTF-8: {error}") from error


def _from_text(text: str, name: str) -> Dialogue:
    lines: list[Line] = []
    parted = False
    for row in map(str.strip, text.splitlines()):
        if _PARTING.fullmatch(row):
            parted = True
        elif row:
            lines.append(Line(row, "user", parted and bool(lines)))
            parted = False
    return Dialogue(name, tuple(lines))


# -- JSON


def _from_json(path: Path, text: str) -> list[Dialogue]:
    content = _parsed(path, text)
    if isinstance(content, dict) and isinstance(content.get("dial_data"), dict):
        content = [entry for entries in content["dial_data"].values() for entry in _listed(entries, path)]
    elif isinstance(content, dict) and {"turns", "utterances"} & set(content):
        content = [content]
    elif isinstance(content, dict):
        return [_tiage(str(name), rows, path) for name, rows in content.items()]
    records = _listed(content, path)
    return [_record(record, number, path) for number, record in enumerate(records, 1)]


def _parsed(path: Path, text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError as error:
        raise InvalidInput("data", f"{path} is nested too deeply to be one of the known formats: {KNOWN}") from error
    except json.JSONDecodeError as error:
        rows = [row for row in text.splitlines() if row.strip()]
        try:
            return [json.loads(row) for row in rows]
        except (json.JSONDecodeError, RecursionError):
            raise InvalidInput(
                "data", f"{path} is not JSON, or only a part of it was downloaded: {error}. Known: {KNOWN}"
            ) from error


def _listed(value: Any, path: Path) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise InvalidInput("data", f"{path} holds no list of dialogues. Known: {KNOWN}")
    return value


def _tiage(name: str, rows: Any, path: Path) -> Dialogue:
    if not isinstance(rows, list) or not all(
        isinstance(row, list) and len(row) == 2 and isinstance(row[0], str) and str(row[1]) in ("-1", "0", "1")
        for row in rows
    ):
        raise InvalidInput("data", f"{path}, dialogue {name!r}: no list of [text, -1 | 0 | 1]. Known: {KNOWN}")
    shifts = [str(label) == "1" for _, label in rows]
    return _dialogue(name, [text for text, _ in rows], ["user"] * len(rows), shifts)


def _record(record: Any, number: int, path: Path) -> Dialogue:
    if not isinstance(record, dict):
        raise InvalidInput("data", f"{path}, dialogue {number}: {type(record).__name__}, no object. Known: {KNOWN}")
    name = str(record.get("dial_id", record.get("id", number)))
    if isinstance(record.get("turns"), list):
        return _of_turns(name, record["turns"], path)
    if isinstance(record.get("utterances"), list):
        return _of_segments(name, record, path)
    raise InvalidInput("data", f"{path}, dialogue {name!r}: neither `turns` nor `utterances`. Known: {KNOWN}")


def _of_turns(name: str, turns: list[Any], path: Path) -> Dialogue:
    texts: list[str] = []
    ends: list[bool] = []
    topics: list[Any] = []
    for number, turn in enumerate(turns, 1):
        if not isinstance(turn, Mapping) or not isinstance(turn.get("utterance"), str):
            raise InvalidInput("data", f"{path}, dialogue {name!r}, turn {number}: no `utterance`. Known: {KNOWN}")
        if "segmentation_label" not in turn and "topic_id" not in turn:
            raise InvalidInput("data", f"{path}, dialogue {name!r}, turn {number}: no `segmentation_label`")
        texts.append(turn["utterance"])
        ends.append(str(turn.get("segmentation_label")) in ("1", "True"))
        topics.append(turn.get("topic_id"))
    if all("segmentation_label" in turn for turn in turns):
        shifts = [False, *ends[:-1]]
    else:
        shifts = [False, *(one != other for one, other in pairwise(topics))]
    return _dialogue(name, texts, [str(turn.get("role", "user")) for turn in turns], shifts)


def _of_segments(name: str, record: Mapping[str, Any], path: Path) -> Dialogue:
    texts, where = record["utterances"], f"{path}, dialogue {name!r}"
    if not all(isinstance(text, str) for text in texts):
        raise InvalidInput("data", f"{where}: `utterances` are not all text")
    roles = record.get("roles")
    roles = (
        [str(role) for role in roles] if isinstance(roles, list) and len(roles) == len(texts) else ["user"] * len(texts)
    )
    labels = record.get("segmentation_labels")
    if isinstance(labels, list) and len(labels) == len(texts):
        return _dialogue(name, texts, roles, [False, *(str(label) == "1" for label in labels[:-1])])
    sizes = record.get("segments")
    if not isinstance(sizes, list) or not all(isinstance(size, int) and size > 0 for size in sizes):
        raise InvalidInput("data", f"{where}: no `segments`, the number of messages of each. Known: {KNOWN}")
    if sum(sizes) != len(texts):
        raise InvalidInput("data", f"{where}: `segments` add up to {sum(sizes)}, but there are {len(texts)} messages")
    shifts = [place == 0 and bool(number) for number, size in enumerate(sizes) for place in range(size)]
    return _dialogue(name, texts, roles, shifts)


def _dialogue(name: str, texts: Sequence[str], roles: Sequence[str], shifts: Sequence[bool]) -> Dialogue:
    lines = [
        Line(text, "assistant" if role.casefold() in ASSISTANTS else "user", shift and bool(place))
        for place, (text, role, shift) in enumerate(zip(texts, roles, shifts, strict=False))
    ]
    return Dialogue(name, tuple(lines))
