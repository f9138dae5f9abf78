"""A chat page in the browser, made by Gradio: python examples/gradio_chat.py

Gradio shows the page and calls `answer` for each message. It also passes the history of the page; everword does not
need it, because it stores every message itself and so remembers a person in the next session, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from everword import EverwordError, Memory

Answer = Callable[[str, list[Any], str], Iterator[str]]


def make_answer(memory: Memory) -> Answer:
    """The function that Gradio calls with a message, the page's history and the name in the field below."""

    def answer(message: str, history: list[Any], name: str) -> Iterator[str]:
        user = name.strip() or "guest"
        text = ""
        try:
            for piece in memory.conversation(f"gradio {user}", user=user).stream(message):
                text += piece
                yield text  # Gradio shows the whole text so far
        except EverwordError as error:
            yield f"{text} ({error})"

    return answer


if __name__ == "__main__":
    import gradio

    with Memory("gradio.db") as memory:
        name = gradio.Textbox("alex", label="Your name (an app with accounts takes it from the login)")
        gradio.ChatInterface(make_answer(memory), additional_inputs=[name], title="A chat that remembers").launch()
