"""Tells without searching that a pattern cannot be found in a text: none of the words that it needs are there.

Most of the patterns of the rules are lists of words, and most sentences hold none of them. What a pattern needs is
read from its own parse: in `\\b(?:said|told me|decid\\w+)\\b` one of the words "said" and "told", or a word that begins
with "deci". The words of a text are taken once and compared with those of all patterns, which takes a small part of
the time of a search. A guard may only rule out what is really not there: wherever the parse is not plain, it says
nothing, and the pattern is searched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Any

from recollect.language.pattern_heads import parse_pattern
from recollect.language.word_runs import DIGIT, PREFIX, lower_words

MAX_PATHS = 1_000  # ways through a pattern that are followed
MAX_SIGNS = 8  # marks that are looked for one by one
MAX_CHOICE = 8  # characters of a class that are followed one by one
MAX_TIMES = 4  # repetitions that are followed
APOSTROPHES = ("'", "’")

EDGE = "\x01"  # the edge of a word
GAP = "\x02"  # some character that is no part of a word
ANY = "\x00"  # anything, or nothing
MARKS = EDGE + GAP + DIGIT + ANY
read_prefix = itemgetter(slice(0, PREFIX))
WORDS = re.compile(r"\w+")
WORDS_AFTER_EDGE = re.compile(rf"(?<=[^\w{ANY}{DIGIT}])(\w+)(?=([^\w{ANY}{DIGIT}]?))")
DIGITS = re.compile(r"\d")
RUNS = re.compile(rf"[^{MARKS}]+")
ODD_CASES = re.compile("[\u0130\u0131\u017f]")  # letters that a pattern without case takes for i and s

_IN_EVERY_TEXT = """
    a about all am an and are as at be been but can do for from get go going good got great had has have how i if in is
    it just know like love me more my new not of on one or out really see so some such that the their them there they
    thing things this time to too up want was we were what when which will with would you your
