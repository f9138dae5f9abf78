"""The commands about what is remembered: in free form ("Memo, forget that …") and with a slash.

Both run through `AsyncConversation.command`, which decides whom a name means and what the chat may be shown. If a name
may mean several people, the bot asks with buttons, and only whoever gave the command can answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from recollect.bots import texts
from recollect.bots.events import ButtonPress, CommandCall, Person, Place, ReceivedMessage
from recollect.bots.outgoing import BotMessage, Button
from recollect.bots.settings import Dialogue
from recollect.bots.tools import OpenChat, Tools
from recollect.errors import InvalidInput, RecollectError
from recollect.facts.rules.commands import parse_command
from recollect.model import Answer, Hit

WHO_STEP = "who"
NOBODY = "-"
MOST_CANDIDATES = 8  # that are asked about
HITS = 5  # messages that a search shows
LOOKED_AT = 20  # messages among which they are chosen
FLOOR = 0.5  # the relevance from which on a message without a word of the query is shown
SHOWN = 300  # characters of a message that a search shows


class RememberingCommands:
    """Remember, forget, undo, tell what is known, search."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._table = tools.table

    # -- in free form

    async def run_message(self, chat: OpenChat, message: ReceivedMessage) -> BotMessage | None:
        """Carry out what a message asks of the memory; None if it asks nothing."""
        # Every message in another script would be shown to the model, if it were taken as addressed.
        is_for_memory = message.is_for_bot or (message.place.is_private and message.text.isascii())
        answer = await chat.conversation.command(
            message.text,
            author=message.author.id,
            names=self._tools.identity.names,
            addressed=is_for_memory,
            platform_id=message.id,
        )
        return None if answer is None else await self._show(message.place, message.author, message.text, answer)

    async def choose_person(self, press: ButtonPress, choice: str) -> BotMessage | None:
        """Carry out a command about the person who was chosen; None if that was not asked."""
        dialogue = await self._table.dialogue(press.place, press.author)
        if dialogue is None or dialogue.step != WHO_STEP:
            return None
        ids: list[str] = list(dialogue.values["ids"])
        if choice != NOBODY and not (choice.isdigit() and int(choice) < len(ids)):
            return None
        await self._table.end_dialogue(press.place, press.author)
        if choice == NOBODY:
            return BotMessage(texts.CANCELLED)
        if not (await self._tools.settings(press.place)).enabled:
            return BotMessage(texts.IS_OFF)
        own_names = self._tools.identity.names
        text = with_mention(str(dialogue.values["text"]), own_names, list(dialogue.values["names"]), ids[int(choice)])
        async with self._tools.open_chat(press.place, press.author) as chat:
            answer = await self._run(chat, press.place, press.author, [text])
        return answer or BotMessage("I did not understand that. Say it again with their handle, as in @name.")

    async def _run(self, chat: OpenChat, place: Place, person: Person, wordings: Sequence[str]) -> BotMessage | None:
        """Carry out the first of these wordings that is a command."""
        for text in wordings:
            names = self._tools.identity.names
            answer = await chat.conversation.command(text, author=person.id, names=names, addressed=True)
            if answer is not None:
                text_to_keep = chat.memory.runtime.parts.secrets.mask(text)
                return await self._show(place, person, text_to_keep, answer)
        return None

    async def _show(self, place: Place, person: Person, text: str, answer: Answer) -> BotMessage:
        """The answer to a command; if a name is not clear, the question back."""
        if answer.forgotten is not None and answer.forgotten.id is not None:
            await self._table.set_last_forgotten(place, person, answer.forgotten.id, answer.person or person.id)
            return BotMessage(f"{answer.text} /undo brings it back.")
        if not answer.candidates:
            return BotMessage(answer.text)
        candidates = answer.candidates[:MOST_CANDIDATES]
        ids = [candidate.member for candidate in candidates]
        names = [candidate.name for candidate in candidates]
        await self._table.set_dialogue(place, person, Dialogue(WHO_STEP, {"text": text, "ids": ids, "names": names}))
        labels = [f"{name} ({candidates[i].why})" if names.count(name) > 1 else name for i, name in enumerate(names)]
        buttons = [Button(label, f"{WHO_STEP} {number}") for number, label in enumerate(labels)]
        return BotMessage("Whom do you mean?", (*buttons, Button("Nobody of these", f"{WHO_STEP} {NOBODY}")))

    # -- with a slash

    async def tell(self, call: CommandCall) -> BotMessage:
        """What is known of somebody, as far as this chat may see it."""
        async with self._tools.open_chat(call.place, call.author) as chat:
            wording = f"What do you know about {call.argument or 'me'}?"
            answer = await self._run(chat, call.place, call.author, [wording])
        return answer or BotMessage(f"I know nobody here by the name of {call.argument}.")

    async def remember(self, call: CommandCall) -> BotMessage:
        if not call.argument:
            return BotMessage("What should I remember? Write it as in: /remember I like tea")
        async with self._tools.open_chat(call.place, call.author) as chat:
            wordings = [f"Remember {opening}{call.argument}" for opening in ("that ", "", "this: ")]
            answer = await self._run(chat, call.place, call.author, wordings)
            if answer is None and call.place.is_private:
                statements = await chat.memory.remember(call.argument, user=call.author.id)
                answer = BotMessage(f"I will remember: {' '.join(statement.text for statement in statements)}")
        return answer or BotMessage("I found nothing to remember there. Write it as in: /remember I like tea")

    async def forget(self, call: CommandCall) -> BotMessage:
        if not call.argument:
            return BotMessage("What should I forget? Write it as in: /forget that I like tea")
        async with self._tools.open_chat(call.place, call.author) as chat:
            wordings = [f"Forget {call.argument}", f"Forget that {call.argument}"]
            answer = await self._run(chat, call.place, call.author, wordings)
            if answer is None and call.place.is_private:
                outcome = await chat.memory.forget(call.argument, user=call.author.id)
                if outcome.id is not None:
                    await self._table.set_last_forgotten(call.place, call.author, outcome.id, call.author.id)
                    answer = BotMessage("Forgotten. /undo brings it back.")
        return answer or BotMessage("I know nothing of that, so there is nothing to forget.")

    async def undo(self, call: CommandCall) -> BotMessage:
        last = await self._table.last_forgotten(call.place, call.author)
        if last is None:
            return BotMessage("There is nothing to bring back: nothing was forgotten.")
        async with self._tools.open_chat(call.place, call.author) as chat:
            outcome = await chat.memory.undo(last[0], user=last[1])
        await self._table.set_last_forgotten(call.place, call.author, None, last[1])
        lines = [statement.text for statement in outcome.statements] or [
            f"{fact.key}: {fact.value}." for fact in outcome.facts
        ]
        return BotMessage(f"It is back: {' '.join(lines)}" if call.place.is_private and lines else "It is back.")

    async def search(self, call: CommandCall) -> BotMessage:
        if not call.argument:
            return BotMessage("What should I look for? Write it as in: /search night train")
        async with self._tools.open_chat(call.place, call.author) as chat:
            hits = await chat.memory.search(
                call.argument,
                user=call.author.id if call.place.is_private else None,
                conversation=None if call.place.is_private else call.place.conversation,
                limit=LOOKED_AT,
            )
            names = {member.id: member.shown for member in await chat.memory.people()}
        shown_hits = choose_hits(hits)
        if not shown_hits:
            return BotMessage("I found nothing about that.")
        own_name = self._tools.identity.person.shown
        return BotMessage("\n".join(describe_hit(hit, names, own_name, call.author) for hit in shown_hits))


