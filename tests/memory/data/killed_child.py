"""Processes that import messages until they are killed. One line on standard input starts one:

    URL START SEED

Message n has the platform id n; a process keeps messages from START on without end, one to eight in a transaction,
spread over three conversations. It says what each transaction returned: those are acknowledged, and must be there
whatever happens next. A line of output is `pid N` (it has been started), `kept N=ID …`, or `ended` (it is dead).

Each is forked from this process, which has everything imported already and no memory open: so that killing fifty of
them takes seconds. A line is short enough to be written whole or not at all.
"""

from __future__ import annotations

import os
import random
import sys
from importlib import import_module
from itertools import count
from tempfile import TemporaryDirectory

from everword import Batch, Draft, Memory

CONVERSATIONS = 3
LOADED = ("stores.sqlite", "stores.jsonfile", "stores.postgres", "models.tokens")  # what is imported on use


def content(number: int) -> str:
    return f"Message {number} is about the number {number * 7919}."


def batches(numbers: list[int]) -> list[Batch]:
    """A message always goes to the same conversation, so that delivering it again finds it there."""
    found: dict[int, list[Draft]] = {}
    for number in numbers:
        draft = Draft("user", content(number), platform_id=str(number))
        found.setdefault(number % CONVERSATIONS, []).append(draft)
    return [Batch("default", f"chat {place}", "alex", drafts) for place, drafts in found.items()]


def say(line: str) -> None:
    os.write(sys.stdout.fileno(), line.encode() + b"\n")


def import_for_ever(url: str, start: int, seed: int) -> None:
    chance, numbers = random.Random(seed), count(start)
    with Memory(url) as memory:
        while True:
            kept = memory.add_many(batches([next(numbers) for _ in range(chance.randint(1, 8))]))
            messages = [one.message for added in kept for one in added]
            say("kept " + " ".join(f"{message.platform_id}={message.id}" for message in messages))


def warm_up() -> None:
    """Whatever is made on its first use is made before the first fork: patterns, tables, prepared statements."""
    with TemporaryDirectory() as folder, Memory(f"{folder}/memory.db", followers=False) as memory:
        memory.add_many(batches([*range(CONVERSATIONS)]))
        memory.settle()


def main() -> None:
    warm_up()
    for name in LOADED:
        import_module(f"everword.{name}")
    for line in sys.stdin:
        url, start, seed = line.split()
        child = os.fork()
        if child == 0:
            import_for_ever(url, int(start), int(seed))
        say(f"pid {child}")
        os.waitpid(child, 0)
        say("ended")


if __name__ == "__main__":
    main()
