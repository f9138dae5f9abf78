"""Markers: how a model asks for more, in what it writes itself.

    [REQUEST_TIER:3:ID]        show me that message at tier 3 (or 2); several ids, with commas between
    [SEARCH_EPISODIC: words]   search what has left the window

Models write them as people write: in any case, with spaces, in full-width brackets, with markdown around them or
backslashes before the brackets, with the last bracket forgotten. All of that is read, and none of it is shown: a
marker leaves the text with what was put around it (emphasis, a bullet, an empty code block) and with the white space
that is then too much. So does a beginning of a marker that the text ends in. From the block that carries tiers
(`<recollect>`, see `holding`) on, nothing is shown.

One machine does this for whole texts and for streams: `Cutter`. What it has shown is never taken back, and what it
shows does not depend on where the text was cut into chunks, because a decision waits until no further character can
change it. It never waits long: a marker has at most 700 characters, and all it looks back on is bounded too, so time
is linear. A marker is never made by taking another out of its middle: where the two halves would meet, a line breaks.

A backslash before the bracket does not disarm a marker, since models that write markdown put one there unasked. What
disarms one is the dot that `fences.escape` puts before the name: `[·REQUEST_TIER:3:ID]` is text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

TIERS = (2, 3)  # tiers that can be asked for; tier 1 is what everything is sent at anyway
MAX_REQUESTS = 50  # distinct ids and searches honoured of one reply
MAX_WORDS = 500  # characters of a search
MAX_BODY = 700  # characters between a marker's name and its closing bracket
MAX_ID = 64  # characters
MAX_INLINE = 1 << 16  # characters kept from the inline block on
TAIL = 128  # shown characters remembered: more than the longest beginning of a marker
AROUND = 96  # characters before a marker that can belong to it

SPACE = " \\t\u00a0\u1680\u2000-\u200d\u202f\u205f\u2060\u3000\ufeff"  # on one line, the invisible ones included
OPEN, CLOSE = "\\[［【", "\\]］】"
COLON = ":："
LETTER = r"[^\W\d_]"
WRAP = '*_`~(（"“'
UNWRAP = str.maketrans("(（“", ")）”")


class TierRequest(NamedTuple):
    """The model asks to see a message at this tier from now on."""

    id: str
    tier: int


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a model wrote, taken apart: the text to show, and what it asks for."""

    text: str
    tiers: tuple[TierRequest, ...] = ()
    searches: tuple[str, ...] = ()

    @property
    def asks(self) -> bool:
        """Whether there is anything to fetch before the model is called again."""
        return bool(self.tiers or self.searches)


def parse(text: str) -> Parsed:
    """The text without its markers, and what they ask for: each id once, at the highest tier asked."""
    cutter = Cutter()
    return cutter.parsed(cutter.feed(text) + cutter.finish())


def strip(text: str) -> str:
    """The text without markers, without a beginning of one at its end, and without the inline block."""
    return parse(text).text


# -- what a marker looks like


def growing(atoms: list[str], rest: str) -> str:
    """A pattern for these atoms one after another and then `rest`, or for as much of that as there is of the text."""
    for atom in reversed(atoms):
        rest = rf"{atom}(?:\Z|{rest})"
    return rest


def name(first: str, second: str, kind: str) -> str:
    """A marker's name: with its underscore, or without it but then with a colon after it."""
    joint = [rf"[{SPACE}\\]{{0,3}}", "[_＿]", rf"[{SPACE}]{{0,2}}"]
    exact = growing([*first, *joint, *second], rf"(?!{LETTER})(?P<{kind}>)")
    loose = growing([*first, rf"[{SPACE}-]{{0,2}}", *second, rf"[{SPACE}]{{0,4}}", f"[{COLON}]"], f"(?P<{kind}_loose>)")
    return f"{exact}|{loose}"


