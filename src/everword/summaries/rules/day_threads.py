"""A day in a group by its threads: what each asked or told, who answered, and what came of it. Pure.

A line tells one thread of one person: `ann asked “how do I mount it?”; carl answered “use cryptsetup”; in the end:
“that works”.` Whoever replied to others has the words that they replied to beside their own. All words are quoted as
they were written, without whom they were said to, and nothing in a quotation can close it: nobody's words can be taken
for another's. Lines come in the order of their worth, so that a digest is cut at its end. What came of a question is
read in English only; in other languages there are no lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import log2

from everword.model import Message
from everword.summaries.rules.days import ThreadLink, replace_mentions
from everword.text.addressing import (
    KnownNames,
    find_addressees,
    find_mentioned,
    has_label,
    show_address,
    without_address,
)
from everword.text.detect import detect
from everword.text.escaping import escape_line, plain_name
from everword.text.filler import is_small_talk, with_question_mark
from everword.text.sentences import first_words, split_sentences
from everword.text.word_weights import stems
from everword.text.worth_telling import Telling, telling_of
from everword.word_lists import Patterns, lazy_pattern

_OUTCOMES = Patterns("outcomes", "summaries/data")
_QUOTATION = lazy_pattern("“([^“”]*)”")
_LINES = lazy_pattern(
    r"(?:[^“”\n]+ (?:asked|said|answered)[^“”\n]*“[^\n]*\.(?:\n|\Z))+(?:[^“”\n]+ also answered [^\n]+\.)?"
)
LANGUAGE = "en"
QUOTED = 240
"""Characters of a quotation, about."""
MOST_WORDS = 14
"""Content words of a message that count for its worth."""
LEAST = 2
"""Content words of a message that says something."""
FIRST = 6
"""Messages of a person in a thread among which is what they wanted."""
ENOUGH = 7
"""Content words that are enough to tell what somebody wanted."""
ASKING = 8
"""What a question counts for beside content words."""
SMALL = 0.15
"""The worth of a line that is told only if there is no other."""
TRAIL = " ,.;:…"
ADVICE = 5
"""What it counts for beside content words that a reply says what to do."""
SHARED = 3
"""What a content word counts for that a reply has in common with the question."""
SETTLES = 6
"""What it counts for that who asked then said that it worked."""
NEAR_PLACES = 15
"""Messages of the day that an answer may come later for one content word less."""
PROGRAM = 0.6
"""The share of somebody's messages that follow a command, from which on they are a program of the channel."""
OFTEN = 8
"""Messages from which on that is seen."""
AFTER_COMMAND = 4
"""Messages within which a program answers."""
SEVERAL_LINES = 40
"""Messages of a thread from which on two of its people may have a line in the digest of the day."""
NAMED = 5
"""People that are named as helped, beside those with a line of their own."""
_CLOSING = str.maketrans({"“": '"', "”": '"', "„": '"'})


@dataclass(frozen=True, slots=True)
class ThreadLine:
    """A line of a digest: what it is worth, its text, the words that tell two lines apart, and whom it helped. The
    line of a thread says `of` whom it is, and whether it `is_whole`: something is wanted in it, and answered."""

    worth: float
    text: str
    stems: frozenset[str]
    helped: str = ""
    of: str = ""
    is_whole: bool = False


