"""Programs that know nothing of everword, with their base URL changed: LangChain, OpenAI's asynchronous client, curl;
and every example of docs/openai.md."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
from curl_examples import SENDERS, Sender
from openai_doubles import BLOCK, Exchange, World, answers, user, world_of

PAGE = (Path(__file__).parents[2] / "docs" / "openai.md").read_text(encoding="utf-8")
ADDRESS = "http://localhost:8000"
CALL = '{"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{\\"city\\":\\"Oslo\\"}"}}'


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world_of(str(tmp_path_factory.mktemp("clients") / "a.db"), followers=True) as world:
        yield world


def calls(exchange: Exchange) -> None:
    message = f'{{"role": "assistant", "content": null, "tool_calls": [{CALL}]}}'
    exchange.send(200, f'{{"choices": [{{"index": 0, "message": {message}, "finish_reason": "tool_calls"}}]}}'.encode())


def test_langchain_chats_streams_and_calls_tools(world: World) -> None:
    from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI

    @tool
    def weather(city: str) -> str:
        """The weather in a city."""
        return f"cold in {city}"

    world.anew(answers(f"Noted, |Alex.{BLOCK}"), calls, answers("It is |cold."))
    given: dict[str, Any] = {"base_url": f"{world.server.url}/v1", "api_key": "none", "max_retries": 0}
    model = ChatOpenAI(model="model-x", extra_body={"user": world.user}, **given)
    history: list[BaseMessage] = [SystemMessage("Be brief."), HumanMessage("My name is Alex.")]
    pieces = [piece.content for piece in model.stream(history)]
    assert "".join(map(str, pieces)) == "Noted, Alex."
    armed = model.bind_tools([weather])
    history += [AIMessage("Noted, Alex."), HumanMessage("How is it in Oslo?")]
    asked = armed.invoke(history)
    [call] = asked.tool_calls
    assert (call["name"], call["args"]) == ("weather", {"city": "Oslo"})
    history += [asked, ToolMessage(weather.invoke(call["args"]), tool_call_id=call["id"])]
    last = armed.invoke(history)
    assert last.content == "It is cold."
    assert last.usage_metadata is not None
    roles = [one["role"] for one in world.sent]
    assert roles == ["system", "user", "assistant", "system", "user", "assistant", "tool"]
    assert [[text for _, text in talk] for talk in world.said()] == [
        ["My name is Alex.", "Noted, Alex.", "How is it in Oslo?", "", "cold in Oslo", "It is cold."]
    ]


def test_the_asynchronous_client_and_its_helpers(world: World) -> None:
    world.anew(answers("Hel|lo."), answers('{"shops": |2}'))

    async def talk() -> None:
        headers = {"X-Everword-User": world.user}
        async with openai.AsyncOpenAI(
            base_url=f"{world.server.url}/v1", api_key="none", default_headers=headers
        ) as client:
            async with client.chat.completions.stream(model="model-x", messages=[user("Hi!")]) as stream:
                kinds = [event.type async for event in stream]
                final = await stream.get_final_completion()
            assert "content.delta" in kinds
            assert final.choices[0].message.content == "Hello."
            many = await asyncio.gather(
                *(client.chat.completions.create(model="model-x", messages=[user(f"Number {n}")]) for n in range(8))
            )
            assert {one.choices[0].message.content for one in many} == {'{"shops": 2}'}

    asyncio.run(talk())
    assert len(world.log()) == 9


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_every_python_example_of_the_page_runs(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.anew(answers("You run |two."))
    names: dict[str, Any] = {}
    assert len(blocks("py")) == 5
    for number, code in enumerate(blocks("py"), 1):
        exec(compile(code.replace(ADDRESS, world.server.url), f"openai.md, example {number}", "exec"), names)
    names["client"].close()
    names["claude"].close()
    assert capsys.readouterr().out.count("You run two.") == 4
    assert any("bicycle shops" in one["content"] for one in world.sent)
    assert "planning" in world.log("alex")


@pytest.mark.parametrize("send", SENDERS, ids=lambda send: str(send.__name__))
def test_the_curl_example_of_the_page_runs(world: World, send: Sender) -> None:
    world.anew(answers("You run two."))
    [command] = blocks("bash")
    assert '"You run two."' in send(command.replace(ADDRESS, world.server.url))
