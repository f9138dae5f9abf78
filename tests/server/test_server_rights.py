"""Rights by scope and answer (G7): every operation of every face, by every kind of key, and what its answer tells.

Each caller gets a space of its own, in which words are planted that nobody can say by chance: those of alex, of bo, and
of a channel in which only cleo and bo have spoken; and the words of another space. The walk calls every REST route,
OpenAI's routes, every tool and resource of MCP and every page with arguments that find these words, and looks for them
in the whole answer. The model repeats whatever it was sent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count
from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest
import sample_sizes
from every_route import (
    FILLED,
    GETS,
    MOUNTED,
    NOWHERE,
    OF_A_SPACE,
    OPEN_PAGES,
    POSTS,
    PROCESS,
    PUBLIC,
    RESOURCES,
    TOOLS,
    routes_of,
)

from everword.log.operation_declarations import OPERATIONS, RIGHTS
from everword.model import Draft
from everword.ports import Request
from everword.server.keys import COOKIE, TABLE, Sessions, create_key, is_page, load_session_secret, rows_of
from everword.server.routes.health import checked_operations
from everword.testing import ScriptedLLM
from everword.testing.serving import Serving

WORDS = {"alex": "quokkahaven", "bo": "numbatville", "channel": "bilbyburgh", "elsewhere": "wombatstead"}
ELSEWHERE = "another space"
SESSION_ROUTES = {"POST /web/sign-out"}  # for whoever has a session, whatever their rights
TOOL_OPERATIONS = {
    "search_memory": "search",
    "get_context": "context",
    "get_facts": "facts",
    "ask_memory": "ask",
    "get_refused_facts": "refused_facts",
}
# What removes is called last, in this order, so that there is something to be told until then.
LATE = (
    "/message/edit",  # and with it its topic, until the views are settled
    "/forget",
    "DELETE /v1/users",
    "DELETE /v1/spaces",
    "/message/delete",
    "DELETE /v1/conversations/{id}/messages",
    "/moves/",
    "/move",
    "/users/{id}/merge",
    "/delete",
    "DELETE",
    "/rebuild",
    "/erase",
    "/keys/revoke",
)


def repeat_prompt(request: Request) -> str:
    return "I was told: " + " ".join(message["content"].replace("=", "-") for message in request.messages)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    store = str(tmp_path_factory.mktemp("rights") / "memory.db")
    with Serving(store, auth=True, chat=ScriptedLLM(default=repeat_prompt), followers=False) as running:
        plant(running, ELSEWHERE, {"alex": WORDS["elsewhere"], "bo": WORDS["elsewhere"]}, WORDS["elsewhere"])
        yield running


def plant(
    server: Serving, space: str, words: Mapping[str, str], channel_word: str
) -> tuple[dict[str, str], dict[str, str]]:
    """Fill a space. Returns a fact of each person, and the id of something that was forgotten."""
    memory = server.memory
    facts: dict[str, str] = {}
    forgets: dict[str, str] = {}

    async def fill() -> None:
        for user, word in words.items():
            chat = memory.conversation(f"chat-{user}", user=user, space=space)
            drafts = [
                Draft("user", f"The vault opens at {word}.", platform_id="p1", metadata={"place": word}),
                Draft("assistant", f"So the vault opens at {word}.", author=f"bot {word}", platform_id="p2"),
                Draft("user", f"I am allergic to {word}.", platform_id="p3"),
            ]
            await chat.extend(drafts)
            await memory.remember(f"The vault of {user} is in {word}", user=user, space=space)
            await memory.add_fact("identity", "vault", word, user=user, space=space)
            documents = memory.documents(space=space)
            await documents.put(("notes",), f"k-{user}", {"text": f"vault {word}"}, user=user)
        room = memory.conversation("room", space=space)
        await room.extend(
            [
                Draft("user", f"The vault of all is in {channel_word}.", author="cleo", platform_id="p1"),
                Draft("user", "Hello!", author="bo"),
            ]
        )
        await memory.settle(60)
        for user in words:
            facts[user] = next(
                fact.id for fact in await memory.facts(user=user, space=space) if fact.value == words[user]
            )
            await memory.remember(f"The key of {user} is in {words[user]}", user=user, space=space)
            forgets[user] = str((await memory.forget(f"The key of {user}", user=user, space=space)).id)

    server.run(fill())
    return facts, forgets


# -- callers


@dataclass(frozen=True, slots=True)
class Caller:
    """Who walks: with which scopes, for which user, from which space; and whose memory they ask about."""

    name: str
    scopes: tuple[str, ...] = ()
    user: str | None = None
    own_space: bool = True
    has_key: bool = True

    @property
    def targets(self) -> list[tuple[str, str]]:
        """Whose memory to ask about, and which conversation: of another, of many, and one's own."""
        if self.user is not None:
            return [("alex", "chat-alex"), ("bo", "room"), ("bo", "chat-bo")]
        return [("alex", "chat-alex"), ("bo", "room")] if self.may_read() else [("alex", "chat-alex")]

    def does_ask(self, number: int, operation: str) -> bool:
        """Whether this route, page or tool is asked. In `make test`, with one right alone every second one is: of the
        two keys that have the same right, one asks what the other leaves out. Who may read asks all that tell what is
        kept."""
        if len(self.scopes) != 1 or sample_sizes.is_whole:
            return True
        if self.scopes == ("read",) and OPERATIONS[operation].tells == "memory":
            return True
        return (number + RIGHTS.index(self.scopes[0]) + bool(self.user)) % 2 == 0

    def targets_of(self, number: int, operation: str) -> list[tuple[str, str]]:
        """What of it a route is asked about. In `make test`, the key of one person asks about another's memory, and
        about the room or that person's own chat; a key of all people that reads asks about the one or the other, and
        the one with all rights also about whatever that one does not."""
        if not self.does_ask(number, operation):
            return []
        if sample_sizes.is_whole or len(self.targets) == 1:
            return self.targets
        if self.user is not None:
            another, *own = self.targets
            return [another, own[number % 2]]
        one, other = self.targets
        if self.scopes == ("read",):
            return [self.targets[number % 2]]
        return [one] if number % 2 else [one, other]

    def people_of(self, number: int, operation: str) -> list[str]:
        """Whom a tool or a page is asked about."""
        if not self.does_ask(number, operation):
            return []
        return ["alex"] if self.user is None else ["alex", "bo"]

    def may_change(self) -> bool:
        """Whether a walk of this caller may leave a space with other words than it had."""
        return self.has_key and self.own_space and not {"write", "admin"}.isdisjoint(self.scopes)

    def may_read(self) -> set[str]:
        """The planted words that this caller may be told."""
        if not self.has_key or not self.own_space or "read" not in self.scopes:
            return set()
        people = {"bo", "channel"} if self.user else {"alex", "bo", "channel"}
        return {WORDS[person] for person in people}


