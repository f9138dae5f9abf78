"""Whom a message is said to: "warpzone: my guess is", "crimsun, thanks", "@sam look", a mention of the platform.

`KnownNames` has the people of a channel by all that they are called. A name is also known in another case, without the
signs and numbers around it (`|QuaD-` is "Quad", `wood1` is "wood"), by a part of it that is no common word ("Priya" of
"Priya Nair"), and misspelt by a letter, if it is long and fits one person alone. What begins a message and is nobody's
name is no address: "Note: reboot first", "gcc: error".

Who is spoken to can be read as who speaks: "warpzone: my guess is" looks like a line of warpzone's. So text that is
shown says "(to warpzone) my guess is" instead, also inside the text. `show_address` does that, and nothing else writes
addresses. What only looks like a name, since nobody there is known by it, loses its colon: "gcc – error".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from everword.text.names import MENTION
from everword.text.word_weights import is_common, is_ordinary
from everword.word_lists import lazy_pattern

SEVERAL = 3
"""People from which on a conversation is a group: with two, everything is said to the other."""
LEAST_MISSPELT = 5
"""Letters of a name that is known when it is misspelt."""
LEAST_MENTIONED = 3
"""Letters of a name that is known in the middle of a text."""
MAX_ADDRESSED = 4
"""People that one message begins with."""
READ = 600
"""Characters of a message that are searched for names."""

_NAME = r"[^\s:,;<>@()\"“”]{1,40}"
# After a colon a space may be missing, but "http://" and "10:30" are no addresses.
# "ann: ", "ann, " or, with something between brackets that stays in the text, "ann (see below): ".
_OPENING = lazy_pattern(
    rf"\s*@?(?P<name>{_NAME})"
    r"(?:\s*(?P<sign>[:：])(?!//)|(?P<aside>(?=\s\([^()\n]{1,60}\)\s?[:：]\s))|(?P<pause>\s*[,;]|>)(?=\s))\s*"
)
_LABEL = lazy_pattern(rf"(?=[^\s:]*[^\W\d_]){_NAME}:\s")
# A name with a colon inside a text: where a sentence starts, or after any word.
_INNER = lazy_pattern(rf"(?:(?P<start>(?<=[.!?…]\s)|(?<=\n))|(?<=\s))@?(?P<name>{_NAME})\s?[:：](?=\s|\Z)")
_HANDLE = lazy_pattern(rf"(?<![\w@.])@({_NAME})")
_TOKEN = lazy_pattern(_NAME)
_PART = lazy_pattern(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+")
_ENDS = ".!?'’*~"
_NUMBERS = "0123456789_-|"


def plain_nickname(name: str) -> str:
    """A nickname without case and without the signs around it."""
    return name.casefold().strip("|_-^`[]{}\\.!?*~'’= ") or name.casefold()


class Address(NamedTuple):
    """Whom a message is said to at its beginning: their ids, how they are written, and where the message goes on.
    `is_label`: with a colon, as before the words of a speaker."""

    people: tuple[str, ...]
    names: tuple[str, ...]
    end: int
    is_label: bool


@dataclass(slots=True)
class KnownNames:
    """The people of a channel, by their names. Of two with the same nickname the one who was added last is meant."""

    people: dict[str, None] = field(default_factory=dict)
    _exact: dict[str, str] = field(default_factory=dict)
    _plain: dict[str, str] = field(default_factory=dict)
    _parts: dict[str, set[str]] = field(default_factory=dict)
    _shortened: dict[str, set[str]] = field(default_factory=dict)
    is_of_group: bool = False  # a third person is known to speak later

    @classmethod
    def of(cls, names: Mapping[str, Iterable[str]]) -> KnownNames:
        """The names of people by their ids."""
        nicknames = cls()
        for person, own_names in names.items():
            nicknames.add(person, own_names)
        return nicknames

    @property
    def is_group(self) -> bool:
        return self.is_of_group or len(self.people) >= SEVERAL

    def add(self, person: str, names: Iterable[str] = ()) -> None:
        """Somebody who has spoken; their id is one of their names."""
        self.people[person] = None
        for name in {person, *filter(None, names)}:
            if self._exact.get(name) == person:
                continue
            self._exact[name] = person
            plain = plain_nickname(name)
            self._plain[plain] = person
            self._plain.setdefault(plain.rstrip(_NUMBERS) or plain, person)
            for part in filter(is_short_name, map(plain_nickname, _PART.findall(name))):
                self._parts.setdefault(part, set()).add(person)
            for variant in _shorter_by_one(plain):
                self._shortened.setdefault(variant, set()).add(plain)

    def find(self, name: str) -> str | None:
        """The person of a name as it is written; None if it is nobody's."""
        plain = plain_nickname(name)
        return self._exact.get(name) or self._plain.get(plain) or self._find_part(plain) or self._find_misspelt(plain)

    def _find_part(self, plain: str) -> str | None:
        people = self._parts.get(plain, ())
        return next(iter(people)) if len(people) == 1 else None

    def _find_misspelt(self, plain: str) -> str | None:
        if len(plain) < LEAST_MISSPELT or any(map(str.isdigit, plain)) or is_common(plain):
            return None
        near = {name for variant in (plain, *_shorter_by_one(plain)) for name in self._shortened.get(variant, ())}
        near |= {variant for variant in _shorter_by_one(plain) if variant in self._plain}
        people = {self._plain[name] for name in near if len(name) >= LEAST_MISSPELT}
        return people.pop() if len(people) == 1 else None

    def mentioned_in(self, word: str, least: int = LEAST_MENTIONED) -> str | None:
        """The person of a word of `least` letters or more in a text; a common word is nobody's name there."""
        plain = plain_nickname(word)
        person = self._exact.get(word) or self._plain.get(plain) or self._find_part(plain)
        is_name = person is not None and len(word) >= least and not is_common(plain_nickname(word))
        return person if is_name else None


