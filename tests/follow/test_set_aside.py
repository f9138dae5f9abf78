"""One bad message harms itself alone: it is set aside, named, and tried again; everything else goes on."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from engine_doubles import HashEmbedder, StoreDouble
from fact_talks import answered, entry
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from poison_doubles import POISON, SECRET, DamagedStore, PoisonEmbedder
from sample_sizes import sample

from everword import Draft, EmbedderError, EmbedderRefused, InvalidInput, Memory, NotSettled, Retried
from everword.config import Settings
from everword.memory.transfer import copy_store
from everword.model import Role, ViewState
from everword.ports import Request, Tx, Vectors
from everword.testing import FrozenClock, ScriptedLLM
from everword.wiring import open_store

BAD = f"{POISON}: {SECRET}"
DAY = timedelta(days=1)


def state_of(memory: Memory, view: str, space: str | None = None) -> ViewState:
    return next(state for state in memory.stats(space=space).views if state.view == view)


def say(memory: Memory, conversation: str, *texts: str, space: str = "default", user: str | None = "alex") -> None:
    roles: list[Role] = ["user", "assistant"] if user is None else ["user"]
    drafts = [Draft(roles[number % len(roles)], text, author=user or "alex") for number, text in enumerate(texts)]
    memory.conversation(conversation, user=user, space=space).extend(drafts)


def indexed(memory: Memory, space: str = "default") -> set[str]:
    """The texts that a search for their common word gives."""
    return {hit.message.content for hit in memory.search("zebra", space=space, limit=1_000)}


def aside(store: DamagedStore) -> set[tuple[str, str, int]]:
    """What views have set aside, by view, conversation and turn."""
    rows = store.read(lambda tx: tx.rows("set_aside"))
    return {(row["view"], row["conversation"], row["turn"]) for row in rows}


# -- the message alone


@pytest.mark.checklist("F15")
def test_a_message_that_fails_stops_nobody_else(store_url: str, caplog: pytest.LogCaptureFixture) -> None:
    """F15: not its own conversation, not another of its space, not another space; and its words are told nowhere."""
    with Memory(store_url, embedder=PoisonEmbedder(), followers=False, clock=FrozenClock()) as memory:
        say(memory, "bad", "zebra 1", BAD, "zebra 3", space="red")
        say(memory, "good", "zebra 4", space="red")
        say(memory, "chat", "zebra 5", "zebra 6", space="blue")
        assert memory.settle() == 1
        assert indexed(memory, "red") == {"zebra 1", "zebra 3", "zebra 4"}
        assert indexed(memory, "blue") == {"zebra 5", "zebra 6"}
        assert state_of(memory, "index", "blue") == ViewState("index", 0, 0, 0, None)
        assert state_of(memory, "index", "red") == ViewState("index", 0, 0, 0, "OverflowError", set_aside=1)
        assert memory.stats().entries == 5
        assert SECRET not in str(memory.stats())
    assert "index" in caplog.text
    assert SECRET not in caplog.text


@pytest.mark.checklist("F15")
def test_while_bad_messages_keep_coming_others_are_seen_to_at_once(store_url: str) -> None:
    """F15: no innocent conversation waits after a failure that was not its own: the clock stands still."""
    with Memory(store_url, embedder=PoisonEmbedder(), followers=False, clock=FrozenClock()) as memory:
        for number in range(5):
            say(memory, f"bad {number}", BAD, space="red")
            say(memory, "victim", f"zebra {number}", space="blue")
            memory.settle()
            assert indexed(memory, "blue") == {f"zebra {earlier}" for earlier in range(number + 1)}
        assert state_of(memory, "index").set_aside == 5


@pytest.mark.checklist("F15")
def test_a_model_is_not_asked_again_about_messages_that_did_not_fail(store_url: str) -> None:
    """F15: the message to blame is found among many, and each of the others is in one call that was answered."""
    answered_calls: Counter[str] = Counter()

    def reply(request: Request) -> str | Exception:
        text = request.messages[-1]["content"]
        if "facts" not in (request.schema or {})["required"]:
            return "{}"
        if POISON in text:
            return OverflowError(f"cannot read {text!r}")
        read_lines = [line for line in text.splitlines() if line[:1].isdigit()]  # the others are context
        answered_calls.update(word for line in read_lines for word in line.split() if word.startswith("number-"))
        return '{"facts": []}'

    texts = [f"I have a zebra called number-{n} {POISON if n in (3, 20) else 'Bob'} at home" for n in range(24)]
    with Memory(store_url, memory=ScriptedLLM(default=reply), window_turns=0, followers=False) as memory:
        say(memory, "chat", *texts[:12], space="red")
        say(memory, "more", *texts[12:], space="blue")
        memory.settle()
        assert state_of(memory, "facts") == ViewState("facts", 0, 0, 0, "OverflowError", set_aside=2)
    assert answered_calls == {f"number-{n}": 1 for n in range(24) if n not in (3, 20)}


@pytest.mark.checklist("F15")
def test_a_message_that_fails_once_does_not_fail_again_in_the_summary_it_is_part_of(store_url: str) -> None:
    """F15: the window goes on: what comes after is not set aside on account of what leaves."""
    with Memory(store_url, embedder=PoisonEmbedder(), followers=False, clock=FrozenClock()) as memory:
        said = [f"I saw {POISON if number == 4 else 'a zebra'} in park {number}" for number in range(40)]
        say(memory, "chat", *said)
        assert memory.settle() == 1
        chat = memory.conversation("chat", user="alex")
        assert state_of(memory, "window").set_aside == 0
        assert chat.archived()
        assert [message.content for message in chat.history()] == said


def find_pollen(request: Request) -> str | Exception:
    """A memory model that finds what somebody is allergic to, and whose adapter fails on poison."""
    text = request.messages[-1]["content"]
    if "facts" not in (request.schema or {})["required"]:
        return "{}"
    if POISON in text:
        return OverflowError(f"cannot read {text!r}")
    return answered(
        {found: [entry("constraint", "allergies", found)] for found in re.findall("pollen[0-9]+", text)}, request
    )


@settings(max_examples=sample(10), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
@pytest.mark.checklist("F15")
def test_whatever_fails_all_else_is_there_once(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    """F15: any messages of any conversations of any spaces are bad; every other is indexed and read, none twice. What
    the model fails on is read by rules."""
    places = data.draw(st.lists(st.tuples(st.sampled_from("rgb"), st.sampled_from("cde")), min_size=1, max_size=30))
    bad = data.draw(st.sets(st.integers(0, len(places) - 1)))
    rested = data.draw(st.sets(st.integers(0, len(places) - 1), max_size=2))
    url, model = str(tmp_path_factory.mktemp("property") / "memory.db"), ScriptedLLM(default=find_pollen)
    with Memory(url, embedder=PoisonEmbedder(), memory=model, followers=False, clock=FrozenClock()) as memory:
        for number, (space, conversation) in enumerate(places):
            text = f"zebra {number}: I am allergic to pollen{number}"
            say(memory, conversation, f"{POISON} {text}" if number in bad else text, space=space)
            if number in rested:
                memory.settle()
        assert memory.settle() == 2 * len(bad)
        assert {state.behind for state in memory.stats().views} == {0}
        assert memory.stats().entries == len(places) - len(bad)
        for space in "rgb":
            mine = [number for number, place in enumerate(places) if place[0] == space]
            good = [number for number in mine if number not in bad]
            assert indexed(memory, space) == {f"zebra {number}: I am allergic to pollen{number}" for number in good}
            facts = [fact.value for fact in memory.facts(user="alex", space=space)]
            assert sorted(facts) == sorted(f"pollen{number}" for number in mine)
            for view in ("index", "facts"):
                assert state_of(memory, view, space).set_aside == len(mine) - len(good)


# -- a row that cannot be read


@pytest.mark.every_store
@pytest.mark.checklist("F15")
def test_a_row_that_cannot_be_read_stops_no_view(store_url: str, caplog: pytest.LogCaptureFixture) -> None:
    """F15: every view goes past it and on, in its own conversation and in all others; it is named by its place."""
    store = DamagedStore(open_store(store_url, Settings()), ("bad", 2), ("bad", 5))
    with Memory(store, followers=False, clock=FrozenClock(), window_turns=12) as memory:
        say(memory, "bad", *(f"zebra {n}" for n in range(5)), user=None)
        say(memory, "good", *(f"zebra {n}" for n in range(10, 16)), space="blue")
        memory.settle()
        assert [state.view for state in memory.stats().views if state.behind] == []
        assert {where for where in aside(store) if where[0] in ("index", "facts", "tiers", "digests")} == {
            (view, "bad", turn) for view in ("index", "facts", "tiers", "digests") for turn in (2, 5)
        }
        assert memory.stats(space="default").entries == 3
        assert memory.stats(space="blue").entries == 6
        assert {state.error for state in memory.stats(space="blue").views} == {None}
        assert state_of(memory, "index", "default").error == "DamagedMessage: the content is not UTF-8"
        say(memory, "bad", *(f"zebra {n}" for n in range(20, 30)), user=None)
        memory.settle()
        assert memory.stats(space="default").entries == 13
        assert {turn for _, _, turn in aside(store)} == {2, 5}
        assert memory.conversation("bad").archived(), "the window goes on past it"
        store.damaged.clear()
        assert memory.retry().left == 0
        memory.settle()
        assert aside(store) == set()
        assert memory.stats(space="default").entries == 15
    assert "zebra" not in caplog.text


# -- once more


@pytest.mark.checklist("F15")
def test_what_was_set_aside_is_tried_again_after_pauses_that_grow(store_url: str) -> None:
    """F15: after a minute, two, four, a day at most; when it succeeds, it is as if nothing had been."""
    clock, embedder = FrozenClock(), PoisonEmbedder()
    store = DamagedStore(open_store(store_url, Settings()))

    def failures() -> int:
        return sum(row["failures"] for row in store.read(lambda tx: tx.rows("set_aside")))

    with Memory(store, embedder=embedder, followers=False, clock=clock) as memory:
        say(memory, "chat", "zebra 1", f"zebra {POISON}", "zebra 3")
        for number, (early, due) in enumerate([(44, 17), (89, 32), (179, 62)], start=1):
            memory.settle()
            assert failures() == number
            clock.advance(timedelta(seconds=early))
            memory.settle()
            assert failures() == number
            clock.advance(timedelta(seconds=due))
        for _ in range(20):
            memory.settle()
            clock.advance(DAY)
        assert failures() > 20, "never later than in a day"
        embedder.poison = "nothing"
        assert memory.settle() == 0
        assert indexed(memory) == {"zebra 1", f"zebra {POISON}", "zebra 3"}
        assert memory.stats().entries == 3


@pytest.mark.checklist("F15")
def test_when_the_cause_is_mended_all_that_was_set_aside_is_brought_in(store_url: str) -> None:
    """F15: as soon as it is due, however many messages that are."""
    clock, embedder = FrozenClock(), PoisonEmbedder()
    with Memory(store_url, embedder=embedder, followers=False, clock=clock, window_turns=0) as memory:
        say(memory, "chat", *(f"zebra {POISON} {number}" for number in range(30)))
        assert memory.settle() == 30
        embedder.poison = "nothing"
        clock.advance(timedelta(minutes=1))
        assert memory.settle() == 0
        assert memory.stats().entries == 30


@pytest.mark.checklist("F15")
def test_retry_runs_what_was_set_aside_now(store_url: str) -> None:
    """F15: of a space, a conversation or a view, or all; and says what still fails."""
    embedder = PoisonEmbedder()
    with Memory(store_url, embedder=embedder, followers=False, clock=FrozenClock()) as memory:
        for space in ("red", "blue"):
            for conversation in ("c", "d"):
                say(memory, conversation, "zebra 1", f"zebra {POISON}", space=space)
        assert memory.settle() == 4
        assert memory.retry() == Retried(4, 4)
        embedder.poison = "nothing"
        assert memory.retry("facts") == Retried(0, 0)
        assert memory.retry(space="green") == Retried(0, 0)
        assert memory.retry("index", space="red", conversation="c") == Retried(1, 0)
        assert memory.retry(space="red") == Retried(1, 0)
        assert state_of(memory, "index", "blue").set_aside == 2
        assert memory.retry(conversation="c") == Retried(1, 0)
        assert memory.retry() == Retried(1, 0)
        assert memory.settle() == 0
        assert memory.stats().entries == 8
        with pytest.raises(InvalidInput, match="must be one of index"):
            memory.retry("inbox")


@pytest.mark.checklist("F15")
def test_a_view_made_anew_tries_everything_again(store_url: str) -> None:
    embedder = PoisonEmbedder()
    with Memory(store_url, embedder=embedder, followers=False, clock=FrozenClock()) as memory:
        say(memory, "chat", "zebra 1", f"zebra {POISON}")
        assert memory.settle() == 1
        embedder.poison = "nothing"
        memory.rebuild("index")
        assert memory.settle() == 0
        assert indexed(memory) == {"zebra 1", f"zebra {POISON}"}


# -- erased and copied


@pytest.mark.checklist("F15")
def test_erasing_a_person_takes_what_was_set_aside_of_them(store_url: str) -> None:
    store = DamagedStore(open_store(store_url, Settings()))
    with Memory(store, embedder=PoisonEmbedder(), followers=False, clock=FrozenClock()) as memory:
        say(memory, "mine", BAD, user="alex")
        say(memory, "theirs", BAD, user="bo")
        assert memory.settle() == 2
        memory.erase(user="alex")
        memory.settle()
        assert aside(store) == {("index", "theirs", 1)}


@pytest.mark.checklist("F15")
def test_a_copy_knows_what_was_set_aside(tmp_path: Path) -> None:
    first, second = str(tmp_path / "a.db"), str(tmp_path / "b.db")
    with Memory(first, embedder=PoisonEmbedder(), followers=False) as memory:
        say(memory, "chat", "zebra 1", f"zebra {POISON}")
        assert memory.settle() == 1
    source, target = open_store(first, Settings()), open_store(second, Settings())
    copy_store(source, target, lambda table, rows: None)
    source.close()
    target.close()
    embedder = PoisonEmbedder()
    embedder.poison = "nothing"
    with Memory(second, embedder=embedder, followers=False) as memory:
        assert memory.retry() == Retried(1, 0)
        assert indexed(memory) == {"zebra 1", f"zebra {POISON}"}


@pytest.mark.checklist("F15")
def test_what_another_has_brought_in_meanwhile_is_not_brought_in_again(store_url: str) -> None:
    """F15: between the look at what was set aside and the retry, another process tries it too; a day counts it once."""
    store = DamagedStore(open_store(store_url, Settings()), ("channel", 3))
    with (
        Memory(store, followers=False, clock=FrozenClock()) as memory,
        Memory(store, followers=False, clock=FrozenClock()) as other,
    ):
        say(memory, "channel", "zebra 1", "zebra 2", "zebra 3", user=None)
        memory.settle()
        store.damaged.clear()
        store.after_read = lambda: other.retry("digests")
        memory.retry("digests")
        assert ("digests", "channel", 3) not in aside(store)
        assert [row["messages"] for row in store.read(lambda tx: tx.rows("days"))] == [2]


# -- what is nobody's fault


class FailingEmbedder(HashEmbedder):
    """Fails on texts with the word, as it would if it were away, or the machine out of memory."""

    def __init__(self, error: BaseException) -> None:
        super().__init__("hash", 16)
        self.error = error

    async def embed(self, texts: Sequence[str]) -> Vectors:
        if any(POISON in text for text in texts):
            raise self.error
        return await super().embed(texts)


@pytest.mark.parametrize("error", [EmbedderError("HTTP 500"), EmbedderRefused("HTTP 400"), MemoryError(), OSError()])
@pytest.mark.checklist("F15")
def test_an_outage_that_one_message_makes_stops_nobody_else(store_url: str, error: Exception) -> None:
    """F15: it looks as if the embedder were away; whoever waited with it is tried alone, and those who fail come last.
    In the end the message is set aside, and its own conversation goes on."""
    clock = FrozenClock()
    with Memory(store_url, embedder=FailingEmbedder(error), followers=False, clock=clock, window_turns=0) as memory:
        for number in range(4):
            say(memory, f"bad {number}", f"zebra {POISON}", "zebra after it")
        for number in range(4):
            say(memory, f"good {number}", f"zebra {number}")
        waited = 0
        while not {f"zebra {number}" for number in range(4)} <= indexed(memory):
            with contextlib.suppress(NotSettled):
                memory.settle()
            clock.advance(timedelta(seconds=1))
            waited += 1
        assert waited <= 8
        for _ in range(8):
            with contextlib.suppress(NotSettled):
                memory.settle()
            say(memory, "good 0", "zebra again")
            clock.advance(timedelta(minutes=10))
        memory.settle()
        assert state_of(memory, "index") == ViewState("index", 0, 0, 0, type(error).__name__, set_aside=4)
        assert "zebra after it" in indexed(memory)


@pytest.mark.checklist("F15")
def test_work_that_is_cancelled_from_within_is_a_failure_as_any_other(store_url: str) -> None:
    """F15: it is not taken for the end of the memory: the view goes on."""
    with Memory(store_url, embedder=FailingEmbedder(asyncio.CancelledError())) as memory:
        say(memory, "bad", f"zebra {POISON}")
        assert memory.settle() == 1
        say(memory, "good", "zebra 1")
        assert indexed(memory) == {"zebra 1"}


@pytest.mark.checklist("F15")
def test_an_iterator_that_ends_too_early_is_a_failure_as_any_other(store_url: str) -> None:
    """F15: asyncio cannot pass it on from a thread, and whoever waits for that would wait for ever."""
    store = StoreDouble(open_store(store_url, Settings()))
    with Memory(store, followers=False, clock=FrozenClock()) as memory:
        say(memory, "chat", "zebra 1")

        def end_early(tx: Tx) -> None:
            store.inside = lambda tx: None
            next(iter(()))

        store.inside = end_early
        with pytest.raises(RuntimeError, match="raised StopIteration"):
            say(memory, "chat", "zebra 2")
        memory.settle()
        assert indexed(memory) == {"zebra 1"}


class RefusingEmbedder(HashEmbedder):
    """Refuses texts with a word: for all it says, the text may be too long, or the setting wrong."""

    def __init__(self, word: str) -> None:
        super().__init__("hash", 16)
        self.word = word

    async def embed(self, texts: object) -> Vectors:
        assert isinstance(texts, list | tuple)
        if any(self.word in text for text in texts):
            raise EmbedderRefused("refused (HTTP 400)")
        return await super().embed(texts)


@pytest.mark.checklist("F15")
def test_a_text_that_the_embedder_refuses_stops_nobody_else(store_url: str) -> None:
    with Memory(store_url, embedder=RefusingEmbedder(POISON), followers=False, clock=FrozenClock()) as memory:
        say(memory, "bad", "zebra 1", f"zebra {POISON}", "zebra 3", space="red")
        say(memory, "chat", "zebra 4", space="blue")
        assert memory.settle() == 1
        assert memory.stats(space="red").entries == 2
        assert memory.stats(space="blue").entries == 1


@pytest.mark.checklist("F15")
def test_an_embedder_that_refuses_everything_sets_nothing_aside(store_url: str) -> None:
    with Memory(store_url, embedder=RefusingEmbedder(""), followers=False, clock=FrozenClock()) as memory:
        for number in range(8):
            say(memory, f"chat {number}", "zebra 1", "zebra 2")
        with pytest.raises(NotSettled, match="EmbedderRefused") as refused:
            memory.settle()
        assert refused.value.left["index"] == 16
        assert state_of(memory, "index").set_aside == 0
        assert state_of(memory, "index").waiting == 8
