"""A program that prints the bytes Python holds for the profile of one member of a space, in a process that does nothing
else: another memory in the process, or a test before, would count for the member.

    python member_bytes.py STORE SPACE MEMBERS TIME

reads the profiles of members "0" to MEMBERS - 1, and counts what each of three sixths of them leaves behind, after the
half before: what is by chance loaded or let go only then is in one of them, so the middle one is what a member costs.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc
from datetime import datetime
from itertools import pairwise
from statistics import median

from everword import Memory
from everword.stores.connections import OpenConnection
from everword.stores.sqlite import SqliteTx
from everword.testing import FrozenClock


def measure_member(url: str, space: str, members: int, time: datetime) -> float:
    with Memory(url, clock=FrozenClock(time), telemetry="off", followers=False) as memory:
        for number in range(members // 2):  # what is loaded once is loaded now
            memory.profile(user=f"{number}", space=space)
        tracemalloc.start()
        counts = [0]
        sixth = members // 6
        for first in range(members // 2, members, sixth):
            for number in range(first, first + sixth):
                memory.profile(user=f"{number}", space=space)
            counts.append(count_allocated())
        return median(after - before for before, after in pairwise(counts)) / sixth


def count_allocated() -> int:
    """Bytes that Python holds, without what comes and goes beside a member: cursors of the database, which its driver
    lets go some hundred at a time, connections, tasks, and the register of finalizers."""
    gc.collect()
    passing = [tracemalloc.Filter(False, f"*/{part}*") for part in ("sqlalchemy/pool/", "asyncio/", "weakref.py")]
    for function in (OpenConnection.run, SqliteTx.fetch_named, SqliteTx._fetch_raw):
        code = function.__code__
        lines = {line for _, _, line in code.co_lines() if line}
        passing += [tracemalloc.Filter(False, code.co_filename, lineno=line) for line in lines]
    return sum(trace.size for trace in tracemalloc.take_snapshot().filter_traces(passing).traces)


if __name__ == "__main__":
    store, of_space, count, at = sys.argv[1:]
    print(measure_member(store, of_space, int(count), datetime.fromisoformat(at)))
