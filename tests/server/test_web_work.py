"""Work in the dashboard: a file is imported after a look into it, a home shows what is new, one search finds it all, a
person's facts are filtered and removed together, and a message is tried in the playground. One server for all."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2
import pytest
from page_reader import PageReader

from everword.server.web import imports
from everword.testing import ScriptedLLM
from everword.testing.serving import Serving

UUIDS = [str(UUID(int=0x1234_5678_9ABC_4DEF_8000_0000_0000_0000 + number)) for number in range(40)]
PLANS = ("My name is Alba and I live in Lisbon.", "Lovely. What do you plan?", "Where can I buy a tent?")
OVENS = ("My oven is broken since Monday.", "Did you try the fuse?")
SECRET = "the vault opens at seven"


def chatgpt_chat(number: int, title: str, texts: tuple[str, ...], at: float) -> dict[str, Any]:
    """One conversation as ChatGPT exports it."""
    ids = UUIDS[number * 10 : number * 10 + len(texts)]
    nodes = {
        id: {
            "id": id,
            "parent": ids[place - 1] if place else None,
            "children": ids[place + 1 : place + 2],
            "message": {
                "id": id,
                "author": {"role": "user" if place % 2 == 0 else "assistant"},
                "create_time": at + 60 * place,
                "content": {"content_type": "text", "parts": [texts[place]]},
            },
        }
        for place, id in enumerate(ids)
    }
    conversation = UUIDS[30 + number]
    return {
        "title": title,
        "create_time": at,
        "mapping": nodes,
        "current_node": ids[-1],
        "conversation_id": conversation,
    }


EXPORT = json.dumps(
    [
        chatgpt_chat(0, "Trip to <b>Lisbon", PLANS, 1_600_000_000),
        chatgpt_chat(1, "Broken oven", OVENS, 1_650_000_000),
    ]
).encode()


@contextmanager
def signed_in(server: Serving, **key: Any) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=server.url, timeout=60) as browser:
        token = PageReader(browser.get("/web/sign-in").text).fields("token")[0]
        browser.post("/web/sign-in", data={"token": token, "key": server.key(**key)})
        yield browser


def token_of(browser: httpx2.Client) -> str:
    return PageReader(browser.get("/").text).fields("token")[0]


def text_of(answer: httpx2.Response) -> str:
    return " ".join(PageReader(answer.text).text.split())


def send_file(browser: httpx2.Client, data: bytes, name: str = "conversations.json", **fields: str) -> httpx2.Response:
    form = {"token": token_of(browser), **fields}
    return browser.post("/web/import", data=form, files={"file": (name, data)})


def run_import(browser: httpx2.Client, page: str) -> str:
    """Import a file that was sent, and wait until it is done."""
    id = page.partition("id=")[2]
    browser.post("/web/import/start", data={"token": token_of(browser), "id": id})
    return wait_for(browser, id, "Clear this note")


def wait_for(browser: httpx2.Client, id: str, text: str) -> str:
    """Wait until the state of an import has this in it."""
    for _ in range(600):
        state = text_of(browser.get("/web/import/progress", params={"id": id}))
        if text in state:
            return state
        time.sleep(0.05)
    raise AssertionError("the import did not end")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server with what was imported on its pages, somebody else's secret, and what others say of a person."""
    store = str(tmp_path_factory.mktemp("work") / "memory.db")
    with Serving(store, auth=True, followers=False, chat=ScriptedLLM(default="In the <i>shop.")) as running:
        memory = running.memory
        with signed_in(running, scopes=("read", "write")) as browser:
            sent = send_file(browser, EXPORT, user="alba")
            assert running.run(memory.conversations()) == [], "a look into a file keeps nothing"
            page = text_of(browser.get(sent.headers["location"]))
            assert "5 messages in 2 conversations" in page
            assert "Trip to <b>Lisbon" in page
            assert "5 messages imported" in run_import(browser, sent.headers["location"])
        running.run(memory.conversation("vaults", user="bo").add("user", f"Where is it that {SECRET}?"))
        running.run(memory.conversation("hall").add("user", "I brought some bread.", author="alba"))
        running.run(memory.settle(60))
        for number in range(4):
            running.run(memory.add_fact("possession", f"kettle {number}", "blue", user="alba"))
        yield running


