"""`everword init` asks what a memory needs, checks it and writes the settings; it never shows the key."""

from __future__ import annotations

import stat
import tomllib
from pathlib import Path

import pytest
from cli_driver import everword, failed, succeeded
from llm_server import says, serving

KEY = "sk-init-0123456789abcdef"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_without_questions_it_takes_options_and_defaults() -> None:
    assert "wrote everword.toml" in succeeded("init", "--yes", "--store", "memory.db")
    assert tomllib.loads(Path("everword.toml").read_text()) == {"store": "memory.db"}
    assert "memory.db" in succeeded("stats")
    assert "--force" in failed("init", "--yes")
    succeeded("init", "--yes", "--force", "--store", "other.db")
    assert tomllib.loads(Path("everword.toml").read_text()) == {"store": "other.db"}


def test_it_asks_for_store_model_and_key_and_never_shows_the_key() -> None:
    with serving(says("Yes.")) as service:
        result = everword("init", input=f"talks.db\nmodel-x\n{service.url}\n{KEY}\n")
    assert result.exit_code == 0, result.output
    assert KEY not in result.output
    assert "answered “Yes.”" in result.output
    written = {"store": "talks.db", "chat_url": service.url, "chat_model": "model-x", "chat_key": KEY}
    assert tomllib.loads(Path("everword.toml").read_text()) == written
    assert service.keys == {f"Bearer {KEY}"}
    assert stat.S_IMODE(Path("everword.toml").stat().st_mode) == 0o600


def test_a_key_of_the_environment_stays_there() -> None:
    with serving(says("Yes.")) as service:
        env = {"EVERWORD_CHAT_KEY": KEY}
        result = everword("init", "--yes", "--model", "model-x", "--url", service.url, env=env)
    assert result.exit_code == 0, result.output
    assert KEY not in Path("everword.toml").read_text() + result.output


def test_a_model_that_does_not_answer_is_an_error_and_nothing_is_written() -> None:
    options = ("--yes", "--model", "model-x", "--url", "http://127.0.0.1:9/v1")
    assert "was not written" in failed("init", *options)
    assert not Path("everword.toml").exists()
    succeeded("init", *options, "--no-check")
    assert Path("everword.toml").exists()


def test_a_store_that_cannot_be_opened_is_an_error() -> None:
    assert "does not exist" in failed("init", "--yes", "--store", "missing/memory.db")
    assert not Path("everword.toml").exists()
