"""Coding agents with a memory: puts everword's hooks into their settings, and speaks their protocol."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from everword.agents import hook as program
from everword.agents.install import HOSTS, MARK, install, uninstall, write_plugin
from everword.cli.options import printable
from everword.cli.transfer import report_import
from everword.errors import ConfigError

if TYPE_CHECKING:
    from everword import AsyncMemory, Memory
    from everword.agents.sessions import Project
    from everword.memory.transfer import ImportProgress
    from everword.model import Message, Record

PAGE = 1_000
MOST_TEXT = 100_000  # characters of a command's text
SHOWN = 3
EXCERPT = 400  # characters of a message
NO_MATCH = "nothing found in the memory of this project"

HOST = click.argument("host", type=click.Choice(list(HOSTS)))
FOLDER = click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="The project's folder.  [default: the working folder]",
)
EVERYWHERE = click.option(
    "--everywhere", is_flag=True, help="Change the agent's settings in your home folder, for all projects."
)
EVENTS = {
    "session": "Print what is known about the project, and how the last session ended.",
    "prompt": "Print what the memory knows about a prompt, and store the prompt.",
    "tool": "Store one line about a tool call: its command or changed file, and its error.",
    "turn": "Store what the agent said and did in the last turn.",
}


@click.group()
def hook() -> None:
    """Give a coding agent a memory of its project.

    A hook is a command that a coding agent runs at a certain moment, such as before a prompt. When you write a prompt,
    the agent receives what earlier sessions of the project said about the subject of the prompt. After each turn,
    everword stores what you and the agent said, with commands, changed files and errors. The memory of coding agents is
    a file in your home folder, with one space for each repository. If a hook takes longer than a quarter of a second,
    the agent goes on without the memory.

    \b
    everword hook install claude
    everword hook install claude --past
    everword hook uninstall claude
    """


@hook.command("install")
@HOST
@FOLDER
@EVERYWHERE
@click.option(
    "--past/--no-past",
    default=None,
    help="Import what the project already has: past sessions, notes for agents, commits.  [default: the command asks]",
)
def install_hooks(host: str, folder: Path | None, everywhere: bool, past: bool | None) -> None:
    """Add the hooks to the settings of the agent HOST, and show them.

    `everword hook install` offers to import what the agent already has about the project. If you run `everword hook
    install` again, the agent's settings stay the same, and an import adds only new data. To keep files out of the
    memory, list them in `.everwordignore`, one pattern per line. The pattern `*` in `.everwordignore` turns the memory
    off for the project.
    """
    if not hasattr(__import__("socket"), "AF_UNIX"):
        raise ConfigError("hooks need Unix sockets, which this Python does not support")
    path = install(HOSTS[host], place_of(folder, everywhere))
    click.echo(f"wrote {path}:")
    lines = path.read_text(encoding="utf-8").splitlines()
    click.echo("\n".join(line for line in lines if MARK in line or '": [' in line))
    click.echo(f"the memory will be in {program.folder()}; next: start {host} in the project")
    if not everywhere:
        offer_past(host, place_of(folder, everywhere), past)
    elif past:
        raise click.UsageError(
            "--past cannot be combined with --everywhere, because --past imports the sessions of one "
            "project; run the command in that project"
        )


def offer_past(host: str, folder: Path, is_wanted: bool | None) -> None:
    """Say what there is of a project, and bring it in if that is wanted; without an answer, nothing is brought in."""
    from everword.agents.sessions import past_records, person_here, project_of

    project = project_of(str(folder))
    kinds = Counter(
        record.conversation.partition("/")[0] for record in past_records(host, project, person_here(), Path.home())
    )
    if not kinds or is_wanted is False:
        return
    names = {"past": "messages of past sessions", "notes": "notes for agents", "git": "commits"}
    counts = ", ".join(f"{kinds[kind]:,} {name}" for kind, name in names.items() if kinds[kind])
    if is_wanted is None and sys.stdin.isatty():
        is_wanted = click.confirm(f"there is more of this project: {counts}. Bring it in?", default=False)
    if not is_wanted:
        click.echo(f"not brought in: {counts}; to bring it in: everword hook install {host} --past")
        return
    records = past_records(host, project, person_here(), Path.home())
    totals = asyncio.run(bring_in(records, project.id))
    report_import(str(project.root), f"{host}, {counts}", totals)


async def bring_in(records: Iterable[Record], space: str) -> ImportProgress:
    """Import records into the memory of agents, without the sessions that hooks have kept there."""
    from everword import AsyncMemory
    from everword.memory.transfer import import_records

    async with AsyncMemory(store_of_agents(), secrets="redact") as memory:
        kept = {f"past/{id}" async for id in every_conversation(memory, space)}
        totals = await import_records(memory, (r for r in records if r.conversation not in kept), space=space)
        await memory.settle()
    return totals


async def every_conversation(memory: AsyncMemory, space: str) -> AsyncIterator[str]:
    after = ""
    while page := await memory.conversations(space=space, after=after, limit=PAGE):
        for conversation in page:
            yield conversation.id
        after = page[-1].cursor


def store_of_agents() -> str:
    """The address of the memory of agents, in a folder that only its owner can open."""
    from everword.agents.service import STORE

    os.umask(0o077)
    os.makedirs(program.folder(), mode=0o700, exist_ok=True)
    return os.path.join(program.folder(), STORE)


@hook.command("uninstall")
@HOST
@FOLDER
@EVERYWHERE
def uninstall_hooks(host: str, folder: Path | None, everywhere: bool) -> None:
    """Remove the hooks from the settings of the agent HOST. `everword hook uninstall` does not remove the memory of the
    project."""
    place = place_of(folder, everywhere)
    were_there = uninstall(HOSTS[host], place)
    click.echo(f"{'took the hooks out of' if were_there else 'no hooks in'} {place / HOSTS[host].file}")


@hook.command("plugin")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def write_plugin_folder(folder: Path) -> None:
    """Write a plug-in for Claude Code, with the hooks, into FOLDER.

    The plug-in has the commands /everword:remember, /everword:recall, /everword:forget and /everword:why.

    To use the plug-in, start Claude Code with `--plugin-dir FOLDER`, or put FOLDER into a marketplace. The plug-in
    contains the hooks, so you do not need `everword hook install`.
    """
    for path in write_plugin(folder):
        click.echo(f"wrote {path}")


def place_of(folder: Path | None, everywhere: bool) -> Path:
    return Path.home() if everywhere else (folder or Path.cwd()).absolute()


def event_command(event: str) -> click.Command:
    about = f"{EVENTS[event]} `everword hook {event}` reads the agent's event as JSON from standard input."

    @click.command(event, help=about)
    @click.option(
        "--host", type=click.Choice(list(HOSTS)), default="claude", help="The agent that sends the hook event."
    )
    def run(host: str) -> None:
        program.main([host, event])
        sys.stdout.flush()

    return run


for name in EVENTS:
    hook.add_command(event_command(name))

# -- what people ask for, by the commands of the plug-in

TEXT = click.argument("text", required=False)


@hook.command("remember")
@TEXT
def remember_text(text: str | None) -> None:
    """Store TEXT, or the text on standard input, in the memory of this project."""
    with project_memory() as (memory, project, person):
        for statement in memory.remember(text_or_stdin(text), user=person, space=project.id):
            click.echo(printable(statement.text))


@hook.command("recall")
@TEXT
def recall_text(text: str | None) -> None:
    """Print what everword would send to the agent for the prompt TEXT in this project."""
    from everword.agents.service import Service

    with project_memory() as (memory, project, _):
        event = {"event": "prompt", "payload": {"cwd": str(project.root), "prompt": text_or_stdin(text)}}
        click.echo(printable_lines(Service(Path(program.folder())).answer(memory, event)))


@hook.command("forget")
@TEXT
def forget_text(text: str | None) -> None:
    """Remove the facts and statements that fit TEXT from the memory of this project.

    `everword hook forget` does not remove messages. To let you bring the removed facts and statements back, `everword
    hook forget` prints an `everword undo` command.
    """
    with project_memory() as (memory, project, person):
        forgotten = memory.forget(text_or_stdin(text), user=person, space=project.id)
        lines = [statement.text for statement in forgotten.statements]
        lines += [f"{fact.key}: {fact.value}" for fact in forgotten.facts]
        click.echo(printable_lines("\n".join(lines) or NO_MATCH))
        if forgotten.id:
            undo = [
                "everword",
                "--store",
                store_of_agents(),
                "--space",
                project.id,
                "undo",
                forgotten.id,
                "--user",
                person,
            ]
            click.echo(f"to bring this back: {printable(shlex.join(undo))}")


@hook.command("why")
@TEXT
def show_sources(text: str | None) -> None:
    """Print the facts of this project that fit TEXT, each fact with its source messages."""
    with project_memory() as (memory, project, person):
        query = text_or_stdin(text)
        facts = memory.facts(user=person, query=query, space=project.id)[:SHOWN]
        for fact in facts:
            click.echo(printable(f"{fact.key}: {fact.value}"))
            show_messages(memory.why(fact.id, user=person, space=project.id))
        if not facts:
            hits = memory.search(query, user=person, space=project.id, limit=SHOWN)
            click.echo("no fact found; messages found:" if hits else NO_MATCH)
            show_messages([hit.message for hit in hits])


def show_messages(messages: Iterable[Message]) -> None:
    for message in messages:
        click.echo(f"  {message.time:%Y-%m-%d %H:%M} {message.role}: {printable(message.content[:EXCERPT])}")


def text_or_stdin(text: str | None) -> str:
    """The text of a command, or what is on standard input."""
    content = text if text is not None else sys.stdin.read(MOST_TEXT)
    if not content.strip():
        raise click.UsageError("give a text as an argument or on standard input")
    return content.strip()


def printable_lines(text: str) -> str:
    return "\n".join(map(printable, text.splitlines()))


@contextmanager
def project_memory() -> Iterator[tuple[Memory, Project, str]]:
    """The memory of the project that this folder is in, and whose it is."""
    from everword import Memory
    from everword.agents.sessions import person_here, project_of

    with Memory(store_of_agents(), secrets="redact") as memory:
        yield memory, project_of(os.getcwd()), person_here()
