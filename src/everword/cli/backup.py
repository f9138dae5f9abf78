"""Commands that keep a store safe: backup and restore.

A backup is one file, as of one moment, whoever writes meanwhile, and gets its name only when it is verified. A restore
verifies the backup before it replaces anything, and replaces the store in one step.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from everword.cli import opening, options
from everword.cli.opening import current_settings
from everword.cli.options import StoreCommand, printable
from everword.cli.output import plural, print_json
from everword.errors import InvalidInput, NotFound, StoreError
from everword.masking import mask_credentials

if TYPE_CHECKING:
    from everword.config import Settings
    from everword.model import Verification

FILE = click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
JSON = "json:"
PG_DUMP = "pg_dump --format=custom --file={file} {url}"
PG_RESTORE = "pg_restore --clean --if-exists --dbname={url} {file}"


@click.command(cls=StoreCommand)
@FILE
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@options.JSON_OBJECT
def backup(file: Path, force: bool, as_json: bool) -> None:
    """Copy the store into a file, while others write to it.

    FILE holds everything that was stored before the command began, in all spaces, and is verified before it gets its
    name. It is a store like any other: `everword --store FILE search …` searches it. Do not use `cp` on a SQLite store
    that is in use: the newest messages are in a second file beside it. For PostgreSQL, the command prints the `pg_dump`
    line to use, and the exit status is 1.

    \b
    everword backup everword-2024-05-01.db
    everword --store json:memory.json backup memory-backup.json
    everword restore everword-2024-05-01.db
    """
    from everword.stores.backup import replace_store

    settings = current_settings()
    source = file_of_store(settings, PG_DUMP, file)
    opening.require_existing(settings.store)
    if file.exists() and (not force or file.samefile(source)):
        remedy = "name another file" if file.samefile(source) else "name another file, or use --force"
        raise StoreError(f"{file} exists; {remedy}")
    with verified_copy(source, file, settings) as (copy, proof):
        replace_store(copy, file)
    report(file, proof, "backed up", as_json)


@click.command(cls=StoreCommand)
@FILE
@click.option("--force", is_flag=True, help="Replace the store if there is one.")
@options.JSON_OBJECT
def restore(file: Path, force: bool, as_json: bool) -> None:
    """Replace the store with a backup.

    FILE is the backup. It is verified first; if something is wrong with it, the store stays as it is. An existing store
    is replaced only with --force, in one step, and only while no program has it open.

    \b
    everword restore everword-2024-05-01.db
    everword --store other.db restore everword-2024-05-01.db
    everword restore everword-2024-05-01.db --force
    """
    from everword.stores.backup import is_database, replace_store

    settings = current_settings()
    target = file_of_store(settings, PG_RESTORE, file)
    if not file.exists():
        raise NotFound(f"there is no file {file}")
    if is_database(file) is settings.store.startswith(JSON):
        raise StoreError(f"{file} and {settings.store} are of different kinds; `everword copy` converts a store")
    if target.exists() and target.samefile(file):
        raise StoreError(f"{file} is the store itself; name a backup")
    if target.exists() and not force:
        raise StoreError(f"{target} exists; use --force to replace it, or restore elsewhere: --store OTHER")
    with verified_copy(file, target, settings) as (copy, proof):
        replace_store(copy, target)
    report(target, proof, "restored", as_json)


def file_of_store(settings: Settings, command: str, file: Path) -> Path:
    """The file of the store in force. A server has tools of its own: the error tells the line."""
    path = opening.store_file(settings.store)
    if path is None:
        line = command.format(file=file, url=f"'{mask_credentials(settings.store)}'")
        raise StoreError(f"a store on PostgreSQL has a tool of its own; run: {line}")
    return path


@contextmanager
def verified_copy(source: Path, target: Path, settings: Settings) -> Iterator[tuple[Path, Verification]]:
    """A copy of the file of a store, verified and on the disk, in a folder beside the target that is gone after the
    block."""
    from everword.log.tables import verify
    from everword.stores.backup import complete_file, copy_file
    from everword.wiring import open_store

    parent = target.absolute().parent
    if not parent.is_dir():
        raise InvalidInput("file", f"the folder {parent} does not exist; create it first")
    with TemporaryDirectory(prefix=f".{target.name}.", dir=parent) as folder:
        copy = Path(folder) / target.name
        is_json = settings.store.startswith(JSON)
        copy_file(source, copy, not is_json, settings.busy_seconds)
        with closing(open_store(f"{JSON if is_json else 'sqlite:'}{copy}", settings)) as store:
            proof = store.read(verify)
        if not proof.ok:
            faults = plural(len(proof.faults), "fault")
            raise StoreError(
                f"{source} has {faults}, and nothing was replaced; `everword verify --store {source}` names them, and"
                " `everword copy --salvage` copies what can be read"
            )
        complete_file(copy)
        yield copy, proof


def report(file: Path, proof: Verification, verb: str, as_json: bool) -> None:
    if as_json:
        counts = {"messages": proof.messages, "conversations": proof.conversations, "erased": proof.erased}
        print_json({"file": os.fspath(file), **counts, "root": proof.root})
        return
    scope = f"{plural(proof.messages, 'message')} in {plural(proof.conversations, 'conversation')}"
    click.echo(f"{printable(str(file))}: {verb}, {scope}, verified\nroot {proof.root}")
