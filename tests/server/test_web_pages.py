"""Every page and every form of the dashboard, over HTTP: who may see what, and what a forged form does.

`every_route` names every route of the dashboard. One that is added and not named there fails the test.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest
from every_route import GETS, OPEN_PAGES, POSTS
from fastapi.routing import iter_route_contexts
from page_reader import PageReader, faults_in
from sample_sizes import combine

from everword import Draft, Memory
from everword.config import Secret, Settings
from everword.server.keys import COOKIE, SESSION_SECRET, Sessions, create_key, is_page, list_keys, revoke_key
from everword.server.web import labs
from everword.server.web.people import CATEGORY, FACTS
from everword.testing import ScriptedLLM
from everword.testing.serving import Serving

SECRET = "the vault opens at seven"
ALL_RIGHTS = ("read", "write", "admin")
SCOPES = (("read", "write"), ALL_RIGHTS)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A space with a secret."""
    store = str(tmp_path_factory.mktemp("pages") / "memory.db")
    model = ScriptedLLM([f"I know that {SECRET}."], default="I cannot say.")
    with Serving(store, auth=True, chat=model, followers=False) as running:
        memory = running.memory
        chat = memory.conversation("chat", user="alex", space="theirs")
        running.run(chat.add("user", f"My name is Alex, and {SECRET}."))
        running.run(memory.remember(f"Alex says {SECRET}", user="alex", space="theirs"))
        running.run(memory.settle(60))
        running.run(chat.reply(f"Is it true that {SECRET}?"))
        running.run(memory.settle(60))
        yield running


@contextmanager
def signed_in(server: Serving, **key: Any) -> Iterator[httpx2.Client]:
    """A browser that has signed in with a new key."""
    with httpx2.Client(base_url=server.url, timeout=60) as browser:
        send_key(browser, server.key(**key))
        yield browser


def send_key(browser: httpx2.Client, key: str, **fields: str) -> httpx2.Response:
    token = PageReader(browser.get("/web/sign-in").text).fields("token")[0]
    return browser.post("/web/sign-in", data={"token": token, "key": key, **fields})


def token_of(browser: httpx2.Client) -> str:
    return PageReader(browser.get("/").text).fields("token")[0]


def fact_id(server: Serving) -> str:
    return str(server.run(server.memory.facts(user="alex", space="theirs"))[0].id)


def state_of(server: Serving) -> tuple[list[str], list[str], list[str]]:
    """What is remembered in the space with the secret."""

    async def read() -> tuple[list[str], list[str], list[str]]:
        messages = [message.content async for message in server.memory.export(space="theirs")]
        facts = [f"{fact}" for fact in await server.memory.facts(user="alex", space="theirs")]
        profile = await server.memory.profile(user="alex", space="theirs", wait=0)
        return messages, facts, [statement.text for statement in profile.statements]

    state: tuple[list[str], list[str], list[str]] = server.run(read())
    return state


def filled(values: dict[str, str], fact: str, **more: str) -> dict[str, str]:
    return {name.replace("{fact}", fact): value.replace("{fact}", fact) for name, value in values.items()} | more


def test_every_route_of_the_dashboard_is_in_the_walk(server: Serving) -> None:
    routes = {
        f"{method} {route.path_format}"
        for route in iter_route_contexts(server.app.routes)
        for method in (route.methods or set()) - {"HEAD"}
        if is_page(route.path_format or "")
    }
    assert routes == OPEN_PAGES | {f"GET {path}" for path in GETS} | {f"POST {path}" for path in POSTS}


def test_who_is_signed_out_sees_nothing_and_is_led_to_the_sign_in(server: Serving) -> None:
    key = server.key(space="theirs", scopes=ALL_RIGHTS)
    with httpx2.Client(base_url=server.url, headers={"Authorization": f"Bearer {key}"}) as stranger:
        for path, values in GETS.items():
            answer = stranger.get(path, params=values)  # a key in a header opens the API, not the pages
            assert answer.status_code == 303, path
            assert answer.headers["location"].startswith("/web/sign-in")
            piece = stranger.get(path, params=values, headers={"HX-Request": "true"})
            assert (piece.status_code, piece.headers["hx-redirect"], piece.text) == (401, "/web/sign-in", "")
        before = state_of(server)
        for path, values in POSTS.items():
            assert stranger.post(path, data=filled(values, "f")).status_code == 303, path
        assert state_of(server) == before


