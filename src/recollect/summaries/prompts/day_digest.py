"""Summarizes a day in a space for each member who spoke on it: one request for all of them, some sentences each.

The answer names members by their ids. Unknown ids are dropped. A member who was left out, or whose entry says what
nobody said, gets their own most important sentences instead. So every member has exactly one entry.

A day too long for one request is asked about in parts; then the `notes` of the parts become one entry for each member.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, tzinfo
from typing import Any

from recollect.errors import ModelNonsense
from recollect.facts.rules.grounding import Grounds
from recollect.follow import task_answers as answers
from recollect.follow.task import DATA, build_request, object_schema, repair_request
from recollect.model import Message
from recollect.ports import Request
from recollect.summaries.rules import extract
from recollect.summaries.rules.days import People, replace_mentions, transcript
from recollect.summaries.rules.lines import SpokenLine, member_lines, render_lines
from recollect.summaries.rules.tiers import clean
from recollect.text.fences import Fenced, escape_line, plain_name, section

name = "day_digest"

CHARACTERS = 300  # of an entry, about
MOST = 420  # characters of an entry that is kept whole
MAX_MESSAGE = 2_000  # characters of one message that are shown
OWN = 8_000  # characters of a member's own words that the built-in writer reads


@dataclass(frozen=True, slots=True)
class Inputs:
    """A day's messages, oldest first, and the ids of those who spoke; `names` by id, of others too.

    With `notes`, the messages are entries that were made of parts of the day.
    """

    day: date
    zone: tzinfo
    messages: tuple[Message, ...]
    members: tuple[str, ...]
    names: Mapping[str, str] = field(compare=False)
    notes: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """An entry for each member, by id; and those whose entry the built-in writer made."""

    entries: Mapping[str, str]
    offline: frozenset[str] = frozenset()


_EXAMPLE = {
    "members": [
        {
            "id": "17",
            "summary": "Dana was nervous about a talk on Friday and practised it with Kim. She cheered up in the end.",
        },
        {"id": "23", "summary": "Kim listened to Dana's talk twice and told her to cut the second slide."},
    ]
}
_SYSTEM = f"""You keep the diary of a group chat. You get one day of it, as XML. For each member in the list write what
this day was for them, in about {CHARACTERS} characters:
what happened to them or what they told of, their mood, whom they talked with about what, how they behaved, and what
others said about them. Plain sentences in the third person, with their name. In the language of the chat.
Use only what is said. Never change a number or a name, never drop a "not". One entry for each member, by author_id.
Write about each member only what concerns them.
{DATA}
Answer with JSON only, as in: {json.dumps(_EXAMPLE, ensure_ascii=False)}"""
_NOTES = "These are not messages but notes on parts of the day, oldest first: make one entry of each member's notes."
_TOKENS = (300, 160, 12_000)  # of an answer: to begin with, for each member, at most


def build(inputs: Inputs) -> Request:
    people = _people(inputs)
    member_lines = [Fenced(f"- {people.ids[id]} ({plain_name(people.names[id])})") for id in inputs.members]
    ids = {"type": "string", "enum": [people.ids[id] for id in inputs.members]}
    entry = object_schema({"id": ids, "summary": {"type": "string"}})
    parts = [
        Fenced(f"The day is {inputs.day.isoformat()}, {inputs.day:%A}." + (f" {_NOTES}" if inputs.notes else "")),
        section("MESSAGES", [transcript(map(shorten_message, inputs.messages), inputs.names, inputs.zone)]),
        section("MEMBERS", member_lines, between="\n"),
    ]
    base_tokens, member_tokens, max_tokens = _TOKENS
    return build_request(
        _SYSTEM,
        "\n".join(parts),
        max_tokens=min(base_tokens + member_tokens * len(inputs.members), max_tokens),
        schema=object_schema({"members": {"type": "array", "items": entry}}),
    )


def parse(text: str, inputs: Inputs) -> Reply:
    grounds = Grounds.of(
        "\n".join([*(shorten_message(message).content for message in inputs.messages), *inputs.names.values()])
    )
    # The id as it was shown decides; another id may be written the same.
    by_label = {id: id for id in inputs.members} | {_people(inputs).ids[id]: id for id in inputs.members}
    entries: dict[str, str] = {}
    entry_count = 0
    fault = ""
    for label, entry_text in _entries(text, inputs):
        entry_count += 1
        id = by_label.get(label) or by_label.get(html.unescape(label))
        summary = clean(entry_text)
        entry_fault = _fault(summary, grounds)
        if id is not None and id not in entries and not entry_fault:
            entries[id] = extract.first_sentences(summary, MOST, len)
        fault = fault or entry_fault
    if not entries:
        raise ModelNonsense(fault or (_STRANGERS if entry_count else _NO_ENTRIES))
    missing = [id for id in inputs.members if id not in entries]
    return Reply(entries | {id: _own_entry(id, inputs) for id in missing}, frozenset(missing))


def repair(inputs: Inputs, text: str, error: ModelNonsense) -> Request:
    return repair_request(build(inputs), text, error)


def offline(inputs: Inputs) -> Reply:
    return Reply({id: _own_entry(id, inputs) for id in inputs.members}, frozenset(inputs.members))


def _people(inputs: Inputs) -> People:
    """The ids and names of all people of the day, as shown in its messages."""
    return People.of([*(message.author for message in inputs.messages), *inputs.members], inputs.names)


# -- what a model wrote

_NO_ENTRIES = 'There is no JSON of the form {"members": [{"id": "...", "summary": "..."}]} in the answer.'
_STRANGERS = "No entry has the id of a member; copy the ids from the list of members."
_IDS = ("id", "authorid", "memberid", "userid", "member", "user", "author")
_TEXTS = ("summary", "text", "entry", "digest", "content")


def _entries(text: str, inputs: Inputs) -> Iterator[tuple[str, str]]:
    """The ids and texts in an answer: a list of entries, or texts under their ids."""
    keys = _plain_ids(inputs)
    for answer in answers.objects(text):
        list_items = [item for value in answer.values() if isinstance(value, list) for item in value]
        for entry in [answer, *(item for item in list_items if isinstance(item, dict))]:
            id = _first_value(entry, _IDS)
            summary = _first_value(entry, _TEXTS)
            if id and summary:
                yield id.strip(), summary
        for texts_by_key in [answer, *(value for value in answer.values() if isinstance(value, dict))]:
            yield from (
                (keys[key], value) for key, value in texts_by_key.items() if key in keys and isinstance(value, str)
            )


def _plain_ids(inputs: Inputs) -> dict[str, str]:
    """Ids by what remains of them as a key of an answer, only those that stay distinct."""
    plain_ids = dict[str, list[str]]()
    for id in inputs.members:
        plain_ids.setdefault("".join(filter(str.isalnum, id)).casefold(), []).append(id)
    reserved_keys = {*_IDS, *_TEXTS, "members", ""}
    return {key: ids[0] for key, ids in plain_ids.items() if len(ids) == 1 and key not in reserved_keys}


def _first_value(entry: Mapping[str, Any], names: tuple[str, ...]) -> str:
    value = next((entry[name] for name in names if entry.get(name)), "")
    return answers.line(value) if isinstance(value, str | int | list) else ""


def _fault(summary: str, grounds: Grounds) -> str:
    """What is wrong with an entry; empty if nothing is."""
    if not any(map(str.isalnum, summary)):
        return "An entry is empty."
    summary_text = " ".join(summary.casefold().split())
    if any(entry["summary"].casefold() in summary_text for entry in _EXAMPLE["members"]):
        return "An entry repeats the example."
    strangers = grounds.find_inventions(summary)
    return f"An entry mentions {', '.join(strangers[:4])}, which nobody said." if strangers else ""


# -- without one


def _own_entry(id: str, inputs: Inputs) -> str:
    """What a member said, the most important sentences; with notes, what those say."""
    contents = [replace_mentions(message.content, inputs.names) for message in inputs.messages if message.author == id]
    max_characters = extract.size_limit([len(text) for text in contents], OWN)
    texts = [text[:max_characters] for text in contents]
    member = plain_name(inputs.names.get(id, id)) or "A member"
    if inputs.notes:
        return render_lines(extract.condense([member_lines(text, member) for text in texts], MOST, len))
    lines = extract.gist([SpokenLine("user", member, text) for text in texts], CHARACTERS, len)
    return render_lines(lines) or f"{member}: {' '.join(escape_line(text) for text in texts)}"[:CHARACTERS].strip()


def shorten_message(message: Message) -> Message:
    if len(message.content) <= MAX_MESSAGE:
        return message
    tail = MAX_MESSAGE // 4
    return replace(message, content=f"{message.content[: MAX_MESSAGE - tail]} […] {message.content[-tail:]}")
