"""Real coding agents from npm, headless, against a model's server on loopback: `make test-agents`.

Each runs in an environment of its own, with an empty home folder, through two sessions. The second session's first
request to the model has to hold what was said in the first. Then the import of past sessions reads what the host wrote.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from model_server import ModelServer, model_server

from everword.agents.install import HOSTS, install
from everword.agents.sessions import past_records, project_of

PROGRAMS = Path(os.environ["EVERWORD_TEST_HOSTS"]) / "node_modules" / ".bin"
SECONDS = 180  # for one session


def claude(home: Path, project: Path, url: str) -> tuple[list[str], dict[str, str]]:
    quiet = {"DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    places = {"CLAUDE_CONFIG_DIR": str(home / ".claude"), "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "sk-test"}
    return ["claude", "--output-format", "text", "-p"], quiet | places


def codex(home: Path, project: Path, url: str) -> tuple[list[str], dict[str, str]]:
    provider = f'[model_providers.loopback]\nname = "loopback"\nbase_url = "{url}/v1"\nenv_key = "MODEL_KEY"\n'
    trust = f'[projects."{project}"]\ntrust_level = "trusted"\n'
    settings = f'model = "m"\nmodel_provider = "loopback"\n{provider}wire_api = "responses"\n{trust}'
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(settings)
    return ["codex", "exec", "--dangerously-bypass-hook-trust", "--skip-git-repo-check"], {"MODEL_KEY": "k"}


def gemini(home: Path, project: Path, url: str) -> tuple[list[str], dict[str, str]]:
    (home / ".gemini").mkdir()
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": False}}
    (home / ".gemini" / "settings.json").write_text(json.dumps(settings))
    places = {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    return ["gemini", "-m", "gemini-2.5-flash", "-p"], places


def opencode(home: Path, project: Path, url: str) -> tuple[list[str], dict[str, str]]:
    options = {"baseURL": f"{url}/v1", "apiKey": "k"}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "loopback", "options": options, "models": {"m": {}}}
    settings = {"provider": {"loopback": provider}, "model": "loopback/m", "small_model": "loopback/m"}
    (project / "opencode.json").write_text(json.dumps(settings | {"autoupdate": False, "share": "disabled"}))
    return ["opencode", "run"], {}


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with model_server() as server:
        yield server


@pytest.mark.parametrize("prepare", [claude, codex, gemini, opencode], ids=lambda prepare: str(prepare.__name__))
def test_the_second_session_of_a_real_host_knows_what_the_first_was_told(
    prepare: Callable[[Path, Path, str], tuple[list[str], dict[str, str]]], model: ModelServer, tmp_path: Path
) -> None:
    home, project, memory = tmp_path / "home", tmp_path / "project", tmp_path / "memory"
    home.mkdir()
    project.mkdir()
    subprocess.run(["git", "init", "--quiet"], cwd=project, check=True)
    install(HOSTS[prepare.__name__], project)
    command, more = prepare(home, project, model.url)
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "EVERWORD_AGENTS": str(memory), **more}
    environment["EVERWORD_HOOK_SECONDS"] = "60"  # a busy machine is not what is tested
    service = [sys.executable, "-m", "everword.agents.service", str(memory)]
    first_requests = []
    prompts = ("The staging database is called otter.", "What is the staging database called?")
    for prompt in prompts:
        seen = len(model.prompts)
        with subprocess.Popen(service, env=environment, stderr=subprocess.PIPE, text=True) as running:
            assert running.stderr is not None
            running.stderr.readline()  # it says that the memory is open
            line = [str(PROGRAMS / command[0]), *command[1:], prompt]
            subprocess.run(line, cwd=project, env=environment, stdin=subprocess.DEVNULL, timeout=SECONDS, check=True)
            running.send_signal(signal.SIGTERM)
            assert running.wait(60) == 0
        first_requests.append(model.prompts[seen])
    assert "Memory of earlier sessions" not in first_requests[0]
    assert "called otter" in first_requests[1]
    records = list(past_records(prepare.__name__, project_of(str(project)), "kim", home))
    past = [
        (record.draft.role, record.draft.content.strip('"'))  # OpenCode adds quotation marks to what it is started with
        for record in sorted(records, key=lambda record: str(record.draft.time))
    ]
    assert past == [entry for prompt in prompts for entry in (("user", prompt), ("assistant", model.reply))]
