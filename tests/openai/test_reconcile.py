"""What a client sends against what the log has: nothing twice, nothing lost, nothing rewritten, whatever clients do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_sizes import sample

from everword.openai.reconcile import Fit, Utterance, best_line, continues, fit

ROLES = {"u": "user", "a": "assistant", "t": "tool"}


def said(*words: str) -> list[Utterance]:
    """`u:hi` a user's, `a:ok` a reply, `a:ok…` one cut off, `t1:42` what the tool call 1 gave, `u†` erased."""
    found = []
    for word in words:
        who, _, text = word.partition(":")
        erased, partial = who.endswith("†"), text.endswith("…")
        role = ROLES[who[0]]
        call = who[1:] if role == "tool" and not erased else ""
        found.append(Utterance(role, text.removesuffix("…"), call, partial, erased))
    return found


TALK = said("u:hi", "a:hello", "u:name?", "a:Alex", "u:city?", "a:Oslo")


@pytest.mark.parametrize(
    ("line", "sent", "places", "at_end"),
    [
        # the whole history, and one message more
        (TALK, [*TALK, *said("u:bye")], range(6), True),
        # the first request of all
        ([], said("u:hi"), (), True),
        # asked again because the reply never came
        (TALK[:5], TALK[:5], range(5), True),
        # another reply
        (TALK, TALK[:5], range(5), False),
        (TALK, TALK[:1], (0,), False),
        # an edit
        (TALK, [*TALK[:2], *said("u:who am I?")], (0, 1), False),
        # the same words again are another message
        (said("u:ok", "a:ok"), said("u:ok", "a:ok", "u:ok"), (0, 1), True),
        (said("u:ok", "a:ok", "u:ok", "a:ok"), said("u:ok", "a:ok", "u:ok", "a:ok", "u:ok"), range(4), True),
        (said("u:hi", "a:x", "u:hi", "a:x"), said("u:hi", "a:x", "u:bye"), (0, 1), False),
        # the client leaves out the beginning, all but the last, or the middle
        (TALK, [*TALK[2:], *said("u:bye")], (2, 3, 4, 5), True),
        (TALK, [*TALK[5:], *said("u:bye")], (5,), True),
        (TALK, [TALK[0], *TALK[3:], *said("u:bye")], (0, 3, 4, 5), True),
        # the client leaves out the beginning and edits, or wants another reply
        (TALK, [*TALK[2:4], *said("u:country?")], (2, 3), False),
        (TALK, TALK[2:5], (2, 3, 4), False),
        # the client sends only what is new; a word that was said before is no evidence
        (TALK, said("u:bye"), (), True),
        (TALK, said("u:name?"), (), True),
        (TALK[:5], said("u:city?"), (4,), True),
        # a reply that was cut off: seen, seen in part, not seen
        (said("u:hi", "a:hello th…"), said("u:hi", "a:hello th", "u:go on"), (0, 1), True),
        (said("u:hi", "a:hello th…"), said("u:hi", "a:hel", "u:go on"), (0, 1), True),
        (said("u:hi", "a:hello th…"), said("u:hi"), (0,), True),
        (said("u:hi", "a:hello th…", "a:hello there"), said("u:hi", "a:hello there", "u:bye"), (0, 2), True),
        # tools: a result is known by its call, and may be a stub once it has been used
        (said("u:sum?", "a:call", "t1:42"), said("u:sum?", "a:call", "t1:42"), range(3), True),
        (said("u:sum?", "a:call", "t1:42"), said("u:sum?", "a:call", "t1:43"), (0, 1), False),
        (said("u:s", "a:c", "t1:4", "t2:5", "a:9"), said("u:s", "a:c", "t1:-", "t2:-", "a:9", "u:ta"), range(5), True),
        (said("u:s", "a:c", "t1:42", "a:85"), said("u:s", "a:c", "t1:-", "a:other", "u:ta"), (0, 1), False),
        # what was erased is not told again, and what is asked now is no erased message
        (said("u†:", "a†:"), said("u:hi", "a:hello", "u:bye"), (0, 1), True),
        (said("u†:", "a†:"), said("u:hi"), (), True),
        (said("u†:", "a†:", "u†:", "a†:"), said("u:hi", "a:hello", "u:bye"), (0, 1), False),
        (said("u†:", "a†:", "u†:", "a†:", "u:hi"), said("u:hi", "a:hello", "u:bye"), (0, 1), False),
        # and it is no evidence for where a history belongs that has no beginning
        (said("a†:", "u†:", "a†:", "u:hi", "a:x"), said("u:hi", "a:y", "u:bye"), (), True),
    ],
)  # fmt: skip
def test_how_a_history_lies_along_a_line(
    line: Sequence[Utterance], sent: Sequence[Utterance], places: Sequence[int], at_end: bool
) -> None:
    assert best_line([line], sent) == (0, Fit(tuple(places), at_end))


