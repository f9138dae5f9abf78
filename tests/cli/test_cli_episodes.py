"""Summaries of messages that left the window, at the command line: a tree, and JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_driver import change, everword, failed, json_lines, succeeded

SAID = ("In March I am going to Kyoto with my sister Emma.", "Take the bicycle along: the city is flat.")
NONE_YET = "no message has left the window yet; `everword worker --once` catches up\n"
SMALL = {"EVERWORD_WINDOW_TURNS": "4", "EVERWORD_LEVEL_EPISODES": "2"}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def _told() -> None:
    """Twenty messages, of which ten have left the window: two episodes of four messages in one of level 2, and one."""
    lines = [
        {
            "conversation": "chat",
            "user": "alex",
            "role": ("user", "assistant")[number % 2],
            "content": f"{SAID[number % 2]} {number}",
            "time": f"2023-05-{1 + number // 4:02}T09:00:00Z",
        }
        for number in range(20)
    ]
    succeeded("import", "-", input="".join(json.dumps(line) + "\n" for line in lines), env=SMALL)


def heads(text: str) -> list[str]:
    """What stands before the times of each episode, and what is said of those that are not shown."""
    return [line.split("  2023")[0] for line in text.splitlines() if "level" in line]


@pytest.mark.usefixtures("_told")
def test_the_active_summaries_are_a_tree_that_is_shown_whole_on_request() -> None:
    shown = succeeded("episodes", "chat")
    assert shown.splitlines()[0] == "chat"
    assert heads(shown) == [
        "├── level 2, turns 1-8",
        "│   └── 2 of level 1 (--all shows them)",
        "└── level 1, turns 9-10",
    ]
    assert "2023-05-01 09:00 to 2023-05-02 09:00" in shown
    assert "going to Kyoto with my sister Emma" in shown
    assert "waiting for the model" not in shown
    assert heads(succeeded("episodes", "chat", "--all")) == [
        "├── level 2, turns 1-8",
        "│   ├── level 1, turns 1-4",
        "│   └── level 1, turns 5-8",
        "└── level 1, turns 9-10",
    ]
    change("UPDATE episodes SET pending = 1 WHERE first = 9")
    [waiting] = [line for line in succeeded("episodes", "chat").splitlines() if "waiting for the model" in line]
    assert "level 1, turns 9-10" in waiting


@pytest.mark.usefixtures("_told")
def test_json_says_which_larger_summary_each_is_part_of() -> None:
    lines = json_lines(succeeded("episodes", "chat", "--json"))
    assert [(line["level"], line["first"], line["last"]) for line in lines] == [
        (2, 1, 8), (1, 1, 4), (1, 5, 8), (1, 9, 10),
    ]  # fmt: skip
    larger = lines[0]["id"]
    assert [line["part_of"] for line in lines] == [None, larger, larger, None]
    assert lines[-1]["made_by"] == "offline"


def test_a_conversation_in_its_window_has_no_summary_yet() -> None:
    line = {"conversation": "chat", "user": "alex", "role": "user", "content": "hello there"}
    succeeded("import", "-", input=json.dumps(line))
    result = everword("episodes", "chat")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", NONE_YET)
    assert "there is no conversation 'other'" in failed("episodes", "other")
