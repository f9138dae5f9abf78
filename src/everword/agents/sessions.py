"""Sessions of coding agents: what of a turn is worth keeping, and what there is from before the memory was there.

A project is its repository: the address it was cloned from, or else its folder; so its worktrees and clones are one. Of
a tool call the command, the file that was changed and the error are kept, and never what a tool printed or a file
holds. What `.everwordignore` names is left out: patterns of paths, one a line; a single `*` leaves out the project.

What is from before comes as records to import, each with its date: transcripts of past sessions (Claude Code, Codex,
Gemini CLI, OpenCode), the notes that a project keeps for its agents, and the commits of its repository. Of a session
only what was said is taken: no prompts of the host, and no tools nor what they printed. A session that the memory
already has is left out.
"""

from __future__ import annotations

import hashlib
import json
import os
import pwd
import re
import sqlite3
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatch
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from everword.model import Draft, Record, Role

IGNORED = ".everwordignore"
MAX_COMMAND = 200  # characters of a command or an error
MAX_NOTES = 40  # tool calls of one turn that are kept
MAX_SPACE = 200
READERS = re.compile(r"(?:^|_)(?:read|glob|grep|ls|list|search|fetch|view|todo|think)", re.IGNORECASE)
REMOTE = re.compile(r'\[remote "origin"\][^\[]*?^\s*url\s*=\s*(\S+)', re.MULTILINE | re.DOTALL)
ADDRESS = re.compile(r"^(?:[a-z+]+://)?(?:[^@/]+@)?(?P<host>[^/:]+)(?::\d+(?=/))?[:/]+(?P<path>.+?)(?:\.git)?/?$")
PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Project:
    """A repository: its id, its folder, and the patterns of what is not to be kept."""

    id: str
    root: Path
    patterns: tuple[str, ...]

    @property
    def is_ignored(self) -> bool:
        return "*" in self.patterns

    def ignores(self, path: str) -> bool:
        inner = path.removeprefix(f"{self.root}/")
        names = (inner, inner.rpartition("/")[2])
        return any(fnmatch(name, pattern.rstrip("/")) for pattern in self.patterns for name in names) or any(
            inner.startswith(pattern) for pattern in self.patterns if pattern.endswith("/")
        )


def person_here() -> str:
    """Whose memory it is: the login name, or what EVERWORD_USER says."""
    return os.environ.get("EVERWORD_USER") or pwd.getpwuid(os.getuid()).pw_name


def project_of(folder: str) -> Project:
    start = Path(folder).absolute()
    root = next((place for place in (start, *start.parents) if (place / ".git").exists()), start)
    try:
        lines = (root / IGNORED).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    patterns = tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))
    return Project(_repository(root) or _folder_id(root), root, patterns)


def _repository(root: Path) -> str:
    """The address a repository was cloned from, without scheme and credentials: github.com/owner/name."""
    git = root / ".git"
    try:
        if git.is_file():  # a worktree: its repository is elsewhere
            git = root / git.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
            common = git / "commondir"
            git = git / common.read_text(encoding="utf-8").strip() if common.exists() else git
        remote = REMOTE.search((git / "config").read_text(encoding="utf-8", errors="replace"))
        address = ADDRESS.match(remote[1]) if remote else None
        return f"{address['host']}/{address['path']}"[-MAX_SPACE:] if address else _folder_id(git.resolve().parent)
    except (OSError, ValueError):
        return ""


def _folder_id(root: Path) -> str:
    return f"{root.name or 'root'}-{hashlib.sha256(str(root.resolve()).encode()).hexdigest()[:8]}"


def _command_in(arguments: Mapping[str, Any]) -> str:
    command = arguments.get("command") or arguments.get("cmd") or ""
    return command if isinstance(command, str) else " ".join(map(str, command)) if isinstance(command, Sequence) else ""


def tool_note(payload: Mapping[str, Any], project: Project) -> str:
    """One line about a tool call; "" if nothing is to be kept of it."""
    name, arguments = str(payload.get("tool_name", "")), payload.get("tool_input")
    arguments = arguments if isinstance(arguments, Mapping) else {"command": arguments}
    error = _error_in(payload.get("tool_response"))
    command = _command_in(arguments)
    paths = PATCHED.findall(command) or [
        path for key in ("file_path", "path", "notebook_path") if isinstance(path := arguments.get(key), str)
    ]
    if any(map(project.ignores, paths)) or (READERS.search(name) and not error):
        return ""
    if paths:
        names = ", ".join(path.removeprefix(f"{project.root}/") for path in paths)
        return f"changed {_shorten(names)}" + (f": {error}" if error else "")
    if not command.strip():
        return ""
    return f"ran `{_shorten(command)}`" + (f", which failed: {error}" if error else "")