@pytest.mark.checklist("G18")
def test_what_was_imported_is_called_by_its_title_everywhere(server: Serving) -> None:
    trip = server.run(server.memory.conversations(user="alba"))
    id = next(talk.id for talk in trip if talk.turns == len(PLANS))
    fact = next(fact for fact in server.run(server.memory.facts(user="alba")) if fact.value == "Lisbon")
    pages: tuple[tuple[str, dict[str, str]], ...] = (
        ("/", {}),
        ("/web/conversations", {}),
        ("/web/conversation", {"id": id}),
        ("/web/find", {"query": "tent"}),
        ("/web/search", {"query": "tent"}),
        ("/web/topics", {}),
        ("/web/topics", {"conversation": id}),
        ("/web/episodes", {"conversation": id}),
        ("/web/replies", {"conversation": id}),
        ("/web/person", {"id": "alba", "order": "time"}),
        ("/web/fact", {"user": "alba", "id": fact.id}),
        ("/web/playground", {"conversation": id, "text": "Where is my tent?"}),
        ("/web/playground", {"user": "alba", "text": "Where is my tent?"}),
    )
    with signed_in(server, scopes=("read",)) as browser:
        for path, values in pages:
            answer = browser.get(path, params=values)
            shown = text_of(answer).replace(f"id {id}", "")  # its own page tells it, for programs
            shown = re.sub(r"curl .*?print\(", "", shown)
            assert answer.status_code == 200, path
            assert not any(uuid in shown for uuid in UUIDS), path
            assert "Trip to <b>Lisbon" in text_of(answer) or path == "/web/person", path
            assert "<b>Lisbon" not in answer.text, path


def test_home_is_never_empty_after_an_import_and_a_range_narrows_it(server: Serving) -> None:
    with signed_in(server, scopes=("read",)) as browser:
        whole = browser.get("/")
        assert '"bars":true' in whole.text.replace("&#34;", '"')
        for text in ("Trip to <b>Lisbon", "Broken oven", "Where can I buy a tent?", "Lisbon"):
            assert text in text_of(whole)
        narrow = text_of(browser.get("/", params={"from": "2022-04-01", "to": "2022-05-01"}))
        assert "2 messages in this range" in narrow
        assert "Broken oven" in narrow
        assert "Trip to <b>Lisbon" not in narrow
        assert "No message in this range" in text_of(browser.get("/", params={"to": "1999-01-01"}))
        for wrong in ("soon", "2022-13-01"):
            assert browser.get("/", params={"from": wrong}).status_code == 422
        for edge in ("0001-01-01", "9999-12-31"):
            assert browser.get("/", params={"from": edge, "to": edge}).status_code == 200


def test_one_search_finds_messages_people_conversations_and_topics(server: Serving) -> None:
    with signed_in(server, scopes=("read",)) as browser:
        found = text_of(browser.get("/web/find", params={"query": "oven"}))
        for path in ("/web/find", "/web/conversations"):
            assert "Nothing found" in text_of(browser.get(path, params={"query": "zzzzqqq"}))
        assert "My oven is broken since Monday." in found
        assert "Conversations Broken oven" in found
        person = text_of(browser.get("/web/find", params={"query": "alba"}))
        assert "PeopleAlba" in person
        for odd in ("", " ", "%' OR 1=1 --", "\u202e<script>", "🫖" * 300):
            assert browser.get("/web/find", params={"query": odd}).status_code == 200


def test_a_key_of_one_user_finds_and_is_shown_its_own_alone(server: Serving) -> None:
    (vault,) = server.run(server.memory.conversations(user="bo"))
    with signed_in(server, user="alba", scopes=("read", "write", "admin")) as browser:
        for path, values in (
            ("/", {}),
            ("/web/find", {"query": "vault opens seven"}),
            ("/web/find", {"query": "vaults"}),
            ("/web/topics", {}),
            ("/web/topics", {"conversation": vault.id}),
            ("/web/episodes", {}),
            ("/web/playground", {"conversation": vault.id, "text": "When does the vault open?"}),
        ):
            answer = browser.get(path, params=values)
            assert answer.status_code in (200, 404), path
            assert SECRET not in answer.text, path
        assert browser.get("/web/topics", params={"user": "bo"}).status_code == 403
        assert browser.get("/web/playground", params={"user": "bo"}).status_code in (200, 403)
        said = {"conversation": vault.id, "text": "mine now", "token": token_of(browser)}
        assert browser.post("/web/playground/send", data=said).status_code in (403, 404)
    with signed_in(server, scopes=("write",)) as browser:
        assert browser.get("/web/find", params={"query": "vault"}).status_code == 403
        assert browser.get("/web/import").status_code == 200
        assert SECRET not in browser.get("/web/import").text


