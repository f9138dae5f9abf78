"""Every public rule, and how to call it with any text and any time: found in the packages, called by its signature.

A value is made for each parameter by its type: a text is the text given, a time the time given, and what is made of
both is made of them field by field. So a new rule is called without being listed. One that needs more than its
signature says is in `CALLS`, and one that has nothing to do with a text or a time in `OTHERS`.
"""

from __future__ import annotations

import collections.abc
import importlib
import inspect
import pkgutil
import typing
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from types import NoneType, UnionType
from typing import Any, Literal, Union

import numpy as np

import recollect.rules
import recollect.tasks
from recollect.errors import ModelNonsense
from recollect.model import Budget
from recollect.ports import Candidate, Request
from recollect.rules import (
    asking,
    holding,
    layout,
    markers,
    memory_files,
    passing,
    ranking,
    reconciling,
    retention,
    spoken,
    times,
    topics,
)
from recollect.rules.faded import Faded
from recollect.rules.grounds import Grounds
from recollect.tasks import answers
from recollect.tokens.estimate import EstimateTokenizer

NOON = datetime(2031, 5, 8, 12, tzinfo=UTC)
COUNT = EstimateTokenizer().count


@dataclass(frozen=True)
class Given:
    """What a rule is called with."""

    text: str
    moment: datetime = NOON


LONGEST_ID = 256  # characters: what is longer is refused before a rule sees it (`rules.log.MAX_ID`)
IDS = frozenset(["author", "authors", "id", "member", "members", "name", "names", "people", "speaker", "space", "user"])

# Parameters whose name says more than their type.
BY_NAME: dict[str, Callable[[Given], Any]] = {
    "indent": lambda given: "  ",
    "language": lambda given: "en",
    "languages": lambda given: ("en", "de", "zh"),
    "similarity": lambda given: (0.5,),
    "vector": lambda given: np.ones(8, np.float32),
    "centroid": lambda given: b"",
}

BY_TYPE: dict[object, Callable[[Given], Any]] = {
    str: lambda given: given.text,
    object: lambda given: given.text,
    Any: lambda given: given.text,
    int: lambda given: 3,
    float: lambda given: 0.5,
    bool: lambda given: False,
    bytes: lambda given: b"",
    NoneType: lambda given: None,
    datetime: lambda given: given.moment,
    date: lambda given: given.moment.date(),
    timedelta: lambda given: timedelta.max,
    tzinfo: lambda given: given.moment.tzinfo or UTC,
    Budget: lambda given: Budget(),
    Request: lambda given: Request([{"role": "user", "content": given.text}]),
    ModelNonsense: lambda given: ModelNonsense(given.text),
}

SEQUENCES = (collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection, list, set, frozenset)


class Unknown(Exception):
    """A type that no value can be made of."""


def made(kind: Any, given: Given) -> Any:
    """A value of a type, of the text and the time given."""
    if kind in BY_TYPE:
        return BY_TYPE[kind](given)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (Union, UnionType):
        return made(next(part for part in arguments if part is not NoneType), given)
    if origin is Literal:
        return arguments[0]
    if origin in SEQUENCES:
        return [made(arguments[0], given)]
    if origin is tuple:
        return tuple(made(part, given) for part in arguments if part is not Ellipsis)
    if origin in (collections.abc.Mapping, dict):
        return {made(arguments[0], given): made(arguments[1], given)}
    if origin is collections.abc.Callable and arguments == ([str], int):
        return COUNT
    if is_dataclass(kind) or hasattr(kind, "_field_defaults"):
        return made_of_fields(kind, given)
    if hasattr(kind, "__supertype__"):
        return made(kind.__supertype__, given)
    raise Unknown(str(kind))


def value_of(name: str, kind: Any, given: Given) -> Any:
    if name in BY_NAME:
        return BY_NAME[name](given)
    return made(kind, Given(given.text[:LONGEST_ID], given.moment) if name in IDS else given)


