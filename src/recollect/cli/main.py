"""The program `recollect`: its name, its options, its commands. It answers `--help` at once.

Nothing here or in the modules of the commands imports a database, numpy or a table printer: a command does that
when it runs. So finding out what the program can do costs only the parser, and a command costs only its own module.
"""

from __future__ import annotations

import gc
import signal

import click

from recollect import __version__
from recollect.cli.options import PLACE, Program
from recollect.masking import mask_what_escapes

# Where each command is, in the order of the help. Its module is imported when it is run, or when the help lists it.
COMMANDS = {
    "demo": "recollect.cli.demo:demo",
    "chat": "recollect.cli.chat:chat",
    "import": "recollect.cli.transfer:import_",
    "export": "recollect.cli.transfer:export",
    "search": "recollect.cli.log:search",
    "history": "recollect.cli.log:history",
    "conversations": "recollect.cli.log:conversations",
    "episodes": "recollect.cli.views:episodes",
    "topics": "recollect.cli.views:topics",
    "facts": "recollect.cli.facts:facts",
    "why": "recollect.cli.facts:why",
    "fact": "recollect.cli.facts:fact",
    "ask": "recollect.cli.facts:ask",
    "profile": "recollect.cli.facts:profile",
    "remember": "recollect.cli.facts:remember",
    "forget": "recollect.cli.facts:forget",
    "undo": "recollect.cli.facts:undo",
    "digest": "recollect.cli.views:digest",
    "context": "recollect.cli.chat:context",
    "stats": "recollect.cli.store:stats",
    "verify": "recollect.cli.store:verify",
    "doctor": "recollect.cli.doctor:doctor",
    "settings": "recollect.cli.store:settings",
    "edit": "recollect.cli.log:edit",
    "delete": "recollect.cli.removal:delete",
    "move": "recollect.cli.removal:move",
    "merge": "recollect.cli.removal:merge",
    "erase": "recollect.cli.removal:erase",
    "redact": "recollect.cli.removal:redact",
    "retain": "recollect.cli.removal:retain",
    "audit": "recollect.cli.removal:audit",
    "scrub": "recollect.cli.store:scrub",
    "copy": "recollect.cli.transfer:copy",
    "rebuild": "recollect.cli.store:rebuild",
    "retry": "recollect.cli.store:retry",
    "worker": "recollect.cli.store:worker",
    "serve": "recollect.cli.serve:serve",
    "open": "recollect.cli.serve:open_dashboard",
    "keys": "recollect.cli.serve:keys",
    "mcp": "recollect.cli.serve:mcp",
    "bot": "recollect.cli.bot:bot",
    "migrate": "recollect.cli.store:migrate",
    "bench": "recollect.cli.bench:bench",
}
SELDOM = 300_000  # new objects after which the garbage collector looks at them


@click.group(
    cls=Program,
    places=COMMANDS,
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
    """Run the program as a script does. Modules and rules make many objects and hardly a circle: the garbage collector
    would take a quarter of the time of a start and a twentieth of that of an import."""
    mask_what_escapes()
    gc.set_threshold(SELDOM)
    try:
        program(prog_name="recollect")
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is done: Ctrl-C pressed once more is not to look as a crash
        gc.freeze()  # Python would look at all that is left three times, a second after an import, before it ends


if __name__ == "__main__":
    main()
