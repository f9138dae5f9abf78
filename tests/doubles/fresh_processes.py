"""Processes of `multiprocessing` that have no store open: forked from a server that has imported and done already what
they need.

Python 3.11 looks for what that server is to import in no folder of ours and says nothing about it: each process would
read all tables of words and compile all patterns for itself.
"""

from __future__ import annotations

import multiprocessing
import os
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path

USED = ("pytest", "hypothesis", "psycopg", "postgres_databases", "everword.stores.jsonfile", "first_use")
PATHS = "PYTHONPATH"

multiprocessing.set_forkserver_preload(list(USED))


def start_server() -> None:
    """Start what processes are forked from, if it does not run, with this folder among those that it imports from."""
    before = os.environ.get(PATHS)
    os.environ[PATHS] = os.pathsep.join(filter(None, [str(Path(__file__).parent), before]))
    try:
        forkserver.ensure_running()
    finally:
        if before is None:
            del os.environ[PATHS]
        else:
            os.environ[PATHS] = before


class FreshProcess(ForkServerProcess):
    """Forked from the server."""

    def start(self) -> None:
        start_server()
        super().start()


class FreshContext(ForkServerContext):
    """As `multiprocessing`."""

    Process = FreshProcess


FRESH = FreshContext()
