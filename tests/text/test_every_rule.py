"""F15: no rule raises on any text or time, and none takes more than its length: a test of every one there is."""

from __future__ import annotations

import random
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from itertools import cycle
from zoneinfo import ZoneInfo

import pytest
from every_rule import CALLS, NOON, OTHERS, RULES, Given, Unknown, prepared
from hostile_texts import ODD, UNITS, text_of
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_sizes import sample

from everword.errors import EverwordError
from everword.log.checks_and_seals import check_text

EVERY = sorted({*RULES, *CALLS} - OTHERS)
MOMENTS = (
    datetime.min.replace(tzinfo=UTC),
    datetime.max.replace(tzinfo=UTC),
    datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14))),
    datetime(9999, 12, 31, 23, 59, tzinfo=timezone(-timedelta(hours=12))),
    datetime(2024, 2, 29, tzinfo=UTC),
    datetime(1900, 1, 1, tzinfo=UTC),
    datetime(2200, 12, 31, tzinfo=ZoneInfo("Pacific/Kiritimati")),
    NOON,
)
WORDS = (
    "I my name is live in Rome since last week ago next May 5 10 2020 remember forget not and , . ? ! : = ; - ' [ { <"
)
SMALL = 400  # characters: the smallest text that is looked at
LARGE = 16 * SMALL  # characters: a text of so many is read first
SLOW = 0.004  # seconds: a rule that reads it in less is not looked at closely
LONG = 0.05  # seconds: nor what takes less for four times as much
GROWTH = 10  # times as long for four times as much: a square would be sixteen
ALWAYS = (" ", "\t", "\n", "\u00a0", ".", "...", ", ", "; ", "a ", "- ", "and ")  # which patterns stumble over most
UNITS_EACH = sample(9)  # others of the families, for each of these rules
UNITS_OF_ALL = sample(2)  # for each of all others
# What reads the whole of a text or of a model's answer, some of it in the event loop.
LINEAR = (
    "recall.rules.query.parse_query",
    "facts.english.finder.complete_answer",
    "facts.english.clause_readers.name_readings",
    "facts.english.clauses.supposes",
    "text.dates.parse_date",
    "facts.english.finder.instructions",
    "facts.rules.person_shift.retell_predicate",
    "facts.rules.person_shift.retell_pronouns",
    "facts.english.clauses.possible_statements",
    "facts.english.statements.read_statements",
    "facts.english.values.animals",
    "facts.english.values.company",
    "facts.english.values.condition",
    "facts.english.values.languages",
    "facts.english.values.name",
    "facts.english.values.place",
    "facts.english.values.thing",
    "facts.english.values.things",
    "facts.english.values.trade",
    "text.filler.trim",
    "secrets.detector.find_secrets",
    "context.reply_markers.ReplyFilter",
    "context.reply_markers.Cutter",
    "openai.stream.ReplyStream",
    "text.sentences.clauses",
    "summaries.rules.shortened_messages.clean",
    "summaries.rules.shortened_messages.pairs_in",
    "text.dates.spans",
    "follow.model_task.parts_by_label",
    "context.reply_markers.parse_inline",
)

pieces = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=60),
    st.lists(st.sampled_from(WORDS.split(" ")), max_size=30).map(" ".join),
    st.builds(text_of, st.sampled_from(UNITS), st.integers(1, 300)),
    st.sampled_from(ODD),
)


def call(name: str, asked: Given) -> None:
    """What is raised on purpose is an answer: a text may be refused."""
    try:
        prepared(name, asked)()
    except EverwordError:
        pass
    except Exception as error:
        error.add_note(f"in {name}, of {asked.text[:200]!r} at {asked.moment}")
        raise


def test_every_rule_can_be_called_by_its_signature() -> None:
    """A new rule whose types say too little needs a line in `every_rule`: how to call it, or that it reads no text."""
    for name in sorted(RULES.keys() - CALLS.keys() - OTHERS):
        try:
            prepared(name, Given("Hello, I am Al."))
        except Unknown as error:
            pytest.fail(f"{name}: no value can be made of {error}; put it into CALLS or OTHERS of every_rule.py")


def test_no_line_of_the_list_is_of_a_rule_that_is_gone() -> None:
    classes = {name for name in CALLS if name.rpartition(".")[2][0].isupper()}
    assert (CALLS.keys() - classes) | OTHERS <= RULES.keys()