def test_signing_in_sets_a_cookie_that_scripts_and_other_pages_cannot_use(server: Serving) -> None:
    with httpx2.Client(base_url=server.url) as browser:
        assert send_key(browser, "rk_0123456789abcdef_" + "a" * 43).status_code == 401
        assert COOKIE not in browser.cookies
        answer = send_key(browser, server.key(space="theirs"), next="/web/people?space=theirs")
        assert (answer.status_code, answer.headers["location"]) == (303, "/web/people?space=theirs")
        flags = {part.strip().lower() for part in answer.headers["set-cookie"].split(";")[1:]}
        assert {"httponly", "samesite=strict", "path=/"} <= flags
        assert SECRET not in answer.headers["set-cookie"]
        assert browser.get("/").status_code == 200
        assert browser.get("/v1/conversations").status_code == 401  # the cookie opens no route of the API
        assert browser.post("/web/sign-out", data={"token": token_of(browser)}).headers["location"] == "/web/sign-in"
        assert browser.get("/").status_code == 303
        for elsewhere in ("https://evil.example", "//evil.example", "/\\evil.example"):
            assert send_key(browser, server.key(space="theirs"), next=elsewhere).headers["location"] == "/"


def test_a_session_ends_with_its_key(server: Serving) -> None:
    past = datetime.now(UTC) - timedelta(days=2)
    expired, text = create_key(server.store, name="old", spaces=["theirs"], days=1, now=past)
    sessions = Sessions(server.app.state.options.session_secret)
    cookie = sessions.cookie_value(sessions.begin(expired.id, datetime.now(UTC)))
    with httpx2.Client(base_url=server.url, cookies={COOKIE: cookie}) as browser:
        assert browser.get("/").status_code == 303
        assert "is not valid" in send_key(browser, text).text
    unknown = sessions.cookie_value(sessions.begin("f" * 16, datetime.now(UTC)))
    with httpx2.Client(base_url=server.url, cookies={COOKIE: unknown}) as browser:
        assert browser.get("/").status_code == 303


def test_a_form_without_the_sessions_token_changes_nothing(server: Serving) -> None:
    fact = fact_id(server)
    before = state_of(server)
    with (
        signed_in(server, space=[], scopes=ALL_RIGHTS) as browser,
        signed_in(server, space=[], scopes=ALL_RIGHTS) as other,
    ):
        token = token_of(browser)
        wrongs: tuple[tuple[dict[str, str], dict[str, str]], ...] = (
            ({"other": ""}, {}),
            ({"token": ""}, {}),
            ({"token": token_of(other)}, {}),
            ({"token": token}, {"Origin": "https://evil.example"}),
            ({"token": token}, {"Origin": "null"}),
            ({"token": token}, {"Sec-Fetch-Site": "cross-site"}),
            ({"token": token}, {"Sec-Fetch-Site": "same-site"}),
        )
        for path, values in POSTS.items():
            for fields, headers in wrongs:
                sent = filled(values, fact, **fields)
                answer = browser.post(path, params={"space": "theirs"}, data=sent, headers=headers)
                assert answer.status_code == 403, (path, fields, headers)
            as_json = browser.post(path, params={"space": "theirs"}, json=filled(values, fact, token=token))
            assert as_json.status_code == 415, path
        assert browser.get("/").status_code == 200  # nor was it signed out
    assert state_of(server) == before


def test_a_read_only_key_changes_nothing_and_is_offered_no_form(server: Serving) -> None:
    fact = fact_id(server)
    before = state_of(server)
    with signed_in(server, space="theirs", scopes=("read",)) as browser:
        token = token_of(browser)
        for path, values in POSTS.items():
            if path != "/web/sign-out":
                assert browser.post(path, data=filled(values, fact, token=token)).status_code == 403, path
        for path in ("/web/person", "/web/fact", "/web/message", "/web/topic"):
            page = browser.get(path, params=filled(GETS[path], fact))
            assert SECRET in page.text or path == "/web/fact"
            actions = {given.get("action", "") for tag, given in PageReader(page.text).elements if tag == "form"}
            assert not any(action.startswith(tuple(POSTS)) for action in actions - {"/web/sign-out"}), path
        for path in ("/web/integrity", "/web/keys", "/web/settings", "/web/erase"):
            assert browser.get(path, params=GETS[path]).status_code == 403
    assert state_of(server) == before


