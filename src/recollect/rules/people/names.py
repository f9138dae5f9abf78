"""Whom a name means, among the members of a space: one of them, several, or none; never a guess.

An id or a mention (`<@123>`) is unique and decides. "Me" is whoever speaks. Then names are tried from the closest
match to the loosest: as written (display name, nickname, alias), without regard to case and accents, by first name. A
step with one member decides, a step with several asks back. What is only spelt alike is suggested, never taken.

Anybody may choose their name, so a name is no proof: where another member's name looks the same in other letters
(Cyrillic, full-width, a zero for an O, a joiner that nobody sees), the name is ambiguous, however exact the match.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Literal

from recollect.rules.prompt.fences import folded, seen

NameKind = Literal["id", "mention", "display", "nickname", "alias"]
SUGGESTED = 5
"""Members that are suggested for a name that is nobody's."""
MAX_NAME = 200
"""Characters of a name that are looked at."""

NEVER = datetime(1, 1, 1, tzinfo=UTC)

_KINDS: dict[NameKind, str] = {
    "id": "id", "mention": "mention", "display": "display name", "nickname": "nickname", "alias": "alias",
}  # fmt: skip
_FREE: tuple[NameKind, ...] = ("display", "nickname", "alias")
_SELF = frozenset({"me", "myself", "i"})
MENTION = re.compile(r"<@!?(?P<id>[^<>@!\s]{1,64})>")


@dataclass(frozen=True, slots=True)
class Name:
    """What a member is called, and since when and until when it was seen, if that is known. One that was given up stays
    known: somebody will still use it."""

    text: str
    kind: NameKind
    since: datetime | None = None
    seen: datetime | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody in a space. The id needs no name of its own."""

    id: str
    names: tuple[Name, ...] = ()

    @property
    def shown(self) -> str:
        """The display name that was seen last, or else the id."""
        displayed = [(name.seen or name.since or NEVER, name.text) for name in self.names if name.kind == "display"]
        return max(displayed)[1] if displayed else self.id


@dataclass(frozen=True, slots=True)
class Candidate:
    """A member whom a name may mean, the name that fits, and why, in words for whoever is asked."""

    member: str
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Resolved:
    """The one member a name means, and why."""

    member: str
    why: str


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """Members who fit alike: the caller asks which."""

    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nobody fits. The suggestions are spelt alike: the caller may ask whether one is meant."""

    suggestions: tuple[Candidate, ...] = ()


def resolve(text: str, members: Iterable[Member], *, speaker: str | None = None) -> Resolved | Ambiguous | Unknown:
    """Whom a name means, said by the member with the id `speaker`."""
    said = text.strip()
    if len(said) > MAX_NAME:
        return Unknown()
    everybody = list(members)
    if said.casefold() in _SELF:
        return Resolved(speaker, "who speaks") if speaker is not None else Unknown()
    mention = MENTION.fullmatch(said)
    wanted = mention["id"] if mention else said
    if any(member.id == wanted for member in everybody):
        return Resolved(wanted, "mention" if mention else "id")
    if mention:
        return Unknown()
    if any(member.id == said.removeprefix("@") for member in everybody):
        return _by_handle(said.removeprefix("@"), everybody)
    steps = _steps(said)
    for step in steps:
        found = [candidate for member in everybody if (candidate := _first(member, step)) is not None]
        if found:
            # A mention is the platform's: two members never have the same.
            found += [] if step is steps[0] and said.startswith("@") else _doubles(said, found, everybody)
            return Resolved(found[0].member, found[0].why) if len(found) == 1 else Ambiguous(tuple(found))
    return Unknown(_suggested(said, everybody))


def _by_handle(id: str, members: Iterable[Member]) -> Resolved | Ambiguous:
    """Whom "@" with an id means: that member, whatever others call themselves; only a mention, which is the platform's,
    may be another's."""
    handles = [
        Candidate(member.id, name.text, _kind(name))
        for member in members
        for name in member.names
        if member.id != id and name.kind == "mention" and _as_mention(name) == id
    ]
    return Ambiguous((Candidate(id, id, "id"), *handles)) if handles else Resolved(id, "id")


@lru_cache(maxsize=32_768)
def fold_name(text: str) -> str:
    """A name without case, accents and needless space: what two spellings of one name have in common."""
    parts = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", seen(text)).casefold())
    kept = "".join(part for part in parts if unicodedata.category(part) not in ("Mn", "Me", "Cf"))
    return " ".join(unicodedata.normalize("NFC", kept).split())


@lru_cache(maxsize=32_768)
def looks(text: str) -> frozenset[str]:
    """What a name looks like: in plain small letters whatever its script, and letter by letter as it is drawn. Names
    that share either can be taken for each other."""
    plain = "".join(map(folded, seen(text))).casefold()
    drawn = "".join(_drawn(char) for char in seen(text)).replace("rn", "m")
    return frozenset(
        shape for shape in (f"a {' '.join(plain.split())}", f"b {' '.join(drawn.split())}") if len(shape) > 2
    )


def _drawn(char: str) -> str:
    """One letter as it is drawn; a capital is another drawing than its small letter, unless it is the same, larger."""
    look = folded(char)
    look = look.upper() if char.isupper() and look not in _SAME_LARGER else look
    return _ALIKE.get(look, look)


_SAME_LARGER = frozenset("cosuvwxz")
_ALIKE = {"I": "l", "1": "l", "|": "l", "0": "o"}