def made_of_fields(kind: Any, given: Given) -> Any:
    hints = typing.get_type_hints(kind)
    if is_dataclass(kind):
        optional = {each.name for each in fields(kind) if (each.default, each.default_factory) != (MISSING, MISSING)}
    else:
        optional = set(kind._field_defaults)
    values = {}
    for name in hints if not is_dataclass(kind) else [each.name for each in fields(kind)]:
        if name not in optional or speaks_of_time_or_text(hints[name]):
            values[name] = value_of(name, hints[name], given)
    return kind(**values)


def speaks_of_time_or_text(kind: Any) -> bool:
    parts = typing.get_args(kind) or (kind,)
    return any(part in (str, date, datetime) for part in parts)


def arguments_of(rule: Callable[..., Any], given: Given) -> tuple[list[Any], dict[str, Any]]:
    hints = typing.get_type_hints(rule)
    places, names = list[Any](), dict[str, Any]()
    for name, parameter in inspect.signature(rule).parameters.items():
        if parameter.default is not inspect.Parameter.empty and not speaks_of_time_or_text(hints[name]):
            continue
        value = value_of(name, hints[name], given)
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            names[name] = value
        else:
            places.append(value)
    return places, names


def public_rules() -> dict[str, Callable[..., Any]]:
    """Every public function of the rules and the tasks, by its name."""
    found = {}
    for package in (recollect.rules, recollect.tasks):
        for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            module = importlib.import_module(each.name)
            for name, value in vars(module).items():
                own = getattr(value, "__module__", None) == module.__name__ and not name.startswith("_")
                if own and callable(value) and not inspect.isclass(value) and not hasattr(value, "__supertype__"):
                    found[f"{each.name.removeprefix('recollect.')}.{name}"] = value
    return found


def finished(result: Any) -> Any:
    """What a rule gives, all of it: some give it piece by piece."""
    return list(result) if isinstance(result, Iterator) else result


def prepared(name: str, given: Given) -> Callable[[], Any]:
    """A call of a rule, with its arguments made beforehand."""
    if name in CALLS:
        return lambda: finished(CALLS[name](given))
    places, names = arguments_of(RULES[name], given)
    return lambda: finished(RULES[name](*places, **names))


RULES = public_rules()


def feed_in_pieces(reader: Any, content: str, size: int) -> Any:
    for start in range(0, len(content), size):
        reader.feed(content[start : start + size])
    return reader.finish()


def book_of(given: Given) -> topics.Book:
    state = topics.State(1, given.text, given.moment, given.moment, count=3)
    return topics.Book({1: state}, 1)


def said_of(given: Given) -> topics.Said:
    return topics.Said(2, "user", given.text, given.moment, np.ones(8, np.float32))


def body_of(given: Given) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "system", "content": given.text}, message_of(given)]}


def message_of(given: Given) -> dict[str, Any]:
    return {"role": "user", "content": given.text}


def utterances_of(given: Given) -> list[reconciling.Utterance]:
    return [reconciling.Utterance(role, given.text) for role in ("user", "assistant", "user")]


def effort_of(given: Given) -> reconciling.Effort:
    return reconciling.Effort(utterances_of(given), utterances_of(given))


def row_of(given: Given) -> dict[str, Any]:
    times_of = dict.fromkeys(("ended", "retired_at", "made_at", "last_active_at"), given.moment)
    return {"day": given.moment.date().isoformat(), "active": False, "first": 1, "merged_into": None, **times_of}


def fuse(given: Given) -> object:
    found = [Candidate(1, "a", given.moment, 5, (1,)), Candidate(2, "b", NOON, 5, (1,), author=given.text)]
    asked = asking.Asked((("a",),), (1.0,), times=times.spans(given.text, given.moment))
    scores = np.ones((2, 1))
    return ranking.fuse(found, scores, {1: 0.5}, asked, given.moment, ranking.Weights())


def chunk_of(given: Given) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": given.text}, "finish_reason": None}]}


FILE = "/memories/notes.txt"
RULE = topics.TopicRule()