@pytest.mark.parametrize("scopes", SCOPES)
def test_a_key_of_another_space_opens_no_page_of_this_one(server: Serving, scopes: tuple[str, ...]) -> None:
    fact = fact_id(server)
    before = state_of(server)
    with signed_in(server, space="mine", scopes=scopes) as browser:
        token = token_of(browser)
        asked = [(path, space) for path, space, by in combine(GETS, ("theirs", None), SCOPES) if by == scopes]
        for path, space in asked:
            named = {} if space is None else {"space": space}
            answer = browser.get(path, params=filled(GETS[path], fact, **named))
            assert answer.status_code in ((403,) if named else (200, 403, 404)), path
            assert SECRET not in answer.text, path
        sent = [(path, space) for path, space, by in combine(POSTS, ("theirs", None), SCOPES) if by == scopes]
        for path, space in sent:
            if path == "/web/sign-out":
                continue
            named = {} if space is None else {"space": space}
            answer = browser.post(path, params=named, data=filled(POSTS[path], fact, token=token))
            assert answer.status_code == 403 if named else answer.status_code < 500, path
            assert SECRET not in answer.text, path
        for path in ("/web/keys", "/web/settings"):
            assert browser.get(path).status_code == 403
        assert "mine" in browser.get("/web/spaces").text
        assert "theirs" not in browser.get("/web/spaces").text
    assert state_of(server) == before


def test_a_key_of_one_user_sees_that_user_and_nothing_else(server: Serving) -> None:
    fact = fact_id(server)
    before = state_of(server)
    with signed_in(server, space="theirs", user="bo", scopes=ALL_RIGHTS) as browser:
        token = token_of(browser)
        for path, values in GETS.items():
            answer = browser.get(path, params=filled(values, fact))
            assert answer.status_code in (200, 303, 403, 404), path
            assert SECRET not in answer.text, path
        for path, values in POSTS.items():
            if path != "/web/sign-out":
                answer = browser.post(path, data=filled(values, fact, token=token))
                assert answer.status_code in (303, 403, 404, 422), f"{path} {answer.status_code}"
                assert SECRET not in answer.text, path
        assert browser.get("/web/people").headers["location"] == "/web/person?id=bo"
        assert browser.get("/web/person", params={"id": "bo"}).status_code == 200
        assert browser.get("/web/conversation", params={"id": "chat"}).status_code == 404
    assert state_of(server) == before


def test_every_page_forbids_frames_and_whatever_is_not_ours(server: Serving) -> None:
    fact = fact_id(server)
    with signed_in(server, space=[], scopes=ALL_RIGHTS) as browser:
        for path, values in {**GETS, "/web/sign-in": {}, "/docs": {}, "/web/nothing": {}}.items():
            answer = browser.get(path, params=filled(values, fact, space="theirs"))
            policy = answer.headers["content-security-policy"]
            assert policy.startswith(("default-src 'self';", "default-src 'none';")), path
            assert "frame-ancestors 'none'" in policy
            assert "unsafe" not in policy
            assert answer.headers["x-frame-options"] == "DENY"
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["referrer-policy"] in ("same-origin", "no-referrer")
            assert answer.headers["cache-control"] == "no-store"
            assert faults_in(answer.text) == [], path
        styles = browser.get("/web/static/style.css")
        assert "immutable" in styles.headers["cache-control"]
        assert styles.headers["content-encoding"] == "gzip"
        plain = browser.get("/web/static/style.css", headers={"Accept-Encoding": "identity"})
        assert "content-encoding" not in plain.headers
        assert plain.text == styles.text
        for name in ("nothing.css", "..%2Fpages.py", "VENDORED"):
            assert browser.get(f"/web/static/{name}").status_code == 404


