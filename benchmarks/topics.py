"""What topics cost and save, beside what the source document claims for them (E8).

    python benchmarks/topics.py [--topics 20] [--messages 400] [--data FILE] [--store URL]

A conversation of so many topics goes through `add_user_message`: kept, given its topic, on the disk. The embedding of
the same message, timed in the same run, is taken off. Packing a topic happens every ninth message of it, within the
same call. "Beside adding" is how much longer that takes than a plain `add` of the same message. Packing is measured on
real talk: the demo's, or the longest conversation of a file that `everword import` reads.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import random
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from corpus import words
from everword import AsyncMemory
from everword.cli.demo import drafts
from everword.config import Settings
from everword.memory.operations.conversation import AsyncConversation
from everword.model import TopicMessage
from everword.models.embedding.local import StaticEmbedder
from everword.topics.rules import topics as rule
from everword.topics.rules.topic_set import round_vector
from everword.topics.rules.topics import Book, FadedTopics, IncomingMessage
from everword.topics.stored_topics import decode_pack, encode_pack
from everword.topics.view import may_lean
from everword.wiring import topic_rule
from quality.talks import read_talk
from table import milliseconds, percentile, show

START = datetime(2026, 1, 1, tzinfo=UTC)
SIZES = (9, 20, 50, 64)
WARM = 40  # messages before, to fill caches
REPEATS = 200


def talk(topics: int, count: int, seed: int = 0) -> list[str]:
    """Messages of so many subjects, a few in a row on each, each with words of its own."""
    chance, known = random.Random(seed), words()[500:]
    own = [known[start * 30 : start * 30 + 14] for start in range(topics)]
    subject, said = 0, list[str]()
    while len(said) < count:
        subject = chance.randrange(topics) if len(said) >= 3 * topics else len(said) // 3
        for _ in range(3):
            drawn = chance.sample(own[subject], 8)
            said.append(f"About the {drawn[0]} and the {drawn[1]}: " + " ".join(drawn[2:]) + chance.choice(".?!"))
    return said[:count]


Times = list[tuple[float, float]]  # seconds by the clock, and of the processor


async def timed(run: Callable[[], Awaitable[object]]) -> tuple[float, float]:
    start, busy = time.perf_counter(), time.process_time()
    await run()
    return time.perf_counter() - start, time.process_time() - busy


async def adding(url: str, texts: Sequence[str]) -> tuple[Times, Times, Times, int]:
    """Seconds each of `add_user_message` less the embedding, of the embedding, and of a plain `add`; and the topics."""
    embedder, whole, embedding, plain = StaticEmbedder(), Times(), Times(), Times()
    async with AsyncMemory(url, followers=False) as memory:
        chat = memory.conversation("topics", user="alex")
        other = memory.conversation("plain", user="alex")
        for text in texts:
            embedding.append(await timed(lambda: embedder.embed([text])))  # noqa: B023
            whole.append(less(await timed(lambda: chat.add_user_message(text)), embedding[-1]))  # noqa: B023
            plain.append(await timed(lambda: other.add("user", text)))  # noqa: B023
        found = len(await chat.topics(faded=True))
    return whole[WARM:], embedding[WARM:], plain[WARM:], found


async def matching(texts: Sequence[str], topics: int) -> Times:
    """Seconds of the decision alone, with so many topics to choose from."""
    vectors = await StaticEmbedder().embed(texts)
    book, how, spent = Book(), topic_rule(Settings()), Times()
    for turn, (text, vector) in enumerate(zip(texts, vectors, strict=True), 1):
        start, busy = time.perf_counter(), time.process_time()
        said = IncomingMessage(turn, "user", text, START, round_vector(vector), leaning=may_lean(text))
        rule.choose_topic(book, said, how)
        spent.append((time.perf_counter() - start, time.process_time() - busy))
        book = rule.step(book, said, how, FadedTopics)
    return spent[3 * topics :]


async def coming_back(url: str) -> tuple[Times, int]:
    """Seconds of reading a packed topic's whole history through the store, and its messages."""
    async with AsyncMemory(url, followers=False) as memory:
        chat: AsyncConversation = memory.conversation("packed", user="alex")
        lines = [draft.content for draft in drafts()] * 3
        topic = await chat.add_user_message(lines[0])
        for line in lines[1:]:
            await chat.add_assistant_message(line)
        spent = [await timed(lambda: chat.get_full_topic_history(topic.id)) for _ in range(REPEATS)]
        return spent, len(await chat.get_full_topic_history(topic.id))


