"""G19: what an agent has of a project from before is brought in when that is asked for, once, without secrets.

The files have the shape that real hosts gave them; `make test-agents` reads real ones. A plug-in has commands for the
memory; and what a compaction would lose is kept.
"""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
import subprocess
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from everword import Memory
from everword.agents.service import Service
from everword.agents.sessions import past_records, project_of
from everword.cli.main import program

pytestmark = pytest.mark.checklist("G19")
KEY = "sk-ant-api03-" + "b1C2" * 24
ASKED, REPLIED = "Where is the cache?", "In cache.py, the key is " + KEY
T1, T2 = "2025-04-01T09:00:00.000Z", "2025-04-01T09:00:05.000Z"


def lines(*values: dict[str, Any]) -> str:
    return "".join(json.dumps(value) + "\n" for value in values) + '{"cut off\n[]\n'


def claude(home: Path, project: Path) -> None:
    def line(kind: str, time: str, content: Any, **more: Any) -> dict[str, Any]:
        return {"type": kind, "timestamp": time, "message": {"role": kind, "content": content}, **more}

    reply = [
        {"type": "thinking", "thinking": "?"},
        {"type": "text", "text": REPLIED},
        {"type": "tool_use", "name": "x"},
    ]
    text = lines(
        line("user", T1, "a caveat of the host", isMeta=True),
        line("user", T1, ASKED),
        line("assistant", T2, reply),
        line("user", T2, [{"type": "tool_result", "content": "printed by a tool"}]),
        line("assistant", T2, "by an agent of the agent", isSidechain=True),
    )
    put(home / ".claude" / "projects" / re.sub(r"\W|_", "-", str(project)) / "s1.jsonl", text)


def codex(home: Path, project: Path) -> None:
    def line(role: str, time: str, kind: str, text: str) -> dict[str, Any]:
        content = [{"type": kind, "text": text}]
        return {
            "type": "response_item",
            "timestamp": time,
            "payload": {"type": "message", "role": role, "content": content},
        }

    for session, folder in (("s1", project), ("s2", project.parent)):
        text = lines(
            {"type": "session_meta", "payload": {"id": session, "cwd": str(folder)}},
            line("user", T1, "input_text", "<environment_context>…</environment_context>"),
            line("user", T1, "input_text", ASKED),
            {"type": "response_item", "payload": {"type": "function_call_output", "output": "printed by a tool"}},
            line("assistant", T2, "output_text", REPLIED),
        )
        put(home / ".codex" / "sessions" / "2025" / "04" / "01" / f"rollout-{session}.jsonl", text)


def gemini(home: Path, project: Path) -> None:
    def line(id: str, kind: str, time: str, content: Any) -> dict[str, Any]:
        return {"id": id, "timestamp": time, "type": kind, "content": content}

    told = "<hook_context>Memory of earlier sessions.\n\nuser: hi</hook_context>"
    context = [line("c", "user", T1, [{"text": "<session_context>\nThis is the Gemini CLI."}])]
    for name, folder in (("project", project), ("parent", project.parent)):
        text = lines(
            {"sessionId": "s1", "projectHash": "0" * 64, "startTime": T1, "lastUpdated": T1, "kind": "main"},
            {"$set": {"messages": context, "lastUpdated": T1}},
            line("a", "user", T1, [{"text": f"{told}\n\n{ASKED}"}, {"text": told}]),
            line("b", "info", T1, "of the host"),
            line("d", "gemini", T2, "cut off"),
            line("d", "gemini", T2, REPLIED),
            line("e", "user", T2, [{"text": "taken back"}]),
            line("f", "gemini", T2, "with its answer"),
            {"$rewindTo": "e"},
        )
        place = home / ".gemini" / "tmp" / name
        put(place / ".project_root", str(folder))
        put(place / "chats" / "session-2025-04-01T09-00-s1.jsonl", text)


