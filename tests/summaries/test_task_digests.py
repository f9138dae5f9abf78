"""The tasks of digests: a day of all in one question, a history, a merge; whatever a model answers (C3 to C7)."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everword import Message, ModelNonsense
from everword.summaries.prompts import (
    MOST_OF_DAY,
    DayInputs,
    MergeInputs,
    WeekInputs,
    context_merge,
    day_digest,
    week_history,
)

DAY = date(2026, 3, 2)
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
NAMES = {"1": "Ann", "2": "Bob", "a&b": "Cyd"}
SAID = (
    ("1", "I passed my exam, <@2>!"),
    ("2", "Well done. I baked a cake."),
    ("a&b", "🎂🎂"),
    ("1", "It was at 9:30."),
)


def message(author: str, text: str, minutes: int = 0) -> Message:
    at = NOON + timedelta(minutes=minutes)
    return Message("s", "c", minutes + 1, f"m{minutes}", "user", author, author, text, at)


def day(*said: tuple[str, str], **more: object) -> DayInputs:
    messages = tuple(message(author, text, n) for n, (author, text) in enumerate(said or SAID))
    members = tuple(dict.fromkeys(one.author for one in messages))
    return replace(DayInputs(DAY, UTC, messages, members, NAMES), **more)  # type: ignore[arg-type]


def answer(**entries: str) -> str:
    return json.dumps({"members": [{"id": id.lstrip("_"), "summary": text} for id, text in entries.items()]})


@pytest.mark.checklist("C3")
def test_a_day_is_one_question_about_all_its_members() -> None:
    request = day_digest.build(day())
    asked = request.messages[-1]["content"]
    assert "I passed my exam, @Bob!" in asked
    assert "- 1 (Ann)" in asked
    assert "2026-03-02, Monday" in asked
    assert request.temperature == 0.0
    assert request.schema is not None
    items = request.schema["properties"]["members"]["items"]
    assert items["properties"]["id"]["enum"] == ["1", "2", "a&b"]
    assert items["additionalProperties"] is False


@pytest.mark.checklist("C3", "C7")
def test_entries_are_taken_by_id_strangers_dropped_and_who_is_missing_speaks_for_themselves() -> None:
    reply = day_digest.parse(answer(_1="Ann passed her exam.", _9="A stranger.", _2=""), day())
    assert set(reply.entries) == {"1", "2", "a&b"}
    assert reply.entries["1"] == "Ann passed her exam."
    assert reply.entries["2"] == "Bob: I baked a cake."
    assert "🎂" in reply.entries["a&b"]
    assert reply.offline == {"2", "a&b"}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"1": "Ann passed her exam.", "2": "Bob baked a cake."}),
        json.dumps({"members": {"1": "Ann passed her exam.", "2": "Bob baked a cake."}}),
        json.dumps([{"author_id": 1, "text": "Ann passed her exam."}, {"member_id": "2", "text": "Bob baked a cake."}]),
        "Here you are:\n```json\n" + answer(_1="Ann passed her exam.", _2="Bob baked a cake.") + "\n```",
        answer(_1="Ann passed her exam.", _2="Bob baked a cake.")[:-2],
    ],
)
def test_answers_are_read_however_they_are_wrapped(text: str) -> None:
    reply = day_digest.parse(text, day())
    assert (reply.entries["1"], reply.entries["2"]) == ("Ann passed her exam.", "Bob baked a cake.")


def test_an_id_that_was_escaped_is_still_an_id() -> None:
    text = json.dumps({"members": [{"id": "a&amp;b", "summary": "Cyd sent cake."}]})
    assert day_digest.parse(text, day()).entries["a&b"] == "Cyd sent cake."


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("no", "There is no JSON"),
        (answer(_9="Somebody was there."), "id of a member"),
        (answer(_1="Ann met Xenophon, Yggdrasil and 4711 others."), "which nobody said"),
        (answer(_1="Kim listened to Dana's talk twice and told her to cut the second slide."), "example|nobody said"),
        (answer(_1="…"), "empty"),
    ],
)
def test_what_is_no_answer_is_refused_with_a_reason(text: str, fault: str) -> None:
    with pytest.raises(ModelNonsense, match=fault) as error:
        day_digest.parse(text, day())
    assert "cannot be used" in day_digest.repair(day(), text, error.value).messages[-1]["content"]


def test_ids_that_a_key_cannot_tell_apart_are_not_guessed() -> None:
    inputs = day(("u_1", "I ran"), ("u1", "I swam"))
    with pytest.raises(ModelNonsense):
        day_digest.parse(json.dumps({"u1": "They ran."}), inputs)
    assert day_digest.parse(answer(u_1="Somebody ran."), inputs).entries["u_1"] == "Somebody ran."


@given(
    st.lists(st.tuples(st.sampled_from(["1", "2", "a&b"]), st.text(min_size=1, max_size=80)), min_size=1, max_size=6)
)
@pytest.mark.checklist("C7")
def test_offline_every_member_has_an_entry_of_their_own_words(said: list[tuple[str, str]]) -> None:
    inputs = day(*said)
    reply = day_digest.offline(inputs)
    assert set(reply.entries) == {author for author, _ in said} == reply.offline
    assert all(len(text) <= MOST_OF_DAY for text in reply.entries.values())
    day_digest.build(inputs)


def test_a_huge_message_is_shown_in_part_and_notes_are_said_to_be_notes() -> None:
    asked = day_digest.build(day(("1", "x" * 100_000), notes=True)).messages[-1]["content"]
    assert len(asked) < 4_000
    assert "notes on parts of the day" in asked


# -- histories and merges

WEEK = WeekInputs("Ann", ((DAY, "Ann passed her exam."), (DAY + timedelta(days=1), "Ann slept late.")))


@pytest.mark.checklist("C5")
def test_a_history_is_of_the_days_and_nothing_else() -> None:
    assert "2026-03-02 (Monday): Ann passed her exam." in week_history.build(WEEK).messages[-1]["content"]
    good = json.dumps({"summary": "Ann passed her exam on Monday and slept late on Tuesday."})
    assert "slept late" in week_history.parse(good, WEEK).text
    with pytest.raises(ModelNonsense):
        week_history.parse(json.dumps({"summary": "They met Xenophon and Yggdrasil in Zanzibar."}), WEEK)
    assert "exam" in week_history.offline(WEEK).text
    long = json.dumps({"summary": "Ann slept late. " * 200})
    with pytest.raises(ModelNonsense):
        week_history.parse(long, WEEK)


MERGE = MergeInputs("Ann", "Ann lives in Oslo.", "Ann passed.", "Ann slept late.")


@pytest.mark.checklist("C6")
def test_a_merge_is_known_by_what_it_is_of() -> None:
    assert MERGE.hash == replace(MERGE).hash
    changed = [replace(MERGE, **{name: "other"}) for name in ("name", "profile", "today", "history")]
    assert len({MERGE.hash, *(one.hash for one in changed)}) == 5
    assert MERGE.several
    assert not replace(MERGE, today="", history=" ").several


@pytest.mark.checklist("C7")
def test_a_merge_keeps_what_is_known_first() -> None:
    asked = context_merge.build(MERGE).messages[-1]["content"]
    assert asked.index("=== PROFILE") < asked.index("=== TODAY") < asked.index("=== HISTORY")
    assert context_merge.offline(MERGE).text == (
        "Ann lives in Oslo.\nToday: Ann passed.\nIn the last days: Ann slept late."
    )
    assert "=== HISTORY" not in context_merge.build(replace(MERGE, history="")).messages[-1]["content"]
    good = json.dumps({"summary": "Ann, who lives in Oslo, slept late and passed."})
    assert context_merge.parse(good, MERGE).text.startswith("Ann, who")
    long = replace(MERGE, profile="Ann likes tea. " * 200)
    assert "at most 3400 characters" in context_merge.build(long).messages[-1]["content"]
