"""Keeps a token out of what is logged: libraries put it into the addresses that they log."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from recollect.config import Secret

STARS = "***"
NOISY = ("httpx", "httpcore", "telegram", "apscheduler", "discord")  # loggers that say much, and addresses with it


class RedactingFormatter(logging.Formatter):
    """Writes log records, tracebacks included, without a token."""

    def __init__(self, token: Secret) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._token = str(token)

    def format(self, record: logging.LogRecord) -> str:
        line = super().format(record)
        return line.replace(self._token, STARS) if self._token else line


@contextmanager
def log_to_stderr(token: Secret) -> Iterator[None]:
    """Write warnings and what the bot reports to standard error within this block, without the token."""
    handler = logging.StreamHandler()
    handler.setFormatter(RedactingFormatter(token))
    root = logging.getLogger()
    levels = {name: logging.getLogger(name).level for name in NOISY}
    for name in NOISY:
        logging.getLogger(name).setLevel(logging.WARNING)
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