OPENING = [r"\\?", rf"[{OPEN}][{OPEN}{SPACE}\\]{{0,24}}+"]
TAG = [r"\\?", "[<＜]", rf"[{SPACE}]{{0,4}}", "[/／]?", rf"[{SPACE}]{{0,4}}", *"recollect"]
FENCED = [rf"[{SPACE}]{{0,2}}", *"recollect"]
TRIGGER = re.compile(
    rf"(?=[\\{OPEN}<＜`~])(?:"
    + growing(OPENING, f"(?:{name('request', 'tier', 'tier')}|{name('search', 'episodic', 'search')})")
    + "|"
    + growing(TAG, rf"(?!{LETTER})(?P<inline>)")
    + "|"
    + growing([*"```", *FENCED], rf"(?!{LETTER})(?P<inline_ticks>)")
    + "|"
    + growing([*"~~~", *FENCED], rf"(?!{LETTER})(?P<inline_tildes>)")
    + ")",
    re.IGNORECASE,
)
UNDECIDED = "\\`~ \t"  # an end of these alone is text: above all, the end of a code block

STOP = re.compile(rf"[{OPEN}{CLOSE}\n\r<＜`~\\]")
CLOSER = re.compile(rf"\\?[{CLOSE}]")
# What is certainly the marker's own if no bracket closes it.
TIGHT = re.compile(
    rf"[\s{COLON}]*(?:(?:tier[\s_]*)?\d+[\s{COLON}]*(?:[\w-]+(?:[{SPACE}]*,[{SPACE}]*[\w-]+)*,?)?)?",
    re.IGNORECASE,
)
TIER = re.compile(r"[\W_]*+(?:(?:tier|level)[\W_]*+)?(\d{1,9})(?!\w)(.*)", re.IGNORECASE | re.DOTALL)
BETWEEN_IDS = re.compile(r"[,;，、；&]|\band\b", re.IGNORECASE)
ONE_ID = re.compile(rf"\W*(?:(\d)[{SPACE}]*[{COLON}]\W*)?(?:(?:messages?|ids?)\b\W*)?(\w[\w-]*)(?<!-)", re.IGNORECASE)
AFTER_NAME = re.compile(rf"(?:_\w+)?[\s{COLON}=]*")
QUOTES = " \t\r\n\\\"'`*_“”‘’«»" + "\u200b\u200c\u200d\ufeff"

# -- what may stand around one

RUN = rf"(?<![^\s\[({{\"'“‘])[{WRAP}]{{1,4}}"
BULLET = r"(?:[-*+•]|\d{1,2}[.)])[ \t]{1,4}"
CODE = r"(?:```|~~~)\w{0,12}[ \t]{0,4}\n[ \t]{0,8}"
LINE_START = r"(?:\A|\s{0,48}\n)[ \t]{0,8}"
LEADS = (
    re.compile(rf"(?P<gap>{LINE_START})(?:(?P<code>{CODE})|(?P<bullet>{BULLET})(?P<run>{RUN})?)\Z"),
    re.compile(rf"(?P<gap>\s{{0,64}})(?P<run>{RUN})?\Z"),
)
# The same, and every beginning of the same: what has to wait for the next character.
BEGUN_BULLET = rf"(?:[-*+•]|\d{{1,2}}[.)]?)[ \t]{{0,4}}[{WRAP}]{{0,4}}"
BEGUN_CODE = r"(?:`{1,3}|~{1,3})\w{0,12}[ \t]{0,4}\n?[ \t]{0,8}"
WAITING = (
    re.compile(rf"{LINE_START}(?:{BEGUN_CODE}|{BEGUN_BULLET})\Z"),
    re.compile(rf"\s{{0,64}}[{WRAP}]{{0,4}}\Z"),
)
JUNK = re.compile(rf"[\s,;&{WRAP})）”•+-]{{0,160}}")  # between two markers it belongs to neither, and goes with them
CODE_END = re.compile(r"\s{0,40}(?:```|~~~)[ \t]{0,8}(?=\n|\Z)")
WHITE = re.compile(r"\s{0,64}")
PUNCTUATION = tuple(".,;:!?)，。！？")

