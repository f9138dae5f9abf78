"""Packing: messages that left a topic's active set, in few bytes, without loss.

A message is a line: the number of its speaker, its turn and its time, both as the difference to the line before, and
its words. The lines are deflated with a dictionary of phrases that are frequent in chats: a few short messages repeat
too little to gain much without one. The first byte is the version of the form. A pack is a copy of messages in the log:
one that cannot be read is made again.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from recollect.errors import InvalidInput
from recollect.log.rules import check_role
from recollect.model.topics import TopicMessage

FORM = b"\x01"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
SECOND = 1_000_000  # microseconds
MOST = 64
"""Messages of one pack. More of them gain little, and all of a pack is written again when it grows."""


def pack(messages: Sequence[TopicMessage]) -> bytes:
    """The messages, in order, as bytes."""
    speakers = list(dict.fromkeys((message.role, message.author) for message in messages))
    lines = [json.dumps(speakers, ensure_ascii=False)]
    turn = 0
    time = 0
    for message in messages:
        now = (message.time - EPOCH) // MICROSECOND
        gap = now - time
        # Most times are whole seconds; finer ones are written in microseconds.
        delay = f"{gap // SECOND}" if gap % SECOND == 0 else f"{gap}u"
        speaker = speakers.index((message.role, message.author))
        words = json.dumps(message.content, ensure_ascii=False)[1:-1]
        lines.append(f"{speaker} {message.turn - turn} {delay} {words}")
        turn = message.turn
        time = now
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15, 9, zlib.Z_DEFAULT_STRATEGY, DICTIONARY)
    return FORM + compressor.compress("\n".join(lines).encode()) + compressor.flush()


def unpack(data: bytes) -> list[TopicMessage]:
    """The messages of a pack. InvalidInput for bytes that are no pack."""
    try:
        if data[:1] != FORM:
            raise ValueError(f"form {data[:1]!r} is not known")
        decompressor = zlib.decompressobj(-15, DICTIONARY)
        head, *lines = (decompressor.decompress(data[1:]) + decompressor.flush()).decode().split("\n")
        return _read(json.loads(head), lines)
    except (ValueError, IndexError, TypeError, zlib.error, OverflowError) as error:
        raise InvalidInput("packed", f"is no pack of messages ({error}); rebuild the topics") from None


def _read(speakers: Sequence[Sequence[str]], lines: Sequence[str]) -> list[TopicMessage]:
    messages: list[TopicMessage] = []
    turn = 0
    time = 0
    for line in lines:
        speaker, turns, delay, words = line.split(" ", 3)
        role, author = speakers[int(speaker)]
        turn += int(turns)
        time += int(delay[:-1]) if delay.endswith("u") else int(delay) * SECOND
        content = json.loads(f'"{words}"')
        messages.append(TopicMessage(turn, check_role(role), author, content, EPOCH + timedelta(microseconds=time)))
    return messages


# The most frequent phrases stand last: they are nearest. A change here needs another version of the form.
_PHRASES = """
because although different important information something someone everything everyone anything another through
together tomorrow yesterday today tonight weekend Monday Tuesday Wednesday Thursday Friday Saturday Sunday January
February March April June July August September October November December morning afternoon evening minutes hours
months years ago restaurant hospital university company project meeting schedule appointment question problem
solution example experience recommendation suggestion option favorite favourite birthday holiday vacation travel
flight hotel ticket budget money price dollars euros recipe cooking dinner lunch breakfast coffee kitchen garden
house apartment family friends mother father sister brother daughter husband wife children school teacher student
learning language reading writing music movie football running exercise health doctor weather summer winter spring
computer phone email website database server password version install function error code file python Here are some
tips for you: 1. **2. **3. **- **Make sure to Consider using Start with a few minutes of Additionally, However,
Remember to Finally, Overall, In general, For example, such as depending on as well as in order to rather than at
least a couple of a little bit of one of the most best way to first time last week next week every day at the same
time as soon as possible on the other hand in the end by the way of course no worries You're welcome! Let me know if
you have any other questions! Is there anything else I can help you with? That sounds great! That's a great idea!
That's awesome! I'm glad to hear that. I'm sorry to hear that. Congratulations! Good luck with Have you thought
about Have you tried Have you ever What do you think about What kind of How long does it take How much does it cost
How often do you How about you? Could you please tell me more about Can you recommend Can you help me with I'd like
to I would love to I was wondering if I've been thinking about I've been trying to I've been working on I'm looking
forward to I'm planning to I'm thinking of I'm not sure I don't know I don't think I didn't I can't wait to I
couldn't It's been It would be It was so There are several There is a You can also You might want to You could try
You should If you want to If you're Do you have any Do you want Would you like We're going to We should They have
They were She said He said my friend my family and I my new with my for my about the from the on the in the of the
to the at the with the for the and the that the is the was the to be to get to make to see to go to do have been has
been will be can be would be should be doesn't isn't wasn't won't wouldn't haven't really just want need like know
think going good great thanks thank you so much! Thanks for the Hi! Hey, Hello Yes, No, Well, Oh, Wow, Sure, Okay,
What When Where Which Why How Who This That These Those Then There They their them your you're you'll you've it's
that's I'll I've I'm we're don't about after again all always also and any are around as at back be because been
before being between both but by can come could day did do does down each even every feel few find first for from
get give go had has have he help her here him his how I if in into is it its keep last let like little long look lot
made make many maybe me might more most much my need never new next not now of off on one only or other our out over
own people place pretty probably put right said same say see she should since so some soon start still such sure
take tell than that the their them then there these they thing things this those three time to too try two under
until up us use used using very want was way we well went were what when where which while who why will with without
work would year yes yet you your. The I . It , but , and . I . You , so ?
"""
_LINES = '. \n1 1 60 \n0 1 60 [["user", "user"], ["assistant", "assistant"]]'
DICTIONARY = (" ".join(_PHRASES.split()) + _LINES).encode()
