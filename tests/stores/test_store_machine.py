"""Three stores and a few Python dictionaries, driven by the same chance: they must agree on everything after each step.

The model below says in plain words what the log, the cursors, the leases and the index mean. What the machine does,
it does to SQLite, JSON and PostgreSQL through the engine's own functions, and compares all that can be seen with each
other and with the model; the log may only grow, and its chain must hold.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import hypothesis.strategies as st
import numpy as np
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from postgres_databases import PostgresServer
from sample_sizes import sample

from everword.changes.removal import erase_person
from everword.config import Settings
from everword.errors import InvalidInput, NotFound, ScopeError
from everword.log import append_and_read as log
from everword.log.append_and_read import cursor_of, erasures_of, set_cursor
from everword.log.checks_and_seals import hash_platform_id, tombstone
from everword.log.secret_policy import SecretPolicy
from everword.model import Batch, Draft, Entry, Filter, Message
from everword.ports import Store, Tx
from everword.testing.samples import WIDTH, axis, claim_place, find_matches, make_entry, release_place
from everword.wiring import open_store

T = TypeVar("T")
KINDS = ("sqlite", "json", "postgresql")
START = datetime(2026, 1, 1, 12, tzinfo=UTC)
LEASE = timedelta(seconds=60)
SPACES = ("default", "ß %")
CONVERSATIONS = ("%", "日本/'\"")
USERS = ("alex", "kim")
HOLDERS = ("one", "two")
WORDS = ("apple", "pear", "яблоко", "苹果")
PLACES = [(space, id) for space in SPACES for id in CONVERSATIONS]

ANYWHERE = np.ones(WIDTH, dtype=np.float32)

Place = tuple[str, str]


@dataclass
class Lease:
    holder: str | None = None
    until: datetime | None = None
    failures: int = 0
    retry_at: datetime | None = None

    def free(self, now: datetime) -> bool:
        return not (self.until and self.until > now) and not (self.retry_at and self.retry_at > now)


@dataclass
class Thread:
    owner: str | None
    messages: list[Message] = field(default_factory=list)


class Model:
    """What a store is, without a database."""

    def __init__(self) -> None:
        self.threads: dict[Place, Thread] = {}
        self.cursors: dict[Place, int] = {}
        self.leases: dict[Place, Lease] = {}
        self.indexed: dict[tuple[str, str, int], Message] = {}
        self.erasures = 0

    def append(self, place: Place, user: str | None, drafts: list[Draft], now: datetime) -> list[tuple[str, bool]]:
        thread = self.threads.get(place, Thread(user))
        owner = thread.owner
        if user is not None and owner != user:
            if owner is not None or not all(message.erased for message in thread.messages):
                raise ScopeError
            owner = user
        strangers = [draft for draft in drafts if draft.role == "user" and draft.author not in (None, owner)]
        if user is None and owner is not None and strangers:
            raise ScopeError  # what others say in a channel is not put into a chat of one person
        known = {message.id: at for at, held in self.threads.items() if at[0] == place[0] for message in held.messages}
        if any(known.get(draft.id or "", place) != place for draft in drafts):
            raise InvalidInput("id", "is one of another conversation")
        result: list[tuple[str, bool]] = []
        messages = list(thread.messages)
        for draft in drafts:
            same = next((m for m in messages if m.id == draft.id), None) or next(
                (m for m in messages if draft.platform_id and m.platform_id in both(draft.platform_id)), None
            )
            if same is None:
                same = spoken(draft, place, owner, len(messages) + 1, now)
                messages.append(same)
                result.append((same.id, True))
            else:
                result.append((same.id, False))
        if len(messages) > len(thread.messages):
            thread = Thread(owner, messages)
        self.threads[place] = thread
        return result

    def erase(self, space: str, user: str) -> int:
        gone = 0
        for place, thread in self.threads.items():
            for number, message in enumerate(thread.messages):
                if place[0] == space and not message.erased and user in (message.user, message.author):
                    thread.messages[number] = tombstone(message)
                    self.indexed.pop((*place, message.turn), None)
                    self.leases[place] = Lease(retry_at=self.leases.get(place, Lease()).retry_at)
                    gone += 1
        if not gone:
            raise NotFound
        for place, thread in self.threads.items():
            if place[0] == space and thread.owner == user:
                thread.owner = None
        self.erasures += 1
        return gone

    def claim(self, place: Place, holder: str, now: datetime) -> bool:
        lease = self.leases.setdefault(place, Lease())
        if lease.holder != holder and not lease.free(now):
            return False
        lease.holder, lease.until = holder, now + LEASE
        return True

    def release(self, place: Place, holder: str, retry_at: datetime | None) -> None:
        lease = self.leases.get(place, Lease())
        if lease.holder == holder:
            failures = lease.failures + 1 if retry_at else 0
            self.leases[place] = Lease(failures=failures, retry_at=retry_at)

    def reset(self, space: str | None) -> None:
        for kept in (self.cursors, self.leases, self.indexed):
            for key in [key for key in kept if space in (None, key[0])]:
                del kept[key]  # type: ignore[arg-type]


def both(platform_id: str) -> tuple[str, str]:
    return platform_id, hash_platform_id(platform_id)


def spoken(draft: Draft, place: Place, owner: str | None, turn: int, now: datetime) -> Message:
    author = draft.author or (owner if draft.role == "user" else None) or draft.role
    user = draft.user or owner or (author if draft.role == "user" else None)
    assert draft.id is not None
    return Message(
        *place,
        turn,
        draft.id,
        draft.role,
        author,
        user,
        draft.content,
        draft.time or now,
        draft.platform_id,
        draft.metadata,
    )


def entry_of(message: Message) -> Entry:
    return make_entry(message, message.content.split(), axis(len(message.content) % 7))


def outcome(fn: Callable[[], object]) -> object:
    """What it answers, or how it refuses."""
    try:
        return fn()
    except (InvalidInput, NotFound, ScopeError) as error:
        return type(error)


drafts = st.builds(
    Draft,
    role=st.sampled_from(("user", "assistant")),
    content=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
    author=st.sampled_from((None, None, *USERS)),
    user=st.just(None),
    time=st.sampled_from((None, None, START - timedelta(days=700), datetime(1950, 1, 1, tzinfo=UTC))),
    platform_id=st.sampled_from((None, None, "p1", "p2", "p3")),
    metadata=st.sampled_from(({}, {"n": 1, "deep": {"é": [1.5, None]}})),
    id=st.sampled_from((None, None, None, None, "known 1", "known 2")),
)
places = st.sampled_from(PLACES)
# Mostly one person's chats, with now and then somebody else's knock at the door.
batches = st.lists(
    st.tuples(places, st.sampled_from((None, "alex", "alex", "kim")), st.lists(drafts, max_size=4)),
    min_size=1,
    max_size=3,
)
work = st.lists(
    st.tuples(st.sampled_from(("claim", "claim", "finish", "fail", "wait")), places, st.sampled_from(HOLDERS)),
    min_size=1,
    max_size=4,
)


class Stores(RuleBasedStateMachine):
    """Does everything three times and once more."""

    postgres: PostgresServer

    @initialize()
    def begin(self) -> None:
        self.cleanup = ExitStack()
        self.folder = Path(tempfile.mkdtemp(prefix="everword-"))
        self.cleanup.callback(shutil.rmtree, self.folder)
        self.urls = {"sqlite": f"{self.folder}/memory.db", "json": f"json:{self.folder}/memory.json"}
        self.urls["postgresql"] = self.cleanup.enter_context(self.postgres.database())
        self.stores: dict[str, Store] = {kind: open_store(self.urls[kind], Settings()) for kind in KINDS}
        self.model, self.now, self.count = Model(), START, 0
        self.before: dict[Place, list[Message]] = {}

    def teardown(self) -> None:
        if hasattr(self, "stores"):
            for store in self.stores.values():
                store.close()
            self.cleanup.close()

    def all(self, fn: Callable[[Tx], T], expected: Callable[[], object]) -> None:
        """The same transaction on each store; each answers, or refuses, as the model does."""
        answers = [outcome(lambda: store.write(fn)) for store in self.stores.values()]  # noqa: B023
        assert answers == [outcome(expected)] * len(answers)

    # -- what may happen

    @rule(batches=batches)
    def append(self, batches: list[tuple[Place, str | None, list[Draft]]]) -> None:
        for place, user, drafts in batches:
            self.append_to(place, user, drafts)

    @rule(batches=batches, space=st.sampled_from(SPACES), user=st.sampled_from(USERS))
    def erase_and_come_back(self, batches: list[tuple[Place, str | None, list[Draft]]], space: str, user: str) -> None:
        self.all(lambda tx: erase_person(tx, space, user, self.now).messages, lambda: self.model.erase(space, user))
        self.append(batches)

    @rule(where=st.lists(st.tuples(places, st.integers(1, 5)), min_size=1, max_size=4))
    def index(self, where: list[tuple[Place, int]]) -> None:
        for place, most in where:
            self.index_some(place, most)

    @rule(work=work)
    def work(self, work: list[tuple[str, Place, str]]) -> None:
        for what, place, holder in work:
            if what == "claim":
                self.claim(holder, place)
            elif what == "wait":
                self.now += LEASE / 2
            else:
                self.release(holder, place, timedelta(seconds=45) if what == "fail" else None)

    @rule(space=st.sampled_from((None, *SPACES)), again=st.booleans())
    def rebuild(self, space: str | None, again: bool) -> None:
        self.all(lambda tx: tx.reset_view("index", space), lambda: self.model.reset(space))
        if again:
            self.index([(place, 100) for place in PLACES])

    @rule(kind=st.sampled_from(KINDS))
    def reopen(self, kind: str) -> None:
        """D8. The JSON file does not say who was at work, as that process is gone: so everybody finishes first."""
        if kind == "json":
            self.now += 2 * LEASE
            for place in PLACES:
                self.claim("one", place)
                self.release("one", place, None)
        self.stores[kind].close()
        self.stores[kind] = open_store(self.urls[kind], Settings())

    # -- in three stores and the model

    def append_to(self, place: Place, user: str | None, drafts: list[Draft]) -> None:
        self.now += timedelta(seconds=1)
        named = [replace(draft, id=draft.id or f"m{self.count + i}") for i, draft in enumerate(drafts)]
        self.count += len(named)

        def write(tx: Tx) -> list[tuple[str, bool]]:
            added = log.append_messages(tx, Batch(*place, user, named), self.now, SecretPolicy())
            return [(one.message.id, one.new) for one in added]

        self.all(write, lambda: self.model.append(place, user, named, self.now))

    def claim(self, holder: str, place: Place) -> None:
        now = self.now
        self.all(
            lambda tx: claim_place(tx, "index", *place, holder, now, now + LEASE),
            lambda: self.model.claim(place, holder, now),
        )

    def release(self, holder: str, place: Place, wait: timedelta | None) -> None:
        retry_at = None if wait is None else self.now + wait
        error = "failed" if wait else None
        self.all(
            lambda tx: release_place(tx, "index", *place, holder, error=error, retry_at=retry_at),
            lambda: self.model.release(place, holder, retry_at),
        )

    def index_some(self, place: Place, most: int) -> None:
        """What a follower stores: passages of what is new, and the cursor."""

        def write(tx: Tx) -> int:
            done = cursor_of(tx, "index", *place)
            new = tx.messages(Filter(place[0], conversation=place[1]), after=(place[1], done), limit=most)
            tx.index.put_entries([entry_of(message) for message in new if not message.erased])
            if new:
                set_cursor(tx, "index", *place, new[-1].turn)
            return len(new)

        def expected() -> int:
            done = self.model.cursors.get(place, 0)
            new = self.model.threads.get(place, Thread(None)).messages[done : done + most]
            self.model.indexed |= {(*place, message.turn): message for message in new if not message.erased}
            if new:
                self.model.cursors[place] = new[-1].turn
            return len(new)

        self.all(write, expected)

    # -- what must be so

    @invariant()
    def everybody_agrees(self) -> None:
        seen = [store.read(lambda tx: observed(tx, self.now)) for store in self.stores.values()]
        expected = self.expected()
        for one in seen:
            assert one == expected

    @invariant()
    def the_log_only_grows(self) -> None:
        after = {place: list(thread.messages) for place, thread in self.model.threads.items()}
        for place, messages in self.before.items():
            assert len(after[place]) >= len(messages)
            for old, new in zip(messages, after[place], strict=False):
                assert new == (tombstone(old) if new.erased and not old.erased else old)
        self.before = after

    def expected(self) -> dict[str, Any]:
        model, now = self.model, self.now
        lags = {place: len(t.messages) - model.cursors.get(place, 0) for place, t in model.threads.items()}
        free = [place for place, lag in lags.items() if lag and model.leases.get(place, Lease()).free(now)]
        indexed = list(model.indexed.values())
        every = [message for _, thread in sorted(model.threads.items()) for message in thread.messages]
        return {
            "threads": [
                (*place, thread.owner, len(thread.messages)) for place, thread in sorted(model.threads.items())
            ],
            "messages": every,
            "cursors": sorted((*place, turn) for place, turn in model.cursors.items()),
            "failures": sorted((*place, lease.failures) for place, lease in model.leases.items() if lease.failures),
            "lagging": sorted((*place, model.cursors.get(place, 0)) for place in free),
            "behind": sum(lags.values()),
            "leased": sum(1 for lease in model.leases.values() if lease.until and lease.until > now),
            "tallies": [
                (len(some), sum(len(m.content.split()) for m in some))
                for space in SPACES
                for user in (None, "alex")
                for some in [[m for m in indexed if m.space == space and user in (None, m.user)]]
            ],
            "found": [
                sorted((m.id, tuple(map(m.content.split().count, WORDS))) for m in indexed if m.space == space)
                for space in SPACES
            ],
            "frequencies": [
                [sum(word in m.content for m in indexed if m.space == space) for word in WORDS] for space in SPACES
            ],
            "near": [sorted(m.id for m in indexed if m.space == space) for space in SPACES],
            "erasures": model.erasures,
            "verified": (True, sum(not m.erased for m in every), sum(m.erased for m in every)),
        }


def observed(tx: Tx, now: datetime) -> dict[str, Any]:
    """All that can be seen of a store."""
    state, proof = tx.view_state("index", now, None), log.verify(tx)
    found = [find_matches(tx, [[word] for word in WORDS], Filter(space)) for space in SPACES]
    tallies = [tx.index.tally(space, user) for space in SPACES for user in (None, "alex")]
    near = [[doc for doc, _ in tx.index.nearest(Filter(space), ANYWHERE, 500)] for space in SPACES]
    return {
        "threads": [(one.space, one.id, one.user, one.turns) for one in tx.conversations()],
        "messages": [message for space in SPACES for message in tx.messages(Filter(space))],
        "cursors": sorted((row["space"], row["conversation"], row["turn"]) for row in tx.rows("cursors")),
        "failures": sorted(
            (row["space"], row["conversation"], row["failures"]) for row in tx.rows("leases") if row["failures"]
        ),
        "lagging": sorted((lag.space, lag.conversation, lag.done) for lag in tx.lagging("index", now)),
        "behind": state.behind,
        "leased": state.leased,
        "tallies": [(tally.docs, tally.words) for tally in tallies],
        "found": [sorted((one.message_id, one.counts) for one in candidates) for candidates, _ in found],
        "frequencies": [frequencies for _, frequencies in found],
        "near": [
            sorted(one.message_id for one in tx.index.candidates(Filter(space), docs, []))
            for space, docs in zip(SPACES, near, strict=True)
        ],
        "erasures": len(erasures_of(tx)),
        "verified": (proof.ok, proof.messages, proof.erased),
    }


def test_three_stores_and_a_model_agree_whatever_happens(postgres: PostgresServer) -> None:
    """C1, D8, and that the log is append-only."""
    machine = type("Machine", (Stores,), {"postgres": postgres})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=sample(16),
            stateful_step_count=22,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.generate,),
        ),
    )
