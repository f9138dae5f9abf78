"""A process of its own on a shared store: adds messages, follows the log, and notes every text it embeds.

    following_child.py URL LOG NAME COUNT

Starts when a line comes in, says "settled" when its views have caught up with the log.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from engine_doubles import CountingEmbedder

from recollect import Memory


def main(url: str, log: str, name: str, count: int) -> None:
    with Memory(url, embedder=CountingEmbedder(log=Path(log)), window_turns=0) as memory:
        print("ready", flush=True)
        sys.stdin.readline()
        for number in range(count):
            memory.conversation("shared", space="guild").add("user", f"shared message {number} of {name}", author=name)
            memory.conversation(name, user=name).add("user", f"own message {number} of {name}")
        memory.settle()
    print("settled", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
