"""A text as the sentences it is made of: in order, plain, each knowing whether it is prose, a heading or an item.

Markup is taken off, and what is not language is named rather than quoted: code, logs, data. Only a bounded part is
looked at, from the beginning and the end, so that any text takes a bounded time. Nothing here knows what is important.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

MAX_CHARACTERS = 32_000
"""Characters of one text that are looked at: three quarters from its beginning, the rest from its end."""
MAX_SENTENCES = 240
"""Sentences of one text that are looked at, again from both ends."""
MAX_SENTENCE = 600
"""Characters of one sentence; a longer one is cut at a clause, a space, or anywhere."""

Kind = Literal["prose", "item", "heading", "note"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence. `lead` is the title of a list item, `key` in "key: value"; a note names what is not quoted."""

    text: str
    kind: Kind = "prose"
    lead: str = ""

    @property
    def is_question(self) -> bool:
        return self.text.rstrip("\"'”’»)」』 ").endswith(_QUESTION_MARKS)


_QUESTION_MARKS = ("?", "？", "؟", "\u037e", "՞")


def part_of(text: str) -> str:
    """The part of a text that is looked at: all of it, or its beginning and its end."""
    if len(text) <= MAX_CHARACTERS:
        return text
    tail = MAX_CHARACTERS // 4
    return f"{text[: MAX_CHARACTERS - tail]}\n\n{text[-tail:]}"


def sentences(text: str) -> list[Sentence]:
    """The sentences of a text, at most `MAX_SENTENCES`."""
    found = [sentence for block in _blocks(part_of(text)) for sentence in _of_block(block)]
    if len(found) > MAX_SENTENCES:
        tail = MAX_SENTENCES // 4
        found = found[: MAX_SENTENCES - tail] + found[-tail:]
    return found


# Lines make blocks: a paragraph, a heading, an item, a run of code or log, a row of a table.


@dataclass(frozen=True, slots=True)
class _Block:
    kind: Kind
    text: str


_FENCE = re.compile(r"\s*(```+|~~~+)\s*([\w+#.-]*)")
_HEADING = re.compile(r"\s*#{1,6}\s+(\S.*)$")
_BOLD_LINE = re.compile(r"\s*(?:\*\*|__)([^*_]{2,80})(?:\*\*|__):?$")
_ITEM = re.compile(r"\s*(?:[-*+•‣◦▪–—]|\(?\d{1,3}[.)]|[a-z]\)|[①-⑳]|\[[ xX]\])\s+(?=\S)")
_QUOTE = re.compile(r"^\s*>+\s?")
_RULE = re.compile(r"\s*(?:[-*_=~#]\s*){3,}$")
_ROW = re.compile(r"\s*\|.*\|$")
_ROW_RULE = re.compile(r"\s*\|[\s:|-]+\|$")
_CODE = re.compile(
    r"""\s*(?:
        (?:def|class)\s+\w+.*:\s*$ | (?:import|from)\s+[\w.]+(?:\s+import\b.*|\s*;?\s*)$ | \#include\b | @\w+\s*$
        | (?:public|private|protected|static|const|let|var|function|func|fn|struct|package|using)\s+[\w<*&].*[;{(=]
        | (?:if|for|while|elif|else|try|except|with|switch|catch)\b.*[:{]\s*$ | (?:return|throw|raise|print)\b.*[;)]\s*$
        | [\w.\[\]"']+\s*[-+*/|]?=[^=].* | [\w.]+\(.*\)\s*;?\s*$ | [})\]]+[;,)]*\s*$ | </?\w[^>]*>.* | //.* | \$\s\S+.*
        | .*[;{]\s*$ | (?:SELECT|INSERT|UPDATE|CREATE|DELETE|ALTER)\s.* | ["']\w+["']\s*:\s*.*,?\s*$
    )""",
    re.VERBOSE,
)
_LOG = re.compile(
    r"""\s*(?: \[?\d{4}-\d\d-\d\d[T\s]\d\d:\d\d | \[?\d\d:\d\d:\d\d | \[?(?:INFO|DEBUG|TRACE|WARN(?:ING)?|ERROR|FATAL)\b
        | (?:Traceback|\s+at\s)\b.* | File\s".*",\sline\s\d+ )""",
    re.VERBOSE,
)
_FAILURE = re.compile(r"\b(?:ERROR|FATAL|CRITICAL|panic|[A-Z]\w+(?:Error|Exception))\b")
_STAMP = re.compile(r"^\s*\[?\d{4}-\d\d-\d\d[T ][\d:.,+Z-]+\]?\s*")
_RUN = 3  # lines of code or log in a row; fewer are read as text


