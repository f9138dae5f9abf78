"""Prepares, in small steps, what the first turns of a process would have to wait for.

Modules are imported, patterns compiled and tables of words read when they are first used, so that a command starts
fast. A memory that stays open has time for that while nobody calls it. Nothing here changes what a turn does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from importlib import import_module

from everword.ports import Embedder, Tokenizer
from everword.word_lists import compile_patterns

TURN_MODULE = "everword.memory.conversation"
PATTERN_MODULES = (
    "everword.text.filler",
    "everword.text.mentions",
    "everword.text.words",
    "everword.recall.standalone",
    "everword.context.prompt",
    "everword.recall.rules.query",
    "everword.recall.rules.selection",
    "everword.topics.rules.drift",
    "everword.topics.rules.words",
    "everword.facts.rules.keys",
    "everword.facts.rules.profile",
    "everword.text.corrections",
    "everword.text.fences",
    "everword.text.dates",
)
"""Modules of which a turn tries most patterns. Those of which it tries a few are left out, as are those of views."""
SAMPLE = "Hello Robin, which train to Oslo did I tell you about yesterday, and can you recommend the 8:40 one?"
"""A question with a name, a time and a word of no vocabulary: to read it takes every table that a turn needs."""
ANY_TIME = datetime(2026, 1, 1, tzinfo=UTC)


def prepare_turns(tokenizer: Tokenizer, embedder: Embedder) -> Iterator[None]:
    """Do one step each time that the next item is asked for, those that take longest first."""
    tokenizer.count(SAMPLE)
    yield
    if embed_now := getattr(embedder, "embed_now", None):  # others are asked over a network, which may cost money
        embed_now([SAMPLE])
        yield
    yield from _read_sample()
    for name in PATTERN_MODULES:
        for _ in compile_patterns(vars(import_module(name))):
            yield
    import_module(TURN_MODULE)  # most of what it imports has been imported by now


def _read_sample() -> Iterator[None]:
    """Read the tables of words, by reading a sample."""
    from everword.facts.rules.keys import keys_named
    from everword.follow.task import TaskMessage
    from everword.recall.rules.query import parse_query
    from everword.recall.standalone import depends_on_context, exchange_terms
    from everword.recall.word_likeness import load_known_words
    from everword.text.filler import is_small_talk
    from everword.text.terms import query_groups

    languages = ("en",)
    readings: tuple[Callable[[], object], ...] = (
        partial(is_small_talk, SAMPLE),
        partial(depends_on_context, SAMPLE),
        partial(exchange_terms, [TaskMessage("user", SAMPLE)]),
        partial(parse_query, SAMPLE, query_groups(SAMPLE, languages), languages, ANY_TIME),
        partial(keys_named, "train"),
        load_known_words,
    )
    for read in readings:
        read()
        yield
