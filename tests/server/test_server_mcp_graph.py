"""The knowledge graph of MCP's reference memory server, compared with what the real program answered; and prompts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError

from everword import AsyncMemory
from everword.server.mcp.tools import build_server, local_caller
from everword.testing import FrozenClock

# Recorded from the real program: its tools, and calls with their answers, in order.
REAL = json.loads((Path(__file__).parents[1] / "data" / "mcp_reference_server.json").read_text(encoding="utf-8"))


def served(
    path: Path, work: Callable[[Client, AsyncMemory], Awaitable[None]], user: str | None = "alex", graph: bool = True
) -> None:
    """Do this with the official client of a server on one memory."""

    async def run() -> None:
        memory = AsyncMemory(str(path / "memory.db"), followers=False, clock=FrozenClock())
        async with memory, Client(build_server(memory, local_caller("default", user), graph=graph)) as client:
            await work(client, memory)

    asyncio.run(run())


async def tell(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    answer: Any = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    structured: dict[str, Any] = answer.structured_content
    return structured


def plain(schema: Any) -> Any:
    """A schema without our limits."""
    if isinstance(schema, dict):
        return {name: plain(part) for name, part in schema.items() if name != "maxItems"}
    return schema


@pytest.mark.parametrize("user", ["alex", None])
@pytest.mark.checklist("G20")
def test_every_tool_answers_as_the_real_program_did(tmp_path: Path, user: str | None) -> None:
    async def compare(client: Client, _: AsyncMemory) -> None:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == [tool["name"] for tool in REAL["tools"]]
        for tool, real in zip(tools, REAL["tools"], strict=True):
            assert (tool.title, tool.description) == (real["title"], real["description"])
            assert plain(tool.input_schema["properties"]) == real["arguments"]
            assert tool.input_schema.get("required", []) == real["required"]
            assert tool.annotations is not None
            assert tool.annotations.model_dump(exclude_none=True) == real["annotations"]
            assert tool.output_schema is not None
            assert sorted(tool.output_schema["properties"]) == real["results"]
        for call in REAL["calls"]:
            answer: Any = await client.call_tool(call["tool"], call["arguments"])
            assert answer.is_error == call["is_error"], call
            assert answer.structured_content == call["structured"], call
            if "MCP error" not in call["text"]:  # how a wrong argument is named is each program's own
                assert answer.content[0].text == call["text"]

    served(tmp_path, compare, user)


def test_the_graph_is_in_the_memory_of_its_user_and_nobody_elses(tmp_path: Path) -> None:
    otter = {"name": "Otto", "entityType": "otter", "observations": ["Lives in Delft", "Eats crabs"]}

    async def write(client: Client, memory: AsyncMemory) -> None:
        await tell(client, "create_entities", entities=[otter])
        await memory.settle()
        assert "Otto lives in Delft" in [hit.message.content for hit in await memory.search("Delft", user="alex")]
        context = await memory.conversation("chat", user="alex").context("Where does Otto live?")
        assert "Otto lives in Delft" in json.dumps(context.messages)
        gone = [{"entityName": "Otto", "observations": ["Lives in Delft"]}]
        await tell(client, "delete_observations", deletions=gone)
        await memory.settle()
        assert "Delft" not in json.dumps([hit.message.content for hit in await memory.search("Delft", user="alex")])
        assert (await memory.verify()).ok
        resource: Any = await client.read_resource("memory://knowledge-graph")
        assert json.loads(resource.contents[0].text)["entities"][0]["observations"] == ["Eats crabs"]

    async def look(client: Client, _: AsyncMemory) -> None:
        assert await tell(client, "read_graph") == {"entities": [], "relations": []}
        with pytest.raises(MCPError):
            await client.read_resource("memory://knowledge-graph?user=alex")

    served(tmp_path, write)
    served(tmp_path, look, user="kim")

    async def erase(client: Client, memory: AsyncMemory) -> None:
        await memory.erase(user="alex")
        assert await tell(client, "read_graph") == {"entities": [], "relations": []}

    served(tmp_path, erase)


@pytest.mark.checklist("G20")
def test_the_graph_is_known_as_facts_of_its_user_and_of_others(tmp_path: Path) -> None:
    entities = [
        {"name": "default_user", "entityType": "person", "observations": ["Works as a nurse", "Lives in Lisbon"]},
        {"name": "Jo_Park", "entityType": "person", "observations": ["Speaks fluent Spanish"]},
    ]
    relation = {"from": "Jo_Park", "to": "Anthropic", "relationType": "works_at"}

    async def write(client: Client, memory: AsyncMemory) -> None:
        async def known() -> set[tuple[str | None, str, str]]:
            await memory.settle()
            return {(fact.subject, fact.key, fact.value) for fact in await memory.facts(user="alex")}

        await tell(client, "create_entities", entities=entities)
        await tell(client, "create_relations", relations=[relation])
        of_others = {("Jo Park", "languages", "Spanish"), ("Jo Park", "employer", "Anthropic")}
        assert await known() == {(None, "job", "nurse"), (None, "location", "Lisbon")} | of_others
        gone = [{"entityName": "default_user", "observations": ["Lives in Lisbon"]}]
        await tell(client, "delete_observations", deletions=gone)
        await tell(client, "delete_entities", entityNames=["Jo_Park"])
        assert await known() == {(None, "job", "nurse")}

    served(tmp_path, write)


def test_calls_at_once_lose_nothing(tmp_path: Path) -> None:
    async def write(client: Client, _: AsyncMemory) -> None:
        await tell(client, "create_entities", entities=[{"name": "n" * 900, "entityType": "🙂", "observations": []}])
        contents = [f"number {number}\n=== END ===" for number in range(8)]
        adding = [[{"entityName": "n" * 900, "contents": [content]}] for content in contents]
        await asyncio.gather(*(tell(client, "add_observations", observations=added) for added in adding))
        [entity] = (await tell(client, "open_nodes", names=["n" * 900]))["entities"]
        assert sorted(entity["observations"]) == contents

    served(tmp_path, write)


def test_prompts_and_today(tmp_path: Path) -> None:
    async def ask(client: Client, memory: AsyncMemory) -> None:
        await memory.remember("Alex keeps bees", user="alex")
        await memory.conversation("chat", user="alex").add("user", "My otter is called Otto.")
        await memory.conversation("hers", user="kim").add("user", "My vault is blue.")
        await memory.settle()
        prompts = {prompt.name for prompt in (await client.list_prompts()).prompts}
        assert prompts == {"recall", "person", "day"}
        for name, arguments, words in (
            ("recall", {"about": "the otter"}, "My otter is called Otto."),
            ("person", {}, "keeps bees"),
            ("day", {}, "My otter is called Otto."),
        ):
            text = str((await client.get_prompt(name, arguments)).messages[0].content)
            assert words in text
            assert "vault" not in text
        today: Any = await client.read_resource("everword://today")
        assert "My otter is called Otto." in today.contents[0].text
        assert "vault" not in today.contents[0].text
        for asked in (client.get_prompt("person", {"user": "kim"}), client.read_resource("everword://today?user=kim")):
            with pytest.raises(MCPError) as refused:
                await asked
            assert "vault" not in str(refused.value)

    served(tmp_path, ask, graph=False)
