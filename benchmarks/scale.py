"""Many people and channels in one store: does what one of them asks cost more, the more others there are?

    python benchmarks/scale.py [--sizes 20000 1000000] [--kinds sqlite postgresql] [--count 40] [--seed 7]
                               [--folder FOLDER] [--log-and-index] [--writers 1] [--reads] [--space-each]

The store has 3 spaces, one with 90 % of all messages. People and channels are sized by Zipf's law: of people with so
many messages there are half as many as of people with half as many. For each size, the engine itself writes one person
or channel with all views (`UNITS`), and SQL copies it under other names: a million messages take minutes instead of
hours. Who gets which size in which space, and who asks what, is drawn by the seed. A copy has the texts of its
original, an hour apart, and its seals do not match: such a store is for measuring only.

For each size of scope a process of its own measures the first search of somebody, later ones, the first context, later
ones, and an append: medians over `--count` people or channels. It also tells how much memory is held for each of
the people with 60 messages who have been searched once, and how long `stats` takes. On SQLite the processor's time
counts; on PostgreSQL, whose work is done by another process, the clock. Stores stay in `--folder` and are used again.
PostgreSQL is started from the pip package, as in the tests, and ends with this program. With `--log-and-index`, a
store has only messages and what a search reads of them, and contexts are of these: so ten million take half the
space. `--writers` fill PostgreSQL beside each other. With `--reads`, no time is taken, but the rows and blocks that
PostgreSQL reads are counted. With `--space-each`, every person and every channel has a space of its own: a store of
51,000 messages then has 1,000 spaces. What looks into all spaces is measured, too: `settle` with nothing to do and
after one message, `stats` and `retain` of the store, and the processor's time of a process that nobody asks anything.
With EVERWORD_TEST_CITUS, stores are on that cluster instead of PostgreSQL from the pip package.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy import Text, event

from corpus import corpus, questions
from everword import Batch, Draft, Memory
from everword.config import Settings
from everword.memory.transfer import copy_store
from everword.model import Role
from everword.stores.postgres import PostgresStore
from everword.stores.search_index import scope_term
from everword.stores.tables import TABLES, Instant, Names, Object
from everword.wiring import open_store
from machine import describe_machine
from table import percentile, show

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "doubles"))
from postgres_databases import postgres_server

SPACES = {"giant": 0.9, "middle": 0.07, "small": 0.03}  # and their shares of all messages
TOKEN = "t0000000"  # in every name and id of a template; a copy has its number there
NOT_COPIED = ("meta", "spaces", "usage", "answers", "answer_bodies", "api_keys", "audit")
LOG_AND_INDEX = ("conversations", "messages", "cursors", "entries", "vectors", "tallies")
AT_ONCE = 50_000  # messages that one statement copies
HOUR = 3_600_000_000  # microseconds
SCOPE_LENGTH = 3 * 21 + 2 * 2 + 2  # characters of the terms of a passage up to those of its words
FIRST_TO_LATER = 2.5
LARGE_TO_SMALL = 1.3
SLOWEST_GROWTH = 1.5  # of what 95 in 100 take at most
KILOBYTES = 120
USUAL = 60  # messages of the person that the bars are about
OF_ANOTHER_LANGUAGE = "¿Dónde está la tetera verde?"  # a process reads the vectors of its words once: 43 MB
LATER = 5  # searches after the first
PATIENCE = 600.0  # seconds until all views are made
STRANGERS = 5  # people whose questions have a process read what it reads once
MANY = 200  # people who all say something
IDLE = 10.0  # seconds for which a process is watched that nobody asks anything
TALK = 40  # messages of a person in one chat


@dataclass(frozen=True, slots=True)
class Unit:
    """A person, or a channel of some speakers, with so many messages."""

    size: int
    speakers: int = 0

    @property
    def name(self) -> str:
        return f"{'channel' if self.speakers else 'person'} {self.size}"


UNITS = (*map(Unit, (10, 30, USUAL, 200, 600, 2_000)), Unit(60, 4), Unit(600, 12), Unit(4_000, 40))


# -- one of each size, by the engine


def build_template(path: Path) -> None:
    """A store with one unit of each size, each in a space of its name."""
    with Memory(str(path)) as memory:
        for number, unit in enumerate(UNITS):
            memory.add_many(unit_batches(unit, corpus(unit.size, number)))
        memory.settle(PATIENCE)


def unit_batches(unit: Unit, texts: Sequence[str]) -> list[Batch]:
    ids = [f"m{i}{TOKEN}" for i in range(len(texts))]
    now = datetime.now(UTC)
    times = [now - timedelta(hours=len(texts) - i) for i in range(len(texts))]
    if unit.speakers:
        speakers = [f"s{i % unit.speakers}{TOKEN}" for i in range(len(texts))]
        rows = zip(texts, speakers, ids, times, strict=True)
        drafts = [Draft("user", text, author=a, user=a, id=id, time=time) for text, a, id, time in rows]
        return [Batch(unit.name, f"room{TOKEN}", None, drafts)]
    roles: list[Role] = ["assistant" if i % 2 else "user" for i in range(len(texts))]
    said = zip(roles, texts, ids, times, strict=True)
    drafts = [Draft(role, text, id=id, time=time) for role, text, id, time in said]
    starts = range(0, len(drafts), TALK)
    return [Batch(unit.name, f"chat{i}{TOKEN}", f"u{TOKEN}", drafts[i : i + TALK]) for i in starts]


def copied_tables(log_and_index: bool) -> list[str]:
    kept = LOG_AND_INDEX if log_and_index else [name for name in TABLES if name not in NOT_COPIED]
    return [name for name in TABLES if name in kept]


def may_hold_names(column: Any) -> bool:
    """Whether a column may hold a name or an id: a text that is not what somebody said."""
    is_text = isinstance(column.type, Text | Names | Object)
    return is_text and column.name not in ("content", "terms")


# -- many of them, by SQL


@dataclass(frozen=True, slots=True)
class Copy:
    """A unit under another name in one of the spaces."""

    number: int
    unit: Unit
    space: str

    @property
    def token(self) -> str:
        return f"t{self.number:07d}"

    @property
    def user(self) -> str | None:
        return None if self.unit.speakers else f"u{self.token}"

    @property
    def conversation(self) -> str:
        return f"room{self.token}" if self.unit.speakers else f"chat0{self.token}"


def draw_copies(messages: int, seed: int, space_each: bool = False) -> list[Copy]:
    """So many messages in people and channels: of each size about as many messages as of any other."""
    chance = random.Random(seed)
    copies: list[Copy] = []
    while messages > 0:
        (unit,) = chance.choices(UNITS, [1 / unit.size for unit in UNITS])
        (space,) = chance.choices(list(SPACES), list(SPACES.values()))
        number = len(copies) + 1
        copies.append(Copy(number, unit, f"space{number:07d}" if space_each else space))
        messages -= unit.size
    return copies


class Filler:
    """Copies the units of a store within it. `run` runs a statement, `run_many` one for many rows of values."""

    def __init__(
        self, run: Callable[..., Any], run_many: Callable[..., Any], mark: str, count: int, tables: Sequence[str]
    ) -> None:
        self._tables = tables
        self._run = run
        self._run_many = run_many
        self._mark = mark
        self._count = count  # of copies, in all
        run("CREATE TEMP TABLE copies (unit TEXT, space TEXT, token TEXT, number BIGINT, shift BIGINT)")
        run("CREATE TEMP TABLE terms (token TEXT, name TEXT, term TEXT, PRIMARY KEY (token, name))")

    def fill(self, copies: Sequence[Copy]) -> None:
        """Add these copies."""
        self._run("DELETE FROM copies")
        self._run("DELETE FROM terms")
        rows = [(c.unit.name, c.space, c.token, c.number, HOUR * (c.number % 5_000 + 24)) for c in copies]
        self._run_many(f"INSERT INTO copies VALUES ({', '.join([self._mark] * 5)})", rows)
        names = [(c, kind, name) for c in copies for kind, name in scope_names(c.unit)]
        terms = [(c.token, kind + name, make_term(c, kind, name)) for c, kind, name in names]
        self._run_many(f"INSERT INTO terms VALUES ({', '.join([self._mark] * 3)})", terms)
        for table in self._tables:
            self._run(copy_statement(table, self._count))
        print(f"  up to number {copies[-1].number:,} of {self._count:,} people and channels", file=sys.stderr)

    def remove_units(self) -> None:
        names = ", ".join(f"'{unit.name}'" for unit in UNITS)
        for table in reversed(copied_tables(log_and_index=False)):
            self._run(f"DELETE FROM {table} WHERE space IN ({names})")


def scope_names(unit: Unit) -> list[tuple[str, str]]:
    """The users and conversations of a unit, as they are in the template."""
    conversations = {batch.conversation for batch in unit_batches(unit, [""] * unit.size)}
    users = {f"s{i}{TOKEN}" for i in range(unit.speakers)} or {f"u{TOKEN}"}
    places = [("conversation", name) for name in sorted(conversations)]
    return [("space", ""), *(("user", name) for name in sorted(users)), *places]


def make_term(copy: Copy, kind: str, name: str) -> str:
    names = [name.replace(TOKEN, copy.token)] if name else []
    return scope_term(kind, copy.space, *names)


def copy_statement(table: str, count: int) -> str:
    """What copies the rows of the units in `copies`. Passages of all copies alternate, as if all had talked at once."""

    def value(column: Any) -> str:
        name = f'{table}."{column.name}"'
        if column.name == "space":
            return "copies.space"
        if column.name == "doc":
            return f"{name} * {count + 1} + copies.number"
        if column.name == "terms" and table == "entries":
            terms = " || '  ' || ".join(f"of_{scope}.term" for scope in ("space", "user", "place"))
            return f"' ' || {terms} || substr({name}, {SCOPE_LENGTH})"
        if isinstance(column.type, Instant):
            return f"{name} - copies.shift"
        return f"replace({name}, '{TOKEN}', copies.token)" if may_hold_names(column) else name

    names = ", ".join(f'"{column.name}"' for column in TABLES[table].c)
    source = f"copies JOIN {table} ON {table}.space = copies.unit"
    if table == "entries":
        source += " JOIN terms AS of_space ON of_space.token = copies.token AND of_space.name = 'space'"
        source += " JOIN terms AS of_user ON of_user.token = copies.token AND of_user.name = 'user' || user_id"
        source += " JOIN terms AS of_place ON of_place.token = copies.token"
        source += " AND of_place.name = 'conversation' || conversation"
    return f"INSERT INTO {table} ({names}) SELECT {', '.join(map(value, TABLES[table].c))} FROM {source}"


def fill_sqlite(path: Path, template: Path, copies: Sequence[Copy], tables: Sequence[str]) -> None:
    shutil.copy(template, path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA synchronous = off")
        connection.execute("PRAGMA cache_size = -200000")
        filler = Filler(connection.execute, connection.executemany, "?", len(copies), tables)
        for part in divide(copies):
            filler.fill(part)
            connection.commit()
        filler.remove_units()
        last = connection.execute("SELECT max(doc) FROM entries").fetchone()[0]
        connection.execute("UPDATE meta SET value = ? WHERE key = 'docs'", [str(last)])
        connection.commit()


def fill_postgres(url: str, template: Path, copies: Sequence[Copy], tables: Sequence[str], writers: int) -> None:
    with closing(open_store(str(template), Settings())) as source, closing(open_store(url, Settings())) as target:
        copy_store(source, target, lambda table, count: None)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET search_path TO everword, public")
        connection.execute("DROP INDEX entries_terms")  # to make it at the end takes a tenth of the time
        with ThreadPoolExecutor(writers) as pool:
            shares = [divide(copies)[number::writers] for number in range(writers)]
            list(pool.map(lambda share: write_share(url, share, len(copies), tables), shares))
        postgres_filler(connection, len(copies), tables).remove_units()
        connection.execute("CREATE INDEX entries_terms ON entries USING gin (tsv)")
        connection.execute("VACUUM ANALYZE")


def write_share(url: str, parts: Sequence[Sequence[Copy]], count: int, tables: Sequence[str]) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET search_path TO everword, public")
        filler = postgres_filler(connection, count, tables)
        for part in parts:
            filler.fill(part)


def postgres_filler(connection: psycopg.Connection[Any], count: int, tables: Sequence[str]) -> Filler:
    return Filler(connection.execute, connection.cursor().executemany, "%s", count, tables)


def divide(copies: Sequence[Copy]) -> list[list[Copy]]:
    """Parts of so many messages as one statement copies."""
    parts: list[list[Copy]] = [[]]
    messages = 0
    for copy in copies:
        if messages >= AT_ONCE:
            parts.append([])
            messages = 0
        parts[-1].append(copy)
        messages += copy.unit.size
    return parts


# -- what is measured, in a process of its own


def measure(url: str, copies: Sequence[Copy], count: int, seed: int, *, followers: bool) -> dict[str, Any]:
    """Seconds by name of unit and by what was done, and the kilobytes that the process has gained for each person."""
    chance = random.Random(seed)
    strangers, candidates = divide_people(copies)
    chosen = {unit.name: draw_some(chance, candidates, unit, 3 * count) for unit in UNITS}
    usual = chosen[Unit(USUAL).name]
    asked = questions(corpus(1_000, seed), 200)
    times: dict[str, dict[str, list[tuple[float, float]]]] = {}
    with Memory(url, followers=followers) as memory:
        for stranger in strangers:  # what is read once, as tables of words
            for question in (asked[0], OF_ANOTHER_LANGUAGE):
                search(memory, stranger, question)
            context(memory, stranger, asked[0])
        kilobytes = measure_memory(memory, usual[2::3], asked)
        for unit in UNITS:
            searched, shown = chosen[unit.name][0::3], chosen[unit.name][1::3]
            times[unit.name] = {
                **time_calls(memory, "search", search, searched, asked),
                **time_calls(memory, "context", context, shown, asked),
                "append": [timed(append, memory, copy, asked[0]) for copy in searched],
            }
            if followers:
                memory.settle(PATIENCE)
        stats = [timed(count_all, memory) for _ in range(LATER)]
        speakers = chance.sample(candidates, min(MANY, len(candidates)))
        of_all = time_whole_store(memory, speakers, asked[0]) if followers else {}
    return {"times": times, "kilobytes": kilobytes, "stats": sorted(stats)[LATER // 2], "of_all": of_all}


def divide_people(copies: Sequence[Copy]) -> tuple[list[Copy], list[Copy]]:
    """Some strangers, and those who are asked: of the giant space, or all others if each has a space."""
    giant = [copy for copy in copies if copy.space == "giant"]
    others = [copy for copy in copies if copy.space != "giant"]
    strangers = [copy for copy in others if copy.unit.size >= USUAL][:STRANGERS]
    return strangers, giant or [copy for copy in others if copy not in strangers]


def time_whole_store(memory: Memory, people: Sequence[Copy], text: str) -> dict[str, tuple[float, float]]:
    """What looks into all spaces: seconds by the clock and of the processor. For the process that is asked nothing, of
    one second."""

    def say(speakers: Sequence[Copy]) -> None:
        memory.add_many(Batch(c.space, c.conversation, c.user, [Draft("user", text, author=c.user)]) for c in speakers)
        memory.settle(PATIENCE)

    calls: dict[str, Callable[[], Any]] = {
        "settle, nothing to do": lambda: memory.settle(PATIENCE),
        "settle after a message": lambda: say(people[:1]),
        f"settle after a message of {MANY} people": lambda: say(people),
        "stats of the store": lambda: memory.stats(),
        "retain, listed": lambda: memory.retain(),
        "retain": lambda: memory.retain(dry_run=False),
    }
    times = {name: sorted(timed(call) for _ in range(LATER))[LATER // 2] for name, call in calls.items()}
    clock, processor = timed(time.sleep, IDLE)
    return times | {"a second in which nobody asks": (clock / IDLE, processor / IDLE)}


def draw_some(chance: random.Random, copies: Sequence[Copy], unit: Unit, count: int) -> list[Copy]:
    alike = [copy for copy in copies if copy.unit == unit]
    return chance.sample(alike, min(count, len(alike)))


def measure_memory(memory: Memory, people: Sequence[Copy], asked: Sequence[str]) -> float:
    """Kilobytes that are allocated and held for each of these people, whose memory is searched once."""
    tracemalloc.start()
    for number, copy in enumerate(people):
        search(memory, copy, asked[number % len(asked)])
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return held / 1024 / max(len(people), 1)


def time_calls(
    memory: Memory, name: str, call: Callable[..., None], people: Sequence[Copy], asked: Sequence[str]
) -> dict[str, list[tuple[float, float]]]:
    """The first call for each of these, and the least of some later ones, each with another question."""
    first, later = [], []
    for number, copy in enumerate(people):
        first.append(timed(call, memory, copy, asked[number % len(asked)]))
        again = [timed(call, memory, copy, asked[(number + i + 1) % len(asked)]) for i in range(LATER)]
        later.append(sorted(again)[LATER // 2])
    return {f"first {name}": first, f"later {name}": later}


def timed(call: Callable[..., None], *arguments: Any) -> tuple[float, float]:
    """Seconds by the clock and of the processor."""
    clock = time.perf_counter()
    processor = time.process_time()
    call(*arguments)
    return time.perf_counter() - clock, time.process_time() - processor


def search(memory: Memory, copy: Copy, question: str) -> None:
    conversation = None if copy.user else copy.conversation
    memory.search(question, space=copy.space, user=copy.user, conversation=conversation)


def context(memory: Memory, copy: Copy, question: str) -> None:
    memory.conversation(copy.conversation, user=copy.user, space=copy.space).context(question)


def count_all(memory: Memory) -> None:
    memory.stats(space="giant")  # no space has this name if each person has one


def append(memory: Memory, copy: Copy, text: str) -> None:
    memory.conversation(copy.conversation, user=copy.user, space=copy.space).add(
        "user", text, author=None if copy.user else f"s0{copy.token}"
    )


# -- all of it


ACTIONS = ("first search", "later search", "first context", "later context", "append")


Reads = dict[tuple[str, str], list[float]]
KINDS_OF_READS = ("statements", "rows", "blocks")


def count_reads(url: str, copies: Sequence[Copy], count: int, seed: int) -> Reads:
    """What the first search and the first context of a person with 60 messages read of PostgreSQL: for each way by
    which tables are read, how many statements, rows and blocks there are for each person."""
    chance = random.Random(seed)
    strangers, candidates = divide_people(copies)
    people = draw_some(chance, candidates, Unit(USUAL), 2 * count)
    asked = questions(corpus(1_000, seed), 200)
    reads: Reads = {}
    statements: list[tuple[str, Any]] = []
    store = open_store(url, Settings())
    assert isinstance(store, PostgresStore)

    def note(connection: object, cursor: object, statement: str, parameters: Any, *_: object) -> None:
        if statement.lstrip().startswith(("SELECT", "WITH")):
            statements.append((statement, parameters))

    with Memory(store, followers=False) as memory:
        for stranger in strangers:
            search(memory, stranger, asked[0])
            context(memory, stranger, asked[0])
        event.listen(store.engine, "before_cursor_execute", note)
        calls = (("first search", search, people[0::2]), ("first context", context, people[1::2]))
        for action, call, those in calls:
            for number, copy in enumerate(those):
                statements.clear()
                call(memory, copy, asked[number])
                for statement, parameters in list(statements):
                    with store.engine.connect() as connection:
                        query = f"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) {statement}"
                        plan = connection.exec_driver_sql(query, parameters).scalar_one()[0]["Plan"]
                    sources = dict(scans(plan))
                    way = (action, ", ".join(sorted(sources)))
                    more = (1, sum(sources.values()), plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])
                    pairs = zip(reads.get(way, (0.0, 0.0, 0.0)), more, strict=True)
                    reads[way] = [total + number / len(those) for total, number in pairs]
    return reads


def scans(plan: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """Each way by which a plan reads a table, with the rows that it reads."""
    if "Relation Name" in plan:
        kinds = ("Actual Rows", "Rows Removed by Filter", "Rows Removed by Index Recheck")
        way = f"{plan['Relation Name']} by {plan.get('Index Name', plan['Node Type'])}"
        yield way, sum(plan.get(kind, 0) for kind in kinds) * plan["Actual Loops"]
    for part in plan.get("Plans", ()):
        yield from scans(part)


def show_reads(sizes: Sequence[int], found: Sequence[Reads]) -> None:
    for action in ("first search", "first context"):
        ways = {way for reads in found for of_action, way in reads if of_action == action}
        counts = {
            way: [reads.get((action, way), (0.0,) * 3)[kind] for kind in range(len(KINDS_OF_READS)) for reads in found]
            for way in ways
        }
        counts["all"] = [sum(column) for column in zip(*counts.values(), strict=True)]
        header = ("read", *(f"{kind}, {size:,}" for kind in KINDS_OF_READS for size in sizes))
        rows = [(way, *(f"{n:.1f}" for n in counts[way])) for way in sorted(counts, key=lambda way: -counts[way][-1])]
        show(f"{action} of a person with {USUAL} messages", header, rows)


def table_bytes(kind: str, url: str) -> dict[str, int]:
    """Bytes of each table, with its indexes."""
    if kind == "postgresql":
        query = "SELECT relname, pg_total_relation_size(oid) FROM pg_class WHERE relkind = 'r'"
        with psycopg.connect(url) as connection:
            return dict(connection.execute(f"{query} AND relnamespace = 'everword'::regnamespace").fetchall())
    with closing(sqlite3.connect(url)) as connection:
        owners = dict(connection.execute("SELECT name, tbl_name FROM sqlite_master"))
        sizes: dict[str, int] = {}
        for name, size in connection.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name"):
            owner = owners.get(name, name).partition("_data")[0]
            sizes[owner] = sizes.get(owner, 0) + size
        return sizes


@contextmanager
def filled_stores(
    kind: str,
    sizes: Sequence[int],
    seed: int,
    folder: Path,
    *,
    log_and_index: bool = False,
    writers: int = 1,
    space_each: bool = False,
) -> Iterator[list[str]]:
    """The addresses of stores of these sizes."""
    tables = copied_tables(log_and_index)
    template = folder / "template.db"
    if not template.exists():
        print("  one of each size", file=sys.stderr)
        build_template(template)
    if kind == "sqlite":
        name = ("log" if log_and_index else "scale") + ("-each" if space_each else "")
        paths = [folder / f"{name}-{size}-{seed}.db" for size in sizes]
        for size, path in zip(sizes, paths, strict=True):
            if not path.exists():
                fill_sqlite(path.with_suffix(".part"), template, draw_copies(size, seed, space_each), tables)
                path.with_suffix(".part").rename(path)
        yield [str(path) for path in paths]
        return
    with postgres_server() as server, ExitStack() as stack:
        server.set({"max_wal_size": "4GB", "maintenance_work_mem": "512MB", "work_mem": "64MB", "autovacuum": "on"})
        addresses = [stack.enter_context(server.database()) for _ in sizes]
        for size, address in zip(sizes, addresses, strict=True):
            fill_postgres(address, template, draw_copies(size, seed, space_each), tables, writers)
        yield addresses


def run(kind: str, arguments: argparse.Namespace, folder: Path) -> None:
    clock_or_processor = 0 if kind == "postgresql" else 1
    figures = Figures({}, {}, {}, {}, {})
    options = {name: getattr(arguments, name) for name in ("log_and_index", "writers", "space_each")}
    with filled_stores(kind, arguments.sizes, arguments.seed, folder, **options) as addresses:
        if arguments.reads:
            stores = zip(arguments.sizes, addresses, strict=True)
            copies = {n: draw_copies(n, arguments.seed, arguments.space_each) for n in arguments.sizes}
            reads = [count_reads(a, copies[n], arguments.count, arguments.seed) for n, a in stores]
            show_reads(arguments.sizes, reads)
            return
        for size, address in zip(arguments.sizes, addresses, strict=True):
            command = [sys.executable, __file__, "--measure", address, "--sizes", str(size), "--count"]
            command += [str(arguments.count), "--seed", str(arguments.seed)]
            command += ["--log-and-index"] if arguments.log_and_index else []
            command += ["--space-each"] if arguments.space_each else []
            found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
            figures.kilobytes[size] = found["kilobytes"]
            figures.stats[size] = found["stats"][clock_or_processor] * 1000
            figures.of_all[size] = {name: pair[clock_or_processor] * 1000 for name, pair in found["of_all"].items()}
            for unit, times in found["times"].items():
                for action, pairs in times.items():
                    values = [pair[clock_or_processor] * 1000 for pair in pairs] or [float("nan")]
                    figures.medians[size, unit, action] = percentile(values, 0.5)
                    figures.slowest[size, unit, action] = percentile(values, 0.95)
        sizes_by_table = table_bytes(kind, addresses[-1])
    which = "clock" if kind == "postgresql" else "processor"
    show_figures(f"{kind}, milliseconds ({which}), median", arguments.sizes, figures.medians)
    show_figures(f"{kind}, milliseconds ({which}), 95 in 100", arguments.sizes, figures.slowest)
    rows = sorted(sizes_by_table.items(), key=lambda item: -item[1])[:14]
    rows.append(("all", sum(sizes_by_table.values())))
    largest = arguments.sizes[-1]
    show(f"{kind}: bytes a message, {largest:,} messages", ("table", "bytes"), [(n, s // largest) for n, s in rows])
    counts = [
        len({copy.space for copy in draw_copies(n, arguments.seed, arguments.space_each)}) for n in arguments.sizes
    ]
    of_all = [(name, *(f"{figures.of_all[n][name]:.1f}" for n in arguments.sizes)) for name in figures.of_all[largest]]
    show(f"{kind}: milliseconds ({which})", ("in all spaces", *(f"{count:,} spaces" for count in counts)), of_all)
    show_bars(kind, arguments.sizes, figures)


@dataclass(frozen=True, slots=True)
class Figures:
    """Milliseconds by size of store, unit and action: at the median, and what 95 in 100 take at most. And by size of
    store the kilobytes held for each person, the milliseconds of `stats` for the largest space, and of what looks into
    all spaces."""

    medians: dict[tuple[int, str, str], float]
    slowest: dict[tuple[int, str, str], float]
    kilobytes: dict[int, float]
    stats: dict[int, float]
    of_all: dict[int, dict[str, float]]


def show_figures(title: str, sizes: Sequence[int], times: dict[tuple[int, str, str], float]) -> None:
    for size in sizes:
        rows = [(unit.name, *(f"{times[size, unit.name, action]:.1f}" for action in ACTIONS)) for unit in UNITS]
        show(f"{title}, {size:,} messages", ("scope", *ACTIONS), rows)


def show_bars(kind: str, sizes: Sequence[int], figures: Figures) -> None:
    """The bars beside what was measured: for a person with 60 messages, and how much more the largest store takes."""
    person = Unit(USUAL).name
    medians, slowest = figures.medians, figures.slowest
    rows: list[tuple[str, str, str]] = []
    for size in sizes:
        for what in ("search", "context"):
            share = medians[size, person, f"first {what}"] / medians[size, person, f"later {what}"]
            rows.append((f"first {what} to a later one, {size:,}", f"{FIRST_TO_LATER}", f"{share:.2f}"))
        rows.append((f"memory for a person, kB, {size:,}", str(KILOBYTES), f"{figures.kilobytes[size]:.0f}"))
        rows.append((f"stats of the largest space, milliseconds, {size:,}", "", f"{figures.stats[size]:.1f}"))
    for unit in UNITS:
        for action in ACTIONS:
            for name, times, most in (("median", medians, LARGE_TO_SMALL), ("95 in 100", slowest, SLOWEST_GROWTH)):
                growth = times[sizes[-1], unit.name, action] / times[sizes[0], unit.name, action]
                rows.append((f"{unit.name}, {action}, largest to smallest store, {name}", f"{most}", f"{growth:.2f}"))
    show(f"{kind}: bars", ("figure", "at most", "measured"), rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[20_000, 1_000_000], help="messages of each store")
    parser.add_argument("--kinds", nargs="+", default=["sqlite", "postgresql"], choices=["sqlite", "postgresql"])
    parser.add_argument("--count", type=int, default=40, help="people or channels of each size that are asked")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--folder", type=Path, help="where stores are kept; a temporary one unless given")
    parser.add_argument("--log-and-index", action="store_true", help="stores without the other views")
    parser.add_argument("--writers", type=int, default=1, help="connections that fill PostgreSQL beside each other")
    parser.add_argument("--reads", action="store_true", help="count what PostgreSQL reads, and take no times")
    parser.add_argument("--space-each", action="store_true", help="give every person and channel a space of its own")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        copies = draw_copies(arguments.sizes[0], arguments.seed, arguments.space_each)
        followers = not arguments.log_and_index
        print(json.dumps(measure(arguments.measure, copies, arguments.count, arguments.seed, followers=followers)))
        return
    print(describe_machine())
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for kind in arguments.kinds:
            run(kind, arguments, folder)


if __name__ == "__main__":
    main()
