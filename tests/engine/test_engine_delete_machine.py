"""Adding, remembering, forgetting, editing, deleting, erasing and rebuilding in any order: what is known afterwards is
what a rebuild from the log gives, and not a word that was removed is left in any file."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from recollect import Memory, NotFound

PEOPLE = ("alex", "kim")
CHATS = {"alex's": "alex", "kim's": "kim", "all": None}
SAYINGS = (
    "I live in {}ville.",
    "I moved to {}town.",
    "I like {}ing.",
    "I don't like {}ing.",
    "We talked about {} all day long.",
)
REPLIES = ("{} sounds nice.", "Do you live in {}ville?")
VIEWS = ("index", "tiers", "window", "facts", "digests", "topics")


class Deleting(RuleBasedStateMachine):
    """One memory; each message has a word of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
        self.memory = Memory(str(self.folder / "memory.db"), followers=False, window_turns=11)
        self.number = 0
        self.standing: dict[str, tuple[str, set[str]]] = {}  # the word of each message: where it is, and of whom
        self.older: dict[str, set[str]] = {}  # the words that messages had before, by the word they have now
        self.removed: set[str] = set()

    def word(self) -> str:
        self.number += 1
        return f"Zor{'abcdefghij'[self.number // 10 % 10]}{'bcdfghjklm'[self.number % 10]}u"

    @rule(chat=st.sampled_from(sorted(CHATS)), person=st.sampled_from(PEOPLE), saying=st.sampled_from(SAYINGS))
    def say(self, chat: str, person: str, saying: str) -> None:
        word = self.word()
        author = CHATS[chat] or person
        self.memory.conversation(chat, user=CHATS[chat]).add(
            "user", saying.format(word), author=author, platform_id=word
        )
        self.standing[word] = (chat, {author})

    @rule(chat=st.sampled_from(sorted(CHATS)))
    def chat_along(self, chat: str) -> None:
        """Enough that something leaves the window."""
        for saying in SAYINGS:
            self.say(chat, "alex", saying)

    @rule(chat=st.sampled_from(sorted(CHATS)), saying=st.sampled_from(REPLIES))
    def answer(self, chat: str, saying: str) -> None:
        word = self.word()
        self.memory.conversation(chat, user=CHATS[chat]).add("assistant", saying.format(word), platform_id=word)
        self.standing[word] = (chat, {owner} if (owner := CHATS[chat]) else set())

    @rule(person=st.sampled_from(PEOPLE), speaker=st.sampled_from(PEOPLE))
    def tell(self, person: str, speaker: str) -> None:
        word = self.word()
        self.memory.remember(f"{person} likes {word}ing", user=person, speaker=speaker)
        self.standing[word] = (f"profile:{speaker}", {person, speaker})

    @rule()
    def settle(self) -> None:
        self.memory.settle()

    @precondition(lambda self: self.standing)
    @rule(data=st.data(), saying=st.sampled_from(SAYINGS))
    def edit(self, data: st.DataObject, saying: str) -> None:
        """A message gets another word; the one it had goes with it, when it goes."""
        old = data.draw(st.sampled_from(sorted(self.standing)))
        chat, _ = self.standing[old]
        found = [message for message in self.memory.conversation(chat).history() if old in message.content]
        new = self.word()
        text = saying.format(new) if chat in CHATS else found[0].content.replace(old, new)
        assert self.memory.conversation(chat).edit(found[0].id, text).content == text
        self.standing[new] = self.standing.pop(old)
        self.older[new] = self.older.pop(old, set()) | {old}

    @precondition(lambda self: self.standing)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        word = data.draw(st.sampled_from(sorted(self.standing)))
        chat, _ = self.standing[word]
        preview = self.memory.delete(query=word, dry_run=True)
        assert preview.conversations == {chat: 1}
        if chat in CHATS:
            turn = next(m.turn for m in self.memory.conversation(chat).history() if word in m.content)
            gone = self.memory.conversation(chat).delete(turn)
        else:
            gone = self.memory.delete(query=word)
        assert (gone.messages, gone.views) == (1, preview.views)
        self.forget_words([word])

    @rule(chat=st.sampled_from(sorted(CHATS)))
    def delete_conversation(self, chat: str) -> None:
        words = [word for word, (place, _) in self.standing.items() if place == chat]
        if words:
            assert self.memory.delete_conversation(chat).messages == len(words)
        self.forget_words(words)
        assert chat not in {conversation.id for conversation in self.memory.conversations()}

    @rule(person=st.sampled_from(PEOPLE))
    def erase(self, person: str) -> None:
        words = [word for word, (_, whose) in self.standing.items() if person in whose]
        try:
            self.memory.erase(user=person)
        except NotFound:
            assert not words
        told = [word for word in words if self.standing[word][0] not in (*CHATS, f"profile:{person}")]
        # What others told of the person is gone from what is known; the message in which they did is their own.
        for word in told:
            self.standing[word] = (self.standing[word][0], self.standing[word][1] - {person})
        self.forget_words([word for word in words if word not in told])

    def forget_words(self, words: list[str]) -> None:
        self.removed |= {*words}
        for word in words:
            del self.standing[word]
            self.removed |= self.older.pop(word, set())

    def known(self) -> dict[str, Any]:
        """What can be seen of the memory."""
        memory = self.memory
        memory.settle()
        seen: dict[str, Any] = {"facts": {}, "search": {}}
        for person in PEOPLE:
            facts = memory.facts(user=person)
            seen["facts"][person] = sorted((fact.key, fact.value, fact.sources, fact.speaker) for fact in facts)
        for chat in CHATS:
            talk = memory.conversation(chat)
            seen[chat] = (
                [(episode.id, episode.summary) for episode in talk.episodes()],
                [(topic.title, topic.messages) for topic in talk.topics(faded=True)],
                [message.content for message in talk.history()],
            )
        for word in sorted(self.standing):
            seen["search"][word] = sorted(hit.message.id for hit in memory.search(word, limit=3) if hit.parts["text"])
        return seen

    @invariant()
    def nothing_removed_is_found(self) -> None:
        held = b"".join(file.read_bytes() for file in self.folder.iterdir()).lower()
        assert [word for word in self.removed if word.lower().encode() in held] == []

    def teardown(self) -> None:
        try:
            seen = self.known()
            for view in VIEWS:
                self.memory.rebuild(view)
            assert self.known() == seen
            self.nothing_removed_is_found()
            assert self.memory.verify().ok
        finally:
            self.memory.close()
            shutil.rmtree(self.folder)


def test_what_is_left_is_what_a_rebuild_gives_f11() -> None:
    run_state_machine_as_test(
        Deleting,
        settings=settings(
            max_examples=12,
            stateful_step_count=14,
            deadline=None,
            derandomize=True,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        ),
    )
