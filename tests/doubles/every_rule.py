"""Every public rule, and how to call it with any text and any time: found in the packages, called by its signature.

A value is made for each parameter by its type: a text is the text given, a time the time given, and what is made of
both is made of them field by field. So a new rule is called without being listed. One that needs more than its
signature says is in `CALLS`, and one that has nothing to do with a text or a time in `OTHERS`.
"""

from __future__ import annotations

import collections.abc
import inspect
import json
import typing
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union

import numpy as np
from pure_modules import pure_modules

from everword.changes import retention_rules as retention
from everword.context import reply_markers
from everword.documents import anthropic_memory_tool as memory_files
from everword.errors import ModelNonsense
from everword.facts import prompts
from everword.facts.rules import grounding
from everword.facts.rules.grounding import Grounds
from everword.follow import model_task
from everword.model import Budget, FactRefusal, FoundFact, LogChange, Message
from everword.models.tokens import EstimateTokenizer
from everword.openai import anthropic, messages, reconcile, request_layouts, stream
from everword.ports import PassageCandidate, Request, Tokenizer
from everword.recall.rules import query, ranking
from everword.recall.rules.neighbours import to_columns
from everword.text import dates
from everword.text import standalone as text_standalone
from everword.text.addressing import KnownNames
from everword.topics.rules import fading, reply_threads, topic_set, topics
from everword.topics.rules.topics import FadedTopics

NOON = datetime(2031, 5, 8, 12, tzinfo=UTC)
TOKENIZER = EstimateTokenizer()


@dataclass(frozen=True)
class Given:
    """What a rule is called with."""

    text: str
    moment: datetime = NOON


LONGEST_ID = 256  # characters: what is longer is refused before a rule sees it (`log.checks_and_seals.MAX_ID`)
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
    KnownNames: lambda given: KnownNames.of({given.text: [given.text], "kim": ["Kim"], "u3": ["warpzone"]}),
    reply_threads.ThreadMessage: lambda given: reply_threads.ThreadMessage(
        3, given.text, given.moment, np.ones(4, np.float32)
    ),
    Request: lambda given: Request([{"role": "user", "content": given.text}]),
    ModelNonsense: lambda given: ModelNonsense(given.text),
    LogChange: lambda given: LogChange(
        "s", "c", 1, "edit", 3, given.moment, "program", edited_to(given.text), edited_to(given.text)
    ),
}


def edited_to(text: str) -> dict[str, Any]:
    """What a change of a message says of it."""
    return {"content": text, "metadata": {"name": text}}


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
        return TOKENIZER.count
    if kind is Tokenizer:
        return TOKENIZER
    if is_dataclass(kind) or hasattr(kind, "_field_defaults"):
        return made_of_fields(kind, given)
    if hasattr(kind, "__supertype__"):
        return made(kind.__supertype__, given)
    raise Unknown(str(kind))


def value_of(name: str, kind: Any, given: Given) -> Any:
    if name in BY_NAME:
        return BY_NAME[name](given)
    return made(kind, Given(given.text[:LONGEST_ID], given.moment) if name in IDS else given)


@cache
def hints_of(kind: Any) -> dict[str, Any]:
    """The types of a rule's parameters or of a class's fields: reading them takes longer than most rules."""
    return typing.get_type_hints(kind)


def made_of_fields(kind: Any, given: Given) -> Any:
    return kind(**{name: value_of(name, hint, given) for name, hint in needed_fields(kind)})


@cache
def needed_fields(kind: Any) -> list[tuple[str, Any]]:
    """The fields that have no value by themselves, or speak of a time or a text, with their types."""
    hints = hints_of(kind)
    if is_dataclass(kind):
        optional = {each.name for each in fields(kind) if (each.default, each.default_factory) != (MISSING, MISSING)}
        names = [each.name for each in fields(kind) if each.init]
    else:
        optional = set(kind._field_defaults)
        names = [*hints]
    return [(name, hints[name]) for name in names if name not in optional or speaks_of_time_or_text(hints[name])]


def speaks_of_time_or_text(kind: Any) -> bool:
    parts = typing.get_args(kind) or (kind,)
    return any(part in (str, date, datetime) for part in parts)


