"""The program `everword`: its name, its options, its commands. It answers `--help` at once.

Nothing here or in the modules of the commands imports a database, numpy or a table printer: a command does that
when it runs. So finding out what the program can do costs only the parser, and a command costs only its own module.
"""

from __future__ import annotations

import gc
import os
import signal

import click

from everword import __version__
from everword.cli.options import PLACE, Program
from everword.masking import mask_what_escapes

# Where each command is, in the order of the help. Its module is imported when it is run, or when the help lists it.
COMMANDS = {
    "demo": "everword.cli.demo:demo",
    "init": "everword.cli.doctor:init",
    "chat": "everword.cli.chat:chat",
    "import": "everword.cli.transfer:import_",
    "export": "everword.cli.transfer:export",
    "search": "everword.cli.conversations:search",
    "history": "everword.cli.conversations:history",
    "conversations": "everword.cli.conversations:conversations",
    "episodes": "everword.cli.conversations:episodes",
    "topics": "everword.cli.conversations:topics",
    "facts": "everword.cli.facts:facts",
    "why": "everword.cli.facts:why",
    "fact": "everword.cli.facts:fact",
    "ask": "everword.cli.facts:ask",
    "profile": "everword.cli.facts:profile",
    "remember": "everword.cli.facts:remember",
    "forget": "everword.cli.facts:forget",
    "undo": "everword.cli.facts:undo",
    "digest": "everword.cli.conversations:digest",
    "context": "everword.cli.chat:context",
    "stats": "everword.cli.store:stats",
    "verify": "everword.cli.store:verify",
    "doctor": "everword.cli.doctor:doctor",
    "settings": "everword.cli.store:settings",
    "edit": "everword.cli.conversations:edit",
    "delete": "everword.cli.removal:delete",
    "move": "everword.cli.removal:move",
    "merge": "everword.cli.removal:merge",
    "erase": "everword.cli.removal:erase",
    "redact": "everword.cli.removal:redact",
    "retain": "everword.cli.removal:retain",
    "audit": "everword.cli.removal:audit",
    "scrub": "everword.cli.store:scrub",
    "backup": "everword.cli.store:backup",
    "restore": "everword.cli.store:restore",
    "copy": "everword.cli.transfer:copy",
    "rebuild": "everword.cli.store:rebuild",
    "retry": "everword.cli.store:retry",
    "worker": "everword.cli.store:worker",
    "serve": "everword.cli.serve:serve",
    "open": "everword.cli.serve:open_dashboard",
    "keys": "everword.cli.serve:keys",
    "mcp": "everword.cli.serve:mcp",
    "hook": "everword.cli.hook:hook",
    "bot": "everword.cli.serve:bot",
    "migrate": "everword.cli.store:migrate",
    "bench": "everword.cli.bench:bench",
}
SELDOM = 300_000  # new objects after which the garbage collector looks at them


@click.group(
    cls=Program,
    places=COMMANDS,
    params=[*PLACE],  # a copy: click adds to it
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
@click.version_option(__version__, "--version", prog_name="everword")
@click.option("--debug", is_flag=True, envvar="EVERWORD_DEBUG", help="Show where in the code an error occurred.")
def program(debug: bool) -> None:
    """A memory for chatbots and agents: it keeps every message, finds messages again, and can prove that none changed.

    \b
    everword demo                  take a tour of a few seconds
    everword import chat.jsonl     store chats, from ChatGPT and others
    everword search "databases"    find messages by word and by meaning
    everword chat                  talk with a model that remembers
    everword open                  see and correct the memory in the browser

    The memory is kept in a store: by default, the file `everword.db` in the working folder. To choose a store, use
    --store, EVERWORD_STORE, or `store = …` in everword.toml. To see all settings, run `everword settings`.

    To complete everword's commands with the Tab key, add the line for your shell to ~/.bashrc or ~/.zshrc:

    \b
    eval "$(_EVERWORD_COMPLETE=bash_source everword)"
    eval "$(_EVERWORD_COMPLETE=zsh_source everword)"
    """


def main() -> None:
    """Run the program as a script does. Modules and rules make many objects and hardly a circle: the garbage collector
    would take a quarter of the time of a start and a twentieth of that of an import. numpy's other threads would wait
    for work in loops, which on 16 cores takes as much of the processor as an import does."""
    mask_what_escapes()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(SELDOM)
    try:
        program(prog_name="everword")
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is done: Ctrl-C pressed once more is not to look as a crash
        gc.freeze()  # Python would look at all that is left three times, a second after an import, before it ends


if __name__ == "__main__":
    main()