def choose_hits(hits: Sequence[Hit]) -> list[Hit]:
    """The hits to show: those that have words of the query, and those near to it in meaning. A search also finds what
    stands around them, which helps a model, and not somebody who looks for something."""
    nearest = max((hit.parts.get("vector", 0.0) for hit in hits), default=0.0)

    def is_shown(hit: Hit) -> bool:
        near = hit.parts.get("vector", 0.0)
        return hit.parts.get("text", 0.0) > 0 or (hit.relevance >= FLOOR and near > 0 and near >= nearest / 2)

    return [hit for hit in hits if is_shown(hit)][:HITS]


def describe_hit(hit: Hit, names: dict[str, str], own_name: str, reader: Person) -> str:
    message = hit.message
    given_name = message.metadata.get("name")
    author = own_name if message.role == "assistant" else names.get(message.author) or given_name or "somebody"
    author = "you" if message.role == "user" and message.author == reader.id else author
    content = " ".join(message.content.split())
    excerpt = content if len(content) <= SHOWN else content[:SHOWN].rstrip() + " …"
    return f"{message.time:%Y-%m-%d %H:%M}, {author}: {excerpt}"


def with_mention(text: str, own_names: Sequence[str], names: Sequence[str], id: str) -> str:
    """A command with the name in it replaced by a mention of one person, which means nobody else."""
    about = parse_command(text, own_names, for_bot=True, people=names).about
    first_names = [name.split()[0] for name in names if name.split()]
    for name in filter(None, (about, *names, *first_names)):
        changed = re.sub(rf"(?<!\w)@?{re.escape(name)}(?!\w)", f"<@{id}>", text, count=1, flags=re.IGNORECASE)
        if changed != text:
            return changed
    raise InvalidInput("name", "is not in the message any more; say it again")


def explain(error: RecollectError) -> BotMessage:
    """What a user is told of an error: what they did wrong, but nothing of the machine."""
    if isinstance(error, InvalidInput):
        return BotMessage(texts.FAILED.format(reason=error))
    return BotMessage(texts.FAILED_INSIDE.format(kind=type(error).__name__))