def is_short_name(part: str) -> bool:
    """Whether part of a name can stand for it: of some length, and no common word."""
    return len(part) >= LEAST_MISSPELT - 1 and not is_common(part)


def _shorter_by_one(plain: str) -> Iterable[str]:
    return {plain[:place] + plain[place + 1 :] for place in range(len(plain))} if len(plain) >= LEAST_MISSPELT else ()


def find_address(text: str, nicknames: KnownNames) -> Address | None:
    """Whom a message is said to at its beginning; None if it begins with nobody's name."""
    people: list[str] = []
    names: list[str] = []
    end = 0
    is_label = False
    while len(people) < MAX_ADDRESSED and (opening := _OPENING.match(text, end)):
        person = nicknames.find(opening["name"])
        is_sign = opening["sign"] is not None or opening["aside"] is not None
        if person is None or (not is_sign and is_ordinary(plain_nickname(opening["name"]))):
            break
        people.append(person)
        names.append(opening["name"])
        end = opening.end()
        is_label = is_label or is_sign
    return Address(tuple(people), tuple(names), end, is_label) if people else None


def find_addressees(text: str, nicknames: KnownNames) -> tuple[str, ...]:
    """The ids of those whom a message is said to: at its beginning, or by a handle or mention anywhere."""
    text = text[:READ]
    address = find_address(text, nicknames)
    people = dict.fromkeys(address.people if address else ())
    if "@" in text:
        handles = [nicknames.find(handle.rstrip(_ENDS)) for handle in _HANDLE.findall(text)]
        mentions = [match["id"] if match["id"] in nicknames.people else None for match in MENTION.finditer(text)]
        people |= dict.fromkeys(person for person in (*handles, *mentions) if person is not None)
    return tuple(people)


def find_mentioned(text: str, nicknames: KnownNames) -> frozenset[str]:
    """The ids of those whose names stand in a text, said to them or not."""
    people = map(nicknames.mentioned_in, (token.strip(_ENDS) for token in _TOKEN.findall(text[:READ])))
    return frozenset(person for person in people if person is not None)


def without_address(text: str, nicknames: KnownNames) -> str:
    """A message without whom it is said to; as it is, if it says nothing else."""
    address = find_address(text, nicknames)
    return text if address is None else text[address.end :] or text


def show_address(text: str, nicknames: KnownNames) -> str:
    """A message as it is shown: whom it is said to does not look like who says it, also inside the text."""
    if not nicknames.is_group or not (":" in text or "：" in text):
        return text
    address = find_address(text, nicknames)
    if address is not None:
        rest = show_inner_addresses(text[address.end :], nicknames)
        if address.is_label:
            return f"{_to(address)} {rest}".rstrip()
        return text[: address.end] + rest
    return show_inner_addresses(without_label(text), nicknames)


def without_label(text: str) -> str:
    """A text that begins with nobody's name, but with what could be one: "gcc: error" is shown as "gcc – error"."""
    if not has_label(text):
        return text
    name, _, rest = text.partition(":")
    return f"{name.rstrip()} –{rest}"


def has_label(text: str) -> bool:
    """Whether a text begins with a word and a colon, and the word is no common one."""
    name = text.partition(":")[0].strip()
    return _LABEL.match(text) is not None and not (name.isalpha() and is_common(name))


def show_inner_addresses(text: str, nicknames: KnownNames) -> str:
    """A text whose sentences, and words before a colon, are said to nobody who could be taken for their speaker."""

    def show(match: re.Match[str]) -> str:
        address = find_address(match[0] + " ", nicknames)
        is_name = match["start"] is not None or nicknames.mentioned_in(match["name"], least=1) is not None
        return f"{_to(address)}" if address is not None and is_name else match[0]

    return _INNER.sub(show, text)


def _to(address: Address) -> str:
    return f"(to {' and '.join(address.names)})"
