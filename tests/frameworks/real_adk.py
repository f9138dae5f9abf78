"""Google's ADK itself, through two sessions of its own runner: `make test-adapters`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import pytest
from documented import run_example
from google.adk.agents import LlmAgent, RunConfig
from google.adk.agents.run_config import StreamingMode
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.sessions.base_session_service import BaseSessionService, GetSessionConfig
from google.adk.tools.load_memory_tool import load_memory_tool
from google.adk.tools.preload_memory_tool import preload_memory_tool
from google.genai.types import Content, Part
from pydantic import Field

from everword import AsyncMemory, Memory
from everword.adapters.adk import EverwordMemoryService, EverwordSessionService


class Script(BaseLlm):
    """A model of ADK's own kind: it says what it was told to, and notes what it was sent."""

    model: str = "scripted"
    replies: list[Any]
    seen: list[str] = Field(default_factory=list)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        instruction = str(llm_request.config.system_instruction or "")
        self.seen.append("\n".join([instruction, *(text_of(content) for content in llm_request.contents)]))
        reply = self.replies.pop(0)
        part = Part(text=reply) if isinstance(reply, str) else reply
        if stream and part.text:
            for piece in (part.text[:3], part.text[3:]):
                yield LlmResponse(content=Content(role="model", parts=[Part(text=piece)]), partial=True)
        yield LlmResponse(content=Content(role="model", parts=[part]))


def text_of(content: Content) -> str:
    return "".join(part.text or str(part.function_response or "") for part in content.parts or ())


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(str(tmp_path / "memory.db"), followers=False) as opened:
        yield opened


def runner(memory: Any, model: Script, sessions: BaseSessionService | None = None) -> Runner:
    agent = LlmAgent(
        name="assistant", model=model, instruction="Be brief.", tools=[preload_memory_tool, load_memory_tool]
    )
    return Runner(
        app_name="app",
        agent=agent,
        session_service=sessions or EverwordSessionService(memory),
        memory_service=EverwordMemoryService(memory),
        auto_create_session=True,
    )


async def say(run: Runner, session: str, text: str, user: str = "alex", stream: bool = False) -> list[str]:
    """One turn; the texts of its events, pieces included."""
    message = Content(role="user", parts=[Part(text=text)])
    config = RunConfig(streaming_mode=StreamingMode.SSE if stream else StreamingMode.NONE)
    events = run.run_async(user_id=user, session_id=session, new_message=message, run_config=config)
    return [text_of(event.content) async for event in events if event.content]


def test_a_second_session_knows_what_the_first_was_told_and_nobody_else_s(memory: Memory) -> None:
    model = Script(replies=["Tasty!", "Noted.", "Ramen.", "Yes."])

    async def use() -> None:
        await say(runner(memory, model), "one", "The dish I like most is ramen.")
        await say(runner(memory, model), "one", "The dish I like most is haggis.", "sam")
        memory.settle()
        assert await say(runner(memory, model), "two", "What dish do I like?") == ["Ramen."]
        assert "most is ramen" in model.seen[-1]
        assert "haggis" not in model.seen[-1]
        await say(runner(memory, model), "two", "Sure?")

    asyncio.run(use())
    kept = [message.content for message in memory.conversation("app:alex:two", user="alex").history()]
    assert kept == ["What dish do I like?", "Ramen.", "Sure?", "Yes."]
    assert model.seen[-1].count("What dish do I like?") == 1, "what the session shows is not shown once more"


def test_a_streamed_turn_is_kept_as_a_whole_with_an_asynchronous_memory(tmp_path: Path) -> None:
    async def use() -> None:
        async with AsyncMemory(str(tmp_path / "m.db"), followers=False) as memory:
            model = Script(replies=["Tasty!", "Ramen."])
            await say(runner(memory, model), "one", "The dish I like most is ramen.")
            await memory.settle()
            assert await say(runner(memory, model), "two", "What dish do I like?", stream=True) == [
                "Ram",
                "en.",
                "Ramen.",
            ]
            assert "most is ramen" in model.seen[-1]
            history = await memory.conversation("app:alex:two", user="alex").history()
            assert [message.content for message in history] == ["What dish do I like?", "Ramen."]

    asyncio.run(use())