SETS = ((), ("read",), ("write",), ("admin",), RIGHTS)
CALLERS = [
    Caller("stranger", has_key=False),
    *(Caller(f"key with {'+'.join(scopes) or 'no scope'}", scopes) for scopes in SETS),
    *(Caller(f"bo's key with {'+'.join(scopes)}", scopes, user="bo") for scopes in SETS[1:]),
    Caller("key of a third space", RIGHTS, own_space=False),
]
FULL = Caller(f"key with {'+'.join(RIGHTS)}", RIGHTS)
# What even that key does not do: it is about all spaces, or about a topic, an episode or a move that there is not, or
# about what an operation before it took away.
MISSED = {
    *("GET /v1/verify", "POST /web/integrity/verify", "GET /web/keys", "POST /web/keys/create"),
    *("POST /web/keys/revoke", "GET /web/settings", "POST /v1/moves/{id}/undo"),
    *(f"POST /v1/conversations/{{id}}/topics/{{topic}}/{change}" for change in ("merge", "unmerge", "split")),
    *("POST /web/topic/merge", "POST /web/topic/split", "POST /web/topic/unmerge"),
    *("GET /web/reply", "GET /web/episode", "GET /web/episode/parts"),
    *("DELETE /v1/users/{id}/facts/{fact}", "POST /web/fact/delete", "DELETE /v1/conversations/{id}"),
    *("GET /v1/responses/{id}", "DELETE /v1/responses/{id}"),
    # There is no file: test_web_work.py sends some.
    *("POST /web/import", "POST /web/import/start", "POST /web/import/drop"),
    *("GET /web/import/file", "GET /web/import/progress"),
}
_numbers = count()
Planted = tuple[str, dict[str, str], dict[str, str]]  # a space, and what `plant` tells of it


