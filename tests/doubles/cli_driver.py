"""Drives the command line in the tests: in this process, or as a program of its own."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import IO, Any

from click.testing import CliRunner, Result
from prepared_programs import PreparedProgram

from everword.cli.main import program

TALK: list[dict[str, Any]] = [
    {"role": "user", "content": "Which database suits a small bakery?", "time": "2023-05-01T09:00:00Z"},
    {"role": "assistant", "content": "SQLite: one file, no server.", "time": "2023-05-01T09:00:30Z"},
    {"role": "user", "content": "In March I am going to Kyoto by night train.", "time": "2023-07-02T18:00:00Z"},
    {"role": "assistant", "content": "Take the bicycle along, the city is flat.", "time": "2023-07-02T18:01:00Z"},
    {"role": "user", "content": "三月十二日から自転車を借ります。", "time": "2023-07-03T08:00:00Z"},
]


def everword(
    *arguments: object, input: str | bytes | IO[Any] | None = None, env: dict[str, str] | None = None
) -> Result:
    """Run a command in this process, in the working folder the test has chosen."""
    return CliRunner().invoke(program, [str(argument) for argument in arguments], input=input, env=env)


def succeeded(*arguments: object, input: str | bytes | None = None, env: dict[str, str] | None = None) -> str:
    """The standard output of a command that is to succeed."""
    result = everword(*arguments, input=input, env=env)
    assert result.exit_code == 0, result.output
    return result.stdout


def failed(*arguments: object, input: str | None = None, env: dict[str, str] | None = None) -> str:
    """The error of a command that is to fail: one line on standard error, without its `error: `."""
    result = everword(*arguments, input=input, env=env)
    assert result.exit_code == 1, result.output
    lines = result.stderr.strip().splitlines()
    assert lines[-1].startswith("error: ")
    assert "Traceback" not in result.output
    return lines[-1].removeprefix("error: ")


def json_lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def talk(path: Path, **shared: Any) -> Path:
    """A file with a short chat of alex."""
    lines = [{"conversation": "chat", "user": "alex", **shared, **message} for message in TALK]
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return path


STORES: dict[bytes, bytes] = {}  # what each file became in an empty store


def imported(file: Path) -> None:
    """`everword import` into a new store; if the same was imported before, a copy of the store that it gave."""
    store, words = Path("everword.db"), file.read_bytes()
    if words in STORES:
        store.write_bytes(STORES[words])
    else:
        succeeded("import", file)
        STORES[words] = store.read_bytes()


def change(statement: str) -> None:
    """Change everword.db behind everword's back."""
    with closing(sqlite3.connect("everword.db")) as file, file:
        file.execute(statement)


def process(*arguments: object, folder: Path, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
    """A command as a process of its own."""
    return started(["-m", "everword", *map(str, arguments)], folder, env)


NEXT = "\f"  # on standard output after each of several commands
EACH = f"""
import sys
from everword.cli.main import main
for arguments in {{}}:
    sys.argv = ["everword", *arguments]
    try:
        main()
    except SystemExit as ended:
        if ended.code:
            raise
    print({NEXT!r}, end="", flush=True)
"""


def processes(*commands: list[str], folder: Path, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
    """Several commands, one after the other in one process: to start one takes longer than what they do."""
    return started(["-c", EACH.format(list(commands))], folder, env)


def started(arguments: list[str], folder: Path, env: dict[str, str] | None) -> subprocess.Popen[str]:
    return PreparedProgram(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONUTF8": "1", **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
