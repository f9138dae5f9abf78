"""How long `everword search` takes from a process that has just begun, beside floors measured in the same run.

    python benchmarks/start.py [--messages 10000] [--runs 7] [--store FILE]

Floors: a bare interpreter, and one that imports only SQLAlchemy and numpy, which a search cannot do without. Of each
the best of several runs is shown: seconds on the wall, and of the processor, which other programs disturb less. All is
compiled beforehand, as an installation is. The searches follow a first one that is not counted: files are in memory.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from corpus import corpus
from everword import Draft, Memory
from everword.follow.follower import settle
from table import show

BATCH = 1_000
GOAL = 0.6  # seconds


def keep(path: Path, count: int) -> None:
    """A store of that many messages of one person, which can be searched."""
    with Memory(str(path), followers=False) as memory:
        chat = memory.conversation("many", user="alex")
        texts = corpus(count)
        for first in range(0, count, BATCH):
            chat.extend([Draft("user", text) for text in texts[first : first + BATCH]])
        runtime = memory.engine.runtime
        memory.run(lambda _: settle([runtime.followers["index"]], 3600, runtime.calls))


def time_command(command: Sequence[str], runs: int, environment: dict[str, str]) -> tuple[float, float]:
    """Seconds on the wall and of the processor, the best of some runs after one that is not counted."""
    walls, processors = [], []
    for _ in range(runs + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
        walls.append(time.perf_counter() - start)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processors.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(walls[1:]), min(processors[1:])


def compiled_environment(folder: Path) -> dict[str, str]:
    """An environment whose interpreters keep what they compile in this folder, as an installation does."""
    compiled = {"PYTHONPYCACHEPREFIX": str(folder.resolve() / "compiled"), "PYTHONDONTWRITEBYTECODE": ""}
    return {**os.environ, **compiled}


def search_command(store: str) -> list[str]:
    return ["-m", "everword", "search", "silver river", "--user", "alex", "--store", store]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--store", type=Path, help="search this store, of a user alex, instead of making one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=".") as folder:
        store = options.store or Path(folder) / "memory.db"
        if options.store is None:
            keep(store, options.messages)
        environment = compiled_environment(Path(folder))
        search = search_command(str(store))
        commands = {
            "python -c pass": ["-c", "pass"],
            'python -c "import sqlalchemy, numpy"': ["-c", "import sqlalchemy, numpy"],
            "everword --version": ["-m", "everword", "--version"],
            "everword search": search,
            "everword search --json": [*search, "--json"],
        }
        times = {
            name: time_command([sys.executable, *arguments], options.runs, environment)
            for name, arguments in commands.items()
        }
    rows = [[name, f"{wall:.2f}", f"{processor:.2f}"] for name, (wall, processor) in times.items()]
    show(f"Start, {options.messages:,} messages (goal {GOAL} s)", ["command", "s", "processor s"], rows)


if __name__ == "__main__":
    main()
