"""`python -m benchmarks frozen`: whether a change of the code changes anything that the memory gives."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from everword.cli.options import printable
from quality.datasets import load
from quality.frozen import differences, digests_of, dump_texts, read_digests, texts_of, write_digests

DIGESTS = Path(__file__).parents[1] / "data" / "frozen.json"
SHOWN = 10  # differences of a kind


@click.command()
@click.option(
    "--data",
    "files",
    multiple=True,
    required=True,
    type=click.Path(path_type=Path),
    help="A file of LoCoMo or LongMemEval or a folder of BEAM, as published; repeatable.",
)
@click.option("--digests", type=click.Path(path_type=Path), default=DIGESTS, help="Where the digests are kept.")
@click.option("--write", is_flag=True, help="Keep today's digests: the changes are wanted, and were read.")
@click.option("--dump", type=click.Path(path_type=Path), help="Also write the texts to this folder.")
def frozen(files: tuple[Path, ...], digests: Path, write: bool, dump: Path | None) -> None:
    """Compare all that the memory gives for published conversations with what it gave before.

    Rankings, contexts, receipts, facts, summaries and topics are compared by digests that are kept in the repository.
    Fails if anything differs, and names it. To see what changed, dump the texts of both versions and compare them:

    \b
    python -m benchmarks frozen --data locomo10.json --dump /tmp/now
    diff -r /tmp/before /tmp/now
    python -m benchmarks frozen --data locomo10.json --write
    """
    kept = read_digests(digests)
    changed: list[str] = []
    for file in files:
        for name, texts in texts_of(load(file), lambda what: click.echo(printable(what), err=True)):
            now = digests_of(texts)
            changed += [f"{name}/{item}" for item in differences(kept.get(name, {}), now)]
            kept[name] = now
            if dump is not None:
                dump_texts(dump, name, texts)
    if write:
        write_digests(digests, kept)
    show_changes(changed, sum(map(len, kept.values())))
    if changed and not write:
        raise SystemExit(1)


def show_changes(changed: list[str], total: int) -> None:
    counts = Counter(name.split("/")[2] for name in changed)
    for kind, count in sorted(counts.items()):
        names = [name for name in changed if name.split("/")[2] == kind]
        click.echo(f"{kind}: {count} changed: {printable(', '.join(names[:SHOWN]))}{' …' if count > SHOWN else ''}")
    click.echo(f"{len(changed)} of {total} changed")