def _blocks(text: str) -> Iterator[_Block]:
    lines = [_calm(line) for line in text.splitlines()]
    at = 0
    paragraph: list[str] = []
    while at < len(lines):
        special, after = _special(lines, at)
        if special is None and lines[at].strip() and not _RULE.match(lines[at]):
            line = _QUOTE.sub("", lines[at], count=1)
            if paragraph and not _runs_on(paragraph[-1], line):
                yield _Block("prose", " ".join(paragraph))
                paragraph = []
            paragraph.append(line.strip())
            at += 1
            continue
        if paragraph:
            yield _Block("prose", " ".join(paragraph))
            paragraph = []
        yield from special or ()
        at = after
    if paragraph:
        yield _Block("prose", " ".join(paragraph))


def _calm(line: str) -> str:
    """The line without runs of space, but for how far it is set in: patterns then take time in proportion to it."""
    said = line.strip()
    return line[: min(len(line) - len(line.lstrip()), _MOST_INDENT)] + " ".join(said.split()) if said else ""


_MOST_INDENT = 8  # characters


def _special(lines: list[str], at: int) -> tuple[list[_Block] | None, int]:
    """The blocks that begin at a line and are no plain paragraph, and the line after them."""
    line = lines[at]
    fence = _FENCE.match(line)
    if fence:
        return _fenced(lines, at, fence)
    heading = _HEADING.match(line) or _BOLD_LINE.match(line)
    if heading:
        return [_Block("heading", heading[1])], at + 1
    if _ROW.match(line):
        return _row(lines, at), at + 1
    for pattern, name in ((_LOG, "log"), (_CODE, "code")):
        after = at
        while after < len(lines) and (pattern.match(lines[after]) or (after > at and _belongs(lines, after, pattern))):
            after += 1
        if after - at >= _RUN:
            return _named(name, lines[at:after]), after
    item = _ITEM.match(line)
    if item:
        return [_Block("item", line[item.end() :].strip())], at + 1
    return None, at + 1


def _row(lines: list[str], at: int) -> list[_Block]:
    """A row of a table: "first: others"; the names of its columns are a heading."""
    cells = [cell.strip() for cell in lines[at].strip(" \t|").split("|")]
    if _ROW_RULE.match(lines[at]):
        return []
    if at + 1 < len(lines) and _ROW_RULE.match(lines[at + 1]):
        return [_Block("heading", ", ".join(cells))]
    return [_Block("item", f"{cells[0]}: {', '.join(cells[1:])}" if cells[1:] and cells[0] else ", ".join(cells))]


def _belongs(lines: list[str], at: int, pattern: re.Pattern[str]) -> bool:
    """Whether a line between two of code is of it: blank, or set in."""
    inside = not lines[at].strip() or lines[at][:2] in ("  ", "\t") or lines[at][:1] == "\t"
    return inside and at + 1 < len(lines) and bool(pattern.match(lines[at + 1]) or lines[at + 1][:2] == "  ")


def _fenced(lines: list[str], at: int, fence: re.Match[str]) -> tuple[list[_Block], int]:
    after = at + 1
    while after < len(lines) and not lines[after].strip().startswith(fence[1]):
        after += 1
    return _named("code", lines[at + 1 : after], fence[2]), after + 1