@cache
def needed_parameters(rule: Callable[..., Any]) -> list[tuple[str, Any, bool]]:
    """The parameters that have no value by themselves, or speak of a time or a text: their names, their types, and
    whether they are given by name."""
    hints = hints_of(rule)
    return [
        (each.name, hints[each.name], each.kind is inspect.Parameter.KEYWORD_ONLY)
        for each in inspect.signature(rule).parameters.values()
        if each.default is inspect.Parameter.empty or speaks_of_time_or_text(hints[each.name])
    ]


def arguments_of(rule: Callable[..., Any], given: Given) -> tuple[list[Any], dict[str, Any]]:
    places, names = list[Any](), dict[str, Any]()
    for name, hint, is_named in needed_parameters(rule):
        value = value_of(name, hint, given)
        if is_named:
            names[name] = value
        else:
            places.append(value)
    return places, names


def public_rules() -> dict[str, Callable[..., Any]]:
    """Every public function of the rules, the detector of secrets and the tasks, by its name."""
    found = {}
    for module in pure_modules():
        for name, value in vars(module).items():
            own = getattr(value, "__module__", None) == module.__name__ and not name.startswith("_")
            if own and callable(value) and not inspect.isclass(value) and not hasattr(value, "__supertype__"):
                found[f"{module.__name__.removeprefix('everword.')}.{name}"] = value
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
    state = fading.TopicState(1, given.text, given.moment, given.moment, count=3)
    return topics.Book({1: state}, 1)


def said_of(given: Given) -> topics.IncomingMessage:
    return topics.IncomingMessage(2, "user", given.text, given.moment, np.ones(8, np.float32))


def body_of(given: Given) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "system", "content": given.text}, message_of(given)]}


def message_of(given: Given) -> dict[str, Any]:
    return {"role": "user", "content": given.text}


def utterances_of(given: Given) -> list[reconcile.Utterance]:
    return [reconcile.Utterance(role, given.text) for role in ("user", "assistant", "user")]


def effort_of(given: Given) -> reconcile.Effort:
    return reconcile.Effort(utterances_of(given), utterances_of(given))


def row_of(given: Given) -> dict[str, Any]:
    times_of = dict.fromkeys(("ended", "retired_at", "made_at", "last_active_at"), given.moment)
    return {"day": given.moment.date().isoformat(), "active": False, "first": 1, "merged_into": None, **times_of}


def fuse(given: Given) -> object:
    found = [
        PassageCandidate(1, "a", given.moment, 5, (1,)),
        PassageCandidate(2, "b", NOON, 5, (1,), author=given.text),
    ]
    asked = query.ParsedQuery((("a",),), (1.0,), times=dates.spans(given.text, given.moment))
    scores = np.ones((2, 1))
    cosines = np.array([0.5, np.nan])
    weights = ranking.Weights()
    best = ranking.best_by_themselves(to_columns(found), scores, cosines, asked, weights, 1)
    return best, ranking.fuse(to_columns(found), scores, cosines, asked, given.moment, weights)


def lines_of(given: Given) -> list[grounding.ReadLine]:
    line = grounding.ReadLine("Al", given.text, given.moment)
    return [replace(line, role="assistant", is_new=False), line]


def read_by_evidence(given: Given) -> object:
    lines = lines_of(given)
    found = FoundFact("identity", "location", given.text, subject=given.text, since=given.moment.date())
    grounds = grounding.Evidence.of(lines, 1)
    return (
        grounds.refuse_fact(found),
        grounds.names_subject(given.text),
        grounding.settle_time(found, grounds, lines[1]),
        grounding.is_worth_reading(lines),
    )


def repair_inputs(given: Given) -> prompts.RepairInputs:
    fact = FoundFact("identity", given.text, given.text, subject=given.text, since=given.moment.date())
    refused = (prompts.RefusedInLine(1, fact, FactRefusal("not_said", given.text)),)
    return prompts.RepairInputs(tuple(lines_of(given)), refused)


def chunk_of(given: Given) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": given.text}, "finish_reason": None}]}


