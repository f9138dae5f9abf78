"""A reply that was given with a message is kept with it, sealed, and travels wherever the message goes (G22)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from raw_tables import Row, change, rows_of

from everword import Client, Memory
from everword.formats import Record, dump, open_records
from everword.log.checks_and_seals import compute_digest
from everword.model import Message
from everword.testing.serving import Serving

pytestmark = pytest.mark.checklist("G22")
TIME = datetime(2026, 5, 1, 12, tzinfo=UTC)


def talk(memory: Any) -> None:
    channel = memory.conversation("general")
    question = channel.add("user", "Which port does it use?", author="ann", platform_id="1001")
    channel.add("user", "8080", author="bob", platform_id="1002", reply_to="1001")
    channel.extend([{"role": "user", "content": "Thanks!", "author": "ann", "reply_to": question.id}])


def replies(memory: Any) -> list[str | None]:
    return [message.reply_to for message in memory.conversation("general").history()]


def test_a_reply_is_kept_and_proved(store_url: str) -> None:
    with Memory(store_url) as memory:
        talk(memory)
    with Memory(store_url) as memory:
        first, second, third = memory.conversation("general").history()
        assert (first.reply_to, second.reply_to, third.reply_to) == (None, first.platform_id, first.id)
        assert memory.verify().ok

    def forge(rows: list[Row]) -> None:
        next(row for row in rows if row["turn"] == 2)["reply_to"] = "9999"

    change(store_url, "messages", forge)
    with Memory(store_url) as memory:
        (fault,) = memory.verify().faults
        assert (fault.turn, fault.problem) == (2, "was changed")


def test_messages_of_before_have_the_digests_they_had() -> None:
    """The digest of a message without a reply is the one that older versions have computed."""
    message = Message("s", "c", 1, "id", "user", "ann", "ann", "Hello", TIME)
    digest = "c206bf04ab88674c2183320b38eb3fbf76b0c4c7d468b133c5e2ce70db024616"
    assert compute_digest(message, b"salt").hex() == digest


@pytest.mark.parametrize("reply_to", ["", "two\nlines", 7])
def test_what_is_no_id_is_refused(reply_to: Any, tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db")) as memory, pytest.raises(ValueError, match="reply_to"):
        memory.conversation("general").add("user", "8080", author="bob", reply_to=reply_to)


def test_an_erased_message_answers_nothing(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db")) as memory:
        talk(memory)
        memory.erase(user="bob")
        assert memory.verify().ok
    assert [row["reply_to"] for row in rows_of(str(tmp_path / "memory.db"), "messages")][:2] == [None, None]


def test_a_server_takes_and_gives_replies(tmp_path: Path) -> None:
    with Serving(str(tmp_path / "memory.db")) as server, Client(server.url) as memory:
        talk(memory)
        first, second, third = memory.conversation("general").history()
        assert [second.reply_to, third.reply_to] == ["1001", first.id]


def test_an_export_has_replies_and_an_import_keeps_them(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db")) as memory:
        talk(memory)
        messages = [*memory.export()]
    file = tmp_path / "export.jsonl"
    file.write_text("".join(dump(message) + "\n" for message in messages), encoding="utf-8")
    records = [record for record in open_records(file) if isinstance(record, Record)]
    assert [record.draft.reply_to for record in records] == [None, "1001", messages[0].id]
