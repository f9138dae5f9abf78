"""What a benchmark ran on."""

from __future__ import annotations

import os
import platform
import subprocess
import time

STEPS = 1_000_000
TRIES = 5


def describe_machine() -> str:
    """The processor, its cores, how busy it is, the Python, and how fast that is: how it was compiled makes up to a
    third of the speed of everything, and no version number tells it."""
    model = platform.processor() or platform.machine()
    described = subprocess.run(["lscpu"], capture_output=True, text=True, check=False) if os.name == "posix" else None
    if described is not None and described.returncode == 0:
        fields = dict(line.split(":", 1) for line in described.stdout.splitlines() if ":" in line)
        model = fields.get("Model name", model).strip()
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    system = f"{model} ({platform.machine()}), {os.cpu_count()} cores, {platform.system()}{load}"
    return f"{system}, Python {platform.python_version()} ({loop_nanoseconds():.0f} ns a step of a loop)"


def loop_nanoseconds() -> float:
    """How long a step of a plain loop takes, with a dictionary and a text in it: the least of a few tries."""
    return min(_seconds_for_loop() for _ in range(TRIES)) * 1e9 / STEPS


def _seconds_for_loop() -> float:
    texts: dict[int, str] = {}
    letters = 0
    began = time.process_time()
    for number in range(STEPS):
        texts[number % 1_000] = str(number)
        letters += len(texts[number % 1_000])
    return time.process_time() - began
