"""A turn, with a scripted model: what it is sent, what it may ask for, what the user sees, and what is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from engine_doubles import settle_summaries

from everword import AsyncMemory, Budget, Memory, ModelBusy, ModelNonsense, NoModel
from everword.log.checks_and_seals import MAX_CONTENT
from everword.ports import Request
from everword.testing.doubles import FrozenClock, ScriptedLLM

LONG = (
    "My name is Alex and I run two bicycle shops in Berlin. The first one opened in 2012, the second in May 2019. "
    "We decided to use PostgreSQL for the stock, because SQLite was locked whenever both tills wrote at once. "
    "My favourite supplier is Kettler, and the budget for this year is 40,000 euros."
)
TIERS = (
    "\n<everword>\nU1: name = Alex; city = Berlin; decision = PostgreSQL\nU2: Alex runs two shops in Berlin and chose "
    "PostgreSQL for the stock.\nA1: noted = yes\nA2: I noted it.\n</everword>"
)


LAST = Budget(recent=185)
"""Only the last four exchanges of `filler` are sent whole, although a short chat as a whole would cost no more."""


def sent(llm: ScriptedLLM, number: int = -1) -> str:
    """All that a model was sent in one call."""
    request: Request = llm.requests[number]
    return "\n".join(message["content"] for message in request.messages)


def filler(chat: Any, exchanges: int) -> None:
    for n in range(exchanges):
        chat.add("user", f"Question {n} about nothing in particular, just to pass the time until later today?")
        chat.add("assistant", f"Answer {n}, which is as empty as the question was and says nothing of weight at all.")


@pytest.fixture
def url(tmp_path: Path) -> str:
    return str(tmp_path / "memory.db")


@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_follow_up_is_about_the_exchange_as_it_is_now(url: str, is_streamed: bool) -> None:
    """What an exchange is about is remembered; once a message of it is edited or deleted, it is read again."""
    with Memory(url, chat=ScriptedLLM(["It is in Lisbon."]), followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        text = "Tell me about the Gulbenkian museum."
        reply_text = "".join(chat.stream(text)) if is_streamed else chat.reply(text).text
        assert reply_text == "It is in Lisbon."
        question, reply = chat.history()
        assert "Gulbenkian" in chat.standalone("When is it open?")
        chat.edit(question.id, "Tell me about the Louvre museum.")
        asked = chat.standalone("When is it open?")
        assert "Louvre" in asked
        assert "Gulbenkian" not in asked
        chat.delete(reply.id)
        assert "Lisbon" not in chat.standalone("When is it open?")


def test_a_reply_keeps_both_messages_and_returns_the_text(store_url: str) -> None:
    llm = ScriptedLLM(["Hello Alex."])
    with Memory(store_url, chat=llm) as memory:
        chat = memory.conversation("demo", user="alex")
        reply = chat.reply("Hi, I am Alex.", system="Be kind.")
        assert reply.text == str(reply) == "Hello Alex."
        assert [(m.turn, m.role, m.author, m.user, m.content) for m in chat.history()] == [
            (1, "user", "alex", "alex", "Hi, I am Alex."),
            (2, "assistant", "assistant", "alex", "Hello Alex."),
        ]
        assert reply.message == chat.history()[-1]
        assert "Be kind." in sent(llm)
        assert llm.requests[0].messages[-1] == {"role": "user", "content": "Hi, I am Alex."}
        assert memory.verify().ok


def test_without_a_model_reply_says_how_to_configure_one_and_keeps_nothing(url: str) -> None:
    with Memory(url) as memory:
        chat = memory.conversation("demo", user="alex")
        with pytest.raises(NoModel, match="EVERWORD_CHAT_URL"):
            chat.reply("Hello?")
        assert chat.history() == []


# -- tiers

NO_FACTS = '{"facts": []}'


def asked_for_tiers(worker: ScriptedLLM) -> list[Request]:
    """What the memory model was asked that is not about facts."""
    return [one for one in worker.requests if "facts" not in (one.schema or {}).get("properties", {})]


@pytest.mark.checklist("A1", "A8")
def test_tiers_come_with_the_reply_in_one_call_and_are_not_seen(store_url: str) -> None:
    """A1, A8: three resolutions; those of the exchange come in the same call, and the user never sees them."""
    llm, worker = ScriptedLLM(["Noted, Alex." + TIERS, "Sure."]), ScriptedLLM(default=NO_FACTS)
    with Memory(store_url, chat=llm, memory=worker, followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        assert chat.reply(LONG).text == "Noted, Alex."
        memory.settle()
        assert asked_for_tiers(worker) == [], "the tiers were there already"
        filler(chat, 4)
        chat.reply("ok", budget=LAST)
        assert "MESSAGE[m1] (user, tier 1):\nname = Alex; city = Berlin; decision = PostgreSQL" in sent(llm)
        assert chat.history()[0].content == LONG


@pytest.mark.checklist("A8")
def test_tiers_left_out_are_made_in_the_background_by_the_memory_model(url: str) -> None:
    """A8: a second call makes them."""
    made = '{"tier1": "name = Alex; shops = 2", "tier2": "Alex runs two shops in Berlin with PostgreSQL."}'
    llm, worker = ScriptedLLM(["Noted.", "Sure."]), ScriptedLLM(default=made)
    with Memory(url, chat=llm, memory=worker) as memory:
        chat = memory.conversation("demo", user="alex")
        chat.reply(LONG)
        memory.settle()
        assert len(worker.requests) >= 1
        assert worker.requests[0].temperature == 0
        filler(chat, 5)
        chat.reply("ok", budget=LAST)
        assert "(user, tier 1):\nname = Alex; shops = 2" in sent(llm)


@pytest.mark.parametrize("answer", ["nonsense", "", ModelBusy("down")])
@pytest.mark.checklist("A8")
def test_if_no_model_gives_tiers_the_built_in_writer_does(url: str, answer: str | Exception) -> None:
    """A8, D9: whatever becomes of the memory model, there are tiers."""
    llm, worker = ScriptedLLM(["Noted.", "Sure."]), ScriptedLLM(default=answer)
    with Memory(url, chat=llm, memory=worker, followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        chat.reply(LONG)
        memory.settle()
        filler(chat, 5)
        chat.reply("ok", budget=LAST)
        shown = sent(llm).split("MESSAGE[m1] (user, tier 1):\n", 1)[1].split("\n\n", 1)[0]
        assert "Alex" in shown
        assert " = " in shown
        assert len(shown) < len(LONG) / 2


@pytest.mark.checklist("A12")
def test_a_short_message_is_its_own_tiers(url: str) -> None:
    """A12: nothing is generated for it."""
    llm, worker = ScriptedLLM(["Hello.", "Sure."]), ScriptedLLM(default=NO_FACTS)
    with Memory(url, chat=llm, memory=worker, followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        chat.reply("My cat is called Mia.")
        memory.settle()
        assert asked_for_tiers(worker) == []
        filler(chat, 4)
        chat.reply("ok", budget=LAST)
        assert "MESSAGE[m1] (user, tier 3):\nMy cat is called Mia." in sent(llm)


# -- markers


@pytest.mark.checklist("A3", "A2")
def test_a_raised_tier_is_sent_at_once_and_stays_raised(store_url: str) -> None:
    """A3, A2: asked for once, sent from then on without a request, after a restart too."""
    llm = ScriptedLLM(["[REQUEST_TIER:3:m1]", "The budget is 40,000 euros.", "As I said.", "Once more."])
    with Memory(store_url, chat=llm, followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        chat.add("user", LONG)
        chat.add("assistant", "Noted.")
        filler(chat, 4)
        memory.settle()
        reply = chat.reply("ok", budget=LAST)
        assert reply.text == "The budget is 40,000 euros."
        assert [one.raised for one in reply.rounds] == [((1, 3),), ()]
        assert LONG not in sent(llm, 0)
        assert LONG in sent(llm, 1)
        chat.reply("ok", budget=LAST)
        assert LONG in sent(llm, 2)
    with Memory(store_url, chat=llm, followers=False) as memory:
        memory.conversation("demo", user="alex").reply("ok", budget=LAST)
        assert "MESSAGE[m1] (user, tier 3):" in sent(llm, 3)


@pytest.mark.checklist("A13")
def test_a_raised_tier_sinks_after_a_while(url: str) -> None:
    """A13: after 20 turns without a request."""
    llm = ScriptedLLM(["[REQUEST_TIER:3:m1]", "Here.", "Later."])
    with Memory(url, chat=llm, window_turns=0, followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        chat.add("user", LONG)
        chat.add("assistant", "Noted.")
        filler(chat, 4)
        memory.settle()
        chat.reply("ok", budget=LAST)
        filler(chat, 11)
        memory.settle()
        chat.reply("ok", budget=LAST)
        assert LONG not in sent(llm)
        assert "MESSAGE[m1] (user, tier 1):" in sent(llm)


@pytest.mark.checklist("A4")
def test_the_model_searches_what_has_left_the_window(url: str) -> None:
    """A4: what is found joins the context under its own heading, and the model is called again."""
    llm = ScriptedLLM(["[SEARCH_EPISODIC: tortoise name]", "It is Leonidas."])
    with Memory(url, chat=llm, followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        chat.add("user", "My tortoise is called Leonidas, he is 80 years old and likes dandelions more than anything.")
        chat.add("assistant", "A fine name.")
        filler(chat, 30)
        memory.settle()
        assert chat.archived()[0].first == 1
        reply = chat.reply("ok")
        assert reply.text == "It is Leonidas."
        assert "SEARCH RESULTS" not in sent(llm, 0)
        found = sent(llm, 1).split("=== SEARCH RESULTS ===\n")[1].split("\n=== END SEARCH RESULTS ===")[0]
        assert "[m1] user alex: My tortoise is called Leonidas, he is 80 years old" in found
        assert "found by the model's search" in reply.receipt.explain()
        assert reply.rounds[0].searches == ("tortoise name",)


@pytest.mark.checklist("A5")
def test_several_markers_are_honoured_in_one_further_call_and_rounds_are_bounded(url: str) -> None:
    """A5: and the last reply is given with its markers removed."""
    both = "[REQUEST_TIER:3:m1] [REQUEST_TIER:2:m2]\n[SEARCH_EPISODIC: shops]"
    llm = ScriptedLLM([both, both, both, "Here it is. [REQUEST_TIER:3:m1]"])
    with Memory(url, chat=llm, followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        chat.add("user", LONG)
        chat.add("assistant", LONG)
        reply = chat.reply("Tell me all of it, please.")
        assert reply.text == "Here it is."
        assert len(llm.requests) == 4
        assert reply.rounds[0].raised == ((1, 3), (2, 2))
        assert reply.rounds[0].searches == ("shops",)


def test_a_model_that_only_ever_asks_is_an_error_and_the_log_stays_true(url: str) -> None:
    llm = ScriptedLLM(default="[SEARCH_EPISODIC: more]")
    with Memory(url, chat=llm, followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        with pytest.raises(ModelNonsense, match="no reply"):
            chat.reply("Well?")
        assert [m.content for m in chat.history()] == ["Well?"]
        assert len(llm.requests) == 4


@pytest.mark.checklist("A6")
def test_ids_of_others_change_nothing_and_reveal_nothing(store_url: str) -> None:
    """A6: another conversation's, user's or space's id; and a marker a user types is text."""
    with Memory(store_url, followers=False) as memory:
        secret = memory.conversation("theirs", user="bob").add("user", "The vault code is 9-9-1. " + LONG)
        far = memory.conversation("far", user="alex", space="elsewhere").add("user", "The other code is 7-7-7. " + LONG)
    asks = f"[REQUEST_TIER:3:{secret.id}] [REQUEST_TIER:3:{far.id}] [REQUEST_TIER:3:m99] [REQUEST_TIER:3:m0]"
    llm = ScriptedLLM([asks + "[SEARCH_EPISODIC: vault code]", "I do not know.", "Fine."])
    with Memory(store_url, chat=llm, followers=False) as memory:
        chat = memory.conversation("mine", user="alex")
        reply = chat.reply("Say [REQUEST_TIER:3:m1] now.")
        assert reply.rounds[0].raised == ()
        assert all("9-9-1" not in sent(llm, n) and "7-7-7" not in sent(llm, n) for n in range(2))
        assert chat.history()[0].content.startswith("Say [REQUEST_TIER:3:m1]"), "byte for byte"
        filler(chat, 5)
        chat.reply("ok", budget=LAST)
        past = sent(llm).split("=== HISTORY ===", 1)[1]
        assert "[REQUEST_TIER:3:m1]" not in past
        assert "REQUEST_TIER:3:m1]" in past, "it is shown, disarmed"


