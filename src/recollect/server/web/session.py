"""Sessions of the dashboard: a signed cookie that names a key, and tokens against forged requests.

The cookie holds the id of a key, when it ends, and a nonce, with an HMAC-SHA256 over them; the key's text is in no
cookie. The secret of the signature is random, made once and kept in the store, so that a session outlives a restart and
every server of the store knows it; each request looks the key up again, so it ends with its key, and whether it was
signed out (`door.ended_sessions`). The cookie opens pages alone, never the API, and no page of another origin sends it
(SameSite=Strict). A form carries a token that is made of the session's nonce and the secret: a page that cannot read
ours cannot send it.
"""

from __future__ import annotations

import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256

COOKIE = "recollect_session"
LASTS = timedelta(hours=12)
OVERVIEW = "/"
PREFIX = "/web/"
SIGN_IN = "/web/sign-in"
SIGN_OUT = "/web/sign-out"
STATIC = "/web/static/"
DOCS = "/docs"
VALUE = re.compile(r"([0-9a-f]{16})\.(\d{1,12})\.([A-Za-z0-9_-]{22})\.([0-9a-f]{64})", re.ASCII)
SIGN_IN_BYTES = 16_384  # the most that may be sent to sign in


@dataclass(frozen=True, slots=True)
class Session:
    """Who is signed in: the id of a key, until when, and what makes the session's tokens."""

    key_id: str
    ends_at: datetime
    nonce: str


class Sessions:
    """Signs sessions, reads them back, and makes their tokens."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def begin(self, key_id: str, now: datetime) -> Session:
        return Session(key_id, (now + LASTS).replace(microsecond=0), secrets.token_urlsafe(16))

    def cookie_value(self, session: Session) -> str:
        body = f"{session.key_id}.{int(session.ends_at.timestamp())}.{session.nonce}"
        return f"{body}.{self._sign('session', body)}"

    def read(self, value: str, now: datetime) -> Session | None:
        """The session of a cookie; None if it was not signed here, or is over."""
        match = VALUE.fullmatch(value)
        if match is None:
            return None
        key_id, ends_at, nonce, signature = match.groups()
        if not hmac.compare_digest(signature, self._sign("session", value.rpartition(".")[0])):
            return None
        session = Session(key_id, datetime.fromtimestamp(int(ends_at), UTC), nonce)
        return session if now < session.ends_at else None

    def token(self, session: Session | None) -> str:
        """The token of a session's forms; without a session, that of a server that asks for no keys."""
        return self._sign("form", "" if session is None else session.nonce)

    def accepts_token(self, session: Session | None, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self.token(session).encode())

    def _sign(self, purpose: str, text: str) -> str:
        return hmac.new(self._secret, f"{purpose}\n{text}".encode(), sha256).hexdigest()


def is_page(path: str) -> bool:
    """Whether a path is one of the dashboard's, and not of the API."""
    return path in (OVERVIEW, DOCS) or path.startswith(PREFIX)


def is_open_page(path: str) -> bool:
    """Whether a page needs no session: where one signs in, how pages look, and the description of the API."""
    return path in (SIGN_IN, DOCS) or path.startswith(STATIC)


def read_cookie(header: str) -> str:
    """The session in a `Cookie` header, or "". Two of them are none: another program may have set the second."""
    pairs = (part.strip().partition("=") for part in header.split(";"))
    values = [value for name, _, value in pairs if name == COOKIE]
    return values[0] if len(values) == 1 else ""