def test_an_upload_belongs_to_its_key_and_a_file_that_is_none_leaves_nothing(server: Serving) -> None:
    with signed_in(server, scopes=("read", "write")) as browser, signed_in(server, scopes=("read", "write")) as other:
        sent = send_file(browser, EXPORT, user="alba").headers["location"]
        assert browser.get(sent).status_code == 200
        assert other.get(sent).status_code == 404
        assert "0 messages imported; 5 were here before" in run_import(browser, sent)
        folder = imports.UploadFolder(server.app.state.options).path
        before = {path.name for path in folder.iterdir()}
        for data in (b"", b"PK\x03\x04junk", b'{"a": 1}', b"\xff\xfeh\x00i\x00", b"[" * 5_000):
            refused = send_file(browser, data)
            assert refused.status_code == 422, data
            assert str(folder) not in refused.text
        assert send_file(browser, EXPORT, name="../../etc/passwd").status_code == 303
        assert "passwd" in text_of(browser.get("/web/import"))
        assert send_file(browser, EXPORT, timezone="Mars/North").status_code == 422
        assert browser.post("/web/import", data={"token": token_of(browser)}).status_code == 422
        forged = browser.post("/web/import", data={"token": "x"}, files={"file": ("a.json", EXPORT)})
        assert forged.status_code == 403
        foreign = {"Origin": "https://evil.example"}
        token = {"token": token_of(browser)}
        assert (
            browser.post("/web/import", data=token, files={"file": ("a", EXPORT)}, headers=foreign).status_code == 403
        )
        assert len({path.name for path in folder.iterdir()} - before) <= 2  # the one that was sent, and its note
        for given in ("", "../x", "0" * 32):
            assert browser.get("/web/import/file", params={"id": given}).status_code == 404
    with signed_in(server, scopes=("read", "write"), body=400) as browser:
        assert send_file(browser, EXPORT).status_code == 413


def jsonl(*lines: str) -> bytes:
    return "\n".join(lines).encode()


def line_of(number: int, **fields: Any) -> str:
    return json.dumps({"conversation": "logbook", "user": "ola", "role": "user", "content": f"Day {number}", **fields})


def test_a_file_with_records_that_cannot_be_read_says_which_and_its_note_can_be_cleared(server: Serving) -> None:
    with signed_in(server, scopes=("read", "write")) as browser:
        sent = send_file(browser, jsonl(line_of(1), "{", line_of(2)), name="log.jsonl").headers["location"]
        page = text_of(browser.get(sent))
        assert "2 messages in 1 conversation" in page
        assert "1 record could not be imported" in page
        assert "line 2" in page
        assert "2 messages imported" in run_import(browser, sent)
        id = sent.partition("id=")[2]
        cleared = browser.post("/web/import/drop", data={"token": token_of(browser), "id": id})
        assert cleared.headers["location"].endswith("/web/import")
        assert browser.get(sent).status_code == 404
        assert "log.jsonl" not in text_of(browser.get("/web/import"))


def test_an_import_that_fails_says_why_and_goes_on_when_it_is_asked_to(server: Serving) -> None:
    with signed_in(server, scopes=("read", "write")) as browser:
        sent = send_file(browser, EXPORT, user="alba").headers["location"]
        id = sent.partition("id=")[2]
        file = imports.UploadFolder(server.app.state.options).data(id)
        file.write_bytes(b"PK\x03\x04" + EXPORT)  # no archive, though it begins as one
        browser.post("/web/import/start", data={"token": token_of(browser), "id": id})
        state = wait_for(browser, id, "Go on")
        assert "could not be read" in state
        assert str(file) not in state, "the place of our copy is nobody's business"
        assert "What was read before is kept." in state
        file.write_bytes(EXPORT)
        assert "5 were here before" in run_import(browser, sent)


def test_no_more_uploads_wait_than_there_is_room_for_and_old_ones_go(server: Serving) -> None:
    folder = imports.UploadFolder(server.app.state.options)
    with signed_in(server, scopes=("read", "write")) as browser:
        id = send_file(browser, EXPORT).headers["location"].partition("id=")[2]
        values = json.loads((folder.path / f"{id}.json").read_text())
        for number in range(imports.MAX_UPLOADS):
            copy = values | {"id": f"{number:032x}"}
            (folder.path / f"{number:032x}.json").write_text(json.dumps(copy))
        refused = send_file(browser, EXPORT)
        assert refused.status_code == 429
        assert "20 uploads are waiting: import or remove some of them first" in text_of(refused)
        for note in folder.path.glob("*.json"):
            values = json.loads(note.read_text())
            note.write_text(json.dumps(values | {"noted_at": values["noted_at"] - imports.KEPT_SECONDS}))
        assert send_file(browser, EXPORT).status_code == 303
        assert len(folder.uploads()) == 1


