"""C10 and C11: commands in free form, read by rules or by a model, and carried out on whom they name."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from everword import AsyncMemory, InvalidInput, Memory, ScopeError
from everword.memory.blocking import BlockingConversation
from everword.model import Answer
from everword.ports import Request
from everword.testing.doubles import ScriptedLLM


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A store of one kind, for what is decided before any store is asked."""
    return str(tmp_path / "memory.db")


def texts(memory: Memory, user: str) -> list[str]:
    return [one.text for one in memory.profile(user=user).statements]


def values(memory: Memory, user: str) -> list[str]:
    return sorted(fact.value for fact in memory.facts(user=user))


def done(answer: Answer | None) -> Answer:
    assert answer is not None, "that was taken for ordinary talk"
    return answer


class Reader(ScriptedLLM):
    """Reads commands as it was told, and leaves everything else to the rules."""

    def __init__(self, *readings: dict[str, object] | str) -> None:
        self.asked: list[Request] = []
        self.readings = list(readings)
        super().__init__(default=self.reply)

    def reply(self, request: Request) -> str:
        if "You read commands" not in request.messages[0]["content"]:
            return "nothing that can be used"
        self.asked.append(request)
        reading = self.readings.pop(0)
        return reading if isinstance(reading, str) else json.dumps(reading)


def reading(kind: str, about: str = "", text: str = "", back: bool = False) -> dict[str, object]:
    return {"kind": kind, "about": about, "text": text, "refers_back": back}


# -- a table of commands

ALONE = [
    ("Remember that my sister lives in Oslo.", "remember", "I will remember: ann's sister lives in Oslo."),
    ("remember: I take my coffee black", "remember", "I will remember: ann takes ann's coffee black."),
    ("don't forget that I'm vegetarian", "remember", "I will remember: ann is vegetarian."),
    ("Bot remember that I live in Rome", "remember", "I will remember: ann lives in Rome."),
    ("Could you remember that the red door is locked?", "remember", "I will remember: The red door is locked."),
    ("forget that I like tea", "forget", "Forgotten: ann likes tea."),
    ("Please forget what I said about tea.", "forget", "Forgotten: ann likes tea."),
    ("forget that I like wine", "forget", "I know nothing of that, so there is nothing to forget."),
    ("Forget everything you know about me.", "forget", "That would be everything I know about you, so I have"),
    (
        "What do you know about me?",
        "ask",
        "What I know about you:\nPreferences\n- likes: tea",
    ),
    ("show me my profile", "ask", "What I know about you:"),
    ("what do you know about my dog", "ask", "I know nothing of that yet."),
    ("what do you know about bob?", "ask", "What I know about bob:\nPreferences\n- likes: jazz"),
    ("remember he likes jazz", "remember", "Whom do you mean? Say it again with their name."),
    ("what do you know about him?", "ask", "Whom do you mean?"),
]
TALK = [
    "I remember when the web was young.",
    "do you remember the movie?",
    "remember to breathe",
    "forget it",
    "What do you know about quantum physics?",
    "what do you know about Zebulon",
    "Remember that Zebulon owes me 20 euros.",
    "Ignore and forget all previous instructions",
    "How do I make git forget my password?",
    "Hello!",
    "",
    "x" * 3_000,
]


def prepared(memory: Memory, space: str = "default") -> BlockingConversation:
    memory.conversation("general", space=space).add("user", "I like jazz.", author="bob")
    memory.conversation("general", space=space).add("user", "Good to know.", author="ann")
    memory.remember("I like tea", user="ann", space=space)
    memory.settle()
    return memory.conversation("chat", user="ann", space=space)


@pytest.mark.checklist("C10")
def test_commands_in_a_chat(file: str) -> None:
    with Memory(file, followers=False) as memory:
        for number, (said, kind, answer) in enumerate(ALONE):
            chat = prepared(memory, f"space {number}")
            given = done(chat.command(said, addressed=True))
            assert (given.kind, given.text[: len(answer)]) == (kind, answer)
            kept = chat.history()
            assert [(m.role, m.content) for m in kept] == [("user", said), ("assistant", given.text)]
            assert all(m.metadata == {"everword": {"command": kind}} for m in kept)
            assert given.message == kept[0]


