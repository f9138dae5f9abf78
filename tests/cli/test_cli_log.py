"""Search, history, conversations and erase, as a person uses them."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_driver import everword, failed, imported, json_lines, succeeded, talk


@pytest.fixture(autouse=True)
def _memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    imported(talk(tmp_path / "talk.jsonl"))


# -- search


def test_a_hit_shows_when_who_where_and_what() -> None:
    first, second = succeeded("search", "databases", "--limit", "1").splitlines()
    assert first.split()[:7] == ["1.", "2023-05-01", "09:00", "alex", "chat,", "turn", "1"]
    assert second == "     Which database suits a small bakery?"


@pytest.mark.checklist("D12")
def test_search_finds_another_script() -> None:
    """D12: a word inside a Japanese sentence."""
    assert "自転車を借ります" in succeeded("search", "自転車").splitlines()[1]


def test_explain_shows_what_a_score_is_made_of() -> None:
    lines = succeeded("search", "databases", "--limit", "1", "--explain").splitlines()
    assert len(lines) == 3
    names = lines[2].split()[0::2]
    assert "text" in names
    assert "vector" in names


def test_json_has_the_whole_message_and_the_parts() -> None:
    hits = json_lines(succeeded("search", "databases", "--json"))
    assert hits[0]["content"] == "Which database suits a small bakery?"
    assert hits[0]["time"] == "2023-05-01T09:00:00Z"
    assert hits[0]["score"] == pytest.approx(sum(hits[0]["parts"].values()), abs=1e-4)
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)


@pytest.mark.parametrize(
    ("options", "turns"),
    [
        (["--after", "2023-07-01"], {3, 4, 5}),
        (["--before", "2023-07-02T18:01"], {1, 2, 3}),
        (["--after", "2023-07-02T20:01+02:00", "--before", "2023-07-03"], {4}),
        (["--role", "assistant"], {2, 4}),
        (["--user", "kim"], set()),
    ],
)
def test_filters(options: list[str], turns: set[int]) -> None:
    """Dates without a zone are UTC; `--after` includes its moment, `--before` does not."""
    query = "database SQLite train bicycle 自転車"
    assert {hit["turn"] for hit in json_lines(succeeded("search", query, "--json", *options))} == turns


@pytest.mark.checklist("F4")
def test_a_floor_leaves_out_what_has_nothing_to_do_with_the_query() -> None:
    hits = json_lines(succeeded("search", "Which database suits a bakery?", "--floor", "0.5", "--json"))
    assert hits[0]["content"] == "Which database suits a small bakery?"
    assert all(0.5 <= hit["relevance"] <= 1 for hit in hits)
    assert everword("search", "Write a haiku about the sea", "--floor", "0.5").stderr == "nothing found\n"
    refused = everword("search", "database", "--floor", "2")
    assert (refused.exit_code, "--floor" in refused.stderr) == (2, True)


def test_nothing_found_is_no_error() -> None:
    result = everword("search", "database", "--user", "nobody")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "warning: nothing is kept of anybody called 'nobody' in space 'default'\nnothing found\n"


def test_search_warns_when_the_index_is_behind(tmp_path: Path) -> None:
    succeeded("import", talk(tmp_path / "more.jsonl", conversation="more"), "--no-settle")
    result = everword("search", "database", env={"EVERWORD_FOLLOWERS": "no"})
    assert result.stderr.startswith("warning: the index is 5 messages behind the log")


@pytest.mark.parametrize("query", ['"', "AND OR NOT", "c++ (x:y) *", "'; DROP TABLE messages; --", "-x", "\u0000"])
def test_nothing_in_a_query_is_syntax(query: str) -> None:
    result = everword("search", "--", query)
    assert "Traceback" not in result.output
    assert result.exit_code == (1 if "\0" in query else 0)


def test_a_long_message_is_cut_around_the_match() -> None:
    said = "filler words go on and on. " * 60 + "Then came the zebra. " + "and more of them. " * 60
    line = f'{{"role": "user", "content": "{said}", "user": "alex", "conversation": "long"}}\n'
    succeeded("import", "-", input=line)
    shown = succeeded("search", "zebras", "--limit", "1").splitlines()[1].strip()
    assert "zebra" in shown
    assert shown.startswith("… ")
    assert shown.endswith(" …")
    assert len(shown) < 300


# -- history, conversations


def test_history_shows_the_last_messages_in_order() -> None:
    lines = succeeded("history", "chat", "--limit", "2").splitlines()
    assert [line.split()[0] for line in lines[0::2]] == ["4", "5"]
    assert lines[1].strip() == "Take the bicycle along, the city is flat."
    assert json_lines(succeeded("history", "chat", "--json")) == json_lines(succeeded("export"))


def test_history_of_no_conversation() -> None:
    assert "there is no conversation 'nowhere'" in failed("history", "nowhere")


def test_conversations_are_listed(tmp_path: Path) -> None:
    succeeded("import", talk(tmp_path / "b.jsonl", user="kim", conversation="other"))
    lines = succeeded("conversations").splitlines()
    assert sorted(line.split()[-5:-2] for line in lines[1:]) == [["chat", "alex", "5"], ["other", "kim", "5"]]
    only = json_lines(succeeded("conversations", "--user", "kim", "--json"))
    assert [(one["conversation"], one["turns"]) for one in only] == [("other", 5)]


# -- erase


def test_erase_asks_for_the_id() -> None:
    assert "nothing was erased" in failed("erase", "--user", "alex", input="alec\n")
    assert everword("erase", "--user", "alex", input="").exit_code == 1
    assert "whole: 5 messages" in succeeded("verify")
    assert "erased 5 messages in 1 conversation" in succeeded("erase", "--user", "alex", input="alex\n")


def test_erase_leaves_nothing_to_find_and_a_log_that_verifies(tmp_path: Path) -> None:
    root = succeeded("verify").splitlines()[1]
    succeeded("erase", "--user", "alex", "--yes")
    assert succeeded("search", "database") == ""
    assert succeeded("export", "--user", "alex") == ""
    assert b"bakery" not in (tmp_path / "everword.db").read_bytes()
    assert succeeded("verify").splitlines() == ["whole: 0 messages in 1 conversation, 5 erased", root]
    assert "nothing was erased" in failed("erase", "--user", "alex", "--yes")
