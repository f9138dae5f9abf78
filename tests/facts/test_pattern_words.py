"""The word lists of the English patterns: well formed, all in use, and each word read by the finder of facts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path

import pytest
from fact_corpus import notation

from everword.facts import english
from everword.facts.english import DATA, WORDS, longest_first
from everword.facts.english.finder import find_facts, is_about_answering
from everword.text.dates import MONTHS, WEEKDAYS
from everword.word_lists import Patterns, any_of, read_entries, read_list

TODAY = date(2024, 9, 10)
PACKAGE = Path(english.__file__).parent
LISTS = {name: WORDS.in_order(name) for name in [*read_entries(f"{DATA}/words.txt"), "MONTH_NAMES", "WEEKDAY_NAMES"]}
PATTERN_FILES = [*(PACKAGE / "data").glob("*.re")]
ALL_PATTERN_FILES = [*PACKAGE.parent.glob("*/data/*.re")]
NAME = ["identity/name=ada"]
HOME = ["identity/location=oslo"]
TEA = ["preference/likes=tea"]
DISLIKED_TEA = ["preference/dislikes=tea"]
SISTER = ["identity/sister=ada"]


@dataclass(frozen=True)
class Sentence:
    """A sentence with a brace for any word of a list, and the facts in it.

    `control` is a word that is not in the list and gives other facts. `words` are those that fit the sentence, if not
    all do, and `but` those that another rule reads first.
    """

    text: str
    facts: Iterable[str]
    control: str = "zorble"
    words: tuple[str, ...] = ()
    but: tuple[str, ...] = ()


SENTENCES: dict[str, list[Sentence]] = {
    "MONTH_NAMES": [Sentence("My birthday is in {} 1990", ["identity/birthday={} 1990"])],
    "WEEKDAY_NAMES": [Sentence("{} is vegan", [], control="Bob")],
    "SPEAKER_WORDS": [Sentence('My name is "Ada {}"', [], control="Li")],
    "JOKE_WORDS": [Sentence("My name is Ada, {}", [])],
    "SUPPOSING": [Sentence("{} name is Ada and I live in Oslo", [])],
    "WORKS": [Sentence("In the {} my name is Ada", []), Sentence("The {} goes on, my name is Ada", [])],
    "SCENES": [Sentence("In this {} my name is Ada", [])],
    "PARTS_OF_WORKS": [Sentence("This {} goes on, my name is Ada", [])],
    "ROLE_PLAY": [Sentence("My name is Ada, {} a pirate", [])],
    "TEXT_TASKS": [Sentence("{} this: my name is Ada", [])],
    "TASK_TEXTS": [Sentence("Complete {}, my name is Ada", [])],
    "BEFORE_QUESTION": [Sentence("{}, is Bob my neighbour, I live in Oslo", [])],
    "QUESTION_VERBS": [Sentence("I live in Oslo, {} you there?", HOME), Sentence("{} they there, I live in Oslo", [])],
    "FIRST_QUESTION_VERBS": [Sentence("{} they there, I live in Oslo", [])],
    "QUESTION_WORDS": [Sentence("I live in Oslo, {} news?", HOME), Sentence("{} they there, I live in Oslo", [])],
    "FIRST_QUESTION_WORDS": [Sentence("{} they there, I live in Oslo", [])],
    "LAST_QUESTION_WORDS": [Sentence("I live in Oslo, {} a bakery?", HOME)],
    "BEFORE_NOT": [
        Sentence("I {}n't live in Oslo", ["not identity/location=oslo"], words=("do", "does")),
        Sentence("My brother {}n't vegan", ["brother: not constraint/diet=vegan"], words=("is", "are")),
    ],
    "BEFORE_IS": [
        Sentence("My {}'s Ada", NAME, words=("name",)),
        Sentence("My {}'s 5 May", ["identity/birthday=5 may"], words=("birthday",)),
    ],
    "GREETINGS": [Sentence("{} my name is Ada", NAME)],
    "GREETED": [Sentence("Hi {} my name is Ada", NAME)],
    "REMINDERS": [Sentence("Please {} that my name is Ada", NAME, but=("do not forget",))],
    "INTENDING": [Sentence("I {} mention that my name is Ada", NAME)],
    "MENTIONING": [Sentence("I should {} that my name is Ada", NAME, but=("say",))],
    "ANNOUNCEMENTS": [Sentence("{} that my name is Ada", NAME, but=("it's true",))],
    "INTERJECTIONS": [Sentence("{} my name is Ada", NAME)],
    "CONNECTIVES": [Sentence("{} my name is Ada", NAME)],
    "ASIDES": [Sentence("{} my name is Ada", NAME)],
    "BEFORE_CORRECTION": [Sentence("{} sorry my name is Ada", NAME)],
    "CORRECTIONS": [Sentence("{} my name is Ada", NAME, but=("to correct that",))],
    "HEDGING_VERBS": [Sentence("I {} my name is Ada", NAME)],
    "SAYING": [Sentence("They {} nothing, my name is Ada", [])],
    "THINKING": [Sentence("They {} nothing, my name is Ada", [], but=("sure if", "sure whether"))],
    "SUBJECTS": [Sentence("I love tea and {} milk", TEA)],
    "ADVERBS_OF_CLAUSES": [Sentence("I work at Acme and {} live in Oslo", ["identity/employer=acme", *HOME])],
    "VERBS_OF_CLAUSES": [Sentence("I love tea and {} nothing", TEA)],
    "VERBS_AFTER_AND": [Sentence("I love tea and {} nothing", TEA)],
    "BEFORE_TIME": [Sentence("I live in Oslo, {} day we rest today", HOME)],
    "RELATIVE_WORDS": [Sentence("I love tea {} my name is Ada", TEA)],
    "CONJUNCTIONS": [Sentence("I love tea {} my name is Ada", [*NAME, *TEA])],
    "CONDITION_WORDS": [Sentence("I love tea {} love milk", TEA)],
    "BEFORE_FIRST_TIME": [Sentence("{} May 2020 I live in Oslo", HOME)],
    "PASSING_TIMES": [Sentence("I live in Oslo {}", [])],
    "OCCASIONS": [Sentence("I live in Oslo for a {}", [])],
    "RELATIVE_ADJECTIVES": [
        Sentence("Is my {} sister Ada here?", SISTER),
        Sentence("My {} sister is vegan", ["sister: constraint/diet=vegan"]),
    ],
    "SUBJECT_ADJECTIVES": [Sentence("My {} sister is vegan", ["sister: constraint/diet=vegan"])],
    "NOT_HERE": [Sentence("{} here", [], control="Bob")],
    "PRONOUNS_NOT_NAMES": [Sentence("{} is vegan", [], control="Bob", but=("I", "We"))],
    "PARTICLES_NOT_NAMES": [Sentence("{} is vegan", [], control="Bob")],
    "QUANTITIES_NOT_NAMES": [Sentence("{} is vegan", [], control="Bob")],
    "OPENERS_NOT_NAMES": [Sentence("{} is vegan", [], control="Bob")],
    "ADVERBS_NOT_NAMES": [Sentence("{} is vegan", [], control="Bob")],
    "NO_MENTION": [Sentence("Are my sister Ada and others {}?", [])],
    "FACT_HINTS": [
        Sentence("{} sister Ada", SISTER, words=("my", "our")),
        Sentence("{} me Ada", ["identity/name=ada", "instruction/call me=ada"], words=("call",)),
    ],
    "MODALS": [Sentence("I {} love tea", [], control="really")],
    "BEFORE_PERFECT": [Sentence("I have {} lived in Oslo", HOME, but=("not", "never", "lived", "been"))],
    "PERFECT_VERBS": [Sentence("I have {} cats", [], control="two")],
    "AFTER_DO": [
        Sentence("I do {} tea", TEA, words=("like", "love", "enjoy")),
        Sentence("I do {} in Oslo", HOME, words=("live",)),
    ],
    "BE_FORMS": [Sentence("I {} vegan", ["constraint/diet=vegan"])],
    "ADVERBS": [Sentence("I {} love tea", TEA)],
    "DEGREES": [Sentence("I am {} allergic to nuts", ["constraint/allergies=nuts"])],
    "VERBS_WITH_S": [
        Sentence("Bob {}s in Oslo", ["bob: identity/location=oslo"], words=("live", "reside")),
        Sentence("Bob {}s tea", ["bob: preference/likes=tea"], words=("love", "like", "enjoy", "adore")),
    ],
    "MOVED_WHERE": [Sentence("I moved {} to Oslo", HOME)],
    "HOW_ONE_WORKS": [Sentence("I work {} for Shell", ["identity/employer=shell"])],
    "LIVE_WHERE": [Sentence("I live {} in Oslo", HOME)],
    "DWELLINGS": [Sentence("We moved into our new {} in Oslo", HOME), Sentence("My {} is in Oslo", HOME)],
    "JOBS": [Sentence("I got the {} at Shell", ["identity/employer=shell"])],
    "GETTING": [Sentence("I {} a new job at Shell", ["identity/employer=shell"])],
    "FAN_DEGREES": [Sentence("I am a {} fan of tea", TEA)],
    "FOND_OF": [Sentence("I am {} tea", TEA)],
    "DISLIKING": [Sentence("I {} tea", DISLIKED_TEA)],
    "PRONOUN_FORMS": [Sentence("My pronouns are {}/them", ["identity/pronouns={}/them"])],
    "ZONE_NAMES": [Sentence("My time zone is {}", ["identity/time zone={}"])],
    "NAMED_ZONES": [Sentence("I am in {} time", ["identity/time zone={}"])],
    "NO_FAVOURITES": [Sentence("My favourite {} is tea", [])],
    "AFTER_CONTRAST": [
        Sentence("I work at Acme, not {} Globex", ["identity/employer=acme", "not identity/employer=globex"])
    ],
    "AFTER_BUT_NOT": [Sentence("I love tea but not {} milk", TEA)],
    "COUNTRIES_WITH_THE": [Sentence("I am from the {}land", ["identity/origin={}land"])],
    "NUMBERS_TO_SIX": [
        Sentence("I have {} children", ["identity/number of children={}"]),
        Sentence("I have {} cats", ["identity/pets={} cats"]),
    ],
    "NUMBERS_TO_TEN": [Sentence("I have {} cats", ["identity/pets={} cats"])],
    "ALLERGY_DEGREES": [Sentence("I have a {} allergy to nuts", ["constraint/allergies=nuts"])],
    "TRAIT_ENDS": [Sentence("I am vegan {} reasons", ["constraint/diet=vegan"])],
    "AFTER_INTRODUCTION": [Sentence("I am Ada, {} zorble", NAME)],
    "PREFERENCE_ENDS": [Sentence("I prefer tea {} mornings", ["preference/prefers=tea"])],
    "LANGUAGE_ENDS": [Sentence("I speak Dutch {} French", ["identity/languages=dutch"])],
    "ANIMAL_ENDS": [Sentence("I have a cat {} Oslo", ["identity/pets=cat"])],
    "NO_LANGUAGE": [Sentence("I speak {} French", [])],
    "NO_STUDIES": [Sentence("I study {} biology", [])],
    "RARELY": [Sentence("I don't eat {} meat", [])],
    "THING_LEADS": [Sentence("I love {} tea", TEA)],
    "KNOWN_TO_ALL": [Sentence("I love drawing the {}", ["preference/likes=drawing the {}"])],
    "BEFORE_THINGS": [Sentence("I love boats {} that harbour", [], control="near Oslo,")],
    "THING_CONJUNCTIONS": [Sentence("I love tea {} home", TEA)],
    "THING_ADVERBS": [Sentence("I love tea {}", TEA)],
    "THING_TIMES": [Sentence("I love tea {} work", TEA)],
    "THING_PRONOUNS": [Sentence("I love tea {}", TEA)],
    "AFTER_THING_COMMA": [Sentence("I love tea, {} sour", TEA)],
    "BEFORE_ORDER": [Sentence("{} never use emojis", ["instruction/emojis=never use emojis"], but=("can you please",))],
    "FOR_GOOD": [
        Sentence("Please, {}, call everyone Al", ["instruction/always=call everyone al"]),
        Sentence("Don't use names {}", ["instruction/never=use names"]),
    ],
    "NOT_TO": [Sentence("Please {} emojis here", ["instruction/emojis={} emojis here"], but=("do not",))],
    "ORDERS": [Sentence("Always {} Ada", ["instruction/always={} ada"])],
    "MAXIM_WORDS": [Sentence("Always give {} a hand", [])],
    "REPLY_VERBS": [Sentence("Always {} in French", ["instruction/reply language=french"])],
    "BEFORE_CALL_ME": [Sentence("{} call me Ada", ["identity/name=ada", "instruction/call me=ada"], but=("everyone",))],
    "AFTER_CALL_ME": [Sentence("Call me Ada {} work", ["identity/name=ada", "instruction/call me=ada"])],
    "ANSWERS": [Sentence("Keep {} short", ["instruction/answer length=keep {} short"])],
    "LENGTHS": [Sentence("Keep your answers {}", ["instruction/answer length=keep your answers {}"])],
    "TONES": [Sentence("Always be {}", ["instruction/tone=always be {}"])],
    "AFTER_TONE": [Sentence("Always use formal {} with us", ["instruction/tone=always use formal {} with us"])],
    "FORMATS": [Sentence("Never use {}", ["instruction/format=never use {}"])],
    "JOINED_ORDERS": [
        Sentence("Don't use emojis and {} Ada", ["instruction/emojis=don't use emojis"], but=("call me",))
    ],
    "PLEASANTRIES": [Sentence("Call me Ada {}", ["identity/name=ada", "instruction/call me=ada"])],
}
ROWS = [(name, sentence) for name, sentences in SENTENCES.items() for sentence in sentences]


@cache
def text_in(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def modules_beside(path: Path) -> list[Path]:
    """The modules that may use a file of patterns."""
    return [*path.parents[2].rglob("*.py")]


@cache
def patterns_in(path: Path) -> Patterns:
    return Patterns(path.stem, f"facts/{path.parts[-3]}/data", WORDS)


@cache
def names_in_uses() -> frozenset[str]:
    """All that is named where the patterns and the modules name lists of words."""
    uses = re.compile(r"\{([A-Z_ ]*)\b|any_of\(([^()]*)")
    texts = map(text_in, [*PACKAGE.glob("*.py"), *PATTERN_FILES])
    lists = (found[1] or found[2] or "" for text in texts for found in uses.finditer(text))
    return frozenset(name for names in lists for name in re.findall(r"\w+", names))


def facts_in(text: str) -> list[str]:
    return sorted(map(notation, find_facts(text, TODAY)))


def expected_facts(sentence: Sentence, word: str) -> list[str]:
    return sorted(fact.format(word.casefold()) for fact in sentence.facts)


class TestReading:
    @pytest.mark.parametrize(("name", "sentence"), ROWS, ids=lambda value: getattr(value, "text", value))
    def test_every_word_is_read(self, name: str, sentence: Sentence) -> None:
        fitting = [word for word in sentence.words or LISTS[name] if word not in sentence.but]
        assert fitting
        assert set(fitting) | set(sentence.but) <= set(LISTS[name])
        for word in fitting:
            assert facts_in(sentence.text.format(word)) == expected_facts(sentence, word), word

    @pytest.mark.parametrize(("name", "sentence"), ROWS, ids=lambda value: getattr(value, "text", value))
    def test_a_word_that_is_not_listed_is_read_otherwise(self, name: str, sentence: Sentence) -> None:
        assert sentence.control not in LISTS[name]
        assert facts_in(sentence.text.format(sentence.control)) != expected_facts(sentence, sentence.control)

    @pytest.mark.parametrize("word", LISTS["ASSISTANT_WORDS"])
    def test_words_about_answering(self, word: str) -> None:
        assert is_about_answering(f"some {word} here")
        assert not is_about_answering(f"some un{word} here")

    @pytest.mark.parametrize("word", LISTS["ASSISTANT_NAMES"])
    def test_names_of_the_assistant(self, word: str) -> None:
        assert is_about_answering(f"tell the {word}")
        assert not is_about_answering(f"tell some {word}")

    def test_every_list_has_a_sentence(self) -> None:
        assert {*SENTENCES, "ASSISTANT_WORDS", "ASSISTANT_NAMES"} == set(LISTS)


class TestLists:
    @pytest.mark.parametrize("name", LISTS)
    def test_no_word_stands_twice(self, name: str) -> None:
        assert len(set(LISTS[name])) == len(LISTS[name]) > 1

    @pytest.mark.parametrize("name", LISTS)
    def test_a_phrase_stands_before_a_shorter_one_it_begins_with(self, name: str) -> None:
        """Without a word boundary after it, the shorter would hide the longer."""
        for number, word in enumerate(LISTS[name]):
            later = [other for other in LISTS[name][number + 1 :] if re.match(rf"{re.escape(word)}\W", other)]
            assert not later, f"{later} after {word!r}"

    @pytest.mark.parametrize("name", LISTS)
    def test_words_are_plain(self, name: str) -> None:
        """A word is a word, not a piece of a pattern."""
        assert all(re.fullmatch(r"[\w'.-]+(?: [\w'-]+)*!?", word) for word in LISTS[name])

    @pytest.mark.parametrize("name", LISTS)
    def test_every_list_is_used(self, name: str) -> None:
        assert name in names_in_uses()

    def test_months_and_weekdays_are_those_of_the_calendar(self) -> None:
        assert tuple(map(str.lower, LISTS["MONTH_NAMES"])) == MONTHS
        assert tuple(map(str.lower, LISTS["WEEKDAY_NAMES"])) == WEEKDAYS

    def test_no_other_module_has_a_long_alternation_of_words(self) -> None:
        long = re.compile(r"\b[a-z]+(?:\|[a-z]+){7,}", re.IGNORECASE)
        for path in [*PACKAGE.glob("*.py"), *PATTERN_FILES]:
            assert not long.search(text_in(path)), path.name


class TestJoining:
    def test_words_are_taken_literally(self) -> None:
        pattern = re.compile(any_of(("p.s.", "c++", "a|b")))
        assert all(pattern.fullmatch(word) for word in ("p.s.", "c++", "a|b"))
        assert not any(pattern.fullmatch(word) for word in ("pxsx", "ccc", "a", "b"))

    def test_they_are_taken_literally_in_a_verbose_pattern_too(self) -> None:
        assert re.fullmatch(any_of(("#1", "by the way")), "by the way", re.VERBOSE)
        assert re.fullmatch(any_of(("#1", "by the way")), "#1", re.VERBOSE)

    def test_a_space_is_any_space(self) -> None:
        assert re.fullmatch(any_of(("by the way",)), "by\tthe\nway")

    def test_the_order_is_kept_over_all_lists(self) -> None:
        assert WORDS.any_of("SCENES", "WORKS").startswith("(?:game|dream|")
        assert any_of(("b", "a b", "a")) == r"(?:b|a\sb|a)"

    def test_the_alternation_stands_by_itself(self) -> None:
        assert re.fullmatch(rf"x{any_of(('a', 'b'))}y", "xby")

    def test_an_underscore_joins_a_phrase(self) -> None:
        assert read_list("GREETINGS", "words", DATA)[-3:-1] == ("good morning", "good evening")

    def test_longest_first(self) -> None:
        assert longest_first({"ex", "ex wife", "exam"}) == ["ex wife", "exam", "ex"]


class TestPatterns:
    @pytest.mark.parametrize("path", ALL_PATTERN_FILES, ids=lambda path: path.stem)
    def test_every_pattern_can_be_compiled_and_is_used(self, path: Path) -> None:
        patterns = patterns_in(path)
        text = "\n".join(map(text_in, [*modules_beside(path), path]))
        constant = f"_{path.stem.upper()}"
        named = {*re.findall(rf"\b{constant}\.(\w+)", text), *re.findall(r"\{(\w+)\}", text)}
        are_all_used = "items" in named or re.search(rf"\bfor \w+ in {constant}\b", text) is not None
        are_looked_up = f"{constant}[" in text or f"getattr({constant}, " in text
        for name, pattern in patterns.items():
            assert pattern.groups >= 0
            assert are_all_used or name in named or (are_looked_up and f'"{name}"' in text), name

    @pytest.mark.parametrize("path", ALL_PATTERN_FILES, ids=lambda path: path.stem)
    def test_every_pattern_that_a_module_names_is_there(self, path: Path) -> None:
        patterns = patterns_in(path)
        for module in modules_beside(path):
            names = re.findall(rf"\b_{path.stem.upper()}\.(\w+)", text_in(module))
            assert not {*names} - {*patterns, "items"}, module.name

    def test_one_that_is_missing_is_an_error(self) -> None:
        with pytest.raises(AttributeError, match="nowhere"):
            assert Patterns("clauses", DATA, WORDS).nowhere