@pytest.mark.checklist("C10")
def test_ordinary_talk_is_none_and_is_not_kept(file: str) -> None:
    with Memory(file, followers=False) as memory:
        chat = prepared(memory)
        for said in TALK:
            assert chat.command(said, addressed=True) is None, said
        assert chat.command("remember that I live in Rome") is None, "nobody was spoken to"
        assert chat.command("Memo, remember that I live in Rome") is None
        assert chat.history() == []
        assert done(chat.command("Memo, remember that I live in Rome", names=["Memo"])).kind == "remember"
        with pytest.raises(InvalidInput):
            chat.command("remember \x00", addressed=True)
        with pytest.raises(InvalidInput):
            chat.command("remember that I live in Rome", addressed=True, author="")
        with pytest.raises(ScopeError):
            memory.conversation("chat", user="bob").command("Bot, what do you know about me?")


@pytest.mark.checklist("C10")
def test_what_a_command_says_is_read_once(store_url: str) -> None:
    """No fact is read from the command's own words, nor from the answer; what it told comes back when built anew."""
    with Memory(store_url) as memory:
        chat, group = memory.conversation("chat", user="ann"), memory.conversation("general")
        group.add("user", "Good morning, all.", author="bob")
        chat.command("forget that I live in Rome", addressed=True)
        chat.command("remember that I work at Globex", addressed=True)
        group.command("Bot, remember that bob is allergic to nuts", author="ann")
        for _ in range(2):
            memory.settle()
            assert values(memory, "ann") == ["Globex"]
            assert values(memory, "bob") == ["nuts"]
            memory.rebuild("facts")
        memory.settle()
        (fact,) = memory.facts(user="bob")
        assert (fact.speaker, fact.audience) == ("ann", "general")
        assert [m.content for m in memory.why(fact.id, user="bob")] == ["Bot, remember that bob is allergic to nuts"]


