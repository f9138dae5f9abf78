"""Every error everword raises on purpose, in one tree. A message says what happened and what to do next.

EverwordError
├── InvalidInput          a value from outside breaks a rule; names the field and the reason
│   └── SecretRefused     a text holds a secret, and the setting `secrets` refuses such texts; names its kind and place
├── NotFound              there is no such conversation, message or user
├── ScopeError            an id that belongs to somebody else
│   └── Forbidden         whoever asks has no right to it; says which right is missing
├── ConfigError           a setting is unknown, unreadable or contradictory
├── MissingExtra          an optional package is needed: pip install 'everword[...]'
├── ImportFailed          a record of an imported file could not be read; names the line
├── EmbedderError         the embedder failed or answered nonsense
│   └── EmbedderRefused   it refused the request: a text it cannot take, or a setting it does not know
├── ModelError            a chat model failed; says which and what to do
│   ├── NoModel           none is configured; says how to configure one
│   ├── ModelTimeout      no answer in time
│   ├── ModelRefused      the key, the model's name or the request was refused: trying again will not help
│   ├── ModelBusy         too many requests, or the server failed: trying again later may help
│   ├── ModelSpent        the day's ceiling of tokens is reached; memory work is done offline
│   └── ModelNonsense     an answer that is none: empty, not text, not what was asked for
├── ServerError           a server refused, cannot be reached, or is none of ours
│   ├── PlatformBusy      a chat platform asks to wait before the next call; says how long
│   └── PlatformRefused   a chat platform does not let the bot write there
├── AnswerGone            a request was done already, and its answer was removed since
├── NotSettled            a view did not catch up with the log in time; says why
└── StoreError            the database refused
    ├── StoreBusy         others kept it busy for longer than we wait; try again
    │   ├── StoreAway     the database's server cannot be reached; try again
    │   └── MachineAway   one of the machines that the database is spread over cannot be reached; try again later
    ├── CommitUnknown     the server went away at a COMMIT: whether it was kept is not known; look before repeating it
    ├── StoreLocked       another process has this JSON file open
    ├── StoreUnwritable   the disk is full, read-only or failing; this transaction was not stored
    ├── MessagesLost      messages were held in memory, and the memory was closed before they could be written
    ├── DamagedMessage    a row of the log cannot be read; names its place, never its text
    ├── SchemaMismatch    the database is older or newer than this version of everword
    └── EmbedderMismatch  the vectors in the store were made by another embedder
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from everword.masking import mask_credentials


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a model's server answered in place of a reply, in our own words. `after` is how many seconds it asks to
    wait; under `id` the log has its own words."""

    status: int
    message: str = ""
    kind: str | None = None
    code: str | None = None
    param: str | None = None
    after: float | None = None
    id: str = ""


class EverwordError(Exception):
    """The base class of all errors that everword raises on purpose. No error message contains a password or key."""

    def __init__(self, *args: object) -> None:
        super().__init__(*(mask_credentials(arg) if isinstance(arg, str) else arg for arg in args))


class InvalidInput(EverwordError, ValueError):
    """A value is not allowed. The message names the field and says why."""

    def __init__(self, field: str, reason: str) -> None:
        self.field = mask_credentials(field)
        self.reason = mask_credentials(reason)
        super().__init__(f"{field}: {reason}")

    def __reduce__(self) -> tuple[type[InvalidInput], tuple[str, str]]:
        return type(self), (self.field, self.reason)


class SecretRefused(InvalidInput):
    """A text contains a secret, and the setting `secrets` refuses such texts. The message names the kind and the place
    of the secret, but never repeats the secret."""


class NotFound(EverwordError):
    """What you asked for does not exist in this space."""


class ScopeError(EverwordError):
    """An id belongs to somebody else. Nothing is changed or revealed."""


class Forbidden(ScopeError):
    """The caller has no right to the data or operation. `code` says in a word what is missing; nothing else is
    revealed."""

    def __init__(self, code: str, detail: str) -> None:
        self.code = code
        super().__init__(detail)

    def __reduce__(self) -> tuple[type[Forbidden], tuple[str, str]]:
        return type(self), (self.code, str(self))


class ConfigError(EverwordError):
    """A setting is unknown, unreadable or contradictory."""


