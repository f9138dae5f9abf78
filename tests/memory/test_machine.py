"""Everything that people can do to a memory, in any order, on every kind of store: what is left is what a rebuild from
the log gives, the log is what was said, and not a word that was removed is left anywhere."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest
import sample_sizes
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from memory_machine import MemoryMachine
from postgres_databases import PostgresServer

SEQUENCES = {"sqlite": 1_500, "json": 80, "postgresql": 80}  # in `make test-all`
IN_PART = {"sqlite": 20, "json": 4, "postgresql": 3}  # in `make test`


@pytest.mark.parametrize("chosen", list(SEQUENCES))
@pytest.mark.checklist("F11")
def test_what_is_left_is_what_a_rebuild_gives(chosen: str, request: pytest.FixtureRequest) -> None:
    def place(folder: Path, stack: ExitStack) -> str:
        if chosen == "sqlite":
            return str(folder / "memory.db")
        if chosen == "json":
            return f"json:{folder / 'memory.json'}"
        server: PostgresServer = request.getfixturevalue("postgres")
        return stack.enter_context(server.database())

    class Machine(MemoryMachine):
        pass

    Machine.place = staticmethod(place)
    sequences = SEQUENCES if sample_sizes.is_whole else IN_PART
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=sequences[chosen],
            stateful_step_count=8,
            deadline=None,
            derandomize=True,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        ),
    )