BLOCK = re.compile(
    rf"\\?[<＜][{SPACE}]*(?P<closing>[/／])?[{SPACE}]*recollect(?!{LETTER})(?:\s+[\w-]+\s*=\s*\"[^\"\n]*\")*\s*\\?[/／]?[>＞]?"
    rf"|(?P<fence>```|~~~)[{SPACE}]*recollect(?!{LETTER})",
    re.IGNORECASE,
)
TAG_END = re.compile(
    rf"\\?[<＜][{SPACE}]*[/／][{SPACE}]*recollect\s*\\?[>＞]?|(?=[<＜][{SPACE}]*recollect(?!{LETTER}))", re.IGNORECASE
)
FENCE_END = re.compile("```|~~~")


@dataclass(slots=True)
class Requests:
    """What was asked for so far, each thing once, and not more of it than anybody needs."""

    tiers: dict[str, int] = field(default_factory=dict)
    searches: dict[str, None] = field(default_factory=dict)

    def add_tiers(self, body: str) -> None:
        """Note what the body of a tier marker asks for; a tier that does not exist asks for nothing."""
        if not (asked := TIER.match(body)):
            return
        for part in BETWEEN_IDS.split(asked[2]):
            if (one := ONE_ID.match(part)) and len(one[2]) <= MAX_ID and (tier := int(one[1] or asked[1])) in TIERS:
                before = self.tiers.get(one[2])
                if before or self._room():
                    self.tiers[one[2]] = max(tier, before or 0)

    def add_search(self, body: str) -> None:
        words = " ".join(AFTER_NAME.sub("", body, count=1).split()).strip(QUOTES)[:MAX_WORDS].strip()
        if words and self._room():
            self.searches[words] = None

    def _room(self) -> bool:
        return len(self.tiers) + len(self.searches) < MAX_REQUESTS


class Body(NamedTuple):
    """Where what follows a marker's name ends, where the text goes on, and whether a bracket closed it."""

    end: int
    resume: int
    closed: bool
    too_long: bool = False


def body_of(text: str, start: int, brackets: int, final: bool) -> Body | None:
    """The body that begins at `start`, or None if that cannot be said before more of the text is there."""
    limit, depth, at = start + MAX_BODY, 0, start
    while stop := STOP.search(text, at, limit):
        at = stop.start()
        if stop[0] in "\n\r":
            return Body(at, at, closed=False)
        if stop[0] in "]］】":
            if depth == 0:
                return closed_at(text, at, brackets, final)
            depth -= 1
        elif other := TRIGGER.match(text, at):
            if other.lastgroup or (final and is_beginning(other[0])):
                return Body(at, at, closed=False)
            if not final:
                return None
        if stop[0] in "[［【":
            depth += 1
        at += 1
    if len(text) >= limit:
        return Body(start, start, closed=False, too_long=True)
    return Body(len(text), len(text), closed=False) if final else None


def closed_at(text: str, at: int, brackets: int, final: bool) -> Body | None:
    """The body that a bracket closes here, with as many brackets as had opened it."""
    resume = at + 1
    for _ in range(brackets - 1):
        if more := CLOSER.match(text, resume):
            resume = more.end()
        elif not final and text[resume : resume + 2] in ("", "\\"):
            return None
        else:
            break
    return Body(at, resume, closed=True)


def is_beginning(end: str) -> bool:
    """Whether a text's last characters are the beginning of a marker rather than just a mark."""
    return bool(end.strip(UNDECIDED))


# -- taking them out


class Hole(NamedTuple):
    """What stood before a marker that was taken out, held until it is known what stands after it."""

    gap: str = ""
    bullet: str = ""
    run: str = ""
    code: str = ""

    def closed(self, text: str, at: int) -> tuple[Hole, int]:
        """The hole and where the text goes on, if what was opened before the marker is closed after it."""
        if self.code and (closing := CODE_END.match(text, at)):
            return self._replace(code=""), closing.end()
        if self.run and text.startswith(closer := self.run[::-1].translate(UNWRAP), at):
            return self._replace(run=""), at + len(closer)
        return self, at

    def extended(self, text: str, at: int, end: int) -> Hole:
        """The hole made wider by another marker, with only this junk between the two."""
        hole, at = self.closed(text, at)
        _, more = lead_of("]" + text[at:end], 1)
        gap = max(hole.gap, "\n" * text.count("\n", at, end), key=newlines)
        return Hole(gap, more.bullet or hole.bullet, (hole.run + more.run)[-8:], more.code or hole.code)


