"""A chat in the terminal that remembers you the next time: python examples/terminal_chat.py NAME

Each run is a new conversation. What you said in earlier runs comes back because the user is the same.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime

from everword import EverwordError, Memory


def talk(memory: Memory, user: str) -> None:
    """Read lines until an empty one, and print each reply as it is written."""
    chat = memory.conversation(f"{user}, {datetime.now(UTC):%Y-%m-%d %H:%M:%S}", user=user)
    while text := read_line("you: "):
        print("bot: ", end="")
        try:
            for piece in chat.stream(text):
                print(piece, end="", flush=True)
        except EverwordError as error:  # the model is away, for example: your message is stored all the same
            print(f"({error})", end="")
        print()


def read_line(prompt: str) -> str:
    try:
        return input(prompt).strip()
    except EOFError:
        return ""


if __name__ == "__main__":
    with Memory("chat.db") as memory:
        talk(memory, user=sys.argv[1] if len(sys.argv) > 1 else "me")
