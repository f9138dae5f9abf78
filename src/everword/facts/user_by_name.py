"""Which person a caller means by `user`, where they gave a name instead of an id.

An id always wins: whoever has said something, or of whom something is kept, is meant by their id alone. Only a text
that is nobody's id may be a name: the display name, a nickname or alias, the name that the person said of themselves,
in public or in private, or one of these misspelt. This is for callers who may read what is kept of everybody; a caller
who acts for one person means that person or nobody.

A program passes ids, and a new user is nobody's id yet: `anne` must not be shown what `anna` said, nor what somebody
said who calls themselves "anne". So a program's text that is written like the id of a person is never a name of theirs.
A text that somebody typed on a command line may be any name, and they are told whom it was taken for.
"""

from __future__ import annotations

from collections.abc import Iterable

from everword.errors import InvalidInput
from everword.facts.stored_facts import FACTS, NAME_LIKE, STATEMENTS, members_of, own_name, to_fact
from everword.log.access import is_claim
from everword.log.append_and_read import PEOPLE, PRIVATE, warn_of_damage
from everword.model import Ambiguous, Candidate, Filter, Member, Name, Resolved, Unknown, Whom
from everword.ports import Tx
from everword.text.names import resolve_misspelt


def is_known_id(tx: Tx, space: str, id: str) -> bool:
    """Whether somebody with this id has said something, or something is kept of them."""
    where = {"space": space, "user_id": id}
    return any(tx.rows(table, limit=1, where=where) for table in (PEOPLE, FACTS, STATEMENTS)) or bool(
        tx.messages(Filter(space, user=id), limit=1, damaged=warn_of_damage)
    )


def whom_by_name(tx: Tx, space: str, text: str, *, is_typed: bool = False, only: str | None = None) -> Whom:
    """The person whom a text means. `is_typed`: it was typed by somebody, and is not an id that a program has. With
    `only`, it means this person or nobody."""
    if is_known_id(tx, space, text):
        return Resolved(text, "id")
    members = members_by_any_name(tx, space)
    if only is not None:
        members = [member for member in members if member.id == only]
    elif not is_typed:
        members = [member for member in members if is_no_id_beside(text, member)]
    return resolve_misspelt(text, members)


def person_by_name(tx: Tx, space: str, text: str, *, is_typed: bool = False, only: str | None = None) -> str:
    """The id of the person whom a text means, or the text itself if it is nobody's name; raises InvalidInput if it may
    be the name of several people."""
    whom = whom_by_name(tx, space, text, is_typed=is_typed, only=only)
    if isinstance(whom, Ambiguous):
        raise ambiguous_name(text, whom.candidates)
    return whom.member if isinstance(whom, Resolved) else text


def person_by_exact_name(tx: Tx, space: str, text: str) -> str:
    """The id of the person whom a text means that was typed in order to change something: their id, or a name exactly
    as it is kept, or nobody's. Raises InvalidInput if it is only like the names of people, and says which."""
    whom = whom_by_name(tx, space, text, is_typed=True)
    if isinstance(whom, Unknown):
        return text
    if isinstance(whom, Ambiguous):
        raise ambiguous_name(text, whom.candidates)
    names = next((member.names for member in members_by_any_name(tx, space) if member.id == whom.member), ())
    if text in (whom.member, *(name.text for name in names)):
        return whom.member
    shown = shown_person(tx, space, whom.member)
    raise InvalidInput("user", f"is {text!r}, but no user has exactly this name; did you mean {shown}?")


def shown_person(tx: Tx, space: str, person: str) -> str:
    """A person as they are shown to whoever typed a name of theirs: `Caroline (user101)`."""
    name = own_name(tx, space, person)
    return name if name == person else f"{name} ({person})"


def ambiguous_name(text: str, candidates: Iterable[Candidate]) -> InvalidInput:
    choices = " or ".join(f"{candidate.name} ({candidate.member})" for candidate in candidates)
    return InvalidInput("user", f"is {text!r}, which may be {choices}: give the id")


def members_by_any_name(tx: Tx, space: str) -> list[Member]:
    """Everybody in a space with all of their names, those that they said or that came in private as well."""
    names: dict[str, list[Name]] = {member.id: list(member.names) for member in members_of(tx, space)}
    for row in tx.rows(PEOPLE, where={"space": space, "kind": PRIVATE}):
        names[row["user_id"]].append(Name(row["name"], "display", row["since"], row["seen"]))
    for fact in map(to_fact, tx.rows(FACTS, where={"space": space, "active": 1, "key": "name"})):
        if fact.subject is None and not is_claim(fact):
            names.setdefault(fact.user, []).append(Name(fact.value, "alias", fact.said_at))
    return [Member(person, tuple(dict.fromkeys(person_names))) for person, person_names in names.items()]


def is_no_id_beside(text: str, member: Member) -> bool:
    """Whether a program's text can be a name of a member: it is not written like their id."""
    return id_form(text) != id_form(member.id)


def id_form(text: str) -> tuple[bool, bool, bool]:
    """How an id is written: in letters alone, with capitals, with spaces."""
    return NAME_LIKE.fullmatch(text) is not None, text != text.lower(), " " in text