class Cutter:
    """Takes markers out of a text that comes in pieces, and says what may be shown as soon as that is certain."""

    def __init__(self, requests: Requests | None = None) -> None:
        self._requests = Requests() if requests is None else requests
        self._text = ""  # what has come and is not decided
        self._at = 0  # up to where it is, in this step
        self._out: list[str] = []
        self._tail = ""  # the last characters shown
        self._hole: Hole | None = None
        self._hidden: list[str] | None = None  # from the inline block on
        self._room = MAX_INLINE

    def feed(self, chunk: str) -> str:
        """What may be shown now that this piece has come."""
        return self._advance(chunk, final=False)

    def finish(self) -> str:
        """What may be shown now that no more will come."""
        return self._advance("", final=True)

    def parsed(self, shown: str) -> Parsed:
        """After the end: what was asked for, and `shown`, which is all that came out."""
        _, outside = self.inline()
        after = Cutter(self._requests)
        after.feed(outside)
        after.finish()
        tiers = tuple(TierRequest(id, tier) for id, tier in self._requests.tiers.items())
        return Parsed(shown, tiers, tuple(self._requests.searches))

    def inline(self) -> tuple[str | None, str]:
        """After the end: the content of the last inline block, and what stood outside of such blocks."""
        hidden, at = "".join(self._hidden or ()), 0
        content, outside = None, []
        while block := BLOCK.search(hidden, at):
            outside.append(hidden[at : block.start()])
            at = block.end()
            if not block["closing"]:
                end = (FENCE_END if block["fence"] else TAG_END).search(hidden, at)
                inside = hidden[at : end.start() if end else len(hidden)].strip()
                at = end.end() if end else len(hidden)
                content = uncoded(inside) or content
        return content, "\n".join([*outside, hidden[at:]])

    def _advance(self, chunk: str, *, final: bool) -> str:
        if self._hidden is not None:
            self._hide(chunk)
            return ""
        self._text += chunk
        self._at = 0
        self._out = []
        while self._step(final):
            pass
        self._text = self._text[self._at :]
        return "".join(self._out)

    def _step(self, final: bool) -> bool:
        """Decide about the text up to the end of the next marker; False if no more can be decided now."""
        trigger = TRIGGER.search(self._text, self._at)
        if trigger and final and not trigger.lastgroup and not is_beginning(trigger[0]):
            trigger = None
        start = trigger.start() if trigger else len(self._text)
        hole = self._hole
        if hole is None:
            if trigger and (final or trigger.lastgroup):
                lead, hole = self._lead(start)
            else:
                lead = start if final else self._waiting(start)
            self._show(self._text[self._at : lead])
            self._at = lead
        elif not JUNK.fullmatch(self._text, self._at, start) or (final and not trigger):
            self._fill(hole)
            return True
        else:
            hole = hole.extended(self._text, self._at, start)
        if hole is None or trigger is None or not (final or trigger.lastgroup):
            return False
        return self._take(trigger, hole, final)

    def _take(self, trigger: re.Match[str], hole: Hole, final: bool) -> bool:
        """Take out what begins here; False if its end has not come yet, or if all that follows goes with it."""
        kind, start = trigger.lastgroup or "", trigger.end()
        if not kind or kind.startswith("inline"):
            if kind:
                self._hidden = []
                self._hide(self._text[trigger.start() :])
            self._end(hole)
            return False
        body = body_of(self._text, start, sum(map(trigger[0].count, "[［【")), final)
        if body is None:
            return False
        end, self._at = body.end, body.resume
        if kind.startswith("tier"):
            limit = start + MAX_BODY if body.too_long else end
            if not body.closed and (own := TIGHT.match(self._text, start, limit)):
                end = self._at = own.end()
            self._requests.add_tiers(self._text[start:end])
        elif body.too_long and (named := AFTER_NAME.match(self._text, start, start + MAX_BODY)):
            self._at = named.end()
        else:
            self._requests.add_search(self._text[start:end])
        self._hole = hole
        return True

    def _fill(self, hole: Hole) -> None:
        """Join what stood before a marker and what stands after it."""
        self._hole = None
        hole, self._at = hole.closed(self._text, self._at)
        after = white(self._text, self._at)
        self._at += len(after)
        following = self._text[self._at : self._at + 1]
        if not following:
            self._end(hole)
            return
        bullet = hole.bullet if hole.run or "\n" not in after else ""
        if kept := bullet + hole.run + hole.code:
            kept = hole.gap + kept
            between = after if "\n" in after else ""
        else:
            between = seam(hole.gap, after, following, first=not self._tail)
        left = (self._tail + kept)[-TAIL:]
        crossing = TRIGGER.search(left + between + following)
        if crossing and crossing.start() < len(left):
            between = "\n"
        self._show(kept + between)

    def _end(self, hole: Hole) -> None:
        """Nothing more is shown. What stood before the last marker goes, unless it ends a code block."""
        if hole.code and self._tail:
            self._show((hole.gap + hole.code).rstrip())
        self._hole = None
        self._at = len(self._text)

    def _lead(self, end: int) -> tuple[int, Hole]:
        """Where that which belongs to a marker at `end` begins, and what it is."""
        probe, known = self._before(end)
        start, hole = lead_of(probe, known)
        return end - len(probe) + start, hole

    def _waiting(self, end: int) -> int:
        """Where that which may belong to a marker at `end` or soon after it begins."""
        probe, known = self._before(end)
        return end - len(probe) + min(match.start() for one in WAITING if (match := one.search(probe, known)))

    def _before(self, end: int) -> tuple[str, int]:
        """The undecided text before `end`, as far as it matters, after the one character that precedes it, if any."""
        begin = max(self._at, end - AROUND)
        known = self._text[begin - 1] if begin > self._at else self._tail[-1:]
        return known + self._text[begin:end], len(known)

    def _show(self, text: str) -> None:
        if text:
            self._out.append(text)
            self._tail = (self._tail + text[-TAIL:])[-TAIL:]

    def _hide(self, text: str) -> None:
        if self._hidden is not None and self._room > 0:
            self._hidden.append(text[: self._room])
            self._room -= len(text)