@dataclass(frozen=True)
class QuotedMessage:
    """A message with its place in the day, its words without whom they are said to, and who that is."""

    message: Message
    place: int
    words: str
    addressed: tuple[str, ...]

    @property
    def author(self) -> str:
        return self.message.author

    @cached_property
    def asks(self) -> bool:
        return any(map(is_question, split_sentences(self.words)))

    @cached_property
    def stems(self) -> frozenset[str]:
        return stems(self.words, LANGUAGE)

    @cached_property
    def worth(self) -> int:
        """Its content words, if it is more than small talk, a command or a call for anybody."""
        is_empty = (
            is_small_talk(self.words) or _OUTCOMES.calls.match(self.words) or _OUTCOMES.commands.match(self.words)
        )
        return 0 if is_empty else min(len(self.stems), MOST_WORDS)

    @property
    def needs(self) -> bool:
        """Whether it tells of something that is wanted or does not work."""
        return self.asks or _OUTCOMES.needs.search(self.words) is not None

    @property
    def opening_worth(self) -> int:
        """What it says of what somebody wanted: a question more than else, and some words are enough."""
        asking = 0 if self.is_asked_back else ASKING * self.asks + ASKING // 2 * self.needs
        return min(self.worth, ENOUGH) + asking

    @property
    def is_asked_back(self) -> bool:
        """Whether it asks on: about what somebody else does, and not for oneself or all."""
        is_of_other = _OUTCOMES.of_other.search(self.words) is not None and not _OUTCOMES.of_asker.search(self.words)
        return is_of_other or _OUTCOMES.asks_back.match(self.words) is not None

    @property
    def is_addressed(self) -> bool:
        """Whether it is said to somebody, known or not."""
        return bool(self.addressed) or has_label(self.message.content)

    @cached_property
    def reply_worth(self) -> int:
        """A reply that says something, best what to do, rather than one that asks back or does not know."""
        advice = ADVICE if _OUTCOMES.advises.search(self.words) and not self.asks else 0
        shrugs = _OUTCOMES.shrugs.search(self.words) or _OUTCOMES.thanked.search(self.words)
        is_other = self.asks or shrugs is not None or (not advice and self.tells_of_oneself)
        return self.worth + advice - ASKING * is_other

    @cached_property
    def quotation(self) -> str:
        """Its words; of a long message what says most."""
        words = escape_line(self.words).translate(_CLOSING)
        if len(words) > QUOTED:
            words = main_sentences(words)
        return f"“{words if len(words) <= QUOTED else f'{first_words(words, QUOTED).rstrip(TRAIL)}…'}”"

    @property
    def tells_of_oneself(self) -> bool:
        is_own = _OUTCOMES.of_oneself.search(self.words) is not None and not self.asks and self.worth > LEAST
        return is_own and telling_of(self.words) == Telling.DEED

    @property
    def verb(self) -> str:
        return "asked" if self.quotation.rstrip("”").endswith("?") else "answered"


def is_question(sentence: str) -> bool:
    return with_question_mark(sentence).endswith("?")


def main_sentences(text: str) -> str:
    """Of a long text the sentences that say most, as many as fit, and its last question; at least one."""
    all_sentences = split_sentences(text) or [text]
    questions = [place for place, sentence in enumerate(all_sentences) if is_question(sentence)]
    worths = [min(len(stems(sentence, LANGUAGE)), ENOUGH) for sentence in all_sentences]
    by_worth = sorted(range(len(all_sentences)), key=lambda place: -worths[place])
    places: set[int] = set()
    for place in [by_worth[0], *questions[-1:], *by_worth[1:]]:
        if not places or sum(len(all_sentences[other]) + 3 for other in places | {place}) <= QUOTED:
            places.add(place)
    gaps = {place: " " if place - 1 in places else " … " for place in places}
    return "".join(gaps[place] + all_sentences[place] for place in sorted(places)).removeprefix(" … ").strip()


