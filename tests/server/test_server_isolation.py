"""A key of one space opens nothing of another: walked through every route the application has.

`every_route` names every route. One that is added and not named there fails the test: whoever adds it says what it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import get_args
from urllib.parse import urlencode

import httpx2
import pytest
from every_route import FILLED, MOUNTED, NOWHERE, OF_A_SPACE, PROCESS, PUBLIC, TALK, routes_of
from sample_sizes import combine

from everword.model import CommandKind
from everword.server.keys import is_page
from everword.testing import ScriptedLLM
from everword.testing.serving import Serving

SECRET = "the vault opens at seven"
SCOPES = (("read", "write"), ("read", "write", "admin"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    store = str(tmp_path_factory.mktemp("isolation") / "memory.db")
    model = ScriptedLLM(default="I know of nothing.")
    with Serving(store, auth=True, chat=model) as running:
        theirs = running.key(space="theirs")
        with httpx2.Client(base_url=running.url, headers={"Authorization": f"Bearer {theirs}"}) as http:
            told = f"My name is Alex, and {SECRET}. I'm allergic to peanuts."
            said = {"user": "alex", "messages": [{"role": "user", "content": told}]}
            assert http.post("/v1/conversations/chat/messages", json=said).status_code == 200
            assert http.post("/v1/users/alex/remember", json={"text": f"Alex says {SECRET}"}).status_code == 200
            note = {"value": {"text": SECRET}, "user": "alex"}
            assert http.put("/v1/spaces/theirs/documents/k?namespace=notes", json=note).status_code == 200
            assert http.post("/v1/settle", json={}).status_code == 200
            assert SECRET in http.get("/v1/export").text
        yield running


def test_every_route_is_known() -> None:
    from everword import AsyncMemory
    from everword.server.app import create_app

    named = PUBLIC | PROCESS | {*NOWHERE} | MOUNTED | {route.partition("?")[0] for route in OF_A_SPACE}
    routes = set(routes_of(create_app(AsyncMemory("never opened"))))
    assert {route for route in routes if not is_page(route.partition(" ")[2])} == named  # test_web_pages.py has pages


def asked(
    http: httpx2.Client,
    route: str,
    headers: dict[str, str],
    space: str = "theirs",
    conversation: str = "chat",
    more: Mapping[str, str] | None = None,
) -> httpx2.Response:
    """Ask a route; `more` stands in the query and in the body."""
    method, path = route.split(" ", 1)
    owner = "alex" if "/users/" in path else space if "/spaces/" in path else conversation
    for hole, value in {**FILLED, "{id}": owner}.items():
        path = path.replace(hole, value)
    body = OF_A_SPACE[route]
    if more is not None:
        path += f"{'&' if '?' in path else '?'}{urlencode(more)}"
        body = None if body is None else {**body, **more}
    return http.request(method, path, json=body, headers=headers)


NAMED = {"X-Everword-Space": "theirs"}
WAYS: dict[str, dict[str, str] | None] = {"header": NAMED, "once": NAMED | {"Idempotency-Key": "k"}, "query": None}


@pytest.mark.parametrize("scopes", SCOPES)
def test_a_key_of_another_space_opens_no_route(server: Serving, scopes: tuple[str, ...]) -> None:
    bearer = {"Authorization": f"Bearer {server.key(space='mine', scopes=scopes)}"}
    with httpx2.Client(base_url=server.url, headers=bearer) as http:
        for route, way, by in combine(OF_A_SPACE, WAYS, SCOPES):
            if by != scopes:
                continue
            headers = WAYS[way]
            if "/spaces/" in route:
                answer = asked(http, route, {})  # which names it in the path
            else:
                answer = in_query(http, route) if headers is None else asked(http, route, headers)
            assert answer.status_code in (403, 404), f"{route} by {way}: {answer.status_code} {answer.text}"
            assert SECRET not in answer.text


def in_query(http: httpx2.Client, route: str) -> httpx2.Response:
    named = f"{route}{'&' if '?' in route else '?'}space=theirs"
    OF_A_SPACE[named] = OF_A_SPACE[route]
    try:
        return asked(http, named, {})
    finally:
        del OF_A_SPACE[named]


def test_without_naming_it_one_is_in_ones_own_space_and_sees_nothing_of_another(server: Serving) -> None:
    """The same ids mean other things there."""
    bearer = {"Authorization": f"Bearer {server.key(space='mine', scopes=('read', 'write', 'admin'))}"}
    with httpx2.Client(base_url=server.url, headers=bearer) as http:
        for route in OF_A_SPACE:
            answer = asked(http, route, {}, space="mine")
            assert answer.status_code < 500, f"{route}: {answer.status_code} {answer.text}"
            assert SECRET not in answer.text, route
    with httpx2.Client(base_url=server.url, headers={"Authorization": f"Bearer {server.key(space='theirs')}"}) as http:
        assert SECRET in http.get("/v1/export").text  # whatever was erased was erased elsewhere
        assert SECRET in http.get("/v1/spaces/theirs/documents/k?namespace=notes").text


def test_a_key_of_one_space_learns_nothing_of_the_process(server: Serving) -> None:
    bearer = {"Authorization": f"Bearer {server.key(space='mine')}"}
    with httpx2.Client(base_url=server.url) as http:
        for route in PROCESS:
            assert http.get(route.removeprefix("GET "), headers=bearer).status_code == 403
        for route in OF_A_SPACE:
            assert asked(http, route, {}).status_code == 401, route
        for route in PUBLIC:
            assert http.get(route.removeprefix("GET ")).status_code == 200


def state_of(server: Serving) -> list[str]:
    """All that is known in the space and of alex, as a key of the space sees it."""
    with httpx2.Client(base_url=server.url, headers={"Authorization": f"Bearer {server.key(space='theirs')}"}) as http:
        assert http.post("/v1/settle", json={}).status_code == 200
        said = [line for line in http.get("/v1/export").text.splitlines() if '"user":"bo"' not in line]
        known = [http.get(f"/v1/users/alex/{what}").text for what in ("facts", "profile?wait=0")]
        document = http.get("/v1/spaces/theirs/documents/k?namespace=notes").text
        return [*said, *known, document]


# What a key of one user may send to name another: in the place of their own id, or beside it.
OTHERS = ({"user": "alex"}, {"author": "alex"}, {"speaker": "alex"})


@pytest.mark.checklist("F14")
def test_a_key_of_one_user_opens_that_users_memory_alone(server: Serving) -> None:
    """Every route: what is another's is refused or not there, what is about many is refused, and nothing changes."""
    before = state_of(server)
    bearer = {"Authorization": f"Bearer {server.key(space='theirs', user='bo', scopes=('read', 'write', 'admin'))}"}
    with httpx2.Client(base_url=server.url, headers=bearer) as http:
        for route in OF_A_SPACE:
            answer = asked(http, route, {})
            assert SECRET not in answer.text, route
            assert answer.status_code < 500, route
            if "/users/" in route:
                assert answer.status_code == 403, route
            elif "{id}" in route and "/spaces/" not in route and not route.startswith("GET"):
                assert answer.status_code in (200, 403, 404), f"{route}: {answer.status_code} {answer.text}"
            for other in OTHERS:
                answer = asked(http, route, {}, more=other)
                assert SECRET not in answer.text, (route, other)
                assert answer.status_code < 500, (route, other)
        assert {one["user"] for one in http.get("/v1/conversations").json()["items"]} == {"bo"}
        assert SECRET not in http.post("/v1/search", json={"query": "vault"}).text
        assert http.post("/v1/search", json={"query": "vault", "user": "alex"}).status_code == 403
        own = {"messages": [{"role": "user", "content": "I am Bo."}]}
        added = http.post("/v1/conversations/bos/messages", json=own)
        assert added.json()[0]["message"]["user"] == "bo"
        forged = {"messages": [{"role": "user", "content": "I am Alex.", "author": "alex"}]}
        assert http.post("/v1/conversations/bos/messages", json=forged).status_code == 403
        assert "I am Bo" in http.get("/v1/users/bo/export").text
    assert state_of(server) == before


