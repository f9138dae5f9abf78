"""What a model that replies is told of memory, and what it may write besides its answer: markers, and a block of tiers.

A marker asks for more, within the model's own text:

    [REQUEST_TIER:3:ID]        show me that message at tier 3 (or 2); several ids, with commas between
    [SEARCH_EPISODIC: words]   search what has left the window

Models write them in any case, with spaces, in full-width brackets, with markdown around them or backslashes before the
brackets, or without the last bracket. All of these are read, and none is shown: a marker is removed with what stands
around it (emphasis, a bullet, an empty code block) and with the white space that becomes superfluous. So is an
incomplete marker at the end of the text.

The tiers of the exchange come in a block at the end of the reply, one line each, every line optional:

    <everword>
    U1: key = value; key = value
    U2: what the user said
    A1: key = value; key = value
    A2: what was answered
    </everword>

The block may be written in any case, with spaces in its tags, without its closing tag, or as a code block fenced with
```everword. From it on nothing is shown, since models that go on after their last line only repeat themselves; markers
there count. Markers in the block do not count: it quotes the user. But a small model may write the block first and its
answer after it: so that text is kept, for a reply that has nothing else to show.

`Cutter` does this for whole texts and for streams. It never takes back what it has shown, and its output does not
depend on where the text was cut into chunks, because a decision waits until no further character can change it. It
never waits long: a marker has at most 700 characters, and the text it looks back on is bounded too, so time is linear.
Removing a marker never creates another one: where two halves of a marker would meet, a line break is put between them.

A backslash before the bracket does not disarm a marker, since models that write markdown add one. The dot that
`escaping.escape` puts before the name does: `[·REQUEST_TIER:3:ID]` is text.

The instructions are the same from turn to turn, byte for byte, so that a server can cache what it has computed of
them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from everword.summaries.rules.shortened_messages import clean, pairs_in
from everword.word_lists import lazy_pattern, read_entries

TIERS = (2, 3)  # tiers that can be asked for; tier 1 is what everything is sent at anyway
MAX_REQUESTS = 50  # distinct ids and searches honoured of one reply
MAX_WORDS = 500  # characters of a search
MAX_BODY = 700  # characters between a marker's name and its closing bracket
MAX_ID = 64  # characters
MAX_INLINE = 1 << 16  # characters kept from the inline block on
TAIL = 128  # shown characters remembered: more than the longest beginning of a marker
AROUND = 96  # characters before a marker that can belong to it

SPACE = " \\t\u00a0\u1680\u2000-\u200d\u202f\u205f\u2060\u3000\ufeff"  # on one line, the invisible ones included
OPENERS = "\\[［【"
CLOSERS = "\\]］】"
COLON = ":："
LETTER = r"[^\W\d_]"
WRAP = '*_`~(（"“'
UNWRAP = str.maketrans("(（“", ")）”")


class TierRequest(NamedTuple):
    """The model asks to see a message at this tier from now on."""

    id: str
    tier: int


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """A model's text in its parts: the text to show, and what it asks for."""

    text: str
    tiers: tuple[TierRequest, ...] = ()
    searches: tuple[str, ...] = ()

    @property
    def asks(self) -> bool:
        """Whether there is anything to fetch before the model is called again."""
        return bool(self.tiers or self.searches)


def parse(text: str) -> ParsedReply:
    """The text without its markers, and what they ask for: each id once, at the highest tier asked."""
    cutter = Cutter()
    return cutter.result(cutter.feed(text) + cutter.finish())


def strip(text: str) -> str:
    """The text without markers, without a beginning of one at its end, and without the inline block."""
    return parse(text).text


# -- what a marker looks like


def growing_pattern(atoms: list[str], rest: str) -> str:
    """A pattern for these atoms in order and then `rest`, or for a beginning of that at the end of the text."""
    for atom in reversed(atoms):
        rest = rf"{atom}(?:\Z|{rest})"
    return rest


