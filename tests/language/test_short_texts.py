"""What a rule said of a short text is not worked out again; a long text is not held."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from recollect.text.sentences import sentences
from recollect.text.short_text_cache import REMEMBERED, REMEMBERED_WORDS, SHORT, remember_short_texts, remember_words
from recollect.text.words import words

READ: list[str] = []


@remember_short_texts
def shout(text: str, mark: str = "!") -> str:
    READ.append(text)
    return text.upper() + mark


def test_a_short_text_is_read_once_for_each_way_of_reading_it() -> None:
    READ.clear()
    assert [shout("hello"), shout("hello"), shout("hello", "?")] == ["HELLO!", "HELLO!", "HELLO?"]
    assert READ == ["hello", "hello"]


def test_a_long_text_is_read_each_time() -> None:
    READ.clear()
    longest = "a" * SHORT
    assert {shout(longest), shout(longest)} == {longest.upper() + "!"}
    assert {shout(longest + "a"), shout(longest + "a")} == {longest.upper() + "A!"}
    assert [longest, longest + "a", longest + "a"] == READ


def test_only_so_many_are_remembered() -> None:
    READ.clear()
    for number in range(REMEMBERED + 1):
        shout(str(number))
    shout("0")
    assert READ.count("0") == 2


def test_who_changes_a_list_does_not_change_what_is_remembered() -> None:
    text = "I moved to Oslo. It rains."
    words(text).clear()
    sentences(text).clear()
    assert words(text) == ["I", "moved", "to", "Oslo", "It", "rains"]
    assert len(sentences(text)) == 2


@remember_short_texts
def whisper(text: str) -> str:
    READ.append(text)
    return text.lower()


def test_a_rule_of_the_text_alone_reads_a_short_one_once_and_a_long_one_each_time() -> None:
    READ.clear()
    long_text = "A" * (SHORT + 1)
    assert [whisper("HELLO"), whisper("HELLO"), whisper(long_text), whisper(long_text)] == [
        "hello",
        "hello",
        long_text.lower(),
        long_text.lower(),
    ]
    assert ["HELLO", long_text, long_text] == READ
    assert whisper.__name__ == "whisper"


def test_of_many_texts_those_are_remembered_that_come_again() -> None:
    READ.clear()
    for number in range(2 * REMEMBERED):
        whisper(f"text {number}")
        whisper("again")
    whisper("text 0")
    assert READ.count("again") == 1
    assert READ.count("text 0") == 2


def test_threads_may_read_at_the_same_time() -> None:
    texts = [f"TEXT {number % (REMEMBERED + 100)}" for number in range(2 * REMEMBERED)]
    with ThreadPoolExecutor(4) as pool:
        for readings in pool.map(lambda _: [whisper(text) for text in texts], range(4)):
            assert readings == [text.lower() for text in texts]


@remember_words
def translations(word: str, language: str) -> str:
    READ.append(word)
    return f"{word} in {language}"


def test_a_word_is_read_once_for_each_language() -> None:
    READ.clear()
    assert translations("en")["boat"] == translations("en")["boat"] == "boat in en"
    assert translations("nl")["boat"] == "boat in nl"
    assert READ == ["boat", "boat"]


def test_many_words_and_long_ones_are_not_held() -> None:
    words_in_german = translations("de")
    for number in range(REMEMBERED_WORDS + 10):
        assert words_in_german[str(number)] == f"{number} in de"
    assert words_in_german["a" * (SHORT + 1)].startswith("a")
    assert len(words_in_german) <= REMEMBERED_WORDS
    assert max(map(len, words_in_german)) <= SHORT
