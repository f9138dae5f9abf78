"""The container files: pinned images, nobody's root, health asked, secrets not in them, commands the program has.

`make lint` has hadolint read the `Dockerfile` and holds `compose.yaml` against the schema of its specification; here is
what they do not know.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from everword import __version__
from everword.cli.main import program
from everword.config import BY_NAME, Settings, token_variable

ROOT = Path(__file__).parents[2]
PINNED = re.compile(r"^[\w./-]+:\d+\.\d+[\w.-]*$")
BOTS = ("telegram", "discord")
MACHINES = ("coordinator", "citus1", "citus2")  # of PostgreSQL on several, and `machines` makes them know each other


def instructions() -> list[tuple[str, str]]:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return [(name, rest.strip()) for name, _, rest in (line.partition(" ") for line in lines)]


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    return found


def test_the_image_is_built_on_pinned_ones_and_runs_as_nobody() -> None:
    steps = instructions()
    assert all(PINNED.match(rest.split()[0]) for name, rest in steps if name == "FROM")
    last = max(place for place, (name, _) in enumerate(steps) if name == "FROM")
    named = dict(steps[last:])
    assert named["USER"].isdigit()
    assert int(named["USER"]) > 0
    after = [name for name, _ in steps[last:]]
    assert after.index("USER") > after.index("RUN")
    assert "/healthz" in named["HEALTHCHECK"]
    assert named["STOPSIGNAL"] == "SIGTERM"
    assert yaml.safe_load(named["ENTRYPOINT"]) == ["everword"]
    check_command(yaml.safe_load(named["CMD"]))
    known = {"FROM", "WORKDIR", "COPY", "RUN", "ENV", "VOLUME", "USER", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK"}
    assert {name for name, _ in steps} <= known | {"ENTRYPOINT", "CMD"}
    assert not any("KEY" in rest or "PASSWORD" in rest for name, rest in steps if name in ("ENV", "ARG"))


def check_command(words: list[str]) -> None:
    """What is run is a command the program has, with options it takes."""
    command = program.get_command(click.Context(program), words[0])
    assert command is not None, words
    if isinstance(command, click.Group):
        words = words[1:]
        command = command.commands[words[0]]
    command.make_context(words[0], words[1:], resilient_parsing=False)


def test_what_is_copied_is_there_and_nothing_else_is_sent() -> None:
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = {
        word for name, rest in instructions() if name == "COPY" and "--from" not in rest for word in rest.split()[:-1]
    }
    assert copied == kept
    assert all((ROOT / name).exists() for name in copied)


def test_the_services_are_pinned_healthy_and_hold_no_secret(compose: dict[str, Any]) -> None:
    services = compose["services"]
    spread = {name: services.pop(name) for name in (*MACHINES, "machines")}
    for one in spread.values():
        assert one["profiles"] == ["citus"], "it is started only if somebody asks for it"
        assert PINNED.match(one["build"]["dockerfile_inline"].split()[1])
    assert all(spread[name]["volumes"] == [f"{name}:/var/lib/postgresql/data"] for name in MACHINES)
    assert all(spread[name]["healthcheck"]["test"] for name in MACHINES)
    assert spread["machines"]["depends_on"] == {name: {"condition": "service_healthy"} for name in MACHINES}
    assert set(services) == {"database", "migrate", "server", *BOTS}
    assert all(PINNED.match(one["image"]) for one in services.values())
    assert "pgvector" in services["database"]["image"]
    assert services["server"]["image"].endswith(__version__)
    for name in ("database", "server"):
        assert services[name]["healthcheck"]["test"]
    assert services["server"]["depends_on"]["migrate"]["condition"] == "service_completed_successfully"
    assert services["migrate"]["depends_on"]["database"]["condition"] == "service_healthy"
    for name in BOTS:
        assert services[name]["profiles"] == [name], "it is started only if somebody asks for it"
        assert services[name]["command"][:2] == ["bot", name]
        assert services[name]["volumes"] == [f"{name}:/data"]
    for name in ("migrate", "server", *BOTS):
        assert int(services[name]["user"]) > 0
        check_command(services[name]["command"])
    for one in (*services.values(), *spread.values()):
        for variable, value in one["environment"].items():
            secret = re.search(r"PASSWORD|KEY|STORE|TOKEN", variable)
            assert not secret or "${" in value, f"{variable} has its value in the file"
            name = variable.removeprefix("EVERWORD_").lower()
            tokens = [token_variable(bot) for bot in BOTS]
            assert not variable.startswith("EVERWORD_") or name in BY_NAME or variable in tokens
    assert all(port.startswith("127.0.0.1:") for port in services["server"]["ports"])
    grace = int(services["server"]["stop_grace_period"].removesuffix("s"))
    assert grace > Settings().server_grace
    keepers = [*(services[name] for name in ("database", *BOTS)), *(spread[name] for name in MACHINES)]
    volumes = [volume for keeper in keepers for volume in keeper["volumes"]]
    assert set(compose["volumes"]) == {volume.split(":")[0] for volume in volumes}
