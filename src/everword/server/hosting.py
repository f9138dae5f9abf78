"""A server as processes: one, or several workers behind one port, each with the memory open on the same store.

A server without keys listens on loopback only. When it gets SIGTERM or Ctrl-C, it takes no more requests, finishes
those it has, turns of a model included, and closes the memory. What takes longer than the grace period is cut off; of a
turn that is cut off, the part that was sent is kept.
"""

from __future__ import annotations

import gc
import logging
import multiprocessing
import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from multiprocessing import connection
from pathlib import Path
from secrets import token_bytes
from typing import TYPE_CHECKING

from everword.config import Settings
from everword.errors import ConfigError, MissingExtra, StoreError
from everword.follow.model_calls import ActivityCounter
from everword.masking import mask_what_escapes, masked_logger
from everword.memory.memory import MemoryEngine
from everword.ports import Store
from everword.server import MULTIPROCESS, ServerOptions
from everword.server.access import is_loopback
from everword.server.keys import Keys, list_keys, load_session_secret
from everword.server.rates import SIGN_INS, create_table
from everword.wiring import build, open_store, open_telemetry

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI

logger = masked_logger("everword.server")

MAX_WORKERS = 64
# Connections that wait to be accepted. An event loop accepts them all at once: so fewer than the files in reserve
# (`connections.RESERVED`), so that idle connections can be closed before there are no files left.
BACKLOG = 100
# A worker answers nobody while it imports everything; on a busy machine for longer than uvicorn's own 5 seconds,
# after which it would be killed and started again, for ever.
WORKER_SECONDS = 60
SWITCH = 0.001  # seconds a thread may keep another waiting: with Python's own 0.005, work of views delays requests
# Thresholds of the garbage collector: with Python's own 700 new objects, a body of nothing but empty lists takes five
# times as long to read, and nothing else runs meanwhile.
COLLECTIONS = (50_000, 20, 100)


@dataclass(frozen=True, slots=True)
class HostOptions:
    """How many processes a server runs with, and whether it asks for keys."""

    workers: int = 1
    auth: bool = True


def wants_keys(settings: Settings, host: str, auth: bool | None) -> bool:
    """Whether to ask for keys: always, except on loopback if there are none, or if `auth` is False."""
    if auth is False and not is_loopback(host):
        raise ConfigError(
            f"--no-auth works only with a loopback address such as 127.0.0.1; other machines can reach {host}"
        )
    store = open_store(settings.store, settings)
    try:
        has_keys = any(key.is_active(datetime.now(UTC)) for key in list_keys(store))
    finally:
        store.close()
    if not has_keys and (auth or not is_loopback(host)):
        cause = "--auth" if auth else f"listening on {host}"
        raise ConfigError(
            f"{cause} requires API keys, but there are none yet; run `everword keys create --name NAME` first"
        )
    return has_keys if auth is None else auth


def server_options(settings: Settings) -> ServerOptions:
    return ServerOptions(
        space=settings.space,
        origins=tuple(origin.strip() for origin in settings.server_origins.split(",") if origin.strip()),
        rate=settings.server_rate,
        body=settings.server_body_kb << 10,
        body_idle=settings.server_body_idle,
        body_seconds=settings.server_body_seconds,
        body_rate=settings.server_body_rate,
    )


def application(settings: Settings, auth: bool, rates: Path | None = None) -> FastAPI:
    """The application of one process, with its logs set up. Every worker calls this when it starts."""
    from everword.server.app import create_app

    log_as_json()
    mask_what_escapes()
    end_with_parent()
    sys.setswitchinterval(SWITCH)
    gc.set_threshold(*COLLECTIONS)
    store = open_store(settings.store, settings)
    memory = MemoryEngine(lambda: build(settings, store=store))
    telemetry = ActivityCounter(open_telemetry(settings))
    is_shared = not settings.store.startswith("json:")
    secret = choose_session_secret(store)
    options = replace(server_options(settings), rates=rates, shares_rates=is_shared, session_secret=secret)
    return create_app(memory, options, keys=Keys(store) if auth else None, telemetry=telemetry, settings=settings)


def choose_session_secret(store: Store) -> bytes:
    """What signs the dashboard's sessions: the store's own; if the store takes nothing now, one for this process."""
    try:
        return load_session_secret(store)
    except StoreError as error:
        logger.warning("sessions of the dashboard will end with this process: %s", error)
        return token_bytes(32)


def end_with_parent() -> None:
    """Send SIGTERM to this worker when its parent process has ended: a parent that is killed cannot do it."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        connection.wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="everword parent", daemon=True).start()


def log_as_json() -> None:
    """Log one JSON object a line to standard error: our logs, and warnings of the web server and other libraries."""
    from everword.server.middleware import JsonLines

    logging.logThreads = False  # no line names its thread, and to look it up takes time
    logging.logMultiprocessing = False
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("", "everword", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(logging.INFO if name == "everword" else logging.WARNING)


def serve(settings: Settings, hosting: HostOptions, door: socket.socket) -> None:
    """Serve until a signal ends it, on a socket from `open_listening_socket`."""
    try:
        import uvicorn
        from uvicorn.supervisors import Multiprocess
    except ImportError:
        raise MissingExtra("server", "a server") from None
    from everword.server.connections import allow_many_files

    if not 1 <= hosting.workers <= MAX_WORKERS:
        raise ConfigError(f"--workers: is {hosting.workers}; must be from 1 to {MAX_WORKERS}")
    if hosting.workers > 1 and settings.store.startswith("json:"):
        raise ConfigError("only one process can use a JSON file; use --workers 1, a SQLite file or PostgreSQL")
    allow_many_files()
    if hosting.workers == 1:
        uvicorn.Server(uvicorn_config(settings, hosting)).run(sockets=[door])
        return
    with worker_counts() as rates:
        Multiprocess(uvicorn_config(settings, hosting, rates), sockets=[door]).run()


def uvicorn_config(settings: Settings, hosting: HostOptions, rates: Path | None = None) -> uvicorn.Config:
    """How the web server runs the application."""
    import uvicorn

    from everword.server.connections import Connection

    return uvicorn.Config(
        partial(application, settings, hosting.auth, rates),
        factory=True,
        http=Connection,
        ws="none",  # a connection that is no longer HTTP would pass by all that is checked
        backlog=BACKLOG,
        workers=hosting.workers,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=settings.server_grace,
        timeout_worker_healthcheck=WORKER_SECONDS,
    )


def open_listening_socket(host: str, port: int) -> socket.socket:
    """A socket that listens, with TCP_NODELAY: an event loop sets that only on sockets it opens itself, and without it
    each answer would come 40 ms late."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        listener.bind((host.strip("[]"), port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise ConfigError(
            f"cannot listen on {host}:{port}: {error.strerror or error}; choose another --port"
        ) from error
    listener.set_inheritable(True)
    return listener


@contextmanager
def worker_counts() -> Iterator[Path]:
    """A folder in which the workers count, so that each can report the counts of all; it must exist before any of them
    starts. Gives the table in which they count the requests of each key."""
    with tempfile.TemporaryDirectory(prefix="everword-workers-", ignore_cleanup_errors=True) as folder:
        rates = create_table(Path(folder, "rates"))
        create_table(rates.with_name(SIGN_INS))
        if os.environ.get(MULTIPROCESS):
            yield rates
            return
        os.environ[MULTIPROCESS] = tempfile.mkdtemp(prefix="metrics-", dir=folder)
        try:
            yield rates
        finally:
            del os.environ[MULTIPROCESS]
