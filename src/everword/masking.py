"""No credential leaves in a text of ours: `mask_credentials` puts stars in place of each one.

It is called where text leaves: when one of our errors is made, when a record is logged, before a problem, a page, a
label or a line of the terminal is written. It masks passwords in addresses, values that are named as secret
(`password=…`, `Authorization: …`), tokens of well-known formats (`secrets/data/secrets.re`), and the secrets that this
process was given itself (`keep_out_of_texts`), in whatever form they turn up. In doubt it masks: a reader can do
without a value. Secrets in what people say are found by `secrets.detector`.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import threading
import traceback
from collections.abc import Iterator
from types import TracebackType
from urllib.parse import quote, quote_plus, unquote, unquote_plus

from everword.secrets.values import PATTERNS
from everword.word_lists import lazy_pattern

STARS = "***"

_LONG_RUN = re.compile(r"[\w.-]{16}")  # no token is shorter
# Tokens of bots and of the web, and keys that are public: a reader can do without them, too.
_OTHER_TOKENS = r"\d{6,12}:[\w-]{30,}|eyJ[\w-]{4,}\.[\w-]{4,}\.[\w-]*|pk_(?:live|test)_[0-9A-Za-z]{10,}"
_PRIVATE_KEY = r"(?s)(-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----).*?(?:-----END [A-Z ]{0,30}-----|\Z)"
# The last @ ends a password, since one may have an @ in it. Documentation writes `user:password@host`.
_USERINFO = r"([A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s:/?#]{0,200}:)(?!password@)\S{0,500}@"
_WEB_USER = r"(?i)(https?://)[^\s:/?#@*]{1,500}@"
_NAME = (
    r"[\w-]{0,40}(?:password|passwd|passphrase|pwd|secret|credential)s?|[\w-]{0,40}token(?![a-z])"
    r"|[\w-]{0,40}api[_-]?key|(?:[\w-]{0,40}[_-])?(?:key|sig|signature|auth)"
)
_QUOTED = r"'(?>(?:\\.|[^'\\])*)'|\"(?>(?:\\.|[^\"\\])*)\""
_UNQUOTED = r"(?>(?:\\.|[^\s&:;,)]|[:;,)](?!\s|$))+)"  # without what ends a sentence after it
_NAMED = rf"(?i)(?<![A-Za-z])((?:{_NAME})(?:=|%3D)\s?)(?:{_QUOTED}|{_UNQUOTED})"
_FIELD = rf"(?i)((['\"])(?:{_NAME})\2\s?:\s?)(?:{_QUOTED})"
_MARK = r"(?>(?:\\?['\"])?)\s?+[:=,]\s?+(?>(?:b?\\?['\"])?)"  # between the name of a header and its value
_HEADER = (
    rf"(?i)((?:proxy-)?authorization|x-api-key|api-key|secret-token)({_MARK}(?>(?:(?:bearer|basic|token|bot)\s)?))"
    r"(?!(?-i:…|KEY|TOKEN|rk_…|\*\*\*))[^\s'\"]{1,4000}"  # not where an advice says what to send
)
_COOKIE = rf"(?i)((?:set-)?cookie)({_MARK})[^\n'\"]{{1,4000}}"
_SCHEMED = r"\b((?i:bearer|basic))\s(?=\S*(?:\d|=|[a-z][A-Z]))[\w.~+/=-]{8,}"
_STEPS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("://",), _USERINFO, rf"\1{STARS}@"),
    (("://",), _WEB_USER, rf"\1{STARS}@"),
    (("=", "%3d"), _NAMED, rf"\1{STARS}"),
    (("':", '":', "' :", '" :'), _FIELD, rf"\1\2{STARS}\2"),
    (("authorization", "api-key", "secret-token"), _HEADER, rf"\1\2{STARS}"),
    (("cookie",), _COOKIE, rf"\1\2{STARS}"),
    (("private key",), _PRIVATE_KEY, rf"\1{STARS}"),
    (("bearer", "basic"), _SCHEMED, rf"\1 {STARS}"),
)
"""What a text must have, in small letters, to be searched at all; the pattern; what stands instead."""

_KNOWN_TOKENS = PATTERNS.fill("{api_key}|{token}|{private_key}")
_TOKEN = lazy_pattern(rf"(?:(?<![0-9A-Za-z])|(?<=bot))(?:{_KNOWN_TOKENS}|{_OTHER_TOKENS})", re.VERBOSE)
"""Finds what tells by its form that it is a credential."""

_SHORTEST = 6  # characters of a secret that is masked wherever it stands
_LONG_WORD = 12  # characters; a shorter one of nothing but letters of one case is a word, such as `ollama`
_WORD = 8  # characters; a shorter one is masked only where it is not a part of a word
_LONG = 20  # characters; a part of a secret that is itself one
_MOST = 1_000  # forms of secrets that are kept; the oldest go first
_forms: dict[str, None] = {}
_known = re.compile(r"(?!)")


def mask_credentials(text: str) -> str:
    """The text with stars in place of every credential in it. Twice is the same as once."""
    text = _known.sub(STARS, text)
    small_letters = text.lower()
    for marks, pattern, replacement in _STEPS:
        if any(mark in small_letters for mark in marks):
            text = re.sub(pattern, replacement, text)
    return _TOKEN.sub(STARS, text) if _LONG_RUN.search(text) else text


def keep_out_of_texts(secret: str) -> None:
    """Mask this secret from now on wherever it turns up, also encoded as in an address or in JSON."""
    global _known
    secret = str(secret)
    forms = {
        secret,
        *(change(secret) for change in (quote, quote_plus, unquote, unquote_plus)),
        quote(secret, safe=""),
        json.dumps(secret)[1:-1],
        repr(secret)[1:-1],
        *(part for part in secret.split(":") if len(part) >= _LONG),  # a bot's token has a number and a colon first
    }
    new_forms = {form for form in forms if _tells_a_secret(form)} - _forms.keys()
    if new_forms:
        _forms.update(dict.fromkeys(new_forms))
        while len(_forms) > _MOST:
            del _forms[next(iter(_forms))]
        _known = re.compile("|".join(map(_form_pattern, sorted(_forms, key=len, reverse=True))))


def _tells_a_secret(form: str) -> bool:
    is_word = form.isalpha() and (form.islower() or form.isupper() or form.istitle())
    return len(form) >= (_LONG_WORD if is_word else _SHORTEST)


def _form_pattern(form: str) -> str:
    return re.escape(form) if len(form) >= _WORD else rf"(?<!\w){re.escape(form)}(?!\w)"


def keep_password_out_of_texts(url: str) -> None:
    """Mask the password of an address from now on wherever it turns up, and the parts that a parser may make of it."""
    for secret in passwords_in(url):
        keep_out_of_texts(secret)


def passwords_in(url: str) -> Iterator[str]:
    """The secret parts of an address: its password, what an @ in it is split into, and the secret ones of its query."""
    scheme, _, location = url.partition("://")
    userinfo, at, rest = location.rpartition("@")
    user, _, password = userinfo.partition(":")
    visible_parts = {user, scheme, *re.split(r"[/:?&=]", rest)}  # postgres:postgres@host/postgres hides nothing
    if at:
        yield from {part for part in (password, *password.split("@")) if part} - visible_parts
    for match in re.finditer(_NAMED, url):
        yield match[0][len(match[1]) :].strip("'\"")


class MaskingFormatter(logging.Formatter):
    """Writes log records, tracebacks included, without credentials."""

    def format(self, record: logging.LogRecord) -> str:
        return mask_credentials(super().format(record))


class MaskingFilter(logging.Filter):
    """Takes credentials out of a record before any handler sees it."""

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        masked = mask_credentials(message)
        if masked != message:
            record.msg = masked
            record.args = ()
        if record.exc_info and not record.exc_text:
            record.exc_text = MaskingFormatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = mask_credentials(record.exc_text)
        return True


def masked_logger(name: str) -> logging.Logger:
    """The logger of this name. What it is given is masked, whoever handles it."""
    logger = logging.getLogger(name)
    if not any(isinstance(known, MaskingFilter) for known in logger.filters):
        logger.addFilter(MaskingFilter())
    return logger


def print_masked_trace(
    kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
) -> None:
    """Print a traceback without credentials: errors of libraries may repeat an address."""
    print(mask_credentials("".join(traceback.format_exception(kind, error, trace))), end="", file=sys.stderr)


def mask_what_escapes() -> None:
    """Keep credentials out of tracebacks that nothing catches, and out of log records that nothing handles. For
    programs: it changes the process."""
    sys.excepthook = print_masked_trace
    threading.excepthook = lambda failure: print_masked_trace(
        failure.exc_type, failure.exc_value, failure.exc_traceback
    )
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(MaskingFormatter())
