"""What a coding agent has of a project from before the memory was there: as records to import, each with its date.

Transcripts of past sessions (Claude Code, Codex, Gemini CLI, OpenCode), the notes that a project keeps for its agents,
and the commits of its repository. Of a session only what was said is taken: no prompts of the host, and no tools nor
what they printed. What `.everwordignore` names is left out, and so is a session that the memory already has.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from everword.agents.events import Project
from everword.model import Draft, Record, Role

NOTES = ("CLAUDE.md", "AGENTS.md", "GEMINI.md", ".claude/CLAUDE.md", ".github/copilot-instructions.md")
MAX_FILE = 64 << 20  # bytes of a transcript; a longer one is left out
MAX_LINE = 4 << 20
MAX_COMMITS = 2_000  # the last ones
MAX_BODY = 600  # characters of a commit's message
TAIL = 512 * 1024  # bytes of a running transcript in which the last words are looked for
_HOSTS_OWN = re.compile(
    r"^\s*<(?:environment_context|user_instructions|command-|local-command|system-reminder|permissions)"
)
_END = "\x1e"  # between commits
_PART = "\x1f"  # between the fields of one
_FORMAT = f"{_END}%H{_PART}%aI{_PART}%an{_PART}%s{_PART}%b{_PART}"

Utterance = tuple[str, Role, str, datetime]  # the session, who spoke, the words, when


def past_records(host: str, project: Project, person: str, home: Path) -> Iterator[Record]:
    """All there is of a project, oldest kind first: commits, notes, sessions."""
    if project.is_ignored:
        return
    yield from commits(project, person)
    yield from notes(project, person)
    for session, role, text, time in _SESSIONS[host](project, home):
        yield _record(f"past/{host}:{session}", role, text, time, person)


def _record(conversation: str, role: Role, text: str, time: datetime | None, person: str, **metadata: Any) -> Record:
    digest = hashlib.sha256(f"{role}\0{text}\0{time}".encode()).hexdigest()[:24]
    author = person if role == "user" else None
    title = {"title": " ".join(text.split())[:60]} if role == "user" and not metadata else metadata
    draft = Draft(role, text, author, person, time, platform_id=f"past:{digest}", metadata=title)
    return Record(conversation, person, draft, conversation)


# -- the project's own


def commits(project: Project, person: str) -> Iterator[Record]:
    """The last commits, as events: what was changed, by whom."""
    command = [
        "git",
        "-C",
        str(project.root),
        "log",
        f"-{MAX_COMMITS}",
        "--no-merges",
        "--name-only",
        f"--format={_FORMAT}",
    ]
    try:
        done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return
    for entry in reversed(done.stdout.decode("utf-8", "replace").split(_END)[1:]):
        commit, date, author, subject, body, files = (entry.split(_PART) + [""] * 6)[:6]
        names = files.split()
        if names and all(map(project.ignores, names)):
            continue
        text = f"{author} committed: {subject}\n{body.strip()[:MAX_BODY]}".strip()
        yield _record("git", "system", text, datetime.fromisoformat(date).astimezone(UTC), person, commit=commit)


def notes(project: Project, person: str) -> Iterator[Record]:
    """The notes that the project keeps for its agents, each whole and at the time it was last changed."""
    for name in NOTES:
        path = project.root / name
        if not project.ignores(name) and path.is_file() and path.stat().st_size <= MAX_LINE:
            text = path.read_text(encoding="utf-8", errors="replace").strip()
            time = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            if text:
                yield _record(f"notes/{name}", "system", text, time, person, title=name)


# -- transcripts


def claude_sessions(project: Project, home: Path) -> Iterator[Utterance]:
    """Claude Code's: a folder for each project, named by its path; a file for each session."""
    folder = home / ".claude" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(project.root))
    for path in sorted(folder.glob("*.jsonl")):
        for line in _lines(path):
            message = line.get("message")
            if line.get("type") in ("user", "assistant") and isinstance(message, dict) and not _is_aside(line):
                yield from _utterances(path.stem, line["type"], _text(message.get("content")), line.get("timestamp"))


def _is_aside(line: dict[str, Any]) -> bool:
    return any(line.get(name) for name in ("isSidechain", "isMeta", "isCompactSummary"))