def name_pattern(first: str, second: str, kind: str) -> str:
    """A marker's name: with its underscore, or without it but then with a colon after it."""
    joint = [rf"[{SPACE}\\]{{0,3}}", "[_＿]", rf"[{SPACE}]{{0,2}}"]
    exact = growing_pattern([*first, *joint, *second], rf"(?!{LETTER})(?P<{kind}>)")
    loose = growing_pattern(
        [*first, rf"[{SPACE}-]{{0,2}}", *second, rf"[{SPACE}]{{0,4}}", f"[{COLON}]"], f"(?P<{kind}_loose>)"
    )
    return f"{exact}|{loose}"


OPENING = [r"\\?", rf"[{OPENERS}][{OPENERS}{SPACE}\\]{{0,24}}+"]
TAG = [r"\\?", "[<＜]", rf"[{SPACE}]{{0,4}}", "[/／]?", rf"[{SPACE}]{{0,4}}", *"everword"]
FENCED = [rf"[{SPACE}]{{0,2}}", *"everword"]
TRIGGER = lazy_pattern(
    rf"(?=[\\{OPENERS}<＜`~])(?:"
    + growing_pattern(
        OPENING, f"(?:{name_pattern('request', 'tier', 'tier')}|{name_pattern('search', 'episodic', 'search')})"
    )
    + "|"
    + growing_pattern(TAG, rf"(?!{LETTER})(?P<inline>)")
    + "|"
    + growing_pattern([*"```", *FENCED], rf"(?!{LETTER})(?P<inline_ticks>)")
    + "|"
    + growing_pattern([*"~~~", *FENCED], rf"(?!{LETTER})(?P<inline_tildes>)")
    + ")",
    re.IGNORECASE,
)
UNDECIDED = "\\`~ \t"  # an end of these alone is text: above all, the end of a code block

STOP = lazy_pattern(rf"[{OPENERS}{CLOSERS}\n\r<＜`~\\]")
CLOSER = lazy_pattern(rf"\\?[{CLOSERS}]")
# What is certainly the marker's own if no bracket closes it.
TIGHT = lazy_pattern(
    rf"[\s{COLON}]*(?:(?:tier[\s_]*)?\d+[\s{COLON}]*(?:[\w-]+(?:[{SPACE}]*,[{SPACE}]*[\w-]+)*,?)?)?",
    re.IGNORECASE,
)
TIER = lazy_pattern(r"[\W_]*+(?:(?:tier|level)[\W_]*+)?(\d{1,9})(?!\w)(.*)", re.IGNORECASE | re.DOTALL)
BETWEEN_IDS = lazy_pattern(r"[,;，、；&]|\band\b", re.IGNORECASE)
ONE_ID = lazy_pattern(rf"\W*(?:(\d)[{SPACE}]*[{COLON}]\W*)?(?:(?:messages?|ids?)\b\W*)?(\w[\w-]*)(?<!-)", re.IGNORECASE)
AFTER_NAME = lazy_pattern(rf"(?:_\w+)?[\s{COLON}=]*")
QUOTES = " \t\r\n\\\"'`*_“”‘’«»" + "\u200b\u200c\u200d\ufeff"

# -- what may stand around one

RUN = rf"(?<![^\s\[({{\"'“‘])[{WRAP}]{{1,4}}"
BULLET = r"(?:[-*+•]|\d{1,2}[.)])[ \t]{1,4}"
CODE = r"(?:```|~~~)\w{0,12}[ \t]{0,4}\n[ \t]{0,8}"
LINE_START = r"(?:\A|\s{0,48}\n)[ \t]{0,8}"
LEADS = (
    lazy_pattern(rf"(?P<gap>{LINE_START})(?:(?P<code>{CODE})|(?P<bullet>{BULLET})(?P<run>{RUN})?)\Z"),
    lazy_pattern(rf"(?P<gap>\s{{0,64}})(?P<run>{RUN})?\Z"),
)
# The same, and every beginning of the same: what has to wait for the next character.
BEGUN_BULLET = rf"(?:[-*+•]|\d{{1,2}}[.)]?)[ \t]{{0,4}}[{WRAP}]{{0,4}}"
BEGUN_CODE = r"(?:`{1,3}|~{1,3})\w{0,12}[ \t]{0,4}\n?[ \t]{0,8}"
WAITING = (
    lazy_pattern(rf"{LINE_START}(?:{BEGUN_CODE}|{BEGUN_BULLET})\Z"),
    lazy_pattern(rf"\s{{0,64}}[{WRAP}]{{0,4}}\Z"),
)
JUNK = lazy_pattern(rf"[\s,;&{WRAP})）”•+-]{{0,160}}")  # between two markers it belongs to neither, and goes with them
CODE_END = lazy_pattern(r"\s{0,40}(?:```|~~~)[ \t]{0,8}(?=\n|\Z)")
WHITE = lazy_pattern(r"\s{0,64}")
PUNCTUATION = tuple(".,;:!?)，。！？")

