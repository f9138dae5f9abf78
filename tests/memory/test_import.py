"""Import is appending: idempotent, resumable, and a bad record is named. Export gives all of it back (D12)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from everword import AsyncMemory, Draft, Memory, Message
from everword.config import Settings
from everword.formats import BadRecord, Record, dump, open_records
from everword.memory import transfer
from everword.memory.transfer import ImportProgress, import_records
from everword.testing import FrozenClock
from everword.testing.samples import ODD_METADATA, ODD_TEXTS
from everword.wiring import open_store

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
BATCH = 60  # messages in one transaction, instead of hundreds: so that several take a moment only
LINES = 2 * BATCH + 40
Records = Iterable[Record | BadRecord]


def line(number: int, **fields: Any) -> dict[str, Any]:
    user = ("alex", "kim")[number % 2]
    return {
        "conversation": f"chat of {user}",
        "user": user,
        "role": "user",
        "content": f"message {number} of {user}",
        "time": (NOW - timedelta(hours=number)).isoformat(),
        "platform_id": f"p{number}",
        **fields,
    }


def write(path: Path, lines: Iterable[dict[str, Any] | str]) -> Path:
    texts = (one if isinstance(one, str) else json.dumps(one) for one in lines)
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "BATCH", BATCH)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path / "chat.jsonl", map(line, range(LINES)))


def bring(url: str, records: Records, **options: Any) -> ImportProgress:
    async def run() -> ImportProgress:
        async with AsyncMemory(url, clock=FrozenClock(NOW), followers=False) as memory:
            return await import_records(memory, records, space="default", **options)

    return asyncio.run(run())


def counts(done: ImportProgress) -> tuple[int, int, int, int]:
    return done.read, done.new, done.known, done.bad_count


def everything(url: str) -> list[Message]:
    with Memory(url, followers=False) as memory:
        assert memory.verify().ok
        return list(memory.export())


# -- once, however often


@pytest.mark.checklist("D12")
def test_an_import_is_complete_and_idempotent(store_url: str, file: Path) -> None:
    assert counts(bring(store_url, open_records(file))) == (LINES, LINES, 0, 0)
    kept = everything(store_url)
    assert {m.content for m in kept} == {line(n)["content"] for n in range(LINES)}
    assert [m.time for m in kept if m.user == "alex"] == [NOW - timedelta(hours=n) for n in range(0, LINES, 2)]
    assert [m.turn for m in kept if m.user == "kim"] == list(range(1, LINES // 2 + 1))
    assert counts(bring(store_url, open_records(file))) == (LINES, 0, LINES, 0)
    assert everything(store_url) == kept


def test_lines_without_an_id_are_kept_once_too(store_url: str, tmp_path: Path) -> None:
    """The same words said twice are two messages; the same file read twice is not."""
    lines = [{"role": "user", "content": text, "user": "alex"} for text in ("ok", "yes", "ok", "ok")]
    file = write(tmp_path / "chat.jsonl", lines)
    assert counts(bring(store_url, open_records(file))) == (4, 4, 0, 0)
    assert counts(bring(store_url, open_records(file))) == (4, 0, 4, 0)
    write(file, [*lines, {"role": "user", "content": "ok", "user": "alex"}])
    assert counts(bring(store_url, open_records(file))) == (5, 1, 4, 0)
    assert [m.content for m in everything(store_url)] == ["ok", "yes", "ok", "ok", "ok"]


class Stopped(Exception):
    """Somebody pulled the plug."""


def until(records: Records, count: int) -> Iterator[Record | BadRecord]:
    for number, record in enumerate(records):
        if number == count:
            raise Stopped
        yield record


def test_a_stopped_import_goes_on_where_it_was(store_url: str, file: Path) -> None:
    with pytest.raises(Stopped):
        bring(store_url, until(open_records(file), BATCH + 25))
    assert len(everything(store_url)) == BATCH
    seen: list[tuple[int, int, int, int]] = []
    done = bring(store_url, open_records(file), progress=lambda done: seen.append(counts(done)))
    assert counts(done) == (LINES, LINES - BATCH, BATCH, 0)
    assert seen[0] == (BATCH, 0, BATCH, 0)
    assert seen == sorted(seen)
    kept = everything(store_url)
    assert [m.content for m in kept if m.user == "alex"] == [line(n)["content"] for n in range(0, LINES, 2)]
    assert [m.turn for m in kept if m.user == "kim"] == list(range(1, LINES // 2 + 1))


# -- bad records

BAD = {
    "not JSON": ('{"role": "user", "content": ', "not valid JSON"),
    "no role": (json.dumps({"content": "x", "conversation": "chat of alex"}), "role: "),
    "unknown role": (json.dumps(line(7, role="robot")), "role: "),
    "empty": (json.dumps(line(7, platform_id="e", content=" ")), "content: "),
    "NUL": (json.dumps(line(7, platform_id="n", content="a\x00b")), "content: "),
    "another's chat": (json.dumps(line(8, platform_id="a", conversation="chat of kim")), "does not belong to"),
    "an id of another chat": (json.dumps(line(8, platform_id="x", id="taken")), "id: "),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_record_is_named_and_does_not_stop_an_import(name: str, tmp_path: Path) -> None:
    """Whether the reader refuses it or the log does."""
    bad, reason = BAD[name]
    good = [line(0), line(1, id="taken"), *map(line, range(2, 20))]
    file, url = write(tmp_path / "chat.jsonl", [*good[:12], bad, *good[12:]]), str(tmp_path / "memory.db")
    done = bring(url, open_records(file))
    assert counts(done) == (20, 20, 0, 1)
    assert [one[: len("line 13: ")] for one in done.bad] == ["line 13: "]
    assert reason in done.bad[0]
    assert len(everything(url)) == 20
    write(file, good)
    assert counts(bring(url, open_records(file))) == (20, 0, 20, 0)


@pytest.mark.every_store
def test_bad_records_are_skipped_counted_and_named_on_every_store(store_url: str, tmp_path: Path) -> None:
    lines: list[dict[str, Any] | str] = [line(0), line(1, id="taken"), *map(line, range(2, 20))]
    for place, (bad, _) in enumerate(BAD.values()):
        lines.insert(2 * place + 2, bad)
    done = bring(store_url, open_records(write(tmp_path / "chat.jsonl", lines)))
    assert counts(done) == (20, 20, 0, len(BAD))
    assert sorted(int(one.split(":")[0].split()[1]) for one in done.bad) == [2 * n + 3 for n in range(len(BAD))]
    assert len(everything(store_url)) == 20


def test_a_thousand_bad_records_are_counted_but_not_all_held(tmp_path: Path) -> None:
    file = write(tmp_path / "chat.jsonl", ["no", *("{}" for _ in range(999)), json.dumps(line(1))])
    done = bring(str(tmp_path / "memory.db"), open_records(file, "everword"))
    assert counts(done) == (1, 1, 0, 1_000)
    assert len(done.bad) == 100


# -- there and back


def fill(url: str) -> None:
    with Memory(url, clock=FrozenClock(NOW), followers=False) as memory:
        chat = memory.conversation("chat/1 %", user="alex")
        chat.extend(
            Draft("user", text, time=NOW - timedelta(days=n, microseconds=n), metadata=ODD_METADATA[n % 6])
            for n, text in enumerate(ODD_TEXTS)
            if text.strip()
        )
        chat.add("assistant", "", metadata={"only": "metadata"}, platform_id="p 1")
        channel = memory.conversation("general")
        channel.add("user", "from the channel", author="kim", platform_id="p 1")
        channel.add("assistant", "to nobody")
        channel.add("assistant", "to Alex", author="bot", user="alex", time=datetime(1900, 1, 1, tzinfo=UTC))


def exported(url: str, path: Path) -> Path:
    store = open_store(url, Settings())
    with Memory(store, followers=False) as memory:
        lines = [dump(m, store.read(lambda tx: tx.conversation(m.space, m.conversation))) for m in memory.export()]  # noqa: B023
    return write(path, lines)


def owners(url: str) -> list[tuple[str, str | None, int]]:
    with Memory(url, followers=False) as memory:
        return [(one.id, one.user, one.turns) for one in memory.conversations()]


@pytest.mark.every_store
@pytest.mark.checklist("D12")
def test_an_export_is_imported_without_loss_into_any_other_store(
    store_url: str, addresses: Callable[[str, str], str], tmp_path: Path
) -> None:
    """D12: ids, turns, authors, times, metadata and owners; and a second time nothing is new."""
    fill(store_url)
    original, owned = everything(store_url), owners(store_url)
    file = exported(store_url, tmp_path / "export.jsonl")
    for target in ("sqlite", "json", "postgresql"):
        there = addresses(target, "target")
        for new in (len(original), 0):
            assert counts(bring(there, open_records(file))) == (len(original), new, len(original) - new, 0)
            assert everything(there) == original
        assert owners(there) == owned
        back = bring(store_url, open_records(exported(there, tmp_path / "back.jsonl")))
        assert counts(back) == (len(original), 0, len(original), 0)
        assert everything(store_url) == original


def test_what_was_erased_stays_out_of_an_export(store_url: str, tmp_path: Path) -> None:
    fill(store_url)
    with Memory(store_url) as memory:
        memory.erase(user="kim")
    file = exported(store_url, tmp_path / "export.jsonl")
    assert "channel" not in file.read_text(encoding="utf-8").replace('"general"', "")
    there = str(tmp_path / "there.db")
    bring(there, open_records(file))
    kept = [replace(m, turn=0) for m in everything(store_url) if not m.erased]
    assert [replace(m, turn=0) for m in everything(there)] == kept


def test_an_import_into_another_space_is_a_second_memory(store_url: str, file: Path) -> None:
    async def run() -> list[tuple[int, int, int, int]]:
        async with AsyncMemory(store_url, clock=FrozenClock(NOW), followers=False) as memory:
            spaces = ("red", "blue", "red")
            return [counts(await import_records(memory, open_records(file), space=space)) for space in spaces]

    assert asyncio.run(run()) == [(LINES, LINES, 0, 0), (LINES, LINES, 0, 0), (LINES, 0, LINES, 0)]


@pytest.mark.checklist("F15")
def test_a_time_that_cannot_be_is_kept_beside_the_nearest_that_can(store_url: str, tmp_path: Path) -> None:
    """What a platform gives is not refused: nothing is lost, and no date is reckoned from the year 1."""
    times = (
        "0001-01-01T00:00:00+00:00",
        "1899-12-31T23:59:59+00:00",
        "1900-01-01T00:00:00+00:00",
        "2026-01-02T12:00:00+00:00",  # a day ahead, as a clock may be
        "2026-01-02T12:00:01+00:00",
        "2200-12-31T23:59:59+00:00",
        "2201-01-01T00:00:00+00:00",
        "9999-12-31T23:59:59+00:00",
    )
    path = write(tmp_path / "old.jsonl", [line(n, user="alex", time=time) for n, time in enumerate(times)])
    for _ in range(2):
        done = bring(store_url, open_records(path))
        assert counts(done)[::3] == (len(times), 0)
    assert done.new == 0
    with Memory(store_url, followers=False) as memory:
        messages = sorted(memory.export(), key=lambda m: m.platform_id or "")
        kept = [(m.time, m.metadata.get("original_time")) for m in messages]
        assert memory.verify().ok
    first = datetime(1900, 1, 1, tzinfo=UTC)
    early = [(first, times[0]), (first, times[1]), (first, None)]
    assert kept == [*early, (NOW + timedelta(days=1), None), *((NOW, time) for time in times[4:])]


def test_what_was_imported_is_found(store_url: str, file: Path) -> None:
    bring(store_url, open_records(file))
    with Memory(store_url, clock=FrozenClock(NOW)) as memory:
        memory.settle()
        (hit,) = memory.search("message 133", user="kim", limit=1)
        assert hit.message.content == "message 133 of kim"
        assert astuple(memory.stats())[2:5] == (2, 2, LINES)