def lead_of(text: str, known: int) -> tuple[int, Hole]:
    """Where what belongs to a marker right after this text begins, and what it is; never in the `known` characters."""
    lead = next(match for pattern in LEADS if (match := pattern.search(text, known)))
    return lead.start(), Hole(**{part: found or "" for part, found in lead.groupdict().items()})


def newlines(space: str) -> int:
    return space.count("\n")


def white(text: str, at: int) -> str:
    """The white space at this place, as far as it is looked at."""
    found = WHITE.match(text, at)
    return found[0] if found else ""


def uncoded(text: str) -> str:
    """The text without a code block's fence around it."""
    if text.startswith(("```", "~~~")) and "\n" in text:
        text = text[text.index("\n") :].removesuffix("```").removesuffix("~~~")
    return text.strip()


def seam(before: str, after: str, following: str, *, first: bool) -> str:
    """The white space left where something between `before` and `after` is gone: one of the two, not both.

    The line breaks of the side that has more of them stay, and the indentation of what follows. At the beginning of
    a text nothing but that indentation stays.
    """
    broken = after.rfind("\n") + 1
    if first:
        return after[broken:] if broken else ""
    if broken:
        breaks = max(after[:broken], before[: before.rfind("\n") + 1], key=newlines)
        return breaks + after[broken:]
    if not after and "\n" not in before and following in PUNCTUATION:
        return ""
    return before or after