def _named(what: str, lines: list[str], language: str = "") -> list[_Block]:
    """A note in the place of code or log; what a log says went wrong is said too."""
    number = sum(1 for line in lines if line.strip())
    size = f"{number} line{'s' if number != 1 else ''}"
    blocks = [_Block("note", f"[{what}: {language.lower()}, {size}]" if language else f"[{what}: {size}]")]
    if what == "log":
        failures = dict.fromkeys(_STAMP.sub("", line).strip() for line in lines if _FAILURE.search(line))
        blocks += [_Block("prose", failure) for failure in list(failures)[:5]]
    return blocks


def _runs_on(line: str, following: str) -> bool:
    """Whether a sentence goes on in the next line, as in text wrapped by a mail program."""
    return len(line) > 40 and line[-1:] not in ".!?:;…。！？" and following.lstrip()[:1].islower()


# A block makes sentences.

_SHORTENED = """
    mr mrs ms dr prof sr jr st mt vs etc eg ie e.g i.e cf al approx no nos fig inc ltd co corp dept est min max
    jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun a.m p.m u.s u.k z.b d.h usw bzw ca nr
    str hr fr evtl ggf sog vgl m mme mlle sra ud uds pág núm ing avv dott т.д т.е г ул
"""
_ABBREVIATIONS = frozenset(_SHORTENED.split())
_END = re.compile(r"(?<![.!?…])[.!?…]+[\"'”’»)\]]*(?:\s+|$)|[。！？｡।॥؟۔։]+[\"”’」』）)]*\s*")
_LAST_WORD = re.compile(r"(\S+?)\.+[\"'”’»)\]]*\s*$")


def split(paragraph: str) -> list[str]:
    """The sentences of a paragraph, without regard to what they are."""
    found: list[str] = []
    start = 0
    for end in _END.finditer(paragraph):
        if paragraph[end.start()] == "." and not _ends(paragraph, start, end):
            continue
        found.append(paragraph[start : end.end()])
        start = end.end()
    found.append(paragraph[start:])
    return [piece for sentence in found for piece in _pieces(sentence.strip()) if piece]


def _ends(paragraph: str, start: int, end: re.Match[str]) -> bool:
    """Whether a full stop ends a sentence, and not an abbreviation, an initial or a number."""
    if paragraph[end.end() : end.end() + 1].islower():
        return False
    word = _LAST_WORD.search(paragraph, max(start, end.start() - 30), end.end())
    if word is None:
        return True
    last = word[1].lstrip("(\"'“").lower()
    if last in ("no", "nos"):
        return not paragraph[end.end() : end.end() + 1].isdigit()
    return last not in _ABBREVIATIONS and not (len(last) == 1 and last.isalpha() and last != "i")


_SUBJECT = r"(?:i|we|you|he|she|it|they|there|my|our|your|his|her|their)\b"
_CLAUSE = re.compile(
    rf"(?<=[,;:])\s+|(?<!\s)\s+(?:[—–-]+\s+|--+\s*)|--+\s*|(?<=[，；：、،؛])\s*|…\s*"
    rf"|(?<!\s)\s+(?=(?:and|but|so|or)\s(?:{_SUBJECT}|do\s|can\s|what\b))"
    r"|(?<!\s)\s+(?=(?:because|although|though|whereas|which|but)\s)"
    r"|(?<!\s)\s+(?=(?:aber|weil|denn|mais|parce|pero|porque|perché|mas|maar|omdat|но|потому)\s)",
    re.IGNORECASE,
)
_CLAUSE_WORDS = 4
_CLAUSE_CHARACTERS = 6


def clauses(sentence: str) -> list[str]:
    """The sentence cut where a thought ends. Together they are the sentence: what is a list stays one."""
    cuts = [0, *(cut.end() for cut in _CLAUSE.finditer(sentence)), len(sentence)]
    found: list[str] = []
    for start, end in pairwise(cuts):
        piece = sentence[start:end]
        if found and (_is_small(piece) or _is_small(found[-1])):
            found[-1] += piece
        elif piece.strip():
            found.append(piece)
    return found