def test_a_reply_is_explained_by_its_receipt_until_a_message_it_names_is_gone(tmp_path: Path) -> None:
    model = ScriptedLLM(["[SEARCH_EPISODIC: the boat]", "It is called Petrel.", "Blue."])
    with Serving(str(tmp_path / "memory.db"), chat=model, followers=False) as server:
        chat = server.memory.conversation("harbour", user="ann")
        server.run(chat.extend([Draft("user", "My boat is called Petrel."), Draft("assistant", "A good name.")]))
        server.run(chat.reply("What is my boat called?"))
        server.run(chat.reply("And its colour?"))
        with httpx2.Client(base_url=server.url, timeout=60) as browser:
            listed = PageReader(browser.get("/web/replies", params={"conversation": "harbour"}).text).text
            assert listed.index("And its colour?") < listed.index("What is my boat called?")
            assert "2 calls" in listed
            asked = {"conversation": "harbour", "turn": "4"}
            page = PageReader(browser.get("/web/reply", params=asked).text).text
            for text in (
                "search: the boat",
                "It is called Petrel.",
                "My boat is called Petrel.",
                "the whole conversation",
            ):
                assert text in page
            assert "What the model saw" in browser.get("/web/message", params=asked).text
            server.run(chat.delete(3))
            assert browser.get("/web/reply", params=asked).status_code == 404
            assert "What the model saw" not in browser.get("/web/message", params=asked).text


def test_a_session_outlives_a_restart_and_ends_on_every_server_when_one_signs_out(tmp_path: Path) -> None:
    store = str(tmp_path / "memory.db")
    with Serving(store, auth=True, followers=False) as server, httpx2.Client(base_url=server.url) as browser:
        send_key(browser, server.key(scopes=ALL_RIGHTS))
        cookie = browser.cookies[COOKIE]
        token = token_of(browser)
        secret = server.store.read(lambda tx: tx.note(SESSION_SECRET))
        assert secret
        for path in ("/", "/web/settings", "/web/keys", "/web/integrity"):
            assert secret not in browser.get(path).text
    cookies = {COOKIE: cookie}
    with (
        Serving(store, auth=True, followers=False) as server,
        httpx2.Client(base_url=server.url, cookies=cookies) as browser,
    ):
        assert browser.get("/").status_code == 200
        assert token_of(browser) == token
        told = {"user": "alex", "text": "Alex plays chess", "token": token}
        assert browser.post("/web/person/remember", data=told).status_code == 303
        with (
            Serving(store, auth=True, followers=False) as worker,
            httpx2.Client(base_url=worker.url, cookies=cookies) as thief,
        ):
            assert thief.get("/").status_code == 200
            assert browser.post("/web/sign-out", data={"token": token}).status_code == 303
            assert thief.get("/").status_code == 303
            assert thief.get("/web/people").headers["location"].startswith("/web/sign-in")
            assert thief.post("/web/person/remember", data=told).headers["location"].startswith("/web/sign-in")
    with (
        Serving(store, auth=True, followers=False) as server,
        httpx2.Client(base_url=server.url, cookies=cookies) as browser,
    ):
        assert browser.get("/").status_code == 303
    with (
        Serving(str(tmp_path / "other.db"), auth=True, followers=False) as server,
        httpx2.Client(base_url=server.url, cookies=cookies) as browser,
    ):
        assert browser.get("/").status_code == 303


def test_people_are_shown_page_by_page(server: Serving) -> None:
    ids = [f"guest-{number:03}" for number in range(60)]

    async def add_names() -> None:
        for id in ids:
            await server.memory.add_name(f"Name of {id}", user=id, space="crowd")

    server.run(add_names())
    with signed_in(server, space="crowd", scopes=("read",)) as browser:
        shown = list[str]()
        path = "/web/people"
        while path:
            elements = PageReader(browser.get(path).text).elements
            links = [given.get("href", "") for tag, given in elements if tag == "a"]
            shown += [link.partition("?id=")[2] for link in links if link.startswith("/web/person?")]
            path = next((link for link in links if "after=" in link), "")
        assert shown == ids
        found = browser.get("/web/people", params={"name": "OF GUEST-007"}).text
        assert "guest-007" in found
        assert "guest-008" not in found
        assert "Nobody of that name" in browser.get("/web/people", params={"name": "zebra"}).text


