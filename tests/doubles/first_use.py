"""A memory is used once when this module is imported, so that a process forked from this one need not do what a memory
does at its first use: import its parts, compile its patterns and its statements, and read its tables of words.

Nothing of that memory is left but what every later one of a process shares: no thread, no file, no count.
"""

from __future__ import annotations

import tempfile
import threading

from everword.library import Memory
from everword.model import Draft

SECONDS = 60.0  # to wait for each thread, which has nothing to do any more
TEXTS = (
    "Hello! My name is Robin, I live in Malmö with my sister and I work as a nurse since 2019.",
    "Nice to meet you, Robin. What can I do for you today?",
    "I moved to Lund last May. I don't like coriander, and I'm allergic to nuts: please remember that.",
    "Noted. Shall we plan the week, or talk about the trip that you mentioned?",
    "The train to Oslo leaves at 8:40 on 3 June. We decided to take the early one, because the ferry was full.",
    "That is a good plan; the ferry costs 40 euros more.",
    "Which train did I book, and when does it leave?",
)


def use_memory() -> None:
    """Use every part of a memory."""
    with tempfile.TemporaryDirectory() as folder:
        store = f"{folder}/memory.db"
        with Memory(store, telemetry="off", followers=False, window_turns=4, window_tokens=0) as memory:
            chat = memory.conversation("chat", user="robin")
            for _ in range(2):
                chat.extend(Draft("assistant" if number % 2 else "user", text) for number, text in enumerate(TEXTS))
            memory.conversation("channel").add("user", TEXTS[0], author="kim")
            memory.remember("Robin likes tea", user="robin")
            memory.settle()
            chat.context(TEXTS[-1])
            memory.search("train to Oslo", user="robin")
            memory.profile(user="robin")
            memory.digests()
            memory.facts(user="robin")
            memory.delete(query="ferry")
            memory.settle()
            memory.verify()
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join(SECONDS)


use_memory()
