"""Every curl example of docs/server.md, sent to a server that listens where the page says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from curl_examples import SENDERS, Sender, by_hand, request_of

from everword.testing import ScriptedLLM
from everword.testing.serving import Serving

PAGE = (Path(__file__).parents[2] / "docs" / "server.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
SHOWN = "http://127.0.0.1:8000"


def answered(printed: str) -> object:
    """What an example printed: JSON, lines of JSON, or events."""
    if "event: " in printed:
        return [line for line in printed.splitlines() if line.startswith("event: ")]
    return [json.loads(line) for line in printed.splitlines()]


@pytest.mark.parametrize("send", SENDERS, ids=lambda send: str(send.__name__))
def test_every_curl_example_works_as_it_stands(tmp_path: Path, send: Sender) -> None:
    examples = EXAMPLE.findall(PAGE)
    assert PAGE.count("curl -s") == len(examples)
    model = ScriptedLLM(["Your name is Alex.", "In Berlin."], chunk=4)
    with Serving(str(tmp_path / "memory.db"), chat=model) as server:
        told = {code.split()[2] + code: answered(send(code.replace(SHOWN, server.url))) for code in examples}
    assert all(told.values())
    text = json.dumps(list(told.values()))
    for expected in (
        "Noted, Alex.",
        "Your name is Alex.",
        "event: done",
        "allergic to latex",
        '"location"',
        "an otter",
    ):
        assert expected in text, expected


def test_a_command_is_read_as_curl_reads_it(tmp_path: Path) -> None:
    plain = request_of("curl -s 'http://a:1/x?y=1&z=%2F'")
    assert plain == ("GET", "http://a:1/x?y=1&z=%2F", {"Accept": "*/*"}, None)
    told = request_of("curl -sN http://a:1/x \\\n  -H 'A: b: c' -d '{\"d\": [\n1]}'")
    form = "application/x-www-form-urlencoded"
    assert told == ("POST", "http://a:1/x", {"Accept": "*/*", "Content-Type": form, "A": "b: c"}, b'{"d": [\n1]}')
    assert request_of("curl -s -X DELETE http://a:1/x -H 'Content-Type: t' -d x")[::2] == (
        "DELETE",
        {"Accept": "*/*", "Content-Type": "t"},
    )
    with pytest.raises(AssertionError, match="--compressed"):
        request_of("curl --compressed http://a:1/x")
    with Serving(str(tmp_path / "a.db"), followers=False) as server, pytest.raises(AssertionError, match="Not Found"):
        by_hand(f"curl -s {server.url}/nowhere")
