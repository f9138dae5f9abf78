"""Facts by id, changes of facts and questions over HTTP: rights, errors, and what nobody else sees."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from fact_talks import entry

from everword import Client, Memory
from everword.testing import ScriptedLLM
from everword.testing.serving import Serving

Headers = dict[str, str]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    address = str(tmp_path_factory.mktemp("facts") / "memory.db")
    refuse_facts(address)
    with Serving(address, auth=True) as running:
        yield running


def refuse_facts(address: str) -> None:
    """A model finds an island in the lines of two people that neither of them names."""
    island = [entry("identity", "location", "Atlantis") | {"line": line} for line in (1, 2)]
    model = ScriptedLLM(default=json.dumps({"facts": island}))
    with Memory(address, memory=model, followers=False) as memory:
        chat = memory.conversation("boats", user="gus")
        chat.add("user", "I bought a red canoe in Bergen.")
        chat.add("user", "I sold my kayak in Malmö.", author="hal")
        memory.settle()


@pytest.fixture
def http(server: Serving) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=server.url, headers=bearer(server.key())) as client:
        yield client


def bearer(key: str) -> Headers:
    return {"Authorization": f"Bearer {key}"}


def add(http: httpx2.Client, user: str, key: str, value: str, **more: Any) -> Any:
    body = {"category": "identity", "key": key, "value": value} | more
    answer = http.post(f"/v1/users/{user}/facts", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_fact_is_added_shown_edited_deleted_and_brought_back(http: httpx2.Client) -> None:
    added = add(http, "ann", "city", "Utrecht", valid_from="2025-02-01")
    path = f"/v1/users/ann/facts/{added['fact']['id']}"
    assert http.get(path).json() == added["fact"]
    edited = http.patch(path, json={"value": "Delft"}).json()
    assert (edited["kind"], edited["fact"]["value"], edited["retired"][0]["value"]) == ("edit", "Delft", "Utrecht")
    assert [fact["value"] for fact in http.get("/v1/users/ann/fact-history?key=city").json()] == ["Utrecht", "Delft"]
    deleted = http.delete(f"/v1/users/ann/facts/{edited['fact']['id']}").json()
    assert (deleted["kind"], deleted["fact"]) == ("delete", None)
    assert http.get("/v1/users/ann/facts").json()["items"] == []
    back = http.post("/v1/users/ann/undo", json={"id": deleted["id"]}).json()
    assert [fact["value"] for fact in back["facts"]] == ["Delft"]
    assert http.post("/v1/rebuild", json={"view": "facts"}).status_code in (200, 403)
    assert [fact["value"] for fact in http.get("/v1/users/ann/facts?query=city").json()["items"]] == ["Delft"]


def test_a_repeated_request_changes_once(http: httpx2.Client) -> None:
    body = {"category": "possession", "key": "bike", "value": "a blue bike"}
    once = {"Idempotency-Key": "add-bike-1"}
    answers = [http.post("/v1/users/rob/facts", json=body, headers=once).json() for _ in range(2)]
    assert answers[0] == answers[1]
    assert len(http.get("/v1/users/rob/fact-history?key=bike").json()) == 1


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "facts/f0", None, 404, "not_found"),
        ("PATCH", "facts/f0", {"value": "x"}, 404, "not_found"),
        ("DELETE", "facts/f0", None, 404, "not_found"),
        ("PATCH", "facts/f0", {"value": ""}, 422, "invalid"),
        ("PATCH", "facts/f0", {"worth": "x"}, 422, "invalid"),
        ("POST", "facts", {"category": "gossip", "key": "k", "value": "v"}, 422, "invalid"),
        ("POST", "facts", {"category": "identity", "key": " ", "value": "v"}, 422, "invalid"),
        ("POST", "facts", {"category": "identity", "key": "k", "value": "v" * 201}, 422, "invalid"),
        ("POST", "ask", {"question": " "}, 422, "invalid"),
        ("POST", "ask", {"question": "What?", "conversation": "no such"}, 404, "not_found"),
    ],
)
def test_what_is_wrong_is_said(
    http: httpx2.Client, method: str, path: str, body: dict[str, str] | None, status: int, code: str
) -> None:
    answer = http.request(method, f"/v1/users/eve/{path}", json=body)
    assert (answer.status_code, answer.json()["status"]) == (status, status)
    assert code in answer.json()["code"]


def test_a_key_of_one_user_changes_and_sees_only_what_is_theirs(server: Serving, http: httpx2.Client) -> None:
    claim = add(http, "cleo", "employer", "Quuxworks", speaker="bob")["fact"]  # in private: not for cleo
    own = add(http, "cleo", "city", "Graz")["fact"]
    theirs = add(http, "dan", "city", "Linz")["fact"]
    with httpx2.Client(base_url=server.url, headers=bearer(server.key(user="cleo"))) as cleo:
        assert cleo.get(f"/v1/users/cleo/facts/{own['id']}").json() == own
        for method, body in (("GET", None), ("PATCH", {"value": "x"}), ("DELETE", None)):
            hidden = cleo.request(method, f"/v1/users/cleo/facts/{claim['id']}", json=body)
            missing = cleo.request(method, "/v1/users/cleo/facts/f0", json=body)
            assert (hidden.status_code, missing.status_code) == (404, 404)
            assert "Quuxworks" not in hidden.text
            assert cleo.request(method, f"/v1/users/dan/facts/{theirs['id']}", json=body).status_code == 403
        speaking = {"value": "x", "speaker": "bob"}
        assert cleo.patch(f"/v1/users/cleo/facts/{own['id']}", json=speaking).status_code == 403
        assert cleo.delete(f"/v1/users/cleo/facts/{own['id']}?speaker=bob").status_code == 403
        assert cleo.post("/v1/users/dan/ask", json={"question": "Where does dan live?"}).status_code == 403
        answer = cleo.post("/v1/users/cleo/ask", json={"question": "Where does cleo work and live?"})
        assert "Graz" in answer.text
        assert "Quuxworks" not in answer.text
        found = cleo.post("/v1/search", json={"query": "Quuxworks Linz Graz", "kinds": ["fact", "message"]})
        assert "Graz" in found.text
        assert not {"Quuxworks", "Linz"} & {word for hit in found.json() for word in hit["message"]["content"].split()}
        assert {hit["fact"]["value"] for hit in found.json() if hit["kind"] == "fact"} == {"Graz"}
        change = http.patch(f"/v1/users/cleo/facts/{own['id']}", json={"value": "Wels"}).json()
        assert cleo.post("/v1/users/dan/undo", json={"id": change["id"]}).status_code == 403
    reader = bearer(server.key(scopes=["read"]))
    refused = [
        http.post("/v1/users/dan/facts", json={"category": "other", "key": "k", "value": "v"}, headers=reader),
        http.patch(f"/v1/users/dan/facts/{theirs['id']}", json={"value": "v"}, headers=reader),
        http.delete(f"/v1/users/dan/facts/{theirs['id']}", headers=reader),
    ]
    assert [answer.status_code for answer in refused] == [403, 403, 403]


def test_what_was_refused_is_shown_with_its_reason_and_to_nobody_else(http: httpx2.Client, server: Serving) -> None:
    refused = http.get("/v1/users/gus/refused-facts").json()
    assert {(fact["value"], fact["kind"], fact["speaker"]) for fact in refused} == {
        ("Atlantis", "not_said", "gus"),
        ("Atlantis", "not_said", "hal"),
    }
    assert refused[0]["reason"] == "no line says 'Atlantis'"
    with Client(server.url, server.key()) as memory:
        assert [fact.message for fact in memory.refused_facts(user="gus")] == [fact["message"] for fact in refused]
    with httpx2.Client(base_url=server.url, headers=bearer(server.key(user="gus"))) as gus:
        assert [fact["speaker"] for fact in gus.get("/v1/users/gus/refused-facts").json()] == ["gus"]
        assert gus.get("/v1/users/hal/refused-facts").status_code == 403
    assert http.get("/v1/users/hal/refused-facts").json() == []


def test_a_client_does_the_same(server: Serving) -> None:
    with Client(server.url, server.key()) as memory:
        change = memory.add_fact("preference", "likes", "kites", user="fay")
        assert change.fact is not None
        assert memory.fact(change.fact.id, user="fay") == change.fact
        edited = memory.edit_fact(change.fact.id, "gliders", user="fay")
        assert edited.fact is not None
        assert [fact.value for fact in edited.retired] == ["kites"]
        answer = memory.ask("What does fay like?", user="fay")
        assert (answer.known, answer.made_by) == (True, "offline")
        assert edited.fact in answer.facts
        assert memory.facts(user="fay", query="gliders")[0] == edited.fact
        (hit,) = memory.search("gliders", user="fay", kinds=("fact",))
        assert (hit.kind, hit.fact) == ("fact", edited.fact)
        assert memory.delete_fact(edited.fact.id, user="fay").fact is None
        assert memory.undo(change.id, user="fay").facts == ()
        assert memory.facts(user="fay") == []