BLOCK = lazy_pattern(
    rf"\\?[<＜][{SPACE}]*(?P<closing>[/／])?[{SPACE}]*everword(?!{LETTER})(?:\s+[\w-]+\s*=\s*\"[^\"\n]*\")*\s*\\?[/／]?[>＞]?"
    rf"|(?P<fence>```|~~~)[{SPACE}]*everword(?!{LETTER})",
    re.IGNORECASE,
)
TAG_END = lazy_pattern(
    rf"\\?[<＜][{SPACE}]*[/／][{SPACE}]*everword\s*\\?[>＞]?|(?=[<＜][{SPACE}]*everword(?!{LETTER}))", re.IGNORECASE
)
FENCE_END = lazy_pattern("```|~~~")


@dataclass(slots=True)
class MarkerRequests:
    """The requests so far, each once, at most `MAX_REQUESTS`."""

    tiers: dict[str, int] = field(default_factory=dict)
    searches: dict[str, None] = field(default_factory=dict)

    def add_tiers(self, body: str) -> None:
        """Add the requests in the body of a tier marker; a tier that does not exist requests nothing."""
        if not (tier_match := TIER.match(body)):
            return
        for part in BETWEEN_IDS.split(tier_match[2]):
            id_match = ONE_ID.match(part)
            if id_match is None or len(id_match[2]) > MAX_ID:
                continue
            tier = int(id_match[1] or tier_match[1])
            before = self.tiers.get(id_match[2])
            if tier in TIERS and (before or self._room()):
                self.tiers[id_match[2]] = max(tier, before or 0)

    def add_search(self, body: str) -> None:
        words = " ".join(AFTER_NAME.sub("", body, count=1).split()).strip(QUOTES)[:MAX_WORDS].strip()
        if words and self._room():
            self.searches[words] = None

    def _room(self) -> bool:
        return len(self.tiers) + len(self.searches) < MAX_REQUESTS


class MarkerBody(NamedTuple):
    """Where the body of a marker ends, where the text after the marker begins, and whether a bracket closed it."""

    end: int
    resume: int
    has_closer: bool
    too_long: bool = False


def find_body(text: str, start: int, brackets: int, final: bool) -> MarkerBody | None:
    """The body that begins at `start`, or None if more of the text is needed to decide."""
    limit = start + MAX_BODY
    depth = 0
    at = start
    while stop := STOP.search(text, at, limit):
        at = stop.start()
        if stop[0] in "\n\r":
            return MarkerBody(at, at, has_closer=False)
        if stop[0] in "]］】":
            if depth == 0:
                return close_body(text, at, brackets, final)
            depth -= 1
        elif other := TRIGGER.match(text, at):
            if other.lastgroup or (final and is_beginning(other[0])):
                return MarkerBody(at, at, has_closer=False)
            if not final:
                return None
        if stop[0] in "[［【":
            depth += 1
        at += 1
    if len(text) >= limit:
        return MarkerBody(start, start, has_closer=False, too_long=True)
    return MarkerBody(len(text), len(text), has_closer=False) if final else None


def close_body(text: str, at: int, brackets: int, final: bool) -> MarkerBody | None:
    """The body that a bracket at `at` closes, with as many closing brackets as opening ones."""
    resume = at + 1
    for _ in range(brackets - 1):
        if closer := CLOSER.match(text, resume):
            resume = closer.end()
        elif not final and text[resume : resume + 2] in ("", "\\"):
            return None
        else:
            break
    return MarkerBody(at, resume, has_closer=True)


def is_beginning(end: str) -> bool:
    """Whether a text's last characters are the beginning of a marker rather than just a mark."""
    return bool(end.strip(UNDECIDED))


