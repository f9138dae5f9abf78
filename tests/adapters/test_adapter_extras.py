"""Without its library an adapter says which extra to install; and none of them is loaded by a memory itself."""

from __future__ import annotations

import subprocess
import sys

EXTRAS = ("langgraph", "langchain", "agents", "pydantic-ai", "llamaindex", "adk", "agent-framework", "crewai")
PROGRAM = """
import importlib, sys

frameworks = ("pydantic_ai", "llama_index", "google.adk.events", "agent_framework", "crewai")
for name in ("langgraph", "langchain_core", "agents", "anthropic", "mcp", "fastapi", *frameworks):
    sys.modules[name] = None  # as if it were not installed
from everword import Memory, MissingExtra
from everword.adapters.anthropic import MemoryTool, memory_tool

for module in ("langgraph", "langchain", "agents", "pydantic_ai", "llamaindex", "adk", "agent_framework", "crewai"):
    try:
        importlib.import_module(f"everword.adapters.{module}")
    except MissingExtra as error:
        print(error.extra, error)
with Memory(sys.argv[1], followers=False) as memory:
    print(MemoryTool(memory).call({"command": "create", "path": "/memories/a", "file_text": "x"}))
    try:
        memory_tool(memory)
    except MissingExtra as error:
        print(error.extra, error)
from click.testing import CliRunner
from everword.cli.main import program

print(CliRunner().invoke(program, ["mcp", sys.argv[1]]).output.strip())
"""


def test_without_its_library_each_says_what_to_install(tmp_path: object) -> None:
    arguments = [sys.executable, "-W", "error", "-c", PROGRAM, f"{tmp_path}/m.db"]
    ran = subprocess.run(arguments, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert [line.split(" ", 1)[0] for line in lines[: len(EXTRAS)]] == [*EXTRAS]
    for extra, line in zip(EXTRAS, lines, strict=False):
        assert f"pip install 'everword[{extra}]'" in line
    created, refused, command = lines[len(EXTRAS) :]
    assert created == "File created successfully at: /memories/a"
    assert "pip install 'everword[anthropic]'" in refused
    assert command == "error: `everword mcp` needs an optional package: pip install 'everword[server]'"
