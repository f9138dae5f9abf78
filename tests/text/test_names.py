"""Whom a name means (C11): asked back where it is ambiguous, never guessed."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everword.model import Ambiguous, Candidate, Member, Name, NameKind, Resolved, Unknown
from everword.text.escaping import name_shapes
from everword.text.names import fold_name, resolve


def member(id: str, **names: str) -> Member:
    kinds: list[NameKind] = ["mention", "display", "nickname", "alias"]
    return Member(id, tuple(Name(names[kind], kind) for kind in kinds if kind in names))


ALEX = member("101", mention="alex_k", display="Alex Kowalski", nickname="Lex", alias="boss")
ANNA = member("102", mention="@anna", display="Ánna", nickname="Nan")
BOB = member("103", display="Bob", alias="Robert Stone")
BELLA = member("104", display="Bella Stone", alias="Bee")
EVERYBODY = [ALEX, ANNA, BOB, BELLA]


def who(text: str, members: list[Member] = EVERYBODY, speaker: str | None = "103") -> object:
    found = resolve(text, members, speaker=speaker)
    if isinstance(found, Resolved):
        return found.member
    if isinstance(found, Ambiguous):
        return [candidate.member for candidate in found.candidates]
    return {candidate.member for candidate in found.suggestions}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("101", "101"),
        ("<@102>", "102"),
        ("<@!102>", "102"),
        ("@alex_k", "101"),
        ("@ANNA", "102"),
        ("Alex Kowalski", "101"),
        ("Lex", "101"),
        ("boss", "101"),
        ("  bob ", "103"),
        ("@bob", "103"),
        ("anna", "102"),
        ("ÁNNA", "102"),
        ("alex", "101"),
        ("robert", "103"),
        ("Bob's", "103"),
        ("me", "103"),
        ("Myself", "103"),
        ("I", "103"),
    ],
)
@pytest.mark.checklist("C11")
def test_names_mentions_nicknames_and_aliases_resolve(text: str, expected: str) -> None:
    assert who(text) == expected


@pytest.mark.parametrize(
    ("text", "suggested"),
    [
        ("Stone", set()),
        ("<@999>", set()),
        ("Bellla", {"104"}),
        ("Kowalski", set()),
        ("Alxe", {"101"}),
        ("Annna", {"102"}),
        ("Zoe", set()),
        ("", set()),
        ("@", set()),
        ("x" * 10_000, set()),
    ],
)
@pytest.mark.checklist("C11")
def test_what_is_only_spelt_alike_is_suggested_not_taken(text: str, suggested: set[str]) -> None:
    assert who(text) == suggested


def test_without_a_speaker_nobody_is_me() -> None:
    assert resolve("me", EVERYBODY) == Unknown()


class TestAmbiguous:
    @pytest.mark.checklist("C11")
    def test_two_of_one_name_are_asked_back(self) -> None:
        two = [member("1", display="Sam"), member("2", display="Sam")]
        assert who("Sam", two) == ["1", "2"]
        assert who("sam", two) == ["1", "2"]
        assert who("<@2>", two) == "2"

    @pytest.mark.checklist("C11")
    def test_one_members_display_name_is_anothers_nickname(self) -> None:
        assert who("Sam", [member("1", display="Sam"), member("2", nickname="Sam")]) == ["1", "2"]

    @pytest.mark.checklist("C11")
    def test_an_exact_name_comes_before_a_first_name_and_other_letters(self) -> None:
        assert who("Sam", [member("1", display="Sam"), member("2", display="Sam Reed")]) == "1"
        assert who("Sam", [member("1", display="Sam"), member("2", display="SAM")]) == "1"
        assert who("sAm", [member("1", display="Sam"), member("2", display="SAM")]) == ["1", "2"]
        assert who("sam", [member("1", display="Sam Hill"), member("2", display="Sam Reed")]) == ["1", "2"]

    def test_an_id_comes_first(self) -> None:
        assert who("sam", [member("sam", display="Kim"), member("2", display="sam")]) == "sam"

    def test_the_candidates_say_why(self) -> None:
        since = datetime(2024, 5, 1, tzinfo=UTC)
        two = [Member("1", (Name("Sam", "display", since),)), member("2", nickname="Sam")]
        assert resolve("Sam", two) == Ambiguous(
            (Candidate("1", "Sam", "display name since 2024-05-01"), Candidate("2", "Sam", "nickname"))
        )

    @pytest.mark.parametrize(
        "disguise",
        ["Аlice", "Alicе", "𝐀lice", "Ａlice", "Al\u200bice", "A1ice", "AIice", "Αlice", "A\u034flice", "ΑLICE"],
        ids=ascii,
    )
    @pytest.mark.checklist("C11")
    def test_a_name_that_looks_like_anothers_is_never_taken(self, disguise: str) -> None:
        both = [member("1", display="Alice"), member("2", display=disguise)]
        assert who("Alice", both) == ["1", "2"]
        assert who(disguise, both) in (["1", "2"], ["2", "1"])

    def test_a_disguise_alone_is_suggested(self) -> None:
        assert who("Alice", [member("2", display="Аlice")]) == {"2"}

    def test_names_that_differ_plainly_are_not_look_alikes(self) -> None:
        assert who("Ian", [member("1", display="Ian"), member("2", display="Lan")]) == "1"
        assert who("Dara", [member("1", display="Dara"), member("2", display="Clara")]) == "1"

    def test_nobody_takes_the_word_me(self) -> None:
        assert who("me", [member("1", display="me"), member("2", display="Sam")], speaker="2") == "2"


NAMES = st.one_of(
    st.sampled_from(["Sam", "sam", "SAM", "Sаm", "Sam Reed", "Sáma", "Ann", "Anne", "@ann", "1", "2", "李", "🦊", ""]),
    st.text(st.characters(exclude_categories=()), max_size=8),
)
MEMBERS = st.lists(
    st.builds(
        Member,
        st.sampled_from(["1", "2", "3", "4"]),
        st.lists(st.builds(Name, NAMES, st.sampled_from(["mention", "display", "nickname", "alias"])), max_size=3).map(
            tuple
        ),
    ),
    max_size=4,
    unique_by=lambda member: member.id,
)


@given(NAMES, MEMBERS)
@pytest.mark.checklist("C11")
def test_whoever_is_taken_has_such_a_name_and_is_alone_with_it(text: str, members: list[Member]) -> None:
    found = resolve(text, members, speaker="9")
    if not isinstance(found, Resolved) or found.member == "9":
        return
    by_id = {each.id: each for each in members}
    wanted = fold_name(text.strip().removeprefix("@"))
    names = [found.member, *(name.text for name in by_id[found.member].names)]
    plain = [fold_name(name.strip().removeprefix("@")) for name in names]
    first = [name.split()[0] for name in plain if name.split()]
    assert (
        wanted in plain
        or wanted.removesuffix("'s").removesuffix("’s") in [*plain, *first]
        or text.strip() == found.member
    )
    exact = {
        each.id
        for each in members
        for name in each.names
        if name.kind != "mention" and name.text.strip() == text.strip() and text.strip()
    }
    assert text.strip() in by_id or exact <= {found.member}


@given(st.text(st.characters(exclude_categories=()), max_size=40))
def test_any_text_has_a_look(text: str) -> None:
    name_shapes(text)
    assert fold_name(fold_name(text)) == fold_name(text)
