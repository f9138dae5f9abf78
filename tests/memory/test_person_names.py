"""A person is found by any of their names, also misspelt, and shown by the name others know (G6)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from engine_doubles import settle_facts
from filled_store import make_filled
from mcp import Client as McpClient

from everword import AsyncMemory, Batch, Context, Draft, InvalidInput, Memory
from everword.errors import Forbidden, NotFound
from everword.log.access import Access
from everword.server.mcp.tools import build_server, local_caller
from everword.testing.serving import Serving

pytestmark = pytest.mark.checklist("G6")

TALK = [
    ("user101", "Caroline", "I live in Malmö."),
    ("user102", "Melanie", "I live in Porto. I play the cello in a small orchestra."),
    ("user101", "Caroline", "The garden needs rain, and the tomatoes are late this year."),
    ("user102", "Melanie", "My garden is a jungle, tomatoes everywhere."),
    ("user103", "Annabel Reed", "I live in Lyon."),
    ("user104", "Annabell Stone", "I live in Turin."),
]


def hold_talk(memory: Any) -> Any:
    drafts = [Draft("user", text, author, metadata={"name": name}) for author, name, text in TALK]
    return memory.conversation("garden").extend(drafts)


def fill(url: str) -> None:
    with Memory(url, followers=False) as memory:
        hold_talk(memory)
        memory.conversation("private", user="user105").add("user", "I live in Graz. Call me Quentin.", name="Ottokar")
        memory.settle()


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A memory of the talk that nobody changes."""
    url = str(tmp_path_factory.mktemp("heard") / "memory.db")
    make_filled(url, fill)
    with Memory(url, followers=False) as memory:
        yield memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """The same, to be changed."""
    url = str(tmp_path / "memory.db")
    make_filled(url, fill)
    with Memory(url, followers=False) as memory:
        yield memory


def homes(memory: Memory, user: str) -> list[str]:
    return [fact.value for fact in memory.facts(user=user) if fact.key == "location"]


def text_of(context: Context) -> str:
    return "\n".join(message["content"] for message in context.messages)


# -- who is found


@pytest.mark.parametrize(
    ("name", "person", "home"),
    [
        ("user101", "user101", "Malmö"),
        ("Caroline", "user101", "Malmö"),
        ("caroline", "user101", "Malmö"),
        ("Carolin", "user101", "Malmö"),
        ("Carroline", "user101", "Malmö"),
        ("Carloine", "user101", "Malmö"),
        ("Mellanie", "user102", "Porto"),
        ("Annabel Reed", "user103", "Lyon"),
        ("Ottokar", "user105", "Graz"),
        ("Quentin", "user105", "Graz"),
        ("Quintin", "user105", "Graz"),
    ],
)
def test_what_is_read_of_a_person_is_read_by_any_of_their_names(
    heard: Memory, name: str, person: str, home: str
) -> None:
    assert homes(heard, name) == [home]
    assert {fact.user for fact in heard.facts(user=name)} == {person}
    profile = heard.profile(user=name, wait=0)
    assert (profile.user, home in profile.text) == (person, True)
    answer = heard.ask("Where do they live?", user=name)
    assert (answer.user, answer.known) == (person, True)
    assert {hit.message.user for hit in heard.search("live", user=name)} == {person}
    fact = heard.facts(user=name)[0]
    assert heard.fact(fact.id, user=name) == fact
    assert {message.author for message in heard.why(fact.id, user=name)} == {person}
    assert heard.fact_history("location", user=name)[0].user == person


@pytest.mark.parametrize("name", ["user106", "Zoltan", "Ann", "Carolyn Stone", "user10"])
def test_a_name_that_nobody_has_is_nobody(heard: Memory, name: str) -> None:
    assert heard.facts(user=name) == []
    assert heard.search("live", user=name) == []
    assert heard.ask("Where do they live?", user=name).user == name


def test_an_exact_first_name_is_no_misspelling_of_another(heard: Memory) -> None:
    assert homes(heard, "Annabel") == ["Lyon"]
    assert homes(heard, "annabell") == ["Turin"]


@pytest.mark.parametrize("name", ["Annabal", "annabelle"])
def test_a_name_that_two_people_have_is_an_error_that_names_both(heard: Memory, name: str) -> None:
    for read in (heard.facts, heard.profile):
        with pytest.raises(InvalidInput, match=r"Annabel Reed \(user103\) or Annabell Stone \(user104\)"):
            read(user=name)


def test_an_id_wins_always_as_soon_as_somebody_has_it(memory: Memory) -> None:
    memory.conversation("new", user="Caroline").add("user", "Good evening to you all.")
    assert memory.facts(user="Caroline") == []
    assert memory.profile(user="Caroline", wait=0).user == "Caroline"


