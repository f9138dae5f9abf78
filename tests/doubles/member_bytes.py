"""A program that prints the bytes Python holds for the profile of one member of a space, in a process that does nothing
else: another memory in the process, or a test before, would count for the member.

    python member_bytes.py STORE SPACE MEMBERS TIME

reads the profiles of members "0" to MEMBERS - 1, and counts what each of two quarters of them leaves behind, after the
half before: what is by chance loaded only then is in one of the two, so the less is what a member costs.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc
from datetime import datetime
from itertools import pairwise

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
        quarter = members // 4
        for first in (members // 2, members // 2 + quarter):
            for number in range(first, first + quarter):
                memory.profile(user=f"{number}", space=space)
            counts.append(count_allocated())
        return min(after - before for before, after in pairwise(counts)) / quarter


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