def _is_small(piece: str) -> bool:
    return len(piece.split()) < _CLAUSE_WORDS and (piece.isascii() or len(piece) < _CLAUSE_CHARACTERS or " " in piece)


def _pieces(sentence: str) -> Iterator[str]:
    """A sentence, or one that goes on for ever in pieces."""
    while len(sentence) > MAX_SENTENCE:
        cuts = [cut.start() for cut in _CLAUSE.finditer(sentence, MAX_SENTENCE // 2, MAX_SENTENCE)]
        space = sentence.rfind(" ", 1, MAX_SENTENCE)
        at = cuts[-1] if cuts else space if space > 0 else MAX_SENTENCE
        yield sentence[: at or MAX_SENTENCE].strip()
        sentence = sentence[at or MAX_SENTENCE :].strip()
    yield sentence


_LEAD = re.compile(r"(?:\*\*|__|`)(.{2,80}?)(?:\*\*|__|`)\s*(?:\([^)]*\)\s*)?:?\s*(?=\S|$)")
_COLON_LEAD = re.compile(r"([^\s:.!?][^:.!?]{1,60}?)(?:\s*[:：]\s+|\s+[-–—]\s+)(?=\S)")
_LEAD_WORDS = 8


def _of_block(block: _Block) -> Iterator[Sentence]:
    if block.kind == "note":
        yield Sentence(block.text, "note")
        return
    text = _data_named(block.text)
    if _DATA.fullmatch(text):
        yield Sentence(text, "note")
        return
    if block.kind == "heading":
        if heading := plain(text).rstrip("#:： "):
            yield Sentence(heading, "heading")
        return
    lead, rest = _lead(text) if block.kind == "item" else ("", text)
    said = split(plain(rest))
    if lead and not said:
        yield Sentence(lead, "item", lead)
    for number, sentence in enumerate(said):
        if number == 0:
            yield Sentence(f"{lead}: {sentence}" if lead else sentence, block.kind, lead)
        else:
            yield Sentence(sentence)


def _lead(text: str) -> tuple[str, str]:
    """The title of an item and what is said of it: "Louvre" and "a museum"."""
    found = _LEAD.match(text) or _COLON_LEAD.match(text)
    if found is None or len(found[1].split()) > _LEAD_WORDS:
        return "", text
    return plain(found[1]).rstrip(":：.! "), text[found.end() :].lstrip(":- ")


_IMAGE_OR_LINK = re.compile(r"!?\[([^\[\]]{0,200})\]\((?:[^()\s]{1,400})(?:\s+\"[^\"]{0,100}\")?\)")
_EMPHASIS = re.compile(r"(\*\*|~~|(?<![\w*])\*(?=[^\s*])|(?<=[^\s*])\*(?![\w*])|(?<!\w)_(?=[^\W_])|(?<=[^\W_])_(?!\w))")
_TICKS = re.compile(r"`+")
_TAG = re.compile(
    r"</?(?:br|p|b|i|u|em|strong|div|span|a|ul|ol|li|h\d|code|pre|sup|sub|details|summary)\b[^<>]{0,200}>"
)
_SPACE = re.compile(r"\s+")
_BLOB = re.compile(r"(?<!\S)[!-~]{120,}(?!\S)")
_DATA = re.compile(r"\[data: \d+ characters\]")
_ADDRESS = re.compile(r"https?://([^\s/?#]+)([^\s?#]*)")


def plain(text: str) -> str:
    """Without Markdown and tags, in one line."""
    text = _TAG.sub(" ", _IMAGE_OR_LINK.sub(r"\1", text))
    return _SPACE.sub(" ", _EMPHASIS.sub("", _TICKS.sub("", text))).strip()


def _data_named(text: str) -> str:
    """With what no person reads named: a long run of characters without a space; of a long address, its host."""

    def name(blob: re.Match[str]) -> str:
        address = _ADDRESS.match(blob[0])
        return address[0][:60] if address else f"[data: {len(blob[0])} characters]"

    return _BLOB.sub(name, text)
