"""Import, export and copy: nothing is lost, nothing is doubled, and what is bad is named with its place."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from cli_driver import TALK, change, everword, failed, imported, json_lines, succeeded, talk

from everword import Memory
from everword.cli.transfer import FORMATS
from everword.formats import FORMATS as KNOWN

DATA = Path(__file__).parents[1] / "formats" / "data"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# -- import


@pytest.mark.checklist("D12")
def test_import_search_stats_export_round_trip(tmp_path: Path) -> None:
    """D12: search, export, import and statistics, from a terminal."""
    said = succeeded("import", talk(tmp_path / "talk.jsonl"))
    assert said.endswith("talk.jsonl (everword): 5 messages read, 5 new, 0 known already, 0 bad\n")
    assert "database" in succeeded("search", "databases", "--user", "alex").splitlines()[1]
    stats = json.loads(succeeded("stats", "--json"))
    assert (stats["messages"], stats["first"]) == (5, "2023-05-01T09:00:00+00:00")
    assert stats["views"][0]["behind"] == 0

    exported = succeeded("export")
    assert [line["content"] for line in json_lines(exported)] == [line["content"] for line in TALK]
    succeeded("import", "-", "--store", "json:second.json", input=exported.encode())
    assert succeeded("export", "--store", "json:second.json") == exported


@pytest.mark.checklist("C1")
def test_importing_twice_keeps_once(tmp_path: Path) -> None:
    """C1: the same platform id twice is stored once, also when the file names none."""
    named = tmp_path / "named.jsonl"
    named.write_text('{"role": "user", "content": "hello", "user": "alex", "platform_id": "7"}\n', encoding="utf-8")
    for file in (named, talk(tmp_path / "talk.jsonl")):
        succeeded("import", file)
        assert " 0 new," in succeeded("import", file)
    assert json.loads(succeeded("stats", "--json"))["messages"] == 6


@pytest.mark.parametrize("name", ["chatgpt", "claude", "discord", "telegram_chat"])
def test_other_programs_exports_are_recognised(name: str) -> None:
    result = everword("import", DATA / f"{name}.json", "--user", "alex", "--timezone", "UTC", "--skip-bad")
    assert result.exit_code == 0, result.output
    assert f"({name.split('_')[0]})" in result.stdout
    assert json.loads(succeeded("stats", "--json"))["messages"] > 0
    assert "whole" in succeeded("verify")


def test_the_formats_offered_are_those_there_are() -> None:
    assert tuple(KNOWN) == FORMATS


def test_discord_suggests_a_space() -> None:
    result = everword("import", DATA / "discord.json", "--skip-bad")
    assert "hint: the file names the space" in result.stderr
    space = result.stderr.split("names the space ")[1].split(";")[0]
    again = everword("import", DATA / "discord.json", "--skip-bad", "--space", space)
    assert "hint" not in again.stderr


BAD = (
    '{"role": "user", "content": "one", "user": "alex"}\n'
    '{"role": "user", "content": \n'
    '{"role": "user", "content": "three", "user": "alex"}\n'
    '{"role": "narrator", "content": "four", "user": "alex"}\n'
    '{"role": "user", "content": "five", "user": "alex", "time": "2999-01-01"}\n'
    '{"role": "user", "content": "six", "user": "alex", "time": "2999-01-01T00:00:00Z"}\n'
)


def test_bad_records_do_not_stop_an_import_and_it_does_not_succeed(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text(BAD, encoding="utf-8")
    error = failed("import", "bad.jsonl", talk(tmp_path / "talk.jsonl"))
    assert error.startswith("3 records could not be read; all others were imported")
    assert "--skip-bad" in error
    kept = [line["content"] for line in json_lines(succeeded("export"))]
    assert kept[-3:] == ["one", "three", "six"]
    assert len(kept) == len(TALK) + 3


def test_skip_bad_names_every_line_it_leaves_out(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text(BAD, encoding="utf-8")
    result = everword("import", "bad.jsonl", "--skip-bad")
    assert result.exit_code == 0
    skipped = [line.split(":")[1] for line in result.stderr.splitlines()]
    assert skipped == [" bad.jsonl, line 2", " bad.jsonl, line 4", " bad.jsonl, line 5"]
    assert "3 messages read, 3 new, 0 known already, 3 bad" in result.stdout
    assert [line["content"] for line in json_lines(succeeded("export"))] == ["one", "three", "six"]


def test_a_missing_file_is_one_line() -> None:
    assert failed("import", "nowhere.jsonl") == "there is no file nowhere.jsonl"


def test_a_worker_may_do_the_indexing(tmp_path: Path) -> None:
    file = talk(tmp_path / "talk.jsonl")
    succeeded("import", file, "--no-settle")
    assert "5 messages behind" in succeeded("stats")
    assert "caught up: 5 messages brought in" in succeeded("worker", "--once")
    assert "up to date" in succeeded("stats")


def test_importing_needs_no_embedder_when_a_worker_does_the_indexing(tmp_path: Path) -> None:
    env = {
        "EVERWORD_EMBEDDER": "endpoint",
        "EVERWORD_EMBEDDER_URL": "http://127.0.0.1:9/v1",
        "EVERWORD_FOLLOWERS": "no",
    }
    assert "5 new" in succeeded("import", talk(tmp_path / "talk.jsonl"), env=env)


# -- export


def test_export_of_one_user_and_of_one_conversation(tmp_path: Path) -> None:
    imported(talk(tmp_path / "a.jsonl"))
    succeeded("import", talk(tmp_path / "b.jsonl", user="kim", conversation="other"))
    assert {line["user"] for line in json_lines(succeeded("export", "--user", "kim"))} == {"kim"}
    assert {line["conversation"] for line in json_lines(succeeded("export", "--conversation", "chat"))} == {"chat"}
    assert "there is no conversation 'nowhere'" in failed("export", "--conversation", "nowhere")


def test_an_export_knows_whose_chat_it_is(tmp_path: Path) -> None:
    imported(talk(tmp_path / "talk.jsonl"))
    exported = json_lines(succeeded("export"))
    assert {line["owner"] for line in exported} == {"alex"}
    succeeded("import", "-", "--store", "b.db", input=succeeded("export").encode())
    with Memory("b.db") as memory:
        assert [one.user for one in memory.conversations()] == ["alex"]


def test_an_export_file_is_whole_or_not_there(tmp_path: Path) -> None:
    imported(talk(tmp_path / "talk.jsonl"))
    target = tmp_path / "out.jsonl"
    target.write_text("old\n", encoding="utf-8")
    assert "error" not in everword("export", "-o", target).stderr
    assert len(target.read_text(encoding="utf-8").splitlines()) == 5
    assert "does not exist" in failed("export", "-o", tmp_path / "nowhere" / "out.jsonl")
    failed("export", "--conversation", "nowhere", "-o", target)
    assert len(target.read_text(encoding="utf-8").splitlines()) == 5
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".tmp")]


def test_export_to_a_device_writes_into_it(tmp_path: Path) -> None:
    imported(talk(tmp_path / "talk.jsonl"))
    succeeded("export", "-o", os.devnull)
    assert not Path(os.devnull).is_file()


# -- copy


@pytest.mark.checklist("D3")
def test_copying_is_lossless(tmp_path: Path) -> None:
    """D3: SQLite to JSON and back without loss: messages, seals, tombstones, index."""
    imported(talk(tmp_path / "a.jsonl"))
    succeeded("import", talk(tmp_path / "b.jsonl", user="kim", conversation="other"), "--space", "team")
    succeeded("erase", "--user", "kim", "--space", "team", "--yes")
    there = succeeded("copy", "everword.db", "json:memory.json")
    back = succeeded("copy", "json:memory.json", "back.db")
    assert "2 conversations, 10 messages" in there
    assert there.splitlines()[1] == back.splitlines()[1]
    for command in (["export"], ["search", "databases", "--explain"], ["verify"], ["conversations"]):
        expected = succeeded(*command)
        assert succeeded(*command, "--store", "json:memory.json") == expected
        assert succeeded(*command, "--store", "back.db") == expected


@pytest.mark.checklist("D3")
def test_copy_to_postgresql_and_back(tmp_path: Path, postgres_url: str) -> None:
    """D3: also to a server and back."""
    imported(talk(tmp_path / "a.jsonl"))
    succeeded("copy", "everword.db", postgres_url)
    succeeded("copy", postgres_url, "back.db")
    assert succeeded("export", "--store", postgres_url) == succeeded("export")
    assert succeeded("export", "--store", "back.db") == succeeded("export")
    assert succeeded("verify", "--store", "back.db") == succeeded("verify")


def test_a_copy_needs_an_empty_target(tmp_path: Path) -> None:
    imported(talk(tmp_path / "a.jsonl"))
    succeeded("copy", "everword.db", "b.db")
    assert "is not empty" in failed("copy", "everword.db", "b.db")
    assert "the same file" in failed("copy", "everword.db", "./everword.db")
    assert "whole: 5 messages" in succeeded("verify", "--store", "b.db")


@pytest.mark.parametrize("target", ["new.db", "json:new.json"])
def test_a_copy_that_fails_half_way_leaves_no_file(tmp_path: Path, target: str) -> None:
    imported(talk(tmp_path / "talk.jsonl"))
    change("DROP TABLE vectors")
    before = sorted(path.name for path in tmp_path.iterdir())
    assert "no such table: vectors" in failed("copy", "everword.db", target)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_copy_of_a_tampered_store_says_so(tmp_path: Path) -> None:
    imported(talk(tmp_path / "a.jsonl"))
    change("UPDATE messages SET content = 'forged' WHERE turn = 3")
    result = everword("copy", "everword.db", "b.db")
    assert result.exit_code == 1
    assert "turn 3: was changed" in result.stdout