# What begins a conversation under a name that is free, and is refused where it is taken.
BEGINS = {f"POST {TALK}/{what}" for what in ("messages", "reply", "command", "topics")}
ALIKE = [route for route in OF_A_SPACE if TALK in route and route not in BEGINS] + ["POST /v1/users/{id}/ask"]


@pytest.mark.parametrize("route", ALIKE)
@pytest.mark.checklist("F14")
def test_another_persons_conversation_reads_as_one_that_does_not_exist(server: Serving, route: str) -> None:
    """To a key of one user: the same status, and the same answer but for the id."""
    bearer = {"Authorization": f"Bearer {server.key(space='theirs', user='bo', scopes=('read', 'write', 'admin'))}"}
    with httpx2.Client(base_url=server.url, headers=bearer) as http:
        if route.endswith("/ask"):
            asked_in = [{"question": "When does the vault open?", "conversation": id} for id in ("chat", "nope")]
            answers = [http.post("/v1/users/bo/ask", json=body) for body in asked_in]
        else:
            answers = [asked(http, route, {}, conversation=id) for id in ("chat", "nope")]
    assert answers[0].status_code == answers[1].status_code
    assert answers[0].text.replace("'chat'", "'nope'") == answers[1].text


@pytest.mark.checklist("G7")
def test_a_users_key_does_not_choose_ids_of_messages(server: Serving) -> None:
    """An id counts in the whole space: with one that a program will use, the program's messages would be refused."""
    squatted = {"messages": [{"role": "user", "content": "mine", "id": "order-17"}]}
    bearer = {"Authorization": f"Bearer {server.key(space='ids', user='bo')}"}
    with httpx2.Client(base_url=server.url, headers=bearer) as http:
        for path, body in (
            ("/v1/conversations/bos/messages", squatted),
            ("/v1/messages", {"batches": [{"conversation": "bos", **squatted}]}),
        ):
            refused = http.post(path, json=body)
            assert (refused.status_code, refused.json()["code"]) == (403, "not_you")
            assert "platform_id" in refused.json()["detail"]
        named = {"messages": [{"role": "user", "content": "mine", "platform_id": "order-17"}]}
        assert http.post("/v1/conversations/bos/messages", json=named).json()[0]["kept"] == "new"
    with httpx2.Client(base_url=server.url, headers={"Authorization": f"Bearer {server.key(space='ids')}"}) as http:
        theirs = {"user": "alex", "messages": [{"role": "user", "content": "theirs", "id": "order-17"}]}
        assert http.post("/v1/conversations/alexs/messages", json=theirs).json()[0]["kept"] == "new"


