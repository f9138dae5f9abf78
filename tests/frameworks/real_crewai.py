"""CrewAI itself, through two crews: `make test-adapters`."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from documented import run_example

for name in ("CREWAI_DISABLE_TELEMETRY", "OTEL_SDK_DISABLED"):
    os.environ[name] = "true"
os.environ["CREWAI_TRACING_ENABLED"] = "false"
os.environ["CREWAI_STORAGE_DIR"] = os.environ["HOME"] = tempfile.mkdtemp()

from crewai import Agent, Crew, Task  # noqa: E402
from crewai.llms.base_llm import BaseLLM  # noqa: E402
from pydantic import Field  # noqa: E402

from everword import EverwordError, Memory  # noqa: E402
from everword.adapters.crewai import EverwordCrewMemory  # noqa: E402


class Script(BaseLLM):
    """A model of CrewAI's own kind: it says what it was told to, and notes what it was sent."""

    replies: list[str]
    seen: list[str] = Field(default_factory=list)

    def call(self, messages: Any, *_: Any, **__: Any) -> str:
        self.seen.append(messages if isinstance(messages, str) else "\n".join(str(m["content"]) for m in messages))
        return f"Thought: I know.\nFinal Answer: {self.replies.pop(0)}"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(str(tmp_path / "memory.db"), followers=False) as opened:
        yield opened


def say(model: Script, memory: EverwordCrewMemory, text: str) -> str:
    cook = Agent(role="Cook", goal="Answer", backstory="A cook.", llm=model)
    task = Task(description="{text}", expected_output="An answer", agent=cook)
    return str(Crew(agents=[cook], tasks=[task], memory=memory).kickoff(inputs={"text": text}))


def test_a_second_crew_knows_what_the_first_was_told_and_nobody_else_s(memory: Memory) -> None:
    model = Script(model="scripted", replies=["Tasty!", "Noted.", "Ramen."])
    say(model, EverwordCrewMemory(memory, user="alex"), "The dish I like most is ramen.")
    say(model, EverwordCrewMemory(memory, user="sam"), "The dish I like most is haggis.")
    memory.settle()
    crew_memory = EverwordCrewMemory(memory, user="alex", conversation="two")
    assert say(model, crew_memory, "What dish do I like?") == "Ramen."
    assert "most is ramen" in model.seen[-1]
    assert "haggis" not in model.seen[-1]
    kept = [(message.role, message.content) for message in memory.conversation("two", user="alex").history()]
    assert kept == [("user", "What dish do I like?"), ("assistant", "Ramen.")]


def test_an_agent_alone_remembers(memory: Memory) -> None:
    model = Script(model="scripted", replies=["Tasty!", "Ramen."])
    for text in ("The dish I like most is ramen.", "What dish do I like?"):
        own = EverwordCrewMemory(memory, user="alex")
        cook = Agent(role="Cook", goal="Answer", backstory="A cook.", llm=model, memory=own)
        answer = cook.kickoff(text)
        memory.settle()
    assert answer.raw == "Ramen."
    assert "most is ramen" in model.seen[-1]


def test_the_tools_of_crewai_search_and_save(memory: Memory) -> None:
    from crewai.tools.memory_tools import create_memory_tools

    memory.conversation("past", user="alex").add("user", "I bought two hives for my bees.")
    memory.settle()
    own = EverwordCrewMemory(memory, user="alex")
    search, save = create_memory_tools(own)
    assert "two hives" in search.run(queries=["my bees"])
    assert "Saved" in save.run(contents=["I keep bees."])
    assert "bees" in memory.profile(user="alex").text
    with pytest.raises(EverwordError, match="erase"):
        own.reset()


def test_a_memory_that_fails_does_not_fail_the_crew(memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    own = EverwordCrewMemory(memory, user="alex")
    memory.close()
    assert say(Script(model="scripted", replies=["Hello!"]), own, "Hello") == "Hello!"
    assert "without the memory" in caplog.text


def test_the_example_remembers(memory: Memory) -> None:
    model = Script(model="scripted", replies=["Tasty!", "Ramen."])
    run_example("CrewAI", memory=memory, model=model)
    memory.settle()
    say(model, EverwordCrewMemory(memory, user="kim"), "What do I like?")
    assert "ramen" in model.seen[-1]
