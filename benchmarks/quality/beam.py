"""BEAM's chats, read into the shape of the other sets.

A chat is a folder with `chat.json` and `probing_questions.json`, and a set is a folder of such folders, as published.
A chat is one long conversation with an assistant; its batches, weeks apart, are its sessions. The evidence of a
question is the messages that its `source_chat_ids` name, at whatever depth.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from everword.errors import InvalidInput
from quality.shapes import BETWEEN_TURNS, Dataset, Haystack, Question, Session, Turn, after_the_last

BEAM = "BEAM"
CHAT, QUESTIONS = "chat.json", "probing_questions.json"
_MARK = re.compile(r"\s*->->\s*[\d,.\s]*$")  # the place in the plan of a chat, at the end of a user's message


def is_beam(path: Path) -> bool:
    """Whether a path is a chat of BEAM or a folder of them."""
    return path.is_dir() and any(path.glob(f"**/{CHAT}"))


def load_beam(path: Path) -> Dataset:
    """Read a folder of BEAM's chats, or one of them."""
    notes: list[str] = []
    folders = sorted((file.parent for file in path.glob(f"**/{CHAT}")), key=lambda folder: (len(folder.name), folder))
    return Dataset(BEAM, tuple(_haystack(folder, notes) for folder in folders), tuple(notes))


def _haystack(folder: Path, notes: list[str]) -> Haystack:
    name = f"chat-{folder.name}"
    sessions = tuple(_sessions(_read(folder / CHAT, list), name))
    home = {turn.id: session.id for session in sessions for turn in session.turns}
    asked_at = after_the_last([turn for session in sessions for turn in session.turns])
    questions: list[Question] = []
    for ability, entries in _read(folder / QUESTIONS, dict).items():
        for number, entry in enumerate(entries, 1):
            id = f"{name}/{ability}/{number}"
            evidence = tuple(
                dict.fromkeys(source for source in _sources(entry.get("source_chat_ids")) if source in home)
            )
            if not evidence:
                notes.append(f"{id}: left out, no evidence")
                continue
            answer = entry.get("answer") or entry.get("ideal_answer") or entry.get("ideal_summary") or ""
            homes = tuple(dict.fromkeys(home[source] for source in evidence))
            questions.append(Question(id, str(entry["question"]), str(answer), evidence, homes, ability, asked_at))
    return Haystack(name, sessions, tuple(questions), continuous=True)


def _sessions(batches: list[Any], name: str) -> Iterator[Session]:
    """The batches of a chat, each with its day; a message is a moment after the one before."""
    for number, batch in enumerate(batches, 1):
        where = f"{name}, batch {number}"
        try:
            messages = [message for group in batch["turns"] for message in group]
            anchor = batch.get("time_anchor") or next(m["time_anchor"] for m in messages if m.get("time_anchor"))
            day = datetime.strptime(anchor, "%B-%d-%Y").replace(tzinfo=UTC) + timedelta(hours=9)
            turns = tuple(_turn(message, day + place * BETWEEN_TURNS) for place, message in enumerate(messages))
        except (KeyError, TypeError, AttributeError, ValueError, StopIteration) as error:
            raise InvalidInput("data", f"{where} is not as BEAM publishes it: {error!r}") from error
        yield Session(f"batch-{number}", day, turns)


def _turn(message: Mapping[str, Any], time: datetime) -> Turn:
    role = message["role"]
    if role not in ("user", "assistant"):
        raise ValueError(f"role {role!r}")
    return Turn(str(message["id"]), role, role, _MARK.sub("", message["content"]), time)


def _sources(given: object) -> Iterator[str]:
    """The numbers of messages in lists and mappings of any depth."""
    if isinstance(given, Mapping):
        given = list(given.values())
    if isinstance(given, list):
        for part in given:
            yield from _sources(part)
    elif isinstance(given, int | str) and str(given).isdigit():
        yield str(given)


def _read(path: Path, kind: type) -> Any:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput("data", f"cannot read {path}: {error}") from error
    if not isinstance(content, kind):
        raise InvalidInput("data", f"{path} is not as BEAM publishes it")
    return content
