"""Which sentences of messages can be understood without others, and which one each of the rest needs.

In English a sentence stands alone if it has a predicate, tells something, is not said only to please the other person,
and points to nothing outside it. Else it may stand with one that stands: an answer with its question, a pronoun with
the sentence before it in the message, "the vanity" with the last sentence that named a vanity, a short item of a list
with what introduces the list. Everything else is not chosen. A question is chosen for itself only if it asks for
something.

What a sentence points to is decided by one rule for all words that refer: a pronoun, a demonstrative or "the" wants
something named before it in the sentence. "I sold my boat because it leaked" is whole; "I was ashamed, but they forgave
me" and "The colours blend nicely" point to what others said. A sentence is read once, word by word, with sets of words
and no patterns; what cannot be decided counts as pointing, which loses a sentence and never shows one that hangs in the
air.

In other languages, whose verbs are not known here, the rules are milder. If by the strict rules nothing of an episode
stands, they are applied without asking what "the …" means, and then the mild ones: a summary is never empty if
something was said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from everword.text.corrections import says_new_value, states_value
from everword.text.detect import function_words
from everword.text.doc import doc_of
from everword.text.english import RELATIONS, SPOKEN_PAST_FORMS, has_predicate, has_verb
from everword.text.filler import is_filler, trim_address
from everword.text.mentions import WHEN
from everword.text.sentences import Sentence, has_question_mark, split_sentences
from everword.text.tokens import MARKS, begins_with, folded_tokens, lower_tokens, spelt_tokens
from everword.text.words import is_content, is_ordinary, is_unspaced, words
from everword.word_lists import Patterns, WordLists, lazy_pattern

lists = WordLists("references")
PERSONS = lists.persons.union(RELATIONS)
"""Words for a person or an animal, which "he" or "she" may mean."""
PLURAL = 4
"""Letters of a plural, at least."""
_KNOWN_WORDS = 20_000


class WordKind(NamedTuple):
    """What a word may name."""

    is_content: bool
    is_person: bool
    is_group: bool
    may_be_plural: bool
    may_be_thing: bool


@lru_cache(maxsize=_KNOWN_WORDS)
def word_kind(word: str) -> WordKind:
    """What a word may name: `_Reader` asks it of every word of every sentence."""
    is_person = word in PERSONS
    has_ending = len(word) >= PLURAL and word.endswith("s") and not word.endswith(("ss", "us"))
    return WordKind(
        _may_be_noun(word),
        is_person,
        word in lists.groups,
        has_ending and word not in lists.not_plural and word not in function_words("en"),
        not (is_person or word in lists.times or word in ENDS_PHRASE) and word[:1].isalpha(),
    )


def _may_be_noun(word: str) -> bool:
    if word in lists.times:
        return False
    return len(word) > 2 and word not in function_words("en") and not is_ordinary(word) and word[0].isalpha()


ENDS_PHRASE = (
    function_words("en") | lists.be_forms | lists.subjects | lists.determiners | {"'s", "'m", "'re", "'ve", "'t"}
) - (lists.ordinals | {"own", "more"})
"""Words that are no part of a noun and its adjectives."""


def _names_nothing(word: str) -> bool:
    may_be_plural = word.endswith("s") and word not in function_words("en")
    return not (_may_be_noun(word) or word in PERSONS or word in lists.groups or may_be_plural)


NAMELESS = frozenset(filter(_names_nothing, ENDS_PHRASE))
"""Words that end a phrase and name nothing, wherever they stand, if they are written small."""


_NOUNS = 4  # words after "the" among which its noun is
_EARLY = 5  # words in which "also" belongs to the subject
_WINDOW = 9  # words after "it" that say whether it stands for something
_AFTER_TO = 2  # words after the "to" of "it is hard to row against the wind", at least
_JUDGED = 5  # words from "hard" to "to" in "it is hard for me to row"
_PART = 4  # words of "the name of it"


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


def read_references(text: str, title: str = "") -> References:
    """What a sentence names and points to; what its title names is named before it."""
    return doc_of(text).read(_read_references, title)


def _read_references(text: str, title: str) -> References:
    reader = _begin_reading(text, title)
    reader.read_words()
    return reader.references()


def read_unless_open(text: str, title: str) -> References | None:
    """What a sentence names and points to; None if it hangs or has a pronoun for which nothing is named, as a third of
    all sentences: these are read only as far as to the word that tells it."""
    return doc_of(text).read(_read_unless_open, title)


def _read_unless_open(text: str, title: str) -> References | None:
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
    nouns = {word for word in folded_tokens(text) if word_kind(word).is_content}
    return nouns | _nouns(title.casefold().split()) if title else nouns


def root(word: str) -> str:
    """A noun in the form in which two mentions of it are compared."""
    if len(word) > PLURAL and word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if len(word) > PLURAL - 1 and word.endswith("s") and not word.endswith("ss") else word


def _nouns(words: Iterable[str]) -> set[str]:
    return {word for word in words if _may_be_noun(word)}


def _may_be_it(word: str) -> bool:
    return word not in PERSONS and word not in lists.people and word not in lists.times


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
            self._word(0) in ("i", "we") and self._word(1) in lists.event_verbs and not self.has_demonstrative,
        )

    # -- what it points to

    def _read_word(self, at: int, word: str) -> None:
        if word in lists.person_pronouns:
            self._want("person", at)
        elif word == "them" and self._word(at - 1) in lists.helping and not self._names_living():
            self.pronouns.add("plural")
        elif word in lists.plural_pronouns:
            self._want("plural", at)
        elif word in lists.thing_pronouns:
            if not self._is_empty_it(at):
                self._want("thing", at)
        elif word == "the":
            self._read_definite(at)
        elif word in lists.demonstratives:
            self._read_demonstrative(at, word)
        elif word in lists.comparing:
            self._read_other(at, word)
        elif word in lists.seeming:
            self.hangs |= self._word(at - 1) in MARKS
        elif word == "also":
            self.hangs |= 0 < at < _EARLY and self.words[0] not in lists.speakers
        elif word in ("mine", "yours"):
            self.hangs |= self._word(at - 1) != "of" and "thing" not in self.named_at
        elif word == "option":
            is_counted = self._word(at + 1)[:1].isdigit()
            self.hangs |= is_counted and self._word(at + 2) not in (",", ":", "-", "–", "—")
        elif word == "your" and self._word(at + 1) in lists.said_things:
            self.hangs = True

    def _want(self, kind: str, at: int) -> None:
        """Note a pronoun before which nothing of its kind is named; "the name of it" names nothing."""
        is_part = self._word(at - 1) in lists.prepositions
        is_predicate = is_part and self._word(at - 3) == "the" and self._word(at - 4) in lists.be_forms
        if is_predicate or self.named_at.get(kind, at) > at - (_PART if is_part else 1):
            self.pronouns.add(kind)

    def _names_living(self) -> bool:
        """Whether people or animals are named, whom one may help: "places to hide help them feel safe" names none."""
        return any(noun in lists.groups or root(noun) in PERSONS for noun in self.words)

    def _read_definite(self, at: int) -> None:
        phrase, end = self._phrase(at + 1)
        if not phrase or self._is_identified(at + 1, end, phrase):
            return
        self._add_definite(phrase, is_near=at == 0)  # not what a title before it names

    def _add_definite(self, phrase: Sequence[str], *, is_near: bool = False) -> None:
        nouns = frozenset(filter(_may_be_noun, phrase))
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
            if not is_inside or (end > start and word in lists.relative_times):
                break
            end += 1
        return list(self.words[start:end]), end

    def _is_identified(self, start: int, end: int, phrase: Sequence[str]) -> bool:
        """Whether the words of "the …" say which one is meant, or there is only one."""
        if self._word(start) in '"“' or any(self._is_name(at) for at in range(start, end)):
            return True
        if phrase[0] in lists.ordinals or phrase[0].endswith("est") or phrase[0][0].isdigit():
            return True
        if phrase[-1] in lists.unique or phrase[0] in lists.times:
            return True
        if start > 1 and phrase[-1] in lists.familiar:
            return True
        after = self._word(end)
        if after in lists.identifiers:
            # "the boat my uncle built", and not "the app learns your habits"
            return not (after in lists.owners and len(phrase) > 1 and phrase[-1].endswith("s"))
        # "the bakery in Leeds", and neither "the recipe in August" nor "the idea from a walk".
        if after in lists.locators:
            is_known = self._word(end + 1) != "the" or self._is_known(end + 2)
            return is_known and self._word(end + 1) not in lists.times
        return after == "from" and end + 1 < len(self.spelt) and self._is_name(end + 1)

    def _is_known(self, at: int) -> bool:
        """Whether the words after "the" name something that everybody knows: "the park", "the Louvre"."""
        phrase, end = self._phrase(at)
        is_familiar = bool(phrase) and (phrase[-1] in lists.familiar or phrase[-1] in lists.unique)
        return is_familiar or any(self._is_name(place) for place in range(at, end)) or self._word(end) == "of"

    def _read_demonstrative(self, at: int, word: str) -> None:
        after = self._word(at + 1)
        is_time = after in lists.times and (after != "coming" or self._word(at + 2) in lists.times)
        if is_time and (word in ("this", "that") or after == "days"):
            return
        if word == "that" and self._is_conjunction(at):
            return
        if word == "those" and after in lists.after_those:
            return
        self.hangs |= self._word(at - 2) == "sound"  # "I like the sound of that soup": one of several that were offered
        phrase, _ = self._phrase(at + 1)
        if phrase and self._word(at - 1) == "," and self._names_one_before(at - 1):
            return
        self.has_demonstrative = True
        if phrase and after not in lists.clause_verbs:
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
        if before in lists.clause_verbs:
            return after not in lists.after_pointing
        if before in lists.before_that or before == ",":
            return False
        return not (before.endswith(("ing", "ed")) and after not in lists.subjects | ENDS_PHRASE)

    def _read_other(self, at: int, word: str) -> None:
        """Words that compare with what was said: "the same", "another", "there", "six more"."""
        before = self._word(at - 1)
        after = self._word(at + 1)
        if word in ("one", "ones"):
            is_pronoun = word == "ones" or not after or after in MARKS or after in lists.after_one
            if is_pronoun and before not in lists.before_plain_one:
                is_named = "thing" in self.named_at or "plural" in self.named_at
                is_apart = before == "the" and self._word(at - 2) not in lists.before_the_one
                is_kind = self._word(at - 2) in ("a", "an") and self._word(at - 3) in lists.be_forms
                self.hangs |= is_apart or is_kind or not is_named
        elif word == "there":
            if not self._is_existential(at):
                self.hangs |= before in lists.prepositions
                self._want("place", at)
        elif word == "here":
            self.hangs |= after not in ("in", "at") or not self._is_name(min(at + 2, len(self.words) - 1))
        elif word == "each":
            if after in lists.be_forms or after in MARKS:
                self.hangs |= "plural" not in self.named_at
            elif after not in lists.times and after not in ENDS_PHRASE:
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
        elif word in lists.favourites:
            is_alone = after in MARKS or after in lists.be_forms or not after
            self.hangs |= is_alone and self.named_at.keys().isdisjoint(("thing", "plural", "person"))
        elif word in ("some", "any"):
            self.hangs |= after in MARKS or after in lists.after_some
        elif word == "more":
            self.hangs |= before[:1].isdigit() or before in lists.determiners
        else:
            self.hangs = True

    def _is_existential(self, at: int) -> bool:
        """Whether "there" says that something exists: "there are two", and not "growing up there must be hard"."""
        before = self._word(at - 1)
        is_first = at == 0 or before in MARKS or before in lists.before_existential or before in lists.clause_verbs
        is_asked = at == 1 and before in lists.existential
        return is_asked or (is_first and self._word(at + 1) in lists.existential)

    def _is_empty_it(self, at: int) -> bool:
        """Whether "it" stands for nothing: "it's hard to say", "I find it easy to row"."""
        after = self._word(at + 1)
        rest = self._clause_after(at + 1)
        if self._word(at - 1) in lists.empty_objects and after not in MARKS:
            return any(word in ("to", "that", "when") for word in rest[1:4])
        if self._word(at - 1) == "worth" or (after in lists.empty_verbs and not lists.empty_ends.isdisjoint(rest)):
            return True
        if after in lists.weather or (rest[1:2] == ["out"] and not lists.after_out.isdisjoint(rest[2:3])):
            return True
        if after not in lists.be_forms or (after in lists.modals and not {"be", "been"}.intersection(rest[1:3])):
            return False
        if any(word in ("raining", "snowing", "ago") for word in rest[1:]):
            return True
        if "been" in rest[:3] and "since" in rest:  # "it has been years since"
            return True
        if "time" in rest[1:4] and not {"to", "for"}.isdisjoint(rest):
            return True
        content = [word for word in rest[1:] if word not in lists.be_forms and word not in lists.small_words]
        has_article = "a" in rest[1:4] or "an" in rest[1:4]
        if content and not has_article and (content[0] in lists.times or content[0][0].isdigit()):
            return True
        if not content or content[0] in lists.no_judgement or content[0] in lists.empty_ends:
            return False
        if has_article and content[0] not in lists.empty_nouns:
            return False
        last = 2 if content[0].endswith(("ing", "ed")) else _JUDGED
        end = next((word for word in content[1:last] if word in lists.empty_ends), "")
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
        if words[0] == "which" or words[0] in lists.modals:
            return self.words[-1] != "?"
        if words[0] in lists.adverbs and words[1:] and words[1].endswith("ing"):
            return True
        if words[0] in lists.cooking and words[1:] and words[1] in lists.after_cooking:
            return True
        if words[:2] == ["aim", "for"] and words[-1][:1].isdigit():
            return True
        is_short_reply = words[0] in lists.subjects and self._word(1) in lists.stranded and self._word(2) in MARKS
        if is_short_reply or words[0] in lists.openers:
            return True
        return words[0] in _PAIR_OPENINGS and begins_with(words, lists.opening_pairs)

    def _ends_open(self) -> bool:
        """Whether the end leaves out what was said before: "I would love to", "you will"."""
        last = next((word for word in reversed(self.words) if word not in MARKS), "")
        if last not in _OPEN_ENDS and "won" not in self.words:
            return False
        words = [word for word in self.words if word not in MARKS]
        if words[-2:] == ["speaking", "of"] or words[-2:] == ["a", "few"] or words[1:-1] == ["won", "'t"]:
            return True
        if last not in lists.stranded:
            return False
        return not any(word in ("than", "as", "if", "what", "when", "where", "how") for word in words[:-1])

    # -- what it names

    def _add_names(self, at: int, word: str) -> None:
        """Note what a word names: of each kind only the first counts, so others are not looked at."""
        is_content, is_person, is_group, may_be_plural, may_be_thing = word_kind(word)
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
            is_place = "place" not in named_at and self._word(at - 2) in lists.before_place
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
        is_owned = before == "'s" and self._word(at - 2) not in lists.before_is
        if is_owned or before in lists.determiners or before == "the" or before[:1].isdigit():
            phrase = self._phrase(at)[0]
            if (
                phrase[0] in lists.light
                or phrase[-1] in lists.light
                or (self._is_plural(at, phrase[-1]) and before != "the")
            ):
                return False
            return all(_may_be_it(follower) for follower in phrase)
        is_done = word.endswith("ing") and self._word(at + 1) not in lists.objects
        if at == 0:
            is_subject = _may_be_noun(word) and self._word(1) in lists.be_forms
            return is_done or (is_subject and not self._is_plural(at, word))
        if before not in lists.before_noun or self._is_plural(at, word) or self._is_plural(at, self._phrase(at)[0][-1]):
            return False
        return _may_be_noun(word) and (is_done or not word.endswith(("ing", "ed")))

    def _is_plural(self, at: int, word: str) -> bool:
        return word_kind(word).may_be_plural and self._word(at - 1) not in lists.before_verb

    def _is_name(self, at: int) -> bool:
        token = self.spelt[at]
        if at == 0 or not token[0].isupper() or (len(token) == 1 and token != "X"):
            return False
        word = self.words[at]
        is_start = self.words[at - 1] in ".!?…"
        return word not in lists.times and word not in function_words("en") and not (is_start and is_ordinary(word))

    def _begins_with_name(self, word: str) -> bool:
        token = self.spelt[0]
        if word in lists.determiners or (self._is_plural(0, word) and self._word(1) in lists.after_plural):
            return False
        return (
            token[0].isupper()
            and _may_be_noun(self.words[0])
            and self.words[0] not in lists.times
            and self._is_after_name(1)
        )

    def _is_after_name(self, at: int) -> bool:
        word = self._word(at)
        if word in ("and", "or"):
            return at + 1 < len(self.spelt) and self.spelt[at + 1][0].isupper()
        if word in lists.after_name or word.endswith(("s", "ed")):
            return True
        return bool(word) and word != "i" and self.spelt[at][0].isupper()

    def _word(self, at: int) -> str:
        return self.words[at] if 0 <= at < len(self.words) else ""


_POINTING = frozenset(
    {"them", "the", "also", "mine", "yours", "option", "your"}
    | lists.person_pronouns
    | lists.plural_pronouns
    | lists.thing_pronouns
    | lists.demonstratives
    | lists.comparing
    | lists.seeming
)
_PAIR_OPENINGS = frozenset(pair.split()[0] for pair in lists.opening_pairs)
_OPEN_ENDS = frozenset({"of", "few"} | lists.stranded)
_BEFORE_THING = frozenset({"'s", "the"} | lists.determiners | lists.before_noun)


_PATTERNS = Patterns("standalone", WHEN=WHEN.pattern)
FIRST_PERSON = _PATTERNS.first_person


class SourcedSentence(NamedTuple):
    """A sentence, the number of its message, and who said it."""

    source: int
    speaker: tuple[str, str]
    sentence: Sentence


class Support(NamedTuple):
    """Whether a sentence may be chosen, and the place of the sentence it cannot be understood without."""

    stands: bool
    needs: int | None = None


ALONE = Support(True)
NOTHING = Support(False)

_CAPTION = lazy_pattern(r"\[[^\[\]]*\]\W*")
_APOSTROPHE_END = lazy_pattern(r"['’]\w{1,2}$")
_APOSTROPHE = lazy_pattern(r"\w['’]\w")
_FEW_WORDS = 3
_FEW_NAMES = 4  # words of a sentence that may be nothing but names
_DENSE = 6  # characters of a sentence in a script without spaces
_VALUE = lazy_pattern(rf"[$€£¥]?\d|{WHEN.pattern}", re.IGNORECASE | re.VERBOSE)
_COUNTED = lazy_pattern(r"\W*[^\W\d_]+\s#?\d+\W*$")
_LONGEST_LABEL = 30  # characters
_TITLE = 3  # words of a name before its value


def drop_addition(text: str) -> str:
    """A sentence without an "and" at its beginning: it adds something to another sentence, and stands without it."""
    if not text.startswith(("And", "Plus")) or not _PATTERNS.addition.match(text):
        return text
    rest = text.split(maxsplit=1)[1]
    return rest[0].upper() + rest[1:]


def bare_text(sentence: Sentence) -> str:
    """A sentence without greeting and openers, and without the name of the person it is said to."""
    return doc_of(sentence.text).read(_bare_text)


def _bare_text(text: str) -> str:
    text = drop_addition(trim_address(text))
    vocative = _PATTERNS.vocative.match(text)
    if vocative is None or vocative[0].strip(" ,.!").casefold() in lists.openers:
        return text
    return text[vocative.end() :]


def is_introduction(sentence: Sentence) -> bool:
    return sentence.text.rstrip().endswith((":", "："))


def is_fragment(text: str, language: str) -> bool:
    """Whether a sentence says nothing for itself: a bare number or name, two words, only ordinary words."""
    if is_unspaced(text):
        return len(text) < _DENSE or any(text.count(left) != text.count(right) for left, right in ("「」", "『』"))
    text_words = words(text)
    if ": " in text and _content_words(text_words, language):
        return False
    is_telling = any(_telling_word(word, language) for word in text_words)
    if not is_telling and not WHEN.search(text):
        return language == "en" or not _content_words(text_words, language)
    if len(text_words) <= _FEW_NAMES and all(
        word[:1].isupper() or word.isdigit() for word in _content_words(text_words, language)
    ):
        return True
    if _PATTERNS.first_person.match(text):
        return len(text_words) + len(_APOSTROPHE.findall(text)) < _FEW_WORDS
    return len(text_words) < _FEW_WORDS


def _content_words(text_words: Sequence[str], language: str) -> list[str]:
    return [word for word in text_words if is_content(word, language)]


def is_label(title: str) -> bool:
    """Whether a title only counts: "Option 1", "Day 3", "2 hours"."""
    return len(title) <= _LONGEST_LABEL and (_PATTERNS.label.match(title) or _COUNTED.match(title)) is not None


def is_entry(text: str) -> bool:
    """Whether a sentence is a short name and its value: "Deadline: Friday", "Budget: 300 euros"."""
    title, _, value = text.partition(": ")
    return bool(value) and len(words(title)) <= _TITLE and not is_label(title) and bool(_VALUE.match(value))


def is_first(statements: Sequence[SourcedSentence], place: int) -> bool:
    """Whether a sentence is the first of its message."""
    return place == 0 or statements[place - 1].source != statements[place].source


def introduction_before(statements: Sequence[SourcedSentence], place: int) -> int | None:
    """The heading of the list in which an item stands, or the sentence that ends in a colon before it."""
    source = statements[place].source
    for earlier in range(place - 1, -1, -1):
        sentence = statements[earlier].sentence
        if statements[earlier].source != source:
            break
        if sentence.kind == "heading" or (sentence.kind == "prose" and is_introduction(sentence)):
            return earlier
        if sentence.kind != "item":
            break
    return None


def question_before(statements: Sequence[SourcedSentence], place: int) -> int | None:
    """The question of somebody else that the message before ends in, for the first sentence that says something. If
    it ends in two questions, the sentence may answer either: then none."""
    source = statements[place].source
    for earlier in range(place - 1, -1, -1):
        statement = statements[earlier]
        if statement.source == source:
            if not is_filler(statement.sentence):
                return None
            continue
        if is_caption(statement.sentence):
            continue
        is_asked = statement.speaker != statements[place].speaker and _asks(statement)
        asked_before = sentence_before(statements, earlier)
        is_one_of_two = asked_before is not None and _asks(statements[asked_before])
        return earlier if is_asked and not is_one_of_two else None
    return None


def _asks(statement: SourcedSentence) -> bool:
    return statement.sentence.is_question and not is_filler(statement.sentence)


def sentence_before(statements: Sequence[SourcedSentence], place: int) -> int | None:
    """The sentence before in the same message."""
    if place and statements[place - 1].source == statements[place].source:
        return place - 1
    return None


def is_empty(sentence: Sentence) -> bool:
    return not (sentence.text[:1].isalnum() or any(map(str.isalnum, sentence.text))) or is_filler(sentence)


def is_caption(sentence: Sentence) -> bool:
    """Whether a sentence is in brackets as a whole, as what is seen in a picture."""
    return sentence.kind == "prose" and sentence.text.startswith("[") and bool(_CAPTION.fullmatch(sentence.text))


def telling_words(text: str, language: str) -> list[str]:
    """The content words that are not ordinary ones, with or without what stands after an apostrophe."""
    return [telling for word in words(text) if (telling := _telling_word(word, language))]


def _telling_word(word: str, language: str) -> str:
    """A telling word without what stands after an apostrophe; empty for any other word."""
    if not is_content(word, language) or is_ordinary(word):
        return ""
    bare_word = _APOSTROPHE_END.sub("", word)
    return bare_word if is_content(bare_word, language) and not is_ordinary(bare_word) else ""


_DESCRIBED = 4  # words after the title of an item that say what it is
_INTRODUCED = 2  # words of an item after what introduces the list
_POINT = 7  # words of an item without an end mark that may be no statement
_END_MARKS = (".", "!", "?", "…")
_LABELLED = 6  # words after a label that say something without it
_ANSWER = 12  # words of a short answer, which may have no verb
_OPENING = 4  # words in which a feeling about the other person is said
_SAID_TO = 2  # telling words of a sentence that is said to the other person, or exclaimed
_NEAR = 3  # messages back in which "the …" was named
_RESUMED = 11  # words of "it has been a while since we last talked"
_ASKED = 2  # nouns of a question that is shown without an answer
_COURTEOUS_OPENINGS = frozenset({phrase.split()[0] for phrase in lists.courteous_pairs | lists.wishes} | {"we"})
_REQUESTS = ("can", "could", "would", "will")
_DESCRIBES = ("a", "an", "the", "his", "her", "its", "their", "your", "one")


def english_supports(statements: Sequence[SourcedSentence], *, is_strict: bool = True) -> list[Support]:
    """The support of each sentence, in their order. If not strict, "the …" may be anything."""
    finder = _Finder(statements, is_strict)
    finder.read_ahead()
    for place in range(len(statements)):
        finder.add(place)
    return finder.supports


def _stands_alone_in_english(_: str, sentence: Sentence) -> bool:
    if sentence.kind == "note":
        return True
    return english_supports([SourcedSentence(0, ("", ""), sentence)])[0] == ALONE


@dataclass(slots=True)
class _Finder:
    """Finds the supports of sentences one after the other. What a sentence refers to is read only if it may stand, or
    if another asks: most are left out for simpler reasons."""

    statements: Sequence[SourcedSentence]
    is_strict: bool
    texts: dict[int, str] = field(default_factory=dict)  # what those say that may be chosen, captions aside
    supports: list[Support] = field(default_factory=list)
    named_at: dict[str, int] = field(default_factory=dict)  # where a sentence that stands last named each noun
    heard: set[str] = field(default_factory=set)  # the roots of the nouns of all sentences before `heard_upto`
    heard_upto: int = 0
    known_references: dict[int, References] = field(default_factory=dict)

    def read_ahead(self) -> None:
        """Read what may be chosen. The rules that take longest remember what they read: each reads all sentences before
        the next does, in less time than all of them take one sentence after the other."""
        places = [
            place
            for place, statement in enumerate(self.statements)
            if not is_caption(statement.sentence) and not self._is_left_out(place, statement.sentence)
        ]
        self.texts = {place: bare_text(self.statements[place].sentence) for place in places}
        for text in [text for place, text in self.texts.items() if self._is_told(place) and not _is_courteous(text)]:
            read_unless_open(text, "")

    def add(self, place: int) -> None:
        """Find the support of the next sentence."""
        sentence = self.statements[place].sentence
        text = self.texts.get(place)
        if text is None:
            self.supports.append(self._caption_support(place, sentence) if is_caption(sentence) else NOTHING)
            return
        support = self._find_support(place, sentence, text)
        self.supports.append(support)
        if support.stands:
            self.named_at.update(dict.fromkeys(self._references_at(place).nouns, place))

    def _is_told(self, place: int) -> bool:
        """Whether a sentence is neither a question nor an item or a note."""
        sentence = self.statements[place].sentence
        return sentence.kind == "prose" and not sentence.is_question

    def _caption_support(self, place: int, sentence: Sentence) -> Support:
        before = self._standing_before(place)
        is_hidden = before is None or self._is_left_out(place, sentence)
        return NOTHING if is_hidden else Support(True, before)

    def _references_at(self, place: int) -> References:
        references = self.known_references.get(place)
        if references is None:
            references = read_references(*_text_and_title(self.statements[place].sentence))
            self.known_references[place] = references
        return references

    def _references_unless_open(self, place: int) -> References | None:
        """What a sentence refers to; None if it hangs, or needs one that stands before it and there is none."""
        may_follow = self._standing_before(place) is not None
        if place not in self.known_references:
            references = read_unless_open(*_text_and_title(self.statements[place].sentence))
            if references is not None:
                self.known_references[place] = references
            if references is not None or not may_follow:
                return references
        references = self._references_at(place)
        is_open = references.hangs or (references.pronouns and not may_follow)
        return None if is_open else references

    def _is_left_out(self, place: int, sentence: Sentence) -> bool:
        """Whether a sentence is not chosen, whatever it refers to."""
        if sentence.kind == "note":
            return False
        if sentence.kind == "heading" or is_introduction(sentence) or is_empty(sentence):
            return True
        if not self._is_assistants(place):
            return False
        text = bare_text(sentence)
        return sentence.is_question or not _is_advice(text) or _is_generic(text)

    def _standing_before(self, place: int) -> int | None:
        """The sentence before in the same message, if it stands."""
        before = sentence_before(self.statements, place)
        return before if before is not None and self.supports[before].stands else None

    def _find_support(self, place: int, sentence: Sentence, text: str) -> Support:
        if sentence.kind == "note":
            return ALONE
        if sentence.kind == "item":
            return self._item_support(place, text, self._references_at(place))
        is_assistants = self._is_assistants(place)
        if sentence.is_question and not (_is_request(text) and len(self._references_at(place).nouns) >= _ASKED):
            return NOTHING
        is_courteous = _is_courteous(text)
        if not is_courteous and (answer := self._answer_support(place, sentence, text)):
            return answer
        if ": " in text and is_entry(text):
            return ALONE if is_first(self.statements, place) else NOTHING
        if is_courteous:
            return NOTHING
        references = self._references_unless_open(place)
        if references is None or not _has_statement(text):
            return NOTHING
        if not is_assistants and _is_about_the_other(text) and not _gives_value(text):
            return NOTHING
        support = self._reference_support(place, references)
        is_clear = not (references.pronouns or references.has_demonstrative)
        if is_clear and not is_assistants and support != ALONE and _gives_value(text):
            return ALONE
        if not support.stands or not is_assistants or not sentence.continues_item:
            return support
        item = self._item_before(place)
        is_within = item.needs is not None and support.needs is not None and support.needs >= item.needs
        return support if is_within else item

    def _item_before(self, place: int) -> Support:
        """The item of a list that a sentence goes on with: without it, nobody knows of what it is said."""
        source = self.statements[place].source
        for earlier in range(place - 1, -1, -1):
            statement = self.statements[earlier]
            if statement.source != source or not self.supports[earlier].stands:
                break
            if not statement.sentence.continues_item:
                return Support(True, earlier)
        return NOTHING

    def _is_assistants(self, place: int) -> bool:
        """Whether a sentence is by an assistant that has no name of its own."""
        role, author = self.statements[place].speaker
        return role == "assistant" and author in ("", role)

    def _answer_support(self, place: int, sentence: Sentence, text: str) -> Support | None:
        """The question that a sentence answers, if the question can be understood and the answer is short."""
        question = None if sentence.is_question else question_before(self.statements, place)
        if question is None or not self._is_clear_question(question):
            return None
        references = self._references_at(place)
        first = lower_tokens(sentence.text)[:1]
        is_bare = len(words(text)) < _ANSWER and not has_predicate(text)
        is_answer = is_bare or (bool(first) and first[0] in lists.answered_by) or references.pronouns
        if not is_answer:
            return None
        is_known = references.pronouns <= self._references_at(question).names
        return Support(True, question) if is_known and telling_words(text, "en") else None

    def _is_clear_question(self, place: int) -> bool:
        sentence = self.statements[place].sentence
        is_closed = self._references_at(place).is_closed
        return is_closed and has_predicate(bare_text(sentence)) and bool(telling_words(sentence.text, "en"))

    def _reference_support(self, place: int, references: References) -> Support:
        """The sentence that names what a sentence points to."""
        if references.is_closed or references.is_own or not self.is_strict:
            if references.hangs or references.pronouns:
                return NOTHING
            return self._definite_support(place, references)
        if not references.pronouns and not references.hangs:
            return self._definite_support(place, references)
        before = self._standing_before(place)
        if before is None or references.hangs:
            return NOTHING
        named = self._references_at(before)
        kinds = references.pronouns - {"fact"}
        is_named = kinds <= named.names and all(named.nouns & definite for definite in references.bare_definites)
        return Support(True, before) if is_named else NOTHING

    def _definite_support(self, place: int, references: References) -> Support:
        """The last sentence that named what is called "the …"; nothing may be called so that nobody named."""
        if not self.is_strict:
            return ALONE
        places: set[int] = set()
        for definite in references.definites:
            mention = self._last_mention(place, definite)
            if mention is not None:
                places.add(mention)
            elif references.is_own:
                continue
            elif definite in references.bare_definites or self._is_heard(place, definite):
                return NOTHING
        if len(places) > 1:
            return NOTHING
        return Support(True, places.pop()) if places else ALONE

    def _last_mention(self, place: int, definite: frozenset[str]) -> int | None:
        """The last sentence that stands and names what "the …" means, if it is so near that nothing else is likely
        to be meant."""
        mentions = [self.named_at[noun] for noun in definite if noun in self.named_at]
        near = [mention for mention in mentions if self._is_near(mention, place)]
        return max(near, default=None)

    def _is_near(self, mention: int, place: int) -> bool:
        return self.statements[place].source - self.statements[mention].source <= _NEAR

    def _is_heard(self, place: int, definite: frozenset[str]) -> bool:
        """Whether a sentence before this one has a noun of "the …"."""
        for statement in self.statements[self.heard_upto : place]:
            if not is_caption(statement.sentence):
                self.heard.update(map(root, read_nouns(*_text_and_title(statement.sentence))))
        self.heard_upto = max(self.heard_upto, place)
        return not self.heard.isdisjoint(map(root, definite))

    def _item_support(self, place: int, text: str, references: References) -> Support:
        """An item says something without the list if it is a statement, or a title and what it stands for."""
        title, _, described = text.partition(": ")
        is_point = self._is_assistants(place) and _is_bare_point(text)
        if is_whole_item(text) and not is_point and not references.hangs and not references.pronouns:
            support = self._definite_support(place, references)
            if support.stands:
                return support
        if len(words(described or title)) < (_DESCRIBED if described else _INTRODUCED):
            return NOTHING
        if references.hangs or references.pronouns or references.definites:
            return NOTHING
        introduction = introduction_before(self.statements, place)
        if introduction is None or self.statements[introduction].sentence.kind == "heading":
            return NOTHING
        introduced = bare_text(self.statements[introduction].sentence)
        is_clear = has_predicate(introduced) and self._references_at(introduction).is_closed
        return Support(True, introduction) if is_clear else NOTHING


def _text_and_title(sentence: Sentence) -> tuple[str, str]:
    """What a sentence says, and the title before it, if it is an item with one."""
    text = bare_text(sentence)
    if sentence.kind != "item":
        return text, ""
    title, _, described = text.partition(": ")
    return (described, title) if described else (text, "")


def is_whole_item(text: str) -> bool:
    """Whether an item is a statement, a request, or a title and a description of it."""
    title, _, described = text.partition(": ")
    if not described:
        return len(words(text)) >= _DESCRIBED and _tells_something(text)
    if title.count('"') % 2 or title.count("“") != title.count("”"):
        return False  # a quotation with a colon in it
    if is_label(title) or not WHEN.sub("", title).strip(" ,-–") or len(words(described)) < _DESCRIBED:
        return False
    return has_verb(described) or described.split(" ", 1)[0].casefold() in _DESCRIBES


def _is_bare_point(text: str) -> bool:
    """Whether an item only names a point of a list: a few words without a title and without an end mark."""
    return ": " not in text and text.rstrip("\"”')")[-1:] not in _END_MARKS and len(words(text)) < _POINT


def _is_about_the_other(text: str) -> bool:
    """Whether one person tells another what that person is or should do: praise and encouragement, mostly."""
    text_words = lower_tokens(text)
    is_said_to = "your" in text_words or "you" in text_words
    is_judged = text_words[0] == "it" or text_words[-1] == "!" or "must" in text_words
    if is_said_to and is_judged and (text_words[0] == "it" or lists.own_words.isdisjoint(text_words)):
        return True
    return text_words[1 if text_words[0].endswith("ly") and text_words[1:] else 0] in ("you", "your")


def _gives_value(text: str) -> bool:
    """Whether a sentence says when or how much something is, or that it has changed: "the rent is 900 euros" is worth
    keeping even if nobody said which rent."""
    return states_value(text) or says_new_value(text)


def _is_advice(text: str) -> bool:
    """Whether a sentence of an assistant is said in its own voice: "I", a lower case or a verb without a subject are
    those of a letter or a résumé that it drafts, or tell of itself."""
    title, _, described = text.partition(": ")
    begins = described or title
    first = next((word for word in begins.casefold().split(" ", 2) if not word.endswith("ly")), "")
    has_no_subject = first.endswith("ed") or first in SPOKEN_PAST_FORMS
    is_begun = not begins.lstrip("\"“'(")[:1].islower()
    text_words = lower_tokens(text)
    is_recommended = text_words[:1] == ("i",) and text_words[1:2] and text_words[1] in lists.advising
    return is_begun and not has_no_subject and lists.own_words.isdisjoint(text_words[2 if is_recommended else 0 :])


def _tells_something(text: str) -> bool:
    """Whether a sentence has a predicate and enough content, and is not only said to please."""
    return not _is_courteous(text) and _has_statement(text)


def _has_statement(text: str) -> bool:
    """Whether a sentence has a predicate and enough content."""
    return doc_of(text).read(_states_something)


def _states_something(text: str) -> bool:
    if is_fragment(text, "en"):
        return False
    title, _, rest = text.partition(": ")
    if rest and is_label(title) and len(words(rest)) < _LABELLED:
        return False
    state = _PATTERNS.state.match(text)
    return has_predicate(text[state.end() :] if state else text)


def _is_generic(text: str) -> bool:
    """Whether an assistant exclaims or says what is true of anything: "prices vary", "hydration is crucial"."""
    if any(map(str.isdigit, text)):
        return False
    return text.rstrip().endswith("!") or not lists.generic.isdisjoint(lower_tokens(text))


def _is_wish(text: str, text_words: Sequence[str]) -> bool:
    """Whether a sentence wishes or proposes something without saying when: "let's meet soon", "I'd love to try"."""
    is_proposal = text_words[:2] == ["we", "should"] and not lists.sometime.isdisjoint(text_words)
    return (is_proposal or begins_with(text_words, lists.wishes)) and not _PATTERNS.day.search(text)


def _is_courteous(text: str) -> bool:
    """Whether a sentence greets, thanks, praises or wishes, and tells nothing else."""
    return doc_of(text).read(_is_only_courteous)


def _is_only_courteous(text: str) -> bool:
    text_words = [word for word in lower_tokens(text) if word not in MARKS]
    if not text_words:
        return True
    if text_words[0] in lists.courtesy or text_words[-1] == "thanks":
        return True
    if text_words[0] in _COURTEOUS_OPENINGS and (
        begins_with(text_words, lists.courteous_pairs) or _is_wish(text, text_words)
    ):
        return True
    spelt = text.casefold().replace("’", "'")
    is_resumed = len(text_words) < _RESUMED and any(map(spelt.__contains__, lists.resuming))
    is_assumed = text_words[:3] == ["i", "'m", "sure"] and lists.own_words.isdisjoint(text_words[3:])
    if is_resumed or is_assumed or any(map(spelt.__contains__, lists.courteous_phrases)):
        return True
    if text_words[0] == "keep" and text_words[1:2] and text_words[1].endswith("ing"):
        return True
    if "deserve" in text_words or "crossed" in text_words or text_words[-1] == "bye":
        return True
    is_said_to = "you" in text_words or "your" in text_words
    if is_said_to and _is_felt(text_words):
        return True
    return (is_said_to or text.endswith("!")) and len(telling_words(text, "en")) < _SAID_TO


def _is_felt(text_words: Sequence[str]) -> bool:
    """Whether what is said to another person tells what the speaker feels about that person, or hears and sees."""
    if text_words[0] == "it" and not lists.seen.isdisjoint(text_words):
        return True
    return not lists.sentiments.isdisjoint(text_words[:_OPENING]) or "proud" in text_words


def _is_request(text: str) -> bool:
    """Whether a question asks for something to be done or known, and not what the other person did or thinks."""
    text_words = lower_tokens(text)
    if not text_words or text_words[0] not in lists.asking:
        return False
    if text_words[1:2] == ("about",):  # "how about" goes on with what was asked
        return False
    if "you" not in text_words and "your" not in text_words:
        return True
    return text_words[0] in _REQUESTS and text_words[1:2] == ("you",)


_NUMBER_FIRST = lazy_pattern(r"[$€£¥+-]?\s?\d")
_SHORT_ITEM = 8  # words: a shorter item of a list needs its heading, unless it has a title of its own
_DESCRIBED = 4  # words after the title of an item that say what it is
_SHORT_REPLY = 6  # words: a shorter sentence right after a question is its answer,
_BARE_REPLY = 12  # or one of fewer words that does not begin with "I" or "we": it may have no verb
_JOINED = 7  # words of a sentence that only goes on with the one before
_TELLING = 4  # telling words with which a sentence is clear though it begins with a pronoun
_CLEAR = 6  # the same if what it points to is not there
_ASKED = 2  # telling words of a question that points back and still says what it is about


def find_supports(statements: Sequence[SourcedSentence], language: str) -> list[Support]:
    """The support of each sentence, in the order of the sentences. If by the strict rules of English none stands
    alone, milder ones decide."""
    if language == "en":
        for is_strict in (True, False):
            supports = english_supports(statements, is_strict=is_strict)
            if any(
                support.stands and statement.sentence.kind != "note"
                for support, statement in zip(supports, statements, strict=True)
            ):
                return supports
    return _mild_supports(statements, language)


def stands_alone(sentence: Sentence, language: str) -> bool:
    """Whether a sentence that is shown without another can be understood."""
    return language != "en" or doc_of(sentence.text).read(_stands_alone_in_english, sentence)


# -- in any language


def _mild_supports(statements: Sequence[SourcedSentence], language: str) -> list[Support]:
    supports: list[Support] = []
    for place in range(len(statements)):
        support = _mild_support(statements, place, language)
        needed = support.needs
        if needed is not None and not _is_support(statements[needed].sentence, supports[needed], language):
            sentence = statements[place].sentence
            is_clear = len(telling_words(sentence.text, language)) >= _CLEAR
            support = ALONE if is_clear and sentence.kind == "prose" and not is_caption(sentence) else NOTHING
        supports.append(support)
    return supports


def _mild_support(statements: Sequence[SourcedSentence], place: int, language: str) -> Support:
    sentence = statements[place].sentence
    if sentence.kind == "note":
        return ALONE
    if is_empty(sentence) or sentence.kind == "heading" or is_introduction(sentence):
        return NOTHING
    text = bare_text(sentence)
    if sentence.kind == "item":
        return _item_support(statements, place, text)
    question = question_before(statements, place)
    before = sentence_before(statements, place)
    if is_caption(sentence):
        return ALONE if before is None else Support(True, before)
    if question is not None and not sentence.is_question and _answers(sentence.text, text):
        return Support(True, question)
    if _PATTERNS.yes_or_no.match(sentence.text) and len(telling_words(text, language)) < _CLEAR:
        return NOTHING  # nothing was asked, or not right before it
    is_farewell = _PATTERNS.farewell.match(text) and not WHEN.search(text)
    if is_fragment(text, language) or _PATTERNS.exclaims.match(text) or is_farewell:
        return NOTHING
    if _PATTERNS.joins.match(text) and len(words(text)) <= _JOINED:
        return NOTHING if before is None else Support(True, before)
    if _may_point_back(text):
        needed = before if before is not None else question
        if needed is not None:
            return Support(True, needed)
        return ALONE if len(telling_words(text, language)) >= _TELLING else NOTHING
    return ALONE


def _may_point_back(text: str) -> bool:
    """Whether a sentence speaks of something that was named before it: "it was great", "I want to add it"."""
    if _PATTERNS.pronoun.match(text) or _PATTERNS.there.search(text) or _NUMBER_FIRST.match(text):
        return True
    pronoun = _PATTERNS.object.search(text)
    return pronoun is not None and not _PATTERNS.names_thing.search(text, 1, pronoun.start())


def _answers(text: str, trimmed: str) -> bool:
    """Whether a sentence right after a question is to be read as its answer."""
    size = len(words(trimmed))
    is_own = FIRST_PERSON.match(trimmed) is not None
    return bool(_PATTERNS.reply.match(text) or _PATTERNS.pronoun.match(trimmed)) or size < (
        _SHORT_REPLY if is_own else _BARE_REPLY
    )


def _item_support(statements: Sequence[SourcedSentence], place: int, text: str) -> Support:
    described = text.partition(": ")[2]
    if len(words(text)) >= _SHORT_ITEM or is_unspaced(text) or len(words(described)) >= _DESCRIBED:
        return ALONE
    introduction = introduction_before(statements, place)
    return NOTHING if introduction is None else Support(True, introduction)


def _is_support(sentence: Sentence, support: Support, language: str) -> bool:
    """Whether a sentence helps to understand another: not a fragment, not a question that itself points back."""
    if sentence.is_question and _may_point_back(sentence.text) and support.needs is None:
        return len(telling_words(sentence.text, language)) >= _ASKED
    return support.stands or _introduces(sentence)


def _introduces(sentence: Sentence) -> bool:
    """Whether a sentence that is not chosen for itself may be shown with another: a heading or a question."""
    ends = sentence.text.rstrip().endswith((":", "："))
    return sentence.kind in ("heading", "note") or ends or (sentence.is_question and not is_filler(sentence))


def is_bound(question: str, reply: str) -> bool:
    """Whether a message ends in a question that the next message, of somebody else, answers."""
    if not has_question_mark(question[-_END_READ:]):
        return False
    asked = _last_question(question)
    return asked is not None and asked.is_question and not is_filler(asked) and not _begins_with_question(reply)


def _last_question(text: str) -> Sentence | None:
    """The sentence in which a text ends, captions aside, if it may be a question."""
    end = Sentence(" ".join(text[-_END_READ:].split()))
    if "[" not in end.text and not end.is_question:
        return None
    parts = [Sentence(part) for part in split_sentences(end.text)]
    return next((part for part in reversed(parts) if not is_caption(part)), None)


def _begins_with_question(text: str) -> bool:
    beginning = text[:_END_READ]
    if not has_question_mark(beginning):
        return False
    parts = [Sentence(part) for part in split_sentences(" ".join(beginning.split()))]
    return next((part.is_question for part in parts if not is_filler(part)), False)


_END_READ = 600  # characters of a message in which its last or its first sentence is looked for
