"""Search by word and by meaning, in any script, on every store; and nothing a user types is ever syntax."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from engine_doubles import settle_index

from everword import Draft, Hit, Memory
from everword.testing import FrozenClock

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)

DIARY = (
    "My kitten is called Miso and she sleeps all day.",
    "I fly to Lisbon on Friday with my sister.",
    "The database migration failed because of a missing index.",
    "For dinner we cooked noodles with mushrooms.",
    "My salary went up by five percent this year.",
    "The car needs a new battery before winter.",
)

# Said, asked, for each script.
SCRIPTS = {
    "Chinese": ("我昨天在北京买了一台新电脑", ("电脑", "北京")),
    "Japanese": ("明日は京都で友達と寿司を食べます", ("寿司", "京都")),
    "Thai": ("พรุ่งนี้ฉันจะไปเชียงใหม่กับครอบครัว", ("เชียงใหม่", "ครอบครัว")),
    "Arabic": ("أحب القهوة العربية في الصباح", ("القهوة", "قهوة")),
    "Cyrillic": ("Мы обсуждали базы данных и индексы", ("база", "ИНДЕКСАМИ")),
    "Korean": ("저는 서울에서 커피를 마셨습니다", ("커피", "서울")),
    "Greek": ("Αγοράσαμε ένα καινούργιο σπίτι στη Θεσσαλονίκη", ("σπίτι", "θεσσαλονικη")),
    "Hindi": ("मुझे हिंदी किताबें पढ़ना पसंद है", ("किताबें", "पसंद")),
    "Hebrew": ("אני גר בתל אביב ועובד כמתכנת", ("כמתכנת", "אביב")),
    "emoji": ("Great news for all of us 🎉🦄", ("🦄", "🎉")),
    "accents": ("Nous avons mangé des crêpes à l'hôtel", ("crepes", "hôtel")),
}

# Each has been syntax of a full-text index, of SQL or of a pattern.
HOSTILE = (
    '"',
    '"databases',
    '""" OR "',
    "AND",
    "databases AND",
    "NOT databases",
    "databases NOT kim",
    "a OR b",
    "NEAR(databases fail)",
    "NEAR(databases",
    "data*",
    "*",
    "terms:databases",
    "rowid:1",
    "fulltext:databases",
    "{terms} : databases",
    "- databases",
    "-databases",
    "^databases",
    "databases + failed",
    "it's databases'",
    "\\",
    "databases\\",
    "\\'",
    "'; DROP TABLE messages; --",
    "') OR 1=1 --",
    ";--",
    "%",
    "100% databases",
    "_",
    "$1 :name ? %s %(x)s",
    "databases & !failed",
    "databases | failed",
    "databases <-> failed",
    "databases:*",
    "(((",
    ")",
    "[databases]",
    "..",
    "a\tb\nc\rd",
    "\u200b\ufeff",
    "\u2028",
    "x" * 3_000,
    "databases " * 500,
    "🤷" * 50,
    "a" + "\u0301" * 200,
)


def filled(url: str, *, followers: bool = True) -> Memory:
    memory = Memory(url, clock=FrozenClock(NOW), followers=followers)
    memory.conversation("diary", user="alex").extend(Draft("user", text, time=NOW) for text in DIARY)
    return memory


@pytest.fixture(scope="module")
def diary(shared_url: str) -> Iterator[Memory]:
    """The diary, for all who only search in it."""
    with filled(shared_url) as memory:
        yield memory


def contents(hits: list[Hit]) -> list[str]:
    return [hit.message.content for hit in hits]


# -- by word, by meaning


BY_WORD = {
    "Miso": 0,
    "MUSHROOMS!": 3,
    "mushroom": 3,
    "cooking": 3,
    "databases": 2,
    "who migrated the databases?": 2,
    "batteries": 5,
}

BY_MEANING = {
    "cat": 0,
    "airplane trip to Portugal": 1,
    "SQL problems at work": 2,
    "food we ate": 3,
    "how much money do I earn": 4,
    "vehicle repair": 5,
}


@pytest.mark.checklist("D12")
def test_a_message_is_found_by_its_words_and_their_other_forms(diary: Memory) -> None:
    """D12: full-text search."""
    best = {query: diary.search(query, user="alex")[0] for query in BY_WORD}
    assert {query: hit.message.turn - 1 for query, hit in best.items()} == BY_WORD
    assert all(hit.parts["text"] > 0 for hit in best.values())