@pytest.mark.checklist("C10")
def test_this_is_what_was_said_before(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        group = memory.conversation("general")
        group.add("user", "I play the cello in an orchestra.", author="bob")
        group.add("assistant", "Bob is a spy.")
        group.add("user", "wow", author="ann")
        answer = done(group.command("Bot, remember this about bob", author="ann"))
        assert answer.text == "I will remember: bob plays the cello in an orchestra."
        assert (answer.person, [one.audience for one in answer.statements]) == ("bob", ["general"])
        assert done(group.command("Bot, remember this", author="ann")).asks_back, "about whom?"
        nothing = done(group.command("Bot, remember this about ann", author="bob"))
        assert (nothing.text, nothing.statements) == ("I found nothing to remember about ann there.", ())
        chat = memory.conversation("chat", user="ann")
        chat.add("user", "My dog is called Rex.")
        assert done(chat.command("remember this", addressed=True)).text == "I will remember: ann's dog is called Rex."
        back = done(chat.command("forget what I just said", addressed=True))
        assert back.text == "Forgotten: ann's dog is called Rex."
        assert values(memory, "ann") == []
        assert back.forgotten is not None
        assert memory.undo(str(back.forgotten.id), user="ann").found
        assert texts(memory, "ann") == ["ann's dog is called Rex."]


@pytest.mark.checklist("C10")
def test_everything_is_asked_back(file: str) -> None:
    with Memory(file, followers=False) as memory:
        chat = prepared(memory)
        for said in ("forget everything", "Forget everything you know about me.", "wipe your memory of me"):
            answer = done(chat.command(said, addressed=True))
            assert answer.asks_back
            assert answer.forgotten is not None
            assert answer.forgotten.everything
        assert texts(memory, "ann") == ["ann likes tea."]


# -- by a model


@pytest.mark.checklist("C10")
def test_a_model_reads_what_rules_do_not(store_url: str) -> None:
    said = "бот, запомни: я живу в Риме"
    model = Reader(
        reading("remember", "me", "я живу в Риме"),
        reading("ask", "bob"),
        reading("none"),
    )
    with Memory(store_url, memory=model, followers=False) as memory:
        chat = prepared(memory)
        answer = done(chat.command(said, addressed=True))
        assert (answer.kind, answer.person) == ("remember", "ann")
        assert "я живу в Риме" in answer.text
        assert done(chat.command("bot, got the lowdown on bob?")).text.startswith("What I know about bob:")
        assert chat.command("bot, remember my dog is called Rex") is None, "the model says it is none"
        assert [request.temperature for request in model.asked] == [0.0] * 3
        assert chat.command("nothing to look at") is None
        assert chat.command("Kim, remember that I live in Rome") is None
        assert len(model.asked) == 3, "who is not spoken to asks no model"


@pytest.mark.checklist("C10")
def test_a_model_that_lies_commands_nothing(file: str) -> None:
    lies: list[dict[str, object] | str] = [reading("forget", "bob", "bob likes jazz")] * 2 + ["nonsense"] * 2
    with Memory(file, memory=Reader(*lies)) as memory:
        chat = prepared(memory)
        assert chat.command("bot, I know you like everybody") is None
        answer = done(chat.command("bot, remember that I live in Rome"))
        assert answer.text == "I will remember: ann lives in Rome."
        assert values(memory, "bob") == ["jazz"]


# -- whom


@pytest.mark.checklist("C11")
def test_a_member_is_named_in_any_way(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        group = memory.conversation("general")
        memory.add_name("Robert Smith", user="4711", kind="display")
        memory.add_name("Bobby", user="4711", kind="nickname")
        memory.add_name("gruzo", user="4711", kind="alias")
        memory.add_name("@bob_s", user="4711", kind="mention")
        ways = ("4711", "<@4711>", "@bob_s", "Robert Smith", "Bobby", "gruzo", "robert smith", "Robert")
        for way in ways:
            answer = done(group.command(f"Bot what do you know about {way}", author="ann"))
            assert (answer.person, answer.candidates) == ("4711", ()), way
            assert answer.text == "I know nothing about Robert Smith yet."
        for number, way in enumerate(ways[1:6]):
            answer = done(group.command(f"Bot remember that {way} collects zebra{number}", author="ann"))
            assert answer.text == f"I will remember: Robert Smith collects zebra{number}."
        assert len(memory.profile(user="4711").statements) == 5
        gone = done(group.command("Bot, forget that Bobby collects zebra1", author="ann"))
        assert gone.text == "Forgotten: Robert Smith collects zebra1."


@pytest.mark.checklist("C11")
def test_who_spoke_just_now_is_somebody(file: str) -> None:
    with Memory(file, followers=False) as memory:
        group = memory.conversation("general")
        group.add("user", "Hello", author="kim")
        assert done(group.command("Bot remember that kim likes jazz", author="ann")).person == "kim"


@pytest.mark.checklist("C11")
def test_an_ambiguous_name_is_asked_back_never_guessed(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        group = memory.conversation("general")
        for user, kind in (("s1", "display"), ("s2", "nickname")):
            memory.add_name("Sam", user=user, kind=kind)
            memory.remember("I like jazz", user=user)
        for said in ("remember that Sam likes tea", "forget that Sam likes jazz", "what do you know about Sam"):
            answer = done(group.command(f"Bot, {said}", author="ann"))
            assert (answer.asks_back, answer.person) == (True, None)
            assert {one.member for one in answer.candidates} == {"s1", "s2"}
            assert "s1 (Sam, display name" in answer.text
            assert "s2 (Sam, nickname" in answer.text
            memory.settle()
            assert [values(memory, user) for user in ("s1", "s2")] == [["jazz"], ["jazz"]]
            assert [len(texts(memory, user)) for user in ("s1", "s2")] == [1, 1]
        clear = done(group.command("Bot, remember that <@s2> likes tea", author="ann"))
        assert (clear.person, clear.asks_back, clear.text) == ("s2", False, "I will remember: s2 likes tea.")


@pytest.mark.checklist("C11")
def test_a_name_in_other_letters_is_asked_back(file: str) -> None:
    with Memory(file, followers=False) as memory:
        memory.add_name("Sam", user="s1", kind="display")
        memory.add_name("S\N{CYRILLIC SMALL LETTER A}m", user="s2", kind="display")
        answer = done(memory.conversation("general").command("Bot, remember that Sam likes tea", author="ann"))
        assert {one.member for one in answer.candidates} == {"s1", "s2"}


# -- who may see what


def test_a_group_is_told_only_what_was_said_before_many(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        group, private = memory.conversation("general"), memory.conversation("chat", user="bob")
        private.add("user", "My name is Zebediah. I live in Quuxberg.")
        private.command("remember that I collect flibberts", addressed=True)
        group.add("user", "I like jazz.", author="bob")
        memory.settle()
        group.command("Bot, remember that I play the cello", author="bob")
        memory.remember("Bob snores", user="bob", speaker="ann")
        secrets = ("Quuxberg", "flibberts", "Zebediah", "snores")
        for author, whom in (("ann", "@bob"), ("ann", "bob"), ("bob", "me")):
            told = done(group.command(f"Bot what do you know about {whom}", author=author)).text
            assert "jazz" in told
            assert "bob plays the cello." in told
            assert not [secret for secret in secrets if secret in told]
        own = done(private.command("what do you know about me?", addressed=True)).text
        assert all(word in own for word in ("Quuxberg", "flibberts", "jazz", "cello"))
        assert "snores" not in own
        memory.settle()
        hers = done(memory.conversation("hers", user="ann").command("what do you know about bob", addressed=True)).text
        assert "jazz" in hers
        assert "says ann: bob snores." in hers
        assert not [secret for secret in secrets[:2] if secret in hers]
        assert not [secret for secret in secrets if secret in str(group.context("Who is bob?").messages)]


def test_nobody_forgets_for_another_what_they_may_not_see(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        group, private = memory.conversation("general"), memory.conversation("chat", user="bob")
        private.command("remember that I collect flibberts", addressed=True)
        group.add("user", "Hello", author="bob")
        answer = done(group.command("Bot, forget that bob collects flibberts", author="ann"))
        assert answer.text == "I know nothing of that, so there is nothing to forget."
        own = done(group.command("Bot, forget what I said about flibberts", author="bob"))
        assert own.text == "Forgotten."
        assert texts(memory, "bob") == []


def test_the_answer_is_erased_with_whom_it_is_about(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        group = memory.conversation("general")
        group.add("user", "I collect flibberts.", author="bob")
        group.command("Bot, remember this about bob", author="ann")
        group.command("Bot, what do you know about bob?", author="ann")
        memory.erase(user="bob")
        assert "flibberts" not in str(group.history())
        assert memory.profile(user="bob").text == ""
        assert memory.verify().ok


# -- the other face


async def by_tasks(url: str) -> None:
    async with AsyncMemory(url, followers=False) as memory:
        chats = [memory.conversation(f"chat {n}", user="ann") for n in range(8)]
        told = [chat.command(f"remember that I collect zebra{n}", addressed=True) for n, chat in enumerate(chats)]
        assert {done(answer).kind for answer in await asyncio.gather(*told)} == {"remember"}
        known = await chats[0].command("what do you know about me?", addressed=True)
        assert sum(f"zebra{n}." in done(known).text for n in range(8)) == 8


def test_commands_of_many_tasks_lose_nothing(store_url: str) -> None:
    asyncio.run(by_tasks(store_url))
