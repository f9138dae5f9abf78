"""Finds out what a message asks of the memory, in free form: remember, forget, tell what is known, or nothing.

A model's answer is checked against the message: what to remember or forget must be in it, in its words, and the person
it is about must be named there. In a group the bot must be called by name, whatever a model says, and obviously
ordinary talk is no command. Ask only if `facts.rules.commands.may_be_command` says that it may be one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from everword.errors import ModelNonsense
from everword.facts.rules.commands import NO_COMMAND, Command, CommandKind, is_addressed, is_talk, parse_command
from everword.follow import task_answers as answers
from everword.follow.task import DATA, TaskMessage, build_request, fence_text, object_schema, repair_request
from everword.ports import Request
from everword.text.fences import Fenced, escape_line, fold_name, plain_name, section
from everword.text.terms import analyse

name = "command"

Reply = Command


@dataclass(frozen=True, slots=True)
class Inputs:
    """The message, what the bot is called, and whether all messages here are for it.

    `people` are the names of members, if they are at hand; `exchange` what was said before, oldest first.
    """

    text: str
    names: tuple[str, ...]
    addressed: bool = False
    people: tuple[str, ...] = ()
    exchange: tuple[TaskMessage, ...] = ()


_KINDS: tuple[CommandKind, ...] = ("remember", "forget", "ask", "none")
_SYSTEM = f"""You read commands to a chat bot's memory. Most messages are none.
kind: "remember" if the bot is told to keep something about a person; "forget" if it is told to forget something;
"ask" if it is asked what it knows about a person; "none" for everything else: ordinary talk, other questions and
orders, people who remember or forget something themselves, reminders to do something.
about: whom, as written ("Bob", "@bob", "<@12>"); "me" if it is the writer; "" if it is not said.
text: what to remember or forget, or the thing asked about, copied from the message; "" if there is none.
refers_back: true if it points at earlier messages ("remember this", "he likes tea").
{DATA}
Answer with JSON only.

Examples, for a bot called Bot:
Bot remember that Kim is a vet -> {{"kind": "remember", "about": "Kim", "text": "Kim is a vet", "refers_back": false}}
hey bot, remember this about Kim -> {{"kind": "remember", "about": "Kim", "text": "", "refers_back": true}}
bot pls forget what i said about tea -> {{"kind": "forget", "about": "me", "text": "tea", "refers_back": false}}
Bot what do you know about my dog? -> {{"kind": "ask", "about": "me", "text": "my dog", "refers_back": false}}
Bot, do you remember that film? -> {{"kind": "none", "about": "", "text": "", "refers_back": false}}
don't forget to buy milk -> {{"kind": "none", "about": "", "text": "", "refers_back": false}}"""
_SCHEMA = object_schema(
    {
        "kind": {"type": "string", "enum": list(_KINDS)},
        "about": {"type": "string"},
        "text": {"type": "string"},
        "refers_back": {"type": "boolean"},
    }
)
_MAX_SAID = 400  # characters of an earlier message
_MAX_EXCHANGE = 4  # messages
_SELF = frozenset({"me", "myself", "i", "my", "user", "the user", "the writer", "writer", "speaker"})
_NOBODY = frozenset({"", "none", "null", "nobody", "bot", "n/a", "unknown"})


def build(inputs: Inputs) -> Request:
    bot_names = ", ".join(filter(None, map(plain_name, inputs.names))) or "Bot"
    chat = [
        Fenced(f"{message.role}: {escape_line(message.text[:_MAX_SAID])}")
        for message in inputs.exchange[-_MAX_EXCHANGE:]
    ]
    parts = [f"The bot is called {bot_names}."]
    parts += [section("BEFORE", chat, between="\n")] if chat else []
    parts.append(fence_text("MESSAGE", inputs.text))
    return build_request(_SYSTEM, "\n".join(parts), max_tokens=200 + min(len(inputs.text), 2_000) // 3, schema=_SCHEMA)


def parse(text: str, inputs: Inputs) -> Reply:
    entry = next((entry for entry in answers.objects(text) if "kind" in entry), None)
    if entry is None:
        raise ModelNonsense('There is no JSON with "kind", "about", "text" and "refers_back" in the answer.')
    kind = answers.line(entry["kind"]).strip().casefold()
    if kind not in _KINDS:
        raise ModelNonsense(f'The kind is "{escape_line(kind[:40])}"; it must be one of {", ".join(_KINDS)}.')
    if kind == "none" or not (inputs.addressed or is_addressed(inputs.text, inputs.names)):
        return NO_COMMAND
    if is_talk(inputs.text) and offline(inputs).kind == "none":
        return NO_COMMAND
    return _check_command(cast(CommandKind, kind), entry, inputs)


def repair(inputs: Inputs, text: str, error: ModelNonsense) -> Request:
    return repair_request(build(inputs), text, error)


def offline(inputs: Inputs) -> Reply:
    return parse_command(inputs.text, inputs.names, for_bot=inputs.addressed, people=inputs.people)


def _check_command(kind: CommandKind, entry: Mapping[str, Any], inputs: Inputs) -> Command:
    about = " ".join(answers.line(entry.get("about")).split())
    text = " ".join(answers.line(entry.get("text")).split())
    refers_back = entry.get("refersback") is True or answers.line(entry.get("refersback")).casefold() == "true"
    about_key = about.casefold()
    if about_key not in _SELF | _NOBODY and fold_name(about) not in fold_name(inputs.text):
        raise ModelNonsense(
            f'"{escape_line(about[:80])}" is not named in the message. Copy the name as it is written there.'
        )
    language = analyse(inputs.text).language
    strange_terms = set(analyse(text, language).terms) - set(analyse(inputs.text, language).terms)
    if text and strange_terms and len(strange_terms) > len(analyse(text, language).terms) / 3:
        raise ModelNonsense("The text is not in the message. Copy it from there.")
    if kind in ("remember", "forget") and not text and not refers_back:
        raise ModelNonsense(f'What to {kind} is missing: copy it into "text", or set "refers_back".')
    if kind == "ask" and about_key in _NOBODY and not refers_back:
        raise ModelNonsense('Whom it asks about is missing: say it in "about", or the kind is "none".')
    return Command(kind, "me" if about_key in _SELF else None if about_key in _NOBODY else about, text, refers_back)
