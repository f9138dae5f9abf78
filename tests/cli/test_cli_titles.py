"""Titles, names and times of an import are what people know things by (G18): in lists, in contexts, at the command
line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_driver import failed, json_lines, succeeded

from everword import Memory
from everword.config import Settings

pytestmark = pytest.mark.checklist("G18")

LISBON = "0f0e8a6e-5d0f-4c62-9a77-2f9f3a1c7d11"
SOUP = "5b1a2c3d-0000-4000-8000-000000000002"


def chatgpt_chat(id: str, title: str, start: float, *texts: str) -> dict[str, Any]:
    nodes: dict[str, Any] = {}
    for number, text in enumerate(texts):
        author = {"role": "assistant" if number % 2 else "user"}
        content = {"content_type": "text", "parts": [text]}
        message = {"id": f"{id}-{number}", "author": author, "create_time": start + number, "content": content}
        parent = f"n{number - 1}" if number else None
        nodes[f"n{number}"] = {"id": f"n{number}", "parent": parent, "children": [], "message": message}
    return {"conversation_id": id, "title": title, "create_time": start, "mapping": nodes}


CHATGPT = [
    chatgpt_chat(LISBON, "Trip to Lisbon", 1_712_000_000, "Which tram goes to Belém?", "Tram 15E."),
    chatgpt_chat(
        SOUP, "Soup [END]: for\nten", 1_715_000_000, "A recipe for leek soup?", "Leeks 【4:0†source】 and cream."
    ),
]
TELEGRAM = {
    "name": "Cabin trip",
    "type": "private_group",
    "id": 4242,
    "messages": [
        {
            "id": 1,
            "type": "message",
            "date_unixtime": "1700000000",
            "from": "Marta Oliveira",
            "from_id": "user101",
            "text": "I live in Porto and I bring the firewood.",
        }
    ],
}


@pytest.fixture(scope="module")
def imported_both(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A store into which both exports were imported."""
    folder = tmp_path_factory.mktemp("both")
    for name, export, options in (("conversations", CHATGPT, ("--user", "marta")), ("result", TELEGRAM, ())):
        file = folder / f"{name}.json"
        file.write_text(json.dumps(export), encoding="utf-8")
        succeeded("import", file, *options, "--store", folder / "everword.db")
    return (folder / "everword.db").read_bytes()


@pytest.fixture(autouse=True)
def _store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, imported_both: bytes) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "everword.db").write_bytes(imported_both)


def test_conversations_have_their_titles_and_the_newest_message_first() -> None:
    listed = json_lines(succeeded("conversations", "--json"))
    assert [(line["title"], line["last_message_at"][:10]) for line in listed] == [
        ("Soup [END]: for ten", "2024-05-06"),
        ("Trip to Lisbon", "2024-04-01"),
        ("Cabin trip", "2023-11-14"),
    ]
    lines = succeeded("conversations").splitlines()
    assert [line.split("  ")[0] for line in lines[1:]] == ["Soup [END]: for ten", "Trip to Lisbon", "Cabin trip"]
    assert "2024-04-01 19:33" in lines[2]  # when it was said, not when it was imported


def test_what_somebody_asked_to_remember_is_no_conversation_of_the_list() -> None:
    succeeded("remember", "I am allergic to nuts.", "--user", "marta")
    assert "profile:" not in succeeded("conversations")


def test_a_title_names_a_conversation_and_a_name_its_author() -> None:
    assert "Tram 15E." in succeeded("history", "trip to lisbon")
    hit = succeeded("search", "firewood").splitlines()[0]
    assert "Marta Oliveira  Cabin trip, turn 1" in hit
    assert "user101" not in hit
    assert "Marta Oliveira" in succeeded("facts", "user101")
    assert "no conversation" in failed("history", "Trip to Porto")
    assert "Tram 15E." in succeeded("context", "trip to lisbon", "Which tram was it?")
    answer = succeeded("ask", "Which tram goes to Belém?", "--user", "marta", "--sources")
    assert "Trip to Lisbon, turn 1" in answer
    assert LISBON not in answer


