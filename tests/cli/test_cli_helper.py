"""The second process that reads facts of a large import."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect import Memory
from recollect.cli.terminal.settling import may_share, start_helper, stop_helper, view_states
from recollect.stores.sqlite import SqliteStore


def test_it_reads_the_facts_and_nothing_else_and_ends_by_itself(tmp_path: Path) -> None:
    url = str(tmp_path / "a.db")
    with Memory(url, followers=False) as memory:
        memory.conversation("chat", user="alex").add("user", "My name is Alex and I live in Utrecht.")
    helper = start_helper(url)
    assert helper.wait(120) == 0
    store = SqliteStore(url)
    try:
        facts, index = view_states(store, ["facts", "index"])
    finally:
        store.close()
    assert (facts.behind, index.behind) == (0, 1)
    with Memory(url, followers=False) as memory:
        assert {fact.value for fact in memory.facts(user="alex")} >= {"Alex", "Utrecht"}


def test_it_can_be_stopped_at_any_time_and_what_it_did_not_do_is_done_later(tmp_path: Path) -> None:
    url = str(tmp_path / "a.db")
    with Memory(url, followers=False) as memory:
        memory.conversation("chat", user="alex").add("user", "My name is Alex.")
    stop_helper(start_helper(url))
    with Memory(url, followers=False) as memory:
        memory.settle()
        assert [fact.value for fact in memory.facts(user="alex")] == ["Alex"]


@pytest.mark.parametrize("url", ["json:memory.json", "sqlite:///:memory:", ":memory:"])
def test_a_store_of_one_process_is_not_shared(url: str) -> None:
    assert not may_share(url)
