"""What a query asks for: whose words, which times, one thing or several."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from everword.recall.rules.query import (
    FRAME,
    LIGHT,
    NAME,
    TIME,
    add_authors,
    asks_for_several,
    authors_in,
    closeness,
    parse_query,
    time_around,
)
from everword.text.dates import TimeSpan, spans
from everword.text.terms import query_groups
from everword.word_lists import read_list

NOW = datetime(2024, 5, 15, 14, 30, tzinfo=UTC)
EN = ("en",)


def asked(query: str) -> dict[str, float]:
    """The first term of each group, and what it counts."""
    found = parse_query(query, query_groups(query, EN), EN, NOW)
    return {group[0]: emphasis for group, emphasis in zip(found.groups, found.emphasis, strict=True)}


@pytest.mark.parametrize(
    ("query", "authors"),
    [
        ("What did Ann buy?", {"ann"}),
        ("what did ann buy", {"ann"}),
        ("Ann's new job", {"ann"}),
        ("Did Ann and BEN meet?", {"ann", "Ben"}),
        ("What did Maria do?", {"Maria Lopez"}),
        ("what did maria lopez do", {"Maria Lopez"}),
        ("what did maria do", set()),
        ("Annual report", set()),
        ("What will she say?", set()),
        ("What did Will say?", {"Will"}),
        ("", set()),
        ("????", set()),
    ],
)
def test_the_authors_a_query_names(query: str, authors: set[str]) -> None:
    names = {name: {name} for name in ("ann", "Ben", "Maria Lopez", "Will", "", "x")}
    assert authors_in(query, names).keys() == authors


def test_a_name_and_a_time_count_little_as_words() -> None:
    query = "What did Ann cook two weeks ago?"
    groups = query_groups(query, EN)
    names = {"Ann": {"Ann"}, "Ben": {"Ben"}}
    found = add_authors(parse_query(query, groups, EN, NOW), query, names, EN, ())
    counts = {group[0]: emphasis for group, emphasis in zip(found.groups, found.emphasis, strict=True)}
    assert found.authors == {"Ann"}
    assert counts["ann"] == NAME
    assert counts["cook"] == 1
    assert counts["week"] == TIME
    assert [span.text for span in found.times] == ["two weeks ago"]


@pytest.mark.parametrize(
    ("query", "authors"),
    [
        ("What did Carolin say about the garden?", {"u1": "Carolin"}),
        ("what did carrolin say", {"u1": "carrolin"}),
        ("What did Jon and Carloine plan?", {"u1": "Carloine", "u2": "Jon"}),
        ("What did Maria say?", {}),
        ("What did Mario say?", {}),
        ("What did Tim say?", {}),
        ("Which garden did she plan?", {}),
    ],
)
@pytest.mark.checklist("G6")
def test_a_word_that_no_message_has_may_be_a_misspelt_name_of_one_author(query: str, authors: dict[str, str]) -> None:
    all_names = ("Caroline Reed", "John", "Marta", "Marla", "Tom", "Gardner")
    names = {f"u{number}": {name} for number, name in enumerate(all_names, start=1)}
    known = query_groups("garden plan say about", EN)
    groups = query_groups(query, EN)
    parsed_query = parse_query(query, groups, EN, NOW)
    found = add_authors(parsed_query, query, names, EN, set(groups) - set(known))
    assert found.authors == authors.keys()
    counts = {group[0]: emphasis for group, emphasis in zip(found.groups, found.emphasis, strict=True)}
    assert all(counts[group[0]] == NAME for name in authors.values() for group in query_groups(name, EN))


def test_words_that_frame_a_question_count_little() -> None:
    assert asked("What different kinds of tea did she mention?") == {
        "differ": FRAME,
        "kind": FRAME,
        "tea": 1.0,
        "mention": FRAME,
    }
    assert asked("Where did we get the current lamp?") == {"get": LIGHT, "current": LIGHT, "lamp": 1.0}


def test_every_word_of_the_lists_counts_less() -> None:
    for word in (*read_list("frame", "query_words", "recall/data"), *read_list("light", "query_words", "recall/data")):
        counts = asked(f"What about the {word} of the violin in the garden?")
        assert sorted(counts.values()) in ([FRAME, 1.0, 1.0], [LIGHT, 1.0, 1.0], [1.0, 1.0]), word


def test_a_word_of_a_time_that_is_also_said_elsewhere_counts_in_full() -> None:
    assert asked("the month plan of last month")["month"] == 1
    assert asked("the plan of last month")["month"] == TIME
    assert asked("last month")["month"] == TIME


@pytest.mark.parametrize(
    ("query", "own"),
    [
        ("What is my cat's name?", True),
        ("where do I live", True),
        ("what did i say", True),
        ("I've lost it", True),
        ("What did you tell me?", False),
        ("Which book did your list begin with?", False),
        ("The name of the cat", False),
        ("In Italy", False),
    ],
)
def test_whether_it_is_about_who_asks(query: str, own: bool) -> None:
    assert parse_query(query, query_groups(query, EN), EN, NOW).own is own


@pytest.mark.parametrize(
    ("query", "more"),
    [
        ("Which books has she read?", True),
        ("What kinds of music do they like?", True),
        ("How many times did we meet?", True),
        ("What do Ann and Ben have in common?", True),
        ("In which cities did he live?", True),
        ("What is her name?", False),
        ("What was his address?", False),
        ("Which dress did she buy?", False),
        ("When did she leave?", False),
        ("Who is the boss?", False),
        ("", False),
    ],
)
def test_whether_several_things_are_asked_for(query: str, more: bool) -> None:
    assert asks_for_several(query) is more


def test_closeness_is_one_inside_and_halves_with_each_width() -> None:
    [week] = spans("last week", NOW)
    start, width = week.start.timestamp(), (week.end - week.start).total_seconds()
    moments = np.array([start, start + width / 2, start - width, start + 3 * width])
    assert closeness([week], moments).tolist() == pytest.approx([1, 1, 0.5, 0.25])
    assert closeness([], moments).tolist() == [0, 0, 0, 0]
    both = closeness(spans("last week or in May 2020", NOW), moments)
    assert both[0] == 1


def test_around_a_time_is_its_width_and_at_least_a_day() -> None:
    day = datetime(2026, 3, 4, tzinfo=UTC)
    assert time_around(TimeSpan(day, day + timedelta(hours=1), "then")) == (
        day - timedelta(days=1),
        day + timedelta(days=1, hours=1),
    )
    assert time_around(TimeSpan(day, day + timedelta(days=7), "that week"))[0] == day - timedelta(days=7)
    ends = time_around(TimeSpan(datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC), "ever"))
    assert ends[0] <= day <= ends[1]


def test_who_took_part_in_something_a_month_ago_does_not_mean_a_month_from_now() -> None:
    (span,) = spans("What did I take part in a month ago?", NOW)
    assert span.end <= NOW


@pytest.mark.checklist("G14")
@pytest.mark.parametrize(
    ("language", "about_me", "about_you", "general"),
    [
        ("de", "Wo wohnt meine Schwester?", "Was hast du mir für meine Reise empfohlen?", "Wie entsteht ein Vulkan?"),
        ("fr", "Où habite ma sœur ?", "Que m'as-tu conseillé pour mon voyage ?", "Comment se forme un volcan ?"),
        ("es", "¿En qué fecha nos mudamos?", "¿Qué me recomendaste para el viaje?", "¿Cómo se forma un volcán?"),
        ("it", "Quando andiamo al mare?", "Cosa mi hai consigliato per il viaggio?", "Come si forma un vulcano?"),
        ("pt", "Quando a gente vai viajar?", "O que você recomendou pra minha viagem?", "Como se forma um vulcão?"),
        ("ru", "Где живёт моя сестра?", "Что ты посоветовал мне в дорогу?", "Как возникает вулкан?"),
        ("tr", "Ablam nerede oturuyor?", "Bana yolculuk için ne önermiştin?", "Bir yanardağ nasıl oluşur?"),
        ("ar", "فين بيتنا الجديد؟", "إيه الكتاب اللي نصحتني بيه؟", "كيف يتكون البركان؟"),
        ("hi", "मैं कहाँ रहूँगी?", "तुमने मुझे कौन सी किताब बताई थी?", "ज्वालामुखी कैसे बनता है?"),
        ("zh", "我姐姐住在哪里？", "你给我推荐了什么书？", "火山是怎么形成的？"),
        ("ja", "姉の職業は？", "私に勧めてくれた本は？", "火山はどうやってできるの？"),
        ("ko", "우리 언니는 어디 살아?", "네가 나는 무슨 책을 읽으라고 했지?", "화산은 어떻게 생겨?"),
    ],
)
def test_who_a_question_is_about_is_told_in_each_language(
    language: str, about_me: str, about_you: str, general: str
) -> None:
    def parsed(query: str) -> tuple[bool, bool]:
        found = parse_query(query, query_groups(query, (language,)), (language,), NOW)
        return found.personal, found.own

    assert parsed(about_me) == (True, True)
    assert parsed(about_you) == (True, False)
    assert parsed(general) == (False, False)


@pytest.mark.parametrize(
    ("question", "general"),
    [
        ("Wer hat Mama ins Krankenhaus gefahren?", "Warum schnurren Katzen?"),
        ("Qu'est-ce que tu avais conseillé pour la petite ?", "Pourquoi les chats ronronnent-ils ?"),
        ("¿Qué le dan al niño por la noche?", "¿Por qué ronronean los gatos?"),
        ("Che stipendio avrò?", "Perché i gatti fanno le fusa?"),
        ("Quem é a chefe no trabalho novo?", "Quantos habitantes tem Berlim?"),
        ("Какого числа начинаю на новом месте?", "Почему кошки мурлычут?"),
        ("Kedinin adı ne?", "Kediler neden mırlar?"),
        ("هستلم الشغل الجديد امتى؟", "كم عدد سكان برلين؟"),
        ("बेटी किस स्कूल में है?", "बिल्लियाँ क्यों घुरघुराती हैं?"),
        ("房东叫什么？", "猫为什么会打呼噜？"),
        ("夫の仕事は何？", "夫婦別姓とは何ですか？"),
        ("남편 생일이 언제야?", "고양이는 왜 골골거려?"),
    ],
)
@pytest.mark.checklist("G14")
def test_a_question_about_a_household_is_about_a_life(question: str, general: str) -> None:
    assert parse_query(question, (), (), NOW).personal
    assert not parse_query(general, (), (), NOW).personal


def test_endings_and_particles_of_japanese_say_little() -> None:
    query = "火山はどうやってできるの？"
    found = parse_query(query, query_groups(query, ("ja",)), ("ja",), NOW)
    emphasis = {group[0]: share for group, share in zip(found.groups, found.emphasis, strict=True)}
    assert emphasis["火山"] == 1.0
    assert emphasis["やっ"] == FRAME


@pytest.mark.parametrize(
    ("query", "languages", "abroad"),
    [
        ("Where does my sister live?", ("de", "en"), True),
        ("Wo wohnt meine Schwester?", ("en", "de"), True),
        ("Where does my sister live?", ("en", "de"), False),
        ("Wo wohnt meine Schwester?", ("fr",), False),
        ("Where does my sister live?", (), False),
    ],
)
def test_a_query_is_abroad_where_it_or_the_memory_alone_is_english(
    query: str, languages: tuple[str, ...], abroad: bool
) -> None:
    assert parse_query(query, query_groups(query, languages), languages, NOW).is_abroad is abroad
