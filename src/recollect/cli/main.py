"""The program `recollect`: its name, its options, its commands. It answers `--help` at once.

Nothing here or in the modules of the commands imports a database, numpy or a table printer: a command does that
when it runs. So finding out what the program can do costs only the parser, and a command costs only its own module.
"""

from __future__ import annotations

import gc
import signal

import click

from recollect import __version__
from recollect.cli.terminal.options import PLACE, CommandTable, Program
from recollect.masking import mask_what_escapes

# Where each command is, in the order of the help. Its module is imported when it is run, or when the help lists it.
COMMANDS = CommandTable(
    {
        "demo": "recollect.cli.demo.command:demo",
        "chat": "recollect.cli.chat:chat",
        "import": "recollect.cli.transfer:import_",
        "export": "recollect.cli.transfer:export",
        "search": "recollect.cli.log:search",
        "history": "recollect.cli.log:history",
        "conversations": "recollect.cli.log:conversations",
        "episodes": "recollect.cli.episodes:episodes",
        "topics": "recollect.cli.topics:topics",
        "facts": "recollect.cli.knowledge.facts:facts",
        "why": "recollect.cli.knowledge.facts:why",
        "fact": "recollect.cli.knowledge.fact:fact",
        "ask": "recollect.cli.knowledge.ask:ask",
        "profile": "recollect.cli.knowledge.profile:profile",
        "remember": "recollect.cli.knowledge.profile:remember",
        "forget": "recollect.cli.knowledge.profile:forget",
        "undo": "recollect.cli.knowledge.profile:undo",
        "digest": "recollect.cli.digest:digest",
        "context": "recollect.cli.context:context",
        "stats": "recollect.cli.store:stats",
        "verify": "recollect.cli.store:verify",
        "doctor": "recollect.cli.doctor:doctor",
        "settings": "recollect.cli.store:settings",
        "edit": "recollect.cli.log:edit",
        "delete": "recollect.cli.delete:delete",
        "move": "recollect.cli.move:move",
        "merge": "recollect.cli.move:merge",
        "erase": "recollect.cli.log:erase",
        "redact": "recollect.cli.redact:redact",
        "retain": "recollect.cli.retain:retain",
        "audit": "recollect.cli.delete:audit",
        "scrub": "recollect.cli.store:scrub",
        "copy": "recollect.cli.transfer:copy",
        "rebuild": "recollect.cli.store:rebuild",
        "retry": "recollect.cli.store:retry",
        "worker": "recollect.cli.store:worker",
        "serve": "recollect.cli.serve:serve",
        "open": "recollect.cli.serve:open_dashboard",
        "keys": "recollect.cli.keys:keys",
        "mcp": "recollect.cli.mcp:mcp",
        "bot": "recollect.cli.bot.command:bot",
        "migrate": "recollect.cli.store:migrate",
        "bench": "recollect.cli.bench:bench",
    }
)


@click.group(
    cls=Program,
    commands=COMMANDS,
    params=[*PLACE],  # a copy: click adds to it
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


def main() -> None:
    """Run the program as a script does."""
    mask_what_escapes()
    try:
        program(prog_name="recollect")
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is done: Ctrl-C pressed once more is not to look as a crash
        gc.freeze()  # Python would look at all that is left three times, a second after an import, before it ends


if __name__ == "__main__":
    main()