@pytest.mark.checklist("A10")
def test_a_message_is_found_by_meaning_alone(diary: Memory) -> None:
    """A10, D12: what was said is found in other words than its own, with its original text."""
    best = {query: diary.search(query, user="alex")[0] for query in BY_MEANING}
    assert {query: DIARY.index(hit.message.content) for query, hit in best.items()} == BY_MEANING
    assert all(hit.parts["text"] == 0 < hit.parts["vector"] for hit in best.values())


@pytest.mark.checklist("A10")
def test_what_was_said_long_ago_is_found_for_ever(store_url: str) -> None:
    """A10: after hundreds of messages, years and a restart, by word and by meaning."""
    with Memory(store_url, clock=FrozenClock(NOW), followers=False) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", "My grandmother's  necklace is hidden\nin the attic.", time=NOW - timedelta(days=5_000))
        chat.extend(Draft("user", f"{DIARY[n % 6]} Again, number {n}.") for n in range(300))
        settle_index(memory)
    with Memory(store_url, clock=FrozenClock(NOW), followers=False) as memory:
        for query in ("necklace attic", "family jewellery under the roof"):
            best = memory.search(query, user="alex")[0].message
            assert (best.turn, best.content) == (1, "My grandmother's  necklace is hidden\nin the attic.")


def test_a_message_just_added_is_found_by_the_next_search(store_url: str) -> None:
    with Memory(store_url) as memory:
        chat = memory.conversation("chat", user="alex")
        for word in ("zebra", "giraffe", "walrus", "octopus"):
            chat.add("user", f"I saw a {word} in the park")
            assert memory.search(word, user="alex")[0].message.content == f"I saw a {word} in the park"


# -- scripts


@pytest.mark.every_store
@pytest.mark.checklist("D12")
def test_every_script_is_found(store_url: str) -> None:
    """D12: full-text search works in scripts other than Latin, with and without spaces between words."""
    with Memory(store_url, followers=False) as memory:
        for number, (said, _) in enumerate(SCRIPTS.values()):
            memory.conversation(f"c{number}", user="alex").add("user", said)
        settle_index(memory)
        missed = {
            query: contents(found)
            for said, queries in SCRIPTS.values()
            for query in queries
            if not (found := memory.search(query, user="alex"))
            or found[0].message.content != said
            or found[0].parts["text"] <= 0
        }
        assert missed == {}


@pytest.mark.checklist("D12")
def test_scripts_are_found_in_one_long_text(store_url: str) -> None:
    """D12: also in the middle of a message of many passages."""
    with Memory(store_url, followers=False) as memory:
        chat = memory.conversation("chat", user="alex")
        for said, _ in SCRIPTS.values():
            chat.add("user", f"{DIARY[1]} " * 50 + f"{said}. " + f"{DIARY[3]} " * 50)
        settle_index(memory)
        assert memory.stats().entries > 2 * len(SCRIPTS)
        for turn, (_, queries) in enumerate(SCRIPTS.values(), start=1):
            hits = memory.search(queries[0], user="alex")
            assert hits[0].message.turn == turn
            assert len({hit.message.id for hit in hits}) == len(hits)


# -- nothing is syntax


@pytest.mark.every_store
def test_nothing_a_user_types_is_syntax(store_url: str) -> None:
    with filled(store_url, followers=False) as memory:
        memory.conversation("secret", user="kim").add("user", "Kim's databases failed too")
        settle_index(memory)
        for query in HOSTILE:
            hits = memory.search(query, user="alex")
            assert {hit.message.user for hit in hits} <= {"alex"}, query
            if "databases" in query:
                assert hits[0].message.content == DIARY[2], query
        assert memory.verify().ok
        assert memory.stats().messages == len(DIARY) + 1


def test_what_looks_like_syntax_can_be_found(store_url: str) -> None:
    odd = ("C++ and C#", "user@example.com", "rm -rf ~/tmp", "AND OR NOT NEAR", "'quoted' \\o/", "100% *sure*")
    with filled(store_url) as memory:
        memory.conversation("diary", user="alex").extend(Draft("user", said) for said in odd)
        assert tuple(memory.search(said, user="alex")[0].message.content for said in odd) == odd