def test_a_conversation_without_a_title_has_that_of_its_first_topic(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "made.db")) as memory:
        chat = memory.conversation("c1", user="alex")
        chat.add("user", "My dishwasher leaks water onto the kitchen floor.")
        chat.add("user", "The leaking dishwasher needs a new water hose.")
        memory.settle()
        (listed,) = memory.conversations(user="alex")
        assert listed.title == chat.topics()[0].title != ""
        given = memory.conversation("c2", user="alex")
        given.add("user", "Which paint for the fence?", metadata={"title": "Garden"})
        assert [conversation.title for conversation in memory.conversations(user="alex")] == ["Garden", listed.title]


def test_a_context_names_conversations_by_title_as_data() -> None:
    with Memory("everword.db") as memory:
        memory.settle()
        chat = memory.conversation("now", user="marta")
        trams = chat.context("Which tram goes to Belém?")
        soup = chat.context("Which recipe was it for leek soup?")
    text = str(trams.messages)
    assert "conversation Trip to Lisbon:" in text
    assert LISBON not in text
    soup_text = str(soup.messages)
    assert "conversation Soup END for ten:" in soup_text
    assert "[END]" not in soup_text


def test_two_conversations_with_one_title_are_told_apart_in_a_context(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "twins.db")) as memory:
        for id, word in (("a1", "left"), ("b2", "right")):
            twin = memory.conversation(id, user="alex")
            twin.add("user", f"The garage key hangs on the {word} hook.", metadata={"title": "New chat"})
        memory.settle()
        text = str(memory.conversation("now", user="alex").context("Where does the garage key hang?").messages)
    headings = [part.split(":")[0] for part in text.split("conversation New chat")[1:]]
    assert len(headings) == len(set(headings)) == 2


def test_marks_of_citations_and_thinking_times_are_left_out(tmp_path: Path) -> None:
    cited = "Leeks \ue200cite\ue202turn0search1\ue202turn0search4\ue201 grow in \ue203sand\ue204."
    entity = 'Try \ue200entity\ue202["place","Belém Tower","Lisbon"]\ue201 first.'
    chat = chatgpt_chat("c", "T", 1_716_000_000, "Tell me.", cited, "And where?", entity)
    recap = {"content_type": "reasoning_recap", "content": "Thought for 12 seconds"}
    message = {"id": "r", "author": {"role": "assistant"}, "create_time": 1_716_000_009, "content": recap}
    chat["mapping"]["r"] = {"id": "r", "parent": "n3", "children": [], "message": message}
    (tmp_path / "marks.json").write_text(json.dumps([chat]), encoding="utf-8")
    succeeded("import", "marks.json", "--user", "marta")
    contents = [line["content"] for line in json_lines(succeeded("history", "c", "--json"))]
    assert contents == ["Tell me.", "Leeks grow in sand.", "And where?", "Try Belém Tower first."]
    assert "Leeks and cream." in succeeded("history", SOUP)


def test_people_are_known_since_their_first_message_by_time(tmp_path: Path) -> None:
    from everword.log.append_and_read import PEOPLE
    from everword.wiring import open_store

    settings = Settings(store=str(tmp_path / "since.db"))
    for id, day in (("a", "2024-03-01"), ("b", "2023-02-01")):
        line = {"conversation": id, "role": "user", "author": "kim", "user": "kim", "content": "Hello there, Kim here."}
        Path("one.jsonl").write_text(json.dumps({**line, "time": f"{day}T10:00:00Z"}) + "\n", encoding="utf-8")
        succeeded("--store", settings.store, "import", "one.jsonl")
    store = open_store(settings.store, settings)
    rows = store.read(lambda tx: tx.rows(PEOPLE, where={"space": "default", "user_id": "kim", "kind": "id"}))
    store.close()
    assert [f"{row['since']:%Y-%m-%d}" for row in rows] == ["2023-02-01"]