class MissingExtra(EverwordError):
    """An optional package is needed."""

    def __init__(self, extra: str, purpose: str) -> None:
        self.extra = extra
        self.purpose = purpose
        super().__init__(f"{purpose} needs an optional package: pip install 'everword[{extra}]'")

    def __reduce__(self) -> tuple[type[MissingExtra], tuple[str, str]]:
        return type(self), (self.extra, self.purpose)


class ImportFailed(EverwordError):
    """A record of an imported file could not be read."""


class EmbedderError(EverwordError):
    """The embedder failed or gave an answer that cannot be used."""


class EmbedderRefused(EmbedderError):
    """The embedder refused the request: it cannot take a text, or does not know a setting."""


class ModelError(EverwordError):
    """A chat model failed."""

    refusal: Refusal | None = None


class NoModel(ModelError):
    """No model is configured."""


class ModelTimeout(ModelError):
    """No answer in time: the model took too long."""


class ModelRefused(ModelError):
    """The key, the model's name or the request was refused; trying again will not help."""


class ModelBusy(ModelError):
    """Too many requests, or the server failed; trying again later may help."""


class ModelSpent(ModelError):
    """The tokens allowed for a day are used up."""


class ModelNonsense(ModelError):
    """The model's answer cannot be used: it is empty, not text, or not what was asked for."""


class ModelCutOff(ModelNonsense):
    """The model reached its limit of tokens before the first word of its answer. `tokens` says how many tokens were
    read and written, if the server reports the numbers."""

    tokens: tuple[int, int] | None = None


class ServerError(EverwordError):
    """A server refused, cannot be reached, or is not an everword server."""


class PlatformBusy(ServerError):
    """A chat platform asks to wait before the next call: `after` is how many seconds."""

    after: float = 0.0


class PlatformRefused(ServerError):
    """A chat platform does not let the bot write in this place."""


class AnswerGone(EverwordError):
    """A request with this idempotency key was done already, but its answer has since been removed."""


class NotSettled(EverwordError):
    """A view (derived data) is not up to date with the log in time. For each such view, `left` says how many messages
    are still to process."""

    left: Mapping[str, int] = MappingProxyType({})


class StoreError(EverwordError):
    """The store failed."""


class StoreBusy(StoreError):
    """Other processes kept the database busy for too long. Nothing was written; try again."""


class StoreAway(StoreBusy):
    """The database's server cannot be reached. Nothing was written; try again."""

    reason = "the database's server cannot be reached"


class MachineAway(StoreBusy):
    """The machine that holds this space cannot be reached. Nothing was written; try again later. Spaces on other
    machines can be used."""


class CommitUnknown(StoreError):
    """The connection to the server was lost while a transaction was being stored. The transaction was stored whole or
    not at all. Read the data before you repeat the request."""

    reason = "the database's server cannot be reached"


class StoreLocked(StoreError):
    """Another process has this JSON file open."""


class StoreClosed(StoreError):
    """The store is closed: open it again."""


class StoreUnwritable(StoreError):
    """The disk is full, read-only or failing; this transaction was not stored."""

    def __init__(self, message: str = "", reason: str = "the disk takes no writes") -> None:
        self.reason = mask_credentials(reason)  # in a few words that name no file and no address
        super().__init__(message)


class MessagesLost(StoreError):
    """The memory was closed before its buffered messages could be written; `count` says how many messages were lost."""

    def __init__(self, message: str, count: int) -> None:
        self.count = count
        super().__init__(message)

    def __reduce__(self) -> tuple[type[MessagesLost], tuple[str, int]]:
        return type(self), (str(self), self.count)


class DamagedMessage(StoreError):
    """A message in the log cannot be read: its bytes are not text, or its values are not what everword writes."""

    def __init__(self, space: str, conversation: str, turn: int, reason: str) -> None:
        self.space = space
        self.conversation = conversation
        self.turn = turn
        self.reason = reason
        super().__init__(f"message {turn} of {conversation!r} in space {space!r} cannot be read: {reason}")

    def __reduce__(self) -> tuple[type[DamagedMessage], tuple[str, str, int, str]]:
        return type(self), (self.space, self.conversation, self.turn, self.reason)


class SchemaMismatch(StoreError):
    """The database is older or newer than this version of everword."""


class EmbedderMismatch(StoreError):
    """The vectors in the store were made by another embedder."""
