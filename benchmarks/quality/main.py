"""The command: one group, one module a measure."""

from __future__ import annotations

import click

from everword.cli.options import Program
from quality.answers_command import answers
from quality.cost_command import cost
from quality.evidence_command import evidence
from quality.facts_command import facts
from quality.floor_command import floor
from quality.frozen_command import frozen
from quality.languages_command import languages
from quality.recall_command import recall
from quality.speakers_command import speakers
from quality.summaries_command import summaries
from quality.threads_command import threads
from quality.tokens_command import tokens
from quality.topics_command import topics
from quality.window_command import window


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"]})
def program() -> None:
    """Measure how good the memory is, on data sets that others published.

    They are not part of everword: docs/benchmarks.md says where each is to be had. No model is asked.

    \b
    python -m benchmarks recall --data locomo10.json --part report
    python -m benchmarks evidence --data locomo10.json --part report
    python -m benchmarks topics --data tiage_dev.json
    python -m benchmarks tokens --data locomo10.json
    python -m benchmarks cost --data locomo10.json
    python -m benchmarks floor --data locomo10.json
    python -m benchmarks facts --data locomo10.json
    python -m benchmarks languages --data FOLDER
    python -m benchmarks threads --data FOLDER
    """


program.add_command(answers)
program.add_command(cost)
program.add_command(evidence)
program.add_command(languages)
program.add_command(recall)
program.add_command(speakers)
program.add_command(summaries)
program.add_command(threads)
program.add_command(topics)
program.add_command(tokens)
program.add_command(facts)
program.add_command(floor)
program.add_command(frozen)
program.add_command(window)


def main() -> None:
    program(prog_name="python -m benchmarks")
