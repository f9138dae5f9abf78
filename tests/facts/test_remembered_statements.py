"""Profiles: what a new statement does to what is known (C2)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everword.errors import InvalidInput
from everword.facts.rules.person_shift import statements_about
from everword.facts.rules.remembered_statements import (
    AuthoredMessage,
    ProfileMerge,
    merge,
    recent_statements,
    restore_statement,
    rows_after_merge,
)
from everword.model import Statement

NOW = datetime(2024, 5, 1, 12, tzinfo=UTC)
KNOWN = (
    "Alex lives in Berlin.",
    "Alex likes tea.",
    "Alex is vegan.",
    "Alex works at Contoso as a nurse.",
    "Alex's favourite colour is blue.",
    "Alex has two cats.",
    "Alex's friend lives in Oslo.",
    "The wifi code is 1234.",
)


def merged(said: str, known: tuple[str, ...] = KNOWN) -> ProfileMerge:
    return merge("Alex", known, statements_about("Alex", said))


class TestMerge:
    @pytest.mark.parametrize(
        ("said", "gone", "added"),
        [
            ("I live in Rome", ["Alex lives in Berlin."], ["Alex lives in Rome."]),
            ("I moved to Rome", ["Alex lives in Berlin."], ["Alex moved to Rome."]),
            ("I don't like tea", ["Alex likes tea."], ["Alex doesn't like tea."]),
            ("I hate tea", ["Alex likes tea."], ["Alex hates tea."]),
            ("I'm not vegan any more", ["Alex is vegan."], ["Alex is not vegan any more."]),
            ("my favourite colour is red", ["Alex's favourite colour is blue."], ["Alex's favourite colour is red."]),
            ("the wifi code is 5678", ["The wifi code is 1234."], ["The wifi code is 5678."]),
        ],
    )
    @pytest.mark.checklist("C2")
    def test_the_newer_wins(self, said: str, gone: list[str], added: list[str]) -> None:
        found = merged(said)
        assert [KNOWN[number - 1] for number in found.replaced] == gone
        assert list(found.added) == added

    @pytest.mark.parametrize(
        "said",
        [
            "I like coffee",
            "I like green tea",
            "I have a dog",
            "my friend lives in Bergen",
            "my brother lives in Rome",
            "Bob lives in Rome",
            "I used to live in Rome",
            "I speak French",
            "I work hard",
        ],
    )
    @pytest.mark.checklist("C2")
    def test_what_is_not_contradicted_stays(self, said: str) -> None:
        found = merged(said)
        assert found.replaced == ()
        assert len(found.added) == 1

    @pytest.mark.parametrize("said", ["I live in Berlin", "i love tea", "alex likes tea", "I'm a nurse", "vegan"])
    @pytest.mark.checklist("C2")
    def test_what_is_known_is_not_kept_twice(self, said: str) -> None:
        found = merged(said)
        assert (found.added, found.replaced) == ((), ())
        assert len(found.same) == 1

    @pytest.mark.checklist("C2")
    def test_what_a_contradicted_statement_said_besides_is_kept(self) -> None:
        found = merged("I work at Globex")
        assert [KNOWN[number - 1] for number in found.replaced] == ["Alex works at Contoso as a nurse."]
        assert found.added == ("Alex works at Globex.", "Alex works as a nurse.")

    @pytest.mark.checklist("C2")
    def test_more_words_for_the_same_take_the_place_of_fewer(self) -> None:
        found = merged("I live in Berlin, Germany, near the park")
        assert [KNOWN[number - 1] for number in found.replaced] == ["Alex lives in Berlin."]

    def test_in_one_breath_the_later_wins(self) -> None:
        assert merged("I live in Rome. I live in Oslo.", ()).added == ("Alex lives in Oslo.",)

    def test_a_question_is_nothing_to_remember(self) -> None:
        assert not merged("do I like tea?")


# Each slot holds one value at a time; statements of different slots never contradict each other.
SLOTS = {
    "home": ("I live in Rome", "I live in Oslo", "I live in Lima"),
    "employer": ("I work at Contoso", "I work at Globex"),
    "colour": ("my favourite colour is red", "my favourite colour is blue"),
    "tea": ("I like tea", "I hate tea"),
    "music": ("I like jazz",),
    "cat": ("I have a cat",),
    "friend": ("my friend lives in Kyiv",),
    "sister": ("my sister lives in Lima",),
    "free": ("I once met a famous goat",),
    "other": ("Bob lives in Rome",),
    "code": ("the door code is 12",),
    "foreign": ("Ich wohne in Köln",),
    "scribble": ("🦊 zzz",),
}
SAID = st.sampled_from([(slot, said) for slot, texts in SLOTS.items() for said in texts])


@given(st.lists(SAID, max_size=8))
@pytest.mark.checklist("C2")
def test_nothing_uncontradicted_is_ever_lost(said: list[tuple[str, str]]) -> None:
    profile: list[str] = []
    expected: dict[str, str] = {}
    for slot, text in said:
        found = merge("Alex", profile, statements_about("Alex", text))
        profile = [old for number, old in enumerate(profile, 1) if number not in found.replaced] + list(found.added)
        (expected[slot],) = statements_about("Alex", text)
    assert sorted(profile) == sorted(expected.values())


@given(
    st.lists(st.text(max_size=60), max_size=4),
    st.text(st.characters(exclude_categories=()), max_size=120),
    st.text(max_size=12),
)
def test_any_statements_and_any_text(known: list[str], said: str, name: str) -> None:
    found = merge(name, known, statements_about(name, said))
    assert set(found.replaced) | set(found.same) <= set(range(1, len(known) + 1))
    assert not set(found.replaced) & set(found.same)


class TestRows:
    def rows(self, found: ProfileMerge, profile: list[Statement], source: str = "m2") -> list[Statement]:
        return rows_after_merge(profile, found, space="s", user="alex", speaker="alex", said_at=NOW, source=source)

    def profile(self) -> list[Statement]:
        before = NOW - timedelta(days=9)
        return [Statement("s", "alex", f"s{n}", text, "alex", before, ("m1",)) for n, text in enumerate(KNOWN)]

    def test_what_is_replaced_is_retired_and_names_what_stands_in_its_place(self) -> None:
        new, old = self.rows(merged("I live in Rome"), self.profile())
        assert (new.text, new.active, new.sources, new.said_at) == ("Alex lives in Rome.", True, ("m2",), NOW)
        assert (old.id, old.active, old.retired_at, old.retired_by) == ("s0", False, NOW, new.id)
        assert restore_statement(old) == self.profile()[0]

    def test_what_is_said_again_gets_a_source_and_a_later_date(self) -> None:
        (row,) = self.rows(merged("I love tea"), self.profile())
        assert (row.id, row.sources, row.said_at) == ("s1", ("m1", "m2"), NOW)

    def test_the_same_message_gives_the_same_rows(self) -> None:
        once, twice = (self.rows(merged("I live in Rome"), self.profile()) for _ in range(2))
        assert once == twice
        assert self.rows(merged("I live in Rome"), self.profile(), source="m3")[0].id != once[0].id

    def test_a_number_that_no_statement_has_is_an_error(self) -> None:
        with pytest.raises(InvalidInput, match="must be from 1 to"):
            self.rows(ProfileMerge(replaced=(99,)), self.profile())


class TestJustSaid:
    @pytest.mark.checklist("C10")
    def test_this_is_what_was_said_last_about_them(self) -> None:
        talk = [
            AuthoredMessage("Florent", "I moved to Lyon."),
            AuthoredMessage("Ann", "Florent plays the cello in a band. I live in Rome."),
            AuthoredMessage("Ann", "anyway, lunch?"),
            AuthoredMessage("Florent", "I agree. Haha, nice."),
        ]
        assert recent_statements("Florent", talk) == ("Florent plays the cello in a band.",)
        assert recent_statements("Florent", talk[:1]) == ("Florent moved to Lyon.",)
        assert recent_statements("Ann", talk) == ("Ann lives in Rome.",)
        assert recent_statements("Bob", talk) == ()
        assert recent_statements("Florent", []) == ()
