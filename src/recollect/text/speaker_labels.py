"""Labels: how several people are shown together, so that nobody is mistaken for another.

`fences.byline` shows one author alone. Among others more is needed: two ids that look the same (in other letters, with
other accents, by case) each carry their sign, since neither has a better claim to the name; only the model that answers
keeps it. An id that carries its sign anyway does not contest a name. Whoever is called like a role is a member with a
sign, and "user" alone is the role only where one person speaks. People whose names are known are shown by their
names, under the same rules; the sign is always of the id. Labels do not depend on who spoke first. Stored text is never
changed: labels are made when text is shown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from recollect.model import Role
from recollect.text.fences import GUARD, MAX_AUTHOR, ROLES, SIGN, byline, fold_character, plain_name, with_sign
from recollect.text.lazy_patterns import lazy_pattern
from recollect.text.member_names import name_shapes

_REMEMBERED = 256  # groups of people who are shown together, whose summaries are written one after the other


@dataclass(frozen=True, slots=True)
class _Person:
    """Somebody to show: the role, the id, and how they would be shown alone."""

    role: Role
    id: str
    alone: str

    @property
    def is_bare(self) -> bool:
        """Whether they would be shown without a sign."""
        return "#" not in self.alone

    @property
    def rank(self) -> tuple[bool, bool, str, str]:
        """The order in which names are given; the model that answers comes first."""
        return self.role == "user", not self.is_bare, self.id, self.role


def author_labels(
    speakers: Iterable[tuple[Role, str]], names: Mapping[str, str] | None = None
) -> dict[tuple[Role, str], str]:
    """The labels of authors, by role and id; no two read the same. `names` has the names of users, by id."""
    shown_names = names or {}
    named_speakers = [(role, author, shown_names.get(author)) for role, author in dict.fromkeys(speakers)]
    return dict(_read_author_labels(tuple(named_speakers)))


@lru_cache(maxsize=_REMEMBERED)
def _read_author_labels(speakers: tuple[tuple[Role, str, str | None], ...]) -> Mapping[tuple[Role, str], str]:
    is_among_others = sum(role == "user" for role, _, _ in speakers) > 1
    show = person_byline if is_among_others else named_byline
    people = [
        _Person(role, author, show(author, name) if role == "user" else byline(author, role))
        for role, author, name in speakers
    ]
    return {(person.role, person.id): label for person, label in _labels_of(people)}


def named_byline(author: str, name: str | None) -> str:
    """How a user is shown alone: by their name if it is known, or by their id. A name that could be read as something
    else carries the sign of the id."""
    if not name or name == author:
        return byline(author)
    if name.casefold() == "user":
        return with_sign(f"member {name}", author)
    text = byline(name)
    return with_sign(text.partition(" #")[0], author) if "#" in text else text


def person_byline(author: str, name: str | None = None) -> str:
    """How a user is shown among others: always as a person. Alone, an author without a name is shown as the role."""
    label = named_byline(author, name)
    return with_sign("member user", author) if label == "user" else label


def distinct_labels(texts: Mapping[str, str]) -> dict[str, str]:
    """The labels by id alone, from the text that would be shown for each id; no two read the same."""
    people = [_Person("user", id, text) for id, text in texts.items()]
    return {person.id: label for person, label in _labels_of(people)}


def poses(text: str, labels: Iterable[str]) -> bool:
    """Whether a text begins like a line of a speaker: with one of these labels, or a role, and a colon."""
    opening = _OPENING.match(text)
    if opening is None:
        return False
    name = plain_name(opening[1])
    shapes = name_shapes(name)
    return bool(_ROLE.fullmatch("".join(map(fold_character, name)))) or any(
        not shapes.isdisjoint(name_shapes(label)) for label in labels
    )


def without_posing(text: str, labels: Collection[str]) -> str:
    """Running text with a dot wherever a sentence begins like a line of one of these speakers."""
    pieces: list[str] = []
    at = 0
    for stop in _STOP.finditer(text):
        if poses(text[stop.end() : stop.end() + _LOOKED_AT], labels):
            pieces.append(text[at : stop.end()])
            at = stop.end()
    return GUARD.join([*pieces, text[at:]])


_LOOKED_AT = 4 * MAX_AUTHOR  # characters in which a label and its colon would be
_STOP = lazy_pattern(r"^|[.!?…;。！？][\"'”’»)\]]*\s+|\n\s*")
_ROLE = lazy_pattern(rf"(?:the\s)?(?:{ROLES}|tool)", re.IGNORECASE)
_OPENING = lazy_pattern(rf"[^\w{GUARD}]*+(?!{GUARD})([^:：∶ː꞉︓﹕\n]{{1,{2 * MAX_AUTHOR}}}?)\s*[:：∶ː꞉︓﹕]")


def _labels_of(people: Iterable[_Person]) -> Iterator[tuple[_Person, str]]:
    by_rank = sorted(people, key=lambda person: person.rank)
    shape_counts = Counter(shape for person in by_rank if person.is_bare for shape in name_shapes(person.alone))
    used_shapes: set[str] = set()
    for person in by_rank:
        label = person.alone
        digits = SIGN
        if person.is_bare and person.role == "user" and any(shape_counts[shape] > 1 for shape in name_shapes(label)):
            label = with_sign(label, person.id)
        while not used_shapes.isdisjoint(name_shapes(label)):
            label = with_sign(person.alone.partition(" #")[0], person.id, digits)
            digits += 1
        used_shapes |= name_shapes(label)
        yield person, label
