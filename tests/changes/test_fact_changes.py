"""Facts that people change by hand: added, edited, deleted, undone; a rebuild keeps what they decided."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sample_sizes import sample

from everword import Fact, InvalidInput, Memory, NotFound
from everword.config import Settings
from everword.ports import Store, Tx
from everword.testing import FrozenClock
from everword.wiring import open_store

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
Snapshot = list[tuple[str, str, str, bool]]


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(START)


@pytest.fixture
def memory(tmp_path: Path, clock: FrozenClock) -> Iterator[Memory]:
    with Memory(str(tmp_path / "memory.db"), followers=False, clock=clock) as opened:
        yield opened


def tell(memory: Memory, clock: FrozenClock, text: str, **scope: str) -> None:
    clock.advance(MINUTE)
    user = scope.get("user", "alex")
    if "channel" in scope:
        memory.conversation(scope["channel"]).add("user", text, author=user)
    else:
        memory.conversation(f"chat-{user}", user=user).add("user", text)
    memory.settle()
    clock.advance(MINUTE)


def values(memory: Memory, key: str, user: str = "alex") -> list[str]:
    return sorted(fact.value for fact in memory.facts(user=user) if fact.key == key)


def only(memory: Memory, key: str, user: str = "alex") -> Fact:
    (fact,) = [fact for fact in memory.facts(user=user) if fact.key == key]
    return fact


def snapshot(memory: Memory, user: str = "alex") -> Snapshot:
    history = [fact for key in {fact.key for fact in memory.facts(user=user)} | {"likes", "location", "job"}
               for fact in memory.fact_history(key, user=user)]  # fmt: skip
    return sorted((fact.id, fact.key, fact.value, fact.active) for fact in history)


def rebuild(memory: Memory) -> None:
    memory.rebuild("facts")
    memory.settle()


@pytest.mark.checklist("C2")
def test_what_was_said_by_a_clock_that_is_ahead_stays_forgotten(memory: Memory, clock: FrozenClock) -> None:
    memory.conversation("chat-alex", user="alex").add("user", "I live in Leiden.", time=clock.now() + 5 * MINUTE)
    memory.settle()
    memory.forget("where I live", user="alex")
    assert values(memory, "location") == []
    rebuild(memory)
    assert values(memory, "location") == []


@pytest.mark.checklist("C2")
def test_an_edit_that_is_forgotten_at_once_stays_forgotten(memory: Memory, clock: FrozenClock) -> None:
    tell(memory, clock, "My name is Alexis.")
    memory.edit_fact(only(memory, "name").id, user="alex", value="Sascha")
    memory.forget("name Sascha", user="alex")
    rebuild(memory)
    assert values(memory, "name") == []


@pytest.mark.checklist("F12")
def test_an_edit_keeps_the_old_value_as_history_and_can_be_undone(memory: Memory, clock: FrozenClock) -> None:
    tell(memory, clock, "I live in Utrecht.")
    old = only(memory, "location")
    change = memory.edit_fact(old.id, "Delft", user="alex")
    assert change.fact is not None
    assert (change.kind, change.speaker, change.changed_at) == ("edit", "alex", clock.now())
    assert (change.fact.value, change.fact.category, change.fact.active) == ("Delft", "identity", True)
    (retired,) = change.retired
    assert (retired.id, retired.valid_from, retired.valid_to) == (old.id, old.valid_from, clock.now())
    assert retired.retired_by == change.fact.id
    assert [fact.value for fact in memory.fact_history("location", user="alex")] == ["Utrecht", "Delft"]
    assert memory.fact(old.id, user="alex") == retired
    assert [message.id for message in memory.why(old.id, user="alex")][-1] == change.id
    for _ in range(2):
        rebuild(memory)
        assert memory.fact(old.id, user="alex") == retired
        assert only(memory, "location") == change.fact
    assert [fact.value for fact in memory.undo(change.id, user="alex").facts] == ["Utrecht"]
    assert only(memory, "location") == old
    rebuild(memory)
    assert only(memory, "location") == old
    with pytest.raises(NotFound):
        memory.undo(change.id, user="alex")


@pytest.mark.checklist("F12")
def test_what_is_deleted_comes_back_only_if_it_is_said_again(memory: Memory, clock: FrozenClock) -> None:
    tell(memory, clock, "I like jazz. I like tea.")
    jazz = next(fact for fact in memory.facts(user="alex") if fact.value == "jazz")
    change = memory.delete_fact(jazz.id, user="alex")
    assert change.fact is None
    assert values(memory, "likes") == ["tea"]
    assert memory.fact(jazz.id, user="alex").retired_by == change.id
    late = memory.conversation("old", user="alex")
    late.add("user", "I like jazz.", time=START - timedelta(days=30))  # read late, said before
    memory.settle()
    assert values(memory, "likes") == ["tea"]
    rebuild(memory)
    assert values(memory, "likes") == ["tea"]
    tell(memory, clock, "I like jazz.")
    assert values(memory, "likes") == ["jazz", "tea"]
    rebuild(memory)
    assert values(memory, "likes") == ["jazz", "tea"]


def test_an_added_fact_stands_until_the_person_says_otherwise(memory: Memory, clock: FrozenClock) -> None:
    added = memory.add_fact("identity", "city", "Porto", user="alex", valid_from=date(2024, 5, 1)).fact
    assert added is not None
    assert (added.key, added.value, added.speaker) == ("location", "Porto", "alex")
    assert added.valid_from == datetime(2024, 5, 1, tzinfo=UTC)
    rebuild(memory)
    assert only(memory, "location") == added
    assert memory.facts(user="alex", as_of=datetime(2024, 4, 1, tzinfo=UTC)) == []
    brother = memory.add_fact("identity", "name", "Tom", user="alex", subject="brother").fact
    assert brother is not None
    assert brother.subject == "brother"
    tell(memory, clock, "I moved to Ghent.")
    assert values(memory, "location") == ["Ghent"]
    rebuild(memory)
    assert values(memory, "location") == ["Ghent"]


def test_a_statement_that_says_what_was_edited_goes_with_it_and_comes_back(memory: Memory, clock: FrozenClock) -> None:
    memory.remember("I live in Utrecht", user="alex")
    clock.advance(MINUTE)
    change = memory.edit_fact(only(memory, "location").id, "Delft", user="alex")
    assert memory.profile(user="alex").statements == ()
    assert [statement.text for statement in memory.undo(change.id, user="alex").statements] == [
        "alex lives in Utrecht."
    ]
    assert values(memory, "location") == ["Utrecht"]


def test_a_change_comes_after_the_fact_whatever_the_clock_says(memory: Memory, clock: FrozenClock) -> None:
    memory.conversation("a", user="alex").add("user", "I like jazz.", time=clock.now() + timedelta(hours=5))
    memory.conversation("z", user="alex").add("user", "I like tea.", time=clock.now())
    memory.settle()
    for fact in memory.facts(user="alex"):
        memory.delete_fact(fact.id, user="alex")
    assert values(memory, "likes") == []
    rebuild(memory)
    assert values(memory, "likes") == []


def test_only_who_may_take_a_fact_back_may_change_it(memory: Memory, clock: FrozenClock) -> None:
    memory.remember("Alex plays the cello", user="alex", speaker="bob")  # in private: alex cannot see it
    tell(memory, clock, "I live in Utrecht.")
    home = only(memory, "location")
    for stranger in ("bob", "cleo"):
        with pytest.raises(NotFound, match="no fact"):
            memory.edit_fact(home.id, "Rome", user="alex", speaker=stranger)
        with pytest.raises(NotFound, match="no fact"):
            memory.delete_fact(home.id, user="alex", speaker=stranger)
    claim = memory.add_fact("identity", "employer", "Contoso", user="alex", speaker="bob").fact
    assert claim is not None
    with pytest.raises(NotFound, match="no fact"):
        memory.delete_fact(claim.id, user="alex")
    edited = memory.edit_fact(claim.id, "Fabrikam", user="alex", speaker="bob").fact
    assert edited is not None
    assert (edited.speaker, edited.value) == ("bob", "Fabrikam")
    with pytest.raises(InvalidInput, match="must not be 'instruction'"):
        memory.add_fact("instruction", "tone", "rude", user="alex", speaker="bob")
    with pytest.raises(NotFound):
        memory.fact(home.id, user="bob")
    with pytest.raises(NotFound):
        memory.fact(home.id, user="alex", space="elsewhere")


def test_an_edit_is_seen_where_the_fact_was_seen_and_nowhere_else(memory: Memory, clock: FrozenClock) -> None:
    tell(memory, clock, "I live in Utrecht.", channel="lobby")
    tell(memory, clock, "I like gin.")
    change = memory.edit_fact(only(memory, "location").id, "Delft", user="alex")
    memory.edit_fact(only(memory, "likes").id, "rum", user="alex")
    memory.add_fact("health", "condition", "gout", user="alex")
    for _ in range(2):
        shown = str(memory.conversation("lobby").context("Where does alex live?", system="").messages)
        assert "Delft" in shown
        assert not {"Utrecht", "rum", "gout"} & set(shown.replace(":", " ").replace("\\n", " ").split())
        rebuild(memory)
    assert change.fact is not None
    assert change.fact.audience == "lobby"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"category": "mood"}, "category: is 'mood'; must be one of identity"),
        ({"key": "  "}, "key: "),
        ({"value": ""}, "value: "),
        ({"value": "x" * 201}, "value: has 201 characters; at most 200"),
        (
            {"valid_from": date(2026, 1, 2), "valid_to": date(2026, 1, 1)},
            "valid_to: is 2026-01-01; must not be before valid_from",
        ),
        ({"valid_from": "2026-01-02"}, "valid_from: must be a date, not str"),
    ],
)
def test_what_cannot_be_a_fact_is_refused_with_a_reason(
    memory: Memory, arguments: dict[str, object], reason: str
) -> None:
    fields: dict[str, object] = {"category": "identity", "key": "city", "value": "Porto"}
    with pytest.raises(InvalidInput) as caught:
        memory.add_fact(**(fields | arguments), user="alex")  # type: ignore[arg-type]
    assert reason in str(caught.value)
    assert list(memory.export()) == []


def test_history_cannot_be_changed_and_an_edit_must_change_something(memory: Memory, clock: FrozenClock) -> None:
    tell(memory, clock, "I live in Utrecht.")
    old = only(memory, "location")
    with pytest.raises(InvalidInput, match="already the value of this fact"):
        memory.edit_fact(old.id, "Utrecht", user="alex")
    memory.edit_fact(old.id, "Delft", user="alex")
    with pytest.raises(InvalidInput, match="no longer true"):
        memory.edit_fact(old.id, "Rome", user="alex")
    with pytest.raises(InvalidInput, match="no longer true"):
        memory.delete_fact(old.id, user="alex")


def test_changes_are_erased_with_the_person(memory: Memory, clock: FrozenClock) -> None:
    added = memory.add_fact("possession", "car", "a green Fiat", user="alex").fact
    assert added is not None
    memory.edit_fact(added.id, "a red Fiat", user="alex")
    memory.erase(user="alex")
    rebuild(memory)
    assert memory.facts(user="alex") == []
    assert [message.content for message in memory.export() if not message.erased] == []


STEPS = st.lists(
    st.tuples(st.sampled_from(["say", "add", "edit", "delete", "undo"]), st.sampled_from(["tea", "jazz", "chess"])),
    max_size=8,
)


@settings(max_examples=sample(15), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS)
@pytest.mark.checklist("F12")
def test_a_rebuild_keeps_every_decision_in_any_order(steps: list[tuple[str, str]]) -> None:
    clock = FrozenClock(START)
    with TemporaryDirectory() as folder, Memory(f"{folder}/memory.db", followers=False, clock=clock) as memory:
        changes: list[str] = []
        for step, value in steps:
            likes = [fact for fact in memory.facts(user="alex") if fact.key == "likes"]
            clock.advance(MINUTE)
            if step == "say":
                tell(memory, clock, f"I like {value}.")
            elif step == "add":
                changes.append(memory.add_fact("preference", "likes", value, user="alex").id)
                assert value in values(memory, "likes")
            elif step == "edit" and likes and likes[0].value != value:
                changes.append(memory.edit_fact(likes[0].id, value, user="alex").id)
                assert value in values(memory, "likes")
                assert likes[0].value not in values(memory, "likes")
            elif step == "delete" and likes:
                changes.append(memory.delete_fact(likes[0].id, user="alex").id)
                assert likes[0].value not in values(memory, "likes")
            elif step == "undo" and changes:
                memory.undo(changes.pop(), user="alex")
        before = snapshot(memory)
        rebuild(memory)
        assert snapshot(memory) == before


# -- what a change costs


class RowCountingTx:
    """A transaction that counts the rows it is asked for."""

    def __init__(self, tx: Tx, store: RowCountingStore) -> None:
        self._tx = tx
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)

    def rows(self, *arguments: Any, **options: Any) -> list[Any]:
        rows = self._tx.rows(*arguments, **options)
        self._store.rows += len(rows)
        return rows


class RowCountingStore:
    """A store that counts the rows that its transactions are asked for."""

    def __init__(self, inner: Store) -> None:
        self._inner = inner
        self.rows = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def read(self, fn: Callable[[Any], Any]) -> Any:
        return self._inner.read(lambda tx: fn(RowCountingTx(tx, self)))

    def write(self, fn: Callable[[Any], Any]) -> Any:
        return self._inner.write(lambda tx: fn(RowCountingTx(tx, self)))


def test_a_change_by_hand_reads_as_many_rows_of_many_facts_as_of_few(tmp_path: Path) -> None:
    """Of changes by hand only those are read that edited or deleted something."""
    counts = [rows_read_by_changes(str(tmp_path / f"{size}.db"), size) for size in (10, 100)]
    assert counts[0] == counts[1] < 50


def rows_read_by_changes(place: str, size: int) -> int:
    """How many rows it takes to add, edit and delete a fact by hand in a memory with so many of them."""
    store = RowCountingStore(open_store(place, Settings()))
    with Memory(cast(Store, store), followers=False) as memory:
        memory.remember("Alex owns a red bike", user="alex")
        for number in range(size):
            memory.add_fact("possession", f"thing {number}", "old", user="alex")
        fact = memory.facts(user="alex")[-1]
        before = store.rows
        memory.add_fact("possession", "one more", "new", user="alex")
        edited = memory.edit_fact(fact.id, "newer", user="alex").fact
        assert edited is not None
        memory.delete_fact(edited.id, user="alex")
        rows = store.rows - before
    store.close()
    return rows