class DayThreads:
    """The threads of a day: the messages of each, what each answers, and what its people are called."""

    def __init__(
        self,
        messages: Iterable[Message],
        links: Mapping[str, ThreadLink],
        names: Mapping[str, str],
        nicknames: KnownNames,
    ) -> None:
        self._names = names
        self._links = links
        self._threads: dict[tuple[str, int], list[QuotedMessage]] = {}
        self._by_turn: dict[tuple[str, int], QuotedMessage] = {}
        self._partners: dict[str, QuotedMessage | None] = {}
        self._last_to: dict[str, int] = {}  # the place of the last message that names somebody or replies to them
        messages = [message for message in messages if message.id in links]
        self._programs = find_programs(messages)
        for place, message in enumerate(messages):
            text = replace_mentions(message.content, names)
            words = show_address(without_address(text, nicknames), nicknames)
            first_word = nicknames.mentioned_in(text.split(maxsplit=1)[0]) if text.strip() else None
            people = dict.fromkeys((*find_addressees(message.content, nicknames), *filter(None, [first_word])))
            addressed = [person for person in people if person != message.author]
            entry = QuotedMessage(message, place, words, tuple(addressed))
            entries = self._threads.setdefault(links[message.id].thread, [])
            partner = self._find_partner(entry, entries)
            entries.append(entry)
            self._by_turn[message.conversation, message.turn] = entry
            self._partners[message.id] = partner
            named = {*find_mentioned(text, nicknames), "" if partner is None else partner.author} - {message.author}
            self._last_to |= dict.fromkeys(named, place)

    @property
    def is_readable(self) -> bool:
        """Whether there are threads, in a language whose outcomes are known."""
        texts = [entry.words for entries in self._threads.values() for entry in entries[:3]]
        return bool(texts) and detect(" ".join(texts[:60])) == LANGUAGE

    def name_of(self, person: str) -> str:
        return plain_name(self._names.get(person, person)) or "a member"

    # -- of one person

    def tell_person(self, person: str, limit: int) -> str:
        """What a person asked and told, and what they replied to others, a line each; the most important first. Empty
        if they were in no thread."""
        threads = [entries for entries in self._threads.values() if any(entry.author == person for entry in entries)]
        lines = [line for entries in threads for line in self._lines_in(entries, person)]
        chosen_lines = choose_lines(lines, limit)
        helped = dict.fromkeys(line.helped for line in chosen_lines)
        others = dict.fromkeys(line.helped for line in lines if line.helped and line.helped not in helped)
        texts = [line.text for line in chosen_lines]
        if others:
            names = [self.name_of(other) for other in others]
            rest = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
            texts.append(f"{self.name_of(person)} also answered {', '.join(names[:NAMED])}{rest}.")
        return "\n".join(texts)

    def _lines_in(self, entries: Sequence[QuotedMessage], person: str) -> list[ThreadLine]:
        """What a person brought up in a thread, or else replied, or else said; and what they told of themselves."""
        own_entries = [entry for entry in entries if entry.author == person]
        opening = self._opening_of(entries, person)
        reply = max(own_entries, key=lambda entry: entry.reply_worth)
        partner = self._replied_to(reply)
        if opening is not None:
            line = self._tell_opening(entries, opening)
        elif partner is not None and reply.worth >= LEAST:
            line = self._tell_reply(entries, reply, partner)
        else:
            line = self._tell_words(reply)
        telling_entries = [
            entry for entry in own_entries if entry.tells_of_oneself and entry.quotation not in line.text
        ]
        return [line, *(self._tell_words(entry) for entry in telling_entries[-1:])]

    def _tell_words(self, entry: QuotedMessage) -> ThreadLine:
        return ThreadLine(
            entry.worth / 2 / MOST_WORDS, f"{self.name_of(entry.author)} said {entry.quotation}.", entry.stems
        )

    def _opening_of(self, entries: Sequence[QuotedMessage], person: str) -> QuotedMessage | None:
        """What a person brought up: the first of a thread, or a question to nobody by name; the one that says most."""
        is_opener = entries[0].author == person
        first_entries = [entry for entry in entries if entry.author == person][:FIRST]
        candidates = [
            entry
            for entry in first_entries
            if entry.worth >= LEAST and not entry.is_addressed and (is_opener or entry.asks)
        ]
        last_answer = max((entry.place for entry in self._answers_to(person, entries)), default=-1)
        answered = [entry for entry in candidates if entry.place < last_answer]
        best = max(answered or candidates, key=lambda entry: entry.opening_worth, default=None)
        return best if best is not None and (is_opener or self._replied_to(best) is None) else None

    def _answers_to(self, person: str, entries: Sequence[QuotedMessage]) -> list[QuotedMessage]:
        return [entry for entry in entries if entry.worth and self._author_replied_to(entry) == person]

    def _tell_opening(self, entries: Sequence[QuotedMessage], opening: QuotedMessage) -> ThreadLine:
        asker = opening.author
        text = f"{self.name_of(asker)} {'asked' if opening.asks else 'said'} {opening.quotation}"
        answers = [entry for entry in self._answers_to(asker, entries) if entry.place > opening.place]
        outcome = ""
        is_whole = opening.worth > LEAST and not opening.is_asked_back
        is_whole = is_whole and (opening.needs or (len(answers) > LEAST and opening.worth >= ENOUGH))
        if answers:
            best = self._best_answer(entries, opening, answers)
            outcome = self._outcome(entries, asker, best)
            is_answered = best.reply_worth > 0 and best.author not in self._programs
            is_whole = is_whole and is_answered and (best.worth > LEAST or outcome != "")
            text += f"; {self.name_of(best.author)} {best.verb} {best.quotation}{outcome}"
        elif opening.asks and self._last_to.get(asker, -1) < opening.place:
            text += "; nobody answered"
        worth = opening.worth / MOST_WORDS + opening.asks + opening.needs / 2 + min(len(answers), 10) / 10
        return ThreadLine(
            worth + bool(outcome) / 2, f"{text}.", opening.stems, of=asker, is_whole=is_whole and bool(answers)
        )

    def _best_answer(
        self, entries: Sequence[QuotedMessage], opening: QuotedMessage, answers: Sequence[QuotedMessage]
    ) -> QuotedMessage:
        """The answer that says most to a question: what to do, about the same, and what then worked."""
        worked = [entry.place for entry in entries if entry.author == opening.author and tells_success(entry.words)]
        settling = {max((entry.place for entry in answers if entry.place < place), default=-1) for place in worked[-1:]}

        next_question = min(
            (entry.place for entry in entries if entry.author == opening.author and is_another(entry, opening)),
            default=answers[-1].place + 1,
        )

        def worth(entry: QuotedMessage) -> tuple[int, int]:
            shared = min(len(entry.stems & opening.stems), 2)
            fits = SETTLES * ((entry.place in settling) + (entry.place < next_question))
            distance = 0 if shared else min((entry.place - opening.place) // NEAR_PLACES, SETTLES)
            distance += ASKING * (entry.author in self._programs)
            return entry.reply_worth + SHARED * shared + fits - distance, -entry.place

        return max(answers, key=worth)

    def _tell_reply(self, entries: Sequence[QuotedMessage], reply: QuotedMessage, partner: QuotedMessage) -> ThreadLine:
        if partner.worth < LEAST + 1:  # what they said before tells more
            before = [entry for entry in entries if entry.author == partner.author and entry.place < reply.place]
            partner = max(before, key=lambda entry: (entry.worth > LEAST, entry.opening_worth))
        verb = reply.verb if partner.asks or reply.verb == "asked" else "said to"
        text = f"{self.name_of(reply.author)} {verb} {self.name_of(partner.author)}"
        text += f" ({partner.quotation}): {reply.quotation}" if partner.worth else f" {reply.quotation}"
        text += self._outcome(entries, partner.author, reply)
        own_count = sum(entry.author == reply.author for entry in entries)
        worth = reply.worth / MOST_WORDS + own_count / 8 + partner.asks / 2
        return ThreadLine(worth, f"{text}.", reply.stems, partner.author if verb == "answered" else "")

    def _outcome(self, entries: Sequence[QuotedMessage], asker: str, answer: QuotedMessage) -> str:
        """What came of an answer, in the words of who asked: the last of them that tells."""
        after = [
            entry
            for entry in entries
            if entry.author == asker and entry.place > answer.place and self._replied_to(entry) is not None
        ]
        for entry in reversed(after):
            if tells_outcome(entry.words):
                return f"; {self.name_of(asker)} in the end: {entry.quotation}"
        has_thanked = any(
            _OUTCOMES.thanked.search(entry.words) and self._author_replied_to(entry) == answer.author for entry in after
        )
        return f"; {self.name_of(asker)} said thanks" if has_thanked else ""

    # -- of the whole day

    def tell_day(self, limit: int) -> str:
        """The threads of the day that several people were in, a line each, of a long one two: what was asked or wanted
        there, and by whom it was answered. Who has a line already comes after the others."""
        lines = [
            line
            for entries in self._threads.values()
            if len({entry.author for entry in entries}) > 1
            for line in self._tell_thread(entries)
        ]
        lines = [line for line in lines if line.is_whole] or lines
        askers: Counter[str] = Counter()
        ranked_lines: list[ThreadLine] = []
        for line in sorted(lines, key=lambda line: -line.worth):
            ranked_lines.append(replace(line, worth=line.worth / 2 ** askers[line.of]))
            askers[line.of] += 1
        return "\n".join(line.text for line in choose_lines(ranked_lines, limit))

    def _tell_thread(self, entries: Sequence[QuotedMessage]) -> list[ThreadLine]:
        people = dict.fromkeys(entry.author for entry in entries if entry.author not in self._programs)
        openings = [opening for person in people if (opening := self._opening_of(entries, person)) is not None]
        size = log2(len(entries)) / 2
        lines = [self._tell_opening(entries, opening) for opening in openings]
        lines = [replace(line, worth=line.worth + size) for line in lines]
        lines.sort(key=lambda line: (not line.is_whole, -line.worth))
        return lines[: 2 if len(entries) >= SEVERAL_LINES else 1]

    # -- who replies to whom

    def _find_partner(self, entry: QuotedMessage, before: Sequence[QuotedMessage]) -> QuotedMessage | None:
        """The message of somebody else that a message replies to: the last of whom it is said to that was said to its
        author or to nobody by name; or what it answers, past the author's own before it. That two things were said near
        each other is not enough: one asks, or is said to the other, or the platform says so."""
        if entry.is_addressed and not entry.addressed:
            return None  # said to somebody whose name is not known
        if entry.addressed:
            partners = [partner for partner in before if partner.author in entry.addressed]
            mutual = [partner for partner in partners if not partner.addressed or entry.author in partner.addressed]
            return next(reversed(mutual or partners), None)
        link = self._links[entry.message.id]
        partner = None if link.answers is None else self._by_turn.get((entry.message.conversation, link.answers))
        if partner is not None and partner.author == entry.author:
            return self._replied_to(partner)
        is_sure = partner is not None and (partner.asks or entry.author in partner.addressed or link.is_given)
        return partner if is_sure else None

    def _replied_to(self, entry: QuotedMessage) -> QuotedMessage | None:
        return self._partners[entry.message.id]

    def _author_replied_to(self, entry: QuotedMessage) -> str | None:
        partner = self._replied_to(entry)
        return None if partner is None else partner.author


def find_programs(messages: Sequence[Message]) -> set[str]:
    """Who mostly speaks right after a command: a program of the channel, which asks nothing and knows nobody."""
    counts: Counter[str] = Counter(message.author for message in messages)
    following: Counter[str] = Counter(
        message.author
        for place, message in enumerate(messages)
        if any(
            _OUTCOMES.calls_program.search(before.content) for before in messages[max(place - AFTER_COMMAND, 0) : place]
        )
    )
    return {
        author for author, count in following.items() if counts[author] >= OFTEN and count >= PROGRAM * counts[author]
    }


def is_another(entry: QuotedMessage, opening: QuotedMessage) -> bool:
    """Whether a later message of whoever brought something up asks about something else."""
    is_later = entry.place > opening.place and entry.asks and entry.worth > LEAST and not entry.is_asked_back
    return is_later and entry.stems.isdisjoint(opening.stems)


def tells_outcome(text: str) -> bool:
    """Whether somebody says that something worked or failed."""
    return tells_success(text) or (_is_report(text) and _OUTCOMES.failed.search(text) is not None)


def tells_success(text: str) -> bool:
    """Whether somebody says that something works, and not that something else does not."""
    worked = _OUTCOMES.worked.search(text)
    return worked is not None and _is_report(text) and _OUTCOMES.turns.search(text, worked.end()) is None


def _is_report(text: str) -> bool:
    """Whether a text may be an outcome: short, of now, without a doubt."""
    is_doubtful = _OUTCOMES.supposes.search(text) is not None or '"' in text or text.casefold().startswith("but ")
    return not (is_question(text) or is_doubtful or len(text.split()) > MOST_WORDS)


def choose_lines(lines: Iterable[ThreadLine], limit: int) -> list[ThreadLine]:
    """The lines of most worth that fit, at least one; none that says the same as one before, and small ones only if
    there are no others."""
    chosen_lines: list[ThreadLine] = []
    size = 0
    for line in sorted(lines, key=lambda line: -line.worth):
        is_repeated = any(
            2 * len(line.stems & other.stems) > min(len(line.stems), len(other.stems)) for other in chosen_lines
        )
        if chosen_lines and (size + len(line.text) > limit or is_repeated or line.worth < SMALL):
            continue
        chosen_lines.append(line)
        size += len(line.text) + 1
    return chosen_lines


# -- of several days


def is_told_by_thread(text: str) -> bool:
    """Whether a digest is made of lines that quote; one of a model or of the writer of summaries is not."""
    return _LINES.fullmatch(text) is not None


def quoted_words(line: str) -> list[str]:
    """The quotations of a line."""
    return _QUOTATION.findall(line)


def units_of(text: str) -> list[str]:
    """What a digest is made of: lines, or sentences."""
    return text.split("\n") if is_told_by_thread(text) else split_sentences(text)


def merge_told_days(texts: Sequence[str], limit: int) -> str:
    """The first lines of each day that fit, oldest day first: one of each, the newest first, then another."""
    units = [units_of(text) for text in texts]
    ranks = [(rank, -day) for day, lines in enumerate(units) for rank in range(len(lines))]
    kept: set[tuple[int, int]] = set()
    size = 0
    for rank, day in sorted(ranks):
        length = len(units[-day][rank]) + 1
        if not kept or size + length <= limit:
            kept.add((-day, rank))
            size += length
    return "\n".join(dict.fromkeys(units[day][rank] for day, rank in sorted(kept)))