def test_a_fact_is_edited_deleted_and_taken_back(server: Serving) -> None:
    with signed_in(server, space="edits", scopes=("read", "write")) as browser:
        token = token_of(browser)
        added = {"user": "kim", "category": "identity", "key": "city", "value": "Delft", "token": token}
        answer = browser.post("/web/fact/add", data=added)
        page = browser.get(answer.headers["location"])
        assert "Delft" in page.text
        (fact,) = server.run(server.memory.facts(user="kim", space="edits"))
        edited = {"user": "kim", "id": fact.id, "value": "Leiden", "token": token}
        page = browser.get(browser.post("/web/fact/edit", data=edited).headers["location"])
        assert "Leiden" in page.text
        (fact,) = server.run(server.memory.facts(user="kim", space="edits"))
        history = browser.get("/web/fact", params={"user": "kim", "id": fact.id})
        assert "Delft" in history.text
        gone = browser.post("/web/fact/delete", data={"user": "kim", "id": fact.id, "token": token})
        page = browser.get(gone.headers["location"])
        assert "Leiden" not in page.text
        undo = {"user": "kim", "id": PageReader(page.text).fields("id")[0], "token": token}
        assert "Leiden" in browser.get(browser.post("/web/person/undo", data=undo).headers["location"]).text


def test_a_message_is_moved_out_of_its_thread(server: Serving) -> None:
    chat = server.memory.conversation("general", space="threads")
    said = [("ann", "how do I mount a disk?"), ("bob", "ann: with mount"), ("carl", "bob: and umount after it")]
    said.append(("ann", "bob: thanks"))
    server.run(chat.extend([Draft("user", text, author) for author, text in said]))
    server.run(server.memory.settle())
    with signed_in(server, space="threads", scopes=("read", "write")) as browser:
        form = {"conversation": "general", "id": "t1", "token": token_of(browser)}
        page = PageReader(browser.get("/web/topic", params={"conversation": "general", "id": "t1"}).text)
        assert "answers #1: is said to its author" in page.text
        moved = browser.post("/web/topic/split", data=form | {"turn": "3"})
        assert "moved by hand" in browser.get(moved.headers["location"]).text
        assert {topic.id for topic in server.run(chat.topics())} == {"t1", "t3"}
        for turn in ("", "x", "3"):
            assert browser.post("/web/topic/split", data=form | {"turn": turn}).status_code == 422


def test_topics_are_merged_split_and_tagged(server: Serving) -> None:
    chat = server.memory.conversation("talk", user="kim", space="themes")
    words = ("My tomato plants have brown spots.", "The invoice of the plumber is due on Friday.")
    for text in words:
        server.run(chat.add_user_message(text))
    ids = [topic.id for topic in server.run(chat.topics())]
    assert len(ids) == 2
    with signed_in(server, space="themes", scopes=("read", "write")) as browser:
        named = {"conversation": "talk", "id": ids[0], "token": token_of(browser)}
        joined = browser.post("/web/topic/merge", data=named | {"other": ids[1]})
        page = browser.get(joined.headers["location"])
        assert "Take out again" in page.text
        assert all(word in PageReader(page.text).text for word in words)
        assert len(server.run(chat.topics())) == 1
        assert browser.get("/web/topics", params={"conversation": "talk"}).text.count('class="bar"') == 1
        browser.post("/web/topic/tag", data=named | {"tag": "<b>mine"})
        split = browser.post("/web/topic/unmerge", data=named | {"other": ids[1]})
        assert "Take out again" not in browser.get(split.headers["location"]).text
        tagged = browser.get("/web/topic", params={"conversation": "talk", "id": ids[0]})
        assert "<b>mine" in PageReader(tagged.text).text
        assert browser.get("/web/topic", params={"conversation": "talk", "id": "t99"}).status_code == 404


def test_a_conversation_with_a_title_is_called_by_it_and_not_by_its_id(server: Serving) -> None:
    id = "3be7b960-ff5d-13c2-71f9-701f1a455708"
    chat = server.memory.conversation(id, user="ida", space="titles")
    server.run(chat.add("user", "Which tram goes to the castle?", metadata={"title": "Lisbon <b>& more"}))
    with signed_in(server, space=[], scopes=ALL_RIGHTS) as browser:
        for path in ("/web/conversation?id=", "/web/message?turn=1&conversation=", "/web/erase?conversation="):
            page = PageReader(browser.get(f"{path}{id}&space=titles").text)
            shown, _, _ = page.text.partition("Do this in a program")
            assert "Lisbon <b>& more" in shown
            assert id not in shown