# Rules that need more than their types say, and the classes that read a text.
CALLS: dict[str, Callable[[Given], Any]] = {
    "rules.asking.closeness": lambda given: asking.closeness(
        times.spans(given.text, given.moment), np.array([given.moment.timestamp()])
    ),
    "rules.grounds.Grounds": lambda given: (
        Grounds.of(given.text).share(given.text),
        Grounds.of(given.text).pairs(given.text),
        Grounds.of(given.text).invented(given.text),
    ),
    "rules.holding.Holding": lambda given: feed_in_pieces(holding.Holding(), given.text, 7),
    "rules.language.script_of": lambda given: [RULES["rules.language.script_of"](letter) for letter in {*given.text}],
    "rules.layout.cut": lambda given: layout.cut([message_of(given)], COUNT, 100),
    "rules.layout.laid_out": lambda given: layout.laid_out(body_of(given), Budget(), COUNT, all_of_it=False),
    "rules.markers.Cutter": lambda given: feed_in_pieces(markers.Cutter(), given.text, 7),
    "rules.memory_files.folders_of": lambda given: memory_files.folders_of({}, FILE, given.text),
    "rules.memory_files.carried_out": lambda given: memory_files.carried_out(
        {FILE: given.text}, {"command": "str_replace", "path": FILE, "old_str": given.text, "new_str": given.text}
    ),
    "rules.memory_files.insert": lambda given: memory_files.insert(
        {FILE: given.text}, {"path": FILE, "insert_line": 0, "insert_text": given.text}
    ),
    "rules.memory_files.view": lambda given: memory_files.view({FILE: given.text}, {"path": FILE}),
    "rules.passing.Passing": lambda given: relay_in_pieces(given),
    "rules.ranking.fuse": fuse,
    "rules.reconciling.ending": lambda given: reconciling.ending(
        utterances_of(given), utterances_of(given), -1, 0, effort_of(given)
    ),
    "rules.reconciling.evident": lambda given: reconciling.evident(utterances_of(given), [0]),
    "rules.reconciling.longest": lambda given: reconciling.longest(
        utterances_of(given), utterances_of(given), effort_of(given)
    ),
    "rules.reconciling.run": lambda given: reconciling.run(
        utterances_of(given), utterances_of(given), 0, 0, effort_of(given)
    ),
    "rules.reconciling.shortened": lambda given: reconciling.shortened(
        utterances_of(given), 0, utterances_of(given), 0, effort_of(given)
    ),
    "rules.retention.digest_is_over": lambda given: retention.digest_is_over(row_of(given), given.moment),
    "rules.retention.episode_is_over": lambda given: retention.episode_is_over(row_of(given), given.moment),
    "rules.retention.is_history": lambda given: retention.is_history(row_of(given), given.moment),
    "rules.retention.of_day_over": lambda given: retention.of_day_over(row_of(given), given.moment),
    "rules.retention.topics_over": lambda given: retention.topics_over([row_of(given)], given.moment),
    "rules.retention.Retention": lambda given: retention.Retention(messages=90, every=1).before(
        "messages", given.moment
    ),
    "rules.spoken.size": lambda given: spoken.size(message_of(given), COUNT),
    "rules.spoken.spoken": lambda given: spoken.spoken(message_of(given)),
    "rules.topics.fading": lambda given: topics.fading(book_of(given), given.moment, RULE),
    "rules.topics.grown_alike": lambda given: topics.grown_alike(book_of(given), RULE),
    "rules.topics.parts": lambda given: topics.parts(book_of(given).states, 1),
    "rules.topics.step": lambda given: topics.step(book_of(given), said_of(given), RULE, Faded),
    "rules.topics.whole": lambda given: topics.whole(book_of(given).states, 1),
    "tasks.answers.labelled": lambda given: answers.labelled(given.text, {"question": "question"}),
}


def relay_in_pieces(given: Given) -> object:
    reader = passing.Passing({})
    for start in range(0, len(given.text), 7):
        reader.feed(chunk_of(Given(given.text[start : start + 7])))
    reader.finish()
    return reader.first


# Rules that have nothing to do with a text or a time: numbers, vectors, places in a list.
OTHERS = frozenset(
    [
        "rules.days.holds",
        "rules.excerpts.joined",
        "rules.markers.growing",
        "rules.markers.name",
        "rules.segments.continues",
        "rules.segments.cuts",
        "rules.segments.depths",
        "rules.surroundings.surroundings",
        "rules.topics.changed",
        "rules.topics.merged",
        "rules.topics.root",
        "rules.topics.taken_out",
    ]
)
