"""What an English sentence names, and what it points to that others said.

One rule decides for all words that refer: a pronoun, a demonstrative or "the" wants something named before it in the
sentence. "I sold my boat because it leaked" is whole; "I was ashamed, but they forgave me" and "The colours blend
nicely" point to what others said. A sentence is read word by word, with sets of words and no patterns; what cannot be
decided counts as pointing, which loses a sentence and never shows one that hangs in the air.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from everword.text.detect import function_words
from everword.text.doc import MARKS, begins_with, folded_tokens, read_once, spelt_tokens
from everword.text.english import RELATIONS
from everword.text.word_weights import is_ordinary
from everword.word_lists import WordLists

lists = WordLists("references")
PERSONS = lists.persons.union(RELATIONS)
"""Words for a person or an animal, which "he" or "she" may mean."""
PLURAL = 4
"""Letters of a plural, at least."""


def _may_be_noun(word: str) -> bool:
    return len(word) > 2 and word not in _NO_NOUNS and not is_ordinary(word) and word[0].isalpha()


def _may_be_plural(word: str) -> bool:
    has_ending = len(word) >= PLURAL and word.endswith("s") and not word.endswith(("ss", "us"))
    return has_ending and word not in _NO_PLURALS


ENDS_PHRASE = (
    function_words("en") | lists.be_forms | lists.subjects | lists.determiners | {"'s", "'m", "'re", "'ve", "'t"}
) - (lists.ordinals | {"own", "more"})
"""Words that are no part of a noun and its adjectives."""
_NO_NOUNS = lists.times | function_words("en")
_NO_PLURALS = lists.not_plural | function_words("en")
_NO_THINGS = PERSONS | lists.times | ENDS_PHRASE
_NAMELESS = frozenset(
    word for word in ENDS_PHRASE - PERSONS - lists.groups if not (_may_be_noun(word) or _may_be_plural(word))
)
"""Words that name nothing, wherever they stand, if they are written small."""
_POINTING = frozenset(
    {"the", "them", "also", "mine", "yours", "option", "your"}.union(
        lists.person_pronouns,
        lists.plural_pronouns,
        lists.thing_pronouns,
        lists.demonstratives,
        lists.comparing,
        lists.seeming,
    )
)
"""Words that may want something named before them."""


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


@read_once
def read_references(text: str, title: str = "") -> References:
    """What a sentence names and points to; what its title names is named before it."""
    reader = _Reader(spelt_tokens(text), folded_tokens(text))
    if title:
        reader.name(-_PART, "thing", "plural")
        reader.nouns |= _nouns(title.casefold().split())
    reader.read_words()
    return reader.references()


def read_nouns(text: str, title: str = "") -> set[str]:
    """The nouns that a sentence and its title name, as `read_references` has them, in a small part of the time."""
    nouns = _nouns(folded_tokens(text))
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


def _tells_time(clause: Sequence[str]) -> bool:
    """Whether a clause after "it" says what time or weather it is: "is raining", "has been years since"."""
    if any(word in ("raining", "snowing", "ago") for word in clause[1:]):
        return True
    if "been" in clause[:3] and "since" in clause:
        return True
    if "time" in clause[1:4] and not {"to", "for"}.isdisjoint(clause):
        return True
    first = next(_content_after_it(clause), "")
    return bool(first) and not _has_article(clause) and (first in lists.times or first[0].isdigit())


def _judges(clause: Sequence[str]) -> bool:
    """Whether a clause after "it" judges what comes next: "is hard for me to row"."""
    content = list(_content_after_it(clause))
    if not content or content[0] in lists.no_judgement or content[0] in lists.empty_ends:
        return False
    if _has_article(clause) and content[0] not in lists.empty_nouns:
        return False
    last = 2 if content[0].endswith(("ing", "ed")) else _JUDGED
    end = next((word for word in content[1:last] if word in lists.empty_ends), "")
    return bool(end) and (end != "to" or len(clause) - clause.index(end) > _AFTER_TO or len(clause) == _WINDOW)


def _content_after_it(clause: Sequence[str]) -> Iterator[str]:
    return (word for word in clause[1:] if word not in lists.be_forms and word not in lists.small_words)


def _has_article(clause: Sequence[str]) -> bool:
    return "a" in clause[1:4] or "an" in clause[1:4]


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

    def read_words(self) -> None:
        self.hangs = self._opens_with_link() or self._ends_open()
        for at, word in enumerate(self.words):
            if word in MARKS:
                if word in '"“”':
                    self.name(at, "thing")
                elif word == ":" and at <= _NOUNS:
                    self.name(at, "thing", "plural")
                continue
            if word in _POINTING:
                self._read_word(at, word)
            if word not in _NAMELESS or self.spelt[at][0].isupper():
                self._add_names(at, word)

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
        else:
            self.hangs |= self._leans_back(at, word)

    def _leans_back(self, at: int, word: str) -> bool:
        """Whether a word needs what was said before it: "seems", "also", "mine", "option 2", "your idea"."""
        if word in lists.seeming:
            return self._word(at - 1) in MARKS
        if word == "also":
            return 0 < at < _EARLY and self.words[0] not in lists.speakers
        if word in ("mine", "yours"):
            return self._word(at - 1) != "of" and "thing" not in self.named_at
        if word == "option":
            is_counted = self._word(at + 1)[:1].isdigit()
            return is_counted and self._word(at + 2) not in (",", ":", "-", "–", "—")
        return word == "your" and self._word(at + 1) in lists.said_things

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
        if self._names_only_one(start, end, phrase):
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

    def _names_only_one(self, start: int, end: int, phrase: Sequence[str]) -> bool:
        """Whether there is only one of what the words after "the" name: a name, "first", "best", "sun"."""
        if self._word(start) in '"“' or any(self._is_name(at) for at in range(start, end)):
            return True
        if phrase[0] in lists.ordinals or phrase[0].endswith("est") or phrase[0][0].isdigit():
            return True
        if phrase[-1] in lists.unique or phrase[0] in lists.times:
            return True
        return start > 1 and phrase[-1] in lists.familiar

    def _is_known(self, at: int) -> bool:
        """Whether the words after "the" name something that everybody knows: "the park", "the Louvre"."""
        phrase, end = self._phrase(at)
        is_familiar = bool(phrase) and (phrase[-1] in lists.familiar or phrase[-1] in lists.unique)
        return is_familiar or any(self._is_name(place) for place in range(at, end)) or self._word(end) == "of"

    def _read_demonstrative(self, at: int, word: str) -> None:
        after = self._word(at + 1)
        if self._points_at_nothing(at, word, after):
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

    def _points_at_nothing(self, at: int, word: str, after: str) -> bool:
        """Whether a demonstrative points at nothing that was said: "this week", "I know that", "those who"."""
        is_time = after in lists.times and (after != "coming" or self._word(at + 2) in lists.times)
        if is_time and (word in ("this", "that") or after == "days"):
            return True
        if word == "that" and self._is_conjunction(at):
            return True
        return word == "those" and after in lists.after_those

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
        if word in ("one", "ones"):
            self.hangs |= self._is_open_one(at, word)
        elif word == "there":
            if not self._is_existential(at):
                self.hangs |= self._word(at - 1) in lists.prepositions
                self._want("place", at)
        elif word == "each":
            self._read_each(at)
        else:
            self.hangs |= self._compares(at, word)

    def _is_open_one(self, at: int, word: str) -> bool:
        """Whether "one" stands for something that was named elsewhere."""
        before = self._word(at - 1)
        after = self._word(at + 1)
        is_pronoun = word == "ones" or not after or after in MARKS or after in lists.after_one
        if not is_pronoun or before in lists.before_plain_one:
            return False
        is_named = "thing" in self.named_at or "plural" in self.named_at
        is_apart = before == "the" and self._word(at - 2) not in lists.before_the_one
        is_kind = self._word(at - 2) in ("a", "an") and self._word(at - 3) in lists.be_forms
        return is_apart or is_kind or not is_named

    def _read_each(self, at: int) -> None:
        after = self._word(at + 1)
        if after in lists.be_forms or after in MARKS:
            self.hangs |= "plural" not in self.named_at
        elif after not in lists.times and after not in ENDS_PHRASE:
            self._add_definite(self._phrase(at + 1)[0])

    def _compares(self, at: int, word: str) -> bool:
        """Whether a word compares with what was said in another sentence."""
        before = self._word(at - 1)
        after = self._word(at + 1)
        if word == "here":
            return after not in ("in", "at") or not self._is_name(min(at + 2, len(self.words) - 1))
        if word in ("same", "such"):
            return not self._says_as_what(at, word, after)
        if word == "both":
            return not ("and" in self.words[at + 1 : at + 1 + _NOUNS] or "plural" in self.named_at)
        if word == "another":
            return "thing" not in self.named_at
        if word == "other":
            return before == "the"
        if word in lists.favourites:
            return self._is_bare_favourite(after)
        if word in ("some", "any"):
            return after in MARKS or after in lists.after_some
        return word != "more" or before[:1].isdigit() or before in lists.determiners

    def _says_as_what(self, at: int, word: str, after: str) -> bool:
        """Whether a sentence itself says with what "same" or "such" compares."""
        is_measure = word == "such" and after in ("a", "an", "as")
        return is_measure or "as" in self.words[at + 1 :] or "thing" in self.named_at

    def _is_bare_favourite(self, after: str) -> bool:
        """Whether "favourite" stands without a noun, and nothing was named of which it is one."""
        is_alone = after in MARKS or after in lists.be_forms or not after
        return is_alone and self.named_at.keys().isdisjoint(("thing", "plural", "person"))

    def _is_existential(self, at: int) -> bool:
        """Whether "there" says that something exists: "there are two", and not "growing up there must be hard"."""
        before = self._word(at - 1)
        is_first = at == 0 or before in MARKS or before in lists.before_existential or before in lists.clause_verbs
        is_asked = at == 1 and before in lists.existential
        return is_asked or (is_first and self._word(at + 1) in lists.existential)

    def _is_empty_it(self, at: int) -> bool:
        """Whether "it" stands for nothing: "it's hard to say", "I find it easy to row"."""
        before = self._word(at - 1)
        after = self._word(at + 1)
        rest = self._clause_after(at + 1)
        if before in lists.empty_objects and after not in MARKS:
            return any(word in ("to", "that", "when") for word in rest[1:4])
        if before == "worth" or (after in lists.empty_verbs and not lists.empty_ends.isdisjoint(rest)):
            return True
        if after in lists.weather or (rest[1:2] == ["out"] and not lists.after_out.isdisjoint(rest[2:3])):
            return True
        if after not in lists.be_forms or (after in lists.modals and not {"be", "been"}.intersection(rest[1:3])):
            return False
        return _tells_time(rest) or _judges(rest)

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
        if _opens_with_step(words):
            return True
        is_short_reply = words[0] in lists.subjects and self._word(1) in lists.stranded and self._word(2) in MARKS
        if is_short_reply or words[0] in lists.openers:
            return True
        return begins_with(words, lists.opening_pairs)

    def _ends_open(self) -> bool:
        """Whether the end leaves out what was said before: "I would love to", "you will"."""
        words = [word for word in self.words if word not in MARKS]
        if words[-2:] == ["speaking", "of"] or words[-2:] == ["a", "few"] or words[1:-1] == ["won", "'t"]:
            return True
        if not words or words[-1] not in lists.stranded:
            return False
        return not any(word in ("than", "as", "if", "what", "when", "where", "how") for word in words[:-1])

    # -- what it names

    def _add_names(self, at: int, word: str) -> None:
        """Note what a word names: of each kind only the first counts, so others are not looked at."""
        if _may_be_noun(word):
            self.nouns.add(word)
        if self.spelt[at][0].isupper() and (self._is_name(at) or (at == 0 and self._begins_with_name(word))):
            self.name(at, "thing", "person", "place")
            if "and" in self.words[at + 1 : at + 3]:
                self.name(at, "plural")
        if word in PERSONS:
            self.name(at, "person")
        if "plural" not in self.named_at and (word in lists.groups or self._is_plural(at, word)):
            self.named_at["plural"] = at
        if word not in _NO_THINGS and word[:1].isalpha():
            self._add_thing(at, word)

    def _add_thing(self, at: int, word: str) -> None:
        is_place = "place" not in self.named_at and self._word(at - 2) in lists.before_place
        if (is_place or "thing" not in self.named_at) and self._names_thing(at, word):
            self.name(at, "thing")
            if is_place:
                self.named_at["place"] = at

    def name(self, at: int, *kinds: str) -> None:
        """Note the kinds of things that are named at a place."""
        for kind in kinds:
            self.named_at.setdefault(kind, at)

    def _names_thing(self, at: int, word: str) -> bool:
        """Whether a word is the noun of a thing: after "a" or "my", after a verb or "of", or first in a sentence."""
        before = self._word(at - 1)
        if self._follows_determiner(at, before):
            return self._is_thing_phrase(at, before)
        is_done = word.endswith("ing") and self._word(at + 1) not in lists.objects
        if at == 0:
            is_subject = _may_be_noun(word) and self._word(1) in lists.be_forms
            return is_done or (is_subject and not self._is_plural(at, word))
        if before not in lists.before_noun or self._is_plural(at, word) or self._is_plural(at, self._phrase(at)[0][-1]):
            return False
        return _may_be_noun(word) and (is_done or not word.endswith(("ing", "ed")))

    def _follows_determiner(self, at: int, before: str) -> bool:
        """Whether "a", "my", "the", a number or an owner's name stands before a word."""
        is_owned = before == "'s" and self._word(at - 2) not in lists.before_is
        return is_owned or before in lists.determiners or before == "the" or before[:1].isdigit()

    def _is_thing_phrase(self, at: int, determiner: str) -> bool:
        """Whether the words after a determiner name one thing."""
        phrase = self._phrase(at)[0]
        if phrase[0] in lists.light or phrase[-1] in lists.light:
            return False
        if determiner != "the" and self._is_plural(at, phrase[-1]):
            return False
        return all(map(_may_be_it, phrase))

    def _is_plural(self, at: int, word: str) -> bool:
        return _may_be_plural(word) and self._word(at - 1) not in lists.before_verb

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


def _opens_with_step(words: Sequence[str]) -> bool:
    """Whether the first words are those of a step in instructions: "then mixing", "stir in", "aim for 20"."""
    if words[0] in lists.adverbs and words[1:] and words[1].endswith("ing"):
        return True
    if words[0] in lists.cooking and words[1:] and words[1] in lists.after_cooking:
        return True
    return words[:2] == ["aim", "for"] and words[-1][:1].isdigit()