def test_removal_shows_first_what_goes_and_needs_a_word_to_confirm(server: Serving) -> None:
    chat = server.memory.conversation("old", user="lee", space="gone")
    server.run(chat.extend([Draft("user", f"line {number}") for number in range(90)]))
    with signed_in(server, space=[], scopes=ALL_RIGHTS) as browser:
        token = token_of(browser)
        space = {"space": "gone"}
        page = browser.get("/web/conversation", params={"id": "old", **space})
        assert "line 89" in page.text
        assert "line 49" not in page.text  # a page of them
        older = browser.get("/web/conversation/messages", params={"id": "old", "before": "51", **space})
        assert "line 49" in older.text
        assert "<html" not in older.text
        message = {"conversation": "old", "turn": "90", "token": token}
        assert "This would go" in browser.post("/web/message/preview", params=space, data=message).text
        assert "line 89" in browser.get("/web/conversation", params={"id": "old", **space}).text
        assert "gone for good" in browser.post("/web/message/delete", params=space, data=message).text
        assert "line 89" not in browser.get("/web/conversation", params={"id": "old", **space}).text
        preview = browser.get("/web/erase", params={"user": "lee", **space})
        assert "89" in preview.text
        wrong = browser.post("/web/erase", params=space, data={"user": "lee", "confirm": "lee", "token": token})
        assert wrong.status_code == 422
        right = browser.post("/web/erase", params=space, data={"user": "lee", "confirm": "erase", "token": token})
        assert "gone for good" in right.text
        proof = browser.post("/web/integrity/verify", data={"token": token}).text
        assert "The log is whole" in proof
        assert server.run(server.memory.verify()).root in proof
        assert "erase" in browser.get("/web/integrity", params=space).text


def test_keys_are_shown_once_and_give_no_more_than_their_maker_has(server: Serving) -> None:
    server.app.state.settings = Settings(chat_key=Secret("hunter2"))
    with signed_in(server, space=[], scopes=("read", "admin")) as browser:
        token = token_of(browser)
        page = browser.post("/web/keys/create", data={"name": "<b>site", "scope_read": "yes", "token": token})
        text = page.text.partition('<code class="key">')[2].partition("<")[0]
        assert text.startswith("rk_")
        assert text not in browser.get("/web/keys").text
        with httpx2.Client(base_url=server.url) as fresh:
            assert send_key(fresh, text).status_code == 303
        more = {"name": "more", "scope_write": "yes", "token": token}
        assert browser.post("/web/keys/create", data=more).status_code == 403
        id = text.split("_")[1]
        assert browser.post("/web/keys/revoke", data={"id": id, "token": token}).status_code == 303
        assert "revoked" in browser.get("/web/keys").text
        assert "hunter2" not in browser.get("/web/settings").text


@pytest.mark.checklist("G7")
def test_a_key_made_on_a_page_ends_with_its_maker_and_is_no_larger(server: Serving) -> None:
    """A one-day key of few requests made an unlimited key once, which outlived it."""
    with signed_in(server, space=[], scopes=ALL_RIGHTS, days=1, rate=50) as browser:
        wanted = {"name": "more", "days": "3650", "rate": "1000000", "token": token_of(browser)}
        page = browser.post("/web/keys/create", data=wanted | {f"scope_{right}": "yes" for right in ALL_RIGHTS})
        text = page.text.partition('<code class="key">')[2].partition("<")[0]
        keys = {key.id: key for key in list_keys(server.store)}
        made = keys[text.split("_")[1]]
        maker = keys[str(made.maker)]
        assert (made.rate, made.expires_at) == (50, maker.expires_at)
        assert f'made by <span class="mono">{maker.id}' in page.text
        revoke_key(server.store, maker.id)
        assert not list_keys(server.store)[-1].is_active(datetime.now(UTC))
        with httpx2.Client(base_url=server.url) as fresh:
            assert send_key(fresh, text).status_code == 401