@pytest.mark.checklist("G7")
def test_a_users_key_keeps_nobody_from_telling_the_memory_something(server: Serving) -> None:
    """What somebody tells is kept in a conversation of theirs, whose name can be guessed."""
    bearer = {"Authorization": f"Bearer {server.key(space='told', user='bo')}"}
    with httpx2.Client(base_url=server.url, headers=bearer) as http:
        squatted = {"messages": [{"role": "user", "content": "mine"}]}
        assert http.post("/v1/conversations/profile:alex/messages", json=squatted).status_code == 403
        assert http.post("/v1/conversations/profile:bo/messages", json=squatted).status_code == 200
    with httpx2.Client(base_url=server.url, headers={"Authorization": f"Bearer {server.key(space='told')}"}) as http:
        assert http.post("/v1/users/alex/remember", json={"text": "Alex plays chess"}).status_code == 200


@pytest.mark.checklist("G7")
def test_a_users_key_takes_no_name_that_another_member_has(server: Serving) -> None:
    """Nor one that looks the same; what others are called stays clear. Their own names they may give again."""
    with httpx2.Client(base_url=server.url, headers={"Authorization": f"Bearer {server.key(space='called')}"}) as http:
        for user, name in (("alex", "Captain Ahab"), ("bo", "Bosun")):
            assert http.post(f"/v1/users/{user}/names", json={"name": name, "kind": "display"}).status_code == 200
    bearer = {"Authorization": f"Bearer {server.key(space='called', user='bo')}"}
    with httpx2.Client(base_url=server.url, headers=bearer) as http:

        def statuses(name: str) -> set[int]:
            said = {"role": "user", "content": "Hello", "metadata": {"name": name}}
            edited = {"text": "Hello!", "metadata": {"name": name}}
            return {
                http.post("/v1/users/bo/names", json={"name": name, "kind": "nickname"}).status_code,
                http.post("/v1/users/bo/names", json={"name": name, "kind": "alias"}).status_code,
                http.post("/v1/conversations/bos/messages", json={"messages": [said]}).status_code,
                http.post("/v1/messages", json={"batches": [{"conversation": "bos", "messages": [said]}]}).status_code,
                http.patch("/v1/conversations/bos/messages/1?by=turn", json=edited).status_code,
            }

        assert statuses("Bosun") == {200}
        for taken in ("Captain Ahab", "captain  ahab", "C\u0430ptain Ahab", "CAPTAIN AHAB"):
            assert statuses(taken) == {422}, taken
        refused = http.post("/v1/users/bo/names", json={"name": "Captain Ahab", "kind": "alias"})
        assert "alex" not in refused.text
    # To a key that may not read, it is not told which names there are.
    bearer = {"Authorization": f"Bearer {server.key(space='called', user='bo', scopes=('write',))}"}
    with httpx2.Client(base_url=server.url, headers=bearer) as http:
        for name in ("Captain Ahab", "Nobody"):
            said = {"messages": [{"role": "user", "content": "Hello", "metadata": {"name": name}}]}
            assert http.post("/v1/conversations/bos/messages", json=said).status_code == 403
            assert http.post("/v1/users/bo/names", json={"name": name}).status_code == 403
    with httpx2.Client(base_url=server.url, headers={"Authorization": f"Bearer {server.key(space='called')}"}) as http:
        assert http.get("/v1/who-is?name=Captain Ahab").json()["member"] == "alex"


