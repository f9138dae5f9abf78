"""`everword retain`: shows what is over, and removes it on a second word only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_driver import everword, failed, imported, succeeded, talk

SHORT = {"EVERWORD_RETAIN_MESSAGES": "30"}


@pytest.fixture(autouse=True)
def _memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    imported(talk(tmp_path / "talk.jsonl"))


def messages() -> int:
    return int(json.loads(succeeded("stats", "--json"))["messages"])


@pytest.mark.checklist("C12")
def test_nothing_is_over_unless_a_setting_says_so() -> None:
    assert "everything is kept for ever" in succeeded("retain", "--yes")
    assert messages() == 5


@pytest.mark.checklist("C12", "D12")
def test_it_shows_first_and_removes_only_with_yes() -> None:
    shown = succeeded("retain", env=SHORT)
    assert "would go" in shown
    assert "nothing was removed" in shown
    assert messages() == 5
    plan = json.loads(succeeded("retain", "--json", env=SHORT))
    assert (plan["dry_run"], [(one["kind"], one["count"]) for one in plan["expired"]]) == (True, [("messages", 5)])
    done = succeeded("retain", "--yes", env=SHORT)
    assert "removed" in done
    assert messages() == 0
    assert succeeded("verify").startswith("whole: 0 messages in 1 conversation, 5 erased")
    assert "nothing is over" in succeeded("retain", env=SHORT)


@pytest.mark.checklist("C12")
def test_a_space_alone(tmp_path: Path) -> None:
    succeeded("import", tmp_path / "talk.jsonl", "--space", "team")
    succeeded("retain", "--yes", "--space", "team", env=SHORT)
    assert messages() == 5
    assert json.loads(succeeded("stats", "--space", "team", "--json"))["messages"] == 0


@pytest.mark.checklist("C12")
def test_what_waits_for_a_view_is_said(tmp_path: Path) -> None:
    succeeded("rebuild", "facts")
    result = everword("retain", env=SHORT)
    assert result.stderr == ""
    line = '{"role": "user", "content": "late", "conversation": "chat", "user": "alex", "time": "2023-01-01T00:00:00Z"}'
    succeeded("import", "-", "--no-settle", input=line + "\n")
    result = everword("retain", env=SHORT)
    assert "1 message more will go once every view has read them" in result.stderr


@pytest.mark.checklist("C12")
def test_a_limit_that_makes_no_sense_is_refused() -> None:
    assert "retain_messages must be at least 0" in failed("retain", env={"EVERWORD_RETAIN_MESSAGES": "-1"})
    assert failed("retain", "--store", "nowhere.db").startswith("there is no store nowhere.db")


@pytest.mark.checklist("C14")
def test_counts_of_what_was_done_are_in_the_statistics(tmp_path: Path) -> None:
    from everword import Memory
    from everword.testing.doubles import ScriptedLLM

    with Memory("everword.db", chat=ScriptedLLM(default="Certainly.")) as memory:
        memory.conversation("chat", user="alex").reply("Hello there, how are you?")
    lines = succeeded("stats").splitlines()
    (reply,) = [line for line in lines if line.startswith("chat reply")]
    assert "ok: 1 call, " in reply
    found = json.loads(succeeded("stats", "--json"))["activity"]
    assert [(one["kind"], one["count"]) for one in found if one["what"] == "chat"] == [("reply", 1)]
