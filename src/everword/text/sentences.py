"""A text as its sentences: in order, without markup, each marked as prose, a heading or an item.

Markup is removed. What is not language (code, logs, data) is replaced by a note that names it. Only a bounded part is
read, from the beginning and the end, so that any text takes a bounded time. Nothing here knows what is important.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from everword.text.dates import MONTH_ABBREVIATIONS, WEEKDAY_ABBREVIATIONS
from everword.text.doc import doc_of
from everword.word_lists import lazy_pattern

MAX_CHARACTERS = 32_000
"""Characters of one text that are looked at: three quarters from its beginning, the rest from its end."""
MAX_SENTENCES = 240
"""Sentences of one text that are looked at, again from both ends."""
MAX_SENTENCE = 600
"""Characters of one sentence; a longer one is cut at a clause, a space, or anywhere."""

Kind = Literal["prose", "item", "heading", "note"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence. `lead` is the title of a list item, `key` in "key: value"; a note stands for text left out. Of an
    item of several sentences only the first is an item; the others continue it."""

    text: str
    kind: Kind = "prose"
    lead: str = ""
    continues_item: bool = False

    @property
    def is_question(self) -> bool:
        return self.text.rstrip(_CLOSING_MARKS)[-1:] in _QUESTION_MARKS


_CLOSING_MARKS = "\"'”’»)」』 "
_QUESTION_MARKS = frozenset("?？؟\u037e՞")


def has_question_mark(text: str) -> bool:
    return any(map(text.__contains__, _QUESTION_MARKS))


def limit_text(text: str) -> str:
    """The part of a text that is read: all of it, or its beginning and its end."""
    if len(text) <= MAX_CHARACTERS:
        return text
    tail = MAX_CHARACTERS // 4
    return f"{text[: MAX_CHARACTERS - tail]}\n\n{text[-tail:]}"


def first_words(text: str, most: int) -> str:
    """The beginning of a text in at most so many characters: whole words, and a mark where words are left out."""
    return text if len(text) <= most else f"{_whole_words(text[: most - 1], text[most - 1])}…"


def both_ends(text: str, most: int) -> str:
    """A text of about so many characters, three quarters from its beginning: whole words, and a mark between."""
    if len(text) <= most:
        return text
    tail = most // 4
    begin = _whole_words(text[: most - tail], text[most - tail])
    end = _whole_words(text[len(text) - tail :][::-1], text[len(text) - tail - 1])[::-1]
    return f"{begin} […] {end}"


def _whole_words(text: str, next_letter: str) -> str:
    """A text that was cut before a letter, without the word that was cut; a single long word stays as it is."""
    place = len(text) if next_letter.isspace() else max(text.rfind(" "), text.rfind("\n"))
    return text[:place].rstrip() if place > len(text) // 2 else text


def sentences(text: str) -> list[Sentence]:
    """The sentences of a text, at most `MAX_SENTENCES`."""
    return list(doc_of(text).read(_read_sentences))


def _read_sentences(text: str) -> tuple[Sentence, ...]:
    text = limit_text(text)
    blocks = [_Block("prose", text.strip())] if _is_paragraph(text) else _blocks(text)
    all_sentences = [sentence for block in blocks for sentence in _block_sentences(block)]
    if len(all_sentences) > MAX_SENTENCES:
        tail = MAX_SENTENCES // 4
        all_sentences = all_sentences[: MAX_SENTENCES - tail] + all_sentences[-tail:]
    return tuple(all_sentences)


# Lines make blocks: a paragraph, a heading, an item, a run of code or log, a row of a table.


@dataclass(frozen=True, slots=True)
class _Block:
    kind: Kind
    text: str