# -- taking them out


class Hole(NamedTuple):
    """The text before a removed marker, held until the text after it is known."""

    gap: str = ""
    bullet: str = ""
    run: str = ""
    code: str = ""

    def close(self, text: str, at: int) -> tuple[Hole, int]:
        """The hole and where the text goes on, if what was opened before the marker is closed after it."""
        if self.code and (closing := CODE_END.match(text, at)):
            return self._replace(code=""), closing.end()
        if self.run and text.startswith(closer := self.run[::-1].translate(UNWRAP), at):
            return self._replace(run=""), at + len(closer)
        return self, at

    def extend(self, text: str, at: int, end: int) -> Hole:
        """The hole extended by another marker, with only this junk between the two."""
        hole, at = self.close(text, at)
        _, lead = lead_of("]" + text[at:end], 1)
        gap = max(hole.gap, "\n" * text.count("\n", at, end), key=newlines)
        return Hole(gap, lead.bullet or hole.bullet, (hole.run + lead.run)[-8:], lead.code or hole.code)


class Cutter:
    """Removes markers from a text that comes in pieces, and returns each part as soon as it may be shown."""

    def __init__(self, requests: MarkerRequests | None = None) -> None:
        self._requests = MarkerRequests() if requests is None else requests
        self._text = ""  # the text that is not decided
        self._at = 0  # up to where it is decided, in this step
        self._out: list[str] = []
        self._tail = ""  # the last characters shown
        self._hole: Hole | None = None
        self._hidden: list[str] | None = None  # from the inline block on
        self._room = MAX_INLINE

    def feed(self, chunk: str) -> str:
        """The text that may be shown after this piece."""
        return self._advance(chunk, final=False)

    def finish(self) -> str:
        """The text that may be shown after the last piece."""
        return self._advance("", final=True)

    def result(self, text: str) -> ParsedReply:
        """After the end: the requests, and `text`, which is the whole output."""
        _, outside = self.inline()
        after = Cutter(self._requests)
        after.feed(outside)
        after.finish()
        tiers = tuple(TierRequest(id, tier) for id, tier in self._requests.tiers.items())
        return ParsedReply(text, tiers, tuple(self._requests.searches))

    def inline(self) -> tuple[str | None, str]:
        """After the end: the content of the last inline block, and the text outside of such blocks."""
        block_text = "".join(self._hidden or ())
        at = 0
        content = None
        outside = []
        while block := BLOCK.search(block_text, at):
            outside.append(block_text[at : block.start()])
            at = block.end()
            if not block["closing"]:
                end = (FENCE_END if block["fence"] else TAG_END).search(block_text, at)
                inside = block_text[at : end.start() if end else len(block_text)].strip()
                at = end.end() if end else len(block_text)
                content = strip_code_fence(inside) or content
        return content, "\n".join([*outside, block_text[at:]])

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
                lead, hole = self._lead_start(start)
            else:
                lead = start if final else self._waiting_start(start)
            self._show(self._text[self._at : lead])
            self._at = lead
        elif not JUNK.fullmatch(self._text, self._at, start) or (final and not trigger):
            self._fill(hole)
            return True
        else:
            hole = hole.extend(self._text, self._at, start)
        if hole is None or trigger is None or not (final or trigger.lastgroup):
            return False
        return self._take(trigger, hole, final)

    def _take(self, trigger: re.Match[str], hole: Hole, final: bool) -> bool:
        """Remove the marker that begins here; False if its end has not come yet, or if it takes all that follows."""
        kind = trigger.lastgroup or ""
        start = trigger.end()
        if not kind or kind.startswith("inline"):
            if kind:
                self._hidden = []
                self._hide(self._text[trigger.start() :])
            self._end(hole)
            return False
        body = find_body(self._text, start, sum(map(trigger[0].count, "[［【")), final)
        if body is None:
            return False
        end = body.end
        self._at = body.resume
        if kind.startswith("tier"):
            limit = start + MAX_BODY if body.too_long else end
            if not body.has_closer and (tight_match := TIGHT.match(self._text, start, limit)):
                end = self._at = tight_match.end()
            self._requests.add_tiers(self._text[start:end])
        elif body.too_long and (name_match := AFTER_NAME.match(self._text, start, start + MAX_BODY)):
            self._at = name_match.end()
        else:
            self._requests.add_search(self._text[start:end])
        self._hole = hole
        return True

    def _fill(self, hole: Hole) -> None:
        """Join the text before a marker and the text after it."""
        self._hole = None
        hole, self._at = hole.close(self._text, self._at)
        after = white_space_at(self._text, self._at)
        self._at += len(after)
        following = self._text[self._at : self._at + 1]
        if not following:
            self._end(hole)
            return
        bullet = hole.bullet if hole.run or "\n" not in after else ""
        if lead := bullet + hole.run + hole.code:
            lead = hole.gap + lead
            between = after if "\n" in after else ""
        else:
            between = seam(hole.gap, after, following, first=not self._tail)
        context = (self._tail + lead)[-TAIL:]
        crossing = TRIGGER.search(context + between + following)
        if crossing and crossing.start() < len(context):
            between = "\n"
        self._show(lead + between)

    def _end(self, hole: Hole) -> None:
        """Show nothing more. The text before the last marker is dropped, unless it ends a code block."""
        if hole.code and self._tail:
            self._show((hole.gap + hole.code).rstrip())
        self._hole = None
        self._at = len(self._text)

    def _lead_start(self, end: int) -> tuple[int, Hole]:
        """Where the lead of a marker at `end` begins, and the lead itself."""
        probe, offset = self._text_before(end)
        start, hole = lead_of(probe, offset)
        return end - len(probe) + start, hole

    def _waiting_start(self, end: int) -> int:
        """Where the text begins that may be the lead of a marker at `end` or soon after it."""
        probe, offset = self._text_before(end)
        return end - len(probe) + min(match.start() for pattern in WAITING if (match := pattern.search(probe, offset)))

    def _text_before(self, end: int) -> tuple[str, int]:
        """The undecided text before `end`, as far as it matters, after the one character that precedes it, if any."""
        begin = max(self._at, end - AROUND)
        preceding = self._text[begin - 1] if begin > self._at else self._tail[-1:]
        return preceding + self._text[begin:end], len(preceding)

    def _show(self, text: str) -> None:
        if text:
            self._out.append(text)
            self._tail = (self._tail + text[-TAIL:])[-TAIL:]

    def _hide(self, text: str) -> None:
        if self._hidden is not None and self._room > 0:
            self._hidden.append(text[: self._room])
            self._room -= len(text)


