"""A LangGraph agent with memory: python examples/langgraph_agent.py NAME "Remember that I like ramen."

It remembers in two ways. Every question and answer goes into the log, and everword chooses what the model sees of it.
The agent also writes notes, through LangGraph's own store interface.
"""

from __future__ import annotations

import sys
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from everword import Memory
from everword.adapters.langgraph import EverwordStore


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


def build_agent(memory: Memory, model: BaseChatModel, *, user: str, thread: str) -> CompiledStateGraph[Any, Any, Any]:
    store = EverwordStore(memory, owner=lambda namespace: namespace[1])
    tools = note_tools(store, user)
    chat = memory.conversation(thread, user=user)
    model_with_tools = model.bind_tools(tools)

    def think(state: MessagesState, config: RunnableConfig) -> dict[str, Any]:
        question = state["messages"][0].text
        context = chat.context(question, markers=False)  # what is remembered, and the question
        prompt = [(message["role"], message["content"]) for message in context.messages]
        return {"messages": [model_with_tools.invoke([*prompt, *state["messages"][1:]], config)]}

    def keep(state: MessagesState) -> dict[str, Any]:
        question, answer = state["messages"][0], state["messages"][-1]
        chat.extend([{"role": "user", "content": question.text}, {"role": "assistant", "content": answer.text}])
        return {}

    graph = StateGraph(MessagesState)
    graph.add_node("think", think)
    graph.add_node("tools", ToolNode(tools))
    graph.add_node("keep", keep)
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition, {"tools": "tools", END: "keep"})
    graph.add_edge("tools", "think")
    return graph.compile(store=store)


if __name__ == "__main__":
    from langchain_openai import ChatOpenAI

    user, question = sys.argv[1:]
    with Memory("agent.db") as memory:
        agent = build_agent(memory, ChatOpenAI(model="gpt-5-mini"), user=user, thread=f"{user}'s agent")
        print(agent.invoke({"messages": [("user", question)]})["messages"][-1].text)
