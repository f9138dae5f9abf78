"""Memory in graphs of LangGraph and agents of LangChain: their own runners, two sessions, and checkpoints that last."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langchain_model import ScriptedChat, scripted
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, interrupt

from everword import AsyncMemory, InvalidInput, Memory, ScopeError
from everword.adapters.langchain_middleware import EverwordMiddleware
from everword.adapters.langgraph import EverwordStore
from everword.adapters.langgraph_checkpoint import EverwordSaver
from everword.adapters.langgraph_nodes import EverwordNodes


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(str(tmp_path / "memory.db"), followers=False) as opened:
        yield opened


def thread(id: str, user: str = "alex") -> RunnableConfig:
    return {"configurable": {"thread_id": id, "user_id": user}}


def kept(memory: Memory, id: str, user: str = "alex") -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in memory.conversation(id, user=user).history()]


def own_graph(memory: Any, model: ScriptedChat) -> Any:
    nodes = EverwordNodes(memory)

    def think(state: MessagesState, config: RunnableConfig) -> Any:
        return {"messages": [model.invoke(nodes.recalled(state["messages"], config))]}

    async def athink(state: MessagesState, config: RunnableConfig) -> Any:
        return {"messages": [await model.ainvoke(await nodes.arecalled(state["messages"], config))]}

    graph = StateGraph(MessagesState)
    graph.add_node("think", think if isinstance(memory, Memory) else athink)
    graph.add_node("keep", nodes.keep)
    graph.add_edge(START, "think").add_edge("think", "keep")
    return graph.compile(checkpointer=EverwordSaver(memory))


def hooked_graph(memory: Any, model: ScriptedChat) -> Any:
    """The pre-model and post-model hooks of LangGraph's prebuilt agent, as its own graph calls them."""
    nodes = EverwordNodes(memory)

    class State(MessagesState):
        llm_input_messages: Annotated[list[Any], lambda _, new: new]

    graph = StateGraph(State)
    graph.add_node("pre_model_hook", nodes.recall)
    graph.add_node("agent", lambda state: {"messages": [model.invoke(state["llm_input_messages"])]})
    graph.add_node("post_model_hook", nodes.keep)
    graph.add_edge(START, "pre_model_hook").add_edge("pre_model_hook", "agent").add_edge("agent", "post_model_hook")
    return graph.compile(checkpointer=EverwordSaver(memory))


def prebuilt_agent(memory: Any, model: ScriptedChat) -> Any:
    return create_agent(
        model,
        system_prompt="Be brief.",
        middleware=[EverwordMiddleware(memory)],
        checkpointer=EverwordSaver(memory),
    )


GRAPHS: Any = [own_graph, hooked_graph, prebuilt_agent]


def say(graph: Any, text: str, config: RunnableConfig) -> str:
    return str(graph.invoke({"messages": [HumanMessage(text)]}, config)["messages"][-1].content)


@pytest.mark.parametrize("build", GRAPHS)
@pytest.mark.checklist("G20")
def test_a_second_thread_knows_what_the_first_was_told_and_nobody_else_s(memory: Memory, build: Any) -> None:
    model = scripted("Tasty!", "Noted.", "Ramen.", "Still ramen.")
    graph = build(memory, model)
    say(graph, "The dish I like most is ramen.", thread("one"))
    say(graph, "The dish I like most is haggis.", thread("sam's", "sam"))
    memory.settle()
    assert say(graph, "What dish do I like?", thread("two")) == "Ramen."
    assert "ramen" in model.sent
    assert "haggis" not in model.sent
    assert model.seen[-1][-1].content == "What dish do I like?"
    assert isinstance(model.seen[-1][0], SystemMessage)
    assert say(graph, "Are you sure?", thread("two")) == "Still ramen."
    turns = [("user", "What dish do I like?"), ("assistant", "Ramen."), ("user", "Are you sure?")]
    assert kept(memory, "two") == [*turns, ("assistant", "Still ramen.")], "the history is sent again, and kept once"
    state = graph.get_state(thread("two")).values["messages"]
    assert [message.content for message in state] == [text for _, text in kept(memory, "two")]


@pytest.mark.parametrize("build", [own_graph, prebuilt_agent])
@pytest.mark.checklist("G20")
def test_an_asynchronous_graph_remembers(tmp_path: Path, build: Any) -> None:
    async def use() -> None:
        async with AsyncMemory(str(tmp_path / "m.db"), followers=False) as memory:
            model = scripted("Tasty!", "Ramen.")
            graph = build(memory, model)
            for id, text in (("one", "The dish I like most is ramen."), ("two", "What dish do I like?")):
                await graph.ainvoke({"messages": [HumanMessage(text)]}, thread(id))
                await memory.settle()
            assert "most is ramen" in model.sent
            state = await graph.aget_state(thread("two"))
            assert state.values["messages"][-1].content == "Ramen."
            assert len([state async for state in graph.aget_state_history(thread("two"))]) >= 3

    asyncio.run(use())


@pytest.mark.parametrize("build", [own_graph, prebuilt_agent])
@pytest.mark.checklist("G20")
def test_a_memory_that_fails_does_not_fail_the_graph(
    memory: Memory, build: Any, caplog: pytest.LogCaptureFixture
) -> None:
    model = scripted("Hello!")
    graph = build(memory, model)
    graph.checkpointer = None
    memory.close()
    assert say(graph, "Hello", thread("one")) == "Hello!"
    assert "without the memory" in caplog.text