"""
COMMON = frozenset(_IN_EVERY_TEXT.split()) | {word[:PREFIX] for word in _IN_EVERY_TEXT.split() if len(word) > PREFIX}
"""Words that most texts hold, and how they begin: to need one of them rules out little."""

Node = tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class PatternNeeds:
    """What a text must hold for a pattern to be found in it: one of the words, as `text_words` gives them, or one of
    the marks."""

    words: frozenset[str]
    signs: tuple[str, ...]


def pattern_needs(source: str, flags: int) -> PatternNeeds | None:
    """What a pattern needs; None if that is not known."""
    parsed = parse_pattern(source, flags)
    if parsed is None or parsed.state.flags & (re.ASCII | re.LOCALE):
        return None
    words: set[str] = set()
    signs: set[str] = set()
    for path in paths_through(parsed):
        word = best_word(path)
        sign = best_sign(path)
        # A letter alone stands in most texts, as after an apostrophe: another mark beside it is rarer.
        is_letter = word is not None and len(word) == 1 and word != DIGIT and sign not in (None, *APOSTROPHES)
        if word is not None and not is_letter:
            words.add(word)
            continue
        if sign is None:
            return None
        signs.add(sign)
    least_signs = tuple(sign for sign in sorted(signs) if not any(other in sign for other in signs - {sign}))
    return PatternNeeds(frozenset(words), least_signs) if len(least_signs) <= MAX_SIGNS else None


def may_match(needs: PatternNeeds, text: str) -> bool:
    """Whether a text holds what a pattern needs."""
    for sign in needs.signs:
        if sign in text:
            return True
    if not needs.words:
        return False
    words = text_words(text)
    return words is None or not needs.words.isdisjoint(words)


def text_words(text: str) -> AbstractSet[str] | None:
    """The words of a text and their beginnings; None if it has letters for which upper and lower case are not plain."""
    if not text.isascii() and ODD_CASES.search(text):
        return None
    words = lower_words(text)
    keys = {*words, *map(read_prefix, words)}
    if DIGITS.search(text):
        keys.add(DIGIT)
    return keys


# -- the ways through a pattern


def paths_through(nodes: Iterable[Node], start: str = "") -> list[str]:
    """The ways through a sequence: its letters in lower case, and marks for what is not one known letter. `start` is
    the edge of a word, if it begins at one."""
    paths = [start]
    for operation, argument in nodes:
        edge = EDGE if all(is_edge(path[-1:]) for path in paths) else ""
        steps = node_paths(str(operation), argument, edge)
        if len(paths) * len(steps) > MAX_PATHS:
            paths, steps = shorten_paths(paths, steps)
        paths = list(dict.fromkeys(path + step for path in paths for step in steps))
    return paths


def shorten_paths(paths: Sequence[str], steps: Sequence[str]) -> tuple[list[str], list[str]]:
    """Ways and their next steps, if there are too many: of each no more than the word it needs."""
    short_paths = list(dict.fromkeys(map(shorten_path, paths)))
    short_steps = list(dict.fromkeys(map(shorten_path, steps)))
    if len(short_paths) * len(short_steps) <= MAX_PATHS:
        return short_paths, short_steps
    if weakness(short_paths) > weakness(short_steps) and len(short_steps) <= MAX_PATHS:
        return [ANY + EDGE if all(is_edge(path[-1:]) for path in paths) else ANY], short_steps
    return (short_paths if len(short_paths) <= MAX_PATHS else [ANY]), [ANY]


def shorten_path(path: str) -> str:
    word = best_word(path)
    if word is None:
        return ANY
    return f"{ANY}{DIGIT}{ANY}" if word == DIGIT else f"{ANY}{EDGE}{word}{EDGE if word in words_in(path) else ANY}"


def node_paths(operation: str, argument: Any, start: str) -> list[str]:
    match operation:
        case "LITERAL":
            return [chr(argument).lower()] if chr(argument) not in MARKS else [ANY]
        case "IN":
            return class_paths(argument)
        case "AT":
            return [""] if str(argument) == "AT_NON_BOUNDARY" else [EDGE]
        case "ASSERT" | "ASSERT_NOT":
            return [""]
        case "BRANCH":
            paths = list(dict.fromkeys(path for branch in argument[1] for path in paths_through(branch, start)))
            return paths if len(paths) <= MAX_PATHS else list(dict.fromkeys(map(shorten_path, paths)))
        case "SUBPATTERN":
            return paths_through(argument[3], start) if not argument[1] & re.ASCII else [ANY]
        case "ATOMIC_GROUP":
            return paths_through(argument, start)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, most, body = argument
            return repeat_paths(least, most, body, start)
    return [ANY]


def repeat_paths(least: int, most: int, body: Iterable[Node], start: str) -> list[str]:
    once = paths_through(body, start)
    if most == 1 or all(path.strip(EDGE) == GAP for path in once):
        return once if least else [start, *once]
    last_edges = [path[-1:] if path[-1:] in (EDGE, GAP) else "" for path in once]
    if least == 0:
        return [start, *dict.fromkeys(ANY + edge for edge in last_edges)] if all(last_edges) else [ANY]
    # If there is one way through the body, it is taken as often as it must be; of several it may be any.
    again = once[0].lstrip(EDGE) * (min(least, MAX_TIMES) - 1) if len(once) == 1 else ""
    return [path + again + ANY + edge for path, edge in zip(once, last_edges, strict=True)]


def class_paths(members: Sequence[Node]) -> list[str]:
    """The characters of a class, if they are few; or what they have in common."""
    operations = [(str(operation), argument) for operation, argument in members]
    if all(operation == "CATEGORY" and str(argument) == "CATEGORY_DIGIT" for operation, argument in operations):
        return [DIGIT]
    if all(is_gap(operation, argument) for operation, argument in operations):
        literals = [chr(argument) for operation, argument in operations if operation == "LITERAL"]
        return literals if len(literals) == len(operations) <= MAX_CHOICE else [GAP]
    if all(operation == "LITERAL" for operation, _ in operations) and len(operations) <= MAX_CHOICE:
        return list(dict.fromkeys(chr(argument).lower() for _, argument in operations))
    return [ANY]


def is_gap(operation: str, argument: Any) -> bool:
    """Whether a member of a class is no part of a word."""
    if operation == "CATEGORY":
        return str(argument) in ("CATEGORY_SPACE", "CATEGORY_NOT_WORD")
    return operation == "LITERAL" and not is_word_character(chr(argument)) and chr(argument) not in MARKS


def is_word_character(character: str) -> bool:
    return character.isalnum() or character == "_"


# -- what a way needs


@lru_cache(maxsize=8_192)  # the ways through a part of a pattern are asked again for the whole
def best_word(path: str) -> str | None:
    """The rarest word that a text must hold on this way, or the beginning of one, as far as one can tell: the longest
    that is not in every text; or a digit, which is rarer than a short word."""
    rarest = max(words_on(path), key=lambda word: (word not in COMMON, len(word)), default=None)
    if DIGIT in path and (rarest is None or len(rarest) <= PREFIX or rarest in COMMON):
        return DIGIT
    return rarest


def weakness(paths: Iterable[str]) -> int:
    """How little ways need: 2 if one needs nothing that is known, 1 if one needs a short word, else 0."""
    words = [best_word(path) for path in paths]
    return (
        2 if None in words else int(any(word is not None and word != DIGIT and len(word) <= PREFIX for word in words))
    )


def words_in(path: str) -> list[str]:
    """The words of a way that are known to their ends."""
    return [match[0] for match in WORDS.finditer(path) if is_edge(path[match.end() : match.end() + 1])]


def words_on(path: str) -> Iterator[str]:
    for word, edge in WORDS_AFTER_EDGE.findall(path):
        if edge:
            yield word
        elif len(word) >= PREFIX:
            yield word[:PREFIX]


def is_edge(character: str) -> bool:
    if not character:
        return False
    return character in (EDGE, GAP) or not (is_word_character(character) or character in MARKS)


def best_sign(path: str) -> str | None:
    """The longest run of marks that have no upper and lower case."""
    runs = [run for run in RUNS.findall(path) if run.lower() == run.upper() and not any(map(str.isalnum, run))]
    parts = [part for run in RUNS.findall(path) for part in re.findall(r"[^\w\s]+|_+", run)]
    return max((*runs, *parts), key=len, default=None)