def test_a_program_never_gets_another_person_for_a_new_id(tmp_path: Path) -> None:
    """Ids that people choose look like names: a new one may be anything, and is nobody's misspelling."""
    with Memory(str(tmp_path / "memory.db"), followers=False) as memory:
        memory.conversation("one", user="anna").add("user", "I live in Malmö. My name is dave.")
        memory.conversation("two", user="Caroline").add("user", "I live in Porto.", name="Caro")
        memory.settle()
        for new_id in ("anne", "ana", "dave", "Carolin", "Caro"):
            assert memory.facts(user=new_id) == []
            assert memory.search("live", user=new_id) == []
        assert homes(memory, "Anna") == ["Malmö"]


def test_what_is_changed_takes_ids_alone(memory: Memory) -> None:
    fact = memory.facts(user="user101")[0]
    assert not memory.forget("lives in Malmö", user="Caroline").found
    with pytest.raises(NotFound):
        memory.delete_fact(fact.id, user="Caroline")
    for name in ("Caroline", "Carolin"):
        with pytest.raises(NotFound):
            memory.erase(user=name)
    assert homes(memory, "user101") == ["Malmö"]


def test_a_key_of_one_user_means_that_user_by_their_own_names_and_nobody_else(heard: Memory) -> None:
    async def ask(user: str, name: str) -> str:
        access = Access("key", frozenset(["default"]), frozenset(["read"]), user)
        return (await heard.engine.seen_by(access).profile(user=name, wait=0)).user

    def asked(user: str, name: str) -> str:
        return heard._private.wait(ask(user, name))

    assert asked("user102", "Melanie") == asked("user102", "Mellanie") == "user102"
    for name in ("Caroline", "user101", "Carolin", "Zoltan"):
        with pytest.raises(Forbidden):
            asked("user102", name)


# -- search


def test_a_query_names_an_author_by_any_name_also_misspelt(heard: Memory) -> None:
    for query in (
        "What did Caroline say about tomatoes?",
        "What did Carolin say about tomatoes?",
        "carroline tomato",
    ):
        assert heard.search(query, conversation="garden")[0].message.author == "user101", query
    for query in ("What did Melanie say about tomatoes?", "what did mellanie say about tomatoes"):
        assert heard.search(query, conversation="garden")[0].message.author == "user102", query


