"""Single facts and questions at the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_driver import everword, failed, json_lines, succeeded


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def listed(*options: str) -> list[dict[str, str]]:
    return json_lines(succeeded("facts", "mia", "--json", *options))


def undo_id(told: str) -> str:
    return told.split("everword undo ")[1].split()[0]


def test_a_fact_is_added_edited_deleted_and_brought_back() -> None:
    added = succeeded("fact", "add", "identity", "city", "Kiel", "--user", "mia", "--from", "2024-05-01")
    assert "location: Kiel" in added
    (fact,) = listed()
    assert (fact["value"], fact["valid_from"]) == ("Kiel", "2024-05-01T00:00:00+00:00")
    shown = json.loads(succeeded("fact", "show", fact["id"], "--user", "mia", "--json"))
    assert shown == fact
    assert "location: Kiel" in succeeded("fact", "show", fact["id"], "--user", "mia")
    edited = everword("fact", "edit", fact["id"], "Bremen", "--user", "mia")
    assert edited.exit_code == 0
    succeeded("rebuild", "facts")
    assert [one["value"] for one in listed()] == ["Bremen"]
    assert [one["value"] for one in listed("--history", "city")] == ["Kiel", "Bremen"]
    deleted = everword("fact", "delete", listed()[0]["id"], "--user", "mia")
    assert everword("facts", "mia").stdout == ""
    succeeded("undo", undo_id(deleted.stderr), "--user", "mia")
    assert [one["value"] for one in listed()] == ["Bremen"]
    assert "has no fact 'f0'" in failed("fact", "edit", "f0", "Rome", "--user", "mia")
    assert "no longer true" in failed("fact", "delete", fact["id"], "--user", "mia")


def test_a_question_is_answered_with_what_it_rests_on() -> None:
    succeeded("fact", "add", "preference", "likes", "rowing", "--user", "mia")
    succeeded("fact", "add", "identity", "city", "Kiel", "--user", "mia")
    assert "- likes: rowing" in succeeded("ask", "What does she like?", "--user", "mia")
    answer = json.loads(succeeded("ask", "What does she like?", "--user", "mia", "--json"))
    assert (answer["known"], answer["made_by"], answer["facts"][0]["value"]) == (True, "offline", "rowing")
    assert "preference" in succeeded("ask", "What does she like?", "--user", "mia", "--sources")
    unknown = everword("ask", "What does she like?", "--user", "nobody")
    assert (unknown.exit_code, unknown.stdout) == (1, "Nothing that is remembered answers that.\n")
    assert listed("--about", "where does she live")[0]["value"] == "Kiel"
    assert "cannot be combined with --as-of" in everword("facts", "mia", "--history", "city", "--about", "home").stderr
    succeeded("worker", "--once")
    assert "likes: rowing" in succeeded("search", "rowing", "--user", "mia", "--facts")
    hits = json_lines(succeeded("search", "rowing", "--user", "mia", "--facts", "--json"))
    assert [hit["fact"]["value"] for hit in hits if hit.get("kind") == "fact"][:1] == ["rowing"]
