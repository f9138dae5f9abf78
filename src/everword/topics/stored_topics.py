"""Topics as rows: states, the turns that belong to each, and the packs of messages that left the active set.

Every function works on one conversation (`place`), inside the caller's transaction. A writer holds the conversation's
lock, so nobody else changes the states between reading and writing them.

A pack has messages that left a topic's active set in few bytes, without loss. A message is a line: the number of its
speaker, its turn and its time, both as the difference to the line before, and its words. The lines are deflated with a
dictionary of phrases that are frequent in chats: a few short messages repeat too little to gain much without one. The
first byte is the version of the form. A pack is a copy of messages in the log: one that cannot be read is made again.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import resources
from secrets import token_hex
from typing import Any, NamedTuple

import numpy as np

from everword.errors import InvalidInput
from everword.log.append_and_read import CALLED_BY, warn_of_damage
from everword.log.checks_and_seals import check_role
from everword.model import ExtractLine, Filter, Message, from_microseconds, to_microseconds
from everword.model.views import TopicMessage
from everword.ports import Tx
from everword.summaries.rules.days import GIVEN
from everword.summaries.rules.extract import from_object, narrative_lines
from everword.topics.rules.drift import DriftMessage
from everword.topics.rules.fading import TopicOutline, TopicState
from everword.topics.rules.reply_threads import MEMORY, Link, ThreadMessage, Threads
from everword.topics.rules.topic_set import Row, round_vector
from everword.topics.rules.words import TopicWords

TABLE = "topics"
HEADS = "topic_heads"
TURNS = "topic_turns"
ANSWERED_WITHIN = 60  # messages in which answers to one are looked for
MAX_ASKED = 2  # messages before one that tell what it answers
MAX_ANSWERS = 5
PACKS = "topic_packs"
SUMMARIES = "topic_summaries"
NOTES = "topic_notes"

LOOKED_AT = 4_000  # characters of a message that are read to find its topic, besides its vector

Place = Mapping[str, Any]


def place_of(space: str, conversation: str) -> dict[str, Any]:
    return {"space": space, "conversation": conversation}


# -- states


def states_of(
    tx: Tx, place: Place, *, active: bool | None = None, firsts: Collection[int] | None = None
) -> dict[int, TopicState]:
    """The topics of a conversation: all, those that are active, those that have faded, or those with these opening
    turns."""
    if firsts is not None:
        rows = rows_at(tx, place, firsts)
        return {row["first"]: to_state(row) for row in rows if active is None or row["active"] == active}
    where = dict(place) if active is None else {**place, "active": int(active)}
    return {row["first"]: to_state(row) for row in tx.rows(TABLE, where=where)}


def rows_at(
    tx: Tx, place: Place, firsts: Collection[int], columns: tuple[str, ...] = ()
) -> Sequence[Mapping[str, Any]]:
    """The rows of the topics with these opening turns. With a condition besides their key, a store may look at all
    topics, of which there may be tens of thousands."""
    return tx.rows(TABLE, where={**place, "first": tuple(sorted(firsts))}, columns=columns) if firsts else []


def outlines_of(tx: Tx, place: Place) -> dict[int, TopicState]:
    """The outlines of the topics of a conversation that have faded: read many times faster than all that is kept."""
    rows = tx.rows(TABLE, where={**place, "active": 0}, columns=("first", "centroid", "merged_into"))
    return {row["first"]: TopicOutline.of(row["first"], bytes(row["centroid"]), row["merged_into"]) for row in rows}


def faded_words(tx: Tx, place: Place, firsts: Collection[int]) -> dict[int, TopicWords]:
    """The words of some topics that have faded, in no order."""
    rows = rows_at(tx, place, firsts, ("first", "words"))
    return {row["first"]: TopicWords(row["words"].get("stems", {})) for row in rows}


def faded_family(tx: Tx, place: Place, first: int) -> dict[int, TopicState]:
    """A topic that has faded, with all that are part of the same one; nothing if there is none."""
    family = states_of(tx, place, active=False, firsts=[first])
    root = family.get(first)
    while root is not None and root.merged_into is not None:
        above = states_of(tx, place, active=False, firsts=[root.merged_into])
        family |= above
        root = above.get(root.merged_into)
    firsts = () if root is None else (root.first,)
    while firsts:
        rows = tx.rows(TABLE, where={**place, "active": 0, "merged_into": firsts})
        family |= {row["first"]: to_state(row) for row in rows}
        firsts = tuple(row["first"] for row in rows)
    return family


def put_states(tx: Tx, place: Place, states: Iterable[TopicState]) -> None:
    tx.put(TABLE, [state_row(place, state) for state in states])


PLAIN_COLUMNS = (
    *("first", "title", "made_by", "created_at", "last_active_at", "centroid", "count", "accesses", "returns"),
    *("importance", "ups", "downs", "tags", "packed", "packed_upto", "opened", "faded_at", "merged_into"),
)
"""Columns of a topic that hold what the field of that name does."""


def state_row(place: Place, state: TopicState) -> dict[str, Any]:
    return {
        **place,
        **{name: getattr(state, name) for name in PLAIN_COLUMNS},
        "active": int(state.faded_at is None),
        "apart": tuple(map(str, sorted(state.apart))),
        "pending": int(state.pending),
        "words": state.words.to_object(),
    }


def to_state(row: Mapping[str, Any]) -> TopicState:
    columns = {name: row[name] for name in PLAIN_COLUMNS}
    columns |= {"centroid": bytes(row["centroid"]), "tags": tuple(row["tags"])}
    return TopicState(
        **columns,
        apart=frozenset(map(int, row["apart"])),
        pending=bool(row["pending"]),
        words=TopicWords.from_object(row["words"]),
    )


def new_stamp() -> str:
    """Another version of a conversation's topics: each write of them puts one into the head row."""
    return token_hex(8)


