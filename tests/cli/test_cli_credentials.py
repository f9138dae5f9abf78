"""No output of the program shows a credential (G10): one is planted in every setting, and every command is read.

The walks go over `Settings` and over the table of commands, so that a new setting and a new command are covered, or the
test says that it does not know them.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import traceback
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from cli_driver import everword, succeeded, talk
from click.testing import Result

from everword import AsyncMemory, Client, Memory
from everword.cli.main import COMMANDS
from everword.config import Secret, Settings, token_variable
from everword.errors import EverwordError, NotSettled
from everword.models.embedding.endpoint import EndpointEmbedder
from everword.ports import Request
from everword.testing import ScriptedLLM

PLANTED = "pl4nted"  # a part of every secret here
SECRET = f"{PLANTED}-in-a-key"
TOKEN = f"123456:{PLANTED}-in-a-token-of-a-bot"
WRONG = "&no_such_option=1"  # a driver refuses it at once
PLACES = [
    f"postgresql://al:{PLANTED}@127.0.0.1:1/db?a=b{WRONG}",
    f"postgresql://al:a@{PLANTED}@127.0.0.1:1/db?a=b{WRONG}",
    f"postgresql://al:{PLANTED}@a@127.0.0.1:1/db?a=b{WRONG}",
    f"postgresql://al:%40{PLANTED}%2F@127.0.0.1:1/db?a=b{WRONG}",
    f"postgresql://al:{PLANTED}/a@127.0.0.1:1/db?a=b{WRONG}",
    f"postgresql://127.0.0.1:1/db?user=al&password={PLANTED}{WRONG}",
    f"postgresql://127.0.0.1:1/db?sslpassword={PLANTED}{WRONG}",
    f"postgresql://127.0.0.1:1/db?password=%20{PLANTED}%26{WRONG}",
    f"postgresql://al:{PLANTED}@host:port/db",
    f"mysql://al:{PLANTED}@host/db",
    f"json:/no/such/folder?password={PLANTED}",
    f"/no/such/folder/host=h password={PLANTED}",
    f"/no/such/folder/host=h password='a {PLANTED}'",
]
EVERYWHERE = f"postgresql://al:a@{PLANTED}@127.0.0.1:1/db?password={PLANTED}&sslpassword={PLANTED}{WRONG}"

ARGUMENTS: dict[str, tuple[str, ...]] = {
    "chat": ("c",),
    "import": ("talk.jsonl",),
    "export": ("--user", "alex"),
    "search": ("database",),
    "history": ("chat",),
    "conversations": (),
    "redact": (),
    "episodes": ("chat",),
    "topics": ("chat",),
    "facts": ("alex",),
    "why": ("1",),
    "fact": ("show", "1"),
    "ask": ("What?", "--user", "alex"),
    "profile": ("alex",),
    "remember": ("I like tea", "--user", "alex"),
    "forget": ("tea", "--user", "alex"),
    "undo": ("1",),
    "digest": (),
    "context": ("chat", "Hello"),
    "stats": (),
    "verify": (),
    "doctor": (),
    "settings": (),
    "edit": ("chat", "1", "text"),
    "delete": ("--conversation", "nothing"),
    "move": ("chat", "--to", "other"),
    "merge": ("alex", "--into", "sam"),
    "erase": ("--user", "nobody"),
    "retain": (),
    "audit": (),
    "scrub": (),
    "copy": ("everword.db", f"postgresql://al@127.0.0.1:1/db?password={PLANTED}{WRONG}"),
    "rebuild": ("facts",),
    "retry": (),
    "worker": ("--once",),
    "serve": ("--host", "203.0.113.1", "--no-auth"),
    "open": ("--host", "203.0.113.1"),
    "keys": ("list",),
    "mcp": (f"postgresql://al@127.0.0.1:1/db?password={PLANTED}{WRONG}",),
    "bot": ("telegram", "--webhook", f"https://al:{PLANTED}@host/", "--host", "203.0.113.1"),
    "migrate": (),
    "init": ("--yes", "--model", "m", "--url", f"http://al:{PLANTED}@127.0.0.1:1/v1"),
    "backup": ("copy.db",),
    "restore": ("copy.db", "--force"),
    "bench": ("tokens", "--data", f"https://al:{PLANTED}@host/"),
}
WITHOUT_SETTINGS = {"demo", "hook"}  # they have a store and settings of their own


@cache
def planted_value(name: str) -> str:
    """A value for a setting that holds a secret, in the way in which such a setting can hold one."""
    if isinstance(getattr(Settings(), name), Secret):
        return SECRET
    if name == "store":
        return EVERYWHERE
    model = "m@" if name.endswith("_model") else ""
    return f"{model}https://al:{PLANTED}@127.0.0.1:1/v1?api_key={PLANTED}"


def surroundings(*names: str) -> dict[str, str]:
    """The variables that plant a secret in these settings, and in the tokens of the bots."""
    tokens = {token_variable(platform): TOKEN for platform in ("telegram", "discord")}
    return tokens | {f"EVERWORD_{name.upper()}": planted_value(name) for name in names}


TEXTS = [field.name for field in fields(Settings) if isinstance(field.default, str) and not field.metadata["choices"]]
LOADABLE = [name for name in TEXTS if name not in ("time_zone", "telemetry", "space")]


def assert_nothing_shown(result: Result) -> None:
    shown = result.output + result.stderr
    assert PLANTED not in shown.lower(), shown
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise AssertionError("an error that nobody expected") from result.exception


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", [field.name for field in fields(Settings)])
@pytest.mark.checklist("G10")
def test_a_secret_in_a_setting_is_shown_by_no_command(name: str) -> None:
    """`settings` with all of them that the program can be started with is read below, as one of all commands."""
    env = surroundings(name)
    table = () if name in LOADABLE else (("settings",),)
    for command in (*table, ("--debug", "stats"), ("facts", "alex")):
        assert_nothing_shown(everword(*command, env=env))


@pytest.mark.parametrize("url", PLACES)
@pytest.mark.checklist("G10")
def test_the_password_of_a_store_is_masked_in_every_place_of_its_address(url: str) -> None:
    for command in (("stats",), ("--debug", "stats"), ("doctor",), ("settings",)):
        by_option = everword(*command, "--store", url)
        assert_nothing_shown(by_option)
        assert_nothing_shown(everword(*command, env={"EVERWORD_STORE": url}))
        assert by_option.exit_code == (0 if command == ("settings",) else 1), by_option.output


@pytest.mark.checklist("G10")
def test_a_file_that_is_named_as_an_address_is_masked_too(folder: Path) -> None:
    store = f"host=h password={PLANTED}"
    talk(folder / "talk.jsonl")
    for command in (("import", "talk.jsonl"), ("stats",), ("migrate",), ("doctor",), ("worker", "--once")):
        result = everword(*command, env={"EVERWORD_STORE": store})
        assert_nothing_shown(result)
        assert result.exit_code == 0


def test_every_command_is_read() -> None:
    assert ARGUMENTS.keys() | WITHOUT_SETTINGS == set(COMMANDS)


@pytest.mark.parametrize("command", ARGUMENTS)
@pytest.mark.checklist("G10")
def test_a_command_that_fails_shows_no_credential(command: str, folder: Path) -> None:
    talk(folder / "talk.jsonl")
    env = surroundings(*LOADABLE)
    assert_nothing_shown(everword(command, *ARGUMENTS[command], env=env))
    assert_nothing_shown(everword("--debug", command, *ARGUMENTS[command], env=env))
    assert_nothing_shown(everword(command, *ARGUMENTS[command], EVERYWHERE, f"--{EVERYWHERE}", env=env))


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store that works, and the file that was imported."""
    folder = tmp_path_factory.mktemp("imported")
    succeeded("import", talk(folder / "talk.jsonl"), "--store", folder / "everword.db")
    return folder


