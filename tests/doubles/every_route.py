"""Every route, page and tool that a server has, with what to send: for the tests that walk through all of them.

A test compares these tables with the application. So one that is added and not named here fails: whoever adds it says
what it is. What is sent asks about a vault, and names the platform's id of a message that may be there already.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

TALK = "/v1/conversations/{id}"
# Open to everybody: how the server is, and what it can do.
PUBLIC = {"GET /healthz", "GET /readyz", "GET /openapi.json"}
# About the process or all spaces: not for a key of one space with the rights to read and write.
PROCESS = {"GET /metrics", "GET /v1/verify"}
# Not about a space at all, with what to send.
NOWHERE: dict[str, Any] = {
    "GET /v1/models": None,
    "GET /v1/models/{name}": None,
    "POST /v1/embeddings": {"input": "vault"},
    "POST /anthropic/v1/messages/count_tokens": {"messages": [{"role": "user", "content": "vault?"}]},
}
# Everything else, with what to send: the path and the query, the body.
OF_A_SPACE: dict[str, Any] = {
    "GET /v1/space": None,
    "GET /v1/conversations": None,
    f"GET {TALK}": None,
    f"POST {TALK}/messages": {"messages": [{"role": "user", "content": "hello", "platform_id": "p1"}]},
    "POST /v1/messages": {
        "batches": [{"conversation": "c", "messages": [{"role": "user", "content": "hello", "platform_id": "p1"}]}]
    },
    f"GET {TALK}/messages": None,
    f"GET {TALK}/context?text=vault": None,
    f"POST {TALK}/context": {"text": "vault"},
    f"POST {TALK}/reply": {"text": "when does the vault open?"},
    f"POST {TALK}/command": {"text": "Everword, what do you know about me?"},
    f"POST {TALK}/standalone": {"question": "and then?"},
    f"GET {TALK}/episodes": None,
    f"GET {TALK}/archived": None,
    f"POST {TALK}/archive": {},
    f"GET {TALK}/topics": None,
    f"POST {TALK}/topics": {"role": "user", "text": "hello"},
    f"GET {TALK}/topic-search?query=vault": None,
    f"GET {TALK}/topics/{{topic}}/context": None,
    f"GET {TALK}/topics/{{topic}}/messages": None,
    f"GET {TALK}/topics/{{topic}}/stats": None,
    f"POST {TALK}/topics/{{topic}}/merge": {"other": "t2"},
    f"POST {TALK}/topics/{{topic}}/unmerge": {},
    f"POST {TALK}/topics/{{topic}}/split": {"turns": [2]},
    f"POST {TALK}/topics/{{topic}}/tags": {"tags": ["mine"]},
    f"POST {TALK}/topics/{{topic}}/feedback": {"score": 1},
    "GET /v1/users/{id}/facts": None,
    "GET /v1/users/{id}/facts/{fact}": None,
    "POST /v1/users/{id}/facts": {"category": "identity", "key": "city", "value": "Vaultville"},
    "PATCH /v1/users/{id}/facts/{fact}": {"value": "Vaultville"},
    "DELETE /v1/users/{id}/facts/{fact}": None,
    "POST /v1/users/{id}/ask": {"question": "When does the vault open?"},
    "GET /v1/users/{id}/fact-history?key=name": None,
    "GET /v1/users/{id}/refused-facts": None,
    "GET /v1/users/{id}/facts/{fact}/why": None,
    "GET /v1/users/{id}/profile?wait=0": None,
    "POST /v1/users/{id}/remember": {"text": "Alex plays chess"},
    "POST /v1/users/{id}/forget": {"what": "vault"},
    "POST /v1/users/{id}/undo": {"id": "x"},
    "POST /v1/users/{id}/names": {"name": "Al"},
    "DELETE /v1/users/{id}/names/{name}": None,
    "GET /v1/people": None,
    "GET /v1/who-is?name=alex": None,
    "GET /v1/users/{id}/export": None,
    "GET /v1/export": None,
    "POST /v1/users/{id}/erase": None,
    f"DELETE {TALK}/messages/{{message}}": None,
    f"PATCH {TALK}/messages/{{message}}": {"text": "The vault is mine"},
    f"POST {TALK}/move": {"to": "renamed"},
    "POST /v1/users/{id}/merge": {"into": "kim"},
    "POST /v1/moves/{id}/undo": {},
    f"DELETE {TALK}": None,
    "POST /v1/delete": {"query": "vault"},
    "GET /v1/audit": None,
    "POST /v1/search": {"query": "vault"},
    "GET /v1/spaces/{id}/digests?wait=0": None,
    "PUT /v1/spaces/{id}/time-zone": {"name": "UTC"},
    "GET /v1/spaces/{id}/documents?namespace=notes": None,
    "GET /v1/spaces/{id}/documents/{key}?namespace=notes": None,
    "PUT /v1/spaces/{id}/documents/{key}?namespace=notes": {"value": {"text": "mine"}},
    "DELETE /v1/spaces/{id}/documents/{key}?namespace=notes": None,
    "POST /v1/spaces/{id}/documents": {"changes": [{"namespace": ["notes"], "key": "k", "value": None}]},
    "POST /v1/spaces/{id}/document-search": {"query": "vault"},
    "GET /v1/spaces/{id}/namespaces": None,
    "GET /v1/stats": None,
    "POST /v1/settle": {},
    "POST /v1/rebuild": {"view": "facts"},
    "POST /v1/retry": {"view": "facts"},
    "POST /v1/retain": {},
    "POST /v1/redact": {},
    "POST /v1/chat/completions": {"model": "scripted", "messages": [{"role": "user", "content": "vault?"}]},
    "POST /v1/responses": {"model": "scripted", "input": "vault?"},
    "GET /v1/responses/{id}": None,
    "DELETE /v1/responses/{id}": None,
    "GET /anthropic/v1/models": None,
    "GET /anthropic/v1/models/{name}": None,
    "POST /anthropic/v1/messages": {
        "model": "scripted",
        "max_tokens": 99,
        "messages": [{"role": "user", "content": "vault?"}],
    },
}
MOUNTED = {"POST /mcp"}  # what is behind it, its own tests walk
FILLED = {"{key}": "k", "{message}": "m1", "{topic}": "t1", "{fact}": "f1", "{name}": "scripted"}

# -- the dashboard

OPEN_PAGES = {"GET /web/sign-in", "POST /web/sign-in", "GET /web/static/{name}", "GET /docs"}
# What to ask of each page: parameters.
GETS: dict[str, dict[str, str]] = {
    "/": {},
    "/web/overview/live": {},
    "/web/find": {"query": "vault"},
    "/web/spaces": {},
    "/web/conversations": {"query": "vault"},
    "/web/conversation": {"id": "chat"},
    "/web/conversation/messages": {"id": "chat"},
    "/web/conversation/export": {"id": "chat"},
    "/web/message": {"conversation": "chat", "turn": "1"},
    "/web/context": {"conversation": "chat", "text": "when does the vault open?", "other": "500"},
    "/web/playground": {"conversation": "chat", "text": "when does the vault open?"},
    "/web/replies": {"conversation": "chat"},
    "/web/reply": {"conversation": "chat", "turn": "3"},
    "/web/search": {"query": "vault", "facts": "on", "conversation": "chat", "turn": "1"},
    "/web/people": {},
    "/web/person": {"id": "alex"},
    "/web/person/refused": {"id": "alex"},
    "/web/person/digests": {"id": "alex"},
    "/web/fact": {"user": "alex", "id": "{fact}"},
    "/web/topics": {"conversation": "chat"},
    "/web/topic": {"conversation": "chat", "id": "t1"},
    "/web/episodes": {"conversation": "chat"},
    "/web/episode": {"conversation": "chat", "level": "1", "first": "1"},
    "/web/episode/parts": {"conversation": "chat", "level": "1", "first": "1"},
    "/web/import": {},
    "/web/import/file": {"id": "0" * 32},
    "/web/import/progress": {"id": "0" * 32},
    "/web/integrity": {},
    "/web/erase": {"user": "alex"},
    "/web/keys": {},
    "/web/settings": {},
}
# What to send with each form.
POSTS: dict[str, dict[str, str]] = {
    "/web/sign-out": {},
    "/web/message/edit": {"conversation": "chat", "turn": "1", "text": "nothing"},
    "/web/message/preview": {"conversation": "chat", "turn": "1"},
    "/web/message/delete": {"conversation": "chat", "turn": "1"},
    "/web/person/remember": {"user": "alex", "text": "Alex plays chess"},
    "/web/person/forget": {"user": "alex", "text": "vault"},
    "/web/person/facts": {"user": "alex", "fact_{fact}": "1", "shown_{fact}": "1", "do": "delete"},
    "/web/person/undo": {"user": "alex", "id": "x"},
    "/web/fact/add": {"user": "alex", "category": "identity", "key": "city", "value": "Oslo"},
    "/web/fact/edit": {"user": "alex", "id": "{fact}", "value": "Oslo"},
    "/web/fact/delete": {"user": "alex", "id": "{fact}"},
    "/web/topic/merge": {"conversation": "chat", "id": "t1", "other": "t2"},
    "/web/topic/unmerge": {"conversation": "chat", "id": "t1", "other": "t2"},
    "/web/topic/split": {"conversation": "chat", "id": "t1", "turn": "2"},
    "/web/topic/tag": {"conversation": "chat", "id": "t1", "tag": "mine"},
    "/web/topic/feedback": {"conversation": "chat", "id": "t1", "score": "1"},
    "/web/playground/send": {"conversation": "chat", "text": "when does the vault open?"},
    "/web/import": {},
    "/web/import/start": {"id": "0" * 32},
    "/web/import/drop": {"id": "0" * 32},
    "/web/integrity/verify": {},
    "/web/erase": {"user": "alex", "confirm": "erase"},
    "/web/keys/create": {"name": "mine", "scope_read": "yes"},
    "/web/keys/revoke": {"id": "0123456789abcdef"},
}

# -- MCP: tools and their arguments, and resources

TOOLS: dict[str, dict[str, Any]] = {
    "remember": {"text": "Alex plays chess"},
    "search_memory": {"query": "vault"},
    "get_context": {"text": "when does the vault open?", "conversation": "chat"},
    "get_facts": {},
    "ask_memory": {"question": "When does the vault open?"},
    "get_refused_facts": {},
    "add_messages": {"conversation": "chat", "messages": [{"role": "user", "content": "hello", "id": "p1"}]},
    "add_fact": {"category": "identity", "key": "city", "value": "Vaultville"},
    "edit_fact": {"fact": "{fact}", "value": "Vaultville"},
    "delete_fact": {"fact": "{fact}"},
    "forget": {"what": "vault"},
    "undo": {"id": "x"},
    "edit_message": {"conversation": "chat", "message": "p1", "text": "The vault is mine"},
}
RESOURCES = (
    "everword://profile{?user}",
    "everword://conversations{?after}",
    "everword://conversations/{id}",
    "everword://today{?user}",
)


def routes_of(app: FastAPI) -> Iterator[str]:
    for route in iter_route_contexts(app.routes):
        path = route.path_format
        assert path is not None, f"{route} is no route that can be walked"
        for method in sorted((route.methods or {"ANY"}) - {"HEAD", "OPTIONS"}):
            yield f"{method} {path}"
