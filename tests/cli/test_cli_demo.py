"""The demo: runs offline without settings, shows each step, leaves nothing behind."""

from __future__ import annotations

import re
import socket
import tempfile
from pathlib import Path
from typing import Any

import pytest
from cli_driver import everword, started, succeeded

from everword.cli.demo import drafts


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the demo shows, without a network and whatever the settings are; it leaves nothing behind."""

    def offline(*_: Any, **__: Any) -> None:
        raise AssertionError("the demo went to the network")

    folder = tmp_path_factory.mktemp("demo")
    (folder / "temporary").mkdir()
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.chdir(folder)
        monkeypatch.setattr(tempfile, "tempdir", str(folder / "temporary"))
        monkeypatch.setattr(socket.socket, "connect", offline)
        text = succeeded("demo", env={"EVERWORD_EMBEDDER": "endpoint", "EVERWORD_STORE": "mine.db"})
    assert [path.name for path in folder.rglob("*")] == ["temporary"]
    return text


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What the demo prints as a program on a plain terminal, and the folder in which it has kept what it made."""
    folder = tmp_path_factory.mktemp("kept")
    code = "import sys; sys.stdout.reconfigure(encoding='ascii'); from everword.cli.main import main; main()"
    running = started(["-c", code, "demo", "--keep", "kept"], folder, None)
    out, err = running.communicate()
    assert (running.returncode, err) == (0, "")
    return out, folder


def with_characters(text: str) -> str:
    """What a plain terminal shows, with the characters for which it shows numbers."""
    return re.sub(
        r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))",
        lambda found: chr(int(found[found.lastindex or 0], 16)),
        text,
    )


def blocks_of(text: str) -> dict[str, str]:
    return {block.splitlines()[0].split(":")[0]: block for block in text.split("\n\n")}


def test_the_demo_shows_every_step_offline(shown: str) -> None:
    blocks = blocks_of(shown)
    assert "42 messages" in blocks["KEEP"]
    assert "2024-11-12 19:04 to 2025-04-06 10:22" in blocks["KEEP"]
    assert "0 new" in blocks["KEEP"]
    assert "Then any database will be fast enough" in blocks["FIND"]
    assert "allergic to peanuts" in blocks["FIND"]
    assert "自転車も無料です" in blocks["FIND"]
    assert "verify: whole, 46 messages" in blocks["PROVE"]
    assert "not whole, default/chat turn 12: was changed" in blocks["TAMPER"]
    assert "46 lines; demo.json: 46 messages" in blocks["MOVE"]
    assert "\x1b" not in shown


def test_the_demo_shows_a_turn_episodes_and_facts(shown: str) -> None:
    blocks = blocks_of(shown)
    turn = rows(blocks["TURN"])
    assert "SCRIPTED" in blocks["TURN"]
    assert turn["model writes"][0] == "[REQUEST_TIER:3:m32]"
    assert ["9 l stock" in sent for sent in turn["memory sends"]] == [False, True]
    assert "<everword>" in turn["model writes"][1]
    (seen,) = turn["alex sees"]
    assert "18 l of stock" in seen
    assert "[" not in seen
    assert "<" not in seen
    assert "2 rounds" in blocks["TURN"]
    assert turn["tier 1"] == ["stock = 18 l; lentils = 6 kg"]
    assert turn["tier 3"] == [seen]
    assert len(turn["tier 1"][0]) < len(turn["tier 2"][0]) < len(seen)
    assert "9 of 13 messages were packed, all 14 are there again" in rows(blocks["TOPICS"])["the soup"][0]
    episodes = blocks["EPISODES"].splitlines()
    assert [line.split(",")[0] for line in episodes[2:6]] == ["level 2", "   level 1", "   level 1", "level 1"]
    assert "we close for two weeks in March" in rows(blocks["EPISODES"])["the summary"][0]
    assert rows(blocks["EPISODES"])["alex sees"] == ["For two weeks, in March."]
    facts = [line.split() for line in blocks["FACTS"].splitlines()]
    assert ["identity", "location", "Delft", "2025-04-06", "41"] in facts
    assert "Leiden, 2024-11-12 to 2025-04-01; Delft, 2025-04-01 to now" in blocks["FACTS"]
    assert "why Delft? turn 41: “By the way, I moved to Delft on 1 April" in blocks["FACTS"]
    sections = [line.split()[0] for line in blocks["CONTEXT"].splitlines()[3:-1]]
    assert sections == ["system", "profile", "summaries", "recent", "topic", "retrieved", "current"]


def rows(block: str) -> dict[str, list[str]]:
    """What stands behind each label of a step."""
    found: dict[str, list[str]] = {}
    for line in block.splitlines():
        label, _, text = line.strip().partition("  ")
        found.setdefault(label, []).append(text.strip())
    return found


def test_the_demo_is_short(shown: str) -> None:
    assert sum(max(-(-len(line) // 100), 1) for line in shown.splitlines()) <= 100  # two screens of 100 columns


def test_the_demo_is_always_the_same_and_can_be_kept_and_looked_at(
    shown: str, kept: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    again, _, where = kept[0].rpartition("\nKept in ")
    assert with_characters(again) == shown
    assert where.startswith("kept. Try: everword search")
    monkeypatch.chdir(kept[1])
    assert "nut" in succeeded("search", "peanuts", "--store", "kept/demo.db")
    assert everword("verify", "--store", "kept/tampered.db").exit_code == 1
    assert succeeded("export", "--store", "json:kept/demo.json") == succeeded("export", "--store", "kept/demo.db")
    refused = everword("demo", "--keep", "kept")
    assert refused.exit_code == 2
    assert "already exists" in refused.stderr


def test_the_demo_runs_as_a_program_on_a_plain_terminal(kept: tuple[str, Path]) -> None:
    assert "verify: not whole" in kept[0]
    assert "tier 3" in kept[0]


def test_the_conversation_of_the_demo_is_varied() -> None:
    said = drafts()
    assert len(said) == 42
    assert len({draft.platform_id for draft in said}) == 42
    times = [draft.time for draft in said if draft.time]
    assert times == sorted(times)
    assert (times[-1] - times[0]).days > 120
    words = " ".join(draft.content for draft in said)
    assert all(word in words for word in ("PostgreSQL", "Kyoto", "lentil", "自転車", "😋"))


def test_the_demo_shows_a_group(shown: str) -> None:
    blocks = blocks_of(shown)
    group = rows(blocks["GROUP"])
    assert "forty orders by bicycle" in group["noor today"][0]
    assert "I sold the van" in group["noor lately"][0]
    assert "another job" not in blocks["GROUP"]
