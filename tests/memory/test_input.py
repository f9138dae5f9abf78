"""Bad input: accepted or refused the same way on every store, by an error that names the field and the reason."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from sample_sizes import sample

from everword import Batch, Draft, InvalidInput, Memory
from everword.testing import FrozenClock
from everword.testing.samples import ODD_IDS, ODD_TEXTS

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
SURROGATE = "\ud83d"
ENDLESS: list[Any] = []
ENDLESS.append(ENDLESS)

Attempt = Callable[[Memory], object]
Refusals = dict[str, tuple[Attempt, str, str]]


def adding(role: Any = "user", content: Any = "hello", **rest: Any) -> Attempt:
    return lambda memory: memory.conversation("chat", user="alex").add(role, content, **rest)


def talking(id: Any = "chat", user: Any = "alex", space: Any = None) -> Attempt:
    return lambda memory: memory.conversation(id, user=user, space=space).add("user", "hello")


def batching(space: Any, conversation: Any, user: Any) -> Attempt:
    return lambda memory: memory.add_many([Batch(space, conversation, user, [Draft("user", "hello")])])


def searching(query: Any = "hello", **rest: Any) -> Attempt:
    return lambda memory: memory.search(query, **rest)


def asking(**rest: Any) -> Attempt:
    return lambda memory: memory.conversation("chat", user="alex").history(**rest)


# What is tried, the field the error names, and a part of the reason it gives.
CONTENT: Refusals = {
    "empty": (adding(content=""), "content", "is empty"),
    "whitespace": (adding(content=" \n\t\u3000 "), "content", "is empty"),
    "empty, with empty metadata": (adding(content="", metadata={}), "content", "is empty"),
    "NUL": (adding(content="a\x00b"), "content", "NUL (at character 2)"),
    "lone surrogate": (adding(content="ab" + SURROGATE), "content", "lone surrogate (at character 3)"),
    "too large": (adding(content="é" * ((8 << 20) + 1)), "content", "16,777,218 bytes; at most 16,777,216"),
    "number": (adding(content=7), "content", "must be text, not int"),
    "bytes": (adding(content=b"hello"), "content", "must be text, not bytes"),
    "none": (adding(content=None), "content", "must be text, not NoneType"),
    "unknown role": (adding(role="robot"), "role", "'robot'; must be one of user, assistant, system, tool"),
    "role in capitals": (adding(role="User"), "role", "'User'"),
    "no role": (adding(role=None), "role", "None"),
    "role that cannot be a key": (adding(role=["user"]), "role", "['user']"),
}

TIMES: Refusals = {
    "future": (adding(time=NOW + timedelta(days=1, microseconds=1)), "time", "more than one day in the future"),
    "end of time": (adding(time=datetime.max.replace(tzinfo=UTC)), "time", "must be in the years 1900 to 2200"),
    "naive": (adding(time=datetime(2020, 1, 1)), "time", "has no time zone"),  # noqa: DTZ001
    "before the first year": (
        adding(time=datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=1)))),
        "time",
        "must be in the years 1900 to 2200",
    ),
    "in the first year": (adding(time=datetime(1, 1, 1, tzinfo=UTC)), "time", "must be in the years 1900 to 2200"),
    "a microsecond too early": (
        adding(time=datetime(1899, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)),
        "time",
        "is 1899-12-31T23:59:59.999999+00:00; must be in the years 1900 to 2200",
    ),
    "a filter too early": (searching(after=datetime(1, 1, 1, tzinfo=UTC)), "after", "must be in the years 1900"),
    "a filter too late": (searching(before=datetime(2201, 1, 1, tzinfo=UTC)), "before", "must be in the years 1900"),
    "text": (adding(time="2020-01-01"), "time", "must be a datetime, not str"),
    "number": (adding(time=1.5e9), "time", "must be a datetime, not float"),
    "naive filter": (searching(after=datetime(2020, 1, 1)), "after", "has no time zone"),  # noqa: DTZ001
    "filter of another type": (searching(before="yesterday"), "before", "must be a datetime, not str"),
}

METADATA: Refusals = {
    "list": (adding(metadata=["a"]), "metadata", "must be a mapping, not list"),
    "empty list": (adding(metadata=[]), "metadata", "must be a mapping, not list"),
    "object": (adding(metadata={"a": object()}), "metadata", "cannot be written as JSON"),
    "bytes": (adding(metadata={"a": b"x"}), "metadata", "cannot be written as JSON"),
    "set": (adding(metadata={"a": {1}}), "metadata", "cannot be written as JSON"),
    "nan": (adding(metadata={"a": float("nan")}), "metadata", "cannot be written as JSON"),
    "infinity": (adding(metadata={"a": [float("-inf")]}), "metadata", "cannot be written as JSON"),
    "endless": (adding(metadata={"a": ENDLESS}), "metadata", "or holds itself"),
    "key that is a number": (adding(metadata={1: "a"}), "metadata", "a key that is not text"),
    "key inside that is a number": (adding(metadata={"a": [{1: "b"}]}), "metadata", "a key that is not text"),
    "NUL": (adding(metadata={"a": "x\x00"}), "metadata", "contains NUL"),
    "NUL in a key": (adding(metadata={"\x00": 1}), "metadata", "contains NUL"),
    "lone surrogate": (adding(metadata={"a": SURROGATE}), "metadata", "lone surrogate"),
    "lone surrogate in a key": (adding(metadata={SURROGATE: 1}), "metadata", "lone surrogate"),
    "too large": (adding(metadata={"a": "x" * (1 << 20)}), "metadata", "bytes; at most 1,048,576"),
}

BAD_IDS = {
    "empty": ("", "is empty"),
    "blank": (" \u3000", "is empty"),
    "long": ("x" * 257, "has 257 characters; at most 256"),
    "newline": ("a\nb", "control character or a line break"),
    "line separator": ("a\u2028b", "control character or a line break"),
    "NUL": ("a\x00", "control character or a line break"),
    "escape": ("\x1b[31m", "control character or a line break"),
    "surrogate": ("a" + SURROGATE, "lone surrogate"),
    "number": (7, "must be text, not int"),
    "bytes": (b"a", "must be text, not bytes"),
}

PLACES: dict[str, Callable[[Any], Attempt]] = {
    "conversation": lambda id: talking(id=id),
    "user": lambda id: talking(user=id),
    "space": lambda id: talking(space=id),
    "author": lambda id: adding(author=id),
    "platform_id": lambda id: adding(platform_id=id),
    "id": lambda id: lambda memory: memory.conversation("chat", user="alex").extend([Draft("user", "hello", id=id)]),
}

OTHER_PLACES: dict[str, Callable[[Any], tuple[Attempt, str]]] = {
    "searched user": lambda id: (searching(user=id), "user"),
    "searched conversation": lambda id: (searching(conversation=id), "conversation"),
    "searched space": lambda id: (searching(space=id), "space"),
    "exported user": lambda id: (lambda memory: list(memory.export(user=id)), "user"),
    "exported conversation": lambda id: (lambda memory: list(memory.export(conversation=id)), "conversation"),
    "exported space": lambda id: (lambda memory: list(memory.export(space=id)), "space"),
    "listed user": lambda id: (lambda memory: memory.conversations(user=id), "user"),
    "counted space": lambda id: (lambda memory: memory.stats(space=id), "space"),
    "rebuilt space": lambda id: (lambda memory: memory.rebuild(space=id), "space"),
    "erased user": lambda id: (lambda memory: memory.erase(user=id), "user"),
    "erased space": lambda id: (lambda memory: memory.erase(user="alex", space=id), "space"),
    "user of a draft": lambda id: (adding(user=id), "user"),
    "space of a batch": lambda id: (batching(id, "chat", "alex"), "space"),
    "conversation of a batch": lambda id: (batching("default", id, "alex"), "conversation"),
    "user of a batch": lambda id: (batching("default", "chat", id), "user"),
}

NUMBERS: Refusals = {
    f"{name} {value!r}": (attempt(value), field, reason)
    for name, field, attempt in (
        ("search", "limit", lambda n: searching(limit=n)),
        ("conversations", "limit", lambda n: lambda memory: memory.conversations(limit=n)),
        ("history", "limit", lambda n: asking(limit=n)),
        ("history before", "before", lambda n: asking(before=n)),
    )
    for value, reason in (
        (0, "is 0; must be from 1 to"),
        (-1, "is -1; must be from 1 to"),
        (True, "must be a whole number, not bool"),
        (2.0, "must be a whole number, not float"),
        ("10", "must be a whole number, not str"),
        (2**70, "must be from 1 to"),
    )
}

QUERIES: Refusals = {
    "search 1001": (searching(limit=1_001), "limit", "is 1001; must be from 1 to 1,000"),
    "NUL": (searching("a\x00"), "query", "NUL (at character 2)"),
    "lone surrogate": (searching(SURROGATE), "query", "lone surrogate"),
    "number": (searching(7), "query", "must be text, not int"),
    "too large": (searching("x" * ((1 << 20) + 1)), "query", "bytes; at most 1,048,576"),
    "unknown role": (searching(role="robot"), "role", "'robot'; must be one of"),
    "unknown view": (lambda memory: memory.rebuild("dreams"), "view", "'dreams'; must be one of index"),
    "after": (lambda memory: memory.conversations(after="a\x00"), "after", "`cursor` of a conversation"),
    "context NUL": (lambda memory: memory.conversation("chat").context("a\x00"), "text", "NUL"),
    "context of a number": (lambda memory: memory.conversation("chat").context(7), "text", "must be text"),  # type: ignore[arg-type]
    "system NUL": (lambda memory: memory.conversation("chat").context("a", system="\x00"), "system", "NUL"),
}

IDS: Refusals = {
    **{f"{p}: {name}": (PLACES[p](id), p, reason) for p in PLACES for name, (id, reason) in BAD_IDS.items()},
    **{
        f"{place}: {name}": (*attempt(id), reason)
        for place, attempt in OTHER_PLACES.items()
        for name, (id, reason) in BAD_IDS.items()
    },
}

TABLES = {"content": CONTENT, "times": TIMES, "metadata": METADATA, "ids": IDS, "numbers": NUMBERS, "queries": QUERIES}


@pytest.mark.parametrize("table", TABLES)
def test_bad_input_is_refused_by_field_and_reason_and_nothing_is_written(store_url: str, table: str) -> None:
    """The same table for every store, so that all of them refuse the same things in the same words."""
    with Memory(store_url, clock=FrozenClock(NOW)) as memory:
        wrong = []
        for name, (attempt, field, reason) in TABLES[table].items():
            try:
                wrong.append(f"{name}: accepted, {attempt(memory)!r:.80}")
            except InvalidInput as error:
                if error.field != field or reason not in error.reason or str(error) != f"{field}: {error.reason}":
                    wrong.append(f"{name}: {error}, expected {field}: …{reason}…")
        assert wrong == []
        stats = memory.stats()
        assert (stats.messages, stats.conversations, stats.spaces) == (0, 0, 0)
        assert memory.verify().ok


def test_a_refused_message_leaves_its_conversation_as_it_was(store_url: str) -> None:
    with Memory(store_url, clock=FrozenClock(NOW)) as memory:
        memory.conversation("chat", user="alex").add("user", "hello")
        before = (memory.verify(), memory.stats(), memory.conversations())
        for attempt, *_ in (*CONTENT.values(), *TIMES.values(), *METADATA.values()):
            with pytest.raises(InvalidInput):
                attempt(memory)
        memory.settle()
        after = (memory.verify(), memory.stats(), memory.conversations())
        assert after[0] == before[0]
        assert after[1].messages == before[1].messages == 1
        assert after[2] == before[2]
        assert memory.conversation("chat", user="alex").add("user", "and on").turn == 2


@pytest.mark.every_store
def test_content_that_is_odd_but_text_is_kept_to_the_character(store_url: str) -> None:
    odd = [text for text in ODD_TEXTS if text.strip()]
    with Memory(store_url) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.extend(Draft("user", text) for text in odd)
        chat.add("user", "", metadata={"attachment": "photo.jpg"})
        chat.add("tool", "  ", metadata={"ok": True})
        assert [m.content for m in chat.history()] == [*odd, "", "  "]
        memory.settle()
        assert memory.verify().ok


def test_ids_of_any_script_and_punctuation_are_accepted(store_url: str) -> None:
    ids = [*ODD_IDS, "a/b", "100%", 'it\'s "so"', "👩‍👩‍👧", "x" * 256, "日" * 256, "-- ;", "NULL", "None"]
    with Memory(store_url, followers=False) as memory:
        for id in ids:
            batch = Batch(id, id, id, [Draft("user", "hello world", author=id, user=id, platform_id=id, id=id)])
            for new in (True, False):
                ((added,),) = memory.add_many([batch])
                assert added.new == new
        memory.settle()
        for id in ids:
            (kept,) = memory.conversation(id, user=id, space=id).history()
            assert (kept.id, kept.author, kept.user, kept.platform_id) == (id, id, id, id)
            assert [h.message for h in memory.search("hello", user=id, conversation=id, space=id)] == [kept]
            assert [m.id for m in memory.export(space=id, user=id)] == [id]
        assert memory.verify().messages == len(ids)
        assert memory.erase(user=ids[0], space=ids[0]).messages == 1
        assert memory.verify().ok


def test_times_long_past_and_a_little_ahead_are_accepted(store_url: str) -> None:
    times = (
        datetime(1900, 1, 1, tzinfo=UTC),
        datetime(1900, 1, 1, 15, tzinfo=timezone(timedelta(hours=14))),
        datetime(1969, 7, 20, 20, 17, 40, 123_456, tzinfo=UTC),
        datetime(1970, 1, 1, tzinfo=UTC),
        NOW + timedelta(days=1),
    )
    with Memory(store_url, clock=FrozenClock(NOW)) as memory:
        chat = memory.conversation("chat", user="alex")
        for time in times:
            chat.add("user", "the time of this message", time=time)
            (hit,) = memory.search("message", after=time, before=time + timedelta(microseconds=1))
            assert hit.message.time == time
        assert [m.time for m in chat.history()] == list(times)
        assert (memory.stats().first, memory.stats().last, memory.verify().ok) == (times[0], times[-1], True)


# Of long words: what is made of a message grows with its words, what a store has to hold with its bytes.
LONG_WORDS = "Antidisestablishmentarianism notwithstanding, counterrevolutionaries misunderstood internationalism. "


def test_five_megabytes_are_kept_and_found_by_a_word_near_the_end(store_url: str) -> None:
    many = LONG_WORDS * (5_000_000 // len(LONG_WORDS))
    content = f"{many}Then somebody mentioned the xylophone of Zanzibar. {LONG_WORDS}"
    with Memory(store_url) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", content)
        chat.add("user", "short and sweet")
        memory.settle()
        (best, *_) = memory.search("xylophone Zanzibar", user="alex")
        assert best.message.turn == 1
        assert best.message.content == content
        assert memory.stats().characters == len(content) + len("short and sweet")
        assert memory.verify().ok


@pytest.mark.parametrize("kind", ["json", "postgresql"], indirect=True)
def test_every_other_store_takes_megabytes_and_finds_them(store_url: str) -> None:
    content = "x" * sample(5_000_000) + " and then somebody mentioned the xylophone of Zanzibar."
    with Memory(store_url, followers=False) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", content)
        memory.settle()
        assert memory.search("xylophone Zanzibar", user="alex")[0].message.content == content
        assert memory.stats().characters == len(content)
        assert memory.verify().ok


def test_sixteen_mebibytes_are_the_most(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        chat = memory.conversation("chat", user="alex")
        content = "é" * (8 << 20)
        assert chat.add("user", content).content == chat.history()[0].content == content