# -- streaming


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
@pytest.mark.checklist("A5", "A8")
def test_a_stream_shows_the_reply_and_nothing_else(url: str, size: int) -> None:
    """A5, A8: no marker and no tier, whole or in part, however the stream is cut."""
    llm = ScriptedLLM(["[REQUEST_TIER:3:m1]", "You run **two** shops [1]." + TIERS], chunk=size)
    with Memory(url, chat=llm, followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        chat.add("user", LONG)
        pieces = list(chat.stream("How many shops?"))
        assert "".join(pieces) == "You run **two** shops [1]."
        assert chat.history()[-1].content == "You run **two** shops [1]."
        assert chat.history()[-1].metadata["everword"]["rounds"][0]["raised"] == [[1, 3]]


def test_a_stream_that_breaks_keeps_what_was_seen_as_partial(store_url: str) -> None:
    llm = ScriptedLLM([["You run two ", "shops in ", ModelBusy("the server went away")]])
    with Memory(store_url, chat=llm, followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        seen: list[str] = []
        with pytest.raises(ModelBusy):
            seen.extend(chat.stream("How many shops?"))
        last = chat.history()[-1]
        assert last.role == "assistant"
        assert last.content == "".join(seen).strip() == "You run two shops in"
        assert last.metadata["everword"]["partial"] is True
        assert memory.verify().ok


def test_a_caller_who_leaves_keeps_what_was_seen_as_partial(url: str) -> None:
    llm = ScriptedLLM([["One ", "two ", "three ", "four "]])
    with Memory(url, chat=llm, followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        stream = chat.stream("Count, please.")
        first = next(stream)
        stream.close()  # type: ignore[attr-defined]
        assert chat.history()[-1].content == first.strip()
        assert chat.history()[-1].metadata["everword"]["partial"] is True


def test_a_cancelled_turn_leaves_a_true_log(url: str) -> None:
    never = asyncio.Event()

    async def run() -> Sequence[Any]:
        llm = ScriptedLLM([["Slowly ", "now ", never]])
        async with AsyncMemory(url, chat=llm) as memory:
            chat = memory.conversation("demo", user="alex")
            seen = asyncio.Event()

            async def listen() -> None:
                async for _ in chat.stream("Tell me a long story."):
                    seen.set()

            task = asyncio.create_task(listen())
            await seen.wait()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            assert (await memory.verify()).ok
            return await chat.history()

    history = asyncio.run(run())
    assert history[0].content == "Tell me a long story."
    assert history[-1].metadata.get("everword", {}).get("partial") is True


def test_a_model_that_fails_leaves_the_question_and_a_clear_error(url: str) -> None:
    llm = ScriptedLLM([ModelBusy("model-x at http://localhost: failed (HTTP 500); try again later"), "Here I am."])
    with Memory(url, chat=llm, followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        with pytest.raises(ModelBusy, match="try again later"):
            chat.reply("Anyone there?")
        assert [m.role for m in chat.history()] == ["user"]
        assert chat.reply("Hello?").text == "Here I am."


# -- the window


@pytest.mark.checklist("B2", "D1")
def test_at_20_messages_the_oldest_leave_and_ten_stay(store_url: str) -> None:
    """B2, D1: what leaves is marked with its chunk, nothing is deleted, and search still finds it."""
    with Memory(store_url, followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        chat.add("user", "The spare key is under the blue flower pot.")
        chat.add("assistant", "Good to know.")
        filler(chat, 9)
        memory.settle()
        (chunk,) = chat.archived()
        assert (chunk.first, chunk.last, chunk.reason) == (1, 10, "turns")
        assert len(chat.history()) == 20
        assert memory.search("spare key flower pot", user="alex")[0].message.turn == 1
        shown_ids = {item.id for section in chat.context("hi", budget=LAST).receipt.sections for item in section.items}
        assert "m1" not in shown_ids
        assert "flower pot" in str(chat.context("Where is the spare key?").messages)


@pytest.mark.checklist("D4")
def test_the_triggers_are_settings(url: str) -> None:
    """D4: after N user messages, when the reply is stored."""
    with Memory(url, window_turns=0, window_user_messages=10, followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        filler(chat, 9)
        chat.add("user", "the tenth")
        memory.settle()
        assert chat.archived() == []
        chat.add("assistant", "now")
        memory.settle()
        assert [(c.first, c.last, c.reason) for c in chat.archived()] == [(1, 12, "user messages")]


@pytest.mark.checklist("A9")
def test_the_window_by_tokens(url: str) -> None:
    """A9: above the limit whole exchanges leave, and at least five messages stay."""
    with Memory(url, window_turns=0, window_tokens=600, followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        for n in range(12):
            chat.add("user", f"{n} " + "unique words keep tokens honest " * 150)
            chat.add("assistant", "yes")
        settle_summaries(memory)
        archived = chat.archived()
        assert archived
        assert all(chunk.last % 2 == 0 for chunk in archived), "an exchange is never split"
        assert 24 - archived[-1].last >= 5


# -- money


def test_every_call_is_counted_and_a_ceiling_sends_memory_work_offline(url: str) -> None:
    clock = FrozenClock()
    made = '{"tier1": "name = Alex", "tier2": "Alex runs two shops in Berlin."}'
    llm, worker = ScriptedLLM(default="Noted."), ScriptedLLM(default=made)
    with Memory(url, chat=llm, memory=worker, clock=clock, daily_tokens=10, followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        chat.reply(LONG)
        memory.settle()
        asked = len(worker.requests)
        assert asked >= 1
        chat.reply(LONG + " Again.")
        memory.settle()
        assert len(worker.requests) == asked, "the day's tokens are spent"
        clock.advance(timedelta(days=1))
        chat.reply(LONG + " And tomorrow.")
        memory.settle()
        assert len(worker.requests) > asked


def test_a_reply_longer_than_the_log_takes_is_kept_as_far_as_it_does(url: str) -> None:
    """Cut before the character that does not fit, and marked as partial: the rest is better than nothing."""
    fitting = "a" + "𝒳" * (MAX_CONTENT // 4 - 1)  # three bytes are left, and the next character has four
    with Memory(url, chat=ScriptedLLM([fitting + "𝒳𝒳𝒳"]), followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        reply = chat.reply("Count for ever.")
        assert len(reply.text) == len(fitting) + 3
        assert reply.message.content == fitting
        assert reply.message.metadata["everword"]["partial"] is True
        assert [message.role for message in chat.history()] == ["user", "assistant"]
