"""Other programs' exports, and our own, read as messages ready for the log.

Each format has one module with one function, `read(stream, options)`: bytes in, records out, in the order of
the file. A reader keeps what was said as it was said, with its true time, author and id, and holds one
message or one conversation in memory at a time. What it cannot read it hands over as a `BadRecord`.
"""

from everword.formats.jsonl import dump
from everword.formats.registry import FORMATS, Reader, detect, open_records
from everword.model import BadRecord, Record

__all__ = ["FORMATS", "BadRecord", "Reader", "Record", "detect", "dump", "open_records"]
