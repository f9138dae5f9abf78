"""A memory and a plain model of it, side by side, under everything that people can do to a memory, in any order.

The model is a list of what was said in each conversation. Each version of each message has a word of its own, so that
one can look for it in every table, file, export, context and receipt. At the end all views are made anew from the log,
and what can be seen of the memory must be what was seen before.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import psycopg
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from everword import Memory, NotFound
from everword.changes.moves import further_profile_conversation
from everword.config import Settings
from everword.memory.transfer import copy_store
from everword.testing import FrozenClock
from everword.wiring import open_store

PEOPLE = ("alex", "kim")
CHATS = {"first": "alex", "second": "kim", "all": None}
SAYINGS = (
    "I live in {}ville.",
    "I moved to {}town.",
    "I like {}ing.",
    "I don't like {}ing.",
    "We talked about {} all day long.",
    "My name is {}.",
)
REPLIES = ("{} sounds nice.", "Do you live in {}ville?")
VIEWS = ("index", "tiers", "window", "facts", "digests", "topics")
MONTH = timedelta(days=40)
RESTARTS = 2  # of one sequence: what comes between them is more telling than another one
LIMITS: dict[str, Any] = {f"retain_{kind}": 30 for kind in ("messages", "episodes", "facts", "digests")}

chats = st.integers(0, 3)
people = st.sampled_from(PEOPLE)
sayings = st.sampled_from(SAYINGS)


@dataclass
class Said:
    """One message, as the model has it."""

    id: str  # of the message
    word: str
    content: str
    role: str
    author: str
    whose: str | None
    words: set[str] = field(default_factory=set)  # of all its versions
    expires_at: datetime | None = None
    is_fixed: bool = False  # it changed a fact or had something forgotten: no edit takes that back


def is_profile_of(name: str, person: str) -> bool:
    return name == f"profile:{person}" or name.startswith(f"profile:{person}~")


class MemoryMachine(RuleBasedStateMachine):
    """One memory on one kind of store, and its model."""

    # The address of a new store, for which there is a folder; and it stays until this stack is closed.
    place: Callable[[Path, ExitStack], str]

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.clock = FrozenClock()
        self.copies = 0
        self.stack = ExitStack()
        self.url = type(self).place(self.new_folder(), self.stack)
        self.memory = self.open()
        self.number = 0
        self.owners: dict[str, str | None] = dict(CHATS)
        self.profiles: set[str] = set()  # the names of all conversations with what was told by command
        self.log: dict[str, list[Said]] = {}
        self.removed: set[str] = set()
        self.undoable: list[Said] = []
        self.has_retained = False
        self.restarts = 0

    def new_folder(self) -> Path:
        self.copies += 1
        folder = self.folder / str(self.copies)
        folder.mkdir()
        return folder

    def open(self) -> Memory:
        self.store = open_store(self.url, Settings())
        return Memory(self.store, followers=False, clock=self.clock, window_turns=11, **LIMITS)

    # -- what people do

    def new_word(self) -> str:
        self.number += 1
        return self.word_of(self.number)

    def word_of(self, number: int) -> str:
        return f"Zor{'abcdefghij'[number // 10 % 10]}{'bcdfghjklm'[number % 10]}u"

    def chat_at(self, number: int) -> str:
        return sorted(self.owners)[number % len(self.owners)]

    def keep(self, chat: str, said: Said) -> None:
        said.words |= {said.word} - {""}
        self.log.setdefault(chat, []).append(said)

    @initialize(number=chats, person=people, saying=sayings)
    def begin(self, number: int, person: str, saying: str) -> None:
        """There is something to lose."""
        self.say(number, person, saying)

    @rule(number=chats, person=people, saying=sayings, hours=st.one_of(st.none(), st.integers(1, 40)))
    def say(self, number: int, person: str, saying: str, hours: int | None = None) -> None:
        chat = self.chat_at(number)
        word = self.new_word()
        author = self.owners[chat] or person
        content = saying.format(word)
        span = None if hours is None else timedelta(hours=hours)
        talk = self.memory.conversation(chat, user=self.owners[chat])
        message = talk.add("user", content, author=author, platform_id=word, expires=span)
        self.keep(chat, Said(message.id, word, content, "user", author, author, expires_at=message.expires_at))

    @rule(number=chats)
    def say_much(self, number: int) -> None:
        """Enough that something leaves the window."""
        for saying in SAYINGS:
            self.say(number, "alex", saying)

    @rule(number=chats, saying=st.sampled_from(REPLIES))
    def answer(self, number: int, saying: str) -> None:
        chat = self.chat_at(number)
        word = self.new_word()
        content = saying.format(word)
        message = self.memory.conversation(chat, user=self.owners[chat]).add("assistant", content, platform_id=word)
        self.keep(chat, Said(message.id, word, content, "assistant", "assistant", self.owners[chat]))

    @rule(person=people, speaker=people)
    def tell(self, person: str, speaker: str) -> None:
        word = self.new_word()
        content = f"{person} likes {word}ing"
        self.memory.remember(content, user=person, speaker=speaker)
        place = f"profile:{speaker}"
        self.profiles.add(place)
        message = self.memory.conversation(place).history()[-1]
        self.keep(place, Said(message.id, word, content, "user", speaker, person))

    # -- what is done by hand

    @rule(person=people)
    def add_fact(self, person: str) -> None:
        word = self.new_word()
        self.note_by_hand(self.memory.add_fact("preference", "likes", f"{word}ing", user=person).id, person, word)

    @rule(person=people, number=st.integers(0, 20), act=st.sampled_from(("edit", "delete", "forget")))
    def change_fact(self, person: str, number: int, act: str) -> None:
        """A fact gets another value, or is taken back; by "forget" with its own words, which then are said twice."""
        self.memory.settle()
        facts = [fact for fact in self.memory.facts(user=person) if fact.speaker == person]
        if not facts:
            return
        fact = facts[number % len(facts)]
        if act == "edit":
            word = self.new_word()
            self.note_by_hand(self.memory.edit_fact(fact.id, f"{word}ing", user=person).id, person, word)
        elif act == "delete":
            self.note_by_hand(self.memory.delete_fact(fact.id, user=person).id, person, "")
        elif (forgotten := self.memory.forget(f"{fact.key} {fact.value}", user=person)).id is not None:
            self.note_by_hand(forgotten.id, person, "")
            self.undoable[-1].words |= {word for word in self.known_words() if word in fact.value}

    @rule(
        person=people,
        number=st.integers(0, 20),
        acts=st.lists(st.sampled_from(("edit", "delete", "forget", "undo", "merge", "settle")), min_size=1, max_size=3),
    )
    def change_and_lose_source(self, person: str, number: int, acts: list[str]) -> None:
        """Something is done to a fact, once or more often, and then the message is deleted that told it."""
        self.say(number, person, SAYINGS[number % len(SAYINGS)])
        _, source = next(entry for entry in self.standing() if entry[1].word == self.last_word())
        for act in acts:
            if act == "merge":
                self.merge(person)
            elif act == "settle":
                self.memory.settle()
            elif act == "undo" and self.undoable:
                self.undo()
            elif act != "undo":
                self.change_newest(source, act)
        self.delete([said for _, said in self.standing()].index(source))

    def change_newest(self, source: Said, act: str) -> None:
        """Do something to the fact that a message told, if it told one, or to what is known since."""
        self.memory.settle()
        whose = source.whose or source.author
        facts = [fact for fact in self.memory.facts(user=whose) if fact.speaker == whose]
        told = [number for number, fact in enumerate(facts) if source.id in fact.sources]
        self.change_fact(whose, told[0] if told else 0, act)

    def last_word(self) -> str:
        return self.word_of(self.number)

    def note_by_hand(self, id: str, person: str, word: str) -> None:
        place = f"profile:{person}"
        self.profiles.add(place)
        (message,) = (message for message in self.memory.conversation(place).history() if message.id == id)
        self.undoable.append(Said(id, word, message.content, "user", person, person, is_fixed=True))
        self.keep(place, self.undoable[-1])

    def known_words(self) -> set[str]:
        return {word for _, said in self.standing() for word in said.words}

    @precondition(lambda self: self.undoable)
    @rule()
    def undo(self) -> None:
        """The last thing that was done by hand was not so; if its message is gone, there is nothing to undo."""
        said = self.undoable.pop()
        try:
            self.memory.undo(said.id, user=said.whose or said.author)
        except NotFound:
            assert not any(said is other for _, other in self.standing())

    # -- what is changed

    @precondition(lambda self: any(not said.is_fixed for _, said in self.standing()))
    @rule(number=st.integers(0, 1_000), saying=sayings)
    def edit(self, number: int, saying: str) -> None:
        """A message gets another word; the one it had goes with it, when it goes."""
        editable = [(chat, said) for chat, said in self.standing() if not said.is_fixed]
        chat, said = editable[number % len(editable)]
        word = self.new_word()
        text = saying.format(word) if chat in self.owners else said.content.replace(said.word, word)
        assert self.memory.conversation(chat).edit(said.id, text).content == text
        said.word, said.content = word, text
        said.words.add(word)

    @rule(number=chats)
    def rename(self, number: int) -> None:
        chat = self.chat_at(number)
        name = f"{chat}+" if len(chat) < 9 else chat.rstrip("+")
        if self.has_conversation(chat) and self.memory.move_conversation(chat, to=name).id:
            self.owners[name] = self.owners.pop(chat)
            self.log[name] = self.log.pop(chat, [])

    def has_conversation(self, chat: str) -> bool:
        return bool(self.log.get(chat))

    @rule(number=chats, person=people)
    def give(self, number: int, person: str) -> None:
        """A chat becomes another person's; if its owner has nothing else, all they have does."""
        chat = self.chat_at(number)
        owner = self.owners[chat]
        if owner in (None, person) or not self.has_conversation(chat):
            return
        assert owner is not None
        places = {place for place, said in self.standing() if owner in (said.author, said.whose)}
        is_whole = all(place == chat or place in self.profiles for place in places)
        self.memory.move_conversation(chat, user=person)
        if is_whole:
            self.pass_on(owner, person)
            return
        self.owners[chat] = person
        for said in self.log[chat]:
            said.author = person if said.author == owner else said.author
            said.whose = person if said.whose == owner else said.whose

    @rule(person=people)
    def merge(self, person: str) -> None:
        """One of the two was the other all along."""
        other = next(name for name in PEOPLE if name != person)
        try:
            self.memory.merge_users(person, into=other)
        except NotFound:
            assert not any(person in (said.author, said.whose) for _, said in self.standing())
            return
        self.pass_on(person, other)

    def pass_on(self, person: str, other: str) -> None:
        """All that a person has is the other's."""
        for _, said in self.standing():
            said.author = other if said.author == person else said.author
            said.whose = other if said.whose == person else said.whose
        self.owners = {chat: other if owner == person else owner for chat, owner in self.owners.items()}
        for place in sorted(name for name in self.profiles if is_profile_of(name, person)):
            if self.memory.conversation(place).history():
                continue  # it has stayed: nobody owned it any more
            numbers = (further_profile_conversation(other, number) for number in count(1))
            new = next(name for name in numbers if name not in self.profiles)
            self.profiles = self.profiles - {place} | {new}
            self.log[new] = self.log.pop(place, [])

    @rule(number=chats, person=people, does_settle=st.booleans())
    def move_and_undo(self, number: int, person: str, does_settle: bool) -> None:
        """Nothing has happened."""
        chat = self.chat_at(number)
        if not self.has_conversation(chat):
            return
        user = None if self.owners[chat] is None else person
        move = self.memory.move_conversation(chat, to=f"{chat}-", user=user)
        if does_settle:
            self.memory.settle()
        self.memory.undo_move(move.id)

    @rule()
    def settle(self) -> None:
        self.memory.settle()

    @rule(view=st.sampled_from(VIEWS))
    def rebuild(self, view: str) -> None:
        self.memory.rebuild(view)

    @rule(hours=st.integers(1, 30))
    def wait(self, hours: int) -> None:
        self.clock.advance(timedelta(hours=hours))

    # -- what goes

    def standing(self) -> list[tuple[str, Said]]:
        return [(chat, said) for chat in sorted(self.log) for said in self.log[chat]]

    @precondition(lambda self: any(self.log.values()))
    @rule(number=st.integers(0, 1_000))
    def delete(self, number: int) -> None:
        chat, said = self.standing()[number % len(self.standing())]
        talk = self.memory.conversation(chat)
        is_alone = said.word and not any(
            said.word in other.content for _, other in self.standing() if other is not said
        )
        preview = self.memory.delete(query=said.word, dry_run=True) if is_alone else talk.delete(said.id, dry_run=True)
        assert preview.conversations == {chat: 1}
        gone = self.memory.delete(query=said.word) if is_alone and chat not in self.owners else talk.delete(said.id)
        is_spread = getattr(self.store, "spread", False)  # then files are written anew only by `everword scrub`
        assert (gone.messages, gone.views, gone.left) == (1, preview.views, self.store.scrub() if is_spread else ())
        self.lose([said])

    @rule(number=chats)
    def delete_conversation(self, number: int) -> None:
        chat = self.chat_at(number)
        gone = list(self.log.get(chat, []))
        if gone:
            assert self.memory.delete_conversation(chat).messages == len(gone)
        self.lose(gone)
        assert chat not in {conversation.id for conversation in self.memory.conversations()}

    @rule(person=people)
    def erase(self, person: str) -> None:
        gone = [said for chat, said in self.standing() if self.is_erased_with(chat, said, person)]
        try:
            self.memory.erase(user=person)
        except NotFound:
            assert not gone
        self.lose(gone)
        for _, said in self.standing():  # what others told of them stays, and is in the memory of whoever told it
            said.whose = said.author if said.whose == person else said.whose

    def is_erased_with(self, chat: str, said: Said, person: str) -> bool:
        """What a person wrote, and what is in their chats. What others told of them is the others' message."""
        return said.author == person or (chat in self.owners and said.whose == person)

    @rule(is_late=st.booleans())
    def retain(self, is_late: bool) -> None:
        """What has expired goes, with all its words; what is old goes, and what was made of it may stay."""
        self.memory.settle()  # what no view has read yet is kept
        self.clock.advance(MONTH if is_late else timedelta(0))
        expired = [said for _, said in self.standing() if self.is_over(said)]
        old = [said for _, said in self.standing() if is_late and said not in expired]
        assert self.memory.retain(dry_run=False).count >= len(expired)
        self.lose(expired)
        self.has_retained = self.has_retained or bool(old)
        self.drop(old)

    def is_over(self, said: Said) -> bool:
        return said.expires_at is not None and said.expires_at <= self.clock.now()

    def lose(self, gone: list[Said]) -> None:
        """These messages are gone, and so is each of their words, unless another message says it."""
        self.drop(gone)
        self.removed.update({word for said in gone for word in said.words} - self.known_words())

    def drop(self, gone: list[Said]) -> None:
        self.log = {
            chat: [said for said in messages if not any(said is other for other in gone)]
            for chat, messages in self.log.items()
        }

    # -- what happens to the store

    def may_restart(self) -> bool:
        self.restarts += 1
        return self.restarts <= RESTARTS

    @rule()
    def reopen(self) -> None:
        if self.may_restart():
            self.open_again()

    def open_again(self) -> None:
        self.memory.close()
        self.memory = self.open()

    @rule()
    def kill(self) -> None:
        """Go on with the files as they are at this moment, as after a crash; a server has kept what was committed."""
        if not self.may_restart():
            return
        if self.url.startswith("postgresql:"):
            self.open_again()
            return
        place = Path(self.url.removeprefix("json:"))
        folder = self.new_folder()
        for file in place.parent.iterdir():
            if not file.name.endswith(".lock"):
                shutil.copyfile(file, folder / file.name)
        self.memory.close()
        shutil.rmtree(place.parent)
        self.url = self.url.replace(str(place), str(folder / place.name))
        self.memory = self.open()

    @rule()
    def copy(self) -> None:
        """Go on with a copy, which the root proves to be the same."""
        if not self.may_restart():
            return
        root = self.memory.verify().root
        self.memory.close()
        url = type(self).place(self.new_folder(), self.stack)
        with closing(open_store(self.url, Settings())) as source, closing(open_store(url, Settings())) as target:
            copy_store(source, target, lambda *_: None)
        self.url = url
        self.memory = self.open()
        assert self.memory.verify().root == root

    # -- what must hold

    def see(self) -> dict[str, Any]:
        """What can be seen of the memory."""
        memory = self.memory
        memory.settle()
        # First, with patience: a context waits for a digest no longer than a turn may.
        digests = memory.digests(day=self.clock.now().date())
        seen: dict[str, Any] = {"digests": [(digest.user, digest.text) for digest in digests]}
        for person in PEOPLE:
            memory.profile(user=person)
            facts = memory.facts(user=person)
            seen[person] = sorted((fact.key, fact.value, fact.sources, fact.speaker) for fact in facts)
        for chat, owner in self.owners.items():
            if chat not in self.log:
                continue  # nobody has ever said anything there
            talk = memory.conversation(chat, user=owner)
            seen[chat] = (
                [(episode.id, episode.summary) for episode in talk.episodes()],
                [(topic.title, topic.messages) for topic in talk.topics(faded=True)],
                talk.context("What do I like?"),
            )
        shown = repr(seen)
        for _, said in self.standing():
            if not said.word:
                continue
            hits = memory.search(said.word, limit=3)
            seen[said.word] = sorted(hit.message.id for hit in hits if hit.parts["text"])
            assert not (self.is_over(said) and (said.word in shown or said.id in seen[said.word]))
        assert [word for word in self.removed if word in shown] == []
        return seen

    def check_log(self) -> None:
        """The log is what the model says."""
        for chat in self.owners:
            messages = [message for message in self.memory.conversation(chat).history() if not message.erased]
            known = [(said.content, said.role, said.author, said.whose) for said in self.log.get(chat, [])]
            assert [(m.content, m.role, m.author, m.user) for m in messages] == known
        exported = sorted(message.content for message in self.memory.export())
        assert [word for word in self.removed if any(word in content for content in exported)] == []
        assert self.memory.verify().ok

    def check_counts(self) -> None:
        """What `stats` has from counts that are kept is what a count of all messages gives."""
        self.memory.settle()  # people are counted by what of them is in the index
        stats = self.memory.stats()
        messages = self.store.read(lambda tx: tx.rows("messages"))
        standing = [row for row in messages if row["erasure"] is None]
        times = [row["time"] for row in standing] or [None]
        assert (stats.messages, stats.erased) == (len(standing), len(messages) - len(standing))
        assert (stats.first, stats.last) == (min(times), max(times))
        assert stats.characters == sum(len(row["content"]) for row in standing)
        assert stats.users == len({row["user_id"] for row in standing} - {None})

    def check_nothing_left(self) -> None:
        """No word that was removed is in any table or file."""
        held = b"".join(self.held()).lower()
        assert [word for word in self.removed if word.lower().encode() in held] == []

    def held(self) -> Iterator[bytes]:
        if not self.url.startswith("postgresql:"):
            yield from (file.read_bytes() for file in Path(self.url.removeprefix("json:")).parent.iterdir())
            return
        with psycopg.connect(self.url) as server:
            names = server.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'everword'").fetchall()
            for (name,) in names:
                rows = server.execute(f"SELECT t::text FROM everword.{name} t").fetchall()
                yield from (row.encode() for (row,) in rows)

    def teardown(self) -> None:
        try:
            self.check_log()
            self.check_counts()
            self.check_nothing_left()
            if not self.has_retained and any(self.log.values()):  # something is left of which views are made
                seen = self.see()
                for view in VIEWS:
                    self.memory.rebuild(view)
                rebuilt = self.see()
                differing = {name: (seen[name], rebuilt.get(name)) for name in seen if seen[name] != rebuilt.get(name)}
                assert not differing, differing
            self.check_nothing_left()
        finally:
            self.memory.close()
            self.stack.close()
            shutil.rmtree(self.folder)
