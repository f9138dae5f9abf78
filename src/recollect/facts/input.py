"""The lines that are read for facts: the new messages of a conversation, those before them, the names of the people and
what is known of them.

What is shown as known is what those who hear the conversation may see: of a channel, only what was said in it. So
nothing private can come back as something said before many.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from recollect.facts.rules.keys import is_known
from recollect.facts.rules.model_facts_check import NEAR, ReadLine
from recollect.facts.rules.profile_lines import value_with_dates
from recollect.facts.tables.facts import facts_of
from recollect.facts.viewers import is_channel, names_in_context, viewer_alone
from recollect.follow.faults import set_aside_rows
from recollect.follow.view import Run
from recollect.log.access import Viewer
from recollect.log.tables import warn_of_damage
from recollect.model import Fact, Filter, Message
from recollect.ports import Tx
from recollect.text.terms import analyse

FACTS = "facts"
"""The name of the view."""
MAX_LINES = 48
"""Messages that are read in one call."""
MAX_CHARACTERS = 16_000
"""Characters of all messages in one call."""
MAX_KNOWN = 10
"""Facts that are shown as known in one call: those the lines speak of, then the most important."""
LONGEST_PAUSE = timedelta(hours=6)
"""From a message to the next, if it is shown as what came before."""
MAX_VALUE = 50  # characters of a known value
SPOKEN = ("user", "assistant")


@dataclass(frozen=True, slots=True)
class ReadingScene:
    """What is around the messages of a run: those before them, the assistant's last words, names, and what is known, by
    the person whose memory it is in."""

    before: Sequence[Message] = ()
    last_reply: str = ""
    names: Mapping[str, str] | None = None
    known: Mapping[str, Sequence[Fact]] | None = None


def reading_scene(tx: Tx, run: Run, asks: bool) -> ReadingScene:
    """The scene of a run. Without a model only two things count: the assistant's last words, whether they are repeated,
    and the message before, whether it was a question."""
    last_reply = last_reply_before(tx, run)
    if not run.messages:
        return ReadingScene(last_reply=last_reply)
    first = run.messages[0]
    failed_turns = {row.turn for row in set_aside_rows(tx, FACTS, run.place)}  # they would make others fail, too
    before = [message for message in messages_before(tx, first) if message.turn not in failed_turns]
    if not asks:
        return ReadingScene(before[-1:], last_reply)
    people = {message.author for message in (*before, *run.messages) if message.role == "user"}
    owners = sorted({owner_of(message) for message in run.messages if message.role == "user"})
    viewers = {owner: viewer_of_lines(tx, first, owner) for owner in owners}
    known = {
        owner: [fact for fact in facts_of(tx, first.space, owner, active=True) if viewer.sees(fact)]
        for owner, viewer in viewers.items()
    }
    viewer = viewers[owners[0]] if len(owners) == 1 else Viewer(channel=first.conversation)
    names = names_in_context(tx, first.space, people, viewer, run.messages)
    return ReadingScene(before, last_reply, names, known)


def viewer_of_lines(tx: Tx, message: Message, owner: str) -> Viewer:
    """Who may see what is shown beside the lines: in a channel all who read it, in a chat its owner."""
    if is_channel(tx, message.space, message.conversation):
        return Viewer(channel=message.conversation)
    return viewer_alone(tx, message.space, owner)


def owner_of(message: Message) -> str:
    """In whose memory the facts of a message are."""
    return message.user or message.author


def messages_before(tx: Tx, first: Message) -> list[Message]:
    """The last messages before one, oldest first; not those of long before, which it neither answers nor continues."""
    if first.turn == 1:
        return []
    where = Filter(first.space, conversation=first.conversation)
    messages = tx.messages(where, upto=first.turn - 1, limit=NEAR, newest=True, damaged=warn_of_damage)
    near = [message for message in messages if message.is_lasting and first.time - message.time <= LONGEST_PAUSE]
    return sorted(near, key=lambda message: message.turn)


def last_reply_before(tx: Tx, run: Run) -> str:
    """The assistant's last message before a run, or an empty text."""
    if not run.messages or run.messages[0].turn == 1:
        return ""
    first = run.messages[0]
    where = Filter(first.space, conversation=first.conversation, role="assistant")
    replies = tx.messages(where, upto=first.turn - 1, limit=1, newest=True, damaged=warn_of_damage)
    return replies[0].content if replies and replies[0].is_lasting else ""


def read_lines(
    messages: Sequence[Message], scene: ReadingScene, may_state: Mapping[int, bool]
) -> list[tuple[Message, ReadLine]]:
    """The messages as lines, with the assistant's words before each; those that may state facts are new."""
    names = scene.names or {}
    last_reply = scene.last_reply
    lines: list[tuple[Message, ReadLine]] = []
    for message in messages:
        if not message.is_lasting or message.role not in SPOKEN:
            continue
        shown = (last_reply,) if last_reply and message.role == "user" else ()
        if message.role == "assistant":
            last_reply = message.content
        speaker = names.get(message.author, message.author)
        is_new = may_state.get(message.turn, False)
        lines.append((message, ReadLine(speaker, message.content, message.time, message.role, is_new, shown)))
    return lines


def batch_lines(lines: Sequence[tuple[Message, ReadLine]]) -> list[list[tuple[Message, ReadLine]]]:
    """The lines in batches that fit one call each, in order."""
    batches: list[list[tuple[Message, ReadLine]]] = []
    characters = 0
    for message, line in lines:
        size = len(line.text)
        if not batches or len(batches[-1]) == MAX_LINES or characters + size > MAX_CHARACTERS:
            batches.append([])
            characters = 0
        batches[-1].append((message, line))
        characters += size
    return batches


def known_lines(scene: ReadingScene, lines: Iterable[ReadLine]) -> tuple[str, ...]:
    """What is known of the people, a line for each: what the lines speak of, then the most important. The category of a
    known key goes without saying."""
    all_facts = [fact for facts in (scene.known or {}).values() for fact in facts]
    if not all_facts:
        return ()
    terms = {term for line in lines for term in analyse(line.text, "en").terms}

    def rank(fact: Fact) -> tuple[bool, float, str]:
        words = analyse(f"{fact.key} {fact.value}", "en").terms
        return terms.isdisjoint(words), -fact.importance, fact.id

    names = scene.names or {}
    by_person: dict[str, list[str]] = {}
    for fact in sorted(all_facts, key=rank)[:MAX_KNOWN]:
        name = names.get(fact.user, fact.user)
        person = f"{fact.subject} ({name})" if fact.subject else name
        category = "" if is_known(fact.category, fact.key) else f"{fact.category} "
        by_person.setdefault(person, []).append(f"{category}{fact.key}: {value_with_dates(fact)[:MAX_VALUE]}")
    return tuple(f"{person}: {'; '.join(entries)}" for person, entries in by_person.items())
