"""What the memory gives for published conversations, as digests: a change of the code that changes nothing shows none.

Each conversation is kept in a memory without a model, through the public interface, and all that a user gets of it is
written down as text: rankings, contexts and receipts for each question, facts of each speaker, summaries, topics. The
digests of these texts are kept in the repository, and the texts are not: the data sets are others'. `dump` writes the
texts to a folder, so that two versions can be compared line by line.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path

from everword import Budget, Draft, Episode, Fact, Memory
from everword.memory.blocking import BlockingConversation, BlockingMemory
from quality.datasets import Dataset, Haystack, Question
from quality.recall import BATCH, OWNER, PATIENCE, SetClock

DIGEST = 8  # hexadecimal digits
RANKED = 20  # hits
SMALL = Budget(total=2_000)
QUESTIONS = 60  # of a conversation, drawn by their ids: all of them would take ten times as long

Texts = dict[str, str]
Progress = Callable[[str], None]


def texts_of(dataset: Dataset, progress: Progress = lambda what: None) -> Iterator[tuple[str, Texts]]:
    """For each conversation of a set all that the memory gives, by kind and name."""
    for haystack in dataset.haystacks:
        progress(haystack.name)
        yield f"{dataset.name}/{haystack.name}", texts_of_haystack(haystack)


def texts_of_haystack(haystack: Haystack) -> Texts:
    clock = SetClock()
    clock.moment = max(turn.time for turn in haystack.turns)
    with (
        tempfile.TemporaryDirectory(prefix="everword-bench-") as folder,
        Memory(f"{folder}/frozen.db", clock=clock, followers=False, chat_model="", memory_model="") as memory,
    ):
        chats = keep_turns(memory, haystack)
        memory.settle(PATIENCE)
        texts = {f"facts/{person}": fact_lines(memory, person) for person in people_of(haystack)}
        texts["summaries"] = "\n".join(episode_text(part) for chat in chats.values() for part in chat.episodes())
        texts["topics"] = "\n".join(map(topic_lines, chats.values()))
        for question in drawn_questions(haystack):
            clock.moment = max(clock.moment, question.asked_at)
            texts |= texts_of_question(memory, next(iter(chats.values())), question)
    return texts


def keep_turns(memory: BlockingMemory, haystack: Haystack) -> dict[str, BlockingConversation]:
    """Keep all turns: one long chat, or a conversation for each session. Ids are those of the set."""
    parts = (
        {haystack.name: haystack.turns}
        if haystack.continuous
        else {session.id: session.turns for session in haystack.sessions}
    )
    chats: dict[str, BlockingConversation] = {}
    for name, turns in parts.items():
        chats[name] = memory.conversation(name, user=OWNER)
        drafts = [
            Draft(
                turn.role,
                turn.text,
                author=None if turn.speaker == turn.role else turn.speaker,
                time=turn.time,
                id=f"{name}:{turn.id}",
            )
            for turn in turns
        ]
        for first in range(0, len(drafts), BATCH):
            chats[name].extend(drafts[first : first + BATCH])
    return chats


def people_of(haystack: Haystack) -> list[str]:
    """Everybody of whom there may be facts."""
    return sorted({turn.speaker for turn in haystack.turns if turn.speaker != turn.role} | {OWNER})


def drawn_questions(haystack: Haystack) -> list[Question]:
    ordered = sorted(haystack.questions, key=lambda question: sha256(question.id.encode()).digest())
    return sorted(ordered[:QUESTIONS], key=lambda question: (question.asked_at, question.id))


def texts_of_question(memory: BlockingMemory, chat: BlockingConversation, question: Question) -> Texts:
    hits = memory.search(question.text, user=OWNER, limit=RANKED)
    texts = {f"rankings/{question.id}": "\n".join(f"{hit.kind} {hit.message.id} {hit.relevance:.2f}" for hit in hits)}
    for name, budget in (("default", Budget()), ("small", SMALL)):
        context = chat.context(question.text, budget=budget)
        texts[f"contexts/{question.id}/{name}"] = "\n\n".join(message["content"] for message in context.messages)
        texts[f"receipts/{question.id}/{name}"] = context.receipt.explain()
    return texts


def fact_lines(memory: BlockingMemory, person: str) -> str:
    return "\n".join(sorted(map(fact_line, memory.facts(user=person))))


def fact_line(fact: Fact) -> str:
    about = f"{fact.subject or ''}/{fact.category}/{fact.key} = {fact.value}"
    valid = f"{'active' if fact.active else 'history'}, {fact.valid_from} to {fact.valid_to}, said at {fact.said_at}"
    return f"{about} ({valid}; by {fact.speaker}; from {', '.join(fact.sources)})"


def episode_text(episode: Episode) -> str:
    return "\n".join([f"{episode.id}: {episode.summary}", *map(episode_text, episode.parts)])


def topic_lines(chat: BlockingConversation) -> str:
    lines = []
    for topic in chat.topics(faded=True):
        turns = ", ".join(str(message.turn) for message in chat.get_full_topic_history(topic.id))
        lines.append(f"{topic.id} {topic.title!r} {topic.kind}, turns {turns}\n{topic.summary}")
    return "\n".join(lines)


# -- digests


def digests_of(texts: Mapping[str, str]) -> dict[str, str]:
    return {name: sha256(text.encode()).hexdigest()[:DIGEST] for name, text in sorted(texts.items())}


def differences(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """The names of what is new, gone or different."""
    return sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))


def read_digests(file: Path) -> dict[str, dict[str, str]]:
    content: dict[str, dict[str, str]] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return content


def write_digests(file: Path, digests: Mapping[str, Mapping[str, str]]) -> None:
    file.write_text(json.dumps(digests, indent=0, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


def dump_texts(folder: Path, name: str, texts: Mapping[str, str]) -> None:
    """Write the texts below a folder, one file for each, to be compared with those of another version."""
    for item, text in texts.items():
        path = folder.joinpath(*(re.sub(r"[^\w.-]", "_", part) for part in f"{name}/{item}".split("/")))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_name(f"{path.name}.txt").write_text(f"{text}\n", encoding="utf-8")
