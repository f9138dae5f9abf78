"""What the memory notes in the metadata of a message: under one key, beside what the caller gave.

Metadata is sealed into the chain of the log, so notes of older stores keep the key that they were written under.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NOTES = "everword"
OLD_NOTES = ("recollect",)


def notes_key(metadata: Mapping[str, Any]) -> str:
    """The key under which this metadata has notes, or would get them."""
    return next((key for key in (NOTES, *OLD_NOTES) if key in metadata), NOTES)


def own_notes(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """The notes in this metadata; none if there are none, or if a caller gave something else under that key."""
    notes = metadata.get(notes_key(metadata))
    return notes if isinstance(notes, Mapping) else {}
