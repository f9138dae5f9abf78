"""Prepares, in small steps, what the first turns of a process would have to wait for.

Modules are imported, patterns compiled and tables of words read when they are first used, so that a command starts
fast. A memory that stays open has time for that while nobody calls it. Nothing here changes what a turn does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from importlib import import_module

from recollect.ports import Embedder, Tokenizer
from recollect.text.packs import compile_patterns

TURN_MODULE = "recollect.memory.conversation"
PATTERN_MODULES = (
    "recollect.text.filler",
    "recollect.text.mentions",
    "recollect.text.words",
    "recollect.recall.standalone",
    "recollect.context.prompt",
    "recollect.recall.rules.query",
    "recollect.recall.rules.selection",
    "recollect.topics.rules.drift",
    "recollect.topics.rules.words",
    "recollect.facts.rules.keys",
    "recollect.facts.rules.profile",
    "recollect.text.corrections",
    "recollect.text.fences",
    "recollect.text.dates",
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
    from recollect.facts.rules.keys import keys_named
    from recollect.follow.task import TaskMessage
    from recollect.recall.rules.query import parse_query
    from recollect.recall.standalone import depends_on_context, exchange_terms
    from recollect.recall.word_likeness import load_known_words
    from recollect.text.filler import is_small_talk
    from recollect.text.terms import query_groups

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
