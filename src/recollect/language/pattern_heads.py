"""Tells without matching that a pattern cannot match at the beginning of a text: the text does not begin as it must.

Many patterns of the rules are lists of the words that a clause may begin with, and most clauses begin with none of
them. How a pattern may begin is read from its own parse, up to three characters. As in `pattern_prefilter`, a guard may
only rule out what really cannot match: wherever the parse is not plain, it says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib import import_module
from string import ascii_lowercase
from typing import Any

SIZE = 3
"""Characters of a beginning."""
MAX_HEADS = 2_000  # beginnings that are followed
MAX_RANGE = 32  # characters of a range that are followed one by one

SIGN = " "  # stands for every character that is no part of a word
DIGIT = "0"  # for every digit
ANY = "\x00"  # anything from here on, or nothing
ODD_CASES = frozenset("\u0130\u0131\u017f\u212a")  # letters that a pattern without case takes for i, k and s

_INLINE_FLAGS = re.compile(r"\(\?[aimsux]+\)")

Node = tuple[Any, Any]
Heads = frozenset[str]


def pattern_heads(source: str, flags: int) -> Heads | None:
    """The beginnings of what a pattern matches; one of fewer than three characters stands for all that begin so. None
    if they are not known, or if it matches an empty text."""
    parsed = parse_pattern(source, flags)
    if parsed is None or parsed.state.flags & re.LOCALE:
        return None
    heads = frozenset(head.rstrip(ANY) for head in sequence_heads(parsed))
    return None if "" in heads else heads


def begins_at_words(source: str, flags: int, heads: Heads | None) -> bool:
    """Whether a pattern with these beginnings can match at the starts of words alone."""
    if heads is None or any(head.startswith(SIGN) for head in heads):
        return False
    first_node = next(iter(parse_pattern(source, flags) or ()), None)
    return first_node is not None and tuple(map(str, first_node)) == ("AT", "AT_BOUNDARY")


def parse_pattern(source: str, flags: int) -> Any:
    """The parse of a pattern by the standard library; None in another Python, or if it is no pattern."""
    try:
        return import_module("re._parser").parse(source, flags)
    except (ImportError, AttributeError, re.error, OverflowError, RecursionError):
        return None


def may_begin(heads: Heads, beginning: str) -> bool:
    """Whether a text with this beginning, of at most three characters, may match a pattern."""
    if not beginning.isascii():
        return True
    head, two_characters, one_character = possible_heads(beginning)
    return head in heads or two_characters in heads or one_character in heads


@lru_cache(maxsize=8_192)  # hundreds of patterns are asked of the same few thousand beginnings
def possible_heads(beginning: str) -> tuple[str, str, str]:
    """The heads that stand for a beginning: of three characters, of two, of one."""
    head = "".join(map(plain_character, beginning))
    return head, head[:2], head[:1]


def skip_where_nothing_begins(source: str, flags: int, heads: Heads | None = None) -> str:
    """A pattern that finds the same, and is given up at once at a character with which nothing that it matches can
    begin; the pattern itself, if its beginnings are not known. They are read from it unless they are given."""
    heads = heads or pattern_heads(source, flags)
    if heads is None:
        return source
    firsts = {head[0] for head in heads}
    no_signs = "" if SIGN in firsts else r"\W"
    no_digits = "" if DIGIT in firsts else "0-9"
    no_letters = "".join(character for character in f"{ascii_lowercase}_" if character not in firsts)
    excluded = no_signs + no_digits + no_letters
    if not excluded:
        return source
    inline_flags = _INLINE_FLAGS.match(source)
    start = inline_flags.end() if inline_flags else 0
    end = "\n" if flags & re.VERBOSE else ""  # a pattern may end in a comment
    return f"{source[:start]}(?=(?i:[^{excluded}]))(?:{source[start:]}{end})"


def plain_character(character: str) -> str:
    """A character as it stands in a beginning."""
    if character in ODD_CASES:
        return ANY
    if character.isdigit():
        return DIGIT
    return character.lower() if character.isalnum() or character == "_" else SIGN


def sequence_heads(nodes: Iterable[Node]) -> set[str]:
    heads = {""}
    for operation, argument in nodes:
        if all(map(is_complete, heads)):
            break
        heads = join_heads(heads, node_heads(str(operation), argument))
    return heads


def join_heads(heads: Iterable[str], next_heads: Iterable[str]) -> set[str]:
    """The beginnings of one part of a pattern and the next."""
    steps = list(next_heads)
    joined: set[str] = set()
    for head in heads:
        if is_complete(head):
            joined.add(head)
        else:
            joined.update((head + step)[:SIZE] for step in steps)
    return joined if len(joined) <= MAX_HEADS else {ANY}


def is_complete(head: str) -> bool:
    return len(head) >= SIZE or head.endswith(ANY)


def node_heads(operation: str, argument: Any) -> set[str]:
    match operation:
        case "LITERAL":
            return {plain_character(chr(argument))}
        case "IN":
            return class_heads(argument)
        case "AT" | "ASSERT" | "ASSERT_NOT":
            return {""}
        case "BRANCH":
            return {head for branch in argument[1] for head in sequence_heads(branch)}
        case "SUBPATTERN":
            return sequence_heads(argument[3])
        case "ATOMIC_GROUP":
            return sequence_heads(argument)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, most, body = argument
            return repeat_heads(int(least), int(most), body)
    return {ANY}


def repeat_heads(least: int, most: int, body: Iterable[Node]) -> set[str]:
    once = sequence_heads(body)
    repeated = {""}
    heads = set() if least else {""}
    for times in range(1, min(most, SIZE) + 1):
        repeated = join_heads(repeated, once)
        if times >= min(least, SIZE):
            heads |= repeated
    return heads


def class_heads(members: Sequence[Node]) -> set[str]:
    heads: set[str] = set()
    for operation, argument in ((str(operation), argument) for operation, argument in members):
        if operation == "LITERAL":
            heads.add(plain_character(chr(argument)))
        elif operation == "RANGE" and argument[1] - argument[0] < MAX_RANGE:
            heads.update(plain_character(chr(code)) for code in range(argument[0], argument[1] + 1))
        elif operation == "CATEGORY" and str(argument) == "CATEGORY_DIGIT":
            heads.add(DIGIT)
        elif operation == "CATEGORY" and str(argument) in ("CATEGORY_SPACE", "CATEGORY_NOT_WORD"):
            heads.add(SIGN)
        else:
            return {ANY}
    return heads