def renew_stamp(tx: Tx, place: Place) -> None:
    """Have every process read the topics of a conversation again, since some were removed."""
    tx.put(HEADS, [{**head, "stamp": new_stamp()} for head in tx.rows(HEADS, where=place)])


# -- the last messages


def encode_recent_messages(recent: Sequence[tuple[int, Row]]) -> bytes:
    """The turns and vectors of the last messages as bytes: the index may not have them yet."""
    if not recent:
        return b""
    turns = np.array([turn for turn, _ in recent], np.int32)
    width = max(len(vector) for _, vector in recent)
    rows = np.zeros((len(recent), width), np.float16)
    for number, (_, vector) in enumerate(recent):
        rows[number, : len(vector)] = vector
    return len(recent).to_bytes(2, "big") + turns.tobytes() + rows.tobytes()


def load_recent_messages(tx: Tx, place: Place, data: bytes) -> list[tuple[int, DriftMessage]]:
    """The last messages, from these bytes and the log."""
    if not data:
        return []
    count = int.from_bytes(data[:2], "big")
    turns = np.frombuffer(data, np.int32, count, 2).tolist()
    rows = np.frombuffer(data, np.float16, offset=2 + 4 * count).reshape(count, -1)
    where = Filter(place["space"], conversation=place["conversation"])
    begin = (place["conversation"], turns[0] - 1)
    messages = {
        message.turn: message for message in tx.messages(where, after=begin, upto=turns[-1], damaged=warn_of_damage)
    }
    return [
        (turn, to_drift_message(messages[turn], round_vector(row)))
        for turn, row in zip(turns, rows, strict=True)
        if turn in messages
    ]


def to_drift_message(message: Message, vector: Row) -> DriftMessage:
    return DriftMessage(message.content[:LOOKED_AT], vector, message.role, message.time)


# -- turns and packs


def put_turns(tx: Tx, place: Place, turns: Sequence[tuple[Message, int]], links: Mapping[int, Link]) -> None:
    """Store the topics of messages; of those in threads, what they answer and why."""
    tx.put(
        TURNS,
        [
            {
                **place,
                "turn": message.turn,
                "topic": first,
                "message_id": message.id,
                "answers": links[message.turn].turn if message.turn in links else None,
                "why": links[message.turn].why if message.turn in links else None,
            }
            for message, first in turns
        ],
    )


def links_of(tx: Tx, place: Place, messages: Sequence[TopicMessage]) -> list[TopicMessage]:
    """The messages with what each answers and why, as far as they are in threads."""
    turns = tuple(message.turn for message in messages)
    links = {row["turn"]: row for row in tx.rows(TURNS, where={**place, "turn": turns})} if turns else {}
    return [
        replace(message, answers=links[message.turn]["answers"], why=links[message.turn]["why"] or "")
        if message.turn in links
        else message
        for message in messages
    ]


