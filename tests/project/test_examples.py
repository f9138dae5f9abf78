"""The programs in examples/: short, and each run with a model that answers from a script."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient
from langchain_openai import ChatOpenAI
from llm_server import Step, replies, says, serving
from pydantic import SecretStr

from everword import AsyncMemory, Memory
from everword.ports import Request
from everword.testing import ScriptedLLM
from gradio_chat import make_answer
from group_bot import GroupBot
from import_and_ask import import_file, show
from langgraph_agent import build_agent
from open_webui_filter import Filter
from terminal_chat import talk
from web_app import create_app

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
EXPORT = ROOT / "tests" / "formats" / "data" / "chatgpt.json"
LONGEST = 80  # lines


def answer(request: Request) -> str:
    """Knows of peanuts only if the context tells of them."""
    prompt = " ".join(str(message["content"]) for message in request.messages[:-1])
    return "Better not: it has peanuts." if "peanuts" in prompt else "Enjoy your meal!"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(str(tmp_path / "example.db"), chat=ScriptedLLM(default=answer, chunk=6)) as memory:
        yield memory


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_an_example_is_short_and_listed(file: Path) -> None:
    assert len(file.read_text(encoding="utf-8").splitlines()) < LONGEST
    assert f"({file.name})" in (ROOT / "examples" / "README.md").read_text(encoding="utf-8")


def test_the_terminal_chat_remembers_between_runs(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for lines in (["I'm allergic to peanuts.", ""], ["Can I eat satay?"]):
        typed = iter(lines)
        monkeypatch.setattr("builtins.input", lambda prompt, typed=typed: next(typed, ""))
        talk(memory, "alex")
    assert capsys.readouterr().out == "bot: Enjoy your meal!\nbot: Better not: it has peanuts.\n"


def test_the_web_app_streams_and_tells_its_visitors_apart(tmp_path: Path) -> None:
    memory = AsyncMemory(str(tmp_path / "web.db"), chat=ScriptedLLM(default=answer, chunk=6))
    with TestClient(create_app(memory)) as alex:
        assert "<form>" in alex.get("/").text
        assert alex.post("/chat", json={"text": "I'm allergic to peanuts."}).text == "Enjoy your meal!"
        assert alex.get("/").headers.get("set-cookie") is None
        with alex.stream("POST", "/chat", json={"text": "Can I eat satay?"}) as reply:
            pieces = list(reply.iter_text())
        assert "".join(pieces) == "Better not: it has peanuts."
        alex.cookies.clear()  # somebody else
        alex.get("/")
        assert alex.post("/chat", json={"text": "Can I eat satay?"}).text == "Enjoy your meal!"


def test_the_function_that_gradio_calls_streams_the_text_so_far(memory: Memory) -> None:
    """Gradio itself is not installed here: its page is not tried."""
    reply = make_answer(memory)
    assert list(reply("I'm allergic to peanuts.", [], "alex"))[-1] == "Enjoy your meal!"
    steps = list(reply("Can I eat satay?", [], "alex"))
    assert steps[0] == "Better"
    assert steps[-1] == "Better not: it has peanuts."
    assert list(reply("Can I eat satay?", [], " "))[-1] == "Enjoy your meal!"


def test_what_a_model_cannot_answer_is_said_in_the_chat(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "no_model.db")) as memory:
        (said,) = make_answer(memory)("Hello", [], "alex")
        assert "model" in said
        assert GroupBot(memory, group="friends", channel="general").receive("Dana", "Memo, hello!")


def test_the_group_bot_keeps_what_is_said_and_answers_when_called(memory: Memory) -> None:
    bot = GroupBot(memory, group="friends", channel="general")
    assert bot.receive("Dana", "I'm allergic to peanuts.", message_id="1") is None
    assert bot.receive("Dana", "I'm allergic to peanuts.", message_id="1") is None
    assert bot.receive("Alex", "Memo, can Dana eat satay?", message_id="2") == "Better not: it has peanuts."
    told = bot.receive("Alex", "Memo, remember that I moved to Delft", message_id="3")
    assert told is not None
    assert "Delft" in told
    known = bot.receive("Alex", "Memo, what do you know about me?", message_id="4")
    assert known is not None
    assert "Delft" in known
    history = memory.conversation("general", space="friends").history()
    assert [message.content for message in history].count("I'm allergic to peanuts.") == 1


async def chat(filter: Filter, id: str, question: str, reply: str) -> list[dict[str, Any]]:
    """A turn of a chat, as Open WebUI passes it to a filter; what the model is sent."""
    user = {"id": "alex", "name": "Alex"}
    messages = [{"role": "user", "content": question}]
    body = await filter.inlet({"model": "m", "messages": messages}, user, {"chat_id": id})
    await filter.outlet({"chat_id": id, "messages": [*messages, {"role": "assistant", "content": reply}]}, user)
    sent: list[dict[str, Any]] = body["messages"]
    return sent


@pytest.mark.checklist("G20")
def test_the_filter_of_open_webui_remembers_between_chats(tmp_path: Path) -> None:
    """By Open WebUI's documented protocol; `make test-adapters` runs it with Open WebUI itself."""

    async def use() -> None:
        filter = Filter()
        filter.valves.store = str(tmp_path / "memory.db")
        await chat(filter, "one", "I'm allergic to peanuts.", "Noted.")
        assert await chat(filter, "temporary:x", "I'm allergic to milk.", "Noted.") == [
            {"role": "user", "content": "I'm allergic to milk."}
        ]
        (memory,) = filter.memories.values()
        memory.settle()
        sent = await chat(filter, "two", "Can I eat satay with peanuts?", "Better not.")
        assert "allergic to peanuts" in sent[0]["content"]
        assert [message.content for message in memory.conversation("two", user="alex").history()] == [
            "Can I eat satay with peanuts?",
            "Better not.",
        ]
        assert "milk" not in str(memory.search("milk", user="alex"))
        filter.valves.store = str(tmp_path / "no folder" / "memory.db")
        assert len(await chat(filter, "two", "Hello?", "Hello!")) == 1, "without a memory the chat goes on"
        memory.close()

    asyncio.run(use())