def opencode(home: Path, project: Path) -> None:
    path = home / ".local" / "share" / "opencode" / "opencode.db"
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE session (id, parent_id, directory, time_created)")
        database.execute("CREATE TABLE message (id, session_id, time_created, data)")
        database.execute("CREATE TABLE part (id, message_id, session_id, time_created, data)")
        sessions = (("s1", None, project), ("s2", "s1", project), ("s3", None, project.parent))
        for session, parent, folder in sessions:
            database.execute("INSERT INTO session VALUES (?, ?, ?, 1)", (session, parent, str(folder)))
            for role, text, time in (("user", ASKED, T1), ("assistant", REPLIED, T2)):
                created = int(datetime.fromisoformat(time).timestamp() * 1000)
                id = f"{session}{role}"
                message = json.dumps({"role": role, "time": {"created": created}})
                database.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (id, session, created, message))
                parts: list[dict[str, Any]] = [{"type": "step-start"}, {"type": "text", "text": text}]
                parts += [{"type": "text", "text": "of the host", "synthetic": True}, {"type": "step-finish"}]
                for place, part in enumerate(parts):
                    row = (f"{id}{place}", id, session, created, json.dumps(part))
                    database.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?)", row)


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("write", [claude, codex, gemini, opencode], ids=lambda write: str(write.__name__))
def test_past_sessions_have_what_was_said_at_its_time(write: Any, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    write(tmp_path, project)
    host = write.__name__
    records = list(past_records(host, project_of(str(project)), "kim", tmp_path))
    assert [(r.conversation, r.draft.role, r.draft.content) for r in records] == [
        (f"past/{host}:s1", "user", ASKED),
        (f"past/{host}:s1", "assistant", REPLIED),
    ]
    assert [r.draft.time for r in records] == [datetime(2025, 4, 1, 9, 0, second, tzinfo=UTC) for second in (0, 5)]
    put(project / ".everwordignore", "*\n")
    assert list(past_records(host, project_of(str(project)), "kim", tmp_path)) == []


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two commits, notes for agents and a past session, in a home folder of its own."""
    project = tmp_path / "project"
    put(project / ".everwordignore", "*.env\n")
    put(project / "CLAUDE.md", f"Run make lint before each commit. The key is {KEY}")
    git = ["git", "-C", str(project), "-c", "user.name=Kim", "-c", "user.email=kim@example.org"]
    subprocess.run([*git, "init", "--quiet"], check=True)
    for name, subject in (("cache.py", "Add the cache"), ("secret.env", "Add the keys")):
        put(project / name, name)
        subprocess.run([*git, "add", name], check=True)
        command = [*git, "commit", "--quiet", "-m", subject, "--date", "2025-03-01T10:00:00+02:00"]
        subprocess.run(command, check=True)
    claude(tmp_path, project)
    for name, value in (("HOME", tmp_path), ("EVERWORD_AGENTS", tmp_path / "memory"), ("EVERWORD_USER", "kim")):
        monkeypatch.setenv(name, str(value))
    monkeypatch.chdir(project)
    return project


def run(*arguments: str, input: str | None = None) -> str:
    result = CliRunner().invoke(program, ["hook", *arguments], input=input)
    assert result.exit_code == 0, result.output
    return result.output


def test_install_brings_in_the_past_only_when_asked_and_once(project: Path, tmp_path: Path) -> None:
    assert "not brought in: 2 messages of past sessions, 1 notes for agents, 1 commits" in run("install", "claude")
    assert not (tmp_path / "memory" / "agents.db").exists()
    assert "4 messages read, 4 new" in run("install", "claude", "--past")
    assert "4 messages read, 0 new, 4 known already" in run("install", "claude", "--past")
    assert "brought in" not in run("install", "claude", "--no-past")
    with Memory(str(tmp_path / "memory" / "agents.db")) as memory:
        kept = {message.conversation: message for message in memory.export(space=project_of(str(project)).id)}
    assert sorted(kept) == ["git", "notes/CLAUDE.md", "past/claude:s1"]
    assert kept["git"].content == "Kim committed: Add the cache"
    assert kept["git"].time == datetime(2025, 3, 1, 8, tzinfo=UTC)
    assert not any(KEY in message.content for message in kept.values())
    assert "Where is the cache?" in run("recall", "the cache")


def test_the_commands_of_the_plug_in_remember_explain_and_forget(project: Path, tmp_path: Path) -> None:
    run("plugin", str(tmp_path / "plugin"))
    about = json.loads((tmp_path / "plugin" / ".claude-plugin" / "plugin.json").read_text())
    hooks = json.loads((tmp_path / "plugin" / "hooks" / "hooks.json").read_text())["hooks"]
    assert about["name"] == "everword"
    assert sorted(hooks) == ["PostToolUse", "PreCompact", "SessionStart", "Stop", "UserPromptSubmit"]
    for name in ("remember", "recall", "forget", "why"):
        page = (tmp_path / "plugin" / "commands" / f"{name}.md").read_text()
        assert f"-m everword hook {name}" in page
        assert "$ARGUMENTS" in page
        assert "@COMMAND@" not in page
    assert run("remember", input='I live in Delft; it\'s `raining` "$(here)"\n').startswith("kim lives in Delft")
    assert "location: Delft\n" in (sources := run("why", "where do I live"))
    assert "user: I live in Delft" in sources
    forgotten = run("forget", "lives in Delft")
    assert "Delft" in forgotten
    assert "location: Delft" not in run("why", "where do I live")
    undo = shlex.split(forgotten.rpartition("to bring this back: everword ")[2])
    assert CliRunner().invoke(program, undo).exit_code == 0
    assert "location: Delft" in run("why", "where do I live")


def test_what_a_compaction_would_lose_is_kept(project: Path, tmp_path: Path) -> None:
    transcript = next((tmp_path / ".claude" / "projects").glob("*/*.jsonl"))
    service = Service(tmp_path / "memory")
    payload = {"cwd": str(project), "session_id": "s9", "transcript_path": str(transcript)}
    request = {"host": "claude", "time": 1_750_000_000.0, "payload": payload}
    ran = {**payload, "tool_name": "Bash", "tool_input": {"command": "make lint"}}
    with Memory(str(tmp_path / "memory.db"), secrets="redact") as memory:
        service.keep(memory, {**request, "id": "1", "event": "tool", "payload": ran})
        compact = {**payload, "hook_event_name": "PreCompact", "trigger": "auto"}
        service.keep(memory, {**request, "id": "2", "event": "turn", "payload": compact})
        missing = {**compact, "transcript_path": "/nowhere"}
        service.keep(memory, {**request, "id": "3", "event": "turn", "payload": missing})
        kept = [message.content for message in memory.export(space=project_of(str(project)).id)]
    assert kept == ["In cache.py, the key is [secret: API key]\n- ran `make lint`"]
