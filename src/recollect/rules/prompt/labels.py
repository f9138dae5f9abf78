"""Who is who: how several people are shown side by side, so that nobody is taken for another.

`fences.byline` shows one author by themselves. Among others more is needed: two ids that show alike (in other letters,
with other accents, by case) each carry their sign, since nobody can say whose the name is; only the one who answers
keeps it. An id that carries its sign anyway takes no name from anybody. Labels do not depend on who spoke first, and
what is stored is never changed: they are made where text is shown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from recollect.model import Role
from recollect.rules.people.names import looks
from recollect.rules.prompt.fences import GUARD, MAX_AUTHOR, ROLES, SIGN, byline, folded, plain, with_sign


@dataclass(frozen=True, slots=True)
class _Person:
    """Somebody who is to be shown: by which role, under which id, and how they would be shown alone."""

    role: Role
    id: str
    alone: str

    @property
    def is_bare(self) -> bool:
        """Whether they would be shown without a sign."""
        return "#" not in self.alone

    @property
    def rank(self) -> tuple[bool, bool, str, str]:
        """In which order names are given out; the one who answers comes first."""
        return self.role == "user", not self.is_bare, self.id, self.role


def author_labels(speakers: Iterable[tuple[Role, str]]) -> dict[tuple[Role, str], str]:
    """The labels of authors, by role and id; no two read the same."""
    people = [_Person(role, author, byline(author, role)) for role, author in dict.fromkeys(speakers)]
    return {(person.role, person.id): label for person, label in _labels_of(people)}


def distinct_labels(shown: Mapping[str, str]) -> dict[str, str]:
    """The same by id alone, where the text that is shown of each is made already: no two read the same."""
    people = [_Person("user", id, text) for id, text in shown.items()]
    return {person.id: label for person, label in _labels_of(people)}


def poses(text: str, labels: Iterable[str]) -> bool:
    """Whether a text begins as what one of these says would: with their label, or a role's, and a colon."""
    opening = _OPENING.match(text)
    if opening is None:
        return False
    name = plain(opening[1])
    shapes = looks(name)
    return bool(_ROLE.fullmatch("".join(map(folded, name)))) or any(
        not shapes.isdisjoint(looks(label)) for label in labels
    )


def without_posing(text: str, labels: Collection[str]) -> str:
    """Running text with a dot wherever, after a stop, it begins as what one of these says would."""
    pieces, at = list[str](), 0
    for stop in _STOP.finditer(text):
        if poses(text[stop.end() : stop.end() + _LOOKED_AT], labels):
            pieces.append(text[at : stop.end()])
            at = stop.end()
    return GUARD.join([*pieces, text[at:]])


_LOOKED_AT = 4 * MAX_AUTHOR  # characters in which a label and its colon would be
_STOP = re.compile(r"^|[.!?…;。！？][\"'”’»)\]]*\s+|\n\s*")
_ROLE = re.compile(rf"(?:the\s)?(?:{ROLES}|tool)", re.IGNORECASE)
_OPENING = re.compile(rf"[^\w{GUARD}]*+(?!{GUARD})([^:：∶ː꞉︓﹕\n]{{1,{2 * MAX_AUTHOR}}}?)\s*[:：∶ː꞉︓﹕]")


def _labels_of(people: Iterable[_Person]) -> Iterator[tuple[_Person, str]]:
    ranked = sorted(people, key=lambda person: person.rank)
    contested = Counter(shape for person in ranked if person.is_bare for shape in looks(person.alone))
    taken: set[str] = set()
    for person in ranked:
        label, digits = person.alone, SIGN
        if person.is_bare and person.role == "user" and any(contested[shape] > 1 for shape in looks(label)):
            label = with_sign(label, person.id)
        while not taken.isdisjoint(looks(label)):
            label = with_sign(person.alone.partition(" #")[0], person.id, digits)
            digits += 1
        taken |= looks(label)
        yield person, label
