"""The API keeps to its own description: thousands of requests made from it, and no answer that it does not foresee."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from requests import Session
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from recollect.testing import ScriptedLLM
from recollect.testing.serving import Serving

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
TIMES = int(os.environ.get("RECOLLECT_TEST_SCHEMA", "1"))  # so many times as much, for a longer look
EACH = {GenerationMode.POSITIVE: 8 * TIMES, GenerationMode.NEGATIVE: 3 * TIMES}  # for each route, what is asked
LEAST = 2_000  # requests in all: each is made as callers of several rights


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder: Path = tmp_path_factory.mktemp("schema")
    store = str(folder / "memory.db")
    with Serving(store, auth=True, chat=ScriptedLLM(default="So be it."), followers=False) as running:
        yield running


def operations(server: Serving) -> Iterator[Any]:
    description = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
    for found in description.get_all_operations():
        assert isinstance(found, Ok)
        yield found.ok()


def asked(operation: Any, mode: GenerationMode, session: Session, callers: Sequence[str]) -> list[int]:
    """Ask so often, for what the description allows or for what it does not; every answer is as it says."""
    statuses: list[int] = []

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(max_examples=EACH[mode], phases=(Phase.generate,), suppress_health_check=list(HealthCheck))
    def ask(case: Any) -> None:
        for key in callers:
            headers = {"Authorization": f"Bearer {key}"}
            statuses.append(case.call_and_validate(checks=CHECKS, session=session, headers=headers).status_code)

    with suppress(Unsatisfiable):  # a route that takes nothing cannot be asked wrongly
        ask()
    return statuses


def test_whatever_is_asked_is_answered_as_the_description_says(server: Serving) -> None:
    everything = server.key(space=(), scopes=("read", "write", "admin"))
    callers = [everything, server.key(user="alex", scopes=("read", "write", "admin")), server.key(scopes=("read",))]
    callers.append(server.key(space="elsewhere", scopes=("write",), body=100))
    with Session() as session:
        statuses = [
            status for one in operations(server) for mode in EACH for status in asked(one, mode, session, callers)
        ]
    assert len(statuses) >= LEAST
    assert sum(status < 400 for status in statuses) > len(statuses) / 10
    assert server.run(server.memory.verify()).ok
