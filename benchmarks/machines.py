"""PostgreSQL that Citus spreads over machines: how many statements ask one machine, and what is lost, doubled or kept
waiting when a machine stops, and when a server or a worker of everword is killed.

    EVERWORD_TEST_CITUS=postgresql://user@coordinator/database python benchmarks/machines.py
                                                    [--rounds 60] [--seconds 20] [--clients 4] [--worker-alone]

The address names a database on the coordinator in which all machines are known, as for `make test-citus`. In the first
part, followers on, people and channels write, search and ask for contexts, in one space and in three, of which one has
90 %; Citus itself counts the statements. The second part stops machines, so it needs all of them on this computer, and
the right to end their processes: each machine is stopped at once (SIGQUIT, as in a crash) while clients write by way of
two servers, and is started again after `--seconds`. One of these talks to the coordinator, the other to the first
machine, and if that is away to the coordinator. An `everword worker` works beside them. While a machine is away,
a server and the worker are killed (SIGKILL) and started again. A client repeats what was not answered, with its
Idempotency-Key, and meanwhile goes on with other spaces; what it writes it searches for until it finds it. Each message
is also a fact: before a machine is started or stopped, the clients pause until all facts of the spaces that are there
have been made. With `--worker-alone`, the servers make no views, and the worker makes all of them. In the end all that
was answered must be in the log, in the index and among the facts, each once; if not, this program fails.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import psycopg
from sqlalchemy.engine import make_url

from corpus import corpus, questions
from everword import Memory
from everword.config import Settings
from everword.server.keys import create_key
from everword.wiring import open_store
from machine import describe_machine
from server import started
from table import milliseconds, percentile, show

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "doubles"))
from postgres_databases import CITUS, CitusServer, postgres_server

SEED = 7
SPACES = {"giant": 0.9, "middle": 0.07, "small": 0.03}  # and their shares of what is said
PEOPLE, ROOMS = 15, 3
PLACES = 8  # spaces that the clients write to
PATIENCE = 60.0  # seconds that a client waits for an answer
SETTLED = 600.0  # seconds until all views are made
FOUND = 10.0  # seconds for which a client searches for what it has written
DERIVED = 120.0  # seconds until a message is a fact, at most, while the clients pause
PAUSE = 0.05  # seconds that a client waits after an error
COUNTS = (
    "SELECT query_execution_single_shard, query_execution_multi_shard FROM citus_stat_counters "
    "WHERE name = current_database()"
)
SHARD = "SELECT get_shard_id_for_distribution_column('everword.messages', %s::text)"
DOUBLED = (
    "SELECT count(*) - count(DISTINCT (space, conversation, turn, part)) AS doubled, "
    "count(DISTINCT (space, conversation, turn)) FROM everword.entries"
)
FACTS = "SELECT value FROM everword.facts WHERE space = %s AND active = 1"


# -- how many statements ask one machine


def work(memory: Memory, spaces: Sequence[str], rounds: int) -> None:
    """What people and channels do in a while; who and where is drawn."""
    chance = random.Random(SEED)
    texts = corpus(1_000, SEED)
    asked = questions(texts, 50)
    for number in range(rounds):
        (space,) = chance.choices(spaces, [SPACES[space] for space in spaces])
        user = f"u{chance.randrange(PEOPLE)}"
        chat = memory.conversation(f"{user}-chat{chance.randrange(2)}", user=user, space=space)
        room = memory.conversation(f"room{chance.randrange(ROOMS)}", space=space)
        for turn in range(4):
            chat.add("user", texts[(number * 7 + turn) % len(texts)])
            chat.add("assistant", texts[(number * 11 + turn + 3) % len(texts)])
        room.add("user", texts[number % len(texts)], author=user)
        memory.search(asked[number % 50], user=user, space=space)
        memory.search(asked[(number + 1) % 50], conversation=room.id, space=space)
        chat.context(asked[(number + 2) % 50])
        if number % 3 == 0:
            room.context(asked[(number + 3) % 50])
            memory.facts(user=user, space=space)
            memory.profile(user=user, space=space)
            chat.history(limit=20)
        if number % 10 == 0:
            memory.remember(f"{user} likes short answers", user=user, space=space)
            memory.conversations(user=user, space=space)
            chat.edit(chat.history()[0].id, "I changed my mind about that.")


def count_statements(server: CitusServer, rounds: int) -> None:
    rows = []
    for count in (1, 3):
        with server.database() as store, psycopg.connect(store, autocommit=True) as connection:
            with psycopg.connect(server.address_by(0, store), autocommit=True) as coordinator:
                coordinator.execute(f'ALTER DATABASE "{connection.info.dbname}" SET citus.enable_stat_counters = on')
            before = connection.execute(COUNTS).fetchall()[0]
            began = time.monotonic()
            with Memory(store, telemetry="off") as memory:
                work(memory, list(SPACES)[:count], rounds)
            seconds = time.monotonic() - began
            after = connection.execute(COUNTS).fetchall()[0]
        one, many = (int(b - a) for a, b in zip(before, after, strict=True))
        rows.append((count, f"{one + many:,}", f"{many:,}", f"{100 * one / (one + many):.1f} %", f"{seconds:.0f}"))
    show("Statements", ("spaces", "statements", "on several shards", "on one shard", "seconds"), rows)


# -- machines, servers and workers that end


@dataclass(frozen=True, slots=True)
class Machine:
    """A PostgreSQL server on this computer."""

    name: str
    folder: Path

    def stop(self) -> None:
        process_id = int((self.folder / "postmaster.pid").read_text().splitlines()[0])
        os.kill(process_id, signal.SIGQUIT)
        while (self.folder / "postmaster.pid").exists() and Path(f"/proc/{process_id}").exists():
            time.sleep(0.02)

    def start(self) -> None:
        program = shlex.split((self.folder / "postmaster.opts").read_text())[0]
        command = [str(Path(program).with_name("pg_ctl")), "-D", str(self.folder), "-w", "-s"]
        owner = self.folder.stat()
        identity = {"user": owner.st_uid, "group": owner.st_gid} if os.geteuid() == 0 else {}
        log = ["-l", str(self.folder / "server.log"), "start"]
        subprocess.run([*command, *log], check=True, cwd=self.folder, **identity)  # type: ignore[call-overload]


def machines_of(server: CitusServer, store: str, count: int) -> list[Machine]:
    machines = []
    for number in range(1, count):
        address = server.address_by(number, store)
        with psycopg.connect(address) as connection:
            folder = connection.execute("SHOW data_directory").fetchall()[0][0]
        machines.append(Machine(f"{make_url(address).host}:{make_url(address).port}", Path(folder)))
    return machines


def address_by_either(first: str, second: str) -> str:
    """The address of a database by way of one machine, and of another if that is away."""
    urls = [make_url(first), make_url(second)]
    hosts = tuple(f"{url.host}:{url.port}" for url in urls)
    return urls[0].set(host=None, port=None, query={"host": hosts}).render_as_string(hide_password=False)


def machine_of_each(store: str, spaces: Sequence[str]) -> dict[str, str]:
    """The machine on which each space lies."""
    with psycopg.connect(store) as connection:
        query = "SELECT shardid, nodename || ':' || nodeport FROM citus_shards"
        places: dict[int, str] = dict(connection.execute(query).fetchall())
        return {space: places[connection.execute(SHARD, [space]).fetchall()[0][0]] for space in spaces}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a client got: when, how long it took, for which space, by which server, and the status (0: no answer)."""

    at: float
    seconds: float
    space: str
    server: int
    status: int
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Search:
    """What became of a search for what was just written: when, in which space, after how long, and whether it was found
    by the first search or at all."""

    at: float
    space: str
    seconds: float
    is_first: bool
    is_found: bool


