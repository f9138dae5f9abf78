"""Names of people: whom a name means, and which names are spelt alike.

`resolve` gives one member of a space, several, or none; it never guesses. An id or a mention (`<@123>`) is unique and
decides. "Me" is the speaker. Then names are tried from the closest match to the loosest: as written (display name,
nickname, alias), without regard to case and accents, by first name. A step that finds one member decides, a step that
finds several asks back. A similar spelling is suggested, not taken. Anybody may choose their name, so a name is no
proof: where another member's name looks the same in other letters (Cyrillic, full-width, a zero for an O, an invisible
joiner), the name is ambiguous, however exact the match.

`resolve_misspelt` is for whoever only reads, and is told whom the name was taken for. It also takes a name that differs
by a letter, of long names by two; but not a short name, nor one with digits, since ids that differ by a digit are two
people. If two members fit, neither is taken.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence

from everword.model import Ambiguous, Candidate, Member, Name, NameKind, Resolved, Unknown, Whom
from everword.text.doc import read_once
from everword.text.escaping import name_shapes, strip_invisible
from everword.word_lists import lazy_pattern

SUGGESTED = 5
"""Members that are suggested for a name that no member has."""
MAX_NAME = 200
"""Characters of a name that are looked at."""

_KINDS: dict[NameKind, str] = {
    "id": "id", "mention": "mention", "display": "display name", "nickname": "nickname", "alias": "alias",
}  # fmt: skip
_FREE: tuple[NameKind, ...] = ("display", "nickname", "alias")
_SELF = frozenset({"me", "myself", "i"})
MENTION = lazy_pattern(r"<@!?(?P<id>[^<>@!\s]{1,64})>")


def resolve(text: str, members: Iterable[Member], *, speaker: str | None = None) -> Whom:
    """The member that a name means, said by the member with the id `speaker`."""
    name = text.strip()
    if len(name) > MAX_NAME:
        return Unknown()
    everybody = list(members)
    if name.casefold() in _SELF:
        return Resolved(speaker, "who speaks") if speaker is not None else Unknown()
    mention = MENTION.fullmatch(name)
    member_id = mention["id"] if mention else name
    if any(member.id == member_id for member in everybody):
        return Resolved(member_id, "mention" if mention else "id")
    if mention:
        return Unknown()
    if any(member.id == name.removeprefix("@") for member in everybody):
        return _by_handle(name.removeprefix("@"), everybody)
    return _by_name(name, everybody)


def _by_name(name: str, everybody: list[Member]) -> Whom:
    """The member whom a name means that is no id: the most exact way to compare names that finds somebody decides."""
    steps = _steps(name)
    for step in steps:
        candidates = [candidate for member in everybody if (candidate := _first_match(member, step)) is not None]
        if candidates:
            # A mention belongs to the platform: two members never have the same.
            candidates += [] if step is steps[0] and name.startswith("@") else _lookalikes(name, candidates, everybody)
            first = candidates[0]
            return Resolved(first.member, first.why) if len(candidates) == 1 else Ambiguous(tuple(candidates))
    return Unknown(_suggestions(name, everybody))


def _by_handle(id: str, members: Iterable[Member]) -> Resolved | Ambiguous:
    """The member that "@" with an id means: the member with that id, whatever others call themselves. Only a mention,
    which the platform gives, may belong to another member."""
    handles = [
        Candidate(member.id, name.text, _kind_label(name))
        for member in members
        for name in member.names
        if member.id != id and name.kind == "mention" and _mention_text(name) == id
    ]
    return Ambiguous((Candidate(id, id, "id"), *handles)) if handles else Resolved(id, "id")


def is_taken(text: str, others: Iterable[Member]) -> bool:
    """Whether one of these members has a name that this one is, or can be mistaken for."""
    shapes = name_shapes(text)
    folded_name = fold_name(text)
    names = [name.text for member in others for name in member.names]
    return any(fold_name(name) == folded_name or not shapes.isdisjoint(name_shapes(name)) for name in names)


@read_once
def fold_name(text: str) -> str:
    """A name without case, accents and needless space: the same for all spellings of one name."""
    parts = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", strip_invisible(text)).casefold())
    letters = "".join(part for part in parts if unicodedata.category(part) not in ("Mn", "Me", "Cf"))
    return " ".join(unicodedata.normalize("NFC", letters).split())


# Each step gives the reason why one name of a member fits; empty if it does not fit.

_Step = Callable[[Name], str]


def _steps(text: str) -> list[_Step]:
    plain = text.removeprefix("@").strip()
    # "Bob's profile" is Bob's; a name that ends so by itself fits before.
    spellings = [plain, *([plain[:-2]] if plain.endswith(("'s", "’s")) else [])]
    steps: list[_Step] = []
    if text.startswith("@"):
        steps += _mention_steps(plain)
    for spelling in spellings:
        steps += _free_steps(spelling)
    return steps


def _mention_steps(plain: str) -> list[_Step]:
    def match_exactly(name: Name) -> str:
        return _kind_label(name) if name.kind == "mention" and _mention_text(name) == plain else ""

    def match_folded(name: Name) -> str:
        return (
            _kind_label(name) if name.kind == "mention" and fold_name(_mention_text(name)) == fold_name(plain) else ""
        )

    return [match_exactly, match_folded]


def _free_steps(plain: str) -> list[_Step]:
    small = fold_name(plain)
    if not small:
        return []

    def match_exactly(name: Name) -> str:
        return _kind_label(name) if name.kind in _FREE and name.text.strip() == plain else ""

    def match_folded(name: Name) -> str:
        text = _mention_text(name) if name.kind == "mention" else name.text
        return f"{_kind_label(name)}, but for case or accents" if fold_name(text) == small else ""

    def match_first_name(name: Name) -> str:
        return f"first name of the {_kind_label(name)}" if name.kind in _FREE and _is_first_name(small, name) else ""

    return [match_exactly, match_folded, match_first_name]


def _mention_text(name: Name) -> str:
    return name.text.strip().removeprefix("@")


def _kind_label(name: Name) -> str:
    return f"{_KINDS[name.kind]}{f' since {name.since:%Y-%m-%d}' if name.since else ''}"


def _is_first_name(small: str, name: Name) -> bool:
    words = fold_name(name.text).split()
    return len(words) > 1 and words[0] == small


def _first_match(member: Member, step: _Step) -> Candidate | None:
    """The member as a candidate, by the first of their names that fits; the id counts as the first name."""
    names = sorted(_names(member), key=lambda name: list(_KINDS).index(name.kind))
    return next((Candidate(member.id, name.text, why) for name in names if (why := step(name))), None)


def _names(member: Member) -> Sequence[Name]:
    return (Name(member.id, "id"), *member.names)


def _lookalikes(text: str, candidates: Sequence[Candidate], members: Iterable[Member]) -> list[Candidate]:
    """Other members whose id equals the text except for case or accents, or whose name looks like the name of a
    candidate in other letters."""
    member_ids = {candidate.member for candidate in candidates}
    small = fold_name(text.removeprefix("@"))
    shapes = name_shapes(text.removeprefix("@")).union(*(name_shapes(candidate.name) for candidate in candidates))
    plain = {_small_letters(candidate.name) for candidate in candidates}
    doubles = []
    for member in members:
        for name in _names(member) if member.id not in member_ids else ():
            if name.kind == "id" and fold_name(name.text) == small:
                doubles.append(Candidate(member.id, name.text, "id, but for case or accents"))
                break
            # Differences in case or accents were compared in their own step; invisible characters were not.
            is_new_spelling = _small_letters(name.text) not in plain
            if name.kind != "id" and name_shapes(_mention_text(name)) & shapes and is_new_spelling:
                doubles.append(Candidate(member.id, name.text, f"{_kind_label(name)} that looks the same"))
                break
    return doubles


def _small_letters(name: str) -> str:
    """The name in small letters without accents; other letters and invisible characters stay."""
    parts = unicodedata.normalize("NFD", name.strip().removeprefix("@").casefold())
    return "".join(part for part in parts if unicodedata.category(part) != "Mn" or not strip_invisible(part))


# Suggestions

_SHORT = 3  # letters; shorter names are too similar to too many others


def _suggestions(text: str, members: Iterable[Member]) -> tuple[Candidate, ...]:
    small = fold_name(text.removeprefix("@"))
    shape = name_shapes(text.removeprefix("@"))
    suggestions: list[tuple[int, int, Candidate]] = []
    for number, member in enumerate(members):
        distances = [(_spelling_distance(small, shape, name.text), name) for name in _names(member)]
        similar = [(distance, name) for distance, name in distances if distance is not None]
        if similar:
            distance, name = min(similar, key=lambda pair: pair[0])
            suggestions.append((distance, number, Candidate(member.id, name.text, f"{_kind_label(name)}, spelt alike")))
    return tuple(candidate for _, _, candidate in sorted(suggestions, key=lambda entry: entry[:2])[:SUGGESTED])


def _spelling_distance(small: str, shape: frozenset[str], name: str) -> int | None:
    """How many letters a name differs in; None if it is a different name."""
    member_name = fold_name(name.removeprefix("@"))
    if not small or not member_name:
        return None
    if shape & name_shapes(name.removeprefix("@")):
        return 0
    limit = 0 if len(small) < _SHORT else 1 if len(small) < 2 * _SHORT else 2
    distances = [_edit_distance(small, spelling, limit) for spelling in {member_name, member_name.split()[0]} if limit]
    if len(small) >= _SHORT and member_name.startswith(small):
        distances.append(limit)
    return min((distance for distance in distances if distance is not None), default=None)


# Misspelt names

SHORTEST_MISSPELT = 4
"""Letters of the shortest name that may be misspelt: others are too similar to too many. A letter may be missing."""
LONG_NAME = 8
"""Letters from which on a name may be misspelt in two places."""


def resolve_misspelt(text: str, members: Iterable[Member]) -> Whom:
    """The member that a name means, though it may be misspelt."""
    everybody = list(members)
    whom = resolve(text, everybody)
    if not isinstance(whom, Unknown):
        return whom
    candidates = [candidate for member in everybody if (candidate := _misspelt_candidate(text, member)) is not None]
    if not candidates:
        return whom
    first = candidates[0]
    return Resolved(first.member, first.why) if len(candidates) == 1 else Ambiguous(tuple(candidates))


def _misspelt_candidate(text: str, member: Member) -> Candidate | None:
    for name in _names(member):
        if is_misspelling(text, _mention_text(name)):
            return Candidate(member.id, name.text, f"{_kind_label(name)}, spelt alike")
    return None


def is_misspelling(text: str, name: str) -> bool:
    """Whether a text is a name, or the first of its words, but for a letter or two. A name that looks the same in
    other letters is no misspelling but may be a disguise."""
    word = fold_name(text.removeprefix("@"))
    full_name = fold_name(name)
    is_near = _is_one_slip(word, full_name) or (" " in full_name and _is_one_slip(word, full_name.split()[0]))
    return is_near and name_shapes(text).isdisjoint(name_shapes(name))


def _is_one_slip(word: str, name: str) -> bool:
    longer = max(len(word), len(name))
    limit = 1 if longer < LONG_NAME else 2
    if word == name or not SHORTEST_MISSPELT <= longer <= min(len(word), len(name)) + limit or longer > MAX_NAME:
        return False
    is_near = _edit_distance(word, name, limit) is not None
    return is_near and word.replace(" ", "").isalpha() and name.replace(" ", "").isalpha()


def _edit_distance(first: str, second: str, limit: int) -> int | None:
    """The number of letters to change, add, drop or swap with the next; None if it is more than `limit`."""
    if abs(len(first) - len(second)) > limit:
        return None
    before: list[int] = []
    row = list(range(len(second) + 1))
    for at, letter in enumerate(first, 1):
        new = [at]
        for to, other_letter in enumerate(second, 1):
            cost = min(row[to] + 1, new[to - 1] + 1, row[to - 1] + (letter != other_letter))
            if at > 1 and to > 1 and letter == second[to - 2] and first[at - 2] == other_letter:
                cost = min(cost, before[to - 2] + 1)
            new.append(cost)
        before, row = row, new
        if min(row) > limit:
            return None
    return row[-1] if row[-1] <= limit else None