# Every kind of command, with what an attacker says of whom, in words that rules understand.
COMMANDS: dict[str, tuple[str, ...]] = {
    "remember": (
        "remember that {} lives in Oslo",
        "remember that {} is not allergic to peanuts",
        "remember this about {}",
    ),
    "forget": ("forget that {} is allergic to peanuts", "forget what {} said about the vault"),
    "ask": ("what do you know about {}?", "what do you know about @{}?"),
}


@pytest.mark.checklist("F14")
def test_every_kind_of_command_is_in_the_walk() -> None:
    assert set(COMMANDS) == set(get_args(CommandKind))


@pytest.mark.parametrize("kind", COMMANDS)
@pytest.mark.checklist("F14")
def test_a_command_of_a_users_key_reaches_nobody_else(server: Serving, kind: str) -> None:
    """By name, mention or id, in a chat of one's own: whoever it is, the answer is that of somebody unknown, and what
    is known of alex stays as it is."""
    before = state_of(server)
    bearer = {"Authorization": f"Bearer {server.key(space='theirs', user='bo', scopes=('read', 'write'))}"}
    with httpx2.Client(base_url=server.url, headers=bearer) as http:
        for said in COMMANDS[kind]:
            answers = [
                http.post("/v1/conversations/bos/command", json={"text": f"Bot, {said.format(who)}"})
                for who in ("alex", "Alex", "zebulon")
            ]
            assert [answer.status_code for answer in answers] == [200, 200, 200]
            assert [answer.json() for answer in answers] == [None, None, None], said
            for author in ({"author": "alex"}, {"user": "alex"}):
                refused = http.post("/v1/conversations/bos/command", json={"text": f"Bot, {said}", **author})
                assert refused.status_code == 403
    assert state_of(server) == before


@pytest.mark.parametrize("kind", COMMANDS)
@pytest.mark.checklist("F14")
def test_a_command_in_a_channel_shows_and_changes_nothing_told_elsewhere(server: Serving, kind: str) -> None:
    """A member of a channel, of whom the program says who they are."""
    before = state_of(server)
    with httpx2.Client(base_url=server.url, headers={"Authorization": f"Bearer {server.key(space='theirs')}"}) as http:
        for said in COMMANDS[kind]:
            for who in ("alex", "zebulon"):
                body = {"text": f"Bot, {said.format(who)}", "author": "bo"}
                answer = http.post(f"/v1/conversations/channel-{kind}/command", json=body)
                assert (answer.status_code, answer.json()) == (200, None), (said, who)
    assert state_of(server) == before


@pytest.mark.checklist("F14")
def test_what_others_told_of_a_user_in_private_is_not_for_that_users_key(server: Serving) -> None:
    """Facts, their history and sources, the profile, and what `forget` takes out."""
    space = "gossip"
    with httpx2.Client(base_url=server.url, headers={"Authorization": f"Bearer {server.key(space=space)}"}) as http:
        claim = {"text": "Cleo lives in Quuxberg and likes zimmers", "speaker": "ann"}
        assert http.post("/v1/users/cleo/remember", json=claim).status_code == 200
        assert http.post("/v1/users/cleo/remember", json={"text": "I play chess"}).status_code == 200
        (fact,) = [one for one in http.get("/v1/users/cleo/facts").json()["items"] if one["value"] == "Quuxberg"]
    with httpx2.Client(
        base_url=server.url, headers={"Authorization": f"Bearer {server.key(space=space, user='cleo')}"}
    ) as http:
        for asked_for in ("facts", "fact-history?key=location", f"facts/{fact['id']}/why", "profile?wait=0", "export"):
            answer = http.get(f"/v1/users/cleo/{asked_for}").text
            assert "Quuxberg" not in answer
            assert "zimmers" not in answer
        assert http.get(f"/v1/users/cleo/facts/{fact['id']}/why").status_code == 404
        for what in ("where I live", "Cleo likes zimmers", "Quuxberg"):
            gone = http.post("/v1/users/cleo/forget", json={"what": what}).json()
            assert (gone["found"], gone["facts"], gone["statements"]) == (False, [], [])
    with httpx2.Client(base_url=server.url, headers={"Authorization": f"Bearer {server.key(space=space)}"}) as http:
        assert "Quuxberg" in http.get("/v1/users/cleo/facts").text


