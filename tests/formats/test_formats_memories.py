"""G21: what other memories knew is read with its person and its date, and an import remembers it as of that date, once.

The files of mem0 (2.2.1), LangGraph (checkpoint-sqlite 3.1.2), Graphiti (0.31.1) and MCP's memory server were made by
these programs; Letta's is one of its published agent files with a short talk; the others are as their documents say.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import zipfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from everword import AsyncMemory
from everword.errors import ImportFailed
from everword.formats import BadRecord, Record, open_records
from everword.memory.transfer import import_records

DATA = Path(__file__).parent / "data"


def read(name: str | Path, user: str | None = None, **options: object) -> list[Record]:
    records = list(open_records(DATA / name, user=user, **options))  # type: ignore[arg-type]
    assert not [record for record in records if isinstance(record, BadRecord)]
    return [record for record in records if isinstance(record, Record)]


def rows(records: list[Record]) -> list[tuple[str | None, str, str]]:
    return [(r.about, f"{r.draft.time:%Y-%m-%d %H:%M}" if r.draft.time else "", r.draft.content) for r in records]


def moments(*records: Record) -> list[datetime | None]:
    return [record.draft.time for record in records]


@pytest.mark.checklist("G21")
def test_memories_of_mem0_have_their_person_and_date() -> None:
    exported = read("mem0.json")
    assert sorted((r.about, r.draft.content) for r in exported) == [
        ("ann", "Loves sci-fi movies and dislikes thrillers"),
        ("ann", "Planning a trip to Japan in April 2026"),
        ("ann", "User prefers aisle seats"),
        ("ann", "User's dog is called Rex"),
        ("ann", "Works as a nurse in Bergen"),
        ("ben", "Has two kids, Mia and Tom"),
        ("ben", "Lives in Ghent"),
        ("ben", "Name is Ben"),
        ("ben", "Plays the cello since 2019"),
        ("ben", "Vegetarian for ten years 🌱"),
        ("ben", "用户喜欢寿司"),
    ]
    assert moments(exported[0]) == [datetime(2026, 11, 18, 20, 30, 48, 877955, UTC)]
    reader = open_records(DATA / "mem0_points.json")
    points = {r.draft.platform_id: r.draft for r in reader if isinstance(r, Record)}
    assert {id: (draft.content, draft.time) for id, draft in points.items()} == {
        r.draft.platform_id: (r.draft.content, r.draft.time) for r in exported
    }  # an export and the points of the same memory are known as the same
    assert reader.left_out == {"vectors": 11}


@pytest.mark.checklist("G21")
def test_what_mem0_shows_until_a_day_is_shown_until_its_end(tmp_path: Path) -> None:
    """As mem0 2.2.1 wrote it; its points hold the same field."""
    shown = {"id": "1", "memory": "Rents a flat in Oslo", "user_id": "ann", "expiration_date": "2026-10-01"}
    shown |= {"created_at": "2026-09-19T01:37:53.182161+00:00", "hash": "02f71024ee01015a", "role": "user"}
    path = tmp_path / "memories.json"
    path.write_text(json.dumps({"results": [shown, {**shown, "id": "2", "expiration_date": None}]}))
    assert [r.draft.expires_at for r in read(path)] == [datetime(2026, 10, 2, tzinfo=UTC), None]


def test_a_history_of_mem0_has_what_was_so_and_leaves_out_what_was_deleted() -> None:
    reader = open_records(DATA / "mem0_history.sqlite", user="ann")
    assert reader.format == "mem0"
    records = [record for record in reader if isinstance(record, Record)]
    texts = {record.draft.content: record.draft.metadata.get("until") for record in records}
    assert len(texts) == 12
    assert texts["Lives in Utrecht"] == "2026-11-18T20:30:49.315237+00:00"
    assert texts["Lives in Ghent"] is None
    assert "Is allergic to peanuts" not in texts
    assert reader.left_out == {"deleted memories": 1}
    unowned = list(open_records(DATA / "mem0_history.sqlite"))
    assert {record.reason for record in unowned if isinstance(record, BadRecord)} == {
        "the file does not say whose memory this is: give --user"
    }


@pytest.mark.checklist("G21")
def test_a_graph_of_graphiti_has_episodes_facts_and_their_ends() -> None:
    reader = open_records(DATA / "graphiti.json")
    records = [record for record in reader if isinstance(record, Record)]
    assert rows(records) == [
        (None, "2024-03-01 09:00", "I started at Acme last week!"),
        (None, "2024-03-01 09:01", "Congratulations on Acme."),
        (None, "2025-01-10 12:00", "I left Acme, I work at Globex now."),
        ("eve", "2024-02-23 00:00", "Eve works at Acme"),
        ("eve", "2025-01-10 00:00", "Eve works at Globex"),
        ("eve", "2024-05-02 00:00", "Eve lives in Oslo"),
    ]
    assert [r.draft.role for r in records[:3]] == ["user", "assistant", "user"]
    assert records[3].draft.metadata["until"] == "2025-01-10T00:00:00+00:00"
    assert reader.left_out == {"entities and their summaries": 4}


@pytest.mark.checklist("G21")
@pytest.mark.parametrize("name", ["langgraph.json", "langgraph.sqlite"])
def test_items_of_a_store_of_langgraph(name: str) -> None:
    records = list(open_records(DATA / name))
    known = [record for record in records if isinstance(record, Record)]
    assert sorted((r.about, r.draft.content) for r in known) == [
        ("cara", "I prefer tea over coffee"),
        ("cara", "User works at a bakery in Lyon"),
        ("cara", "city: Lyon\nhobbies: chess, sailing\nname: Cara"),
        ("dan", "Has a cat named Miso"),
    ]
    assert {time for r in known if (time := r.draft.time)} == {datetime(2026, 11, 18, 20, 30, 53, tzinfo=UTC)}
    assert [record.reason for record in records if isinstance(record, BadRecord)] == [
        "the file does not say whose memory this is: give --user"
    ]
    assert len(read(name, user="cara")) == 5


def test_fields_of_an_item_of_langgraph_are_lines(tmp_path: Path) -> None:
    home = {"city": "Austin", "pets": ["turtle", "cat"], "street": ""}
    item = {"namespace": ["memories", "nate"], "key": "profile", "value": {"name": "Nate", "age": 31, "home": home}}
    path = tmp_path / "items.json"
    path.write_text(json.dumps([item]))
    assert [r.draft.content for r in read(path)] == ["age: 31\nhome city: Austin\nhome pets: turtle, cat\nname: Nate"]


def test_the_graph_of_mcps_memory_server_is_read_as_sentences() -> None:
    assert rows(read("mcp_memory.jsonl", user="ann")) == [
        ("ann", "", "Prefers morning meetings"),
        ("ann", "", "Speaks fluent Spanish"),
        ("ann", "", "Graduated in 2019"),
        ("ann", "", "Anthropic makes Claude"),
        ("ann", "", "Jo Park is a colleague of the user"),
        ("ann", "", "Jo Park lives in Seoul"),
        ("ann", "", "the user works at Anthropic"),
        ("ann", "", "Jo Park knows the user"),
    ]


def test_an_agent_file_has_its_talk_and_what_the_agent_knew() -> None:
    reader = open_records(DATA / "letta.af", user="chad")
    records = [record for record in reader if isinstance(record, Record)]
    assert rows(records) == [
        (None, "2025-11-01 09:00", "I moved to Lisbon last month."),
        (None, "2025-11-01 09:00", "Lisbon! How do you like it?"),
        (None, "2025-11-01 09:01", "Very much."),
        (None, "2025-11-01 09:01", "Good to hear."),
        ("chad", "", "First name: Chad"),
        ("chad", "", "Gender: Male"),
        ("chad", "", "Occupation: Computer science PhD student at UC Berkeley"),
        ("chad", "", "Interests: Formula 1, Sailing, Taste of the Himalayas Restaurant in Berkeley, CSGO"),
    ]
    assert reader.left_out["memory blocks of the agent itself"] == 1
    assert reader.left_out["tools"] == 1
    assert reader.left_out["messages of the program (prompts, tools, heartbeats)"] == 3


def test_memories_of_hindsight_and_claude() -> None:
    assert rows(read("hindsight.json", user="finn")) == [
        ("finn", "2024-01-15 10:30", "Finn works at Nordlys on the AI team"),
        ("finn", "2024-06-23 08:00", "Finn ran a marathon in Tromsø"),
    ]
    assert [content for _, _, content in rows(read("claude_memories.json"))] == [
        "Gail is a botanist in Porto. She writes her reports in English.",
        "Gail keeps bees.",
        "Gail is preparing a talk about orchids.",
    ]


def test_claudes_memories_are_read_with_its_conversations(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.write(DATA / "claude_memories.json", "memories.json")
        archive.write(DATA / "claude.json", "conversations.json")
    records = read(tmp_path / "export.zip")
    assert sum(record.about is not None for record in records) == 3
    assert [r.draft for r in records if r.about is None] == [r.draft for r in read("claude.json")]


def test_what_chatgpt_told_its_memory_is_remembered(tmp_path: Path) -> None:
    node = (
        '{"id": "%s", "parent": %s, "message": {"id": "%s", "create_time": 1700000000, "recipient": "%s", '
        '"author": {"role": "%s"}, "content": %s}}'
    )
    text = '{"content_type": "text", "parts": ["%s"]}'
    nodes = [
        node % ("a", "null", "a", "all", "user", text % "I am vegan."),
        node % ("b", '"a"', "b", "bio", "assistant", text % "User is vegan."),
    ]
    path = tmp_path / "conversations.json"
    path.write_text(f'[{{"id": "c", "mapping": {{{", ".join(f"{chr(34)}{n[8]}{chr(34)}: {n}" for n in nodes)}}}}}]')
    assert [(r.about, r.draft.content) for r in read(path, user="kim")] == [
        (None, "I am vegan."),
        (None, "User is vegan."),
        ("kim", "User is vegan."),
    ]
    assert [r.about for r in read(path)] == [None, None]  # nobody is named


def test_a_workspace_of_slack_is_read_whole(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.write(DATA / "slack.json", "general/2023-11-14.json")
        archive.writestr("general/2023-11-13.json", '[{"ts": "1699900000.1", "user": "U1", "text": "Monday"}]')
        archive.writestr("D9/2023-11-13.json", '[{"ts": "1699900001.1", "user": "B1", "text": "Hello"}]')
        archive.writestr("channels.json", '[{"id": "C1", "name": "general"}]')
        archive.writestr("dms.json", '[{"id": "D9", "members": ["U1", "B1"]}]')
        archive.writestr("users.json", '[{"id": "U2", "name": "jo", "profile": {"display_name": "Jo"}}]')
    reader = open_records(tmp_path / "export.zip", assistant_ids=["B1"])
    records = [record for record in reader if isinstance(record, Record)]
    assert [(r.conversation, r.user, r.draft.role, r.draft.author, r.draft.content) for r in records] == [
        ("D9", "U1", "assistant", "B1", "Hello"),
        ("C1", None, "user", "U1", "Monday"),
        ("C1", None, "user", "U1", "Hi @Jo, see the plan (https://example.org/plan) & #general"),
        ("C1", None, "user", "U2", "Looks good :tada:"),
        ("C1", None, "system", "U3", "@U3 has joined the channel"),
        ("C1", None, "user", "U2", "[attachment: plan.pdf]"),
        ("C1", None, "assistant", "B1", "deployed 1.2"),
    ]
    assert records[3].draft.reply_to == records[2].draft.platform_id
    assert records[3].draft.metadata["name"] == "Jo"
    assert moments(records[2]) == [datetime(2023, 11, 14, 22, 13, 20, 100, UTC)]
    assert reader.left_out["contents of files"] == 1


def test_a_chat_of_whatsapp_is_read_at_local_times() -> None:
    reader = open_records(DATA / "whatsapp.txt", timezone="Europe/Berlin")
    records = [record for record in reader if isinstance(record, Record)]
    assert [(r.draft.role, r.draft.author, f"{r.draft.time:%d %H:%M}", r.draft.content) for r in records] == [
        ("system", None, "31 22:59", "Messages and calls are end-to-end encrypted."),
        ("user", "Hana", "31 22:59", "Happy new year!"),
        ("user", "Hana", "31 22:59", "Happy new year!"),
        ("user", "Ivo", "31 23:05", "And to you 🎆\nThis line belongs to it: 7:30 tomorrow?"),
        ("user", "Hana", "01 08:12", "[attachment]"),
        ("user", "Ivo", "02 17:00", "[attachment: IMG-1.jpg]"),
    ]
    assert len({r.draft.platform_id for r in records}) == 6
    assert reader.left_out == {"deleted messages": 1, "pictures, sound and files": 2}
    assert [r.where for r in open_records(DATA / "whatsapp.txt")] == ["the file"]  # without a zone


@pytest.mark.parametrize(
    ("lines", "time"),
    [
        ("[03.04.24, 10:11:12] Ann: a", "2024-04-03 10:11:12"),
        ("4/3/24, 1:05\u202fPM - Ann: a", "2024-04-03 13:05:00"),
        ("[2024-04-03, 12:00:00 a.m.] Ann: a", "2024-04-03 00:00:00"),
        ("3/4/24, 10:11 - Ann: a\n2/5/24, 09:00 - Ann: b", "2024-04-03 10:11:00"),
        ("4/3/24, 10:11 - Ann: a\n5/2/24, 09:00 - Ann: b", "2024-04-03 10:11:00"),
        ("3/4/24, 10:11 - Ann: a\n14/4/24, 09:00 - Ann: b", "2024-04-03 10:11:00"),
    ],
)
def test_the_order_of_day_and_month_is_that_of_the_phone(tmp_path: Path, lines: str, time: str) -> None:
    path = tmp_path / "WhatsApp Chat with Ann.txt"
    path.write_text(lines)
    first = read(path, timezone="UTC")[0]
    assert (first.conversation, f"{first.draft.time:%Y-%m-%d %H:%M:%S}") == ("whatsapp:Ann", time)


def test_a_database_that_wants_to_run_something_or_is_none_of_ours_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "h.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE VIEW history AS SELECT hex(randomblob(9)) AS memory_id, 'a' AS new_memory")
    with pytest.raises(ImportFailed, match="is a database in an unknown format"):
        open_records(path)
    assert [r.reason for r in open_records(path, "mem0") if isinstance(r, BadRecord)] != []
    shutil.copy(DATA / "mem0_history.sqlite", tmp_path / "cut.db")
    (tmp_path / "cut.db").write_bytes((DATA / "mem0_history.sqlite").read_bytes()[:6000])
    with pytest.raises(ImportFailed, match="could not be read"):
        list(open_records(tmp_path / "cut.db", user="ann"))


# -- into a memory


@pytest.mark.checklist("G21")
def test_an_import_remembers_at_true_dates_and_a_second_adds_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with AsyncMemory(str(tmp_path / "memory.db")) as memory:
            for name, user in (
                ("mem0.json", None),
                ("graphiti.json", None),
                ("mcp_memory.jsonl", "ann"),
                ("letta.af", "chad"),
            ):
                totals = await import_records(memory, open_records(DATA / name, user=user), space="default")
                assert (totals.bad, totals.known) == ([], 0)
                again = await import_records(memory, open_records(DATA / name, user=user), space="default")
                assert (again.new, again.known) == (0, totals.new)
            await memory.settle()
            facts = {fact.key: fact for fact in await memory.facts(user="eve")}
            assert {key: fact.value for key, fact in facts.items()} == {"location": "Oslo", "employer": "Globex"}
            assert facts["location"].said_at == datetime(2024, 5, 2, tzinfo=UTC)
            assert [m.content for m in await memory.why(facts["location"].id, user="eve")] == ["Eve lives in Oslo"]
            before = datetime(2024, 12, 1, tzinfo=UTC)
            assert "Globex" not in {fact.value for fact in await memory.facts(user="eve", as_of=before)}
            profile = await memory.profile(user="ann", wait=0)
            texts = [statement.text for statement in profile.statements]
            assert "ann prefers aisle seats." in texts
            assert "Jo Park is a colleague of ann." in texts
            assert "nurse" in {fact.value for fact in profile.facts}
            hits = await memory.search("works at Acme", user="eve")
            assert "Eve works at Acme" in {hit.message.content for hit in hits}  # what ended is kept, and not believed

    asyncio.run(scenario())


@pytest.mark.checklist("G21")
def test_what_was_forgotten_stays_forgotten_after_another_import(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with AsyncMemory(str(tmp_path / "memory.db")) as memory:
            await import_records(memory, open_records(DATA / "mem0.json"), space="default")
            await memory.forget("aisle seats", user="ann")
            await import_records(memory, open_records(DATA / "mem0.json"), space="default")
            profile = await memory.profile(user="ann", wait=0)
            assert "aisle" not in profile.text
            await memory.rebuild("facts")
            await memory.settle()
            assert "aisle" not in (await memory.profile(user="ann", wait=0)).text
            assert "sci-fi" in (await memory.profile(user="ann", wait=0)).text

    asyncio.run(scenario())
