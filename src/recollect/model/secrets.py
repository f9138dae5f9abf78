"""Where a text holds a secret: an API key, a password, a card number, a private key."""

from __future__ import annotations

from recollect.model.frozen import dataclass


@dataclass(frozen=True, slots=True)
class SecretMark:
    """One secret in a text: its kind in plain words ("API key"), and the characters it takes up."""

    kind: str
    start: int
    end: int