_FENCE = lazy_pattern(r"\s*(```+|~~~+)\s*([\w+#.-]*)")
_HEADING = lazy_pattern(r"\s*#{1,6}\s+(\S.*)$")
_BOLD_LINE = lazy_pattern(r"\s*(?:\*\*|__)([^*_]{2,80})(?:\*\*|__):?$")
_ITEM = lazy_pattern(r"\s*(?:[-*+•‣◦▪–—]|\(?\d{1,3}[.)]|[a-z]\)|[①-⑳]|\[[ xX]\])\s+(?=\S)")
_QUOTE = lazy_pattern(r"^\s*>+\s?")
_RULE = lazy_pattern(r"\s*(?:[-*_=~#]\s*){3,}$")
_ROW = lazy_pattern(r"\s*\|.*\|$")
_ROW_RULE = lazy_pattern(r"\s*\|[\s:|-]+\|$")
_CODE = lazy_pattern(
    r"""\s*(?:
        (?:def|class)\s+\w+.*:\s*$ | (?:import|from)\s+[\w.]+(?:\s+import\b.*|\s*;?\s*)$ | \#include\b | @\w+\s*$
        | (?:public|private|protected|static|const|let|var|function|func|fn|struct|package|using)\s+[\w<*&].*[;{(=]
        | (?:if|for|while|elif|else|try|except|with|switch|catch)\b.*[:{]\s*$ | (?:return|throw|raise|print)\b.*[;)]\s*$
        | [\w.\[\]"']+\s*[-+*/|]?=[^=].* | [\w.]+\(.*\)\s*;?\s*$ | [})\]]+[;,)]*\s*$ | </?\w[^>]*>.* | //.* | \$\s\S+.*
        | .*[;{]\s*$ | (?:SELECT|INSERT|UPDATE|CREATE|DELETE|ALTER)\s.* | ["']\w+["']\s*:\s*.*,?\s*$
    )""",
    re.VERBOSE,
)
_LOG = lazy_pattern(
    r"""\s*(?: \[?\d{4}-\d\d-\d\d[T\s]\d\d:\d\d | \[?\d\d:\d\d:\d\d | \[?(?:INFO|DEBUG|TRACE|WARN(?:ING)?|ERROR|FATAL)\b
        | (?:Traceback|\s+at\s)\b.* | File\s".*",\sline\s\d+ )""",
    re.VERBOSE,
)
_FAILURE = lazy_pattern(r"\b(?:ERROR|FATAL|CRITICAL|panic|[A-Z]\w+(?:Error|Exception))\b")
_STAMP = lazy_pattern(r"^\s*\[?\d{4}-\d\d-\d\d[T ][\d:.,+Z-]+\]?\s*")
_RUN = 3  # lines of code or log in a row; fewer are read as text


def _is_paragraph(text: str) -> bool:
    """Whether a text is one line, and a paragraph, as most messages are."""
    return _is_plain(text) and len(text.splitlines()) == 1


def _blocks(text: str) -> Iterator[_Block]:
    lines = [_squeeze_spaces(line) for line in text.splitlines()]
    at = 0
    paragraph: list[str] = []
    while at < len(lines):
        is_plain = len(lines) - at < _RUN and _is_plain(lines[at])
        special, after = (None, at + 1) if is_plain else _special(lines, at)
        if is_plain or (special is None and _is_prose(lines[at])):
            line = lines[at] if is_plain else _QUOTE.sub("", lines[at], count=1)
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


def _is_prose(line: str) -> bool:
    return line.strip() != "" and not _RULE.match(line)


def _squeeze_spaces(line: str) -> str:
    """The line without runs of space, except a bounded indent: patterns then take linear time."""
    content = line.strip()
    return line[: min(len(line) - len(line.lstrip()), _MOST_INDENT)] + " ".join(content.split()) if content else ""


_MOST_INDENT = 8  # characters


def _is_plain(line: str) -> bool:
    """Whether a line begins as no other block than a paragraph can, if no code or log begins with it."""
    return line[:1].isalpha() and line[1:2] != ")"


def _special(lines: list[str], at: int) -> tuple[list[_Block] | None, int]:
    """The blocks other than a paragraph that begin at a line, and the number of the line after them."""
    line = lines[at]
    fence = _FENCE.match(line)
    if fence:
        return _fence_blocks(lines, at, fence)
    heading = _HEADING.match(line) or _BOLD_LINE.match(line)
    if heading:
        return [_Block("heading", heading[1])], at + 1
    if _ROW.match(line):
        return _row_blocks(lines, at), at + 1
    for pattern, name in ((_LOG, "log"), (_CODE, "code")) if len(lines) - at >= _RUN else ():
        after = at
        while after < len(lines) and (pattern.match(lines[after]) or (after > at and _belongs(lines, after, pattern))):
            after += 1
        if after - at >= _RUN:
            return _note_blocks(name, lines[at:after]), after
    item = _ITEM.match(line)
    if item:
        return [_Block("item", line[item.end() :].strip())], at + 1
    return None, at + 1


