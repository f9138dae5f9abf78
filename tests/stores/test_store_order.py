"""The same query gives the same order on every store, up to ties: through the whole engine, in several languages.

The messages are made from lists of words by a generator with a fixed seed, so that every run sees the same ones.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from itertools import combinations

import pytest
from engine_doubles import settle_index
from hit_order import difference
from postgres_databases import PostgresServer

from everword import Batch, Memory
from everword.model import ROLES, Draft, Hit
from everword.testing import FrozenClock

KINDS = ("sqlite", "json", "postgresql")
USERS = ("alex", "kim", "sam")
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
SENTENCES = {
    "en": (
        "the database index was rebuilt after the migration of our billing service;"
        "my sister adopted two cats and a very old dog from the shelter;"
        "please remember that i am allergic to peanuts and shellfish;"
        "we booked flights to Lisbon for the conference in October;"
        "the quick fix in parser.py broke the build on node.js v18.2"
    ),
    "de": (
        "die Datenbank wurde gestern auf einen neuen Server umgezogen;"
        "meine Schwester wohnt seit März in der Straße am Hafen von Köln;"
        "wir haben im Urlaub viele Vögel und alte Häuser fotografiert"
    ),
    "ru": (
        "вчера мы перенесли базу данных на новый сервер;"
        "моя сестра живёт в Москве и любит старых собак;"
        "напомни мне купить билеты на поезд в Петербург"
    ),
    "zh": "我们昨天把数据库搬到了新的服务器;我妹妹养了两只猫和一条老狗;请记住我对花生过敏",
    "ja": "昨日データベースを新しいサーバーに移しました;妹は猫を二匹飼っています;来月は東京へ出張します",
    "ar": "نقلنا قاعدة البيانات إلى خادم جديد;أختي تعيش في القاهرة وتحب القطط",
    "th": "เมื่อวานเราย้ายฐานข้อมูลไปยังเซิร์ฟเวอร์ใหม่;น้องสาวของฉันเลี้ยงแมวสองตัว",
}
HOSTILE = ('"', "'' OR 1=1 --", "AND", "NEAR(cats dogs)", "cats*", "terms:cats", "(dog", "a & b | !c", "\\", "-", "😀")


def generated(count: int = 240) -> Iterator[Batch]:
    """Messages of several people, in several languages, some long, some twice, over four years."""
    chance = random.Random(20_260_101)
    for number in range(count):
        language = chance.choice(("en", "en", "en", *SENTENCES))
        sentences = SENTENCES[language].split(";")
        spoken = [" ".join(shuffled(chance, chance.choice(sentences))) for _ in range(chance.choice((1, 1, 2, 3)))]
        user = chance.choice(USERS)
        draft = Draft(
            role=chance.choice(ROLES),
            content=(". ".join(spoken) + ". ") * (60 if number % 90 == 0 else 1),
            time=NOW - timedelta(hours=chance.randrange(4 * 365 * 24)),
            author=user,
            user=user,
            id=f"m{number:03}",
        )
        yield Batch("default", f"chat {chance.randrange(6)}", None, [draft])


def shuffled(chance: random.Random, sentence: str) -> list[str]:
    words = sentence.split(" ")
    return chance.sample(words, chance.randint(max(1, len(words) // 2), len(words)))


def questions() -> list[tuple[str, dict[str, object]]]:
    """Sixty and some queries: sentences, single words, nonsense; each with another filter."""
    filters: list[dict[str, object]] = [
        {},
        {"user": "alex"},
        {"user": "kim", "role": "user"},
        {"conversation": "chat 3"},
        {"user": "sam", "after": NOW - timedelta(days=400)},
        {"before": NOW - timedelta(days=900), "role": "assistant"},
        {"user": "alex", "conversation": "chat 1", "limit": 3},
    ]
    sentences = [sentence for text in SENTENCES.values() for sentence in text.split(";")]
    words = ["database", "cats", "Lisbon", "Straße", "Vögel", "сестра", "数据库", "猫", "サーバー", "القطط", "แมว"]
    more = [
        "who has a pet?",
        "what must i not eat",
        "travel plans",
        "node.js",
        "xyzzy",
        "is it the",
        "data base server",
    ]
    asked = [*sentences, *words, *more, *(f"{a} {b}" for a, b in combinations(words[:7], 2)), *HOSTILE]
    return [(query, filters[number % len(filters)]) for number, query in enumerate(asked)]


@pytest.fixture(scope="module")
def memories(postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Memory]]:
    """The same messages in three stores."""
    folder = tmp_path_factory.mktemp("order")
    with ExitStack() as stack:
        urls = {"sqlite": f"{folder}/memory.db", "json": f"json:{folder}/memory.json"}
        urls["postgresql"] = stack.enter_context(postgres.database())
        made = {kind: Memory(urls[kind], clock=FrozenClock(NOW), followers=False) for kind in KINDS}
        batches = list(generated())
        for memory in made.values():
            stack.callback(memory.close)
            memory.add_many(batches)
            settle_index(memory)
        yield made


@pytest.fixture(scope="module")
def answers(memories: dict[str, Memory]) -> dict[str, list[list[Hit]]]:
    """What each store finds, question by question."""
    return {
        kind: [memory.search(query, **where) for query, where in questions()]  # type: ignore[arg-type]
        for kind, memory in memories.items()
    }


def test_every_store_gives_the_same_order(answers: dict[str, list[list[Hit]]]) -> None:
    wrong, found = [], 0
    for number, (query, where) in enumerate(questions()):
        first = answers["sqlite"][number]
        found += len(first)
        for kind in KINDS[1:]:
            different = difference(first, answers[kind][number])
            if different:
                wrong.append(f"{query!r} {where} on {kind}: {different}")
    assert not wrong
    assert found > 3 * len(questions()) > 180  # the test is about something


def test_every_store_finds_only_what_is_in_scope(answers: dict[str, list[list[Hit]]]) -> None:
    for found in answers.values():
        for (_, where), hits in zip(questions(), found, strict=True):
            for hit in hits:
                said = hit.message
                assert where.get("user", said.user) == said.user
                assert where.get("conversation", said.conversation) == said.conversation
                assert where.get("role", said.role) == said.role
                assert where.get("after", said.time) <= said.time  # type: ignore[operator]


def test_every_script_is_found(memories: dict[str, Memory]) -> None:
    """A10: what was said can be found again by its words, in its original text."""
    for query in ("database", "Datenbank", "сестра", "数据库", "サーバー", "القطط", "แมว"):
        for kind, memory in memories.items():
            best = memory.search(query, limit=1)
            assert best, (query, kind)
            assert query.casefold() in best[0].message.content.casefold(), (query, kind)