def log_changes_of(given: Given) -> list[LogChange]:
    """An edit and a move of a conversation's first message."""
    edit = {"content": given.text, "metadata": {"everword": {"audience": given.text}}}
    names = {"conversation": given.text, "person": given.text, "owner": None, "channel": given.text}
    turns = {"owned": [[1, 1]], "written": [[1, 1]], "heard": [[1, 1]], "upto": 1}
    return [
        LogChange("s", "c", 1, "edit", 1, given.moment, "program", edit, edit),
        LogChange("s", "c", 2, "move", 0, given.moment, "program", names | turns, names),
    ]


def changed_message_of(given: Given) -> Message:
    message: Message = made(Message, given)
    return replace(message, turn=1, metadata={"everword": {"audience": given.text}})


def call_with_changes(name: str) -> Callable[[Given], Any]:
    """Call a rule about a message and each change of it."""
    return lambda given: [RULES[name](changed_message_of(given), change) for change in log_changes_of(given)]


FILE = "/memories/notes.txt"
RULE = topics.TopicRule()


def two_sentences(given: Given) -> list[text_standalone.SourcedSentence]:
    return [made(text_standalone.SourcedSentence, given), made(text_standalone.SourcedSentence, given)]


# Rules that need more than their types say, and the classes that read a text.
CALLS: dict[str, Callable[[Given], Any]] = {
    "secrets.detector.secrets_by_form": lambda given: list(
        RULES["secrets.detector.secrets_by_form"](given.text, given.text.lower(), [(0, len(given.text))])
    ),
    "secrets.detector.announced_secrets": lambda given: list(
        RULES["secrets.detector.announced_secrets"](given.text, given.text.lower(), bytearray(len(given.text)))
    ),
    "log.checks_and_seals.contains_turn": lambda given: RULES["log.checks_and_seals.contains_turn"]([[1, 2]], 1),
    "log.checks_and_seals.with_audience": lambda given: RULES["log.checks_and_seals.with_audience"](
        changed_message_of(given).metadata, given.text
    ),
    "log.checks_and_seals.give_names": lambda given: RULES["log.checks_and_seals.give_names"](
        changed_message_of(given), log_changes_of(given)[1], log_changes_of(given)[1].after
    ),
    "log.checks_and_seals.undo_change": call_with_changes("log.checks_and_seals.undo_change"),
    "log.checks_and_seals.check_choice": lambda given: RULES["log.checks_and_seals.check_choice"](
        "field", given.text, ("role", given.text)
    ),
    "log.checks_and_seals.is_result": call_with_changes("log.checks_and_seals.is_result"),
    **{
        f"log.checks_and_seals.{name}": lambda given, name=name: RULES[f"log.checks_and_seals.{name}"](  # type: ignore[misc]
            changed_message_of(given), log_changes_of(given)
        )
        for name in ("original_message", "is_as_changed")
    },
    "recall.rules.query.closeness": lambda given: query.closeness(
        dates.spans(given.text, given.moment), np.array([given.moment.timestamp()])
    ),
    "facts.rules.grounding.Grounds": lambda given: (
        Grounds.of(given.text).shares_word(given.text),
        Grounds.of(given.text).filter_pairs(given.text),
        Grounds.of(given.text).find_inventions(given.text),
    ),
    "context.reply_markers.ReplyFilter": lambda given: feed_in_pieces(reply_markers.ReplyFilter(), given.text, 7),
    "text.detect.script_of": lambda given: [RULES["text.detect.script_of"](letter) for letter in {*given.text}],
    "openai.anthropic.chat_messages": lambda given: anthropic.chat_messages([message_of(given)]),
    "openai.anthropic.source_url": lambda given: anthropic.source_url({"type": "url", "url": given.text}),
    "openai.request_layouts.chat_messages": lambda given: request_layouts.chat_messages(body_of(given)),
    "openai.request_layouts.chat_with_texts": lambda given: request_layouts.chat_with_texts(
        body_of(given), [given.text]
    ),
    "openai.request_layouts.chat_reply": lambda given: request_layouts.chat_reply(
        {"choices": [{"message": message_of(given)}]}
    ),
    "openai.request_layouts.anthropic_messages": lambda given: request_layouts.anthropic_messages(body_of(given)),
    "openai.messages.tail_start": lambda given: messages.tail_start([message_of(given)], TOKENIZER, 100),
    "openai.messages.lay_out": lambda given: messages.lay_out(body_of(given), Budget(), TOKENIZER, all_of_it=False),
    "openai.messages.is_whole": lambda given: messages.is_whole(
        body_of(given), messages.lay_out(body_of(given), Budget(), TOKENIZER, all_of_it=False)
    ),
    "text.corrections.place_of_corrected": lambda given: RULES["text.corrections.place_of_corrected"](
        [made(Message, given), made(Message, given)], 1
    ),
    "facts.rules.grounding.Evidence": read_by_evidence,
    "facts.rules.grounding.settle_time": read_by_evidence,
    "facts.prompts.LineReader": lambda given: prompts.parse_reading(
        json.dumps({"facts": [dict.fromkeys(prompts.ENTRY, given.text)]}), made(prompts.ReadingInputs, given)
    ),
    "facts.prompts.choose_lines": lambda given: prompts.choose_lines(repair_inputs(given)),
    "facts.prompts.build_repair": lambda given: prompts.build_repair(repair_inputs(given)),
    "facts.prompts.parse_repair": lambda given: prompts.parse_repair(
        json.dumps({"facts": [dict.fromkeys(prompts.ENTRY, given.text)]}), repair_inputs(given)
    ),
    "text.corrections.place_just_before": lambda given: RULES["text.corrections.place_just_before"](
        [made(Message, given), made(Message, given)], 1
    ),
    "text.standalone.is_first": lambda given: text_standalone.is_first(two_sentences(given), 1),
    "text.standalone.introduction_before": lambda given: text_standalone.introduction_before(two_sentences(given), 1),
    "text.standalone.question_before": lambda given: text_standalone.question_before(two_sentences(given), 1),
    "text.standalone.sentence_before": lambda given: text_standalone.sentence_before(two_sentences(given), 1),
    "context.reply_markers.Cutter": lambda given: feed_in_pieces(reply_markers.Cutter(), given.text, 7),
    "documents.anthropic_memory_tool.missing_folders": lambda given: memory_files.missing_folders({}, FILE, given.text),
    "documents.anthropic_memory_tool.run_file_command": lambda given: memory_files.run_file_command(
        {FILE: given.text}, {"command": "str_replace", "path": FILE, "old_str": given.text, "new_str": given.text}
    ),
    "documents.anthropic_memory_tool.insert": lambda given: memory_files.insert(
        {FILE: given.text}, {"path": FILE, "insert_line": 0, "insert_text": given.text}
    ),
    "documents.anthropic_memory_tool.view": lambda given: memory_files.view({FILE: given.text}, {"path": FILE}),
    "openai.stream.ReplyStream": lambda given: relay_in_pieces(given),
    "recall.rules.ranking.fuse": fuse,
    "openai.reconcile.match_ending": lambda given: reconcile.match_ending(
        utterances_of(given), utterances_of(given), -1, 0, effort_of(given)
    ),
    "openai.reconcile.is_evident": lambda given: reconcile.is_evident(utterances_of(given), [0]),
    "openai.reconcile.longest_run": lambda given: reconcile.longest_run(
        utterances_of(given), utterances_of(given), effort_of(given)
    ),
    "openai.reconcile.match_run": lambda given: reconcile.match_run(
        utterances_of(given), utterances_of(given), 0, 0, effort_of(given)
    ),
    "openai.reconcile.stubs_end_place": lambda given: reconcile.stubs_end_place(
        utterances_of(given), 0, utterances_of(given), 0, effort_of(given)
    ),
    "changes.retention_rules.digest_is_over": lambda given: retention.digest_is_over(row_of(given), given.moment),
    "changes.retention_rules.episode_is_over": lambda given: retention.episode_is_over(row_of(given), given.moment),
    "changes.retention_rules.is_history": lambda given: retention.is_history(row_of(given), given.moment),
    "changes.retention_rules.row_day_is_over": lambda given: retention.row_day_is_over(row_of(given), given.moment),
    "changes.retention_rules.find_expired_topics": lambda given: retention.find_expired_topics(
        [row_of(given)], given.moment
    ),
    "changes.retention_rules.Retention": lambda given: retention.Retention(messages=90, every=1).cutoff(
        "messages", given.moment
    ),
    "openai.messages.count_tokens": lambda given: messages.count_tokens(message_of(given), TOKENIZER),
    "openai.messages.parse_message": lambda given: messages.parse_message(message_of(given)),
    "topics.rules.topics.fade_topics": lambda given: topics.fade_topics(book_of(given), given.moment, RULE),
    "topics.rules.topics.join_thread": lambda given: topics.join_thread(book_of(given), said_of(given), RULE, 1),
    "topics.rules.topics.enter_topic": lambda given: topics.enter_topic(
        book_of(given), said_of(given), RULE, 1, back=False
    ),
    "topics.rules.topics.merge_similar": lambda given: topics.merge_similar(book_of(given), RULE),
    "topics.rules.topic_set.parts": lambda given: topic_set.parts(book_of(given).states, 1),
    "topics.rules.topics.step": lambda given: topics.step(book_of(given), said_of(given), RULE, FadedTopics),
    "topics.rules.topics.follow_message": lambda given: topics.follow_message(
        book_of(given), said_of(given), RULE, FadedTopics
    ),
    "topics.rules.topic_set.whole_topic": lambda given: topic_set.whole_topic(book_of(given).states, 1),
    "follow.model_task.parts_by_label": lambda given: model_task.parts_by_label(given.text, {"question": "question"}),
}