def _row_blocks(lines: list[str], at: int) -> list[_Block]:
    """A row of a table: "first: others"; the names of its columns are a heading."""
    cells = [cell.strip() for cell in lines[at].strip(" \t|").split("|")]
    if _ROW_RULE.match(lines[at]):
        return []
    if at + 1 < len(lines) and _ROW_RULE.match(lines[at + 1]):
        return [_Block("heading", ", ".join(cells))]
    return [_Block("item", f"{cells[0]}: {', '.join(cells[1:])}" if cells[1:] and cells[0] else ", ".join(cells))]


def _belongs(lines: list[str], at: int, pattern: re.Pattern[str]) -> bool:
    """Whether a line between two lines of code belongs to the code: it is blank or indented."""
    inside = not lines[at].strip() or lines[at][:2] in ("  ", "\t") or lines[at][:1] == "\t"
    return inside and at + 1 < len(lines) and bool(pattern.match(lines[at + 1]) or lines[at + 1][:2] == "  ")


def _fence_blocks(lines: list[str], at: int, fence: re.Match[str]) -> tuple[list[_Block], int]:
    after = at + 1
    while after < len(lines) and not lines[after].strip().startswith(fence[1]):
        after += 1
    return _note_blocks("code", lines[at + 1 : after], fence[2]), after + 1


def _note_blocks(name: str, lines: list[str], language: str = "") -> list[_Block]:
    """A note in the place of code or a log, and the errors of the log."""
    number = sum(1 for line in lines if line.strip())
    size = f"{number} line{'s' if number != 1 else ''}"
    blocks = [_Block("note", f"[{name}: {language.lower()}, {size}]" if language else f"[{name}: {size}]")]
    if name == "log":
        failures = dict.fromkeys(_STAMP.sub("", line).strip() for line in lines if _FAILURE.search(line))
        blocks += [_Block("prose", failure) for failure in list(failures)[:5]]
    return blocks


def _runs_on(line: str, following: str) -> bool:
    """Whether a sentence goes on in the next line, as in text wrapped by a mail program."""
    return len(line) > 40 and line[-1:] not in ".!?:;…。！？" and following.lstrip()[:1].islower()


# A block makes sentences.

_SHORTENED = """
    mr mrs ms dr prof sr jr st mt vs etc eg ie e.g i.e cf al approx no nos fig inc ltd co corp dept est min max sq vol
    ave blvd rd gen gov sen rep capt lt col sgt rev hon oz lb lbs ft
    a.m p.m u.s u.k z.b d.h usw bzw ca nr str hr fr evtl ggf sog vgl m mme mlle sra dra profa ud uds pág núm ing avv
    dott т.д т.е г ул
"""
_ABBREVIATIONS = frozenset((*_SHORTENED.split(), *MONTH_ABBREVIATIONS, *WEEKDAY_ABBREVIATIONS))
_END = lazy_pattern(r"(?<![.!?…])[.!?…]+[\"'”’»)\]]*(?:\s+|$)|[。！？｡।॥؟۔։]+[\"”’」』）)]*\s*")
_LONGEST_NAME = 32
_NAME_WITH_MARK = lazy_pattern(r"(?<![.!?]\s)\b[A-Z][^\W\d_]{0,30}!\s$")  # Yahoo!
_CLOSING = "\"'”’»)]"
_ORDINAL_DIGITS = 2
_BEFORE_ORDINAL = lazy_pattern(r"(?i)(?<!\w)(?:im|vom|zum|zur|beim|der|das|den|dem|des) \d{1,2}$")
_MONTH_AHEAD = lazy_pattern(
    r"(?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)\b|\d{1,2}\.(?:\s|$)"
)
_INITIALS = lazy_pattern(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}")


def split_sentences(paragraph: str) -> list[str]:
    """The sentences of a paragraph, whatever their kind."""
    raw_sentences: list[str] = []
    start = 0
    for end in _END.finditer(paragraph):
        after = end.end()
        if after == len(paragraph):
            break  # what is left is the last sentence, however it ends
        if paragraph[after].islower() and _goes_on(paragraph, start, end):
            continue
        if paragraph[end.start()] == "." and not _is_sentence_end(paragraph, start, end):
            continue
        raw_sentences.append(paragraph[start:after])
        start = after
    raw_sentences.append(paragraph[start:])
    pieces: list[str] = []
    for sentence in map(str.strip, raw_sentences):
        pieces += _pieces(sentence) if len(sentence) > MAX_SENTENCE else (sentence,)
    return [piece for piece in pieces if piece]


