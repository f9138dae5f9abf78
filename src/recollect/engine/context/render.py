"""Pieces: how past messages, episodes and what is known of a person stand in a context, and what each costs.

A message of the window has a label the model can ask by. What was retrieved stands under the day and the conversation
it is from, one message a line: further lines are indented, so that no message can pose as another. Everything stored is
escaped on its way in, and everybody is shown by the label that `rules.labels` gives them among all in the context.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.language.sentences import split
from recollect.model import Episode, Hit, Item, Message, Tiers, TopicMessage
from recollect.rules.prompt import fences
from recollect.rules.prompt.fences import Labels
from recollect.rules.prompt.labels import distinct_labels, poses
from recollect.rules.recall import excerpts
from recollect.rules.tiers.requested_tier import text_at, tier_now
from recollect.rules.tiers.tiers import write as offline_tiers

Count = Callable[[str], int]
CHARACTERS = 4  # of a token, about
ENOUGH = 1.1  # times the section's budget of what was found is weighed
WHOLE = 4  # of what was found is shown whole; after that, of a message of more than so many tokens an excerpt
LONG = 60
MANY = 32  # messages a section should have room for: with a larger budget, longer ones are shown whole
LARGE = 3  # of a retrieved message that would take more than this part of the section's budget an excerpt is shown


@dataclass(frozen=True, slots=True)
class Note:
    """Something known: a line of the profile, under its heading, with the id of the fact and why it is shown."""

    id: str
    text: str
    reason: str
    heading: str = ""
    place: tuple[float | str, ...] = ()


@dataclass(frozen=True, slots=True)
class Talked:
    """The topic of the message: since when, how much, the summary of what was packed of it, the last messages if it is
    come back to; and which turns of a large window are its own."""

    id: str
    title: str
    first: int
    since: datetime
    messages: int
    summary: str = ""
    left: Sequence[TopicMessage] = ()
    turns: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Piece:
    """One thing as it would stand in the context; where it stands; under which heading; what the receipt says of it."""

    text: fences.Fenced
    item: Item
    place: tuple[float | str, ...]
    group: str = ""

    def out(self, reason: str) -> Item:
        return replace(self.item, reason=reason)


def of_window(
    older: Iterable[Message],
    tiers: Mapping[int, Tiers],
    now: int,
    sinks_after: int,
    channel: bool,
    labels: Labels,
    count: Count,
) -> list[Piece]:
    """Messages of the window, each at the tier it has now; in a channel set in: no line of theirs begins as a label."""
    pieces = []
    for message in older:
        known = tiers.get(message.turn)
        if known is None or known.made_by == "none":
            made = offline_tiers(message.content, count)
            known = replace(known or Tiers(), tier1=made.tier1, tier2=made.tier2, made_by=made.made_by)
        asked = tier_now(known, now, sinks_after)
        text, tier = text_at(message, known, asked)
        who = message.author if channel and message.role == "user" else None
        label = f"m{message.turn}"
        fenced = fences.message(
            label, message.role, who, tier, text, labels=labels, indent="  " if who is not None else ""
        )
        reason = "the model asked for it" if asked > 1 else "in the window"
        pieces.append(Piece(fenced, Item(label, count(fenced) + 2, reason, tier), (message.turn,)))
    return pieces


def of_hits(
    hits: Sequence[Hit],
    reason: str,
    shown: set[str],
    here: str,
    asked: str,
    budget: int,
    labels: Labels,
    count: Count,
) -> tuple[list[Piece], list[Item]]:
    """Messages that were found, best first, but for those that are shown elsewhere; and those with no chance."""
    pieces, late, seen, spent = list[Piece](), list[Item](), set(shown), 0
    most, long, wanted = max(budget // LARGE, 1), max(LONG, budget // MANY), excerpts.stems(asked)
    for hit in hits:
        message = hit.message
        if message.id in seen:
            continue
        seen.add(message.id)
        text, tier = message.content, 3
        size = len(text) // CHARACTERS
        label = f"m{message.turn}" if message.conversation == here else ""
        if spent > ENOUGH * budget:
            late.append(Item(label or message.id, size, "others are more relevant"))
            continue
        if size > most or (len(pieces) >= WHOLE and size > long):
            text, tier = excerpts.excerpt(text, wanted, min(most, long) * CHARACTERS), 2
        line = fences.said(label, message.role, message.author, tier, text, labels=labels)
        group = heading(message, here)
        # With its line's end, as the section will be counted: what was counted once is remembered.
        item = Item(label or message.id, count(line + "\n"), f"{reason} ({hit.score:.1f})", tier)
        pieces.append(Piece(line, item, (message.time.date().isoformat(), group, message.turn), group))
        spent += item.tokens
    return pieces, late


def heading(message: Message, here: str) -> str:
    """Under which day and conversation a retrieved message stands."""
    name = fences.plain(message.conversation)
    where = "this conversation" if message.conversation == here else f"conversation {name}" if name else "elsewhere"
    return f"{message.time:%Y-%m-%d}, {where}:"


def of_episodes(episodes: Iterable[Episode], count: Count, reason: str = "") -> list[Piece]:
    """Summaries, each with its turns and days."""
    pieces = []
    for episode in episodes:
        days = sorted({f"{episode.began:%Y-%m-%d}", f"{episode.ended:%Y-%m-%d}"})
        line = fences.line(episode.summary)
        text = fences.Fenced(f"Turns {episode.first}-{episode.last}, {' to '.join(days)}: {line}")
        why = reason or f"summary of level {episode.level}"
        if episode.pending:
            why += ", by the built-in writer until the model has written it"
        item = Item(episode.id, count(text) + 1, why, 2)
        pieces.append(Piece(text, item, (episode.first, -episode.level)))
    return pieces


def of_topic(talked: Talked, turns: set[int], told: str, labels: Labels, count: Count) -> list[Piece]:
    """The topic of the message, but for what is shown elsewhere: of the messages in `turns`, and what `told` says."""
    summary = " ".join(each for each in split(talked.summary) if each.casefold() not in told)
    pieces = []
    if summary:
        # A title may be the beginning of its first message: if that is shown, it would be there twice.
        title = "" if talked.first in turns or talked.title.casefold() in told else f"{fences.line(talked.title)}: "
        since = f"Since {talked.since:%Y-%m-%d}, {talked.messages} messages"
        text = fences.Fenced(f"{since}: {title}{fences.line(summary)}")
        pieces.append(Piece(text, Item(talked.id, count(text) + 1, "what is being talked of", 2), (0,)))
    for said in reversed(talked.left):
        if said.turn not in turns and said.content.strip():
            line = fences.said(f"m{said.turn}", said.role, said.author, 3, said.content, labels=labels)
            item = Item(f"m{said.turn}", count(line + "\n"), "said last of what is come back to", 3)
            pieces.append(Piece(line, item, (1, said.turn)))
    return pieces


def of_notes(notes: Sequence[Note], channel: bool, count: Count) -> list[Piece]:
    """What is known, the most important first; each in its place under its heading, which in a channel names whom it is
    about."""
    people = people_labels(notes) if channel else {}
    pieces = []
    for note in notes:
        text = fences.Fenced(f"- {fences.line(note.text)}")
        item = Item(note.id, count(text) + 1, note.reason, 1)
        name, _, title = note.heading.rpartition(NAMED)
        about = people.get(person_key(note)) if name else None
        heading = fences.line(note.heading if about is None else f"{about}{NAMED}{title}")
        pieces.append(Piece(text, item, note.place, heading))
    return pieces


NAMED = ": "  # between whom a heading of a channel is about and what it is


def person_key(note: Note) -> str:
    """Whose a note of a channel is: people are numbered, and their names may be the same."""
    return f"{note.place[0] if note.place else ''} {note.heading.rpartition(NAMED)[0]}"


def people_labels(notes: Iterable[Note]) -> dict[str, str]:
    """What those are called whom the notes of a channel are about, told apart."""
    names = {person_key(note): note.heading.rpartition(NAMED)[0] for note in notes}
    return distinct_labels({key: fences.byline(name) for key, name in names.items() if name})


def words(message: Message, channel: bool, labels: Labels) -> str:
    """A message as it was said; in a channel, with who said it, further lines indented: nobody speaks for others."""
    if channel and message.role == "user":
        return f"{labels[message.role, message.author]}: {fences.with_indent(message.content)}"
    return message.content


def current_words(text: str, author: str | None, channel: bool, labels: Labels) -> str:
    """The message to answer; in a channel as the others are. Where it is not known who says it, it may not begin as
    somebody's."""
    if not channel:
        return text
    if author is not None:
        return f"{labels['user', author]}: {fences.with_indent(text)}"
    return (fences.GUARD if poses(text, labels.values()) else "") + fences.with_indent(text)


def body(pieces: Sequence[Piece], between: str) -> str:
    """The pieces in their places, under their headings."""
    lines, group = list[str](), ""
    for piece in sorted(pieces, key=lambda piece: piece.place):
        if piece.group != group:
            group = piece.group
            lines.append(group)
        lines.append(piece.text)
    return between.join(lines)
