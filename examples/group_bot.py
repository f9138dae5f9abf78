"""A bot in a group chat: python examples/group_bot.py, then lines such as "Dana: The boat is at pier 7".

`GroupBot.receive` is what you call from your platform's own events. For Telegram and Discord there is a complete bot:
`everword bot telegram`.
"""

from __future__ import annotations

import sys

from everword import EverwordError, Memory


class GroupBot:
    """Keeps what everybody says, and answers when it is called by its name."""

    def __init__(self, memory: Memory, *, group: str, channel: str, name: str = "memo") -> None:
        self.name = name
        # No user: a channel of many. It never shows what somebody told the bot in private.
        self.channel = memory.conversation(channel, space=group)

    def receive(self, author: str, text: str, *, message_id: str | None = None) -> str | None:
        """Store a message, once for each message_id. Returns what the bot says to it, or None."""
        try:
            return self._respond(author, text, message_id)
        except EverwordError as error:
            return f"({error})"

    def _respond(self, author: str, text: str, message_id: str | None) -> str | None:
        command = self.channel.command(text, author=author, names=(self.name,), platform_id=message_id)
        if command:  # "memo, remember that …", "memo, what do you know about Dana?"
            return command.text
        if self.name in text.lower():
            return self.channel.reply(text, author=author, platform_id=message_id).text
        self.channel.add("user", text, author=author, name=author, platform_id=message_id)
        return None


if __name__ == "__main__":
    with Memory("group.db") as memory:
        bot = GroupBot(memory, group="friends", channel="general")
        for line in sys.stdin:
            author, _, text = line.strip().partition(": ")
            said = bot.receive(author, text) if text else None
            if said:
                print(f"{bot.name}: {said}", flush=True)
