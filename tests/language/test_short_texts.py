"""What a rule said of a short text is not worked out again; a long text is not held."""

from __future__ import annotations

from recollect.language.sentences import sentences
from recollect.language.short_text_cache import REMEMBERED, SHORT, remember_short_texts
from recollect.language.word_weights import words

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
