"""How many secrets are found, how many look-alikes are taken for one, and how long that takes.

    python benchmarks/secrets_found.py [--data FOLDER]

Prints figures for the corpora of tests/secrets/data. With a folder of conversations (JSON files and logs of IRC in
it, however nested), every message of it is read, too: how many were marked, each of them with what would stand in its
place, and the microseconds of CPU a message.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from everword.secrets.detector import find_secrets

CORPORA = Path(__file__).parent.parent / "tests" / "secrets" / "data"
SAID = ("text", "content", "query", "clean_text")  # the fields of messages
HOSTILE = (
    "password is ",
    "1",
    "4 ",
    "a",
    "a1",
    "abandon ",
    "eyJ",
    "sk-",
    "token=",
    "key: ",
    "token=1 ",
    "door code 12 ",
    "Zk3mP9qLr0Xv8TnB2s ",
    "://a:",
    "-----BEGIN PRIVATE KEY-----",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, help="a folder of conversations")
    folder = parser.parse_args().data
    for corpus in sorted(CORPORA.glob("secrets*.jsonl")):
        print_corpus(corpus)
    for unit in HOSTILE:
        text = unit * (1_000_000 // len(unit))
        begun = time.process_time()
        find_secrets(text)
        print(f"1 MB of {unit!r}: {time.process_time() - begun:.2f} s of CPU")
    if folder:
        for path in sorted(folder.rglob("*")):
            if path.suffix == ".json" or path.name.endswith(".raw.txt"):
                print_messages(path, folder)


def print_corpus(path: Path) -> None:
    found = exact = false = secrets = lookalikes = 0
    for line in path.read_text(encoding="utf-8").splitlines():
        text, spans = read_line(line)
        marked = [(mark.start, mark.end) for mark in find_secrets(text)]
        if spans:
            secrets += 1
            found += all(any(start <= at and end <= stop for start, stop in marked) for at, end in spans)
            exact += marked == spans
        else:
            lookalikes += 1
            false += bool(marked)
    print(
        f"{path.name}: found {found} of {secrets} ({exact} to the character), "
        f"marked {false} of {lookalikes} look-alikes"
    )


def read_line(line: str) -> tuple[str, list[tuple[int, int]]]:
    """The text of a line and where its secrets stand. Those are kept in pieces, so that no file holds a key."""
    text = ""
    spans = []
    for part in json.loads(line)["text"]:
        piece = part if isinstance(part, str) else "".join(part)
        if piece is not part:
            spans.append((len(text), len(text) + len(piece)))
        text += piece
    return text, spans


def print_messages(path: Path, folder: Path) -> None:
    texts = list(messages(path))
    begun = time.process_time()
    found = [find_secrets(text) for text in texts]
    taken = time.process_time() - begun
    marked = [(text, marks) for text, marks in zip(texts, found, strict=True) if marks]
    length = sum(map(len, texts)) // max(1, len(texts))
    print(
        f"{path.relative_to(folder)}: {len(marked)} of {len(texts)} messages marked; "
        f"{taken / max(1, len(texts)) * 1e6:.1f} µs a message of {length} characters"
    )
    for text, marks in marked:
        for mark in marks:
            around = (
                text[max(0, mark.start - 60) : mark.start],
                text[mark.start : mark.end],
                text[mark.end : mark.end + 30],
            )
            print("   ", mark.kind, "|", "⟦{1}⟧".join(("{0}", "{2}")).format(*around).replace("\n", "\\n"))


def messages(path: Path) -> Iterator[str]:
    if path.suffix == ".txt":
        yield from path.read_text(encoding="utf-8", errors="replace").splitlines()
    else:
        yield from said(json.loads(path.read_text(encoding="utf-8")))


def said(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        if len(value) == 2 and all(isinstance(part, str) for part in value):  # an utterance and its label
            yield value[0]
        for part in value:
            yield from said(part)
    elif isinstance(value, dict):
        yield from (value[key] for key in SAID if isinstance(value.get(key), str))
        for part in value.values():
            yield from said(part)


if __name__ == "__main__":
    main()
