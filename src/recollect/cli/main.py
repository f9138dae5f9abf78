"""The program `recollect`: its name, its options, its commands. It answers `--help` at once.

Nothing here or in the modules of the commands imports a database, numpy or a table printer: a command does that
when it runs. So finding out what the program can do costs only the parser.
"""

from __future__ import annotations

import signal

import click

from recollect import __version__
from recollect.cli import (
    bench,
    chat,
    context,
    delete,
    digest,
    doctor,
    episodes,
    keys,
    log,
    mcp,
    move,
    retain,
    serve,
    store,
    topics,
    transfer,
)
from recollect.cli.bot import command as bot
from recollect.cli.demo import command as demo
from recollect.cli.knowledge import ask, fact, facts, profile
from recollect.cli.terminal.options import PLACE, Program


@click.group(
    cls=Program,
    params=PLACE,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
@click.version_option(__version__, "--version", prog_name="recollect")
@click.option("--debug", is_flag=True, envvar="RECOLLECT_DEBUG", help="Show where in the code an error arose.")
def program(debug: bool) -> None:
    """Memory for conversational AI: keeps every word, finds it again, and can prove that nothing changed.

    \b
    recollect demo                  a tour of a few seconds; leaves nothing behind
    recollect import chat.jsonl     keep a chat; reads ChatGPT's export and others
    recollect search "databases"    find it again, by word and by meaning
    recollect chat                  talk with a model that remembers it
    recollect open                  see, explain and correct it in the browser

    Everything is kept in the store, a file `recollect.db` in the working folder unless told otherwise: by --store,
    by RECOLLECT_STORE, or by `store = …` in recollect.toml. `recollect settings` shows all there is to set.
    """


for command in (
    demo.demo,
    chat.chat,
    transfer.import_,
    transfer.export,
    log.search,
    log.history,
    log.conversations,
    episodes.episodes,
    topics.topics,
    facts.facts,
    facts.why,
    fact.fact,
    ask.ask,
    profile.profile,
    profile.remember,
    profile.forget,
    profile.undo,
    digest.digest,
    context.context,
    store.stats,
    store.verify,
    doctor.doctor,
    store.settings,
    log.edit,
    delete.delete,
    move.move,
    move.merge,
    log.erase,
    retain.retain,
    delete.audit,
    store.scrub,
    transfer.copy,
    store.rebuild,
    store.retry,
    store.worker,
    serve.serve,
    serve.open_dashboard,
    keys.keys,
    mcp.mcp,
    bot.bot,
    store.migrate,
    bench.bench,
):
    program.add_command(command)


def main() -> None:
    """Run the program as a script does."""
    try:
        program(prog_name="recollect")
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is done: Ctrl-C pressed once more is not to look as a crash


if __name__ == "__main__":
    main()
