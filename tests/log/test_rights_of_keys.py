"""F14: who may see and take back what was said, and where a key may go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from everword.errors import Forbidden, InvalidInput
from everword.log.access import PROGRAM, STDIO, Access, Viewer, is_claim, may_take_back
from everword.model import Fact, RefusedFact, Statement

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PRIVATE = Statement("default", "bob", "s1", "bob likes tea.", "bob", NOW)
PUBLIC = replace(PRIVATE, id="s2", audience="general")
CLAIM = replace(PUBLIC, id="s3", speaker="ann")
SECRET_CLAIM = replace(CLAIM, id="s4", audience=None)
EVERY = (PRIVATE, PUBLIC, CLAIM, SECRET_CLAIM)


def fact(audience: str | None, *others: str) -> Fact:
    about = ("identity", "location", "Rome", 1.0, 1.0, "bob", "c", 1, NOW, NOW, ("m",))
    return Fact("default", "bob", "f", *about, audience=audience, also_heard_in=others)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("viewer", "seen"),
    [
        (Viewer("bob"), (PRIVATE, PUBLIC)),
        (Viewer("bob", heard=frozenset({"general"})), (PRIVATE, PUBLIC, CLAIM)),
        (Viewer("ann"), (CLAIM, SECRET_CLAIM)),
        (Viewer("cem"), ()),
        (Viewer("cem", heard=frozenset({"mods"})), ()),
        (Viewer("cem", heard=frozenset({"general"})), (PUBLIC, CLAIM)),
        (Viewer("cem", shared=True), (PUBLIC, CLAIM)),
        (Viewer(channel="general"), (PUBLIC, CLAIM)),
        (Viewer(channel="mods"), ()),
        (Viewer(channel="mods", shared=True), (PUBLIC, CLAIM)),
        (Viewer(), ()),
    ],
)
@pytest.mark.checklist("F14")
def test_words_are_for_those_who_heard_them(viewer: Viewer, seen: tuple[Statement, ...]) -> None:
    assert tuple(item for item in EVERY if viewer.sees(item)) == seen


@pytest.mark.checklist("F14")
def test_a_fact_said_in_several_channels_is_seen_in_each() -> None:
    for channel in ("general", "mods"):
        assert Viewer(channel=channel).sees(fact("general", "mods"))
    assert not Viewer(channel="garden").sees(fact("general", "mods"))
    assert not Viewer(channel="general").sees(fact(None))


@pytest.mark.checklist("F14")
def test_what_was_refused_is_for_those_who_heard_it() -> None:
    found = ("identity", "location", "Rome", "not_said", "no line says it", "bob", "c", 1, "m", NOW)
    private = RefusedFact("default", "bob", *found)  # type: ignore[arg-type]
    public = replace(private, audience="general")
    assert Viewer("bob").sees(private)
    assert not Viewer("ann", heard=frozenset({"general"})).sees(private)
    assert Viewer("ann", heard=frozenset({"general"})).sees(public)


@pytest.mark.checklist("F14")
def test_a_word_is_taken_back_by_who_said_it_or_by_whom_it_is_about() -> None:
    general = Viewer("x", heard=frozenset({"general"}))
    able = {
        actor: [item.id for item in EVERY if may_take_back(actor, item, replace(general, person=actor))]
        for actor in ("ann", "bob", "cem")
    }
    assert able == {"ann": ["s3", "s4"], "bob": ["s1", "s2", "s3"], "cem": []}
    assert [is_claim(item) for item in EVERY] == [False, False, True, True]


@pytest.mark.checklist("F14")
def test_a_key_goes_where_it_may() -> None:
    key = Access("k", frozenset({"team"}), frozenset({"read"}), user="ann")
    assert (key.resolve_space(), key.resolve_space("team"), key.resolve_user(None), key.check_user("ann")) == (
        "team",
        "team",
        "ann",
        "ann",
    )
    refusals: tuple[tuple[str, Callable[[], object]], ...] = (
        ("not_your_space", lambda: key.resolve_space("other")),
        ("scope", lambda: key.check_operation("add_messages")),
        ("not_you", lambda: key.check_user("bob")),
        ("not_you", lambda: key.resolve_user("bob")),
        ("not_you", key.check_unbound),
        ("not_your_space", key.check_all_spaces),
        ("which_space", replace(key, spaces=frozenset({"a", "b"})).resolve_space),
    )
    for code, refused in refusals:
        with pytest.raises(Forbidden) as caught:
            refused()
        assert caught.value.code == code
    with pytest.raises(InvalidInput):
        key.check_user("")
    PROGRAM.check_unbound()
    PROGRAM.check_all_spaces()
    assert (PROGRAM.resolve_user(None), PROGRAM.resolve_user("bob"), PROGRAM.resolve_space("other")) == (
        None,
        "bob",
        "other",
    )


def test_a_client_on_pipes_is_told_of_its_connection_and_not_of_a_key() -> None:
    with pytest.raises(Forbidden, match="this connection is for one user"):
        Access(STDIO, user="alex").check_user("sam")
    with pytest.raises(Forbidden, match="this key is for one user"):
        Access("k1", user="alex").check_user("sam")
