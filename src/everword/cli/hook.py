"""Coding agents with a memory: puts everword's hooks into their settings, and speaks their protocol."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from everword.agents import hook as program
from everword.agents.install import HOSTS, MARK, install, uninstall
from everword.errors import ConfigError

HOST = click.argument("host", type=click.Choice(list(HOSTS)))
FOLDER = click.option(
    "--folder", type=click.Path(file_okay=False, path_type=Path), help="The project.  [default: this one]"
)
EVERYWHERE = click.option("--everywhere", is_flag=True, help="In your home folder: for all projects.")
EVENTS = {
    "session": "A session begins: print what is known of the project, and how the last session ended.",
    "prompt": "Print what the memory has about a prompt, and keep the prompt.",
    "tool": "Keep a line about a tool call: the command or the changed file, and the error.",
    "turn": "Keep what the agent said at the end of a turn, with what it did.",
}


@click.group()
def hook() -> None:
    """Give a coding agent a memory of its project.

    The agent's own hooks call everword: when you write a prompt, it is told what earlier sessions of this project have
    about it; after each turn, what you and the agent said is kept, with commands, changed files and errors. The memory
    is a file in your home folder, one space for each repository. A hook that cannot be served within a
    quarter of a second adds nothing, and the agent goes on.

    \b
    everword hook install claude
    everword hook uninstall claude
    """


@hook.command("install")
@HOST
@FOLDER
@EVERYWHERE
def install_hooks(host: str, folder: Path | None, everywhere: bool) -> None:
    """Add the hooks to the settings of an agent, HOST, and show them.

    A second time changes nothing. To leave files out, name them in `.everwordignore`, one pattern a line; `*` turns the
    memory off for the project.
    """
    if not hasattr(__import__("socket"), "AF_UNIX"):
        raise ConfigError("hooks need Unix sockets, which Python does not have on this system")
    path = install(HOSTS[host], place_of(folder, everywhere))
    click.echo(f"wrote {path}:")
    lines = path.read_text(encoding="utf-8").splitlines()
    click.echo("\n".join(line for line in lines if MARK in line or '": [' in line))
    click.echo(f"the memory will be in {program.folder()}; next: start {host} in the project")


@hook.command("uninstall")
@HOST
@FOLDER
@EVERYWHERE
def uninstall_hooks(host: str, folder: Path | None, everywhere: bool) -> None:
    """Take the hooks out of the settings of an agent, HOST, again. The memory stays."""
    place = place_of(folder, everywhere)
    were_there = uninstall(HOSTS[host], place)
    click.echo(f"{'took the hooks out of' if were_there else 'no hooks in'} {place / HOSTS[host].file}")


def place_of(folder: Path | None, everywhere: bool) -> Path:
    return Path.home() if everywhere else (folder or Path.cwd()).absolute()


def event_command(event: str) -> click.Command:
    @click.command(event, help=f"{EVENTS[event]} The event is JSON on standard input, as agents write it.")
    @click.option("--host", type=click.Choice(list(HOSTS)), default="claude", help="The agent that sends it.")
    def run(host: str) -> None:
        program.main([host, event])
        sys.stdout.flush()

    return run


for name in EVENTS:
    hook.add_command(event_command(name))
