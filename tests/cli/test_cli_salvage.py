"""F15, F18: a damaged store on the command line: what is wrong is named without a word of it, and what is readable can
be taken out. And what an erasure could not clear out of the files, and how to clear it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from cli_driver import change, everword, failed, imported, json_lines, succeeded, talk
from click.testing import Result

SECRET = "bicycle"  # a word of the message that is damaged


@pytest.fixture(autouse=True)
def _memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    imported(talk(tmp_path / "talk.jsonl"))


@pytest.fixture
def _damaged() -> None:
    change("UPDATE messages SET content = CAST(CAST(content AS BLOB) || x'ff' AS TEXT) WHERE turn = 4")


def shown(result: Result) -> str:
    """All that a command says, which is no traceback and holds nothing of the message."""
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    assert "Traceback" not in result.output
    assert SECRET not in result.stdout + result.stderr
    return result.stdout + result.stderr


@pytest.mark.usefixtures("_damaged")
@pytest.mark.checklist("F15")
def test_verify_and_doctor_name_the_place() -> None:
    verify = everword("verify")
    assert verify.exit_code == 1
    assert "fault: default/chat turn 4: cannot be read: its content is not text" in shown(verify)
    assert "1 fault: 4 messages in 1 conversation" in verify.stdout
    doctor = everword("doctor")
    assert doctor.exit_code == 1
    assert "default/chat turn 4: cannot be read" in " ".join(shown(doctor).split())


@pytest.mark.usefixtures("_damaged")
@pytest.mark.parametrize(
    "command", [("history", "chat"), ("search", "Kyoto"), ("context", "chat", "Kyoto?"), ("stats",)]
)
@pytest.mark.checklist("F15")
def test_everything_else_goes_on(command: tuple[str, ...]) -> None:
    result = everword(*command)
    assert result.exit_code == 0, result.output
    shown(result)


@pytest.mark.usefixtures("_damaged")
@pytest.mark.checklist("F15")
def test_an_export_says_what_is_damaged_or_leaves_it_out(tmp_path: Path) -> None:
    refused = everword("export", "-o", "backup.jsonl")
    assert refused.exit_code == 1
    assert "1 of the store cannot be read: message 4 of 'chat'" in shown(refused)
    assert "everword export --salvage" in refused.stderr
    assert not Path("backup.jsonl").exists()
    salvaged = everword("export", "-o", "backup.jsonl", "--salvage")
    assert salvaged.exit_code == 1
    assert "left out: message 4 of 'chat' in space 'default' cannot be read" in shown(salvaged)
    assert "4 messages written" in salvaged.stderr
    assert len(json_lines(Path("backup.jsonl").read_text(encoding="utf-8"))) == 4
    succeeded("import", "backup.jsonl", "--store", "new.db")


@pytest.mark.usefixtures("_damaged")
@pytest.mark.parametrize("target", ["copy.db", "json:copy.json"])
@pytest.mark.checklist("F15")
def test_a_copy_says_what_is_damaged_or_leaves_it_out(target: str) -> None:
    refused = everword("copy", "everword.db", target)
    assert refused.exit_code == 1
    assert "message 4 of 'chat'" in shown(refused)
    assert "everword copy --salvage" in refused.stderr
    assert not Path(target.removeprefix("json:")).exists()
    salvaged = everword("copy", "everword.db", target, "--salvage")
    assert salvaged.exit_code == 1
    assert "left out: message 4 of 'chat'" in shown(salvaged)
    assert "the copy is whole" in salvaged.stdout
    assert succeeded("verify", "--store", target).startswith("whole: 4 messages in 1 conversation, 1 erased")


@pytest.mark.checklist("F15")
def test_what_is_whole_is_salvaged_whole() -> None:
    succeeded("copy", "everword.db", "copy.db", "--salvage")
    assert len(json_lines(succeeded("export", "--salvage"))) == 5


@pytest.mark.checklist("F15")
def test_a_damaged_page_is_no_traceback(tmp_path: Path) -> None:
    path = tmp_path / "everword.db"
    data = bytearray(path.read_bytes())
    size = int.from_bytes(data[16:18], "big")
    page = data.index(b"Take the bicycle along") // size
    data[page * size : page * size + 64] = b"\xee" * 64
    path.write_bytes(data)
    for command in ("verify", "doctor", "export", "copy everword.db one.db"):
        result = everword(*command.split())
        assert result.exit_code == 1, command
        shown(result)
    for command in ("export --salvage", "copy everword.db two.db --salvage"):
        assert "left out" in shown(everword(*command.split()))


# -- what is left in files


@pytest.mark.checklist("F18")
def test_an_erasure_says_what_is_left_and_scrub_clears_it(tmp_path: Path) -> None:
    path = tmp_path / "everword.db"
    quick = {"EVERWORD_BUSY_SECONDS": "1"}
    assert "hold nothing that was removed" in succeeded("scrub")
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM messages").fetchone()
        erased = everword("erase", "--user", "alex", "--yes", env=quick)
        assert erased.exit_code == 1
        assert "erased 5 messages" in erased.stdout
        assert "run `everword scrub`" in erased.stderr
        assert everword("scrub", env=quick).exit_code == 1
        reader.execute("ROLLBACK")
    assert "hold nothing that was removed" in succeeded("scrub")
    assert b"Kyoto" not in b"".join(file.read_bytes() for file in tmp_path.glob("everword.db*"))


@pytest.mark.checklist("F18")
def test_scrub_makes_no_store() -> None:
    assert "there is no store" in failed("scrub", "--store", "none.db")