def test_the_line_with_most_of_it_is_meant_and_of_equals_the_first() -> None:
    other = [TALK[0], *said("a:good day", "u:name?")]
    assert best_line([TALK, other], [*other[:2], *said("u:bye")]) == (1, Fit((0, 1), False))
    assert best_line([TALK, other], TALK[:1])[0] == best_line([other, TALK], TALK[:1])[0] == 0
    assert best_line([other, TALK[:4]], [*TALK[:4], *said("u:bye")]) == (1, Fit((0, 1, 2, 3), True))


def test_a_history_with_its_beginning_is_looked_for_nowhere_else() -> None:
    """The end of the line says the same, by chance: still it is an edit, and a branch."""
    line = said("u:a", "a:b", "u:c", "a:d", "u:ok")
    assert best_line([line], said("u:a", "a:b", "u:ok")) == (0, Fit((0, 1), False))


# -- whatever clients do

Path = tuple[Utterance, ...]


@dataclass
class Tree:
    """A log with branches, as small as can be: each has the place where it leaves and what is in it."""

    trunks: list[tuple[int, int]] = field(default_factory=lambda: [(0, 0)])
    own: list[list[Utterance]] = field(default_factory=lambda: [[]])

    def line(self, number: int) -> list[tuple[int, int]]:
        """Where each message of a line stands."""
        trunk, count = self.trunks[number]
        before = self.line(trunk)[:count] if number else []
        return [*before, *((number, place) for place in range(len(self.own[number])))]

    def lines(self) -> list[Path]:
        return [tuple(self.own[n][at] for n, at in self.line(number)) for number in range(len(self.own))]

    def send(self, sent: Sequence[Utterance]) -> tuple[int, int]:
        """Add what is new; where the last message stands: in which line, and how far along."""
        number, found = best_line(self.lines(), sent)
        told = {(one.role, one.mark) for one in self.lines()[number]}
        preface = [replace(one, preface=True) for one in sent[: found.preface] if (one.role, one.mark) not in told]
        new = list(sent[found.preface + found.overlap :])
        if not new:
            return number, found.places[-1] + 1
        new = [*preface, *new]
        if not found.at_end:
            self.trunks.append((number, found.places[-1] + 1))
            self.own.append([])
            number = len(self.own) - 1
        self.own[number] += new
        return number, len(self.line(number))

    def reply(self, number: int, upto: int, reply: Utterance) -> None:
        """Keep a reply to the message at this place: after it, or in a branch if it has one."""
        line = self.lines()[number]
        if all(one.loose for one in line[upto:]):
            self.own[number].append(reply)
        elif not any(path[: upto + 1] == (*line[:upto], reply) for path in self.lines()):
            self.trunks.append((number, upto))
            self.own.append([reply])

    @property
    def size(self) -> int:
        return sum(map(len, self.own))


def is_in_order(parts: Sequence[Utterance], whole: Sequence[Utterance]) -> bool:
    rest = iter(whole)
    return all(any(told_by(part, one) for one in rest) for part in parts)


def told_by(part: Utterance, one: Utterance) -> bool:
    cut = one.partial and one.role == part.role and one.mark.startswith(part.mark)
    alike = (part.role, part.call) == (one.role, one.call)
    return cut or (alike and (part.mark == one.mark or part.role == "tool"))