def codex_sessions(project: Project, home: Path) -> Iterator[Utterance]:
    """Codex's: a file for each session, by day; its first line says in which folder it was."""
    for path in sorted((home / ".codex" / "sessions").glob("*/*/*/rollout-*.jsonl")):
        session = ""
        for line in _lines(path):
            payload = line.get("payload")
            if not isinstance(payload, dict):
                continue
            if line.get("type") == "session_meta":
                if not _is_inside(payload.get("cwd"), project):
                    break
                session = str(payload.get("id") or path.stem)
            elif session and line.get("type") == "response_item" and payload.get("type") == "message":
                yield from _utterances(
                    session, payload.get("role"), _text(payload.get("content")), line.get("timestamp")
                )


def gemini_sessions(project: Project, home: Path) -> Iterator[Utterance]:
    """Gemini CLI's: a folder named by a hash of the project's path."""
    name = hashlib.sha256(str(project.root).encode()).hexdigest()
    for path in sorted((home / ".gemini" / "tmp" / name / "chats").glob("session-*.json")):
        whole = _json(path)
        messages = whole.get("messages")
        for message in messages if isinstance(messages, list) else []:
            if isinstance(message, dict):
                role = {"gemini": "assistant"}.get(str(message.get("type")), message.get("type"))
                session = str(whole.get("sessionId") or path.stem)
                yield from _utterances(session, role, _text(message.get("content")), message.get("timestamp"))


def opencode_sessions(project: Project, home: Path) -> Iterator[Utterance]:
    """OpenCode's: a file for each session, each message and each part of it."""
    storage = home / ".local" / "share" / "opencode" / "storage"
    for path in sorted((storage / "session").glob("*/*.json")):
        if not _is_inside(_json(path).get("directory"), project):
            continue
        for message_path in sorted((storage / "message" / path.stem).glob("*.json")):
            message = _json(message_path)
            parts = [_json(part) for part in sorted((storage / "part" / message_path.stem).glob("*.json"))]
            texts = [part for part in parts if part.get("type") == "text" and not part.get("synthetic")]
            time = message.get("time")
            created = time.get("created") if isinstance(time, dict) else None
            yield from _utterances(path.stem, message.get("role"), _text(texts), created)


_SESSIONS: dict[str, Callable[[Project, Path], Iterator[Utterance]]] = {
    "claude": claude_sessions,
    "codex": codex_sessions,
    "gemini": gemini_sessions,
    "opencode": opencode_sessions,
}


def last_words(path: str) -> str:
    """What the agent said last in a transcript of Claude Code that is still being written."""
    try:
        with open(path, "rb") as file:
            file.seek(max(Path(path).stat().st_size - TAIL, 0))
            lines = file.read(TAIL).splitlines()
    except (OSError, ValueError):
        return ""
    for raw in reversed(lines):
        line = _parse(raw)
        message = line.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        is_agent = line.get("type") == "assistant" and not _is_aside(line)
        if is_agent and (text := _text(content)):
            return text
    return ""


def _utterances(session: str, role: Any, text: str, time: Any) -> Iterator[Utterance]:
    moment = _moment(time)
    if role in ("user", "assistant") and text and moment is not None and not _HOSTS_OWN.match(text):
        yield session, "user" if role == "user" else "assistant", text, moment


def _moment(value: Any) -> datetime | None:
    try:
        if isinstance(value, int | float):
            return datetime.fromtimestamp(value / 1000, UTC)
        return datetime.fromisoformat(str(value)).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _text(content: Any) -> str:
    """The words in a message's content, without calls of tools and what they gave."""
    if isinstance(content, str):
        return content.strip()
    parts = content if isinstance(content, list) else []
    words = [
        part["text"]
        for part in parts
        if isinstance(part, dict)
        and part.get("type", "text") in ("text", "input_text", "output_text")
        and isinstance(part.get("text"), str)
    ]
    return "\n\n".join(words).strip()


def _is_inside(folder: Any, project: Project) -> bool:
    return isinstance(folder, str) and Path(folder).is_relative_to(project.root)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        if path.stat().st_size > MAX_FILE:
            return
        with path.open("rb") as file:
            while raw := file.readline(MAX_LINE):
                yield _parse(raw)
    except OSError:
        return


def _json(path: Path) -> dict[str, Any]:
    try:
        return _parse(path.read_bytes()) if path.stat().st_size <= MAX_FILE else {}
    except OSError:
        return {}


def _parse(raw: bytes) -> dict[str, Any]:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
