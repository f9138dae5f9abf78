"""Dialogues that go from task to task, put together from short ones written for this: who books a table, then asks for
the weather, then changes a contract.

The tasks are in `benchmarks/data/task_dialogues.txt`, one after another with a line of equals signs between them. Half
of them may be learned from, the other half is for reporting. A dialogue is three to six tasks, drawn by a seed.
"""

from __future__ import annotations

import random
from pathlib import Path

from everword.model import Role
from quality.dialogues import Dialogue, Line, Marked

FILE = Path(__file__).parent.parent / "data" / "task_dialogues.txt"
FEWEST = 3
MOST = 6
DIALOGUES = 60
SEED = 11


def read_tasks() -> list[list[str]]:
    """The messages of each task."""
    return [block.strip().splitlines() for block in FILE.read_text(encoding="utf-8").split("=====\n")]


def assemble_tasks(*, to_learn: bool, roles: bool, seed: int = SEED, count: int = DIALOGUES) -> Marked:
    """Dialogues of the one half of the tasks or the other. With `roles` every second message is an assistant's."""
    tasks = read_tasks()[0 if to_learn else 1 :: 2]
    chance = random.Random(seed)
    dialogues = []
    for number in range(count):
        lines: list[Line] = []
        for task in chance.sample(tasks, chance.randint(FEWEST, MOST)):
            for place, text in enumerate(task):
                role: Role = "assistant" if roles and place % 2 else "user"
                lines.append(Line(text, role, place == 0 and bool(lines)))
        dialogues.append(Dialogue(f"tasks {number + 1}", tuple(lines)))
    return Marked(tuple(dialogues))