def _goes_on(paragraph: str, start: int, end: re.Match[str]) -> bool:
    """Whether a sentence goes on in small letters after a quotation or a name that ends in a mark."""
    name_at = max(start + 1, end.start() - _LONGEST_NAME)
    is_name = _NAME_WITH_MARK.search(paragraph, name_at, end.end()) is not None
    return is_name or end[0].rstrip()[-1:] in _CLOSING


def _is_sentence_end(paragraph: str, start: int, end: re.Match[str]) -> bool:
    """Whether a full stop ends a sentence, and not an abbreviation, an initial or a number."""
    if paragraph[end.end() : end.end() + 1].islower() and not paragraph[start : start + 1].islower():
        return False  # where a sentence begins in small letters, the next one may, too
    last_word = _word_before_stop(paragraph[max(start, end.start() - 30) : end.end()])
    if not last_word:
        return True
    last = last_word.lstrip("(\"'“").lower()
    if last in ("no", "nos"):
        return not paragraph[end.end() : end.end() + 1].isdigit()
    if last.isdecimal() and len(last) <= _ORDINAL_DIGITS and _is_ordinal(paragraph, end):
        return False
    if "." in last and _INITIALS.fullmatch(last):  # S.A. Cosby, Ph.D., D.C.
        return False
    return last not in _ABBREVIATIONS and not (len(last) == 1 and last.isalpha() and last != "i")


def _is_ordinal(paragraph: str, end: re.Match[str]) -> bool:
    """Whether a number with a full stop is an ordinal, as in German: "am 8. Juni", "im 3. Stock"."""
    before = paragraph[max(end.start() - 12, 0) : end.start()]
    return _BEFORE_ORDINAL.search(before) is not None or _MONTH_AHEAD.match(paragraph, end.end()) is not None


def _word_before_stop(text: str) -> str:
    """The word before the full stop in which a text ends; empty if it ends in anything else."""
    stopped = (text.split()[-1:] or [""])[0].rstrip(_CLOSING)
    if not stopped.endswith("."):
        return ""
    return stopped.rstrip(".") or stopped[1:2]


_SUBJECT = r"(?:i|we|you|he|she|it|they|there|my|our|your|his|her|their)\b"
_BEFORE_CLAUSE = (
    "because|although|though|whereas|which|but|aber|weil|denn|mais|parce|pero|porque|perché|mas|maar|omdat|но|потому"
)
_AFTER_MARK = r"(?<=[,;:])\s+|(?<!\s)\s+(?:[—–-]+\s+|--+\s*)|--+\s*"
_AT_WORD = rf"(?<!\s)\s+(?=(?:and|but|so|or)\s(?:{_SUBJECT}|do\s|can\s|what\b)|(?:{_BEFORE_CLAUSE})\s)"
_CLAUSE = lazy_pattern(rf"{_AFTER_MARK}|(?<=[，；：、،؛])\s*|…\s*|{_AT_WORD}", re.IGNORECASE)
_CLAUSE_WORDS = 4
_CLAUSE_CHARACTERS = 6


def clauses(sentence: str) -> list[str]:
    """The clauses of a sentence. Joined they are the sentence; a list stays in one clause."""
    pieces: list[str] = []
    for part, cut in parts_between(sentence, _CLAUSE.finditer(sentence)):
        piece = part + cut[0] if cut else part
        if pieces and (_is_small(piece) or _is_small(pieces[-1])):
            pieces[-1] += piece
        elif piece.strip():
            pieces.append(piece)
    return pieces


def parts_between(text: str, cuts: Iterable[re.Match[str]]) -> Iterator[tuple[str, re.Match[str] | None]]:
    """The parts of a text, each with the cut after it; the last part has none."""
    start = 0
    for cut in cuts:
        yield text[start : cut.start()], cut
        start = cut.end()
    yield text[start:], None


def _is_small(piece: str) -> bool:
    return len(piece.split()) < _CLAUSE_WORDS and (piece.isascii() or len(piece) < _CLAUSE_CHARACTERS or " " in piece)