@dataclass(slots=True)
class Load:
    """Clients that write without a pause, and what they were answered. `ports` are those of the servers."""

    ports: list[int]
    key: str
    spaces: Sequence[str]
    answers: list[Answer] = field(default_factory=list)
    kept: list[tuple[str, str]] = field(default_factory=list)  # space and text of what was acknowledged
    searches: list[Search] = field(default_factory=list)
    may_go: threading.Event = field(default_factory=threading.Event)
    is_over: threading.Event = field(default_factory=threading.Event)

    def run(self, number: int) -> None:
        """One client, in all spaces in turn. What is not answered is repeated in its turn, until it is."""
        waiting: dict[str, str] = {}
        with httpx2.Client(headers={"Authorization": f"Bearer {self.key}"}, timeout=PATIENCE) as http:
            for count in itertools.count(number):
                self.may_go.wait()
                if self.is_over.is_set() and not waiting:
                    return
                space = self.spaces[count % len(self.spaces)]
                text = waiting.get(space) or f"I like cheese {number}x{count}"
                if space not in waiting and self.is_over.is_set():
                    continue
                if self.say(http, number, space, text):
                    waiting.pop(space, None)
                else:
                    waiting[space] = text
                    time.sleep(PAUSE)

    def say(self, http: httpx2.Client, number: int, space: str, text: str) -> bool:
        """Write a message by one server, by the other if that does not answer, and search for it. Whether it is
        kept."""
        body = {"user": f"u{number}", "messages": [{"role": "user", "content": text}]}
        for server in (number % 2, 1 - number % 2):
            path = f"http://127.0.0.1:{self.ports[server]}/v1"
            where = {"space": space}
            began = time.monotonic()
            try:
                url = f"{path}/conversations/chat{number}/messages"
                answer = http.post(url, params=where, json=body, headers={"Idempotency-Key": f"{space} {text}"})
            except httpx2.TransportError as error:
                self.note(began, space, server, 0, type(error).__name__)
                continue
            detail = "" if answer.status_code == 200 else f"{answer.json()['code']}: {answer.json()['detail']}"
            self.note(began, space, server, answer.status_code, detail)
            if answer.status_code != 200:
                return False
            self.kept.append((space, text))
            with suppress(httpx2.TransportError):
                self.search(http, path, space, {"query": text, "user": f"u{number}"})
            return True
        return False

    def search(self, http: httpx2.Client, path: str, space: str, question: dict[str, str]) -> None:
        """Search for what was written until it is found, or for a while."""
        began = time.monotonic()
        for count in itertools.count(1):
            is_found = question["query"] in http.post(f"{path}/search", params={"space": space}, json=question).text
            now = time.monotonic()
            if is_found or now - began > FOUND:
                self.searches.append(Search(now, space, now - began, is_found and count == 1, is_found))
                return
            time.sleep(PAUSE)

    def note(self, began: float, space: str, server: int, status: int, detail: str) -> None:
        now = time.monotonic()
        self.answers.append(Answer(now, now - began, space, server, status, detail))


