"""`python -m benchmarks tokens`: `everword bench tokens` on a published data set, and then with all memory work."""

from __future__ import annotations

import io
import json
import tempfile
from contextlib import redirect_stdout
from pathlib import Path
from statistics import fmean
from typing import Any

import click

from everword.cli.bench import tokens as tokens_of_file
from everword.cli.output import progress_bar, show_table, table
from everword.errors import InvalidInput
from quality.talks import write_records
from quality.work_tokens import Talk, WorkReport, read_talks, replay_work

TASKS = {
    "reading": "facts",
    "message_tiers": "tiers",
    "episode_summary": "episodes",
    "level_summary": "levels",
    "topic_summary": "topics",
}


@click.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.option("--data", "file", required=True, type=click.Path(path_type=Path), help="A file of LoCoMo or LongMemEval.")
@click.option("--conversation", metavar="ID", help="Which one of the file.  [default: the longest]")
@click.option("--turns", type=click.IntRange(2), default=200, help="Replay at most this many messages.")
@click.option("--work-only", is_flag=True, help="Only the count with all memory work.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.pass_context
def tokens(
    context: click.Context, file: Path, conversation: str | None, turns: int, work_only: bool, as_json: bool
) -> None:
    """Count the tokens of a conversation of a data set; every option of `everword bench tokens` is passed on.

    After what that command prints comes the same conversation with all memory work: whatever the memory model is asked
    is answered by a stand-in, as long as the built-in writers write, and every token of it is counted, by task. The
    sessions of LongMemEval are one long chat, in the order of their dates; in LoCoMo one person is the user and the
    other the assistant.

    \b
    python -m benchmarks tokens --data longmemeval_oracle.json
    python -m benchmarks tokens --data locomo10.json --turns 500 --work-only
    """
    fields: dict[str, Any] = {}
    if not work_only:
        fields = count_as_everword(context, file, conversation, turns, as_json)
    talk = choose_talk(file, conversation, turns)
    with progress_bar("{task.completed} of {task.total} exchanges", visible=not as_json) as bar:
        task = bar.add_task("replaying with memory work", total=len(talk.exchanges))
        report = replay_work(talk, on_exchange=lambda number: bar.update(task, completed=number))
    if as_json:
        click.echo(json.dumps(fields | {"all_work": work_fields(report)}, ensure_ascii=False))
        return
    if not work_only:
        click.echo()
    show_work(report)


def count_as_everword(
    context: click.Context, file: Path, conversation: str | None, turns: int, as_json: bool
) -> dict[str, Any]:
    """What `everword bench tokens` says: printed, or with `as_json` returned."""
    output = io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        records = Path(folder) / f"{file.stem}.jsonl"
        write_records(file, records)
        arguments = ["--data", str(records), "--turns", str(turns), *context.args]
        arguments += ["--conversation", conversation] if conversation else []
        if not as_json:
            tokens_of_file.main(arguments, prog_name="everword bench tokens", standalone_mode=False)
            return {}
        with redirect_stdout(output):
            tokens_of_file.main([*arguments, "--json"], prog_name="everword bench tokens", standalone_mode=False)
    fields: dict[str, Any] = json.loads(output.getvalue())
    return fields


def choose_talk(file: Path, conversation: str | None, turns: int) -> Talk:
    talks = {talk.name: talk for talk in read_talks(file)}
    if conversation is not None and conversation not in talks:
        raise InvalidInput("conversation", f"there is no {conversation!r} in {file}; there are {', '.join(talks)}")
    longest = max(talks.values(), key=lambda talk: len(talk.exchanges), default=None)
    talk = longest if conversation is None else talks[conversation]
    if talk is None or not talk.exchanges:
        raise InvalidInput("data", f"{file} contains no answered message, so there is nothing to replay")
    return talk.first_exchanges(turns // 2)


def work_fields(report: WorkReport) -> dict[str, Any]:
    ratios = report.ratios()
    return {
        "conversation": report.talk,
        "tokenizer": report.tokenizer,
        "exchanges": len(report.steps),
        "below_from": report.below_from,
        "largest_ratio": max(ratios),
        "repeated": fmean(report.repeated) if report.repeated else None,
        "ratios": [round(ratio, 4) for ratio in ratios],
        "rows": report.rows(),
    }


def show_work(report: WorkReport) -> None:
    """Print the curve: what was spent up to some of the exchanges, with the memory model's tokens by task."""
    click.echo(f"With all memory work ({report.talk}, {len(report.steps)} exchanges). Tokens spent so far:\n")
    rows = report.rows()
    tasks = list(dict.fromkeys(task for row in rows for task in row["tasks"]))
    names = (
        "exchange", "contexts", "replies", "with replies", *(f"{TASKS.get(task, task)} in/out" for task in tasks),
        "in all", "whole history", "ratio",
    )  # fmt: skip
    grid = table(*names, right=names)
    for row in rows:
        spent = [row["tasks"].get(task, {}) for task in tasks]
        grid.add_row(
            str(row["exchange"]),
            *(f"{row[name]:,}" for name in ("context", "reply", "beside")),
            *(f"{counts.get('in', 0):,}/{counts.get('out', 0):,}" for counts in spent),
            f"{row['ours']:,}",
            f"{row['full']:,}",
            f"{row['ratio']:.2f}",
        )
    show_table(grid)
    below_from = report.below_from
    click.echo()
    click.echo(
        "Not below the whole history by the end."
        if below_from is None
        else f"Below the whole history from exchange {below_from} on."
    )
    ratios = report.ratios()
    click.echo(f"The largest ratio is {max(ratios):.2f}, the last {ratios[-1]:.2f}.")
    if report.repeated:
        click.echo(f"A prompt begins with {fmean(report.repeated):.0%} of its tokens as the one before (mean).")
