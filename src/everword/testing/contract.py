"""What every store must do, as a class of tests. A store that passes it can be used by any memory.

Inherit `StoreContract` in a class that pytest collects, and define in the fixture `open_store` how to open a store. The
same name always opens the same store, with everything it held when it was closed:

    class TestMyStore(StoreContract):
        @pytest.fixture
        def open_store(self, tmp_path: Path) -> OpenStore:
            return lambda name="memory": MyStore(tmp_path / name)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from everword.ports import Store
from everword.testing.index_contract import IndexContract, VectorContract
from everword.testing.log_contract import LogContract
from everword.testing.samples import OpenStore
from everword.testing.transaction_contract import TransactionContract, WholeContract
from everword.testing.view_contract import RowsContract, ViewContract

__all__ = ["OpenStore", "StoreContract"]


class StoreContract(
    LogContract, TransactionContract, ViewContract, IndexContract, VectorContract, RowsContract, WholeContract
):
    """All of it."""

    @pytest.fixture
    def open_store(self) -> OpenStore:
        raise NotImplementedError("say in the fixture `open_store` how to open the store under test")

    @pytest.fixture
    def store(self, open_store: OpenStore) -> Iterator[Store]:
        with closing(open_store()) as store:
            yield store