@contextmanager
def running(load: Load, clients: int) -> Iterator[None]:
    with ThreadPoolExecutor(clients) as threads:
        work = [threads.submit(load.run, number) for number in range(clients)]
        load.may_go.set()
        try:
            yield
        finally:
            load.is_over.set()
            load.may_go.set()
        for client in work:
            client.result()


def describe(load: Load, name: str, began: float, end: float, away: Callable[[str], bool]) -> tuple[object, ...]:
    """What clients got in a time: of spaces that are away and of the others."""
    during = [answer for answer in load.answers if began <= answer.at < end]
    there = sorted(answer.at for answer in during if not away(answer.space) and answer.status == 200)
    gaps = [after - before for before, after in zip([began, *there], [*there, end], strict=True)]
    times = [answer.seconds for answer in during if answer.status == 200 and not away(answer.space)] or [0.0]
    refused = [answer.seconds for answer in during if answer.status != 200]
    kept_away = sum(answer.status == 200 and away(answer.space) for answer in during)
    searches = [search for search in load.searches if began <= search.at < end and not away(search.space)]
    later = sum(not search.is_first for search in searches)
    found = f"{max((search.seconds for search in searches), default=0.0):.2f}"
    unfound = sum(not search.is_found for search in searches)
    wait = milliseconds(max(refused)) if refused else ""
    median = milliseconds(percentile(times, 0.5))
    gap = f"{max(gaps):.2f}"
    return name, f"{end - began:.0f}", len(there), median, gap, later, found, unfound, kept_away, len(refused), wait


def describe_refusals(answers: Sequence[Answer]) -> list[tuple[object, ...]]:
    """How often each refusal came, and after how long."""
    seconds: dict[tuple[int, str], list[float]] = defaultdict(list)
    for answer in answers:
        if answer.status != 200:
            seconds[answer.status, answer.detail].append(answer.seconds)
    return [
        (*reason, len(times), milliseconds(percentile(times, 0.5)), milliseconds(max(times)))
        for reason, times in sorted(seconds.items(), key=lambda entry: -len(entry[1]))
    ]


def count_facts(store: str, spaces: Sequence[str]) -> Counter[tuple[str, str]]:
    """How often what was said in each space is a fact."""
    with psycopg.connect(store) as connection:
        rows = ((space, connection.execute(FACTS, [space]).fetchall()) for space in spaces)
        return Counter((space, f"I like {value}") for space, values in rows for (value,) in values)


def seconds_until_facts(store: str, load: Load, spaces: Sequence[str]) -> float:
    """How long it takes, while the clients pause, until all that was acknowledged in these spaces is facts."""
    load.may_go.clear()
    began = time.monotonic()
    expected = {(space, text) for space, text in [*load.kept] if space in spaces}
    while missing := expected - count_facts(store, spaces).keys():
        if time.monotonic() - began > DERIVED:
            raise SystemExit(f"no facts {DERIVED:.0f} s after they were said: {sorted(missing)}")
        time.sleep(1)
    load.may_go.set()
    return time.monotonic() - began


