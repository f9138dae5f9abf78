"""Whole turns over real HTTP with a model that fails in every way it can: the user gets a reply or a clear error, and
the log is true afterwards (D9). The question is kept; of the reply, what was seen, marked as partial, never nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from engine_doubles import settle_views
from llm_server import (
    Exchange,
    Service,
    Step,
    drops,
    endless,
    fails,
    replies,
    says,
    sends,
    serving,
    stays_open,
    streams,
    waits_for_the_end,
)

from everword import (
    Budget,
    Draft,
    Memory,
    ModelBusy,
    ModelError,
    ModelNonsense,
    ModelTimeout,
    NotSettled,
)
from everword.context.reply_markers import strip
from everword.errors import EmbedderError
from everword.models.chat.openai import OpenAIModel
from everword.ports import Completion, Request
from everword.testing.doubles import FrozenClock, ScriptedLLM
from everword.text.escaping import strip_invisible as visible

QUESTION = "How many shops do I run?"
SOON = {"retry-after-ms": "1"}
PATIENCE = 120.0  # seconds until a broken test gives up
MARKER = "[SEARCH_EPISODIC: shops]"
TIERS = "\n<everword>\nU1: question = shops\nA1: shops = 2\n</everword>"
LONG = (
    "My name is Alex and I run two bicycle shops in Berlin. The first one opened in 2012, the second in May 2019. "
    "We decided to use PostgreSQL for the stock, because SQLite was locked whenever both tills wrote at once."
)


def either(whole: Step, streamed: Step) -> Step:
    """The one or the other, as it is asked."""
    return lambda exchange: (streamed if exchange.service.requests[-1].get("stream") else whole)(exchange)


def answers(text: str) -> Step:
    return either(says(text.replace("|", "")), streams(*text.split("|")))


def in_turn(*steps: Step) -> Step:
    """One step a request, the last one again and again."""
    left = list(steps)
    return lambda exchange: (left.pop(0) if len(left) > 1 else left[0])(exchange)


def bad_bytes(exchange: Exchange) -> None:
    body = b'{"choices": [{"index": 0, "%s": {"content": "caf\xe9"}, "finish_reason": "stop"}]}'
    either(replies(body % b"message"), sends(b"data: " + body % b"delta" + b"\n\n"))(exchange)


def huge(exchange: Exchange) -> None:
    """Ten megabytes."""
    piece = "The same words again. " * 4_096
    either(says(piece * 120), streams(*[piece] * 120))(exchange)


@dataclass(frozen=True)
class Outage:
    """What the server does, what the caller is told, and what is seen of a stream before it ends in that."""

    step: Callable[[], Step]
    error: type[ModelError]
    told: str
    seen: str | None = ""


OUTAGES = {
    "nothing, in time": Outage(lambda: waits_for_the_end, ModelTimeout, "no answer within 0.1 seconds"),
    "an empty text": Outage(lambda: answers(""), ModelNonsense, "answered with nothing"),
    "only white space": Outage(lambda: answers(" \n|\t "), ModelNonsense, "answered with nothing"),
    "only what cannot be seen": Outage(lambda: answers("\u200b\u2060"), ModelNonsense, "gave no reply", None),
    "bytes that are no text": Outage(lambda: bad_bytes, ModelNonsense, "not UTF-8"),
    "not JSON": Outage(lambda: either(replies(b"<html>"), sends(b"data: <html>\n\n")), ModelNonsense, "not JSON"),
    "ten megabytes": Outage(lambda: huge, ModelNonsense, "more than [18] MiB", None),
    "bytes without end": Outage(
        lambda: endless(b" " * (1 << 20)), ModelNonsense, "answered with (more than|an event of more than)"
    ),
    "markers without end": Outage(lambda: answers(MARKER), ModelNonsense, "gave no reply in 4 calls, only requests"),
    "only the block": Outage(lambda: answers(TIERS), ModelNonsense, "gave no reply in 2 calls, only notes"),
    "HTTP 429": Outage(lambda: fails(429, "slow down", SOON), ModelBusy, "HTTP 429.*wait"),
    "HTTP 429 for an hour": Outage(lambda: fails(429, headers={"retry-after": "3600"}), ModelBusy, "wait 3600 seconds"),
    "HTTP 500": Outage(lambda: fails(500, "on fire", SOON), ModelBusy, "HTTP 500.*try again later"),
    "a break before a word": Outage(drops, ModelBusy, "broke off"),
    "a break in the middle": Outage(lambda: drops("You run ", "two sh"), ModelBusy, "broke off", "You run two sh"),
    "a break in a marker": Outage(lambda: drops("You run two. ", "[REQUEST_TI"), ModelBusy, "broke", "You run two."),
    "a break in the block": Outage(lambda: drops("Two.\n<ever", "word>\nU1: a"), ModelBusy, "broke off", "Two."),
    "a break after a request": Outage(
        lambda: in_turn(answers(f"Let me look. {MARKER}"), drops("You ", "run")),
        ModelBusy,
        "broke off",
        "Let me look.\n\nYou run",
    ),
    "a failure after a request": Outage(
        lambda: in_turn(answers(f"Let me look. {MARKER}"), fails(500, headers=SOON)),
        ModelBusy,
        "HTTP 500",
        "Let me look.",
    ),
    "silence in the middle": Outage(
        lambda: either(waits_for_the_end, stays_open("You ", "run")), ModelTimeout, "no answer within", "You run"
    ),
    "an error in the stream": Outage(
        lambda: either(
            replies(b'{"error": {"message": "overloaded"}}'),
            sends(
                b'data: {"choices": [{"delta": {"content": "You run"}}]}\n\n',
                b'data: {"error": {"message": "overloaded"}}\n\n',
            ),
        ),
        ModelBusy,
        "HTTP 502.*try again later",
        "You run",
    ),
}
SILENT = ("nothing, in time", "silence in the middle")


@dataclass
class World:
    """One server and one memory whose model is there, for many turns."""

    service: Service
    memory: Memory
    hasty: Memory
    numbers: Iterator[int]

    def chat(self, step: Step, *, hasty: bool = False) -> tuple[Memory, Any]:
        """A new conversation with a model that does this, by a memory with or without patience."""
        self.service.steps = (step,)
        memory = self.hasty if hasty else self.memory
        return memory, memory.conversation(f"chat {next(self.numbers)}", user="alex")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("outages")
    with serving(answers("Hello.")) as service:
        model = OpenAIModel(service.url, "", "model-x", timeout=0.1)
        with (
            Memory(str(folder / "a.db"), chat_url=service.url, chat_model="model-x", followers=False) as memory,
            Memory(str(folder / "b.db"), chat=model, followers=False) as hasty,
        ):
            yield World(service, memory, hasty, count(1))


def assert_true(memory: Memory, chat: Any, seen: str, *, partial: bool = True) -> None:
    """The log holds the question, and what was seen of a reply."""
    history = chat.history()
    seen = visible(seen).strip()
    assert [m.content for m in history] == [QUESTION, *([seen] if seen else [])]
    assert [m.role for m in history] == ["user", "assistant"][: len(history)]
    for message in history[1:]:
        assert message.metadata["everword"].get("partial", False) is partial
    assert memory.verify().ok


@pytest.mark.parametrize("name", OUTAGES)
@pytest.mark.checklist("D9")
def test_a_turn_that_fails_is_a_clear_error_and_the_log_stays_true(world: World, name: str) -> None:
    """D9: the question is kept, and what was seen of the answer; when the model is back, the conversation goes on."""
    outage = OUTAGES[name]
    memory, chat = world.chat(outage.step(), hasty=name in SILENT)
    with pytest.raises(outage.error, match=outage.told) as raised:
        chat.reply(QUESTION)
    assert str(raised.value).startswith("model-x")
    assert_true(memory, chat, "")

    memory, chat = world.chat(outage.step(), hasty=name in SILENT)
    pieces: list[str] = []
    with pytest.raises(outage.error, match=outage.told):
        pieces.extend(chat.stream(QUESTION))
    seen = "".join(pieces)
    if name in SILENT:  # a slow machine may have heard less
        assert (outage.seen or "").startswith(seen)
    else:
        assert outage.seen is None or seen == outage.seen
    assert strip(seen).strip() == seen.strip(), "nothing of a marker or of the block"
    assert_true(memory, chat, seen)

    if name not in (*SILENT, "ten megabytes"):
        world.service.steps = (answers("I am |back."),)
        assert chat.reply("Again?").text == "I am back."
        assert "".join(chat.stream("And again?")) == "I am back."


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_failure_that_passes_is_not_noticed(world: World, status: int) -> None:
    bad = fails(status, headers=SOON)
    for streaming in (False, True):
        memory, chat = world.chat(in_turn(bad, bad, answers(f"You run |two.{TIERS}")))
        assert ("".join(chat.stream(QUESTION)) if streaming else chat.reply(QUESTION).text) == "You run two."
        assert_true(memory, chat, "You run two.", partial=False)


def test_the_next_model_of_a_chain_takes_over(tmp_path: Path) -> None:
    with serving(fails(500, headers=SOON)) as broken, serving(answers("Two.")) as working:
        names = f"model-x@{broken.url},model-y@{working.url}"
        with Memory(str(tmp_path / "a.db"), chat_model=names, followers=False) as memory:
            chat = memory.conversation("demo", user="alex")
            reply = chat.reply(QUESTION)
            assert (reply.text, reply.rounds[0].model) == ("Two.", "model-y")
            assert_true(memory, chat, "Two.", partial=False)


def test_what_cannot_be_stored_is_not_shown(world: World) -> None:
    """A reply with NUL or half a character: what the user sees can be kept, and a marker with NUL in it is one."""
    said = "You run\x00 two\ud83d| shops.[REQ\x00UEST_TIER:3:m9]"
    for streaming in (False, True):
        memory, chat = world.chat(in_turn(answers(said), answers("Yes.")))
        seen = "".join(chat.stream(QUESTION)) if streaming else chat.reply(QUESTION).text
        assert seen == ("You run two\ufffd shops.\n\nYes." if streaming else "Yes.")
        assert_true(memory, chat, seen, partial=False)
        memory, chat = world.chat(answers(said.split("[")[0]))
        assert chat.reply(QUESTION).text == "You run two\ufffd shops."


def test_a_reply_cut_off_by_the_models_own_limit_is_partial(world: World) -> None:
    step = either(says("You run two sh", finish="length"), streams("You run ", "two sh", finish="length"))
    for streaming in (False, True):
        memory, chat = world.chat(step)
        seen = "".join(chat.stream(QUESTION)) if streaming else chat.reply(QUESTION).text
        assert seen == "You run two sh"
        assert_true(memory, chat, seen)


def test_a_block_cut_off_by_the_models_own_limit_leaves_the_reply_whole(world: World) -> None:
    memory, chat = world.chat(says(f"You run two.{TIERS[:30]}", finish="length"))
    assert chat.reply(QUESTION).text == "You run two."
    assert_true(memory, chat, "You run two.", partial=False)


# -- memory work


def is_memory_work(request: dict[str, Any]) -> bool:
    return "You shorten chat messages" in request["messages"][0]["content"]


PASSING: dict[str, Callable[[], Step]] = {
    "HTTP 500": lambda: fails(500, headers=SOON),
    "HTTP 429": lambda: fails(429, headers={"retry-after": "3600"}),
    "breaks off": drops,
}
FINAL: dict[str, Callable[[], Step]] = {
    "empty": lambda: says(""),
    "nonsense": lambda: says("I would rather talk about football."),
    "bytes": lambda: replies(b'{"choices": [{"message": {"content": "\xff"}}]}'),
    "markers": lambda: says(MARKER),
    "refused": lambda: fails(401),
    "ten megabytes": lambda: says("x" * (10 << 20)),
}
FOR_TIERS = ("index", "tiers")  # the views that are looked at while the model is away
MADE = '{"tier1": "name = Alex; shops = 2", "tier2": "Alex runs two bicycle shops in Berlin."}'


@contextmanager
def working(tmp_path: Path, outage: Step) -> Iterator[tuple[Memory, list[Step], FrozenClock]]:
    """A memory in which a model replies well, and does memory work by the last of these steps."""
    steps, clock = [outage], FrozenClock()

    def step(exchange: Exchange) -> None:
        (steps[-1] if is_memory_work(exchange.service.requests[-1]) else answers("Noted."))(exchange)

    with serving(step) as service:
        how: dict[str, Any] = {"chat_url": service.url, "chat_model": "model-x", "window_turns": 0}
        with Memory(str(tmp_path / "a.db"), clock=clock, followers=False, **how) as memory:
            yield memory, steps, clock
            assert any(map(is_memory_work, service.requests)), "the model was asked"
            assert memory.verify().ok


def tier_1(chat: Any) -> str:
    """The first message as it is shown, once others have followed."""
    chat.extend([Draft("user" if n % 2 else "assistant", f"And {n}.") for n in range(8)])
    context = chat.context("And now?", budget=Budget(recent=40))  # too little to send all of the chat whole
    shown: str = context.messages[0]["content"].split("MESSAGE[m1] (user, tier 1):\n", 1)[1]
    return shown.split("\n", 1)[0]


def assert_offline(line: str) -> None:
    assert "Alex" in line
    assert " = " in line
    assert "shops = 2" not in line
    assert len(line) < len(LONG) / 2


@pytest.mark.parametrize("name", FINAL)
@pytest.mark.checklist("D9", "A8")
def test_tiers_that_a_model_cannot_make_are_made_offline(tmp_path: Path, name: str) -> None:
    """D9, A8: memory work never stops at a model that makes no sense, and the user's turn knows nothing of it."""
    with working(tmp_path, FINAL[name]()) as (memory, _, _):
        chat = memory.conversation("demo", user="alex")
        assert chat.reply(LONG).text == "Noted."
        memory.settle()
        assert_offline(tier_1(chat))


