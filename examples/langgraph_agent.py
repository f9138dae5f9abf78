"""A LangGraph agent with memory: python examples/langgraph_agent.py NAME "Remember that I like ramen."

It remembers in two ways. Every question and answer goes into the log, and everword adds what matters of it to what the
model is sent. The agent also writes notes, through LangGraph's own store interface.
"""

from __future__ import annotations

import sys
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from everword import Memory
from everword.adapters.langgraph import EverwordStore
from everword.adapters.langgraph_checkpoint import EverwordSaver
from everword.adapters.langgraph_nodes import EverwordNodes


def note_tools(store: EverwordStore, user: str) -> list[BaseTool]:
    """Tools for the notes of one user: the model cannot name another."""

    @tool
    def save_note(key: str, text: str) -> str:
        """Save a note under a short key, for later conversations."""
        store.put(("notes", user), key, {"text": text})
        return f"saved {key}"

    @tool
    def search_notes(query: str) -> list[str]:
        """Find notes by meaning."""
        return [str(item.value["text"]) for item in store.search(("notes", user), query=query, limit=5)]

    return [save_note, search_notes]


def build_agent(memory: Memory, model: BaseChatModel, *, user: str, thread: str) -> Any:
    store = EverwordStore(memory, owner=lambda namespace: namespace[1])
    tools = note_tools(store, user)
    nodes = EverwordNodes(memory, user=user)
    model_with_tools = model.bind_tools(tools)

    def think(state: MessagesState, config: RunnableConfig) -> dict[str, Any]:
        return {"messages": [model_with_tools.invoke(nodes.recalled(state["messages"], config), config)]}

    graph = StateGraph(MessagesState)
    graph.add_node("think", think)
    graph.add_node("tools", ToolNode(tools))
    graph.add_node("keep", nodes.keep)
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition, {"tools": "tools", END: "keep"})
    graph.add_edge("tools", "think")
    agent = graph.compile(store=store, checkpointer=EverwordSaver(memory))
    return agent.with_config(configurable={"thread_id": thread, "user_id": user})


if __name__ == "__main__":
    from langchain_openai import ChatOpenAI

    user, question = sys.argv[1:]
    with Memory("agent.db") as memory:
        agent = build_agent(memory, ChatOpenAI(model="gpt-5-mini"), user=user, thread=f"{user}'s agent")
        print(agent.invoke({"messages": [("user", question)]})["messages"][-1].text)
