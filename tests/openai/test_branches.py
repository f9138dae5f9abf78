"""Conversations with branches, on every store: what clients send is placed once, whoever else is sending."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from everword import AsyncMemory, EverwordError, Memory, ScopeError
from everword.log.secret_policy import SecretPolicy
from everword.memory import openai_branches as branches
from everword.memory import openai_relay as relay
from everword.model import Batch, Draft, Message
from everword.models.chat.roles import NoModelLLM
from everword.openai.messages import opening_id, parse_message
from everword.testing.doubles import ScriptedLLM

WHERE = branches.ConversationTarget("default", "alex", "chat")


def history(*words: str) -> list[dict[str, Any]]:
    """A user's words and replies, in turn."""
    return [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(words)]


def send(memory: Memory, *words: str, where: branches.ConversationTarget = WHERE) -> list[Message]:
    sent = [parse_message(one) for one in history(*words)]
    engine, now = memory.engine, datetime.now(UTC)
    found: list[Message] = memory._private.wait(
        engine.runtime.write(lambda tx: branches.reconcile_messages(tx, where, sent, now, SecretPolicy()))
    )
    return found


def told(messages: list[Message]) -> list[tuple[str, int, str]]:
    return [(m.conversation, m.turn, m.content) for m in messages]


def test_branches_of_branches_are_lines_of_one_tree(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        assert told(send(memory, "a", "b", "c", "d")) == [("chat", n, t) for n, t in enumerate("abcd", 1)]
        assert told(send(memory, "a", "b", "x", "y"))[2:] == [("chat~2", 1, "x"), ("chat~2", 2, "y")]
        assert told(send(memory, "a", "b", "x", "z", "w"))[2:] == [
            ("chat~2", 1, "x"), ("chat~3", 1, "z"), ("chat~3", 2, "w"),
        ]  # fmt: skip
        assert told(send(memory, "a", "b", "x", "z", "w", "v"))[-1] == ("chat~3", 3, "v")
        assert told(send(memory, "a", "b", "c", "d", "e"))[-1] == ("chat", 5, "e")
        # By the name of a branch the same tree is meant; without a beginning, the branch itself.
        branch = branches.ConversationTarget("default", "alex", "chat~2")
        assert told(send(memory, "a", "b", "c", where=branch)) == [("chat", 1, "a"), ("chat", 2, "b"), ("chat", 3, "c")]
        assert told(send(memory, "new", where=branch)) == [("chat~2", 3, "new")]
        assert [one.id for one in memory.conversations()] == ["chat~2", "chat", "chat~3"]  # said last, first
        assert memory.verify().ok


def test_a_conversation_that_is_only_called_like_a_branch_is_none(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        memory.conversation("chat~2", user="alex").add("user", "I stand alone.")
        memory.conversation("chat~x", user="alex").add("user", "So do I.")
        memory.conversation("chat~3", user="bob").add("user", "And I.")
        send(memory, "a", "b")
        assert told(send(memory, "a", "c"))[1] == ("chat~4", 1, "c")
        alone = branches.ConversationTarget("default", "alex", "chat~2")
        assert told(send(memory, "more", where=alone)) == [("chat~2", 2, "more")]
        with pytest.raises(ScopeError):
            send(memory, "a", where=branches.ConversationTarget("default", "bob", "chat"))


def test_what_was_erased_is_not_told_again(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        send(memory, "my secret", "noted", "another", "noted too")
        send(memory, "my secret", "noted", "edited", "well")
        memory.erase(user="alex")
        found = send(memory, "my secret", "noted", "another", "noted too", "what now?")
        assert [m.content for m in found] == ["", "", "", "", "what now?"]
        assert "secret" not in "".join(m.content for m in memory.export())
        assert memory.verify().ok


@pytest.mark.every_store
def test_many_requests_at_once_are_one_after_the_other(store_url: str) -> None:
    """The same request many times, and others of the same conversation: each message is kept once, each reply too."""

    async def run() -> list[list[str]]:
        model = ScriptedLLM(default=lambda request: f"Re: {request.messages[-1]['content']}")
        async with AsyncMemory(store_url, chat=model, memory=NoModelLLM(), followers=False) as memory:

            async def ask(*words: str) -> dict[str, Any]:
                asking = relay.RelayRequest({"messages": history(*words)}, "default", "alex", "chat")
                return await (await relay.begin_exchange(memory.runtime, asking)).answer_whole()

            await ask("a")
            await asyncio.gather(*(ask("a", "Re: a", text) for text in "bbbbccd"), *(ask("a") for _ in range(3)))
            assert (await memory.verify()).ok
            found = await memory.conversations()
            ids = sorted(one.id for one in found)
            return [[m.content for m in await memory.conversation(id).history()] for id in ids]

    first, *others = asyncio.run(run())
    assert first[:2] == ["a", "Re: a"]
    rest = sorted([first[2:], *others])
    assert rest == [["b", "Re: b"], ["c", "Re: c"], ["d", "Re: d"]]


def test_a_reply_to_what_has_been_answered_meanwhile_is_a_branch(addresses: Callable[[str, str], str]) -> None:
    async def run() -> dict[str, list[str]]:
        model = ScriptedLLM(["One.", "Two.", "Three."])
        async with AsyncMemory(addresses("sqlite", "a"), chat=model, memory=NoModelLLM(), followers=False) as memory:
            asking = relay.RelayRequest({"messages": history("a")}, "default", "alex", "chat")
            slow, quick, late = [await relay.begin_exchange(memory.runtime, asking) for _ in range(3)]
            for talk in (quick, slow, late):
                await talk.answer_whole()
            found = await memory.conversations()
            return {one.id: [m.content for m in await memory.conversation(one.id).history()] for one in found}

    assert asyncio.run(run()) == {"chat": ["a", "One."], "chat~2": ["Two."], "chat~3": ["Three."]}


def test_the_branches_that_are_looked_at_are_bounded(
    addresses: Callable[[str, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody opens every conversation with the same word: the newest are found, and the first."""
    assert branches.MOST == 100
    monkeypatch.setattr(branches, "MOST", 20)
    with Memory(addresses("sqlite", "a"), followers=False) as memory:
        for number in range(branches.MOST + 5):
            send(memory, "hi", f"hello {number}", "and?")
        assert len(memory.conversations(limit=1_000)) == branches.MOST + 5
        last = branches.MOST + 4
        assert told(send(memory, "hi", f"hello {last}", "and?", "so"))[-1] == (f"chat~{last + 1}", 3, "so")
        assert told(send(memory, "hi", "hello 0", "and?", "so"))[-1] == ("chat", 4, "so")
        before = len(memory.conversations(limit=1_000))
        send(memory, "hi", "hello 3", "and?", "so")
        assert len(memory.conversations(limit=1_000)) == before + 1, "neither of the newest nor the first"


class Reading:
    """A transaction that counts the messages it gives."""

    def __init__(self, tx: Any) -> None:
        self._tx, self.count = tx, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)

    def messages(self, *about: Any, **more: Any) -> list[Message]:
        found: list[Message] = self._tx.messages(*about, **more)
        self.count += len(found)
        return found


def read_by(
    memory: Memory, messages: list[dict[str, Any]], where: branches.ConversationTarget = WHERE
) -> tuple[int, Message]:
    """How many messages are read to place these, and where the last of them is."""
    sent, engine, now = [parse_message(one) for one in messages], memory.engine, datetime.now(UTC)

    def counted(tx: Any) -> tuple[int, Message]:
        reading: Any = Reading(tx)
        last = branches.reconcile_messages(reading, where, sent, now, SecretPolicy())[-1]
        return reading.count, last

    found: tuple[int, Message] = memory._private.wait(engine.runtime.write(counted))
    return found


def test_no_more_is_read_than_what_was_sent_can_reach(addresses: Callable[[str, str], str]) -> None:
    """Of a long conversation its ends, of many branches those that go on as the history does; all under one lock."""
    talk = history(*(f"word {number}" for number in range(900)))
    with Memory(addresses("sqlite", "a"), followers=False) as memory:
        read_by(memory, talk)
        read, last = read_by(memory, history("one message"))
        assert (last.turn, read < 200) == (901, True)
        read, last = read_by(memory, [*talk[-3:], *history("one message"), *history("another")])
        assert (last.conversation, last.turn, read < 400) == ("chat", 902, True)
        for number in range(12):
            edited = [*talk[:300], *history(f"edit {number}")]
            _, last = read_by(memory, edited)
            assert (last.conversation, last.turn) == (f"chat~{number + 2}", 1)
        read, last = read_by(memory, [*edited, {"role": "assistant", "content": "more"}])
        assert (last.conversation, last.turn, read < 902 + 20) == ("chat~13", 2, True)
        # In a branch that leaves where the trunk was not read, too.
        read, last = read_by(memory, history("and now?"), branches.ConversationTarget("default", "alex", "chat~13"))
        assert (last.conversation, last.turn, read < 200) == ("chat~13", 3, True)
        _, last = read_by(memory, [{"role": "assistant", "content": "more"}, *history("and now?", "good")])
        assert (last.conversation, last.turn) == ("chat~13", 4)
        assert memory.verify().ok


def test_a_history_without_its_beginning_is_found_among_the_users_own_conversations(store_url: str) -> None:
    def send_unnamed(memory: Memory, user: str, *words: str) -> tuple[str, int]:
        sent = history(*words)
        where = branches.ConversationTarget(
            "default", user, opening_id([parse_message(one) for one in sent], "default", user), named=False
        )
        last = read_by(memory, sent, where)[1]
        return last.conversation, last.turn

    with Memory(store_url, followers=False) as memory:
        chat, _ = send_unnamed(memory, "alex", "a", "b", "c", "d", "e")
        assert send_unnamed(memory, "alex", "c", "d", "e", "f", "g") == (chat, 7)
        other, turn = send_unnamed(memory, "bob", "e", "f", "g", "h", "i")
        assert (other != chat, turn) == (True, 5), "what another has said is not theirs"
        branch, _ = send_unnamed(memory, "alex", "a", "b", "x", "y", "z")
        assert branch == f"{chat}~2"
        assert send_unnamed(memory, "alex", "x", "y", "z", "r", "s") == (branch, 5)
        assert send_unnamed(memory, "alex", "e", "f", "g", "h", "i") == (chat, 9)
        new, turn = send_unnamed(memory, "alex", "g", "other", "i")
        assert (new in (chat, branch), turn) == (False, 3), "this is another talk"
        assert memory.verify().ok


def test_of_a_thousand_branches_those_made_last_are_looked_at(addresses: Callable[[str, str], str]) -> None:
    """As a program makes them that begins every request with the same examples."""
    with Memory(addresses("sqlite", "a"), followers=False) as memory:
        send(memory, "example", "answer", "question 1")
        branch = {"everword": {"branch": {"of": "chat", "after": 2}}}
        batches = [
            Batch("default", f"chat~{number}", "alex", [Draft("user", f"question {number}", metadata=branch)])
            for number in range(2, branches.LISTED + 50)
        ]
        memory.add_many(batches)
        last = branches.LISTED + 49
        assert told(send(memory, "example", "answer", "new"))[-1] == (f"chat~{last + 1}", 1, "new")
        assert told(send(memory, "example", "answer", f"question {last}", "so"))[-1] == (f"chat~{last}", 2, "so")
        assert told(send(memory, "example", "answer", "question 1", "so"))[-1] == ("chat", 4, "so")


def test_a_memory_that_closes_in_the_middle_of_a_stream_keeps_what_was_sent(
    addresses: Callable[[str, str], str],
) -> None:
    url = addresses("sqlite", "a")

    async def run() -> str:
        never = asyncio.Event()
        model = ScriptedLLM([["You run ", "two ", never]])
        memory = AsyncMemory(url, chat=model, memory=NoModelLLM(), followers=False)
        await memory.open()
        body = {"messages": history("How many?"), "stream": True}
        talk = await relay.begin_exchange(memory.runtime, relay.RelayRequest(body, "default", "alex", "chat"))
        stream, seen = talk.stream(), ""
        while "two" not in seen:
            seen += (await anext(stream))["choices"][0]["delta"]["content"]
        waiting = asyncio.ensure_future(anext(stream))
        await model.waiting.wait()
        await memory.close()
        never.set()
        with pytest.raises(EverwordError, match="closed"):
            await waiting
        return seen

    seen = asyncio.run(run())
    with Memory(url, followers=False) as memory:
        asked, reply = memory.conversation("chat").history()
        assert (asked.content, reply.content) == ("How many?", seen.strip())
        assert reply.metadata["everword"]["partial"]
