"""A profile at the command line: remember, forget, undo, profile; and commands to the memory within a chat."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cli_driver import everword, failed, json_lines, succeeded
from llm_server import Exchange, Service, says, serving, streams


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.checklist("C2")
def test_a_profile_is_told_shown_forgotten_and_brought_back() -> None:
    assert succeeded("remember", "I live in Rome and I like tea", "--user", "alex") == (
        "alex lives in Rome.\nalex likes tea.\n"
    )
    assert succeeded("remember", "I live in Oslo now", "--user", "alex") == "alex lives in Oslo now.\n"
    shown = succeeded("profile", "alex")
    assert "- location: Oslo" in shown
    assert "- likes: tea" in shown
    assert "Rome" not in shown
    gone = everword("forget", "that I like tea", "--user", "alex")
    assert (gone.exit_code, gone.stdout) == (0, "alex likes tea.\nlikes: tea\n")
    undo = re.search(r"`everword (undo \S+ --user alex)`", gone.stderr)
    assert undo is not None
    assert "tea" not in succeeded("profile", "alex")
    assert succeeded(*undo[1].split()) == "alex likes tea.\nlikes: tea\n"
    assert "- likes: tea" in succeeded("profile", "alex")
    assert "has no change" in failed(*undo[1].split())


@pytest.mark.checklist("C2")
def test_what_is_not_known_is_said_so() -> None:
    succeeded("remember", "I like tea", "--user", "alex")
    missing = everword("forget", "that I like wine", "--user", "alex")
    assert (missing.exit_code, missing.stdout, missing.stderr) == (1, "", "nothing is known of that\n")
    everything = everword("forget", "everything you know about me", "--user", "alex")
    assert (everything.exit_code, everything.stdout) == (1, "")
    assert "`everword erase`" in everything.stderr
    assert "likes: tea" in succeeded("profile", "alex")
    nobody = everword("profile", "sam")
    unknown = "warning: nothing is kept of anybody called 'sam' in space 'default'"
    assert (nobody.exit_code, nobody.stdout, nobody.stderr) == (0, "", f"{unknown}\nnothing is known yet\n")
    assert "says nothing that can be remembered" in failed("remember", "?", "--user", "alex")


def test_a_mistyped_store_is_an_error_not_an_empty_memory(tmp_path: Path) -> None:
    for arguments in (("profile", "alex"), ("forget", "tea", "--user", "alex"), ("undo", "x", "--user", "alex")):
        assert "there is no store" in failed(*arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_profile_as_json_has_every_field() -> None:
    succeeded("remember", "I like \x1b[31mtea 🦓", "--user", "alex")
    (profile,) = json_lines(succeeded("profile", "alex", "--json"))
    assert set(profile) == {"user", "name", "facts", "statements", "text", "today", "history", "context"}
    (statement,) = profile["statements"]
    assert (statement["speaker"], statement["active"], statement["audience"]) == ("alex", True, None)
    assert "🦓" in statement["text"]
    assert "\x1b" not in succeeded("profile", "alex")


def test_what_another_says_in_private_is_theirs() -> None:
    assert succeeded("remember", "Bob snores", "--user", "bob", "--speaker", "ann") == "bob snores.\n"
    assert everword("profile", "bob").stdout == ""


def test_what_is_not_read_yet_is_warned_of(tmp_path: Path) -> None:
    with serving(streams("Noted.")) as service:
        succeeded("chat", "--user", "alex", input="I like tea.\n", env=chatting(service))
    for arguments in (["profile", "alex"], ["forget", "that I like tea", "--user", "alex"]):
        assert "2 messages not yet read for facts" in everword(*arguments).stderr
    succeeded("worker", "--once")
    read = everword("profile", "alex")
    assert ("likes: tea" in read.stdout, read.stderr) == (True, "")


def test_spaces_and_stores_are_kept_apart() -> None:
    succeeded("remember", "I like tea", "--user", "alex", "--space", "one", "--store", "json:other.json")
    assert "likes: tea" in succeeded("profile", "alex", "--space", "one", "--store", "json:other.json")
    assert everword("profile", "alex", "--store", "json:other.json").stdout == ""


# -- in a chat


def chatting(service: Service) -> dict[str, str]:
    return {
        "EVERWORD_CHAT_URL": service.url,
        "EVERWORD_CHAT_MODEL": "small",
        "EVERWORD_CHAT_KEY": "k",
        "EVERWORD_FOLLOWERS": "false",
    }


def away(exchange: Exchange) -> None:
    exchange.send(400, b'{"error": {"message": "I am away"}}')


@pytest.mark.checklist("C10")
def test_in_a_chat_the_memory_answers_for_itself() -> None:
    """The model is away all the time: nobody needs it for this."""
    lines = "remember that I like tea\nwhat do you know about me?\nforget that I like tea\nforget everything\n"
    with serving(away) as service:
        said = everword("chat", "--user", "alex", input=lines, env=chatting(service))
    assert said.exit_code == 0, said.output
    assert said.stdout.splitlines()[:5] == [
        "I will remember: alex likes tea.",
        "What I know about you:",
        "Preferences",
        "- likes: tea",
        "Forgotten: alex likes tea.",
    ]
    assert "so I have done nothing" in said.stdout.splitlines()[5]
    kept = json_lines(succeeded("history", "chat", "--json"))
    assert [message["role"] for message in kept] == ["user", "assistant"] * 4


@pytest.mark.checklist("C10")
def test_in_a_chat_the_model_reads_commands_and_answers_the_rest() -> None:
    reading = '{"kind": "remember", "about": "me", "text": "j\'aime le thé", "refers_back": false}'
    none = '{"kind": "none", "about": "", "text": "", "refers_back": false}'
    merged = '{"add": ["alex said: “j\'aime le thé.”"], "replace": [], "same": []}'
    with serving(says(reading), says(merged), says(none), streams("A fine ", "film.")) as service:
        lines = "bot, retiens que j'aime le thé\ndo you remember the film?\n"
        said = succeeded("chat", "--user", "alex", input=lines, env=chatting(service))
    first, second = said.splitlines()
    assert "j'aime le thé" in first
    assert second == "A fine film."
    assert [request.get("temperature") for request in service.requests[:3]] == [0, 0, 0]


@pytest.mark.checklist("G18")
def test_undo_without_an_id_takes_back_the_last_change_and_says_which(tmp_path: Path) -> None:
    succeeded("remember", "I like tea.", "--user", "kim")
    succeeded("remember", "I live in Graz.", "--user", "kim")
    for words in ("tea", "Graz"):
        succeeded("forget", f"what I said about {words}", "--user", "kim")
    undone = everword("undo", "--user", "kim")
    assert "taken back: " in undone.stderr
    assert "Graz" in undone.stderr
    assert "Graz" in undone.stdout
    assert "tea" not in undone.stdout
    assert "tea" in succeeded("undo", "--user", "kim")
    assert "there is nothing to undo" in failed("undo", "--user", "kim")
