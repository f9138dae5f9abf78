"""The memory over HTTP: REST under `/v1`, a drop-in OpenAI endpoint, MCP; and who may enter.

Needs the extra `[server]`. Nothing here is imported by the library itself: `everword serve` does it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_bytes

from everword.model import DEFAULT_SPACE

MULTIPROCESS = "PROMETHEUS_MULTIPROC_DIR"  # where workers of one server keep their counts, to be added up

WHOLE_BODY = "everword.whole_body"  # in the scope of a request: whether all of its body came with its head


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How a server treats those who call it.

    `space` is the one used when a request names none. `origins` may call from a browser: none by default. `rate` is
    requests a minute for each key (0: no limit) and `burst` how many of them may come at once; `body` is bytes. A key
    may have limits of its own. `rates` is the table in which the workers of one server count requests together; if it
    `shares_rates`, it counts them together with all other servers on its store.

    A body has time limits: `body_idle` is the longest pause in seconds, `body_seconds` the time for all of it, and
    `body_rate` the least average rate in bytes a second, not counting `body_idle` (0: no rate).

    `session_secret` signs the sessions of the dashboard; servers with the same one know each other's sessions.
    """

    space: str = DEFAULT_SPACE
    origins: tuple[str, ...] = ()
    rate: int = 0
    burst: int = 100
    body: int = 8 << 20
    body_idle: float = 20.0
    body_seconds: float = 300.0
    body_rate: int = 1_024
    rates: Path | None = None
    shares_rates: bool = False
    session_secret: bytes = field(default_factory=lambda: token_bytes(32), repr=False)
