"""Draws sentences from the docs, the help texts and the errors, to be read by somebody who has not seen them.

python scripts/sentences.py [--seed N] [--count N]
"""

from __future__ import annotations

import argparse
import ast
import random
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"(?ms)^ *```.*?^ *```|^\|.*?$|^:::.*?$|^    options:.*?$|^#.*?$")
HELP_EXAMPLE = re.compile(r"(?m)^(?:Usage: |  (?:\w+=\S+ )*(?:everword|curl|export|echo) ).*$")
END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`*\"]|everword\b(?![._]))")
LIST_ITEM = re.compile(r"^(?:-|\d+\.) ")
PROOF = re.compile(r" ?`tests/[\w/]+\.py::\w+`")  # the test of a promise
SHORTEST = 5  # words
ERRORS = (
    "Error",
    "Input",
    "Found",
    "Busy",
    "Away",
    "Failed",
    "Refused",
    "Locked",
    "Unwritable",
    "Mismatch",
    "Exception",
)


def doc_sentences() -> Iterator[tuple[str, str]]:
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        text = page.read_text(encoding="utf-8")
        if page.name == "cli.md":
            text = HELP_EXAMPLE.sub("", text.replace("```", ""))
        for paragraph in re.split(
            r"\n\s*\n|\n(?=- |\d+\. )|\n(?=  (?:--?[\w-]+(?:,|  | /| [A-Z\[]|$)|\w+  ))", BLOCK.sub("", text)
        ):
            sentence = ""
            for part in END.split(LIST_ITEM.sub("", PROOF.sub("", " ".join(paragraph.split())))):
                sentence = f"{sentence} {part}".lstrip()
                if sentence.count("`") % 2 == 0:  # else the end is in code
                    yield page.name, sentence
                    sentence = ""


def error_sentences() -> Iterator[tuple[str, str]]:
    """The texts that errors are raised with."""
    for file in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                name = ast.unparse(node.exc.func)
                texts = [ast.unparse(argument) for argument in node.exc.args]
                if name.endswith(ERRORS) and texts:
                    yield file.name, f"{name}: {' '.join(texts)}"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--count", type=int, default=100)
    chosen = options.parse_args()
    sentences = [*doc_sentences(), *error_sentences()]
    readable = sorted({entry for entry in sentences if len(entry[1].split()) >= SHORTEST})
    for number, (place, sentence) in enumerate(random.Random(chosen.seed).sample(readable, chosen.count), 1):
        print(f"{number:3} {place}: {sentence}")


if __name__ == "__main__":
    main()