def _pieces(sentence: str) -> Iterator[str]:
    """The sentence, cut into pieces if it is longer than `MAX_SENTENCE`."""
    while len(sentence) > MAX_SENTENCE:
        cuts = [cut.start() for cut in _CLAUSE.finditer(sentence, MAX_SENTENCE // 2, MAX_SENTENCE)]
        space = sentence.rfind(" ", 1, MAX_SENTENCE)
        at = cuts[-1] if cuts else space if space > 0 else MAX_SENTENCE
        yield sentence[: at or MAX_SENTENCE].strip()
        sentence = sentence[at or MAX_SENTENCE :].strip()
    yield sentence


_LEAD = lazy_pattern(r"(?:\*\*|__|`)(.{2,80}?)(?:\*\*|__|`)\s*(?:\([^)]*\)\s*)?:?\s*(?=\S|$)")
_COLON_LEAD = lazy_pattern(r"([^\s:.!?][^:.!?]{1,60}?)(?:\s*[:：]\s+|\s+[-–—]\s+)(?=\S)")
_LEAD_WORDS = 8


def _block_sentences(block: _Block) -> Iterator[Sentence]:
    if block.kind == "note":
        yield Sentence(block.text, "note")
        return
    text = _name_data(block.text)
    if _DATA.fullmatch(text):
        yield Sentence(text, "note")
        return
    if block.kind == "heading":
        if heading := strip_markup(text).rstrip("#:： "):
            yield Sentence(heading, "heading")
        return
    if block.kind == "prose":
        yield from map(Sentence, split_sentences(strip_markup(text)))
        return
    lead, body = _split_lead(text)
    body_sentences = split_sentences(strip_markup(body))
    if lead and not body_sentences:
        yield Sentence(lead, "item", lead)
    for number, sentence in enumerate(body_sentences):
        if number == 0:
            yield Sentence(f"{lead}: {sentence}" if lead else sentence, "item", lead)
        else:
            yield Sentence(sentence, continues_item=True)


def _split_lead(text: str) -> tuple[str, str]:
    """The title of an item and the text after it: "Louvre" and "a museum"."""
    match = _LEAD.match(text)
    if match is not None and match.end() < len(text) and ":" not in match[0] and text[match.end()] not in "-–—":
        match = None  # emphasis, and no title
    match = match or _COLON_LEAD.match(text)
    if match is None or len(match[1].split()) > _LEAD_WORDS:
        return "", text
    return strip_markup(match[1]).rstrip(":：.! "), text[match.end() :].lstrip(":- ")


_IMAGE_OR_LINK = lazy_pattern(r"!?\[([^\[\]]{0,200})\]\((?:[^()\s]{1,400})(?:\s+\"[^\"]{0,100}\")?\)")
_EMPHASIS = lazy_pattern(
    r"(?<!\\)(\*\*|~~|(?<![\w*])\*(?=[^\s*])|(?<=[^\s*])\*(?![\w*])|(?<!\w)_(?=[^\W_])|(?<=[^\W_])_(?!\w))"
)
_TICKS = lazy_pattern(r"`+")
_ESCAPED = lazy_pattern(r"\\([\\`*_{}\[\]()#+.!|<>~-])")
_TAG = lazy_pattern(
    r"</?(?:br|p|b|i|u|em|strong|div|span|a|ul|ol|li|h\d|code|pre|sup|sub|details|summary)\b[^<>]{0,200}>"
)
_LEAST_BLOB = 120
_BLOB = lazy_pattern(rf"(?<!\S)[!-~]{{{_LEAST_BLOB},}}(?!\S)")
_DATA = lazy_pattern(r"\[data: \d+ characters\]")
_ADDRESS = lazy_pattern(r"https?://([^\s/?#]+)([^\s?#]*)")


def strip_markup(text: str) -> str:
    """The text without Markdown and tags, on one line."""
    text = _TAG.sub(" ", _IMAGE_OR_LINK.sub(r"\1", text))
    text = _ESCAPED.sub(r"\1", _EMPHASIS.sub("", _TICKS.sub("", text)))
    return " ".join(text.split())


def _name_data(text: str) -> str:
    """The text with each long run of characters without a space replaced by a note, or by the start of an address."""

    def describe_blob(blob: re.Match[str]) -> str:
        address = _ADDRESS.match(blob[0])
        return address[0][:60] if address else f"[data: {len(blob[0])} characters]"

    return _BLOB.sub(describe_blob, text) if len(text) >= _LEAST_BLOB else text
