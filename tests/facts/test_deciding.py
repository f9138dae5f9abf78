"""What becomes of a fact that was found (B3–B7), and what is read from what was kept."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from fact_rows import apply_actions
from hypothesis import given
from hypothesis import strategies as st

from everword.facts.rules.deciding import (
    MAX_SOURCES,
    acceptable_facts,
    decide,
    facts_as_of,
    facts_now,
    history,
    midnight,
    refusal,
    remaining_confidence,
)
from everword.facts.rules.fact_relevance import profile_lines
from everword.facts.rules.keys_and_values import (
    fold,
    has_same_value,
    holds_several_values,
    says_nearly_the_same,
    without_answered_claims,
)
from everword.model import Fact, FoundFact, Holds, Message

START = datetime(2024, 1, 1, 9, 30, tzinfo=UTC)


def message(
    turn: int, *, day: float | None = None, author: str = "alex", conversation: str = "chat", id: str = ""
) -> Message:
    time = START + timedelta(days=turn if day is None else day)
    return Message("s", conversation, turn, id or f"{conversation}-{turn}", "user", author, "alex", "…", time)


def name(value: str, confidence: float = 1.0, *, corrects: bool = False) -> FoundFact:
    return FoundFact("identity", "name", value, confidence, 1.0, corrects=corrects)


def said(facts: list[Fact], found: FoundFact, at: Message, *, audience: str | None = None) -> list[Fact]:
    return apply_actions(facts, decide(facts, found, at, user="alex", audience=audience))


def active(facts: list[Fact]) -> list[str]:
    return [fact.value for fact in facts if fact.active]


def standing(facts: list[Fact]) -> list[Fact]:
    """What holds, as whoever hears all of it is shown it."""
    return without_answered_claims([fact for fact in facts if fact.active])


class TestThresholds:
    @pytest.mark.parametrize(
        ("found", "why"),
        [
            (name("Alex", 0.39), "confidence"),
            (replace(name("Alex"), importance=0.19), "importance"),
            (replace(name("Alex"), category="mood"), "category"),  # type: ignore[arg-type]
            (replace(name("Alex"), key="  "), "key"),
            (name(" "), "value"),
            (name("x" * 201), "characters"),
            (name("Alex", float("nan")), "confidence"),
        ],
    )
    @pytest.mark.checklist("B4")
    def test_what_is_unsure_unimportant_or_unknown_is_not_kept(self, found: FoundFact, why: str) -> None:
        assert acceptable_facts([found]) == []
        (action,) = decide([], found, message(1), user="alex")
        assert action.kind == "ignore"
        assert why in action.reason
        assert action.rows == ()

    @pytest.mark.checklist("B4")
    def test_the_thresholds_themselves_are_kept(self) -> None:
        assert refusal(FoundFact("identity", "name", "Alex", 0.4, 0.2)) is None

    @pytest.mark.checklist("B4")
    def test_duplicates_within_a_message_collapse_into_the_surest(self) -> None:
        twice = [
            FoundFact("preference", "favourite colour", "Green", 0.5),
            FoundFact("preference", "preferred color", "green ", 0.9),
            FoundFact("constraint", "allergies", "nuts"),
            FoundFact("constraint", "allergy", "nut"),
            FoundFact("constraint", "allergies", "cats"),
        ]
        kept = acceptable_facts(twice)
        assert [(fact.key, fact.value, fact.confidence) for fact in kept] == [
            ("colour", "green", 0.9),
            ("allergies", "nuts", 1.0),
            ("allergies", "cats", 1.0),
        ]

    def test_numbers_are_brought_into_range(self) -> None:
        (fact,) = acceptable_facts([FoundFact("identity", "name", "Alex", 7.0, 3.0)])
        assert (fact.confidence, fact.importance) == (1.0, 1.0)


class TestConflict:
    @pytest.mark.checklist("B5")
    def test_the_documents_example(self) -> None:
        facts = said([], name("Alex", 1.0), message(5))
        assert active(facts) == ["Alex"]

        (ignored,) = decide(facts, name("Al", 0.6), message(50), user="alex")
        assert ignored.kind == "ignore"
        assert "0.60" in ignored.reason
        assert "0.94" in ignored.reason
        facts = apply_actions(facts, [ignored])
        assert active(facts) == ["Alex"]

        (replaced,) = decide(facts, name("Alexander", 0.95), message(80), user="alex")
        assert replaced.kind == "replace"
        facts = apply_actions(facts, [replaced])
        assert active(facts) == ["Alexander"]
        assert [fact.value for fact in history(facts, "name")] == ["Alex", "Alexander"]

    @pytest.mark.checklist("B5")
    def test_without_the_turns_between_the_last_would_be_refused(self) -> None:
        facts = said([], name("Alex", 1.0), message(5))
        assert active(said(facts, name("Alexander", 0.95), message(6))) == ["Alex"]

    def test_confidence_ages_with_turns_and_has_a_floor(self) -> None:
        (fact,) = said([], name("Alex"), message(1))
        ages = [remaining_confidence(fact, message(turn)) for turn in (1, 2, 50, 500, 100_000)]
        assert ages == sorted(ages, reverse=True)
        assert ages[0] == 1.0
        assert ages[-1] == pytest.approx(0.7)
        assert remaining_confidence(fact, message(0)) == 1.0

    def test_between_conversations_days_stand_for_turns(self) -> None:
        (fact,) = said([], name("Alex"), message(900, day=0))
        assert remaining_confidence(fact, message(1, day=0, conversation="other")) == 1.0
        assert remaining_confidence(fact, message(1, day=10, conversation="other")) == pytest.approx(
            remaining_confidence(fact, message(1_000))
        )

    def test_an_explicit_correction_wins_at_once(self) -> None:
        facts = said([], name("Alex"), message(5))
        (action,) = decide(facts, name("Robin", 0.5, corrects=True), message(6), user="alex")
        assert action.kind == "replace"
        assert "correction" in action.reason

    def test_somebody_elses_correction_does_not_win_at_once(self) -> None:
        facts = said([], name("Alex"), message(5))
        after = said(facts, name("Bobby", 0.7, corrects=True), message(6, author="bob"))
        assert active(standing(after)) == ["Alex"]
        assert set(facts) <= set(after)

    def test_saying_it_again_keeps_one_fact_and_makes_it_young(self) -> None:
        facts: list[Fact] = []
        for turn in range(1, 101):
            facts = said(facts, name("alex" if turn % 2 else "Alex", 0.8), message(turn))
        (fact,) = facts
        assert fact.value == "Alex"
        assert (fact.turn, fact.confidence) == (100, 0.8)
        assert len(fact.sources) == MAX_SOURCES
        assert (fact.sources[0], fact.sources[-1]) == ("chat-1", "chat-100")

    def test_reading_a_message_twice_changes_nothing(self) -> None:
        facts = said([], name("Alex"), message(5))
        (action,) = decide(facts, name("Alex"), message(5), user="alex")
        assert action.kind == "ignore"
        assert said([], name("Alex"), message(5)) == facts

    def test_an_older_message_that_comes_late_is_history(self) -> None:
        facts = said([], FoundFact("identity", "location", "Rome"), message(1, day=100))
        facts = said(facts, FoundFact("identity", "location", "Oslo"), message(1, day=10, conversation="old"))
        assert active(facts) == ["Rome"]
        assert [fact.value for fact in facts_as_of(facts, START + timedelta(days=50))] == ["Oslo"]

    def test_facts_of_other_users_and_about_others_are_left_alone(self) -> None:
        facts = said([], name("Alex"), message(1))
        others = [replace(facts[0], user="bob", id="b"), replace(facts[0], space="t", id="c")]
        brother = replace(facts[0], subject="brother", value="Tom", id="d")
        after = said([*facts, *others, brother], name("Robin", corrects=True), message(2))
        assert active(after) == ["Alex", "Alex", "Tom", "Robin"]


class TestSeveralValues:
    def allergies(self) -> list[Fact]:
        facts: list[Fact] = []
        for turn, value in enumerate(("nuts", "cats", "latex"), 1):
            facts = said(facts, FoundFact("constraint", "allergies", value, 0.9), message(turn))
        return facts

    @pytest.mark.checklist("B3")
    def test_a_key_with_several_values_holds_them_side_by_side(self) -> None:
        assert active(self.allergies()) == ["nuts", "cats", "latex"]

    def test_a_weaker_value_is_added_all_the_same(self) -> None:
        assert active(said(self.allergies(), FoundFact("constraint", "allergies", "pollen", 0.5), message(9)))[-1] == (
            "pollen"
        )

    def test_one_is_taken_back(self) -> None:
        gone = FoundFact("constraint", "allergies", "nut", holds="ended")
        after = said(self.allergies(), gone, message(9))
        assert active(after) == ["cats", "latex"]
        assert after[0].retired_at == message(9).time
        assert after[0].sources == ("chat-1", "chat-9")

    def test_all_are_taken_back(self) -> None:
        after = said(self.allergies(), FoundFact("constraint", "allergies", "", holds="ended"), message(9))
        assert active(after) == []
        assert [fact.value for fact in after] == ["nuts", "cats", "latex"]

    def test_what_is_denied_and_was_never_known_leaves_no_trace(self) -> None:
        assert said([], FoundFact("constraint", "allergies", "soy", holds="not"), message(1)) == []

    def test_a_like_undoes_a_dislike_of_the_same_thing(self) -> None:
        facts = said([], FoundFact("preference", "likes", "mushrooms"), message(1))
        facts = said(facts, FoundFact("preference", "dislikes", "mushroom"), message(2))
        assert [(fact.key, fact.value) for fact in facts if fact.active] == [("dislikes", "mushroom")]

    def test_an_animals_name_takes_the_place_of_its_kind(self) -> None:
        facts = said([], FoundFact("identity", "pets", "dog"), message(1))
        facts = said(facts, FoundFact("identity", "pets", "Rex (dog)"), message(2))
        assert active(facts) == ["Rex (dog)"]
        assert active(said(facts, FoundFact("identity", "pets", "dog"), message(3))) == ["Rex (dog)"]
        assert active(said(facts, FoundFact("identity", "pets", "dog", holds="ended"), message(3))) == []


class TestEchoes:
    def test_an_echo_adds_nothing_and_raises_nothing(self) -> None:
        echo = replace(name("Alex", 1.0), echo=True)
        assert said([], echo, message(1)) == []
        facts = said([], name("Alex", 0.7), message(1))
        (action,) = decide(facts, echo, message(9), user="alex")
        assert action.kind == "confirm"
        (fact,) = apply_actions(facts, [action])
        assert (fact.confidence, fact.turn, fact.value) == (0.7, 1, "Alex")

    def test_an_echo_takes_nothing_back(self) -> None:
        facts = said([], name("Alex"), message(1))
        assert active(said(facts, replace(name("Alex"), holds="not", echo=True), message(2))) == ["Alex"]


class TestTime:
    def year(self) -> list[Fact]:
        """A scripted year: where somebody lives and works, as they tell it."""
        home, work = ("identity", "location"), ("identity", "employer")
        facts = said([], FoundFact(*home, "Paris"), message(1, day=0))  # type: ignore[arg-type]
        facts = said(facts, FoundFact(*work, "Globex"), message(2, day=10))  # type: ignore[arg-type]
        facts = said(facts, FoundFact(*home, "Rome", corrects=True), message(3, day=100))  # type: ignore[arg-type]
        contoso = FoundFact(*work, "Contoso", corrects=True, since=date(2024, 5, 1))  # type: ignore[arg-type]
        facts = said(facts, contoso, message(4, day=200))
        past = FoundFact(*home, "Oslo", holds="ended", since=date(2010, 1, 1), until=date(2019, 1, 1))  # type: ignore[arg-type]
        facts = said(facts, past, message(5, day=210))
        return said(facts, FoundFact(*work, "Contoso", holds="ended"), message(6, day=300))  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("when", "values"),
        [
            (date(2009, 1, 1), []),
            (date(2015, 1, 1), ["Oslo"]),
            (date(2020, 1, 1), []),
            (date(2024, 1, 5), ["Paris"]),
            (date(2024, 2, 1), ["Paris", "Globex"]),
            (date(2024, 4, 20), ["Rome", "Globex"]),
            (date(2024, 6, 1), ["Rome", "Contoso"]),
            (date(2024, 12, 1), ["Rome"]),
        ],
    )
    @pytest.mark.checklist("B6")
    def test_as_of_a_date(self, when: date, values: list[str]) -> None:
        assert sorted(fact.value for fact in facts_as_of(self.year(), when)) == sorted(values)
        at = datetime(when.year, when.month, when.day, tzinfo=UTC)
        assert facts_as_of(self.year(), at) == facts_as_of(self.year(), when)

    @pytest.mark.checklist("B6")
    def test_the_history_of_a_key_by_any_of_its_names(self) -> None:
        facts = self.year()
        assert [fact.value for fact in history(facts, "location")] == ["Oslo", "Paris", "Rome"]
        assert history(facts, "lives in") == history(facts, "location")
        old, new = history(facts, "works at")
        assert (old.retired_by, old.valid_to) == (new.id, new.valid_from)

    @pytest.mark.checklist("B7")
    def test_every_fact_names_its_messages(self) -> None:
        assert all(fact.sources and set(fact.sources) <= {f"chat-{n}" for n in range(1, 7)} for fact in self.year())

    def test_an_end_that_is_known_already_is_not_told_twice(self) -> None:
        facts = self.year()
        again = FoundFact("identity", "location", "Oslo", holds="ended")
        assert said(facts, again, message(9, day=400)) == facts

    def test_a_past_that_is_only_guessed_is_not_kept(self) -> None:
        assert said([], FoundFact("identity", "employer", "Globex", 0.5, holds="ended"), message(1)) == []

    def test_a_time_that_is_over_is_no_present(self) -> None:
        over = FoundFact("identity", "location", "Rome", until=date(2019, 1, 1))
        assert active(said([], over, message(1))) == []


class TestVoices:
    """F14: what others say of a person stands apart, and corrects nothing."""

    def test_what_others_say_neither_replaces_nor_confirms_nor_retires(self) -> None:
        own = said([], FoundFact("identity", "location", "Rome", 0.9), message(1))
        for found in (
            FoundFact("identity", "location", "Oslo", 1.0, corrects=True),
            FoundFact("identity", "location", "Rome", 1.0),
            FoundFact("identity", "location", "Rome", 1.0, holds="not"),
            FoundFact("identity", "location", "", 1.0, holds="ended"),
        ):
            after = apply_actions(own, decide(own, found, message(9, author="bob"), user="alex", audience="general"))
            assert standing(after) == own
            assert [fact for fact in after if fact.active and fact.speaker == "alex"] == own

    def test_each_speaker_is_weighed_alone(self) -> None:
        facts: list[Fact] = []
        for turn, (author, place) in enumerate((("ann", "Rome"), ("bob", "Oslo"), ("ann", "Bari")), 1):
            found = FoundFact("identity", "location", place)
            facts = apply_actions(
                facts, decide(facts, found, message(turn, author=author), user="alex", audience="general")
            )
        assert {(fact.speaker, fact.value) for fact in facts if fact.active} == {("bob", "Oslo"), ("ann", "Bari")}

    CLAIMS = (("ann", "general"), ("bob", None), ("cem", "mods"))

    def claims(self) -> list[Fact]:
        facts: list[Fact] = []
        for turn, (author, audience) in enumerate(self.CLAIMS, 1):
            found = FoundFact("identity", "location", "Oslo")
            facts = said(facts, found, message(turn, author=author), audience=audience)
        return facts

    @pytest.mark.parametrize(("audience", "retired"), [("general", {"ann"}), ("garden", set()), (None, set())])
    def test_a_persons_own_word_retires_what_was_said_of_them_where_all_hear_it(
        self, audience: str | None, retired: set[str]
    ) -> None:
        """Elsewhere it stays, so that nobody there can tell what the person said; who hears both is shown one."""
        facts = said(self.claims(), FoundFact("identity", "location", "Rome", 0.5), message(9), audience=audience)
        assert {fact.speaker for fact in facts if fact.active} == {"ann", "bob", "cem", "alex"} - retired
        assert [(fact.speaker, fact.value) for fact in standing(facts)] == [("alex", "Rome")]

    def test_what_a_person_denies_is_taken_back_before_many(self) -> None:
        facts = said(self.claims(), FoundFact("identity", "location", "Oslo", holds="not"), message(9))
        assert [(fact.speaker, fact.value) for fact in standing(facts)] == [("bob", "Oslo")]

    @pytest.mark.parametrize(
        ("own", "claim", "shown"),
        [
            (("constraint", "allergies", "peanuts"), ("constraint", "allergies", "latex"), True),
            (("constraint", "allergies", "peanuts"), ("constraint", "allergies", "peanuts"), False),
            (("preference", "dislikes", "tea"), ("preference", "likes", "tea"), False),
            (("preference", "dislikes", "tea"), ("preference", "likes", "jazz"), True),
        ],
    )
    def test_who_hears_both_is_shown_the_persons_own_word(
        self, own: tuple[Any, str, str], claim: tuple[Any, str, str], shown: bool
    ) -> None:
        facts = said([], FoundFact(*own), message(1))
        facts = said(facts, FoundFact(*claim), message(2, author="ann"), audience="general")
        assert len([fact for fact in facts if fact.active]) == 2
        assert len(standing(facts)) == 1 + shown
        assert len(facts_as_of(facts, message(3).time)) == 1 + shown

    def test_nobody_gives_instructions_for_another(self) -> None:
        found = FoundFact("instruction", "reply language", "Latin")
        (action,) = decide([], found, message(1, author="ann"), user="alex", audience="general")
        assert (action.kind, action.rows) == ("ignore", ())

    def test_every_channel_in_which_it_was_said_is_noted(self) -> None:
        facts: list[Fact] = []
        for turn, channel in enumerate((None, "general", "mods", "general", "garden"), 1):
            facts = said(facts, name("Alex"), message(turn), audience=channel)
        assert (facts[0].audience, facts[0].also_heard_in) == ("general", ("mods", "garden"))


class TestLines:
    @pytest.mark.checklist("B9")
    def test_by_category_the_most_important_first_with_dates_where_they_were_told(self) -> None:
        facts: list[Fact] = []
        for turn, found in enumerate(
            [
                FoundFact("preference", "likes", "jazz", importance=0.5),
                FoundFact("constraint", "allergies", "nuts", importance=0.9),
                FoundFact("constraint", "allergies", "cats", importance=0.95),
                FoundFact("identity", "employer", "Contoso", importance=0.7, since=date(2023, 5, 1)),
                FoundFact("identity", "location", "Rome", importance=0.8, since=date(2019, 1, 1)),
                name("Alex"),
                FoundFact("instruction", "emojis", "never use emojis"),
                FoundFact("constraint", "diet", "vegan", subject="brother"),
                FoundFact("identity", "name", "Al", 0.5),
            ],
            1,
        ):
            facts = said(facts, found, message(turn))
        assert profile_lines(facts) == [
            "Identity",
            "- name: Alex",
            "- location: Rome (since 2019)",
            "- employer: Contoso (since May 2023)",
            "Preferences",
            "- likes: jazz",
            "Constraints",
            "- allergies: cats, nuts",
            "Instructions",
            "- emojis: never use emojis",
            "About brother",
            "- diet: vegan",
        ]

    def test_what_somebody_else_said_names_them(self) -> None:
        facts = apply_actions([], decide([], name("Robert"), message(1, author="ann"), user="bob"))
        assert profile_lines(facts) == ["Identity", "- name: Robert (says ann)"]

    def test_the_newest_wording(self) -> None:
        facts = said([], FoundFact("preference", "likes", "hikes"), message(1))
        facts = said(facts, FoundFact("preference", "likes", "hiking"), message(2))
        assert profile_lines(facts) == ["Preferences", "- likes: hiking"]


VALUES = st.sampled_from(["Alex", "alex", "Al", "Rome", "nuts", "a nut", "Rex (dog)", "dog", "two cats", ""])
HOLDING: st.SearchStrategy[Holds] = st.sampled_from(["now", "now", "now", "ended", "not"])
FOUND = st.builds(
    FoundFact,
    st.sampled_from(["identity", "preference", "constraint", "instruction"]),
    st.sampled_from(["name", "location", "pets", "likes", "dislikes", "allergies", "colour"]),
    VALUES,
    st.floats(0, 1),
    st.floats(0, 1),
    subject=st.sampled_from([None, None, "brother"]),
    holds=HOLDING,
    corrects=st.booleans(),
    echo=st.booleans(),
    since=st.sampled_from([None, None, date(2019, 1, 1), date(2025, 1, 1)]),
    until=st.sampled_from([None, None, date(2020, 1, 1), date(2026, 1, 1)]),
)
STEPS = st.lists(st.tuples(FOUND, st.integers(1, 60), st.sampled_from(["chat", "other"])), max_size=25)


@given(STEPS)
@pytest.mark.checklist("B3")
def test_whatever_is_said_a_key_with_one_value_has_one_and_nothing_is_lost(
    steps: list[tuple[FoundFact, int, str]],
) -> None:
    facts: list[Fact] = []
    for number, (found, turn, conversation) in enumerate(steps):
        at = message(turn, conversation=conversation, id=f"m{number}", author="bob" if turn % 7 == 0 else "alex")
        before = facts
        facts = said(facts, found, at)
        kept = {fact.id: fact for fact in facts}
        for old in before:
            assert old.id in kept
            assert fold(kept[old.id].value) == fold(old.value) or has_same_value(old, replace(found, value=old.value))
            assert set(kept[old.id].sources) >= set(old.sources[:1])
            assert old.active or kept[old.id] == old, "what is retired stays as it is"
            if found.echo:
                assert kept[old.id].confidence == old.confidence
        assert not found.echo or len(facts) == len(before)
    held: set[tuple[str | None, str, str]] = set()
    shown = standing(facts)
    for fact in facts:
        assert fact.active == (fact.retired_at is None)
        assert fact.valid_to is None or fact.valid_from is None or fact.valid_from <= fact.valid_to
        if fact in shown and not holds_several_values(fact.category, fact.key):
            place = (fact.subject, fact.category, fact.key)
            assert place not in held, "two active values of one key"
            held.add(place)
    spoken = [
        (fact.speaker, fact.subject, fact.category, fact.key)
        for fact in facts
        if fact.active and not holds_several_values(fact.category, fact.key)
    ]
    assert len(spoken) == len(set(spoken)), "two active values of one key on one person's word"
    assert profile_lines(facts) is not None
    assert all(fact in facts for fact in facts_as_of(facts, START))


class TestTimeToCome:
    """What begins later is a plan until then, and a fact from then on."""

    def moving(self) -> list[Fact]:
        facts = said([], FoundFact("identity", "location", "Utrecht"), message(1))
        lyon = FoundFact("identity", "location", "Lyon", 0.9, corrects=True, since=date(2025, 3, 1))
        return said(facts, lyon, message(2))

    def test_a_later_home_does_not_end_the_present_one(self) -> None:
        facts = self.moving()
        assert {(fact.category, fact.value) for fact in facts if fact.active} == {
            ("identity", "Utrecht"),
            ("plan", "Lyon"),
        }
        assert [fact.value for fact in facts_as_of(facts, date(2025, 2, 28))] == ["Utrecht"]
        assert [(fact.category, fact.value) for fact in facts_as_of(facts, date(2025, 3, 2))] == [("identity", "Lyon")]

    def test_what_holds_now_follows_the_calendar(self) -> None:
        facts = self.moving()
        before, after = (facts_now(facts, midnight(date(2025, 3, day))) for day in (1, 2))
        assert [(fact.category, fact.value) for fact in before] == [("identity", "Lyon")]
        assert after == before
        early = facts_now(facts, message(3).time)
        assert [fact.value for fact in early if fact.category == "identity"] == ["Utrecht"]

    def test_a_plan_that_is_corrected_is_one_plan(self) -> None:
        nantes = FoundFact("identity", "location", "Nantes", 0.9, corrects=True, since=date(2025, 4, 1))
        facts = said(self.moving(), nantes, message(3))
        assert [fact.value for fact in facts if fact.active and fact.category == "plan"] == ["Nantes"]

    def test_what_is_said_to_end_ends_by_itself(self) -> None:
        lisbon = FoundFact("identity", "location", "Lisbon", until=date(2024, 6, 1))
        facts = said([], lisbon, message(1))
        assert facts_now(facts, message(2).time) == facts
        assert facts_now(facts, midnight(date(2024, 6, 2))) == []

    def test_an_event_has_a_day_and_does_not_end(self) -> None:
        run = FoundFact("event", "run", "ran a half marathon", holds="ended", until=date(2023, 12, 5))
        (fact,) = said([], run, message(1))
        assert fact.active
        assert fact.valid_from == midnight(date(2023, 12, 5))
        assert profile_lines([fact]) == ["Events", "- run: ran a half marathon (on 5 December 2023)"]


class TestLikeValues:
    def test_a_second_goal_does_not_replace_the_first(self) -> None:
        facts = said([], FoundFact("identity", "goal", "learn Spanish"), message(1))
        facts = said(facts, FoundFact("identity", "goal", "run a marathon"), message(2))
        assert active(facts) == ["learn Spanish", "run a marathon"]

    def test_values_that_nearly_say_the_same_are_one(self) -> None:
        facts = said([], FoundFact("event", "writing", "finished first screenplay"), message(1))
        facts = said(facts, FoundFact("event", "writing", "finished her first screenplay in May"), message(2))
        assert active(facts) == ["finished her first screenplay in May"]

    def test_the_same_event_of_another_month_is_another_event(self) -> None:
        june = FoundFact("event", "event", "went camping by the lake", since=date(2024, 6, 8))
        facts = said([], june, message(165))
        again = FoundFact("event", "event", "went camping by the lake", since=date(2024, 8, 3))
        facts = said(facts, again, message(220))
        assert [fact.valid_from for fact in facts if fact.active] == [
            midnight(date(2024, 6, 8)),
            midnight(date(2024, 8, 3)),
        ]
        retold = said(facts, replace(again, since=date(2024, 8, 5)), message(221))
        assert len(retold) == 2
        assert len(said(facts, replace(again, since=None), message(222))) == 2

    def test_an_event_that_was_told_as_done_was_not_done_later(self) -> None:
        facts = said([], FoundFact("event", "event", "started streaming chess games"), message(1))
        later = FoundFact("event", "event", "streamed chess games", since=(START + timedelta(days=2)).date())
        assert len(said(facts, later, message(3))) == 2

    def test_an_event_of_long_ago_has_no_day(self) -> None:
        (fact,) = said([], FoundFact("event", "event", "rowed for the school", is_undated=True), message(1))
        assert fact.active
        assert fact.valid_from is None
        assert facts_as_of([fact], START) == [fact]

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ("visited Rome with Ana and Tom", "visited Rome with Ana and Bob"),
            ("Berlin marathon 2022", "Berlin marathon 2023"),
            ("eats red meat", "does not eat red meat"),
            ("a red bike", "a red car"),
            ("tea", "green tea"),
        ],
    )
    def test_values_that_differ_in_what_matters_are_two(self, first: str, second: str) -> None:
        assert not says_nearly_the_same(first, second)

    def test_kinds_of_diet_exclude_each_other(self) -> None:
        facts = said([], FoundFact("constraint", "diet", "vegetarian"), message(1))
        facts = said(facts, FoundFact("constraint", "diet", "gluten-free"), message(2))
        facts = said(facts, FoundFact("constraint", "diet", "pescatarian", corrects=True), message(3))
        assert active(facts) == ["gluten-free", "pescatarian"]