TEXTS = st.sampled_from(["ok", "hi", "why?"])
UTTERANCES = st.one_of(
    st.builds(Utterance, st.just("user"), TEXTS),
    st.builds(Utterance, st.just("assistant"), TEXTS),
    st.builds(Utterance, st.just("assistant"), TEXTS),
    st.builds(Utterance, st.just("tool"), TEXTS, st.sampled_from(["1", "2"])),
)
HISTORIES = st.lists(UTTERANCES, min_size=1, max_size=7)
REPLIES = st.none() | st.builds(Utterance, st.just("assistant"), TEXTS, partial=st.booleans())


@settings(max_examples=sample(60))
@given(st.lists(st.tuples(HISTORIES, REPLIES), max_size=8))
def test_any_histories_at_all_are_told_in_order_and_nothing_is_rewritten(
    requests: list[tuple[list[Utterance], Utterance | None]],
) -> None:
    """What is sent can be read off the line it is put in, in order, up to what was asked; what was there stays as it
    was; and the same request again adds nothing."""
    tree = Tree()
    for sent, reply in requests:
        before = [list(own) for own in tree.own]
        preface = best_line(tree.lines(), sent)[1].preface
        number, upto = tree.send(sent)
        line = tree.lines()[number]
        assert is_in_order(sent[preface:], line[:upto])
        assert told_by(sent[-1], line[upto - 1])
        assert all(own[: len(was)] == was for own, was in zip(tree.own, before, strict=False))
        size = tree.size
        again = tree.send(sent)
        assert tree.size == size, "the same again is nothing new"
        if reply is not None:
            tree.reply(*again, reply)


@dataclass(frozen=True)
class Move:
    """What a client does next: say something, have another reply, edit, ask again; and what becomes of it."""

    kind: str
    text: str
    at: int
    reply: str | None


MOVES = st.builds(
    Move,
    st.sampled_from(["say", "say", "regenerate", "edit", "again", "tool", "rewind"]),
    TEXTS,
    st.integers(0, 6),
    st.none() | TEXTS,
)


def moved(history: list[Utterance], move: Move) -> list[Utterance]:
    """The history that a client sends next."""
    users = [place for place, one in enumerate(history) if one.role == "user"]
    last = users[-1] if users else 0
    match move.kind:
        case "regenerate":
            return history[: last + 1]
        case "edit":
            return [*history[: users[move.at % len(users)]], Utterance("user", move.text)]
        case "again":
            return history
        case "tool" if history[-1].role == "assistant":
            return [*history[:-1], replace(history[-1], mark="call"), Utterance("tool", move.text, "1")]
        case "rewind":
            return [*history[: users[move.at % len(users)] + 1]]
    return [*history, Utterance("user", move.text)]


@settings(max_examples=sample(70))
@given(st.lists(MOVES, max_size=14))
def test_of_clients_that_send_all_of_it_every_message_is_kept_once_in_every_branch(moves: list[Move]) -> None:
    """The log is exactly the tree of all histories: as many messages as there are beginnings of histories."""
    tree, beginnings = Tree(), set[Path]()
    opening = Utterance("user", "Good morning.")
    history = [opening]
    for move in [Move("again", "", 0, "hi"), *moves]:
        history = moved(history, move)
        if history[0] != opening:  # another beginning is another conversation
            history = [opening]
        place = tree.send(history)
        beginnings |= {tuple(history[:count]) for count in range(1, len(history) + 1)}
        if move.reply is not None and history[-1].role != "assistant":
            reply = Utterance("assistant", move.reply)
            tree.reply(*place, reply)
            history = [*history, reply]
            beginnings.add(tuple(history))
        assert tree.size == len(beginnings)
        assert beginnings <= {line[:count] for line in tree.lines() for count in range(1, len(line) + 1)}


@settings(max_examples=sample(50))
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=8), st.integers(0, 12), st.data())
def test_a_client_that_forgets_the_beginning_goes_on_with_the_same_line(
    talk: list[tuple[str, str]], left_out: int, data: st.DataObject
) -> None:
    line = [
        one
        for number, (asked, reply) in enumerate(talk)
        for one in said(f"u:{asked}{number}", f"a:{reply}{number}")
    ]  # fmt: skip
    left_out = min(left_out, len(line) - 1)
    sent = [*line[left_out:], Utterance("user", data.draw(TEXTS))]
    assert best_line([line], sent) == (0, Fit(tuple(range(left_out, len(line))), True))


