"""Writes what a bot logs to standard error, without credentials: libraries log addresses that hold the token."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from recollect.masking import MaskingFormatter

NOISY = ("httpx", "httpcore", "telegram", "apscheduler", "discord")  # loggers that say much, and addresses with it


@contextmanager
def log_to_stderr() -> Iterator[None]:
    """Write warnings and what the bot reports to standard error within this block, without credentials."""
    handler = logging.StreamHandler()
    handler.setFormatter(MaskingFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
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
