"""What a rule said of a short text is not worked out again; a long text is not held."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import chain

from everword.text.doc import KEPT, SHORT, Doc, doc_of
from everword.text.sentences import sentences
from everword.text.word_weights import words

READ: list[str] = []


def shout(text: str, mark: str = "!") -> str:
    READ.append(text)
    return text.upper() + mark


def test_a_doc_is_read_once_by_each_rule_in_each_way() -> None:
    READ.clear()
    doc = Doc("hello")
    assert [doc.read(shout), doc.read(shout), doc.read(shout, "?")] == ["HELLO!", "HELLO!", "HELLO?"]
    assert READ == ["hello", "hello"]


def test_a_short_text_is_read_once_and_a_long_one_each_time() -> None:
    READ.clear()
    longest = "a" * SHORT
    assert {doc_of(longest).read(shout), doc_of(longest).read(shout)} == {longest.upper() + "!"}
    assert doc_of(longest + "a").read(shout) == doc_of(longest + "a").read(shout) == longest.upper() + "A!"
    assert [longest, longest + "a", longest + "a"] == READ


def test_only_so_many_are_kept_and_those_that_come_again_stay() -> None:
    READ.clear()
    for number in range(2 * KEPT):
        doc_of(str(number)).read(shout)
        doc_of("often asked").read(shout)
    doc_of("0").read(shout)
    assert READ.count("0") == 2
    assert READ.count("often asked") == 1


def test_who_changes_a_list_does_not_change_what_is_kept() -> None:
    text = "I moved to Oslo. It rains."
    words(text).clear()
    sentences(text).clear()
    assert words(text) == ["I", "moved", "to", "Oslo", "It", "rains"]
    assert len(sentences(text)) == 2


def test_threads_may_read_at_the_same_time() -> None:
    texts = [str(number % (KEPT + 7)) for number in range(2 * KEPT)]

    def read_part(start: int) -> list[str]:
        return [doc_of(text).read(shout) for text in texts[start : start + 500]]

    with ThreadPoolExecutor(4) as pool:
        parts = pool.map(read_part, range(0, len(texts), 500))
        assert list(chain.from_iterable(parts)) == [f"{text}!" for text in texts]
