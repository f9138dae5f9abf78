"""Import a chat export and ask about it: python examples/import_and_ask.py FILE "What did I say about Lisbon?"

FILE is an export of ChatGPT, Claude, Discord or Telegram, or JSON Lines. No model is needed: without one, the answer is
the facts and messages that fit best. Importing the same file again adds nothing.
"""

from __future__ import annotations

import sys

from everword import Memory, MemoryAnswer
from everword.formats import BadRecord, open_records


def import_file(memory: Memory, path: str, user: str) -> int:
    """Store the messages of a file. Returns how many were new."""
    count = 0
    with open_records(path, user=user) as records:
        for record in records:
            if isinstance(record, BadRecord):
                print(f"{record.where}: {record.reason}", file=sys.stderr)
                continue
            (added,) = memory.conversation(record.conversation, user=record.user).extend([record.draft])
            count += added.kept == "new"
    memory.settle()  # wait for facts and summaries
    return count


def show(answer: MemoryAnswer) -> None:
    """Print an answer and the messages it rests on."""
    print(answer.text if answer.known else "Nothing that was said answers this.")
    for message in answer.messages:
        print(f"  {message.time:%d %B %Y}, {message.author}: {message.content}")


if __name__ == "__main__":
    path, question = sys.argv[1:]
    with Memory("imported.db") as memory:
        print(import_file(memory, path, user="me"), "new messages")
        show(memory.ask(question, user="me"))
