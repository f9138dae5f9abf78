"""`everword bot`: a dry run without a token, and the whole program against a server on loopback."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from cli_driver import everword, failed, process, succeeded
from telegram_server import TOKEN, TelegramServer

PAGE = Path(__file__).parents[2] / "docs" / "bots.md"
SET_UP = ["/summary", "JSON file", "501", "abc", "20", "I moored the boat at the old pier.", "/summary_status"]
KNOWN = [
    "Memo, remember that I am left-handed",
    "/forget that I am left-handed",
    "/undo",
    "/erase",
    "Erase",
    "No, keep it",
]


def replay(texts: list[str], file: Path) -> str:
    """What is printed when Alex says this to the bot in private."""
    common = {"conversation": "c", "owner": "7", "user": "7", "role": "user", "metadata": {"name": "Alex"}}
    file.write_text("".join(json.dumps({**common, "content": text}) + "\n" for text in texts), encoding="utf-8")
    return succeeded("bot", "telegram", "--dry-run", file)


@pytest.mark.checklist("D7")
def test_a_dry_run_prints_what_the_bot_would_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The screens in docs/bots.md are what is printed here."""
    monkeypatch.chdir(tmp_path)
    output = replay(SET_UP, Path("talk.jsonl"))
    assert "Alex: 501\nMemo: 501 is no number from 1 to 500. Send one, such as 15, or /cancel.\n" in output
    assert "Memo: Memory is set up.\nStorage: JSON file\nSummary after: 20 messages\n" in output
    page = PAGE.read_text(encoding="utf-8")
    assert f"```text\n{output}```\n" in page
    assert f"```text\n{replay(KNOWN, Path('talk.jsonl'))}```\n" in page
    assert page.count("```text\n") == 3, "the third is of Discord, in test_discord_commands"
    assert [file.name for file in tmp_path.iterdir()] == ["talk.jsonl"], "it keeps nothing"


def test_an_export_of_telegram_is_replayed_as_a_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = [("Dana", "user8", "I sail on Fridays."), ("Alex", "user7", "Skipper, what do you know about Dana?")]
    export = {
        "name": "Rowers",
        "type": "private_group",
        "id": 55,
        "messages": [
            {
                "id": n,
                "type": "message",
                "date_unixtime": "1700000000",
                "from": name,
                "from_id": id,
                "text": text,
            }
            for n, (name, id, text) in enumerate(said)
        ],
    }
    Path("result.json").write_text(json.dumps(export), encoding="utf-8")
    output = succeeded("bot", "telegram", "--dry-run", "result.json", "--name", "Skipper")
    assert "Skipper: What I know about Dana:" in output
    assert "Fridays" in output.split("What I know")[1]


def test_without_a_token_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    error = failed("bot", "telegram")
    assert error.startswith("EVERWORD_TELEGRAM_TOKEN is not set: @BotFather gives a token")
    assert list(tmp_path.iterdir()) == []
    with TelegramServer() as server:
        wrong = {"EVERWORD_TELEGRAM_TOKEN": "1:wrong"}
        result = everword("bot", "telegram", "--api", server.address, env=wrong)
        assert result.exit_code == 1
        assert "Telegram refuses this token" in result.stderr
        assert "wrong" not in result.output
    assert "EVERWORD_TELEGRAM_TOKEN" in succeeded("bot", "telegram", "--help")


def test_discord_needs_a_token_too_and_replays_its_own_exports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert failed("bot", "discord").startswith("EVERWORD_DISCORD_TOKEN is not set: the Developer Portal gives a token")
    assert list(tmp_path.iterdir()) == []
    said = [("Dana", "8", "I sail on Fridays."), ("Alex", "7", "Skipper, what do you know about Dana?")]
    export = {
        "guild": {"id": "500", "name": "Rowers"},
        "channel": {"id": "600", "type": "GuildTextChat", "name": "general"},
        "messages": [
            {
                "id": str(number),
                "type": "Default",
                "timestamp": "2026-03-03T01:06:40+00:00",
                "content": text,
                "author": {"id": id, "name": name, "nickname": name},
            }
            for number, (name, id, text) in enumerate(said)
        ],
    }
    Path("channel.json").write_text(json.dumps(export), encoding="utf-8")
    output = succeeded("bot", "discord", "--dry-run", "channel.json", "--name", "Skipper")
    assert "Skipper: What I know about Dana:" in output
    assert "Message Content" in succeeded("bot", "discord", "--help")


def test_the_program_runs_until_it_is_told_to_stop(tmp_path: Path) -> None:
    (tmp_path / "memo").mkdir(mode=0o755)  # as systemd or somebody by hand makes it
    with TelegramServer() as server:
        program = process(
            *("bot", "telegram", "--api", server.address, "--data", tmp_path / "memo"),
            folder=tmp_path,
            env={"EVERWORD_TELEGRAM_TOKEN": TOKEN},
        )
        try:
            server.say("The lamp is in the drawer.")
            server.wait_for_text("no model to reply with")
            server.say("/search lamp")
            program.send_signal(signal.SIGTERM)
            output, errors = program.communicate(timeout=120)
        finally:
            program.kill()
        assert program.returncode == 0, errors
        assert output == ""
        lines = errors.splitlines()
        assert lines[0].startswith("Memo (@memo_bot) is on Telegram; its memory is in ")
        assert lines[1].startswith("replies: none. It remembers, and answers memory commands")
        assert lines[2] == "groups: the bot sees every message of its groups"
        assert lines[-1].startswith("stopping")
        assert TOKEN not in errors
        for name in ("telegram-7.db", "bot.db"):
            assert (tmp_path / "memo" / name).stat().st_mode & 0o077 == 0, "for nobody else to read"
