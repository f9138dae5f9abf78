"""`everword demo`: shows the real engine on a scripted chat, step by step. Offline, without a key.

Only the model is scripted: each step runs what a program would call and prints the result. The demo ignores settings,
so that its output is always the same, and works in a temporary folder, so that it leaves nothing behind.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import click


@click.command()
@click.option("--keep", type=click.Path(path_type=Path), metavar="FOLDER", help="Keep the files in this new folder.")
def demo(keep: Path | None) -> None:
    """Show what everword does, in a few seconds.

    It runs offline, needs no key, and leaves no files. It stores a chat of 42 messages over five months and searches it
    by word, by meaning and in another writing system. It builds a context and shows why each part is in it. A scripted
    model asks for more and gets it. You see summaries, facts, topics and digests of a group. At the end it verifies the
    log, shows that tampering is found, and copies the store.

    \b
    everword demo
    everword demo --keep /tmp/demo
    """
    from everword.cli.tour import run_tour

    if keep is None:
        with tempfile.TemporaryDirectory(prefix="everword-demo-") as folder:
            run_tour(Path(folder))
        return
    if keep.exists() and (not keep.is_dir() or any(keep.iterdir())):
        raise click.UsageError(f"--keep: {keep} exists already; name a new folder")
    keep.mkdir(parents=True, exist_ok=True)
    run_tour(keep)
    click.echo(f"\nKept in {keep}. Try: everword search databases --store {keep / 'demo.db'}")