def stop_and_kill(server: CitusServer, folder: Path, clients: int, seconds: float) -> None:
    with server.database() as database, ExitStack() as stack:
        store = server.address_by(0, database)  # also where the tests talk to a machine: that one is stopped, too
        spaces = [f"s{number}" for number in range(PLACES)]
        place_of = machine_of_each(store, spaces)
        machines = machines_of(server, store, len(set(place_of.values())) + 1)
        with closing(open_store(store, Settings())) as opened:
            key = create_key(opened, name="benchmark")[1]
        doors = [store, address_by_either(server.address_by(1, store), store)]

        def serve(number: int) -> tuple[int, int]:
            home = Path(tempfile.mkdtemp(dir=folder))
            command = ("-m", "everword", "serve", "--port", "0", "--store", doors[number])
            return stack.enter_context(started(home, *command))

        def work_beside() -> subprocess.Popen[bytes]:
            command = [sys.executable, "-m", "everword", "worker", "--store", doors[0]]
            return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        servers = [serve(0), serve(1)]
        worker = work_beside()
        load = Load([port for port, _ in servers], key, spaces)
        rows = []

        def phase(name: str, away: Callable[[str], bool] = lambda space: False) -> None:
            began = time.monotonic()
            time.sleep(seconds)
            row = describe(load, name, began, time.monotonic(), away)
            there = [space for space in spaces if not away(space)]
            rows.append((*row, f"{seconds_until_facts(store, load, there):.0f}"))

        try:
            with running(load, clients):
                phase("all are there")
                for machine in machines:

                    def is_away(space: str, name: str = machine.name) -> bool:
                        return place_of[space] == name

                    machine.stop()
                    phase(f"{machine.name} is away", is_away)
                    os.kill(servers[0][1], signal.SIGKILL)
                    worker.kill()
                    worker.wait()
                    worker = work_beside()
                    servers[0] = serve(0)
                    load.ports[0] = servers[0][0]
                    phase("and a server and the worker were killed", is_away)
                    machine.start()
                    back_at = time.monotonic()
                    phase(f"{machine.name} is back")
                    mine = [a.at for a in load.answers if a.at > back_at and is_away(a.space) and a.status == 200]
                    print(f"{machine.name} was back: first answer for its spaces after {min(mine) - back_at:.2f} s")
        finally:
            worker.kill()
            worker.wait()
        searched = ("not found at once", "longest until found s", "not found")
        header = ("what", "seconds", "answered elsewhere", "median ms", "longest gap s", *searched, "answered there")
        show("Clients write and search", (*header, "refused", "longest wait ms", "all facts after s"), rows)
        show("Refused", ("status", "detail", "times", "median ms", "longest wait ms"), describe_refusals(load.answers))
        check_whole(store, load)


def check_whole(store: str, load: Load) -> None:
    """Fails if something that was answered is not in the log, in the index and among the facts, or is there twice."""
    with Memory(store, telemetry="off") as memory:
        memory.settle(SETTLED)
        report = memory.verify()
        stored = Counter((m.space, m.content) for space in load.spaces for m in memory.export(space=space))
    with psycopg.connect(store) as connection:
        doubled, indexed = connection.execute(DOUBLED).fetchall()[0]
    kept, facts = set(load.kept), count_facts(store, load.spaces)
    lost, twice = len(kept - stored.keys()), sum(count > 1 for count in (*stored.values(), *facts.values()))
    row = (len(kept), len(stored), lost, twice, len(stored.keys() - kept), indexed, doubled, len(facts), report.ok)
    header = (
        "acknowledged",
        "stored",
        "lost",
        "doubled",
        "stored, not acknowledged",
        "indexed",
        "indexed twice",
        "facts",
        "log whole",
    )
    show("In the end", header, [row])
    if lost or twice or doubled or indexed != len(stored) or facts.keys() != stored.keys() or not report.ok:
        raise SystemExit("something was lost or doubled")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=60, help="of writing, searching and asking; 0: none are counted")
    parser.add_argument("--seconds", type=float, default=20, help="that each thing is away; 0: nothing is stopped")
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--worker-alone", action="store_true", help="servers make no views")
    arguments = parser.parse_args()
    if not os.environ.get(CITUS):
        raise SystemExit(f"set {CITUS}=postgresql://user@coordinator/database")
    print(describe_machine())
    if arguments.worker_alone:
        os.environ["EVERWORD_FOLLOWERS"] = "false"
    with tempfile.TemporaryDirectory() as folder, postgres_server() as server:
        assert isinstance(server, CitusServer)
        if arguments.rounds:
            count_statements(server, arguments.rounds)
        if arguments.seconds:
            stop_and_kill(server, Path(folder), arguments.clients, arguments.seconds)


if __name__ == "__main__":
    main()
