"""What the tests share: stores of all three kinds, each test's own; and nothing of the caller's environment."""

from __future__ import annotations

import gc
import gzip
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import sample_sizes
from hypothesis import settings
from hypothesis.internal.charmap import charmap_file
from suite_parts import is_elsewhere, parse_part

# Compiled once and kept, also where the environment says otherwise: tests start dozens of programs, and each would
# compile all of everword for itself, as each worker would all tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

pytest.register_assert_rewrite("everword.testing")
pytest_plugins = ("left_out",)

from postgres_databases import PostgresServer, postgres_server  # noqa: E402

from everword.config import PREFIX  # noqa: E402
from everword.stores.sqlite import SqliteStore  # noqa: E402

KINDS = ("sqlite", "json", "postgresql")
STORE_FIXTURES = ("kind", "shared_url")
SERVER = "EVERWORD_TEST_POSTGRES"

# Nothing that the caller has set for everword is set for the tests, but for what is about them.
for name in [name for name in os.environ if name.startswith(PREFIX) and not name.startswith(f"{PREFIX}TEST_")]:
    del os.environ[name]

# However busy the machine is, a search finds what was just added, and a context has its digest.
os.environ[f"{PREFIX}INDEX_SECONDS"] = "60"
os.environ[f"{PREFIX}CONTEXT_DIGEST_SECONDS"] = "10"

EXAMPLES = 60  # of a property, unless its test says otherwise; all of them in `make test-all`

# Where nothing else was asked for and there is room, what tests write stays in memory: a file system like any other,
# but for the wait at each sync until a disk has turned. What they check of files does not depend on it.
IN_MEMORY, ROOM = Path("/dev/shm"), 4 << 30  # bytes
if "TMPDIR" not in os.environ and os.access(IN_MEMORY, os.W_OK) and shutil.disk_usage(IN_MEMORY).free > ROOM:
    os.environ["TMPDIR"] = str(IN_MEMORY)  # of the processes that tests start, too
    tempfile.tempdir = None

# Each HTTP client reads all certificates that this machine trusts, which takes longer than most of what tests ask of a
# server. They ask on the loopback interface, without TLS: no certificate is needed, and none is in this folder.
os.environ.pop("SSL_CERT_FILE", None)
os.environ["SSL_CERT_DIR"] = str(Path(__file__).parent)

# Where the caller ignores Ctrl-C (`nohup make test &`), programs that tests start would inherit that, and tests that
# press it would wait for nothing.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

PATIENCE = 120.0  # seconds that an HTTP client of a test waits, unless it is told otherwise; no passing test does
ALLOCATED = 10_000  # objects between two looks for unused ones: Python's own 700 costs tests a twentieth of their time


def pytest_configure(config: pytest.Config) -> None:
    """The same examples in every run, so that a failure is one for everybody."""
    if config.getoption("every_store"):
        sample_sizes.try_all()
    settings.register_profile(
        "everword",
        max_examples=sample_sizes.sample(EXAMPLES),
        derandomize=True,
        database=None,
        deadline=None,
        print_blob=False,
    )
    settings.load_profile("everword")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported stays until the end: nobody need go through it again and again for what is no longer used."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(ALLOCATED, 20, 20)
        gc.enable()


def pytest_collection_finish() -> None:
    """HTTP clients wait longer than their usual 5 seconds: that a machine has much to do is no failure."""
    for library in ("httpx", "httpx2"):
        if library in sys.modules:
            waits = sys.modules[library].Client.__init__.__kwdefaults__["timeout"]
            waits.connect = waits.read = waits.write = waits.pool = PATIENCE
    keep_utf8_characters()