def test_a_page_says_why_a_message_was_not_found(server: Serving) -> None:
    with signed_in(server, space="theirs", scopes=("read",)) as browser:

        def reason(**more: str) -> str:
            asked = {"query": "vault", "conversation": "chat", "turn": "1", **more}
            return PageReader(browser.get("/web/search", params=asked).text).text

        assert "It is among the hits" in reason()
        assert "filter by role" in reason(role="assistant")
        assert "filter by conversation" in reason(within="other")
        assert "before the time of the filter" in reason(after="2199-01-01")
        assert "shares no telling word" in reason(query="zebra crossing")
        broken = browser.get(f"/web/search?{urlencode({'query': 'x', 'floor': 'high'})}")
        assert broken.status_code == 422


def test_without_keys_the_pages_are_open_to_this_machine_alone(tmp_path_factory: pytest.TempPathFactory) -> None:
    with (
        Serving(str(tmp_path_factory.mktemp("open") / "memory.db"), followers=False) as running,
        httpx2.Client(base_url=running.url) as browser,
    ):
        page = browser.get("/")
        token = PageReader(browser.get("/web/integrity").text).fields("token")[0]
        assert page.status_code == 200
        assert browser.get("/web/sign-in").headers["location"] == "/"
        assert browser.get("/", headers={"Host": "evil.example"}).status_code == 403
        assert browser.get("/", headers={"X-Forwarded-For": "1.2.3.4"}).status_code == 403
        told = {"user": "alex", "text": "Alex plays chess"}
        forged = browser.post("/web/person/remember", data=told)
        assert forged.status_code == 403
        elsewhere = browser.post(
            "/web/person/remember", data=told | {"token": token}, headers={"Origin": "https://evil.example"}
        )
        assert elsewhere.status_code == 403
        assert browser.post("/web/person/remember", data=told | {"token": token}).status_code == 303


def test_every_part_of_a_score_has_a_name_and_a_colour(tmp_path: Path) -> None:
    """The search lab shows what a hit's score is made of: none of it nameless, none black."""
    with Memory(str(tmp_path / "memory.db"), followers=False) as memory:
        memory.conversation("chat", user="ann").add("user", "I always take the bus to work.")
        memory.settle()
        (hit,) = memory.search("bus", user="ann")
    style = (Path(labs.__file__).parent / "static" / "style.css").read_text(encoding="utf-8")
    for part in (*hit.parts, "fact"):
        assert part in labs.PARTS
        assert f".score-{part} " in style or f".score-{part}," in style


def test_a_category_with_many_facts_has_pages_of_its_own(tmp_path: Path) -> None:
    store = str(tmp_path / "many.db")
    with Memory(store, followers=False) as memory:
        for number in range(FACTS + CATEGORY):
            memory.add_fact(user="ann", category="possession", key=f"thing {number}", value=f"kettle {number}")
    with Serving(store, followers=False) as server:
        person = httpx2.get(f"{server.url}/web/person?id=ann").text
        assert person.count(">kettle ") == FACTS
        assert f"All {FACTS + CATEGORY}" in person
        category = httpx2.get(f"{server.url}/web/person?id=ann&category=possession").text
        rest = httpx2.get(f"{server.url}/web/person?id=ann&category=possession&skip={CATEGORY}").text
        assert (category.count(">kettle "), rest.count(">kettle ")) == (CATEGORY, FACTS)
        assert f"skip={CATEGORY}" in category
        assert "skip=" not in rest


@pytest.mark.checklist("C11")
def test_people_are_shown_by_name_wherever_their_words_are(tmp_path: Path) -> None:
    """A bot knows people by numbers; the dashboard shows what they are called."""
    store = str(tmp_path / "names.db")
    with Memory(store, followers=False) as memory:
        channel = memory.conversation("general")
        text = "The {}th lantern of the harbour festival has a crack in its red paper."
        channel.extend(
            Draft("user", text.format(number), "member-901", metadata={"name": "Ingrid"}) for number in range(60)
        )
        memory.settle()
        topic = channel.topics()[0].id
    with Serving(store, followers=False) as server:
        for path in ("search?query=lantern", f"topic?conversation=general&id={topic}", "episodes?conversation=general"):
            page = httpx2.get(f"{server.url}/web/{path}").text
            assert "Ingrid" in page, path
            assert "member-901" not in page, path