@dataclass(frozen=True, slots=True)
class Place:
    """Where a caller walks: a space with its facts, and the key."""

    server: Serving
    caller: Caller
    space: str
    facts: Mapping[str, str]
    forgets: Mapping[str, str]
    key: str

    def fill_body(self, body: Any, user: str, conversation: str) -> Any:
        """A body about a person and a conversation, which names a fact and a change that there are."""
        holes = {'"c"': f'"{conversation}"', '"chat"': f'"{conversation}"', '"alex"': f'"{user}"', "Alex": user}
        holes |= {'"{fact}"': f'"{self.facts[user]}"', '"x"': f'"{self.forgets[user]}"'}
        text = json.dumps(body)
        for hole, value in holes.items():
            text = text.replace(hole, value)
        return json.loads(text)

    @property
    def headers(self) -> dict[str, str]:
        bearer = {"Authorization": f"Bearer {self.key}"} if self.caller.has_key else {}
        return bearer | {"X-Everword-Space": self.space}

    def cookie(self) -> tuple[str, str]:
        """The cookie of a session with the key, and the token of its forms."""
        sessions = Sessions(load_session_secret(self.server.store))
        session = sessions.begin(self.key.split("_")[1], datetime.now(UTC))
        return sessions.cookie_value(session), sessions.token(session)


def plant_words(server: Serving) -> Planted:
    """A new space, with the words of all."""
    space = f"space {next(_numbers)}"
    return space, *plant(server, space, {user: WORDS[user] for user in ("alex", "bo")}, WORDS["channel"])


@pytest.fixture(scope="module")
def unchanged(server: Serving) -> Planted:
    """A space for all who may change nothing in it."""
    return plant_words(server)


def prepare(server: Serving, caller: Caller, unchanged: Planted) -> Place:
    """A space to walk in: a new one for whoever may change it."""
    space, facts, forgets = plant_words(server) if caller.may_change() else unchanged
    own = space if caller.own_space else f"{space}, not"
    key, text = create_key(
        server.store, name="walker", spaces=[own], scopes=caller.scopes or ["read"], user=caller.user
    )
    if not caller.scopes:  # which no command makes
        server.store.write(lambda tx: tx.put(TABLE, rows_of(replace(key, scopes=()))))
    return Place(server, caller, space, facts, forgets, text)


def late(operation: str) -> int:
    """How late it is called: 0 for what removes nothing."""
    return next((place for place, word in enumerate(LATE, 1) if word in operation), 0)


def fill(template: str, place: Place, user: str, conversation: str) -> str:
    """A path or a text with its holes filled."""
    owner = user if "/users/" in template else place.space if "/spaces/" in template else conversation
    holes = {"{fact}": place.facts[user], "{key}": f"k-{user}", "{message}": "p1", "{id}": owner}
    for hole, value in {**FILLED, **holes}.items():
        template = template.replace(hole, value)
    return template


Answers = Iterator[tuple[str, str, httpx2.Response]]


def walk_rest(place: Place, http: httpx2.Client) -> Answers:
    """Every route, about each person's memory: the operation, what was asked, and the answer."""
    operations = checked_operations(place.server.app)
    routes = sorted({*OF_A_SPACE, *PROCESS, *NOWHERE}, key=lambda route: (late(route), route))
    for number, route in enumerate(routes):
        method, path = route.split(" ", 1)
        body = NOWHERE.get(route, OF_A_SPACE.get(route))
        operation = operations[route.partition("?")[0]]
        for user, conversation in place.caller.targets_of(number, operation):
            sent: Any = None if body is None else place.fill_body(body, user, conversation)
            if route in ("POST /v1/chat/completions", "POST /v1/responses"):
                sent |= {"user": user}
            if route == "POST /anthropic/v1/messages":
                sent |= {"everword": {"user": user}}
            if route.endswith("/ask"):
                sent |= {"conversation": conversation}
            headers = {} if method == "GET" else {"Idempotency-Key": f"{route} {user} {conversation}"}
            for attempt in ("first", "repeated"):
                answer = http.request(method, fill(path, place, user, conversation), json=sent, headers=headers)
                yield operation, f"{attempt} {route} of {user}, {conversation}", answer
                if method == "GET" or answer.status_code != 200:
                    break


def walk_tools(place: Place, http: httpx2.Client) -> Answers:
    """Every tool and resource of MCP."""

    def call(method: str, **parameters: Any) -> httpx2.Response:
        headers = {"Accept": "application/json, text/event-stream"}
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
        return http.post("/mcp", json=message, headers=headers)

    for number, tool in enumerate(sorted(TOOLS, key=lambda tool: tool == "forget")):
        operation = TOOL_OPERATIONS.get(tool, tool)
        for user in place.caller.people_of(number, operation):
            arguments = place.fill_body(TOOLS[tool], user, f"chat-{user}") | {"user": user}
            answer = call("tools/call", name=tool, arguments=arguments)
            yield operation, f"tool {tool} of {user}", answer
    for number, operation in enumerate(("profile", "conversations", "history")):
        for user in place.caller.people_of(number, operation):
            uris = {
                "profile": f"everword://profile?user={user}",
                "conversations": "everword://conversations",
                "history": f"everword://conversations/chat-{user}",
            }
            yield operation, uris[operation], call("resources/read", uri=uris[operation])


