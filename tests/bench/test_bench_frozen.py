"""What `python -m benchmarks frozen` tells: nothing if all is as it was, and the names of what is not."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result
from recall_sets import locomo_record

from quality.main import program


def run(data: Path, digests: Path, *options: str) -> Result:
    return CliRunner().invoke(program, ["frozen", "--data", str(data), "--digests", str(digests), *options])


def test_what_changed_is_named_and_only_a_written_digest_makes_it_pass(tmp_path: Path) -> None:
    data, digests, dump = tmp_path / "talk.json", tmp_path / "digests.json", tmp_path / "texts"
    data.write_text(json.dumps([locomo_record()]))
    assert run(data, digests).exit_code == 1  # nothing is known yet
    written = run(data, digests, "--write", "--dump", str(dump))
    assert written.exit_code == 0, written.output
    again = run(data, digests)
    assert (again.exit_code, again.output.splitlines()[-1].split()[0]) == (0, "0")
    assert "greyhound" in (dump / "LoCoMo" / "conv-a" / "contexts" / "conv-a" / "1" / "default.txt").read_text()

    other = locomo_record()
    other["conversation"]["session_1"][0]["text"] = "Yesterday I adopted a whippet from the shelter."
    data.write_text(json.dumps([other]))
    changed = run(data, digests)
    assert changed.exit_code == 1
    assert "contexts: " in changed.output
    assert "greyhound" not in digests.read_text()
