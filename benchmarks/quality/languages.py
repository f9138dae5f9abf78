"""The memory in other languages: one chat a file, with questions, facts, times and commands that people marked in it.

Each chat is kept as one user's, without a model, as a user would have it. Then it is asked in its own language and in
English; its facts, its topics, the times and the commands are compared with what is marked. Unrelated prompts in each
language are in `data/unrelated_prompts_languages.json`.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

from everword.errors import InvalidInput
from everword.facts.rules.commands import parse_command
from everword.library import Memory
from everword.model import Draft, Fact
from everword.text.dates import days_of, next_after, spans
from quality.evidence import letters
from quality.facts import PATIENCE, fact_text
from quality.recall import ASKING, SetClock
from quality.shapes import AFTER_THE_LAST

PROMPTS = Path(__file__).parent.parent / "data" / "unrelated_prompts_languages.json"
CHAT = "chat"
FIRST = 10
KINDS = {"remember": "remember", "forget": "forget", "recall": "ask", "none": "none"}
"""The marked kinds of commands, and what the memory calls them."""


@dataclass(frozen=True, slots=True)
class Chat:
    """One file: a chat of one user, and what people marked in it."""

    language: str
    user: str
    messages: tuple[dict[str, Any], ...]
    questions: tuple[dict[str, Any], ...]
    cross_questions: tuple[dict[str, Any], ...]
    facts: tuple[dict[str, Any], ...]
    times: tuple[dict[str, Any], ...]
    commands: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """What one chat came to, in per cent where it is a share. `wrong` says which times and commands were not right."""

    language: str
    own: float
    english: float
    in_context: float
    unrelated: float
    facts: float
    facts_a_message: float
    times: float
    commands: float
    false_commands: int
    topics: int
    largest_topic: float
    titles: tuple[str, ...]
    known: tuple[Fact, ...]
    wrong: tuple[str, ...]


def load_chats(folder: Path, languages: Sequence[str] = ()) -> list[Chat]:
    """The chats of a folder, in the order of their languages; of some languages only, if they are named."""
    files = sorted(folder.glob("*.json"))
    chats = [_chat(file) for file in files if not languages or file.stem in languages]
    if not chats:
        there = ", ".join(file.stem for file in files) or "no file at all"
        raise InvalidInput("data", f"{folder} has no such chat; it has: {there}")
    return chats


def _chat(file: Path) -> Chat:
    try:
        entry = json.loads(file.read_text(encoding="utf-8"))
        lists = {name: tuple(entry[name]) for name in Chat.__slots__[2:]}
        return Chat(entry["language"], entry["user"], **lists)
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(
            "data", f"{file} is not a chat with questions, facts, times and commands: {error}"
        ) from error


def measure_languages(chats: Iterable[Chat], embedder: str, report: Callable[[], None]) -> Iterator[Measured]:
    prompts: dict[str, list[str]] = json.loads(PROMPTS.read_text(encoding="utf-8"))
    for chat in chats:
        clock = SetClock()
        with (
            tempfile.TemporaryDirectory(prefix="everword-bench-") as folder,
            Memory(
                f"{folder}/bench.db", embedder=embedder, clock=clock, followers=False, chat_model="", memory_model=""
            ) as memory,
        ):
            yield measure_chat(chat, memory, clock, prompts.get(chat.language, []))
        report()


def measure_chat(chat: Chat, memory: Memory, clock: SetClock, prompts: Sequence[str]) -> Measured:
    ids = keep(chat, memory, clock)
    facts = tuple(memory.facts(user=chat.user))
    topics = memory.conversation(CHAT, user=chat.user).topics(faded=True)
    wrong_times = [time for time in chat.times if not is_right_time(time, chat)]
    wrong_commands = [command for command in chat.commands if not is_right_command(command)]
    return Measured(
        chat.language,
        share(found_share(memory, chat, ids, question) for question in chat.questions),
        share(found_share(memory, chat, ids, question) for question in chat.cross_questions),
        share(has_evidence(memory, chat, question) for question in chat.questions),
        share(retrieves_nothing(memory, chat, prompt) for prompt in prompts),
        share(is_covered(fact, facts) for fact in chat.facts),
        len(facts) / sum(message["role"] == "user" for message in chat.messages),
        100 - share(time in wrong_times for time in chat.times),
        100 - share(command in wrong_commands for command in chat.commands),
        sum(command["kind"] == "none" for command in wrong_commands),
        len(topics),
        100 * max((topic.messages for topic in topics), default=0) / len(chat.messages),
        tuple(topic.title for topic in topics),
        facts,
        tuple(entry.get("expression") or f"{entry['kind']}: {entry['text']}" for entry in wrong_times + wrong_commands),
    )


def share(values: Iterable[float]) -> float:
    """The mean of some shares, in per cent."""
    known = list(values)
    return 100 * sum(known) / len(known) if known else 0.0


def keep(chat: Chat, memory: Memory, clock: SetClock) -> dict[str, str]:
    """Keep a chat and let every view catch up. For each message's id, the one it has in the file."""
    clock.moment = max(time_of(message) for message in chat.messages) + AFTER_THE_LAST
    drafts = [Draft(message["role"], message["text"], time=time_of(message)) for message in chat.messages]
    added = memory.conversation(CHAT, user=chat.user).extend(drafts)
    memory.settle(PATIENCE)
    return {kept.message.id: message["id"] for kept, message in zip(added, chat.messages, strict=True)}


def time_of(message: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(message["time"])


# -- finding


def found_share(memory: Memory, chat: Chat, ids: dict[str, str], question: dict[str, Any]) -> float:
    hits = memory.search(question["question"], user=chat.user, limit=FIRST)
    found = {ids.get(hit.message.id) for hit in hits}
    return len(found & {*question["evidence"]}) / len(question["evidence"])


def has_evidence(memory: Memory, chat: Chat, question: dict[str, Any]) -> bool:
    """Whether all evidence is in the default context of a new chat, word for word."""
    context = memory.conversation(ASKING, user=chat.user).context(question["question"])
    sent = letters("\n".join(message["content"] for message in context.messages))
    texts = {message["id"]: letters(message["text"]) for message in chat.messages}
    return all(texts[id] in sent for id in question["evidence"])


def retrieves_nothing(memory: Memory, chat: Chat, prompt: str) -> bool:
    receipt = memory.conversation(ASKING, user=chat.user).context(prompt).receipt
    return not any(section.items for section in receipt.sections if section.name == "retrieved")


# -- facts, times, commands


def is_covered(marked: dict[str, Any], facts: Sequence[Fact]) -> bool:
    """Whether one fact holds at least half of the key words of a marked one."""
    words = [word.casefold() for word in marked["key_words"]]
    texts = [fact_text(fact).casefold() for fact in facts]
    return any(2 * sum(word in text for word in words) >= len(words) for text in texts)


def is_right_time(marked: dict[str, Any], chat: Chat) -> bool:
    """Whether the message's text is read as the marked days, at the marked words."""
    message = next(message for message in chat.messages if message["id"] == marked["message"])
    first, last = date.fromisoformat(marked["from"]), date.fromisoformat(marked["until"])
    now, text = time_of(message), message["text"]
    at = text.casefold().find(marked["expression"].casefold())
    end = at + len(marked["expression"])
    read = [span for span in spans(text, now) if span.at < end and span.at + len(span.text) > at]
    return any((first, last) in (days_of(span), days_of(next_after(span, now))) for span in read)


def is_right_command(marked: dict[str, Any]) -> bool:
    return parse_command(marked["text"], (), for_bot=True).kind == KINDS[marked["kind"]]