def lead_of(text: str, offset: int) -> tuple[int, Hole]:
    """Where the lead of a marker right after this text begins, and the lead; never in the first `offset` characters."""
    lead = next(match for pattern in LEADS if (match := pattern.search(text, offset)))
    return lead.start(), Hole(**{part: value or "" for part, value in lead.groupdict().items()})


def newlines(space: str) -> int:
    return space.count("\n")


def white_space_at(text: str, at: int) -> str:
    """The white space at this place, up to 64 characters."""
    match = WHITE.match(text, at)
    return match[0] if match else ""


def strip_code_fence(text: str) -> str:
    """The text without a code block's fence around it."""
    if text.startswith(("```", "~~~")) and "\n" in text:
        text = text[text.index("\n") :].removesuffix("```").removesuffix("~~~")
    return text.strip()


def seam(before: str, after: str, following: str, *, first: bool) -> str:
    """The white space to keep where a marker between `before` and `after` was removed: one of the two, not both.

    The line breaks of the side that has more of them stay, and the indentation of what follows. At the beginning of
    a text nothing but that indentation stays.
    """
    line_start = after.rfind("\n") + 1
    if first:
        return after[line_start:] if line_start else ""
    if line_start:
        breaks = max(after[:line_start], before[: before.rfind("\n") + 1], key=newlines)
        return breaks + after[line_start:]
    if not after and "\n" not in before and following in PUNCTUATION:
        return ""
    return before or after


# -- a reply on its way to the user