def walk_pages(place: Place, http: httpx2.Client) -> Answers:
    """Every page and form of the dashboard, with the session of the key."""
    cookie, token = place.cookie() if place.caller.has_key else ("", "")
    operations = checked_operations(place.server.app)
    headers = {"Cookie": f"{COOKIE}={cookie}"}
    asked = [("GET", path, values) for path, values in GETS.items()]
    asked += [("POST", path, values) for path, values in POSTS.items()]
    asked.sort(key=lambda item: late(f"{item[0]} {item[1]}"))
    for number, (method, path, values) in enumerate(asked):
        if f"{method} {path}" in SESSION_ROUTES:
            continue
        operation = operations[f"{method} {path}"]
        for user in place.caller.people_of(number, operation):
            sent = place.fill_body(values, user, f"chat-{user}")
            url = f"{path}?{urlencode({'space': place.space} | (sent if method == 'GET' else {}))}"
            form = None if method == "GET" else sent | {"token": token}
            answer = http.request(method, url, data=form, headers=headers)
            yield operation, f"{method} {path} of {user}", answer


class Inside(httpx2.BaseTransport):
    """Asks the application of a server, in the server's own loop: the connection between is the same for all keys."""

    def __init__(self, server: Serving) -> None:
        self._server = server
        self._application = httpx2.ASGITransport(server.app)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        answer: httpx2.Response = self._server.run(self._ask(request))
        return answer

    async def _ask(self, request: httpx2.Request) -> httpx2.Response:
        answer = await self._application.handle_async_request(request)
        return httpx2.Response(answer.status_code, headers=answer.headers, content=await answer.aread())


def answers_of(walk: Callable[[Place, httpx2.Client], Answers], place: Place) -> Answers:
    server = place.server
    with httpx2.Client(transport=Inside(server), base_url=server.url, headers=place.headers) as http:
        yield from walk(place, http)


def is_refused_by_scope(answer: httpx2.Response) -> bool:
    return "he request needs a key with the scope" in answer.text


# -- the walk


@pytest.mark.parametrize("caller", CALLERS, ids=lambda caller: caller.name)
@pytest.mark.checklist("G7")
def test_an_answer_tells_no_more_than_the_scopes_of_the_key(
    server: Serving, unchanged: Planted, caller: Caller
) -> None:
    forbidden = {*WORDS.values()} - caller.may_read()
    learned = set[str]()
    missed = set[str]()
    place = prepare(server, caller, unchanged)
    for walk in (walk_rest, walk_tools, walk_pages):
        if caller.may_change() and walk is not walk_rest:  # what the walk before it has removed is to be there again
            place = prepare(server, caller, unchanged)
        for operation, asked, answer in answers_of(walk, place):
            assert answer.status_code < 500, f"{asked}: {answer.status_code} {answer.text}"
            text = f"{answer.text} {dict(answer.headers)}".lower()
            assert not [word for word in forbidden if word in text], f"{asked}: {text}"
            learned |= {word for word in WORDS.values() if word in text}
            if caller.has_key and caller.own_space:
                may = OPERATIONS[operation].rights <= {*caller.scopes}
                assert may != is_refused_by_scope(answer), f"{asked}: {answer.text}"
                if may and answer.status_code >= 400 and "alex" in asked:
                    missed.add(asked.removeprefix("first ").partition(" of ")[0])
    assert learned == caller.may_read()  # the words can be found: the walk would have noticed
    if caller == FULL:
        assert missed == MISSED  # all else was done: the walk would have seen what it tells


@pytest.mark.checklist("G7")
def test_the_walk_knows_every_route_page_and_tool(server: Serving) -> None:
    routes = set(routes_of(server.app))
    rest = PUBLIC | PROCESS | {*NOWHERE} | MOUNTED | {route.partition("?")[0] for route in OF_A_SPACE}
    pages = OPEN_PAGES | {f"GET {path}" for path in GETS} | {f"POST {path}" for path in POSTS}
    assert routes == rest | pages
    unchecked = PUBLIC | MOUNTED | OPEN_PAGES | SESSION_ROUTES
    operations = checked_operations(server.app)
    assert {route for route in routes if route not in operations} == unchecked
    tools = {TOOL_OPERATIONS.get(tool, tool) for tool in TOOLS}
    assert {*operations.values()} | tools == set(OPERATIONS)
    headers = {"Accept": "application/json, text/event-stream", "Authorization": f"Bearer {server.key()}"}
    with httpx2.Client(base_url=server.url, headers=headers) as http:
        lists = {
            name: http.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": name, "params": {}}).json()["result"]
            for name in ("tools/list", "resources/templates/list")
        }
    assert {tool["name"] for tool in lists["tools/list"]["tools"]} == set(TOOLS)
    templates = {one["uriTemplate"] for one in lists["resources/templates/list"]["resourceTemplates"]}
    assert templates == set(RESOURCES)


