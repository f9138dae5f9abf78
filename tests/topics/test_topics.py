"""Topics of a conversation: what belongs together, what is packed, what fades and comes back, what people tell."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from engine_doubles import settle_topics, settle_views
from raw_tables import rows_of
from topic_doubles import MINUTE, AxisEmbedder, about, opened, talk

from everword import AsyncMemory, Draft, EmbedderMismatch, InvalidInput, Memory, ModelBusy, NotFound, ScopeError, Topic
from everword.config import Settings
from everword.memory.blocking import BlockingConversation, BlockingMemory
from everword.memory.memory import MemoryEngine
from everword.memory.transfer import copy_store
from everword.ports import Request
from everword.testing import FrozenClock, ScriptedLLM
from everword.topics.stored_topics import decode_pack
from everword.wiring import build, open_store

DAY = timedelta(days=1)
STATS = {
    "topic_id",
    "topic_title",
    "active_messages",
    "compressed_messages",
    "total_messages",
    "has_summary",
    "importance_score",
    "access_count",
    "memory_type",
    "half_life_days",
    "age_seconds",
    "inactive_seconds",
}


def shape(topics: list[Topic]) -> list[tuple[object, ...]]:
    """What a rebuild gives again. (A summary is written in steps, and these may be others.)"""
    return sorted(
        (t.id, t.title, t.messages, t.packed, t.accesses, t.importance, t.tags, t.merged, t.faded, t.created_at)
        for t in topics
    )


def turns(chat: BlockingConversation, topic: str) -> list[int]:
    return [message.turn for message in chat.get_full_topic_history(topic)]


# -- matching


@pytest.mark.checklist("E1")
def test_what_is_said_of_one_thing_is_one_topic(store_url: str) -> None:
    with opened(store_url) as memory:
        chat = memory.conversation("chat", user="alex")
        long = about(1) + " And so it goes on" * 9
        first = chat.add_user_message(long)
        assert (first.id, first.title, first.current) == ("t1", about(1), True), "a sentence is not cut"
        assert long[:80].startswith(first.title)
        assert talk(chat, 2, 1, 1, 2, 3) == ["t2", "t1", "t1", "t2", "t6"]
        assert chat.add_assistant_message("Whatever #1 you say.").id == "t6"
        assert turns(chat, "t1") == [1, 3, 4]
        assert turns(chat, "t2") == [2, 5]
        assert turns(chat, "t6") == [6, 7]
        assert [m.content for m in chat.history()][2] == about(1, 1), "the log has it all"


@pytest.mark.checklist("E1")
def test_the_built_in_embedder_tells_subjects_apart_and_follow_ups_stay(store_url: str) -> None:
    with Memory(store_url, clock=FrozenClock(), followers=False) as memory:
        chat = memory.conversation("chat", user="alex")
        soup = chat.add_user_message("How do I cook a lentil soup with carrots and cumin?").id
        chat.add_assistant_message("Fry onions and cumin, add lentils, carrots and stock, simmer for 20 minutes.")
        assert chat.add_user_message("and the second one?").id == soup
        trip = chat.add_user_message("Another thing: which train goes from Kyoto to Osaka, and what is the fare?").id
        chat.add_assistant_message("The JR Special Rapid, about 30 minutes; the fare is 580 yen.")
        assert trip != soup
        assert chat.add_user_message("thanks!").id == trip
        assert chat.add_user_message("How many carrots and how much cumin for a lentil soup for six?").id == soup
        assert chat.add_user_message("🍲😋").id == soup


@pytest.mark.checklist("E1")
def test_the_similarity_can_be_set(store_url: str) -> None:
    """What is half about something is about it for a low threshold and not for a high one."""
    for least, same in ((0.5, True), (0.99, False)):
        with opened(store_url, topic_similarity=least) as memory:
            chat = memory.conversation(f"chat {least}", user="alex")
            assert talk(chat, 1, 2) == ["t1", "t2"]
            assert (chat.add_user_message(f"{about(1)} And #3 more.").id == "t1") is same


def test_whatever_is_said_has_a_topic(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        for text in ("👋", "मुझे कल सुबह जाना है", "\u202e؟ماذا", "a" * 100_000, "  \n x \t "):
            chat = memory.conversation(f"chat {text[:9]!r}", user="alex")
            topic = chat.add_user_message(text)
            assert topic.title == " ".join(text.split())[:80], text[:30]
            assert [m.content for m in chat.get_full_topic_history()] == [text], text[:30]


# -- packing


@pytest.mark.checklist("E2", "E5")
def test_past_12_messages_are_packed_and_summarised_and_all_are_there(store_url: str) -> None:
    clock = FrozenClock()
    with opened(store_url, clock) as memory:
        chat = memory.conversation("chat", user="alex")
        talk(chat, *[1] * 12, clock=clock)
        assert chat.get_topic_stats().compressed_messages == 0
        assert len(chat.get_topic_context()) == 12
        talk(chat, 1, clock=clock)
        stats = chat.get_topic_stats()
        assert (stats.active_messages, stats.compressed_messages, stats.total_messages) == (4, 9, 13)
        context = chat.get_topic_context()
        assert context[0]["role"] == "system"
        assert context[0]["content"].startswith("Topic summary: ")
        assert "grelb1" in context[0]["content"]
        assert [one["content"] for one in context[1:]] == [m.content for m in chat.history()][-4:]
        assert [m.content for m in chat.get_full_topic_history()] == [m.content for m in chat.history()]
        assert len(chat.get_full_topic_history(include_compressed=False)) == 4
        assert chat.get_topic_stats().has_summary
        talk(chat, *[1] * 68, clock=clock)
        settle_topics(memory)
        assert chat.get_topic_stats().compressed_messages == 72
        assert turns(chat, "t1") == list(range(1, 82))
        packs = rows_of(store_url, "topic_packs")
        assert sum(row["messages"] for row in packs) == chat.get_topic_stats().compressed_messages
        assert max(row["messages"] for row in packs) <= 64 + 9


@pytest.mark.checklist("E5")
def test_a_match_on_a_packed_topic_unpacks_it_in_order(store_url: str) -> None:
    with opened(store_url) as memory:
        chat = memory.conversation("chat", user="alex")
        talk(chat, *[1] * 20, 2)
        assert chat.get_topic_stats("t1").compressed_messages == 9
        assert talk(chat, 1) == ["t1"]
        stats = chat.get_topic_stats()
        assert (stats.active_messages, stats.compressed_messages) == (21, 0)
        said = [m.content for m in chat.history() if "#1 " in m.content]
        assert [one["content"] for one in chat.get_topic_context()] == said
        talk(chat, 2)
        assert chat.get_topic_stats("t1").compressed_messages == 9
        assert [m.content for m in chat.get_full_topic_history("t1")] == said


# -- the five methods


@pytest.mark.checklist("E6")
def test_the_five_methods_and_their_fields(store_url: str) -> None:
    clock = FrozenClock()
    with opened(store_url, clock) as memory:
        chat = memory.conversation("chat", user="alex")
        topic = chat.add_user_message(about(1), importance=0.8)
        assert topic.importance == 0.8
        assert chat.add_assistant_message("I see.").id == topic.id
        clock.advance(60 * MINUTE)
        chat.add_user_message(about(1, 2))
        clock.advance(2 * MINUTE)
        stats = chat.get_topic_stats(topic.id)
        assert asdict(stats).keys() == STATS
        assert asdict(stats) == {
            "topic_id": "t1",
            "topic_title": "grelb1, vonk1, sarl1",
            "active_messages": 3,
            "compressed_messages": 0,
            "total_messages": 3,
            "has_summary": False,
            "importance_score": 0.8,
            "access_count": 1,
            "memory_type": "short-term",
            "half_life_days": 1.0,
            "age_seconds": 3720.0,
            "inactive_seconds": 120.0,
        }
        assert chat.get_topic_context() == [
            {"role": "user", "content": about(1)},
            {"role": "assistant", "content": "I see."},
            {"role": "user", "content": about(1, 2)},
        ]
        last = chat.get_full_topic_history(topic.id)[-1]
        assert (last.role, last.content, last.author) == ("user", about(1, 2), "alex")
        assert last.timestamp == last.time.timestamp()


@pytest.mark.checklist("E6")
def test_nothing_said_is_no_error_and_what_is_wrong_is_named(store_url: str) -> None:
    with opened(store_url) as memory:
        chat = memory.conversation("chat", user="alex")
        assert (chat.topics(), chat.get_topic_context(), chat.get_full_topic_history()) == ([], [], [])
        assert chat.search_topics("x") == []
        with pytest.raises(NotFound, match="no topics yet"):
            chat.get_topic_stats()
        with pytest.raises(NotFound, match="no topics yet"):
            chat.feedback("t1", 1)
        for text in ("", " \n"):
            with pytest.raises(InvalidInput, match="text: is empty"):
                chat.add_user_message(text)
        for importance in (-0.1, 1.1, float("nan"), True, "high"):
            with pytest.raises(InvalidInput, match="importance"):
                chat.add_user_message("x", importance)  # type: ignore[arg-type]
        talk(chat, 1, 2)
        for unknown in ("t3", "x", "", "t", "t01x", "t-1", "t99999999999999"):
            with pytest.raises(NotFound, match=r"topics\(faded=True\)"):
                chat.get_topic_stats(unknown)
        for score in (0, 2, -2, True, 0.5, "1"):
            with pytest.raises(InvalidInput, match="score"):
                chat.feedback("t1", score)  # type: ignore[arg-type]
        with pytest.raises(InvalidInput, match="is already merged with"):
            chat.merge_topics("t1", "t1")
        with pytest.raises(InvalidInput, match="nothing to undo"):
            chat.undo_merge("t1")
        with pytest.raises(InvalidInput, match="tag"):
            chat.tag_topic("t1", "\n")
        with pytest.raises(InvalidInput, match="tags"):
            chat.tag_topic("t1")
        with pytest.raises(ScopeError):
            memory.conversation("chat", user="kim").topics()
        assert len(chat.history()) == 2, "what was refused left no message"


@pytest.mark.checklist("E6")
def test_both_faces_do_the_same(store_url: str) -> None:
    async def told() -> list[Topic]:
        async with AsyncMemory(store_url, embedder=AxisEmbedder(), clock=FrozenClock()) as memory:
            chat = memory.conversation("chat", user="alex")
            for thing in (1, 2, 1):
                await chat.add_user_message(about(thing))
            return await chat.topics()

    first = asyncio.run(told())
    with opened(store_url) as memory:
        assert memory.conversation("chat", user="alex").topics() == first
        assert [t.id for t in first] == ["t1", "t2"]


# -- following


@pytest.mark.checklist("E7")
def test_who_gives_messages_their_topics_makes_no_difference(addresses: Callable[[str, str], str], kind: str) -> None:
    """The follower, a conversation for itself, or now the one and now the other: the same topics."""
    things = [1, 2, 1, 3, 3, 2, 1, 1, 4, 5, 1, 1, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 4, 4, 1]
    texts = [about(thing, number) for number, thing in enumerate(things)]
    shapes = []
    for way in ("inline", "followed", "mixed"):
        with opened(addresses(kind, way), followers=way == "followed") as memory:
            chat = memory.conversation("chat", user="alex")
            for number, text in enumerate(texts):
                if way == "inline" or (way == "mixed" and number % 5 == 4):
                    chat.add_user_message(text)
                else:
                    chat.add("user", text)
            settle_topics(memory)
            shapes.append(shape(chat.topics(faded=True)))
            assert [state.behind for state in memory.stats().views if state.view == "topics"] == [0]
    assert shapes[0] == shapes[1] == shapes[2]


@pytest.mark.checklist("E10")
def test_a_rebuild_gives_the_same_topics_with_all_that_was_told(store_url: str) -> None:
    clock = FrozenClock()
    with opened(store_url, clock) as memory:
        chat = memory.conversation("chat", user="alex")
        talk(chat, *[1] * 15, 2, 3, 1, clock=clock)
        chat.tag_topic("t1", "work", "urgent")
        chat.tag_topic("t1", "urgent", remove=True)
        chat.feedback("t16", -1)
        chat.merge_topics("t1", "t17")
        talk(chat, 3, 2, clock=clock)
        chat.undo_merge("t17")
        chat.feedback("t17", 1)
        talk(chat, 3, 1, clock=clock)
        settle_topics(memory)
        before, history = shape(chat.topics(faded=True)), chat.get_full_topic_history("t1")
        assert turns(chat, "t1") == [*range(1, 16), 18, 19, 22], "19 came while the two were one"
        for view in ("topics", "titles"):
            memory.rebuild(view)
            settle_topics(memory)
            assert shape(chat.topics(faded=True)) == before
            assert chat.get_full_topic_history("t1") == history
        memory.rebuild("index")
        settle_topics(memory)
        assert shape(chat.topics(faded=True)) == before


@pytest.mark.checklist("E10")
def test_topics_survive_a_restart_and_a_copy(addresses: Callable[[str, str], str]) -> None:
    here, there = addresses("sqlite", "here"), addresses("json", "there")
    with opened(here) as memory:
        chat = memory.conversation("chat", user="alex")
        talk(chat, *[1] * 14, 2)
        chat.tag_topic("t1", "kept")
        settle_topics(memory)
        before = chat.topics()
    settings = Settings.load()
    with closing(open_store(here, settings)) as one, closing(open_store(there, settings)) as two:
        copy_store(one, two, lambda table, rows: None)
    for url in (here, there):
        with opened(url) as memory:
            chat = memory.conversation("chat", user="alex")
            assert chat.topics() == before
            assert talk(chat, 1, 2) == ["t1", "t15"]
            memory.rebuild("topics")
            settle_topics(memory)
            assert [topic.tags for topic in chat.topics() if topic.id == "t1"] == [("kept",)]


# -- telling


@pytest.mark.checklist("E10")
def test_topics_are_merged_and_taken_apart_again(store_url: str) -> None:
    with opened(store_url) as memory:
        chat = memory.conversation("chat", user="alex")
        talk(chat, 1, 1, 2, 2, 3)
        one = chat.merge_topics("t1", "t3")
        assert (one.id, one.merged, one.messages, one.accesses) == ("t1", ("t3",), 4, 2)
        assert turns(chat, "t1") == turns(chat, "t3") == [1, 2, 3, 4]
        assert [t.id for t in chat.topics()] == ["t1", "t5"]
        assert talk(chat, 2) == ["t1"], "what was about the other is about both"
        out = chat.undo_merge("t3")
        assert (out.id, turns(chat, "t3"), turns(chat, "t1")) == ("t3", [3, 4], [1, 2, 6])
        assert talk(chat, 2) == ["t3"]


@pytest.mark.checklist("E10")
def test_tags_and_search_go_across_topics(store_url: str) -> None:
    with opened(store_url, followers=True) as memory:
        chat = memory.conversation("chat", user="alex")
        talk(chat, 1, 2, 2, 3)
        chat.tag_topic("t4", "Holiday plans", "family")
        assert {t.id: t.tags for t in chat.topics()} == {"t1": (), "t2": (), "t4": ("Holiday plans", "family")}
        (first, *_) = chat.search_topics("vonk2")
        assert (first.topic.id, set(first.turns[:2])) == ("t2", {2, 3})
        assert chat.search_topics("holiday")[0].topic.id == "t4"
        assert chat.search_topics("#1 grelb1", limit=1)[0].topic.id == "t1"
        chat.tag_topic("t4", "family", remove=True)
        assert [t.tags for t in chat.topics() if t.id == "t4"] == [("Holiday plans",)]


@pytest.mark.checklist("E10")
def test_importance_is_learned_from_feedback_and_from_use(store_url: str) -> None:
    with opened(store_url) as memory:
        chat = memory.conversation("chat", user="alex")
        talk(chat, 1, 2)
        assert chat.feedback("t1", 1).importance > 0.5
        assert chat.feedback("t2", -1).importance < 0.5
        used = chat.get_topic_stats("t1").importance_score
        talk(chat, 1)
        assert chat.get_topic_stats("t1").importance_score > used
        for _ in range(30):
            chat.feedback("t2", -1)
        assert 0 < chat.get_topic_stats("t2").importance_score < 0.1


@pytest.mark.checklist("E9")
def test_a_follow_up_is_made_to_stand_alone_from_its_topic(store_url: str) -> None:
    with Memory(store_url, clock=FrozenClock(), followers=False) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add_user_message("How do I grow Habanero peppers on a balcony in Bergen?")
        chat.add_assistant_message("In large pots, out of the wind.")
        chat.add_user_message("ok")
        chat.add_assistant_message("Anything else?")
        asked = chat.standalone("And how often do I water them?")
        assert asked.startswith("And how often do I water them?")
        assert "Habanero" in asked


# -- titles


def writer(*replies: tuple[str, str] | Exception) -> tuple[ScriptedLLM, list[str]]:
    """A model that writes titles and summaries, and nothing of use for other tasks; and what it was asked for."""
    left, asked = list(replies), list[str]()

    def answer(request: Request) -> str:
        question = request.messages[-1]["content"]
        if "TITLE SO FAR" not in question:
            return "no"
        asked.append(question)
        reply = left.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return json.dumps({"title": reply[0], "summary": reply[1]})

    return ScriptedLLM(default=answer), asked


@pytest.mark.checklist("E1", "E2")
def test_a_model_writes_better_titles_and_updates_the_summary(store_url: str) -> None:
    model, asked = writer(
        ("All about grelb1", "The grelb1 has a vonk1."),
        ("All about grelb1", "The grelb1 has a vonk1, and a sarl1 too."),
    )
    with opened(store_url, memory=model, window_turns=0, followers=False) as memory:
        chat = memory.conversation("chat", user="alex")
        talk(chat, *[1] * 4)
        settle_topics(memory)
        topic = chat.topics()[0]
        assert (topic.title, topic.made_by, asked) == ("grelb1, vonk1, sarl1", "offline", []), "no call for a title"
        talk(chat, *[1] * 9)
        settle_topics(memory)
        topic = chat.topics()[0]
        assert (topic.title, topic.made_by, topic.summary) == ("All about grelb1", "model", "The grelb1 has a vonk1.")
        talk(chat, *[1] * 9)
        settle_topics(memory)
        assert chat.topics()[0].summary == "The grelb1 has a vonk1, and a sarl1 too."
        assert "The grelb1 has a vonk1." in asked[-1], "it is brought up to date, not made anew"
        assert [one.count("Different topic:") for one in asked] == [9, 9], "the new messages alone"


@pytest.mark.checklist("E2")
def test_while_the_model_is_away_the_built_in_writer_stands_in(store_url: str) -> None:
    clock = FrozenClock()
    model, _ = writer(ModelBusy("away"), ("About grelb1", "The grelb1 has a vonk1."))
    with opened(store_url, clock, memory=model, window_turns=0, followers=False) as memory:
        chat = memory.conversation("chat", user="alex")
        talk(chat, *[1] * 13)
        settle_topics(memory)
        topic = chat.topics()[0]
        assert (topic.made_by, bool(topic.summary)) == ("offline", True)
        waiting = {state.view: state.standing_in for state in memory.stats().views}
        assert waiting["titles"] == 1
        clock.advance(timedelta(hours=1))
        settle_topics(memory)
        assert (chat.topics()[0].title, chat.topics()[0].summary) == ("About grelb1", "The grelb1 has a vonk1.")


# -- erasing


@pytest.mark.checklist("E10")
def test_erasing_leaves_nothing_of_a_person_in_topics(store_url: str) -> None:
    with opened(store_url) as memory:
        channel = memory.conversation("general")
        own = memory.conversation("own", user="zoe")
        for number in range(16):
            who = ("ann", "zoe")[number % 2]
            channel.add_user_message(f"{about(1, number)} So says {who}.", author=who)
            own.add_user_message(f"{about(1, number)} So says zoe.")
        channel.add_user_message(f"Zoe's own: {about(2)}", author="zoe")
        settle_topics(memory)
        own.tag_topic("t1", "zoe's secret")
        channel.tag_topic("t17", "zoe's secret")
        channel.tag_topic("t1", "shared")
        assert any("zoe" in topic.summary for topic in (*channel.topics(), *own.topics()))
        memory.erase(user="zoe")
        settle_topics(memory)
        (left,) = channel.topics(faded=True)
        assert (left.id, left.messages, left.tags) == ("t1", 8, ("shared",))
        assert {m.author for m in channel.get_full_topic_history()} == {"ann"}
        assert memory.conversation("own").topics(faded=True) == []
    tables = ("topics", "topic_turns", "topic_packs", "topic_summaries", "topic_notes")
    held = str([row for table in tables for row in rows_of(store_url, table)])
    assert "zoe" not in held.lower()
    if not store_url.startswith("json:"):
        packs = [decode_pack(bytes(row["packed"])) for row in rows_of(store_url, "topic_packs")]
        assert all(message.author == "ann" for pack in packs for message in pack)


def test_a_conversation_given_in_one_piece_has_its_topics_too(store_url: str) -> None:
    with opened(store_url) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.extend(Draft("user", about(number % 3, number)) for number in range(300))
        chat.add("user", "", metadata={"picture": 1})
        settle_topics(memory)
        assert sorted(topic.messages for topic in chat.topics()) == [100, 100, 101]
        assert sum(len(turns(chat, topic.id)) for topic in chat.topics()) == 301


@pytest.mark.checklist("E1")
def test_a_message_finds_its_topic_though_nobody_has_followed_yet(tmp_path: Path) -> None:
    """What was kept before comes first, however much it is and whether it is in the index or not."""
    with opened(str(tmp_path / "memory.db"), followers=False) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.extend(Draft("user", about(number % 8, number)) for number in range(600))
        assert chat.topics() == []
        topic = chat.add_user_message(about(1, 600))
        assert (topic.id, topic.messages) == ("t2", 76)
        chat.extend(Draft("user", about(2, number)) for number in range(9))
        assert chat.add_user_message(about(2)).messages == 75 + 10
        settle_views(memory, "index", "topics")
        assert sum(topic.messages for topic in chat.topics()) == 611


def test_another_embedder_is_refused_and_nothing_is_kept(tmp_path: Path) -> None:
    """Until the index, and the topics with it, are made anew; what was told stays with its messages."""
    url = str(tmp_path / "memory.db")
    with opened(url) as memory:
        chat = memory.conversation("chat", user="alex")
        talk(chat, 1, 2, 1)
        chat.tag_topic("t1", "kept")
        settle_topics(memory)
    engine = MemoryEngine(lambda: build(Settings.load(store=url)))
    with BlockingMemory(engine, partial(engine.open, check_embedder=False)) as memory:
        chat = memory.conversation("chat", user="alex")
        with pytest.raises(EmbedderMismatch):
            chat.add_user_message("How do I cook lentils with carrots?")
        assert len(chat.history()) == 3
        memory.rebuild("index")
        memory.settle()
        assert [topic.tags for topic in chat.topics() if topic.id == "t1"] == [("kept",)]
        assert chat.add_user_message("How do I cook lentils with carrots?").messages >= 1