@pytest.mark.parametrize("name", PASSING)
@pytest.mark.checklist("D9", "A8")
def test_tiers_of_an_outage_are_made_offline_now_and_by_the_model_later(tmp_path: Path, name: str) -> None:
    """D9: what the built-in writer made stands in; the model is asked again when it is back, after a growing pause."""
    with working(tmp_path, PASSING[name]()) as (memory, steps, clock):
        chat = memory.conversation("demo", user="alex")
        assert chat.reply(LONG).text == "Noted."
        for wait in (1, 2):
            settle_views(memory, *FOR_TIERS)
            state = {view.view: view for view in memory.stats().views}["tiers"]
            assert state.waiting == state.standing_in == 1
            assert "model-x" in str(state.error)
            assert_offline(tier_1(chat))
            clock.advance(timedelta(seconds=wait))
        steps.append(says(MADE))
        memory.settle()
        assert tier_1(chat) == "name = Alex; shops = 2"


class BrokenLLM(ScriptedLLM):
    """A memory model whose adapter itself is broken, as long as it is."""

    broken = True

    async def complete(self, request: Request) -> Completion:
        if self.broken:
            raise EmbedderError("the adapter is broken")
        return await super().complete(request)


@pytest.mark.checklist("D9")
def test_memory_work_that_fails_itself_is_tried_again_later(tmp_path: Path) -> None:
    """D9: the cursor stands, the state says why, the wait doubles, and when it is over the work is done, once."""
    clock, worker = FrozenClock(), BrokenLLM(default=MADE)
    how: dict[str, Any] = {"chat": ScriptedLLM(default="Noted."), "memory": worker, "window_turns": 0}
    with Memory(str(tmp_path / "a.db"), clock=clock, **how) as memory:
        chat = memory.conversation("demo", user="alex")
        assert chat.reply(LONG).text == "Noted.", "the user does not wait for it"
        for wait in (1, 2, 4):
            with pytest.raises(NotSettled, match=r"tiers view is 2 messages behind.*adapter is broken.*tried again"):
                memory.settle()
            state = {view.view: view for view in memory.stats().views}["tiers"]
            assert (state.behind, state.waiting) == (2, 1)
            clock.advance(timedelta(seconds=wait))
        worker.broken = False
        memory.settle()
        assert [one.schema["required"] for one in worker.requests if one.schema].count(["facts"]) >= 1
        assert len([one for one in worker.requests if "facts" not in (one.schema or {})["required"]]) == 1
        assert tier_1(chat) == "name = Alex; shops = 2"
