"""Every curl example of docs/server.md, run by a shell against a server that listens where the page says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from recollect.testing import ScriptedLLM
from recollect.testing.serving import Serving

PAGE = (Path(__file__).parents[2] / "docs" / "server.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
SHOWN = "http://127.0.0.1:8000"


def answered(code: str) -> object:
    """What an example printed: JSON, lines of JSON, or events."""
    run = subprocess.run(["sh", "-ec", code.replace("curl ", "curl --fail-with-body ")], capture_output=True, text=True)
    assert run.returncode == 0, f"{code}\n{run.stdout}{run.stderr}"
    if "event: " in run.stdout:
        return [line for line in run.stdout.splitlines() if line.startswith("event: ")]
    return [json.loads(line) for line in run.stdout.splitlines()]


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_every_curl_example_works_as_it_stands(tmp_path: Path) -> None:
    examples = EXAMPLE.findall(PAGE)
    assert PAGE.count("curl -s") == len(examples)
    model = ScriptedLLM(["Your name is Alex.", "In Berlin."], chunk=4)
    with Serving(str(tmp_path / "memory.db"), chat=model) as server:
        told = {code.split()[2] + code: answered(code.replace(SHOWN, server.url)) for code in examples}
    assert all(told.values())
    text = json.dumps(list(told.values()))
    for expected in ("Noted, Alex.", "Your name is Alex.", "event: done", "allergic to latex", '"location"'):
        assert expected in text, expected


def test_every_route_that_the_page_names_exists() -> None:
    from recollect import AsyncMemory
    from recollect.server.app import create_app

    paths = set(create_app(AsyncMemory("never opened")).openapi()["paths"]) | {"/openapi.json"}
    table = PAGE[PAGE.index("| route |") : PAGE.index("An id in a path")]
    ends = {path.rpartition("/")[2] for path in paths}
    for named in re.findall(r"`(?:GET|POST|PUT)? ?(/?[\w/{}-]+)`", table):
        assert named in paths or named.rpartition("/")[2] in ends or named in ("GET", "POST", "current"), named