def test_a_session_of_another_service_is_remembered_once(memory: Memory) -> None:
    sessions = InMemorySessionService()
    run = runner(memory, Script(replies=["Tasty!"]), sessions)

    async def use() -> None:
        await say(run, "one", "The dish I like most is ramen.")
        session = await sessions.get_session(app_name="app", user_id="alex", session_id="one")
        for _ in range(2):
            await run.memory_service.add_session_to_memory(session)

    asyncio.run(use())
    assert [message.role for message in memory.conversation("app:alex:one", user="alex").history()] == [
        "user",
        "assistant",
    ]


def test_the_model_searches_by_a_tool(memory: Memory) -> None:
    memory.conversation("past", user="alex").add("user", "I bought two hives for my bees.")
    memory.settle()
    model = Script(replies=[Part.from_function_call(name="load_memory", args={"query": "bees"}), "You keep bees."])
    said = asyncio.run(say(runner(memory, model), "one", "Which animals do I keep?"))
    assert said[-1] == "You keep bees."
    assert "two hives" in model.seen[-1]
    roles = [message.role for message in memory.conversation("app:alex:one", user="alex").history()]
    assert roles == ["user", "assistant", "tool", "assistant"]


def test_sessions_do_what_adks_own_do(memory: Memory) -> None:
    async def use(service: BaseSessionService) -> list[Any]:
        alex = {"app_name": "app", "user_id": "alex"}
        seen: list[Any] = []
        state = {"user:name": "Alex", "app:version": 1, "step": 1}
        session = await service.create_session(**alex, session_id="one", state=state)
        with pytest.raises(AlreadyExistsError):
            await service.create_session(**alex, session_id="one")
        for number in range(3):
            delta = {"step": number, "temp:x": 1, "user:age": number, "app:version": 2}
            content = Content(role="user", parts=[Part(text=f"message {number}")])
            actions = EventActions(state_delta=delta)
            event = Event(author="user", content=content, actions=actions, timestamp=1000.0 + number)
            await service.append_event(session, event)
        await service.create_session(**alex, session_id="two", state={"a": 1})
        await service.create_session(app_name="app", user_id="sam", session_id="one")
        for config in (None, GetSessionConfig(num_recent_events=2), GetSessionConfig(num_recent_events=0)):
            found = await service.get_session(**alex, session_id="one", config=config)
            seen.append((found.state, [text_of(event.content) for event in found.events]))
        late = GetSessionConfig(after_timestamp=1001.0)
        found = await service.get_session(**alex, session_id="one", config=late)
        seen.append([event.actions.state_delta for event in found.events])
        seen.append((await service.get_session(**alex, session_id="two")).state)
        seen.append(await service.get_user_state(**alex))
        seen.append(sorted(found.id for found in (await service.list_sessions(**alex)).sessions))
        seen.append(len((await service.list_sessions(app_name="app")).sessions))
        await service.delete_session(**alex, session_id="one")
        await service.delete_session(**alex, session_id="never")
        seen.append(await service.get_session(**alex, session_id="one"))
        again = await service.create_session(**alex, session_id="one")
        seen.append((again.events, again.state))
        return seen

    ours, theirs = (asyncio.run(use(service)) for service in (EverwordSessionService(memory), InMemorySessionService()))
    assert ours == theirs
    memory.erase(user="alex")
    assert asyncio.run(EverwordSessionService(memory).list_sessions(app_name="app", user_id="alex")).sessions == []


def test_the_example_remembers(memory: Memory) -> None:
    model = Script(replies=["Tasty!", "Ramen."])
    run = run_example("Google ADK", memory=memory, model=model)["runner"]
    asyncio.run(say(run, "one", "I like ramen.", "kim"))
    memory.settle()
    asyncio.run(say(run, "two", "What do I like?", "kim"))
    assert "ramen" in model.seen[-1]