def test_a_name_from_a_private_chat_finds_nobody_in_a_channel(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db"), followers=False) as memory:
        memory.conversation("dm", user="user1").add("user", "hello", name="Zebediah")
        channel = memory.conversation("hall")
        for author in ("user1", "user2"):
            channel.add("user", f"We had soup for lunch, number {author[-1]}.", author=author)
        memory.settle()
        named, plain = (
            {hit.message.author: hit.parts["speaker"] for hit in memory.search(query, conversation="hall")}
            for query in ("What did Zebediah have for lunch?", "What did user1 have for lunch?")
        )
        assert set(named.values()) == {0.0}
        assert plain["user1"] > 0


# -- what is shown


def test_a_context_shows_people_by_the_name_others_know(heard: Memory) -> None:
    channel = heard.conversation("garden")
    for asked in ("Caroline", "Carolin", "user101"):
        context = text_of(channel.context(f"What does {asked} say about tomatoes?"))
        assert "Caroline: The garden needs rain" in context
        assert ("user101" in context) == (asked == "user101")
    assert "Caroline (id user101)" in text_of(channel.context("What does user101 say about tomatoes?"))
    assert "The user is Ottokar (goes by Quentin)." in text_of(
        heard.conversation("private", user="user105").context("Where do I live?")
    )


def test_a_told_name_stands_beside_the_name_others_know(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db"), followers=False) as memory:
        chat = memory.conversation("hall")
        chat.add("user", "Hi everybody! My name is Jo, and I keep bees.", author="Jolene")
        chat.add("user", "I keep goats.", author="u7")
        memory.conversation("own", user="Jolene").add("user", "Good morning.")
        memory.settle()
        context = text_of(chat.context("Who keeps bees?"))
        assert "Jolene (goes by Jo)" in context
        assert "Jolene: Hi everybody!" in context
        assert "The user is Jolene (goes by Jo)." in text_of(
            memory.conversation("own", user="Jolene").context("What do I keep?")
        )
        assert memory.profile(user="Jolene", wait=0).name == "Jolene"


def test_an_id_that_is_no_name_gives_way_to_a_told_name(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db"), followers=False) as memory:
        chat = memory.conversation("own", user="u-4711")
        chat.add("user", "My name is Jolene. I keep bees.")
        memory.settle()
        context = text_of(chat.context("Who am I?"))
        assert "Jolene" in context
        assert "4711" not in context
        assert "Jolene (id u-4711)" in text_of(chat.context("What does u-4711 keep?"))


TOLD = {
    "My name is Jo.": "Jo",
    "Please call me Jo.": "Jo",
    "Hi! I'm Jolene!": "Jolene",
    "I'm Jolene, nice to meet you.": "Jolene",
    "I'm Jolene, a nurse from Oslo.": "Jolene",
    "I am Jolene.": "Jolene",
    "My name is Irish.": None,
    "My name is always misspelt.": None,
    "The name Jo is short for Joanna, and Jo is a nice name for a girl.": None,
    "Names like Sky are so pretty.": None,
    "Call me Tuesday.": None,
    "Call me crazy, but I like rain.": None,
    "I'm Gemini, she's Leo.": None,
    "I am Groot!": None,
    "I'm Sherlock when it comes to lost keys.": None,
    "I'm Melanie and Tom's neighbour.": None,
    "We are Coldplay.": None,
    "Anybody here know a plumber?": None,
    "You can call me Susan if it isn't so.": None,
    "Everyone thinks my name is Kirsten.": None,
}


def test_a_name_is_told_in_a_clear_sentence_alone(tmp_path: Path) -> None:
    """Each sentence in a space of its own."""
    with Memory(str(tmp_path / "memory.db"), followers=False) as memory:
        memory.add_many(Batch(text, "own", "u1", [Draft("user", text)]) for text in TOLD)
        settle_facts(memory)
        for text, name in TOLD.items():
            assert memory.profile(user="u1", space=text, wait=0).name == (name or "u1"), text


def test_an_answer_is_a_name_if_a_name_was_asked_for(tmp_path: Path) -> None:
    """Each question in a space of its own."""
    asked = {"What's your name?": "Tom", "Who are you?": "Tom", "Who are you going with?": "u1"}
    with Memory(str(tmp_path / "memory.db"), followers=False) as memory:
        for question in asked:
            memory.add_many([Batch(question, "own", "u1", [Draft("assistant", question), Draft("user", "Tom.")])])
        settle_facts(memory)
        for question, name in asked.items():
            assert memory.profile(user="u1", space=question, wait=0).name == name, question


def test_a_name_goes_with_the_messages_it_came_with(memory: Memory) -> None:
    memory.delete_conversation("private")
    memory.settle()
    assert memory.facts(user="Ottokar") == []
    assert memory.profile(user="Ottokar", wait=0).user == "Ottokar"


# -- other faces


def test_names_are_taken_over_http(tmp_path: Path) -> None:
    address = str(tmp_path / "memory.db")
    make_filled(address, fill)
    with (
        Serving(address, auth=True) as server,
        httpx2.Client(base_url=server.url, headers={"Authorization": f"Bearer {server.key()}"}) as http,
    ):
        for name in ("user102", "Melanie", "Mellanie"):
            facts = http.get(f"/v1/users/{name}/facts").json()["items"]
            assert {fact["user"] for fact in facts} == {"user102"}
            assert http.get(f"/v1/users/{name}/profile?wait=0").json()["user"] == "user102"
            answer = http.post(f"/v1/users/{name}/ask", json={"question": "Where does she live?"}).json()
            assert (answer["user"], answer["known"]) == ("user102", True)
            hits = http.post("/v1/search", json={"query": "garden", "user": name}).json()
            assert {hit["message"]["user"] for hit in hits} == {"user102"}
        both = http.get("/v1/users/Annabelle/facts")
        assert (both.status_code, "user103" in both.text, "user104" in both.text) == (422, True, True)
        assert http.get("/v1/users/user199/facts").json()["items"] == []
        own = httpx2.Headers({"Authorization": f"Bearer {server.key(user='user102')}"})
        assert http.get("/v1/users/Melanie/facts", headers=own).status_code == 200
        assert http.get("/v1/users/Caroline/facts", headers=own).status_code == 403
        assert http.get("/v1/users/Nobody/facts", headers=own).status_code == 403


def test_a_tool_says_whom_a_name_was_taken_for(tmp_path: Path) -> None:
    async def use() -> None:
        async with AsyncMemory(str(tmp_path / "memory.db"), followers=False) as memory:
            await hold_talk(memory)
            await memory.settle()
            async with McpClient(build_server(memory, local_caller("default", None))) as client:
                calls: list[tuple[str, dict[str, str]]] = [
                    ("get_facts", {}),
                    ("ask_memory", {"question": "Where does she live?"}),
                    ("search_memory", {"query": "garden"}),
                ]
                for tool, arguments in calls:
                    for name, note in (("Mellanie", "Mellanie is taken for the user user102."), ("user102", "")):
                        answer: Any = await client.call_tool(tool, {"user": name, **arguments})
                        told = answer.content[0].text
                        assert told.startswith(note), tool
                        assert ("taken for" in told) == bool(note)
                        assert not answer.is_error

    asyncio.run(use())
