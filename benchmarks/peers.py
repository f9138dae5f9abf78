"""everword beside other stores of memories, on this machine, in one run, with the same texts and the same vectors.

    python benchmarks/peers.py [--data locomo.json] [--sizes 6000 56000] [--peers chroma mem0] [--json FILE]

Each store runs in a process of its own (`peer_drivers/driver.py`), in an environment of its own that is made in a cache
folder the first time, and may take `--seconds` at most. One that cannot be installed is said to be so and does not stop
the others. Texts are from a seed (`corpus.py`), all of one person; the vectors are those of everword's built-in
embedder, computed beforehand. With `--data`, a file of LoCoMo or LongMemEval, recall@10 is measured as well: each turn
is a message, and evidence is searched among the turns of its own conversation.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any

import everword
from corpus import corpus, questions
from everword.models.embedding.local import WIDTH, StaticEmbedder
from machine import describe_machine
from quality import datasets
from quality.baselines import as_indexed, embedded
from table import percentile, show

DRIVERS = Path(__file__).parent / "peer_drivers"
SECONDS = 240.0  # for one store
QUERIES = 200  # searches at a size up to LARGE
FEW_QUERIES = 50  # and above it
LARGE = 10_000  # messages
BETWEEN = timedelta(minutes=7)  # from one message to the next
NEWS = 5.0  # seconds between lines of progress where they cannot be overwritten
MISSING = "–"


@dataclass(frozen=True, slots=True)
class PeerKind:
    """A store to compare: the module of its driver and what is to be installed; nothing, if it runs with us."""

    driver: str
    requirement: str = ""
    loads_extensions: bool = False  # into SQLite, which some builds of Python do not allow


PEERS = {
    "everword": PeerKind("everword_store"),
    "langgraph": PeerKind("langgraph_store", "langgraph-checkpoint-sqlite==3.1.2", loads_extensions=True),
    "chroma": PeerKind("chroma_store", "chromadb==1.5.9"),
    "mem0": PeerKind("mem0_store", "mem0ai==2.2.1"),
    "exact scan": PeerKind("exact_scan"),
}


# -- what every store is given


def prepare_input(folder: Path, sizes: Sequence[int], data: Path | None) -> None:
    """Write the texts, the questions and a vector for each of them."""
    texts = corpus(max(sizes))
    asked = questions(texts, QUERIES)
    first = datetime.now(UTC) - BETWEEN * len(texts)
    messages = [
        {"text": text, "content": text, "time": (first + BETWEEN * place).isoformat()}
        for place, text in enumerate(texts)
    ]
    haystacks = [] if data is None else [haystack_input(haystack) for haystack in datasets.load(data).haystacks]
    known = dict.fromkeys(["", *texts, *asked])
    for haystack in haystacks:
        known |= dict.fromkeys(message["text"] for message in haystack["messages"])
        known |= dict.fromkeys(question["text"] for question in haystack["questions"])
    vectors = asyncio.run(embedded(StaticEmbedder(), [*known]))
    (folder / "vectors.f32").write_bytes(vectors.astype("<f4").tobytes())
    searches = [(size, QUERIES if size <= LARGE else FEW_QUERIES) for size in sorted(sizes)]
    given = {"texts": [*known], "width": WIDTH, "messages": messages, "queries": asked, "sizes": searches}
    (folder / "input.json").write_text(json.dumps({**given, "haystacks": haystacks}), encoding="utf-8")


def haystack_input(haystack: datasets.Haystack) -> dict[str, Any]:
    """A haystack as a driver reads it; evidence is the places of its turns."""
    places = {turn.id: place for place, turn in enumerate(haystack.turns)}
    messages = [
        {
            "text": as_indexed(turn),
            "content": turn.text,
            "author": None if turn.speaker == turn.role else turn.speaker,
            "time": turn.time.isoformat(),
        }
        for turn in haystack.turns
    ]
    asked = [
        {
            "text": question.text,
            "asked_at": question.asked_at.isoformat(),
            "evidence": [places[id] for id in question.evidence],
        }
        for question in haystack.questions
    ]
    return {"messages": messages, "questions": asked}


# -- running a store


def cache_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "everword-peers"


def environment(kind: PeerKind, cache: Path) -> Path:
    """The Python of a store's own environment, which is made and filled if it is missing. Raises OSError or
    CalledProcessError if that cannot be done."""
    if not kind.requirement:
        return Path(sys.executable)
    home = cache / f"{kind.requirement}-py{sys.version_info.major}{sys.version_info.minor}"
    python = home / "bin" / "python"
    if not (home / "ready").exists():
        say(f"installing {kind.requirement}")
        base = python_with_extensions() if kind.loads_extensions else sys.executable
        subprocess.run([base, "-m", "venv", "--clear", home], check=True, capture_output=True, text=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", kind.requirement]
        subprocess.run(install, check=True, capture_output=True, text=True)
        (home / "ready").touch()
    return python


def python_with_extensions() -> str:
    """This Python, or another of the machine, whose SQLite loads extensions."""
    question = "import sqlite3, venv, ensurepip; sqlite3.Connection.enable_load_extension"
    system = [f"{place}/python3" for place in ("/usr/bin", "/usr/local/bin", "/opt/homebrew/bin")]
    for python in (sys.executable, *system):
        if Path(python).exists() and not subprocess.run([python, "-c", question], capture_output=True).returncode:
            return python
    raise OSError("no Python here whose SQLite loads extensions")


def run_peer(name: str, source: Path, cache: Path, seconds: float) -> dict[str, Any]:
    """What was measured of a store; with `problem` if not all of it."""
    kind = PEERS[name]
    try:
        python = environment(kind, cache)
    except (OSError, subprocess.CalledProcessError) as error:
        lines = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
        return {"problem": f"cannot be installed: {lines[-1]}"}
    command = [str(python), str(DRIVERS / "driver.py"), kind.driver, str(source), str(seconds)]
    own = "" if kind.requirement else str(Path(everword.__file__).resolve().parents[1])
    surroundings = {**os.environ, "PYTHONPATH": own}
    with (
        tempfile.TemporaryDirectory(dir=".", prefix="peers-") as folder,
        (Path(folder) / "errors").open("w+", encoding="utf-8") as errors,
    ):
        with subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=errors, text=True, env=surroundings
        ) as process:
            result = follow_process(name, process, seconds)
        if process.returncode != 0:
            errors.seek(0)
            lines = errors.read().strip().splitlines()
            ended = f"stopped after {seconds:.0f} s" if process.returncode < 0 else (lines or ["ended early"])[-1]
            result["problem"] = ended
    return result


def follow_process(name: str, process: subprocess.Popen[str], seconds: float) -> dict[str, Any]:
    """Read what a driver prints until it ends or its time is over; the last thing that it measured."""
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    result: dict[str, Any] = {}
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if not (line.startswith("{") and line.endswith("}\n")):
                continue  # what a library prints, or the half of a line that was left
            news = json.loads(line)
            result = news.get("result", result)
            if "progress" in news:
                say(f"{name}: {news['progress']} {news['done']:,}/{news['total']:,}", passing=True)
        process.wait()
    finally:
        timer.cancel()
    return result


_last_news = 0.0


def say(text: str, *, passing: bool = False) -> None:
    """Progress, on standard error: overwritten on a terminal, else a line every few seconds."""
    global _last_news
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="" if passing else "\n", file=sys.stderr, flush=True)
    elif not passing or time.monotonic() - _last_news >= NEWS:
        print(text, file=sys.stderr, flush=True)
        _last_news = time.monotonic()


# -- what is printed


def core_packages() -> int:
    """Packages that a plain install of everword brings, itself included."""
    names, known = ["everword"], set()
    while names:
        name = names.pop().lower().replace("_", "-")
        if name in known:
            continue
        try:
            needed = requires(name) or []
        except PackageNotFoundError:  # of another system or an older Python
            continue
        known.add(name)
        names += [requirement_name(line) for line in needed if "extra" not in line.partition(";")[2]]
    return len(known)


def requirement_name(line: str) -> str:
    end = next((place for place, letter in enumerate(line) if not (letter.isalnum() or letter in "-_.")), len(line))
    return line[:end]


def table_row(name: str, result: Mapping[str, Any], sizes: Sequence[int]) -> list[str]:
    """The cells of a store. A size that was not reached has none."""
    reached = {part["size"]: part for part in result.get("sizes", ()) if part["messages"] >= part["size"]}
    bulk = [part["bulk"] for part in result.get("sizes", ()) if part["bulk"]]
    searches = [p50_and_p95(reached[size]["seconds"]) if size in reached else MISSING for size in sizes]
    recall = f"{result['recall']:.1%}" if "recall" in result else MISSING
    adds = f"{result['adds']:,.0f}" if "adds" in result else MISSING
    used = f"{result['bytes']:,.0f}" if result.get("bytes") else MISSING
    rates = " / ".join(f"{rate:,.0f}" for rate in bulk) or MISSING
    kind = PEERS[name]
    packages = str(result.get("packages", MISSING)) if kind.requirement else str(core_packages())
    title = kind.requirement.replace("==", " ") or name
    return [title, adds, rates, *searches, recall, used, MISSING if name == "exact scan" else packages]


def p50_and_p95(seconds: Sequence[float]) -> str:
    return " / ".join(f"{percentile(seconds, share) * 1000:.1f}" for share in (0.5, 0.95))


def notes(results: Mapping[str, Mapping[str, Any]]) -> Iterable[str]:
    """What the table does not say."""
    for name, result in results.items():
        if "problem" in result:
            yield f"{name}: {result['problem']}"
        short = [part for part in result.get("sizes", ()) if part["messages"] < part["size"]]
        yield from (f"{name}: {part['messages']:,} of {part['size']:,} messages in its time" for part in short)
        if result.get("finishing", 0) > 1 and result.get("sizes"):
            first = result["sizes"][0]
            whole = first["messages"] / (first["messages"] / first["bulk"] + result["finishing"])
            yield f"{name}: with every view, {whole:,.0f} messages a second"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[6_000, 56_000])
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS), metavar="NAME", help=", ".join(PEERS))
    parser.add_argument("--data", type=Path, help="a file of LoCoMo or LongMemEval, to measure recall@10")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="the most that one store may take")
    parser.add_argument("--cache", type=Path, default=cache_folder(), help="where environments are kept")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all that was measured to a file")
    options = parser.parse_args()
    about = describe_machine()
    sizes = sorted(options.sizes)
    with tempfile.TemporaryDirectory(dir=".", prefix="peers-input-") as folder:
        say("preparing texts and vectors")
        source = Path(folder).resolve()
        prepare_input(source, sizes, options.data)
        results = {name: run_peer(name, source, options.cache, options.seconds) for name in options.peers}
    header = ["store", "adds/s", "bulk/s", *(f"search ms p50 / p95, {size:,}" for size in sizes)]
    rows = [table_row(name, results[name], sizes) for name in options.peers]
    show(about, [*header, "recall@10", "bytes a message", "packages"], rows)
    for line in notes(results):
        print(f"- {line}")
    if options.json:
        options.json.write_text(json.dumps({"machine": about, "results": results}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