@dataclass(frozen=True, slots=True)
class ReplyEnd:
    """The end of a reply: what is still to be shown, and what was held back.

    `markers.text` is all that was shown, from the first chunk on. `inline` is the content of the last block that
    carries tiers, None if there was none. `after` is the text behind the blocks, without markers; it was not shown.
    """

    text_to_show: str
    markers: ParsedReply
    inline: str | None
    after: str = ""


class ReplyFilter:
    """A filter for one reply: `feed` it each chunk, show what it returns, then `finish` once."""

    def __init__(self) -> None:
        self._cutter = Cutter()
        self._shown: list[str] = []

    def feed(self, chunk: str) -> str:
        """The text that may be shown now."""
        text = self._cutter.feed(chunk)
        self._shown.append(text)
        return text

    def finish(self) -> ReplyEnd:
        """The rest of the text after the last chunk, and everything that was held back."""
        last_text = self._cutter.finish()
        inline, outside = self._cutter.inline()
        return ReplyEnd(
            last_text, self._cutter.result("".join(self._shown) + last_text), inline, strip(outside).strip()
        )


# -- the instructions for a model that replies


OPEN = "<everword>"
CLOSE = "</everword>"

_TEXTS = read_entries("context/data/prompts.txt")


def instructions(*, asking: bool = True, inline: bool = True) -> str:
    """The instructions in a context: how to ask for more, and to write the tiers of the exchange.

    Without `asking`, for a context in which nothing is shortened or left out: there is nothing to ask for. Without
    `inline`, if the tiers are made elsewhere.
    """
    return "\n\n".join(_TEXTS[name] for name, include in (("asking", asking), ("tiers", inline)) if include)


def search_instructions() -> str:
    """The instructions where nothing is shortened: the model can only ask for what is not shown at all."""
    return _TEXTS["searching"]


@dataclass(frozen=True, slots=True)
class InlineTiers:
    """The tiers that came with a reply: of the user's message and of the reply; empty where the model left one out."""

    user1: str = ""
    user2: str = ""
    reply1: str = ""
    reply2: str = ""


_LABELS = {"u1": "user1", "u2": "user2", "a1": "reply1", "a2": "reply2"}
_LABEL = r"(?:[*_`>-]+[ \t]*+)?(?P<label>[ua] ?[12])[*_`]*[ \t]*[:=：.)][*_`]*"
_AT_LINE = lazy_pattern(rf"^[ \t]*{_LABEL}", re.IGNORECASE | re.MULTILINE)
_ANYWHERE = lazy_pattern(rf"(?<![^\s;.]){_LABEL}", re.IGNORECASE)
_TAG = lazy_pattern(r"<\s*+/?\s*+everword\s*+>", re.IGNORECASE)
_FENCE = lazy_pattern(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE)
_MAX_BLOCK = 32_000  # characters
# The placeholders in our own instructions: a model that repeats them has written nothing.
_TEMPLATE = lazy_pattern(
    r"(?:key\s*=\s*value[\s;,.…]*)+|(?:the user's message|your answer) in one or two sentences\.?"
    r"|\.\.\.|…|-|n/?a|none|\(none\)",
    re.IGNORECASE,
)


def parse_inline(block: str) -> InlineTiers | None:
    """The tiers in an inline block, with or without its tags; None if there are none."""
    text = _FENCE.sub("", _TAG.sub("", block[:_MAX_BLOCK]))
    # If a model wrote everything in one line, the labels are inside the line; otherwise such a match is text.
    marks = list((_AT_LINE if "\n" in block else _ANYWHERE).finditer(text))
    values: dict[str, str] = {}
    for number, mark in enumerate(marks):
        end = marks[number + 1].start() if number + 1 < len(marks) else len(text)
        label = _LABELS[mark["label"].replace(" ", "").casefold()]
        value = text[mark.end() : end].strip()
        value = pairs_in(value) if label.endswith("1") else clean(value)
        if value and not _TEMPLATE.fullmatch(value):
            values.setdefault(label, value)
    return InlineTiers(**values) if values else None


def render_inline(tiers: InlineTiers) -> str:
    """The block as a model should write it: for examples in prompts and for scripted models."""
    lines = [f"{label.upper()}: {value}" for label, key in _LABELS.items() if (value := getattr(tiers, key))]
    return "\n".join([OPEN, *lines, CLOSE])