@pytest.mark.checklist("G7")
def test_the_description_says_which_scopes_a_route_needs(server: Serving) -> None:
    paths = httpx2.get(f"{server.url}/openapi.json").json()["paths"]
    for path, method, needs in (
        ("/v1/users/{id}/forget", "post", "The API key needs the scopes `read` and `write`."),
        ("/v1/conversations/{id}/messages", "post", "The API key needs the scope `write`."),
        ("/v1/chat/completions", "post", "The API key needs the scopes `read` and `write`."),
        ("/metrics", "get", "The API key needs the scope `admin`."),
    ):
        assert paths[path][method]["description"].endswith(needs)
    assert "Needs" not in paths["/healthz"]["get"]["description"]


@pytest.mark.checklist("G7")
def test_an_operation_that_tells_what_is_stored_needs_the_right_to_read() -> None:
    for operation in OPERATIONS.values():
        assert operation.right in operation.rights
        assert operation.tells != "memory" or "read" in operation.rights
    assert all(is_page(route.partition(" ")[2]) for route in OPEN_PAGES)


KNOWN = {
    "role": "assistant",
    "content": f"So it is {WORDS['alex']}, and the password is kX9!vq2LmZ",
    "author": "the old bot",
    "time": "2026-01-02T03:04:05+00:00",
    "platform_id": "known",
    "metadata": {"tag": "old tag"},
}


@pytest.mark.parametrize("path", ["/v1/conversations/c/messages", "/v1/messages"])
@pytest.mark.checklist("G7")
def test_a_write_key_learns_nothing_stored_of_a_known_message(server: Serving, path: str) -> None:
    """It is told which message it is and what became of it, in its own words; a key that reads is told what is kept."""
    space = f"space {next(_numbers)}"

    def send(scopes: tuple[str, ...], message: dict[str, Any]) -> dict[str, Any]:
        body: dict[str, Any] = {"user": "alex", "messages": [message]}
        batches = {"batches": [body | {"conversation": "c"}]}
        bearer = {"Authorization": f"Bearer {server.key(space=space, scopes=scopes)}"}
        answer = httpx2.post(server.url + path, json=body if "/c/" in path else batches, headers=bearer)
        assert answer.status_code == 200, answer.text
        added: dict[str, Any] = answer.json()[0] if "/c/" in path else answer.json()[0][0]
        return added

    first = send(("read", "write"), KNOWN)
    guess = {"role": "user", "content": "another text", "platform_id": "known"}
    blind = send(("write",), guess)
    assert (blind["kept"], blind["new"]) == ("refused", False)
    assert (blind["message"]["id"], blind["message"]["turn"]) == (first["message"]["id"], 1)
    own = {"role": "user", "content": "another text", "author": "alex", "user": "alex", "metadata": {}}
    assert own.items() <= blind["message"].items()
    assert blind["message"]["secrets"] == [], "what stands where in the stored text is for those who read"
    assert not [word for word in ("quokka", "old", "2026-01-02") if word in json.dumps(blind)]
    assert send(("read", "write"), guess)["message"] == first["message"]
    new = send(("write",), {"role": "user", "content": "new, and the password is kX9!vq2LmZ"})
    assert new["kept"] == "new"
    assert [mark["kind"] for mark in new["message"]["secrets"]] == ["password"]


@pytest.mark.checklist("G7")
def test_a_write_key_is_not_told_since_when_there_is_a_document(server: Serving) -> None:
    space = f"space {next(_numbers)}"
    url = f"{server.url}/v1/spaces/{space}/documents/k?namespace=notes"
    for scopes, is_told in ((("read", "write"), False), (("write",), False), (("read", "write"), True)):
        bearer = {"Authorization": f"Bearer {server.key(space=space, scopes=scopes)}"}
        document = httpx2.put(url, json={"value": {"text": "mine"}}, headers=bearer).json()
        assert (document["created_at"] < document["updated_at"]) == is_told