def test_an_export_is_imported_once_and_answers_questions(memory: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    assert import_file(memory, str(EXPORT), user="me") > 0
    assert import_file(memory, str(EXPORT), user="me") == 0
    show(memory.ask("What did I ask about?", user="me"))
    assert capsys.readouterr().out


def calls_tool(name: str, **arguments: str) -> Step:
    """A step of the model's server: it asks for a tool."""
    call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    return replies(json.dumps({"id": "1", "model": "scripted", "choices": [choice]}).encode())


def test_the_agent_takes_notes_and_remembers_what_was_said(memory: Memory) -> None:
    noted = calls_tool("save_note", key="food", text="Alex likes ramen")
    searched = calls_tool("search_notes", query="favourite dish")
    script = (noted, says("I will remember."), searched, says("Ramen."))
    with serving(*script) as server, httpx.Client() as connections:
        model = ChatOpenAI(
            model="scripted", base_url=server.url, api_key=SecretStr("none"), max_retries=0, http_client=connections
        )
        agent = build_agent(memory, model, user="alex", thread="agent")
        first = agent.invoke({"messages": [("user", "I like ramen. Remember that.")]})
        agent = build_agent(memory, model, user="alex", thread="another")
        second = agent.invoke({"messages": [("user", "What should I cook?")]})
    assert first["messages"][-1].text == "I will remember."
    assert second["messages"][-1].text == "Ramen."
    assert second["messages"][-2].text == '["Alex likes ramen"]'
    assert "I like ramen. Remember that." in str(server.requests[2]["messages"])
    history = memory.conversation("agent", user="alex").history()
    assert [message.role for message in history] == ["user", "assistant", "tool", "assistant"]
    memory.erase(user="alex")
    assert memory.documents().search() == []