def test_a_query_with_nothing_in_it_finds_nothing(diary: Memory) -> None:
    for query in ("", " ", "\n\t", "!!!", "?", "…", "\u200b", "'", "-"):
        assert diary.search(query, user="alex") == [], repr(query)


def test_a_query_of_function_words_still_finds_such_a_message(store_url: str) -> None:
    with filled(store_url) as memory:
        memory.conversation("diary", user="alex").add("user", "Who is it?")
        assert memory.search("who is it", user="alex")[0].message.content == "Who is it?"


def test_an_empty_memory_finds_nothing(store_url: str) -> None:
    with Memory(store_url) as memory:
        assert memory.search("anything") == []
        memory.conversation("chat", user="alex").add("user", "", metadata={"attachment": 1})
        memory.settle()
        assert memory.search("anything") == memory.search("attachment") == []


# -- order


RANKED = {"text", "likeness", "opening", "vector", "near", "speaker", "time", "recency", "occasion"}
PARTS = RANKED | {"detail", "reply", "preference", "standing", "coverage"}


def test_hits_are_sorted_and_their_parts_add_up(diary: Memory) -> None:
    hits = diary.search("my new database needs an index", user="alex", limit=100)
    assert len(hits) >= 2
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for hit in hits:
        assert set(hit.parts) == PARTS
        assert hit.score > 0
        assert hit.score == pytest.approx(sum(hit.parts.values()), abs=1e-5)
    assert diary.search("my new database needs an index", user="alex", limit=1) == hits[:1]


def test_recency_decides_between_equals_and_never_beats_relevance(store_url: str) -> None:
    with Memory(store_url, clock=FrozenClock(NOW)) as memory:
        chat = memory.conversation("chat", user="alex")
        for years in (3, 0, 5):
            chat.add("user", "The parrot speaks Portuguese", time=NOW - timedelta(days=365 * years))
        chat.add("user", "The weather is fine today and the parrot is quiet", time=NOW)
        hits = memory.search("parrot Portuguese", user="alex")
        assert [hit.message.turn for hit in hits] == [2, 1, 3, 4]
        assert hits[2].score > hits[3].score
        assert hits[0].parts["recency"] <= 0.06 * (hits[0].parts["text"] + hits[0].parts["vector"])


def test_a_standing_instruction_to_an_assistant_is_lifted(store_url: str) -> None:
    with Memory(store_url, clock=FrozenClock(NOW)) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", "Always name the calories when I ask about lunch ideas.", time=NOW - timedelta(days=9))
        chat.add("assistant", "I will.", time=NOW - timedelta(days=9))
        for place in ("harbour", "market", "station"):
            chat.add("user", f"Which lunch places are near the {place}?", time=NOW - timedelta(days=2))
        friends = memory.conversation("friends", user="kim")
        friends.add("user", "Always bring a hat when I ask you for lunch.", time=NOW)
        hits = memory.search("Can you suggest a lunch near the harbour?", user="alex")
        lifted = {hit.message.turn: hit.parts["standing"] for hit in hits}
        assert lifted.pop(1) > 0
        assert not any(lifted.values())
        assert memory.search("lunch", user="kim")[0].parts["standing"] == 0


QUERIES = (*(q for _, qs in SCRIPTS.values() for q in qs), "cat", "food we ate", "my new index", *HOSTILE)
Results = list[list[tuple[str, float]]]


def results(url: str) -> Results:
    with filled(url, followers=False) as memory:
        chat = memory.conversation("scripts", user="alex")
        chat.extend(Draft("user", said, time=NOW - timedelta(days=n)) for n, (said, _) in enumerate(SCRIPTS.values()))
        settle_index(memory)
        return [[(h.message.content, h.score) for h in memory.search(query, user="alex")] for query in QUERIES]


@pytest.fixture(scope="module")
def of_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return results(str(tmp_path_factory.mktemp("one") / "one.db"))


@pytest.mark.every_store(in_part=("sqlite", "json", "postgresql"))
def test_the_same_query_gives_the_same_order_on_every_store(store_url: str, of_sqlite: Results) -> None:
    """Each is held against SQLite, so all three agree. B11: PostgreSQL with pgvector finds what the others find."""
    for query, ours, theirs in zip(QUERIES, results(store_url), of_sqlite, strict=True):
        assert [content for content, _ in ours] == [content for content, _ in theirs], query
        assert [score for _, score in ours] == pytest.approx([score for _, score in theirs], abs=0.01), query
