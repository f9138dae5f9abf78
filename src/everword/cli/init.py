"""Writes the settings of a new memory, after it has checked that the store opens and the model answers.

The key of a model is asked for without an echo, or taken from the environment. It is never printed; a file that holds
it can be read by its owner alone.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from everword.cli.doctor import check_models, check_writable, run_check, show_result
from everword.cli.opening import current_settings, open_current_store
from everword.cli.options import STORE, StoreCommand, global_option
from everword.config import FILE, PREFIX, Secret, Settings, setting_sources
from everword.errors import ConfigError

KEY_VARIABLE = f"{PREFIX}CHAT_KEY"


@click.command(cls=StoreCommand)
@click.option("--model", metavar="NAME", help="The model that replies; empty: none, the built-in writers do the work.")
@click.option("--url", metavar="URL", help="Base URL of its OpenAI-compatible server.")
@click.option("--yes", is_flag=True, help="Ask nothing: take the options, the environment and the defaults.")
@click.option("--force", is_flag=True, help=f"Replace {FILE} if it exists.")
@click.option("--no-check", is_flag=True, help="Do not ask the model for an answer.")
def init(model: str | None, url: str | None, yes: bool, force: bool, no_check: bool) -> None:
    """Set up a memory in this folder.

    Asks for the store, the model and its key, checks them, and writes everword.toml. The store is opened and the model
    is asked for one word; if either fails, nothing is written. A memory works without a model, too: press Enter. The
    key is not shown; if EVERWORD_CHAT_KEY is set, it is used and not written to the file.

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
        raise ConfigError(f"{FILE} was not written; mend what failed and run `everword init` again")
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