def test_long_histories_of_equal_messages_take_no_time() -> None:
    line = said("u:ok", "a:ok") * 1_000
    assert fit(line, [*line[500:], *said("u:bye")]).overlap == 1_500
    assert best_line([line], [*line, *said("u:bye")])[1].overlap == 2_000


class Counted(list[Utterance]):
    """A line that knows how often it was looked at."""

    looks = 0

    def __getitem__(self, at: Any) -> Any:
        self.looks += 1
        return super().__getitem__(at)


@pytest.mark.parametrize(
    ("line", "sent"),
    [
        # the client has left out the beginning, and all is alike
        (["u:first", *["u:ok", "a:ok"] * 1_000, "u:z", "a:z"], [*["u:ok", "a:ok"] * 1_000, "u:new"]),
        (["u:first", *["u:ok", "a:ok"] * 1_000], [*["u:ok", "a:ok"] * 500, "u:z", *["a:ok", "u:ok"] * 499]),
        # and so are the calls of tools, whose results were shortened
        (["u:first", "a:c", *["t1:ok"] * 2_000, "a:z"], [*["t1:-"] * 1_900, "u:new"]),
        (["u:first", "a:c", *["t1:ok"] * 2_000, "a:z"], ["u:first", "a:c", *["t1:-"] * 2_000, "a:z", "u:new"]),
    ],
)
def test_no_history_takes_more_than_a_bounded_number_of_comparisons(line: list[str], sent: list[str]) -> None:
    """Everybody who writes waits meanwhile, so messages that are all alike must not take the square of their number."""
    known = Counted(said(*line))
    best_line([known], said(*sent))
    assert known.looks < 100 * (len(line) + len(sent))


def test_what_stands_in_the_place_of_what_was_left_out_is_new_and_the_rest_is_known() -> None:
    """As a client sends it that sums up its own history, or looks something up for each question."""
    window = [*TALK[2:], *said("u:bye")]
    assert best_line([TALK], [*said("u:so far…"[:-1]), *window]) == (0, Fit((2, 3, 4, 5), True, 1))
    assert best_line([TALK], [*said("u:notes", "a:understood"), *window]) == (0, Fit((2, 3, 4, 5), True, 2))
    assert best_line([TALK], [*said("u:notes", "u:more", "u:much"), *window]) == (0, Fit((), True)), (
        "this is another talk"
    )
    assert best_line([TALK], said("u:notes", "u:bye")) == (0, Fit((), True))
    assert best_line([TALK], [*said("u:notes"), TALK[5], *said("u:bye")]) == (0, Fit((), True)), "one is no evidence"
    kept = [*TALK, replace(said("u:notes")[0], preface=True), *said("u:bye", "a:well")]
    assert best_line([kept], [*said("u:notes"), *window, *said("a:well", "u:so")]) == (
        0,
        Fit((2, 3, 4, 5, 7, 8), True, 1),
    )
    assert continues(TALK, [*said("u:notes"), *window])


def test_who_sends_single_messages_may_say_the_first_one_again() -> None:
    alone = [*TALK[:2], replace(TALK[2], alone=True), *TALK[3:]]
    assert best_line([TALK], TALK[:1]) == (0, Fit((0,), False)), "another reply"
    assert best_line([alone], TALK[:1]) == (0, Fit((), True)), "the same greeting on another day"
    assert best_line([alone[:5]], [TALK[4]]) == (0, Fit((4,), True)), "asked again because the reply never came"
    assert best_line([alone], [*TALK[:1], *said("a:good day", "u:x")]) == (0, Fit((0,), False))


def test_what_goes_on_from_an_end_tells_back_what_was_said_there() -> None:
    assert continues(TALK, [*TALK[2:], *said("u:bye")])
    assert continues(TALK, [*TALK[4:], *said("u:bye")])
    assert not continues(TALK, [*TALK[5:], *said("u:bye")]), "one message is no evidence"
    assert not continues(TALK, [*TALK[2:4], *said("u:bye")]), "it ends elsewhere"
    assert not continues(said("u:a", "a:b", "u†:", "a†:"), said("u:x", "a:y", "u:z")), "what was erased may be anything"