def _error_in(response: Any) -> str:
    """What went wrong, from the shapes that hosts give; "" if nothing did."""
    if not isinstance(response, Mapping):
        return ""
    text = next(filter(None, map(response.get, ("error", "stderr", "llmContent", "output"))), "")
    code = response.get("exit_code", response.get("exitCode", response.get("returnCode", 0)))
    is_failure = bool(response.get("error")) or response.get("is_error") is True or code not in (0, None)
    lines = [line.strip() for line in str(text).splitlines() if line.strip()]
    telling = [line for line in lines if re.search(r"error|fail|exception|not found", line, re.IGNORECASE)]
    return _shorten((telling or lines or ["an error"])[-1]) if is_failure else ""


def _shorten(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= MAX_COMMAND else words[: MAX_COMMAND - 1] + "…"


def turn_text(reply: str, notes: Sequence[str]) -> str:
    """What the agent said at the end of a turn, and below it what it did, without repetitions."""
    lines = list(dict.fromkeys(notes))[-MAX_NOTES:]
    return "\n".join([part for part in (reply.strip(), *(f"- {note}" for note in lines)) if part])


# -- from before the memory was there

NOTES = ("CLAUDE.md", "AGENTS.md", "GEMINI.md", ".claude/CLAUDE.md", ".github/copilot-instructions.md")
MAX_FILE = 64 << 20  # bytes of a transcript; a longer one is left out
MAX_LINE = 4 << 20
MAX_COMMITS = 2_000  # the last ones
MAX_BODY = 600  # characters of a commit's message
TAIL = 512 * 1024  # bytes of a running transcript in which the last words are looked for
_HOSTS_OWN = re.compile(
    r"^\s*<(?:environment_context|user_instructions|command-|local-command|system-reminder|permissions"
    r"|session_context|state_snapshot)"
)
_OF_HOOKS = re.compile(r"<hook_context>.*?</hook_context>", re.DOTALL)  # Gemini CLI writes it into what was asked
_OPENCODE_PARTS = """
    SELECT session.id, directory, message.id, message.data, message.time_created, part.data
    FROM session JOIN message ON message.session_id = session.id JOIN part ON part.message_id = message.id
    WHERE parent_id IS NULL AND length(part.data) < 4000000
    ORDER BY session.time_created, session.id, message.time_created, message.id, part.id
"""  # without what agents of an agent said
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
    """Gemini CLI's: a folder for each folder in which it was started; a file for each session, written line by line."""
    for root in sorted((home / ".gemini" / "tmp").glob("*/.project_root")):
        if not _is_inside(root.read_text(encoding="utf-8", errors="replace").strip(), project):
            continue
        for path in sorted((root.parent / "chats").glob("session-*.json*")):
            records = [*_lines(path)] if path.suffix == ".jsonl" else [_json(path)]
            session = next((str(record["sessionId"]) for record in records if record.get("sessionId")), path.stem)
            for message in _gemini_messages(records):
                role = {"gemini": "assistant"}.get(str(message.get("type")), message.get("type"))
                yield from _utterances(session, role, _text(message.get("content")), message.get("timestamp"))


def _gemini_messages(records: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages of a session, as they stand after all changes; what was taken back is not there."""
    messages: dict[Any, dict[str, Any]] = {}
    for record in records:
        if "$rewindTo" in record:
            ids = [*messages]
            for id in ids[ids.index(record["$rewindTo"]) if record["$rewindTo"] in messages else 0 :]:
                del messages[id]
        change = record.get("$set") or record
        several = change.get("messages") if isinstance(change, dict) else None
        for message in several if isinstance(several, list) else [record]:
            if isinstance(message, dict) and "type" in message:
                messages[str(message.get("id") or len(messages))] = message
    return [*messages.values()]


def opencode_sessions(project: Project, home: Path) -> Iterator[Utterance]:
    """OpenCode's: a database with the sessions of all projects, their messages, and the parts of these."""
    path = home / ".local" / "share" / "opencode" / "opencode.db"
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            rows = database.execute(_OPENCODE_PARTS).fetchall()
    except sqlite3.Error:
        return
    for (session, folder, _), parts_of_message in groupby(rows, key=itemgetter(0, 1, 2)):
        rows_of_message = [*parts_of_message]
        message = _parse(rows_of_message[0][3])
        parts = [part for row in rows_of_message if not (part := _parse(row[5])).get("synthetic")]
        if _is_inside(folder, project):
            texts = [part for part in parts if part.get("type") == "text"]
            yield from _utterances(session, message.get("role"), _text(texts), rows_of_message[0][4])


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
        return _OF_HOOKS.sub("", content).strip()
    parts = content if isinstance(content, list) else []
    words = [
        _OF_HOOKS.sub("", part["text"]).strip()
        for part in parts
        if isinstance(part, dict)
        and part.get("type", "text") in ("text", "input_text", "output_text")
        and isinstance(part.get("text"), str)
    ]
    return "\n\n".join(filter(None, words))


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


def _parse(raw: bytes | str) -> dict[str, Any]:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