def test_a_run_without_a_user_is_told_what_is_missing(memory: Memory) -> None:
    graph = own_graph(memory, scripted("Hello!"))
    with pytest.raises(InvalidInput, match="user_id"):
        say(graph, "Hello", {"configurable": {"thread_id": "one"}})


@pytest.mark.checklist("G20")
def test_an_agent_searches_and_remembers_by_tools(memory: Memory) -> None:
    memory.conversation("past", user="alex").add("user", "I bought two hives for my bees.")
    memory.settle()
    calls = [
        {"name": "search_memory", "args": {"query": "bees"}, "id": "c1"},
        {"name": "remember", "args": {"statement": "I keep bees."}, "id": "c2"},
    ]
    model = scripted(AIMessage("", tool_calls=calls), "You keep bees.")
    agent = create_agent(model, middleware=[EverwordMiddleware(memory, user="alex")])
    answer = agent.invoke({"messages": [HumanMessage("Which animals do I keep?")]}, thread("one"))
    assert answer["messages"][-1].content == "You keep bees."
    results = {message.name: message.content for message in answer["messages"] if message.type == "tool"}
    assert "I bought two hives" in results["search_memory"]
    assert "bees" in memory.profile(user="alex").text
    assert [role for role, _ in kept(memory, "one")] == ["user", "assistant", "tool", "tool", "assistant"]


# -- the checkpointer


@pytest.mark.checklist("G20")
def test_langgraphs_own_conformance_tests_pass(tmp_path: Path) -> None:
    @checkpointer_test(name="EverwordSaver")
    async def saver() -> Any:
        async with AsyncMemory(str(tmp_path / "m.db"), followers=False) as memory:
            yield EverwordSaver(memory)

    report = asyncio.run(validate(saver))
    assert report.passed_all_base(), report.results


class Draft(TypedDict):
    texts: Annotated[list[Any], add_messages]
    size: str


def approval_graph(memory: Memory) -> Any:
    def ask(state: Draft) -> Any:
        return {"texts": [("ai", f"approved: {interrupt('send it?')}")]}

    graph = StateGraph(Draft)
    graph.add_node("ask", ask)
    graph.add_edge(START, "ask")
    return graph.compile(checkpointer=EverwordSaver(memory))


def test_a_graph_goes_on_after_a_restart_with_a_state_larger_than_a_document(tmp_path: Path) -> None:
    place = str(tmp_path / "m.db")
    size = "".join(chr(0x4E00 + number * 7919 % 20_000) for number in range(400_000))
    with Memory(place, followers=False) as memory:
        approval_graph(memory).invoke({"texts": [("user", "a letter")], "size": size}, thread("one"))
    with Memory(place, followers=False) as memory:
        graph = approval_graph(memory)
        assert graph.get_state(thread("one")).next == ("ask",)
        done = graph.invoke(Command(resume="yes"), thread("one"))
        assert done["texts"][-1].content == "approved: yes"
        assert done["size"] == size
        assert [state.next for state in graph.get_state_history(thread("one"))][-1] == ("__start__",)


@pytest.mark.every_store
@pytest.mark.checklist("G20")
def test_erasing_a_person_removes_their_checkpoints_and_no_others(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        graph = approval_graph(memory)
        for id, user in (("one", "alex"), ("two", "sam")):
            graph.invoke({"texts": [("user", f"a letter of {user}")], "size": ""}, thread(id, user))
        graph.invoke({"texts": [("user", "nobody's")], "size": ""}, {"configurable": {"thread_id": "alex"}})
        for config in (thread("one", "sam"), thread("alex", "alex")):
            with pytest.raises(ScopeError, match="a thread can have only one user"):
                graph.get_state(config)
        memory.erase(user="alex")
        assert graph.get_state(thread("one")).values == {}
        assert graph.get_state({"configurable": {"thread_id": "alex"}}).values == {}, "named after the person"
        assert graph.get_state(thread("two", "sam")).next == ("ask",)
        graph.checkpointer.delete_thread("two")
        assert list(graph.checkpointer.list(None)) == []
        assert memory.documents().search() == []


# -- items of the store as messages


@pytest.mark.checklist("G20")
def test_items_are_messages_and_facts_if_asked(memory: Memory) -> None:
    store = EverwordStore(memory, owner=lambda namespace: namespace[1], message_field="text")
    store.put(("memories", "alex"), "food", {"text": "I live in Lisbon."})
    store.put(("memories", "alex"), "number", {"n": 1})
    memory.settle()
    assert [hit.message.content for hit in memory.search("Lisbon", user="alex")] == ["I live in Lisbon."]
    assert "Lisbon" in [fact.value for fact in memory.facts(user="alex")]
    store.put(("memories", "alex"), "food", {"text": "I live in Porto."})
    memory.settle()
    assert [fact.value for fact in memory.facts(user="alex")] == ["Porto"]
    store.delete(("memories", "alex"), "food")
    store.delete(("memories", "alex"), "never")
    memory.settle()
    assert memory.facts(user="alex") == []
    assert memory.search("Porto", user="alex") == []