def answered_messages(tx: Tx, place: Place, turns: Collection[int]) -> list[Message]:
    """The messages that those of these turns answer, as far as they are in threads."""
    links = tx.rows(TURNS, where={**place, "turn": tuple(turns)}) if turns else []
    answered_turns = tuple({row["answers"] for row in links if row["answers"] is not None})
    rows = tx.rows(TURNS, where={**place, "turn": answered_turns}) if answered_turns else []
    return tx.find_messages(place["space"], ids=[row["message_id"] for row in rows], damaged=warn_of_damage)


def turns_to_move(tx: Tx, place: Place, topics: Collection[int], turns: Collection[int]) -> dict[int, int | None]:
    """The messages of some topics that have one of these turns, and those that answer them: what each is to answer once
    they are a thread of their own. Empty if a turn is in no thread of these topics, or nothing would be left there."""
    links = {row["turn"]: row for row in tx.rows(TURNS, where={**place, "topic": tuple(topics)}) if row["why"]}
    moved: dict[int, int | None] = {}
    for turn, row in sorted(links.items()):
        if turn in turns or row["answers"] in moved:
            moved[turn] = row["answers"] if row["answers"] in moved else min(moved, default=None)
    return moved if moved.keys() >= {*turns} and len(moved) < len(links) else {}


class ThreadPlace(NamedTuple):
    """Where a message of a group stands in its thread: the turns of what it answers, and of what answers it."""

    asked: Sequence[int]
    answers: Sequence[int]


def threads_at(tx: Tx, place: Place, turns: Collection[int]) -> dict[str, int]:
    """The threads of the messages of a group at these turns, by the ids of the messages that are in one."""
    columns = ("message_id", "topic", "why")
    rows = tx.rows(TURNS, where={**place, "turn": tuple(turns)}, columns=columns) if turns else []
    return {row["message_id"]: row["topic"] for row in rows if row["why"]}


def thread_place(tx: Tx, place: Place, turn: int) -> ThreadPlace | None:
    """Where a message stands in its thread; None if it is in none."""
    columns = ("turn", "answers", "why")
    rows = tx.rows(TURNS, {**place, "turn": turn - 1}, ANSWERED_WITHIN, where=place, columns=columns)
    if not rows or rows[0]["turn"] != turn or not rows[0]["why"]:
        return None
    asked: list[int] = []
    above = rows[0]["answers"]
    while above is not None and len(asked) < MAX_ASKED:
        asked.append(above)
        above = next((row["answers"] for row in tx.rows(TURNS, where={**place, "turn": above})), None)
    answers: list[int] = []
    for row in rows[1:]:  # an answer to an answer is one, too
        if row["answers"] is not None and row["answers"] in {turn, *answers} and len(answers) < MAX_ANSWERS:
            answers.append(row["turn"])
    return ThreadPlace(asked, answers)


def load_threads(tx: Tx, place: Place, upto: int) -> Threads:
    """The last messages of a channel with their threads, from the log and the index."""
    threads = Threads()
    start = max(upto - MEMORY, 0)
    rows = {row["turn"]: row for row in tx.rows(TURNS, {**place, "turn": start}, where=place) if row["turn"] <= upto}
    space = place["space"]
    conversation = place["conversation"]
    vectors = tx.index.vectors_of(space, conversation, start + 1, upto)
    where = Filter(space, conversation=conversation)
    for message in tx.messages(where, after=(conversation, start), upto=upto, damaged=warn_of_damage):
        row = rows.get(message.turn)
        if row is not None and message.role == "user" and message.is_lasting:
            spoken = read_thread_message(threads, message, vectors.get(message.turn))
            threads.is_group = threads.is_group or row["why"] not in (None, GIVEN)
            threads.are_needed_for(spoken, message.reply_to is not None)
            threads.append(spoken, row["topic"], row["answers"])
    return threads


def read_thread_message(threads: Threads, message: Message, vector: Any) -> ThreadMessage:
    """A message of a channel as the rule of threads needs it."""
    keys = (message.id,) if message.platform_id is None else (message.id, message.platform_id)
    names = names_of(message)
    row = np.zeros(0, np.float32) if vector is None else round_vector(vector)
    text = message.content[:LOOKED_AT]
    return threads.read(message.turn, message.author, text, message.time, row, keys=keys, names=names)


def names_of(message: Message) -> tuple[str, ...]:
    """What its author is called, besides the id."""
    return tuple(name for name in map(message.metadata.get, CALLED_BY) if isinstance(name, str))


