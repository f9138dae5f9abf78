"""A memory in which every text that somebody chose is hostile: messages, names, titles, facts, tags, and the ids of
people, of conversations and of the space."""

from __future__ import annotations

from dataclasses import dataclass

from hostile_pages import IDS, TEXTS

from everword import Draft, Memory
from everword.testing import ScriptedLLM

SPACE = IDS[2]
CHATS = IDS[:4]
PEOPLE = tuple(reversed(IDS[-4:]))  # who is spoken with in each of these chats
CHANNEL = IDS[6]
EACH = len(TEXTS) // len(CHATS)  # messages of a chat
LONG_WORD = "W" * 10_000


@dataclass(frozen=True, slots=True)
class HostilePlaces:
    """What pages are asked for by its number or id."""

    fact: str
    topic: str
    reply: int


def fill_hostile_store(store: str) -> HostilePlaces:
    """Fill a space of a store, and let every view read it."""
    person = PEOPLE[0]
    with Memory(store, telemetry="off", followers=False) as memory:
        for place, id in enumerate(CHATS):
            chat = memory.conversation(id, user=PEOPLE[place], space=SPACE)
            texts = TEXTS[place * EACH : (place + 1) * EACH]
            chat.extend([Draft("user", text, metadata={"name": IDS[place]}) for text in texts])
        memory.conversation(CHANNEL, space=SPACE).extend(
            [Draft("user", LONG_WORD, author=author, metadata={"name": author}) for author in PEOPLE]
        )
        for text in (*IDS[:8], "W" * 200):
            memory.add_fact("other", text[:40].strip(), text, user=person, space=SPACE)
        memory.remember(f"{person} {IDS[0]}"[:300], user=person, space=SPACE)
        memory.add_name(IDS[1], user=person, space=SPACE)
        memory.settle(120)
        topic = memory.conversation(CHATS[0], user=person, space=SPACE).topics()[0].id
        memory.conversation(CHATS[0], user=person, space=SPACE).tag_topic(topic, IDS[3])
        fact = memory.facts(user=person, space=SPACE)[0].id
    model = ScriptedLLM([f"[SEARCH_EPISODIC: {IDS[3]}]", f"{IDS[0]} {LONG_WORD}"], name=IDS[4])
    with Memory(store, telemetry="off", followers=False, chat=model) as memory:
        reply = memory.conversation(CHATS[0], user=person, space=SPACE).reply(IDS[5])
    return HostilePlaces(fact, topic, reply.message.turn)


def hostile_pages(places: HostilePlaces) -> list[tuple[str, dict[str, str]]]:
    """Every page that shows something of that space, with its parameters."""
    chat, person = CHATS[0], PEOPLE[0]
    of_chat = {"conversation": chat}
    pages: list[tuple[str, dict[str, str]]] = [
        ("/", {}),
        ("/web/spaces", {}),
        ("/web/conversations", {}),
        ("/web/conversations", {"query": IDS[3], "user": person}),
        *(("/web/conversation", {"id": id}) for id in (*CHATS, CHANNEL)),
        ("/web/message", {**of_chat, "turn": "2"}),
        ("/web/message", {"conversation": CHANNEL, "turn": "1"}),
        ("/web/context", {**of_chat, "text": IDS[3], "other": "700"}),
        ("/web/replies", of_chat),
        ("/web/reply", {**of_chat, "turn": str(places.reply)}),
        ("/web/search", {"query": IDS[0], "facts": "on", **of_chat, "turn": "1"}),
        ("/web/people", {"query": IDS[1]}),
        ("/web/person", {"id": person}),
        ("/web/person", {"id": person, "channel": CHANNEL}),
        ("/web/person/refused", {"id": person}),
        ("/web/person/digests", {"id": person}),
        ("/web/fact", {"user": person, "id": places.fact}),
        ("/web/find", {"query": IDS[0]}),
        ("/web/playground", {**of_chat, "text": IDS[3]}),
        ("/web/person", {"id": person, "order": "time"}),
        ("/web/episodes", {"user": person}),
        ("/web/topics", {}),
        ("/web/topics", of_chat),
        ("/web/topic", {**of_chat, "id": places.topic}),
        ("/web/episodes", of_chat),
        ("/web/erase", of_chat),
        ("/web/erase", {"user": person}),
        ("/web/keys", {}),
        ("/web/sign-in", {"next": f"/web/person?id={person}"}),
    ]
    return [(path, {**values, "space": SPACE}) for path, values in pages]
