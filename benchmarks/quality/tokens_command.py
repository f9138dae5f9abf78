"""`python -m benchmarks tokens`: `recollect bench tokens` on a published data set."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from quality.talks import write_records
from recollect.cli.bench import tokens as tokens_of_file


@click.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.option("--data", "file", required=True, type=click.Path(path_type=Path), help="A file of LoCoMo or LongMemEval.")
@click.pass_context
def tokens(context: click.Context, file: Path) -> None:
    """Count the tokens of a conversation of a data set; every option of `recollect bench tokens` is passed on.

    \b
    python -m benchmarks tokens --data locomo10.json --turns 400
    """
    with tempfile.TemporaryDirectory() as folder:
        records = Path(folder) / f"{file.stem}.jsonl"
        write_records(file, records)
        arguments = ["--data", str(records), *context.args]
        tokens_of_file.main(arguments, prog_name="recollect bench tokens", standalone_mode=False)