def keep_utf8_characters() -> None:
    """Put the characters that UTF-8 has where Hypothesis keeps them: all but surrogates, and each is read back as it
    was. It would find that out by trying each of a million, in every part of the suite that is first in its folder."""
    file = charmap_file("codec-v2-utf-8")
    if not file.exists():
        characters = [(0, 0xD7FF), (0xE000, sys.maxunicode)]
        temporary = file.with_name(f"{file.name}.{os.getpid()}")
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(gzip.compress(json.dumps([characters, []]).encode()))
        temporary.replace(file)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--every-store", action="store_true", help="run every test that uses a store on all three kinds")
    parser.addoption("--part", type=parse_part, help="run one part of the suite: 1/3 is the first of three")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The files of other parts are not even imported."""
    return is_elsewhere(collection_path, config.getoption("part")) or None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test that uses a store its kinds: all three for the stores' own tests; SQLite and JSON for those marked
    `every_store`, or the `in_part` that the mark names; SQLite for the others. PostgreSQL, which takes a test several
    times as long, is named where locks, traces or order are its own. The store contract proves the three equal;
    `make test-all` runs all tests on all kinds."""
    mark = metafunc.definition.get_closest_marker("every_store")
    if metafunc.config.getoption("every_store") or metafunc.definition.path.parent.name == "stores":
        kinds: tuple[str, ...] = KINDS
    else:
        kinds = KINDS[:1] if mark is None else mark.kwargs.get("in_part", KINDS[:2])
    chosen = {name for mark in metafunc.definition.iter_markers("parametrize") for name in argument_names(mark)}
    for name in STORE_FIXTURES:
        if name in metafunc.fixturenames and name not in chosen:
            metafunc.parametrize(name, kinds, indirect=True)


def argument_names(mark: pytest.Mark) -> list[str]:
    names = mark.args[0] if mark.args else mark.kwargs["argnames"]
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite store with nothing in it."""
    path = tmp_path_factory.mktemp("empty") / "memory.db"
    SqliteStore(path).close()
    return path


@pytest.fixture(scope="session", autouse=True)
def _new_stores_are_copies(empty_store: Path) -> Iterator[None]:
    """A new SQLite store is a copy of an empty one: to make its tables takes longer than many tests. Tests of how
    stores are made and kept make theirs."""
    prepare = SqliteStore.__init__

    def copy_and_open(self: SqliteStore, path: str | Path, **options: Any) -> None:
        is_of_stores = "tests/stores/test_store_" in os.environ.get("PYTEST_CURRENT_TEST", "")
        if not is_of_stores and not os.path.lexists(path):
            with suppress(OSError):  # another thread has made it, or nobody can: opening it says so
                copy = Path(f"{path}.{uuid4().hex}")
                shutil.copyfile(empty_store, copy)
                try:
                    os.link(copy, path)
                finally:
                    copy.unlink()
        prepare(self, path, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SqliteStore, "__init__", copy_and_open)
        yield


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server: the one EVERWORD_TEST_POSTGRES names, or one of our own."""
    with postgres_server(os.environ.get(SERVER)) as server:
        yield server


@pytest.fixture
def postgres_url(postgres: PostgresServer) -> Iterator[str]:
    """The address of a new, migrated PostgreSQL database."""
    with postgres.database() as url:
        yield url


@contextmanager
def places(folder: Path, request: pytest.FixtureRequest) -> Iterator[Callable[[str, str], str]]:
    """Where the store of a kind and name is: always the same place."""
    with ExitStack() as stack:
        known: dict[str, str] = {}

        def address(kind: str, name: str) -> str:
            if kind == "json":
                return f"json:{folder / name}.json"
            if kind == "sqlite":
                return str(folder / f"{name}.db")
            if name not in known:
                server: PostgresServer = request.getfixturevalue("postgres")
                known[name] = stack.enter_context(server.database())
            return known[name]

        yield address


@pytest.fixture
def addresses(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Callable[[str, str], str]]:
    """Where the store of a kind and name is: always the same place in one test."""
    with places(tmp_path, request) as address:
        yield address


@pytest.fixture
def kind(request: pytest.FixtureRequest) -> str:
    """The kind of store a test runs on, see `pytest_generate_tests`."""
    return str(request.param)


@pytest.fixture(scope="module")
def shared_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a store that is made once for all tests of a file that only read it."""
    with places(tmp_path_factory.mktemp("shared"), request) as address:
        yield address(str(request.param), "memory")


@pytest.fixture
def store_url(kind: str, addresses: Callable[[str, str], str]) -> str:
    """The address of a new store."""
    return addresses(kind, "memory")