@pytest.mark.checklist("F14")
def test_a_users_key_does_not_say_how_others_see_the_user(server: Serving) -> None:
    """A display name and a mention are the platform's: with another's, one would speak as that person."""
    bearer = {"Authorization": f"Bearer {server.key(space='names', user='bo', scopes=('read', 'write', 'admin'))}"}
    with httpx2.Client(base_url=server.url, headers=bearer) as http:
        answers = {
            kind: http.post("/v1/users/bo/names", json={"name": "alex", "kind": kind}).status_code
            for kind in ("display", "mention", "nickname", "alias")
        }
    assert answers == {"display": 403, "mention": 403, "nickname": 200, "alias": 200}


@pytest.mark.checklist("F14")
def test_a_users_key_brings_back_what_that_user_had_forgotten(server: Serving) -> None:
    """What somebody else told of the user and took back is, under whatever id, not there."""
    space = "undone"
    with httpx2.Client(base_url=server.url, headers={"Authorization": f"Bearer {server.key(space=space)}"}) as http:
        for say in ("remember", "forget"):
            asked_for = {"text": "Cleo likes zimmers"} if say == "remember" else {"what": "Cleo likes zimmers"}
            answer = http.post(f"/v1/users/cleo/{say}", json={**asked_for, "speaker": "ann"}).json()
        (taken_back,) = answer["statements"]
    with httpx2.Client(
        base_url=server.url, headers={"Authorization": f"Bearer {server.key(space=space, user='cleo')}"}
    ) as http:
        assert http.post("/v1/users/cleo/remember", json={"text": "I play chess"}).status_code == 200
        own = http.post("/v1/users/cleo/forget", json={"what": "plays chess"}).json()
        answers = [http.post("/v1/users/cleo/undo", json={"id": id}) for id in (taken_back["retired_by"], "nothing")]
        assert [answer.status_code for answer in answers] == [404, 404]
        assert answers[0].text.replace(taken_back["retired_by"], "nothing") == answers[1].text
        assert "chess" in http.post("/v1/users/cleo/undo", json={"id": own["id"]}).text


@pytest.mark.checklist("F14")
def test_where_channels_are_open_to_all_a_users_key_reads_no_chat_of_another(tmp_path: Path) -> None:
    """The sources of a fact that was said before many and in private."""
    with Serving(str(tmp_path / "memory.db"), auth=True, share_channels=True) as running:
        bearer = {"Authorization": f"Bearer {running.key(space='open')}"}
        with httpx2.Client(base_url=running.url, headers=bearer) as http:
            for id, owner, said in (
                ("general", None, "Bot, remember that cleo likes tea"),
                ("general", None, "Bot, remember that cleo likes quinces"),
                ("anns", "ann", "Bot, remember that cleo likes quinces"),
            ):
                hello = {"messages": [{"role": "user", "content": "Hello!", "author": "cleo"}]}
                if owner is None:
                    assert http.post(f"/v1/conversations/{id}/messages", json=hello).status_code == 200
                command = {"text": said, "author": "ann", "user": owner}
                assert http.post(f"/v1/conversations/{id}/command", json=command).json() is not None
            assert http.post("/v1/settle", json={}).status_code == 200
        bearer = {"Authorization": f"Bearer {running.key(space='open', user='cleo')}"}
        with httpx2.Client(base_url=running.url, headers=bearer) as http:
            facts = http.get("/v1/users/cleo/facts").json()["items"]
            assert {fact["value"] for fact in facts} == {"tea", "quinces"}
            sources = [
                message for fact in facts for message in http.get(f"/v1/users/cleo/facts/{fact['id']}/why").json()
            ]
            assert {message["conversation"] for message in sources} == {"general"}
