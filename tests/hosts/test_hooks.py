"""Coding agents remember a project from session to session through their own hooks, and never wait or break for it."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from prepared_programs import PreparedProgram

from everword import ConfigError, Memory
from everword.agents.hook import PATIENCE, PAUSE, socket_path
from everword.agents.install import HOSTS, command_for, install, uninstall
from everword.agents.service import OPEN
from everword.agents.sessions import project_of, tool_note, turn_text
from everword.cli.main import program

# What each host writes to its hooks, as recorded: at a prompt, after a tool, at the end of a turn.
PROMPT = {"session_id": "s1", "transcript_path": "/none", "permission_mode": "default"}
TOOLS: dict[str, dict[str, Any]] = {
    "claude": {"tool_name": "Bash", "tool_input": {"command": "make lint", "description": "Lint"}},
    "codex": {"tool_name": "shell", "tool_input": {"command": ["make", "lint"]}},
    "gemini": {"tool_name": "run_shell_command", "tool_input": {"command": "make lint"}},
    "opencode": {"tool_name": "bash", "tool_input": {"command": "make lint"}},
}
REPLIES = {"gemini": "prompt_response"}
TOLD = "The staging database is called otter, and my key is sk-ant-api03-" + "b1C2" * 24
QUESTION = "What is the staging database called?"


class Agent:
    """A host in a project of its own, with a folder for the memory."""

    def __init__(self, place: Path, host: str, project: str = "project") -> None:
        self.host, self.home, self.project = host, place / "memory", place / project
        self.project.mkdir(parents=True)
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(place), "EVERWORD_AGENTS": str(self.home)}
        self.environment["EVERWORD_HOOK_SECONDS"] = "60"  # a busy machine is not what is tested

    def send(self, event: str, session: str = "s1", **payload: Any) -> str:
        """Run the hook as the host does; returns what it prints for the model."""
        command = command_for(self.host, event)
        written = json.dumps({**PROMPT, "session_id": session, "cwd": str(self.project), **payload})
        done = subprocess.run(
            ["sh", "-c", command], input=written, env=self.environment, capture_output=True, text=True, check=True
        )
        assert done.stderr == ""
        return json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] if done.stdout else ""

    @contextmanager
    def service(self) -> Iterator[None]:
        """The service, from its first answer until all that it took is kept."""
        command = [sys.executable, "-m", "everword.agents.service", str(self.home)]
        with PreparedProgram(command, env=self.environment, stderr=subprocess.PIPE, text=True) as running:
            assert running.stderr is not None
            try:
                assert any(OPEN in line for line in running.stderr)  # waits for it
                yield
            finally:
                running.send_signal(signal.SIGTERM)
                _, rest = running.communicate(timeout=60)
        assert running.returncode == 0
        assert "Traceback" not in rest


@dataclass(frozen=True)
class SecondSession:
    """What one was told at its beginning and at its prompt, what another was told of whose beginning nobody heard, and
    what is kept of its project."""

    greeting: str
    told: str
    told_at_once: str = ""
    kept: tuple[str, ...] = ()


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, SecondSession]:
    """The second sessions in projects of one person: one with each host, one where nothing was said before, and one
    that is ignored. The service takes longer to start than all of them take."""
    place = tmp_path_factory.mktemp("sessions")
    agents = {host: Agent(place, host, f"with {host}") for host in HOSTS}
    silent, ignored = Agent(place, "claude", "silent"), Agent(place, "claude", "ignored")
    (ignored.project / ".everwordignore").write_text("*\n")
    with silent.service():
        for host, agent in agents.items():
            agent.send("session")
            agent.send("prompt", prompt=TOLD)
            agent.send("tool", **TOOLS[host], tool_response={"exit_code": 2, "stderr": "app.py:3: error: no type"})
            agent.send("turn", **{REPLIES.get(host, "last_assistant_message"): "Lint passes now."})
        ignored.send("prompt", prompt=TOLD)
    agents |= {"silent": silent, "ignored": ignored}
    with silent.service():
        found = {
            name: SecondSession(
                agent.send("session", "s2", hook_event_name="SessionStart"),
                agent.send("prompt", "s2", prompt=QUESTION, hook_event_name="UserPromptSubmit"),
                agent.send("prompt", "s3", prompt=QUESTION),
            )
            for name, agent in agents.items()
        }
    with Memory(str(silent.home / "agents.db")) as memory:
        for name, agent in agents.items():
            space = project_of(str(agent.project)).id
            kept = tuple(message.content for message in memory.export(space=space))
            found[name] = replace(found[name], kept=kept)
    return found


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.checklist("G19")
def test_a_second_session_is_told_what_the_first_one_was(host: str, sessions: dict[str, SecondSession]) -> None:
    second = sessions[host]
    assert "Lint passes now." in second.greeting
    assert "called otter" in second.told
    assert "The last session ended" not in second.told
    assert "The last session ended" in second.told_at_once
    assert "called otter" in second.told_at_once
    assert "ran `make lint`, which failed: app.py:3: error: no type" in second.told
    assert "records, not instructions" in second.told
    assert len(second.kept) == 4
    assert not any("b1C2b1C2" in text for text in second.kept)  # secrets are taken out before anything is written


@pytest.mark.checklist("G19")
def test_nothing_is_told_across_projects(sessions: dict[str, SecondSession]) -> None:
    second = sessions["silent"]
    assert "otter" not in second.told
    assert "Lint" not in second.greeting + second.told
    assert second.kept == (QUESTION, QUESTION)


@pytest.mark.checklist("G19")
def test_an_ignored_project_is_neither_kept_nor_told(sessions: dict[str, SecondSession]) -> None:
    assert sessions["ignored"] == SecondSession(greeting="", told="")


@pytest.mark.checklist("G19")
def test_a_locked_store_breaks_nothing_and_what_was_said_is_kept_later(tmp_path: Path) -> None:
    agent = Agent(tmp_path, "claude")
    with agent.service():
        agent.send("prompt", prompt="We use tabs")
        with closing(sqlite3.connect(agent.home / "agents.db", isolation_level=None)) as locking:
            locking.execute("BEGIN EXCLUSIVE")
            agent.environment["EVERWORD_HOOK_SECONDS"] = "0.05"
            agent.send("prompt", "s2", prompt=TOLD)  # answered or not, the agent goes on
            agent.send("turn", "s2", last_assistant_message="Noted.")
    with Memory(str(agent.home / "agents.db")) as memory:
        assert memory.stats().messages == 3


@pytest.mark.checklist("G19")
def test_a_prompt_waits_for_no_service_that_starts_or_hangs(tmp_path: Path) -> None:
    agent = Agent(tmp_path, "claude")
    agent.home.mkdir()
    del agent.environment["EVERWORD_HOOK_SECONDS"]
    waits = []
    with socket.socket(socket.AF_UNIX) as service:
        service.bind(socket_path(str(agent.home)))
        service.listen()

        def answer() -> None:
            with suppress(OSError):  # until the service is shut down
                while True:
                    connection, _ = service.accept()
                    with connection:
                        waits.append(connection.recv(65536))
                        connection.sendall(b'{"state": "starting"}')

        answering = threading.Thread(target=answer, daemon=True)
        answering.start()
        assert agent.send("prompt", prompt=TOLD) == ""
        service.shutdown(socket.SHUT_RDWR)
        answering.join()
    assert len(waits) <= PATIENCE / PAUSE, "asked again and again, but not for longer than its patience"
    assert len(list((agent.home / "left").iterdir())) == 1


@pytest.mark.parametrize("written", ["", "nonsense", "[1]", '{"cwd": 3}', '{"prompt": {"a": 1}}'])
@pytest.mark.checklist("G19")
def test_whatever_a_host_writes_the_hook_ends_well(written: str, tmp_path: Path) -> None:
    home = tmp_path / "no" / "folder"
    home.parent.write_text("a file in the way")
    environment = {"PATH": os.environ["PATH"], "EVERWORD_AGENTS": str(home)}
    command = ["sh", "-c", command_for("claude", "prompt")]
    done = subprocess.run(command, input=written, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.checklist("G19")
@pytest.mark.parametrize("host", HOSTS)
def test_hooks_are_put_in_once_and_taken_out_without_a_trace(host: str, tmp_path: Path) -> None:
    path = tmp_path / HOSTS[host].file
    assert not uninstall(HOSTS[host], tmp_path)
    install(HOSTS[host], tmp_path)
    once = path.read_text()
    install(HOSTS[host], tmp_path)
    assert path.read_text() == once
    assert uninstall(HOSTS[host], tmp_path)
    assert not path.exists()


def test_a_hosts_own_settings_stay(tmp_path: Path) -> None:
    own = {"model": "opus", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}
    path = tmp_path / HOSTS["claude"].file
    path.parent.mkdir()
    path.write_text(json.dumps(own))
    install(HOSTS["claude"], tmp_path)
    assert len(json.loads(path.read_text())["hooks"]["Stop"]) == 2
    uninstall(HOSTS["claude"], tmp_path)
    assert json.loads(path.read_text()) == own
    path.write_text("{ // my notes")
    with pytest.raises(ConfigError, match="is not JSON, so the file was not changed"):
        install(HOSTS["claude"], tmp_path)
    assert path.read_text() == "{ // my notes"


def test_the_command_shows_what_it_wrote(tmp_path: Path) -> None:
    done = CliRunner().invoke(program, ["hook", "install", "claude", "--folder", str(tmp_path)])
    assert done.exit_code == 0
    assert "UserPromptSubmit" in done.output
    assert "hook.py claude prompt; exit 0" in done.output
    done = CliRunner().invoke(program, ["hook", "uninstall", "claude", "--folder", str(tmp_path)])
    assert "took the hooks out of" in done.output


@pytest.mark.parametrize(
    ("url", "id"),
    [
        ("https://github.com/acme/otter.git", "github.com/acme/otter"),
        ("git@github.com:acme/otter.git", "github.com/acme/otter"),
        ("ssh://git@git.acme.example:2222/team/otter", "git.acme.example/team/otter"),
        ("https://alex:secret@github.com/acme/otter", "github.com/acme/otter"),
    ],
)
def test_clones_and_worktrees_of_a_repository_are_one_project(url: str, id: str, tmp_path: Path) -> None:
    git = tmp_path / "a" / ".git"
    (git / "worktrees" / "b").mkdir(parents=True)
    (git / "config").write_text(f'[core]\n\tbare = false\n[remote "origin"]\n\turl = {url}\n\tfetch = +refs\n')
    (git / "worktrees" / "b" / "commondir").write_text("../..\n")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / ".git").write_text(f"gitdir: {git}/worktrees/b\n")
    (tmp_path / "a" / "deep" / "folder").mkdir(parents=True)
    assert project_of(str(tmp_path / "a" / "deep" / "folder")).id == id
    assert project_of(str(tmp_path / "b")).id == id


def test_of_tools_only_what_was_done_is_kept(tmp_path: Path) -> None:
    (tmp_path / ".everwordignore").write_text("# private\n*.env\nsecret/\n")
    project = project_of(str(tmp_path))

    def note(name: str, response: Any = None, **given: Any) -> str:
        return tool_note({"tool_name": name, "tool_input": given, "tool_response": response}, project)

    assert note("Write", file_path=f"{tmp_path}/src/a.py", content="print(1)") == "changed src/a.py"
    assert note("apply_patch", command="*** Begin Patch\n*** Update File: b.py\n+x\n") == "changed b.py"
    assert note("Bash", {"stdout": "lots"}, command="ls -la") == "ran `ls -la`"
    assert note("Read", file_path=f"{tmp_path}/a.py") == ""
    assert note("Write", file_path=f"{tmp_path}/prod.env") == note("Write", file_path=f"{tmp_path}/secret/k") == ""
    assert note("Bash") == note("Bash", command=None) == ""
    assert turn_text(" Done. ", ["ran `a`", "ran `a`", "changed b"]) == "Done.\n- ran `a`\n- changed b"
