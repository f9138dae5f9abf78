"""Commands in free form, by rules (C10), and the table of utterances that measures it."""

from __future__ import annotations

import pytest
from command_samples import NAMES, samples, score
from hypothesis import given
from hypothesis import strategies as st

from everword.facts.rules.commands import (
    MAX_COMMAND,
    NO_COMMAND,
    Command,
    is_addressed,
    is_talk,
    may_be_command,
    parse_command,
)


class TestTable:
    def test_it_is_large_and_half_of_it_is_held_out(self) -> None:
        rows = samples()
        assert len({row.said for row in rows}) >= len(rows) - 2
        assert min(sum(row.half == half for row in rows) for half in ("tuning", "held out")) >= 60
        assert sum(row.command.kind == "none" for row in rows) >= 60

    @pytest.mark.parametrize("half", ["tuning", "held out"])
    @pytest.mark.checklist("C10")
    def test_precision_and_recall(self, half: str, capsys: pytest.CaptureFixture[str]) -> None:
        result, wrong = score(row for row in samples() if row.half == half)
        with capsys.disabled():
            print(f"\n  commands read offline, {half} half: {result}")
        assert result.precision >= 0.95, wrong
        assert result.recall >= 0.85

    def test_every_command_is_worth_asking_a_model(self) -> None:
        assert [row.said for row in samples() if row.command.kind != "none" and not may_be_command(row.said)] == []


class TestNaming:
    @pytest.mark.parametrize(
        "text",
        [
            "Bot, hi",
            "hey bot",
            "ok memo: hi",
            "@bot hi",
            "<@999> hi",
            "remember this, bot!",
            "Fine.\nBot do it",
            "hi @memo",
        ],
    )
    @pytest.mark.checklist("C10")
    def test_the_bot_is_called(self, text: str) -> None:
        assert is_addressed(text, NAMES)

    @pytest.mark.parametrize(
        "text", ["", "robots", "the bot is down", "Bot's memory", "I like bots", "Bottle", "my bot"]
    )
    @pytest.mark.checklist("C10")
    def test_the_bot_is_only_spoken_of(self, text: str) -> None:
        assert not is_addressed(text, NAMES)

    def test_a_name_may_have_any_letters(self) -> None:
        assert parse_command("C++ (bot) remember that I'm vegan", ["C++ (bot)"]) == Command(
            "remember", "me", "I'm vegan"
        )
        assert parse_command("remember that I'm vegan", ["", "@"]) == NO_COMMAND


class TestPeople:
    @pytest.mark.parametrize(
        ("text", "command"),
        [
            ("remember that Dana steers on Fridays", Command("remember", "Dana", "Dana steers on Fridays")),
            ("remember that Dana Kim rows at bow", Command("remember", "Dana Kim", "Dana Kim rows at bow")),
            ("forget that dana painted the hull", Command("forget", "dana", "dana painted the hull")),
            ("remember that Dana joke from last year", NO_COMMAND),
            ("remember that Porto floats on water", NO_COMMAND),
        ],
    )
    @pytest.mark.checklist("C10")
    def test_what_a_known_member_does_needs_no_verb_that_is_known(self, text: str, command: Command) -> None:
        assert parse_command(text, ["Memo"], for_bot=True, people=["Dana Kim", "8"]) == command

    def test_known_names_tell_a_person_from_a_subject(self) -> None:
        said = "what do you know about florent"
        assert parse_command(said, NAMES, for_bot=True) == NO_COMMAND
        assert parse_command(said, NAMES, for_bot=True, people=["Florent"]) == Command("ask", "florent")
        assert parse_command("what do you know about physics", NAMES, for_bot=True, people=["Florent"]) == NO_COMMAND


class TestTalk:
    @pytest.mark.parametrize(
        "text", ["I remember it", "remember to pay", "don't forget to eat", "forget it", "you forgot"]
    )
    def test_ordinary_talk_is_known(self, text: str) -> None:
        assert is_talk(text)


@given(
    st.text(st.characters(exclude_categories=()), max_size=200),
    st.sampled_from(["", "Bot remember that ", "forget ", "what do you know about ", "remember this about "]),
    st.lists(st.text(max_size=8), max_size=3),
    st.booleans(),
)
def test_any_text(text: str, before: str, names: list[str], addressed: bool) -> None:
    command = parse_command(f"{before}{text}", ("Bot", *names), for_bot=addressed, people=names)
    if command.kind in ("remember", "forget"):
        assert command.text or command.refers_back
    is_talk(text)
    may_be_command(text)


@pytest.mark.parametrize(
    "text", ["remember that " * 140, "Bot " * 490, "a" * 100_000, "forget " + "my " * 600, "\n" * 1_900]
)
def test_long_texts_are_read_in_passing(text: str) -> None:
    parse_command(text, NAMES, for_bot=True)
    assert parse_command("remember that I'm vegan " + "x" * MAX_COMMAND, NAMES, for_bot=True) == NO_COMMAND