# The steps: each tells, of one name of a member, why it fits; empty if it does not.

_Step = Callable[[Name], str]


def _steps(said: str) -> list[_Step]:
    plain = said.removeprefix("@").strip()
    # "Bob's profile" is Bob's; a name that ends so by itself fits before.
    spellings = [plain, *([plain[:-2]] if plain.endswith(("'s", "’s")) else [])]
    found: list[_Step] = []
    if said.startswith("@"):
        found.append(lambda name: _kind(name) if name.kind == "mention" and _as_mention(name) == plain else "")
        found.append(
            lambda name: (
                _kind(name) if name.kind == "mention" and fold_name(_as_mention(name)) == fold_name(plain) else ""
            )
        )
    for spelling in spellings:
        found += _free_steps(spelling)
    return found


def _free_steps(plain: str) -> list[_Step]:
    small = fold_name(plain)
    if not small:
        return []
    return [
        lambda name: _kind(name) if name.kind in _FREE and name.text.strip() == plain else "",
        lambda name: (
            f"{_kind(name)}, but for case or accents"
            if fold_name(_as_mention(name) if name.kind == "mention" else name.text) == small
            else ""
        ),
        lambda name: f"first name of the {_kind(name)}" if name.kind in _FREE and _is_first(small, name) else "",
    ]


def _as_mention(name: Name) -> str:
    return name.text.strip().removeprefix("@")


def _kind(name: Name) -> str:
    return f"{_KINDS[name.kind]}{f' since {name.since:%Y-%m-%d}' if name.since else ''}"


def _is_first(small: str, name: Name) -> bool:
    words = fold_name(name.text).split()
    return len(words) > 1 and words[0] == small


def _first(member: Member, step: _Step) -> Candidate | None:
    """The member as a candidate, by the first of their names that fits; an id counts as a name, the strictest."""
    ordered = sorted(_names(member), key=lambda name: list(_KINDS).index(name.kind))
    return next((Candidate(member.id, name.text, why) for name in ordered if (why := step(name))), None)


def _names(member: Member) -> Sequence[Name]:
    return (Name(member.id, "id"), *member.names)


def _doubles(said: str, found: Sequence[Candidate], members: Iterable[Member]) -> list[Candidate]:
    """Other members with an id that is what was said but for case or accents, or with a name that looks like one that
    was found, in other letters."""
    taken = {candidate.member for candidate in found}
    small = fold_name(said.removeprefix("@"))
    shown = looks(said.removeprefix("@")).union(*(looks(candidate.name) for candidate in found))
    plain = {_small(candidate.name) for candidate in found}
    made = []
    for member in members:
        for name in _names(member) if member.id not in taken else ():
            if name.kind == "id" and fold_name(name.text) == small:
                made.append(Candidate(member.id, name.text, "id, but for case or accents"))
                break
            # What differs in case or accents only was weighed in its own step; what nobody sees was not.
            hidden = _small(name.text) not in plain
            if name.kind != "id" and looks(_as_mention(name)) & shown and hidden:
                made.append(Candidate(member.id, name.text, f"{_kind(name)} that looks the same"))
                break
    return made


def _small(name: str) -> str:
    """The name in small letters without accents; letters of other kinds, and what nobody sees, stay."""
    parts = unicodedata.normalize("NFD", name.strip().removeprefix("@").casefold())
    return "".join(part for part in parts if unicodedata.category(part) != "Mn" or not seen(part))


# Suggestions

_SHORT = 3  # letters; shorter names are too near to too many


def _suggested(said: str, members: Iterable[Member]) -> tuple[Candidate, ...]:
    small, shape = fold_name(said.removeprefix("@")), looks(said.removeprefix("@"))
    found: list[tuple[int, int, Candidate]] = []
    for number, member in enumerate(members):
        near = [(_far(small, shape, name.text), name) for name in _names(member)]
        close = min(((far, name) for far, name in near if far is not None), key=lambda each: each[0], default=None)
        if close is not None:
            found.append((close[0], number, Candidate(member.id, close[1].text, f"{_kind(close[1])}, spelt alike")))
    return tuple(candidate for _, _, candidate in sorted(found, key=lambda each: each[:2])[:SUGGESTED])


def _far(small: str, shape: frozenset[str], name: str) -> int | None:
    """How many letters a name is away; None if it is another name."""
    theirs = fold_name(name.removeprefix("@"))
    if not small or not theirs:
        return None
    if shape & looks(name.removeprefix("@")):
        return 0
    most = 0 if len(small) < _SHORT else 1 if len(small) < 2 * _SHORT else 2
    distances = [_distance(small, each, most) for each in {theirs, theirs.split()[0]} if most]
    if len(small) >= _SHORT and theirs.startswith(small):
        distances.append(most)
    return min((distance for distance in distances if distance is not None), default=None)


def _distance(one: str, other: str, most: int) -> int | None:
    """Letters to change, add, drop or swap with the next; None if they are more than `most`."""
    if abs(len(one) - len(other)) > most:
        return None
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        new = [at]
        for to, theirs in enumerate(other, 1):
            cost = min(row[to] + 1, new[to - 1] + 1, row[to - 1] + (letter != theirs))
            if at > 1 and to > 1 and letter == other[to - 2] and one[at - 2] == theirs:
                cost = min(cost, before[to - 2] + 1)
            new.append(cost)
        before, row = row, new
        if min(row) > most:
            return None
    return row[-1] if row[-1] <= most else None