def topic_at(tx: Tx, place: Place, turn: int) -> int | None:
    """The topic a turn belongs to."""
    rows = tx.rows(TURNS, where={**place, "turn": turn})
    return int(rows[0]["topic"]) if rows else None


def messages_outside_packs(tx: Tx, place: Place, state: TopicState, after: int | None = None) -> list[TopicMessage]:
    """The messages of a topic that are in no pack, in order; with `after`, those after that turn."""
    start = state.packed_upto if after is None else after
    rows = tx.rows(TURNS, {**place, "turn": start}, where={**place, "topic": state.first})
    return [*topic_messages(tx, place, [row["message_id"] for row in rows]).values()]


def topic_messages(
    tx: Tx, place: Place, ids: Collection[str], known_messages: Mapping[str, Message] | None = None
) -> dict[str, TopicMessage]:
    """The messages with these ids, by them, in order; those that are known are not read again."""
    messages = [known_messages[id] for id in ids if id in known_messages] if known_messages else []
    if len(messages) < len(ids):
        unknown_ids = [id for id in ids if id not in known_messages] if known_messages else ids
        messages += tx.find_messages(place["space"], ids=unknown_ids, damaged=warn_of_damage)
    readable = [message for message in messages if not message.erased]
    return {
        message.id: TopicMessage(message.turn, message.role, message.author, message.content, message.time)
        for message in sorted(readable, key=lambda message: message.turn)
    }


def messages_in_packs(tx: Tx, place: Place, state: TopicState) -> list[TopicMessage]:
    """The messages of a topic that are in packs, in order."""
    if not state.packed_upto:
        return []
    rows = tx.rows(PACKS, where={**place, "topic": state.first})
    return [message for row in rows for message in decode_pack(bytes(row["packed"]))]


def messages_of_parts(tx: Tx, place: Place, parts: Sequence[TopicState]) -> list[TopicMessage]:
    """Every message of a topic and of the topics merged into it, in order."""
    messages = [
        message
        for part in parts
        for message in (*messages_in_packs(tx, place, part), *messages_outside_packs(tx, place, part))
    ]
    return sorted(messages, key=lambda message: message.turn)


def active_messages_of_parts(tx: Tx, place: Place, parts: Sequence[TopicState]) -> list[TopicMessage]:
    """The messages of the active set, in order: those in no pack, and those in packs if the topic was opened again."""
    messages = list[TopicMessage]()
    for part in parts:
        messages += messages_in_packs(tx, place, part) if part.opened is not None else []
        messages += messages_outside_packs(tx, place, part)
    return sorted(messages, key=lambda message: message.turn)


def pack_messages(
    tx: Tx,
    place: Place,
    states: Sequence[TopicState],
    packed_before: Mapping[int, int],
    known_messages: Mapping[str, Message],
) -> list[TopicState]:
    """Put the messages that left the active set of some topics into packs; `packed_before` of them are there already.
    Of their messages, those that are known are not read again. A topic with a new pack waits for a summary."""
    counts = {state.first: state.packed - packed_before[state.first] for state in states}
    growing = [state for state in states if counts[state.first] > 0]
    if not growing:
        return list(states)
    messages = _messages_by_topic(tx, place, growing, known_messages)
    packs: list[dict[str, Any]] = []
    changes: dict[int, TopicState] = {}
    for state in growing:
        new_messages = messages[state.first][: counts[state.first]]
        packs += _new_packs(tx, place, state, new_messages)
        upto = new_messages[-1].turn if new_messages else state.packed_upto
        changes[state.first] = replace(state, packed_upto=upto, pending=True)
    tx.put(PACKS, packs)
    return [changes.get(state.first, state) for state in states]


def _messages_by_topic(
    tx: Tx, place: Place, states: Sequence[TopicState], known_messages: Mapping[str, Message]
) -> dict[int, list[TopicMessage]]:
    """The messages of some topics that are in no pack, in order."""
    topics = {
        row["message_id"]: state.first
        for state in states
        for row in tx.rows(TURNS, {**place, "turn": state.packed_upto}, where={**place, "topic": state.first})
    }
    messages: dict[int, list[TopicMessage]] = {state.first: [] for state in states}
    for id, message in topic_messages(tx, place, topics, known_messages).items():
        messages[topics[id]].append(message)
    return messages


