"""Whom a message is said to is known by any of their names, and can never be taken for who says it."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from everword import Budget, Draft, Memory
from everword.testing import FrozenClock
from everword.text.addressing import KnownNames, find_address, find_addressees, find_mentioned, show_address
from everword.text.word_weights import is_common

KNOWN = KnownNames.of(
    {
        "|QuaD-": [],
        "_jason": [],
        "warpzone": [],
        "wood1": [],
        "text": [],
        "loquitus_of_borg": [],
        "501": ["Ann Lee", "ann"],
        "sir_quicken": [],
        "502": ["Priya Nair"],
        "503": ["Lena Sommer"],
        "504": ["lena_k"],
        "work_horse": [],
    }
)


@pytest.mark.checklist("G22")
@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("warpzone: my guess is you are using vi", ("warpzone",)),
        ("warpzone, my guess is", ("warpzone",)),
        ("warpzone:my guess is", ("warpzone",)),
        ("Warpzone : hi", ("warpzone",)),
        ("@warpzone look", ("warpzone",)),
        ("look here @warpzone!", ("warpzone",)),
        ("<@501> look", ("501",)),
        ("ann: look", ("501",)),
        ("jason: okay, i have a geforce4", ("_jason",)),
        ("Quad: absolutely", ("|QuaD-",)),
        ("wood: Q2 2005 I think", ("wood1",)),
        ("loquitis_of_borg: try this", ("loquitus_of_borg",)),
        ("warpzone, wood1: both of you", ("warpzone", "wood1")),
        ("quicken, well you can try wine", ("sir_quicken",)),
        ("Priya, can you look?", ("502",)),
        ("Lena: which of two is meant is not known", ()),
        ("Work: done for today", ()),
        ("text, cool thank you", ("text",)),
        ("gcc: error: no input files", ()),
        ("Note: reboot first", ()),
        ("http://example.org is down", ()),
        ("ok, thanks", ()),
        ("I wrote some text, you know", ()),
        ("warpzone is away", ()),
    ],
)
def test_who_is_spoken_to(text: str, people: tuple[str, ...]) -> None:
    assert find_addressees(text, KNOWN) == people


@pytest.mark.checklist("G22")
def test_a_name_in_a_text_is_a_mention_and_a_common_word_is_none() -> None:
    assert find_mentioned("thanks warpzone, the text of wood1 helped", KNOWN) == {"warpzone", "wood1"}


@pytest.mark.checklist("G22")
def test_a_misspelt_name_that_fits_two_people_is_nobody_s() -> None:
    nicknames = KnownNames.of({"marina": [], "marine": [], "bob": []})
    assert find_address("marinx: hi", nicknames) is None
    assert find_address("marina: hi", nicknames) is not None


NICKNAMES = st.from_regex(r"[A-Za-z|_\[\]^`{}\\][A-Za-z0-9|_\[\]^`{}\\-]{1,15}", fullmatch=True)


@pytest.mark.checklist("G24")
@given(
    st.lists(NICKNAMES, min_size=3, max_size=6, unique=True),
    st.sampled_from([": ", ":", " : ", ":  "]),
    st.text(alphabet="abc :,.", min_size=1, max_size=30).filter(str.strip),
)
def test_no_name_is_shown_as_a_label(names: list[str], sign: str, words: str) -> None:
    nicknames = KnownNames.of({name: [] for name in names})
    text = f"{names[0]}{sign}{words.lstrip('/')}"
    shown = show_address(text, nicknames)
    assert not any(shown.startswith((f"{name}:", f"{name} :")) for name in names), shown
    assert shown.startswith("(to ")
    assert show_address(shown, nicknames) == shown


@given(
    st.lists(NICKNAMES, min_size=3, max_size=6, unique_by=str.casefold),
    st.lists(st.sampled_from(["look. ", "yes! ", "so\n", ""]), min_size=1, max_size=3),
)
@pytest.mark.checklist("G24")
def test_no_name_inside_a_text_is_shown_as_a_label(names: list[str], before: list[str]) -> None:
    assume(not any(map(is_common, names)))  # "in this text: nothing" names nobody
    nicknames = KnownNames.of({name: [] for name in names})
    text = "".join(f"{words}{name}: try this, " for words, name in zip(before, names, strict=False))
    shown = show_address(text, nicknames)
    assert not any(f"{name}:" in shown for name in names), shown
    assert shown.count("try this") == text.count("try this")
    assert show_address(shown, nicknames) == shown


@pytest.mark.checklist("G24")
def test_an_address_inside_a_sentence_is_shown_as_one() -> None:
    assert show_address("btw wood1: it is on", KNOWN) == "btw (to wood1) it is on"
    assert show_address("warpzone: wood1: both", KNOWN) == "(to warpzone and wood1) both"
    assert show_address("wood1 (second link): see there", KNOWN) == "(to wood1) (second link): see there"
    assert show_address("in this text: nothing", KNOWN) == "in this text: nothing"
    short = KnownNames.of({"A0": [], "B0": [], "C0": []})
    assert show_address("look. A0: this, B0: that", short) == "look. (to A0) this, (to B0) that"


@pytest.mark.checklist("G24")
def test_two_people_say_what_they_say() -> None:
    nicknames = KnownNames.of({"ann": [], "bob": []})
    assert show_address("bob: hello", nicknames) == "bob: hello"


@pytest.mark.checklist("G24")
def test_what_only_looks_like_a_name_is_no_label_either() -> None:
    assert show_address("gcc: error", KNOWN) == "gcc – error"
    assert show_address("private_guy: see the wiki", KNOWN) == "private_guy – see the wiki"
    assert show_address("Question: which port?", KNOWN) == "Question: which port?"


QUESTION = "where is the configuration file of the printer on this machine?"
SAID = [
    ("warpzone", QUESTION),
    ("_jason", "warpzone: my guess is you are using vi, and the file is in /etc/cups"),
    ("mikebot", "jason: okay, i have a geforce4 card with 64 megabytes of memory"),
    ("_jason", "mikebot: then install the driver from the restricted repository"),
    ("warpzone", "_jason: the file was in /etc/cups, the printer works now"),
]


@pytest.mark.checklist("G24")
def test_no_digest_summary_or_context_shows_an_addressee_as_the_speaker(tmp_path: Path) -> None:
    begin = datetime(2026, 5, 1, 9, tzinfo=UTC)
    clock = FrozenClock(begin + timedelta(days=1))
    with Memory(str(tmp_path / "memory.db"), clock=clock, window_turns=10) as memory:
        channel = memory.conversation("general")
        channel.extend(
            Draft("user", text, author, time=begin + timedelta(minutes=number))
            for number, (author, text) in enumerate(SAID * 6)
        )
        memory.settle()
        context = channel.context("Where is the configuration of the printer?", budget=Budget(total=3000))
        texts = [message["content"] for message in context.messages]
        texts += [line.text for episode in channel.episodes() for line in episode.lines]
        digests = memory.digests(day=date(2026, 5, 1))
        texts += [digest.text.removeprefix(f"{digest.user}: ") for digest in digests]
    assert len(digests) == 3
    label = re.compile(r"(?:^|[.!?:] )(?:warpzone|_?jason|mikebot): (?:my|okay|then|the file)", re.MULTILINE)
    assert [text for text in texts if label.search(text)] == []
    assert any("(to warpzone) my guess is" in text for text in texts)
