"""The store contract, on each of our stores."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from postgres_databases import CITUS

from everword.config import Settings
from everword.testing.contract import OpenStore, StoreContract
from everword.wiring import open_store


class OurStores(StoreContract):
    kind: str

    @pytest.fixture
    def open_store(self, addresses: Callable[[str, str], str]) -> OpenStore:
        return lambda name="memory": open_store(addresses(self.kind, name), Settings())


class TestSqlite(OurStores):
    kind = "sqlite"


class TestJson(OurStores):
    kind = "json"


class TestPostgres(OurStores):
    """B11, the storage part: PostgreSQL with pgvector serves all of it."""

    kind = "postgresql"
    has_versions = CITUS not in os.environ  # what changes on one machine is no version of another
