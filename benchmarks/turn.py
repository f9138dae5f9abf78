"""Memory's own share of a turn, beside the embedder's time in the same run, and how much of a prompt stays the same.

    python benchmarks/turn.py [--sizes 10 100 1000 10000] [--turns 30] [--store URL]

One conversation of one user is given a history of so many turns, five minutes apart until now, all views caught up; ten
thousand of them are five weeks, so most of its topics have faded, as they have in a chat. Then exchanges go through
`reply`, whole: the message is appended, indexed and embedded, memory is searched, the context is built and counted,
the reply and its tiers are appended. The model is a double that answers at once; what it takes is not counted.
Beside it: the embedding of one message, and the processor's time of the turn, which other programs on the machine do
not disturb as much. Views follow in the background, as in a program; between turns they catch up, which is timed apart,
since no user waits for it.

The last column is about a server's prompt cache: how much of a prompt is, from its first byte on, what the prompt of
the turn before began with.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from statistics import fmean

from corpus import corpus
from everword import AsyncConversation, AsyncMemory, Draft
from everword.models.embedding.local import StaticEmbedder
from everword.models.tokens import TiktokenTokenizer
from everword.ports import Completion, Request
from prompts import as_sent, repeated_shares
from table import milliseconds, percentile, show

BATCH = 1_000
PAUSE = 0.5  # seconds between turns: a person takes longer, and followers end their last look
WARM = 5  # exchanges before, to fill caches
APART = timedelta(minutes=5)  # from one message of the history to the next


class InstantModel:
    """Answers at once, with the tiers it is asked for; remembers what it was sent and how long it took."""

    name = "instant"

    def __init__(self, replies: list[str]) -> None:
        self._replies = replies
        self.prompts: list[str] = []
        self.seconds = 0.0

    async def complete(self, request: Request) -> Completion:
        start = time.perf_counter()
        text = self._replies[len(self.prompts) % len(self._replies)]
        words = text.split()
        block = f"U1: said = {words[0]}\nU2: {words[0]}.\nA1: said = {words[0]}\nA2: {' '.join(words[:8])}."
        self.prompts.append(as_sent(request.messages))
        self.seconds += time.perf_counter() - start
        return Completion(f"{text}\n<everword>\n{block}\n</everword>", self.name, 0, 0)

    async def stream(self, request: Request) -> AsyncIterator[str | Completion]:
        answer = await self.complete(request)
        yield answer.text
        yield answer

    async def close(self) -> None:
        """Nothing to close."""


@dataclass
class Measured:
    """Seconds of each turn, by the clock and of the processor, of the catching up after it, and the prompts sent."""

    turns: list[float] = field(default_factory=list)
    worked: list[float] = field(default_factory=list)
    after: list[float] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)


async def keep_history(url: str, said: Sequence[str], model: InstantModel) -> None:
    """Keep these messages as one conversation that lasts until now, and have all views read them."""
    now = datetime.now(UTC)
    async with AsyncMemory(url, chat=model, followers=False) as memory:
        chat = memory.conversation("long", user="alex")
        for first in range(0, len(said), BATCH):
            part = enumerate(said[first : first + BATCH], start=first)
            await chat.extend(
                [Draft("assistant" if n % 2 else "user", text, time=now - APART * (len(said) - n)) for n, text in part]
            )
            await memory.settle(3600)


async def time_exchange(
    memory: AsyncMemory, chat: AsyncConversation, model: InstantModel, text: str
) -> tuple[float, float, float]:
    """Seconds of an exchange, by the clock and of the processor, and of the catching up after it."""
    before, start, work = model.seconds, time.perf_counter(), time.process_time()
    await chat.reply(text)
    spent = time.perf_counter() - start - (model.seconds - before)
    worked = time.process_time() - work
    start = time.perf_counter()
    await memory.settle(600)
    return spent, worked, time.perf_counter() - start


async def measured(url: str, size: int, exchanges: int) -> Measured:
    texts = corpus(size + 2 * (exchanges + WARM))
    said, replies, asked = texts[:size], texts[size::2], texts[size + 1 :: 2]
    model, found = InstantModel(replies), Measured()
    await keep_history(url, said, model)
    async with AsyncMemory(url, chat=model) as memory:
        await memory.settle(3600)
        chat = memory.conversation("long", user="alex")
        for number, text in enumerate(asked[: exchanges + WARM]):
            spent, worked, took = await time_exchange(memory, chat, model, text)
            await asyncio.sleep(PAUSE)
            if number >= WARM:
                found.turns.append(spent)
                found.worked.append(worked)
                found.after.append(took)
    found.prompts = model.prompts[WARM:]
    return found


def embedding(texts: list[str]) -> list[float]:
    """Seconds to embed one message, each."""

    async def run() -> list[float]:
        embedder, seconds = StaticEmbedder(), []
        await embedder.embed(texts)
        for text in texts:
            start = time.perf_counter()
            await embedder.embed([text])
            seconds.append(time.perf_counter() - start)
        return seconds

    return asyncio.run(run())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 100, 1_000, 10_000], help="turns of history")
    parser.add_argument("--turns", type=int, default=30, help="exchanges measured at each size")
    parser.add_argument("--store", help="measure this empty store (one size only) instead of SQLite files")
    options = parser.parse_args()
    rows, medians = [], dict[int, tuple[float, float]]()
    for size in options.sizes:
        with tempfile.TemporaryDirectory(dir=".") as folder:
            url = options.store or f"{folder}/ours.db"
            found = asyncio.run(measured(url, size, options.turns))
        embed = embedding(corpus(200, seed=2))
        medians[size] = percentile(found.turns, 0.5), percentile(found.worked, 0.5)
        shares = repeated_shares(found.prompts, TiktokenTokenizer().count)
        rows.append(
            [
                f"{size:,}",
                milliseconds(percentile(embed, 0.5)),
                milliseconds(medians[size][0]),
                milliseconds(percentile(found.turns, 0.95)),
                milliseconds(medians[size][1]),
                milliseconds(percentile(found.after, 0.5)),
                f"{percentile([len(prompt) for prompt in found.prompts], 0.5):,.0f}",
                f"{fmean(shares):.0%}",
            ]
        )
    header = ["turns", "embedding p50 ms", "turn p50 ms", "turn p95 ms", "processor p50 ms", "after it p50 ms"]
    prompt = ["prompt characters", "same tokens, mean"]
    show("A turn without the model, one conversation, static embedder", [*header, *prompt], rows)
    for (small, before), (large, after) in pairwise(medians.items()):
        by_clock, by_work = after[0] / before[0], after[1] / before[1]
        print(f"growth from {small:,} to {large:,} turns: {by_clock:.1f} times, of the processor {by_work:.1f} times")


if __name__ == "__main__":
    main()
