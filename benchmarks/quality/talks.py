"""Conversations of published data sets, to be replayed as those of any other file."""

from __future__ import annotations

import json
from pathlib import Path

from everword.errors import ImportFailed, InvalidInput
from everword.token_bench import Transcript, read_transcript
from quality import datasets


def write_records(path: Path, out: Path) -> None:
    """Write a data set's conversations as JSON Lines, as `everword import` reads them."""
    with out.open("w", encoding="utf-8") as file:
        for haystack in datasets.load(path).haystacks:
            for turn in haystack.turns:
                record = {
                    "conversation": haystack.name,
                    "role": turn.role,
                    "author": turn.speaker,
                    "content": turn.text,
                    "time": turn.time.isoformat(),
                }
                file.write(json.dumps(record, ensure_ascii=False) + "\n")


def read_talk(path: Path, folder: Path) -> Transcript:
    """The longest conversation of a file: of one that `everword import` reads, or of a data set, which is written anew
    in a folder first."""
    try:
        return read_transcript(path)
    except ImportFailed as error:
        records = folder / "records.jsonl"
        try:
            write_records(path, records)
        except InvalidInput:
            raise error from None
        return read_transcript(records)