@pytest.mark.parametrize("command", [name for name in ARGUMENTS if name not in ("bot", "chat", "bench")])
@pytest.mark.checklist("G10")
def test_a_command_on_a_store_that_works_shows_no_credential(command: str, folder: Path, imported: Path) -> None:
    shutil.copytree(imported, folder, dirs_exist_ok=True)
    env = surroundings(*(set(LOADABLE) - {"store", "chat_model", "memory_model", "small_model"}))
    assert_nothing_shown(everword("--debug", command, *ARGUMENTS[command], env=env))


@pytest.mark.parametrize("url", PLACES)
@pytest.mark.checklist("G10")
def test_an_error_of_the_library_shows_no_credential(url: str) -> None:
    with pytest.raises((EverwordError, OSError)) as caught, Memory(url) as memory:
        memory.stats()
    assert PLANTED not in "".join([repr(caught.value), *traceback.format_exception(caught.value)])


@pytest.mark.checklist("G10")
def test_what_is_made_of_credentials_shows_none() -> None:
    settings = Settings(**{name: planted_settings(name) for name in LOADABLE})
    things: list[object] = [
        settings,
        AsyncMemory(EVERYWHERE),
        Client(f"https://al:{PLANTED}@host", key=SECRET),
        EndpointEmbedder(f"https://al:{PLANTED}@host/v1?key={PLANTED}", SECRET, "m"),
    ]
    for thing in things:
        assert PLANTED not in f"{thing!r} {thing}"


def planted_settings(name: str) -> Any:
    value = planted_value(name)
    return Secret(value) if value == SECRET else value


@pytest.mark.checklist("G10")
def test_no_credential_is_stored_with_what_failed(folder: Path) -> None:
    def fail(request: Request) -> str:
        raise ValueError(f"no luck with https://al:{PLANTED}@host/")

    with Memory("a.db", chat=ScriptedLLM(default=fail), memory=ScriptedLLM(default=fail)) as memory:
        memory.conversation("c", user="alex").add("user", "I live in Oslo.")
        with suppress(ValueError, NotSettled):
            memory.settle(timeout=1)
        with suppress(ValueError):
            memory.profile(user="alex")
        stats = memory.stats()
    assert PLANTED not in f"{stats}"
    assert not [path for path in folder.iterdir() if PLANTED.encode() in path.read_bytes()]


@pytest.mark.checklist("G10")
def test_a_crash_shows_no_credential() -> None:
    """That of a thread, what is logged, and at last that of the program."""
    url = f"https://al:{PLANTED}@host/"
    crashes: Mapping[str, str] = {
        "a thread": f"import threading; t = threading.Thread(target=print, kwargs={{{url!r}: 1}}); t.start(); t.join()",
        "a log": f"import logging; logging.getLogger('httpx').warning('GET %s', {url!r})",
        "the program": f"raise ValueError({url!r})",
    }
    between = "\nimport sys; print('then', file=sys.stderr)\n"
    program = f"from everword.masking import mask_what_escapes; mask_what_escapes()\n{between.join(crashes.values())}"
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert shown.returncode == 1
    for place, told in zip(crashes, shown.stderr.split("then\n"), strict=True):
        assert "https://al:***@host/" in told, place
    assert PLANTED not in shown.stderr.replace(program, "") + shown.stdout