def relay_in_pieces(given: Given) -> object:
    reader = stream.ReplyStream({})
    for start in range(0, len(given.text), 7):
        reader.feed(chunk_of(Given(given.text[start : start + 7])))
    reader.finish()
    return reader.first


# Rules that have nothing to do with a text or a time: numbers, vectors, places in a list.
OTHERS = frozenset(
    [
        "text.doc.read_once",
        "text.word_weights.load_word_table",
        "text.doc.reading_in",
        "text.language_packs.phrase",
        "text.language_packs.packs_with",
        "topics.rules.reply_threads.fit_width",
        "topics.rules.reply_threads.weigh",
        "topics.rules.reply_threads.reason_of",
        "text.language_packs.wordings",
        "text.sentences.parts_between",
        "secrets.marks_from_json",
        "secrets.mask_parts",
        "secrets.with_texts",
        "follow.model_task.read_instructions",
        "summaries.rules.days.is_current",
        "recall.rules.relevance.join_sentences",
        "context.reply_markers.growing_pattern",
        "context.reply_markers.name_pattern",
        "summaries.rules.window.continues",
        "summaries.rules.window.cuts",
        "summaries.rules.window.depths",
        "recall.rules.relevance.relevance",
        "recall.rules.relevance.is_none_relevant",
        "recall.rules.relevance.relevance_with_neighbours",
        "recall.rules.relevance.shared_rarity",
        "recall.rules.ranking.count_particulars",
        "recall.rules.ranking.is_preference",
        "recall.rules.ranking.is_question",
        "recall.rules.ranking.is_standing",
        "recall.rules.ranking.word_scores",
        "recall.rules.ranking.shortlist",
        "recall.rules.ranking.best_by_themselves",
        "recall.rules.neighbours.adjacent_keys",
        "recall.rules.neighbours.lean_shares",
        "recall.rules.neighbours.mean_lengths",
        "recall.rules.neighbours.number_of",
        "recall.rules.neighbours.place_keys",
        "recall.rules.neighbours.split_key",
        "recall.rules.neighbours.split_occasions",
        "recall.rules.neighbours.missing_places",
        "recall.rules.neighbours.as_numbers",
        "recall.rules.neighbours.distinct_numbers",
        "recall.rules.neighbours.are_among",
        "recall.rules.neighbours.joined_columns",
        "recall.rules.neighbours.to_columns",
        "recall.rules.relevance.nearest_turns",
        "recall.rules.neighbours.surroundings",
        "topics.rules.topic_set.compare_with_centroids",
        "topics.rules.topic_set.round_vectors",
        "topics.rules.topic_set.round_rows",
        "topics.rules.topics.fit_topics",
        "topics.rules.topics.nearest_topics",
        "topics.rules.topics.merge_topics",
        "topics.rules.topic_set.root",
        "topics.rules.topics.split_topic",
    ]
)