def test_a_folder_that_is_not_the_servers_own_takes_no_file(tmp_path: Path) -> None:
    with Serving(str(tmp_path / "m.db"), auth=True, followers=False) as server:
        folder = imports.UploadFolder(server.app.state.options).path
        folder.symlink_to(tmp_path, target_is_directory=True)
        try:
            with signed_in(server, scopes=("read", "write")) as browser:
                refused = send_file(browser, EXPORT)
                assert refused.status_code == 503
                assert "owns the folder for uploads" in text_of(refused)
        finally:
            folder.unlink()
        assert not [*tmp_path.glob("*.data")]


def test_what_others_say_of_a_person_is_apart_and_facts_are_filtered(server: Serving) -> None:
    server.run(server.memory.add_fact("identity", "height", "two metres", user="alba", speaker="bo"))
    with signed_in(server, scopes=("read",)) as browser:

        def shown(**values: str) -> str:
            return text_of(browser.get("/web/person", params={"id": "alba", **values}))

        page = shown()
        assert page.index("two metres") > page.index("What others say")
        assert "Lisbon" in shown(words="lis", category="identity", said="self")
        assert "two metres" not in shown(said="self")
        assert "Lisbon" not in shown(said="others")
        assert "No facts with these filters" in shown(words="zebra")
        timeline = shown(order="time")
        assert timeline.index("September 2020") > timeline.index("kettle")  # the newest month first


def test_many_facts_go_and_come_back_together(server: Serving) -> None:
    def kettles() -> dict[str, str]:
        facts = server.run(server.memory.facts(user="alba"))
        return {fact.key: fact.id for fact in facts if fact.key.startswith("kettle")}

    before = kettles()
    with signed_in(server, scopes=("read", "write")) as browser:

        def change(do: str, *names: str) -> str:
            form = {f"shown_{id}": "1" for id in before.values()} | {f"fact_{before[name]}": "1" for name in names}
            sent = {"user": "alba", "do": do, "token": token_of(browser), **form}
            page = browser.get(browser.post("/web/person/facts", data=sent).headers["location"])
            undo = {"user": "alba", "token": token_of(browser), "id": (PageReader(page.text).fields("id") or [""])[0]}
            left = " ".join(sorted(kettles()))
            browser.post("/web/person/undo", data=undo)
            assert kettles().keys() == before.keys()
            return left

        assert change("delete", "kettle 0", "kettle 1") == "kettle 2 kettle 3"
        assert change("keep", "kettle 0") == "kettle 0"
        assert change("keep") == "kettle 0 kettle 1 kettle 2 kettle 3", "nothing was chosen: nothing goes"


def test_a_message_is_tried_and_answered_in_the_playground(server: Serving) -> None:
    with signed_in(server, user="cleo", scopes=("read", "write")) as browser:
        tried = text_of(browser.get("/web/playground", params={"text": "Where is the <u>tent?"}))
        assert "What a model would be shown" in tried
        assert server.run(server.memory.conversations(user="cleo")) == []
        said = {"conversation": "first", "text": "Where is the tent?", "token": token_of(browser)}
        answer = browser.get(browser.post("/web/playground/send", data=said).headers["location"])
        assert "In the <i>shop." in text_of(answer)
        assert "What the model was shown" in text_of(answer)
        assert "curl" in answer.text


def test_without_a_model_the_playground_keeps_what_is_said(tmp_path: Path) -> None:
    with Serving(str(tmp_path / "m.db"), followers=False) as running, httpx2.Client(base_url=running.url) as browser:
        first = browser.get("/")
        assert "Import a file" in first.text
        token = PageReader(browser.get("/web/integrity").text).fields("token")[0]
        page = browser.get("/web/playground")
        said = {"conversation": PageReader(page.text).fields("conversation")[0], "text": "I like tea.", "token": token}
        after = browser.get(browser.post("/web/playground/send", data=said).headers["location"])
        assert "No model is configured" in text_of(after)
        assert "I like tea." in after.text