def said_in(path: str | None) -> list[TopicMessage]:
    """Real talk."""
    if path is None:
        lines = [(draft.role, draft.content) for draft in drafts()]
    else:
        with tempfile.TemporaryDirectory() as folder:
            exchanges = read_talk(Path(path), Path(folder)).exchanges
        lines = [one for each in exchanges for one in (("user", each.asked), ("assistant", each.answered))]
    return [
        TopicMessage(turn, role, "alex" if role == "user" else "assistant", text, START + turn * timedelta(seconds=47))
        for turn, (role, text) in enumerate(lines, 1)
    ]


def packed(messages: Sequence[TopicMessage]) -> list[tuple[object, ...]]:
    """For runs of each size: bytes of JSON, saved by gzip (as text, in base64, as the document keeps it) and by us."""
    rows: list[tuple[object, ...]] = []
    for size in (size for size in SIZES if size <= len(messages)):
        plain = zipped = ours = 0
        spent: list[float] = []
        for start in range(0, len(messages) - size + 1, size):
            run = messages[start : start + size]
            form = [{"role": m.role, "content": m.content, "timestamp": m.timestamp} for m in run]
            text = json.dumps(form, ensure_ascii=False).encode()
            pack = encode_pack(run)
            plain, zipped, ours = plain + len(text), zipped + len(gzip.compress(text, 9)), ours + len(pack)
            for _ in range(20):
                begun = time.perf_counter()
                decode_pack(pack)
                spent.append(time.perf_counter() - begun)
        saved = [f"{100 - 100 * part / plain:.1f} %" for part in (zipped * 4 / 3, zipped, ours)]
        rows.append((size, f"{plain:,}", *saved, milliseconds(percentile(spent, 0.5))))
    return rows


async def measure(args: argparse.Namespace) -> None:
    texts = talk(args.topics, args.messages)
    with tempfile.TemporaryDirectory() as folder:
        url = args.store or f"{folder}/topics.db"
        whole, embedding, plain, found = await adding(url, texts)
        back, length = await coming_back(url)
    decided = await matching(texts, args.topics)
    rows = packed(said_in(args.data))
    best = [str(row[4]) for row in rows]
    show(
        f"Topics: {len(texts)} messages, {found} topics",
        ("what", "the document", "median", "95 %", "median of the processor"),
        [
            ("add a message, beside embedding (ms)", "< 1", *pair(whole)),
            ("  of that, more than a plain add (ms)", "", *pair(more(whole, plain))),
            ("  the embedding of it (ms)", "", *pair(embedding)),
            ("match a message to its topic (ms)", "1 to 2", *pair(decided)),
            (f"read a packed topic of {length} messages (ms)", "1 to 5", *pair(back)),
            ("saved by packing", "70 to 90 %", f"{best[0]} to {best[-1]}", "", ""),
        ],
    )
    show(
        "Packing, by messages in a pack",
        ("messages", "bytes as JSON", "gzip, base64", "gzip", "everword", "unpack (ms)"),
        rows,
    )


def less(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    return max(one[0] - other[0], 0.0), max(one[1] - other[1], 0.0)


def more(whole: Times, plain: Times) -> Times:
    return [less(one, other) for one, other in zip(whole, plain, strict=True)]


def pair(times: Times) -> tuple[str, str, str]:
    clock, busy = [one for one, _ in times], [one for _, one in times]
    return (
        milliseconds(percentile(clock, 0.5)),
        milliseconds(percentile(clock, 0.95)),
        milliseconds(percentile(busy, 0.5)),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--messages", type=int, default=400)
    parser.add_argument("--data", help="a chat, in any form that `everword import` reads, for packing")
    parser.add_argument("--store", help="address of an empty store; a temporary SQLite file otherwise")
    asyncio.run(measure(parser.parse_args()))


if __name__ == "__main__":
    main()
