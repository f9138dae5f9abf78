"""F18: what PostgreSQL is asked often, it keeps prepared; that changes how long a query takes, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta

import psycopg
import pytest

from everword.errors import StoreError
from everword.model import Conversation
from everword.ports import Tx
from everword.stores.postgres import PostgresStore
from everword.testing.samples import T0, append_messages, make_message

OFTEN = 5  # runs of a statement on a connection after which the driver has it prepared


@pytest.fixture
def store(postgres_url: str) -> Iterator[PostgresStore]:
    with closing(PostgresStore(postgres_url)) as store:
        store.write(lambda tx: append_messages(tx, make_message(1)))
        yield store


def find(tx: Tx) -> Conversation | None:
    return tx.conversation("s", "c")


def read_often(store: PostgresStore) -> None:
    found = [store.read(find) for _ in range(2 * OFTEN)]
    assert found[0] is not None
    assert all(conversation == found[0] for conversation in found)


def fail(tx: Tx) -> None:
    find(tx)
    raise KeyError("on purpose")


def test_a_query_gives_the_same_before_and_after_it_is_prepared(store: PostgresStore) -> None:
    read_often(store)


def test_a_transaction_that_fails_leaves_nothing_behind_that_the_next_meets(store: PostgresStore) -> None:
    for _ in range(3):
        read_often(store)
        with pytest.raises(KeyError):
            store.read(fail)


def test_statements_that_the_server_has_dropped_are_prepared_again(store: PostgresStore) -> None:
    read_often(store)

    def drop(tx: Tx) -> None:
        tx.connection.exec_driver_sql("DEALLOCATE ALL")  # type: ignore[attr-defined]

    store.read(drop)
    read_often(store)


def test_a_name_that_no_text_can_have_is_refused_as_before(store: PostgresStore) -> None:
    read_often(store)
    with pytest.raises((StoreError, psycopg.DataError, ValueError)):
        store.read(lambda tx: tx.conversation("s", "c\x00d"))
    read_often(store)


@pytest.mark.parametrize("text", ["", "it's", 'a "b" \\ c', "100 %", "ünï", "{}", "NULL"])
def test_texts_of_any_kind_are_found(store: PostgresStore, text: str) -> None:
    conversation = Conversation("s", text or "empty", None, T0, T0 + timedelta(seconds=1))
    store.write(lambda tx: tx.lock_conversation(conversation))
    for _ in range(2 * OFTEN):
        found = store.read(lambda tx: tx.conversation("s", conversation.id))
        assert found is not None
        assert found.id == conversation.id
