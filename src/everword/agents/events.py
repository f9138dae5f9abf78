"""Reads the events of coding agents: of which project they are, and what of a turn is worth keeping.

A project is its repository: the address it was cloned from, or else its folder; so its worktrees and clones are one. Of
a tool call the command, the file that was changed and the error are kept, and never what a tool printed or a file
holds. What `.everwordignore` names is left out: patterns of paths, one a line; a single `*` leaves out the project.
"""

from __future__ import annotations

import hashlib
import os
import pwd
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

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
