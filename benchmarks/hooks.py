"""How long a coding agent waits for its memory: `python benchmarks/hooks.py [--messages 50000] [--count 100]`.

Fills a store with messages of one project and runs the prompt's hook as a host does, each time a new process, with the
service running. Then the delays where there is no store yet, the store is locked, and the service hangs. Each figure is
printed beside that of a shell that does nothing, started in the same way; `cpu` is the processor time of the started
programs per prompt, and for a full store also that of the service. The load of the machine is printed, too.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import quantiles

from everword import Draft, Memory
from everword.agents.hook import socket_path
from everword.agents.install import command_for
from everword.agents.service import STORE
from everword.agents.sessions import project_of

WORDS = ("cache", "queue", "index", "parser", "worker", "token", "socket", "schema", "retry", "deploy", "fixture")
PROMPT = "How did we mend the {} of the {}?"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=50_000)
    parser.add_argument("--count", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        fill(place / "full", place, options.messages)
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors", flush=True)
        show("a shell that does nothing", [run("exit 0", place, place) for _ in range(options.count)])
        with service(place / "full") as running:
            before = service_seconds(running)
            show(f"prompt, {options.messages:,} messages", prompts(place / "full", place, options.count))
            service_cpu = (service_seconds(running) - before) / options.count
            print(f"{'of the service, per prompt':40} cpu {service_cpu * 1000:5.0f} ms", flush=True)
            with closing(sqlite3.connect(place / "full" / STORE, isolation_level=None)) as locking:
                locking.execute("BEGIN EXCLUSIVE")
                show("prompt, store locked for writing", prompts(place / "full", place, options.count // 4))
        few = options.count // 10
        show("prompt, no store and no service", [prompts(place / f"new{n}", place, 1)[0] for n in range(few)])
        for n in range(few):
            stop_started(place / f"new{n}")
        (place / "hung").mkdir()
        with closing(socket.socket(socket.AF_UNIX)) as hung:
            hung.bind(socket_path(str(place / "hung")))
            hung.listen()
            show("prompt, service that hangs", prompts(place / "hung", place, few))
        print(f"load {os.getloadavg()[0]:.1f}", flush=True)


def fill(home: Path, project: Path, count: int) -> None:
    home.mkdir()
    chance = random.Random(1)
    user = os.environ["EVERWORD_USER"] = "bench"
    with Memory(str(home / STORE)) as memory:
        for start in range(0, count, 500):
            chat = memory.conversation(f"s{start}", user=user, space=project_of(str(project)).id)
            chat.extend(
                Draft("user", " ".join(chance.choices(WORDS, k=12)) + f" {n}") for n in range(start, start + 500)
            )
        memory.settle(3_600)


@contextmanager
def service(home: Path) -> Iterator[int]:
    command = [sys.executable, "-m", "everword.agents.service", str(home)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        running.stderr.readline()
        yield running.pid
        running.send_signal(signal.SIGTERM)


def service_seconds(pid: int) -> float:
    """The processor's time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def stop_started(home: Path) -> None:
    subprocess.run(["pkill", "-f", f"everword.agents.service {home}"], check=False)


def prompts(home: Path, project: Path, count: int) -> list[tuple[float, float]]:
    chance = random.Random(2)
    written = [PROMPT.format(*chance.choices(WORDS, k=2)) for _ in range(count)]
    return [run(command_for("claude", "prompt"), home, project, prompt) for prompt in written]


def run(command: str, home: Path, project: Path, prompt: str = "") -> tuple[float, float]:
    """How long a hook takes, and the processor's time of its process: seconds."""
    event = json.dumps({"session_id": "s", "cwd": str(project), "prompt": prompt})
    environment = os.environ | {"EVERWORD_AGENTS": str(home)}
    begin, before = time.perf_counter(), os.times()
    subprocess.run(["sh", "-c", command], input=event, env=environment, capture_output=True, text=True, check=True)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - begin, cpu


def show(what: str, runs: list[tuple[float, float]]) -> None:
    cuts = quantiles([seconds for seconds, _ in runs], n=20, method="inclusive")
    cpu = sum(cpu for _, cpu in runs) / len(runs)
    figures = f"p50 {cuts[9] * 1000:5.0f} ms   p95 {cuts[18] * 1000:5.0f} ms   cpu {cpu * 1000:5.0f} ms"
    print(f"{what:40} {figures}   n={len(runs)}", flush=True)


if __name__ == "__main__":
    main()
