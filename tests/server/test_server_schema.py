"""The API keeps to its own description: a thousand requests made from it, and no answer that it does not foresee.

Most are its edges, gone through one by one: each length, number, type, header and method just inside what is described
and just outside. The rest are made up at random from the same description. `make test-all` makes four times as many.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
import sample_sizes
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from requests import PreparedRequest, Session
from sample_sizes import sample
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from everword.testing import ScriptedLLM
from everword.testing.serving import Serving

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
TIMES = int(os.environ.get("EVERWORD_TEST_SCHEMA", "1"))  # so many times as much, for a longer look
# For each route, of what the description allows and of what it does not.
EDGES = dict.fromkeys(GenerationMode, (36 if sample_sizes.is_whole else 7) * TIMES)  # at most
RANDOM = 1 * TIMES  # of the one or the other, in turn
SIXTH = 6  # in `make test` only each sixth route has random ones: to make one up takes as long as ten edges
LEAST = sample(4_000)  # requests of which no two are the same, whoever makes them
PATIENCE = 120.0  # seconds
ONCE = "Idempotency-Key"
OF_THE_CALLER = {"authorization", "x-schemathesis-testcaseid", ONCE.lower()}  # headers that make no other request of it


class Asking:
    """Makes each request as one of several callers in turn, and holds its answer against the description."""

    def __init__(self, server: Serving, session: Session) -> None:
        rights = ("read", "write", "admin")
        everything, own = server.key(space=(), scopes=rights), server.key(user="alex", scopes=rights)
        reading = server.key(scopes=("read",))
        elsewhere = server.key(space="elsewhere", scopes=("read", "write"), body=100)
        # What is allowed is mostly asked by whoever may, so that it is mostly done.
        few, many = [own, reading, elsewhere], [everything] * 7
        self._keys = {
            GenerationMode.POSITIVE: cycle([key for one in few for key in (*many, one)]),
            GenerationMode.NEGATIVE: cycle([everything, *few]),
        }
        self._session = session
        self._once = set[str | None]()
        self.seen = set[Any]()
        self.statuses: list[int] = []

    def ask(self, case: Any) -> None:
        mode = case.meta.generation.mode
        headers = {"Authorization": f"Bearer {next(self._keys[mode])}"}
        once = (case.headers or {}).get(ONCE)
        if mode is GenerationMode.POSITIVE and once is not None and once in self._once:
            # The same key for another request is refused before anything is done: this one is to be done.
            headers[ONCE] = f"request {len(self.statuses)}"
        self._once.add(once)
        answer = case.call_and_validate(checks=CHECKS, session=self._session, headers=headers, timeout=PATIENCE)
        self.seen.add((identity(answer.request), once))
        self.statuses.append(answer.status_code)


def identity(request: PreparedRequest) -> Any:
    """All of a request but who makes it."""
    headers = {name.lower(): value for name, value in request.headers.items() if name.lower() not in OF_THE_CALLER}
    return request.method, request.url, frozenset(headers.items()), request.body


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder: Path = tmp_path_factory.mktemp("schema")
    store = str(folder / "memory.db")
    with Serving(store, auth=True, chat=ScriptedLLM(default="So be it."), followers=False) as running:
        yield running


def operations(server: Serving) -> list[Any]:
    """Every route; the one that waits for all views first, while there is nothing in them."""
    description = schemathesis.openapi.from_url(f"{server.url}/openapi.json", timeout=PATIENCE)
    found = []
    for one in description.get_all_operations():
        assert isinstance(one, Ok)
        found.append(one.ok())
    return sorted(found, key=lambda operation: not operation.path.endswith("/settle"))


def edges(operation: Any) -> Iterator[Any]:
    """What the description allows only just, and what only just not: evenly chosen, if there is more than enough."""
    made = operation.schema.iter_coverage_cases(
        operation,
        generation_modes=list(GenerationMode),
        generation_config=operation.schema.config.generation_for(operation=operation),
    )
    every = list(made)
    for mode, most in EDGES.items():
        alike = [case for case in every if case.meta.generation.mode == mode]
        chosen = min(len(alike), most)
        yield from (alike[place * len(alike) // chosen] for place in range(chosen))


def at_random(operation: Any, mode: GenerationMode, ask: Callable[[Any], None]) -> None:
    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(max_examples=RANDOM, phases=(Phase.generate,), suppress_health_check=list(HealthCheck))
    def asked(case: Any) -> None:
        ask(case)

    with suppress(Unsatisfiable):  # a route that takes nothing cannot be asked wrongly
        asked()


def test_whatever_is_asked_is_answered_as_the_description_says(server: Serving) -> None:
    with Session() as session:
        session.trust_env = False
        asking = Asking(server, session)
        for number, (operation, mode) in enumerate(zip(operations(server), cycle(GenerationMode), strict=False)):
            for case in edges(operation):
                asking.ask(case)
            if sample_sizes.is_whole or number % SIXTH == 0:
                at_random(operation, mode, asking.ask)
    assert len(asking.seen) >= LEAST
    assert sum(status < 400 for status in asking.statuses) > len(asking.statuses) / 10
    assert server.run(server.memory.verify()).ok
