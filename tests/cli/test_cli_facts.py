"""What is known of a person, at the command line: facts, their history, and the messages they come from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_driver import everword, failed, imported, json_lines, succeeded
from llm_server import serving, streams

from everword.cli.options import CONTROL

SAID = [
    ("My name is Alex and I live in Lima.", "2025-01-03T09:00:00Z"),
    ("I'm allergic to kiwi. My brother Tom lives in Rome.", "2025-02-01T09:00:00Z"),
    ("I moved to Oslo.", "2025-03-10T09:00:00Z"),
]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def lines(*said: tuple[str, str], **shared: Any) -> str:
    place = {"conversation": "chat", "user": "alex", "role": "user", **shared}
    return "".join(json.dumps({**place, "content": text, "time": time}) + "\n" for text, time in said)


@pytest.fixture
def _told(tmp_path: Path) -> None:
    file = tmp_path / "said.jsonl"
    file.write_text(lines(*SAID), encoding="utf-8")
    imported(file)


def rows(*arguments: str) -> list[list[str]]:
    """A table, as its cells; cells are two blanks or more apart."""
    out = succeeded("facts", *arguments)
    return [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in out.splitlines()]


@pytest.mark.usefixtures("_told")
@pytest.mark.checklist("B3")
def test_facts_are_listed_most_important_first() -> None:
    head, *facts = rows("alex")
    assert head == ["category", "key", "value", "since", "sure", "said by", "id"]
    assert [row[:3] for row in facts] == [
        ["identity", "name", "Alex"],
        ["constraint", "allergies", "kiwi"],
        ["identity", "Tom: location", "Rome"],
        ["identity", "location", "Oslo"],
        ["identity", "brother", "Tom"],
    ]
    assert facts[3][3:6] == ["2025-03-10 09:00", "0.95", "Alex"]
    assert [row[2] for row in rows("alex", "--category", "constraint")[1:]] == ["kiwi"]


@pytest.mark.usefixtures("_told")
@pytest.mark.checklist("B6")
def test_history_and_a_day_in_the_past() -> None:
    head, *homes = rows("alex", "--history", "city")
    assert head == ["category", "key", "value", "from", "to", "sure", "said by", "id"]
    assert [row[2:5] for row in homes] == [
        ["Lima", "2025-01-03 09:00", "2025-03-10 09:00"],
        ["Oslo", "2025-03-10 09:00", "now"],
    ]
    assert {row[2] for row in rows("alex", "--as-of", "2025-01-15")[1:]} == {"Alex", "Lima"}
    assert {row[2] for row in rows("alex", "--as-of", "2025-02-15")[1:]} == {"Alex", "Lima", "kiwi", "Rome", "Tom"}


@pytest.mark.usefixtures("_told")
@pytest.mark.checklist("B3", "B7")
def test_json_has_all_that_is_kept() -> None:
    old, new = json_lines(succeeded("facts", "alex", "--history", "location", "--json"))
    assert (old["value"], old["active"], old["retired_by"]) == ("Lima", False, new["id"])
    assert (new["valid_from"], new["valid_to"]) == ("2025-03-10T09:00:00+00:00", None)
    assert {"confidence", "importance", "speaker", "audience", "subject", "sources", "turn"} <= set(new)
    kept = [message["id"] for message in json_lines(succeeded("history", "chat", "--json"))]
    assert new["sources"] == kept[2:]


@pytest.mark.usefixtures("_told")
@pytest.mark.checklist("B7")
def test_why_shows_the_messages() -> None:
    old, _ = json_lines(succeeded("facts", "alex", "--history", "location", "--json"))
    assert succeeded("why", old["id"], "--user", "alex").splitlines() == [
        "location: Lima  identity, from 2025-01-03 09:00 to 2025-03-10 09:00, said in private",
        "  2025-01-03 09:00  Alex  chat, turn 1",
        "      My name is Alex and I live in Lima.",
        "  2025-03-10 09:00  Alex  chat, turn 3",
        "      I moved to Oslo.",
    ]
    sources = json_lines(succeeded("why", old["id"], "--user", "alex", "--json"))
    assert [message["id"] for message in sources] == old["sources"]
    assert "user 'kim' has no fact" in failed("why", old["id"], "--user", "kim")
    assert "has no fact 'f0'" in failed("why", "f0", "--user", "alex")


def test_what_is_not_read_yet_is_told_and_nothing_is_changed(tmp_path: Path) -> None:
    succeeded("import", "-", "--no-settle", input=lines(*SAID))
    before = succeeded("stats")
    result = everword("facts", "alex")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "nothing is known yet" in result.stderr
    assert "warning: 3 messages not yet read for facts: some may be missing here" in result.stderr
    assert succeeded("stats") == before
    succeeded("worker", "--once")
    assert everword("facts", "alex").stderr == ""


@pytest.mark.usefixtures("_told")
def test_wrong_use_is_told_from_nothing_found() -> None:
    for wrong in (["--as-of", "soon"], ["--category", "mood"], ["--history", "city", "--as-of", "2025-01-01"]):
        assert everword("facts", "alex", *wrong).exit_code == 2
    for empty in (["nobody"], ["alex", "--as-of", "2020-01-01"], ["alex", "--history", "shoe size"]):
        result = everword("facts", *empty)
        assert (result.exit_code, result.stdout) == (0, "")
        assert "nothing is known" in result.stderr
    assert "there is no store missing.db" in failed("facts", "alex", "--store", "missing.db")
    assert everword("facts", "alex", "--space", "elsewhere").stdout == ""


def test_a_value_cannot_command_the_terminal() -> None:
    said = ("I'm allergic to kiwi\x1b[31m and 🥝.", "2025-01-03T09:00:00Z"), ("I live in Łódź.", "2025-01-04T09:00:00Z")
    succeeded("import", "-", input=lines(*said))
    out = succeeded("facts", "alex")
    assert not CONTROL.search(out)
    assert "Łódź" in out
    for fact in json_lines(succeeded("facts", "alex", "--json")):
        assert not CONTROL.search(succeeded("why", fact["id"], "--user", "alex"))


@pytest.mark.usefixtures("_told")
def test_chat_shows_the_facts_of_who_speaks(tmp_path: Path) -> None:
    succeeded(
        "import", "-", input=lines(("I live in Bergen.", SAID[0][1]), conversation="room", user=None, author="alex")
    )
    with serving(streams("Noted.")) as service:
        env = {"EVERWORD_CHAT_URL": service.url, "EVERWORD_CHAT_MODEL": "small", "EVERWORD_FOLLOWERS": "false"}
        assert succeeded("chat", "chat", input="/facts\n", env=env) == (
            "Identity\n- name: Alex\n- location: Oslo\n- brother: Tom\nConstraints\n- allergies: kiwi\n"
            "About Tom\n- location: Rome\n"
        )
        assert succeeded("chat", "fresh", "--user", "kim", input="/facts\n", env=env) == "nothing is known yet\n"
        assert "kiwi" not in succeeded("chat", "room", "--user", "alex", input="/facts\n", env=env)
        out = succeeded("chat", "fresh", "--user", "kim", input="I live in Turin.\n/facts\n", env=env)
        assert out.endswith(
            "nothing is known yet\n(2 messages not yet read for facts: some may be missing here. "
            "`everword worker --once` reads them)\n"
        )
    assert len(service.requests) == 1