@settings(max_examples=sample(20))
@given(text=pieces, moment=st.sampled_from(MOMENTS))
@pytest.mark.checklist("F15")
def test_no_rule_raises_on_any_text_or_time(text: str, moment: datetime) -> None:
    check_text("text", text)  # what the engine lets through
    for name in EVERY:
        call(name, Given(text, moment))


@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
@pytest.mark.checklist("F15")
def test_no_rule_raises_on_what_is_odd(text: str) -> None:
    moment = MOMENTS[ODD.index(text) % len(MOMENTS)]
    for name in EVERY:
        call(name, Given(text, moment))


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.checklist("F15")
def test_a_date_is_reckoned_from_any_day(moment: datetime) -> None:
    for text in ("I moved to Rome last week.", "Yesterday I quit.", "I have lived here for 90 years.", ODD[4]):
        for name in (
            "facts.english.finder.find_facts",
            "facts.english.finder.read_facts",
            "text.dates.spans",
            "text.dates.parse_times",
            "facts.prompts.offline_reading",
        ):
            call(name, Given(text, moment))


def seconds(name: str, text: str, times: int) -> float:
    taken = []
    for _ in range(times):
        prepare = prepared(name, Given(text))
        begun = time.thread_time()
        with suppress(EverwordError):
            prepare()
        taken.append(time.thread_time() - begun)
    return min(taken)


def grows(name: str, unit: str) -> str | None:
    """What is wrong with how long a rule takes for longer and longer texts of a family; None if nothing is."""
    size, longer = LARGE, 0.0
    if (taken := seconds(name, text_of(unit, size), 1)) < SLOW:
        return None
    while size > SMALL and (less := seconds(name, text_of(unit, size // 4), 1)) >= SLOW:
        size, longer, taken = size // 4, taken, less
    last = longer or seconds(name, text_of(unit, 4 * size), 1)
    if last <= LONG:
        return None
    first = seconds(name, text_of(unit, size), 3)
    if last > GROWTH * first:
        last = seconds(name, text_of(unit, 4 * size), 3)
    wrong = last > max(GROWTH * first, LONG)
    if wrong:  # a step, where a rule begins to do more, is passed once; what grows too fast goes on growing
        wrong = seconds(name, text_of(unit, 16 * size), 2) > GROWTH * last
    return f"{name}, {unit!r}: {first:.4f} s at {size}, {last:.4f} s at {4 * size}" if wrong else None


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.checklist("F15")
def test_a_rule_takes_time_in_proportion_to_its_text(name: str) -> None:
    units = {*ALWAYS, *random.Random(name).sample(UNITS, UNITS_EACH)}
    assert [wrong for unit in sorted(units) if (wrong := grows(name, unit)) is not None] == []


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("text.english.has_predicate", "Christmas "),
        ("text.english.has_predicate", "works at "),
        ("facts.english.statements.take_time", "Monday "),
        ("secrets.detector.find_secrets", "password is "),
        ("secrets.detector.find_secrets", "token="),
        ("secrets.detector.find_secrets", "4111 "),
        ("secrets.detector.find_secrets", "abandon "),
        ("secrets.detector.find_secrets", "-----BEGIN PRIVATE KEY-----"),
        ("secrets.detector.find_secrets", "a://b:c"),
        ("secrets.detector.find_secrets", "Zk3mP9qLr0Xv8TnB2s "),
        ("secrets.detector.find_secrets", "password. it's now "),
        ("secrets.detector.find_secrets", "door code "),
        ("secrets.detector.find_secrets", "login with a and "),
        ("summaries.rules.shortened_messages.drop_dangling", "\t"),
        ("summaries.rules.shortened_messages.drop_dangling", " the"),
        ("text.key_value_statements.statement_pairs", "allergic to "),
    ],
)
@pytest.mark.checklist("F15")
def test_what_a_text_names_often_is_read_once(name: str, unit: str) -> None:
    """A rule that looks at what is before each word, or at the end of a text, does not read all of the text for it."""
    assert grows(name, unit) is None


@pytest.mark.checklist("F15")
def test_every_other_rule_does_too() -> None:
    """Over all of them, every family of texts is read."""
    others = [name for name in EVERY if name not in LINEAR]
    units = random.Random(0).sample(UNITS, len(UNITS))
    names = [name for name in others for _ in range(UNITS_OF_ALL)]
    assert len(names) >= len(units)
    chosen = zip(names, cycle(units), strict=False)
    assert [wrong for name, unit in chosen if (wrong := grows(name, unit)) is not None] == []