def _new_packs(tx: Tx, place: Place, state: TopicState, messages: Sequence[TopicMessage]) -> list[dict[str, Any]]:
    """The packs of a topic with these messages; the last one is taken out of the store if there is room in it."""
    topic_key = {**place, "topic": state.first}
    last_packs = tx.rows(PACKS, limit=1, where=topic_key, newest=True) if messages and state.packed_upto else []
    if last_packs and last_packs[0]["messages"] < PACK_SIZE:
        messages = [*decode_pack(bytes(last_packs[0]["packed"])), *messages]
        tx.remove(PACKS, {**topic_key, "last": last_packs[0]["last"]})
    packs = [messages[start : start + PACK_SIZE] for start in range(0, len(messages), PACK_SIZE)]
    return [{**topic_key, "last": pack[-1].turn, "messages": len(pack), "packed": encode_pack(pack)} for pack in packs]


def summary_of(tx: Tx, place: Place, first: int) -> Mapping[str, Any]:
    """The summary of a topic and up to which turn it goes (`upto`), and the model's own summary, up to `base_upto`."""
    rows = tx.rows(SUMMARIES, where={**place, "topic": first})
    if rows:
        return rows[0]
    return {**place, "topic": first, "summary": "", "upto": 0, "base": "", "base_upto": 0, "extract": {}}


def summary_lines(tx: Tx, place: Place, first: int) -> tuple[ExtractLine, ...]:
    """The lines of a topic's summary, with who said them; those that a model wrote, with nobody."""
    summary = summary_of(tx, place, first)
    lines = from_object(summary["extract"]) or narrative_lines(summary["summary"])
    return tuple(line if line.role else replace(line, time=None) for line in lines)


# -- packing


FORM = b"\x01"
SECOND = 1_000_000  # microseconds
PACK_SIZE = 64
"""Messages of one pack. More of them gain little, and all of a pack is written again when it grows."""


def encode_pack(messages: Sequence[TopicMessage]) -> bytes:
    """The messages, in order, as bytes."""
    speakers = list(dict.fromkeys((message.role, message.author) for message in messages))
    lines = [json.dumps(speakers, ensure_ascii=False)]
    turn = 0
    time = 0
    for message in messages:
        now = to_microseconds(message.time)
        gap = now - time
        # Most times are whole seconds; finer ones are written in microseconds.
        delay = f"{gap // SECOND}" if gap % SECOND == 0 else f"{gap}u"
        speaker = speakers.index((message.role, message.author))
        words = json.dumps(message.content, ensure_ascii=False)[1:-1]
        lines.append(f"{speaker} {message.turn - turn} {delay} {words}")
        turn = message.turn
        time = now
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15, 9, zlib.Z_DEFAULT_STRATEGY, DICTIONARY)
    return FORM + compressor.compress("\n".join(lines).encode()) + compressor.flush()


def decode_pack(data: bytes) -> list[TopicMessage]:
    """The messages of a pack. InvalidInput for bytes that are no pack."""
    try:
        if data[:1] != FORM:
            raise ValueError(f"the format {data[:1]!r} is not known")
        decompressor = zlib.decompressobj(-15, DICTIONARY)
        head, *lines = (decompressor.decompress(data[1:]) + decompressor.flush()).decode().split("\n")
        return _read_lines(json.loads(head), lines)
    except (ValueError, IndexError, TypeError, zlib.error, OverflowError) as error:
        raise InvalidInput(
            "packed", f"(the messages of a topic) cannot be read: {error}; run `everword rebuild topics`"
        ) from None


def _read_lines(speakers: Sequence[Sequence[str]], lines: Sequence[str]) -> list[TopicMessage]:
    messages: list[TopicMessage] = []
    turn = 0
    time = 0
    for line in lines:
        speaker, turns, delay, words = line.split(" ", 3)
        role, author = speakers[int(speaker)]
        turn += int(turns)
        time += int(delay[:-1]) if delay.endswith("u") else int(delay) * SECOND
        content = json.loads(f'"{words}"')
        messages.append(TopicMessage(turn, check_role(role), author, content, from_microseconds(time)))
    return messages


# The most frequent phrases stand last: they are nearest. A change here needs another version of the form.
_PHRASES = resources.files("everword.topics").joinpath("data/phrases.txt")
_LINE_FRAMES = '. \n1 1 60 \n0 1 60 [["user", "user"], ["assistant", "assistant"]]'
DICTIONARY = (" ".join(_PHRASES.read_text("utf-8").split()) + _LINE_FRAMES).encode()
