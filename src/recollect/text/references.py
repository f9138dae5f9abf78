"""What an English sentence refers to: what it names, and what it only points to.

One rule for all words that refer: a pronoun, a demonstrative or "the" wants something named before it in the sentence.
"I sold my boat because it leaked" is whole; "I was ashamed, but they forgave me" and "The colours blend nicely" point
to what others said. A sentence is read once, word by word, with sets of words and no patterns; what cannot be decided
counts as pointing, which loses a sentence and never shows one that hangs in the air.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from recollect.text import reference_words as lists
from recollect.text.sentence_tokens import MARKS, begins_with, folded_tokens, spelt_tokens
from recollect.text.stopwords import function_words
from recollect.text.word_kinds import ENDS_PHRASE, NAMELESS, PLURAL, is_content, word_kinds
from recollect.text.word_weights import is_ordinary

_NOUNS = 4  # words after "the" among which its noun is
_EARLY = 5  # words in which "also" belongs to the subject
_WINDOW = 9  # words after "it" that say whether it stands for something
_AFTER_TO = 2  # words after the "to" of "it is hard to row against the wind", at least
_JUDGED = 5  # words from "hard" to "to" in "it is hard for me to row"
_PART = 4  # words of "the name of it"
_REMEMBERED = 16_000  # sentences: a message is read for its summary and for that of the level above


class References(NamedTuple):
    """What a sentence names and what it points to.

    `hangs`: it goes on with what another sentence said, or leaves out what was said there. `pronouns` are the kinds of
    things that its pronouns want and that are not named before them: "thing", "plural", "person", "place", "fact".
    `definites` are the nouns of each "the" or "this" that could mean something named in another sentence;
    `bare_definites` of those before which nothing is named; `has_demonstrative` says that one is a "this" or "that".
    `names` are the kinds it names, `nouns` its words. `is_own` says that it tells what the speaker did: "I sold the
    van" tells something, whichever van it was.
    """

    hangs: bool = False
    pronouns: frozenset[str] = frozenset()
    definites: tuple[frozenset[str], ...] = ()
    bare_definites: tuple[frozenset[str], ...] = ()
    names: frozenset[str] = frozenset()
    nouns: frozenset[str] = frozenset()
    has_demonstrative: bool = False
    is_own: bool = False

    @property
    def is_closed(self) -> bool:
        """Whether a sentence points to nothing outside it, as far as it can be seen without the others."""
        return not (self.hangs or self.pronouns or self.bare_definites)


@lru_cache(maxsize=_REMEMBERED)
def read_references(text: str, title: str = "") -> References:
    """What a sentence names and points to; what its title names is named before it."""
    reader = _begin_reading(text, title)
    reader.read_words()
    return reader.references()


@lru_cache(maxsize=_REMEMBERED)
def read_unless_open(text: str, title: str) -> References | None:
    """What a sentence names and points to; None if it hangs or has a pronoun for which nothing is named, as a third of
    all sentences: these are read only as far as to the word that tells it."""
    reader = _begin_reading(text, title)
    return reader.references() if reader.read_words(is_open_allowed=False) else None


def _begin_reading(text: str, title: str) -> _Reader:
    reader = _Reader(spelt_tokens(text), folded_tokens(text))
    if title:
        reader.name(-_PART, "thing", "plural")
        reader.nouns |= _nouns(title.casefold().split())
    return reader


def read_nouns(text: str, title: str = "") -> set[str]:
    """The nouns that a sentence and its title name, as `read_references` has them, in a small part of the time."""
    nouns = {word for word in folded_tokens(text) if word_kinds[word].is_content}
    return nouns | _nouns(title.casefold().split()) if title else nouns


def root(word: str) -> str:
    """A noun in the form in which two mentions of it are compared."""
    if len(word) > PLURAL and word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if len(word) > PLURAL - 1 and word.endswith("s") and not word.endswith("ss") else word


def _nouns(words: Iterable[str]) -> set[str]:
    return {word for word in words if is_content(word)}


def _may_be_it(word: str) -> bool:
    return word not in lists.PERSONS and word not in lists.PEOPLE and word not in lists.TIMES


@dataclass(slots=True)
class _Reader:
    spelt: Sequence[str]
    words: Sequence[str]
    named_at: dict[str, int] = field(default_factory=dict)
    nouns: set[str] = field(default_factory=set)
    pronouns: set[str] = field(default_factory=set)
    definites: list[frozenset[str]] = field(default_factory=list)
    bare: list[frozenset[str]] = field(default_factory=list)
    hangs: bool = False
    has_demonstrative: bool = False

    def read_words(self, *, is_open_allowed: bool = True) -> bool:
        """Read the words: all, or as far as to one that hangs or is an open pronoun. Whether all were read."""
        self.hangs = self._opens_with_link() or self._ends_open()
        if self.hangs and not is_open_allowed:
            return False
        for at, word in enumerate(self.words):
            if word in MARKS:
                if word in '"“”':
                    self.name(at, "thing")
                elif word == ":" and at <= _NOUNS:
                    self.name(at, "thing", "plural")
                continue
            if word in _POINTING:
                self._read_word(at, word)
                if not is_open_allowed and (self.hangs or self.pronouns):
                    return False
            if word not in NAMELESS or self.spelt[at][0].isupper():
                self._add_names(at, word)
        return True

    def references(self) -> References:
        return References(
            self.hangs,
            frozenset(self.pronouns),
            tuple(self.definites),
            tuple(self.bare),
            frozenset(self.named_at),
            frozenset(self.nouns),
            self.has_demonstrative,
            self._word(0) in ("i", "we") and self._word(1) in lists.EVENT_VERBS and not self.has_demonstrative,
        )

    # -- what it points to

    def _read_word(self, at: int, word: str) -> None:
        if word in lists.PERSON_PRONOUNS:
            self._want("person", at)
        elif word == "them" and self._word(at - 1) in lists.HELPING and not self._names_living():
            self.pronouns.add("plural")
        elif word in lists.PLURAL_PRONOUNS:
            self._want("plural", at)
        elif word in lists.THING_PRONOUNS:
            if not self._is_empty_it(at):
                self._want("thing", at)
        elif word == "the":
            self._read_definite(at)
        elif word in lists.DEMONSTRATIVES:
            self._read_demonstrative(at, word)
        elif word in lists.COMPARING:
            self._read_other(at, word)
        elif word in lists.SEEMING:
            self.hangs |= self._word(at - 1) in MARKS
        elif word == "also":
            self.hangs |= 0 < at < _EARLY and self.words[0] not in lists.SPEAKERS
        elif word in ("mine", "yours"):
            self.hangs |= self._word(at - 1) != "of" and "thing" not in self.named_at
        elif word == "option":
            is_counted = self._word(at + 1)[:1].isdigit()
            self.hangs |= is_counted and self._word(at + 2) not in (",", ":", "-", "–", "—")
        elif word == "your" and self._word(at + 1) in lists.SAID_THINGS:
            self.hangs = True

    def _want(self, kind: str, at: int) -> None:
        """Note a pronoun before which nothing of its kind is named; "the name of it" names nothing."""
        is_part = self._word(at - 1) in lists.PREPOSITIONS
        is_predicate = is_part and self._word(at - 3) == "the" and self._word(at - 4) in lists.BE_FORMS
        if is_predicate or self.named_at.get(kind, at) > at - (_PART if is_part else 1):
            self.pronouns.add(kind)

    def _names_living(self) -> bool:
        """Whether people or animals are named, whom one may help: "places to hide help them feel safe" names none."""
        return any(noun in lists.GROUPS or root(noun) in lists.PERSONS for noun in self.words)

    def _read_definite(self, at: int) -> None:
        phrase, end = self._phrase(at + 1)
        if not phrase or self._is_identified(at + 1, end, phrase):
            return
        self._add_definite(phrase, is_near=at == 0)  # not what a title before it names

    def _add_definite(self, phrase: Sequence[str], *, is_near: bool = False) -> None:
        nouns = frozenset(filter(is_content, phrase))
        if not nouns.isdisjoint(self.nouns):
            return
        self.definites.append(nouns)
        if is_near or not self.named_at:
            self.bare.append(nouns)

    def _phrase(self, start: int) -> tuple[list[str], int]:
        """The words of a noun and its adjectives, and the place after them."""
        end = start
        while end < len(self.words) and end < start + _NOUNS:
            word = self.words[end]
            is_inside = word[0].isalnum() and word not in ENDS_PHRASE
            if not is_inside or (end > start and word in lists.RELATIVE_TIMES):
                break
            end += 1
        return list(self.words[start:end]), end

    def _is_identified(self, start: int, end: int, phrase: Sequence[str]) -> bool:
        """Whether the words of "the …" say which one is meant, or there is only one."""
        if self._word(start) in '"“' or any(self._is_name(at) for at in range(start, end)):
            return True
        if phrase[0] in lists.ORDINALS or phrase[0].endswith("est") or phrase[0][0].isdigit():
            return True
        if phrase[-1] in lists.UNIQUE or phrase[0] in lists.TIMES:
            return True
        if start > 1 and phrase[-1] in lists.FAMILIAR:
            return True
        after = self._word(end)
        if after in lists.IDENTIFIERS:
            # "the boat my uncle built", and not "the app learns your habits"
            return not (after in lists.OWNERS and len(phrase) > 1 and phrase[-1].endswith("s"))
        # "the bakery in Leeds", and neither "the recipe in August" nor "the idea from a walk".
        if after in lists.LOCATORS:
            is_known = self._word(end + 1) != "the" or self._is_known(end + 2)
            return is_known and self._word(end + 1) not in lists.TIMES
        return after == "from" and end + 1 < len(self.spelt) and self._is_name(end + 1)

    def _is_known(self, at: int) -> bool:
        """Whether the words after "the" name something that everybody knows: "the park", "the Louvre"."""
        phrase, end = self._phrase(at)
        is_familiar = bool(phrase) and (phrase[-1] in lists.FAMILIAR or phrase[-1] in lists.UNIQUE)
        return is_familiar or any(self._is_name(place) for place in range(at, end)) or self._word(end) == "of"

    def _read_demonstrative(self, at: int, word: str) -> None:
        after = self._word(at + 1)
        is_time = after in lists.TIMES and (after != "coming" or self._word(at + 2) in lists.TIMES)
        if is_time and (word in ("this", "that") or after == "days"):
            return
        if word == "that" and self._is_conjunction(at):
            return
        if word == "those" and after in lists.AFTER_THOSE:
            return
        self.hangs |= self._word(at - 2) == "sound"  # "I like the sound of that soup": one of several that were offered
        phrase, _ = self._phrase(at + 1)
        if phrase and self._word(at - 1) == "," and self._names_one_before(at - 1):
            return
        self.has_demonstrative = True
        if phrase and after not in lists.CLAUSE_VERBS:
            self._add_definite(phrase, is_near=True)
        else:
            self._want("fact", at)

    def _names_one_before(self, end: int) -> bool:
        """Whether a clause before a comma is about somebody by name: "Rex stays with us, that dog hates trains"."""
        return end > 1 and (self._begins_with_name(self.words[0]) or self._is_name(1))

    def _is_conjunction(self, at: int) -> bool:
        """Whether "that" begins a clause: "I know that", "the boat that leaks"."""
        before = self._word(at - 1)
        after = self._word(at + 1)
        if at == 0 or after in MARKS or not after or before in MARKS - {","}:
            return False
        if before in lists.CLAUSE_VERBS:
            return after not in lists.AFTER_POINTING
        if before in lists.BEFORE_THAT or before == ",":
            return False
        return not (before.endswith(("ing", "ed")) and after not in lists.SUBJECTS | ENDS_PHRASE)

    def _read_other(self, at: int, word: str) -> None:
        """Words that compare with what was said: "the same", "another", "there", "six more"."""
        before = self._word(at - 1)
        after = self._word(at + 1)
        if word in ("one", "ones"):
            is_pronoun = word == "ones" or not after or after in MARKS or after in lists.AFTER_ONE
            if is_pronoun and before not in lists.BEFORE_PLAIN_ONE:
                is_named = "thing" in self.named_at or "plural" in self.named_at
                is_apart = before == "the" and self._word(at - 2) not in lists.BEFORE_THE_ONE
                is_kind = self._word(at - 2) in ("a", "an") and self._word(at - 3) in lists.BE_FORMS
                self.hangs |= is_apart or is_kind or not is_named
        elif word == "there":
            if not self._is_existential(at):
                self.hangs |= before in lists.PREPOSITIONS
                self._want("place", at)
        elif word == "here":
            self.hangs |= after not in ("in", "at") or not self._is_name(min(at + 2, len(self.words) - 1))
        elif word == "each":
            if after in lists.BE_FORMS or after in MARKS:
                self.hangs |= "plural" not in self.named_at
            elif after not in lists.TIMES and after not in ENDS_PHRASE:
                self._add_definite(self._phrase(at + 1)[0])
        elif word in ("same", "such"):
            is_measure = word == "such" and after in ("a", "an", "as")
            self.hangs |= not (is_measure or "as" in self.words[at + 1 :] or "thing" in self.named_at)
        elif word == "both":
            self.hangs |= not ("and" in self.words[at + 1 : at + 1 + _NOUNS] or "plural" in self.named_at)
        elif word == "another":
            self.hangs |= "thing" not in self.named_at
        elif word == "other":
            self.hangs |= before == "the"
        elif word in lists.FAVOURITES:
            is_alone = after in MARKS or after in lists.BE_FORMS or not after
            self.hangs |= is_alone and self.named_at.keys().isdisjoint(("thing", "plural", "person"))
        elif word in ("some", "any"):
            self.hangs |= after in MARKS or after in lists.AFTER_SOME
        elif word == "more":
            self.hangs |= before[:1].isdigit() or before in lists.DETERMINERS
        else:
            self.hangs = True

    def _is_existential(self, at: int) -> bool:
        """Whether "there" says that something exists: "there are two", and not "growing up there must be hard"."""
        before = self._word(at - 1)
        is_first = at == 0 or before in MARKS or before in lists.BEFORE_EXISTENTIAL or before in lists.CLAUSE_VERBS
        is_asked = at == 1 and before in lists.EXISTENTIAL
        return is_asked or (is_first and self._word(at + 1) in lists.EXISTENTIAL)

    def _is_empty_it(self, at: int) -> bool:
        """Whether "it" stands for nothing: "it's hard to say", "I find it easy to row"."""
        after = self._word(at + 1)
        rest = self._clause_after(at + 1)
        if self._word(at - 1) in lists.EMPTY_OBJECTS and after not in MARKS:
            return any(word in ("to", "that", "when") for word in rest[1:4])
        if self._word(at - 1) == "worth" or (after in lists.EMPTY_VERBS and not lists.EMPTY_ENDS.isdisjoint(rest)):
            return True
        if after in lists.WEATHER or (rest[1:2] == ["out"] and not lists.AFTER_OUT.isdisjoint(rest[2:3])):
            return True
        if after not in lists.BE_FORMS or (after in lists.MODALS and not {"be", "been"}.intersection(rest[1:3])):
            return False
        if any(word in ("raining", "snowing", "ago") for word in rest[1:]):
            return True
        if "been" in rest[:3] and "since" in rest:  # "it has been years since"
            return True
        if "time" in rest[1:4] and not {"to", "for"}.isdisjoint(rest):
            return True
        content = [word for word in rest[1:] if word not in lists.BE_FORMS and word not in lists.SMALL_WORDS]
        has_article = "a" in rest[1:4] or "an" in rest[1:4]
        if content and not has_article and (content[0] in lists.TIMES or content[0][0].isdigit()):
            return True
        if not content or content[0] in lists.NO_JUDGEMENT or content[0] in lists.EMPTY_ENDS:
            return False
        if has_article and content[0] not in lists.EMPTY_NOUNS:
            return False
        last = 2 if content[0].endswith(("ing", "ed")) else _JUDGED
        end = next((word for word in content[1:last] if word in lists.EMPTY_ENDS), "")
        return bool(end) and (end != "to" or len(rest) - rest.index(end) > _AFTER_TO or len(rest) == _WINDOW)

    def _clause_after(self, start: int) -> list[str]:
        clause: list[str] = []
        for word in self.words[start : start + _WINDOW]:
            if word in MARKS:
                break
            clause.append(word)
        return clause

    # -- how it begins and ends

    def _opens_with_link(self) -> bool:
        words = [word for word in self.words[:3] if word not in MARKS]
        if not words:
            return True
        if words[0] == "which" or words[0] in lists.MODALS:
            return self.words[-1] != "?"
        if words[0] in lists.ADVERBS and words[1:] and words[1].endswith("ing"):
            return True
        if words[0] in lists.COOKING and words[1:] and words[1] in lists.AFTER_COOKING:
            return True
        if words[:2] == ["aim", "for"] and words[-1][:1].isdigit():
            return True
        is_short_reply = words[0] in lists.SUBJECTS and self._word(1) in lists.STRANDED and self._word(2) in MARKS
        if is_short_reply or words[0] in lists.OPENERS:
            return True
        return words[0] in _PAIR_OPENINGS and begins_with(words, lists.OPENING_PAIRS)

    def _ends_open(self) -> bool:
        """Whether the end leaves out what was said before: "I would love to", "you will"."""
        last = next((word for word in reversed(self.words) if word not in MARKS), "")
        if last not in _OPEN_ENDS and "won" not in self.words:
            return False
        words = [word for word in self.words if word not in MARKS]
        if words[-2:] == ["speaking", "of"] or words[-2:] == ["a", "few"] or words[1:-1] == ["won", "'t"]:
            return True
        if last not in lists.STRANDED:
            return False
        return not any(word in ("than", "as", "if", "what", "when", "where", "how") for word in words[:-1])

    # -- what it names

    def _add_names(self, at: int, word: str) -> None:
        """Note what a word names: of each kind only the first counts, so others are not looked at."""
        is_content, is_person, is_group, may_be_plural, may_be_thing = word_kinds[word]
        named_at = self.named_at
        if is_content:
            self.nouns.add(word)
        if self.spelt[at][0].isupper() and (self._is_name(at) or (at == 0 and self._begins_with_name(word))):
            self.name(at, "thing", "person", "place")
            if "and" in self.words[at + 1 : at + 3]:
                self.name(at, "plural")
        if is_person:
            self.name(at, "person")
        if (is_group or may_be_plural) and "plural" not in named_at and (is_group or self._is_plural(at, word)):
            named_at["plural"] = at
        if may_be_thing and self._may_precede_thing(at):
            is_place = "place" not in named_at and self._word(at - 2) in lists.BEFORE_PLACE
            if (is_place or "thing" not in named_at) and self._names_thing(at, word):
                self.name(at, "thing")
                if is_place:
                    named_at["place"] = at

    def name(self, at: int, *kinds: str) -> None:
        """Note the kinds of things that are named at a place."""
        for kind in kinds:
            self.named_at.setdefault(kind, at)

    def _may_precede_thing(self, at: int) -> bool:
        """Whether the word before a place is one after which `_names_thing` may be true: few are."""
        before = self.words[at - 1]
        return at == 0 or before in _BEFORE_THING or before[0].isdigit()

    def _names_thing(self, at: int, word: str) -> bool:
        """Whether a word is the noun of a thing: after "a" or "my", after a verb or "of", or first in a sentence."""
        before = self._word(at - 1)
        is_owned = before == "'s" and self._word(at - 2) not in lists.BEFORE_IS
        if is_owned or before in lists.DETERMINERS or before == "the" or before[:1].isdigit():
            phrase = self._phrase(at)[0]
            if (
                phrase[0] in lists.LIGHT
                or phrase[-1] in lists.LIGHT
                or (self._is_plural(at, phrase[-1]) and before != "the")
            ):
                return False
            return all(_may_be_it(follower) for follower in phrase)
        is_done = word.endswith("ing") and self._word(at + 1) not in lists.OBJECTS
        if at == 0:
            is_subject = is_content(word) and self._word(1) in lists.BE_FORMS
            return is_done or (is_subject and not self._is_plural(at, word))
        if before not in lists.BEFORE_NOUN or self._is_plural(at, word) or self._is_plural(at, self._phrase(at)[0][-1]):
            return False
        return is_content(word) and (is_done or not word.endswith(("ing", "ed")))

    def _is_plural(self, at: int, word: str) -> bool:
        return word_kinds[word].may_be_plural and self._word(at - 1) not in lists.BEFORE_VERB

    def _is_name(self, at: int) -> bool:
        token = self.spelt[at]
        if at == 0 or not token[0].isupper() or (len(token) == 1 and token != "X"):
            return False
        word = self.words[at]
        is_start = self.words[at - 1] in ".!?…"
        return word not in lists.TIMES and word not in function_words("en") and not (is_start and is_ordinary(word))

    def _begins_with_name(self, word: str) -> bool:
        token = self.spelt[0]
        if word in lists.DETERMINERS or (self._is_plural(0, word) and self._word(1) in lists.AFTER_PLURAL):
            return False
        return (
            token[0].isupper()
            and is_content(self.words[0])
            and self.words[0] not in lists.TIMES
            and self._is_after_name(1)
        )

    def _is_after_name(self, at: int) -> bool:
        word = self._word(at)
        if word in ("and", "or"):
            return at + 1 < len(self.spelt) and self.spelt[at + 1][0].isupper()
        if word in lists.AFTER_NAME or word.endswith(("s", "ed")):
            return True
        return bool(word) and word != "i" and self.spelt[at][0].isupper()

    def _word(self, at: int) -> str:
        return self.words[at] if 0 <= at < len(self.words) else ""


_POINTING = frozenset(
    {"them", "the", "also", "mine", "yours", "option", "your"}
    | lists.PERSON_PRONOUNS
    | lists.PLURAL_PRONOUNS
    | lists.THING_PRONOUNS
    | lists.DEMONSTRATIVES
    | lists.COMPARING
    | lists.SEEMING
)
_PAIR_OPENINGS = frozenset(pair.split()[0] for pair in lists.OPENING_PAIRS)
_OPEN_ENDS = frozenset({"of", "few"} | lists.STRANDED)
_BEFORE_THING = frozenset({"'s", "the"} | lists.DETERMINERS | lists.BEFORE_NOUN)
